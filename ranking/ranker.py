"""rank(facts) -> Ranking: candidates with integer scores, each the sum of its evidence.

The steps: which branches are listed; what their names and tags say together; what the issue claims; then every
candidate's evidence, added up. The same facts in any order give the same bytes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet

from msgspec import UNSET, Struct
from msgspec.structs import replace as altered

from ranking import weights
from ranking.claims import DECISIVE, Claim, claim
from ranking.conventions import Conventions, Line, Names, infer_conventions, tell_work
from ranking.facts import Candidate, Convention, Evidence, EvidenceKind, Facts, Ranking, RecentChoice
from ranking.listing import Listed, counted, few, has_key, list_branches, refs_of, tip_notes
from ranking.match import Repo
from ranking.names import printable
from ranking.order import default_order
from ranking.recent import is_expired
from ranking.record import Record, own_words
from ranking.signals import Refs
from ranking.targets import read_targets, same_repository
from ranking.versions import Reading

Reason = tuple[EvidenceKind, int, str]
"""One piece of evidence before it is written out: kind, points, words."""


class Ranked(Struct, frozen=True):
    """A ranking, and how likely its first candidate is right, from 0 to 1; None if the issue asks for no version."""

    ranking: Ranking
    confidence: float | None


def rank(facts: Facts, view: View | None = None) -> Ranking:
    """Rank the branches of one bundle; `view`: what `read_asked` made of it, if that is at hand."""
    return rank_surely(facts, view).ranking


def rank_surely(facts: Facts, view: View | None = None) -> Ranked:
    """Rank the branches of one bundle, with the confidence in the first candidate."""
    targets = read_targets(facts.issue, facts.repository.name)
    view = view or read_view(facts, named=targets.words(), spelled=targets.spelled())
    claimed = claim(facts, view.listed, targets, view.repo)
    claims, said = claimed.claims, claimed.notes
    floor = _under_floor(facts)
    if floor:
        claims = tuple(altered(each, kind="version-convention") for each in claims)
    sheet = _score(facts, view, claims)
    kept = sheet.ordered[: facts.settings.max_candidates]
    left = sheet.ordered[len(kept) :]
    top = sheet.top()
    notes = [
        *view.listed.notes,
        *view.notes,
        *_left_out_notes(view.repo.conventions, {c.branch for c in claims if c.kind in DECISIVE}),
        *targets.notes,
        *said,
        *floor,
    ]
    notes += [*_memory_notes(facts, view.listed, claims), *_provenance_notes(facts)]
    notes += tip_notes(facts, (view.listed.branches[name] for name in kept))
    if left:
        notes.append(f"left out after the first {len(kept)} candidates: {counted(left)}")
    ranking = Ranking(
        ref_provenance=facts.refs.provenance,
        chosen=top[0] if len(top) == 1 else UNSET,
        ambiguous=len(top) > 1,
        convention=_convention(view.repo.conventions),
        candidates=tuple(sheet.candidate(name, refs_of(view.listed.branches[name], facts)) for name in kept),
        notes=tuple(dict.fromkeys(map(printable, notes))),
    )
    return Ranked(ranking, claimed.confidence)


class View(Struct, frozen=True):
    """The facts, read: what is listed, what names and tags say together, the default order, what was left out.

    `names`: those listed, by their looks; `ordered_first`: the first of a configured order, None where the order is the
    built-in one.
    """

    listed: Listed
    names: Names
    repo: Repo
    order: tuple[str, ...]
    ordered_first: str | None
    notes: tuple[str, ...]


def read_asked(facts: Facts, like: View | None = None) -> View:
    """Read the refs of a bundle for the versions that its issue asks for; `like`: as `read_view` has it."""
    targets = read_targets(facts.issue, facts.repository.name)
    return read_view(facts, named=targets.words(), spelled=targets.spelled(), like=like)


def read_view(
    facts: Facts,
    *,
    named: frozenset[str] = frozenset(),
    spelled: frozenset[str] = frozenset(),
    like: View | None = None,
) -> View:
    """Read the refs of a bundle; `named`, `spelled`: the words and the numbers of the versions that its issue asks for.

    `like`: the view of facts with the same refs and work prefixes, of the same repository, so that 100,000 names need
    not be looked at again; as `list_branches` has it.
    """
    listed = list_branches(facts, like.listed if like else None)
    if like is None:
        record = Record(facts.refs.tags, own_words(facts.repository.name))
        names = tell_work(listed.branches, facts.settings.work_prefixes)
    else:
        record, names = like.repo.record, like.names
    admitted = _admitted(facts)
    conventions = infer_conventions(
        names, record=record, default=listed.default, admitted=admitted, named=named, spelled=spelled
    )
    order, missing = default_order(listed, conventions, facts.settings.default_order)
    notes = list(missing)
    work = frozenset(names.work) - admitted
    lines = [line for line in conventions.lines.values() if line.name != listed.default]
    refs = Refs(
        record=record,
        names=conventions.readings,
        listed=listed.branches,
        default=listed.default,
        work=work,
        left_out=(_left_out(facts, listed) - admitted)
        | (work if facts.settings.work_prefixes is not None else frozenset()),
        beside_plain=_beside_plain(lines, conventions.readings),
        patterns=tuple(p.pattern for p in facts.repository.line_patterns if p.pattern.strip("*")),
    )
    repo = Repo(refs, conventions, complete=facts.refs.complete, derive_at=facts.settings.derive_at)
    first = order[0] if order and facts.settings.default_order is not None else None
    return View(listed, names, repo, tuple(order), first, tuple(notes))


def _left_out(facts: Facts, listed: Listed) -> frozenset[str]:
    """The branches that are named for the issue itself: they hold its work, and are not its base."""
    if facts.issue is None:
        return frozenset()
    key = facts.issue.key
    return frozenset(name for name in listed.branches if name != listed.default and has_key(name, key))


def _left_out_notes(conventions: Conventions, claimed: AbstractSet[str]) -> Iterator[str]:
    """What was left out by its name, less what some evidence speaks for."""
    work = [name for name in conventions.work if name not in claimed]
    if work:
        yield f"left out as work branches: {counted(work)}"
    topics = [name for name in conventions.topics if name not in claimed]
    if topics:
        yield f"a version in the name, and no release line by it: {counted(topics)}"


def _beside_plain(lines: Iterable[Line], readings: Mapping[str, Reading]) -> frozenset[str]:
    """The templates whose oldest name is no newer than the newest line without a word of its own."""
    newest = max((line.reading.version.numbers for line in lines if not line.words), default=())
    oldest: dict[str, tuple[int, ...]] = {}
    for reading in readings.values():
        numbers = reading.version.numbers
        oldest[reading.template] = min(numbers, oldest.get(reading.template, numbers))
    return frozenset(template for template, numbers in oldest.items() if numbers <= newest)


def _admitted(facts: Facts) -> frozenset[str]:
    """Branches that count whatever their names look like: linked pull requests target them, or people chose them."""
    links = facts.issue.links if facts.issue else ()
    ours = [k for k in links if k.kind == "pull-request" and same_repository(k.repository, facts.repository.name)]
    bases = {k.base_branch for k in ours if k.base_branch and k.state != "closed"}
    return frozenset(bases | {r.branch for r in facts.recent if _alive(r, facts)})


class _Sheet(Struct, frozen=True):
    """Every candidate's score and place. Evidence is written out only for those that the answer lists."""

    ordered: list[str]
    scores: Mapping[str, int]
    reasons: Callable[[str], Iterable[Reason]]

    def top(self) -> list[str]:
        """The first, and those that tie with it."""
        return [name for name in self.ordered if self.scores[name] == self.scores[self.ordered[0]]]

    def candidate(self, name: str, refs: tuple[str, ...]) -> Candidate:
        """One candidate with its evidence in words."""
        evidence = tuple(
            Evidence(kind=k, detail=f"{points:+d}: {printable(reason)}") for k, points, reason in self.reasons(name)
        )
        return Candidate(branch=name, score=self.scores[name], refs=refs, evidence=evidence)


