"""What the state file keeps of a decision: merged purely, foreign keys untouched, refused with every reason."""

from __future__ import annotations

import fcntl
import json
import os
from copy import deepcopy
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace as altered

from candidates.contract import BaseBranchSource, Decision
from candidates.state_file import (
    BRANCH,
    EVIDENCE,
    PROJECTS,
    SOURCE,
    SOURCES,
    STATUS,
    STATUSES,
    Changes,
    Refused,
    State,
    base_faults,
    canonical_root,
    change_text,
    decided_changes,
    is_interactive,
    is_main,
    merge_state,
    parse_state,
    read_state,
    state_patch,
    write_state,
)
from collectors.errors import InvalidInput, SetupError
from ranking.facts import AskedOnIssue, Convention, Ranking
from tests.ranking.facts_builder import NOW, unhurried
from tests.support.states import RANKING, TIE, apply_patch, decided

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

UNSETTLED = decided(None, None, None)


def without_our_nulls(state: State) -> State:
    """A merge patch cannot set a null: what a patched state looks like."""
    kept = {key: value for key, value in state.items() if key != EVIDENCE or value is not None}
    if EVIDENCE in kept:
        kept[EVIDENCE] = {key: value for key, value in kept[EVIDENCE].items() if value is not None}
    return kept


def reasons(state: Mapping[str, Any], *decisions: Decision, roots: Sequence[str] = ()) -> tuple[str, ...]:
    """Why both ways refuse, alike."""
    found = []
    for way in (merge_state, state_patch):
        with pytest.raises(Refused) as caught:
            way(state, decisions, roots)
        assert caught.value.code == "refused"
        assert all(reason in str(caught.value) for reason in caught.value.reasons)
        found.append(caught.value.reasons)
    assert found[0] == found[1]
    return found[0]


# --- one repository ---


def test_the_four_keys_are_set_and_the_rest_is_left_where_it_was() -> None:
    state = {"zeta": 1, BRANCH: "main", "alpha": {"deep": [1.50, None]}, "siblings": []}
    before = deepcopy(state)
    merged = merge_state(state, [decided()])
    assert list(merged) == ["zeta", BRANCH, "alpha", "siblings", SOURCE, STATUS, EVIDENCE]
    assert merged == state | {
        BRANCH: "release/8.4.0",
        SOURCE: "derived",
        STATUS: "fresh",
        EVIDENCE: json.loads(msgspec.json.encode(RANKING)),
    }
    assert state == before


def test_a_run_without_evidence_takes_away_the_evidence_of_an_earlier_one() -> None:
    state = merge_state({}, [decided()])
    asked = decided("main", "asked", evidence=None, autonomy="manual")
    assert merge_state(state, [asked]) == {BRANCH: "main", SOURCE: "asked", STATUS: "fresh", EVIDENCE: None}
    assert merge_state({}, [asked]) == {BRANCH: "main", SOURCE: "asked", STATUS: "fresh"}
    assert state_patch(state, [asked])[EVIDENCE] is None


def test_a_patch_takes_away_what_the_earlier_evidence_said_even_where_it_does_not_see_it() -> None:
    tie = decided("main", "default", evidence=TIE)
    blind = state_patch({}, [tie])
    old = merge_state({}, [decided()])
    assert apply_patch(old, blind) == without_our_nulls(merge_state(old, [tie]))
    assert "chosen" not in apply_patch(old, blind)[EVIDENCE]


def test_foreign_keys_in_the_old_evidence_do_not_survive_a_patch() -> None:
    old = {EVIDENCE: {"chosen": "x", "confidence": 0.9, "convention": {"template": "t", "members": 1, "why": "?"}}}
    patched = apply_patch(old, state_patch(old, [decided()]))
    assert patched == without_our_nulls(merge_state(old, [decided()]))
    assert "confidence" not in patched[EVIDENCE]
    assert patched[EVIDENCE]["convention"] == {"template": "release/{major}.{minor}.{patch}", "members": 7}


