#!/usr/bin/env bash
# verl on a CPU build of torch, for tests/engines/test_verl.py.
. "$(dirname "$0")/../engine_venv.sh"
VERL=0.9.1

begin verl "$VERL $TORCH" "verl $VERL for the CPU (2 GB, about two minutes)"
install_or_skip "torch for the CPU" "torch==$TORCH"
# The last packages are what verl's trainers import beside what verl declares.
install "torch==$TORCH" "verl==$VERL" TransferQueue uvicorn fastapi cachetools --editable .
finish
