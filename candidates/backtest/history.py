"""A repository's own history as the backtest asks it: branches and when they began, tags with dates and branches.

Read from this clone alone: the remote-tracking refs where there is a remote, else the local heads.
"""

from __future__ import annotations

from datetime import datetime

from candidates.backtest.backtest import History
from collectors.errors import SetupError
from collectors.git.local_refs import LocalRefs, read_local_refs
from collectors.git.objects import read_creator_dates, read_dates, read_lineage
from collectors.git.refs import RemoteQuestion, choose_remote
from collectors.git.repository import Checkout, open_repository, read_config
from collectors.process import Git
from collectors.remote_url import owner_and_name
from ranking.facts import Tag
from ranking.names import HEADS, BranchName, Oid


def read_history(git: Git, remote: str | None) -> History:
    """Walk the graph once. SetupError where the clone cannot tell: shallow, or its default branch not known."""
    checkout, config = open_repository(git), read_config(git)
    choice = choose_remote(config, remote)
    if isinstance(choice, RemoteQuestion):
        names = ", ".join(choice.names)
        raise SetupError(
            f"{choice.reason}: {names}", code="remote-undecided", hint="base-branch backtest --remote NAME"
        )
    local = read_local_refs(git, choice.name if choice else None, config)
    tips = local.newest or local.heads
    default = _default(checkout, local)
    if default not in tips:
        where = choice.name if choice else "origin"
        raise SetupError(
            f"the default branch of {checkout.top or checkout.common_dir} is not known here",
            code="no-default-branch",
            hint=f"git remote set-head {where} --auto",
        )
    lineage = read_lineage(
        git,
        checkout.git_dir,
        {BranchName(name): Oid(oid) for name, oid in tips.items()},
        {name: Oid(oid) for name, oid in local.tags.items() if oid is not None},
        BranchName(default),
        timeout=600.0,
    )
    if lineage.state != "read":
        message = f"the history cannot be read: {lineage.detail}"
        raise SetupError(message, code="history-unreadable", hint="git fetch --unshallow")
    made = read_creator_dates(git)
    dates = read_dates(git, checkout.git_dir, map(Oid, tips.values()))
    began: dict[str, datetime | None] = {}
    for name, oid in tips.items():
        line = lineage.lines.get(BranchName(name))
        # A branch without commits of its own cannot be older than the commit that it stands on.
        began[name] = line.began if line is not None else dates.get(Oid(oid))
    named = owner_and_name(choice.url) if choice and choice.url else None
    return History(
        repository=named or checkout.name,
        default=default,
        began=began,
        tags=tuple(
            Tag(
                name=name,
                created_at=made.get(name),
                branches=lineage.tags.get(name),
                merged_into=merged.branches if (merged := lineage.merged.get(name)) else None,
            )
            for name in sorted(local.tags)
        ),
        merged_at={name: merged.at for name, merged in lineage.merged.items() if merged.at is not None},
    )


def _default(checkout: Checkout, local: LocalRefs) -> str:
    if local.newest:
        return local.cached_default or ""
    return (checkout.head or "").removeprefix(HEADS)
