"""One version against the branches of one repository: which takes it, how surely, and why.

The signals of every branch are added up in points; the softmax of the sums is the probability of each. A branch takes
the version if it is the likeliest and likely enough; else the default branch waits for it, its line has lost its
branch, or nothing is known. Which of these, `Match.outcome` says.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Literal

from msgspec import Struct, field

from ranking import weights
from ranking.conventions import Conventions
from ranking.names import printable
from ranking.points import POINTS, SCALE
from ranking.record import Record, covers
from ranking.signals import Candidate, Case, Refs, read_case
from ranking.versions import Reading
from ranking.words import is_family

_WORD = re.compile("[a-z]+")
_NAMED = 5
_NEAR = 12
_DECLARED = {"version": "this version", "line": "a version of the line", "other": "a version of another line"}

Outcome = Literal["taken", "not-created", "lost", "unread", "unsure", "unknown"]
"""taken: by one branch or several alike; not-created: its branch does not exist yet and the development branch takes
it; lost: its line's newest release is on no branch that is left; unread: nobody looked which branches carry the release
that decides; unsure: a branch fits best, but not surely enough; unknown: nothing here tells."""


class Reason(Struct, frozen=True):
    """One piece of evidence for a branch: its stable code, its points, its words."""

    code: str
    points: int
    text: str


class Match(Struct, frozen=True):
    """What became of one version.

    `winners`: branch to the reasons for which it takes the version (several: a tie); `near`: branches that come near,
    each with its reason; `why`: one sentence for the notes if nothing was derived; `confidence`: how likely the outcome
    is right, from 0 to 1; `unread`: the release that would decide, if nobody looked which branches carry it.
    """

    outcome: Outcome
    winners: Mapping[str, tuple[Reason, ...]] = field(default_factory=dict)
    near: Mapping[str, str] = field(default_factory=dict)
    why: str = ""
    confidence: float = 1.0
    unread: str | None = None


class Repo(Struct, frozen=True):
    """What a match looks at: the refs as they are read, the conventions, and whether the listing is complete.

    `derive_at`: how likely a branch must be right to be taken.
    """

    refs: Refs
    conventions: Conventions
    complete: bool
    derive_at: float

    @property
    def record(self) -> Record:
        """The releases and the branches that carry them."""
        return self.refs.record

    @property
    def default(self) -> str | None:
        """The server's default branch."""
        return self.refs.default

    @property
    def listed(self) -> AbstractSet[str]:
        """The branches that may be an answer."""
        return self.refs.listed.keys()


def match(wanted: Reading, repo: Repo) -> Match:
    """Find the branch that takes the version, or say why none does: the first rule that applies decides."""
    strange = strange_words(wanted, repo)
    if strange:
        return Match("unknown", why=f"nothing here is called {' '.join(strange)}: it names another thing's version")
    odds = _weigh(read_case(wanted, repo.refs))
    return next(found for rule in _RULES if (found := rule(odds, repo)) is not None)


class _Odds(Struct, frozen=True):
    """How likely each answer is, from 0 to 1: every branch, the default branch, no branch at all.

    `over`: by how many points the likeliest branch goes before the default branch and before none.
    """

    case: Case
    chance: Mapping[str, float]
    trunk: float
    nothing: float
    sums: Mapping[str, int]
    over: int

    @property
    def best(self) -> list[Candidate]:
        """The likeliest branches, if one is likelier than the default branch and than none."""
        most = max(self.sums.values(), default=0)
        return [c for c in self.case.candidates if self.sums[c.branch] == most] if self.over > 0 else []

    def near(self, taken: AbstractSet[str] = frozenset()) -> list[Candidate]:
        """The likeliest of the branches that have to do with the version and do not take it."""
        every = [c for c in (*self.case.candidates, *self.case.aside) if c.branch not in taken]
        return sorted(every, key=lambda c: (-self.chance.get(c.branch, -1.0), c.branch))[:_NEAR]


