// Package promotion is Sluice's domain: what a release is, how one is carried
// to a target, which gates it must pass and who may do what. It imports only the
// standard library; everything outside is a port that an adapter implements.
package promotion
