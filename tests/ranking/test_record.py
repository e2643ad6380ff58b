"""What the releases of a repository show: products, numbers of names, and which names keep their word."""

from __future__ import annotations

import pytest

from ranking.facts import Tag
from ranking.record import Product, Record, covers, own_words, trimmed
from ranking.versions import read_branch, read_label
from tests.ranking.facts_builder import releases, tag

JS_AND_PLAIN = releases("main", "1.0.0 1.1.0 2.0.0") + releases("js-0.4.x", "0.4.0 0.4.1", "js-")


def record(tags: str) -> Record:
    """Read the tags of `acme/app`."""
    return Record(map(tag, tags.split()), own_words("acme/app"))


def product(branches: str, tags: str, label: str = "1.0", default: str | None = "main") -> Product:
    """Take the product of a label, held against the names of some branches."""
    wanted = read_label(label)
    assert wanted is not None
    names = {name: reading for name in branches.split() if (reading := read_branch(name)) is not None}
    return record(tags).product(wanted, names, default)


def chosen(tags: str, label: str) -> list[str]:
    """Name the releases of the product that a label asks for."""
    return [release.name for release in product("", tags, label).releases]


# --- what is a release ---


@pytest.mark.parametrize(
    ("name", "is_release"),
    [
        ("v1.2.0", True),
        ("1.2.0", True),
        ("release-1.2.0-rc1", True),
        ("js-1.2.0", True),
        ("1.x", False),
        ("latest", False),
        ("nightly-1.2.0", False),
        ("v1.2.0-snapshot", False),
        ("v1.2.0-dev", False),
    ],
)
def test_which_tags_are_releases(name: str, is_release: bool) -> None:  # noqa: FBT001 - a column of the table
    assert [r.name for r in record(f"{name}@main").releases()] == ([name] if is_release else [])


def test_releases_are_in_the_order_of_their_versions() -> None:
    assert [r.name for r in record("v1.10.0@a v1.9.0@b v1.9.0-rc1@c").releases()] == ["v1.9.0-rc1", "v1.9.0", "v1.10.0"]


@pytest.mark.parametrize(
    ("branches", "merged_into", "carried", "merged"),
    [
        (("main",), None, ("main",), False),
        (("main",), ("stable",), ("main",), False),
        ((), ("stable",), ("stable",), True),
        ((), None, (), False),
        ((), (), (), False),
        (None, None, None, False),
    ],
)
def test_a_merged_release_is_carried_by_the_branch_that_took_it_in(
    branches: tuple[str, ...] | None,
    merged_into: tuple[str, ...] | None,
    carried: tuple[str, ...] | None,
    merged: bool,  # noqa: FBT001 - a column of the table
) -> None:
    (release,) = Record([Tag(name="v1.0.0", branches=branches, merged_into=merged_into)], frozenset()).releases()
    assert (release.branches, release.merged) == (carried, merged)


def test_the_branches_that_carry_releases() -> None:
    carriers = record("v1.0.0@main,1.0 v1.1.0@1.1 v2.0.0").carriers
    assert {name: [r.name for r in found] for name, found in carriers.items()} == {
        "main": ["v1.0.0"],
        "1.0": ["v1.0.0"],
        "1.1": ["v1.1.0"],
    }


# --- products ---


@pytest.mark.parametrize(
    ("repository", "words"),
    [
        ("acme/app", {"acme", "app"}),
        ("Acme-Corp/Big-App", {"acme", "corp", "acmecorp", "big", "app", "bigapp"}),
        ("acme/app2", {"acme", "app"}),
    ],
)
def test_the_words_of_a_repository_tell_no_product_apart(repository: str, words: set[str]) -> None:
    assert own_words(repository) == words


def test_the_words_of_products_in_tags() -> None:
    found = record("v1.0.0@main app-1.1.0@main js-0.4.0@main release-py-lib-2.0@main")
    assert found.words == {"js", "py", "lib"}
    assert sorted(map(sorted, found.products)) == [["js"], ["lib", "py"]]


