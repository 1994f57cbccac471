package promotion

import (
	"fmt"
	"io/fs"
	"strings"
	"time"
)

// Policies reads the policy files of config repositories.
type Policies interface {
	// Collect takes the policy files out of a tree, as they are.
	Collect(tree fs.FS) (PolicyFiles, error)
	// Parse reads policy files, none of which need exist. They are refused whole: the error is a PolicyFaults that
	// names everything that is wrong.
	Parse(files PolicyFiles) (Rules, error)
}

// PolicyFiles are policy files by their path in the config repository.
type PolicyFiles map[string]string

// Rules are the policy of one config repository.
type Rules interface {
	// Layout says where the applications are and how environments rank.
	Layout() Layout
	// For is what holds for a target.
	For(t Target) EnvironmentPolicy
	// Window says whether a change may reach a target at a moment. Clusters are those of its deployments: windows may be for one
	// cluster only, and a target that no known cluster runs meets the windows of all.
	Window(t Target, clusters []string, at time.Time) WindowDecision
	// Zones are the time zones that windows are kept in, each once.
	Zones() []string
}

// Layout is what a config repository looks like.
type Layout struct {
	Roots []string       // folders of application folders
	Ranks map[string]int // of environments whose rank the policy says; others have the rank of their name
}

// WindowDecision says whether changes may go out at a moment.
type WindowDecision struct {
	Open   bool
	By     string    // name of the window that decided; empty when none did
	Reason string    // in words
	Next   time.Time // when Open changes next; zero: never
}

// PolicyFault is one thing that is wrong in a policy file.
type PolicyFault struct {
	File    string
	Line    int // from 1; 0 when it is the whole file
	Code    string
	Message string // what is wrong and what to write instead
}

// PolicyFaults is all that is wrong in the policy files of a config repository.
type PolicyFaults []PolicyFault

// String gives place and message in one line.
func (f PolicyFault) String() string { return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Message) }

func (f PolicyFaults) Error() string {
	lines := make([]string, len(f))
	for i, fault := range f {
		lines[i] = fault.String()
	}
	return strings.Join(lines, "\n")
}
