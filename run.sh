#!/usr/bin/env bash
# Sets up what is missing and runs the daemon. Arguments go to `cosyvoiced run`, for example:
#   ./run.sh --once "The washing machine has finished"
#   PYTHON=python3.13 VENV=.venv-3.13 ./run.sh
set -euo pipefail
cd "$(dirname "$0")"

PYTHON=${PYTHON:-python3}
VENV=${VENV:-.venv}
STAMP=$VENV/installed

say() { printf '%s\n' "$*" >&2; }
die() { say "run.sh: $*"; exit 1; }

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

"$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
  die "Python 3.11 or newer is needed (PYTHON=$PYTHON)"

if [ ! -f "$STAMP" ] || [ pyproject.toml -nt "$STAMP" ]; then
  say "Setting up $VENV, once; this takes a minute or two ..."
  "$PYTHON" -m venv "$VENV" 2>/dev/null ||
    die "cannot make $VENV; on Debian: sudo apt-get install -y python3-venv"
  "$VENV/bin/pip" install --quiet --disable-pip-version-check --editable . || die "pip could not install cosyvoiced"
  touch "$STAMP"
fi

if ! ldconfig -p 2>/dev/null | grep -q libportaudio.so.2; then
  say "Installing libportaudio2 for the speaker ..."
  if ! { command -v apt-get >/dev/null && as_root sh -c \
    'apt-get install -y -qq libportaudio2 || { apt-get update -qq && apt-get install -y -qq libportaudio2; }'; } \
    >"$VENV/portaudio.log" 2>&1; then
    say "There is no speaker without it; announcements go to files in outputs/. To hear them, type:"
    say "  sudo apt-get install -y libportaudio2"
  fi
fi

case " $* " in
*" --once "*) ;;
*) set -- --greet "$@" ;;
esac
exec "$VENV/bin/cosyvoiced" run --config "${COSYVOICED_CONFIG:-config/cosyvoiced.yaml}" "$@"
