package gitrepo_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sluicehq/sluice/internal/gitrepo"
)

const token = "sluice_secret/token"

// shown tells in which form an error shows the token, if any.
func shown(err error) string {
	for _, form := range []string{"sluice_secret", base64.StdEncoding.EncodeToString([]byte("sluice:" + token)),
		base64.StdEncoding.EncodeToString([]byte(token + ":"))} {
		if err != nil && strings.Contains(fmt.Sprintf("%v %+v", err, err), form) {
			return form
		}
	}
	return ""
}

func TestAnAddressStaysOutOfErrors(t *testing.T) {
	t.Parallel()
	auth := func(context.Context) (string, string, error) { return "sluice", token, nil }
	for _, url := range []string{"http://user:" + token + "@127.0.0.1:1/config.git", "http://sluice_secret:@127.0.0.1:1/config.git",
		"http://127.0.0.1:1/" + token + ".git", "http://127.0.0.1:1/?token=sluice_secret%2Ftoken", "http://%zz:" + token + "@x",
		"http://127.0.0.1:1/config.git?private_token=sluice_secret", "http://127.0.0.1:1/config.git#sluice_secret",
		"ssh://git@127.0.0.1:1/" + token, "ssh://git:sluice_secret@127.0.0.1:1/config.git"} {
		for _, auth := range []func(context.Context) (string, string, error){auth, nil} {
			if auth == nil && strings.Contains(url, "1/sluice") {
				continue // a path is no secret
			}
			_, err := gitrepo.Open(context.Background(), gitrepo.Options{Name: "config", URL: url, Branch: "main", Dir: t.TempDir() + "/mirror", Auth: auth})
			if err == nil {
				t.Fatalf("%s answered", url)
			}
			if shown(err) != "" {
				t.Errorf("the error shows the token: %v", err)
			}
		}
	}
}

// TestNoFailureShowsTheToken fails every operation in every way, on a server that repeats what it is sent.
func TestNoFailureShowsTheToken(t *testing.T) {
	t.Parallel()
	answers := map[string]interceptor{}
	for _, status := range []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusInternalServerError, http.StatusOK} {
		answers[http.StatusText(status)] = func(w http.ResponseWriter, req *http.Request, _ http.Handler) {
			user, password, _ := req.BasicAuth()
			http.Error(w, fmt.Sprint(req.Header, user, password, req.URL, url.QueryEscape(password)), status)
		}
	}
	answers["sent elsewhere"] = func(w http.ResponseWriter, req *http.Request, _ http.Handler) {
		user, password, _ := req.BasicAuth()
		http.Redirect(w, req, "http://"+url.UserPassword(user, password).String()+"@127.0.0.1:1/x/info/refs?token="+url.QueryEscape(password+user), http.StatusFound)
	}
	answers["an error in Git's own form"] = func(w http.ResponseWriter, req *http.Request, _ http.Handler) {
		user, password, _ := req.BasicAuth()
		said := "ERR " + user + ":" + password
		fmt.Fprintf(w, "%04x%s", len(said)+4, said)
	}
	answers["nothing"] = func(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }
	for name, answer := range answers {
		for form, userinfo := range map[string]*url.Userinfo{"given apart": nil, "in the address": url.UserPassword("sluice", token), "alone": url.User(token)} {
			t.Run(name+"/"+form, func(t *testing.T) {
				t.Parallel()
				r := newRemote(t, example)
				o := r.options()
				if userinfo != nil {
					o.URL = strings.Replace(r.url, "http://", "http://"+userinfo.String()+"@", 1)
				} else {
					o.Auth = func(context.Context) (string, string, error) { return "sluice", token, nil }
				}
				m, ctx := open(t, o), context.Background()
				base := fetch(t, m)
				r.intercept(answer)
				o.Dir += "2"
				_, opened := gitrepo.Open(ctx, o)
				_, fetched := m.Fetch(ctx)
				_, brought := m.FetchRef(ctx, pull)
				_, proposed := m.Propose(ctx, proposal(base, branch, "new"))
				for _, err := range []error{opened, fetched, brought, proposed, m.DeleteBranch(ctx, branch, base)} {
					if err == nil {
						t.Error("it did not fail")
					}
					if form := shown(err); form != "" {
						t.Errorf("the error shows %s: %v", form, err)
					}
				}
			})
		}
	}
}

func TestAHookThatRepeatsTheTokenIsScrubbed(t *testing.T) {
	t.Parallel()
	r := newRemote(t, example)
	r.hook("pre-receive", "echo 'who is "+token+"?' >&2; exit 1")
	o := r.options()
	o.Auth = func(context.Context) (string, string, error) { return "sluice", token, nil }
	m := open(t, o)
	_, err := m.Propose(context.Background(), proposal(fetch(t, m), branch, "new"))
	if err == nil || shown(err) != "" || !strings.Contains(err.Error(), "who is …?") {
		t.Errorf("the hook's text became %v", err)
	}
}

func TestARefusedTokenIsToBeChecked(t *testing.T) {
	t.Parallel()
	r := newRemote(t, example)
	r.intercept(func(w http.ResponseWriter, req *http.Request, _ http.Handler) {
		http.Error(w, "refused", http.StatusForbidden)
	})
	if _, err := gitrepo.Open(context.Background(), r.options()); err == nil || !strings.Contains(err.Error(), "check that its token is valid") {
		t.Errorf("the error does not say what to do: %v", err)
	}
}

func TestTokensRotate(t *testing.T) {
	t.Parallel()
	r := newRemote(t, example)
	var valid atomic.Value
	valid.Store("first")
	r.intercept(func(w http.ResponseWriter, req *http.Request, git http.Handler) {
		if user, password, _ := req.BasicAuth(); user != "sluice" || password != valid.Load() {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		git.ServeHTTP(w, req)
	})
	o := r.options()
	o.Auth = func(context.Context) (string, string, error) { return "sluice", valid.Load().(string), nil }
	m := open(t, o)
	valid.Store("second")
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
