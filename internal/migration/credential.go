package migration

import (
	"fmt"
	"regexp"
	"strings"
)

// passwords are the places where SQL holds a password in plain text or hashed: CREATE and ALTER ROLE, USER, GROUP and USER MAPPING,
// connection strings of subscriptions and of dblink, and addresses. They are looked for in the text, not in statements: a comment
// or a function's body would be stored too.
var passwords = []*regexp.Regexp{
	regexp.MustCompile(`(?i)\b(?:role|user|group|mapping)\b[^;]*?\bpassword\s+(?:e|u&)?'{1,2}([^']+)'`),
	regexp.MustCompile(`(?i)\b(?:role|user|group|mapping)\b[^;]*?\bpassword\s+\$\w*\$([^$]+)\$`),
	regexp.MustCompile(`(?i)\b(?:host|hostaddr|dbname|user|port)=[^'\n]*\bpassword=([^\s';]+)`),
	regexp.MustCompile(`(?i)\bpassword=([^\s';]+)[^'\n]*\b(?:host|hostaddr|dbname|user|port)=`),
	regexp.MustCompile(`(?i)\b[a-z][a-z0-9+]*://[^\s:/@']+:([^\s/@']+)@`),
}

// placeholder is what a tool or psql puts a value in the place of.
var placeholder = regexp.MustCompile(`^(?:\$\{[^}]*\}|\{\{[^}]*\}\}|<[^>]*>)$`)

// Credential is an error for the first password that is written out in one of the files, with its file and line. It never
// says the password.
func Credential(files []File) error {
	for _, f := range files {
		for _, form := range passwords {
			for _, at := range form.FindAllStringSubmatchIndex(f.Content, -1) {
				if placeholder.MatchString(f.Content[at[2]:at[3]]) {
					continue
				}
				line := 1 + strings.Count(f.Content[:at[2]], "\n")
				return fmt.Errorf("%s:%d holds a password, which would be stored with the build: take it out of the migration and set it where "+
					"secrets are kept, for example by creating the role outside of the migrations or with a placeholder that is filled in when "+
					"they run; a password that stood in a repository should be changed", f.Name, line)
			}
		}
	}
	return nil
}
