"""Which replicas may be asked: those that fail or are another model are left out, looked at, taken back."""

from __future__ import annotations

import asyncio
import logging

from rubricate_service.judge.dispatch import Dispatcher, Replica
from rubricate_service.judge.outlier import Outliers
from rubricate_service.judge.passport import is_same_model
from rubricate_service.judge.reading import JudgeFailure
from rubricate_service.judge.served import Completion, Identity, ServedModel

log = logging.getLogger("rubricate.judge")

_INQUIRY_S = 5.0


class Health:
    """What is done about a replica that is not well.

    Args:
        dispatcher: The set of replicas.
        outliers: Their states.

    Attributes:
        identity: Who they all should be: the first that said who it is.
    """

    def __init__(self, dispatcher: Dispatcher, outliers: Outliers):
        self.identity: Identity | None = None
        self._dispatcher = dispatcher
        self._outliers = outliers

    def blame(self, replica: Replica, failure: JudgeFailure) -> None:
        """A call went wrong by the replica's fault: leave it out where that has become too much."""
        if self._dispatcher.has(replica) and self._outliers.failed(replica.name):
            self.eject(replica, failure)

    def eject(self, replica: Replica, failure: JudgeFailure, *, confirmed: bool = False) -> None:
        """Leave a replica out if it may be, and look at it then; at once where it may not."""
        if (
            not self._dispatcher.has(replica)
            or self._outliers.state(replica.name) == "ejected"
            or len(self._dispatcher.replicas) == 1
        ):
            return
        seconds = self._outliers.eject(replica.name, confirmed=confirmed)
        if seconds is not None:
            _log_out(replica, seconds, failure)
            self._dispatcher.evict(replica)
        elif confirmed:
            return
        self.inquire(replica, seconds or 0.0)

    def inquire(self, replica: Replica, pause: float) -> None:
        """Look at a replica after so many seconds, until it is well or there is no choice but to use it."""
        if replica.inquiry is not None:
            replica.inquiry.cancel()
        replica.inquiry = asyncio.create_task(self._look_at(replica, pause))

    def stranger_in(self, completion: Completion) -> JudgeFailure | None:
        """What is wrong with an answer that another model gave; None where it is the right one's."""
        if not (self.identity and completion.model):
            return None
        if is_same_model(self.identity.model, completion.model):
            return None
        return self.stranger(completion.model)

    def stranger(self, model: str) -> JudgeFailure:
        """The failure of another model, or of the same one set up otherwise."""
        asked = self.identity.model if self.identity else None
        same = " set up otherwise" if model == asked else ""
        return JudgeFailure(
            "identity",
            f"the answer came from {model!r}{same}, and the judge is {asked!r}; serve that model again, "
            "or restart the service to take the new one",
        )

    async def _look_at(self, replica: Replica, pause: float | None) -> None:
        while pause is not None:
            await asyncio.sleep(pause)
            said = await say(replica.model, _now() + _INQUIRY_S)
            if said == self.identity:
                log.info("judge replica %s is there and is itself", replica.name)
                self._outliers.admit(replica.name)
                self._dispatcher.serve(replica)
                return
            failure = self.stranger(said.model) if isinstance(said, Identity) else said
            pause = self._outliers.eject(replica.name, confirmed=True)
            if pause is not None:
                _log_out(replica, pause, failure)
                self._dispatcher.evict(replica)


async def say(model: ServedModel, deadline: float) -> Identity | JudgeFailure:
    """Who a model says it is, or why it does not say so."""
    try:
        return await model.identify(deadline)
    except JudgeFailure as failure:
        return failure


def _log_out(replica: Replica, seconds: float, failure: JudgeFailure) -> None:
    log.warning("judge replica %s gets no calls for %.0f s: %s", replica.name, seconds, failure)


def _now() -> float:
    return asyncio.get_running_loop().time()