@pytest.mark.parametrize("decision", [UNSETTLED, decided(None, None, "aborted")], ids=["a question", "aborted"])
def test_without_a_base_nothing_is_recorded(decision: Decision) -> None:
    state = {BRANCH: "main", SOURCE: "asked", STATUS: "fresh", "other": 1}
    assert merge_state(state, [decision]) == state
    assert state_patch(state, [decision]) == {}


def test_no_decision_changes_nothing() -> None:
    assert merge_state({"a": 1}, []) == {"a": 1}


# --- several repositories ---

WEB = decided("main", "default", "cached-stale", repository="acme/web")
RECORDED = json.loads(msgspec.json.encode(WEB.base_branch_evidence))
WEB_RECORD = {BRANCH: "main", SOURCE: "default", STATUS: "cached-stale", EVIDENCE: RECORDED}


def test_projects_are_matched_by_root_and_mirrored_by_the_scalars() -> None:
    state = {PROJECTS: [{"root": "/w/app/", "x": 1}, {"name": "no root"}, {"root": "/w/web", BRANCH: "old"}]}
    merged = merge_state(state, [decided(), WEB], ["/w/app", "/w/./web"])
    assert merged[PROJECTS] == [
        {"root": "/w/app/", "x": 1, BRANCH: "release/8.4.0", SOURCE: "derived", STATUS: "fresh"},
        {"name": "no root"},
        {"root": "/w/web", BRANCH: "main", SOURCE: "default", STATUS: "cached-stale", EVIDENCE: RECORDED},
    ]
    assert (merged[BRANCH], merged[SOURCE], merged[STATUS]) == ("release/8.4.0", "derived", "fresh")
    assert merged[EVIDENCE]["chosen"] == "release/8.4.0"
    assert merge_state(merged, [decided(), WEB], ["/w/app", "/w/web"]) == merged


@pytest.mark.parametrize("state", [{}, {PROJECTS: None}, {PROJECTS: []}])
def test_missing_projects_are_made_in_the_order_of_the_repositories(state: State) -> None:
    merged = merge_state(state, [decided(), WEB], ["/w/app", Path("/w/web")])
    assert merged[PROJECTS] == [
        {"name": "acme/app", "root": "/w/app", BRANCH: "release/8.4.0", SOURCE: "derived", STATUS: "fresh"},
        {"name": "acme/web", "root": "/w/web", **WEB_RECORD},
    ]


def test_the_caller_says_which_roots_are_one_folder() -> None:
    state = {PROJECTS: [{"root": "link"}]}
    merged = merge_state(
        state, [decided(), WEB], ["/w/app", "/w/web"], canonical=lambda root: root.replace("link", "/w/app")
    )
    assert [entry["root"] for entry in merged[PROJECTS]] == ["link", "/w/web"]


def test_one_unsettled_repository_of_several_records_none() -> None:
    state = {PROJECTS: [{"root": "/w/app"}]}
    for pair in ([decided(), UNSETTLED], [UNSETTLED, decided()]):
        assert merge_state(state, pair, ["/w/app", "/w/web"]) == state
        assert state_patch(state, pair, ["/w/app", "/w/web"]) == {}


def test_a_single_decision_keeps_its_project_in_step() -> None:
    state = {PROJECTS: [{"root": "/w/app"}, {"root": "/w/web"}]}
    assert merge_state(state, [decided()], ["/w/app"])[PROJECTS][0][BRANCH] == "release/8.4.0"
    later = merge_state(state, [WEB], ["/w/web"])
    assert later == {PROJECTS: [{"root": "/w/app"}, {"root": "/w/web", **WEB_RECORD}]}
    elsewhere = merge_state(state, [WEB], ["/w/other"])
    assert elsewhere == {PROJECTS: [*state[PROJECTS], {"name": "acme/web", "root": "/w/other", **WEB_RECORD}]}


