package browser

import (
	"net/url"
	"strings"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"github.com/sluicehq/sluice/test/demotest"
)

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

// Texts is what each of several elements shows; at least one must be there.
func (p *Person) Texts(selector string) []string {
	p.t.Helper()
	p.find(selector)
	elements, err := p.page.Elements(selector)
	p.must(err)
	texts := make([]string, len(elements))
	for i, e := range elements {
		texts[i], err = e.Text()
		p.must(err)
	}
	return texts
}

// Value is what a field holds.
func (p *Person) Value(selector string) string {
	p.t.Helper()
	p.find(selector)
	return p.ask(`(s) => document.querySelector(s).value`, selector).Value.Str()
}

// Beside is the message that belongs to a field marked as wrong: what a screen reader reads out with it,
// when the eye finds it in the same group. It is empty when there is none.
func (p *Person) Beside(selector string) string {
	p.t.Helper()
	p.find(selector)
	return p.ask(`(s) => {
		const field = document.querySelector(s);
		const said = document.getElementById(field.getAttribute("aria-describedby") ?? "");
		return field.ariaInvalid === "true" && said && field.parentElement.contains(said) ? said.innerText : "";
	}`, selector).Value.Str()
}

// Edit runs a function of JavaScript on an element, as a person with developer tools would.
func (p *Person) Edit(selector, function string) {
	p.t.Helper()
	_, err := p.find(selector).Eval(function)
	p.must(err)
}

// Path is where the person is.
func (p *Person) Path() string {
	p.t.Helper()
	u, err := url.Parse(p.ask(`() => document.URL`).Value.Str())
	p.must(err)
	return u.Path
}

// Status is the HTTP status of the last document.
func (p *Person) Status() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.status
}

// Sees waits until an element shows a text. With scripts the page must get there by itself,
// without them the person asks for it again and again.
func (p *Person) Sees(selector, text string) {
	p.t.Helper()
	asked := time.Now()
	seen := demotest.Await(patience, func() bool {
		if strings.Contains(p.Text(selector), text) {
			return true
		}
		if !p.Script && time.Since(asked) > time.Second {
			p.Reload()
			asked = time.Now()
		}
		return false
	})
	if !seen {
		p.t.Fatalf("%s does not come to show %q in %s, but\n%s", p.Path(), text, selector, p.Text(selector))
	}
}

// HasVisibleFocus tells whether the eye finds what has the keyboard.
func (p *Person) HasVisibleFocus() bool {
	p.t.Helper()
	return p.ask(`() => document.activeElement.matches(":focus-visible") && getComputedStyle(document.activeElement).outlineStyle !== "none"`).Value.Bool()
}

// Wider tells by how many pixels a page must be scrolled sideways in a window of that width.
func (p *Person) Wider(width int) int {
	p.t.Helper()
	p.must(p.page.SetViewport(&proto.EmulationSetDeviceMetricsOverride{Width: width, Height: 800, DeviceScaleFactor: 1}))
	defer func() { p.must(p.page.SetViewport(nil)) }()
	return p.ask(`() => document.documentElement.scrollWidth - document.documentElement.clientWidth`).Value.Int()
}

// ask evaluates a function through the browser's tools, which works where a page's own scripts are off.
func (p *Person) ask(function string, args ...any) *proto.RuntimeRemoteObject {
	p.t.Helper()
	answer, err := p.page.Eval(function, args...)
	p.must(err)
	return answer
}
