#!/usr/bin/env bash
# Makes .make/skyrl: SkyRL on a CPU build of torch, and this project's base install, for tests/engines/test_skyrl.py.
# What is made once is kept. Where the CPU build of torch is not to be had this says so and ends well, without the
# file "ready"; anything else that goes wrong is an error.
set -euo pipefail
cd "$(dirname "$0")/../.."

PYTHON=${PYTHON:-python3}
SKYRL=0.3.0
GYM=0.4.0
# The local version makes pip take the CPU build or none: the index has CUDA builds of many gigabytes as well.
TORCH=2.13.0+cpu
DIR=.make/skyrl
LOG=$DIR/install.log

mkdir -p "$DIR"
if [ "$(cat "$DIR/ready" 2>/dev/null)" = "$SKYRL $TORCH" ]; then
  exit 0
fi
rm -rf "$DIR/venv" "$DIR/ready"
"$PYTHON" -m venv "$DIR/venv"
PIP="$DIR/venv/bin/python -m pip --disable-pip-version-check install"

echo "installing SkyRL $SKYRL for the CPU (2 GB, about two minutes; $LOG has the details)"
if ! $PIP "torch==$TORCH" >"$LOG" 2>&1; then
  grep '^ERROR' "$LOG" >&2 || tail -n 5 "$LOG" >&2
  if grep -q '^ERROR: No matching distribution' "$LOG"; then
    echo "skipped: torch for the CPU is not to be had for this Python and machine (see above)"
    exit 0
  fi
  exit 1
fi
# SkyRL declares flash-attn and vLLM, which want a GPU to be built; what its trainer imports is named here.
$PIP "torch==$TORCH" 'transformers<=5.8' peft datasets pillow tensordict torchdata ray jaxtyping loguru pydantic \
  omegaconf hydra-core safetensors rich typer tqdm func_timeout hf_transfer cloudpathlib \
  --editable . >>"$LOG" 2>&1 || { tail -n 5 "$LOG" >&2; exit 1; }
$PIP --no-deps "skyrl==$SKYRL" "skyrl-gym==$GYM" >>"$LOG" 2>&1 || { tail -n 5 "$LOG" >&2; exit 1; }
echo "$SKYRL $TORCH" >"$DIR/ready"
