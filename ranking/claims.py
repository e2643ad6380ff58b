"""What the issue and its links claim for each branch: decisive claims, hints, and notes.

A claim is decisive (`issue-version`, `linked-release`) only where the relation is strong enough to act on; all
else is `version-convention`. Claims of the same kind on the same branch do not add up: two versions that agree
are one reason, not two.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

from msgspec import Struct, field
from msgspec.structs import replace

from ranking import weights
from ranking.facts import EvidenceKind, Facts
from ranking.listing import Listed, few
from ranking.match import Match, Reason, Repo, match
from ranking.names import printable
from ranking.targets import Target, Targets, same_repository
from ranking.words import is_family

DECISIVE: frozenset[EvidenceKind] = frozenset({"issue-version", "linked-release"})


class Claim(Struct, frozen=True):
    """One reason for one branch. `about`: the version or link that it comes from; `code`: the signal, if it is one."""

    branch: str
    kind: EvidenceKind
    points: int
    reason: str
    about: str = ""
    code: str = ""


class _Book(Struct):
    """The claims as they come; `placed` says whether the issue's own versions have been placed somewhere."""

    claims: list[Claim] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    waits: set[str] = field(default_factory=set)
    confidence: list[float] = field(default_factory=list)
    decisive: set[str] = field(default_factory=set)

    def add(self, branch: str, kind: EvidenceKind, points: int, reason: str, about: str = "") -> None:
        self.claims.append(Claim(branch, kind, points, reason, about))
        if kind in DECISIVE:
            self.decisive.add(branch)

    def placed(self) -> frozenset[str]:
        """Where the issue's own versions go: the branches that take them, or wait for theirs to be cut."""
        return frozenset({*self.decisive, *self.waits})


class Claims(Struct, frozen=True):
    """Every claim, the notes that go with them, and how likely what they lead to is right (None: nothing was asked)."""

    claims: tuple[Claim, ...]
    notes: tuple[str, ...]
    confidence: float | None


def claim(facts: Facts, listed: Listed, targets: Targets, repo: Repo) -> Claims:
    """Collect every claim of an issue and its links."""
    book = _Book()
    placed = _own(book, facts, listed, targets, repo)
    if not targets.own:
        _inherited(book, listed, targets.inherited, repo)
    else:
        _say_conflict(book, targets.inherited, repo)
    _released(book, targets.released, repo, placed=placed)
    _bases(book, facts, listed, targets, placed=placed)
    _hints(book, targets, repo)
    _loose(book, targets, repo)
    confidence = min(book.confidence, default=None)
    return Claims(tuple(_strongest(book.claims)), tuple(book.notes), confidence)


def _own(book: _Book, facts: Facts, listed: Listed, targets: Targets, repo: Repo) -> bool:
    """The issue's own versions. True if at least one of them has a place, created or not."""
    placed = [_Placed(target, match(target.reading, repo)) for target in targets.own]
    named = _by_identity(book, listed, targets)
    book.notes += [note for each in placed if (note := _already_released(each.target, repo))]
    several = _on_several_lines(placed, listed) or bool(named and placed)
    if several:
        placed = _by_policy(book, facts.settings.multiple_versions, placed, listed)
    taken = named or any(each.found.winners for each in placed)
    unsure = taken and listed.development is None and any(each.waits for each in placed)
    if unsure:
        book.notes.append("one of the issue's versions waits for its branch, and the development branch is not known")
    for each in placed:
        book.confidence.append(each.found.confidence)
        _claim_own(book, each, listed, others_taken=taken, unsure=unsure, alone=not several)
    return named or any(each.has_place for each in placed)


def _by_identity(book: _Book, listed: Listed, targets: Targets) -> bool:
    """A label that is no version and yet the name of a branch, or the last part of one: `2024Q2`."""
    found = False
    for label, name in targets.unread:
        wanted = label.strip().lower()
        if is_family(wanted) or not any(c.isalnum() for c in wanted):
            continue
        branches = [b for b in listed.branches if _is_called(b.lower(), wanted)]
        for branch in branches:
            book.add(branch, "issue-version", weights.ISSUE_VERSION, f"{name}: this branch's name", name)
            found = True
        if not branches:
            book.notes.append(f"{name} names no version and no branch")
    return found


