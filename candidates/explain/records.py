"""What an earlier run left, read again: a bundle, a decision, a state file with its evidence, or a ranking.

Each says what it cannot tell. Only a bundle has the facts, so that only a bundle can be ranked again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Literal

import msgspec
from msgspec import UNSET, Struct

from candidates.contract import Decision, Decisions, Remote, Source, TrailEntry, decode_bundle, encode_bundle
from candidates.evidence import split_detail
from candidates.explain.text import answer_lines, candidate_lines, remote_of, source_lines, trail_lines
from candidates.run.collect import Collected
from candidates.run.replay import overlaid, recollected
from candidates.state_file import BRANCH, EVIDENCE, NULLABLE, SOURCE
from candidates.styled import Line
from collectors.errors import InvalidInput
from collectors.input_file import STANDARD_INPUT, read_input
from collectors.stores.store_file import reason_of, replace_bytes
from collectors.strict_json import decode_strict
from ranking.facts import Facts, Ranking
from ranking.names import name_problem, printable

Kind = Literal["run", "kept run", "bundle", "decision", "state", "ranking"]

_ASKS_NOW = "base-branch explain, which asks now"
_SINCE = "what has changed since"
_RANKED_AGAIN = "what would decide it: without the facts nothing can be ranked again"
_BESIDE = "which branches and tags were listed beside these candidates, and when each was last committed to"
_UNKNOWN: dict[Kind, tuple[str, ...]] = {
    "run": (),
    "kept run": (_SINCE,),
    "bundle": (
        "how long each source took then, and which were asked in vain, beyond what the facts say",
        _SINCE,
    ),
    "decision": (_BESIDE, "what the issue names, beyond what the evidence quotes", _RANKED_AGAIN),
    "state": (
        _BESIDE,
        "which rules were tried and passed, and what each source answered",
        "what the issue names, beyond what the evidence quotes",
        _RANKED_AGAIN,
    ),
    "ranking": (_BESIDE, "which branch was taken in the end, and by which rule", _RANKED_AGAIN),
}


class Recorded(Struct, frozen=True, kw_only=True):
    """One run's outcome, from whatever it was read.

    `collected`: the facts and all that follows from them, None where the record has none.
    """

    kind: Kind
    name: str | None
    ranking: Ranking
    branch: str | None = None
    source: str | None = None
    trail: tuple[TrailEntry, ...] = ()
    log: tuple[str, ...] = ()
    remote: Remote | None = None
    sources: tuple[Source, ...] = ()
    collected: Collected | None = None

    @property
    def unknown(self) -> tuple[str, ...]:
        """What such a record cannot tell."""
        return _UNKNOWN[self.kind]


def recorded(collected: Collected, kind: Kind = "run") -> Recorded:
    """What was collected, as a record that has its facts."""
    return Recorded(
        kind=kind,
        name=collected.facts.repository.name,
        ranking=collected.ranking,
        branch=collected.resolution.branch,
        source=collected.resolution.source,
        trail=collected.resolution.trail,
        log=collected.log,
        remote=remote_of(collected.facts),
        sources=collected.sources,
        collected=collected,
    )


def read_saved(source: str, stdin: BinaryIO, flags: Mapping[str, object] | None = None) -> Recorded:
    """Read a record; `flags` of this run go before a bundle's own settings. InvalidInput for anything else."""
    data, what = read_input(source, stdin, "the saved")
    return parse_saved(data, what, flags or {})


def parse_saved(data: bytes, what: str, flags: Mapping[str, object]) -> Recorded:
    """Tell a record's kind by its `schema`, which a state file and a ranking have not."""
    document: dict[str, Any] = decode_strict(data, dict, what)
    schema = document.get("schema")
    if schema == "base-branch/bundle@1":
        return recorded(recollected(overlaid(decode_bundle(data, what), flags)), "bundle")
    if flags:
        said = f"{', '.join(sorted(flags))} cannot change what {what} says: it holds no facts"
        raise InvalidInput(said, hint="base-branch resolve --save-bundle FILE, which has them")
    if schema == "base-branch/decision@1":
        return decided(decode_strict(data, Decision, what), what)
    if schema == "base-branch/decisions@1":
        several = decode_strict(data, Decisions, what).decisions
        if len(several) != 1:
            message = f"{what} holds {len(several)} decisions, and one is explained at a time"
            raise InvalidInput(
                message, where="decisions", hint="jq '.decisions[0]' FILE | base-branch explain --bundle -"
            )
        return decided(several[0], what)
    if EVIDENCE in document:
        return _of_state(document, what)
    if "candidates" in document and schema is None:
        ranking = _ranking(document, what)
        return Recorded(kind="ranking", name=None, ranking=ranking)
    message = f"{what} is no bundle, no decision, no ranking, and no state with {EVIDENCE}"
    raise InvalidInput(message, hint="base-branch collect --save-bundle FILE")


