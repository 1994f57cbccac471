package web_test

import (
	"net/http"
	"strings"
	"sync"
)

// flushed is a response that can be read while it is written.
type flushed struct {
	sync.Mutex
	header http.Header
	body   strings.Builder
}

func newFlushed() *flushed { return &flushed{header: http.Header{}} }

func (f *flushed) Header() http.Header { return f.header }

func (f *flushed) WriteHeader(int) {}

func (f *flushed) Flush() {}

func (f *flushed) Write(b []byte) (int, error) {
	f.Lock()
	defer f.Unlock()
	return f.body.Write(b)
}

// events are the messages so far without comments.
func (f *flushed) events() []string {
	f.Lock()
	defer f.Unlock()
	var events []string
	for _, message := range strings.Split(f.body.String(), "\n\n") {
		if strings.Contains(message, "event: ") {
			events = append(events, message)
		}
	}
	return events
}
