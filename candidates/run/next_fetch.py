"""Choose what to fetch next: the lines whose releases decide, the chosen branch, and those that the choice depends on.

Pure: what the passes have seen so far in, the next fetch out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from candidates.run.names import listed_name
from candidates.run.one_pass import Pass, RunInputs, branch_in
from collectors.config.keys import Refresh
from collectors.git.refs import RemoteAnswer, RemoteChoice
from ranking.facts import Branch, Failure
from ranking.listing import development_names
from ranking.names import name_problem
from ranking.unlooked import unlooked_lines

# The lines whose releases nobody has seen, the chosen ref, the contenders that it depends on, and one more where what
# was read changed the choice.
_MOST_FETCHES = 4

# Of lines that were never fetched and could carry the release that decides, so many are brought, in one fetch.
_MOST_LINES = 8


class Fetch(Struct, frozen=True, kw_only=True):
    """Branches to fetch at once.

    `whole`: with every other branch of the remote. `lines`: because one of them may carry the release that decides.
    """

    remote: RemoteChoice
    names: tuple[str, ...]
    whole: bool = False
    lines: bool = False


class FetchResult(Struct, frozen=True, kw_only=True):
    """One fetch that was made, and why some of it may not have come."""

    fetch: Fetch
    failure: Failure | None

    def settles(self, name: str) -> bool:
        """Whether fetching that branch again would give the same; of several that failed it may come alone."""
        if self.failure is None:
            return self.fetch.whole or name in self.fetch.names
        return self.fetch.names == (name,) and not self.fetch.whole


def next_fetch(
    inputs: RunInputs, seen: Pass, results: Sequence[FetchResult], *, base: str | None, refresh: Refresh
) -> Fetch | None:
    """Return the next fetch, None if nothing is left to fetch.

    `results`: the fetches so far. `base`: the branch that the caller has chosen already. After a failure only the
    chosen branch is fetched.
    """
    if inputs.choice is None or not isinstance(inputs.answer, RemoteAnswer) or len(results) == _MOST_FETCHES:
        return None
    failed = any(result.failure for result in results)
    # Once is enough: what moved on the remote meanwhile is not what it listed, however often it is fetched.
    lines = not failed and not any(result.fetch.lines for result in results)
    names = _unsettled(_unlooked(inputs, seen, base, refresh), results) if lines else ()
    if names:
        return Fetch(remote=inputs.choice, names=names, whole=refresh == "all", lines=True)
    names = _unsettled(chosen(seen, base) if failed else _needed(seen, base, refresh), results)
    return Fetch(remote=inputs.choice, names=names, whole=refresh == "all" and not failed) if names else None


def chosen(seen: Pass, base: str | None) -> list[str]:
    """The one branch that has to be here, if it is not."""
    listing = seen.facts.refs
    remote = seen.facts.repository.remote
    given = listed_name(base, remote, lambda name: branch_in(listing, name) is not None) if base is not None else None
    branch = branch_in(listing, given) or branch_in(listing, seen.resolution.branch)
    return [branch.name] if branch is not None and _behind(branch) else []


def all_behind(seen: Pass) -> list[str]:
    """Every branch whose advertised tip is not here."""
    return [b.name for b in seen.facts.refs.branches if _behind(b) and name_problem(b.name) is None]


def _unsettled(names: Iterable[str], results: Sequence[FetchResult]) -> tuple[str, ...]:
    return tuple(name for name in names if not any(result.settles(name) for result in results))


def _needed(seen: Pass, base: str | None, refresh: Refresh) -> list[str]:
    """The branches whose tip has to be here: the chosen one, and a development branch that may not be alive."""
    if refresh in ("none", "probe"):
        return []
    if refresh == "all":
        return all_behind(seen)
    default, *development = (
        branch_in(seen.facts.refs, name)
        for name in (seen.facts.repository.default_branch, *development_names(seen.view.listed.default))
    )
    contenders = [b for b in development if b is not None and b != default][:1]
    pair = (*contenders, default) if contenders and default is not None else ()
    undated = [b.name for b in pair if b.date_state == "object-missing" and _behind(b)]
    return sorted({*chosen(seen, base), *undated})


def _unlooked(inputs: RunInputs, seen: Pass, base: str | None, refresh: Refresh) -> list[str]:
    """The lines to bring because one of them may carry the release on which the answer hangs.

    Never where that could not change the answer, nor into a shallow clone, in which lineage is not read.
    """
    given = base is not None or (seen.resolution.source == "remembered" and inputs.settings.on_conflict == "remembered")
    if given or inputs.checkout.shallow or refresh in ("none", "probe"):
        return []
    unlooked = (branch_in(seen.facts.refs, name) for name in unlooked_lines(seen.facts, seen.view))
    lines = [b.name for b in unlooked if b is not None and _behind(b)][:_MOST_LINES]
    default = branch_in(seen.facts.refs, seen.facts.repository.default_branch)
    # A release sits on a line or on the default's: without the default's tip nobody can tell which.
    if lines and default is not None and default.cached_tip is None:
        lines.append(default.name)
    return sorted({name for name in lines if name_problem(name) is None})


def _behind(branch: Branch) -> bool:
    return branch.tip is not None and branch.tip != branch.cached_tip