def decided(decision: Decision, what: str) -> Recorded:
    """A decision as a record, which has no facts. InvalidInput where nothing was ranked for it."""
    if decision.base_branch_evidence is None:
        raise InvalidInput(f"{what} has no evidence: nothing was ranked for it", where=EVIDENCE, hint=_ASKS_NOW)
    return Recorded(
        kind="decision",
        name=decision.repository,
        ranking=decision.base_branch_evidence,
        branch=decision.base_branch,
        source=decision.base_branch_source,
        trail=decision.trail,
        log=decision.log,
        remote=decision.remote,
        sources=decision.sources,
    )


def _of_state(document: Mapping[str, Any], what: str) -> Recorded:
    evidence = document[EVIDENCE]
    if not isinstance(evidence, dict):
        raise InvalidInput(f"{what} has no evidence", where=EVIDENCE, hint=_ASKS_NOW)
    branch, source = document.get(BRANCH), document.get(SOURCE)
    return Recorded(
        kind="state",
        name=None,
        ranking=_ranking(evidence, f"{EVIDENCE} of {what}"),
        branch=branch if isinstance(branch, str) else None,
        source=source if isinstance(source, str) else None,
    )


def _ranking(document: Mapping[str, Any], what: str) -> Ranking:
    """A ranking; a state may lack the keys that a merge patch can only take away."""
    return decode_strict(msgspec.json.encode(dict.fromkeys(NULLABLE) | dict(document)), Ranking, what)


# --- saving ---


def save_bundle(path: Path, facts: Facts) -> None:
    """Write the facts as a bundle. InvalidInput where they cannot be written."""
    if str(path) == STANDARD_INPUT:
        raise InvalidInput("a bundle is saved to a file", where="--save-bundle", hint="base-branch collect > FILE")
    write_whole(path, b"".join(encode_bundle(facts)), "--save-bundle")


def write_whole(path: Path, data: bytes, flag: str) -> None:
    """Write the file that a flag names, whole or not at all. InvalidInput where that cannot be."""
    try:
        replace_bytes(path, data, mode=0o666)  # to hand on, as any program's output
    except OSError as error:
        raise InvalidInput(f"{printable(str(path))} cannot be written: {reason_of(error)}", where=flag) from error


# --- a record without facts, for a person ---


def saved_lines(record: Recorded) -> Iterator[Line]:
    """What a record without facts tells."""
    yield from answer_lines(record.branch, record.source, record.trail, record.ranking)
    yield []
    yield [
        ("bold", printable(record.name or "a repository that the record does not name")),
        ("", f", from a {record.kind}"),
    ]
    yield from source_lines(record.sources, record.remote)
    answered = record.ranking.ref_provenance == "remote"
    yield [("", f"  {'refs':<12}{'by the remote itself' if answered else 'by a clone, not by the remote in that run'}")]
    convention = record.ranking.convention
    named = f"{printable(convention.template)}, {convention.members} members" if convention else "none recorded"
    yield [("", f"  {'convention':<12}{named}")]
    yield []
    yield from candidate_lines(record.ranking, {}, {})
    if record.trail:
        yield []
        yield from trail_lines(record.trail)
    notes = [*record.ranking.notes, *record.log]
    if notes:
        yield []
        yield [("bold", "Notes")]
        yield from ([("", f"  {printable(note)}")] for note in notes)


def unknown_lines(record: Recorded) -> Iterator[Line]:
    """What the record cannot tell; nothing for a run of now."""
    if record.unknown:
        yield []
        yield [("bold", f"What this {record.kind} cannot tell")]
        yield from ([("", f"  {what}")] for what in record.unknown)


def saved_why(record: Recorded, branch: str) -> list[str]:
    """What a record without facts says of a branch."""
    name, candidates = printable(branch), record.ranking.candidates
    place = next((i for i, c in enumerate(candidates) if c.branch == branch), None)
    said = []
    if place is not None:
        candidate = candidates[place]
        said.append(
            f"{name} is number {place + 1} of the {len(candidates)} recorded candidates, with {candidate.score} points."
        )
        details = [(e.kind, *split_detail(e)) for e in candidate.evidence]
        said += [f"{points:+} {kind}: {printable(reason)}." for kind, points, reason in details if points]
        first = candidates[0]
        if first.branch != branch:
            said.append(f"{printable(first.branch)} is first, with {first.score}.")
    elif name_problem(branch) is not None:
        said.append(f"{name or 'An empty name'} can never be an answer: {name_problem(branch)}.")
    else:
        said.append(f"{name} is none of the {len(candidates)} recorded candidates.")
        said.append(f"Whether it was listed, this {record.kind} does not tell; a bundle would.")
        said += [f"A note names it: {printable(note)}" for note in record.ranking.notes if _names(note, name)]
    if record.branch == branch:
        said.append(f"It is the recorded answer ({_source(record)}).")
    elif record.branch is not None:
        said.append(f"The recorded answer is {printable(record.branch)} ({_source(record)}).")
    elif record.kind != "ranking":
        said.append("No answer is recorded: a person had to choose.")
    elif record.ranking.chosen is not UNSET:
        said.append(f"The ranking chose {printable(record.ranking.chosen)}.")
    return said


def _source(record: Recorded) -> str:
    return printable(record.source) if record.source is not None else "no source"


def _names(note: str, name: str) -> bool:
    """Whether a note has the name as a word of its own."""
    return name in note.replace(",", " ").replace(":", " ").split()
