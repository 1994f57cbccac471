package embedded

import (
	"strings"
	"sync"
)

// tail keeps the end of what was written to it, to be shown when a program fails.
type tail struct {
	mu      sync.Mutex
	content []byte
}

const tailSize = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.content = append(t.content, p...)
	if over := len(t.content) - tailSize; over > 0 {
		t.content = append(t.content[:0], t.content[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.content))
}
