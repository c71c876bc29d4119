#!/usr/bin/env bash
# Sets up what is missing and runs the daemon. Arguments go to `cosyvoiced run`, for example:
#   ./run.sh --once "The washing machine has finished"
#   PYTHON=python3.13 VENV=.venv-3.13 ./run.sh
set -euo pipefail
CDPATH='' cd -- "$(dirname -- "$0")"

PYTHON=${PYTHON:-python3}
VENV=${VENV:-.venv}
STAMP=$VENV/installed
APT_LOG=$VENV/apt.log

say() { printf '%s\n' "$*" >&2; }
die() { say "run.sh: $*"; exit 1; }

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

# Installs a Debian package, if this user may; never asks, and waits a minute for another apt at most.
apt_install() {
  command -v apt-get >/dev/null && as_root env DEBIAN_FRONTEND=noninteractive sh -c '
    get="apt-get -qq -o DPkg::Lock::Timeout=60"
    $get install -y "$1" || { $get update && $get install -y "$1"; }' apt "$1" >>"$APT_LOG" 2>&1 </dev/null
}

# Whether the environment works here: an upgrade may have replaced its Python, or the folder was moved.
is_usable() { "$VENV/bin/cosyvoiced" --version >/dev/null 2>&1; }

has_portaudio() { "$VENV/bin/python" -c 'import ctypes; ctypes.CDLL("libportaudio.so.2")' 2>/dev/null; }

make_venv() {
  "$PYTHON" -m venv --clear "$VENV" >/dev/null 2>&1 && return
  mkdir -p "$VENV"
  apt_install "$VENV_PACKAGE" && "$PYTHON" -m venv "$VENV" >/dev/null 2>&1 ||
    die "cannot make $VENV; on Debian: sudo apt-get install -y $VENV_PACKAGE"
}

VENV_PACKAGE=$("$PYTHON" -c 'import sys
if sys.version_info < (3, 11): sys.exit(1)
print("python{}.{}-venv".format(*sys.version_info))' 2>/dev/null) ||
  die "Python 3.11 or newer is needed (PYTHON=$PYTHON)"

if [ ! -f "$STAMP" ] || [ pyproject.toml -nt "$STAMP" ] || ! is_usable; then
  say "Setting up $VENV, once; this takes a minute or two ..."
  is_usable || { rm -f "$STAMP"; make_venv; }
  if "$VENV/bin/pip" install --quiet --disable-pip-version-check --editable .; then
    touch "$STAMP"
  elif [ -f "$STAMP" ]; then
    say "The update could not be installed (no network?); going on with what is there."
  else
    die "pip could not install cosyvoiced"
  fi
fi

if ! has_portaudio; then
  if [ ! -f "$VENV/portaudio-tried" ]; then # tried once: without a network, each try would take minutes
    say "Installing libportaudio2 for the speaker ..."
    touch "$VENV/portaudio-tried"
    apt_install libportaudio2 || true
  fi
  has_portaudio || {
    say "There is no speaker without libportaudio2; announcements go to files in outputs/. To hear them, type:"
    say "  sudo apt-get install -y libportaudio2"
  }
fi

case " $* " in
*" --once "*) ;;
*) set -- --greet "$@" ;;
esac
exec "$VENV/bin/cosyvoiced" run --config "${COSYVOICED_CONFIG:-config/cosyvoiced.yaml}" "$@"
