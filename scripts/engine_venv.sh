# Sourced by scripts/engines/*.sh: an environment .make/ENGINE/venv of a trainer or engine, with this project beside it,
# for tests/engines. What is made once is kept, until a version changes. Where the engine is not to be had for this
# Python and machine the script says so and ends well, without the file "ready"; anything else that goes wrong is an error.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The local version makes pip take the CPU build or none: the index has CUDA builds of many gigabytes as well.
TORCH=2.13.0+cpu

# begin ENGINE VERSIONS WHAT: end here if these versions are there, else make an empty environment.
begin() {
  DIR=.make/$1 VERSIONS=$2 WHAT=$3
  LOG=$DIR/install.log
  mkdir -p "$DIR"
  if [ "$(cat "$DIR/ready" 2>/dev/null)" = "$VERSIONS" ]; then
    exit 0
  fi
  rm -rf "$DIR/venv" "$DIR/ready"
  "${PYTHON:-python3}" -m venv "$DIR/venv"
  : >"$LOG"
  echo "installing $WHAT; $LOG has the details"
}

pip_install() {
  "$DIR/venv/bin/python" -m pip --disable-pip-version-check install "$@" >>"$LOG" 2>&1
}

# install_or_skip WHAT ARGUMENTS: install what the index may not have for this machine.
install_or_skip() {
  local what=$1
  shift
  if ! pip_install "$@"; then
    grep '^ERROR' "$LOG" >&2 || tail -n 5 "$LOG" >&2
    if grep -q '^ERROR: No matching distribution' "$LOG"; then
      echo "skipped: $what is not to be had for this Python and machine (see above)"
      exit 0
    fi
    exit 1
  fi
}

# install ARGUMENTS: install what has to be there.
install() {
  pip_install "$@" || { tail -n 5 "$LOG" >&2; exit 1; }
}

finish() {
  echo "$VERSIONS" >"$DIR/ready"
}
