"""The issue record from a file or standard input, and every way in which it is refused."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collectors.errors import InvalidInput
from collectors.issue.file import read_issue
from collectors.strict_json import decode_strict, join_path, place_of
from ranking.facts import Issue, IssueLink, IssueVersion

if TYPE_CHECKING:
    from pathlib import Path

NO_INPUT = io.BytesIO()

FULL = {
    "key": "APP-12",
    "read": "partial",
    "source": "jira",
    "failure": {"kind": "timed-out", "detail": "links", "host": "jira.example.com"},
    "fields": [{"name": "Target Version", "role": "target", "state": "empty"}],
    "versions": [{"name": "8.4.0", "field": "fixVersions", "role": "fix", "released": False}],
    "linksRead": "failed",
    "links": [
        {
            "kind": "blocks",
            "key": "APP-9",
            "label": "is blocked by",
            "versions": [{"name": "8", "field": "x"}],
        }
    ],
}


def read(data: bytes) -> Issue:
    return read_issue("-", io.BytesIO(data))


def refused(data: bytes) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        read(data)
    assert "\n" not in str(caught.value)
    return caught.value


def read_or_refuse(data: bytes) -> Issue | InvalidInput:
    try:
        return read(data)
    except InvalidInput as error:
        return error


# What is read.


def test_a_file_and_standard_input_give_the_same_record(tmp_path: Path) -> None:
    path = tmp_path / "issue.json"
    path.write_text(json.dumps(FULL), encoding="utf-8")
    from_file = read_issue(str(path), NO_INPUT)
    assert from_file == read(json.dumps(FULL).encode())
    assert type(from_file) is Issue
    assert from_file.versions == (IssueVersion(name="8.4.0", field="fixVersions", role="fix", released=False),)
    assert from_file.links[0] == IssueLink(
        kind="blocks", key="APP-9", label="is blocked by", versions=(IssueVersion(name="8", field="x"),)
    )


def test_the_record_is_the_bundles_own() -> None:
    data = json.dumps(FULL).encode()
    assert read(data) == msgspec.json.decode(data, type=Issue)


def test_a_file_is_its_own_answer() -> None:
    assert read(b'{"key": "APP-1"}') == Issue(key="APP-1", read="answered", source="file")


def test_a_state_that_is_given_stands() -> None:
    assert read(b'{"key": "APP-1", "read": "not-found", "source": "github"}') == Issue(
        key="APP-1", read="not-found", source="github"
    )


# What is refused, and where.


@pytest.mark.parametrize(
    ("data", "where", "said"),
    [
        ('{"read": "answered"}', "key", "a required field is missing"),
        ('{"key": 1}', "key", "expected `str`, got `int`"),
        (
            '{"key": "A", "versions": [{"name": 8.4, "field": "f"}]}',
            "versions[0].name",
            "expected `str`, got `float`",
        ),
        ('{"key": "A", "versions": [{"field": "f"}]}', "versions[0].name", "a required field is missing"),
        ('{"key": "A", "versions": {}}', "versions", "expected `array`, got `object`"),
        ('{"key": "A", "version": []}', "version", "unknown field"),
        ('{"key": "A", "links": [{"kind": "epic", "key": "B", "zip": 1}]}', "links[0].zip", "unknown field"),
        ('{"key": "A", "a b": 1}', '["a b"]', "unknown field"),
        (
            '{"key": "A", "versions": [{"name": "1", "field": "f", "a.b": 1}]}',
            'versions[0]["a.b"]',
            "unknown field",
        ),
        ('{"key": "A", "read": "seen"}', "read", "invalid enum value 'seen'"),
        (
            '{"key": "A", "links": [{"kind": "epic", "key": "B", "depth": 0}]}',
            "links[0].depth",
            "expected `int` >= 1",
        ),
        ("[]", None, "expected `object`, got `array`"),
        ("null", None, "expected `object`, got `null`"),
    ],
)
def test_the_dotted_path_of_the_fault(data: str, where: str | None, said: str) -> None:
    problem = refused(data.encode())
    assert problem.where == where
    assert str(problem) == f"{where}: {said} (in the issue on standard input)".removeprefix("None: ")
    assert problem.code == "invalid-input"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b" \n",
        b"{",
        b"{}{}",
        b"not json",
        b'{"key": "\xff"}',
        b'{"key": "\xed\xa0\x80"}',
        rb'{"key": "\ud800"}',
        b'\xef\xbb\xbf{"key": "A"}',
        '{"key": "A"}'.encode("utf-16"),
        b"\x00" * 64,
        b"[" * 200_000,
        b'{"key": ' * 200_000,
        b'{"key": "A", "fields": ' + b"[" * 200_000,
        b'{"key": NaN}',
    ],
    ids=lambda data: repr(data[:20]),
)
def test_what_is_no_json_is_refused_without_a_traceback(data: bytes) -> None:
    assert refused(data).__class__ is InvalidInput


def test_what_is_empty_or_begins_with_a_mark_is_named() -> None:
    assert str(refused(b"")) == "the issue on standard input is empty"
    assert str(refused(b'\xef\xbb\xbf{"key": "A"}')) == (
        "the issue on standard input begins with a byte order mark; JSON is plain UTF-8"
    )


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "none.json"
    with pytest.raises(InvalidInput, match="cannot be read: no such file or directory"):
        read_issue(str(missing), NO_INPUT)
    with pytest.raises(InvalidInput, match="cannot be read: is a directory"):
        read_issue(str(tmp_path), NO_INPUT)
    with pytest.raises(InvalidInput, match="cannot be read: file name too long"):
        read_issue("x" * 5000, NO_INPUT)
    with pytest.raises(InvalidInput, match="cannot be read: embedded null byte"):
        read_issue("a\0b", NO_INPUT)


@settings(max_examples=150)
@given(st.one_of(st.binary(max_size=60), st.text(max_size=40).map(lambda text: text.encode("utf-8", "surrogatepass"))))
def test_any_bytes_give_a_record_or_the_one_error(data: bytes) -> None:
    found = read_or_refuse(data)
    assert str(found) if isinstance(found, InvalidInput) else found.read == "answered"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=150)
@given(st.dictionaries(st.sampled_from([*Issue.__struct_fields__, "linksRead", "zip"]), json_values, max_size=5))
def test_any_object_gives_a_record_or_the_place_of_the_fault(value: dict[str, object]) -> None:
    found = read_or_refuse(json.dumps({"key": "A"} | value).encode())
    if isinstance(found, InvalidInput):
        assert found.where is not None
        assert found.where.partition(".")[0].partition("[")[0] in value


# The path, by itself.


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Expected `str`, got `int` - at `$.a.b[2].c`", ("expected `str`, got `int`", "a.b[2].c")),
        ("Expected `int`, got `str` - at `$[3]`", ("expected `int`, got `str`", "[3]")),
        ("Expected `int`, got `str` - at `key` in `$.a`", ("expected `int`, got `str` as a key", "a")),
        ("Object missing required field `name` - at `$[0].a`", ("a required field is missing", "[0].a.name")),
        ("Object contains unknown field `x` - at `$.y` - at `$.a`", ("unknown field", 'a["x` - at `$.y"]')),
        ("Object contains unknown field `x`", ("unknown field", "x")),
        ("JSON is odd", ("JSON is odd", None)),
    ],
)
def test_messages_become_places(message: str, expected: tuple[str, str | None]) -> None:
    assert place_of(message) == expected


def test_a_hostile_key_stays_on_one_line_and_short() -> None:
    key = 'line\nbreak" ' + "x" * 500
    problem = refused(json.dumps({"key": "A", key: 1}).encode())
    assert problem.where is not None
    assert problem.where.startswith('["line\\nbreak\\" xxx')
    assert len(problem.where) < 120


def test_paths_join() -> None:
    assert join_path("", "a") == "a"
    assert join_path("a[0]", "b") == "a[0].b"
    assert join_path("a", "0") == 'a["0"]'
    assert join_path("a", "") == 'a[""]'


def test_any_type_can_be_decoded() -> None:
    assert decode_strict(b"[1, 2]", tuple[int, ...], "the numbers") == (1, 2)
    with pytest.raises(InvalidInput) as caught:
        decode_strict(b'[1, "2"]', tuple[int, ...], "the numbers")
    assert str(caught.value) == "[1]: expected `int`, got `str` (in the numbers)"
