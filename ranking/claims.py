"""What the issue and its links claim for each branch: decisive claims, hints, and notes.

A claim is decisive (`issue-version`, `linked-release`) only where the relation is strong enough to act on; all
else is `version-convention`. Claims of the same kind on the same branch do not add up: two versions that agree
are one reason, not two.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

from msgspec import Struct, field

from ranking import weights
from ranking.facts import EvidenceKind, Facts
from ranking.listing import Listed, few
from ranking.match import Match, Repo, match
from ranking.names import shown
from ranking.targets import Target, Targets, same_repository
from ranking.wish import read_wish

DECISIVE: frozenset[EvidenceKind] = frozenset({"issue-version", "linked-release"})


class Claim(Struct, frozen=True):
    """One reason for one branch."""

    branch: str
    kind: EvidenceKind
    points: int
    reason: str


class _Book(Struct):
    """The claims as they come; `placed` says whether the issue's own versions have been placed somewhere."""

    claims: list[Claim] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    waits: set[str] = field(default_factory=set)
    decisive: set[str] = field(default_factory=set)

    def add(self, branch: str, kind: EvidenceKind, points: int, reason: str) -> None:
        self.claims.append(Claim(branch, kind, points, reason))
        if kind in DECISIVE:
            self.decisive.add(branch)

    def placed(self) -> frozenset[str]:
        """Where the issue's own versions go: the branches that take them, or wait for theirs to be cut."""
        return frozenset({*self.decisive, *self.waits})


def claim(facts: Facts, listed: Listed, targets: Targets, repo: Repo) -> tuple[tuple[Claim, ...], tuple[str, ...]]:
    """Every claim and the notes that go with them."""
    book = _Book()
    placed = _own(book, facts, listed, targets.own, repo)
    if not targets.own:
        _inherited(book, listed, targets.inherited, repo)
    else:
        _say_conflict(book, targets.inherited, repo)
    _released(book, targets.released, repo, placed=placed)
    _bases(book, facts, listed, targets, placed=placed)
    _hints(book, targets, repo)
    return tuple(_strongest(book.claims)), tuple(book.notes)


def _own(book: _Book, facts: Facts, listed: Listed, targets: Sequence[Target], repo: Repo) -> bool:
    """The issue's own versions. True where at least one of them has a place, cut or not."""
    placed = [_Placed(target, match(target.reading, repo)) for target in targets]
    book.notes += [note for each in placed if (note := _already_released(each.target, repo))]
    if _on_several_lines(placed, listed):
        placed = _by_policy(book, facts.settings.multiple_versions, placed, listed)
    taken = any(each.found.winners for each in placed)
    unsure = taken and listed.development is None and any(each.found.waits for each in placed)
    if unsure:
        book.notes.append("one of the issue's versions waits for its branch, and the development branch is not known")
    for each in placed:
        _claim_own(book, each, listed, others_taken=taken, unsure=unsure)
    return any(each.has_place for each in placed)


class _Placed(Struct, frozen=True):
    """One version of the issue, and what became of it."""

    target: Target
    found: Match

    @property
    def has_place(self) -> bool:
        """Whether some branch takes it, now or until its own is cut."""
        return self.found.waits or bool(self.found.winners)

    def branches(self, listed: Listed) -> set[str]:
        """Where it would go."""
        waits = {listed.development} if self.found.waits and listed.development is not None else set()
        return {*self.found.winners, *waits}


def _already_released(target: Target, repo: Repo) -> str | None:
    wish = read_wish(target.reading, repo.conventions, repo.lineage)
    releases = repo.lineage.releases(wish.on_tags, wish.tail)
    made = next((r for r in releases if r.version == target.reading.version), None)
    return f"{target}: {made.name} has been made already" if made else None


def _on_several_lines(placed: Sequence[_Placed], listed: Listed) -> bool:
    """Whether the versions go to more than one place; one that finds none is a place of its own."""
    places = {frozenset(each.branches(listed) or {str(each.target)}) for each in placed}
    return len(places) > 1