def _weigh(case: Case) -> _Odds:
    """The softmax of the sums of points."""
    sums = {c.branch: _sum(c.codes) for c in case.candidates}
    trunk, nothing = _sum(case.trunk), _sum(case.nothing)
    most = max((*sums.values(), trunk, nothing))
    power = {branch: math.exp((points - most) / SCALE) for branch, points in sums.items()}
    others = math.exp((trunk - most) / SCALE), math.exp((nothing - most) / SCALE)
    # A hundred branches for which the same speaks are no likelier together than one of them, unless they lead.
    alike = {c.codes: power[c.branch] for c in case.candidates}
    lead = [each for each in power.values() if each >= 1]
    total = math.fsum((*(each for each in alike.values() if each < 1), *lead, *others))
    return _Odds(
        case=case,
        chance={branch: each / total for branch, each in power.items()},
        trunk=others[0] / total,
        nothing=others[1] / total,
        sums=sums,
        over=max(sums.values(), default=0) - max(trunk, nothing),
    )


# --- the rules, in their order ---


def _taken(odds: _Odds, repo: Repo) -> Match | None:
    """One branch is likely enough; or several are equally likely, and one of them is it."""
    sure = math.fsum(odds.chance[c.branch] for c in odds.best)
    if not odds.best or sure < repo.derive_at:
        return None
    base = weights.ISSUE_VERSION - odds.sums[odds.best[0].branch] + odds.over
    winners = {c.branch: tuple(_reasons(c, base, odds.case, repo)) for c in odds.best}
    alone = sure if len(winners) == 1 else weights.TIED * sure
    return _found("taken", odds, repo, "", alone, winners=winners)


def _tied(odds: _Odds, repo: Repo) -> Match | None:
    """Several branches are nearly as likely, and one of them is it."""
    if weights.RIVAL * max(odds.trunk, odds.nothing) >= max(odds.chance.values(), default=0):
        return None
    most = max(odds.chance.values())
    close = [c for c in odds.case.candidates if weights.RIVAL * odds.chance[c.branch] >= most]
    sure = math.fsum(odds.chance[c.branch] for c in close)
    if sure < repo.derive_at:
        return None
    alike = {c.branch: (Reason(c.codes[0], weights.ISSUE_VERSION, _relation(c, odds.case, repo)),) for c in close}
    return _found("taken", odds, repo, "", weights.TIED * sure, winners=alike)


def _unread(odds: _Odds, repo: Repo) -> Match | None:
    """Nobody looked which branches carry the newest release of the line."""
    if odds.case.state != "unread" or odds.case.line is None:
        return None
    name = odds.case.line.release.name
    return _found("unread", odds, repo, f"nobody looked which branches carry {name}", unread=name)


def _by_default(odds: _Odds, repo: Repo) -> Match | None:
    """The default branch takes the version as its own: by its name, or by what it declares."""
    case, default = odds.case, repo.default
    if default is None or odds.trunk < repo.derive_at:
        return None
    numbers = case.product.default_numbers
    if numbers and covers(numbers, case.version.numbers):
        own = repo.refs.names[default].version
        text = "this branch's version" if own.key == case.version.key else f"covered by this branch's {own}"
        reason = Reason("default|named", weights.ISSUE_VERSION, text)
    elif "trunk|declares|version" in case.trunk and case.newer:
        reason = Reason("default|declares", weights.ISSUE_VERSION, f"files at its tip declare {case.version}")
    else:
        return None
    return _found("taken", odds, repo, "", odds.trunk, winners={default: (reason,)})


def _unsure(odds: _Odds, repo: Repo) -> Match | None:
    """A branch fits best, and not surely enough."""
    if not odds.best:
        return None
    first = _some([c.branch for c in odds.best])
    sure = math.fsum(odds.chance[c.branch] for c in odds.best)
    fits = "fits" if len(odds.best) == 1 else "fit"
    why = f"{first} {fits} best, but only with confidence {sure:.0%} (deriveAt {repo.derive_at:.0%})"
    return _found("unsure", odds, repo, why)


def _on_default(odds: _Odds, repo: Repo) -> Match | None:
    """The line's newest release was made on the default branch: no branch is created for the line yet."""
    line = odds.case.line
    if line is None or not line.branches or repo.default not in line.branches:
        return None
    verb = "was merged into" if line.merged else "was made on"
    made = f"{line.release.name}, the newest release of the line of {odds.case.version}, {verb} {repo.default}"
    return _found("not-created", odds, repo, made)


