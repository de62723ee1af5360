#!/usr/bin/env bash
# Sets up what is missing in this checkout: system packages, .venv, the locked requirements, the package itself.
#
#   scripts/setup.sh run   what `make demo` and `make up` need
#   scripts/setup.sh dev   also what tests and checks need
#
# A second call does nothing: a stamp in .venv names what was installed from what. One line per step; exit 2, and
# one line that says what to install, where a package of the system is missing and may not be installed from here.
# Where packages come from is pip's own configuration: nothing here names a registry.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

level=${1:?run or dev}
venv=.venv

step() { printf 'set-up: %s\n' "$*"; }

fail() { # STATUS TEXT...
  printf 'set-up: %s\n' "${*:2}" >&2
  exit "$1"
}

is_new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

find_python() {
  local candidate
  for candidate in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
    if is_new_enough "$candidate"; then
      command -v "$candidate"
      return
    fi
  done
  fail 2 "needs Python 3.11 or newer${PYTHON:+, and PYTHON=$PYTHON is not}: install it, or name one: make PYTHON=/path/to/python3 ..."
}

can_make_venv() { "$python" -c 'import ensurepip, venv' 2>/dev/null; }

is_venv_usable() {
  is_new_enough "$venv/bin/python" && "$venv/bin/python" -c 'import pip' 2>/dev/null &&
    { [ -z "${PYTHON:-}" ] || [ "$("$venv/bin/python" --version)" = "$("$PYTHON" --version)" ]; }
}

find_missing() { # names as Debian and Ubuntu have them
  missing=()
  if ! is_venv_usable && ! can_make_venv; then
    missing+=("$(basename "$python")-venv")
  fi
  if [ "$(uname -s)" = Linux ] && ! command -v bwrap >/dev/null; then
    missing+=(bubblewrap) # the sandbox that tasks run in
  fi
}

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif [ -t 0 ]; then
    sudo "$@" # may ask for a password
  else
    sudo --non-interactive "$@"
  fi
}

install_packages() { # NAME...
  local advice="missing: $*. As root: apt-get update && apt-get install --no-install-recommends $*" log
  command -v apt-get >/dev/null || fail 2 "missing: $* (so Debian calls it): install it with this system's package manager"
  [ "$(id -u)" = 0 ] || command -v sudo >/dev/null || fail 2 "$advice"
  as_root true 2>/dev/null || fail 2 "$advice"
  step "installing $* with apt-get"
  log=$(mktemp)
  # Old lists may still do, and one broken source must not stop an install that does not need it.
  as_root apt-get update >"$log" 2>&1 || true
  if ! as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" >>"$log" 2>&1; then
    tail -n 5 "$log" >&2
    rm -f "$log"
    fail 2 "$advice"
  fi
  rm -f "$log"
}

fingerprint() { # LEVEL: changes with the interpreter, the place, the lock and the package's own description
  { "$venv/bin/python" --version; pwd; cat pyproject.toml scripts/setup.sh requirements/javascript.txt "requirements/$1.txt"; } \
    2>/dev/null | cksum
}

is_done() { # LEVEL
  [ "$(cat "$venv/.set-up-$1" 2>/dev/null)" = "$(fingerprint "$1")" ]
}

pip_install() { "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-input "$@"; }

case $level in run | dev) ;; *) fail 2 "no such level: $level (run or dev)" ;; esac
if is_venv_usable && { is_done dev || { [ "$level" = run ] && is_done run; }; }; then
  exit 0
fi
python=$(find_python)
find_missing
[ "${#missing[@]}" = 0 ] || install_packages "${missing[@]}"

if ! is_venv_usable; then
  step "making $venv with $("$python" --version)"
  "$python" -m venv --clear "$venv"
fi
step "installing the locked requirements ($level)"
pip_install --require-hashes -r "requirements/$level.txt" || fail 1 "the requirements could not be installed (above: pip's reason)"
step "installing a JavaScript runtime"
pip_install --require-hashes --only-binary :all: -r requirements/javascript.txt 2>/dev/null ||
  step "none for this platform: JavaScript tasks will be refused, everything else works"
step "installing chronoshard"
pip_install --no-deps --no-build-isolation --editable . || fail 1 "the package could not be built (above: the reason)"
fingerprint "$level" >"$venv/.set-up-$level"
