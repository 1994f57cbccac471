package manifest

import (
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
)

// placeholder is what another tool fills in at the cluster: <path:…> of the
// Argo CD vault plugin, ${NAME} of Flux.
var placeholder = regexp.MustCompile(`^(<[^<>\s]+>|\$\{[^{}\s]+\})$`)

// NewSecrets lists the Secrets that after holds in plain text and before did
// not: with data that neither SOPS encrypted nor a later tool fills in.
func NewSecrets(before, after Rendered) []ID {
	known := plaintextSecrets(before)
	var found []ID
	for _, id := range plaintextSecrets(after) {
		if !slices.Contains(known, id) {
			found = append(found, id)
		}
	}
	return found
}

func plaintextSecrets(r Rendered) []ID {
	var found []ID
	for _, object := range r.Objects {
		if object.Group == "" && object.Kind == "Secret" && isPlaintext(object.Content) {
			found = append(found, object.ID)
		}
	}
	return found
}

func isPlaintext(secret map[string]any) bool {
	data, _ := secret["data"].(map[string]any)
	for _, value := range data {
		encoded := text(value)
		decoded, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
		if readable(encoded) && (err != nil || readable(string(decoded))) {
			return true
		}
	}
	data, _ = secret["stringData"].(map[string]any)
	for _, value := range data {
		if readable(plainText(value)) {
			return true
		}
	}
	return false
}

// readable tells whether a value gives something away.
func readable(value string) bool {
	value = strings.TrimSpace(value)
	return value != "" && !strings.HasPrefix(value, "ENC[") && !placeholder.MatchString(value)
}
