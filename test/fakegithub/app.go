package fakegithub

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// AppID and InstallationID are those of the App that App registers.
const (
	AppID          = 4242
	InstallationID = 77
)

// appKey is made once per process: it takes long.
var appKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

// App installs a GitHub App on the repository with these permissions, and returns its private key in PEM.
func (s *Server) App(permissions map[string]string) []byte {
	s.t.Helper()
	key, err := appKey()
	if err != nil {
		s.t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.permissions = permissions
	return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
}

// Uninstall takes the App from the repository, and its tokens' validity.
func (s *Server) Uninstall() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.permissions, s.tokens = nil, map[string]time.Time{}
}

// ExpireTokens ends the installation tokens given until now.
func (s *Server) ExpireTokens() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.tokens)
}

// SetClock sets what time it is for the App's tokens; they live for an hour.
func (s *Server) SetClock(now func() time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = now
}

// TokensGiven is how many installation tokens were asked for.
func (s *Server) TokensGiven() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.given
}

// mayCall tells whether the call's token is one of the repository.
func (s *Server) mayCall(r *http.Request) bool {
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	return token == Token || s.now().Before(s.tokens[token])
}

// isApp checks the JSON Web Token of the App itself as GitHub does.
func (s *Server) isApp(r *http.Request) bool {
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	parts := strings.Split(token, ".")
	key, err := appKey()
	if err != nil || len(parts) != 3 {
		return false
	}
	decode := func(part string) []byte {
		text, err := base64.RawURLEncoding.DecodeString(part)
		if err != nil {
			return nil
		}
		return text
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if rsa.VerifyPKCS1v15(&key.PublicKey, crypto.SHA256, sum[:], decode(parts[2])) != nil {
		return false
	}
	var header struct{ Alg, Typ string }
	var claims struct {
		Iss      string
		Iat, Exp int64
	}
	if json.Unmarshal(decode(parts[0]), &header) != nil || json.Unmarshal(decode(parts[1]), &claims) != nil {
		return false
	}
	const longest = 10 * time.Minute
	now := s.now()
	return header.Alg == "RS256" && claims.Iss == fmt.Sprint(AppID) && claims.Iat <= now.Unix() && claims.Exp > now.Unix() &&
		time.Unix(claims.Exp, 0).Sub(now) <= longest
}

// app gives a call to a handler when the App itself makes it.
func (s *Server) app(handle http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		switch {
		case !s.isApp(r):
			problem(w, http.StatusUnauthorized, "A JSON web token could not be decoded")
		case s.permissions == nil:
			problem(w, http.StatusNotFound, "Not Found")
		default:
			handle(w, r)
		}
	}
}

func (s *Server) getInstallation(w http.ResponseWriter, _ *http.Request) {
	o := s.description.example("installation")
	o["id"], o["app_id"], o["permissions"] = InstallationID, AppID, s.permissions
	answer(w, http.StatusOK, o)
}

func (s *Server) createToken(w http.ResponseWriter, r *http.Request) {
	asked := decode(r)
	switch {
	case r.PathValue("id") != fmt.Sprint(InstallationID):
		problem(w, http.StatusNotFound, "Not Found")
		return
	case fmt.Sprint(asked["repositories"]) != "["+Repository+"]":
		problem(w, http.StatusUnprocessableEntity, "There is at least one repository that does not exist or is not accessible to the parent installation.")
		return
	}
	s.given++
	token, expires := fmt.Sprintf("ghs_installation-%d", s.given), s.now().Add(time.Hour)
	s.tokens[token] = expires
	answer(w, http.StatusCreated, object{"token": token, "expires_at": stamp(expires), "permissions": s.permissions, "repository_selection": "selected"})
}
