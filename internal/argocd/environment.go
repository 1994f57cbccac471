package argocd

import (
	"os"
	"strings"
)

// substituted fills the variables of Argo CD's build environment in, as far as
// they are known before a revision is there: $ARGOCD_APP_REVISION and its like
// stay as they are written. A $$ is a dollar sign; what is no such variable is
// empty.
// See "Build Environment" in Argo CD's user guide.
func (a Application) substituted(i int, text string) string {
	if !strings.Contains(text, "$") {
		return text
	}
	s := a.Sources[i]
	known := map[string]string{
		"$":                                 "$",
		"ARGOCD_APP_NAME":                   a.Name,
		"ARGOCD_APP_NAMESPACE":              a.Destination.Namespace,
		"ARGOCD_APP_PROJECT_NAME":           a.Project,
		"ARGOCD_APP_SOURCE_PATH":            s.Path,
		"ARGOCD_APP_SOURCE_REPO_URL":        s.RepoURL,
		"ARGOCD_APP_SOURCE_TARGET_REVISION": s.TargetRevision,
	}
	return os.Expand(text, func(name string) string {
		value, ok := known[name]
		switch {
		case ok:
			return value
		case strings.HasPrefix(name, "ARGOCD_APP_REVISION"), strings.HasPrefix(name, "KUBE_"):
			return "${" + name + "}"
		}
		return ""
	})
}
