"""The facts that a ranking is made of, and the ranking: frozen records, one shape in memory and in JSON.

Every field keeps "not asked", "asked: none" and "asked: no answer" apart. JSON keys are the camel-cased names.
docs/contract.md explains each key. Nothing is computed here.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import replace

from ranking.names import OID_PATTERN

OidText = Annotated[str, Meta(pattern=OID_PATTERN)]
Patterns = Annotated[tuple[str, ...], Meta(max_length=200)]
"""Patterns of branch names: each is held against every branch, so there is an end to them."""
Instant = Annotated[datetime, Meta(tz=True)]
"""A moment with its offset, RFC 3339 on the wire."""

Role = Literal["fix", "target", "milestone", "label", "affected"]
EvidenceKind = Literal[
    "issue-version",
    "linked-release",
    "version-convention",
    "recent",
    "repo-default",
    "sort-order",
    "ref-provenance",
]
Rule = Literal["remembered", "derived", "default"]
Provenance = Literal["remote", "local"]

# Closed list: a collector that meets something new says `unknown` and keeps the text in `detail`.
FailureKind = Literal[
    "host-not-found",
    "refused",
    "timed-out",
    "tls",
    "auth-wanted",
    "auth-refused",
    "not-found",
    "access-denied",
    "unknown-host-key",
    "protocol",
    "rate-limited",
    "ownership",
    "git-missing",
    "git-too-old",
    "no-remote",
    "unknown",
]


class Record(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """What all records share: frozen, strict, camel-cased on the wire."""


class Failure(Record, frozen=True, kw_only=True):
    """Why a source gave no answer: a closed kind, what it said (redacted), and the host that was asked."""

    kind: FailureKind
    detail: str
    host: str | None = None


class LinePattern(Record, frozen=True, kw_only=True):
    """A pattern of branch names that an automation file of the default branch names."""

    pattern: str
    file: str


class Declaration(Record, frozen=True, kw_only=True):
    """A version that a file at a branch's tip declares."""

    file: str
    version: str


class Repository(Record, frozen=True, kw_only=True):
    """Which repository, which of its remotes and why that one, and what is known of its default branch."""

    name: str
    remote: str | None = None
    remote_reason: str | None = None
    url: str | None = None
    remote_type: Literal["github", "bitbucket", "gitlab", "generic-git"] | None = None
    default_branch: str | None = None
    default_branch_state: Literal["remote", "host-api", "cached", "none", "failed", "not-asked"] = "not-asked"
    line_patterns: tuple[LinePattern, ...] = ()


# By position too, unlike the other records: 100,000 are made at once.
class Branch(Record, frozen=True, gc=False):
    """One branch by its three tips: advertised by the remote, in the remote-tracking ref, in the local head.

    All three null: listed, and nothing more is known (a recorded list of names).
    """

    name: str
    tip: OidText | None = None
    cached_tip: OidText | None = None
    local_tip: OidText | None = None
    committed_at: Instant | None = None
    date_state: Literal["read", "object-missing", "failed", "not-asked"] = "not-asked"
    protected: bool | None = None
    declares: tuple[Declaration, ...] = ()
    declares_state: Literal["read", "none", "object-missing", "failed", "not-asked"] = "not-asked"


class Tag(Record, frozen=True, kw_only=True):
    """One tag, peeled; `branches` as docs/contract.md says: [] if it is on none, null if nobody looked.

    `merged_into`: for a tag on no branch's own line, the branches whose own line took it in first, by a merge.
    """

    name: str
    commit: OidText | None = None
    created_at: Instant | None = None
    branches: tuple[str, ...] | None = None
    merged_into: tuple[str, ...] | None = None


class RefListing(Record, frozen=True, kw_only=True):
    """Branches and tags, who gave them, and whether they are all; the failure where the remote gave none."""

    provenance: Provenance
    complete: bool
    branches: tuple[Branch, ...] = ()
    tags: tuple[Tag, ...] = ()
    tags_complete: bool | None = None
    failure: Failure | None = None


class IssueField(Record, frozen=True, kw_only=True):
    """One field that was looked for on the issue, and what became of that."""

    name: str
    role: Role
    state: Literal["values", "empty", "not-delivered", "not-visible", "failed", "not-asked"]


class IssueVersion(Record, frozen=True, kw_only=True):
    """One version named by the issue; `role` null: by its field's well-known name."""

    name: str
    field: str
    role: Role | None = None
    inherited_from: str | None = None
    released: bool | None = None
    archived: bool | None = None
    closed: bool | None = None
    release_date: str | None = None


class IssueLink(Record, frozen=True, kw_only=True):
    """One link of the issue. `depth`: 1 for its own, more for a parent's parent."""

    kind: Literal["parent", "epic", "release", "pull-request", "clones", "blocks", "relates", "other"]
    key: str
    direction: Literal["inward", "outward"] | None = None
    label: str | None = None
    repository: str | None = None
    state: Literal["open", "merged", "closed"] | None = None
    depth: Annotated[int, Meta(ge=1)] = 1
    read: Literal["answered", "failed", "not-asked"] = "answered"
    versions: tuple[IssueVersion, ...] = ()
    base_branch: str | None = None


