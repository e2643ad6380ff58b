"""The contract: bundle, ranking and decision; strict decoding; one way of writing; their JSON Schemas.

docs/contract.md explains every key. The bundle and the ranking are `ranking.facts` records. The decision, which only
the application knows, is here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import replace

from collectors.errors import InvalidInput
from collectors.strict_json import decode_strict
from ranking.facts import Facts, FailureKind, OidText, Ranking, Record, Rule, in_utc
from ranking.names import printable

BaseBranchSource = Literal["asked", "input", "remembered", "derived", "default"]
FetchStatus = Literal["fresh", "cached-stale", "local-branch", "aborted"]
SourceName = Literal["remote", "jira", "github", "preferences"]

StatePatch = dict[str, Any]
"""A JSON merge patch (RFC 7386) of a run's state file; in the answer only where `--state-patch` asked for it."""

UNNAMED = "unnamed"
"""The key of an issue of which only versions were given."""


class Remote(Record, frozen=True, kw_only=True):
    """The remote that was asked, its URL without credentials, and why that one."""

    name: str
    url: str | None
    reason: str


class TrailEntry(Record, frozen=True, kw_only=True):
    """One rule of the resolver: whether it fired, and why or why not."""

    rule: Rule
    fired: bool
    reason: str


class Source(Record, frozen=True, kw_only=True):
    """What became of one source in this run; `ms`: how long it took, in milliseconds."""

    name: SourceName
    state: Literal["answered", "partial", "failed", "not-asked"]
    kind: FailureKind | None = None
    host: str | None = None
    detail: str | None = None
    ms: int = 0


class Option(Record, frozen=True, kw_only=True):
    """One answer that a question offers; `label` is verbatim what is chosen."""

    label: str
    description: str
    preview: str | None = None


class Question(Record, frozen=True, kw_only=True):
    """A question as data; `default` is a 1-based index, null where nothing is recommended."""

    id: str
    repository: str
    kind: Literal["remote", "fetch-failed", "base-branch"]
    question: str
    header: str
    options: tuple[Option, ...]
    default: int | None
    allow_free_text: bool


class CircuitBreaker(Record, frozen=True, kw_only=True):
    """Why an unattended run stopped itself."""

    tripped: bool
    trigger: int
    detail: str


class WouldPost(Record, frozen=True, kw_only=True):
    """The comment that the run would post on the issue, and does not."""

    target: str
    body: str


class Decision(Record, frozen=True, kw_only=True):
    """The answer of one run for one repository: docs/contract.md "Decision".

    `confidence`: how likely the first candidate of the evidence is right; null if the issue asks for no version.
    """

    schema: Literal["base-branch/decision@1"] = "base-branch/decision@1"
    repository: str
    autonomy: Literal["manual", "guided", "full"]
    remote: Remote | None
    base_branch: str | None = None
    base_ref: str | None = None
    base_commit: OidText | None = None
    base_branch_source: BaseBranchSource | None = None
    base_fetch_status: FetchStatus | None = None
    base_branch_evidence: Ranking | None = None
    confidence: Annotated[float, Meta(ge=0, le=1)] | None = None
    listing_complete: bool
    trail: tuple[TrailEntry, ...] = ()
    sources: tuple[Source, ...] = ()
    questions: tuple[Question, ...] = ()
    breadcrumb: str | None = None
    circuit_breaker: CircuitBreaker | None = None
    would_post: WouldPost | None = None
    log: tuple[str, ...] = ()
    state_patch: StatePatch | UnsetType = UNSET


class Sibling(Record, frozen=True, kw_only=True):
    """A repository beside the main one; a read-only one is listed, and nothing is decided for it."""

    path: str
    kind: Literal["submodule", "web-repo"]
    branch_hint: str | None = None
    read_only: bool = False
    present: bool


class Decisions(Record, frozen=True, kw_only=True):
    """The answer of one run for several repositories, the first the main one; only the earliest kind is asked."""

    schema: Literal["base-branch/decisions@1"] = "base-branch/decisions@1"
    decisions: tuple[Decision, ...]
    siblings: tuple[Sibling, ...] = ()
    questions: tuple[Question, ...] = ()
    state_patch: StatePatch | UnsetType = UNSET


