"""verl's own reading of settings, run in verl's environment: `verl_config_program.py JOB`, which prints JSON.

The job is JSON: `overrides`, as on the command line of `verl.trainer.main_ppo`.
"""

from __future__ import annotations

import json
import sys

from hydra import compose, initialize_config_module  # type: ignore[import-not-found]
from hydra.errors import HydraException  # type: ignore[import-not-found]


def main() -> None:
    """Print what is wrong with each override that cannot be applied."""
    wrong = {}
    for override in json.loads(sys.argv[1])["overrides"]:
        with initialize_config_module("verl.trainer.config", version_base=None):
            try:
                compose("ppo_trainer", overrides=[override])
            except HydraException as error:
                wrong[override] = str(error)
    print(json.dumps(wrong))


if __name__ == "__main__":
    main()
