package github

import (
	"bytes"
	"container/list"
	"crypto/sha256"
	"io"
	"net/http"
	"sync"
)

// What is remembered is bounded: answers of one size, and their sum. In bytes.
const (
	maxRemembered = 1 << 20
	maxMemory     = 16 << 20
)

// memory makes reads conditional: it keeps what GitHub answered and asks whether it has changed. A 304 does not count
// against the rate limit, and nothing is ever given without having been asked for.
// https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api#use-conditional-requests-if-appropriate
type memory struct {
	next http.RoundTripper

	mu     sync.Mutex
	known  map[question]*list.Element
	recent *list.List // of *remembered, the newest use first
	size   int
}

// question tells answers apart: what one token may see is nothing for another.
type question struct {
	url, accept   string
	authorisation [sha256.Size]byte
}

type remembered struct {
	question question
	header   http.Header
	body     []byte
}

func newMemory(next http.RoundTripper) *memory {
	return &memory{next: next, known: map[question]*list.Element{}, recent: list.New()}
}

// RoundTrip implements http.RoundTripper.
func (m *memory) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet {
		return m.next.RoundTrip(r)
	}
	q := question{url: r.URL.String(), accept: r.Header.Get("Accept"), authorisation: sha256.Sum256([]byte(r.Header.Get("Authorization")))}
	old := m.recall(q)
	if old != nil {
		r = r.Clone(r.Context())
		for header, validator := range map[string]string{"If-None-Match": "ETag", "If-Modified-Since": "Last-Modified"} {
			if value := old.header.Get(validator); value != "" {
				r.Header.Set(header, value)
			}
		}
	}
	answer, err := m.next.RoundTrip(r)
	switch {
	case err != nil:
		return answer, err
	case answer.StatusCode == http.StatusNotModified && old != nil:
		return old.answer(answer), nil
	case answer.StatusCode == http.StatusOK && answer.Header.Get("ETag")+answer.Header.Get("Last-Modified") != "":
		m.keep(q, answer)
	}
	return answer, nil
}

// answer is the remembered one, with the headers that GitHub gives now, such as the rate limit's.
func (old *remembered) answer(now *http.Response) *http.Response {
	now.Body.Close() //nolint:errcheck // a 304 has no body
	again := *now
	again.Status, again.StatusCode = "200 OK", http.StatusOK
	again.Header = old.header.Clone()
	for name, values := range now.Header {
		again.Header[name] = values
	}
	again.Header.Del("Content-Length")
	again.ContentLength, again.Body = int64(len(old.body)), io.NopCloser(bytes.NewReader(old.body))
	return &again
}

func (m *memory) recall(q question) *remembered {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.known[q]
	if e == nil {
		return nil
	}
	m.recent.MoveToFront(e)
	return e.Value.(*remembered)
}

// keep reads the body and puts it back. One that is too long or breaks off is not kept.
func (m *memory) keep(q question, answer *http.Response) {
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxRemembered+1))
	rest := answer.Body
	if err != nil {
		answer.Body = &readAgain{io.MultiReader(bytes.NewReader(body), broken{err}), rest}
		return
	}
	answer.Body = &readAgain{io.MultiReader(bytes.NewReader(body), rest), rest}
	if len(body) > maxRemembered {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forget(m.known[q])
	m.known[q] = m.recent.PushFront(&remembered{question: q, header: answer.Header.Clone(), body: body})
	for m.size += len(body); m.size > maxMemory; {
		m.forget(m.recent.Back())
	}
}

func (m *memory) forget(e *list.Element) {
	if e == nil {
		return
	}
	old := m.recent.Remove(e).(*remembered)
	delete(m.known, old.question)
	m.size -= len(old.body)
}

type readAgain struct {
	io.Reader
	io.Closer
}

type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }
