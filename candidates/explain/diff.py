"""`base-branch diff`: which facts changed between two records, which evidence followed, and why the answer did.

Pure. That a change of facts gives the new answer is not guessed from its look: it is put into the earlier facts alone,
and these are ranked and resolved again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Literal, TypeVar

import msgspec
from msgspec.structs import replace

from candidates.evidence import tied_names
from candidates.explain.records import Recorded
from candidates.resolver import resolve
from candidates.styled import Line, and_more
from ranking.facts import (
    Branch,
    Candidate,
    Facts,
    Instant,
    Issue,
    IssueLink,
    IssueVersion,
    RecentChoice,
    Record,
    RefListing,
    Settings,
    Tag,
)
from ranking.listing import list_branches
from ranking.names import printable
from ranking.ranker import rank
from ranking.recent import is_expired
from ranking.targets import role_of

ChangeKind = Literal[
    "repository",
    "remote-answer",
    "default-branch",
    "branch-cut",
    "branch-gone",
    "branch-moved",
    "branch-known",
    "branch-unknown",
    "tag-made",
    "tag-gone",
    "tag-moved",
    "tag-carriers",
    "issue",
    "version-added",
    "version-removed",
    "version-edited",
    "link-added",
    "link-removed",
    "link-edited",
    "memory-new",
    "memory-used",
    "memory-expired",
    "memory-forgotten",
    "setting",
    "backtest",
]

_DIGITS = 12
_MOST_SHOWN = 10
_MOST_TIED = 4

T = TypeVar("T")


class FactChange(Record, frozen=True, kw_only=True):
    """One fact that is not what it was; null where it was not there."""

    kind: ChangeKind
    what: str
    before: str | None = None
    after: str | None = None


class CandidateChange(Record, frozen=True, kw_only=True):
    """What became of one candidate: its score (null: it was none) and the evidence that went and came."""

    branch: str
    before: int | None
    after: int | None
    lost: tuple[str, ...] = ()
    gained: tuple[str, ...] = ()


class Outcome(Record, frozen=True, kw_only=True):
    """One record's answer; `at`: the moment of its facts, where it has them."""

    kind: str
    branch: str | None
    source: str | None
    ambiguous: bool
    at: Instant | None = None


class Difference(Record, frozen=True, kw_only=True):
    """Two records, side by side. `facts` null: not both have facts. `unknown`: what could not be compared."""

    schema: Literal["base-branch/difference@1"] = "base-branch/difference@1"
    before: Outcome
    after: Outcome
    facts: tuple[FactChange, ...] | None
    candidates: tuple[CandidateChange, ...]
    why: tuple[str, ...]
    unknown: tuple[str, ...]


def differ(one: Recorded, other: Recorded) -> Difference:
    """What changed from one record to the other."""
    old, new = _facts(one), _facts(other)
    both = old is not None and new is not None
    return Difference(
        before=_outcome(one),
        after=_outcome(other),
        facts=tuple(fact_changes(old, new)) if old is not None and new is not None else None,
        candidates=tuple(_candidate_changes(one, other)),
        why=tuple(_why(one, other)),
        unknown=()
        if both
        else tuple(
            f"which facts changed: the {which} is a {record.kind}, which has none"
            for which, record in (("first", one), ("second", other))
            if _facts(record) is None
        ),
    )


def _facts(record: Recorded) -> Facts | None:
    return record.collected.facts if record.collected is not None else None


def _outcome(record: Recorded) -> Outcome:
    facts = _facts(record)
    return Outcome(
        kind=record.kind,
        branch=record.branch,
        source=record.source,
        ambiguous=record.ranking.ambiguous,
        at=facts.now if facts is not None else None,
    )


# --- facts ---


def fact_changes(old: Facts, new: Facts) -> Iterator[FactChange]:
    """Every fact that is not what it was, in a fixed order."""
    yield from _changed("repository", "name", old.repository.name, new.repository.name)
    yield from _changed("repository", "remote", old.repository.remote, new.repository.remote)
    yield from _changed("remote-answer", "branches", _who(old.refs), _who(new.refs))
    yield from _changed("default-branch", "name", old.repository.default_branch, new.repository.default_branch)
    states = old.repository.default_branch_state, new.repository.default_branch_state
    yield from _changed("default-branch", "told by", *states)
    yield from _branches(old, new)
    yield from _tags(old, new)
    yield from _issue(old.issue, new.issue)
    yield from _memory(old, new)
    for field in msgspec.structs.fields(Settings):
        values = (_value(getattr(facts.settings, field.name)) for facts in (old, new))
        yield from _changed("setting", field.encode_name, *values)
    yield from _changed("backtest", "figure", _figure(old), _figure(new))


