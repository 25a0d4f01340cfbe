#!/usr/bin/env bash
# TRL and the core of ms-swift on a CPU build of torch, for tests/engines/test_trl.py and test_ms_swift.py.
. "$(dirname "$0")/../engine_venv.sh"
TRL=1.16.0
SWIFT=4.6.0

begin trl "$TRL $SWIFT $TORCH" "TRL $TRL for the CPU (1.5 GB, a minute or two)"
install_or_skip "torch for the CPU" "torch==$TORCH"
# What ms-swift declares is a stack of its own with an older TRL; its reward and advantage code needs but these.
install "torch==$TORCH" "trl==$TRL" 'pytest>=8.3' 'pytest-timeout>=2.3' \
  modelscope dacite pillow peft json_repair --editable .
install --no-deps "ms-swift==$SWIFT"
finish
