package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/cluster"
	"github.com/sluicehq/sluice/internal/config"
	"github.com/sluicehq/sluice/internal/demo"
	"github.com/sluicehq/sluice/internal/overlays"
	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/internal/registry"
	"github.com/sluicehq/sluice/internal/registry/demoregistry"
)

// example is the running demo around a server.
type example struct {
	*server
	story    bool
	out      io.Writer
	registry string // host under which the example's images are named
	images   *registry.Client
}

// simulatedCluster is the name of the demo's cluster.
const simulatedCluster = "simulated"

// stepInterval is how fast the simulated cluster moves.
const stepInterval = 400 * time.Millisecond

func (d *example) run(ctx context.Context) error {
	if err := d.prepare(ctx); err != nil {
		return err
	}
	images, err := demoregistry.Open(filepath.Join(d.config.Data, "registry"))
	if err != nil {
		return err
	}
	d.mounts["/v2/"] = images
	d.answer()
	if err := d.writeAddress(); err != nil {
		return err
	}
	d.images = registry.New(registry.Options{UserAgent: "sluice-demo", Transport: d.transport()})
	files, err := demo.Files(ctx, d.registry, d.push)
	if err != nil {
		return err
	}
	author := promotion.Signature{Name: "Ada", Email: "ada@example.com", When: time.Now()}
	if err := d.host.Create(ctx, demoRepository, files, author); err != nil {
		return err
	}
	if err := d.connect(ctx, d.images); err != nil {
		return err
	}
	if err := d.simulate(ctx); err != nil {
		return err
	}
	if err := d.writeTokens(ctx); err != nil {
		return err
	}
	if _, err := d.service.LookAtRepository(ctx, demoRepository); err != nil {
		return err // so that the first build posted finds its application
	}
	if err := d.openDoors(); err != nil {
		return err
	}
	if err := d.writeConfig(); err != nil {
		return err
	}
	d.greet()
	if d.story {
		go d.play(ctx)
	}
	return d.work(ctx)
}

// writeAddress tells `sluice demo image` where to push. Images keep the name of the address
// at which the demo was started first, since the repository's manifests name it.
func (d *example) writeAddress() error {
	file := filepath.Join(d.config.Data, "registry-host")
	if known, err := os.ReadFile(file); err == nil {
		d.registry = strings.TrimSpace(string(known))
	} else {
		d.registry = d.listener.Addr().String()
		if err := os.WriteFile(file, []byte(d.registry), 0o600); err != nil {
			return fmt.Errorf("remember the registry's name: %w", err)
		}
	}
	return os.WriteFile(filepath.Join(d.config.Data, "address"), []byte(d.listener.Addr().String()), 0o600)
}

// writeConfig lets commands that read a server's configuration work on the demo, such as `sluice audit verify`.
func (d *example) writeConfig() error {
	text, err := yaml.Marshal(map[string]any{
		"listen": d.config.Listen, "public_url": d.config.PublicURL, "data": d.config.Data,
		"database":            map[string]string{"url": d.config.Database.URL},
		"config_repositories": []map[string]string{{"name": demoRepository, "host": config.BuiltIn}},
	})
	if err != nil {
		return fmt.Errorf("write the demo's configuration: %w", err)
	}
	return os.WriteFile(d.configFile(), text, 0o600)
}

func (d *example) configFile() string { return filepath.Join(d.config.Data, "sluice.yaml") }

// transport reaches the demo's registry by its name, wherever it answers now.
func (d *example) transport() http.RoundTripper {
	return redirect(d.registry, d.listener.Addr().String())
}

func redirect(name, address string) http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	var dialer net.Dialer
	t.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		if addr == name {
			addr = address
		}
		return dialer.DialContext(ctx, network, addr)
	}
	return t
}

func (d *example) push(ctx context.Context, image demo.Image) (string, error) {
	return pushImage(ctx, d.listener.Addr().String(), image)
}

// pushImage pushes an example image to the demo's registry, for two platforms.
func pushImage(ctx context.Context, address string, image demo.Image) (string, error) {
	return demoregistry.PushImage(ctx, address, "shop/"+image.Name, image.Version, []string{"linux/amd64", "linux/arm64"})
}

func (d *example) simulate(ctx context.Context) error {
	s, err := demo.NewCluster(demo.ClusterOptions{
		File: filepath.Join(d.config.Data, "cluster.json"), Repository: d.service.Sites[demoRepository].Repository,
		RepositoryURL: d.service.Sites[demoRepository].URL, Manifests: overlays.Overlays{}, Images: d.images, Now: time.Now,
	})
	if err != nil {
		return err
	}
	go s.Run(ctx, stepInterval, func(err error) { d.log.Warn("the simulated cluster stumbled", "err", err) })
	d.watch(cluster.Options{Name: simulatedCluster, Client: s.Client(), Served: s.Served, Simulated: true}, nil, "")
	return nil
}

// writeTokens makes new tokens at each start, so that none outlives the demo for long.
func (d *example) writeTokens(ctx context.Context) error {
	tokens := map[string]string{}
	for _, p := range personas {
		token, hash := auth.NewToken()
		tokens[p.token] = token
		made := promotion.NewToken{Name: p.token, Hash: hash, Roles: p.roles, Expires: time.Now().AddDate(0, 1, 0)}
		if err := d.store.Tx(ctx, func(tx promotion.Tx) error { return tx.SaveToken(ctx, made, time.Now()) }); err != nil {
			return fmt.Errorf("store token %s: %w", p.token, err)
		}
	}
	text, err := json.MarshalIndent(tokens, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(d.config.Data, "tokens.json"), append(text, '\n'), 0o600)
}

func (d *example) greet() {
	fmt.Fprintf(d.out, `
  Sluice     %[1]s
  repository %[2]s   (git clone works)
  registry   %[3]s
  tokens     %[4]s
  history    psql '%[5]s'
  audit      sluice audit verify --config %[6]s

  The cluster is simulated; everything else is real. Open the first address and watch digests travel.

`, d.config.PublicURL, d.host.CloneURL(demoRepository), d.registry, filepath.Join(d.config.Data, "tokens.json"),
		d.config.Database.URL, d.configFile())
}

func (d *example) play(ctx context.Context) {
	story := &demo.Story{Uses: d.service, Promoted: d.store.Promotion, Registry: d.registry, Push: d.push, Pause: time.Second}
	if err := story.Play(ctx); err != nil && ctx.Err() == nil {
		d.log.Warn("the demo's story ended early", "err", err)
	}
}
