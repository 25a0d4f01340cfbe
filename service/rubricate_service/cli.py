"""The command line: every command by its name; each has a file in `commands`."""

from __future__ import annotations

import typer

from rubricate_service.commands import (
    cache,
    checks,
    config,
    evaluating,
    importing,
    judge,
    lint,
    probe,
    report,
    score,
    serve,
    testing,
    tokens,
)

app = typer.Typer(
    help="Scores every rubric of every response, and never a judgement that did not happen.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("serve")(serve.serve)
app.command("score")(score.score)
app.command("import")(importing.import_)
app.command("eval")(evaluating.eval_)
app.command("lint")(lint.lint)
app.command("test")(testing.run_tests)
app.command("probe")(probe.probe)
app.command("report")(report.report)
app.command("checks")(checks.checks)
app.add_typer(cache.app, name="cache")
app.add_typer(judge.app, name="judge")
app.add_typer(config.app, name="config")
app.add_typer(tokens.app, name="token")
app.command("demo")(serve.demo)
