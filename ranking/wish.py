"""What a version label asks for beside its numbers: which product, and which tail.

A word binds only where something here carries it: a branch, a release tag, or the initials of one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from msgspec import Struct

from ranking.conventions import Conventions, Line
from ranking.lines import Lineage
from ranking.versions import Reading
from ranking.words import is_family

# How many lines a module's newest release may be behind the whole's and still be released with it.
_SAME_TRAIN = 3

_WORD = re.compile("[a-z]+")


class Wish(Struct, frozen=True):
    """What a label asks for beside its numbers: the product as branches and as tags name it, and the tail.

    `foreign`: the words that nothing here carries; they bind nothing.
    """

    on_branches: frozenset[str]
    on_tags: frozenset[str]
    tail: tuple[int, ...]
    foreign: tuple[str, ...]

    def binds(self, line: Line) -> bool:
        """Whether the branch is of the product that the label names."""
        return line.product == self.on_branches and line.tail == self.tail


def read_wish(wanted: Reading, conventions: Conventions, lineage: Lineage) -> Wish:
    """Read a label's words against what the branches and the release tags carry."""
    words = [w for w in wanted.words if not is_family(w) and w not in conventions.neutral]
    lines = conventions.lines.values()
    carried = {w for line in lines for w in line.product}
    on_tags = _bound(words, lineage.words, lineage)
    on_branches = _bound(words, carried, lineage) or _only_product(conventions, lineage)
    tails = {line.tail for line in lines}
    # What follows the number with a dash (`17-pool`) is a remark; other words make a bare number something else.
    remark = wanted.after.startswith("-")
    beside = words[: len(words) - len(_WORD.findall(wanted.after.lower()))] if remark else words
    return Wish(
        on_branches=on_branches,
        on_tags=on_tags,
        tail=wanted.tail if wanted.tail in tails or lineage.releases(on_tags, wanted.tail) else (),
        foreign=tuple(w for w in beside if w not in carried and w not in lineage.words),
    )


def _only_product(conventions: Conventions, lineage: Lineage) -> frozenset[str]:
    """The one product that all lines are named for: its word tells nothing apart, so a label need not name it."""
    products = {line.product for line in conventions.lines.values() if line.covering}
    if len(products) != 1:
        return frozenset()
    only = products.pop()
    # Release tags without the word speak of something else than the branches that carry it.
    return only if not lineage.majors or only <= lineage.words else frozenset()


def counts_by_itself(wish: Wish, lineage: Lineage) -> bool:
    """Whether the label is of a module whose versions are not the branches' versions.

    A module that no branch is named for may be released with the whole (`go/v10.0.0` beside `v10.0.0`) or count
    by itself. The newest releases tell: with the whole they are of one line.
    """
    if wish.on_tags == wish.on_branches:
        return False
    module = lineage.releases(wish.on_tags, wish.tail)
    whole = lineage.releases(wish.on_branches, wish.tail)
    if not module or not whole:
        return False
    lines = list(dict.fromkeys(r.version.numbers[:2] for r in reversed(whole)))
    return module[-1].version.numbers[:2] not in lines[:_SAME_TRAIN]


def _bound(words: Sequence[str], known: AbstractSet[str], lineage: Lineage) -> frozenset[str]:
    """Of a label's words those that something here carries: a word that nothing carries binds nothing."""
    product = frozenset(words) & (known | lineage.abbreviations.keys())
    return lineage.abbreviations.get(next(iter(product)), product) if len(product) == 1 else product