class _Placed(Struct, frozen=True):
    """One version of the issue, and what became of it."""

    target: Target
    found: Match

    @property
    def has_place(self) -> bool:
        """Whether some branch takes it, now or until its own is cut."""
        return self.waits or bool(self.found.winners)

    @property
    def waits(self) -> bool:
        """Whether its branch does not exist yet, so that the development branch takes it."""
        return self.found.outcome == "not-created"

    def branches(self, listed: Listed) -> set[str]:
        """Where it would go."""
        waits = {listed.development} if self.waits and listed.development is not None else set()
        return {*self.found.winners, *waits}


def _already_released(target: Target, repo: Repo) -> str | None:
    product = repo.record.product(target.reading, repo.refs.names, repo.default)
    wanted = product.read(target.reading.version)
    made = next((r for r in product.under.get(wanted.numbers, ()) if r.version == wanted), None)
    return f"{target}: {made.name} has been made already" if made else None


def _on_several_lines(placed: Sequence[_Placed], listed: Listed) -> bool:
    """Whether the versions go to more than one place; one that finds none is a place of its own."""
    places = {frozenset(each.branches(listed) or {str(each.target)}) for each in placed}
    return len(places) > 1


def _is_called(branch: str, label: str) -> bool:
    """Whether a label is the name of a branch, or its last part in a folder of release lines."""
    folder, _, last = branch.rpartition("/")
    return branch == label or (last == label and all(map(is_family, re.findall("[a-z]+", folder))))


def _by_policy(book: _Book, policy: str, placed: list[_Placed], listed: Listed) -> list[_Placed]:
    """The one version that the setting `multipleVersions` chooses of several; all of them where it leaves it open."""
    if policy == "ambiguous":
        book.notes.append(f"the issue names {len(placed)} versions on several lines, and multipleVersions is ambiguous")
        return placed
    pick = min if policy == "lowest" else max
    chosen = pick(placed, key=lambda each: each.target.reading.version.key)
    taken = printable(chosen.target.label)
    if policy == "development" and listed.development is not None:
        taken = listed.development
        reason = "of several versions the development branch is taken first (multipleVersions: development)"
        alone = (Reason("policy", weights.ISSUE_VERSION, reason),)
        chosen = _Placed(chosen.target, Match("taken", {taken: alone}))
    book.notes.append(f"several versions on several lines: multipleVersions {policy} takes {taken}")
    return [chosen]


def _claim_own(book: _Book, placed: _Placed, listed: Listed, *, others_taken: bool, unsure: bool, alone: bool) -> None:
    """Claim what takes one version. Beside versions of other lines (not `alone`) each weighs the same, so they tie."""
    target, found = placed.target, placed.found
    about = str(target)
    kind: EvidenceKind = "version-convention" if unsure else "issue-version"
    for branch, (first, *others) in found.winners.items():
        points = first.points if alone else weights.ISSUE_VERSION
        book.add(branch, kind, points, f"{target}: {first.text}", about)
        for each in others if alone else ():
            book.claims.append(Claim(branch, kind, each.points, each.text, about, each.code))
    if placed.waits and listed.development is not None:
        # Beside a version that has its branch, one that has none yet is as good a claim: they tie.
        points = weights.ALSO_WANTED if others_taken else weights.NOT_CUT_YET
        book.waits.add(listed.development)
        book.add(listed.development, "version-convention", points, f"{target}: {found.why}", about)
    for branch, reason in found.near.items():
        points = weights.RUNNER_UP if found.winners else weights.WEAK_MATCH
        book.add(branch, "version-convention", points, f"{target}: {reason}", about)
    if not found.winners:
        book.notes.append(f"{target}: {found.why}")
    elif len(found.winners) > 1:
        book.notes.append(f"{target}: matches {len(found.winners)} branches equally well: {few(found.winners)}")


def _inherited(book: _Book, listed: Listed, targets: Sequence[Target], repo: Repo) -> None:
    """Versions of a parent or an epic, the nearest first: the nearest that names any; one further up counts less."""
    for target in targets:
        found = match(target.reading, repo)
        nearest = targets[0].depth
        if target.depth > nearest:
            book.notes.append(f"{target} is further up than {nearest} and does not count")
            continue
        points = max(weights.LINKED_RELEASE - weights.INHERITED_STEP * (target.depth - 1), weights.INHERITED_LEAST)
        book.confidence.append(found.confidence)
        for branch, reasons in found.winners.items():
            book.add(branch, "linked-release", points, f"inherited {target}: {reasons[0].text}")
        if not found.winners:
            book.notes.append(f"inherited {target}: {found.why}")
            if found.outcome == "not-created" and listed.development is not None:
                book.add(
                    listed.development,
                    "version-convention",
                    weights.NOT_CUT_YET,
                    f"inherited {target}: {found.why}",
                )


