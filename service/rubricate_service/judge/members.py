"""Where a judge's replicas are: addresses from a list, or all that a name leads to."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Protocol

from yarl import URL

from rubricate_service.judge.connection import Address
from rubricate_service.judge.reading import JudgeFailure
from rubricate_service.judge.served import ServedModel
from rubricate_service.settings import DNS

log = logging.getLogger("rubricate.judge")

_EVERY_S = 5.0

Resolve = Callable[[str, int], Awaitable[Sequence[Address]]]
"""The addresses that a name and a port lead to; raises OSError when they cannot be found."""


async def resolve(host: str, port: int) -> Sequence[Address]:
    """The addresses of a host, asked of the system's resolver.

    Raises:
        OSError: It knows none.
    """
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return sorted({(str(address[0]), int(address[1])) for *_, address in found})


class Members(Protocol):
    """Where the replicas are found.

    Attributes:
        every_s: How often to look again, seconds; None when they never change.
    """

    every_s: float | None

    async def find(self) -> Mapping[str, Callable[[], ServedModel]]:
        """What makes the engine of each replica, by the replica's name.

        Raises:
            JudgeFailure: They cannot be found now.
        """


class Fixed:
    """Engines that are there from the start."""

    every_s: float | None = None

    def __init__(self, engines: Mapping[str, ServedModel]):
        self._engines = engines

    async def find(self) -> Mapping[str, Callable[[], ServedModel]]:
        """These engines."""
        return {name: partial(self._engines.__getitem__, name) for name in self._engines}


class Listed:
    """The replicas that a list of URLs names.

    Args:
        urls: Addresses of replicas; one that begins with ``dns+`` stands for all that its name leads to.
        make: Makes the engine for a URL and the address to connect to, None for that of the URL.
        resolve: Finds the addresses of a name.
    """

    def __init__(
        self,
        urls: Sequence[str],
        make: Callable[[str, Address | None], ServedModel],
        resolve: Resolve = resolve,
    ):
        self.every_s: float | None = _EVERY_S if any(url.startswith(DNS) for url in urls) else None
        self._urls = urls
        self._make = make
        self._resolve = resolve
        self._known: dict[str, Sequence[Address]] = {}
        self._lost: set[str] = set()

    async def find(self) -> Mapping[str, Callable[[], ServedModel]]:
        """What makes each engine, by the replica's address; of a name that is lost, those it led to before.

        Raises:
            JudgeFailure: ``unreachable``: there is no address at all.
        """
        found: dict[str, Callable[[], ServedModel]] = {}
        for url in self._urls:
            plain = url.removeprefix(DNS)
            if plain == url:
                found[str(URL(url).with_user(None))] = partial(self._make, url, None)
                continue
            for address in await self._addresses(URL(plain)):
                found[str(URL(plain).with_user(None).with_host(address[0]).with_port(address[1]))] = partial(
                    self._make, plain, address
                )
        if self._lost and not found:
            names = " and ".join(sorted(self._lost))
            raise JudgeFailure(
                "unreachable", f"the judge's name {names} leads to no address; check that a replica runs"
            )
        return found

    async def _addresses(self, url: URL) -> Sequence[Address]:
        name, port = url.host or "", url.port or 80
        try:
            addresses = await self._resolve(name, port)
        except OSError:
            addresses = ()
        key = f"{name}:{port}"
        if addresses:
            self._known[key] = addresses
            self._lost.discard(name)
        elif name not in self._lost:
            self._lost.add(name)
            log.warning("the judge's name %s leads to no address; its replicas stay as they are", name)
        return self._known.get(key, ())