def test_a_second_repository_leaves_the_scalars_of_the_first() -> None:
    first = merge_state({"taskType": "bug"}, [decided()], ["/w/app"])
    both = merge_state(first, [WEB], ["/w/web"])
    assert {key: both[key] for key in first if key != PROJECTS} == {key: first[key] for key in first if key != PROJECTS}
    assert both[PROJECTS] == [*first[PROJECTS], {"name": "acme/web", "root": "/w/web", **WEB_RECORD}]


def test_a_state_that_names_its_root_without_projects_gets_both() -> None:
    state = {"project": "app", "projectRoot": "/w/app", BRANCH: "develop", SOURCE: "asked", STATUS: "fresh"}
    merged = merge_state(state, [WEB], ["/w/web"])
    assert {key: merged[key] for key in state} == state
    assert merged[PROJECTS] == [
        {"name": "app", "root": "/w/app", BRANCH: "develop", SOURCE: "asked", STATUS: "fresh"},
        {"name": "acme/web", "root": "/w/web", **WEB_RECORD},
    ]


def test_two_spellings_of_a_new_root_make_one_project() -> None:
    merged = merge_state({}, [decided(), WEB, WEB], ["/w/app", "/w/web", "/w/web/"])
    assert [entry["root"] for entry in merged[PROJECTS]] == ["/w/app", "/w/web"]


def test_of_two_projects_with_one_root_the_first_is_it() -> None:
    state = {PROJECTS: [{"root": "/w/app"}, {"root": "/w/app"}]}
    merged = merge_state(state, [decided()], ["/w/app"])
    own = {BRANCH: "release/8.4.0", SOURCE: "derived", STATUS: "fresh"}
    assert merged[PROJECTS] == [{"root": "/w/app", **own}, {"root": "/w/app"}]


def test_scalars_that_would_not_mirror_the_first_project_are_refused() -> None:
    nameless: State = {PROJECTS: [{"name": "web", BRANCH: "main", STATUS: "fresh"}]}
    assert reasons(nameless, decided(), roots=["/w/app"]) == (
        "projects[0].baseBranch is 'main', and baseBranch is 'release/8.4.0': the scalars mirror the first repository",
    )
    state: State = {PROJECTS: [{"root": "/w/web", BRANCH: "main", STATUS: "fresh"}]}
    assert reasons(state, decided(), WEB, roots=["/w/app", "/w/web"])[2] == (
        "projects[0].baseFetchStatus is 'cached-stale', and baseFetchStatus is 'fresh': "
        "the scalars mirror the first repository"
    )


def test_projects_that_are_no_array_are_refused_for_several_and_left_alone_for_one() -> None:
    state: State = {PROJECTS: {"root": "/w/app"}}
    assert reasons(state, decided(), WEB, roots=["/w/app", "/w/web"]) == (
        "projects is no array, and there are several repositories to record",
    )
    assert merge_state(state, [decided()], ["/w/app"])[PROJECTS] == {"root": "/w/app"}


def test_roots_and_decisions_come_in_pairs() -> None:
    with pytest.raises(ValueError, match="zip"):
        merge_state({}, [decided(), WEB], ["/w/app"])
    with pytest.raises(ValueError, match="zip"):
        merge_state({}, [decided(), WEB])


# --- what is refused ---

