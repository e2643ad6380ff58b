"""No pattern of the program tries one text in many ways: read from its parse tree, for seconds would drift.

Two repeats without a bound, with nothing between them that their common characters cannot be, divide one run among
them in as many ways as it is long; and so does a search, which begins anew at each character. Where a tree says less
than the truth, ARGUED says why the pattern is linear all the same.
"""

from __future__ import annotations

import ast
import importlib
import re
from collections import defaultdict
from dataclasses import dataclass
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import TYPE_CHECKING, Any, Literal

import pytest

from tests.test_architecture import modules

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ALPHABET = [*map(chr, range(128)), *"\x85\xa0\xe9\u0130\u2014\u2028\uff18"]
EVERY = frozenset(ALPHABET)

ARGUED = {
    "candidates.run.work._NUMBERS": "nothing has to follow the digits, so none is tried twice",
    "ranking.versions._NUMBERS": "nothing has to follow a wildcard, so none is tried twice",
    "ranking.record._ISSUE_KEY": "it begins at the name's start or behind a slash, which no part of it holds",
    "ranking.versions._ISSUE_KEY": "the one dash is in no part, so a text is divided in one way",
    "collectors.config.keys._LANGUAGE": "each round begins with a mark that none of it holds",
    "collectors.github.facts._UNSHOWN": "what was begun ends at the text's end at the latest, a tick's at the line's",
}

Use = Literal["search", "match", "fullmatch"]
_ANCHORED = frozenset({"match", "fullmatch"})


@dataclass(frozen=True)
class Part:
    """One step of a way through a pattern: its characters; whether it may be left out; whether it repeats freely."""

    chars: frozenset[str]
    needed: bool
    free: bool = False


Way = tuple[Part, ...]


def ways(tree: Iterable[Any], flags: int) -> list[Way]:
    """Every way through a tree, its alternatives one by one; what looks about and takes nothing is left out."""
    found: list[Way] = [()]
    for kind, value in tree:
        steps = list(dict.fromkeys(_ways_of(kind, value, flags)))
        found = [way + step for way in found for step in steps][:4000]
    return found


def _ways_of(kind: Any, value: Any, flags: int) -> Iterator[Way]:  # noqa: ANN401 - the parser is untyped
    if kind in (op.LITERAL, op.NOT_LITERAL, op.IN, op.ANY, op.CATEGORY):
        yield (Part(characters(kind, value, flags), needed=True),)
    elif kind is op.BRANCH:
        for branch in value[1]:
            yield from ways(branch, flags)
    elif kind is op.SUBPATTERN:
        yield from ways(value[3], flags | value[1])
    elif kind is op.ATOMIC_GROUP:
        yield from ways(value, flags)
    elif kind is op.GROUPREF:
        yield (Part(EVERY, needed=False),)
    elif kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
        least, most, body = value
        yield from _repeated(ways(body, flags), least=least, most=most)
    else:
        assert kind in (op.AT, op.ASSERT, op.ASSERT_NOT), kind
        yield ()


def _repeated(rounds: list[Way], *, least: int, most: int) -> Iterator[Way]:
    """A round is gone wholly or not at all; twice, so that what ends one round meets what begins the next."""
    if least == 0:
        yield ()
    free = most is op.MAXREPEAT
    begun: frozenset[str] = frozenset()
    for way in rounds:
        if len(way) == 1 and free and not way[0].free:
            yield (Part(way[0].chars, way[0].needed and least > 0, free=True),)
        else:
            yield from ((way + way,) if free else (way, way + way) if most > 1 else (way,))
        # Two ways to begin a round with one character: `(?:a|aa)+`.
        if free and way and begun & way[0].chars:
            yield (Part(begun & way[0].chars, needed=False, free=True),) * 2
        begun |= way[0].chars if way else begun


def characters(kind: Any, value: Any, flags: int) -> frozenset[str]:  # noqa: ANN401 - likewise
    """The characters of the alphabet that one step takes: asked of the real engine."""
    state = parser.State()
    state.flags = flags & ~re.VERBOSE
    state.str = ""
    one = parser.SubPattern(state, [(kind, value)])
    compiled = re._compiler.compile(one, flags & (re.IGNORECASE | re.ASCII | re.DOTALL | re.UNICODE))  # type: ignore[attr-defined]
    return frozenset(c for c in ALPHABET if compiled.fullmatch(c))


