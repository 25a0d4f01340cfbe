"""One trainer's hooks in this process: those that the environment sets up, and those set up in code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from rubricate_clients.adapters._log import warn_once
from rubricate_clients.adapters._settings import AdapterSettings, RDANParameters

Hook = TypeVar("Hook")


class Hooks(Generic[Hook]):
    """Makes the hooks of one kind, and knows by which parameters their rewards become advantages.

    Args:
        make: Makes a hook of its settings.
    """

    def __init__(self, make: Callable[[AdapterSettings], Hook]) -> None:
        self._make = make
        self._default: Hook | None = None
        self._given: list[RDANParameters] = []

    def default(self) -> Hook:
        """The hook with the settings of the environment, which are read at the first call.

        Raises:
            ValueError: A setting is not right.
        """
        if self._default is None:
            self._default = self._make(AdapterSettings.read())
        return self._default

    def given(self, **settings: Any) -> Hook:
        """A hook with settings given here, the rest from the environment.

        Raises:
            ValueError: A setting is not right.
        """
        read = AdapterSettings.read(**settings)
        own = RDANParameters(quality_weight=read.quality_weight, sigma_floor=read.sigma_floor)
        self._given = [other for other in self._given if other != own] + [own]
        return self._make(read)

    def parameters(self) -> RDANParameters:
        """RDAN's parameters for an advantage hook, which trainers give no settings.

        They are those of the hook that was last made by `given` in this process, else the environment's.

        Raises:
            ValueError: A variable is not right.
        """
        if not self._given:
            return RDANParameters.read()
        *others, own = self._given
        if others:
            warn_once(f"hooks of this process have {others[-1]!r} and {own!r}: advantages have the latter")
        return own


def refuse_parameters(settings: dict[str, Any], where: str) -> None:
    """For hooks whose rewards become advantages in another process, which knows nothing of this one.

    Args:
        settings: Given in code.
        where: The place where advantages are made.

    Raises:
        ValueError: One of RDAN's parameters is among them.
    """
    here = [name for name in RDANParameters.model_fields if name in settings]
    if here:
        variables = " and ".join(RDANParameters.variable(name) for name in here)
        raise ValueError(
            f"{' and '.join(f'`{name}`' for name in here)} would have no effect here, since {where} makes "
            f"the advantages: set {variables} in its environment"
        )
