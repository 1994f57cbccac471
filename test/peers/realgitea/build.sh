#!/bin/sh
# Builds a real Gitea for the tests into a cache folder outside the clone: $SLUICE_PEERS, or sluice-peers in the
# user's cache folder. Built before: nothing to do.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
version=$(sed -n 's/^require code.gitea.io\/gitea v//p' "$here/go.mod.txt")
peers=${SLUICE_PEERS:-${XDG_CACHE_HOME:-$HOME/.cache}/sluice-peers}
home=$peers/gitea-$version

if [ -x "$home/gitea" ]; then
	echo "Gitea $version is in $home"
	exit
fi
echo "Building Gitea $version into $home; from nothing this takes about 10 CPU minutes"
mkdir -p "$peers"
scratch=$(mktemp -d "$peers/.building-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

mkdir "$scratch/module" "$scratch/home"
cp "$here/go.mod.txt" "$scratch/module/go.mod"
cd "$scratch/module"
CGO_ENABLED=0 GOFLAGS="${GOFLAGS:-} -mod=mod" nice -n 19 "${GO:-go}" build -trimpath \
	-ldflags "-s -w -X main.Version=$version" -o "$scratch/home/gitea" code.gitea.io/gitea
source=$("${GO:-go}" list -mod=mod -m -f '{{.Dir}}' code.gitea.io/gitea)
for part in templates options public; do # what Gitea reads at run time
	cp -R "$source/$part" "$scratch/home/$part"
done
chmod -R u+w,a+rX "$scratch/home"
# Renaming makes it appear whole; another build may have been quicker.
if [ ! -x "$home/gitea" ]; then
	rm -rf "$home"
	mv "$scratch/home" "$home"
fi
echo "Gitea $version is in $home"
