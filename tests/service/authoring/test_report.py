"""The report: its figures, and that nothing in it gets out of its place."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from author_commands import rubricate, write_rows

from rubricate_clients.testing import FakeJudge
from rubricate_clients.wire import Group, Rubric, ScoredGroup
from rubricate_service.authoring.figures import doubts, group_figures, key_of, twins
from rubricate_service.authoring.report import page, short, visible
from rubricate_service.authoring.scored import ReportGroup, Scores

ATTACKS = [
    "<script>alert(1)</script>",
    "</bdi></td></tr></table></details><h1>out</h1>",
    "\"><img src=https://example.test/x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "</style><style>@import url(//example.test)</style>",
    "</title><base href=//example.test>",
    "<!--", "-->", "]]>", "{{ 7 * 7 }}{% raw %}", "javascript:alert(1)", "&lt;b&gt;&#60;b&#62;",
    "<svg/onload=alert(1)>", "<a href=//example.test>x</a>", "\x00<b>\u202e",
]  # fmt: skip


def report_group(scores: list[list[float | None]], **verdict: Any) -> ReportGroup:
    """A group of responses with one score per rubric; None is a failed verdict."""
    error = {"kind": "timeout", "message": "late"}
    answer = {
        "id": "g",
        "responses": [
            {
                "id": str(r),
                "rubrics": [
                    {"id": str(k), "score": score, "status": "scored", **verdict}
                    if score is not None
                    else {"id": str(k), "score": None, "status": "failed", "error": error}
                    for k, score in enumerate(row)
                ],
                "outcome": 1.0, "quality": None, "valid": True, "eligible": True, "reward": 1.0,
            }
            for r, row in enumerate(scores)
        ],
    }  # fmt: skip
    return ReportGroup(
        "g", [str(k) for k in range(len(scores[0]))], ScoredGroup.model_validate(answer).responses
    )


class Reader(HTMLParser):
    """Every tag with its attributes, and all text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def attacked(attack: str) -> ReportGroup:
    """A group whose every string is the attack."""
    rubrics = [
        {"id": attack, "criterion": attack, "hard": True},
        {"id": f"{attack} too", "check": attack, "kwargs": {attack: attack}},
    ]
    source = Group.model_validate(
        {"id": attack, "prompt": attack, "rubrics": rubrics, "responses": [{"id": attack, "text": attack}]}
    )
    verdict = {"id": attack, "score": 0.0, "status": "scored", "observed": attack, "required": attack,
               "reason": attack, "label": 0, "label_mass": 0.3, "expected": 0.9}  # fmt: skip
    failed = {
        "id": f"{attack} too",
        "score": None,
        "status": "failed",
        "error": {"kind": "bad_kwargs", "message": attack},
    }
    answer = {"id": attack, "responses": [{"id": attack, "rubrics": [verdict, failed], "outcome": 0.0,
              "quality": None, "valid": True, "eligible": False, "reward": 0.0}]}  # fmt: skip
    return ReportGroup(
        attack, [attack, f"{attack} too"], ScoredGroup.model_validate(answer).responses, source
    )


def shape(html: str) -> list[tuple[str, tuple[str, ...]]]:
    return [
        (tag, tuple(attributes)) for tag, attributes in Reader(html).tags if attributes.get("class") != "ctl"
    ]


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_text_becomes_markup(attack: str) -> None:
    html = page(Scores([attacked(attack)], [attack], {attack: 0.1}), attack)
    harmless = page(Scores([attacked("plain")], ["plain"], {"plain": 0.1}), "plain")
    assert shape(html) == shape(harmless)
    assert "\x00" not in html
    assert "\u202e" not in html


