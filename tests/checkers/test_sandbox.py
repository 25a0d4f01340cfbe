"""What the sandbox refuses, and what happens to rules that misbehave."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rubricate_checkers.errors import RuleError, UnsupportedRule
from rubricate_checkers.sandbox import compile_rule, run_rule


def evaluate(source: str, response: str = "The tide is low.") -> bool:
    return run_rule(compile_rule(source, "evaluate", 1), response)


def rule(body: str) -> str:
    return "import re\ndef evaluate(response):\n" + "\n".join("    " + line for line in body.split("\n"))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def evaluate(response)\n    return True", "is not Python: expected ':' (line 1)"),
        ("def check(response):\n    return True", "must define the function evaluate at its top level"),
        ("if True:\n    def evaluate(response):\n        return True", "at its top level"),
        ("def evaluate():\n    return True", "can be called as evaluate(response)"),
        ("def evaluate(a, b):\n    return True", "can be called as evaluate(response)"),
        ("def evaluate(a, *, b):\n    return True", "can be called as evaluate(response)"),
        ("", "must define the function evaluate"),
        ("#" * 60_000, "must not be longer than 50000 characters"),
        ("def evaluate(r):\n    return " + "-" * 30_000 + "1", "nested too deeply"),
        ("def evaluate(r):\n    return " + "(" * 300 + "1" + ")" * 300, "is not Python"),
        ("def evaluate(r):\n    return r" + ".x" * 9_000, "nested too deeply"),
        ("def evaluate(r):\n    return '\0'", "is not Python"),
    ],
)
def test_what_is_no_rule(source: str, message: str) -> None:
    with pytest.raises(ValueError, match=r"must|is") as caught:
        compile_rule(source, "evaluate", 1)
    assert message in str(caught.value)


@pytest.mark.parametrize("signature", ["r", "r, n=3", "*args", "r, *, n=3", "r, /", "r, **more"])
def test_signatures_that_can_be_called(signature: str) -> None:
    assert evaluate(f"def evaluate({signature}):\n    return True") is True


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ("return open('/etc/passwd').read() != ''", "open()"),
        ("import os\nreturn os.getcwd() == '/'", "the module os"),
        ("import sys\nreturn 'os' in sys.modules", "the module sys"),
        ("import subprocess as s\nreturn s.run(['true']) == 0", "the module subprocess"),
        ("from socket import socket\nreturn socket() is None", "the module socket"),
        ("from os.path import join\nreturn join('a') == 'a'", "the module os.path"),
        ("return re.enum.sys.modules['os'].getpid() > 0", "enum of re"),
        ("import collections\nreturn collections._sys.modules", "_sys of collections"),
        ("return eval('1 + 1') == 2", "eval()"),
        ("exec('x = 1')\nreturn True", "exec()"),
        ("return compile('1', '', 'eval') is None", "compile()"),
        ("return __import__('os').getpid() > 0", "__import__"),
        ("return ().__class__.__bases__[0] is object", "__bases__"),
        ("return ''.__class__ is str", "__class__"),
        ("return (lambda: 0).__globals__ == {}", "__globals__"),
        ("return getattr(response, 'upper')() == ''", "getattr()"),
        ("return globals() == {}", "globals()"),
        ("with open('x') as f:\n    return True", "with statements"),
        ("def g():\n    yield 1\nreturn list(g()) == [1]", "generator functions (yield)"),
        ("async def g():\n    return 1\nreturn g() is None", "async functions"),
        ("class A(dict):\n    pass\nreturn A() == {}", "classes with bases"),
        ("class A:\n    def __len__(self):\n        return 1\nreturn len(A()) == 1", "__len__ in a class"),
        ("class A:\n    @staticmethod\n    def f():\n        pass\nreturn A.f()", "decorated methods"),
        ("from math import *\nreturn sqrt(4) == 2", "import *"),
        ("return (5).bit_length() == 3", "bit_length"),
        ("return list(map(str.format_map, [response], [{}])) == []", "format_map"),
        ("return int.from_bytes(b'a', 'big') == 97", "from_bytes"),
        ("return re.search('(a)', response).lastindex == 1", "lastindex"),
        ("import string\nreturn string.capwords(response) == response", "capwords of string"),
        ("return any((n := c) == 'x' for c in response)", ":= within any()"),
        ("return super() is None", "super()"),
    ],
)  # fmt: skip
def test_what_is_refused_when_a_rule_is_compiled(body: str, named: str) -> None:
    with pytest.raises(UnsupportedRule, match="does not offer") as caught:
        compile_rule(rule(body), "evaluate", 1)
    assert named in caught.value.message
    assert caught.value.path == "kwargs.source"


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ("return re.findall('a*', response) == []", "which can match nothing"),
        ("return bool(re.search(r'(?i)(a)\\1', response))", "groupref in a pattern"),
        ("return re.compile('a').search(response, 3) is None", "a search from or to a position"),
        ("return response.translate(response) == ''", "translate()"),
    ],
)
@pytest.mark.parametrize("swallowed", [False, True])
def test_what_is_refused_when_a_rule_runs(body: str, named: str, swallowed: bool) -> None:
    """Also where the rule catches every exception, and would have made a verdict of this one."""
    if swallowed:
        body = f"try:\n    {body}\nexcept Exception:\n    return False"
    with pytest.raises(UnsupportedRule, match="does not offer") as caught:
        evaluate(rule(body))
    assert named in caught.value.message


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return response.index('zebra') > 0", "raised ValueError"),
        ("return llm_judge(response)", "raised NameError: name 'llm_judge' is not defined"),
        ("return re.match('x', response).group() == 'x'", "raised AttributeError"),
        ("return re.search('(', response)", "raised re."),
        ("return None", "a value of type NoneType"),
        ("return 'yes'", "a value of type str"),
        ("return 1.0", "a value of type float"),
        ("return [True]", "a value of type list"),
        ("return re.search('t', response)", "a value of type Match"),
        ("while True:\n    pass", "ran longer than 1 s"),
        ("try:\n    while True:\n        pass\nexcept BaseException:\n    return 1", "longer than 1 s"),
        ("return len('a' * 10**9) > 5", "more than 64 MiB of memory"),
        ("x = []\nwhile True:\n    x.append(response * 1000)", "limit|more than 64 MiB|longer than 1 s"),
        ("def f(n):\n    return f(n + 1)\nreturn f(0)", "raised RecursionError"),
    ],
)  # fmt: skip
def test_a_rule_at_fault(body: str, message: str) -> None:
    with pytest.raises(RuleError, match=message) as caught:
        evaluate(rule(body))
    assert caught.value.path == "kwargs.source"
    assert evaluate(rule("return True")), "the next rule is not touched"


@pytest.mark.parametrize("pattern", [r"(a+)+$", r"^(\w+\s?)*$", r"(.*)*x", r"(?:a|a)*b"])
def test_a_pattern_that_backtracks_for_ever_ends(pattern: str) -> None:
    started = time.monotonic()
    body = f"return re.search({pattern!r}, response) is not None"
    try:
        answer = str(evaluate(rule(body), "a" * 5_000 + "!"))
    except (RuleError, UnsupportedRule) as error:
        answer = str(error)
    assert re.search(r"False|longer than 1 s|on this text", answer)
    assert time.monotonic() - started < 4


@pytest.mark.parametrize(
    ("answer", "expected"), [("True", True), ("False", False), ("0", False), ("1", True), ("7", True)]
)
def test_bools_and_integers_are_verdicts(answer: str, expected: bool) -> None:
    assert evaluate(f"def evaluate(r):\n    return {answer}") is expected


def test_state_does_not_outlive_a_call() -> None:
    """One rule's globals, default arguments and cached patterns are gone at its next call."""
    source = """
seen = []
def evaluate(response, kept=[]):
    seen.append(response)
    kept.append(response)
    return len(seen) == len(kept) == 1
"""
    ready = compile_rule(source, "evaluate", 1)
    assert [run_rule(ready, f"response {n}") for n in range(3)] == [True, True, True]