BY_HAND: dict[str, tuple[Decision, str]] = {
    "derived while ambiguous": (
        decided("main", "derived", evidence=TIE),
        "baseBranchSource is derived, and baseBranchEvidence is ambiguous",
    ),
    "derived without evidence": (
        decided(evidence=None),
        "baseBranchSource is derived, and there is no baseBranchEvidence",
    ),
    "stale without evidence": (
        decided(source="input", status="cached-stale", evidence=None),
        "baseFetchStatus is cached-stale, and there is no baseBranchEvidence",
    ),
    "local without evidence": (
        decided(source="input", status="local-branch", evidence=None),
        "baseFetchStatus is local-branch, and there is no baseBranchEvidence",
    ),
    "manual derived": (
        decided(autonomy="manual"),
        "baseBranchSource is derived, which an interactive run never records: only asked or input",
    ),
    "guided remembered": (
        decided(source="remembered", autonomy="guided"),
        "baseBranchSource is remembered, which an interactive run never records: only asked or input",
    ),
    "guided default": (
        decided(source="default", autonomy="guided"),
        "baseBranchSource is default, which an interactive run never records: only asked or input",
    ),
    "half a base": (
        altered(decided(), base_commit=None, base_ref=None),
        "all of baseBranch, baseRef, baseCommit, baseBranchSource stand together or none: baseRef, baseCommit is null",
    ),
    "no branch": (
        altered(decided(), base_branch=None),
        "all of baseBranch, baseRef, baseCommit, baseBranchSource stand together or none: baseBranch is null",
    ),
    "no status": (decided(status=None), "baseFetchStatus is missing"),
    "aborted": (
        decided(status="aborted"),
        "baseFetchStatus is aborted: a run that stopped has no base to record",
    ),
    "a dash": (
        decided("--orphan"),
        "baseBranch '--orphan' can be no base: it begins with a dash, which git would read as an option",
    ),
    "another source": (
        altered(decided(), base_branch_source="guessed"),
        "baseBranchSource 'guessed' is none of asked, input, remembered, derived, default",
    ),
    "another status": (
        altered(decided(), base_fetch_status="new"),
        "baseFetchStatus 'new' is none of fresh, cached-stale, local-branch",
    ),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_what_would_break_the_contract_is_refused(name: str) -> None:
    decision, reason = BY_HAND[name]
    assert reasons({}, decision) == (reason,)


@pytest.mark.parametrize("source", ["asked", "input"])
@pytest.mark.parametrize("autonomy", ["manual", "guided", "full"])
def test_what_a_person_said_is_recorded_in_any_run(
    source: BaseBranchSource, autonomy: Literal["manual", "guided", "full"]
) -> None:
    merged = merge_state({}, [decided(source=source, evidence=None, autonomy=autonomy)])
    assert (merged[SOURCE], EVIDENCE in merged) == (source, False)


@pytest.mark.parametrize("source", ["remembered", "default", "asked", "input"])
def test_an_ambiguous_ranking_forbids_only_derived(source: BaseBranchSource) -> None:
    assert merge_state({}, [decided("main", source, evidence=TIE)])[EVIDENCE]["ambiguous"] is True


def test_every_reason_is_given_at_once_and_names_its_repository() -> None:
    app = decided("main", "derived", "cached-stale", evidence=None, autonomy="guided")
    web = altered(decided(source="default", status="aborted", autonomy="manual"), repository="acme/\x1bweb")
    assert reasons({PROJECTS: 3}, app, web, roots=["/a", "/w"]) == (
        "acme/app: baseBranchSource is derived, which an interactive run never records: only asked or input",
        "acme/app: baseBranchSource is derived, and there is no baseBranchEvidence",
        "acme/app: baseFetchStatus is cached-stale, and there is no baseBranchEvidence",
        "acme/\\x1bweb: baseBranchSource is default, which an interactive run never records: only asked or input",
        "acme/\\x1bweb: baseFetchStatus is aborted: a run that stopped has no base to record",
        "projects is no array, and there are several repositories to record",
    )


# --- the contract of a document ---


@pytest.mark.parametrize(
    ("evidence", "said"),
    [
        ([], "baseBranchEvidence is no object"),
        ("x", "baseBranchEvidence is no object"),
        ({"score": 1}, "baseBranchEvidence.score: the ranking record has no such key"),
        ({"a.b": 1}, 'baseBranchEvidence["a.b"]: the ranking record has no such key'),
        ({"ambiguous": "no"}, "baseBranchEvidence.ambiguous: expected `bool`, got `str`"),
        ({"notes": None}, "baseBranchEvidence.notes: expected `array`, got `null`"),
        ({"candidates": [{"branch": "x"}]}, "baseBranchEvidence.candidates[0].score: a required field is missing"),
        ({"askedOnIssue": {"target": "APP-1", "url": "u", "at": "x"}}, "baseBranchEvidence.askedOnIssue.at: invalid"),
    ],
)
def test_evidence_that_is_no_ranking(evidence: object, said: str) -> None:
    whole = json.loads(msgspec.json.encode(RANKING)) | evidence if isinstance(evidence, dict) else evidence
    found = base_faults({EVIDENCE: whole}, interactive=False)
    assert len(found) == 1
    assert found[0].startswith(said)


def test_evidence_without_its_nulls_is_one_all_the_same() -> None:
    whole = json.loads(msgspec.json.encode(TIE))
    assert base_faults({EVIDENCE: whole}, interactive=False) == ()
    bare = {key: value for key, value in whole.items() if value is not None}
    assert set(whole) - set(bare) == {"convention", "askedOnIssue"}
    assert base_faults({EVIDENCE: bare}, interactive=False) == ()
    del bare["notes"]
    assert base_faults({EVIDENCE: bare}, interactive=False) == (
        "baseBranchEvidence.notes: a required field is missing",
    )


def test_strange_values_are_refused_and_shown_in_one_line() -> None:
    state = {BRANCH: 7, SOURCE: ["derived"], STATUS: "x\n" * 100, EVIDENCE: 1}
    found = base_faults(state, interactive=True)
    assert len(found) == 4
    assert all(reason.isprintable() and len(reason) < 200 for reason in found)


def test_who_is_interactive() -> None:
    assert is_interactive({}, autopilot=False)
    assert is_interactive({"workspaceSource": "manual"}, autopilot=False)
    assert not is_interactive({"workspaceSource": "autopilot"}, autopilot=False)
    assert not is_interactive({}, autopilot=True)


# --- reading ---


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"null", b'"x"', b"\0\0\0", b"\xff{}"])
def test_what_is_no_state(data: bytes) -> None:
    with pytest.raises(InvalidInput, match="the state"):
        parse_state(data)


