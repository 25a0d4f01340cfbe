from __future__ import annotations

import pytest
from scripted_engine import ScriptedEngine, run

from rubricate_service.cache import Cache
from rubricate_service.judge import Completion, Identity, JudgeFailure
from rubricate_service.judge.passport import Passport, is_same_model


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
    passport = Passport(Identity("judge", "sha256:1"), None, Cache(None))
    with pytest.raises(JudgeFailure, match="'impostor'") as caught:
        passport.confirm(Completion("2", model="impostor", system_fingerprint="x"))
    assert caught.value.kind == "identity"
    assert passport.current == passport.first
    assert passport.confirm(Completion("2", model=None)) == passport.first


def test_the_last_system_fingerprint_is_remembered() -> None:
    async def test() -> None:
        cache, engine = Cache(None), ScriptedEngine()
        passport = await Passport.issue(engine, cache, 0.0)
        assert passport.current == engine.identity
        identities = [passport.confirm(Completion("2", system_fingerprint=f)) for f in ("a", "b", None, "a")]
        assert identities[0] == identities[3] != identities[1] == identities[2]
        assert {i.model for i in identities} == {"model"}
        again = await Passport.issue(engine, cache, 0.0)
        assert again.current == identities[3]
        assert (
            await Passport.issue(ScriptedEngine(identity=Identity("model", "sha256:2")), cache, 0.0)
        ).current == (Identity("model", "sha256:2"))

    run(test())
