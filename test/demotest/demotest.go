// Package demotest runs the real `sluice demo` for tests: its own process, its own Postgres, its own folder.
package demotest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/config"
)

// Demo is one demo, running or killed.
type Demo struct {
	URL     string
	Data    string
	Program string
	Tokens  map[string]string // by persona; nil: read from the demo's folder
	args    []string
	env     []string
	process *exec.Cmd
	output  *bytes.Buffer
	ended   chan struct{}
}

// program is built once per test process.
var program = sync.OnceValues(func() (string, error) {
	_, here, _, _ := runtime.Caller(0)
	dir, err := os.MkdirTemp("", "sluice-program-")
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "sluice")
	build := exec.Command("go", "build", "-o", file, "./cmd/sluice")
	build.Dir = filepath.Join(filepath.Dir(here), "..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build sluice: %w\n%s", err, out)
	}
	return file, nil
})

// Program is the file of the program, which is built for the first who asks.
func Program(t testing.TB) string {
	t.Helper()
	file, err := program()
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// Start builds the program and starts a demo, without the story unless args say so, and waits until it is ready.
func Start(t testing.TB, args ...string) *Demo {
	t.Helper()
	d := New(t, Program(t), args...)
	d.Run(t)
	return d
}

// New prepares a demo run by the given program; Run starts it.
func New(t testing.TB, file string, args ...string) *Demo {
	t.Helper()
	// Reachable for the user that Postgres runs as, unlike a test's own folder when root runs it.
	data, err := os.MkdirTemp("", "sluice-demo-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(data, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(data) })
	d := NewServer(t, file)
	d.Data = data
	d.args = append([]string{"demo", "--addr", strings.TrimPrefix(d.URL, "http://"), "--data", data, "--story=false"}, args...)
	return d
}

// NewServer prepares any process of the program that answers on URL; Run starts it.
func NewServer(t testing.TB, file string, args ...string) *Demo {
	t.Helper()
	d := &Demo{URL: "http://" + freeAddress(t), Program: file, args: args}
	t.Cleanup(func() {
		d.stop(syscall.SIGTERM)
		if t.Failed() && d.output != nil {
			t.Logf("%s said:\n%s", strings.Join(d.args, " "), d.output)
		}
	})
	return d
}

func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// Run starts the process, with more environment, and waits until it is ready or has ended.
func (d *Demo) Run(t testing.TB, env ...string) {
	t.Helper()
	d.output = &bytes.Buffer{}
	d.process = exec.Command(d.Program, d.args...)
	d.process.Stdout, d.process.Stderr = d.output, d.output
	d.process.Env = append(append(os.Environ(), d.env...), env...)
	if err := d.process.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	d.ended = ended
	process := d.process
	go func() {
		_ = process.Wait() // how it ended is for the test to judge
		close(ended)
	}()
	ready := Await(90*time.Second, func() bool {
		return d.Ended() || d.status("/readyz") == http.StatusOK
	})
	if !ready {
		t.Fatalf("the demo is not ready after 90 s:\n%s", d.output)
	}
}

// Ended tells whether the process is no more.
func (d *Demo) Ended() bool {
	select {
	case <-d.ended:
		return true
	default:
		return false
	}
}

// Kill ends the process as kill -9 does.
func (d *Demo) Kill() { d.stop(syscall.SIGKILL) }

func (d *Demo) stop(signal syscall.Signal) {
	if d.process == nil {
		return
	}
	_ = d.process.Process.Signal(signal) // it may have ended already
	select {
	case <-d.ended:
	case <-time.After(30 * time.Second):
		_ = d.process.Process.Kill()
		<-d.ended
	}
}

func (d *Demo) status(path string) int {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, d.URL+path, nil)
	if err != nil {
		return 0
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	return answer.StatusCode
}

// ConfigFile is what commands that read a server's configuration are given.
func (d *Demo) ConfigFile() string { return filepath.Join(d.Data, "sluice.yaml") }

// DatabaseURL is the demo's database, as its owner.
func (d *Demo) DatabaseURL(t testing.TB) string {
	t.Helper()
	c, err := config.Read(d.ConfigFile())
	if err != nil {
		t.Fatal(err)
	}
	return c.Database.URL
}

// Token of one of the demo's personas: ci, release-manager, approver, admin, viewer.
func (d *Demo) Token(t testing.TB, who string) string {
	t.Helper()
	if d.Tokens != nil {
		return d.Tokens[who]
	}
	text, err := os.ReadFile(filepath.Join(d.Data, "tokens.json"))
	if err != nil {
		t.Fatal(err)
	}
	var tokens map[string]string
	if err := json.Unmarshal(text, &tokens); err != nil {
		t.Fatal(err)
	}
	return tokens[who]
}

// Ask calls the API as a persona and returns status and decoded body.
func (d *Demo) Ask(t testing.TB, who, method, path, body string) (int, map[string]any) {
	t.Helper()
	status, answer, err := d.Try(d.Token(t, who), method, path, body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	return status, answer
}

// Try is Ask for goroutines and for servers that may die.
func (d *Demo) Try(token, method, path, body string) (int, map[string]any, error) {
	r, err := http.NewRequest(method, d.URL+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, nil, err
	}
	decoded := map[string]any{}
	if err := json.Unmarshal(text, &decoded); err != nil {
		return answer.StatusCode, nil, errors.Join(err, fmt.Errorf("the answer is %q", text))
	}
	return answer.StatusCode, decoded, nil
}

// Image pushes an example image and returns its repository and digest.
func (d *Demo) Image(t testing.TB, application, version string) (repository, digest string) {
	t.Helper()
	out, err := exec.Command(d.Program, "demo", "image", "--data", d.Data, application, version).CombinedOutput()
	if err != nil {
		t.Fatalf("push an image: %v\n%s", err, out)
	}
	repository, digest, ok := strings.Cut(strings.TrimSpace(string(out)), "@")
	if !ok {
		t.Fatalf("demo image printed %q", out)
	}
	return repository, digest
}

// Build is the body of a post of one image.
func Build(application, version, repository, digest string) string {
	return fmt.Sprintf(`{"application":%q,"version":%q,"artifacts":[{"repository":%q,"digest":%q}],
		"source":{"repository":"https://git.example.com/shop/%s","commit":"0123456789abcdef0123456789abcdef01234567"}}`,
		application, version, repository, digest, application)
}

// AwaitState waits until a promotion is in one of the states, and returns it.
func (d *Demo) AwaitState(t testing.TB, id any, states ...string) map[string]any {
	t.Helper()
	token := d.Token(t, "viewer")
	var last map[string]any
	reached := Await(90*time.Second, func() bool {
		status, p, err := d.Try(token, http.MethodGet, fmt.Sprintf("/api/v1/promotions/%v", id), "")
		if err != nil || status != http.StatusOK {
			return false
		}
		last = p
		for _, s := range states {
			if p["state"] == s {
				return true
			}
		}
		return false
	})
	if !reached {
		t.Fatalf("promotion %v is %v (%v), wanted one of %v", id, last["state"], last["waits_for"], states)
	}
	return last
}

// Await looks until something holds, and tells whether it did in time.
func Await(limit time.Duration, holds func() bool) bool {
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-deadline.C:
			return false
		case <-tick.C:
		}
	}
	return true
}
