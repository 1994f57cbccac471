package manifest_test

import (
	"slices"
	"testing"

	"github.com/sluicehq/sluice/internal/manifest"
)

func TestMaskedLog(t *testing.T) {
	t.Parallel()
	const hidden = "(hidden)"
	for name, test := range map[string]struct {
		output string
		want   []string
	}{
		"nothing":                     {"", nil},
		"a line":                      {"panic: boom\n", []string{"panic: boom"}},
		"no newline at the end":       {"a\nb", []string{"a", "b"}},
		"a password in a URL":         {"dial postgres://app:s3cr3t@db/shop\nexit", []string{hidden, "exit"}},
		"a URL without":               {"dial postgres://app@db/shop", []string{"dial postgres://app@db/shop"}},
		"a bearer token":              {"Authorization: Bearer abcdefgh12345678", []string{hidden}},
		"basic authentication":        {"authorization: Basic YWRhOnBhc3M=", []string{hidden}},
		"a key that holds one":        {`level=error db_password=hunter22 msg="no"`, []string{hidden}},
		"in JSON":                     {`{"level":"error","api_key":"abc123"}`, []string{hidden}},
		"a web token":                 {"got eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.x", []string{hidden}},
		"a private key":               {"key:\n-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\nnext", []string{"key:", hidden, hidden, hidden, "next"}},
		"the end of a private key":    {"BBBB\nAAAA\n-----END PRIVATE KEY-----\nnext", []string{hidden, hidden, hidden, "next"}},
		"its beginning":               {"-----BEGIN PRIVATE KEY-----\nAAAA", []string{hidden, hidden}},
		"a token alone":               {"token is\n" + "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH", []string{"token is", hidden}},
		"a digest in a sentence":      {"image sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa not found", []string{"image sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa not found"}},
		"colours and what is no text": {"\x1b[31mred\x00\xff", []string{"[31mred"}},
		"half hidden by a null":       {"pass\x00word=hunter22", []string{hidden}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := manifest.MaskedLog(test.output); !slices.Equal(got, test.want) {
				t.Errorf("shows %q, want %q", got, test.want)
			}
		})
	}
}
