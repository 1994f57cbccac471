package argocd

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	k8syaml "sigs.k8s.io/yaml"
)

// patch fills the set's templatePatch in and applies it: a list is a JSON patch,
// anything else is merged. As in Argo CD it cannot change the project.
func (e *expander) patch(object, parameters map[string]any) (map[string]any, error) {
	if !e.set.GoTemplate {
		return nil, errors.New("templatePatch needs goTemplate: true")
	}
	text, err := e.filler.text(e.set.TemplatePatch, parameters)
	if err != nil {
		return nil, err
	}
	data, err := k8syaml.YAMLToJSON([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("templatePatch: %w", err)
	}
	before, _ := object["spec"].(map[string]any)
	project := before["project"]
	if strings.HasPrefix(string(data), "[") {
		object, err = applyJSONPatch(object, data)
	} else {
		var merge map[string]any
		if err = json.Unmarshal(data, &merge); err == nil {
			object = patched(object, merge)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("templatePatch: %w", err)
	}
	if spec, ok := object["spec"].(map[string]any); ok && project != nil {
		spec["project"] = project
	}
	return object, nil
}

func applyJSONPatch(object map[string]any, data []byte) (map[string]any, error) {
	steps, err := jsonpatch.DecodePatch(data)
	if err != nil {
		return nil, err
	}
	before, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	after, err := steps.Apply(before)
	if err != nil {
		return nil, err
	}
	var result map[string]any
	err = json.Unmarshal(after, &result)
	return result, err
}
