package drift

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Rule is one of an Application's ignoreDifferences. Group and Kind may be globs; an empty Name or Namespace is any.
type Rule struct {
	Group, Kind, Name, Namespace string
	JSONPointers                 []string
	JQPathExpressions            []string
	Managers                     []string // managedFieldsManagers
}

// excused says which rule hides a difference, and what is wrong with that.
func excused(d Difference, live map[string]any, rules []Rule) Difference {
	if d.Excuse != "" {
		return d
	}
	for _, r := range rules {
		by := r.hides(d, live)
		if by == "" {
			continue
		}
		d.Excuse = "hidden by ignoreDifferences: " + by
		if what := decisive(d.Path, live); what != "" {
			d.Finding = fmt.Sprintf("the rule %s hides a change of %s from Argo CD: narrow it", by, what)
		}
		return d
	}
	return d
}

// hides names what of the rule a difference falls under; empty when nothing does.
func (r Rule) hides(d Difference, live map[string]any) string {
	if !r.isAbout(live) || len(d.Path) == 0 {
		return ""
	}
	for _, pointer := range r.JSONPointers {
		if below(d.Path.pointer(live), pointer) {
			return pointer
		}
	}
	for _, expression := range r.JQPathExpressions {
		if pattern, ok := jqPattern(expression); ok && pattern.MatchString(d.Path.String()) {
			return expression
		}
	}
	if slices.Contains(r.Managers, d.Owner.Manager) && d.Owner.Manager != "" {
		return "the manager " + d.Owner.Manager
	}
	return ""
}

// Unread lists the expressions of a rule that cannot be followed here: what they hide is listed as drift.
func (r Rule) Unread() []string {
	var unread []string
	for _, expression := range r.JQPathExpressions {
		if _, ok := jqPattern(expression); !ok {
			unread = append(unread, expression)
		}
	}
	return unread
}

func (r Rule) isAbout(live map[string]any) bool {
	metadata, _ := live["metadata"].(map[string]any)
	version, _ := live["apiVersion"].(string)
	group, _, grouped := strings.Cut(version, "/")
	if !grouped {
		group = ""
	}
	kind, _ := live["kind"].(string)
	glob := func(pattern, name string) bool { ok, err := path.Match(pattern, name); return ok && err == nil }
	return glob(r.Group, group) && glob(r.Kind, kind) && (r.Name == "" || r.Name == metadata["name"]) &&
		(r.Namespace == "" || r.Namespace == metadata["namespace"])
}

func below(pointer, rule string) bool {
	rule = strings.TrimSuffix(rule, "/")
	return rule != "" && (pointer == rule || strings.HasPrefix(pointer, rule+"/"))
}

// pointer is the path as a JSON pointer into an object, where elements of lists are counted.
func (p Path) pointer(o map[string]any) string {
	var out strings.Builder
	for i, e := range p {
		kind, rest, _ := strings.Cut(e, ":")
		if kind == "k" {
			list, _ := at(o, p[:i])
			items, _ := list.([]any)
			rest = fmt.Sprint(slices.IndexFunc(items, func(item any) bool { _, ok := elementAt([]any{item}, kind, rest); return ok }))
		}
		out.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(rest))
	}
	return out.String()
}

var (
	jqSelect = regexp.MustCompile(`\[\]\s*\|\s*select\(\s*\.name\s*==\s*"([^"]+)"\s*\)\s*(\|\s*)?`)
	jqPlain  = regexp.MustCompile(`^(\.[A-Za-z_][\w-]*|\[\]|\[[\w.-]+\])+$`)
)

// jqPattern reads the simple forms of jq paths: fields, [] and a selection by name.
func jqPattern(expression string) (*regexp.Regexp, bool) {
	plain := jqSelect.ReplaceAllString(strings.TrimSpace(expression), "[$1]")
	if !jqPlain.MatchString(plain) {
		return nil, false
	}
	pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimPrefix(plain, ".")), `\[\]`, `\[[^\]]*\]`)
	compiled, err := regexp.Compile("^" + pattern + `($|[.\[])`)
	return compiled, err == nil
}

// decisive names what a field decides that must never change unseen: what runs and what it may do.
func decisive(p Path, live map[string]any) string {
	fields := p.Fields()
	if len(fields) == 0 {
		return ""
	}
	version, _ := live["apiVersion"].(string)
	last := fields[len(fields)-1]
	switch {
	case strings.HasPrefix(version, "rbac.authorization.k8s.io/") && slices.Contains([]string{"rules", "roleRef", "subjects", "aggregationRule"}, fields[0]):
		return "permissions (RBAC)"
	case last == "serviceAccountName":
		return "the service account"
	case !slices.Contains(fields, "containers") && !slices.Contains(fields, "initContainers"):
		return ""
	case last == "image" || last == "containers" || last == "initContainers":
		return "an image"
	case last == "command" || last == "args":
		return "a command"
	}
	return ""
}
