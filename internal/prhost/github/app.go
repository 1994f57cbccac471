package github

import (
	"context"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/google/go-github/v60/github"
)

// AppOptions say which GitHub App acts on which repository. ID, PrivateKey, Owner and Repository are required.
type AppOptions struct {
	ID int64
	// PrivateKey of the App in PEM, as GitHub's settings give it.
	PrivateKey []byte
	// InstallationID is looked up by the repository when 0.
	InstallationID int64
	// Owner and Repository are the only repository that the tokens may act on.
	Owner, Repository string
	// BaseURL, HTTP and Clock are as in Options.
	BaseURL string
	HTTP    *http.Client
	Clock   func() time.Time
}

// App gives installation tokens of a GitHub App, which live for an hour. Its methods are for Options.Token and
// Options.Refused, and for Git over HTTPS, where the user is x-access-token. It is safe for concurrent use.
type App struct {
	AppOptions
	key    *rsa.PrivateKey
	client *github.Client

	turn chan struct{} // held by the one call that asks for a token
	mu   sync.Mutex
	held installationToken
}

type installationToken struct {
	value   string
	expires time.Time
}

// renewal is how long before its end a token is replaced; a call and its retries have to fit in.
const renewal = 5 * time.Minute

// NewApp makes an App. It makes no call.
func NewApp(o AppOptions) (*App, error) {
	if o.ID <= 0 || o.Owner == "" || o.Repository == "" {
		return nil, errors.New("a GitHub App needs its id, and the owner and name of the repository that it acts on")
	}
	key, err := privateKey(o.PrivateKey)
	if err != nil {
		return nil, fmt.Errorf("private key of the GitHub App %d: %w", o.ID, err)
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	a := &App{AppOptions: o, key: key, turn: make(chan struct{}, 1)}
	if a.client, err = newClient(authorised(o.HTTP, a.identity, nil), o.BaseURL); err != nil {
		return nil, err
	}
	return a, nil
}

// privateKey tells nothing of the text in its error.
func privateKey(text []byte) (*rsa.PrivateKey, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("it is not in PEM: give the file that GitHub generated for the App, which begins with -----BEGIN RSA PRIVATE KEY-----")
	}
	if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, errors.New("it cannot be read: give the file that GitHub generated for the App, unchanged")
	}
	if key, is := key.(*rsa.PrivateKey); is {
		return key, nil
	}
	return nil, errors.New("it is not an RSA key, which GitHub's are")
}

// Token gives a token that is valid for some minutes at least. Callers at the same time wait for one and the same new one.
func (a *App) Token(ctx context.Context) (string, error) {
	if t := a.current(); a.Clock().Add(renewal).Before(t.expires) {
		return t.value, nil
	}
	select {
	case a.turn <- struct{}{}:
		defer func() { <-a.turn }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	old := a.current()
	if a.Clock().Add(renewal).Before(old.expires) {
		return old.value, nil
	}
	fresh, err := a.ask(ctx)
	switch {
	case err == nil:
		a.mu.Lock()
		a.held = fresh
		a.mu.Unlock()
		return fresh.value, nil
	case a.Clock().Before(old.expires) && ctx.Err() == nil:
		return old.value, nil // good until its end; the next call asks again
	}
	return "", err
}

func (a *App) current() installationToken {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.held
}

// Refused lets go of a token that GitHub no longer takes.
func (a *App) Refused(token string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.held.value == token {
		a.held = installationToken{}
	}
}

// ask has GitHub make a token for the one repository.
func (a *App) ask(ctx context.Context) (installationToken, error) {
	id := a.InstallationID
	if id == 0 {
		found, err := a.Installation(ctx)
		if err != nil {
			return installationToken{}, err
		}
		id = found.ID
	}
	made, _, err := a.client.Apps.CreateInstallationToken(ctx, id, &github.InstallationTokenOptions{Repositories: []string{a.Repository}})
	if err != nil {
		return installationToken{}, a.failure(err, "get an installation token")
	}
	if made.GetToken() == "" || made.GetExpiresAt().IsZero() {
		return installationToken{}, fmt.Errorf("get an installation token: %w", errIncomplete)
	}
	return installationToken{value: made.GetToken(), expires: made.GetExpiresAt().Time}, nil
}

// Installation is an App's place on a repository.
type Installation struct {
	ID          int64
	Permissions map[string]string // as granted: name to read, write or admin
}

// Installation looks the App's installation up.
func (a *App) Installation(ctx context.Context) (Installation, error) {
	var found Installation
	r, err := a.client.NewRequest(http.MethodGet, fmt.Sprintf("repos/%s/%s/installation", a.Owner, a.Repository), nil)
	if err == nil {
		_, err = a.client.Do(ctx, r, &found)
	}
	if err == nil && found.ID == 0 {
		err = errIncomplete
	}
	return found, a.failure(err, "look for the installation")
}

// failure does not wrap what GitHub answered: to a Host's caller it would look like the answer to their own call.
func (a *App) failure(err error, doing string) error {
	if err == nil {
		return nil
	}
	if until, limited := limit(err, a.Clock()); limited {
		return &Limited{Until: until}
	}
	doing = fmt.Sprintf("%s of the GitHub App %d on %s/%s", doing, a.ID, a.Owner, a.Repository)
	r, answered := errors.AsType[*github.ErrorResponse](err)
	if !answered {
		return fmt.Errorf("%s: %w", doing, err)
	}
	status, said := r.Response.StatusCode, message(r)
	why := fmt.Sprintf("GitHub answers %d: %s", status, said)
	switch status {
	case http.StatusUnauthorized:
		why = fmt.Sprintf("GitHub refuses the App's key (%s): it is not one of this App's, or this machine's clock is wrong", said)
	case http.StatusNotFound, http.StatusUnprocessableEntity:
		why = fmt.Sprintf("the App is not installed there (%s): install it on the repository, or mend installation_id", said)
	case http.StatusForbidden:
		why = fmt.Sprintf("GitHub forbids it (%s): the installation may be suspended", said)
	}
	return errors.New(doing + ": " + why)
}
