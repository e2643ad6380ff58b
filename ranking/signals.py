"""What speaks for each branch when one version is asked for: signals, each a code that `points` gives a number.

A signal is a relation between the version, a branch's name and the releases on it. Nothing here is weighed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from fnmatch import fnmatchcase
from typing import Literal

from msgspec import Struct

from ranking.facts import Branch
from ranking.record import Numbers, Product, Record, Release, covers, trimmed
from ranking.versions import FINAL, Reading, Version, read_label
from ranking.words import is_family

Name = Literal["exact", "line", "coarse", "inside", "sibling", "early", "newer", "older", "contrary", "none"]
"""How the name of a branch relates to the version.

exact: it is the version; line: it covers it as lines are named here; coarse: it covers it more widely; inside: it is
for one version of the line that is asked for; sibling: for another version of the line; early: for one pre-release;
newer, older: for another line; contrary: its releases are others than its name says; none: it has no version.
"""

Standing = Literal["newest", "merged", "some", "before", "elsewhere", "trunk", "lost", "first", "unread"]
"""Where the newest release of the version's line is, seen from a branch.

newest: on this branch; merged: it was merged into this branch first; some: this branch carries another release of the
line; before: the line has no release and this branch carries the one before; elsewhere: on another branch; trunk: on
the default branch; lost: on no listed branch; first: the line has no release; unread: nobody looked.
"""

State = Literal["held", "trunk", "lost", "none", "unread"]

# How releases are made now, not ten years ago.
_RECENT = 15
_USUAL = 20
_USUAL_SIZE = 3
# A template is judged by its record from this many branches on.
_PROVEN = 3
_MAJOR_MINOR = 2
_SHARES = ((0.0, "none"), (1 / 3, "few"), (2 / 3, "many"), (1.0, "most"))


class Candidate(Struct, frozen=True):
    """One branch with what speaks for it and against it."""

    branch: str
    name: Name
    standing: Standing
    numbers: Numbers | None
    codes: tuple[str, ...] = ()


class Line(Struct, frozen=True):
    """The releases of a version's line: the newest that is not after the version, and the branches that carry it."""

    release: Release
    branches: frozenset[str] | None
    merged: bool


class Case(Struct, frozen=True):
    """One version asked of one repository.

    `size`: how many numbers name a line here; `line`: None where the line has no release; `before`: the release just
    before the version; `newer`: whether it is newer than every release; `aside`: branches of
    the line that are for one other version of it; `trunk`, `nothing`: the signals for the
    default branch and for no branch at all.
    """

    version: Version
    product: Product
    size: int
    line: Line | None
    before: Release | None
    newest: Release | None
    newer: bool
    state: State
    candidates: tuple[Candidate, ...]
    aside: tuple[Candidate, ...]
    trunk: tuple[str, ...]
    nothing: tuple[str, ...]


class Refs(Struct, frozen=True):
    """What a case is read from: names of branches, read; what is listed; the record; the default branch.

    `work`: branches that look like work; `left_out`: those that the user's own word excludes; `beside_plain`:
    templates with a word of their own under which lines stand that are no newer than the plain ones.
    """

    record: Record
    names: Mapping[str, Reading]
    listed: Mapping[str, Branch]
    default: str | None
    work: AbstractSet[str] = frozenset()
    left_out: AbstractSet[str] = frozenset()
    patterns: tuple[str, ...] = ()
    beside_plain: AbstractSet[str] = frozenset()

    def is_beside_plain(self, branch: str) -> bool:
        """Whether the names like a branch's are no newer way to name lines, but stand beside the plain ones."""
        return branch in self.names and self.names[branch].template in self.beside_plain


def read_case(wanted: Reading, refs: Refs) -> Case:
    """Hold one version against every branch."""
    product = refs.record.product(wanted, refs.names, refs.default)
    version = product.read(wanted.version)
    size = _line_size(version, product, refs)
    line = _newest(version, size, product, refs)
    if line is None and size == len(version.numbers) > _MAJOR_MINOR and not version.wildcard:
        # Branches are named for single releases: a line is what they share.
        line = _newest(version, size - 1, product, refs)
        size -= line is not None
    newest = max(product.releases, key=lambda r: r.version.key, default=None)
    newer = newest is None or _is_after(version, newest)
    state = _state(line, refs.default)
    before = _before(version, size, product)
    case = Case(version, product, size, line, before, newest, newer, state, (), (), (), ())
    placed = [p for b in _reachable(case, refs) if (p := _place(b, case, refs)) is not None]
    candidates = tuple(_candidates([p for p in placed if _is_able(p)], wanted, case, refs))
    aside = tuple(p for p in placed if not _is_able(p))
    return Case(
        version,
        product,
        size,
        line,
        before,
        newest,
        newer,
        state,
        candidates,
        aside,
        tuple(_trunk(case, refs)),
        tuple(_nothing(case, refs)),
    )


