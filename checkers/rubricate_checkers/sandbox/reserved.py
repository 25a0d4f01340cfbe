"""Names that a rule may not take for itself: they would change what stands around the rule.

The prelude and the rule share one namespace, and the rewriting goes by name. A rule that calls something of
its own `bool`, or `_rb_answer`, could change its verdict; one that has a variable `zip` in one function and
calls the built-in in another would be rewritten wrongly in one of the two.
"""

# The methods are called by ast, by the name of the node.
from __future__ import annotations

import ast
from collections.abc import Iterator

from .names import Names
from .offered import REPLACED, is_builtin

__all__ = ["taken"]

PREFIX = "_rb_"


def taken(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """What a rule takes that it may not, in words, and where."""
    for node in ast.walk(tree):
        for name in _identifiers(node):
            if name.startswith(PREFIX):
                yield f"names that begin with {PREFIX}", node
    units = _units(tree)
    for name in _module_level(tree):
        if is_builtin(name):
            yield f"another meaning of {name} for the whole rule", tree
    for unit, names in units:
        for name in REPLACED & names.bound:
            elsewhere = any(name in other.read - other.bound for _, other in units if other is not names)
            if elsewhere or _calls(unit, name):
                yield f"{name} both as a name of the rule's own and as the built-in function", unit


def _identifiers(node: ast.AST) -> Iterator[str]:
    for field in ("id", "arg", "attr", "name", "asname", "rest"):
        if isinstance(value := getattr(node, field, None), str):
            yield value
    if isinstance(node, ast.Global | ast.Nonlocal):
        yield from node.names


def _units(tree: ast.Module) -> list[tuple[ast.Module, Names]]:
    """Each function or class at the top level, and the rest together, with the names in it."""
    alone = (ast.FunctionDef, ast.ClassDef)
    parts: list[list[ast.stmt]] = [[node] for node in tree.body if isinstance(node, alone)]
    parts.append([node for node in tree.body if not isinstance(node, alone)])
    units = [ast.Module(body=list(part), type_ignores=[]) for part in parts]
    return [(unit, Names(unit)) for unit in units]


class _ModuleLevel(ast.NodeVisitor):
    """The names that are bound outside of any function, or declared to be."""

    def __init__(self) -> None:
        self.bound: set[str] = set()

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Load):
            self.bound.add(node.id)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.bound.add(node.name)
        self._globals(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.bound.add(node.name)
        self._globals(node)

    def visit_ListComp(self, node: ast.AST) -> None:
        """Its names are its own."""

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_Lambda = visit_ListComp  # noqa: N815

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        self.bound.update([node.name] if node.name else [])
        self.generic_visit(node)

    def visit_alias(self, node: ast.alias) -> None:
        self.bound.add(node.asname or node.name.partition(".")[0])

    def _globals(self, node: ast.AST) -> None:
        for inner in ast.walk(node):
            if isinstance(inner, ast.Global):
                self.bound.update(inner.names)


def _module_level(tree: ast.Module) -> list[str]:
    visitor = _ModuleLevel()
    visitor.visit(tree)
    return sorted(visitor.bound)


def _calls(tree: ast.AST, name: str) -> bool:
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return any(isinstance(function, ast.Name) and function.id == name for function in calls)
