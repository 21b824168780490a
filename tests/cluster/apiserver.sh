#!/bin/bash
# apiserver.sh BIN WORK: fetch Debian's source of Kubernetes into WORK, mend what its newer Go breaks, and put kube-apiserver into BIN.
# About ten minutes of one core, 1.5 GB of memory, 5 GB of disk (given back at the end).
set -euo pipefail
bin=$1 work=$2
say() { echo "test-cluster: $*"; }
cd "$work"

# apt with a configuration of its own: the machine's sources stay as they are, and only here are source packages on.
mkdir -p apt/sources apt/lists/partial apt/archives/partial
for file in /etc/apt/sources.list.d/*.sources; do
  [[ -e $file ]] && sed 's/^Types:.*/Types: deb-src/' "$file" >"apt/sources/$(basename "$file")"
done
if [[ -s /etc/apt/sources.list ]]; then
  sed -n 's/^deb /deb-src /p' /etc/apt/sources.list >apt/sources/machine.list
fi
cat >apt/apt.conf <<CONFIG
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "$work/apt/sources";
Dir::State::lists "$work/apt/lists";
Dir::Cache::archives "$work/apt/archives";
Dir::Cache::pkgcache "";
Dir::Cache::srcpkgcache "";
APT::Sandbox::User "$(id -un)";
CONFIG
say "fetching the source of kubernetes"
export APT_CONFIG=$work/apt/apt.conf
apt-get update -qq
rm -rf source kubernetes_*
apt-get source -qq --download-only kubernetes
unset APT_CONFIG
dpkg-source --no-check -x kubernetes_*.dsc source >build.log

cd source
# Its copy of reflect2 walks Go's maps as they were before 1.18, and crashes with the Go of Debian 12; Debian's package is mended.
reflect2=vendor/github.com/modern-go/reflect2
rm -f $reflect2/*.go $reflect2/*.s
cp /usr/share/gocode/src/github.com/modern-go/reflect2/*.{go,s} $reflect2/
rm -f $reflect2/*_test.go
# With that Go, comparing with the zero Value takes every empty string for null, so that the validation refuses it in custom resources.
for file in vendor/k8s.io/kube-openapi/pkg/validation/validate/type.go vendor/github.com/go-openapi/validate/type.go; do
  [[ -f $file ]] || continue
  sed -i -E 's/data == nil \|\| reflect\.DeepEqual\(reflect\.Zero\(reflect\.TypeOf\(data\)\), reflect\.ValueOf\(data\)\)/data == nil/' $file
  if grep -q 'DeepEqual(reflect.Zero(reflect.TypeOf(data))' $file; then
    say "the source has changed: $file is not what this script mends"
    exit 1
  fi
done

say "building kube-apiserver (about ten minutes of one core); log: $work/build.log"
export GOPATH=$PWD/.go HOME=$work/home CGO_ENABLED=0 GOPROXY=off GO111MODULE=off GOFLAGS=
export PATH=/usr/lib/go-1.19/bin:$PATH
mkdir -p "$HOME" .go/src/k8s.io
ln -sfn ../../.. .go/src/k8s.io/kubernetes
nice -n 10 make WHAT=cmd/kube-apiserver >>"$work/build.log" 2>&1 || { tail -20 "$work/build.log"; exit 1; }
# Copied beside and renamed: whoever looks finds the whole binary or none.
cp -L _output/bin/kube-apiserver "$bin/kube-apiserver.new"
mv "$bin/kube-apiserver.new" "$bin/kube-apiserver"
cd "$work" && rm -rf source home apt kubernetes_*
say "kube-apiserver is in $bin"
