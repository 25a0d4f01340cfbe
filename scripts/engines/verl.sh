#!/usr/bin/env bash
# Makes .make/verl: verl on a CPU build of torch, and this project's base install, for tests/engines/test_verl.py.
# What is made once is kept. Where the CPU build of torch is not to be had this says so and ends well, without the
# file "ready"; anything else that goes wrong is an error.
set -euo pipefail
cd "$(dirname "$0")/../.."

PYTHON=${PYTHON:-python3}
VERL=0.9.1
# The local version makes pip take the CPU build or none: the index has CUDA builds of many gigabytes as well.
TORCH=2.13.0+cpu
DIR=.make/verl
LOG=$DIR/install.log

mkdir -p "$DIR"
if [ "$(cat "$DIR/ready" 2>/dev/null)" = "$VERL $TORCH" ]; then
  exit 0
fi
rm -rf "$DIR/venv" "$DIR/ready"
"$PYTHON" -m venv "$DIR/venv"
PIP="$DIR/venv/bin/python -m pip --disable-pip-version-check install"

echo "installing verl $VERL for the CPU (2 GB, about two minutes; $LOG has the details)"
if ! $PIP "torch==$TORCH" >"$LOG" 2>&1; then
  grep '^ERROR' "$LOG" >&2 || tail -n 5 "$LOG" >&2
  if grep -q '^ERROR: No matching distribution' "$LOG"; then
    echo "skipped: torch for the CPU is not to be had for this Python and machine (see above)"
    exit 0
  fi
  exit 1
fi
# The second line is what verl's trainers import beside what verl declares.
$PIP "torch==$TORCH" "verl==$VERL" \
  TransferQueue uvicorn fastapi cachetools \
  --editable . >>"$LOG" 2>&1 || { tail -n 5 "$LOG" >&2; exit 1; }
echo "$VERL $TORCH" >"$DIR/ready"