def test_a_state_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="does not exist"):
        read_state(tmp_path / "none.json")
    with pytest.raises(InvalidInput, match="is no regular file"):
        read_state(tmp_path)
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_state(Path("a\0b"))
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(InvalidInput, match="is no regular file"):
        read_state(pipe)
    file = tmp_path / "state.json"
    file.write_text('{"a": 1')
    with pytest.raises(InvalidInput, match=str(file)):
        read_state(file)
    file.write_text('{"a": 1}')
    assert read_state(file) == {"a": 1}


# --- writing ---

TEXT = b"""{
    "number": 1.50, "big": 12345678901234567890123456789012345,
    "exp": 1E+2,\t"baseBranch" : "old",
    "projects": [
        {"root": "/w/app", "n": 1.0},
        {
            "root": "/w/web",
            "n": 2e0
        }
    ],
    "tail": "\\u00e9\xc3\xa9"
}
"""


def recording(*decisions: Decision, roots: Sequence[str] = ()) -> Changes:
    return lambda state: decided_changes(state, decisions, roots)


def test_every_byte_that_is_not_meant_stays() -> None:
    tie = decided("main", "default", evidence=TIE)
    changed = change_text(TEXT, recording(tie, WEB, roots=["/w/app", "/w/web"]))
    assert json.loads(changed) == merge_state(json.loads(TEXT), [tie, WEB], ["/w/app", "/w/web"])
    for piece in (
        b'"number": 1.50, "big": 12345678901234567890123456789012345,\n    "exp": 1E+2,\t"baseBranch" : "main",',
        b'{"root": "/w/app", "n": 1.0, "baseBranch": "main", "baseBranchSource": "default", "baseFetchStatus"',
        b'            "root": "/w/web",\n            "n": 2e0,\n            "baseBranch": "main",\n',
        b'"tail": "\\u00e9\xc3\xa9",\n    "baseBranchSource": "default",\n',
    ):
        assert piece in changed
    assert change_text(changed, recording(tie, WEB, roots=["/w/app", "/w/web"])) == changed


