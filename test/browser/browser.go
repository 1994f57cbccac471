// Package browser drives Sluice's pages in a real Chromium, for tests.
package browser

import (
	"os"
	"testing"

	"github.com/go-rod/rod"
	"github.com/go-rod/rod/lib/launcher"
	"github.com/go-rod/rod/lib/launcher/flags"
)

// Browser is one Chromium process.
type Browser struct{ browser *rod.Browser }

// Start starts a headless Chromium with nothing remembered. The test fails when there is none to start.
func Start(t testing.TB) *Browser {
	t.Helper()
	program, found := launcher.LookPath()
	if !found {
		t.Fatal("this test needs Chromium or Chrome and found neither: install one and have it on PATH (Debian: apt-get install chromium)")
	}
	data, err := os.MkdirTemp("", "sluice-browser-")
	if err != nil {
		t.Fatal(err)
	}
	l := launcher.New().Bin(program).Leakless(false).NoSandbox(os.Geteuid() == 0).UserDataDir(data).
		Env(append(os.Environ(), "TMPDIR="+data)...)
	for _, flag := range []flags.Flag{"disable-gpu", "disable-quic", "no-first-run", "disable-background-networking",
		"disable-component-update", "disable-sync"} {
		l.Set(flag)
	}
	control, err := l.Launch()
	if err != nil {
		_ = os.RemoveAll(data)
		t.Fatalf("start %s: %v", program, err)
	}
	t.Cleanup(func() {
		l.Kill()
		l.Cleanup()
	})
	b := rod.New().ControlURL(control)
	if err := b.Connect(); err != nil {
		t.Fatalf("speak to %s: %v", program, err)
	}
	return &Browser{b}
}
