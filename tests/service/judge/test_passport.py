from __future__ import annotations

from dataclasses import dataclass

import pytest
from scripted_engine import IDENTITY, run

from rubricate_service.cache import Cache
from rubricate_service.judge import Completion, Identity, JudgeFailure
from rubricate_service.judge.passport import Passport, is_same_model
from rubricate_service.judge.signatures import RECENT, Signatures


@pytest.mark.parametrize(
    ("asked", "answered", "same"),
    [
        ("judge", "judge", True),
        ("/models/judge/", "judge", True),
        ("org/judge-7b", "judge-7b", True),
        ("judge-7b", "other-org/judge-7b", True),
        ("gpt-9", "gpt-9-2026-05-13", True),
        ("gpt-9", "gpt-9-20260513", True),
        ("gpt-9", "gpt-9-0513", True),
        ("gpt-9", "gpt-9-mini", False),
        ("gpt-9", "gpt-9-mini-2026-05-13", False),
        ("gpt-9-mini", "gpt-9", False),
        ("judge-7b", "judge-70b", False),
        ("judge-7b", "judge-7B", False),
        ("judge", "judge-12", False),
        ("judge", "", False),
    ],
)
def test_which_names_mean_the_same_model(asked: str, answered: str, same: bool) -> None:
    assert is_same_model(asked, answered) is same


def test_an_answer_of_another_model_is_no_verdict_and_changes_nothing() -> None:
    passport = Passport(Identity("judge", "sha256:1"), Signer(), Cache(None))
    with pytest.raises(JudgeFailure, match="'impostor'") as caught:
        passport.confirm(Completion("2", model="impostor", system_fingerprint="x"))
    assert caught.value.kind == "identity"
    assert passport.current == passport.first
    assert passport.confirm(Completion("2", model=None)) == passport.first


@dataclass
class Signer:
    """Says who it is, and that it signs with these."""

    fingerprints: frozenset[str] = frozenset()
    identity: Identity = IDENTITY

    async def identify(self, deadline: float) -> Identity:
        return self.identity

    def expect(self, fingerprints: frozenset[str]) -> None:
        self.fingerprints = fingerprints

    def answer(self, passport: Passport, fingerprint: str | None, *others: str) -> Identity:
        """An answer with this signature, while others are served as well."""
        self.fingerprints = frozenset({fingerprint or "", *others})
        return passport.confirm(Completion("2", system_fingerprint=fingerprint))


def test_a_verdict_is_kept_under_who_gave_it_and_looked_for_under_all_who_are_served() -> None:
    async def test() -> None:
        signer = Signer()
        passport = await Passport.issue(signer, Cache(None), 0.0)
        assert await passport.served() == [passport.first]
        a = signer.answer(passport, "a")
        assert await passport.served() == [a] == [passport.current]
        b = signer.answer(passport, "b", "a")
        assert len({passport.first, a, b}) == 3
        assert await passport.served() == [a, b]
        assert signer.answer(passport, "b") == b
        assert await passport.served() == [b]
        assert signer.answer(passport, None) == passport.first
        assert await passport.served() == [passport.first]

    run(test())


def test_the_last_answer_of_a_replica_that_is_gone_makes_no_other_verdict_forgotten() -> None:
    async def test() -> None:
        signer = Signer()
        passport = await Passport.issue(signer, Cache(None), 0.0)
        a = signer.answer(passport, "a")
        signer.fingerprints = frozenset()  # the one that comes in its place has not answered yet
        assert passport.confirm(Completion("2", system_fingerprint="a")) == a
        assert await passport.served() == [a]

    run(test())


def test_a_restarted_service_expects_what_was_served_last() -> None:
    async def test() -> None:
        cache, signer = Cache(None), Signer()
        passport = await Passport.issue(signer, cache, 0.0)
        a, b = signer.answer(passport, "a"), signer.answer(passport, "b\n\ud800", "a")
        again = Signer()
        restarted = await Passport.issue(again, cache, 0.0)
        assert again.fingerprints == {"a", "b\n\ud800"}
        assert restarted.current in (a, b)
        assert set(await restarted.served()) == {a, b}
        other = await Passport.issue(Signer(identity=Identity("model", "sha256:2")), cache, 0.0)
        assert await other.served() == [Identity("model", "sha256:2")]

    run(test())


@pytest.mark.parametrize(
    ("answers", "recent"),
    [
        pytest.param([], set(), id="none yet"),
        pytest.param(["a"], {"a"}, id="one"),
        pytest.param([None, None], {""}, id="unsigned"),
        pytest.param(["a"] * 9 + ["b"] * (RECENT - 1), {"a", "b"}, id="not long enough"),
        pytest.param(["a"] * 9 + ["b"] * RECENT, {"b"}, id="a new version"),
        pytest.param(["a", "b"] * 2 * RECENT, {"a", "b"}, id="a router"),
        pytest.param([str(n) for n in range(300)], {str(n) for n in range(250, 300)}, id="never the same"),
    ],
)
def test_which_fingerprints_a_replica_has(answers: list[str | None], recent: set[str]) -> None:
    signatures = Signatures()
    for fingerprint in answers:
        signatures.add(fingerprint)
    assert set(signatures.recent) == recent
