// Package lint finds what is wrong in a config repository before a cluster
// does: secrets in plain text, references to what is not there, settings of
// Argo CD that undo the care taken elsewhere.
//
// Each rule is one file, named after its code, with its cases in the folder of
// testdata that bears the same code. A rule looks at a repository whose files
// are read and whose overlays are rendered once, and returns findings; the
// engine gives them their texts, merges what several overlays see of one line,
// and applies suppressions.
//
// No value of a Secret, and nothing that looks like a credential, is ever part
// of a finding.
package lint
