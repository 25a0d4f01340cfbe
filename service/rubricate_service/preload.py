"""Imported by the fork server alone: what is loaded here, every check worker is born with."""

import gc

from rubricate_checkers import CheckerError, warm_up

try:
    warm_up()
except CheckerError as error:  # the checks that need what is missing say so, one by one
    print(f"rubricate: {error}", flush=True)
gc.freeze()  # the children share these pages as long as nothing writes to them
