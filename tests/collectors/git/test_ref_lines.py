"""git's lists of refs, read as a whole: what stands where, in whatever order it comes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.errors import SetupError
from collectors.git.ref_lines import PEELED, parse_ref_lines
from ranking.names import HEADS, REMOTES, TAGS
from tests.ranking.facts_builder import unhurried

A, B, C = "a" * 40, "b" * 40, "c" * 64

NAMES = st.sampled_from(
    ["main", "refs/heads/main", "origin/main", "origin/x/y", "v1", "v1" + PEELED, "a^{}b", "\u2028"]
)
PREFIXES = st.sampled_from([HEADS, TAGS, REMOTES, "refs/notes/", "refs/pull/"])
ROWS = st.lists(st.tuples(st.sampled_from([A, B, C]), PREFIXES, NAMES), max_size=12)


def listing(rows: list[tuple[str, str, str]], separator: str = "\t") -> str:
    return "".join(f"{oid}{separator}{prefix}{name}\n" for oid, prefix, name in rows)


@unhurried
@given(ROWS, st.sampled_from([" ", "\t"]), st.sampled_from(["as it comes", "sorted"]))
def test_every_line_is_read_whatever_their_order(rows: list[tuple[str, str, str]], separator: str, order: str) -> None:
    rows = sorted(rows, key=lambda row: row[1:]) if order == "sorted" else rows
    listed = parse_ref_lines(listing(rows, separator), separator)
    for prefix in (HEADS, TAGS, REMOTES):
        plain = {name: oid for oid, under, name in rows if under == prefix and not name.endswith(PEELED)}
        assert listed.under(prefix) == plain
    assert listed.peeled_tags() == {name.removesuffix(PEELED): oid for oid, under, name in rows if under == TAGS}
    beside = {
        name: oid
        for oid, under, name in rows
        if under == REMOTES and not name.startswith("origin/") and not name.endswith(PEELED)
    }
    assert listed.beside(REMOTES, f"{REMOTES}origin/") == beside
    assert all(under + name in listed for _, under, name in rows)
    assert "refs/heads/mai" not in listed


@pytest.mark.parametrize(
    "text",
    [
        f"{A} {HEADS}main",  # another separator
        f"{A}\t{HEADS}a\t{HEADS}b\n{A}\n",
        f"{A}\t{HEADS}a\n\n{A}\t{HEADS}b\t\n",
        f"{A[:39]}\t{HEADS}a\n",
        f"\t{HEADS}a\n",
    ],
)
def test_what_is_no_list_of_refs_is_refused(text: str) -> None:
    with pytest.raises(SetupError, match="unknown form"):
        parse_ref_lines(text, "\t").under(HEADS)


def test_a_list_without_its_last_newline_and_one_of_nothing() -> None:
    assert parse_ref_lines(f"{A}\t{HEADS}main", "\t").under(HEADS) == {"main": A}
    assert parse_ref_lines("", "\t").under(HEADS) == {}
