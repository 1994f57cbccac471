package browser

import (
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-rod/rod"
	"github.com/go-rod/rod/lib/input"
	"github.com/go-rod/rod/lib/proto"

	"github.com/sluicehq/sluice/test/demotest"
)

// patience is how long a person waits for a page to load or to show something.
const patience = time.Minute

// Person is somebody at a browser context of their own.
type Person struct {
	t      testing.TB
	page   *rod.Page
	base   *url.URL
	Script bool // whether pages may run theirs

	mu     sync.Mutex
	loaded proto.NetworkLoaderID // the document that is there whole
	status int                   // of the last document
	faults []string              // what no page of ours may do
}

// SignIn opens a browser context for one of the demo's people, with JavaScript on or off. When the
// test ends it fails if a page asked another host for anything, or had an error of its own.
func (b *Browser) SignIn(t testing.TB, base, persona string, script bool) *Person {
	t.Helper()
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	own, err := b.browser.Incognito()
	if err != nil {
		t.Fatal(err)
	}
	page, err := own.Page(proto.TargetCreateTarget{URL: "about:blank"})
	if err != nil {
		t.Fatal(err)
	}
	p := &Person{t: t, page: page.Timeout(5 * patience), base: u, Script: script}
	p.listen()
	p.must(proto.EmulationSetScriptExecutionDisabled{Value: !script}.Call(p.page))
	t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, fault := range p.faults {
			t.Errorf("%s's browser: %s", persona, fault)
		}
		_ = own.Close() // the process ends soon after
	})
	p.Go("/sign-in")
	p.Click("#persona-" + persona)
	return p
}

// listen notes what the browser tells about the pages.
func (p *Person) listen() {
	note := func(do func()) {
		p.mu.Lock()
		defer p.mu.Unlock()
		do()
	}
	wait := p.page.EachEvent(func(e *proto.PageLifecycleEvent) {
		if e.FrameID == p.page.FrameID && e.Name == proto.PageLifecycleEventNameLoad {
			note(func() { p.loaded = e.LoaderID })
		}
	}, func(e *proto.NetworkRequestWillBeSent) {
		if u, err := url.Parse(e.Request.URL); err != nil || u.Scheme != "data" && u.Host != p.base.Host {
			note(func() { p.faults = append(p.faults, e.DocumentURL+" asked for "+e.Request.URL) })
		}
	}, func(e *proto.NetworkResponseReceived) {
		if e.Type == proto.NetworkResourceTypeDocument {
			note(func() { p.status = e.Response.Status })
		}
	}, func(e *proto.RuntimeExceptionThrown) {
		text := e.ExceptionDetails.Text
		if thrown := e.ExceptionDetails.Exception; thrown != nil {
			text += " " + thrown.Description
		}
		note(func() { p.faults = append(p.faults, "a script failed: "+text) })
	}, func(e *proto.LogEntryAdded) {
		// A refusal's status is logged too, as the network's.
		if e.Entry.Level == proto.LogLogEntryLevelError && e.Entry.Source != proto.LogLogEntrySourceNetwork {
			note(func() { p.faults = append(p.faults, e.Entry.URL+": "+e.Entry.Text) })
		}
	})
	go wait()
	p.must(proto.NetworkEnable{}.Call(p.page))
	p.must(proto.PageSetLifecycleEventsEnabled{Enabled: true}.Call(p.page))
}

// Go opens a path.
func (p *Person) Go(path string) {
	p.t.Helper()
	p.Leads(func() { p.must(p.page.Navigate(p.base.String() + path)) })
}

// Reload asks for the page again.
func (p *Person) Reload() {
	p.t.Helper()
	p.Leads(func() { p.must(proto.PageReload{}.Call(p.page)) })
}

// Click presses the mouse on what leads to another page.
func (p *Person) Click(selector string) {
	p.t.Helper()
	p.Leads(func() { p.press(selector) })
}

// Enter presses the enter key on what leads to another page.
func (p *Person) Enter() {
	p.t.Helper()
	p.Leads(func() { p.Type(input.Enter) })
}

// Fill types into a field with nothing in it.
func (p *Person) Fill(selector, text string) {
	p.t.Helper()
	p.press(selector)
	p.must(p.page.InsertText(text))
}

// Choose takes the option of a list that begins with a text, as a keyboard does.
func (p *Person) Choose(selector, text string) {
	p.t.Helper()
	p.must(proto.DOMFocus{ObjectID: p.find(selector).Object.ObjectID}.Call(p.page))
	p.Spell(text)
}

// Spell types a text letter by letter to whatever has the keyboard.
func (p *Person) Spell(text string) {
	p.t.Helper()
	for _, letter := range text {
		p.Type(input.Key(letter))
	}
}

// Type presses and releases keys.
func (p *Person) Type(keys ...input.Key) {
	p.t.Helper()
	p.must(p.page.Keyboard.Type(keys...))
}

// Tab presses the tabulator until an element has the keyboard.
func (p *Person) Tab(id string) {
	p.t.Helper()
	var passed []string
	for range 60 {
		p.Type(input.Tab)
		at := p.ask(`() => document.activeElement.id`).Value.Str()
		if at == id {
			if !p.HasVisibleFocus() {
				p.t.Errorf("%s: #%s has the keyboard and nothing shows it", p.Path(), id)
			}
			return
		}
		passed = append(passed, at)
	}
	p.t.Fatalf("%s: the keyboard does not reach #%s; it passed %q", p.Path(), id, passed)
}

// press does not use the library's own click, which waits for an animation frame by a
// script: where scripts are off it never comes.
func (p *Person) press(selector string) {
	p.t.Helper()
	e := p.find(selector)
	p.must(proto.DOMScrollIntoViewIfNeeded{ObjectID: e.Object.ObjectID}.Call(p.page))
	shape, err := e.Shape()
	p.must(err)
	p.must(p.page.Mouse.MoveTo(*shape.OnePointInside()))
	p.must(p.page.Mouse.Click(proto.InputMouseButtonLeft, 1))
}

// Leads does what loads another document, and waits until that is there.
func (p *Person) Leads(do func()) {
	p.t.Helper()
	p.mu.Lock()
	before := p.loaded
	p.mu.Unlock()
	do()
	arrived := demotest.Await(patience, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.loaded != before
	})
	if !arrived {
		p.t.Fatalf("%s stayed as it is: no other page was loaded:\n%s", p.Path(), p.Text("main"))
	}
}

func (p *Person) find(selector string) *rod.Element {
	p.t.Helper()
	found, e, err := p.page.Has(selector)
	p.must(err)
	if !found {
		p.t.Fatalf("%s has no %s:\n%s", p.Path(), selector, strings.TrimSpace(p.ask(`() => document.body.innerText`).Value.Str()))
	}
	return e
}

func (p *Person) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}
