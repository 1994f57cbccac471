// Package manifest edits and renders deployment manifests: Kustomize overlays,
// Helm values files and plain YAML. Everything is a pure function over a tree
// of files (fs.FS); the package knows nothing of servers, Git or databases.
//
// Two promises hold for every edit. Source: no byte outside the touched entry
// changes. Rendering: the overlay is rendered before and after, and nothing but
// the intended images (and fields that a replacement copies them into) differs.
// Whatever cannot keep both promises is refused whole with a *Refusal.
//
// Rendering is offline and bounded: no plugins that run programs, no remote
// bases, nothing outside the tree, no file over 1 MiB. All functions may be
// called from several goroutines at once.
package manifest
