"""A queue in which nobody waits for another's whole batch."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T", bound=Hashable)


class Line(NamedTuple):
    """Where an item stands: behind those of its tenant, of its request there, of its prefix there."""

    tenant: Hashable
    request: Hashable
    prefix: Hashable


class FairQueue(Generic[T]):
    """Serves tenants in turn, the requests of each in turn, and of each request one prefix after another.

    The items of one prefix come out next to each other but for those of other requests in between. All
    takes constant time but for ``take_last`` and ``drain``.
    """

    def __init__(self) -> None:
        # tenant -> request -> prefix -> items, each in the order of service
        self._tenants: OrderedDict[
            Hashable, OrderedDict[Hashable, OrderedDict[Hashable, OrderedDict[T, None]]]
        ] = OrderedDict()
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def push(self, line: Line, item: T) -> None:
        """Put an item, which is in no queue, at the end of its line."""
        requests = self._tenants.setdefault(line.tenant, OrderedDict())
        prefixes = requests.setdefault(line.request, OrderedDict())
        prefixes.setdefault(line.prefix, OrderedDict())[item] = None
        self._size += 1

    def pop(self) -> T:
        """Take the item whose turn it is.

        Raises:
            LookupError: The queue is empty.
        """
        if not self._size:
            raise LookupError("the queue is empty")
        tenant, requests = next(iter(self._tenants.items()))
        request, prefixes = next(iter(requests.items()))
        prefix, items = next(iter(prefixes.items()))
        item = next(iter(items))
        self._tenants.move_to_end(tenant)
        requests.move_to_end(request)
        self.discard(Line(tenant, request, prefix), item)
        return item

    def discard(self, line: Line, item: T) -> None:
        """Take an item out, if it is there."""
        requests = self._tenants.get(line.tenant, OrderedDict())
        prefixes = requests.get(line.request, OrderedDict())
        items = prefixes.get(line.prefix, OrderedDict())
        if item not in items:
            return
        self._size -= 1
        del items[item]
        if not items:
            del prefixes[line.prefix]
        if not prefixes:
            del requests[line.request]
        if not requests:
            del self._tenants[line.tenant]

    def take_last(self, may_go: Callable[[Collection[T]], bool]) -> list[T]:
        """Take all items of one prefix that would be served last in its request, if they may go."""
        for tenant, requests in reversed(self._tenants.items()):
            for request, prefixes in reversed(requests.items()):
                prefix, items = next(reversed(prefixes.items()))
                if may_go(items):
                    taken = list(items)
                    for item in taken:
                        self.discard(Line(tenant, request, prefix), item)
                    return taken
        return []

    def drain(self) -> list[T]:
        """Take everything, in the order of service."""
        return [self.pop() for _ in range(self._size)]
