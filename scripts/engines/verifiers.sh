#!/usr/bin/env bash
# verifiers with its v0 and its v1, for tests/engines/test_verifiers.py.
. "$(dirname "$0")/../engine_venv.sh"
VERIFIERS=0.3.1 # the last with v0

begin verifiers "$VERIFIERS" "verifiers $VERIFIERS (1 GB, about two minutes)"
install_or_skip verifiers "verifiers==$VERIFIERS" --editable .
finish