AnyDecision = Decision | Decisions
"""What one run prints: the decision of one repository, or those of several."""


def decisions_of(answer: AnyDecision) -> tuple[Decision, ...]:
    """Return the decisions of an answer, the main repository's first."""
    return answer.decisions if isinstance(answer, Decisions) else (answer,)


def log_line(now: datetime, text: str) -> str:
    """Return one line of a decision's log, with the moment of the run.

    >>> from datetime import UTC
    >>> log_line(datetime(2026, 11, 30, 9, tzinfo=UTC), "no answer was given")
    '2026-11-30T09:00:00Z no answer was given'
    """
    return f"{moment(now)} {printable(text)}"


def moment(at: datetime) -> str:
    """Return a moment as the wire writes it."""
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"


_SCHEMAS: dict[str, tuple[type[Record], str]] = {
    "bundle": (Facts, "base-branch/bundle@1"),
    "ranking": (Ranking, "base-branch ranking: the evidence record of a run's state file"),
    "decision": (Decision, "base-branch/decision@1"),
    "decisions": (Decisions, "base-branch/decisions@1"),
}
SCHEMA_NAMES = tuple(_SCHEMAS)


_ENCODER = msgspec.json.Encoder()
_PIECE = 1_000


def decode_bundle(data: bytes, what: str = "the bundle") -> Facts:
    """Decode one bundle, with its moment in UTC. Raises InvalidInput with the dotted path of the fault."""
    if _lacks_schema(data):
        raise InvalidInput(f"a required field is missing (in {what})", where="schema")
    facts = decode_strict(data, Facts, what)
    try:
        return in_utc(facts)
    except OverflowError as error:
        raise InvalidInput(f"no calendar holds this moment in UTC (in {what})", where="now") from error


class _Versioned(Struct):
    """What a bundle must say of itself; in Python `Facts` has it as a default."""

    schema: object = UNSET


def _lacks_schema(data: bytes) -> bool:
    try:
        return msgspec.json.decode(data, type=_Versioned).schema is UNSET
    except (msgspec.DecodeError, RecursionError):
        return False  # the strict decoder says what is wrong


def encode_line(record: Record) -> bytes:
    """One record as one line of JSON, without the newline."""
    return msgspec.json.encode(record)


def encode_pretty(record: Record) -> bytes:
    """One record as indented JSON, with a newline at its end."""
    return msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n"


def encode_bundle(facts: Facts) -> Iterator[bytes]:
    """A bundle as indented JSON with a branch or a tag a line: in pieces, for there may be 100,000 of them."""
    refs = facts.refs
    frame = encode_pretty(replace(facts, refs=replace(refs, branches=(), tags=())))
    # Nowhere else can these stand: in a string the quotes are escaped, and no other record has an empty list so named.
    before, branches, rest = frame.partition(b'"branches": []')
    between, tags, after = rest.partition(b'"tags": []')
    yield before
    yield from _a_line_each(branches, refs.branches)
    yield between
    yield from _a_line_each(tags, refs.tags)
    yield after


def _a_line_each(empty: bytes, records: Sequence[Record]) -> Iterator[bytes]:
    """The list in place of the empty one."""
    if not records:
        yield empty
        return
    between = empty.removesuffix(b"]") + b"\n      "
    for start in range(0, len(records), _PIECE):
        lines = _ENCODER.encode_lines(records[start : start + _PIECE])
        yield between + lines[:-1].replace(b"\n", b",\n      ")
        between = b",\n      "
    yield b"\n    ]"


def json_schema(name: str) -> dict[str, Any]:
    """The JSON Schema of `bundle`, `ranking`, `decision` or `decisions`."""
    record, title = _SCHEMAS[name]
    schema = msgspec.json.schema(record)
    if record is Facts:
        schema["$defs"]["Facts"]["required"].insert(0, "schema")
    return published(schema, title)


def published(schema: dict[str, Any], title: str) -> dict[str, Any]:
    """A JSON Schema (2020-12) with its title, and with the document that explains its keys."""
    draft = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": draft, "title": title, "$comment": "docs/contract.md explains every key"} | schema