# --- the line of the version ---


def _line_size(version: Version, product: Product, refs: Refs) -> int:
    """How many numbers name a line: by the names that carry releases, else by those that do not."""
    if version.wildcard:
        return len(version.numbers)
    named = {b: n for b, n in product.numbers.items() if b not in product.contrary}
    proven = [n for b, n in named.items() if product.hits[b]]
    covering = [len(n) for n in proven if covers(n, version.numbers)]
    shared = [k for b, rs in product.carried.items() if (k := _shared_size(b, rs, product, refs))] if not proven else []
    final = [r for r in product.releases if not r.version.prerelease]
    lengths = Counter(len(r.numbers) for r in final[-_USUAL:])
    size = max(lengths, key=lambda k: (lengths[k], k), default=_USUAL_SIZE) - 1
    if covering:
        size = max(covering)
    elif shared:
        size = max(Counter(shared), key=lambda k: (Counter(shared)[k], k))
    else:
        pool = proven or [
            n for b, n in named.items() if product.members[refs.names[b].template] > 1 and b not in refs.work
        ]
        # Names of the same major count for more: conventions change.
        votes: Counter[int] = Counter()
        for numbers in pool:
            votes[len(numbers)] += 3 if numbers[0] == version.numbers[0] else 1
        size = max(votes, key=lambda k: (votes[k], k), default=size)
    return max(1, min(size, len(version.numbers)))


def _shared_size(branch: str, releases: Sequence[Release], product: Product, refs: Refs) -> int:
    """How many numbers the releases on a branch without a version in its name share; 0 for one that rolls on."""
    own = [r.numbers for r in releases if refs.default not in (r.branches or ())]
    if branch == refs.default or branch in product.numbers or len(own) <= 1:
        return 0
    first, last = min(own), max(own)
    return next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), 0)


def _newest(version: Version, size: int, product: Product, refs: Refs) -> Line | None:
    inside = [
        r for r in product.under.get(version.numbers[:size], ()) if version.wildcard or r.version.key <= version.key
    ]
    if not inside:
        return None
    key = max(r.version.key for r in inside)
    top = [r for r in inside if r.version.key == key]
    known = [r for r in top if r.branches is not None]
    branches = frozenset(b for r in known for b in r.branches or () if b in refs.listed)
    return Line((known or top)[0], branches if known else None, all(r.merged for r in known))


def _before(version: Version, size: int, product: Product) -> Release | None:
    """The newest release before the version or, for a line, before the line."""
    if version.wildcard:
        earlier = [r for r in product.releases if r.numbers[:size] < version.numbers[:size]]
    else:
        earlier = [r for r in product.releases if r.version.key < version.key]
    return max(earlier, key=lambda r: r.version.key, default=None)


def _is_after(version: Version, newest: Release) -> bool:
    if version.wildcard:
        return version.numbers > newest.numbers[: len(version.numbers)]
    return version.key > newest.version.key


def _state(line: Line | None, default: str | None) -> State:
    if line is None:
        return "none"
    if line.branches is None:
        return "unread"
    if not line.branches:
        return "lost"
    return "trunk" if default in line.branches else "held"


# --- branches ---


def _is_able(each: Candidate) -> bool:
    """Whether a branch could take the version.

    One for a pre-release takes that alone, and so does one for a release unless its line goes on there.
    """
    carries = each.standing in ("newest", "merged", "some", "before")
    return each.name != "early" and (each.name != "sibling" or carries)


