// Package policy reads sluice.yaml: the one at the root of a config repository, and the one that each application may have
// beside its overlays.
//
// Reading is strict and goes on after a fault, so that everything that is wrong is found at once, and nothing is used of files
// of which one has a fault. What an application's file says may only be stricter than what the root's file makes of the
// same environment; the directions are in the table of settings.
//
// Everything here is a pure function of the files and the instants given: no function reads the clock.
package policy
