package argocd

import (
	"regexp"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig/v3"
	k8syaml "sigs.k8s.io/yaml"
)

// functions are those that an ApplicationSet's templates may use: sprig's that
// always give the same for the same parameters, and Argo CD's normalize, toYaml,
// fromYaml and fromYamlArray. Argo CD has no env, expandenv and getHostByName
// either. What depends on chance or the clock, and slugify, whose table of
// letters is not here, makes an expansion fail instead of giving another name
// than Argo CD's.
func functions() template.FuncMap {
	all := sprig.HermeticTxtFuncMap()
	for _, name := range []string{
		"ago", "bcrypt", "encryptAES", "htpasswd", "randInt", "shuffle",
		"buildCustomCert", "genCA", "genCAWithKey", "genPrivateKey", "genSelfSignedCert",
		"genSelfSignedCertWithKey", "genSignedCert", "genSignedCertWithKey",
	} {
		delete(all, name)
	}
	all["normalize"] = normalize
	all["toYaml"] = func(value any) (string, error) {
		data, err := k8syaml.Marshal(value)
		return strings.TrimSuffix(string(data), "\n"), err
	}
	all["fromYaml"] = func(text string) (map[string]any, error) {
		value := map[string]any{}
		err := k8syaml.Unmarshal([]byte(text), &value)
		return value, err
	}
	all["fromYamlArray"] = func(text string) ([]any, error) {
		var value []any
		err := k8syaml.Unmarshal([]byte(text), &value)
		return value, err
	}
	return all
}

var notInNames = regexp.MustCompile(`[^-a-z0-9.]`)

// normalize makes a DNS name of a text, as Argo CD's documentation describes:
// lower case, a hyphen for whatever may not be there, at most 253 characters,
// a letter or digit at both ends.
func normalize(name string) string {
	name = notInNames.ReplaceAllString(strings.ToLower(name), "-")
	return strings.Trim(name[:min(len(name), 253)], "-.")
}
