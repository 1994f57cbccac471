package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

// prefix makes a token recognisable to people and to secret scanners.
const prefix = "sluice_"

// ErrUnknownToken is the answer to a hash of no valid token.
var ErrUnknownToken = errors.New("the token is unknown, expired or revoked")

// TokenStore keeps the hashes of tokens.
type TokenStore interface {
	// TokenActor is who holds the token; ErrUnknownToken when it is not valid at that time.
	TokenActor(ctx context.Context, hash []byte, now time.Time) (promotion.Actor, error)
}

// NewToken makes a random token of 256 bits. Only its hash is ever stored.
func NewToken() (token string, hash []byte) {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails: crypto/rand ends the process instead
	token = prefix + base64.RawURLEncoding.EncodeToString(secret)
	return token, HashToken(token)
}

// HashToken is what is stored of a token. It needs no salt and no slow hash: a
// token is random in all its bits.
func HashToken(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// bearer takes the token out of an Authorization header.
func bearer(header string) (string, bool) {
	scheme, token, ok := strings.Cut(header, " ")
	if !ok || !strings.EqualFold(scheme, "bearer") {
		return "", false
	}
	return strings.TrimSpace(token), true
}
