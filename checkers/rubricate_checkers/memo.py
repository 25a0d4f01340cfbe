"""What is computed once: small facts about small strings, and facts of one object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

__all__ = ["Memo", "lazy"]

V = TypeVar("V")

_LONGEST_KEY = 80
"""Longer strings are computed and not kept: no text may fill the memory with one giant word."""


class Memo(dict[str, V]):
    """A dict that computes what it lacks; when full it is emptied, which costs less than ageing.

    `memo[key]` runs at the speed of a dict, also inside `map(memo.__getitem__, keys)`.
    """

    def __init__(self, compute: Callable[[str], V], limit: int = 30_000) -> None:
        super().__init__()
        self._compute = compute
        self._limit = limit

    def __missing__(self, key: str) -> V:
        value = self._compute(key)
        if len(key) <= _LONGEST_KEY:
            if len(self) >= self._limit:
                self.clear()
            self[key] = value
        return value


class lazy(Generic[V]):  # noqa: N801 - a decorator, as `property` is
    """`functools.cached_property` without the lock, which in Python 3.11 takes longer than many an analysis.

    Two threads may both compute a value; either is right.
    """

    def __init__(self, compute: Callable[[Any], V]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> lazy[V]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> V: ...
    def __get__(self, instance: object | None, owner: type) -> lazy[V] | V:
        if instance is None:
            return self
        # found there from now on, before this descriptor is asked
        value = instance.__dict__[self._name] = self._compute(instance)
        return value
