"""`rubricate report`: groups and their verdicts as one HTML page that asks nothing of anybody.

Texts in it were written by models and strangers. The template escapes them all, what is invisible in them
is shown, each stands by itself in the order of its own script (`bdi`), and the page's policy lets nothing
run but the script that is written out here, and nothing be fetched.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup, escape

from rubricate_clients.wire import Rubric, ScoredResponse, Verdict
from rubricate_service import __version__
from rubricate_service.authoring.figures import Figures, Key, doubts, group_figures, key_of, twins
from rubricate_service.authoring.scored import ReportGroup, Scores
from rubricate_service.authoring.shown import INVISIBLE, symbol

_PAGE = files("rubricate_service.authoring") / "page"
_RUBRICS = 300
_DOUBTS = 20
_FAULTS = 50
_TEXTS = 10_000_000
"""Characters of all texts together: a page of more is slow to open, so texts are cut to fit."""
_SHORTEST, _LONGEST = 400, 20_000


@dataclass(frozen=True, slots=True)
class _RubricView:
    id: str
    rubric: Rubric | None
    figures: Figures
    required: str | None

    @property
    def label(self) -> str:
        """What cells call its column."""
        return _plain(beginning(self.id, 28))

    @property
    def kwargs(self) -> str:
        given = self.rubric.kwargs if self.rubric else None
        return json.dumps(given, ensure_ascii=False) if given else ""


class _RowView:
    def __init__(self, response: ScoredResponse, text: str | None, rubrics: Sequence[_RubricView]) -> None:
        self.id, self.text = response.id, text
        self.verdicts = response.rubrics
        self.outcome, self.quality, self.reward = response.outcome, response.quality, response.reward
        pairs = zip(rubrics, response.rubrics, strict=True)
        self.open = [(rubric, verdict) for rubric, verdict in pairs if verdict.score != 1]


class _GroupView:
    def __init__(self, group: ReportGroup) -> None:
        self.id, self.prompt = group.id, group.prompt
        self.rubrics = [
            _RubricView(id, rubric, figures, _required(group, position))
            for position, (id, rubric, figures) in enumerate(
                zip(group.rubric_ids, group.rubrics, group_figures(group), strict=True)
            )
        ]
        self.rows = [
            _RowView(response, text, self.rubrics)
            for response, text in zip(group.responses, group.texts, strict=True)
        ]
        self.mean_reward = _mean([row.reward for row in self.rows])
        flags = {flag for rubric in self.rubrics for flag in rubric.figures.flags}
        self.flagged = ", ".join(sorted(flags))


def _required(group: ReportGroup, position: int) -> str | None:
    """What a rubric's check asks for, which its verdicts say."""
    required = (response.rubrics[position].required for response in group.responses)
    return next((words for words in required if words), None)