def test_what_is_recorded_already_keeps_its_layout() -> None:
    state = merge_state({}, [decided(), WEB], ["/w/app", "/w/web"])
    compact = json.dumps(state, separators=(",", ":")).replace("release", "r\\u0065lease").encode()
    assert b"r\\u0065lease" in compact
    assert change_text(compact, recording(decided(), WEB, roots=["/w/app", "/w/web"])) == compact


def test_nothing_to_record_leaves_the_bytes_alone() -> None:
    assert change_text(TEXT, recording(UNSETTLED)) == TEXT


def test_a_key_of_ours_that_stands_twice_is_not_guessed_at() -> None:
    with pytest.raises(InvalidInput, match="baseBranch: it stands there twice"):
        change_text(b'{"baseBranch": "a", "baseBranch": "b"}', recording(decided()))


def test_a_state_is_written_and_can_be_read(tmp_path: Path) -> None:
    file = tmp_path / "agent-state.json"
    outcome = write_state(file, recording(decided()), now=NOW)
    assert outcome.before is None
    assert read_state(file) == merge_state({}, [decided()])
    assert file.stat().st_mode & 0o077 == 0
    file.write_bytes(TEXT)
    file.chmod(0o640)
    write_state(file, recording(decided("main", "default"), roots=["/w/app"]), now=NOW)
    assert read_state(file)[PROJECTS][0][BRANCH] == "main"
    assert file.stat().st_mode & 0o777 == 0o640
    written = file.read_bytes()
    assert write_state(file, recording(decided("main", "default"), roots=["/w/app"]), now=NOW).after is None
    assert file.read_bytes() == written


def test_no_state_is_made_to_record_nothing(tmp_path: Path) -> None:
    file = tmp_path / "agent-state.json"
    assert write_state(file, recording(UNSETTLED), now=NOW).after is None
    assert not file.exists()


def test_what_is_refused_is_not_written(tmp_path: Path) -> None:
    file = tmp_path / "agent-state.json"
    with pytest.raises(Refused):
        write_state(file, recording(decided(evidence=None)), now=NOW)
    assert not file.exists()
    file.write_bytes(TEXT)
    with pytest.raises(Refused):
        write_state(file, recording(decided(evidence=None)), now=NOW)
    assert file.read_bytes() == TEXT


