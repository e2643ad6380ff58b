"""`candidates`: a list of branches in, the evidence record out; nothing is asked, nothing looked at."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import datetime
from typing import Literal

import msgspec
from msgspec import Struct

from candidates.commands.session import now as this_moment
from candidates.contract import UNNAMED
from candidates.run.filed_issue import read_filed_issue
from candidates.terminal import print_record
from collectors.errors import InvalidInput
from collectors.input_file import STANDARD_INPUT, read_input
from ranking.facts import Branch, Facts, Issue, IssueVersion, Provenance, RefListing, Repository
from ranking.names import name_problem
from ranking.ranker import rank

_POINTS = " -> "


class Listed(Struct, frozen=True, kw_only=True):
    """What the input lists: the branches' short names, and the default branch if a symbolic HEAD names it."""

    names: tuple[str, ...]
    default: str | None = None


def candidates(issue: str | None, versions: Sequence[str], remote: str, provenance: str) -> None:
    """Rank the branches on standard input for an issue."""
    if issue == STANDARD_INPUT:
        raise InvalidInput("standard input holds the branches", where="--issue", hint="--issue FILE")
    data, what = read_input(STANDARD_INPUT, sys.stdin.buffer, "the branches")
    found = read_filed_issue(issue, sys.stdin.buffer) if issue is not None else None
    print_record(rank(facts_of(parse_list(data, remote, what), found, versions, remote, provenance, this_moment())))


def facts_of(
    listed: Listed, issue: Issue | None, versions: Sequence[str], remote: str, provenance: str, now: datetime
) -> Facts:
    """The facts that a list of names makes: what was not handed over was not asked."""
    source: Provenance | Literal[""] = "local" if provenance == "local" else "remote" if provenance == "remote" else ""
    if source == "":
        raise InvalidInput(f"unknown provenance {provenance!r}", where="--provenance", hint="--provenance remote|local")
    named = tuple(IssueVersion(name=name, field="fixVersions", role="fix") for name in versions)
    if named:
        issue = issue or Issue(key=UNNAMED, read="answered")
        issue = msgspec.structs.replace(issue, versions=(*issue.versions, *named))
    return Facts(
        schema="base-branch/bundle@1",
        now=now,
        repository=Repository(
            name="repository",
            remote=remote,
            default_branch=listed.default,
            default_branch_state="cached" if listed.default else "not-asked",
        ),
        refs=RefListing(
            provenance=source, complete=source == "remote", branches=tuple(map(Branch, sorted(listed.names)))
        ),
        issue=issue,
    )


def parse_list(data: bytes, remote: str, what: str = "the branches") -> Listed:
    r"""Read `git branch -r` lines or a JSON list of names. Raises InvalidInput for anything else.

    >>> parse_list(b"  origin/HEAD -> origin/main\n  origin/main\n  origin/release/8.4\n", "origin")
    Listed(names=('main', 'release/8.4'), default='main')
    """
    try:
        text = data.decode()
        names = msgspec.json.decode(data, type=list[str]) if text.lstrip().startswith("[") else text.splitlines()
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{what} must be lines of `git branch -r`, or a JSON list of names: {error}") from error
    default, found = None, dict[str, None]()
    for line in names:
        name, points, target = line.removeprefix("*").strip().partition(_POINTS)
        if points:
            default = _short(target, remote)
        elif name and (short := _short(name, remote)) != "HEAD":
            if why := name_problem(short):
                raise InvalidInput(f"{what}: {short!r} can be no branch: {why}")
            found[short] = None
    return Listed(names=tuple(found), default=default)


def _short(name: str, remote: str) -> str:
    """The branch's name on the remote, of a remote-tracking name or a full refname."""
    return name.removeprefix("refs/heads/").removeprefix("refs/").removeprefix("remotes/").removeprefix(f"{remote}/")