class Issue(Record, frozen=True, kw_only=True):
    """The work item's facts; `read` says whether it could be read at all."""

    key: str
    read: Literal["answered", "partial", "not-found", "failed"]
    source: Literal["jira", "github", "file"] = "file"
    failure: Failure | None = None
    fields: tuple[IssueField, ...] = ()
    versions: tuple[IssueVersion, ...] = ()
    links_read: Literal["answered", "partial", "failed", "not-asked"] = "not-asked"
    links: tuple[IssueLink, ...] = ()


class RecentChoice(Record, frozen=True, kw_only=True):
    """A base that a person chose for this project before."""

    branch: str
    last_used: Instant
    count: Annotated[int, Meta(ge=1)] = 1


class Backtest(Record, frozen=True, kw_only=True):
    """How the ranker did on this repository's own history: counts of questions, and the day.

    `derived_right`, `derived_wrong`: of the answers that were derived; None in a figure of an older version.
    """

    asked: Annotated[int, Meta(ge=0)]
    right: Annotated[int, Meta(ge=0)]
    wrong: Annotated[int, Meta(ge=0)]
    held: Annotated[int, Meta(ge=0)]
    at: Instant
    derived_right: Annotated[int, Meta(ge=0)] | None = None
    derived_wrong: Annotated[int, Meta(ge=0)] | None = None


class Settings(Record, frozen=True, kw_only=True):
    """What the user may set; docs/contract.md has the defaults, too."""

    multiple_versions: Literal["ambiguous", "lowest", "highest", "development"] = "ambiguous"
    on_conflict: Literal["remembered", "derived", "ask"] = "remembered"
    resolve_order: tuple[Rule, ...] = ("remembered", "derived", "default")
    default_order: Patterns | Literal["seed"] | None = None
    branch_ttl_days: Annotated[int, Meta(ge=0)] = 15
    max_candidates: Annotated[int, Meta(ge=1)] = 50
    derive_floor: Annotated[float, Meta(ge=0, le=1)] | None = None
    work_prefixes: Patterns | None = None
    derive_at: Annotated[float, Meta(ge=0, le=1)] = 0.75


class Facts(Record, frozen=True, kw_only=True):
    """The bundle: everything that one ranking may look at, and the moment at which it was gathered."""

    schema: Literal["base-branch/bundle@1"] = "base-branch/bundle@1"
    now: Instant
    repository: Repository
    refs: RefListing
    issue: Issue | None = None
    recent: tuple[RecentChoice, ...] = ()
    backtest: Backtest | None = None
    settings: Settings = Settings()


class Evidence(Record, frozen=True, kw_only=True):
    """One reason. `detail` begins with its points: `+100: fixVersions 8.4.0 is this branch's version`."""

    kind: EvidenceKind
    detail: Annotated[str, Meta(pattern=r"^[+-]\d{1,9}: ")]


class Candidate(Record, frozen=True, kw_only=True):
    """A branch with its score (the sum of its evidence's points) and the refs that hold it in this clone."""

    branch: str
    score: int
    refs: tuple[str, ...]
    evidence: tuple[Evidence, ...]


class Convention(Record, frozen=True, kw_only=True):
    """The dominant template of release-branch names, and how many branches stand under it."""

    template: str
    members: int


class AskedOnIssue(Record, frozen=True, kw_only=True):
    """The one comment that asked on the issue."""

    target: str
    url: str
    at: Instant


class Ranking(Record, frozen=True, kw_only=True):
    """The evidence record of docs/contract.md: what a run's state file keeps, and no other key."""

    ref_provenance: Provenance
    chosen: str | UnsetType = UNSET
    ambiguous: bool
    convention: Convention | None
    candidates: tuple[Candidate, ...]
    notes: tuple[str, ...]
    asked_on_issue: AskedOnIssue | None = None


class SureRanking(Ranking, frozen=True, kw_only=True):
    """A ranking with the confidence in its first candidate, from 0 to 1; null if the issue asks for no version."""

    confidence: float | None = None


def decode_facts(data: bytes | str) -> Facts:
    """Decode a bundle, for example one that `base-branch collect` printed.

    Raises msgspec.ValidationError if it is not a bundle, with the path of the fault.
    """
    return in_utc(msgspec.json.decode(data, type=Facts))


def in_utc(facts: Facts) -> Facts:
    """Give the moment of the facts in UTC. Raises OverflowError if the calendar has no such moment."""
    return replace(facts, now=facts.now.astimezone(UTC)) if facts.now.utcoffset() else facts


def encode_ranking(ranking: Ranking) -> bytes:
    """Encode a ranking as one line of JSON, as `base-branch rank --ndjson` prints it.

    >>> encode_ranking(Ranking(ref_provenance="local", ambiguous=False, convention=None, candidates=(), notes=()))[:43]
    b'{"refProvenance":"local","ambiguous":false,'
    """
    return msgspec.json.encode(ranking)