def page(scores: Scores, title: str) -> str:
    """The report as HTML; `title` names what it is about."""
    groups = [_GroupView(group) for group in scores.groups]
    rubrics = _by_key(scores.groups, groups)
    unsure = list(doubts(scores.groups))
    rows = [row for group in groups for row in group.rows]
    script = Markup((_PAGE / "report.js").read_text(encoding="utf-8"))  # noqa: S704 - our own
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        _environment()
        .get_template("report.html")
        .render(
            title=title,
            policy="default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'unsafe-inline'; "
            f"script-src 'sha256-{digest}'",
            style=Markup((_PAGE / "report.css").read_text(encoding="utf-8")),  # noqa: S704 - our own
            script=script,
            groups=groups,
            rubrics=rubrics[:_RUBRICS],
            more_rubrics=max(0, len(rubrics) - _RUBRICS),
            twins=twins(scores.groups),
            doubts=unsure[:_DOUBTS],
            more_doubts=max(0, len(unsure) - _DOUBTS),
            faults=scores.faults[:_FAULTS],
            more_faults=max(0, len(scores.faults) - _FAULTS),
            seconds=scores.seconds,
            responses=len(rows),
            total=sum(len(group.rubrics) for group in groups),
            judged=any(f.masses for _, f in rubrics),
            mean_reward=_mean([row.reward for row in rows]),
            rewards=sum(row.reward is not None for row in rows),
            eligible=_percent(_eligible(scores.groups)),
            undecided=sum(f.failed for _, f in rubrics),
            limit=min(_LONGEST, max(_SHORTEST, _TEXTS // max(1, len(rows)))),
            about=f"Rubricate {__version__}",
        )
    )


def _by_key(groups: Sequence[ReportGroup], views: Sequence[_GroupView]) -> list[tuple[Key, Figures]]:
    """Figures over all groups, those with flags first, then by how many verdicts there are."""
    found: dict[Key, Figures] = {}
    for group, view in zip(groups, views, strict=True):
        for rubric, id, own in zip(group.rubrics, group.rubric_ids, view.rubrics, strict=True):
            found.setdefault(key_of(rubric, id), Figures()).add(own.figures)
    return sorted(found.items(), key=lambda item: (not item[1].flags, -len(item[1].scores)))


def _eligible(groups: Sequence[ReportGroup]) -> float | None:
    decided = [response.eligible for group in groups for response in group.responses if response.valid]
    return sum(decided) / len(decided) if decided else None


def _environment() -> Environment:
    environment = Environment(
        loader=FunctionLoader(lambda name: (_PAGE / name).read_text(encoding="utf-8")),
        autoescape=True,
        undefined=StrictUndefined,
    )
    environment.filters |= {
        "visible": visible,
        "short": short,
        "beginning": beginning,
        "percent": _percent,
        "duration": _duration,
        "plain": _plain,
    }
    environment.globals |= {"said": said, "hint": hint}
    return environment


def visible(text: str) -> Markup:
    """A text escaped, with what is invisible in it shown."""
    parts: list[str] = []
    end = 0
    for match in INVISIBLE.finditer(text):
        parts += (escape(text[end : match.start()]), Markup('<span class="ctl">'))
        parts += (escape(symbol(match.group())), Markup("</span>"))
        end = match.end()
    return Markup("").join([*parts, escape(text[end:])])


def short(text: str, most: int) -> str:
    """A text, or its beginning and how much more there is."""
    left = len(text) - most
    return text if left <= 0 else f"{text[:most]}… ({left:,} more characters)"


def beginning(text: str, most: int) -> str:
    """A text, or its beginning."""
    return text if len(text) <= most else f"{text[:most]}…"


def hint(verdict: Verdict) -> str:
    """The shortest that tells a verdict from others like it."""
    if verdict.error is not None:
        return verdict.error.kind
    return _plain(beginning(verdict.reason or verdict.observed or "", 100))


def said(verdict: Verdict) -> str:
    """A verdict in words, without anything invisible."""
    if verdict.error is not None:
        return _plain(short(f"undecided, {verdict.error.kind}: {verdict.error.message}", 400))
    if verdict.score is None:
        return f"skipped: {_plain(verdict.reason or '')}"
    facts = [f"score {verdict.score:g}", verdict.reason, verdict.observed]
    if verdict.expected is not None:
        facts.append(f"expected score {verdict.expected:.2f}")
    if verdict.label_mass is not None:
        facts.append(f"label mass {verdict.label_mass:.2f}")
    return _plain(short(", ".join(fact for fact in facts if fact), 400))


def _plain(text: str) -> str:
    """A text for where there is no markup, such as a title."""
    return INVISIBLE.sub(lambda match: symbol(match.group()), text)


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.0f} %"


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    return f"{1e6 * seconds:.0f} µs" if seconds < 1e-3 else f"{1e3 * seconds:.1f} ms"


def _mean(values: Sequence[float | None]) -> str:
    decided = [value for value in values if value is not None]
    return f"{sum(decided) / len(decided):.2f}" if decided else "–"
