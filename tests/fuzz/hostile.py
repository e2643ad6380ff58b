"""What somebody would write who wants to break it: texts, names, JSON, bundles, and valid input that was damaged.

`fuzzed` gives every test here the same few examples in each run, which cost seconds. For a long look at other ones:

    BASE_BRANCH_FUZZ_EXAMPLES=20000 python -m pytest tests/fuzz -q --hypothesis-show-statistics

It takes new examples each time; a failure prints its input, which becomes a test of its own beside these.
"""

from __future__ import annotations

import json
import os
from copy import deepcopy
from datetime import timedelta
from typing import TYPE_CHECKING, Final, TypeVar, get_args

import jsonschema
import msgspec
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from candidates.contract import json_schema
from collectors.errors import EvidenceError
from ranking.facts import (
    Backtest,
    Branch,
    Facts,
    Failure,
    FailureKind,
    Issue,
    IssueField,
    IssueLink,
    IssueVersion,
    RecentChoice,
    RefListing,
    Repository,
    Role,
    Settings,
    Tag,
)
from tests.ranking.facts_builder import NOW, OID

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

EXAMPLES: Final = int(os.environ.get("BASE_BRANCH_FUZZ_EXAMPLES", "0"))
FEW: Final = 30

fuzzed = settings(
    deadline=None,
    derandomize=not EXAMPLES,
    max_examples=EXAMPLES or FEW,
    suppress_health_check=list(HealthCheck),
    database=None,
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
)
FEWER: Final = EXAMPLES or FEW // 4
"""For what starts a process or asks a server for each example."""

# --- texts ---

# What decides something somewhere, what looks like it, what hides, what ends a text early, what is too much.
PIECES: Final = (
    *"/ . - _ + ! # @ ~ ^ : ; , = & ? * [ ] { } ( ) < > | ` ' \" \\ % $ 0 1 8 x X z v".split(),
    *(" ", "\t", "\n", "\r", "\0", "\x1b[31m", "\x7f", "\x85", "\xa0"),
    *"8.4 8.4.0 08.04 7.x 7.17.3 1!2.0 1.0.post1+7 2.0-rc1 -SNAPSHOT -dev 4.20.z 2+ 0.5.2,0.4.3 2026-11-30".split(),
    *"release/ release- stable- feature/ hotfix/ backport/ origin/ refs/heads/ refs/remotes/origin/ v".split(),
    *"main master develop HEAD FETCH_HEAD -x --upload-pack=x .lock .. @{ //".split(),
    *("and", "or", "to", "-", "JS-", "APP-12", "Next", "wip-", "patch-1", "pre", "rc"),
    *("{major}", "{n}", "%2F", "%0A", "https://", "git@host:", "user:pw@", "ghp_0123456789abcdefABCD", "***"),
    *("\u200b", "\u202e", "\u2066", "\ufeff", "\u00ad", "\u3164", "\ufe0f", "\U000e0041", "\u0301"),
    *("\uff18.\uff14.\uff10", "\u0668", "\u216b", "\u2024", "\u2215", "r\u0435lease/", "\u0130", "\u00df", "\u2028"),
    *("\ud800", "\udfff", "\udcff", "\U0001f600", "9" * 14, "9" * 15, "9" * 40, "1" * 4301, "a" * 300),
)
texts = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=8).map("".join),
    st.text(st.characters(codec=None), max_size=20),
    st.sampled_from(PIECES),
)
"""Any text that Python can hold: lone halves of surrogate pairs too, which JSON can spell and UTF-8 cannot."""

words = texts.map(lambda text: text.encode("utf-8", "replace").decode())
"""The same as it comes out of UTF-8."""

# --- JSON ---

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from((0, -1, 1, 2**31, 2**63, 2**64, 10**30, 10**400)),
    st.floats(),
    texts,
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


