"""A rule's source, checked against what is offered and rewritten into what Monty runs as CPython would."""

from __future__ import annotations

import ast
from typing import NoReturn, TypeVar

from .expressions import Expressions, named, of_module, refuse
from .offered import MODULES, SPECIAL_METHODS
from .reserved import taken

__all__ = ["rewrite"]

F = TypeVar("F", ast.FunctionDef, ast.AsyncFunctionDef)


def rewrite(tree: ast.Module) -> ast.Module:
    """Check a rule and write it anew; the tree is changed.

    Raises:
        UnsupportedRule: It uses what the sandbox does not offer.
    """
    for what, node in taken(tree):
        refuse(what, node)
    changed: ast.Module = _Rewriter(tree).visit(tree)
    return ast.fix_missing_locations(changed)


class _Rewriter(Expressions, ast.NodeTransformer):
    """Visits statements; refuses what is not offered, and writes anew what Monty would do otherwise."""

    # -- imports ----------------------------------------------------------------------------------

    def visit_Import(self, node: ast.Import) -> list[ast.stmt]:
        kept: list[ast.stmt] = []
        for alias in node.names:
            local = alias.asname or alias.name.partition(".")[0]
            if local not in self._names.read:
                continue  # imported and never used, or for annotations only
            if alias.name not in MODULES:
                refuse(f"the module {alias.name}", node)
            if alias.name == "re":
                kept.append(ast.Assign([ast.Name(local, ast.Store())], named("_rb_re")))
            else:
                kept.append(ast.Import([alias]))
        return kept or [ast.Pass()]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> list[ast.stmt]:
        module = node.module or "."
        kept: list[ast.stmt] = []
        for alias in node.names:
            local = alias.asname or alias.name
            if alias.name == "*":
                refuse("import *", node)
            if local not in self._names.read or module == "__future__":
                continue
            if module not in MODULES:
                refuse(f"the module {module}", node)
            if alias.name not in MODULES[module]:
                refuse(f"{alias.name} of {module}", node)
            value = of_module(module, alias.name)
            if value is None:
                kept.append(ast.ImportFrom(module, [alias], 0))
            else:
                kept.append(ast.Assign([ast.Name(local, ast.Store())], value))
        return kept or [ast.Pass()]

    # -- statements -------------------------------------------------------------------------------

    def _function(self, node: F) -> F:
        if isinstance(node, ast.AsyncFunctionDef):
            refuse("async functions", node)
        node.returns = None
        self.generic_visit(node)
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = _function  # noqa: N815

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        self.visit(node.target)
        if node.value is None:
            return ast.Pass() if isinstance(node.target, ast.Name) else node
        return ast.Assign([node.target], self.visit(node.value))

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        if node.bases or node.keywords:
            refuse("classes with bases", node)
        body: list[ast.stmt] = []
        for child in node.body:
            if isinstance(child, ast.FunctionDef):
                if child.name.startswith("__") and child.name not in SPECIAL_METHODS:
                    refuse(f"{child.name} in a class", child)
                if child.decorator_list:
                    refuse("decorated methods", child)
            # the annotation makes the field of a dataclass; its type does not matter
            if isinstance(child, ast.AnnAssign):
                child.annotation = named("object")
                if child.value is not None:
                    child.value = self.visit(child.value)
                body.append(child)
            else:
                changed = self.visit(child)
                body += changed if isinstance(changed, list) else [changed]
        node.body = body
        node.decorator_list = [self.visit(decorator) for decorator in node.decorator_list]
        return node

    def visit_Delete(self, node: ast.Delete) -> list[ast.stmt]:
        changed: list[ast.stmt] = []
        for target in node.targets:
            if isinstance(target, ast.Name):
                changed.append(ast.Assign([ast.Name(target.id, ast.Store())], ast.Constant(None)))
            elif isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Slice):
                stored = ast.Subscript(self.visit(target.value), self.visit(target.slice), ast.Store())
                changed.append(ast.Assign([stored], ast.List([], ast.Load())))
            elif isinstance(target, ast.Subscript):
                pop = ast.Attribute(self.visit(target.value), "pop", ast.Load())
                changed.append(ast.Expr(ast.Call(pop, [self.visit(target.slice)], [])))
            else:
                refuse("del of such a target", node)
        return changed

    def _refused(self, node: ast.AST) -> NoReturn:
        refuse(_REFUSED[type(node)], node)

    visit_Yield = visit_YieldFrom = visit_Await = visit_With = visit_AsyncWith = visit_AsyncFor = _refused  # noqa: N815
    visit_TryStar = _refused  # noqa: N815


_REFUSED: dict[type[ast.AST], str] = {
    ast.Yield: "generator functions (yield)",
    ast.YieldFrom: "generator functions (yield)",
    ast.Await: "await",
    ast.With: "with statements",
    ast.AsyncWith: "with statements",
    ast.AsyncFor: "async for",
    ast.TryStar: "except*",
}
