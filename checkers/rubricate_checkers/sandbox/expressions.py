"""Expressions of a rule: refused where they are not offered, written anew where Monty would differ."""

from __future__ import annotations

import ast
from typing import NoReturn

from ..errors import UnsupportedRule
from .names import Names
from .offered import BUILTINS, GAPS, METHODS, MODULES, REPLACED, is_builtin

__all__ = ["Expressions", "named", "of_module", "refuse"]

_TYPES = frozenset({"bytes", "dict", "float", "frozenset", "int", "list", "set", "str", "tuple"})
_OF_TYPES = frozenset({"fromkeys", "fromhex", "fromisoformat"})
"""Methods that are called on the type itself."""
_AS_FUNCTIONS = frozenset({"translate", "is_integer"})
"""Methods that the prelude has as functions."""


def refuse(what: str, node: ast.AST) -> NoReturn:
    """Refuse a rule for something in it that is not offered. Raises `UnsupportedRule`."""
    line = getattr(node, "lineno", None)
    where = f" (line {line})" if line else ""
    raise UnsupportedRule(f"the sandbox for rules does not offer {what}{where}", "kwargs.source")


def named(id: str) -> ast.Name:
    """A name that is read."""
    return ast.Name(id, ast.Load())


def call(function: str, *args: ast.expr) -> ast.Call:
    """A function of the sandbox, called."""
    return ast.Call(named(function), list(args), [])


def _arguments(names: list[str]) -> ast.arguments:
    return ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])


def _expression(source: str) -> ast.expr:
    return ast.parse(source, mode="eval").body


def _called(method: str) -> str:
    """A method of `_rb_self`, called."""
    if method in _AS_FUNCTIONS:
        return f"_rb_{method}(_rb_self, *_rb_a)"
    return f"_rb_self.{method}(*_rb_a, **_rb_k)"


def of_module(module: str, name: str) -> ast.expr | None:
    """What stands for a name of a module in the sandbox, where it is not the name itself."""
    if module == "re":
        return ast.Attribute(named("_rb_re"), name, ast.Load())
    return named("dict") if name == "OrderedDict" else None


class Expressions(ast.NodeTransformer):
    """Visits names, attributes, calls and generators."""

    def __init__(self, tree: ast.Module) -> None:
        self._names = Names(tree)

    # -- names and attributes ---------------------------------------------------------------------

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Refuses built-ins that are not offered, and names those that the prelude has anew."""
        if isinstance(node.ctx, ast.Load) and node.id not in self._names.bound | self._names.modules.keys():
            if is_builtin(node.id) and node.id not in BUILTINS:
                refuse(f"{node.id}()" if node.id[0].islower() else node.id, node)
            if node.id in REPLACED:
                return named(f"_rb_{node.id}")
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """Makes a function of a method that is not called on the spot."""
        self._require_offered(node)
        if isinstance(node.ctx, ast.Load) and not self._is_module_name(node) and self._is_method(node):
            return self._unbound(node) if self._is_type(node.value) else self._bound(node)
        return self._attribute(node)

    def _is_module_name(self, node: ast.Attribute) -> bool:
        return isinstance(node.value, ast.Name) and node.value.id in self._names.modules

    def _is_type(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id in _TYPES - self._names.bound

    def _is_method(self, node: ast.Attribute) -> bool:
        return node.attr in METHODS and node.attr not in self._names.attributes

    def _attribute(self, node: ast.Attribute) -> ast.expr:
        """An attribute that stays one, checked."""
        if isinstance(node.value, ast.Name) and node.value.id in self._names.modules:
            module = self._names.modules[node.value.id]
            if module in MODULES and node.attr not in MODULES[module]:
                refuse(f"{node.attr} of {module}", node)
            replaced = None if module == "re" else of_module(module, node.attr)
            return replaced or node
        node.value = self.visit(node.value)
        return node

    def _require_offered(self, node: ast.Attribute) -> None:
        dunder = node.attr.startswith("__") and node.attr != "__name__"
        if dunder or (node.attr in GAPS and node.attr not in self._names.attributes):
            refuse(node.attr, node)

    @staticmethod
    def _unbound(node: ast.Attribute) -> ast.expr:
        """`str.lower` as a function."""
        return _expression(f"lambda _rb_self, *_rb_a, **_rb_k: {_called(node.attr)}")

    def _bound(self, node: ast.Attribute) -> ast.expr:
        """`words.append` as a function."""
        function = _expression(f"lambda _rb_self: lambda *_rb_a, **_rb_k: {_called(node.attr)}")
        return ast.Call(function, [self.visit(node.value)], [])

    # -- calls ------------------------------------------------------------------------------------

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Calls what stands for a function or method in the sandbox."""
        function = node.func
        if isinstance(function, ast.Name) and function.id in ("any", "all"):
            lazy = self._lazy(function.id, node)
            if lazy is not None:
                found: ast.expr = self.visit(lazy)
                return found
        if isinstance(function, ast.Attribute) and not self._is_module_name(function):
            self._require_offered(function)
            if (replaced := self._method_call(function, node)) is not None:
                return replaced
            of_type = self._is_type(function.value) and self._is_method(function)
            unbound = of_type and function.attr not in _OF_TYPES
            function = self._unbound(function) if unbound else self._attribute(function)
        else:
            function = self.visit(function)
        node.func = function
        node.args = [self.visit(arg) for arg in node.args]
        for keyword in node.keywords:
            keyword.value = self.visit(keyword.value)
        return node

    def _method_call(self, function: ast.Attribute, node: ast.Call) -> ast.expr | None:
        """The call of a method that the prelude has as a function."""
        if function.attr in self._names.attributes:
            return None
        args = [self.visit(arg) for arg in node.args]
        if function.attr == "maketrans":
            return call("_rb_maketrans", *args)
        if function.attr == "strptime":
            return call("_rb_strptime", *args)
        if function.attr in _AS_FUNCTIONS:
            receiver = [] if self._is_type(function.value) else [self.visit(function.value)]
            return call(f"_rb_{function.attr}", *receiver, *args)
        if function.attr == "groups" and (node.args or node.keywords):
            refuse("groups() with a default", node)
        return None

    # -- generators -------------------------------------------------------------------------------

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.expr:
        """Makes an iterator of a generator, of which Monty makes a list."""
        self.generic_visit(node)
        return call("iter", node)

    def _lazy(self, name: str, node: ast.Call) -> ast.expr | None:
        """`any` or `all` of a generator, so that what comes after the deciding item is not computed."""
        if len(node.args) != 1 or not isinstance(node.args[0], ast.GeneratorExp):
            return None
        generator = node.args[0]
        if any(isinstance(part, ast.NamedExpr) for part in ast.walk(generator)):
            refuse(f":= within {name}()", node)
        test = generator.elt
        for clause in reversed(generator.generators):
            for condition in reversed(clause.ifs):
                guard = condition if name == "any" else ast.UnaryOp(ast.Not(), condition)
                test = ast.BoolOp(ast.And() if name == "any" else ast.Or(), [guard, test])
            target = clause.target
            if isinstance(target, ast.Name):
                function = ast.Lambda(_arguments([target.id]), test)
            elif isinstance(target, ast.Tuple) and all(isinstance(part, ast.Name) for part in target.elts):
                names = [part.id for part in target.elts if isinstance(part, ast.Name)]
                inner = ast.Lambda(_arguments(names), test)
                item = ast.Starred(named("_rb_item"), ast.Load())
                function = ast.Lambda(_arguments(["_rb_item"]), ast.Call(inner, [item], []))
            else:
                return None
            test = call(f"_rb_{name}_of", function, clause.iter)
        return test
