#!/usr/bin/env bash
# Runs a command in a clean clone of the last commit, on a fresh Debian 12 that has only python3, git and make,
# and throws it away:
#
#   scripts/fresh-machine.sh [COMMAND...]      default: make demo
#
# Needs root and debootstrap. The bare system is made once, in $FRESH_MACHINE, and never written to: what a run changes
# goes to memory. It is entered by pivot_root, because the sandbox (bubblewrap) refuses to work in a plain chroot.
# Network, apt's sources and pip's settings are those of this machine.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

directory=${FRESH_MACHINE:-/var/cache/chronoshard/fresh-machine}
system=$directory/bookworm

make_system() {
  [ "$(id -u)" = 0 ] || { echo "fresh-machine: needs root" >&2; exit 2; }
  command -v debootstrap >/dev/null || { echo "fresh-machine: needs debootstrap" >&2; exit 2; }
  [ -e "$system.done" ] && return
  mkdir -p "$directory"
  rm -rf "$system"
  debootstrap --variant=minbase --include=python3,git,make,ca-certificates bookworm "$system" >"$system.log"
  touch "$system.done"
}

mount_system() { # ROOT: the bare system below, memory above, this machine's devices and ways to the network
  local scratch=$1
  mount --make-rprivate /
  mount -t tmpfs tmpfs "$scratch"
  mkdir "$scratch"/{changes,work,root}
  mount -t overlay overlay -o "lowerdir=$system,upperdir=$scratch/changes,workdir=$scratch/work" "$scratch/root"
  cd "$scratch/root"
  mount -t proc proc proc
  mount --rbind /dev dev
  mount --rbind /sys sys
  # Links in there name places of this machine: removed first, nothing is written through them.
  rm -rf etc/resolv.conf etc/hosts etc/ssl/certs etc/apt
  cp -L /etc/resolv.conf /etc/hosts etc/
  cp -RL /etc/ssl/certs etc/ssl/certs
  cp -RL /etc/apt etc/apt
  [ ! -e /etc/pip.conf ] || cp -L /etc/pip.conf etc/
}

inherited() { # the settings of package tools and of the network, and nothing else
  env | grep -iE '^(PIP_[A-Z_]*|https?_proxy|no_proxy|SSL_CERT_(FILE|DIR)|REQUESTS_CA_BUNDLE)=' |
    grep -vE '^PIP_(FIND_LINKS|CACHE_DIR)='
}

if [ "${1:-}" != --inside ]; then
  make_system
  scratch=$(mktemp -d)
  trap 'rmdir "$scratch"' EXIT
  [ $# -gt 0 ] || set -- make demo
  unshare --mount --pid --fork --kill-child scripts/fresh-machine.sh --inside "$scratch" "$@"
  exit
fi

# From here on in namespaces of our own: mounts and processes end with this one.
repository=$PWD scratch=$2
shift 2
mapfile -t settings < <(inherited)
mount_system "$scratch"
git clone --quiet --no-hardlinks "$repository" srv/chronoshard
mkdir .outside
pivot_root . .outside
cd /srv/chronoshard
umount --lazy /.outside
exec env -i HOME=/root TERM="${TERM:-dumb}" PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  "${settings[@]}" "$@"
