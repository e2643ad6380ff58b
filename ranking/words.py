"""The words of branch names: which tell a kind of branch, which name a product, which mark work in progress.

Closed lists of the field's own vocabulary. No project's name stands here.
"""

from __future__ import annotations

import re
from functools import lru_cache

# Family words: they say "this is a line of releases" and tell no product apart.
FAMILY = frozenset(
    """
    release releases rel branch branches stable maint maintenance unmaintained support lts version ver v line series
    fixes hotfixes patches dev devel develop development next main mainline master trunk current prod production
    ga final sp alpha beta rc pre preview snapshot milestone security legacy old eol
    """.split()
)

# Shorter ones run together in any word.
_SHORTEST_PART = 4
_LONGEST_PAIR = 2 * max(map(len, FAMILY))

# Where a branch stands for new work when nothing else is said.
DEVELOPMENT = ("develop", "development", "dev")
TRUNKS = ("main", "master")

# A work branch: somebody's change on its way, never where a change goes. Anchored at the start of the name.
WORK_PREFIXES = tuple(
    """
    feature/ features/ feat/ bugfix/ bugfixes/ fix/ fixes/ hotfix/ chore/ bug/ task/ issue/ topic/ wip/ users/ user/
    docs/ test/ tests/ refactor/ dependabot/ renovate/ mergify/ gh-readonly-queue/ copilot/ backport backports/
    cherry-pick cherrypick revert-
    """.split()
)

# What a hosting site names the branch of an edit made in the browser: `somebody-patch-1`.
_WEB_EDIT = re.compile(r"(?:^|[-_/])(?:patch|pr|issue)-[0-9]+$|^pull/")


@lru_cache(maxsize=1 << 12)
def is_family(word: str) -> bool:
    """Whether a word, or two of them run together, is the field's own for a line of releases.

    >>> is_family("release"), is_family("releasebranch"), is_family("openshift")
    (True, True, False)
    """
    if word in FAMILY or len(word) > _LONGEST_PAIR:
        return word in FAMILY
    return any(word[:i] in FAMILY and word[i:] in FAMILY for i in range(_SHORTEST_PART, len(word) - _SHORTEST_PART + 1))


def is_work_branch(name: str, prefixes: tuple[str, ...] | None) -> bool:
    """Whether a name is a work branch's; `prefixes`, in lower case, replaces the built-in list where the user gave one.

    >>> is_work_branch("feature/8.4-export", None), is_work_branch("release/8.4", None)
    (True, False)
    """
    lowered = name.lower()
    if prefixes is not None:
        return lowered.startswith(prefixes)
    return lowered.startswith(WORK_PREFIXES) or bool(_WEB_EDIT.search(lowered))
