package manifest

import (
	"encoding/json"
	"path"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
)

// checkChart refuses what Helm would have to fetch: charts that are not there,
// and schemas of values that refer to files or URLs.
func checkChart(c *chart.Chart, dir string) error {
	if c.Metadata.Type == "library" {
		return refuse(RenderFailed, dir, 0, "a library chart renders nothing")
	}
	return checkNeeds(c, dir)
}

func checkNeeds(c *chart.Chart, dir string) error {
	present := map[string]bool{}
	for _, sub := range c.Dependencies() {
		present[sub.Name()] = true
	}
	for _, need := range c.Metadata.Dependencies {
		if !present[need.Name] {
			return refuse(UnsupportedPlugin, path.Join(dir, "Chart.yaml"), 0,
				"the chart %s would have to be downloaded: put it into the charts folder", need.Name)
		}
	}
	var schema any
	if json.Unmarshal(c.Schema, &schema) == nil {
		if outside := outsideReference(schema); outside != "" {
			return refuse(RemoteBase, path.Join(dir, "values.schema.json"), 0,
				"the schema refers to %s, which cannot be read here", outside)
		}
	}
	for _, sub := range c.Dependencies() {
		if err := checkNeeds(sub, path.Join(dir, "charts", sub.Name())); err != nil {
			return err
		}
	}
	return nil
}

// outsideReference finds a $ref or $schema that leads out of a JSON schema.
func outsideReference(schema any) string {
	switch schema := schema.(type) {
	case map[string]any:
		for key, value := range schema {
			target, isText := value.(string)
			switch {
			case isText && key == "$schema" && isKnownDraft(target):
			case isText && (key == "$ref" || key == "$dynamicRef" || key == "$recursiveRef" || key == "$schema") &&
				!strings.HasPrefix(target, "#"):
				return target
			}
			if outside := outsideReference(value); outside != "" {
				return outside
			}
		}
	case []any:
		for _, value := range schema {
			if outside := outsideReference(value); outside != "" {
				return outside
			}
		}
	}
	return ""
}

// isKnownDraft tells the schemas that the validator carries.
func isKnownDraft(url string) bool {
	_, rest, _ := strings.Cut(strings.TrimSuffix(url, "#"), "://")
	switch rest {
	case "json-schema.org/draft-04/schema", "json-schema.org/draft-06/schema", "json-schema.org/draft-07/schema",
		"json-schema.org/draft/2019-09/schema", "json-schema.org/draft/2020-12/schema":
		return true
	}
	return false
}