def _changed(kind: ChangeKind, what: str, before: str | None, after: str | None) -> Iterator[FactChange]:
    if before != after:
        yield FactChange(kind=kind, what=what, before=before, after=after)


def _value(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _figure(facts: Facts) -> str | None:
    b = facts.backtest
    return f"{b.right} of {b.asked} right" if b is not None else None


def _who(refs: RefListing) -> str:
    """Who gave the list, and whether it is all."""
    if refs.failure is not None:
        return f"{refs.provenance}, no answer ({refs.failure.kind})"
    return f"{refs.provenance}, {'complete' if refs.complete else 'incomplete'}"


def _branches(old: Facts, new: Facts) -> Iterator[FactChange]:
    """Only a complete list makes a missing branch a branch that is not there."""
    before, after = _known(old), _known(new)
    for name in sorted(before.keys() | after.keys()):
        was, now = before.get(name), after.get(name)
        if was is None and now is not None:
            kind: ChangeKind = "branch-cut" if old.refs.complete else "branch-known"
            yield FactChange(kind=kind, what=name, after=_tip(now))
        elif was is not None and now is None:
            kind = "branch-gone" if new.refs.complete else "branch-unknown"
            yield FactChange(kind=kind, what=name, before=_tip(was))
        elif was is not None and now is not None:
            yield from _changed("branch-moved", name, _tip(was), _tip(now))


def _known(facts: Facts) -> Mapping[str, Branch]:
    """The branches that count, and those whose names cannot be used."""
    usable = list_branches(facts).branches
    return {b.name: usable.get(b.name, b) for b in facts.refs.branches if b.name in usable or b.tip is not None}


def _tip(branch: Branch) -> str | None:
    oid = branch.tip or branch.cached_tip or branch.local_tip
    return oid[:_DIGITS] if oid else None


def _tags(old: Facts, new: Facts) -> Iterator[FactChange]:
    before, after = _by_name(old.refs.tags), _by_name(new.refs.tags)
    for name in sorted(before.keys() | after.keys()):
        was, now = before.get(name), after.get(name)
        if was is None and now is not None:
            yield FactChange(kind="tag-made", what=name, after=_carriers(now))
        elif was is not None and now is None:
            yield FactChange(kind="tag-gone", what=name, before=_carriers(was))
        elif was is not None and now is not None:
            yield from _changed("tag-moved", name, _short(was.commit), _short(now.commit))
            yield from _changed("tag-carriers", name, _carriers(was), _carriers(now))


def _by_name(tags: Iterable[Tag]) -> dict[str, Tag]:
    return {tag.name: tag for tag in tags}


def _short(oid: str | None) -> str | None:
    return oid[:_DIGITS] if oid else None


def _carriers(tag: Tag) -> str:
    if tag.branches is None:
        return "not known on which branches"
    if tag.branches:
        return f"on {', '.join(sorted(tag.branches))}"
    return f"merged into {', '.join(sorted(tag.merged_into))}" if tag.merged_into else "on no branch"


def _issue(old: Issue | None, new: Issue | None) -> Iterator[FactChange]:
    yield from _changed("issue", "key", old.key if old else None, new.key if new else None)
    yield from _changed("issue", "read", old.read if old else None, new.read if new else None)
    yield from _keyed(_fields(old), _fields(new), lambda name, was, now: _changed("issue", f"field {name}", was, now))
    yield from _versions(old.versions if old else (), new.versions if new else ())
    yield from _changed("issue", "links", old.links_read if old else None, new.links_read if new else None)
    yield from _links(old.links if old else (), new.links if new else ())


def _fields(issue: Issue | None) -> dict[str, str]:
    return {field.name: field.state for field in issue.fields} if issue is not None else {}


def _keyed(
    before: Mapping[str, T], after: Mapping[str, T], change: Callable[[str, T | None, T | None], Iterator[FactChange]]
) -> Iterator[FactChange]:
    for key in sorted(before.keys() | after.keys()):
        yield from change(key, before.get(key), after.get(key))


def _versions(old: Iterable[IssueVersion], new: Iterable[IssueVersion]) -> Iterator[FactChange]:
    def change(key: str, was: str | None, now: str | None) -> Iterator[FactChange]:
        kind: ChangeKind = "version-added" if was is None else "version-removed" if now is None else "version-edited"
        yield from _changed(kind, key, was, now)

    yield from _keyed({_label(v): _said(v) for v in old}, {_label(v): _said(v) for v in new}, change)


def _label(version: IssueVersion) -> str:
    origin = f" of {version.inherited_from}" if version.inherited_from else ""
    return f"{version.field} {version.name}{origin}"


def _said(version: IssueVersion) -> str:
    flags = ("released", version.released), ("archived", version.archived), ("closed", version.closed)
    day = [f"on {version.release_date}"] if version.release_date else []
    return ", ".join([role_of(version), *(name for name, value in flags if value), *day])


def _links(old: Iterable[IssueLink], new: Iterable[IssueLink]) -> Iterator[FactChange]:
    def change(key: str, was: str | None, now: str | None) -> Iterator[FactChange]:
        kind: ChangeKind = "link-added" if was is None else "link-removed" if now is None else "link-edited"
        yield from _changed(kind, key, was, now)

    yield from _keyed(
        {f"{k.kind} {k.key}": _link(k) for k in old}, {f"{k.kind} {k.key}": _link(k) for k in new}, change
    )


def _link(link: IssueLink) -> str:
    named = [_label(v) for v in link.versions]
    base = [f"targets {link.base_branch}"] if link.base_branch else []
    return ", ".join([link.state or link.read, *base, *sorted(named)])


def _memory(old: Facts, new: Facts) -> Iterator[FactChange]:
    """A choice that was made, was made again, is too old by now, or was taken out."""
    before, after = ({c.branch: c for c in facts.recent} for facts in (old, new))
    for name in sorted(before.keys() | after.keys()):
        was, now = before.get(name), after.get(name)
        if was is None or now is None:
            kind: ChangeKind = "memory-new" if was is None else "memory-forgotten"
            yield FactChange(kind=kind, what=name, before=_choice(was), after=_choice(now))
        elif _expired(now, new) and not _expired(was, old):
            yield FactChange(kind="memory-expired", what=name, before=_choice(was), after=_choice(now))
        else:
            yield from _changed("memory-used", name, _choice(was), _choice(now))


def _choice(choice: RecentChoice | None) -> str | None:
    return f"{choice.count}x, last on {choice.last_used:%Y-%m-%d}" if choice is not None else None


def _expired(choice: RecentChoice, facts: Facts) -> bool:
    return is_expired(choice, facts.now, facts.settings.branch_ttl_days)


# --- evidence ---


def _candidate_changes(one: Recorded, other: Recorded) -> Iterator[CandidateChange]:
    """In the order of the later record; those that are gone from it last."""
    before = {c.branch: c for c in one.ranking.candidates}
    after = {c.branch: c for c in other.ranking.candidates}
    for name in dict.fromkeys((*after, *before)):
        was, now = before.get(name), after.get(name)
        lost, gained = _evidence(was), _evidence(now)
        if was is None or now is None or lost != gained or was.score != now.score:
            yield CandidateChange(
                branch=name,
                before=was.score if was is not None else None,
                after=now.score if now is not None else None,
                lost=tuple(line for line in lost if line not in gained),
                gained=tuple(line for line in gained if line not in lost),
            )


def _evidence(candidate: Candidate | None) -> list[str]:
    return [f"{e.kind} {e.detail}" for e in candidate.evidence] if candidate is not None else []


# --- why ---

_GROUPS: dict[str, Callable[[Facts, Facts], Facts]] = {
    "the list of branches": lambda into, of: replace(into, refs=replace(of.refs, tags=into.refs.tags)),
    "the tags": lambda into, of: replace(into, refs=replace(into.refs, tags=of.refs.tags)),
    "the default branch": lambda into, of: replace(into, repository=of.repository),
    "the issue": lambda into, of: replace(into, issue=of.issue),
    "the memory": lambda into, of: replace(into, recent=of.recent),
    "the settings": lambda into, of: replace(into, settings=of.settings),
    "the backtest": lambda into, of: replace(into, backtest=of.backtest),
    "the date": lambda into, of: replace(into, now=of.now),
}
"""Facts that can change by themselves: how to put those of one bundle into another."""

_Answer = tuple[str | None, str | None, tuple[str, ...]]
"""The branch, the rule, and the branches that the evidence leaves tied."""


def _why(one: Recorded, other: Recorded) -> Iterator[str]:
    old, new = _facts(one), _facts(other)
    yield from _strangers(one, other, old, new)
    was, now = (_answer_of(record) for record in (one, other))
    if was == now:
        yield f"The answer is the same: {_in_words(now)}."
        return
    yield f"The answer was {_in_words(was)}; it is {_in_words(now)}."
    if old is not None and new is not None:
        yield from _causes(old, new, now)
    before = {entry.rule: entry for entry in one.trail}
    for entry in other.trail:
        earlier = before.get(entry.rule)
        if earlier is not None and (earlier.fired, earlier.reason) != (entry.fired, entry.reason):
            yield (
                f"The rule {entry.rule} {_did(earlier.fired)} ({printable(earlier.reason)}); "
                f"now it {_did(entry.fired)} ({printable(entry.reason)})."
            )


def _strangers(one: Recorded, other: Recorded, old: Facts | None, new: Facts | None) -> Iterator[str]:
    if one.name is not None and other.name is not None and one.name != other.name:
        yield f"These are of different repositories: {printable(one.name)} and {printable(other.name)}."
    keys = [facts.issue.key for facts in (old, new) if facts is not None and facts.issue is not None]
    if len(set(keys)) > 1:
        yield f"These are of different issues: {' and '.join(map(printable, keys))}."
    for which, record in (("first", one), ("second", other)):
        if record.branch is None and record.collected is None:
            yield f"The {which} is a {record.kind} without an answer: none was taken, or a person had to choose."


def _answer_of(record: Recorded) -> _Answer:
    return record.branch, record.source, tied_names(record.ranking)


def _in_words(answer: _Answer) -> str:
    branch, source, tied = answer
    tie = f"; the evidence ties {and_more(tied, _MOST_TIED)}" if tied else ""
    return f"{printable(branch)} ({printable(source or 'no source')}{tie})" if branch is not None else f"no branch{tie}"


def _did(fired: bool) -> str:  # noqa: FBT001 - one word for one flag
    return "fired" if fired else "passed"


def _causes(old: Facts, new: Facts, answer: _Answer) -> Iterator[str]:
    """The facts that by themselves give the new answer; else those without which it would be another."""
    changed = {name: put for name, put in _GROUPS.items() if put(old, new) != old}
    alone = [name for name, put in changed.items() if _resolved(put(old, new)) == answer]
    if alone:
        yield f"Alone enough for it: {'; '.join(alone)}, put into the earlier facts."
        return
    needed = [name for name, put in changed.items() if _resolved(put(new, old)) != answer]
    if needed:
        yield f"No one change is enough for it; none of these can be left out: {'; '.join(needed)}."
    elif changed:
        yield f"No one change is enough for it, and none is indispensable: {'; '.join(changed)}."


def _resolved(facts: Facts) -> _Answer:
    ranking = rank(facts)
    resolution = resolve(facts, ranking)
    return resolution.branch, resolution.source, tied_names(ranking)


# --- for a person ---


def difference_lines(found: Difference) -> Iterator[Line]:
    """The answer first, then the facts, then the evidence."""
    for number, sentence in enumerate(found.why):
        yield [("bold" if number == 0 else "", sentence)]
    yield []
    yield [("bold", "Facts")]
    yield from _fact_lines(found)
    yield []
    yield [("bold", "Evidence")]
    if not found.candidates:
        yield [("", "  the same")]
    for change in found.candidates[:_MOST_SHOWN]:
        scores = " -> ".join("none" if score is None else str(score) for score in (change.before, change.after))
        yield [("cyan", f"  {printable(change.branch)}"), ("", f"  {scores}")]
        yield from ([("red", f"    - {printable(line)}")] for line in change.lost)
        yield from ([("green", f"    + {printable(line)}")] for line in change.gained)
    if len(found.candidates) > _MOST_SHOWN:
        yield [("dim", f"  and {len(found.candidates) - _MOST_SHOWN} more candidates")]


def _fact_lines(found: Difference) -> Iterator[Line]:
    yield from ([("yellow", f"  not known: {said}")] for said in found.unknown)
    if found.facts is None:
        return
    if not found.facts:
        yield [("", "  the same")]
    shown_of: dict[str, int] = {}
    for change in found.facts:
        shown_of[change.kind] = shown_of.get(change.kind, 0) + 1
        if shown_of[change.kind] <= _MOST_SHOWN:
            yield [("", f"  {change.kind:<16}  {printable(change.what)}{_from_to(change)}")]
    for kind, count in shown_of.items():
        if count > _MOST_SHOWN:
            yield [("dim", f"  {kind:<16}  and {count - _MOST_SHOWN} more")]


def _from_to(change: FactChange) -> str:
    if change.before is None or change.after is None:
        only = change.after if change.before is None else change.before
        return f": {printable(only)}" if only is not None else ""
    return f": {printable(change.before)} -> {printable(change.after)}"
