package github

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// How long the proof of an App's identity holds: GitHub takes ten minutes at most, and none from its own future.
// https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
const (
	identityLife = 8 * time.Minute
	clockSkew    = time.Minute
)

// identity is a JSON Web Token with which the App itself, not an installation of it, calls GitHub.
func (a *App) identity(context.Context) (string, error) {
	now := a.Clock()
	claims, err := json.Marshal(map[string]any{"iss": strconv.FormatInt(a.ID, 10), "iat": now.Add(-clockSkew).Unix(), "exp": now.Add(identityLife).Unix()})
	if err != nil {
		return "", err
	}
	encode := base64.RawURLEncoding.EncodeToString
	signed := encode([]byte(`{"alg":"RS256","typ":"JWT"}`)) + "." + encode(claims)
	sum := sha256.Sum256([]byte(signed))
	signature, err := rsa.SignPKCS1v15(rand.Reader, a.key, crypto.SHA256, sum[:])
	if err != nil {
		return "", fmt.Errorf("sign with the App's key: %w", err)
	}
	return signed + "." + encode(signature), nil
}
