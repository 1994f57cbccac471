package lint

import (
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// fileSuppressions reads the suppression file, a list of entries. An entry
// that cannot be read is a finding and suppresses nothing.
func fileSuppressions(f *files) ([]suppression, []Finding) {
	data := f.text(SuppressionFile)
	if data == nil {
		return nil, nil
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, []Finding{*suppressionFault("suppression-incomplete", SuppressionFile, 1, "the file is not YAML")}
	}
	var all []suppression
	var found []Finding
	for _, list := range doc.Content {
		if list.Kind != yaml.SequenceNode {
			found = append(found, *suppressionFault("suppression-incomplete", SuppressionFile, list.Line, "the file is no list of entries"))
		}
		for _, item := range items(list) {
			s, problem := entrySuppression(item)
			if problem != "" {
				found = append(found, *suppressionFault("suppression-incomplete", SuppressionFile, item.Line, problem))
				continue
			}
			all = append(all, s)
		}
	}
	return all, found
}

// entrySuppression reads one entry, or says what is wrong with it.
func entrySuppression(item *yaml.Node) (s suppression, problem string) {
	s = suppression{file: SuppressionFile, line: item.Line}
	for _, p := range pairs(item) {
		value := scalar(p[1])
		switch key := p[0].Value; key {
		case "code":
			s.code = value
		case "path":
			if value != "" {
				s.files = globPattern(value)
			}
		case "object":
			s.object = value
		case "reason":
			s.reason = value
		case "until":
			s.until = value
		default:
			return s, fmt.Sprintf("an entry has code, path, object, reason and until, but no %q", key)
		}
	}
	if s.files == nil {
		return s, fmt.Sprintf("the suppression of %q needs a path, in which * and ** are wildcards", s.code)
	}
	return s, ""
}

// globPattern turns a glob into a regular expression, whose time is bounded
// whatever people write: * is any text without a slash, ** any text.
func globPattern(glob string) *regexp.Regexp {
	pattern := regexp.QuoteMeta(glob)
	for _, wildcard := range [][2]string{{`\*\*/`, `(?:.*/)?`}, {`\*\*`, `.*`}, {`\*`, `[^/]*`}, {`\?`, `[^/]`}} {
		pattern = strings.ReplaceAll(pattern, wildcard[0], wildcard[1])
	}
	return regexp.MustCompile(`^` + pattern + `$`)
}
