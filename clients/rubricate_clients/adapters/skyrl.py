r"""SkyRL: an environment that scores one response, and RDAN as an advantage estimator.

    python -m skyrl.train.entrypoints.main_base \
        trainer.override_entrypoint=rubricate_clients.adapters.skyrl \
        environment.env_class=rdan trainer.algorithm.advantage_estimator=rdan ...

SkyRL hands a single number on from environment to estimator. `pack` puts all that RDAN needs into it, as a
number that float32 holds exactly: below 0 for a response that fails, above 0 for one that passes, and 0 for
one that is not scored, which is also what SkyRL leaves where it cuts a response's reward off.

Signatures are those of skyrl 0.3.0 (`skyrl/backends/skyrl_train/utils/ppo_utils.py`,
`skyrl/train/entrypoints/main_base.py`) and skyrl-gym 0.4.0 (`skyrl_gym/envs/base_text_env.py`). They are
imported only when they are used.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from rubricate_clients.adapters._channels import rdan_of
from rubricate_clients.adapters._hooks import Hooks
from rubricate_clients.adapters._rows import Sample
from rubricate_clients.adapters._scoring import Score, Scoring
from rubricate_clients.adapters._settings import AdapterSettings
from rubricate_clients.errors import InvalidRequest

NAME = "rdan"
"""Of the estimator, and of the environment that gives it its numbers, in SkyRL's configuration."""

FAILED, UNSCORED, PASSED, JUDGED = -1.0, 0.0, 1.0, 2.0
"""What a response is packed as; to the last the quality is added, in steps of `STEP`."""

STEP = 2.0**-22
"""The distance of two float32 between 2 and 4."""

DENOMINATOR = 1024
"""Fractions with denominators up to this are 4 `STEP` apart or more: each has a place of its own."""


def pack(score: Score) -> float:
    """All that RDAN needs of a score, as one of the numbers above.

    The quality of a response which is not eligible is left out, as RDAN never looks at it.
    """
    if not score.valid:
        return UNSCORED
    if not score.eligible:
        return FAILED
    return PASSED if score.quality is None else JUDGED + round(score.quality / STEP) * STEP


def unpack(packed: float) -> dict[str, float]:
    """The numbers of `Score.numbers`, as far as RDAN looks at them.

    A quality that is a fraction with a denominator up to `DENOMINATOR` comes back as it was; another one
    differs from its own by `STEP` at most. Equal ones stay equal.

    Raises:
        ValueError: It is no packed score: something was added to it on the way.
    """
    judged = JUDGED <= packed <= JUDGED + 1
    if not judged and packed not in (FAILED, UNSCORED, PASSED):
        raise ValueError(
            f"{packed} is not what the environment `{NAME}` gave as a reward: use no other "
            "environment with `rdan`, and nothing that changes rewards, such as use_kl_in_reward"
        )
    passed = packed >= PASSED
    return {
        "outcome": float(passed),
        "quality": _quality(packed - JUDGED) if judged else 0.0,
        "eligible": float(passed),
        "valid": float(packed != UNSCORED),
        "quality_valid": float(judged),
    }


def _quality(rounded: float) -> float:
    """The quality that was rounded to a multiple of `STEP`.

    A mean of scores of 0, 0.5 and 1 is a fraction, and near differences would show its rounding: the standard
    deviation of close qualities divides by them.
    """
    near = Fraction(rounded).limit_denominator(DENOMINATOR)
    return float(near) if abs(near - Fraction(rounded)) <= STEP / 2 else rounded


def rdan_advantages(
    token_level_rewards: Any,
    response_mask: Any,
    index: Sequence[Any],
    values: Any = None,
    config: Any = None,
    **kwargs: Any,
) -> tuple[Any, Any]:
    """The estimator, called as SkyRL calls its own.

    Args:
        token_level_rewards: (B, T), the packed score at one token of each row.
        response_mask: (B, T), 1 for the tokens of a response.
        index: (B,), the `uid` of each row's prompt; rows with equal ones are compared.
        values: Not looked at.
        config: Not looked at; RDAN's parameters are those that `env_with` was given in this process, else
            those of the environment.
        **kwargs: Not looked at.

    Returns:
        RDAN's advantage of each row at each token of its response, (B, T): as advantages and as returns.

    Raises:
        ValueError: The rewards are not those of the environment `rdan`.
    """
    rows = [unpack(packed) for packed in token_level_rewards.sum(-1).tolist()]
    advantages = list(rdan_of(list(index), rows, _ENVIRONMENTS.parameters()).advantages)
    by_token = token_level_rewards.new_tensor(advantages).unsqueeze(-1) * response_mask
    return by_token, by_token


