"""A rule's source, checked against what is offered and rewritten into what Monty runs as CPython would."""

from __future__ import annotations

import ast
from typing import NoReturn, TypeVar

from ..errors import UnsupportedRule
from .names import Names
from .offered import BUILTINS, GAPS, METHODS, MODULES, REPLACED, SPECIAL_METHODS, is_builtin
from .reserved import taken

__all__ = ["rewrite"]

_TYPES = frozenset({"bytes", "dict", "float", "frozenset", "int", "list", "set", "str", "tuple"})
_OF_TYPES = frozenset({"fromkeys", "fromhex", "fromisoformat"})
"""Methods that are called on the type itself."""
_AS_FUNCTIONS = frozenset({"translate", "is_integer"})
"""Methods that the prelude has as functions."""

F = TypeVar("F", ast.FunctionDef, ast.AsyncFunctionDef)


def rewrite(tree: ast.Module) -> ast.Module:
    """Check a rule and write it anew; the tree is changed.

    Raises:
        UnsupportedRule: It uses what the sandbox does not offer.
    """
    for what, node in taken(tree):
        _refuse(what, node)
    changed: ast.Module = _Rewriter(tree).visit(tree)
    return ast.fix_missing_locations(changed)


def _refuse(what: str, node: ast.AST) -> NoReturn:
    line = getattr(node, "lineno", None)
    where = f" (line {line})" if line else ""
    raise UnsupportedRule(f"the sandbox for rules does not offer {what}{where}", "kwargs.source")


def _name(id: str) -> ast.Name:
    return ast.Name(id, ast.Load())


def _call(function: str, *args: ast.expr) -> ast.Call:
    return ast.Call(_name(function), list(args), [])


def _arguments(names: list[str]) -> ast.arguments:
    return ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])


def _expression(source: str) -> ast.expr:
    return ast.parse(source, mode="eval").body


def _called(method: str) -> str:
    """A method of `_rb_self`, called."""
    if method in _AS_FUNCTIONS:
        return f"_rb_{method}(_rb_self, *_rb_a)"
    return f"_rb_self.{method}(*_rb_a, **_rb_k)"


class _Rewriter(ast.NodeTransformer):
    """Refuses what is not offered, and writes anew what Monty would do otherwise."""

    def __init__(self, tree: ast.Module) -> None:
        self._names = Names(tree)

    # -- imports ----------------------------------------------------------------------------------

    def visit_Import(self, node: ast.Import) -> list[ast.stmt]:
        kept: list[ast.stmt] = []
        for alias in node.names:
            local = alias.asname or alias.name.partition(".")[0]
            if local not in self._names.read:
                continue  # imported and never used, or for annotations only
            if alias.name not in MODULES:
                _refuse(f"the module {alias.name}", node)
            if alias.name == "re":
                kept.append(ast.Assign([ast.Name(local, ast.Store())], _name("_rb_re")))
            else:
                kept.append(ast.Import([alias]))
        return kept or [ast.Pass()]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> list[ast.stmt]:
        module = node.module or "."
        kept: list[ast.stmt] = []
        for alias in node.names:
            local = alias.asname or alias.name
            if alias.name == "*":
                _refuse("import *", node)
            if local not in self._names.read or module == "__future__":
                continue
            if module not in MODULES:
                _refuse(f"the module {module}", node)
            if alias.name not in MODULES[module]:
                _refuse(f"{alias.name} of {module}", node)
            value = self._of_module(module, alias.name)
            if value is None:
                kept.append(ast.ImportFrom(module, [alias], 0))
            else:
                kept.append(ast.Assign([ast.Name(local, ast.Store())], value))
        return kept or [ast.Pass()]

    @staticmethod
    def _of_module(module: str, name: str) -> ast.expr | None:
        """What stands for a name of a module in the sandbox, where it is not the name itself."""
        if module == "re":
            return ast.Attribute(_name("_rb_re"), name, ast.Load())
        return _name("dict") if name == "OrderedDict" else None

    # -- names and attributes ---------------------------------------------------------------------

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if isinstance(node.ctx, ast.Load) and node.id not in self._names.bound | self._names.modules.keys():
            if is_builtin(node.id) and node.id not in BUILTINS:
                _refuse(f"{node.id}()" if node.id[0].islower() else node.id, node)
            if node.id in REPLACED:
                return _name(f"_rb_{node.id}")
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
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
                _refuse(f"{node.attr} of {module}", node)
            replaced = None if module == "re" else self._of_module(module, node.attr)
            return replaced or node
        node.value = self.visit(node.value)
        return node

    def _require_offered(self, node: ast.Attribute) -> None:
        dunder = node.attr.startswith("__") and node.attr != "__name__"
        if dunder or (node.attr in GAPS and node.attr not in self._names.attributes):
            _refuse(node.attr, node)

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
            return _call("_rb_maketrans", *args)
        if function.attr == "strptime":
            return _call("_rb_strptime", *args)
        if function.attr in _AS_FUNCTIONS:
            receiver = [] if self._is_type(function.value) else [self.visit(function.value)]
            return _call(f"_rb_{function.attr}", *receiver, *args)
        if function.attr == "groups" and (node.args or node.keywords):
            _refuse("groups() with a default", node)
        return None

    # -- generators -------------------------------------------------------------------------------

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.expr:
        self.generic_visit(node)
        return _call("iter", node)  # Monty makes a list of it

    def _lazy(self, name: str, node: ast.Call) -> ast.expr | None:
        """`any` or `all` of a generator, so that what comes after the deciding item is not computed."""
        if len(node.args) != 1 or not isinstance(node.args[0], ast.GeneratorExp):
            return None
        generator = node.args[0]
        if any(isinstance(part, ast.NamedExpr) for part in ast.walk(generator)):
            _refuse(f":= within {name}()", node)
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
                item = ast.Starred(_name("_rb_item"), ast.Load())
                function = ast.Lambda(_arguments(["_rb_item"]), ast.Call(inner, [item], []))
            else:
                return None
            test = _call(f"_rb_{name}_of", function, clause.iter)
        return test

    # -- statements -------------------------------------------------------------------------------

    def _function(self, node: F) -> F:
        if isinstance(node, ast.AsyncFunctionDef):
            _refuse("async functions", node)
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
            _refuse("classes with bases", node)
        body: list[ast.stmt] = []
        for child in node.body:
            if isinstance(child, ast.FunctionDef):
                if child.name.startswith("__") and child.name not in SPECIAL_METHODS:
                    _refuse(f"{child.name} in a class", child)
                if child.decorator_list:
                    _refuse("decorated methods", child)
            # the annotation makes the field of a dataclass; its type does not matter
            if isinstance(child, ast.AnnAssign):
                child.annotation = _name("object")
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
                _refuse("del of such a target", node)
        return changed

    def _refused(self, node: ast.AST) -> NoReturn:
        _refuse(_REFUSED[type(node)], node)

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
