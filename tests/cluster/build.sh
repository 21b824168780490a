#!/bin/bash
# Makes kube-apiserver once, from the source package of the distribution, with the distribution's Go. Nothing but the
# package archive of this machine is asked. Prints the folder of the binary on standard output; the rest goes to standard error.
#   GAVEL_KUBE_BIN   a folder that has kube-apiserver already: nothing is built
#   GAVEL_STATE      where it is kept otherwise (kube/bin below it; default .gavel)
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
state=${GAVEL_STATE:-.gavel}
[[ $state = /* ]] || state=$root/$state
bin=${GAVEL_KUBE_BIN:-$state/kube/bin}
say() { echo "test-cluster: $*" >&2; }
refuse() { say "$1"; say "remedy: $2"; exit 2; }

debian=$(. /etc/os-release 2>/dev/null && [[ ${ID:-} = debian ]] && echo "${VERSION_ID:-}" || true)
missing=()
command -v etcd >/dev/null || missing+=(etcd-server)
command -v openssl >/dev/null || missing+=(openssl)
if [[ ! -x $bin/kube-apiserver ]]; then
  [[ -z ${GAVEL_KUBE_BIN:-} ]] || refuse "no kube-apiserver in GAVEL_KUBE_BIN=$bin" "unset it to build one, or name a folder that has one"
  [[ $debian = 12 ]] || refuse "kube-apiserver is built from Debian 12's source package, and this is not Debian 12" \
    "run this in a Debian 12 container, or set GAVEL_KUBE_BIN to a folder with kube-apiserver 1.20 or newer"
  (($(df --output=avail -BG "$root" | tail -1 | tr -dc 0-9) >= 6)) || refuse "less than 6 GB are free at $root" "free some space"
  missing+=(golang-1.19-go golang-github-modern-go-reflect2-dev rsync jq make dpkg-dev)
fi
needed=()
for package in "${missing[@]}"; do
  [[ $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true) = "install ok installed" ]] || needed+=("$package")
done
if ((${#needed[@]})); then
  ((EUID == 0)) || refuse "these packages are missing, and only root can install them: ${needed[*]}" "apt-get install ${needed[*]}"
  [[ -n $debian ]] || refuse "these Debian packages are missing: ${needed[*]}" "install what corresponds to them"
  say "installing ${needed[*]}"
  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${needed[@]}"; } >&2 ||
    refuse "the packages could not be installed" "see the lines above; the machine must reach its Debian archive"
fi

if [[ ! -x $bin/kube-apiserver ]]; then
  work=$(dirname "$bin")/build
  mkdir -p "$bin" "$work"
  exec 9>"$work.lock"
  flock 9  # Two checkouts' worth of Go at once would only make both late; the second finds the first one's binary.
  [[ -x $bin/kube-apiserver ]] || "$root/tests/cluster/apiserver.sh" "$bin" "$work" >&2 ||
    refuse "kube-apiserver was not built" "see the lines above and $work/build.log; the machine must reach its Debian archive"
fi
echo "$bin"
