#!/usr/bin/env bash
# Starts vLLM on a GPU of its own. A reservation in Compose shows every replica the same GPUs and hands out
# none, so the replicas agree through locks in a shared folder; a lock is free again when its holder ends.
set -euo pipefail

LOCKS=${GPU_LOCKS:-/run/gpus}

gpus=$(nvidia-smi --query-gpu=index --format=csv,noheader)
for gpu in $gpus; do
  exec 9>"$LOCKS/$gpu"
  if flock --nonblock 9; then
    export CUDA_VISIBLE_DEVICES=$gpu
    exec vllm serve "$@"
  fi
done
echo "judge: every GPU already has a replica; start no more of them than there are GPUs" >&2
exit 1
