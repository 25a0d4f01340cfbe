"""Adapters: one file per trainer. Each imports its trainer only when it is used, and says if it is missing.

The names are the same in each file, as far as the trainer has the hook:

    rdan_reward         the trainer's reward hook, set up by `RUBRICATE_*` variables (see `AdapterSettings`)
    reward_with(...)    the same hook with settings of its own
    rdan_advantages     the trainer's advantage hook, where it has one
    register()          puts the hooks into the trainer's registries, where it has some

A data set gives each prompt a column `rubrics`: the rubrics of `POST /v1/score`, as a list or as JSON.
What could not be scored is masked or raised, and never a score of 0.
"""

from rubricate_clients.adapters._connection import Unscored
from rubricate_clients.adapters._scoring import Score, Scoring
from rubricate_clients.adapters._settings import AdapterSettings

__all__ = ["AdapterSettings", "Score", "Scoring", "Unscored"]