def _incomplete(odds: _Odds, repo: Repo) -> Match | None:
    """A branch that is missing from an incomplete list may exist."""
    if repo.complete:
        return None
    why = f"no branch of {odds.case.version} is known here, and the list is not complete"
    return _found("unknown", odds, repo, why)


def _lost(odds: _Odds, repo: Repo) -> Match | None:
    """The line's newest release is on no listed branch, or on one that is not the line's."""
    line = odds.case.line
    if line is None:
        return None
    verb = "was merged first into" if line.merged else "was made only on"
    where = f"{verb} {_some(line.branches)}" if line.branches else "is on no listed branch"
    why = f"{line.release.name}, the newest release of the line of {odds.case.version}, {where}"
    return _found("lost", odds, repo, why)


def _not_created(odds: _Odds, repo: Repo) -> Match | None:
    """The version is newer than all that is here."""
    newest = _newest_here(odds.case, repo)
    if newest is not None and odds.case.version.key <= newest[0]:
        return None
    than = "nothing here has a version" if newest is None else f"newer than {newest[1]}, the newest here"
    return _found("not-created", odds, repo, than + _missing(odds.case, repo))


def _unknown(odds: _Odds, repo: Repo) -> Match | None:
    """Nothing here tells."""
    why = f"no branch and no release tag here belongs to the line of {odds.case.version}"
    return _found("unknown", odds, repo, why)


_RULES = (
    _taken,
    _tied,
    _unread,
    _by_default,
    _unsure,
    _on_default,
    _incomplete,
    _lost,
    _not_created,
    _unknown,
)


def _found(
    outcome: Outcome,
    odds: _Odds,
    repo: Repo,
    why: str,
    sure: float | None = None,
    *,
    winners: Mapping[str, tuple[Reason, ...]] | None = None,
    unread: str | None = None,
) -> Match:
    """A match with the branches that come near. Without winners it is right if the default branch or none is."""
    taken = winners or {}
    near = {c.branch: _relation(c, odds.case, repo) for c in odds.near(taken.keys())}
    confidence = weights.FORESEEN * (odds.trunk + odds.nothing if sure is None else sure)
    return Match(outcome, taken, near, why, confidence, unread)


def strange_words(wanted: Reading, repo: Repo) -> list[str]:
    """The words of a label that nothing here carries, if they make its number the version of something else.

    One word before a number that is marked as a version (`CNV v4.22`) names this product, if no other is released here.
    """
    known = repo.record.words | {word for reading in repo.refs.names.values() for word in reading.words}
    # What follows the number with a dash (`17-pool`) is a remark.
    remark = len(_WORD.findall(wanted.after.lower())) if wanted.after.startswith("-") else 0
    words = wanted.words[: len(wanted.words) - remark]
    strange = [w for w in words if not is_family(w) and w not in repo.record.neutral and w not in known]
    if not strange:
        return []
    joined = bool(wanted.before)
    marked = joined and wanted.before[-1:] in "vV" and not repo.record.products
    return [] if marked and len(strange) == 1 else strange


def _points(code: str) -> int:
    if code in weights.PRIORS:
        return weights.PRIORS[code]
    # What was merged in first counts like what was made there, where that is too rare to fit.
    known = POINTS.get(code) or POINTS.get(code.replace("|merged", "|newest"))
    return known[0] if known else 0


def _sum(codes: Iterable[str]) -> int:
    return sum(map(_points, codes))


def _newest_here(case: Case, repo: Repo) -> tuple[tuple[tuple[int, ...], int, tuple[int, ...]], str] | None:
    known = [(case.newest.version.key, case.newest.name)] if case.newest is not None else []
    lines = repo.conventions.lines.values()
    plain = [line for line in lines if line.name not in case.product.contrary]
    known += [(line.reading.version.key, line.name) for line in plain]
    return max(known, default=None)


def _missing(case: Case, repo: Repo) -> str:
    """`; no branch exists for it yet (it would be release/9.5)`, by the name that the convention gives the branch."""
    name = repo.conventions.name_for(case.version)
    would = f" (it would be {printable(name)})" if name and name not in repo.listed else ""
    return f"; no branch exists for it yet{would}"


