"""Fetch refspecs: which branch of which remote a remote-tracking ref stands for. Pure.

A refname is never split at its first or last slash: remotes and branches both hold slashes (git-fetch(1)).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from ranking.names import HEADS, REMOTES, remote_tracking

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


class Refspec(Struct, frozen=True, kw_only=True):
    """One fetch refspec, its `+` dropped; a negative one, or one that stores nothing, has no destination."""

    source: str
    destination: str
    negative: bool


def parse_refspec(text: str) -> Refspec:
    """One value of `remote.NAME.fetch`; a short source is a branch, as git has it for fetches by name.

    >>> parse_refspec("+refs/heads/*:refs/remotes/origin/*").destination
    'refs/remotes/origin/*'
    """
    negative = text.startswith("^")
    source, _, destination = text.lstrip("+^").partition(":")
    if source and not source.startswith("refs/") and source != "HEAD":
        source = HEADS + source
    return Refspec(source=source, destination="" if negative else destination, negative=negative)


def covers_all_branches(specs: Sequence[Refspec]) -> bool:
    """Whether a fetch under these refspecs brings every branch of the remote."""
    whole = any(s.destination and s.source in {HEADS + "*", "refs/*"} for s in specs)
    return whole and not any(spec.negative for spec in specs)


class Splitter(Struct, frozen=True):
    """What tells a remote-tracking refname's branch on one remote.

    `plain`: whatever stands at the usual place, `refs/remotes/REMOTE/BRANCH`, tracks just that branch.
    """

    branch_of: Callable[[str], str | None]
    plain: bool


def tracking_splitter(remote: str, specs: Mapping[str, Sequence[Refspec]]) -> Splitter:
    """Make what tells a remote-tracking refname's branch on this remote; None: it tracks none.

    The most specific destination of any remote decides (`team/up` beside `team`; `origin/pr/*`, which is no
    branch, beside `origin/*`). What no refspec covers lies where `fetch_branches` puts it.
    """
    rules = [
        (*spec.destination.partition("*"), spec.source, owner)
        for owner, owned in specs.items()
        for spec in owned
        if spec.destination.startswith(REMOTES)
    ]
    # Longest fixed part first; at the same place the remote that is asked about.
    rules.sort(key=lambda rule: (-len(rule[0]), rule[4] != remote, rule[4], rule[3]))
    usual = remote_tracking(remote, "")
    own = (usual, "*", "", HEADS + "*", remote)
    rules.append(own)
    # Where nothing else lies at or below the usual place, what is there needs no rule to be told by.
    plain = not any(rule[0].startswith(usual) and rule != own for rule in rules)

    # A clone may hold 100,000 refs: what depends on the rule alone is worked out once.
    ready = [
        (before, bool(star), after, len(before) + len(after), owner == remote, *source.partition("*")[::2])
        for before, star, after, source, owner in rules
    ]

    def branch_of(refname: str) -> str | None:
        if plain and refname.startswith(usual):
            return refname[len(usual) :] or None
        for before, star, after, fixed, mine, head, tail in ready:
            if refname.startswith(before) if star else refname == before:
                if star and not (refname.endswith(after) and len(refname) > fixed):
                    continue
                middle = refname[len(before) : len(refname) - len(after)] if star else ""
                whole = head + middle + tail
                return whole[len(HEADS) :] if mine and whole.startswith(HEADS) else None
        return None

    return Splitter(branch_of, plain)