def test_the_page_fetches_nothing_and_runs_only_its_own_script() -> None:
    html = page(Scores([attacked("text")]), "t")
    reader = Reader(html)
    for tag, attributes in reader.tags:
        assert not {"src", "href", "action", "style", "srcset", "data"} & attributes.keys()
        assert not [name for name in attributes if name.startswith("on")]
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "form")
    policy = next(a["content"] for _, a in reader.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    (script,) = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert "url(" not in html
    assert "innerHTML" not in script


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x00b", "a␀b"), ("a\u202eb", "a[U+202E]b"), ("a\xa0b", "a[NBSP]b"), ("\ufeffa", "[BOM]a"),
        ("a\u200db", "a[U+200D]b"), ("\x1b[2J", "␛[2J"), ("a\r\nb", "a␍\nb"), ("a\tb\nc", "a\tb\nc"),
        ("naïve 日本 🎉", "naïve 日本 🎉"), ("a\U000e0041b", "a[U+E0041]b"),
    ],
)  # fmt: skip
def test_what_is_invisible_is_shown(text: str, shown: str) -> None:
    assert Reader(str(visible(text))).text == shown


def test_a_verdict_is_told_by_its_sign_and_not_by_colour_alone() -> None:
    html = page(Scores([report_group([[1.0, 0.5, 0.0, None, 0.61]])]), "t")
    cells = re.findall(r'<td class="m (\w+)"[^>]*>([^<]*)</td>', html)
    assert cells == [("pass", "✓"), ("half", "½"), ("fail", "✗"), ("failed", "?"), ("half", "0.61")]