def _score(facts: Facts, view: View, claims: Iterable[Claim]) -> _Sheet:
    by_branch: defaultdict[str, list[Claim]] = defaultdict(list)
    for each in claims:
        by_branch[each.branch].append(each)
    recent = _recent(facts, view.listed)
    place = {name: i for i, name in enumerate(view.order)}
    names = _candidates(view, by_branch, recent)

    def reasons(name: str) -> Iterator[Reason]:
        return _reasons(facts, view, name, by_branch, recent, place)

    scores = {name: sum(points for _, points, _ in reasons(name)) for name in names}
    ordered = sorted(names, key=lambda name: (-scores[name], place.get(name, len(place)), name))
    return _Sheet(ordered, scores, reasons)


def _candidates(
    view: View, claims: Mapping[str, list[Claim]], recent: Mapping[str, tuple[int, RecentChoice]]
) -> AbstractSet[str]:
    """Whatever carries a version, the order's heads, family words, what was claimed or remembered."""
    conventions = view.repo.conventions
    chosen = {*view.order, *claims, *recent, *conventions.lines, *conventions.topics}
    chosen |= {*view.listed.family}
    # Where nothing else is there, a work branch is better than no answer.
    return chosen or view.listed.branches.keys()


def _reasons(
    facts: Facts,
    view: View,
    name: str,
    claims: Mapping[str, list[Claim]],
    recent: Mapping[str, tuple[int, RecentChoice]],
    place: Mapping[str, int],
) -> Iterator[Reason]:
    """The evidence for one branch."""
    own = claims.get(name, ())
    decided = any(c.kind in DECISIVE or c.points >= weights.ALSO_WANTED for c in own)
    for each in own:
        binds = each.kind in DECISIVE or each.points >= weights.ALSO_WANTED
        yield each.kind, each.points if binds or not decided else 0, each.reason
    for kind, points, reason in _context(view, name, recent, place):
        yield kind, 0 if decided else points, reason
    if facts.refs.provenance == "remote":
        yield "ref-provenance", weights.LISTED, "the remote listed it in this run"
    else:
        silent = "the remote did not answer in this run" if facts.repository.remote else "there is no remote"
        yield "ref-provenance", weights.CACHED, f"known from this clone; {silent}"


