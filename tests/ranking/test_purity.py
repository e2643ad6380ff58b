"""The ranker is pure by its own text: what it imports and what it calls, read from the syntax tree."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import ranking

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = Path(ranking.__file__).parent
MODULES = sorted(FOLDER.glob("**/*.py"))

# Adding one of these is a decision: it must do no I/O, know no clock and draw no lots.
PURE = {
    "__future__",
    "collections",
    "collections.abc",
    "datetime",
    "fnmatch",
    "functools",
    "heapq",
    "itertools",
    "math",
    "operator",
    "msgspec",
    "msgspec.structs",
    "packaging.version",
    "re",
    "typing",
}
IMPURE_CALLS = {
    "open",
    "print",
    "input",
    "exec",
    "eval",
    "compile",
    "__import__",
    "breakpoint",
    "globals",
    "id",
    "hash",
}
IMPURE_NAMES = {"environ", "getenv", "now", "utcnow", "today", "time", "perf_counter", "fromtimestamp", "random"}


def imports(tree: ast.AST) -> Iterator[str]:
    """The modules that a file imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            yield node.module or ""


def problems(source: str) -> list[str]:
    """What in a source is not pure."""
    tree = ast.parse(source)
    found = [f"imports {name}" for name in imports(tree) if name not in PURE and name.split(".")[0] != "ranking"]
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in IMPURE_CALLS:
            found.append(f"calls {node.func.id}")
        elif isinstance(node, ast.Attribute) and node.attr in IMPURE_NAMES and not is_facts_now(node):
            found.append(f"reads {node.attr}")
        elif isinstance(node, ast.Name) and node.id == "Any":
            found.append("says Any")
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            found.append(f"shares {', '.join(node.names)}")
        elif isinstance(node, (ast.FunctionDef, ast.Lambda)) and list(imports_inside(node)):
            # A package loads its public names when they are asked for (PEP 562).
            found += ["imports in a function"] if getattr(node, "name", "") != "__getattr__" else []
        elif isinstance(node, ast.ImportFrom) and "Any" in {alias.name for alias in node.names}:
            found.append("imports Any")
    return found


def is_facts_now(node: ast.Attribute) -> bool:
    """Whether it is the moment that the facts were gathered at."""
    return node.attr == "now" and isinstance(node.value, ast.Name) and node.value.id == "facts"


def imports_inside(function: ast.AST) -> Iterator[ast.AST]:
    """The import statements in a function."""
    return (node for node in ast.walk(function) if isinstance(node, (ast.Import, ast.ImportFrom)))


def test_the_package_is_there() -> None:
    assert {path.stem for path in MODULES} >= {"facts", "versions", "record", "signals", "match", "weights", "ranker"}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_a_module_is_pure(path: Path) -> None:
    assert problems(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("import os", "imports os"),
        ("from os import environ", "imports os"),
        ("import pathlib", "imports pathlib"),
        ("from subprocess import run", "imports subprocess"),
        ("import logging", "imports logging"),
        ("import random", "imports random"),
        ("import time", "imports time"),
        ("import importlib", "imports importlib"),
        ("from collectors import refs", "imports collectors"),
        ("import candidates.resolver", "imports candidates.resolver"),
        ("import pygit2", "imports pygit2"),
        ("from datetime import datetime\ndatetime.now()", "reads now"),
        ("from datetime import date\nday = date.today", "reads today"),
        ("open('x')", "calls open"),
        ("print('x')", "calls print"),
        ("sys.environ", "reads environ"),
        ("from typing import Any", "imports Any"),
        ("def f(x: Any) -> None: ...", "says Any"),
        ("x: dict[str, Any]", "says Any"),
        ("def f():\n    import re", "imports in a function"),
        ("def f():\n    global x\n    x = 1", "shares x"),
    ],
)
def test_the_check_sees(source: str, problem: str) -> None:
    assert problem in problems(source)


def test_the_check_lets_the_facts_moment_pass() -> None:
    assert problems("oldest = facts.now - timedelta(days=1)") == []
