package lint

import (
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/sluicehq/sluice/internal/argocd"
)

// hiddenField is a field that an entry under ignoreDifferences hides.
type hiddenField struct {
	path    string // such as spec.template.spec.containers.image, without indices; "" is the whole object
	written string
}

// everything is the path of an expression that is not understood: it may hide anything.
const everything = ""

var (
	selection = regexp.MustCompile(`select\((?:[^()]|\([^()]*\))*\)`)
	quotedKey = regexp.MustCompile(`\.?\["([^"\]]*)"\]|\."([^"]*)"`)
	index     = regexp.MustCompile(`\[[0-9:]*\]`)
	plainPath = regexp.MustCompile(`^(\.?[A-Za-z0-9_$/~:-]+)*\.?$`)
)

// hiddenBy lists the fields that an entry hides by JSON pointers and jq paths.
func hiddenBy(d argocd.IgnoreDifference) []hiddenField {
	var found []hiddenField
	for _, pointer := range d.JSONPointers {
		found = append(found, hiddenField{pointerPath(pointer), pointer})
	}
	for _, expression := range d.JQPathExpressions {
		for _, p := range jqPaths(expression) {
			found = append(found, hiddenField{p, expression})
		}
	}
	return found
}

func pointerPath(pointer string) string {
	var parts []string
	for _, part := range strings.Split(strings.Trim(pointer, "/"), "/") {
		if _, err := strconv.Atoi(part); err != nil {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ".")
}

// jqPaths reads the path expressions that people write for Argo CD: fields,
// iteration, selection, several with commas. Anything else is everything.
func jqPaths(expression string) []string {
	expression = selection.ReplaceAllString(expression, "")
	expression = quotedKey.ReplaceAllString(expression, ".$1$2")
	expression = index.ReplaceAllString(expression, "")
	expression = strings.NewReplacer("?", "", "|", "", " ", "", "\n", "").Replace(expression)
	var paths []string
	for _, p := range strings.Split(expression, ",") {
		if !plainPath.MatchString(p) || !strings.HasPrefix(p, ".") {
			p = everything
		}
		paths = append(paths, strings.Trim(p, "."))
	}
	return paths
}

// glob matches as Argo CD matches groups and kinds; a bad pattern matches nothing.
func glob(pattern, value string) bool {
	ok, err := path.Match(pattern, value)
	return err == nil && ok
}
