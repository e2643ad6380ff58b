"""Names, labels, URLs and references that nobody means well: read, refused or shown, and never a crash.

The real `git check-ref-format` is the oracle for refnames. How to look longer: `tests.fuzz.hostile`.
"""

from __future__ import annotations

import subprocess
import unicodedata
from functools import partial
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from candidates.questions.languages import ENGLISH
from candidates.questions.menu import Key, Menu, Row, draw, fit, numbered, press, wrap
from candidates.suggest import near_names
from collectors.git.failures import failure_of
from collectors.git.refspecs import covers_all_branches, parse_refspec, tracking_splitter
from collectors.issue.reference import parse_reference
from collectors.jira.facts import forge_link
from collectors.process import ProcessResult
from collectors.remote_url import host_of, owner_and_name, redact, remote_type, rewritten
from ranking.conventions import name_under
from ranking.names import HEADS, name_problem, printable
from ranking.versions import read_branch, read_label, read_tag
from ranking.words import is_family, is_work_branch
from tests.fuzz.hostile import FEWER, answered, fuzzed, texts, words

if TYPE_CHECKING:
    from collections.abc import Callable

    from ranking.versions import Reading


def git_allows(name: str) -> bool:
    """What the real git says of a branch's name. A process argument cannot hold a NUL."""
    if "\0" in name:
        return False
    asked = ["git", "check-ref-format", HEADS + name]
    return subprocess.run(asked, check=False, capture_output=True).returncode == 0


@settings(fuzzed, max_examples=FEWER)
@given(st.lists(words, min_size=1, max_size=6))
def test_what_may_be_an_answer_is_a_name_that_git_allows(names: list[str]) -> None:
    for name in names:
        # `@` is a branch to the server, and to git's own commands another word for HEAD.
        unusable = name.startswith("-") or name in {"HEAD", "@"} or printable(name) != name
        assert (name_problem(name) is None) == (git_allows(name) and not unusable)


@fuzzed
@given(texts)
def test_a_name_is_read_whole_and_the_same_each_time(text: str) -> None:
    readers: tuple[Callable[[str], Reading | None], ...] = (read_branch, read_tag)
    for reader in readers:
        reading = reader(text)
        assert reading == reader.__wrapped__(text)  # type: ignore[attr-defined]
        if reading is None:
            continue
        assert reading.before + reading.spelling + reading.after == text
        holds_bounded_numbers(reading)
    label = read_label(text)
    if label is not None:
        holds_bounded_numbers(label)


def holds_bounded_numbers(reading: Reading) -> None:
    """No number of it is longer than a version's may be: it can be compared, printed and put into a template."""
    assert reading.version.numbers
    for number in (*reading.version.numbers, *reading.version.build, *reading.tail):
        assert 0 <= number < 10**14
    assert reading.version.key >= ((), -99, ())
    name_under(reading.template, reading.version)


@fuzzed
@given(texts)
def test_whatever_is_shown_stays_on_its_line(text: str) -> None:
    said = printable(text)
    assert said.isprintable()
    assert printable(said) == said
    assert said.encode() or not said
    for width in (1, 8, 30):
        assert "".join(wrap(said, width)).replace("\n", "") == said
        fitted = "".join(c for c in fit(said, width) if not unicodedata.combining(c))
        assert len(fitted) <= width


@fuzzed
@given(texts, st.lists(st.tuples(texts, texts), max_size=4), st.integers(0, 200), st.integers(0, 60))
def test_a_menu_of_anything_fits_its_window(
    question: str, rows: list[tuple[str, str]], width: int, height: int
) -> None:
    menu = Menu(question=question, rows=tuple(Row(label=a, description=b) for a, b in (*rows, ("main", ""))))
    keys: tuple[Key, ...] = ("up", 1, 7, "erase", "last")
    for key in keys:
        menu = press(menu, key)
    lines = [*draw(menu, width, height, ENGLISH), *numbered(menu)]
    assert all(line.isprintable() for line in lines)


@fuzzed
@given(texts, st.lists(st.tuples(texts, texts), max_size=3))
def test_a_url_of_anything_is_read_and_its_secrets_are_kept(text: str, rules: list[tuple[str, str]]) -> None:
    for url in (text, f"https://ada:s3cr3t-of-ada@{text}", f"ssh://{text}", f"git@{text}", rewritten(text, rules)):
        host, name = host_of(url), owner_and_name(url)
        assert host is None or host == host.lower()
        assert name is None or not name.endswith("/")
        assert remote_type(url) in {"github", "bitbucket", "gitlab", "generic-git", None}
        assert forge_link(url) is None or len(forge_link(url) or ()) == 3
        assert redact(redact(url)) == redact(url)
    assert "s3cr3t-of-ada" not in redact("see https://ada:s3cr3t-of-ada@host/" + text)


@fuzzed
@given(texts)
def test_a_reference_is_one_or_is_refused(text: str) -> None:
    for spelled in (
        text,
        f"https://jira.example/browse/{text}",
        f"https://github.com/{text}/issues/1",
        f"acme/app#{text}",
    ):
        for projects in (None, frozenset({"APP"})):
            answered(partial(parse_reference, spelled, "acme/app", "github.com", projects=projects))


@fuzzed
@given(st.lists(texts, max_size=4), st.lists(texts, max_size=4))
def test_refspecs_of_anything_tell_a_branch_or_none(specs: list[str], refnames: list[str]) -> None:
    parsed = tuple(map(parse_refspec, specs))
    covers_all_branches(parsed)
    branch_of = tracking_splitter("origin", {"origin": parsed, "origin/x": parsed[:1]}).branch_of
    for refname in (*refnames, *(f"refs/remotes/origin/{name}" for name in refnames), *specs):
        found = branch_of(refname)
        assert found is None or isinstance(found, str)


@fuzzed
@given(st.lists(texts, max_size=4).map("\n".join), st.sampled_from((None, 0, 1, 128)))
def test_whatever_git_wrote_becomes_a_failure_of_a_known_kind(stderr: str, code: int | None) -> None:
    ran = ProcessResult(argv=("git",), code=code, stdout=b"", stderr=stderr, milliseconds=5)
    failure = failure_of(ran, "host")
    assert failure.detail
    assert (failure.kind == "timed-out") >= (code is None)


@fuzzed
@given(texts, st.lists(words, max_size=4))
def test_words_and_near_names_of_anything(text: str, names: list[str]) -> None:
    assert is_family(text) in {True, False}
    assert is_work_branch(text, tuple(names)) in {True, False}
    assert is_work_branch(text, None) in {True, False}
    assert set(near_names(text, names)) <= set(names)
