package lint

import (
	"crypto/sha256"
	"regexp"
	"strings"
)

// shape is a form that only credentials have. The first group, if there is
// one, is the credential itself.
type shape struct {
	name    string
	pattern *regexp.Regexp
}

const urlShape = "a password in a URL"

// The shapes, as their makers document them.
var shapes = []shape{
	{"a private key", regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]{0,200}`)},
	{"an AWS access key id", regexp.MustCompile(`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`)},
	{"a GitHub token", regexp.MustCompile(`\bgh[pousr]_[A-Za-z0-9]{36,}\b|\bgithub_pat_[A-Za-z0-9_]{50,}\b`)},
	{"a GitLab token", regexp.MustCompile(`\bglpat-[A-Za-z0-9_-]{20,}`)},
	{"a Slack token", regexp.MustCompile(`\bxox[abeprs]-[A-Za-z0-9-]{10,}`)},
	{"a JSON Web Token", regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}`)},
	{urlShape, regexp.MustCompile(`\b[a-zA-Z][a-zA-Z0-9+.-]*://[^/\s:@"'<>]*:([^/\s@"']{3,})@[A-Za-z0-9\[]`)},
}

// shapeHint is part of every match of a shape; looking for it first is far
// cheaper than looking for the shapes.
var shapeHint = regexp.MustCompile(`PRIVATE KEY-----|AKIA|ASIA|gh[pousr]_|github_pat_|glpat-|xox|eyJ|://`)

// nothing is what stands where a credential is filled in later, and the
// ending of the keys in AWS's documentation.
var nothing = regexp.MustCompile(`^[$<{%*(]|^[xX.]+$|EXAMPLE$`)

// shaped finds credentials by their shape alone.
func shaped(data []byte) []leak {
	if !shapeHint.Match(data) {
		return nil
	}
	var found []leak
	content := string(data)
	for _, s := range shapes {
		for _, match := range s.pattern.FindAllStringSubmatchIndex(content, -1) {
			credential := content[match[0]:match[1]]
			if len(match) > 2 {
				credential = content[match[2]:match[3]]
			}
			if nothing.MatchString(credential) {
				continue
			}
			line := 1 + strings.Count(content[:match[0]], "\n")
			found = append(found, leak{line: line, end: line, keys: []string{s.name}, values: []fingerprint{sha256.Sum256([]byte(credential))}})
		}
	}
	return found
}

// hideCredentials takes out of a text what has the shape of one.
func hideCredentials(text string) string {
	for _, s := range shapes {
		text = s.pattern.ReplaceAllString(text, "(hidden)")
	}
	return text
}
