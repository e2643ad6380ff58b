"""Which branch a remote-tracking ref stands for, by the configured refspecs."""

from __future__ import annotations

import pytest

from collectors.git.refspecs import Refspec, covers_all_branches, parse_refspec, tracking_splitter


def by_remote(specs: dict[str, str]) -> dict[str, tuple[Refspec, ...]]:
    return {name: tuple(map(parse_refspec, text.split())) for name, text in specs.items()}


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        (
            "+refs/heads/*:refs/remotes/o/*",
            Refspec(source="refs/heads/*", destination="refs/remotes/o/*", negative=False),
        ),
        (
            "main:refs/remotes/o/main",
            Refspec(source="refs/heads/main", destination="refs/remotes/o/main", negative=False),
        ),
        ("refs/tags/v1", Refspec(source="refs/tags/v1", destination="", negative=False)),
        ("HEAD:refs/x", Refspec(source="HEAD", destination="refs/x", negative=False)),
        ("^refs/heads/wip/*", Refspec(source="refs/heads/wip/*", destination="", negative=True)),
    ],
)
def test_parse(text: str, spec: Refspec) -> None:
    assert parse_refspec(text) == spec


@pytest.mark.parametrize(
    ("texts", "all_of_them"),
    [
        ("+refs/heads/*:refs/remotes/o/*", True),
        ("+refs/*:refs/*", True),
        ("+refs/heads/main:refs/remotes/o/main", False),
        ("+refs/heads/*:refs/remotes/o/* ^refs/heads/wip/*", False),
        ("+refs/heads/release/*:refs/remotes/o/release/*", False),
        ("refs/heads/*", False),
        ("", False),
    ],
)
def test_coverage(texts: str, all_of_them: bool) -> None:  # noqa: FBT001 - a parameter of the table
    assert covers_all_branches([parse_refspec(text) for text in texts.split()]) is all_of_them


@pytest.mark.parametrize(
    ("remote", "specs", "refname", "branch"),
    [
        ("o", {"o": "+refs/heads/*:refs/remotes/o/*"}, "refs/remotes/o/release/1.2", "release/1.2"),
        ("o", {"o": "+refs/heads/*:refs/remotes/o/*"}, "refs/remotes/other/main", None),
        ("o", {"o": "+refs/heads/*:refs/remotes/o/*"}, "refs/remotes/o/", None),
        # A remote's name may hold a slash, and another remote may be the beginning of it.
        ("team/up", {"team/up": "+refs/heads/*:refs/remotes/team/up/*"}, "refs/remotes/team/up/a/b", "a/b"),
        (
            "team",
            {"team": "+refs/heads/*:refs/remotes/team/*", "team/up": "+refs/heads/*:refs/remotes/team/up/*"},
            "refs/remotes/team/up/main",
            None,
        ),
        (
            "team",
            {"team": "+refs/heads/*:refs/remotes/team/*", "team/up": "+refs/heads/*:refs/remotes/team/up/*"},
            "refs/remotes/team/upper",
            "upper",
        ),
        # What a single-branch clone's refspec does not cover, but was fetched by name.
        ("o", {"o": "+refs/heads/main:refs/remotes/o/main"}, "refs/remotes/o/main", "main"),
        ("o", {"o": "+refs/heads/main:refs/remotes/o/main"}, "refs/remotes/o/next", "next"),
        # Elsewhere, renamed on the way, and with the star in the middle.
        ("o", {"o": "refs/heads/*:refs/remotes/kept/x/*"}, "refs/remotes/kept/x/main", "main"),
        ("o", {"o": "refs/heads/trunk:refs/remotes/o/main"}, "refs/remotes/o/main", "trunk"),
        (
            "o",
            {"o": "refs/heads/*-stable:refs/remotes/o/s/*-line"},
            "refs/remotes/o/s/7-1-line",
            "7-1-stable",
        ),
        # Pull requests are no branches.
        (
            "o",
            {"o": "refs/heads/*:refs/remotes/o/* refs/pull/*/head:refs/remotes/o/pr/*"},
            "refs/remotes/o/pr/12",
            None,
        ),
        ("o", {"o": "refs/pull/*/head:refs/remotes/o/*"}, "refs/remotes/o/12", None),
        # Two remotes that store at one place: the one that is asked about.
        (
            "b",
            {"a": "refs/heads/*:refs/remotes/x/*", "b": "refs/heads/*:refs/remotes/x/*"},
            "refs/remotes/x/m",
            "m",
        ),
        # A mirror's refs are local heads and tell of no remote-tracking branch.
        ("o", {"o": "+refs/*:refs/*"}, "refs/heads/main", None),
    ],
)
def test_split(remote: str, specs: dict[str, str], refname: str, branch: str | None) -> None:
    assert tracking_splitter(remote, by_remote(specs)).branch_of(refname) == branch
