"""What the fuzzing and the search for hostile facts found: each input stands for the kind that was mended with it."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import msgspec
import pytest
from msgspec.structs import replace as altered

from candidates.commands.rank import rank_stream
from candidates.contract import decode_bundle
from candidates.run.answers import with_evidence_of
from candidates.run.decide import Policy, decide
from candidates.run.replay import recollected
from candidates.state_file import base_faults
from candidates.suggest import near_names
from collectors.config.files import parse_file
from collectors.config.keys import KEYS, from_text
from collectors.errors import InvalidInput, SetupError
from collectors.git.commit_graph import parse_batch, parse_graph, parse_timestamps, signed_at
from collectors.git.failures import classify
from collectors.git.repository import parse_boolean, parse_git_version
from collectors.input_file import LARGEST, read_input
from collectors.issue.reference import JiraReference, parse_reference
from collectors.jira.facts import forge_link
from collectors.jira.failures import read_answer
from collectors.remote_url import host_of, redact
from collectors.stores.preferences import parse_recent
from collectors.stores.recent_entries import stored_in
from collectors.stores.store_file import Document, NotRegularError, parse_document, read_settled
from collectors.strict_json import loads_foreign
from ranking.facts import Facts, RecentChoice, Settings, Tag
from ranking.names import Oid, printable
from ranking.ranker import rank
from ranking.recent import is_expired
from ranking.versions import Version, read_branch, read_label, read_tag
from ranking.words import is_family
from tests.fuzz.hostile import GOOD_BUNDLE, as_bytes
from tests.ranking.facts_builder import NOW, answer, chose, facts, pull, tag, wants
from tests.support.program import base_branch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


MANY_DIGITS = "1" * 10_000

# --- numbers of thousands of digits, which Python does not read ---


@pytest.mark.parametrize("text", [f"v8.4.0+{MANY_DIGITS}", f"1!{MANY_DIGITS}", f"1.0.post1+{MANY_DIGITS}", MANY_DIGITS])
def test_a_version_of_ten_thousand_digits(text: str) -> None:
    bundle = facts(
        ("main", "release/8.4", text), tags=[tag(f"{text}@main")], issue=wants(text, milestone=text, label=text)
    )
    assert rank(bundle).candidates
    for reading in (read_branch(text), read_tag(text), read_label(text)):
        assert reading is None or max(reading.version.numbers) < 10**14


def test_git_may_print_numbers_of_any_length() -> None:
    assert parse_boolean(MANY_DIGITS, key="x")
    assert not parse_boolean("-" + "0" * 10_000, key="x")
    assert len(str(parse_git_version(b"git version " + MANY_DIGITS.encode())[0])) < len(MANY_DIGITS)
    assert signed_at(b"committer A <a@b> " + MANY_DIGITS.encode() + b" +0000\n\nwork") is None


# --- moments that are no dates ---


@pytest.mark.parametrize(
    ("now", "days"),
    [(NOW, 10**9), (NOW, 10**18), (datetime(1, 1, 2, tzinfo=UTC), 15), (datetime.max.replace(tzinfo=UTC), 0)],
)
def test_an_age_is_compared_and_no_moment_is_computed(now: datetime, days: int) -> None:
    choice = RecentChoice(branch="main", last_used=now)
    assert not is_expired(choice, now, days)
    bundle = altered(facts("main develop", recent=(choice,)), now=now, settings=Settings(branch_ttl_days=days))
    assert rank(bundle).chosen == "main"
    decision, _ = decide(recollected(bundle), Policy(autonomy="manual", replay=True))
    assert decision.questions


def test_the_moment_of_a_bundle_is_told_in_utc_whatever_its_offset() -> None:
    found = decode_bundle(as_bytes(GOOD_BUNDLE | {"now": "2026-11-30T01:00:00+05:00"}))
    decision, _ = decide(recollected(found), Policy(autonomy="manual", replay=True))
    assert decision.log[0].startswith("2026-11-29T20:00:00Z ")
    with pytest.raises(InvalidInput, match="now: no calendar"):
        decode_bundle(as_bytes(GOOD_BUNDLE | {"now": "0001-01-01T00:00:00+05:00"}))


def test_an_age_of_exactly_the_time_to_live_counts() -> None:
    assert not is_expired(chose("main", 15), NOW, 15)
    assert is_expired(altered(chose("main"), last_used=NOW - timedelta(days=15, microseconds=1)), NOW, 15)


# --- what does not show ---

HIDDEN = "v1.0.0\u202e"


def test_a_tag_that_turns_the_line_around_is_shown_in_notes_and_evidence() -> None:
    bundle = facts("main 1.0 1.1", tags=[tag(f"{HIDDEN}@1.0"), tag("v1.1.0@1.1")], issue=wants("1.0.1"))
    printed = msgspec.json.encode(rank(bundle)).decode()
    assert printable(HIDDEN).replace("\\", "\\\\") in printed
    assert HIDDEN not in printed


def test_a_remote_that_turns_the_line_around_is_shown_in_the_log() -> None:
    bundle = facts("main", provenance="local")
    bundle = altered(bundle, repository=altered(bundle.repository, remote="ori\u202egin"))
    decision, _ = decide(recollected(bundle), Policy(autonomy="full"))
    assert any("ori\\u202egin" in line for line in decision.log)


# --- versions in disguise ---

DISGUISED = (
    *("\uff18.\uff14.\uff10", "8\u20244\u20240", "8\u200b.4.0", "8\u0301.4.0"),
    *("8.\u0664.0", "8\u00b74\u00b70", "8\u00b2.4"),
)


@pytest.mark.parametrize("text", DISGUISED)
def test_what_looks_like_another_version_than_it_would_be_read_as_names_none(text: str) -> None:
    for before in ("", "release/", "v"):
        assert read_label(before + text) is read_branch(before + text) is read_tag(before + text) is None
    said = rank(facts("main release/4.0 release/8.3.0", tags="v8.3.0@release/8.3.0", issue=wants(text)))
    assert said.chosen == "main"
    assert any("names no version" in note for note in said.notes)


@pytest.mark.parametrize(
    "text", ["8.4.0\u200b", "\ufeff8.4.0", "\u202e8.4.0 \u00ad", "Caf\u00e9 8.4.0", "\u4e00\u822c 8.4.0"]
)
def test_what_does_not_show_at_the_ends_and_words_of_any_script_disguise_nothing(text: str) -> None:
    reading = read_label(text)
    assert reading is not None
    assert reading.version == Version((8, 4, 0))


def test_the_name_that_is_spelled_like_the_version_goes_before_one_with_more_numbers() -> None:
    assert answer(facts("main release/8.3.0 release/8.4.0 release/8.4.0.0", issue=wants("8.4.0"))) == (
        "issue-version release/8.4.0"
    )


# --- halves of surrogate pairs, which JSON can spell and UTF-8 cannot ---

HALF = "a\ud800b"


def test_half_of_a_pair_in_what_a_server_answers() -> None:
    for text in (HALF, "\udfff\ud800", "\ud83d\ude00", "\\\\ud800"):
        found = loads_foreign(json.dumps({text: [text]}).encode())
        assert msgspec.json.encode(found)
    assert loads_foreign(b'["a\\ud800b", "\\ud83d\\ude00", "\\\\ud800"]') == ["a\ufffdb", "\U0001f600", "\\ud800"]
    answer = read_answer(200, {}, json.dumps({"fields": {"fixVersions": [{"name": HALF}]}}).encode())
    assert answer.data == {"fields": {"fixVersions": [{"name": "a\ufffdb"}]}}


def test_half_of_a_pair_in_a_state() -> None:
    evidence = {"refProvenance": "remote", "ambiguous": False, "candidates": [], "notes": []}
    for state in ({"refProvenance": HALF}, {"notes": [HALF]}, {"askedOnIssue": {"target": HALF}}):
        problems = base_faults({"baseBranchEvidence": evidence | state}, interactive=False)
        assert all(problem.isprintable() for problem in problems)


def test_half_of_a_pair_in_the_evidence_of_a_state(tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    decision, _ = decide(recollected(facts("main")), Policy(autonomy="manual", replay=True))
    held = msgspec.to_builtins(decision.base_branch_evidence)
    for notes, kept in (([HALF], decision), (["other"], None)):
        state.write_text(json.dumps({"baseBranchEvidence": held | {"notes": notes}}))
        found = with_evidence_of(decision, state)
        assert (found == decision) == (kept is decision)
        assert msgspec.json.encode(found)


def test_half_of_a_pair_in_a_store() -> None:
    good = {"projectKey": "app", "branch": "main", "lastUsed": "2026-11-29T09:00:00Z"}
    entries = [good, good | {HALF: 1}, good | {"branch": HALF}, good | {"lastUsed": HALF}]
    data = json.dumps({"global": {"recentBranches": entries}}).encode()
    found = parse_recent(data, "app", "the store")
    assert (found.state, len(found.choices)) == ("partial", 1)
    assert found.detail is not None
    assert found.detail.isprintable()
    document = parse_document(data)
    assert isinstance(document, Document)
    assert len(stored_in(document)) == len(entries)


@pytest.mark.parametrize("key", ["multipleVersions", "defaultOrder", "remote"])
def test_bytes_that_are_no_text_in_a_setting(key: str) -> None:
    try:
        from_text(KEYS[key], "a\udcffb", key)
    except InvalidInput as error:
        assert str(error).isprintable()  # noqa: PT017 - a name of bytes is one, and an order may hold it


# --- what git, a server or a person may write without end ---


@pytest.mark.parametrize(
    "parse", [parse_batch, parse_timestamps, lambda data: iter([parse_graph(data, [Oid("b"), Oid("y")])])]
)
@pytest.mark.parametrize("data", [b"\x80\n", b"a b 99999999999999999999999\n", b"x y z\n", b"a\n\n"])
def test_objects_in_an_unknown_form_are_said(parse: Callable[[bytes], Iterator[object]], data: bytes) -> None:
    try:
        list(parse(data))
    except SetupError as error:
        assert error.code == "unexpected-git-output"  # noqa: PT017 - some of it is well for one of them


def test_a_url_in_which_a_newline_is_spelled_leads_nowhere() -> None:
    assert forge_link("https://host/acme/app/pull/65%0A") is None


@pytest.mark.parametrize(
    ("url", "base"),
    [
        ("https://j.example/jira/projects/APP/issues/APP-1", "https://j.example/jira"),
        ("https://j.example/jira/projects/APP/queues/1/issues/APP-1/", "https://j.example/jira"),
        ("https://j.example/issues/APP-1", "https://j.example"),
        ("https://j.example/jira/issues/APP-1", "https://j.example/jira"),
    ],
)
def test_issue_pages_of_a_jira_with_a_context_path(url: str, base: str) -> None:
    assert parse_reference(url, None, None) == JiraReference(key="APP-1", url=base)


def test_the_helper_of_a_url_stands_at_its_beginning() -> None:
    assert host_of("persistent-https::https://host/a") == host_of("https://host/x::y/a") == "host"


def test_the_end_of_a_userinfo_is_looked_for_once_a_run() -> None:
    long = "a://b:c/" * 3
    assert redact(f"{long}@x {long}") == f"a://***@x {long}"
    assert redact("x://ada:pw@host y://b z@w") == "x://***@host y://b z@w"


def test_git_may_repeat_the_beginning_of_a_sentence() -> None:
    assert classify("Repository " * 1000, 128) == "unknown"
    assert classify("fatal: repository 'x' not found", 128) == "not-found"


def test_near_names_of_very_many() -> None:
    listed = [f"release/{i}.4" for i in range(20_000)]
    assert near_names("release/8.4.0", listed)[0] == "release/8.4"


# --- 100,000 names that fit alike ---


SHAPES: dict[str, Callable[[int], Facts]] = {
    "all cover": lambda many: facts(["main", *marked(many, "1.1")], issue=wants("1.1.1")),
    "all cover, coarsely": lambda many: facts(["main", *marked(many, "1")], tags="v1.1.0@main", issue=wants("1.1.1")),
    "all come near": lambda many: facts(["main", *marked(many, "1.1.0")], tags="v1.1.0@main", issue=wants("1.1.1")),
    "all carry": lambda many: facts(
        ["main", *marked(many, "x")], tags=[Tag(name="v1.1.0", branches=tuple(marked(many, "x")))], issue=wants("1.1.1")
    ),
    "all are work, and carry": lambda many: facts(
        ["main", *(f"fix/{n}-a" for n in range(many))],
        tags=[Tag(name="v1.1.0", branches=tuple(f"fix/{n}-a" for n in range(many)))],
        issue=wants("1.1.1"),
    ),
    "all are released": lambda many: facts(
        ["main", *(f"1.1.{n}" for n in range(many))],
        tags=[Tag(name=f"v1.1.{n}", branches=(f"1.1.{n}",)) for n in range(many)],
        issue=wants("1.1.7"),
    ),
    "all are linked": lambda many: facts(
        ["main", "release/1.1"],
        issue=wants("1.1.1", links=tuple(pull("release/1.1", key=f"acme/app#{n}") for n in range(many))),
    ),
}


def marked(many: int, end: str) -> list[str]:
    """Names that fit alike, each under a template of its own."""
    return ["_" * (n % 9 + 1) + "+" * (n // 9) + end for n in range(many)]


@pytest.mark.parametrize("shape", SHAPES)
def test_the_work_of_a_ranking_grows_with_the_names_and_not_with_their_square(shape: str) -> None:
    """Calls of functions are counted, comparisons of records among them: seconds would drift."""
    few, many = (calls_of(SHAPES[shape](size)) for size in (150, 300))
    assert many < 2.3 * few


def calls_of(bundle: Facts) -> int:
    """How many functions one ranking calls."""
    for memo in (read_branch, read_tag, read_label, is_family):
        memo.cache_clear()
    calls = [0]

    def count(frame: object, event: str, argument: object) -> None:
        del frame, argument
        calls[0] += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        rank(bundle)
    finally:
        sys.setprofile(before)
    return calls[0]


def test_a_tie_of_very_many_is_said_in_a_line() -> None:
    ranking = rank(facts(["main", *(f"{'_' * n}1.1" for n in range(1, 50))], issue=wants("1.1.1")))
    assert ranking.ambiguous
    note = next(note for note in ranking.notes if "equally well" in note)
    assert note.endswith(", ...")
    assert len(note) < 200


def test_an_issue_of_very_many_versions_is_looked_at_by_the_lowest_and_the_highest() -> None:
    bundle = facts("main 1.1 1.2 1.9", issue=wants(tuple(f"1.{n}.1" for n in range(1, 60))))
    ranking = rank(bundle)
    assert "59 versions are named: the 10 lowest and highest of them are looked at" in ranking.notes
    lowest = rank(altered(bundle, settings=Settings(multiple_versions="lowest")))
    assert lowest.chosen == "1.1"


@pytest.mark.parametrize("key", ["defaultOrder", "workPrefixes"])
def test_there_is_an_end_to_the_patterns_that_are_held_against_every_branch(key: str) -> None:
    patterns = ", ".join(['"a*"'] * 201)
    with pytest.raises(InvalidInput, match="a list of at most 200 texts"):
        parse_file(f"{key} = [{patterns}]".encode(), "the file", "repository")
    with pytest.raises(InvalidInput, match=f"settings.{key}"):
        decode_bundle(as_bytes(GOOD_BUNDLE | {"settings": {key: ["a*"] * 201}}))


# --- sizes ---


def test_a_key_that_stands_twice_is_refused() -> None:
    text = json.dumps(GOOD_BUNDLE).replace(
        '"branches": [{"name": "main"', '"branches": [], "branches": [{"name": "main"', 1
    )
    with pytest.raises(InvalidInput, match='has the key "branches" twice in one object'):
        decode_bundle(text.encode())


@pytest.mark.parametrize(
    "data",
    [b'{"schema": ' + b"[" * 100_000, b'{"schema": "\\ud800"}', b'{"now": NaN}', b"[" * 100_000 + b"]" * 100_000],
)
def test_json_that_no_record_is_made_of(data: bytes) -> None:
    with pytest.raises(InvalidInput):
        decode_bundle(data)


class Endless(io.RawIOBase):
    """A stream that never ends, and counts what was taken of it."""

    taken = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        self.taken += len(view)
        view[:] = bytes(len(view))
        return len(view)


@pytest.mark.parametrize("ndjson", [False, True])
def test_a_bundle_without_end_is_refused_and_not_read_on(ndjson: bool) -> None:  # noqa: FBT001 - a parameter
    endless = Endless()
    with pytest.raises(InvalidInput, match="larger than 64 MiB"):
        rank_stream(io.BufferedReader(endless), io.BytesIO(), ndjson=ndjson)
    assert endless.taken <= LARGEST + 2**20


@pytest.fixture
def sparse(tmp_path: Path) -> Path:
    """A file of a gigabyte that takes no room."""
    path = tmp_path / "sparse.json"
    with path.open("wb") as file:
        file.truncate(2**30)
    return path


def test_files_of_a_gigabyte_are_refused(sparse: Path) -> None:
    with pytest.raises(InvalidInput, match="larger than 64 MiB"):
        read_input(str(sparse), io.BytesIO(), "the issue")
    with pytest.raises(OSError, match="larger than 64 MiB"):
        read_settled(sparse, lambda _: None)
    for command in (("gate", str(sparse)), ("explain", "--bundle", str(sparse))):
        done = base_branch(*command)
        assert done.code in {2, 7}
        assert "larger than 64 MiB" in done.err + done.out.decode()


def test_a_pipe_that_nobody_writes_to_is_an_empty_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert read_input(str(pipe), io.BytesIO(), "the issue")[0] == b""
    with pytest.raises(NotRegularError):
        read_settled(pipe, lambda _: None)


def test_a_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    keep = os.open(pipe, os.O_RDWR)  # so that the writer need not wait for the reader
    with subprocess.Popen(["sh", "-c", "printf half; sleep 0.1; printf whole"], stdout=keep):
        os.close(keep)
        assert read_input(str(pipe), io.BytesIO(), "the issue")[0] == b"halfwhole"


def test_a_device_without_end_is_refused() -> None:
    with pytest.raises(InvalidInput, match="larger than 64 MiB"):
        read_input("/dev/zero", io.BytesIO(), "the issue")
