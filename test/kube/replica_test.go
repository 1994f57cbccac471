//go:build peers

package kube_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/prhost/prhosttest"
	"github.com/sluicehq/sluice/test/demotest"
	"github.com/sluicehq/sluice/test/peers/realkube"
)

// TestAReplicaIsKilledInTheMiddleOfARollout has two servers follow web in dev. What happens after one of them was killed is recorded
// by the other: without a gap, and never as healthy before it is.
func TestAReplicaIsKilledInTheMiddleOfARollout(t *testing.T) {
	t.Parallel()
	s := &shop{world: &world{T: t}}
	ctx := s.startControlPlane()
	s.openDatabase()
	s.openRegistry()
	one, two := s.replicas()
	secret := two.Tokens["release-manager"]
	s.pushes(prhosttest.NewClone(s, strings.Replace(s.url, "://", "://rita:"+secret+"@", 1)))
	s.engineFor(ctx, s.mirror("rita", secret))
	s.createNamespace("shop-dev")
	s.kubelet.In("shop-dev", s.fate)
	s.argo("dev", "{automated: {prune: true}}")
	s.becomes("web-dev", "Synced", "Healthy")

	digest := s.push("web", "1.1.0")
	next := s.images + "/shop/web@" + digest
	s.fares(next, realkube.Fate{Unready: true})
	status, answer := one.Ask(t, "ci", http.MethodPost, "/api/v1/builds", demotest.Build("web", "1.1.0", s.images+"/shop/web", digest))
	if status != http.StatusCreated {
		t.Fatalf("the build was answered with %d: %v", status, answer)
	}
	promotion, _ := answer["promotions"].([]any)[0].(map[string]any)
	s.becomes("web-dev", "Synced", "Progressing", "Rolling out: Deployment web")
	one.Kill()
	killed := time.Now()

	s.fares(next, realkube.Fate{Exit: 7})
	s.becomes("web-dev", "Synced", "Progressing", "exit code 7")
	s.neverHealthySince("web-dev", killed)
	s.fares(next, realkube.Fate{})
	mended := time.Now()
	s.becomes("web-dev", "Synced", "Healthy")
	two.AwaitState(t, promotion["id"], "verified")
	s.isWholeSince("web-dev", killed, mended)
}

// fares says what becomes of one image's containers from now on. The others run.
func (s *shop) fares(image string, f realkube.Fate) {
	s.kubelet.In("shop-dev", func(asked string) realkube.Fate {
		fate := s.fate(asked)
		if asked == image {
			f.ImageID = fate.ImageID
			return f
		}
		return fate
	})
}

// isWholeSince fails where the recorded history has a gap, or a stretch that nobody saw or that was not healthy yet.
func (s *shop) isWholeSince(name string, killed, mended time.Time) {
	s.Helper()
	all := s.history(name)
	for i, o := range all {
		if i > 0 && !o.from.Equal(all[i-1].to) || o.to.Before(o.from) {
			s.Errorf("recorded from %s to %s, after what was until %s", o.from, o.to, all[max(0, i-1)].to)
		}
		if o.to.After(killed) && (o.health == "Unknown" || o.health == "Healthy" && o.from.Before(mended)) {
			s.Errorf("recorded as %s from %s to %s; a server watched all the time, and it was mended at %s", o.health, o.from, o.to, mended)
		}
	}
}

// replicas are two servers on one database, and the config repository that they host.
func (s *shop) replicas() (one, two *demotest.Demo) {
	s.Helper()
	data, program := s.TempDir(), demotest.Program(s)
	serve := func(name string) *demotest.Demo {
		file := filepath.Join(data, name+".yaml")
		d := demotest.NewServer(s, program, "serve", "--config", file)
		if s.url == "" {
			s.url = d.URL + "/git/" + configRepository + ".git"
		}
		s.must(os.WriteFile(file, fmt.Appendf(nil, "listen: %s\npublic_url: %s\ndata: %q\ndatabase: {url: %q}\nconfig_repositories:\n  - {name: %s, host: built-in}\nclusters:\n  - {name: %s, kubeconfig: %q}\n",
			strings.TrimPrefix(d.URL, "http://"), strings.TrimSuffix(s.url, "/git/"+configRepository+".git"), data, s.pool.Config().ConnString(), configRepository, clusterName, s.kube.Kubeconfig()), 0o600))
		d.Run(s)
		return d
	}
	two, one = serve("two"), serve("one")
	two.Tokens = map[string]string{}
	for _, role := range []string{"ci", "viewer", "release-manager"} {
		out, err := exec.CommandContext(s.Context(), program, "token", "create", "--config", filepath.Join(data, "two.yaml"), "--name", role, "--role", role).Output()
		s.must(err)
		two.Tokens[role] = strings.TrimSpace(string(out))
	}
	one.Tokens = two.Tokens
	return one, two
}

// pushes has a person put the files of web in dev on main.
func (s *shop) pushes(c *prhosttest.Clone) {
	s.Helper()
	for name, content := range s.files() {
		if !strings.Contains(name, "/prod/") {
			c.Write(name, string(content))
		}
	}
	c.Push("main", "sluice.yaml", "version: 1\nenvironments: {dev: {soak: 1s}}\n")
}
