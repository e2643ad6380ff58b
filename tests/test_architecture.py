"""The house keeps its shape: one direction of imports, one owner a library, no hidden state, a light `rank`."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("ranking", "collectors", "candidates")

MAY_IMPORT = {
    "ranking": {"ranking"},
    "collectors": {"ranking", "collectors"},
    "candidates": {"ranking", "collectors", "candidates"},
}

# The floors of a package, lowest first: a room (a module or a folder of modules) imports from lower floors alone.
# The rooms of one floor do not know each other.
FLOORS = {
    "collectors": (
        "__init__ errors remote_url signals",
        "input_file process strict_json",
        "git http_body http_waiting issue stores",
        "config github jira",
    ),
    "candidates": (
        "__init__ contract evidence exit_codes listing_state memory output styled suggest",
        "boundary resolver state_file terminal",
        "backtest questions",
        "run",
        "checks explain library runs",
        "explain.page setup",
        "commands",
        "cli",
        "main",
        "__main__",
    ),
}

# The command line declares, the commands do: of the application it needs no more.
THE_COMMAND_LINE_MAY_IMPORT = {"boundary", "cli", "commands"}

# A module, or a folder of modules.
OWNERS = {
    "pygit2": "collectors.git.objects",
    "jira": "collectors.jira.issue",
    "github": "collectors.github.issue",
    "typer": "candidates.cli",
    "rich": "candidates.terminal",
    "fcntl": "collectors.stores.store_file",
    "termios": "candidates.questions.menu",
    "tty": "candidates.questions.menu",
    "platformdirs": "collectors.stores.user_folders",
    "jsonschema": None,  # the tests check with it; the program decodes with msgspec
    "subprocess": "collectors.process",
}

# What ranking may take from outside (facts in, ranking out: no file, clock, environment or randomness).
RANKING_MAY_USE = frozenset(
    """
    __future__ bisect collections collections.abc datetime enum fnmatch functools heapq itertools
    math msgspec msgspec.structs operator packaging packaging.version re string types typing unicodedata
    """.split()
)

IMPORTS_INSIDE_FUNCTIONS = {
    ("ranking", "ranking"): "only when a public name is asked for",
    ("candidates.main", "candidates.commands.rank"): "all that rank needs; the rest comes with the command line",
    ("candidates.main", "candidates.cli.app"): "typer, git and the collectors, which rank does not need",
    ("candidates.commands.resolve", "candidates.run.replay"): "only for --bundle",
    ("candidates.commands.resolve", "candidates.run.answers_file"): "only with --answers",
    ("candidates.commands.resolve", "candidates.run.factory"): "only in factory mode",
    ("candidates.commands.resolve", "candidates.run.answers"): "only where a person is asked here",
    ("candidates.commands.resolve", "candidates.questions.menu"): "likewise",
    ("candidates.commands.resolve", "candidates.run.record"): "only where a state is written, or its patch printed",
    ("candidates.commands.session", "candidates.explain.records"): "only where a bundle is saved",
    ("candidates.terminal", "rich.console"): "50 ms that only a person's view pays",
    ("candidates.terminal", "rich.text"): "likewise",
    ("candidates.terminal", "rich.progress"): "a progress bar, on a terminal only",
    ("candidates.run.run", "candidates.run.trackers"): "only where an issue is named",
    ("candidates.run.filed_issue", "candidates.run.raw_issue"): "only for what could be a tracker's own answer",
    ("candidates.run.trackers", "collectors.jira.issue"): "90 ms that only a Jira issue pays",
    ("candidates.run.trackers", "collectors.github.issue"): "130 ms that only a GitHub issue pays",
    ("candidates.run.trackers", "collectors.github.comment"): "likewise",
    ("collectors.git.objects", "pygit2"): "40 ms that only a walk of the history pays",
    ("collectors.stores.user_folders", "pwd"): "hardly ever: where HOME is no absolute path; Windows has none",
    ("collectors.stores.user_folders", "platformdirs"): "13 ms that no run on Linux pays",
}

MEMOS_OF_PURE_PARSERS = {
    ("ranking.versions", "read_branch"),
    ("ranking.versions", "read_label"),
    ("ranking.versions", "read_tag"),
    ("ranking.words", "is_family"),
}

# A file of the program itself is what it was.
MEMOS_OF_OWN_FILES = {("candidates.questions.languages", "_packaged")}

MUTABLE_CALLS = frozenset("list dict set bytearray deque defaultdict Counter OrderedDict ChainMap".split())
MUTATORS = frozenset(
    """
    add append appendleft clear discard extend extendleft insert pop popitem popleft remove reverse setdefault
    sort update __setitem__ __delitem__
    """.split()
)


@dataclass(frozen=True)
class Module:
    """One module of the program: its dotted name and its tree."""

    name: str
    tree: ast.Module

    @property
    def package(self) -> str:
        return self.name.partition(".")[0]


@cache
def modules() -> tuple[Module, ...]:
    found = []
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
            found.append(Module(name, ast.parse(path.read_text(encoding="utf-8"))))
    return tuple(found)


def imported(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Every module that is imported anywhere below, with its line; what is loaded by name counts too."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield node.lineno, module
            case ast.ImportFrom():
                yield node.lineno, "a relative import"
            case ast.Call(func=ast.Name(id="__import__" | "import_module")):
                yield node.lineno, "an import by name"
            case ast.Call(func=ast.Attribute(attr="import_module")):
                yield node.lineno, "an import by name"


def test_the_whole_program_is_looked_at() -> None:
    names = {module.name for module in modules()}
    assert {"ranking.ranker", "collectors.process", "candidates.cli.app", "candidates.main"} <= names


def test_dependence_runs_one_way() -> None:
    wrong = [
        f"{module.name}:{line} imports {name}"
        for module in modules()
        for line, name in imported(module.tree)
        if name in {"a relative import", "an import by name"}
        or ((root := name.partition(".")[0]) in {*PACKAGES, "tests"} and root not in MAY_IMPORT[module.package])
    ]
    assert wrong == []


@cache
def own_imports(module: Module) -> set[str]:
    """The modules of the program that one imports, wherever: inside functions and for the type checker as well."""
    names = {m.name for m in modules()}
    found = set()
    for node in ast.walk(module.tree):
        match node:
            case ast.Import(names=aliases):
                found |= {alias.name for alias in aliases}
            case ast.ImportFrom(module=str(source), names=aliases):
                parts = {f"{source}.{alias.name}" for alias in aliases} & names
                found |= parts or {source}
    return (found & names) - {module.name}


def room_of(name: str) -> tuple[str, str]:
    """The package of a module, and the room in it."""
    package, _, rest = name.partition(".")
    if rest.startswith("explain.page"):
        return package, "explain.page"
    return package, rest.partition(".")[0] or "__init__"


def floor_of(package: str, room: str) -> int:
    floors = [number for number, rooms in enumerate(FLOORS[package]) if room in rooms.split()]
    assert len(floors) == 1, f"{package}.{room} has no floor"
    return floors[0]


def test_every_room_stands_on_lower_floors() -> None:
    wrong = [
        f"{module.name} imports {name}"
        for module in modules()
        if module.package in FLOORS
        for name in own_imports(module)
        if name.partition(".")[0] == module.package and room_of(name) != room_of(module.name)
        if floor_of(*room_of(name)) >= floor_of(*room_of(module.name))
    ]
    assert wrong == []


def test_every_room_has_a_floor_and_every_floor_its_rooms() -> None:
    for package, floors in FLOORS.items():
        rooms = {room_of(module.name)[1] for module in modules() if module.package == package}
        assert rooms == set(" ".join(floors).split())


def test_the_command_line_declares_and_the_commands_do() -> None:
    wrong = [
        f"{module.name} imports {name}"
        for module in modules()
        if room_of(module.name) == ("candidates", "cli")
        for name in own_imports(module)
        if room_of(name)[0] == "candidates" and room_of(name)[1] not in THE_COMMAND_LINE_MAY_IMPORT
    ]
    assert wrong == []


def test_no_module_needs_itself() -> None:
    """Not even by an import inside a function: `CycleError` names the modules."""
    order = tuple(TopologicalSorter({module.name: own_imports(module) for module in modules()}).static_order())
    assert order.index("ranking.facts") < order.index("candidates.main")


def test_a_unit_test_lies_where_its_module_does() -> None:
    names = {module.name for module in modules()}
    lost = []
    for package in FLOORS:
        for path in sorted((ROOT / "tests" / package).rglob("test_*.py")):
            folder = ".".join(path.parent.relative_to(ROOT / "tests").parts)
            words = path.stem.removeprefix("test_").split("_")
            if not any(f"{folder}.{'_'.join(words[:end])}" in names for end in range(1, len(words) + 1)):
                lost.append(str(path.relative_to(ROOT)))
    assert lost == []


def test_ranking_takes_nothing_from_outside_that_could_tell_it_more_than_the_facts() -> None:
    wrong = [
        f"{module.name}:{line} imports {name}"
        for module in modules()
        if module.package == "ranking"
        for line, name in imported(module.tree)
        if name not in RANKING_MAY_USE and name.partition(".")[0] != "ranking"
    ]
    assert wrong == []


@pytest.mark.parametrize("library", sorted(OWNERS))
def test_one_owner_a_library(library: str) -> None:
    owner = OWNERS[library]
    users = {m.name for m in modules() for _, name in imported(m.tree) if name.partition(".")[0] == library}
    assert {user for user in users if owner is None or not f"{user}.".startswith(f"{owner}.")} == set()


def test_nothing_starts_a_process_beside_the_one_owner() -> None:
    starters = frozenset("system popen fork forkpty posix_spawn posix_spawnp".split())
    wrong = [
        f"{module.name}:{node.lineno} {ast.unparse(node.func)}"
        for module in modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id in {"os", "pty", "asyncio", "multiprocessing"}
        and (node.func.attr in starters or node.func.attr.startswith(("exec", "spawn", "create_subprocess", "Process")))
    ]
    assert wrong == []


def test_imports_inside_functions_are_the_ones_that_have_a_reason() -> None:
    inside = {
        (module.name, name)
        for module in modules()
        for function in ast.walk(module.tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef)
        for _, name in imported(function)
    }
    # A declared command loads what it does when it is called: its help and its usage errors need none of it.
    inside = {(name, loaded) for name, loaded in inside if not name.startswith("candidates.cli.")}
    assert inside - IMPORTS_INSIDE_FUNCTIONS.keys() == set()
    assert IMPORTS_INSIDE_FUNCTIONS.keys() - inside == set(), "a reason without its import"


def test_no_module_keeps_state() -> None:
    wrong = [f"{module.name}:{line} {what}" for module in modules() for line, what in state(module.tree)]
    assert wrong == []


def state(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """What a module could remember between two calls: rebound or changed globals, and mutable ones.

    A dict that nobody changes is a table; a list or a set has a frozen form for that.
    """
    own = {name for node in tree.body for name in bound(node)}
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None and set(bound(node)):
            yield from ((part.lineno, ast.unparse(part)[:60]) for part in mutable_parts(node.value))
    for inner in ast.walk(tree):
        match inner:
            case ast.Global(names=names):
                yield inner.lineno, f"global {', '.join(names)}"
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()) if name in own:
                yield inner.lineno, f"{name}[...] is changed"
            case ast.Attribute(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()) if name in own:
                yield inner.lineno, f"{name}.{inner.attr} is changed"
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr)) if name in own and attr in MUTATORS:
                yield inner.lineno, f"{name}.{attr}()"


def bound(node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.Assign(targets=targets):
            # `__all__` is the import system's.
            yield from (t.id for t in targets if isinstance(t, ast.Name) and t.id != "__all__")
        case ast.AnnAssign(target=ast.Name(id=name)):
            yield name


def mutable_parts(value: ast.expr) -> Iterator[ast.expr]:
    """Lists and sets in a module-level value, unless they are only handed to a call that freezes them."""
    match value:
        case ast.List() | ast.Set() | ast.ListComp() | ast.SetComp():
            yield value
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in MUTABLE_CALLS:
            yield value
        case ast.Tuple(elts=parts):
            for part in parts:
                yield from mutable_parts(part)
        case ast.Dict(values=parts):
            for part in parts:
                yield from mutable_parts(part)


def test_only_pure_parsers_remember_their_answers() -> None:
    kept = {
        (module.name, node.name)
        for module in modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for decorator in node.decorator_list
        if "cache" in ast.unparse(decorator)
    }
    assert kept == MEMOS_OF_PURE_PARSERS | MEMOS_OF_OWN_FILES


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("A = []", ["[]"]),
        ("A = ([1], 2)", ["[1]"]),
        ("A: set[int] = set()", ["set()"]),
        ("A = frozenset({1})", []),
        ("A = {'a': 1}", []),
        ("A = {'a': 1}\ndef f() -> None:\n    A['b'] = 2", ["A[...] is changed"]),
        ("A = {'a': 1}\ndef f() -> None:\n    A.update(b=2)", ["A.update()"]),
        ("A = 1\ndef f() -> None:\n    global A\n    A = 2", ["global A"]),
        ("def f() -> None:\n    a = []\n    a.append(1)", []),
    ],
)
def test_the_look_for_state_finds_it(source: str, found: list[str]) -> None:
    assert [what for _, what in state(ast.parse(source))] == found