def test_rules_do_not_see_each_other() -> None:
    assert evaluate("import json\njson_dumps = None\ndef evaluate(r):\n    return True")
    with pytest.raises(RuleError, match="NameError"):
        evaluate("def evaluate(r):\n    return json_dumps is None")


def test_responses_may_hold_anything() -> None:
    for response in ("", "\0", "😀" * 3, "\u2028\x1c", "'''\n\"\"\"\\", "{response}", "a" * 1_000_000):
        ready = compile_rule(f"def evaluate(r):\n    return len(r) == {len(response)}", "evaluate", 1)
        assert run_rule(ready, response) is True


def test_nothing_that_a_rule_prints_is_heard(capfd: pytest.CaptureFixture[str]) -> None:
    assert evaluate("def evaluate(r):\n    print('secret')\n    return True")
    assert capfd.readouterr() == ("", "")


def test_the_sandbox_ends_with_its_process() -> None:
    """A check worker that is killed must leave no interpreter behind."""
    program = (
        "import os, sys, time\n"
        "from rubricate_checkers.sandbox import compile_rule, run_rule\n"
        "run_rule(compile_rule('def evaluate(r):\\n    return True', 'evaluate', 1), 'x')\n"
        "print(open(f'/proc/self/task/{os.getpid()}/children').read(), flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        children = process.stdout.readline().split()
        assert children
        process.kill()
    deadline = time.monotonic() + 10
    while any(_runs(int(child)) for child in children):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_fork_after_the_first_rule_does_not_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    assert evaluate("def evaluate(r):\n    return True", "before")
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(RuntimeError, match="forked after a rule had run"):
        evaluate("def evaluate(r):\n    return True", "after")


# rules that take a name which is not theirs to take; CPython would run each
TAKEN = [
    ("the prelude's own name", "_rb_answer = lambda x: True\ndef check_following(i, r): return False"),
    ("the prelude's argument", "def check_following(i, r): return _rb_arg0 == 'p'"),
    ("a gap hidden", "def check_following(i, r):\n    global _rb_gaps\n    _rb_gaps = []\n    return True"),
    ("bool for the whole rule", "def bool(x): return True\ndef check_following(i, r): return False"),
    (
        "len by a function",
        "def len(s): return 0\ndef check_following(i, r): return sorted(['b', 'a']) == ['a', 'b']",
    ),
    ("list by a loop", "for list in [1]:\n    pass\ndef check_following(i, r): return True"),
    ("str by import", "import re as str\ndef check_following(i, r): return bool(str.findall('a', r))"),
    ("int by global", "def check_following(i, r):\n    global int\n    int = 3\n    return True"),
    (
        "zip here and there",
        "def h(zip=1): return zip\ndef check_following(i, r): return list(zip([1], [2])) == []",
    ),
    (
        "round in one function",
        "def check_following(i, r):\n    f = lambda round: round\n    return round(2.5) == 2",
    ),
]


@pytest.mark.parametrize(("what", "source"), TAKEN, ids=[what for what, _ in TAKEN])
def test_a_rule_that_takes_a_name_around_it_is_refused(what: str, source: str) -> None:
    """It could forge its verdict, or be rewritten wrongly."""
    with pytest.raises(UnsupportedRule):
        compile_rule(source, "check_following", 2)


@pytest.mark.parametrize(
    "body",
    [
        "list = r.split()\n    return len(list) == 2",
        "sum = 0\n    for w in r.split():\n        sum += len(w)\n    return sum > 3",
        "max = 3\n    return len(r) > max",
        "str = r\n    return str.count('a') == 1",
        "return [len for len in (1, 2)] == [1, 2]",
    ],
)
def test_a_local_name_that_shadows_a_builtin_is_the_rules_own(body: str) -> None:
    rule = compile_rule(f"def check_following(i, r):\n    {body}", "check_following", 2)
    assert run_rule(rule, "", "alpha bet") is (body != "str = r\n    return str.count('a') == 1")
