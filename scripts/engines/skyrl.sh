#!/usr/bin/env bash
# SkyRL on a CPU build of torch, for tests/engines/test_skyrl.py.
. "$(dirname "$0")/../engine_venv.sh"
SKYRL=0.3.0
GYM=0.4.0

begin skyrl "$SKYRL $TORCH" "SkyRL $SKYRL for the CPU (2 GB, about two minutes)"
install_or_skip "torch for the CPU" "torch==$TORCH"
# SkyRL declares flash-attn and vLLM, which want a GPU to be built; what its trainer imports is named here.
install "torch==$TORCH" 'transformers<=5.8' peft datasets pillow tensordict torchdata ray jaxtyping loguru pydantic \
  omegaconf hydra-core safetensors rich typer tqdm func_timeout hf_transfer cloudpathlib --editable .
install --no-deps "skyrl==$SKYRL" "skyrl-gym==$GYM"
finish
