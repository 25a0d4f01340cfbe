#!/usr/bin/env bash
# Makes .make/trl: TRL and the core of ms-swift on a CPU build of torch, with this project's base install beside them,
# for the tests on real trainers. What is made once is kept. Where the CPU build of torch is not to be had this says so
# and ends well, without the file "ready"; anything else that goes wrong is an error.
set -euo pipefail
cd "$(dirname "$0")/../.."

PYTHON=${PYTHON:-python3}
TRL=1.16.0
SWIFT=4.6.0
# The local version makes pip take the CPU build or none: the index has CUDA builds of many gigabytes as well.
TORCH=2.13.0+cpu
DIR=.make/trl
BIN=$DIR/venv/bin
LOG=$DIR/install.log

mkdir -p "$DIR"
if [ "$(cat "$DIR/ready" 2>/dev/null)" = "$TRL $SWIFT $TORCH" ]; then
  exit 0
fi
rm -rf "$DIR/venv" "$DIR/ready"
"$PYTHON" -m venv "$DIR/venv"
PIP="$BIN/python -m pip --disable-pip-version-check install"

echo "installing TRL $TRL for the CPU (1.5 GB, a minute or two; $LOG has the details)"
if ! $PIP "torch==$TORCH" >"$LOG" 2>&1; then
  grep '^ERROR' "$LOG" >&2 || tail -n 5 "$LOG" >&2
  if grep -q '^ERROR: No matching distribution' "$LOG"; then
    echo "skipped: torch for the CPU is not to be had for this Python and machine (see above)"
    exit 0
  fi
  exit 1
fi
# What ms-swift declares is a stack of its own with an older TRL; its reward and advantage code needs but these.
$PIP "torch==$TORCH" "trl==$TRL" 'pytest>=8.3' 'pytest-timeout>=2.3' \
  modelscope dacite pillow peft json_repair --editable . >>"$LOG" 2>&1 || { tail -n 5 "$LOG" >&2; exit 1; }
$PIP --no-deps "ms-swift==$SWIFT" >>"$LOG" 2>&1 || { tail -n 5 "$LOG" >&2; exit 1; }
echo "$TRL $SWIFT $TORCH" >"$DIR/ready"
