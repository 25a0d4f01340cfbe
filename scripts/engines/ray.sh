#!/usr/bin/env bash
# Makes .make/ray: Ray Serve and Ray Data with the service, for tests/engines. What is made once is kept. Where Ray is
# not to be had for this Python this says so and ends well, without the file "ready".
set -euo pipefail
cd "$(dirname "$0")/../.."

PYTHON=${PYTHON:-python3}
RAY=2.60.0
DIR=.make/ray
LOG=$DIR/install.log

mkdir -p "$DIR"
if [ "$(cat "$DIR/ready" 2>/dev/null)" = "$RAY" ]; then
  exit 0
fi
rm -rf "$DIR/venv" "$DIR/ready"
"$PYTHON" -m venv "$DIR/venv"

echo "installing Ray $RAY (1 GB, about two minutes; $LOG has the details)"
if ! "$DIR/venv/bin/pip" --disable-pip-version-check install "ray==$RAY" --editable '.[ray]' >"$LOG" 2>&1; then
  grep '^ERROR' "$LOG" >&2 || tail -n 5 "$LOG" >&2
  if grep -q '^ERROR: No matching distribution' "$LOG"; then
    echo "skipped: Ray is not to be had for this Python (see above)"
    exit 0
  fi
  exit 1
fi
echo "$RAY" >"$DIR/ready"
