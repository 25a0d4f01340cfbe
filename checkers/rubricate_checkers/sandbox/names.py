"""The names in a rule's source."""

# ruff: noqa: D102
# The methods are called by ast, by the name of the node.
from __future__ import annotations

import ast

__all__ = ["Names"]


class Names(ast.NodeVisitor):
    """The names that a rule binds and reads, and the attributes that it defines, in any scope."""

    def __init__(self, tree: ast.Module) -> None:
        self.bound: set[str] = set()
        self.read: set[str] = set()
        self.attributes: set[str] = set()
        self.modules: dict[str, str] = {}
        self.visit(tree)

    def visit_Name(self, node: ast.Name) -> None:
        (self.read if isinstance(node.ctx, ast.Load) else self.bound).add(node.id)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if not isinstance(node.ctx, ast.Load):
            self.attributes.add(node.attr)
        self.generic_visit(node)

    def _definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        self.bound.add(node.name)
        if isinstance(node, ast.ClassDef):
            for child in node.body:
                if isinstance(child, ast.FunctionDef):
                    self.attributes.add(child.name)
                elif isinstance(child, ast.AnnAssign) and isinstance(child.target, ast.Name):
                    self.attributes.add(child.target.id)
        self.generic_visit(node)

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = _definition  # noqa: N815

    def visit_arg(self, node: ast.arg) -> None:
        self.bound.add(node.arg)  # its annotation is not read: annotations are taken out

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.visit(node.target)
        if node.value is not None:
            self.visit(node.value)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self.bound.add(node.name)
        self.generic_visit(node)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self.modules[alias.asname or alias.name.partition(".")[0]] = alias.name
