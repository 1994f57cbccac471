package manifest

import (
	"regexp"
	"strings"
	"unicode"
)

var (
	keyBegins = regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY`)
	keyEnds   = regexp.MustCompile(`-----END [A-Z ]*PRIVATE KEY`)
	basicAuth = regexp.MustCompile(`(?i)\bbasic\s+[a-z0-9+/]{8,}`)
	blob      = regexp.MustCompile(`^\s*[A-Za-z0-9+/_-]{40,}={0,2}\s*$`) // a key's body, or a token alone
)

// MaskedLog is a program's output as people may see it: a line that shows a credential is hidden whole, and a private key with all its lines,
// even where only its end is there. What is no text is left out.
func MaskedLog(output string) []string {
	output = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(output, ""))
	lines := strings.Split(strings.TrimRight(output, "\n"), "\n")
	if len(lines) == 1 && lines[0] == "" {
		return nil
	}
	masked := make([]string, len(lines))
	inKey := false
	for i, line := range lines {
		inKey = inKey || keyBegins.MatchString(line)
		ends := keyEnds.MatchString(line)
		if ends && !inKey { // its beginning is cut off
			for before := range masked[:i] {
				masked[before] = hidden
			}
		}
		masked[i] = line
		if inKey || ends || blob.MatchString(line) || basicAuth.MatchString(line) || credentialInText.MatchString(line) {
			masked[i] = hidden
		}
		inKey = inKey && !ends
	}
	return masked
}
