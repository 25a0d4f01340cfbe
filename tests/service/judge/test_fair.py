from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rubricate_service.judge.fair import FairQueue, Line

Item = tuple[str, str, str, int]
ITEMS = st.lists(st.tuples(*(st.sampled_from("ab") for _ in range(3)), st.integers(0, 99)), unique=True)


def queue_of(*items: str) -> FairQueue[str]:
    """A queue of items named by tenant, request, prefix and number, as in ``t1p0``."""
    queue: FairQueue[str] = FairQueue()
    for item in items:
        queue.push(Line(item[0], item[1], item[2]), item)
    return queue


@pytest.mark.parametrize(
    ("pushed", "served"),
    [
        pytest.param("t1p0 t1p1 t1p2", "t1p0 t1p1 t1p2", id="one after another"),
        pytest.param("t1p0 t1q0 t1p1 t1q1", "t1p0 t1p1 t1q0 t1q1", id="a prefix together"),
        pytest.param("t1p0 t1p1 t1p2 t2p0", "t1p0 t2p0 t1p1 t1p2", id="requests in turn"),
        pytest.param("t1p0 t1p1 t2p0 t2p1 u1p0", "t1p0 u1p0 t2p0 t1p1 t2p1", id="tenants in turn"),
    ],
)
def test_order_of_service(pushed: str, served: str) -> None:
    assert queue_of(*pushed.split()).drain() == served.split()


def test_a_small_request_does_not_wait_for_a_large_one() -> None:
    queue = queue_of(*(f"t1p{n}" for n in range(1000)), *(f"t2p{n}" for n in range(10)))
    assert sum(item.startswith("t2") for item in [queue.pop() for _ in range(20)]) == 10


def test_an_empty_queue_says_so() -> None:
    with pytest.raises(LookupError):
        queue_of().pop()


def test_the_last_prefix_goes_as_a_whole() -> None:
    queue = queue_of("t1p0", "t1p1", "t1q0", "t1q1")
    assert queue.take_last(lambda items: len(items) == 3) == []
    assert queue.take_last(lambda items: True) == ["t1q0", "t1q1"]
    assert queue.drain() == ["t1p0", "t1p1"]


@settings(deadline=None)
@given(ITEMS, st.data())
def test_nothing_is_lost_or_served_twice(items: list[Item], data: st.DataObject) -> None:
    queue: FairQueue[Item] = FairQueue()
    for item in items:
        queue.push(Line(*item[:3]), item)
    gone = data.draw(st.lists(st.sampled_from(items), unique=True)) if items else []
    for item in gone:
        queue.discard(Line(*item[:3]), item)
        queue.discard(Line(*item[:3]), item)
    assert len(queue) == len(items) - len(gone)
    assert Counter(queue.drain()) == Counter(items) - Counter(gone)
    assert not queue
