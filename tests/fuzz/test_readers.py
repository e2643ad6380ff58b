"""Bytes that nobody means well: what git prints, state and preference files, configurations, issues, stages.

Each reader answers or refuses in words; none crashes, and none changes what it may not. How to look longer:
`tests.fuzz.hostile`.
"""

from __future__ import annotations

import io
import json
from functools import partial

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from candidates.checks.gate import gate
from candidates.state_file import base_faults, change_text, parse_state
from collectors.config.files import parse_file
from collectors.errors import InvalidInput
from collectors.git.commit_graph import (
    parse_batch,
    parse_graph,
    parse_timestamps,
    signed_at,
    to_datetime,
)
from collectors.git.ref_lines import PEELED, parse_ref_lines
from collectors.git.refs import parse_advertised
from collectors.git.repository import parse_boolean, parse_config, parse_git_version
from collectors.issue.file import read_issue
from collectors.stores.preferences import parse_recent
from collectors.stores.recent_entries import damage_of, stored_in
from collectors.stores.store_file import Document, parse_document
from ranking.names import HEADS, Oid
from tests.fuzz.hostile import GOOD_BUNDLE, answered, as_bytes, bytes_like, damaged, fuzzed, texts, values
from tests.ranking.facts_builder import OID

GOOD_STATE = {
    "taskType": "bug",
    "siblings": [],
    "baseBranch": "main",
    "baseBranchSource": "derived",
    "baseFetchStatus": "fresh",
    "workspaceSource": "autopilot",
    "baseBranchEvidence": {
        "refProvenance": "remote",
        "chosen": "main",
        "ambiguous": False,
        "convention": {"template": "release/{major}", "members": 2},
        "candidates": [
            {"branch": "main", "score": 5, "refs": [], "evidence": [{"kind": "ref-provenance", "detail": "+5: listed"}]}
        ],
        "notes": ["one"],
        "askedOnIssue": None,
    },
    "projects": [{"root": "/work/app", "baseBranch": "main", "baseFetchStatus": "fresh"}],
}
GOOD_STORE = {
    "global": {
        "recentBranches": [
            {"projectKey": "app", "branch": "main", "lastUsed": "2026-11-29T09:00:00Z", "count": 2},
            {"projectKey": "other", "branch": "develop", "lastUsed": "2026-11-29T09:00:00+02:00"},
        ],
        "baseBranchEvidence": True,
        "autopilotAsksOnIssue": False,
        "webRepos": [{"path": "../web", "readOnly": True}],
    },
    "settings": {"branchTtlDays": 15},
}
GOOD_CONFIG = b"""\
remote = "origin"
defaultOrder = ["develop*", "main"]
workPrefixes = ["feature/"]
multipleVersions = "lowest"
resolveOrder = ["remembered", "derived"]
[jira]
fields = ["Target Version"]
url = "https://jira.example"
"""
GOOD_LISTING = (
    f"{OID}\trefs/heads/main\n{OID}\trefs/tags/v1\n{OID}\trefs/tags/v1^{{}}\nref: refs/heads/main\tHEAD\n".encode()
)
GOOD_ROWS = f"{OID} refs/heads/main\n{OID} refs/remotes/origin/HEAD\n{OID} refs/tags/v1^{{}}\n".encode()
GOOD_GIT_CONFIG = b"remote.origin.url\nhttps://host/acme/app\0remote.origin.fetch\n+refs/heads/*:refs/x/*\0core.bare\0"
GOOD_COMMIT = f"tree {OID}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1764494400 +0000\n\nwork\n".encode()
GOOD_BATCH = f"{OID} commit {len(GOOD_COMMIT)}\n".encode() + GOOD_COMMIT + b"\n" + f"{OID} missing\n".encode()


def bytes_of(document: object) -> st.SearchStrategy[bytes]:
    """JSON that was right, damaged as JSON or as bytes."""
    return st.one_of(damaged(document).map(as_bytes), bytes_like(as_bytes(document)))


