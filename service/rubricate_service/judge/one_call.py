"""Several criteria about one response in one call, for endpoints where each call has its price.

The verdicts are kept one by one, as those of single calls are, and apart from them. They have no label
probabilities, and may lean on one another: one question a call is the better measure.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from rubricate_service.judge.errand import Errand, late
from rubricate_service.judge.flight import Flight
from rubricate_service.judge.key import digest
from rubricate_service.judge.question import Question
from rubricate_service.judge.reading import JudgeFailure, Reading, cut, own_text
from rubricate_service.judge.served import LABELS, Completion, Identity
from rubricate_service.judge.template import one_call_template

Told = tuple[Reading, Identity]
"""A verdict, and who gave it."""

Put = Callable[
    [list[dict[str, str]], Callable[[Completion], dict[Question, Reading]], Errand, Flight[Any]],
    Awaitable[tuple[dict[Question, Reading], Identity]],
]
"""Puts a prompt to the judge until there is an answer that can be read; the flight has the deadline."""

_GATHER_S = 0.01  # in which a response's questions come together, once they are not found in the cache
_OF_THE_CONTENT = frozenset({"unreadable", "truncated", "refused", "too_long"})


@dataclass(eq=False)
class _Batch:
    """Questions that go together, and the flight of their call, whose result all of them share."""

    questions: list[Question]
    errand: Errand
    flight: Flight[dict[Question, Told]]


class OneCall:
    """Gathers the questions of one request about one response.

    Args:
        secret: Key of the delimiters' code, which a policy must not be able to guess.

    Attributes:
        template: The prompt.
    """

    def __init__(self, secret: bytes):
        self.template = one_call_template()
        self._secret = secret
        self._open: dict[Hashable, _Batch] = {}

    def messages(self, questions: Mapping[str, Question]) -> list[dict[str, str]]:
        """The prompt of questions about one response, which have ids."""
        return self.template.messages_for_all(questions, self._secret)

    async def ask(self, question: Question, errand: Errand, flight: Flight[Any], put: Put) -> Told | None:
        """The verdict on a question, or None where it must be asked alone.

        That is so when it has no company, when the answer leaves it out, and when what is wrong with the
        whole answer may be another question's fault.

        Args:
            question: What to ask.
            errand: Of the question.
            flight: Of the question; has its deadline.
            put: Makes the call.

        Raises:
            JudgeFailure: The judge cannot be asked.
        """
        while True:
            deadline = flight.deadline
            batch = self._join(question, errand, deadline, put)
            flight.errand = batch.errand
            try:
                return (await batch.flight.wait(deadline)).get(question)
            except TimeoutError:
                if flight.deadline == deadline:  # else one with more time has joined meanwhile
                    raise late(batch.errand) from None
            finally:
                flight.errand = errand

    def _join(self, question: Question, errand: Errand, deadline: float, put: Put) -> _Batch:
        key = (replace(question, criterion=""), id(errand.usage))
        batch = self._open.get(key)
        if batch is None or batch.flight.abandoned:
            questions: list[Question] = []
            shared = replace(errand, trouble=None)

            async def work(flight: Flight[dict[Question, Told]]) -> dict[Question, Told]:
                try:
                    await asyncio.sleep(_GATHER_S)
                finally:
                    if self._open.get(key) is batch:
                        del self._open[key]
                return await self._ask_all(questions, shared, flight, put)

            batch = self._open[key] = _Batch(questions, shared, Flight(work, deadline))
        batch.questions.append(question)
        return batch

    async def _ask_all(
        self, questions: list[Question], errand: Errand, flight: Flight[Any], put: Put
    ) -> dict[Question, Told]:
        if len(questions) == 1:
            return {}
        # an order that depends on the response, so that no criterion always stands first
        ordered = sorted(questions, key=lambda question: digest((question.response, question.criterion)))
        asked = {f"c{number}": question for number, question in enumerate(ordered, 1)}
        errand.manner = replace(errand.manner, ids=tuple(asked))
        try:
            readings, answered = await put(
                self.messages(asked), partial(read_all, questions=asked), errand, flight
            )
        except JudgeFailure as failure:
            if failure.kind in _OF_THE_CONTENT:
                return {}
            raise
        return {question: (reading, answered) for question, reading in readings.items()}


def read_all(completion: Completion, questions: Mapping[str, Question]) -> dict[Question, Reading]:
    """The verdicts in an answer: of each id that is there once, with a label as its value.

    Args:
        completion: The answer, one JSON object after thinking is taken off.
        questions: What was asked, by id.

    Raises:
        JudgeFailure: ``refused``, ``truncated``, or ``unreadable`` without a single verdict.
    """
    pairs = _pairs(own_text(completion))
    names = [name for name, _ in pairs]
    readings = {
        questions[name]: Reading(LABELS[str(label)])
        for name, label in pairs
        if name in questions and names.count(name) == 1 and _is_label(label)
    }
    if readings:
        return readings
    if completion.finish_reason == "length":
        raise cut(completion, "before a verdict")
    raise JudgeFailure("unreadable", "the judge's answer has no verdict under any of the criteria's ids")


def _pairs(text: str) -> list[tuple[str, Any]]:
    """The members of the one object that a text is; none of anything else."""
    try:
        value = json.loads(text, object_pairs_hook=_Members)
    except (ValueError, RecursionError):
        return []
    return value if isinstance(value, _Members) else []


class _Members(list[tuple[str, Any]]):
    """An object's members, a repeated name included."""


def _is_label(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool) and str(value) in LABELS
