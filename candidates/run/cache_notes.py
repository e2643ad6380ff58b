"""What a run learnt of this clone's idea of the remote, in words for the log: pure."""

from __future__ import annotations

from collectors.git.local_refs import LocalRefs
from ranking.listing import counted


def cache_notes(local: LocalRefs, remote: str, *, answered: bool, default: str | None) -> list[str]:
    """Say what in this clone disagrees with the remote's answer or, without one, what this clone cannot tell.

    `default`: the default branch by the remote's own word, None where it was not asked or gave none.
    """
    return _disagreements(local, remote, default) if answered else _limits(local, remote)


def _disagreements(local: LocalRefs, remote: str, default: str | None) -> list[str]:
    pointer, mend = f"refs/remotes/{remote}/HEAD", f"git remote set-head {remote} --auto"
    if local.dangling_default is not None:
        return [f"{pointer} points at {local.dangling_default}, which is not here; mend it with: {mend}"]
    if default is not None and local.cached_default not in (None, default):
        return [f"{pointer} still says {local.cached_default}; the remote's default is {default}; mend it with: {mend}"]
    return []


def _limits(local: LocalRefs, remote: str) -> list[str]:
    notes = []
    if local.covered and not local.covers_all:
        notes.append(
            f"the fetch refspecs of {remote} cover only {', '.join(local.covered[:5])}: the rest is unknown here"
        )
    kept = sorted(local.elsewhere.keys() - local.tracking.keys())
    if kept:
        first = local.elsewhere[kept[0]].refname
        notes.append(f"kept at other refs by the fetch refspecs ({first}), so that none serves: {counted(kept)}")
    return notes
