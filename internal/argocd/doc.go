// Package argocd reads Argo CD's Applications, ApplicationSets and AppProjects
// (argoproj.io/v1alpha1) as data: from objects that a cluster reports and from
// YAML files of a config repository. It expands ApplicationSets over a tree of
// files as Argo CD would, links Applications to the folders that they deploy,
// and says what an Application adds to the rendering of such a folder.
//
// Everything is a pure function. What cannot be known from the tree alone (the
// clusters, a generator that asks a server) is said to be unknown and never
// guessed.
package argocd
