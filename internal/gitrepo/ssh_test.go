package gitrepo_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/sluicehq/sluice/internal/gitrepo"
	"github.com/sluicehq/sluice/internal/promotion"
)

// sshServer lets one key run git's services in a folder.
type sshServer struct {
	dir    string
	config *ssh.ServerConfig
}

// serveSSH serves a remote's repository and returns its address and the server's key.
func serveSSH(t *testing.T, dir string, client ssh.PublicKey) (address string, host ssh.PublicKey) {
	t.Helper()
	signer, _ := newKey(t)
	s := &sshServer{dir: dir, config: &ssh.ServerConfig{
		PublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
			if string(key.Marshal()) != string(client.Marshal()) {
				return nil, errors.New("unknown key")
			}
			return nil, nil
		}}}
	s.config.AddHostKey(signer)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(conn)
		}
	}()
	return l.Addr().String(), signer.PublicKey()
}

func newKey(t *testing.T) (ssh.Signer, string) {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(key)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(key, "")
	if err != nil {
		t.Fatal(err)
	}
	return signer, string(pem.EncodeToMemory(block))
}

func (s *sshServer) serve(conn net.Conn) {
	_, channels, requests, err := ssh.NewServerConn(conn, s.config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for c := range channels {
		channel, asked, err := c.Accept()
		if err != nil {
			return
		}
		go s.session(channel, asked)
	}
}

// session runs the one command that a git client asks for.
func (s *sshServer) session(channel ssh.Channel, asked <-chan *ssh.Request) {
	defer channel.Close() //nolint:errcheck // the client sees it gone
	for request := range asked {
		if request.Type != "exec" {
			_ = request.Reply(false, nil)
			continue
		}
		_ = request.Reply(true, nil)
		service, _, _ := strings.Cut(string(request.Payload[4:]), " ")
		cmd := exec.Command("git", strings.TrimPrefix(service, "git-"), s.dir)
		cmd.Stdout, cmd.Stderr = channel, channel.Stderr()
		in, err := cmd.StdinPipe()
		if err == nil {
			go func() { _, _ = io.Copy(in, channel); in.Close() }()
			err = cmd.Run()
		}
		status := uint32(0)
		if err != nil {
			status = 1
		}
		_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{status}))
		return
	}
}

func TestOverSSH(t *testing.T) {
	// Not parallel: known hosts are named by the environment.
	r := newRemote(t, example)
	client, secret := newKey(t)
	address, host := serveSSH(t, r.bare, client.PublicKey())
	known := filepath.Join(t.TempDir(), "known_hosts")
	t.Setenv("SSH_KNOWN_HOSTS", known)
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(known, fmt.Appendf(nil, "[127.0.0.1]:%s %s", port, ssh.MarshalAuthorizedKey(host)), 0o600); err != nil {
		t.Fatal(err)
	}
	o := r.options()
	o.URL = "ssh://git@" + address + "/config.git"
	o.Auth = func(context.Context) (string, string, error) { return "git", secret, nil }
	m := open(t, o)
	fetch(t, m)
	base := r.commit("second", map[string]string{"README.md": "second"})
	if got := fetch(t, m); got != base {
		t.Errorf("Fetch() = %s, want %s", got, base)
	}
	head := propose(t, m, proposal(base, branch, "new"))
	if got := r.run(r.bare, "rev-parse", branch); got != head {
		t.Errorf("the branch is at %s, want %s", got, head)
	}
	ctx := context.Background()
	if _, err := m.Propose(ctx, proposal(base, branch, "other")); !errors.Is(err, promotion.ErrRefMoved) {
		t.Errorf("creating a branch that exists: %v, want ErrRefMoved", err)
	}
	if err := m.DeleteBranch(ctx, branch, head); err != nil {
		t.Error(err)
	}

	empty := newRemote(t, nil)
	address, _ = serveSSH(t, empty.bare, client.PublicKey())
	strange := o
	strange.URL, strange.Dir = "ssh://git@"+address+"/config.git", o.Dir+"-strange"
	if _, err := gitrepo.Open(ctx, strange); err == nil || !strings.Contains(err.Error(), "knownhosts") {
		t.Errorf("an unknown host: %v", err)
	}
	bad := o
	bad.Dir += "-bad"
	bad.Auth = func(context.Context) (string, string, error) { return "git", "no key", nil }
	if _, err := gitrepo.Open(ctx, bad); err == nil || !strings.Contains(err.Error(), "PEM") || strings.Contains(err.Error(), "no key") {
		t.Errorf("a key that is none: %v", err)
	}
}
