//go:build peers

package kube_test

import (
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
)

// wire is what lies between Sluice and the API server. It can be cut.
type wire struct {
	testing.TB
	listener net.Listener
	to       string

	mu   sync.Mutex
	cut  bool
	ends []net.Conn
}

// through has a client's configuration lead through the wire.
func (w *wire) through(config *rest.Config) {
	w.to = strings.TrimPrefix(config.Host, "https://")
	var err error
	if w.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() {
		_ = w.listener.Close() //nolint:errcheck // the test is over
		w.set(true)
	})
	config.Host = "https://" + w.listener.Addr().String()
	go func() {
		for {
			near, err := w.listener.Accept()
			if err != nil {
				return
			}
			go w.join(near)
		}
	}()
}

// join passes bytes on until the wire is cut.
func (w *wire) join(near net.Conn) {
	defer near.Close() //nolint:errcheck // it is cut
	far, err := net.Dial("tcp", w.to)
	if err != nil {
		return
	}
	defer far.Close() //nolint:errcheck // it is cut
	w.mu.Lock()
	cut := w.cut
	w.ends = append(w.ends, near, far)
	w.mu.Unlock()
	if cut {
		return
	}
	go func() {
		_, _ = io.Copy(far, near) //nolint:errcheck // it ends when the wire is cut
		_ = far.Close()           //nolint:errcheck // likewise
	}()
	_, _ = io.Copy(near, far) //nolint:errcheck // it ends when the wire is cut
}

// set cuts the wire or mends it.
func (w *wire) set(cut bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = cut
	if cut {
		for _, c := range w.ends {
			_ = c.Close() //nolint:errcheck // it may be closed
		}
		w.ends = nil
	}
}