def env_with(**settings: Any) -> type[Any]:
    """The environment with settings given here instead of in the environment; see `AdapterSettings`.

    Raises:
        ImportError: skyrl-gym is not installed.
        ValueError: A setting is not right.
    """
    return _ENVIRONMENTS.given(**settings)


def _environment(settings: AdapterSettings) -> type[Any]:
    try:
        from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput
    except ImportError as error:
        raise ImportError(f"the environment needs skyrl-gym ({error}): pip install skyrl-gym") from error
    scoring = Scoring(settings)

    class RDANTextEnv(BaseTextEnv):  # type: ignore[misc]
        """One turn: the response is scored, and its numbers are logged as metrics of the environment."""

        def __init__(self, env_config: Any = None, extras: Mapping[str, Any] | None = None) -> None:
            super().__init__()
            self._extras = extras or {}
            self._prompt: Any = None
            self._score = Score()

        def init(self, prompt: Any) -> tuple[Any, dict[str, Any]]:
            """Keep the prompt."""
            self._prompt = list(prompt)  # SkyRL appends the turns to its own
            return prompt, {}

        def step(self, action: str) -> Any:
            """Score the response.

            Raises:
                RewardServiceError: It cannot be sent, or the service is gone and `unscored` is `raise`.
            """
            sample = _sample(self._prompt, action, self._extras)
            # its group is scored elsewhere, so that quality may be needed
            [self._score] = scoring.score_sync([sample], advantages=False)
            return BaseTextEnvStepOutput(observations=[], reward=pack(self._score), done=True, metadata={})

        def get_metrics(self) -> dict[str, float]:
            """The numbers that are decided: SkyRL logs their means."""
            return _metrics(self._score, settings.log_rubrics)

    return RDANTextEnv


_ENVIRONMENTS = Hooks(_environment)


def register() -> None:
    """Put the environment `rdan` and the estimator `rdan` into SkyRL's registries of this process.

    Raises:
        ImportError: SkyRL is not installed.
    """
    try:
        from skyrl.backends.skyrl_train.utils.ppo_utils import AdvantageEstimatorRegistry
        from skyrl_gym.envs import registration
    except ImportError as error:
        raise ImportError(
            f"register needs SkyRL in this environment ({error}): pip install 'skyrl[skyrl-train]'"
        ) from error
    if NAME not in registration.registry:
        registration.register(id=NAME, entry_point=f"{__name__}:RDANTextEnv")
    if NAME not in AdvantageEstimatorRegistry.list_available():
        AdvantageEstimatorRegistry.register(NAME, rdan_advantages)


def main() -> None:
    """SkyRL's training, with what `register` does in the processes that look it up.

    `trainer.override_entrypoint` names this module, and SkyRL's entrypoint then leaves all else to it.
    """
    import ray
    from skyrl.train.config import SkyRLTrainConfig
    from skyrl.train.utils import validate_cfg
    from skyrl.train.utils.utils import initialize_ray

    overrides = [given for given in sys.argv[1:] if not given.startswith("trainer.override_entrypoint=")]
    cfg = SkyRLTrainConfig.from_cli_overrides(overrides)
    register()
    validate_cfg(cfg)
    initialize_ray(cfg)
    ray.get(ray.remote(num_cpus=1)(_train).remote(cfg))


def _train(cfg: Any) -> None:
    from skyrl.train.entrypoints.main_base import BasePPOExp

    register()
    BasePPOExp(cfg).run()


def _sample(prompt: Any, response: str, extras: Mapping[str, Any]) -> Sample:
    if extras.get("rubrics") is None:
        raise InvalidRequest(
            f"the data set has no column `rubrics` (it has {', '.join(extras) or 'none'} beside the prompt)"
        )
    return Sample(prompt, response, extras["rubrics"], group=0, reference=extras.get("reference"))


def _metrics(score: Score, log_rubrics: Sequence[str]) -> dict[str, float]:
    values = {"outcome": score.outcome, "quality": score.quality}
    values |= {"valid": float(score.valid), "eligible": float(score.eligible)}
    values |= {f"rubric/{id}": score.rubrics.get(id) for id in log_rubrics}
    return {name: value for name, value in values.items() if value is not None}


def __getattr__(name: str) -> Any:
    if name == "RDANTextEnv":
        return _ENVIRONMENTS.default()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