def _candidates(placed: Sequence[Candidate], wanted: Reading, case: Case, refs: Refs) -> Iterator[Candidate]:
    """The branches that could take the version, with their signals."""
    default = case.product.default_numbers or ()
    if default and covers(default, case.version.numbers):
        # The default branch is named for the line: a wider name is not closer.
        placed = [p for p in placed if p.name not in ("line", "coarse") or len(p.numbers or ()) >= len(default)]
    if any(p.name in ("exact", "line", "coarse") and p.standing in ("newest", "merged") for p in placed):
        # A named branch carries the line: others without a version were merely cut from it.
        placed = [p for p in placed if p.name != "none"]
    habit = _habit(case, refs)
    exact = any(p.name == "exact" for p in placed)
    closer = any(p.name == "line" for p in placed)
    named = _is_named(refs.record.asked(wanted), refs)
    known = frozenset(word for product in case.product.words for word in product) | refs.record.asked(wanted)
    for each in placed:
        # Where nobody looked which branches carry the line, only names can speak.
        standing = "first" if each.standing == "unread" else each.standing
        codes = [f"{each.name}|{standing}", *_moved(each, case, refs)]
        if each.name not in ("contrary", "none", "newer", "older"):
            codes += _template(each, case, refs)
            if closer and each.name == "coarse" and each.standing not in ("newest", "merged", "some"):
                codes.append("beside-closer")
            if exact and each.name in ("line", "coarse"):
                codes.append("beside-exact|" + ("carries" if each.standing in ("newest", "merged") else "lacks"))
        codes += _words(each, wanted, case, refs, known, named=named)
        if each.name not in ("newer", "older"):
            codes.append(f"habit|{habit(each.branch)}")
        if each.name in ("none", "contrary") and len(case.product.carried[each.branch]) == 1:
            codes.append("once")
        if each.name in ("none", "contrary") and case.newer and len(case.version.numbers) <= _MAJOR_MINOR:
            codes.append("short")
        codes += _declared(each.branch, case, refs)
        yield Candidate(each.branch, each.name, each.standing, each.numbers, tuple(codes))


def _reachable(case: Case, refs: Refs) -> Iterable[str]:
    """The branches with a version in their name, and those that carry a release of the line or the one before it."""
    on = [*(case.line.branches or () if case.line else ()), *(case.before.branches or () if case.before else ())]
    on += [b for b, branch in refs.listed.items() if branch.declares and _nearest(declared(branch), case) == "version"]
    on += [b for r in case.product.under.get(case.version.numbers[: case.size], ()) for b in r.branches or ()]
    return sorted({b for b in (*refs.names, *on) if b != refs.default and b in refs.listed} - refs.left_out)


def _place(branch: str, case: Case, refs: Refs) -> Candidate | None:
    name = _relate(branch, case, refs)
    held = case.line is not None and case.line.branches is not None and branch in case.line.branches
    if name in ("newer", "older") and not held:
        return None
    standing = _stand(branch, case, held=held)
    if name in ("contrary", "none") and standing not in ("newest", "merged", "some", "before"):
        declares = _nearest(declared(refs.listed[branch]), case) == "version"
        if not declares or standing == "elsewhere":
            return None
    return Candidate(branch, name, standing, case.product.numbers.get(branch))


def _relate(branch: str, case: Case, refs: Refs) -> Name:  # noqa: PLR0911 - a table in the order of the relations
    numbers = case.product.numbers.get(branch)
    if numbers is None:
        return "none"
    if branch in case.product.contrary:
        return "contrary"
    version, size = case.version.numbers, case.size
    own = refs.names[branch].version
    inside = numbers[:size] == version[:size]
    if own.ripeness < FINAL and own.build and inside:
        same = (own.ripeness, own.build) == (case.version.ripeness, case.version.build)
        return "exact" if same and trimmed(numbers) == trimmed(version) else "early"
    if numbers == version:
        return "exact"
    if not case.version.wildcard and len(numbers) > len(version) and trimmed(numbers) == trimmed(version):
        # `8.4.0` is `8.4` until it has been made; then `8.4` asks for the line.
        return "inside" if _is_made(own, case) else "exact"
    if covers(numbers, version):
        return "line" if len(numbers) >= size else "coarse"
    if covers(version, numbers):
        return "inside"
    if inside and len(numbers) > size and numbers[: len(version) - 1] == version[: len(version) - 1]:
        return "sibling"
    return "newer" if numbers > version else "older"


