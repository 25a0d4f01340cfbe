from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate_service.cache.seal import seal, unseal

KEY = b"k" * 32


@given(st.binary(min_size=32, max_size=32), st.binary(max_size=64))
def test_what_is_sealed_is_unsealed(key: bytes, value: bytes) -> None:
    assert unseal(key, seal(key, value)) == value


@given(st.binary(max_size=40))
def test_arbitrary_bytes_are_no_value(data: bytes) -> None:
    assert unseal(KEY, data) is None


@given(st.binary(max_size=40), st.data())
def test_one_changed_byte_is_noticed(value: bytes, data: st.DataObject) -> None:
    sealed = bytearray(seal(KEY, value))
    place = data.draw(st.integers(0, len(sealed) - 1))
    sealed[place] ^= data.draw(st.integers(1, 255))
    assert unseal(KEY, bytes(sealed)) is None


@pytest.mark.parametrize("cut", [1, 5, 9, 12])
def test_a_cut_value_is_noticed(cut: int) -> None:
    assert unseal(KEY, seal(KEY, b"0123456789")[:cut]) is None


def test_a_value_under_another_key_is_noticed() -> None:
    assert unseal(b"j" * 32, seal(KEY, b"value")) is None
