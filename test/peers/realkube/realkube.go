// Package realkube runs a real Kubernetes control plane for tests: the API server, controller manager, scheduler and
// etcd that `make peers` has built. Nodes are played by Kubelet, so that nothing needs containers.
package realkube

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

//go:embed go.mod.txt
var module string

// patience is how long the control plane may take for its start on a busy machine.
const patience = 2 * time.Minute

// ControlPlane is a running one.
type ControlPlane struct {
	// Config is what reaches the API server as a cluster's administrator.
	Config *rest.Config
	// Client is the same, ready to use.
	Client dynamic.Interface
	// Further are arguments of the API server beside its usual ones, from its next start.
	Further []string

	home, dir      string
	api, etcd      string // their addresses
	etcdPeers      string
	running        map[string]*process
	administration string // its token
}

// Start runs a control plane whose files are below dir, which has to be there, and returns when it works and knows Argo CD's
// kinds. Close ends it.
func Start(ctx context.Context, dir string) (*ControlPlane, error) {
	home, err := built()
	if err != nil {
		return nil, err
	}
	c := &ControlPlane{home: home, dir: dir, running: map[string]*process{}}
	for _, address := range []*string{&c.api, &c.etcd, &c.etcdPeers} {
		if *address, err = freeAddress(); err != nil {
			return nil, err
		}
	}
	ctx, done := context.WithTimeout(ctx, patience)
	defer done()
	if err := c.start(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (c *ControlPlane) start(ctx context.Context) error {
	if err := c.prepare(); err != nil {
		return err
	}
	if err := c.run("etcd", c.etcdArguments()...); err != nil {
		return err
	}
	if err := c.StartAPIServer(ctx); err != nil {
		return err
	}
	if err := c.define(ctx); err != nil {
		return err
	}
	if err := c.writeKubeconfigs(); err != nil {
		return err
	}
	if err := c.run("kube-controller-manager", c.controllerManagerArguments()...); err != nil {
		return err
	}
	return c.run("kube-scheduler", "--kubeconfig", c.file("scheduler.kubeconfig"), "--leader-elect=false", "--secure-port=0", "--v=0")
}

// Close ends everything.
func (c *ControlPlane) Close() {
	for _, name := range []string{"kube-scheduler", "kube-controller-manager", "kube-apiserver", "etcd"} {
		c.stop(name)
	}
}

// StartAPIServer starts the API server, at the address it had before, and returns when it is ready.
func (c *ControlPlane) StartAPIServer(ctx context.Context) error {
	if err := c.run("kube-apiserver", c.apiServerArguments()...); err != nil {
		return err
	}
	return c.eventually(ctx, "the API server is ready", func() bool {
		client, err := rest.HTTPClientFor(c.Config)
		return err == nil && answers(ctx, client, c.Config.Host+"/readyz")
	})
}

// StopAPIServer kills the API server.
func (c *ControlPlane) StopAPIServer() { c.stop("kube-apiserver") }

// As is a client's configuration with another token.
func (c *ControlPlane) As(token string) *rest.Config {
	config := rest.AnonymousClientConfig(c.Config)
	config.BearerToken, config.QPS = token, -1
	return config
}

func (c *ControlPlane) file(name string) string { return filepath.Join(c.dir, name) }

// built is the folder that `make peers` fills.
func built() (string, error) {
	version := regexp.MustCompile(`(?m)^\tk8s.io/kubernetes v(.+)$`).FindStringSubmatch(module)[1]
	etcd := regexp.MustCompile(`(?m)^\tgo.etcd.io/etcd/server/v3 v(.+)$`).FindStringSubmatch(module)[1]
	peers := os.Getenv("SLUICE_PEERS")
	if peers == "" {
		cache, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		peers = filepath.Join(cmp.Or(os.Getenv("XDG_CACHE_HOME"), filepath.Join(cache, ".cache")), "sluice-peers")
	}
	home := filepath.Join(peers, "kubernetes-"+version+"-etcd-"+etcd)
	if _, err := os.Stat(filepath.Join(home, "kube-apiserver")); err != nil {
		return "", fmt.Errorf("these tests run a real Kubernetes %s, and there is none in %s: build it with `make peers`", version, home)
	}
	return home, nil
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