def _stand(branch: str, case: Case, *, held: bool) -> Standing:
    line = case.line
    if held and line is not None:
        return "merged" if line.merged else "newest"
    start = case.version.numbers[: case.size]
    if any(r.numbers[: case.size] == start for r in case.product.carried.get(branch, ())):
        return "some"
    if case.state == "none":
        return "before" if _carries_before(branch, case) else "first"
    standing: dict[State, Standing] = {"held": "elsewhere", "trunk": "trunk", "lost": "lost", "unread": "unread"}
    return standing[case.state]


def _carries_before(branch: str, case: Case) -> bool:
    if case.before is not None and branch in (case.before.branches or ()):
        return True
    wide = case.version.numbers[: case.size - 1]
    inside = [
        r
        for r in (case.product.under.get(wide, ()) if wide else ())
        if case.version.wildcard or r.version.key <= case.version.key
    ]
    newest = max(inside, key=lambda r: r.version.key, default=None)
    return newest is not None and branch in (newest.branches or ())


def _moved(each: Candidate, case: Case, refs: Refs) -> Iterator[str]:
    """Whether newer lines were released from it since, from no branch that is named for them."""
    product, start = case.product, case.version.numbers[: case.size]
    for release in product.carried.get(each.branch, ()):
        newer = release.numbers[: case.size] > start and refs.default not in (release.branches or ())
        if newer and not product.explained[release.name] - {each.branch}:
            yield "moved|" + ("named" if each.name in ("exact", "line", "inside") else "unnamed")
            return


def _new_line(case: Case) -> bool:
    start = case.version.numbers[: case.size]
    return case.newer or (case.newest is not None and start > case.newest.numbers[: case.size])


def _template(each: Candidate, case: Case, refs: Refs) -> Iterator[str]:
    """What the branches with such names show: whether their releases were made on them, how common they are."""
    reading, product = refs.names[each.branch], case.product
    own, away = product.own[reading.template], product.away[reading.template]
    judged = "|often" if own + away >= _PROVEN else ""
    carries = "carries" if each.standing in ("newest", "merged") else "lacks"
    yield f"template|{'own' if own else 'away' if away else 'new'}{judged}|{carries}"
    if not covers(each.numbers or (), case.version.numbers) and _is_out(each, case, refs):
        yield "out|" + ("inside" if each.name == "inside" else "other")


def _is_out(each: Candidate, case: Case, refs: Refs) -> bool:
    """Whether it is named for one release that has been made."""
    return _is_made(refs.names[each.branch].version, case)


def _is_made(version: Version, case: Case) -> bool:
    return any(r.version == version for r in case.product.under.get(version.numbers, ()))


def _words(
    each: Candidate, wanted: Reading, case: Case, refs: Refs, known: AbstractSet[str], *, named: bool
) -> Iterator[str]:
    reading = refs.names.get(each.branch)
    words = _words_of(each.branch, refs)
    unknown = [w for w in words if not is_family(w) and w not in refs.record.neutral and w not in known]
    label, name = f"{wanted.before}{wanted.spelling}{wanted.after}".lower(), each.branch.lower()
    if label in (name, name.rpartition("/")[2]):
        yield "spelled"
    if unknown:
        proven = reading is not None and case.product.own[reading.template] >= _PROVEN
        yield f"unknown-words|{min(2, len(unknown))}|{'proven' if proven else 'unproven'}"
        if not case.product.releases and refs.is_beside_plain(each.branch):
            yield "beside-plain"
    if each.branch in refs.work:
        yield "work|" + ("exact" if each.name == "exact" else "other")
    if reading is not None:
        yield from _spelling(reading, wanted, case, unknown=bool(unknown))
    asked, own = refs.record.asked(wanted), frozenset(words)
    if _is_of_another(each.branch, own, case, refs):
        yield "product|other"
    elif asked and asked <= own:
        yield "product|asked"
    elif asked and asked not in refs.record.products and named:
        yield "product|not-named"


def _is_of_another(branch: str, words: AbstractSet[str], case: Case, refs: Refs) -> bool:
    """Whether a branch is named for another product, and that one's releases sit on branches with such names."""
    others = [product for product in refs.record.named_by(words) if product not in case.product.words]
    template = refs.names[branch].template if branch in refs.names else branch
    if not others or case.product.own[template] or case.product.carried.get(branch):
        return False
    return any(refs.record.is_made_under(template, product, refs.names) for product in others)


