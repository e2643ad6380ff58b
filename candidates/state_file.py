"""What a run's state file says of the base: merged purely, and refused where the result would break the contract.

A document in, a document out; `collectors.stores.store_file` does the locking and the replacing. Every key that is not
the base's keeps its value, its number spelling and its place.
"""

from __future__ import annotations

import os.path
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path, PurePath
from typing import Annotated, Any, get_args

import msgspec

from candidates.contract import BaseBranchSource, Decision
from collectors.errors import EvidenceError, InvalidInput, SetupError
from collectors.stores.store_file import (
    LOCK_SECONDS,
    NEW_DOCUMENT,
    Damage,
    Document,
    Edit,
    Outcome,
    Pause,
    Raw,
    Reading,
    change_file,
    parse_document,
    raw_items,
    read_settled,
    reason_of,
    remove_member,
    set_member,
)
from collectors.strict_json import join_path, place_of
from ranking.claims import DECISIVE
from ranking.facts import EvidenceKind, Provenance, Ranking
from ranking.names import name_problem, printable

State = dict[str, Any]

BRANCH = "baseBranch"
SOURCE = "baseBranchSource"
STATUS = "baseFetchStatus"
EVIDENCE = "baseBranchEvidence"
PROJECTS = "projects"
BREAKER = "circuitBreaker"
ASKED_ON_ISSUE = "askedOnIssue"
ROOT = "root"

SOURCES: tuple[str, ...] = get_args(BaseBranchSource)
PERSONS_SOURCES = ("asked", "input")
"""Those that an interactive run records; the rest are an unattended run's."""

STATUSES = ("fresh", "cached-stale", "local-branch")
"""`aborted` is never recorded: a run that stopped has no base."""

STALE_STATUSES = STATUSES[1:]

NULLABLE = ("convention", "askedOnIssue")
"""What the ranking keeps as null; a merge patch can only take a null away, so a state may lack them."""

_SHOWN = 80
_MAKES_ONE = "base-branch resolve --state FILE"


class Refused(EvidenceError):  # noqa: N818 - it says what happened
    """The contract of the state file would be broken; every reason stands in `reasons`."""

    def __init__(self, what: str, reasons: Sequence[str]) -> None:
        """`what`: what was refused, for the head of the message."""
        super().__init__(f"{what}: {'; '.join(reasons)}", code="refused")
        self.reasons = tuple(reasons)


# --- reading ---


def read_state(path: Path, *, pause: Pause = time.sleep) -> State:
    """The state file's document; InvalidInput where it is not there, cannot be read or is no JSON object."""
    try:
        reading = read_settled(path, _judge, pause)
    except OSError as error:
        raise InvalidInput(f"the state file {path} cannot be read: {reason_of(error)}") from error
    if reading.data is None:
        raise InvalidInput(f"the state file {path} does not exist", hint=_MAKES_ONE)
    if reading.moving:
        raise InvalidInput(
            f"the state file {path} is being written by another program", hint="the same again, when it is done"
        )
    return parse_state(reading.data, f"the state file {path}")


def parse_state(data: bytes, what: str = "the state") -> State:
    """Decode a state; InvalidInput for anything but one JSON object.

    >>> parse_state(b'{"taskType": "bug"}')
    {'taskType': 'bug'}
    """
    return _document(data, what).root


def _document(data: bytes, what: str) -> Document:
    match parse_document(data):
        case Damage(why=why):
            raise InvalidInput(f"{what} {why}")
        case Document() as document:
            return document


def _judge(data: bytes) -> Damage | None:
    found = parse_document(data)
    return found if isinstance(found, Damage) else None


# --- the contract ---


def is_interactive(state: Mapping[str, object], *, autopilot: bool) -> bool:
    """Whether a person stood behind the run: neither the caller nor the state says that none did."""
    return not autopilot and state.get("workspaceSource") != "autopilot"


