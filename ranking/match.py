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
from ranking.names import shown
from ranking.points import POINTS, SCALE
from ranking.record import Record
from ranking.signals import Candidate, Case, Refs, declared, read_case
from ranking.versions import Reading, Version
from ranking.words import is_family

_WORD = re.compile("[a-z]+")
_NAMED = 5
_NEAR = 12

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


def match(wanted: Reading, repo: Repo) -> Match:  # noqa: PLR0911 - one return for each outcome
    """Find the branch that takes the version, or say why there is none."""
    strange = strange_words(wanted, repo)
    if strange:
        return Match("unknown", why=f"nothing here is called {' '.join(strange)}: it names another thing's version")
    case = read_case(wanted, repo.refs)
    sums = {c.branch: _sum(c.codes) for c in case.candidates}
    trunk, nothing = _sum(case.trunk), _sum(case.nothing)
    most = max((*sums.values(), trunk, nothing))
    chance = {branch: math.exp((s - most) / SCALE) for branch, s in sums.items()}
    rest = math.exp((trunk - most) / SCALE) + math.exp((nothing - most) / SCALE)
    total = sum(chance.values()) + rest
    best = [c for c in case.candidates if sums[c.branch] == most]
    near = _near(case, sums, repo)
    sure = sum(chance[c.branch] for c in best) / total
    if best and max(trunk, nothing) < most and sure >= repo.derive_at:
        base = weights.ISSUE_VERSION - max(trunk, nothing)
        winners = {c.branch: tuple(_reasons(c, base, case, repo)) for c in best}
        others = {b: w for b, w in near.items() if b not in winners}
        return Match("taken", winners, others, confidence=weights.FORESEEN * sure / len(best))
    close = _close(case, chance, math.exp((max(trunk, nothing) - most) / SCALE))
    together = sum(chance[c.branch] for c in close) / total
    if together >= repo.derive_at:
        tied = {c.branch: (Reason(c.codes[0], weights.ISSUE_VERSION, _relation(c, case, repo)),) for c in close}
        return Match("taken", tied, {b: w for b, w in near.items() if b not in tied}, confidence=together / len(close))
    left = weights.FORESEEN * rest / total
    if case.state == "unread" and case.line is not None:
        name = case.line.release.name
        why = f"nobody looked which branches carry {name}"
        return Match("unread", near=near, why=why, confidence=left, unread=name)
    if trunk == most and (taken := _by_default(case, repo)):
        return Match("taken", {repo.default or "": taken}, near, confidence=left)
    if best and max(trunk, nothing) < most:
        first = ", ".join(shown(c.branch) for c in best[:_NAMED])
        why = f"{first} fits best, but only with confidence {sure:.0%} (deriveAt {repo.derive_at:.0%})"
        return Match("unsure", near=near, why=why, confidence=left)
    return _without_branch(case, near, left, repo)


def _close(case: Case, chance: Mapping[str, float], other: float) -> list[Candidate]:
    """The branches that are nearly as likely as the likeliest; none if the default branch, or no branch, is too."""
    if weights.RIVAL * other >= 1:
        return []
    return [c for c in case.candidates if weights.RIVAL * chance[c.branch] >= 1]


def strange_words(wanted: Reading, repo: Repo) -> list[str]:
    """The words of a label that nothing here carries, if they make its number the version of something else.

    A word that is joined to the number (`JS-0.4.0`, `CNV v4.22`) is a product's name. A number alone needs none.
    """
    known = repo.record.words | {word for reading in repo.refs.names.values() for word in reading.words}
    # What follows the number with a dash (`17-pool`) is a remark.
    remark = len(_WORD.findall(wanted.after.lower())) if wanted.after.startswith("-") else 0
    words = wanted.words[: len(wanted.words) - remark]
    strange = [w for w in words if not is_family(w) and w not in repo.record.neutral and w not in known]
    if not strange:
        return []
    last = wanted.before[-1:]
    joined = bool(wanted.before) and not last.isspace() and last != "("
    return [] if joined and len(strange) == 1 and (wanted.separator or wanted.version.wildcard) else strange


def _points(code: str) -> int:
    fitted = POINTS.get(code)
    return weights.PRIORS.get(code, 0) if fitted is None else fitted[0]


def _sum(codes: Iterable[str]) -> int:
    return sum(map(_points, codes))