def _by_policy(book: _Book, policy: str, placed: list[_Placed], listed: Listed) -> list[_Placed]:
    """The one version that the setting `multipleVersions` chooses of several; all of them where it leaves it open."""
    if policy == "ambiguous":
        book.notes.append(f"the issue names {len(placed)} versions on several lines, and multipleVersions is ambiguous")
        return placed
    pick = min if policy == "lowest" else max
    chosen = pick(placed, key=lambda each: each.target.reading.version.key)
    taken = shown(chosen.target.label)
    if policy == "development" and listed.development is not None:
        taken = listed.development
        reason = "of several versions the development branch is taken first (multipleVersions: development)"
        chosen = _Placed(chosen.target, Match({taken: reason}))
    book.notes.append(f"several versions on several lines: multipleVersions {policy} takes {taken}")
    return [chosen]


def _claim_own(book: _Book, placed: _Placed, listed: Listed, *, others_taken: bool, unsure: bool) -> None:
    target, found = placed.target, placed.found
    for branch, reason in found.winners.items():
        kind: EvidenceKind = "version-convention" if unsure else "issue-version"
        book.add(branch, kind, weights.ISSUE_VERSION, f"{target}: {reason}")
    if found.waits and listed.development is not None:
        # Beside a version that has its branch, one that has none yet is as good a claim: they tie.
        points = weights.ALSO_WANTED if others_taken else weights.NOT_CUT_YET
        book.waits.add(listed.development)
        book.add(listed.development, "version-convention", points, f"{target}: {found.why}")
    for branch, reason in found.others.items():
        points = weights.RUNNER_UP if found.winners else weights.WEAK_MATCH
        book.add(branch, "version-convention", points, f"{target}: {reason}")
    if not found.winners:
        book.notes.append(f"{target}: {found.why}")
    elif len(found.winners) > 1:
        book.notes.append(f"{target}: {len(found.winners)} branches take it alike: {few(found.winners)}")


def _inherited(book: _Book, listed: Listed, targets: Sequence[Target], repo: Repo) -> None:
    """Versions of a parent or an epic, the nearest first: the nearest that names any; one further up counts less."""
    for target in targets:
        found = match(target.reading, repo)
        nearest = targets[0].depth
        if target.depth > nearest:
            book.notes.append(f"{target} is further up than {nearest} and does not count")
            continue
        points = max(weights.LINKED_RELEASE - weights.INHERITED_STEP * (target.depth - 1), weights.INHERITED_LEAST)
        for branch, reason in found.winners.items():
            book.add(branch, "linked-release", points, f"inherited {target}: {reason}")
        if not found.winners:
            book.notes.append(f"inherited {target}: {found.why}")
            if found.waits and listed.development is not None:
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
        for branch, reason in found.winners.items():
            _linked(book, branch, f"linked {target}: {reason}", own, placed=placed)
        if not found.winners:
            book.notes.append(f"linked {target}: {found.why}")


def _bases(book: _Book, facts: Facts, listed: Listed, targets: Targets, *, placed: bool) -> None:
    """Base branches of linked pull requests of this repository."""
    own = book.placed()
    for link in targets.bases:
        base, key = link.base_branch or "", shown(link.key)
        if not same_repository(link.repository, facts.repository.name):
            continue
        if base not in listed.branches:
            book.notes.append(f"pull request {key} targets {shown(base)}, which is not listed")
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


def _strongest(claims: Iterable[Claim]) -> list[Claim]:
    """Of the claims of one kind on one branch the strongest keeps its points; the others are shown with none."""
    seen: set[tuple[str, EvidenceKind]] = set()
    kept = []
    for each in sorted(claims, key=lambda c: (c.branch, c.kind, -c.points, c.reason)):
        points = 0 if (each.branch, each.kind) in seen else each.points
        seen.add((each.branch, each.kind))
        kept.append(Claim(each.branch, each.kind, points, each.reason))
    return list(dict.fromkeys(kept))
