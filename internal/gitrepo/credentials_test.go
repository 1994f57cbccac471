package gitrepo_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sluicehq/sluice/internal/gitrepo"
)

func TestCredentialsStayOutOfErrors(t *testing.T) {
	t.Parallel()
	const token = "sluice_secret/token"
	auth := func(context.Context) (string, string, error) { return "sluice", token, nil }
	for _, url := range []string{"http://user:" + token + "@127.0.0.1:1/config.git", "http://127.0.0.1:1/" + token + ".git",
		"http://127.0.0.1:1/?token=sluice_secret%2Ftoken", "http://%zz:" + token + "@x", "ssh://git@127.0.0.1:1/" + token} {
		_, err := gitrepo.Open(context.Background(), gitrepo.Options{Name: "config", URL: url, Branch: "main", Dir: t.TempDir() + "/mirror", Auth: auth})
		if err == nil {
			t.Fatalf("%s answered", url)
		}
		if strings.Contains(err.Error(), "sluice_secret") {
			t.Errorf("the error shows the token: %v", err)
		}
	}
}

func TestAServerThatRepeatsTheTokenIsScrubbed(t *testing.T) {
	t.Parallel()
	r := newRemote(t, example)
	r.intercept(func(w http.ResponseWriter, req *http.Request, _ http.Handler) {
		http.Error(w, "refused "+req.Header.Get("Authorization")+" for s3cr3t-token", http.StatusForbidden)
	})
	o := r.options()
	o.Auth = func(context.Context) (string, string, error) { return "sluice", "s3cr3t-token", nil }
	_, err := gitrepo.Open(context.Background(), o)
	if err == nil || strings.Contains(err.Error(), "s3cr3t") || strings.Contains(err.Error(), "c2x1aWNlOnMzY3IzdC10b2tlbg") {
		t.Errorf("the error is %v", err)
	}
	if !strings.Contains(err.Error(), "check that its token is valid") {
		t.Errorf("the error does not say what to do: %v", err)
	}
}

func TestTokensRotate(t *testing.T) {
	t.Parallel()
	r := newRemote(t, example)
	var token atomic.Value
	token.Store("first")
	r.intercept(func(w http.ResponseWriter, req *http.Request, git http.Handler) {
		if user, password, _ := req.BasicAuth(); user != "sluice" || password != token.Load() {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		git.ServeHTTP(w, req)
	})
	o := r.options()
	o.Auth = func(context.Context) (string, string, error) { return "sluice", token.Load().(string), nil }
	m := open(t, o)
	token.Store("second")
	propose(t, m, proposal(fetch(t, m), branch, "new"))
	if _, err := gitrepo.Open(context.Background(), r.options()); err == nil {
		t.Error("it opened without a token")
	}
	inURL := r.options()
	inURL.URL = strings.Replace(r.url, "http://", "http://sluice:second@", 1)
	fetch(t, open(t, inURL))
	none := errors.New("the vault is sealed")
	o.Dir += "2"
	o.Auth = func(context.Context) (string, string, error) { return "", "", none }
	if _, err := gitrepo.Open(context.Background(), o); !errors.Is(err, none) {
		t.Errorf("without credentials: %v", err)
	}
}

// otherProcess names a mirror's folder to TestInAnotherProcess.
const otherProcess = "SLUICE_TEST_MIRROR"

func TestAFolderBelongsToOneProcess(t *testing.T) {
	t.Parallel()
	r := newRemote(t, example)
	o := r.options()
	open(t, o)
	cmd := exec.Command(os.Args[0], "-test.run=^TestInAnotherProcess$", "-test.v")
	cmd.Env = append(os.Environ(), otherProcess+"="+o.Dir, otherProcess+"_URL="+o.URL)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "folder of its own") {
		t.Errorf("another process: %v\n%s", err, out)
	}
}

// TestInAnotherProcess does nothing unless TestAFolderBelongsToOneProcess starts it.
func TestInAnotherProcess(t *testing.T) {
	dir := os.Getenv(otherProcess)
	if dir == "" {
		return
	}
	_, err := gitrepo.Open(context.Background(), gitrepo.Options{Name: "config", URL: os.Getenv(otherProcess + "_URL"), Branch: "main", Dir: dir})
	t.Log(err)
}

func TestLongAnswersAreCut(t *testing.T) {
	t.Parallel()
	r := newRemote(t, example)
	r.intercept(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		http.Error(w, strings.Repeat("<p>no such page</p>", 10_000), http.StatusNotFound)
	})
	_, err := gitrepo.Open(context.Background(), r.options())
	if err == nil || len(err.Error()) > 2000 || !strings.Contains(err.Error(), "check its address") {
		t.Errorf("the error has %d characters: %.300v", len(err.Error()), err)
	}
}
