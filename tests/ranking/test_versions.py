"""Version tokens: a hand-ordered list as the oracle, packaging as a second one, and what no text may do."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version as Pep440

from ranking.versions import Reading, Version, read_branch, read_label, read_tag
from tests.ranking.facts_builder import unhurried

# Each row is older than the next; the spellings of one row are the same version.
ORDERED = (
    ("0",),
    ("0.0.1",),
    ("0.9",),
    ("0.10",),
    ("1.0-dev1", "1.0.dev1", "1.0-nightly1", "1.0-canary1", "1.0-development1"),
    ("1.0-dev2", "1.0_dev_2"),
    ("1.0-next1",),
    ("1.0-a1", "1.0a1", "1.0-alpha1", "1.0.alpha.1"),
    ("1.0-alpha2", "1.0.0-alpha.2"),
    ("1.0-alpha10",),
    ("1.0b1", "1.0-beta.1", "1.0.Beta1"),
    ("1.0b2", "1.0.0.beta2"),
    ("1.0-M1", "1.0.M1", "1.0-milestone1", "1.0m1"),
    ("1.0-M3",),
    ("1.0-ea4",),
    ("1.0-preview1", "1.0-pre1", "1.0.0-PRE.1"),
    ("1.0-preview2",),
    ("1.0-rc1", "1.0rc1", "1.0.RC1", "1.0-CR1", "1.0c1", "1.0_rc1"),
    ("1.0-rc1.1",),
    ("1.0-rc2", "1.0.0.rc.2"),
    ("1.0-rc10", "1.0rc10"),
    ("1.0", "1", "1.0.0", "1.0.0.0", "01.00", "v1.0", "1.0.Final", "1.0.0.GA", "1_0", "1-0", "1.0-RELEASE"),
    ("1.0.post1", "1.0-sp1", "1.0.SP1"),
    ("1.0.0.post2",),
    ("1.0.0.1",),
    ("1.0.1-rc1",),
    ("1.0.1", "1.0.01", "v1.0.1.Final"),
    ("1.0.2",),
    ("1.0.10",),
    ("1.0.x", "1.0.z", "1.0.*", "1.0.X", "1-0-x", "1.0.xx"),
    ("1.1-M1",),
    ("1.1",),
    ("1.2.3.4",),
    ("1.2.3.5",),
    ("1.2.4",),
    ("1.9.9",),
    ("1.10",),
    ("1.10.38",),
    ("1.102",),
    ("1.x", "1.*", "1.x.x", "1_x"),
    ("2-beta1", "2.0.0-beta1"),
    ("2",),
    ("2.0.1",),
    ("2.305.10",),
    ("2.x",),
    ("3.9",),
    ("3.10",),
    ("3.11",),
    ("4.1.3",),
    ("4.9",),
    ("4.10", "4.10.0"),
    ("4.20.z", "4.20.x"),
    ("4.21",),
    ("7.17.3",),
    ("7.17.x",),
    ("7.x",),
    ("8.0.0-alpha1",),
    ("8",),
    ("24.04", "24.4", "24-04"),
    ("24.4.1",),
    ("24.10",),
    ("2023.12.31",),
    ("2024.1", "2024-01", "2024.01", "v2024.01.0"),
    ("2024.5.1", "2024-05-01"),
    ("2024.12",),
    ("20240501",),
    ("99999999999999",),
)
RANKED = [(place, spelling) for place, row in enumerate(ORDERED) for spelling in row]


def read(reading: Reading | None) -> Version:
    """The version of a reading that must be there."""
    assert reading is not None
    return reading.version


def test_the_hand_ordered_list_is_the_order_of_the_keys() -> None:
    firsts = [read(read_tag(row[0])).key for row in ORDERED]
    assert all(older < newer for older, newer in pairwise(firsts))
    for row in ORDERED:
        assert {read(read_tag(spelling)).key for spelling in row} == {read(read_tag(row[0])).key}, row


@pytest.mark.parametrize(("place", "spelling"), RANKED)
def test_a_spelling_sorts_into_its_place(place: int, spelling: str) -> None:
    key = read(read_tag(spelling)).key
    assert [i for i, row in enumerate(ORDERED) if read(read_tag(row[0])).key < key] == list(range(place))


# --- packaging as the oracle ---

releases = st.lists(st.integers(0, 400), min_size=2, max_size=4).map(lambda ns: ".".join(map(str, ns)))
pep440 = st.builds(
    lambda release, phase: release + phase,
    releases,
    st.sampled_from(["", "a1", "a2", "a10", "b1", "rc1", "rc2", "rc11", ".dev1", ".dev3", ".post1", ".post2"]),
)


@unhurried
@given(pep440, pep440)
def test_the_order_is_packagings(left: str, right: str) -> None:
    ours, theirs = read(read_label(left)).key, read(read_label(right)).key
    mine, other = Pep440(left), Pep440(right)
    assert (ours < theirs, ours == theirs) == (mine < other, mine == other)


@unhurried
@given(pep440)
def test_ripeness_is_packagings(text: str) -> None:
    ours, theirs = read(read_tag(text)), Pep440(text)
    assert ours.prerelease == theirs.is_prerelease
    assert ours.numbers == theirs.release


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("1!2.0", Version((2, 0))),
        ("1!84", Version((84,))),
        ("v1!84", Version((84,))),
        ("V1!84", Version((84,))),
        # What does not show hides no epoch.
        ("\u200b 1!84\u00ad", Version((84,))),
        ("1!84rc1", Version((84,), ripeness=-1, build=(1,))),
        ("8-4+local", Version((8, 4))),
        ("1.0+local.7", Version((1, 0))),
        ("1.0.post3", Version((1, 0), ripeness=1, build=(3,))),
        ("1.0.dev4", Version((1, 0), ripeness=-7, build=(4,))),
        ("1.0-3", Version((1, 0), ripeness=1, build=(3,))),
        ("1.0.post", Version((1, 0), ripeness=1)),
    ],
)
def test_what_is_pep_440_and_more_than_numbers(text: str, version: Version) -> None:
    assert read(read_label(text)) == version


# --- properties ---

numbers = st.lists(st.integers(0, 30), min_size=1, max_size=4).map(tuple)
finals = st.builds(Version, numbers)
made = st.one_of(
    finals,
    st.builds(lambda ns: Version(ns, wildcard=True), numbers),
    st.builds(
        lambda ns, ripeness, build: Version(ns, ripeness=ripeness, build=build),
        numbers,
        st.integers(-7, 1),
        st.lists(st.integers(0, 12), max_size=2).map(tuple),
    ),
)


@unhurried
@given(st.lists(made, max_size=8))
def test_the_order_is_total(versions: list[Version]) -> None:
    keys = sorted(v.key for v in versions)
    assert all(left <= right for left, right in combinations(keys, 2))
    assert sorted(v.key for v in reversed(versions)) == keys
    assert len({hash(k) for k in keys}) <= len(set(keys))


@unhurried
@given(made, made)
def test_equal_versions_have_equal_keys_and_hashes(left: Version, right: Version) -> None:
    assert (left == right) == (left.key == right.key)
    if left == right:
        assert hash(left) == hash(right)
    assert (left.key == right.key) == (not left.key < right.key and not right.key < left.key)


def test_equality_uses_the_comparison_key() -> None:
    assert Version((8, 4)) == Version((8, 4, 0))
    assert hash(Version((8, 4))) == hash(Version((8, 4, 0)))
    assert Version((8, 4)) != Version((8, 4), wildcard=True)
    assert (Version((8, 4)) != Version((8, 4, 0))) is False
    assert (Version((8, 4)) == "8.4") is False
    assert Version((8, 4)) != "8.4"


@unhurried
@given(finals, finals)
def test_covering_is_by_whole_numbers(branch: Version, wanted: Version) -> None:
    size = len(branch.numbers)
    padded = (wanted.numbers + (0,) * size)[:size]
    if branch.covers(wanted):
        assert padded == branch.numbers
    if wanted.numbers[:size] == branch.numbers:
        assert branch.covers(wanted)


@unhurried
@given(numbers, st.integers(0, 30), st.integers(0, 9))
def test_a_text_prefix_covers_nothing(line: tuple[int, ...], last: int, digit: int) -> None:
    """4.1 never covers 4.10, nor 4.10 4.1; with wildcards no more than without."""
    short, long = (*line, last + 1), (*line, (last + 1) * 10 + digit)
    for wildcard in (False, True):
        assert not Version(short, wildcard=wildcard).covers(Version(long))
        assert not Version(short, wildcard=wildcard).covers(Version((*long, 0)))
        assert not Version(long, wildcard=wildcard).covers(Version(short))


@unhurried
@given(made, made, made)
def test_covering_is_transitive(outer: Version, middle: Version, inner: Version) -> None:
    if outer.covers(middle) and middle.covers(inner):
        assert outer.covers(inner)


@unhurried
@given(made)
def test_a_pre_release_never_covers_its_final(version: Version) -> None:
    final = Version(version.numbers)
    assert version.covers(final) is not version.prerelease


@pytest.mark.parametrize(
    ("branch", "wanted", "covers"),
    [
        ("7.x", "7.17.3", True),
        ("7.17", "7.17.3", True),
        ("7.17.3", "7.17.3", True),
        ("7.17.3", "7.17.4", False),
        ("7.17.3", "7.17", False),
        ("7.17.0", "7.17", True),
        ("7.x", "8.0", False),
        ("7.x", "7.x", True),
        ("7.17.x", "7.x", False),
        ("7.17", "7.17.x", True),
        ("4.1", "4.10.0", False),
        ("4.10", "4.1.0", False),
        ("1.6", "1.6.1", True),
        ("1.6.1", "1.6.2", False),
        ("2.0-rc1", "2.0", False),
        ("2.0-rc1", "2.0-rc1", True),
        ("2.0-rc1", "2.0-rc2", False),
        ("2.0-rc1", "2.0-rc10", False),
        ("2.0-rc", "2.0-rc10", True),
        ("2.0-rc", "2.0-beta1", False),
        ("2.0-rc1", "2.0.1", False),
        ("2.0-rc1", "2.1-rc1", False),
        ("7.0.x", "7", False),
        ("7.17.0", "7.17.x", False),
        ("2.0-rc1", "2.0.x", False),
        ("2.0-rc1", "2.0.x-rc1", False),
        ("2.0", "2.0-rc1", True),
        ("24.04", "24.4.1", True),
    ],
)
def test_what_covers_what(branch: str, wanted: str, covers: bool) -> None:  # noqa: FBT001 - a column of the table
    assert read(read_branch(branch)).covers(read(read_tag(wanted))) is covers


@pytest.mark.parametrize(
    ("version", "line", "within"),
    [
        (Version((8, 0, 1)), (8, 0), True),
        (Version((8, 1)), (8, 0), False),
        (Version((8,)), (8, 0), True),
        (Version((8,)), (8, 1), False),
        (Version((8,), wildcard=True), (8, 0), False),
        (Version((8, 1), wildcard=True), (8,), True),
        (Version((9, 1), wildcard=True), (8,), False),
    ],
)
def test_what_is_within_a_line(version: Version, line: tuple[int, ...], within: bool) -> None:  # noqa: FBT001 - a column of the table
    assert version.within(line) is within


@unhurried
@given(st.text(max_size=60))
def test_any_text_can_be_read(text: str) -> None:
    for reading in (read_branch(text), read_tag(text), read_label(text)):
        if reading is not None:
            assert reading.version.numbers
            assert isinstance(reading.version.key, tuple)
            assert all(0 <= n < 10**14 for n in reading.version.numbers)


@unhurried
@given(st.text(alphabet="0129.xz*-_+,/ vrcb", max_size=40))
def test_a_version_is_spelled_in_its_own_name(text: str) -> None:
    reading = read_branch(text)
    if reading is not None:
        assert reading.before + reading.spelling + reading.after == text


@pytest.mark.parametrize("length", [15, 20, 64, 10_000])
def test_a_number_of_absurd_length_is_no_version(length: int) -> None:
    digits = "1" * length
    for text in (digits, f"v{digits}", f"release/{digits}", f"1.{digits}", f"{digits}.1", f"{digits}.x"):
        assert read_branch(text) is None, text[:20]
        assert read_tag(text) is None, text[:20]
        assert read_label(text) is None, text[:20]


def test_a_number_of_absurd_length_does_not_hide_the_version() -> None:
    assert read(read_branch("20240101123456789/release-1.2")) == Version((1, 2))
    assert read(read_tag("1.2-" + "9" * 10_000)) == Version((1, 2))
    assert read(read_tag("1.2-rc" + "9" * 10_000)).build == (99_999_999_999_999,)
    assert read(read_tag("1.99999999999999")) == Version((1, 99_999_999_999_999))


def test_a_version_of_ten_thousand_components_is_read() -> None:
    version = read(read_tag("1" + ".1" * 9_999))
    assert version.numbers == (1,) * 10_000
    assert read(read_branch("1.1")).covers(version)


@pytest.mark.parametrize("text", ["\uff11.\uff12", "¹.²", "٣.٤", "release/१.२", "Ⅳ.Ⅱ", "①.②", "8.4.\uff10"])
def test_unicode_digits_are_no_digits(text: str) -> None:
    assert (read_branch(text), read_tag(text), read_label(text)) == (None, None, None)


# --- tables ---


@pytest.mark.parametrize(
    ("name", "before", "numbers", "after", "wildcard"),
    [
        ("release/8.4.0", "release/", (8, 4, 0), "", False),
        ("release-2.8.x", "release-", (2, 8), "", True),
        ("release-2.8.x-fix-test", "release-", (2, 8), "-fix-test", True),
        ("7-1-stable", "", (7, 1), "-stable", False),
        ("REL_15_STABLE", "REL_", (15,), "_STABLE", False),
        ("REL9_5_STABLE", "REL", (9, 5), "_STABLE", False),
        ("releasebranch_8_4", "releasebranch_", (8, 4), "", False),
        ("jetbrains-v7.1.x", "jetbrains-v", (7, 1), "", True),
        ("version-14.2", "version-", (14, 2), "", False),
        ("Release_1.2.3", "Release_", (1, 2, 3), "", False),
        ("release/v2024-01", "release/v", (2024, 1), "", False),
        ("2.x", "", (2,), "", True),
        ("2.x-dev", "", (2,), "-dev", True),
        ("5.0-release", "", (5, 0), "-release", False),
        ("release/R2112", "release/R", (2112,), "", False),
        ("net10.0", "net", (10, 0), "", False),
        ("17", "", (17,), "", False),
        ("4.8-HBase-1.2", "", (4, 8), "-HBase-1.2", False),
        ("maint-10.0.x", "maint-", (10, 0), "", True),
        ("stable/2024.1", "stable/", (2024, 1), "", False),
        ("release/4.20.z", "release/", (4, 20), "", True),
        ("mergify/bp/8.1/pr-2", "mergify/bp/", (8, 1), "/pr-2", False),
        ("10.x-testing-something", "", (10,), "-testing-something", True),
        ("release-0.30", "release-", (0, 30), "", False),
        # What has two numbers or is a line goes before a bare number.
        ("7/release-1.2", "7/release-", (1, 2), "", False),
        ("7/release-2.x", "7/release-", (2,), "", True),
        ("beta-login/2.3", "beta-login/", (2, 3), "", False),
    ],
)
def test_read_branch(name: str, before: str, numbers: tuple[int, ...], after: str, wildcard: bool) -> None:  # noqa: FBT001 - a column of the table
    reading = read_branch(name)
    assert reading is not None
    assert (reading.before, reading.after) == (before, after)
    assert reading.version == Version(numbers, wildcard=wildcard)
    assert reading.components == len(numbers)


@pytest.mark.parametrize(
    ("name", "ripeness", "build"),
    [
        ("release/1.0b1", -4, (1,)),
        ("release/beta-2.3", -4, ()),
        ("beta/2.3-rc1", -1, (1,)),
        ("2.0-dev", 0, ()),
        ("2.0-next", 0, ()),
        ("2.0-development", 0, ()),
        ("2.0-release", 0, ()),
        ("1.2-login-rc1", 0, ()),
    ],
)
def test_how_ripe_the_version_of_a_branch_is(name: str, ripeness: int, build: tuple[int, ...]) -> None:
    version = read(read_branch(name))
    assert (version.ripeness, version.build) == (ripeness, build)


@pytest.mark.parametrize(
    "name",
    ["main", "develop", "release", "release/", "release-", "k8s", "sqlite3mc", "HEAD", "", "v", "x.y.z"],
)
def test_a_branch_without_a_version(name: str) -> None:
    assert read_branch(name) is None


@pytest.mark.parametrize(
    ("name", "version", "words", "tail"),
    [
        ("v8.3.1", Version((8, 3, 1)), (), ()),
        ("v2.1_rc4", Version((2, 1), ripeness=-1, build=(4,)), (), ()),
        ("helm-chart-4.13.1", Version((4, 13, 1)), ("helm", "chart"), ()),
        ("client/v2.305.10", Version((2, 305, 10)), ("client",), ()),
        ("v4.8.0-HBase-1.2", Version((4, 8, 0)), ("hbase",), (1, 2)),
        ("1.5.0.Final", Version((1, 5, 0)), (), ()),
        ("1.5.0.GA", Version((1, 5, 0)), (), ()),
        ("5.0.0-M3", Version((5, 0, 0), ripeness=-3, build=(3,)), (), ()),
        ("9.3.19.v20170502", Version((9, 3, 19)), ("v",), ()),
        ("1.0.0+build.77", Version((1, 0, 0)), ("build",), ()),
        ("REL_15_4", Version((15, 4)), ("rel",), ()),
        ("jdk-17.0.2+8", Version((17, 0, 2)), ("jdk",), ()),
        ("1.0-1234567", Version((1, 0)), (), (1_234_567,)),
        ("1.0-12345678", Version((1, 0)), (), ()),
        ("v25.10.1-stable", Version((25, 10, 1)), ("stable",), ()),
        ("release-1.2.3-rc.1", Version((1, 2, 3), ripeness=-1, build=(1,)), ("release",), ()),
    ],
)
def test_read_tag(name: str, version: Version, words: tuple[str, ...], tail: tuple[int, ...]) -> None:
    reading = read_tag(name)
    assert reading is not None
    assert (reading.version, reading.words, reading.tail) == (version, words, tail)


@pytest.mark.parametrize(
    ("label", "version"),
    [
        ("4.10.0", Version((4, 10, 0))),
        ("v9.5.0", Version((9, 5, 0))),
        ("v5.0.0", Version((5, 0, 0))),
        ("3.5.0", Version((3, 5, 0))),
        ("kubernetes-operator-2.0.0", Version((2, 0, 0))),
        ("4.20.z", Version((4, 20), wildcard=True)),
        ("3.18.x", Version((3, 18), wildcard=True)),
        ("2.4.*", Version((2, 4), wildcard=True)),
        ("CNV v5.0.0", Version((5, 0, 0))),
        ("CNV v4.22.3", Version((4, 22, 3))),
        ("JS-0.4.0", Version((0, 4, 0))),
        ("iOS Babylon 4.3.0", Version((4, 3, 0))),
        ("17-pool", Version((17,))),
        ("net10.0", Version((10, 0))),
        ("  8.4.0  ", Version((8, 4, 0))),
        ("1.1.0-SNAPSHOT", Version((1, 1, 0), ripeness=-7)),
        ("2.7.2", Version((2, 7, 2))),
        ("26.2", Version((26, 2))),
        ("1.10.38", Version((1, 10, 38))),
        ("5.0-dev", Version((5, 0), ripeness=-7)),
        ("2024-01", Version((2024, 1))),
        # A version beside a bare number, and a day behind a version.
        ("iOS 17 1.2", Version((1, 2))),
        ("1.2-2024.05.01", Version((1, 2))),
        ("1.2-2024.1.1", Version((1, 2))),
        # What only looks like a count or a key.
        ("Sprint 4.2", Version((4, 2))),
        ("week 7.x", Version((7,), wildcard=True)),
        ("C# 17", Version((17,))),
        ("8 C#", Version((8,))),
        ("ESX17", Version((17,))),
        ("OCP-17 final", Version((17,))),
        ("8.4 final\nbuild 17", Version((8, 4))),
        # What does not show is taken off the ends, and nothing else.
        ("\u202e8.X\u200b", Version((8,), wildcard=True)),
    ],
)
def test_read_label(label: str, version: Version) -> None:
    assert read(read_label(label)) == version


@pytest.mark.parametrize(
    "label",
    [
        "2+",
        "2.4+",
        "2.x+",
        "future",
        "tbd",
        "Backlog",
        "Next",
        "K8s Base Addons Next",
        "COMPONENT-",
        "0.5.2, 0.4.3, 0.6.0",
        "0.5.2 0.4.3",
        "0.5.2/0.4.3",
        "0.5.2;0.4.3",
        "",
        "   ",
        "x.y.z",
        "*",
        "v",
    ],
)
def test_a_label_without_one_version(label: str) -> None:
    assert read_label(label) is None


def test_words_and_numbers_of_a_build_tell_no_product_apart() -> None:
    for label in ("1.0+local.7", "1.0-3"):
        reading = read_label(label)
        assert reading is not None
        assert (reading.words, reading.tail) == ((), ())


def test_only_what_begins_a_label_is_an_epoch() -> None:
    reading = read_label("client 1!2.0")
    assert reading is not None
    assert (reading.version, reading.words) == (Version((2, 0)), ("client",))


def test_a_label_that_ends_in_its_separator_is_the_number() -> None:
    assert read(read_label("201601-")) == Version((201601,))


@pytest.mark.parametrize("label", [">=1.2", "<1.3", "!=1.2", "before 1.2", "not 1.2", "1.2 or newer", "BEFORE 1.2"])
def test_a_range_is_no_version(label: str) -> None:
    assert read_label(label) is None


@pytest.mark.parametrize(
    "label",
    [
        "17, 18",
        "17/18",
        "17 and 18",
        "17 AND 18",
        "1.2 - v1.3",
        "1.2-V1.3",
        "1_2, 1_3",
        "1.2-1.3",
        "1.2|1.3",
        "1.2&1.3",
        "1.2\u21921.3",
        "1.2\n1.3",
        "17\n18",
        "1.2_1.3",
        "1.2..1.3",
    ],
)
def test_several_versions_are_none(label: str) -> None:
    assert read_label(label) is None


@pytest.mark.parametrize("label", ["Q3 2025", "#17", "PR 17", "17%", "APP-17"])
def test_a_number_that_counts_something_else_is_no_version(label: str) -> None:
    assert read_label(label) is None


def test_a_candidate_comes_before_its_release() -> None:
    candidate, release = read_tag("v0.8.1-candidate-1"), read_tag("v0.8.1")
    assert candidate is not None
    assert release is not None
    assert (candidate.version.numbers, candidate.version.prerelease, candidate.version.build) == ((0, 8, 1), True, (1,))
    assert candidate.version.key < release.version.key
