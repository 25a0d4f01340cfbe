"""A dataset's Python rules, run in Monty: an interpreter in a process of its own, without a host to reach.

Monty reads most of the Python that such rules are written in, but not all of it, and some of it
otherwise than CPython. A rule is therefore rewritten before it runs (`rewrite`), its regular
expressions are translated (`regex`), a few functions are replaced (`prelude`), and what could still
differ is refused by name (`offered`): better no verdict than one that CPython would not give.
"""

from .compiled import Rule, compile_rule
from .run import run_rule

__all__ = ["Rule", "compile_rule", "run_rule"]