def _say_conflict(book: _Book, inherited: Iterable[Target], repo: Repo) -> None:
    for target in inherited:
        winners = match(target.reading, repo).winners
        if winners and book.decisive and book.decisive.isdisjoint(winners):
            book.notes.append(f"inherited {target} points to {few(winners)}; the issue's own version goes before it")


def _released(book: _Book, targets: Iterable[Target], repo: Repo, *, placed: bool) -> None:
    """Linked release items: as good as a parent's version."""
    own = book.placed()
    for target in targets:
        found = match(target.reading, repo)
        for branch, reasons in found.winners.items():
            _linked(book, branch, f"linked {target}: {reasons[0].text}", own, placed=placed)
        if not found.winners:
            book.notes.append(f"linked {target}: {found.why}")


def _bases(book: _Book, facts: Facts, listed: Listed, targets: Targets, *, placed: bool) -> None:
    """Base branches of linked pull requests of this repository."""
    own = book.placed()
    for link in targets.bases:
        base, key = link.base_branch or "", printable(link.key)
        if not same_repository(link.repository, facts.repository.name):
            continue
        if base not in listed.branches:
            book.notes.append(f"pull request {key} targets {printable(base)}, which is not listed")
        elif link.state == "closed":
            book.add(
                base,
                "version-convention",
                weights.MENTIONED,
                f"pull request {key}, closed unmerged, targeted it",
            )
        else:
            _linked(book, base, f"pull request {key} targets it", own, placed=placed)


def _linked(book: _Book, branch: str, reason: str, own: AbstractSet[str], *, placed: bool) -> None:
    """A link that may be acted on where the issue's own versions say nothing; that agrees; or that does not."""
    if not placed:
        book.add(branch, "linked-release", weights.LINKED_RELEASE, reason)
        return
    if branch in own:
        book.add(branch, "linked-release", 0 if branch in book.decisive else weights.LINKED_RELEASE, reason)
        return
    book.add(branch, "version-convention", weights.MENTIONED, f"{reason}, against the issue's own version")
    there = few(own) or "no branch that is cut"
    book.notes.append(f"{branch}: {reason}, but the issue's own version points to {there}")


def _hints(book: _Book, targets: Targets, repo: Repo) -> None:
    for kind, group in (("affected", targets.affected), ("closed", targets.weak)):
        for target in group:
            found = match(target.reading, repo)
            for branch in found.winners:
                book.add(branch, "version-convention", weights.AFFECTED, f"{target}: {kind}, a hint and no target")


def _loose(book: _Book, targets: Targets, repo: Repo) -> None:
    """Tracker labels with a version among other words (`backport 1.44.x`): noted if a branch would take the version."""
    for target in targets.loose:
        found = match(replace(target.reading, words=()), repo)
        if found.winners:
            book.notes.append(f"label {target.label!r} names the line of {few(found.winners)} and is not used")


def _strongest(claims: Iterable[Claim]) -> list[Claim]:
    """Of what speaks with one kind for one branch the strongest version or link keeps its points; the others get none.

    Two versions that agree are one reason, not two.
    """
    sums: defaultdict[tuple[str, EvidenceKind], Counter[str]] = defaultdict(Counter)
    unique = list(dict.fromkeys(claims))
    for each in unique:
        sums[each.branch, each.kind][each.about] += each.points
    strongest = {key: max(found, key=lambda about: (found[about], about)) for key, found in sums.items()}
    kept: dict[tuple[str, EvidenceKind, str], int] = {}
    ordered = sorted(
        unique,
        key=lambda c: (c.branch, c.kind, c.about != strongest[c.branch, c.kind], bool(c.code), -c.points, c.reason),
    )
    result: list[Claim] = []
    for each in ordered:
        first = kept.setdefault((each.branch, each.kind, each.code), len(result)) == len(result)
        counts = each.about == strongest[each.branch, each.kind] and (bool(each.code) or first)
        result.append(replace(each, points=each.points if counts else 0))
    return result