@fuzzed
@given(bytes_of(GOOD_BUNDLE["issue"]))
def test_an_issue_file(data: bytes) -> None:
    found = answered(lambda: read_issue("-", io.BytesIO(data)))
    assert isinstance(found, Exception) or msgspec.json.encode(found)


@fuzzed
@given(bytes_of(GOOD_STATE), st.booleans())
def test_a_state_file(data: bytes, autopilot: bool) -> None:  # noqa: FBT001 - hypothesis gives it
    state = answered(lambda: parse_state(data))
    if isinstance(state, Exception):
        assert isinstance(state, InvalidInput)
        return
    reasons = gate(state, autopilot=autopilot)
    assert all(reason.strip() and reason.isprintable() for reason in (*reasons, *base_faults(state, interactive=True)))
    assert change_text(data, lambda _: {}) == data
    changed = answered(lambda: change_text(data, lambda _: {"baseFetchStatus": "cached-stale"}))
    if not isinstance(changed, Exception):
        # By what they print: a NaN does not equal itself.
        after, before = (repr(dict(each) | {"baseFetchStatus": None}) for each in (parse_state(changed), state))
        assert after == before


@fuzzed
@given(bytes_of(GOOD_STORE))
def test_a_store_of_preferences(data: bytes) -> None:
    found = parse_recent(data, "app", "the store")
    assert (found.state == "failed") == (damage_of(data) is not None)
    assert found.detail is None or found.detail.isprintable()
    assert all(msgspec.json.encode(choice) for choice in found.choices)
    document = parse_document(data)
    if isinstance(document, Document):
        assert document.encode(document.text) == data
        assert damage_of(data) or all(entry.raw is not None for entry in stored_in(document))


@fuzzed
@given(bytes_like(GOOD_CONFIG), st.sampled_from(("repository", "user")))
def test_a_configuration_file(data: bytes, source: str) -> None:
    found = answered(lambda: parse_file(data, "the file", source))  # type: ignore[arg-type]
    if isinstance(found, Exception):
        assert isinstance(found, InvalidInput)
    elif source == "repository":
        assert not {"jira.token", "jira.url", "autonomy"} & found.keys()


@fuzzed
@given(bytes_like(GOOD_LISTING, GOOD_ROWS))
def test_what_git_lists(data: bytes) -> None:
    text = data.decode("utf-8", "backslashreplace")
    found = answered(lambda: parse_advertised(text))
    if not isinstance(found, Exception):
        assert "HEAD" not in found.branches
        assert all(name.encode() for name in (*found.branches, *found.tags))
        assert found.default is None or "\n" not in found.default
    heads = answered(lambda: parse_ref_lines(text, " ").under(HEADS))
    assert isinstance(heads, Exception) or not any(name.endswith(PEELED) for name in heads)


@fuzzed
@given(bytes_like(GOOD_GIT_CONFIG), texts)
def test_what_git_says_of_its_configuration(data: bytes, value: str) -> None:
    config = parse_config(data)
    for name in config.subsections("remote", "url"):
        config.every(f"remote.{name}.url")
        config.last(f"remote.{name}.url")
    for said in (value, None, *(v for found in config.values.values() for v in found)):
        answered(partial(parse_boolean, said, key="x"))
    parse_git_version(b"git version " + data)


@fuzzed
@given(bytes_like(GOOD_COMMIT, GOOD_BATCH, f"{OID} {OID} 1764494400\n1764494400 {OID}\n".encode()))
def test_what_git_says_of_objects(data: bytes) -> None:
    seconds = signed_at(data)
    if seconds is not None:
        to_datetime(seconds)
    for parser in (parse_batch, parse_timestamps):
        answered(partial(list, parser(data)))
    answered(partial(parse_graph, data, [Oid(OID)]))


@fuzzed
@given(st.dictionaries(st.sampled_from(("decisions", "key")), values, max_size=2), values)
def test_any_json_in_the_place_of_another(document: dict[str, object], value: object) -> None:
    for data in map(as_bytes, (document, value)):
        answered(partial(parse_state, data))
        answered(partial(read_issue, "-", io.BytesIO(data)))
        parse_recent(data, "app", "the store")
        json.loads(data)