MIXED: list[list[float | None]] = [[1.0, 0.5, None], [0.0, 1.0, 1.0], [0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]
WIDE = [
    Scores([report_group(MIXED, **judged)] * 4, [], {"0": 0.1})
    for judged in ({}, {"label": 2, "label_mass": 0.6, "expected": 0.9})
]


@pytest.mark.parametrize("scores", WIDE)
def test_every_cell_names_its_column(scores: Scores) -> None:
    """Narrow pages have no heads: what a number is then stands in its cell."""
    html = page(scores, "t")
    for table in re.findall(r"<table.*?</table>", html, re.DOTALL):
        heads = [Reader(head).text for head in re.findall(r"<th\b.*?</th>", table.partition("</thead>")[0])]
        (body,) = re.findall(r"<tbody>(.*?)</tbody>", table, re.DOTALL)
        for row in body.split("</tr>")[:-1]:
            assert re.findall(r'<td[^>]* data-l="([^"]*)"', row) == heads


@pytest.mark.parametrize("width", [500, 800, 1190, 1200, 1400, 1530])
def test_no_column_is_cut_off(tmp_path: Path, width: int) -> None:
    """At 1200 pixels the times of the checks were out of sight."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("no chromium on the path")
    html = page(WIDE[1], "t")
    html = re.sub(r"<meta http-equiv=[^>]*>", "", html)  # the policy lets nobody measure
    measure = "[...document.querySelectorAll('.scroll')].map(e => e.scrollWidth - e.clientWidth)"
    path = tmp_path / "page.html"
    path.write_text(html.replace("</body>", f"<script>document.title = {measure}</script></body>"))
    flags = ["--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    flags += [f"--window-size={width},900", "--dump-dom", f"file://{path}"]
    done = subprocess.run([chromium, *flags], capture_output=True, text=True, timeout=240, check=False)
    hidden = re.findall(r"<title>([\d,]+)</title>", done.stdout)
    assert hidden == [",".join(["0"] * len(re.findall('<div class="scroll">', html)))], done.stderr[-2000:]


def test_long_texts_are_cut_and_say_so() -> None:
    assert short("x" * 30, 10) == "x" * 10 + "… (20 more characters)"


def test_figures_of_a_rubric() -> None:
    one, two, three, same = group_figures(
        report_group(
            [[1.0, 1.0, 0.5, 1.0], [1.0, 0.0, 0.0, 0.0], [1.0, 1.0, None, 1.0], [1.0, 0.0, 0.0, 0.0]]
        )
    )
    assert one.flags == ["passes everything"]
    assert (one.pass_rate, one.discrimination) == (1.0, None)
    assert two.pass_rate == 0.5
    # others' means: (1+.5+1)/3, 1/3, 1, 1/3 against 1, 0, 1, 0
    assert two.discrimination == pytest.approx(0.98020, abs=1e-5)
    assert three.half_rate == pytest.approx(1 / 3)
    assert (three.failed, three.flags) == (1, ["undecided verdicts"])
    assert same.discrimination == two.discrimination


def test_what_fails_everything_is_flagged_unless_most_is_undecided() -> None:
    (nothing,) = group_figures(report_group([[0.0]] * 3))
    assert nothing.flags == ["passes nothing"]
    (unknown,) = group_figures(report_group([[0.0], [0.0], [0.0], [None], [None], [None], [None]]))
    assert unknown.flags == ["undecided verdicts"]


def test_a_rubric_against_the_rest_is_flagged_where_chance_does_not_explain_it() -> None:
    rows: list[list[float | None]] = [[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]
    assert "against the rest" in group_figures(report_group(rows * 5))[0].flags
    assert "against the rest" not in group_figures(report_group(rows))[0].flags


def test_rubrics_that_say_the_same_are_found_over_groups() -> None:
    rows: list[list[float | None]] = [[1.0, 1.0, 0.0], [0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]
    (pair,) = twins([report_group(rows)] * 4)
    assert ({pair.one.name, pair.other.name}, pair.count) == ({"0", "1"}, 12)
    assert pair.phi == pytest.approx(1.0)
    assert twins([report_group(rows)] * 2) == []  # too few to tell


def test_a_check_with_other_kwargs_is_another_rubric() -> None:
    """Three of one id were one row, and the two that are the same were not told."""
    rubrics: list[dict[str, Any]] = [
        {"check": "text:contains", "kwargs": {"values": [word], "at_least": None}}
        for word in ("sea", "salt", "sea")
    ]
    texts = ["sea", "salt", "sea and salt", "sand"] * 2
    source = Group.model_validate({"prompt": "p", "rubrics": rubrics, "responses": texts})
    group = report_group([[float(word in text) for word in ("sea", "salt", "sea")] for text in texts])
    group = ReportGroup(group.id, group.rubric_ids, group.responses, source)
    (pair,) = twins([group])
    sea = 'text:contains {"values": ["sea"]}'
    assert (pair.one.told, pair.other.told) == (sea, sea)
    text = " ".join(Reader(page(Scores([group]), "t")).text.split())
    assert f"{sea} check 16 50 %" in text.replace(" passes", "")
    assert 'text:contains {"values": ["salt"]} check 8 50 %' in text


def test_the_order_of_kwargs_makes_no_other_rubric() -> None:
    one, other = (
        key_of(Rubric(check="text:contains", kwargs=kwargs), "0")
        for kwargs in ({"values": ["sea"], "at_least": 1}, {"at_least": 1, "values": ["sea"]})
    )
    assert one == other


@pytest.mark.parametrize(
    ("verdict", "unsure"),
    [
        ({"label": 2, "label_mass": 0.6, "expected": 0.9}, "only 0.60"),
        ({"label": 2, "label_mass": 0.99, "expected": 0.7}, "said 1, expected score 0.70"),
        ({"label": 2, "label_mass": 0.99, "expected": 0.9}, None),
        ({}, None),
    ],
)
def test_the_judges_doubts(verdict: dict[str, Any], unsure: str | None) -> None:
    found = list(doubts([report_group([[1.0]], **verdict)]))
    assert [unsure in doubt.why for doubt in found if unsure] == ([True] if unsure else [])
    assert len(found) == (unsure is not None)


GROUPS = [
    {
        "id": f"pier {n}",
        "prompt": "Describe a pier without commas.",
        "rubrics": [{"id": "commas", "check": "punctuation:no_comma"}, {"criterion": "It is vivid."}],
        "responses": ["The pier creaks.", "A pier, with gulls.", "Salt & <rope>."],
    }
    for n in range(4)
]


def run(tmp_path: Path, source: Path, *flags: str) -> tuple[int, str, str]:
    out = tmp_path / "report.html"
    flags = ("-o", str(out), "--check-workers", "1", "--cache", str(tmp_path / "v.db"), *flags)
    done = rubricate("report", str(source), *flags)
    assert "Traceback" not in done.stderr
    return done.returncode, out.read_text() if out.exists() else "", done.stderr


def test_groups_are_scored_and_timed_first(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "groups.jsonl", GROUPS)
    with FakeJudge(answer="1") as judge:
        code, html, _ = run(tmp_path, source, "--judge", judge.url)
    assert code == 0
    text = " ".join(Reader(html).text.split())
    assert "12 responses" in text
    assert "punctuation:no_comma check 12 67 %" in text
    assert "It is vivid. criterion 12 0 % 100 %" in text
    assert re.search(r"\d (µs|ms)", text)
    assert "Salt & <rope>." in text


def test_what_score_wrote_is_reported_alone_or_beside_its_source(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "groups.jsonl", GROUPS)
    scored = tmp_path / "scored.jsonl"
    options = '{"judging": "none"}'
    assert rubricate("score", str(source), "-o", str(scored), "--options", options).returncode == 0
    code, html, _ = run(tmp_path, scored)
    assert code == 0
    assert "commas rubric 12 67 %" in " ".join(Reader(html).text.split())
    code, html, _ = run(tmp_path, scored, "--of", str(source))
    assert code == 0
    assert "punctuation:no_comma check 12 67 %" in " ".join(Reader(html).text.split())
    other = write_rows(tmp_path / "other.jsonl", GROUPS[:1])
    code, _, err = run(tmp_path, scored, "--of", str(other))
    assert code == 2
    assert "is not what group" in " ".join(err.split())


def test_rows_that_cannot_be_read_are_told_in_the_page_too(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "groups.jsonl", [GROUPS[0], "{<b>", {**GROUPS[1], "rubrics": []}])
    code, html, err = run(tmp_path, source)
    assert code == 1
    assert "line 2: this line is not JSON" in err
    assert "line 3: rubrics" in Reader(html).text


def test_a_torn_scored_row_costs_no_other(tmp_path: Path) -> None:
    verdict = {"id": "0", "score": 1.0, "status": "scored"}
    numbers = {"outcome": 1.0, "quality": None, "valid": True, "eligible": True, "reward": 1.0}
    row = {"row": 0, "digest": "d", "id": "g", "responses": [{"id": "0", "rubrics": [verdict], **numbers}]}
    rows = [row, json.dumps(row)[:50], {**row, "responses": []}, {**row, "responses": 3}, [1]]
    code, html, err = run(tmp_path, write_rows(tmp_path / "scored.jsonl", rows))
    assert code == 1
    assert [line.partition(":")[0] for line in err.splitlines()[:4]] == [f"line {n}" for n in range(2, 6)]
    assert "1 responses" in " ".join(Reader(html).text.split())


@pytest.mark.parametrize(
    ("out", "says"), [("nowhere/page.html", "there is no folder"), (".", "it is a folder")]
)
def test_a_page_that_cannot_be_written_is_told_before_the_work(tmp_path: Path, out: str, says: str) -> None:
    source = write_rows(tmp_path / "groups.jsonl", GROUPS)
    with FakeJudge(answer="1") as judge:
        done = rubricate("report", str(source), "-o", str(tmp_path / out), "--judge", judge.url)
        assert judge.calls == []
    assert done.returncode == 2
    assert f"cannot be written: {says}" in " ".join(done.stderr.split())


def test_a_disk_that_is_full_is_told(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "groups.jsonl", GROUPS)
    done = rubricate("report", str(source), "-o", "/dev/full", "--check-workers", "1")
    assert done.returncode == 2
    assert "/dev/full cannot be written: No space left on device" in " ".join(done.stderr.split())


def test_the_input_is_never_written_over(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "groups.jsonl", GROUPS)
    before = source.read_bytes()
    done = rubricate("report", str(source), "-o", str(source))
    assert done.returncode == 2
    assert source.read_bytes() == before
