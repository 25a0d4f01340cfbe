#!/usr/bin/env bash
# Makes .make/verifiers: verifiers with its v0 and its v1, and this project's clients, for tests/engines. What is
# made once is kept. Where verifiers is not to be had for this Python this says so and ends well, without the
# file "ready".
set -euo pipefail
cd "$(dirname "$0")/../.."

PYTHON=${PYTHON:-python3}
VERIFIERS=0.3.1 # the last with v0
DIR=.make/verifiers
LOG=$DIR/install.log

mkdir -p "$DIR"
if [ "$(cat "$DIR/ready" 2>/dev/null)" = "$VERIFIERS" ]; then
  exit 0
fi
rm -rf "$DIR/venv" "$DIR/ready"
"$PYTHON" -m venv "$DIR/venv"

echo "installing verifiers $VERIFIERS (1 GB, about two minutes; $LOG has the details)"
if ! "$DIR/venv/bin/pip" --disable-pip-version-check install "verifiers==$VERIFIERS" --editable . >"$LOG" 2>&1; then
  grep '^ERROR' "$LOG" >&2 || tail -n 5 "$LOG" >&2
  if grep -q '^ERROR: No matching distribution' "$LOG"; then
    echo "skipped: verifiers is not to be had for this Python (see above)"
    exit 0
  fi
  exit 1
fi
echo "$VERIFIERS" >"$DIR/ready"