def _spelling(reading: Reading, wanted: Reading, case: Case, *, unknown: bool) -> Iterator[str]:
    """What the version in a name looks like: one number only, a pre-release, more numbers behind it."""
    if reading.components == 1 and not reading.version.wildcard:
        yield f"bare|{'words' if unknown else 'plain'}"
        if unknown and not case.product.releases:
            yield "number-of-something"
    if reading.version.prerelease and not wanted.version.prerelease:
        yield "phase"
    if reading.tail and reading.tail != wanted.tail:
        yield "tail"


def _is_named(product: AbstractSet[str], refs: Refs) -> bool:
    """Whether some branch, a work branch apart, is named for a product."""
    return bool(product) and any(product <= frozenset(r.words) for n, r in refs.names.items() if n not in refs.work)


def _words_of(branch: str, refs: Refs) -> tuple[str, ...]:
    reading = refs.names.get(branch)
    if reading is not None:
        return reading.words
    return tuple(word for word in "".join(c if c.isalpha() else " " for c in branch.lower()).split() if word)


def _habit(case: Case, refs: Refs) -> Callable[[str], str]:
    """How many of the recent releases of the version's shape were made on branches with such names."""
    shape = [r for r in case.product.releases if len(r.numbers) == len(case.version.numbers)][-_RECENT:]
    made: Counter[str] = Counter()
    for release in shape:
        on = (b for b in release.branches or () if b != refs.default and b in refs.listed)
        made.update({refs.names[b].template if b in refs.names else b for b in on})

    def habit(branch: str) -> str:
        if not shape:
            return "unknown"
        share = made[refs.names[branch].template if branch in refs.names else branch] / len(shape)
        return next(word for most, word in _SHARES if share <= most)

    return habit


def _declared(branch: str, case: Case, refs: Refs) -> Iterator[str]:
    """What files at the tip declare, and whether automation names the branch."""
    nearest = _nearest(declared(refs.listed[branch]), case)
    if nearest:
        yield f"declares|{nearest}"
    if refs.patterns and any(fnmatchcase(branch, p) for p in refs.patterns):
        yield "pattern"


def declared(branch: Branch) -> list[Version]:
    """The versions that files at the tip of a branch declare."""
    readings = (read_label(each.version) for each in branch.declares)
    return [reading.version for reading in readings if reading is not None]


def _nearest(found: Iterable[Version], case: Case) -> str:
    numbers = [v.numbers for v in found]
    if any(trimmed(n) == trimmed(case.version.numbers) for n in numbers):
        return "version"
    return "line" if any(n[: case.size] == case.version.numbers[: case.size] for n in numbers) else ""


# --- the default branch, and no branch at all ---


def _position(case: Case, refs: Refs) -> str:
    """Whether the version is newer than all releases, than all of the default branch, or than neither."""
    if case.newer:
        return "newest"
    on_default = case.product.carried.get(refs.default or "", ())
    return "older" if any(r.version.key > case.version.key for r in on_default) else "ahead"


def _after(case: Case, refs: Refs) -> str:
    if case.before is None:
        return "nothing"
    branches = case.before.branches or ()
    return "trunk" if refs.default in branches else "lost" if not branches else "branch"


def _trunk(case: Case, refs: Refs) -> Iterator[str]:
    state = "none" if case.state == "unread" else case.state
    yield f"trunk|{state}|{_position(case, refs)}"
    if state == "none":
        yield f"trunk|after-{_after(case, refs)}|{'newer' if _new_line(case) else 'older'}"
    if not case.product.releases:
        yield "trunk|no-releases"
    numbers = case.product.default_numbers
    if numbers:
        yield f"trunk|named|{'covers' if covers(numbers, case.version.numbers) else 'other'}"
    default = refs.listed.get(refs.default or "")
    nearest = _nearest(declared(default), case) if default else ""
    if nearest:
        yield f"trunk|declares|{nearest}"


def _nothing(case: Case, refs: Refs) -> Iterator[str]:
    state = "none" if case.state == "unread" else case.state
    yield f"nothing|{state}|{_position(case, refs)}"
    if state == "none":
        yield f"nothing|after-{_after(case, refs)}|{'newer' if _new_line(case) else 'older'}"
