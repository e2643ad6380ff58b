"""Which branches have to be looked at before the lineage can decide: a line's newest release is on none that was.

A branch that was never fetched carries its releases unseen. Its name may say nothing (a code name, a line that
moved), so the names alone cannot tell that it would be the answer.
"""

from __future__ import annotations

from ranking.facts import Facts
from ranking.match import match
from ranking.ranker import View, read_asked
from ranking.targets import read_targets


def unlooked_lines(facts: Facts, view: View | None = None) -> tuple[str, ...]:
    """The branches that could carry the release on which the issue's version hangs, the likeliest first.

    () where nothing hangs on that. First those whose tip is a tagged commit, then lines by the default order, then
    all other names but those of work branches. `view`: what `read_asked` makes of these facts, if it is at hand.
    """
    if all(tag.branches is not None for tag in facts.refs.tags):
        return ()
    targets = read_targets(facts.issue, facts.repository.name)
    view = view or read_asked(facts)
    asked = (*targets.own, *targets.inherited, *targets.released)
    if not any(match(target.reading, view.repo).unread for target in asked):
        return ()
    tagged = {tag.commit for tag in facts.refs.tags if tag.branches is None}
    place = {name: i for i, name in enumerate(view.order)}
    aside = frozenset(view.repo.conventions.work)
    able = [b for b in view.listed.branches.values() if b.name not in aside]
    able.sort(key=lambda b: (b.tip is None or b.tip not in tagged, place.get(b.name, len(place)), b.name))
    return tuple(b.name for b in able)