def base_faults(state: Mapping[str, object], *, interactive: bool, strict: bool = True) -> tuple[str, ...]:
    """Every way in which what a state says of its base breaks the contract; what it does not say breaks nothing.

    `strict`: the evidence must be a record of this program; else any writer's that the pipeline's schema accepts.

    >>> base_faults({"baseBranchSource": "derived"}, interactive=True)[0]
    'baseBranchSource is derived, which an interactive run never records: only asked or input'
    """
    return (
        *_branch_faults(state.get(BRANCH)),
        *_source_faults(state.get(SOURCE), interactive=interactive),
        *_status_faults(state.get(STATUS)),
        *_evidence_faults(state.get(EVIDENCE), state.get(SOURCE), state.get(STATUS), strict=strict),
    )


def _branch_faults(branch: object) -> list[str]:
    if branch is None:
        return []
    if not isinstance(branch, str):
        return [f"{BRANCH} is no text"]
    problem = name_problem(branch)
    return [f"{BRANCH} {_quoted(branch)} can be no base: {problem}"] if problem else []


def _source_faults(source: object, *, interactive: bool) -> list[str]:
    if source is None:
        return []
    if source not in SOURCES:
        return [f"{SOURCE} {_quoted(source)} is none of {', '.join(SOURCES)}"]
    if interactive and source not in PERSONS_SOURCES:
        return [f"{SOURCE} is {source}, which an interactive run never records: only {' or '.join(PERSONS_SOURCES)}"]
    return []


def _status_faults(status: object) -> list[str]:
    if status is None or status in STATUSES:
        return []
    if status == "aborted":
        return [f"{STATUS} is aborted: a run that stopped has no base to record"]
    return [f"{STATUS} {_quoted(status)} is none of {', '.join(STATUSES)}"]


def story_faults(state: Mapping[str, object]) -> tuple[str, ...]:
    """Where what a state says of one base contradicts itself, though each key is right."""
    evidence, branch = state.get(EVIDENCE), state.get(BRANCH)
    if not isinstance(evidence, dict):
        return ()
    problems = []
    if state.get(STATUS) == "fresh" and evidence.get("refProvenance") == "local":
        problems.append(f"{STATUS} is fresh, and {EVIDENCE}.refProvenance is local: a local list is not the remote's")
    if state.get(SOURCE) != "derived" or not isinstance(branch, str):
        return tuple(problems)
    if (chosen := evidence.get("chosen", branch)) != branch:
        problems.append(f"{SOURCE} is derived, and {BRANCH} {_quoted(branch)} is not the chosen {_quoted(chosen)}")
    listed = evidence.get("candidates")
    candidates = [c for c in listed if isinstance(c, dict)] if isinstance(listed, list) else []
    kinds = {e.get("kind") for c in candidates if c.get("branch") == branch for e in _dicts(c.get("evidence"))}
    if not kinds & set(DECISIVE):
        problems.append(
            f"{SOURCE} is derived, and neither the issue's version nor a linked release speaks for {BRANCH}"
        )
    scores = [score for c in candidates if isinstance(score := c.get("score"), int | float)]
    if scores and scores.count(max(scores)) > 1:
        problems.append(f"{SOURCE} is derived, and {scores.count(max(scores))} candidates tie at the top")
    return tuple(problems)