def ambiguity(pattern: re.Pattern[Any], use: Use) -> str | None:
    """Where two repeats may divide one run of characters among them; None: nowhere."""
    text = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    flags = pattern.flags | (0 if isinstance(pattern.pattern, str) else re.ASCII)
    tree = parser.parse(text, flags)
    begins = bool(len(tree)) and (tree[0][0] is op.AT or tree[0][0] in (op.ASSERT_NOT, op.ASSERT))
    before = (Part(EVERY, needed=False, free=True),) if use == "search" and not begins else ()
    end = (Part(frozenset(), needed=True),) if use == "fullmatch" else ()
    for way in ways(tree, flags):
        parts = before + way + end
        for one, left in enumerate(parts):
            for other in range(one + 1, len(parts)):
                right = parts[other]
                if not (left.free and right.free):
                    continue
                shared = left.chars & right.chars
                between = parts[one + 1 : other]
                if not shared or any(p.needed and not p.chars & shared for p in between):
                    continue
                # What has nothing left to fail at takes the run, and goes on behind it.
                if not any(p.needed for p in parts[other + 1 :]):
                    continue
                return f"parts {one - len(before)} and {other - len(before)} share {''.join(sorted(shared))[:20]!r}"
    return None


def _uses() -> dict[str, set[str]]:
    """What is called on names, in whichever module."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for module in modules():
        for node in ast.walk(module.tree):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attribute)):
                    found[name].add(attribute)
    return found


def patterns() -> Iterator[tuple[str, re.Pattern[Any], Use]]:
    """Every compiled pattern of the program with its name and how it is used; of a table's the most is supposed."""
    used = _uses()
    for module in modules():
        for name, value in vars(importlib.import_module(module.name)).items():
            uses = used.get(name, set())
            use: Use = "search"
            if uses and uses <= _ANCHORED:
                use = "fullmatch" if "fullmatch" in uses else "match"
            for place, found in enumerate(_compiled(value)):
                yield f"{module.name}.{name}" + (f"[{place}]" if found is not value else ""), found, use


def _compiled(value: object) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from _compiled(part)


PATTERNS = {name: (pattern, use) for name, pattern, use in patterns()}


def test_the_patterns_are_found() -> None:
    assert {
        "ranking.versions._NUMBERS",
        "collectors.remote_url._USERINFO",
        "collectors.git.failures._FAILURES[4]",
    } <= set(PATTERNS)


@pytest.mark.parametrize("name", sorted(PATTERNS))
def test_no_pattern_divides_one_run_in_many_ways(name: str) -> None:
    found = ambiguity(*PATTERNS[name])
    assert (found is None) == (name not in ARGUED), found or "an argument without its pattern"


@pytest.mark.parametrize(
    ("pattern", "use"),
    [
        (r"\s*[-_\s]\s*x", "fullmatch"),
        (r"(a+)+b", "match"),
        (r"(?:a|aa)+b", "match"),
        (r"(?:a{1,2})+b", "match"),
        (r"[a-z]+-?[a-z]+", "fullmatch"),
        (r"(?:/[^/]+)*?/(?:projects/(?:.*/)?)?issues/", "search"),
        (r"Repository.* not found", "search"),
        (r"[A-Za-z0-9][A-Za-z0-9+.-]*::", "search"),
        (r"\S*@", "search"),
    ],
)
def test_the_look_for_ambiguity_finds_it(pattern: str, use: Use) -> None:
    assert ambiguity(re.compile(pattern), use) is not None


@pytest.mark.parametrize(
    ("pattern", "use"),
    [
        (r"(?:/[^/]+)*/browse/x", "fullmatch"),
        (r"(?:[A-Za-z]+[-_]+)*v?[0-9]+", "fullmatch"),
        (r"[A-Za-z0-9_]+(?:[-./+][A-Za-z0-9_]+)*", "fullmatch"),
        (r"[a-z]+-?[a-z]+", "match"),
        (r"\S+", "search"),
        (r"'[^']*'", "search"),
        (r"a.{0,80} not found", "search"),
    ],
)
def test_and_finds_none_where_there_is_none(pattern: str, use: Use) -> None:
    assert ambiguity(re.compile(pattern), use) is None
