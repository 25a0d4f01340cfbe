"""The judge: what it is asked, who answers, and what an answer says."""

from rubricate_service.judge.content_free import is_content_free
from rubricate_service.judge.judge import CacheMode, Judge
from rubricate_service.judge.question import Question
from rubricate_service.judge.reading import Answer, JudgeFailure, Reading
from rubricate_service.judge.served import Completion, Identity, Manner, ServedModel
from rubricate_service.judge.usage import Usage

__all__ = [
    "Answer",
    "CacheMode",
    "Completion",
    "Identity",
    "Judge",
    "JudgeFailure",
    "Manner",
    "Question",
    "Reading",
    "ServedModel",
    "Usage",
    "is_content_free",
]