# --- where no branch takes it ---


def _by_default(case: Case, repo: Repo) -> tuple[Reason, ...]:
    """Why the default branch takes the version as its own: by its name, or by what it declares."""
    numbers, default = case.product.default_numbers, repo.default
    if default is None:
        return ()
    if numbers and case.version.numbers[: len(numbers)] == numbers:
        own = repo.refs.names[default].version
        exact = own.key == case.version.key
        text = "this branch's version" if exact else f"covered by this branch's {own}"
        return (Reason("default|named", weights.ISSUE_VERSION, text),)
    if default in repo.listed:
        for version in declared(repo.refs.listed[default]):
            if not case.version.wildcard and version.numbers and _same(version, case.version):
                return (Reason("default|declares", weights.ISSUE_VERSION, f"files at its tip declare {version}"),)
    return ()


def _same(one: Version, other: Version) -> bool:
    return Version(one.numbers).key == Version(other.numbers).key


def _without_branch(case: Case, near: Mapping[str, str], confidence: float, repo: Repo) -> Match:
    version, line = case.version, case.line
    if line is not None and line.branches and repo.default in line.branches:
        why = f"{line.release.name}, the newest release of the line of {version}, was made on {repo.default}"
        return Match("not-created", near=near, why=why, confidence=confidence)
    if not repo.complete:
        why = f"no branch of {version} is known here, and the list is not complete"
        return Match("unknown", near=near, why=why, confidence=confidence)
    if line is not None:
        where = f"was made only on {_some(line.branches)}" if line.branches else "is on no listed branch"
        why = f"{line.release.name}, the newest release of the line of {version}, {where}"
        return Match("lost", near=near, why=why, confidence=confidence)
    newest = _newest_here(case, repo)
    if newest is None:
        why = f"nothing here has a version{_missing(case, repo)}"
        return Match("not-created", near=near, why=why, confidence=confidence)
    key, name = newest
    if version.key > key:
        why = f"newer than {name}, the newest here{_missing(case, repo)}"
        return Match("not-created", near=near, why=why, confidence=confidence)
    why = f"no branch and no release tag here belongs to the line of {version}"
    return Match("unknown", near=near, why=why, confidence=confidence)


def _newest_here(case: Case, repo: Repo) -> tuple[tuple[tuple[int, ...], int, tuple[int, ...]], str] | None:
    known = [(case.newest.version.key, case.newest.name)] if case.newest is not None else []
    lines = repo.conventions.lines.values()
    plain = [line for line in lines if line.name not in case.product.contrary and line.name != repo.default]
    known += [(line.reading.version.key, line.name) for line in plain]
    return max(known, default=None)


def _missing(case: Case, repo: Repo) -> str:
    """`; no branch exists for it yet (it would be release/9.5)`, by the name that the convention gives the branch."""
    name = repo.conventions.name_for(case.version)
    would = f" (it would be {shown(name)})" if name and name not in repo.listed else ""
    return f"; no branch exists for it yet{would}"


def _some(names: AbstractSet[str] | None) -> str:
    found = sorted(names or ())
    return ", ".join(map(shown, found[:_NAMED])) + (", ..." if len(found) > _NAMED else "")


# --- in words ---


def _near(case: Case, sums: Mapping[str, int], repo: Repo) -> dict[str, str]:
    """The likeliest of the branches that have to do with the version, each with its relation."""
    ordered = sorted((*case.candidates, *case.aside), key=lambda c: (-sums.get(c.branch, -1000), c.branch))[:_NEAR]
    return {c.branch: _relation(c, case, repo) for c in ordered}


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
    line = case.line.release.name if case.line else ""
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
            return f"{line} was made on {repo.default}"
        case "lost":
            return f"{line} is on no listed branch"
        case "first" | "unread":
            return ""


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
            return f"{rest} of the recent releases with as many numbers were made on {under}"
        case "unknown-words":
            known = repo.record.neutral | {word for product in case.product.words for word in product}
            words = [w for w in (reading.words if reading else ()) if not is_family(w) and w not in known]
            return f"words that no release here carries: {' '.join(words) or shown(candidate.branch)}"
        case "declares":
            return f"files at its tip declare {'this version' if rest == 'version' else f'a version of the {rest}'}"
        case _:
            return weights.SENTENCES[code if code in weights.SENTENCES else kind]
