"""Every number of the score, each with the sentence that explains it.

Decisive evidence (`issue-version`, `linked-release`) is worth more than all else together. Beside it everything
else is shown with 0 points: recency and order must not break a tie between two versions of one issue.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

ISSUE_VERSION: Final = 100
"""What a branch gets that takes the issue's own version, before the points of its signals (`points`)."""

RIVAL: Final = 4
"""Branches that are at most so many times less likely than the likeliest tie with it, if it is not sure by itself."""

TIED: Final = 0.8
"""The share of ties in recorded histories whose first branch was right: often the others were, too."""

FORESEEN: Final = 0.996
"""The share of answers in recorded histories that the evidence can foretell: no confidence is higher than this."""

LINKED_RELEASE: Final = 90
"""A linked pull request, release item or parent says so; the issue's own version goes before it."""

INHERITED_STEP: Final = 5
"""What each further level between the issue and the one that it inherits from takes away."""

INHERITED_LEAST: Final = 75
"""What is left of it from however far up: more than all that decides nothing."""

ALSO_WANTED: Final = 100
"""Another version of the same issue is not cut yet and would go here: as good a claim, so it ties."""

REPO_DEFAULT: Final = 30
"""Where work goes when nothing else is said: the development branch."""

SERVER_DEFAULT: Final = 20
"""The server's default branch, where another one is the development branch."""

NOT_CUT_YET: Final = 15
"""The version is newer than every line, or its line was released from here so far: no branch is cut for it."""

RUNNER_UP: Final = 12
"""This branch would take the version too; another one takes it more closely."""

WEAK_MATCH: Final = 6
"""The name comes near the version and nothing stands beside it: not enough to act on."""

AFFECTED: Final = 4
"""The version is said to be affected: a hint for a later backport, never a target."""

MENTIONED: Final = 3
"""Something linked points here, and the issue's own version points elsewhere or the link says too little."""

RECENT: Final = 12
"""The most recent choice of a person for this project; each older one gets less."""

RECENT_STEP: Final = 2
"""How much less."""

SORT_ORDER: Final = 8
"""First in the default order; each later place gets one less, down to none."""

CONVENTION: Final = 2
"""The name stands under the repository's dominant template."""

LISTED: Final = 5
"""The remote itself listed it in this run."""

CACHED: Final = 1
"""Only this clone knows it: the remote did not answer."""

PRIORS: Final[Mapping[str, int]] = {
    "beside-closer": -20,
    "beside-plain": -40,
    "moved|unnamed": -60,
    "number-of-something": -60,
    "out|inside": -40,
    "phase": -20,
    "product|not-named": -60,
    "product|other": -35,
    "short": -60,
    "spelled": 40,
}
"""Points that are not fitted: for what is too rare in recorded histories, and for what the contract decides.

Where nothing is released, a word beside plain lines names a product. A label's product word excludes other branches.
Two numbers that are newer than all may begin a line, which no branch without a version in its name takes for sure.
Where no release speaks for it, a wider name is no closer than a narrower one. A branch from which newer lines were
released is no longer the branch of an older one, unless it is named for it; one that is named for a made release does
not take the next. A name that is spelled like the label is meant.
"""

SENTENCES: Final[Mapping[str, str]] = {
    "beside-closer": "another branch is named for the line more closely",
    "spelled": "its name is spelled like the label",
    "moved": "newer lines were released from it since",
    "phase": "its name has the word of a pre-release",
    "number-of-something": "the one number in its name may count something else, and nothing is released",
    "short": "the version is newer than all and may begin a line",
    "bare": "its name has one number only",
    "once": "it carries one release only",
    "out": "it is named for one release, which has been made",
    "work": "it looks like a work branch",
    "tail": "more numbers follow the version in its name",
    "product|asked": "it is named for the product of the label",
    "product|other": "its name has the word of another product",
    "product|not-named": "other branches are named for the product of the label",
    "beside-plain": "other lines have no such word, and nothing is released that could tell what it means",
    "beside-exact": "another branch is named for exactly this version",
    "pattern": "automation files name it",
}
"""What a signal says in evidence, by its code or the first part of its code; the others are phrased in `match`."""
