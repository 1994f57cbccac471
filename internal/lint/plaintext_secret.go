package lint

import (
	"encoding/base64"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/internal/manifest"
)

func plaintextSecret() Rule {
	return Rule{
		Code: "plaintext-secret", Level: Error,
		What: "A Secret with readable data in Git, base64 included; a literal or a file of a secretGenerator; a value of a chart that ends up in a Secret; and, in any text file, what has the shape of a credential: private keys, AWS, GitHub, GitLab and Slack tokens, JSON Web Tokens, passwords in URLs. SealedSecrets, ExternalSecrets, SOPS-encrypted values and placeholders are not reported. With --history, what any commit of the first-parent history brought in is reported once, also when it is gone from the tree.",
		Why:  "Base64 is no encryption: who can read the repository, a clone, a fork or a CI cache has the credential, and Git keeps it after the file is gone.",
		Mend: "Revoke or rotate the credential first: it is known, and deleting the file does not change that. Then put the new one into a SealedSecret, an ExternalSecret or a SOPS-encrypted file.",
		run:  leaked,
	}
}

func leaked(r *repository) []Finding {
	var found []Finding
	for _, l := range r.leaks {
		f := Finding{File: l.file, Line: l.line, Object: l.object, Targets: r.users[l.file], Commit: l.commit}
		keys := slices.Compact(slices.Sorted(slices.Values(l.keys)))
		f.Message = strings.Join(keys, ", ") + " can be read by everybody who can read the repository"
		if l.gone {
			f.Targets = nil
			f.Message = fmt.Sprintf("%s is gone from the tree, but commit %.12s still has it", strings.Join(keys, ", "), l.commit.Hash)
		}
		found = append(found, f)
	}
	return append(found, eachTarget(chartSecrets)(r)...)
}

// chartSecrets finds values of rendered Secrets that stand in the files of a
// chart's application. A value that the chart makes up stands nowhere.
func chartSecrets(r *repository, t *target) []Finding {
	if t.Layout != manifest.Helm {
		return nil
	}
	names := r.chartFiles(t)
	var found []Finding
	for _, o := range t.all("", "Secret") {
		for key, value := range secretValues(o) {
			var l leak
			l.add(1, "stringData", key, value)
			if file, line := r.files.findText(names, value); line > 0 && len(l.keys) > 0 {
				found = append(found, Finding{File: file, Line: line, Object: "Secret " + o.Name, Targets: []string{t.Path},
					Message: key + " can be read by everybody who can read the repository"})
			}
		}
	}
	return found
}

// chartFiles are the files that a Helm target may be made of, nearest first: those
// of the overlay, then those of its application. Other targets have none.
func (r *repository) chartFiles(t *target) []string {
	if t.Layout != manifest.Helm {
		return nil
	}
	return append(slices.Clone(t.files), r.files.below(path.Dir(path.Dir(t.Path)))...)
}

// secretValues gives what a Secret holds, decoded. Values too short to be
// told from other text are left out.
func secretValues(secret manifest.Object) map[string]string {
	values := map[string]string{}
	for key := range fields(secret.Content, "stringData") {
		values[key] = text(secret.Content, "stringData", key)
	}
	for key := range fields(secret.Content, "data") {
		if decoded, err := base64.StdEncoding.DecodeString(text(secret.Content, "data", key)); err == nil {
			values[key] = string(decoded)
		}
	}
	const shortest = 4
	for key, value := range values {
		if values[key] = strings.TrimSpace(value); len(values[key]) < shortest {
			delete(values, key)
		}
	}
	return values
}

// findText gives the first place where a text stands; line 0 when nowhere.
func (f *files) findText(names []string, wanted string) (string, int) {
	for _, name := range names {
		before, _, found := strings.Cut(string(f.text(name)), wanted)
		if found {
			return name, 1 + strings.Count(before, "\n")
		}
	}
	return "", 0
}