def _context(
    view: View, name: str, recent: Mapping[str, tuple[int, RecentChoice]], place: Mapping[str, int]
) -> Iterator[Reason]:
    """What speaks for a branch whatever the issue says."""
    conventions = view.repo.conventions
    line = conventions.lines.get(name)
    if line and line.template == conventions.dominant:
        yield (
            "version-convention",
            weights.CONVENTION,
            f"one of {conventions.members[line.template]} named under {line.template}",
        )
    if name in recent:
        points, choice = recent[name]
        often = "once" if choice.count == 1 else f"{choice.count} times"
        yield "recent", points, f"chosen by a person {often}, last on {choice.last_used:%Y-%m-%d}"
    if view.ordered_first is not None:
        if name == view.ordered_first:
            yield "repo-default", weights.REPO_DEFAULT, "first of the configured defaultOrder"
        elif name == view.listed.default:
            yield "repo-default", weights.SERVER_DEFAULT, "the server's default branch"
    elif name == view.listed.development:
        said = "the server's default branch" if name == view.listed.default else "the development branch"
        yield "repo-default", weights.REPO_DEFAULT, said
    elif name == view.listed.default:
        yield "repo-default", weights.SERVER_DEFAULT, "the server's default branch"
    if name in place and place[name] < weights.SORT_ORDER:
        yield "sort-order", weights.SORT_ORDER - place[name], f"number {place[name] + 1} of the default order"


def _alive(choice: RecentChoice, facts: Facts) -> bool:
    return not is_expired(choice, facts.now, facts.settings.branch_ttl_days)


def _recent(facts: Facts, listed: Listed) -> dict[str, tuple[int, RecentChoice]]:
    """The remembered choices that are listed and inside their time to live, with their points, the newest first."""
    alive = [r for r in facts.recent if r.branch in listed.branches and _alive(r, facts)]
    alive.sort(key=lambda r: r.branch)
    alive.sort(key=lambda r: (r.last_used, r.count), reverse=True)
    found: dict[str, tuple[int, RecentChoice]] = {}
    for i, choice in enumerate(alive):
        found.setdefault(choice.branch, (max(0, weights.RECENT - i * weights.RECENT_STEP), choice))
    return found


def _memory_notes(facts: Facts, listed: Listed, claims: Iterable[Claim]) -> list[str]:
    """What the memory says against the issue's evidence: the newest choice that counts, where it is another branch."""
    decided = {c.branch for c in claims if c.kind in DECISIVE}
    choice = next((choice for _, choice in _recent(facts, listed).values()), None)
    if choice is None or not decided or choice.branch in decided:
        return []
    said = f"{printable(choice.branch)}, chosen on {choice.last_used:%Y-%m-%d}"
    return [f"the memory says {said}; the issue's evidence says {few(decided)}"]


def _under_floor(facts: Facts) -> list[str]:
    """Notes on the backtest; more than the plain one where the floor forbids to derive."""
    floor, kept = facts.settings.derive_floor, facts.backtest
    if floor is None:
        return []
    if kept is None or not kept.asked:
        return [f"deriveFloor {floor:g}: no backtest is kept, so nothing is derived; run base-branch backtest"]
    right, of, what = kept.right, kept.asked, "the backtest was right in"
    if kept.derived_right is not None and kept.derived_wrong is not None:
        right, of = kept.derived_right, kept.derived_right + kept.derived_wrong
        what = "the backtest's derived answers were right in"
    if not of:
        return [f"deriveFloor {floor:g}: the backtest derived no answer, so nothing is derived"]
    if right / of >= floor:
        return []
    return [f"deriveFloor {floor:g}: {what} {right / of:.1%} only, so nothing is derived"]


def _provenance_notes(facts: Facts) -> list[str]:
    notes = []
    if facts.repository.remote is None and facts.refs.provenance == "local":
        notes.append("there is no remote: these are this repository's own branches")
    elif facts.refs.provenance == "local":
        why = f" ({facts.refs.failure.kind}: {facts.refs.failure.detail})" if facts.refs.failure else ""
        notes.append(
            f"the remote did not answer{why}: these are this clone's refs, and a missing branch proves nothing"
        )
    elif not facts.refs.complete:
        notes.append("the remote's list is incomplete: a missing branch proves nothing")
    if facts.backtest is not None and facts.backtest.asked:
        b = facts.backtest
        notes.append(f"backtest of {b.at:%Y-%m-%d}: {b.asked} asked, {b.right} right, {b.wrong} wrong, {b.held} held")
    return notes


def _convention(conventions: Conventions) -> Convention | None:
    if conventions.dominant is None:
        return None
    return Convention(template=conventions.dominant, members=conventions.members[conventions.dominant])