def _some(names: Iterable[str] | None) -> str:
    found = sorted(names or ())
    return ", ".join(map(printable, found[:_NAMED])) + (", ..." if len(found) > _NAMED else "")


# --- in words ---


def _reasons(candidate: Candidate, base: int, case: Case, repo: Repo) -> Iterator[Reason]:
    first, *others = candidate.codes
    yield Reason(first, base + _points(first), _relation(candidate, case, repo))
    for code in others:
        points = _points(code)
        if points:
            yield Reason(code, points, _say(code, candidate, case, repo))


def _relation(candidate: Candidate, case: Case, repo: Repo) -> str:
    """How the name relates to the version, and where the newest release of the line is."""
    name, standing = _name_text(candidate, case, repo), _standing_text(candidate, case, repo)
    return ", and ".join(text for text in (name, standing) if text)


def _name_text(candidate: Candidate, case: Case, repo: Repo) -> str:  # noqa: PLR0911 - a table
    own = repo.refs.names[candidate.branch].version if candidate.branch in repo.refs.names else None
    match candidate.name:
        case "exact":
            return "this branch's version"
        case "line" | "coarse":
            return "this branch's version" if own and own.key == case.version.key else f"covered by this branch's {own}"
        case "inside":
            return f"named for {own}, a version of the line"
        case "sibling":
            return f"named for {own}, another version of the line than {case.version}"
        case "early":
            return f"named for a pre-release of {own}, not for {case.version}"
        case "newer" | "older":
            return f"named for {own}"
        case "contrary":
            return f"named for {own}, which its releases do not follow"
        case "none":
            return ""


def _standing_text(candidate: Candidate, case: Case, repo: Repo) -> str:  # noqa: PLR0911 - a table
    line = _newest_on(candidate.branch, case)
    version = case.version
    match candidate.standing:
        case "newest":
            named = candidate.name in ("exact", "line", "coarse")
            return f"it carries {line}" + ("" if named else f", the newest release of the line of {version}")
        case "merged":
            return f"{line}, the newest release of the line of {version}, was merged into it first"
        case "some":
            return f"it carries other releases of the line of {version}"
        case "before":
            return f"it carries {case.before.name if case.before else ''}, the newest release before {version}"
        case "elsewhere":
            return f"{line} is on {_some(case.line.branches if case.line else None)}"
        case "trunk":
            return f"{line} {'was merged into' if case.line and case.line.merged else 'was made on'} {repo.default}"
        case "lost":
            return f"{line} is on no listed branch"
        case "first" | "unread":
            return ""


def _newest_on(branch: str, case: Case) -> str:
    """The name of the newest release of the line: of tags of one version the one that this branch carries."""
    if case.line is None:
        return ""
    version = case.line.release.version
    own = (r.name for r in case.product.carried.get(branch, ()) if r.version == version)
    return next(own, case.line.release.name)


def _say(code: str, candidate: Candidate, case: Case, repo: Repo) -> str:
    """One further signal in words."""
    kind, _, rest = code.partition("|")
    reading = repo.refs.names.get(candidate.branch)
    under = f"branches named {reading.template}" if reading else "branches of this name"
    match kind:
        case "template":
            own, away = case.product.own, case.product.away
            counted = own[reading.template] if reading else 0, away[reading.template] if reading else 0
            if rest.startswith("new"):
                return f"no release shows yet what {under} are for"
            return f"of {sum(counted)} {under}, {counted[0]} carry the releases of their version"
        case "habit":
            made = f"{rest} of the recent releases with as many numbers were made on {under}"
            return "no release has as many numbers" if rest == "unknown" else made
        case "unknown-words":
            known = repo.record.neutral | {word for product in case.product.words for word in product}
            words = [w for w in (reading.words if reading else ()) if not is_family(w) and w not in known]
            return f"words that no release here carries: {' '.join(words) or printable(candidate.branch)}"
        case "declares":
            return f"files at its tip declare {_DECLARED[rest]}"
        case _:
            return weights.SENTENCES[code if code in weights.SENTENCES else kind]
