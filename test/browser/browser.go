// Package browser drives Sluice's pages in a real Chromium, for tests.
package browser

import (
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-rod/rod"
	"github.com/go-rod/rod/lib/input"
	"github.com/go-rod/rod/lib/launcher"
	"github.com/go-rod/rod/lib/launcher/flags"
	"github.com/go-rod/rod/lib/proto"
)

// Browser is one Chromium process.
type Browser struct{ *rod.Browser }

// Start starts a headless Chromium. The test fails when there is none.
func Start(t testing.TB) *Browser {
	t.Helper()
	program, found := launcher.LookPath()
	if !found {
		t.Fatal("no Chromium or Chrome found on this machine: install one (Debian: apt-get install chromium)")
	}
	data, err := os.MkdirTemp("", "sluice-browser-")
	if err != nil {
		t.Fatal(err)
	}
	l := launcher.New().Bin(program).Leakless(false).NoSandbox(os.Geteuid() == 0).UserDataDir(data)
	for _, flag := range []flags.Flag{"disable-gpu", "disable-quic", "no-first-run", "disable-background-networking", "disable-component-update", "disable-sync"} {
		l.Set(flag)
	}
	control, err := l.Launch()
	if err != nil {
		t.Fatalf("start %s: %v", program, err)
	}
	b := rod.New().ControlURL(control)
	if err := b.Connect(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = b.Close()
		l.Kill()
		_ = os.RemoveAll(data)
	})
	return &Browser{b}
}

// Person is somebody at a browser of their own.
type Person struct {
	t      testing.TB
	page   *rod.Page
	base   string
	script bool

	mu      sync.Mutex
	foreign []string // requests to other hosts
	status  int      // of the last document
}

// SignIn opens a browser context for a persona of the demo.
func (b *Browser) SignIn(t testing.TB, base, persona string, script bool) *Person {
	t.Helper()
	own, err := b.Incognito()
	if err != nil {
		t.Fatal(err)
	}
	page, err := own.Page(proto.TargetCreateTarget{URL: "about:blank"})
	if err != nil {
		t.Fatal(err)
	}
	p := &Person{t: t, page: page.Timeout(2 * time.Minute), base: base, script: script}
	p.must((proto.EmulationSetScriptExecutionDisabled{Value: !script}).Call(p.page))
	p.must((proto.NetworkEnable{}).Call(p.page))
	go p.page.EachEvent(func(e *proto.NetworkRequestWillBeSent) {
		if strings.HasPrefix(e.Request.URL, "http") && !strings.HasPrefix(e.Request.URL, base) {
			p.mu.Lock()
			p.foreign = append(p.foreign, e.Request.URL)
			p.mu.Unlock()
		}
	}, func(e *proto.NetworkResponseReceived) {
		if e.Type == proto.NetworkResourceTypeDocument {
			p.mu.Lock()
			p.status = e.Response.Status
			p.mu.Unlock()
		}
	})()
	p.Go("/sign-in")
	p.Click("#persona-" + persona)
	return p
}

func (p *Person) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// Go opens a path.
func (p *Person) Go(path string) {
	p.t.Helper()
	p.navigates(func() error { return p.page.Navigate(p.base + path) })
}

// Reload asks for the page again.
func (p *Person) Reload() {
	p.t.Helper()
	p.navigates(p.page.Reload)
}

// Click presses what leads to another page.
func (p *Person) Click(selector string) {
	p.t.Helper()
	p.navigates(func() error { return p.press(selector) })
}

// press presses the mouse on an element. The library's own Click waits for an animation
// frame by a script, which never comes where scripts are off.
func (p *Person) press(selector string) error {
	p.t.Helper()
	e := p.find(selector)
	if err := (proto.DOMScrollIntoViewIfNeeded{ObjectID: e.Object.ObjectID}).Call(p.page); err != nil {
		return err
	}
	shape, err := e.Shape()
	if err != nil {
		return err
	}
	if err := p.page.Mouse.MoveTo(*shape.OnePointInside()); err != nil {
		return err
	}
	return p.page.Mouse.Click(proto.InputMouseButtonLeft, 1)
}

// navigates does what loads a document, and waits for it.
func (p *Person) navigates(do func() error) {
	p.t.Helper()
	loaded := p.page.WaitNavigation(proto.PageLifecycleEventNameLoad)
	p.must(do())
	loaded()
}

func (p *Person) find(selector string) *rod.Element {
	p.t.Helper()
	e, err := p.page.Timeout(15 * time.Second).Element(selector)
	if err != nil {
		text, _ := p.page.HTML() // what is there instead helps whoever reads the failure
		p.t.Fatalf("%s has no %s: %v\n%s", p.Path(), selector, err, text)
	}
	return e
}

// Has tells whether the page shows something now.
func (p *Person) Has(selector string) bool {
	p.t.Helper()
	found, _, err := p.page.Has(selector)
	p.must(err)
	return found
}

// Text is what an element shows.
func (p *Person) Text(selector string) string {
	p.t.Helper()
	text, err := p.find(selector).Text()
	p.must(err)
	return text
}

// Value is what a field holds.
func (p *Person) Value(selector string) string {
	p.t.Helper()
	v, err := p.find(selector).Property("value")
	p.must(err)
	return v.Str()
}

// Fill types into a field.
func (p *Person) Fill(selector, text string) {
	p.t.Helper()
	p.must(p.press(selector))
	p.must(p.page.InsertText(text))
}

// Path is where the person is.
func (p *Person) Path() string {
	p.t.Helper()
	info, err := p.page.Info()
	p.must(err)
	u, err := url.Parse(info.URL)
	p.must(err)
	return u.Path
}

// Status is the HTTP status of the last document.
func (p *Person) Status() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.status
}

// Foreign lists requests that went to other hosts.
func (p *Person) Foreign() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.foreign
}

// Sees waits until the page shows a text; with scripts the page must get there by itself.
func (p *Person) Sees(selector string, texts ...string) {
	p.t.Helper()
	deadline := time.Now().Add(60 * time.Second)
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	last := ""
	for time.Now().Before(deadline) {
		if p.Has(selector) {
			last = p.Text(selector)
		}
		for _, text := range texts {
			if strings.Contains(last, text) {
				return
			}
		}
		<-tick.C
		if !p.script {
			p.Reload()
		}
	}
	p.t.Fatalf("%s shows %q in %s, wanted one of %q", p.Path(), last, selector, texts)
}

// Overflows tells by how many pixels the page is wider than a window of that width.
func (p *Person) Overflows(width int) int {
	p.t.Helper()
	p.must(p.page.SetViewport(&proto.EmulationSetDeviceMetricsOverride{Width: width, Height: 800, DeviceScaleFactor: 1}))
	defer func() { p.must(p.page.SetViewport(nil)) }()
	v, err := p.page.Eval(`() => document.documentElement.scrollWidth - document.documentElement.clientWidth`)
	p.must(err)
	return v.Value.Int()
}

// Focused is the id of the element that has the keyboard.
func (p *Person) Focused() string {
	p.t.Helper()
	v, err := p.page.Eval(`() => document.activeElement ? document.activeElement.id : ""`)
	p.must(err)
	return v.Value.Str()
}

func (p *Person) String() string { return fmt.Sprintf("%s (scripts %v)", p.Path(), p.script) }

// Press presses a key.
func (p *Person) Press(key input.Key) {
	p.t.Helper()
	p.must(p.page.Keyboard.Press(key))
}
