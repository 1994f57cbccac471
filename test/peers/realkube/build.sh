#!/bin/sh
# Builds a real Kubernetes control plane (API server, controller manager, scheduler) and its etcd for the tests into a
# cache folder outside the clone: $SLUICE_PEERS, or sluice-peers in the user's cache folder. Built before: nothing to do.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
version=$(sed -n 's/^\tk8s.io\/kubernetes v//p' "$here/go.mod.txt")
etcd=$(sed -n 's/^\tgo.etcd.io\/etcd\/server\/v3 v//p' "$here/go.mod.txt")
peers=${SLUICE_PEERS:-${XDG_CACHE_HOME:-$HOME/.cache}/sluice-peers}
home=$peers/kubernetes-$version-etcd-$etcd

if [ -x "$home/kube-apiserver" ]; then
	echo "Kubernetes $version is in $home"
	exit
fi
echo "Building Kubernetes $version and etcd $etcd into $home; from nothing this takes about 22 CPU minutes"
mkdir -p "$peers"
scratch=$(mktemp -d "$peers/.building-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

mkdir "$scratch/module" "$scratch/home"
cp "$here/go.mod.txt" "$scratch/module/go.mod"
cd "$scratch/module"
# Clients refuse a server that does not say what version it is.
says=k8s.io/component-base/version
CGO_ENABLED=0 GOFLAGS="${GOFLAGS:-} -mod=mod" nice -n 10 "${GO:-go}" build -trimpath -p 2 \
	-ldflags "-s -w -X $says.gitVersion=v$version -X $says.gitMajor=${version%%.*} -X $says.gitMinor=$(echo "$version" | cut -d. -f2) -X $says.gitTreeState=clean" \
	-o "$scratch/home/" \
	k8s.io/kubernetes/cmd/kube-apiserver k8s.io/kubernetes/cmd/kube-controller-manager k8s.io/kubernetes/cmd/kube-scheduler \
	go.etcd.io/etcd/server/v3
mv "$scratch/home/server" "$scratch/home/etcd" # Go names a program after its folder
# Renaming makes it appear whole; another build may have been quicker.
if [ ! -x "$home/kube-apiserver" ]; then
	rm -rf "$home"
	mv "$scratch/home" "$home"
fi
echo "Kubernetes $version is in $home"