@pytest.mark.parametrize(
    ("tags", "label", "names"),
    [
        # A label's word binds; without one the plain releases count.
        (JS_AND_PLAIN, "JS-0.4.2", ["js-0.4.0", "js-0.4.1"]),
        (JS_AND_PLAIN, "2.1.0", ["v1.0.0", "v1.1.0", "v2.0.0"]),
        (JS_AND_PLAIN, "app 2.1.0", ["v1.0.0", "v1.1.0", "v2.0.0"]),
        # Without a word, and no plain release near: those near the version.
        (JS_AND_PLAIN, "0.4.2", ["js-0.4.0", "js-0.4.1"]),
        # A word that is a part of a product's.
        ("py-lib-1.0@main js-2.0@main", "lib 1.1", ["py-lib-1.0"]),
        # Two products are as near as each other: both.
        ("a-v1.2.0@x b-v1.2.0@y", "1.2.1", ["a-v1.2.0", "b-v1.2.0"]),
        # The nearer one of two.
        ("a-v1.2.0@x b-v1.3.0@y", "1.2.1", ["a-v1.2.0"]),
        ("a-v1.2.0@x b-v2.3.0@y", "1.9.1", ["a-v1.2.0"]),
        # None is near: the commonest.
        ("a-v1.2.0@x b-v2.3.0@y b-v2.4.0@y", "9.0.0", ["b-v2.3.0", "b-v2.4.0"]),
        ("", "1.0", []),
    ],
)
def test_the_releases_of_the_product_that_is_asked_for(tags: str, label: str, names: list[str]) -> None:
    assert chosen(tags, label) == names


def test_some_plain_tags_among_very_many_of_a_product_are_an_accident() -> None:
    many = releases("main", " ".join(f"1.{n}.0" for n in range(21)), "lib-")
    assert chosen(f"{many} v7.0.0@main", "1.30.0")[0] == "lib-1.0.0"
    few = releases("main", "1.0.0 1.1.0", "lib-")
    assert chosen(f"{few} v1.2.0@main", "1.30.0") == ["v1.2.0"]


def test_a_product_is_worked_out_once() -> None:
    found, wanted = record("v1.0.0@main"), read_label("1.1")
    assert wanted is not None
    assert found.product(wanted, {}, "main") is found.product(wanted, {}, "main")


# --- numbers that run together ---

PERL = (
    releases("2.0-MAINT", "2.001 2.002", "")
    + releases("2.2-MAINT", "2.201 2.202", "")
    + releases("2.4-MAINT", "2.402 2.403", "")
)


def test_three_digits_are_two_numbers_where_names_explain_the_releases_better_so() -> None:
    found = product("2.0-MAINT 2.2-MAINT 2.4-MAINT", PERL, "2.404")
    assert found.cut
    assert [r.numbers for r in found.releases][-2:] == [(2, 4, 2), (2, 4, 3)]
    wanted = read_label("2.404")
    assert wanted is not None
    assert found.read(wanted.version).numbers == (2, 4, 4)
    assert found.hits["2.4-MAINT"] == 2


@pytest.mark.parametrize(
    ("branches", "tags"),
    [
        ("main", PERL),  # no name explains them
        ("2.402 2.403", "2.402@2.402 2.403@2.403"),  # the names have the same digits
        ("2.4-MAINT", "2.402@main"),  # made elsewhere
        ("1.2 1.3", "v1.2.0@1.2 v1.3.0@1.3"),
    ],
)
def test_three_digits_are_one_number_where_the_releases_do_not_prove_two(branches: str, tags: str) -> None:
    found = product(branches, tags)
    assert not found.cut
    wanted = read_label("2.404")
    assert wanted is not None
    assert found.read(wanted.version).numbers == (2, 404)


# --- what the names say ---


@pytest.mark.parametrize(
    ("name", "tags", "numbers"),
    [
        ("release/8.4", "", (8, 4)),
        ("7.x", "", (7,)),
        ("stable22", "", (22,)),
        # A bare number is read if some release has it, or the number before it, first.
        ("stable22", "v22.0.0@main", (22,)),
        ("stable22", "v21.0.0@main", (22,)),
        ("stable22", "v1.5.0@main", None),
        ("8-login", "v1.5.0@main", None),
        # Digits that run together, where the releases prove one way to cut them.
        ("stable45", "v4.5.0@main", (4, 5)),
        ("stable45", "v45.0.0@main v4.5.0@main", (45,)),
        ("stable112", "v11.2.0@main v1.12.0@main", None),
        # An issue's key.
        ("APP-8", "v8.0.0@main", None),
        ("jane/APP-8-login", "v8.0.0@main", None),
        ("APP-8.4", "v8.0.0@main", (8, 4)),
    ],
)
def test_the_numbers_of_a_name(name: str, tags: str, numbers: tuple[int, ...] | None) -> None:
    assert product(name, tags).numbers.get(name) == numbers


