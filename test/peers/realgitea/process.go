package realgitea

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// process is how Gitea is run: it refuses root, so that root runs it as
// PostgreSQL's user, who alone may enter the folder of the database's socket.
type process struct {
	home string // of the program and what it reads
	dir  string // of what it writes
	as   *syscall.Credential
}

func newProcess(t testing.TB, home, database string) (process, error) {
	dir, err := os.MkdirTemp("", "sluice-gitea-*")
	if err != nil {
		return process{}, err
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	p := process{home: home, dir: dir}
	if os.Geteuid() != 0 {
		return p, nil
	}
	u, err := url.Parse(database)
	if err != nil {
		return p, err
	}
	sockets, err := os.Stat(u.Query().Get("host"))
	if err != nil {
		return p, fmt.Errorf("PostgreSQL's socket: %w", err)
	}
	user := sockets.Sys().(*syscall.Stat_t)
	p.as = &syscall.Credential{Uid: user.Uid, Gid: user.Gid}
	p.home = filepath.Join(dir, "program") // the user may not enter root's cache folder
	if err := os.CopyFS(p.home, os.DirFS(home)); err != nil {
		return p, err
	}
	return p, os.Chown(dir, int(user.Uid), int(user.Gid))
}

func (p process) file() string { return filepath.Join(p.dir, "app.ini") }

// configure writes Gitea's configuration: nothing that leaves the machine, nothing in the background that tests do not need.
func (p process) configure(address, database string) error {
	u, err := url.Parse(database)
	if err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	settings := strings.NewReplacer(
		"{dir}", p.dir, "{home}", p.home, "{address}", address, "{port}", port, "{secret}", rand.Text(),
		"{socket}", u.Query().Get("host"), "{user}", u.User.Username(), "{name}", strings.TrimPrefix(u.Path, "/"),
	).Replace(settings)
	if err := os.WriteFile(p.file(), []byte(settings), 0o600); err != nil {
		return err
	}
	if p.as == nil {
		return nil
	}
	return os.Chown(p.file(), int(p.as.Uid), int(p.as.Gid))
}

const settings = `
WORK_PATH = {dir}
RUN_MODE = prod
[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = {port}
ROOT_URL = http://{address}/
STATIC_ROOT_PATH = {home}
DISABLE_SSH = true
OFFLINE_MODE = true
[database]
DB_TYPE = postgres
HOST = {socket}
USER = {user}
NAME = {name}
SSL_MODE = disable
[security]
INSTALL_LOCK = true
SECRET_KEY = {secret}
[service]
DISABLE_REGISTRATION = true
[log]
MODE = console
LEVEL = Warn
[cron]
ENABLED = false
[actions]
ENABLED = false
[mailer]
ENABLED = false
[session]
PROVIDER = memory
[webhook]
ALLOWED_HOST_LIST = loopback
`

func (p process) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(p.home, "gitea"), append([]string{"--config", p.file(), "--work-path", p.dir}, args...)...)
	cmd.Dir = p.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.dir, "TMPDIR=" + os.TempDir(), "LC_ALL=C.UTF-8"}
	cmd.SysProcAttr = attributes(p.as)
	return cmd
}

func (p process) run(ctx context.Context, args ...string) (string, error) {
	out, err := p.command(ctx, args...).CombinedOutput()
	return string(out), err
}

// serve runs Gitea until the test ends and returns when it answers.
func (p process) serve(t testing.TB, health string) {
	t.Helper()
	log, err := os.CreateTemp(p.dir, "log-*")
	if err != nil {
		t.Fatal(err)
	}
	stop, cancel := context.WithCancel(context.Background())
	cmd := p.command(stop, "web")
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	ended := make(chan string, 1)
	go func() {
		runtime.LockOSThread() // the kernel ends Gitea when the thread that started it ends
		ended <- fmt.Sprint(cmd.Run())
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
		if t.Failed() {
			said, _ := os.ReadFile(log.Name())
			t.Logf("Gitea's log:\n%s", said)
		}
		log.Close()
	})
	Eventually(t, "Gitea answers at "+health, func() bool {
		select {
		case why := <-ended:
			ended <- why
			t.Fatalf("Gitea has ended: %s", why)
		default:
		}
		return answers(t.Context(), health)
	})
}

// Eventually waits until something is so.
func Eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	ctx, done := context.WithTimeout(t.Context(), patience)
	defer done()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("waited %s in vain: %s", patience, what)
		}
	}
}

func answers(ctx context.Context, url string) bool {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return false
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}