def _dicts(value: object) -> list[dict[str, object]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def loose_evidence_faults(evidence: object) -> tuple[str, ...]:
    """What no writer's evidence may lack or hold: the pipeline's own schema, where only `refProvenance` is required."""
    if not isinstance(evidence, dict):
        return () if evidence is None else (f"{EVIDENCE} must be an object",)
    strange = sorted(evidence.keys() - set(Ranking.__struct_encode_fields__))
    problems = [f"{join_path(EVIDENCE, key)}: the ranking record has no such key" for key in strange]
    try:
        msgspec.convert({key: value for key, value in evidence.items() if key not in strange}, AnyEvidence)
    except msgspec.ValidationError as error:
        message, where = place_of(str(error))
        problems.append(f"{EVIDENCE}.{where}: {message}" if where else f"{EVIDENCE}: {message}")
    except UnicodeEncodeError:
        problems.append(f"{EVIDENCE}: it holds characters that no text has")
    return tuple(problems)


class AnyReason(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One reason; its detail is free text."""

    kind: EvidenceKind
    detail: str = ""


class AnyCandidate(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One candidate; its score may be any number."""

    branch: str
    score: float | int | None = None
    refs: tuple[str, ...] = ()
    evidence: tuple[AnyReason, ...] = ()


class AnyConvention(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The convention of the branch names."""

    template: str = ""
    members: Annotated[int, msgspec.Meta(ge=0)] = 0


class AnyEvidence(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """The evidence record as any writer of the pipeline may leave it."""

    ref_provenance: Provenance
    chosen: str = ""
    ambiguous: bool = False
    convention: AnyConvention | None = None
    candidates: tuple[AnyCandidate, ...] = ()
    notes: tuple[str, ...] = ()
    asked_on_issue: dict[str, str] | None = None


def _evidence_faults(evidence: object, source: object, status: object, *, strict: bool) -> list[str]:
    if evidence is None:
        problems = []
        if source == "derived":
            problems.append(f"{SOURCE} is derived, and there is no {EVIDENCE}")
        if status in STALE_STATUSES:
            problems.append(f"{STATUS} is {status}, and there is no {EVIDENCE}")
        return problems
    if not isinstance(evidence, dict):
        return [f"{EVIDENCE} is no object"]
    problems = _ranking_faults(evidence) if strict else list(loose_evidence_faults(evidence))
    if source == "derived" and evidence.get("ambiguous") is True:
        problems.append(f"{SOURCE} is derived, and {EVIDENCE} is ambiguous")
    return problems


def _ranking_faults(evidence: dict[str, object]) -> list[str]:
    """The keys that a ranking does not have, all of them, and the first other fault of the record."""
    own = Ranking.__struct_encode_fields__
    strange = sorted(evidence.keys() - set(own))
    problems = [f"{join_path(EVIDENCE, key)}: the ranking record has no such key" for key in strange]
    known = {key: value for key, value in evidence.items() if key in own}
    try:
        msgspec.convert(dict.fromkeys(NULLABLE) | known, Ranking)
    except msgspec.ValidationError as error:
        message, where = place_of(str(error))
        problems.append(f"{EVIDENCE}.{where}: {message}" if where else f"{EVIDENCE}: {message}")
    except UnicodeEncodeError:  # JSON can spell half of a surrogate pair, and UTF-8 cannot
        problems.append(f"{EVIDENCE}: it holds characters that no text has")
    return problems


def _quoted(value: object) -> str:
    text = printable(value if isinstance(value, str) else repr(value))
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "...")


# --- merging ---

Canonical = Callable[[str], str]
"""One spelling for all that name the same folder."""


def merge_state(
    state: Mapping[str, Any],
    decisions: Sequence[Decision],
    roots: Sequence[str | PurePath] = (),
    *,
    canonical: Canonical = os.path.normpath,
) -> State:
    """The state with what was decided; Refused, with every reason, where the result would break the contract.

    Evidence of an earlier run gives way to null where this one has none: it speaks of another base.
    `roots`: the repositories' folders, one a decision, the first the main one's; of one decision it may be left
    out. Nothing is recorded while any decision is without a base. `canonical`: what makes two spellings of one
    root equal (the caller may look at the file system; this function does not).
    """
    return {**state, **decided_changes(state, decisions, roots, canonical=canonical)}


def state_patch(
    state: Mapping[str, Any],
    decisions: Sequence[Decision],
    roots: Sequence[str | PurePath] = (),
    *,
    canonical: Canonical = os.path.normpath,
) -> State:
    """The same as a JSON merge patch (RFC 7386), for a pipeline with a writer of its own; Refused alike.

    Where the merged state holds a null of ours (no convention), the patched one lacks that key: a merge patch
    cannot set a null. `projects` stands in it whole: a merge patch has no other way to change an array.
    """
    changes = decided_changes(state, decisions, roots, canonical=canonical)
    evidence = changes.get(EVIDENCE)
    if evidence is not None:
        # What an earlier record held is taken away by name, also where the given state is not the latest.
        absent = dict.fromkeys(Ranking.__struct_encode_fields__)
        changes[EVIDENCE] = absent | _object_patch(state.get(EVIDENCE), evidence)
    return changes


def _object_patch(old: object, new: Mapping[str, Any]) -> State:
    """The merge patch that makes one object of another."""
    before = old if isinstance(old, dict) else {}
    gone: State = {key: None for key in before if key not in new}
    return gone | {
        key: _object_patch(before.get(key), value) if isinstance(value, dict) else value for key, value in new.items()
    }


def decided_changes(
    state: Mapping[str, Any],
    decisions: Sequence[Decision],
    roots: Sequence[str | PurePath] = (),
    *,
    canonical: Canonical = os.path.normpath,
) -> State:
    """What the decisions make of the state's own keys, each with its whole new value; Refused as `merge_state`."""
    places: list[str | None] = [str(root) for root in roots] or [None] * min(len(decisions), 1)
    paired = list(zip(decisions, places, strict=True))
    several = len(paired) > 1
    problems = [
        f"{printable(decision.repository)}: {problem}" if several else problem
        for decision in decisions
        for problem in _decision_faults(decision)
    ]
    main = not paired or paired[0][1] is None or is_main(state, paired[0][1], canonical)
    if (several or not main) and not isinstance(state.get(PROJECTS, []), list | None):
        problems.append(f"{PROJECTS} is no array, and there are several repositories to record")
    if problems:
        raise Refused("not recorded", problems)
    if not paired or any(decision.base_branch is None for decision in decisions):
        return {}
    changes = _placed(state, paired, canonical)
    if isinstance(evidence := changes.get(EVIDENCE), dict):
        changes[EVIDENCE] = with_question_of(state, evidence)
    problems = mirror_faults({**state, **changes}) if BRANCH in changes else []
    if problems:
        raise Refused("not recorded", problems)
    return changes


def with_question_of(state: Mapping[str, Any], evidence: State) -> State:
    """The evidence with the question that the state holds already, unless the evidence has another."""
    held = state.get(EVIDENCE)
    asked, own = held.get(ASKED_ON_ISSUE) if isinstance(held, dict) else None, evidence.get(ASKED_ON_ISSUE)
    if not isinstance(asked, dict) or (own is not None and own.get("url") != asked.get("url")):
        return evidence
    return evidence | {ASKED_ON_ISSUE: asked}


def is_main(state: Mapping[str, Any], root: str | PurePath, canonical: Canonical) -> bool:
    """Whether the scalars are this repository's: the first project's, or that of `projectRoot`, or of no known root."""
    listed = state.get(PROJECTS)
    first = listed[0].get(ROOT) if isinstance(listed, list) and listed and isinstance(listed[0], dict) else None
    held = first if isinstance(first, str) else state.get("projectRoot")
    return not isinstance(held, str) or canonical(held) == canonical(str(root))


def target_asked(state: Mapping[str, Any]) -> str | None:
    """The issue on which the state's question was asked, None if the state does not say."""
    evidence = state.get(EVIDENCE)
    asked = evidence.get(ASKED_ON_ISSUE) if isinstance(evidence, dict) else None
    target = asked.get("target") if isinstance(asked, dict) else None
    return target if isinstance(target, str) else None


def evidence_of(state: Mapping[str, Any], root: str | PurePath | None, canonical: Canonical) -> object:
    """What the state holds as the evidence of one repository."""
    if root is None or is_main(state, root, canonical):
        return state.get(EVIDENCE)
    listed = state.get(PROJECTS)
    entries = listed if isinstance(listed, list) else []
    return next((entry.get(EVIDENCE) for entry in entries if _has_root(entry, root, canonical)), None)


def person_base(state: Mapping[str, Any], root: str | PurePath | None, canonical: Canonical) -> tuple[str, str] | None:
    """The base of a repository that a person chose before, and its source; None if no person did.

    `root`: the repository's folder, None for the main one, whose base the scalars hold.
    """
    entry: Any = state
    if root is not None:
        listed = state.get(PROJECTS)
        entry = next((e for e in listed if _has_root(e, root, canonical)), {}) if isinstance(listed, list) else {}
    branch, source = entry.get(BRANCH), entry.get(SOURCE)
    return (branch, source) if isinstance(branch, str) and source in PERSONS_SOURCES else None


def _has_root(entry: object, root: str | PurePath, canonical: Canonical) -> bool:
    held = entry.get(ROOT) if isinstance(entry, dict) else None
    return isinstance(held, str) and canonical(held) == canonical(str(root))


def _decision_faults(decision: Decision) -> list[str]:
    record = _record(decision)
    halves = {
        "baseBranch": decision.base_branch,
        "baseRef": decision.base_ref,
        "baseCommit": decision.base_commit,
        "baseBranchSource": decision.base_branch_source,
    }
    missing = [key for key, value in halves.items() if value is None]
    if len(missing) == len(halves):
        return []
    problems = list(base_faults(record, interactive=decision.autonomy != "full"))
    if missing:
        problems.insert(0, f"all of {', '.join(halves)} stand together or none: {', '.join(missing)} is null")
    if decision.base_fetch_status is None:
        problems.append(f"{STATUS} is missing")
    return problems


def _record(decision: Decision) -> State:
    """What the state keeps of a decision."""
    evidence = decision.base_branch_evidence
    return {
        BRANCH: decision.base_branch,
        SOURCE: decision.base_branch_source,
        STATUS: decision.base_fetch_status,
        EVIDENCE: None if evidence is None else msgspec.json.decode(msgspec.json.encode(evidence)),
    }


def _placed(state: Mapping[str, Any], paired: Sequence[tuple[Decision, str | None]], canonical: Canonical) -> State:
    """Each decision at its place: the scalars for the main repository, `projects[]` by root for all.

    The main repository is the first project, or the first one that is recorded. Its evidence stands in the scalars,
    that of the others in their entries. Without a root only the scalars are known.
    """
    listed = state.get(PROJECTS)
    projects = list(listed) if isinstance(listed, list) else []
    index_of = {
        canonical(entry[ROOT]): index
        for index, entry in reversed(list(enumerate(projects)))
        if isinstance(entry, dict) and isinstance(entry.get(ROOT), str)
    }
    first, main_root = paired[0]
    several = len(paired) > 1
    scalars = several or main_root is None or is_main(state, main_root, canonical)
    if not scalars and not projects:
        projects.append(_project_of_scalars(state))
        index_of[canonical(projects[0][ROOT])] = 0
    for decision, root in paired:
        if root is None or not isinstance(listed, list | None):
            continue
        own = _record(decision)
        if (scalars and decision is first) or own[EVIDENCE] is None:
            own.pop(EVIDENCE)
        index = index_of.get(canonical(root))
        if index is not None:
            projects[index] = {**projects[index], **own}
        else:
            index_of[canonical(root)] = len(projects)
            projects.append({"name": decision.repository, ROOT: root, **own})
    changes = _record(first) if scalars else {}
    if changes.get(EVIDENCE) is None and EVIDENCE not in state:
        changes.pop(EVIDENCE, None)
    return {**changes, PROJECTS: projects} if projects else changes


def _project_of_scalars(state: Mapping[str, Any]) -> State:
    """The first project, as the scalars have it; only for a state that names its root."""
    name = {"name": state["project"]} if isinstance(state.get("project"), str) else {}
    return name | {ROOT: state["projectRoot"]} | {key: state[key] for key in (BRANCH, SOURCE, STATUS) if key in state}


def mirror_faults(state: Mapping[str, Any]) -> list[str]:
    """Where the scalars are not those of the first of `projects[]`."""
    projects = state.get(PROJECTS)
    first = projects[0] if isinstance(projects, list) and projects else None
    if not isinstance(first, dict):
        return []
    return [
        f"{PROJECTS}[0].{key} is {_quoted(first[key])}, and {key} is {_quoted(state.get(key))}: "
        f"the scalars mirror the first repository"
        for key in (BRANCH, SOURCE, STATUS)
        if first.get(key) is not None and first[key] != state.get(key)
    ]


# --- writing ---

Changes = Callable[[Mapping[str, Any]], State]
"""What has to change in a state, as whole values of its keys (`decided_changes`, `recheck_changes`); UNSET: no key."""


def canonical_root(folder: Path) -> Canonical:
    """What makes two spellings of one root equal on this machine; relative ones begin at a folder."""
    return lambda root: os.path.realpath(folder / root)


def change_text(data: bytes, changes_of: Changes, what: str = "the state") -> bytes:
    """The state's bytes with what changes; all that does not stays as it is, to the spelling of numbers. Pure.

    >>> change_text(b'{"x": 1.50, "baseFetchStatus": "cached-stale"}', lambda _: {"baseFetchStatus": "fresh"})
    b'{"x": 1.50, "baseFetchStatus": "fresh"}'
    """
    document = _document(data, what)
    text = document.text
    for key, value in changes_of(document.root).items():
        if key in document.root and document.root[key] == value:
            continue
        if value is msgspec.UNSET:
            text = remove_member(text, key)
        elif key == BREAKER and isinstance(old := document.root.get(key), dict):
            for name, part in value.items():
                text = text if name in old and old[name] == part else set_member(text, (key, name), part)
        else:
            text = set_member(text, (key,), _projects_text(document, value) if key == PROJECTS else value)
    return document.encode(text)


def write_state(
    path: Path,
    changes_of: Changes,
    *,
    now: datetime,
    create: bool = True,
    wait_seconds: float = LOCK_SECONDS,
    pause: Pause = time.sleep,
) -> Outcome:
    """Change the state file under its lock, whole or not at all.

    InvalidInput for one that is no state, or has gone meanwhile; SetupError where it cannot be written; Refused
    as `changes_of` refuses. `create`: whether one that was not there is made, where there is something to record.
    """
    what = f"the state file {path}"
    existed = os.path.lexists(path)
    if not existed and not path.parent.is_dir():
        raise InvalidInput(f"{what} cannot be made: there is no such folder", hint=f"mkdir -p {path.parent}")

    def edit(reading: Reading) -> Edit | None:
        if reading.data is None and existed:
            raise InvalidInput(f"{what} has gone meanwhile; nothing was written")
        before = NEW_DOCUMENT if reading.data is None else reading.data
        after = change_text(before, changes_of, what)
        return Edit(data=after) if after != before else None

    try:
        outcome = change_file(
            path,
            edit,
            judge=_judge,
            now=now,
            create=create and not existed,
            wait_seconds=wait_seconds,
            pause=pause,
        )
    except SetupError as error:
        if existed and not os.path.lexists(path):
            raise InvalidInput(f"{what} has gone meanwhile; nothing was written") from error
        raise
    if outcome.before is None and outcome.after is None and (existed or not create):
        raise InvalidInput(f"{what} does not exist", hint=_MAKES_ONE)
    return outcome


def _projects_text(document: Document, projects: Sequence[Any]) -> list[object]:
    """The new list: entries that do not change as they stand in the text, the others edited in theirs."""
    items = raw_items(document, (PROJECTS,))
    listed = document.root.get(PROJECTS)
    old = listed if isinstance(listed, list) else []
    edited: list[object] = []
    for raw, before, after in zip(items, old, projects, strict=False):
        text = raw.text
        for key in after if isinstance(after, dict) else ():
            if key not in before or before[key] != after[key]:
                text = set_member(text, (key,), after[key])
        edited.append(Raw(text))
    return edited + list(projects[len(items) :])