def test_the_default_branchs_own_numbers_are_kept_apart() -> None:
    found = product("2.0 1.0", "v1.0.0@1.0 v2.0.0@2.0", default="2.0")
    assert found.default_numbers == (2, 0)
    assert found.numbers == {"1.0": (1, 0)}


# --- which names keep their word ---

KEPT = releases("1.0", "1.0.0 1.0.1") + releases("1.1", "1.1.0")


def test_hits_and_carried_releases() -> None:
    found = product("1.0 1.1 1.2", KEPT + "v1.2.0@1.1 v1.3.0@main")
    assert found.hits == {"1.0": 2, "1.1": 1}
    assert {name: [r.name for r in carried] for name, carried in found.carried.items()} == {
        "1.0": ["v1.0.0", "v1.0.1"],
        "1.1": ["v1.1.0", "v1.2.0"],
        "main": ["v1.3.0"],
    }


@pytest.mark.parametrize(
    ("branches", "tags", "own", "away"),
    [
        ("1.0 1.1", KEPT, 2, 0),
        ("1.0 1.1 1.2", KEPT, 2, 0),  # nothing of 1.2 is made
        ("1.0 1.1 1.2", KEPT + "v1.2.0@main", 2, 1),
        ("1.0 1.1 1.2", KEPT + "v1.2.0@", 2, 0),  # on no branch that is left
        ("1.0 1.1 1.2", KEPT + "v1.2.0", 2, 0),  # nobody looked
        ("1.0 1.1", releases("main", "1.0.0 1.1.0"), 0, 2),
        ("1.0 1.1", "", 0, 0),
    ],
)
def test_on_how_many_branches_of_a_template_their_releases_were_made(
    branches: str, tags: str, own: int, away: int
) -> None:
    found = product(branches, tags)
    assert (found.own["{major}.{minor}"], found.away["{major}.{minor}"]) == (own, away)


@pytest.mark.parametrize(
    ("branches", "tags", "contrary"),
    [
        # Named for 4.1, and every release on it is of 4.19.
        ("ovirt-4.1 4.18", releases("ovirt-4.1", "4.19.0 4.19.1") + releases("4.18", "4.18.0"), {"ovirt-4.1"}),
        # It keeps its word once.
        ("ovirt-4.1 4.18", releases("ovirt-4.1", "4.1.0 4.19.0") + releases("4.18", "4.18.0"), set()),
        # What was released before it was cut is inherited.
        ("1.3", "v1.2.0@1.3 v1.1.0@1.3", set()),
        # Names of years, releases of numbers.
        (
            "stable/2023.1 stable/2023.2 stable/2024.1",
            "v26.0.0@stable/2023.1 v27.0.0@stable/2023.2 v28.0.0@stable/2024.1",
            {"stable/2023.1", "stable/2023.2", "stable/2024.1"},
        ),
        ("1.0 1.1", KEPT, set()),
    ],
)
def test_the_branches_whose_releases_their_names_do_not_explain(branches: str, tags: str, contrary: set[str]) -> None:
    assert product(branches, tags, tags.split("@", maxsplit=1)[0]).contrary == contrary


@pytest.mark.parametrize(
    ("name", "version", "is_covered"),
    [((7,), (7, 17, 3), True), ((7, 17), (7, 17), True), ((7, 17, 3), (7, 17), False), ((7, 1), (7, 17), False)],
)
def test_numbers_cover_those_that_they_begin(
    name: tuple[int, ...],
    version: tuple[int, ...],
    is_covered: bool,  # noqa: FBT001 - a column of the table
) -> None:
    assert covers(name, version) is is_covered


@pytest.mark.parametrize(
    ("numbers", "short"), [((8, 4, 0), (8, 4)), ((8, 0, 4), (8, 0, 4)), ((0, 0), (0,)), ((8,), (8,)), ((0,), (0,))]
)
def test_zeros_at_the_end_are_trimmed(numbers: tuple[int, ...], short: tuple[int, ...]) -> None:
    assert trimmed(numbers) == short