@st.composite
def damaged(draw: st.DrawFn, document: object, more: st.SearchStrategy[object] = values) -> object:
    """A document that was right, with something else at some places of it, at any depth."""
    root = [deepcopy(document)]
    for _ in range(draw(st.integers(1, 3))):
        holder: list[object] | dict[str, object] = root
        key: int | str = 0
        while True:
            inner = holder[key]  # type: ignore[index]
            if not isinstance(inner, list | dict) or not inner or draw(st.integers(0, 3)) == 0:
                break
            holder = inner
            key = draw(st.integers(0, len(inner) - 1)) if isinstance(inner, list) else draw(st.sampled_from([*inner]))
        what = draw(st.sampled_from(("other", "gone", "more")))
        if what == "gone" and holder is not root:
            del holder[key]  # type: ignore[arg-type]
        elif what == "more" and isinstance(holder[key], dict):  # type: ignore[index]
            holder[key][draw(texts)] = draw(more)  # type: ignore[index]
        else:
            holder[key] = draw(more)  # type: ignore[index]
    return root[0]


def as_bytes(document: object) -> bytes:
    """JSON as other programs write it: NaN and lone surrogates spelled out."""
    return json.dumps(document).encode()


@st.composite
def bytes_like(draw: st.DrawFn, *good: bytes) -> bytes:
    """Bytes of any kind, most of them near to what is right: cut, doubled, with others in between."""
    data: bytes = draw(st.one_of(st.binary(max_size=40), *map(st.just, good)))
    for _ in range(draw(st.integers(0, 4))):
        begin, end = sorted(draw(st.tuples(st.integers(0, len(data)), st.integers(0, len(data)))))
        between = draw(
            st.one_of(st.just(b""), st.binary(max_size=4), st.sampled_from(_BYTES), st.just(data[begin:end]))
        )
        data = data[:begin] + between + data[draw(st.sampled_from((begin, end))) :]
    return data