@pytest.mark.parametrize("data", [b"", b"{", b"[1]", b"# a comment", b"\0" * 9])
def test_what_is_no_state_is_left_as_it_is(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "agent-state.json"
    file.write_bytes(data)
    with pytest.raises(InvalidInput, match=str(file)):
        write_state(file, recording(decided()), now=NOW)
    assert file.read_bytes() == data
    assert {path.name for path in tmp_path.iterdir()} <= {file.name, f"{file.name}.lock"}


def test_a_read_only_state_is_not_replaced(tmp_path: Path) -> None:
    file = tmp_path / "agent-state.json"
    file.write_bytes(TEXT)
    file.chmod(0o444)
    with pytest.raises(SetupError, match="read-only"):
        write_state(file, recording(decided()), now=NOW)
    assert file.read_bytes() == TEXT


def test_a_state_that_has_gone_meanwhile_is_not_made_anew(tmp_path: Path) -> None:
    file = tmp_path / "agent-state.json"
    file.write_bytes(TEXT)

    def slow(state: Mapping[str, Any]) -> State:
        file.unlink(missing_ok=True)
        return decided_changes(state, [decided()])

    with pytest.raises(InvalidInput, match="has gone meanwhile; nothing was written"):
        write_state(file, slow, now=NOW)
    assert not file.exists()


def test_a_state_that_goes_while_we_wait_for_the_lock_is_not_made_anew(tmp_path: Path) -> None:
    file = tmp_path / "agent-state.json"
    file.write_bytes(TEXT)
    with (tmp_path / "agent-state.json.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)

        def meanwhile(seconds: float) -> None:
            assert seconds
            file.unlink()
            fcntl.flock(lock, fcntl.LOCK_UN)

        with pytest.raises(InvalidInput, match="has gone meanwhile; nothing was written"):
            write_state(file, recording(decided()), now=NOW, pause=meanwhile)
    assert not file.exists()


def test_a_state_whose_lock_is_held_is_not_written(tmp_path: Path) -> None:
    file = tmp_path / "agent-state.json"
    file.write_bytes(TEXT)
    with (tmp_path / "agent-state.json.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(SetupError, match="is locked by another process"):
            write_state(file, recording(decided()), now=NOW, wait_seconds=0)
    assert file.read_bytes() == TEXT


def test_a_state_that_is_being_written_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "agent-state.json"

    def writes(data: bytes) -> Callable[[float], None]:
        def pause(seconds: float) -> None:
            assert seconds
            file.write_bytes(data)

        return pause

    file.write_bytes(TEXT[:20])
    with pytest.raises(InvalidInput, match="is being written by another program"):
        read_state(file, pause=writes(TEXT[:40]))
    file.write_bytes(TEXT[:20])
    assert read_state(file, pause=writes(TEXT))["number"] == 1.5


def test_what_another_program_wrote_meanwhile_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "agent-state.json"
    file.write_bytes(TEXT)
    asked: list[Mapping[str, Any]] = []

    def between(state: Mapping[str, Any]) -> State:
        if not asked:
            file.write_bytes(TEXT.replace(b'"number": 1.50', b'"number": 1.75, "new": 1'))
        asked.append(state)
        return decided_changes(state, [decided()])

    write_state(file, between, now=NOW)
    assert len(asked) == 2
    assert b'"number": 1.75, "new": 1' in file.read_bytes()
    assert read_state(file)[BRANCH] == "release/8.4.0"


def test_where_no_state_may_be_made(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="there is no such folder"):
        write_state(tmp_path / "typo" / "agent-state.json", recording(decided()), now=NOW)
    with pytest.raises(InvalidInput, match="does not exist"):
        write_state(tmp_path / "agent-state.json", recording(decided()), now=NOW, create=False)
    assert list(tmp_path.iterdir()) == []


def test_roots_are_one_by_what_the_file_system_says(tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "link").symlink_to("app")
    same = canonical_root(tmp_path)
    assert same("link/") == same("./app") == same(str(tmp_path / "app"))
    state = {PROJECTS: [{"root": "link"}]}
    merged = merge_state(state, [decided()], [tmp_path / "app"], canonical=same)
    assert merged[PROJECTS] == [{"root": "link", BRANCH: "release/8.4.0", SOURCE: "derived", STATUS: "fresh"}]


# --- properties ---

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
OURS = (BRANCH, SOURCE, STATUS, EVIDENCE, PROJECTS)
ROOTS = ("/w/app", "/w/web")
FOREIGN = st.dictionaries(st.text(max_size=6).filter(lambda key: key not in OURS), JSON, max_size=5)
RANKINGS = st.builds(
    Ranking,
    ref_provenance=st.sampled_from(["remote", "local"]),
    chosen=st.just("main") | st.just(msgspec.UNSET),
    ambiguous=st.booleans(),
    convention=st.none() | st.builds(Convention, template=st.text(max_size=5), members=st.integers(0, 9)),
    candidates=st.just(()) | st.just(RANKING.candidates),
    notes=st.lists(st.text(max_size=5), max_size=2).map(tuple),
    asked_on_issue=st.none() | st.just(AskedOnIssue(target="APP-1", url="u", at=datetime(2026, 1, 2, tzinfo=UTC))),
)
DECISIONS = st.builds(
    decided,
    st.sampled_from(["main", "release/1", "-x"]) | st.none(),
    st.sampled_from([*SOURCES, None]),
    st.sampled_from([*STATUSES, "aborted", None]),
    st.none() | RANKINGS,
    autonomy=st.sampled_from(["manual", "full"]),
)
PROJECT = st.fixed_dictionaries({}, optional={"root": st.sampled_from([*ROOTS, "/w/app/", "/x"]), "own": JSON}) | JSON
STATES = st.builds(
    lambda foreign, own: {**foreign, **own},
    FOREIGN,
    st.fixed_dictionaries(
        {},
        optional={
            BRANCH: JSON,
            SOURCE: JSON,
            STATUS: JSON,
            EVIDENCE: RANKINGS.map(lambda ranking: json.loads(msgspec.json.encode(ranking))) | JSON,
            PROJECTS: st.lists(PROJECT, max_size=3) | JSON,
        },
    ),
)
RUNS = st.one_of(
    DECISIONS.map(lambda one: ((one,), ())),
    DECISIONS.map(lambda one: ((one,), ROOTS[:1])),
    DECISIONS.map(lambda one: ((one,), ROOTS[1:])),
    st.tuples(DECISIONS, DECISIONS).map(lambda two: (two, ROOTS)),
)
Run = tuple[tuple[Decision, ...], tuple[str, ...]]


def merged_or_refused(state: State, run: Run) -> State | tuple[str, ...]:
    try:
        return merge_state(state, *run)
    except Refused as error:
        return error.reasons


@unhurried
@given(STATES, RUNS)
def test_foreign_keys_keep_their_value_and_their_order(state: State, run: Run) -> None:
    before = deepcopy(state)
    merged = merged_or_refused(state, run)
    assert state == before
    if isinstance(merged, tuple):
        assert merged
        return
    assert [key for key in merged if key not in OURS] == [key for key in state if key not in OURS]
    assert all(merged[key] is state[key] for key in state if key not in OURS)
    kept = [key for key in state if key in merged]
    assert [key for key in merged if key in state] == kept
    if isinstance(state.get(PROJECTS), list):
        pairs = zip(state[PROJECTS], merged[PROJECTS], strict=False)
        assert len(merged[PROJECTS]) >= len(state[PROJECTS])
        for old, new in pairs:
            if isinstance(old, dict):
                assert {k: v for k, v in new.items() if k not in OURS} == {
                    k: v for k, v in old.items() if k not in OURS
                }
            else:
                assert new is old


@unhurried
@given(STATES, RUNS)
def test_merging_twice_is_merging_once(state: State, run: Run) -> None:
    merged = merged_or_refused(state, run)
    if not isinstance(merged, tuple):
        assert merged_or_refused(merged, run) == merged


@unhurried
@given(STATES, RUNS)
def test_the_patch_applied_is_the_merge(state: State, run: Run) -> None:
    merged = merged_or_refused(state, run)
    if isinstance(merged, tuple):
        assert reasons(state, *run[0], roots=run[1]) == merged
        return
    patch = json.loads(json.dumps(state_patch(state, *run)))
    expected = without_our_nulls(merged) if EVIDENCE in patch else merged
    assert apply_patch(state, patch) == expected


@unhurried
@given(STATES, RUNS)
def test_what_was_recorded_keeps_the_contract(state: State, run: Run) -> None:
    merged = merged_or_refused(state, run)
    decisions = run[0]
    if isinstance(merged, tuple) or not all(decision.base_branch for decision in decisions) or run[1] == ROOTS[1:]:
        return
    if len(decisions) == 1 and run[1] and not is_main(state, run[1][0], os.path.normpath):
        return
    interactive = decisions[0].autonomy != "full"
    assert base_faults(merged, interactive=interactive) == ()
    assert base_faults(apply_patch(state, state_patch(state, *run)), interactive=interactive) == ()
    assert None not in [merged.get(key) for key in (BRANCH, SOURCE, STATUS)]


@unhurried
@given(STATES, RUNS, st.sampled_from([None, 2, "\t"]))
def test_the_edited_text_is_the_merge(state: State, run: Run, indent: int | str | None) -> None:
    merged = merged_or_refused(state, run)
    text = json.dumps(state, indent=indent).encode()
    changes = recording(*run[0], roots=run[1])
    if isinstance(merged, tuple):
        with pytest.raises(Refused):
            change_text(text, changes)
        return
    changed = change_text(text, changes)
    assert json.loads(changed) == merged
    assert list(json.loads(changed)) == list(merged)
    assert change_text(changed, changes) == changed
