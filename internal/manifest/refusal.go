package manifest

import (
	"fmt"
	"slices"
)

// Code names the reason of a refusal. Codes are part of the command line's and
// the API's contract.
type Code string

// The reasons, most basic first. Where two apply to one edit, the earlier one
// is reported.
const (
	BadReference      Code = "bad-reference"      // the target is not an image reference
	BadDigest         Code = "bad-digest"         // the digest is not sha256: and 64 lower-case hex digits
	MutableReference  Code = "mutable-reference"  // the target has no digest
	PathEscape        Code = "path-escape"        // a path leaves the tree through .. or a symbolic link
	NoKustomization   Code = "no-kustomization"   // nothing to render in the folder
	TooLarge          Code = "too-large"          // a file over 1 MiB, or aliases that expand without measure
	MultiDocument     Code = "multi-document"     // more than one YAML document in the file to edit
	DuplicateKey      Code = "duplicate-key"      // a key twice in one map of the file to edit
	BadKustomization  Code = "bad-kustomization"  // kustomize refuses the file to edit itself
	BadValues         Code = "bad-values"         // Helm: not YAML, or the path leads to a map or list
	PathNotFound      Code = "path-not-found"     // Helm: the path is not in the values file
	RemoteBase        Code = "remote-base"        // something names a URL or a Git repository
	UnsupportedPlugin Code = "unsupported-plugin" // programs, containers, or charts to download
	Alias             Code = "alias"              // the edit would change, or take the anchor from, another place
	AmbiguousImage    Code = "ambiguous-image"    // several entries act on the image, or one acts on others too
	RenderFailed      Code = "render-failed"      // the rendering before or after the edit fails
	UnintendedChange  Code = "unintended-change"  // the edit would change something else in the rendering
	BadField          Code = "bad-field"          // a field that cannot be set, or not here
	ImageNotFound     Code = "image-not-found"    // nothing rendered uses the image under this name
)

// precedence decides between refusals that apply at once.
func (c Code) precedence() int {
	return slices.Index([]Code{
		BadReference, BadDigest, MutableReference, PathEscape, NoKustomization, TooLarge,
		MultiDocument, DuplicateKey, BadKustomization, BadValues, PathNotFound, RemoteBase,
		UnsupportedPlugin, Alias, AmbiguousImage, RenderFailed, UnintendedChange, BadField, ImageNotFound,
	}, c)
}

// Refusal says why an edit or a rendering was not done. File is relative to
// the tree's root; File is empty and Line 0 where they do not apply.
type Refusal struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
	File    string `json:"file"`
	Line    int    `json:"line"`
}

// Error gives place and message in one line.
func (r *Refusal) Error() string {
	switch {
	case r.File == "":
		return r.Message
	case r.Line == 0:
		return r.File + ": " + r.Message
	}
	return fmt.Sprintf("%s:%d: %s", r.File, r.Line, r.Message)
}

func refuse(code Code, file string, line int, format string, args ...any) *Refusal {
	return &Refusal{Code: code, Message: fmt.Sprintf(format, args...), File: file, Line: line}
}

// first returns the refusal that takes precedence, or nil.
func first(refusals []*Refusal) error {
	if len(refusals) == 0 {
		return nil
	}
	return slices.MinFunc(refusals, func(a, b *Refusal) int {
		return a.Code.precedence() - b.Code.precedence()
	})
}