_BYTES: Final = (
    *(b"\0", b"\n", b"\r\n", b"\t", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\\ud800"),
    *(b'"', b"'", b"{", b"}", b"-", b"=", b"#", b"//", b"^{}", b"refs/heads/"),
    *(b"[" * 50, b"1e999", b"NaN", b"1" * 5000),
)


# --- bundles ---

_role = st.sampled_from((None, *get_args(Role)))
_flag = st.sampled_from((None, True, False))
_moment = st.integers(-4000, 400).map(lambda days: NOW + timedelta(days=days))
_oid = st.sampled_from((None, OID, "f" * 64))
_failure = st.builds(
    lambda kind, detail, host: Failure(kind=kind, detail=detail, host=host),
    st.sampled_from(get_args(FailureKind)),
    words,
    st.none() | words,
)
_version = st.builds(
    IssueVersion,
    name=words,
    field=st.sampled_from(("fixVersions", "versions", "labels", "milestone", "Target Version")) | words,
    role=_role,
    inherited_from=st.none() | words,
    released=_flag,
    archived=_flag,
    closed=_flag,
    release_date=st.none() | words,
)


_named = (
    st.sampled_from(
        """
    main master develop release/8.3 release/8.4 release/8.4.0 v7.x 7.17 js-1.1.x stable/yoga 1-1-stable hotfix/8.4.1
    release/8.4-fix feature/8.4 APP-1 7 HEAD --evil @ release/08.04 origin/main v8.4.0 8.4.1 8.x 9.9 2+ Next
    """.split()
    )
    | words
)
"""Names that meet: what is listed is also claimed, tagged, linked to and remembered."""

_link = st.builds(
    IssueLink,
    kind=st.sampled_from(("parent", "epic", "release", "pull-request", "clones", "blocks", "relates", "other")),
    key=_named,
    direction=st.sampled_from((None, "inward", "outward")),
    label=st.none() | words,
    repository=st.sampled_from((None, "acme/app", "ACME/App", "acme/app ", "acme/other")) | words,
    state=st.sampled_from((None, "open", "merged", "closed")),
    depth=st.integers(1, 5),
    read=st.sampled_from(("answered", "failed", "not-asked")),
    versions=st.lists(_version, max_size=2).map(tuple),
    base_branch=st.none() | _named,
)
_field = st.builds(
    IssueField,
    name=words,
    role=st.sampled_from(get_args(Role)),
    state=st.sampled_from(("values", "empty", "not-delivered", "not-visible", "failed", "not-asked")),
)
_issue = st.builds(
    Issue,
    key=words,
    read=st.sampled_from(("answered", "partial", "not-found", "failed")),
    source=st.sampled_from(("jira", "github", "file")),
    failure=st.none() | _failure,
    fields=st.lists(_field, max_size=2).map(tuple),
    versions=st.lists(_version, max_size=4).map(tuple),
    links_read=st.sampled_from(("answered", "partial", "failed", "not-asked")),
    links=st.lists(_link, max_size=3).map(tuple),
)
_branch = st.builds(
    Branch,
    name=_named,
    tip=_oid,
    cached_tip=_oid,
    local_tip=_oid,
    committed_at=st.none() | _moment,
    date_state=st.sampled_from(("read", "object-missing", "failed", "not-asked")),
    protected=_flag,
)
_tag = st.builds(
    Tag,
    name=_named,
    commit=_oid,
    created_at=st.none() | _moment,
    branches=st.none() | st.lists(_named, max_size=2).map(tuple),
)
_repository = st.builds(
    Repository,
    name=st.just("acme/app") | words,
    remote=st.sampled_from((None, "origin", "team/up")) | words,
    remote_reason=st.none() | words,
    url=st.none() | words,
    default_branch=st.none() | _named,
    default_branch_state=st.sampled_from(("remote", "host-api", "cached", "none", "failed", "not-asked")),
)
_listing = st.builds(
    RefListing,
    provenance=st.sampled_from(("remote", "local")),
    complete=st.booleans(),
    branches=st.lists(_branch, max_size=10).map(tuple),
    tags=st.lists(_tag, max_size=6).map(tuple),
    tags_complete=_flag,
    failure=st.none() | _failure,
)
_settings = st.builds(
    Settings,
    multiple_versions=st.sampled_from(("ambiguous", "lowest", "highest", "development")),
    on_conflict=st.sampled_from(("remembered", "derived", "ask")),
    default_order=st.sampled_from((None, "seed")) | st.lists(words, max_size=3).map(tuple),
    branch_ttl_days=st.sampled_from((0, 15, 36_500, 10**9, 10**18)),
    max_candidates=st.sampled_from((1, 3, 50)),
    derive_floor=st.sampled_from((None, 0.0, 0.9)),
    work_prefixes=st.none() | st.lists(words, max_size=2).map(tuple),
)
_choice = st.builds(RecentChoice, branch=_named, last_used=_moment, count=st.integers(1, 2**53))
bundles = st.builds(
    Facts,
    schema=st.just("base-branch/bundle@1"),
    now=st.just(NOW),
    repository=_repository,
    refs=_listing,
    issue=st.none() | _issue,
    recent=st.lists(_choice, max_size=3).map(tuple),
    backtest=st.none() | st.just(Backtest(asked=3, right=1, wrong=1, held=1, at=NOW)),
    settings=_settings,
)
"""Facts that somebody else made up: a server's refs, anyone's labels, whatever was remembered."""


GOOD_BUNDLE: Final = {
    "schema": "base-branch/bundle@1",
    "now": "2026-11-30T09:00:00Z",
    "repository": {"name": "acme/app", "remote": "origin", "defaultBranch": "main", "defaultBranchState": "remote"},
    "refs": {
        "provenance": "remote",
        "complete": True,
        "branches": [{"name": "main", "tip": OID}, {"name": "release/8.4", "tip": OID, "protected": True}],
        "tags": [{"name": "v8.4.0", "commit": OID, "branches": ["release/8.4"]}],
    },
    "issue": {
        "key": "APP-12",
        "read": "answered",
        "versions": [{"name": "8.4.1", "field": "fixVersions", "released": False}],
        "links": [{"kind": "parent", "key": "APP-9", "versions": [{"name": "8.4", "field": "fixVersions"}]}],
    },
    "recent": [{"branch": "main", "lastUsed": "2026-11-29T09:00:00Z", "count": 2}],
    "settings": {"multipleVersions": "lowest", "defaultOrder": ["main"], "deriveFloor": None},
}

# --- what must hold of all of it ---

_SCHEMAS: Final = {
    name: jsonschema.Draft202012Validator(json_schema(name)) for name in ("bundle", "ranking", "decision")
}


def faults_of(name: str, record: msgspec.Struct) -> list[str]:
    """Where what is printed of a record does not stand under its published schema."""
    printed = json.loads(msgspec.json.encode(record))
    return [f"{problem.json_path}: {problem.message}" for problem in _SCHEMAS[name].iter_errors(printed)]


def answered(call: Callable[[], T]) -> T | EvidenceError:
    """What a call returns, or the one family of errors that has an exit code and words; anything else is a crash."""
    try:
        return call()
    except EvidenceError as error:
        return error
