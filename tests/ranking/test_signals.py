"""What speaks for each branch: how its name relates to the version, where the releases are, and the further signals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from ranking.facts import Declaration, LinePattern
from ranking.points import POINTS
from ranking.ranker import read_asked
from ranking.signals import Candidate, Case, declared, read_case
from ranking.versions import read_label
from ranking.weights import PRIORS, SENTENCES
from tests.ranking.facts_builder import facts, releases, wants

if TYPE_CHECKING:
    from ranking.facts import Facts
    from ranking.signals import Name, Standing, State


def case(branches: str, label: str, tags: str = "", *, default: str | None = "main") -> Case:
    """Hold one fix version against every branch."""
    return case_of(facts(branches, tags=tags, default=default, issue=wants(label)), label)


def case_of(bundle: Facts, label: str) -> Case:
    """Hold one fix version against the branches of a bundle."""
    wanted = read_label(label)
    assert wanted is not None
    return read_case(wanted, read_asked(bundle).repo.refs)


def placed(found: Case, branch: str) -> Candidate | None:
    """The candidate of a name, set aside or not."""
    return next((c for c in (*found.candidates, *found.aside) if c.branch == branch), None)


def codes(found: Case, branch: str, kind: str) -> list[str]:
    """The signals of one kind for a branch, without the kind."""
    candidate = next(c for c in found.candidates if c.branch == branch)
    return [code.partition("|")[2] for code in candidate.codes if code.partition("|")[0] == kind]


# --- how a name relates to the version ---

LINES = releases("1.2", "1.2.0 1.2.1") + releases("1.3", "1.3.0")
SINGLE = releases("1.2.0", "1.2.0") + releases("1.3.0", "1.3.0")


@pytest.mark.parametrize(
    ("branch", "label", "tags", "name"),
    [
        ("1.2", "1.2", LINES, "exact"),
        ("1.2", "1.2.x", LINES, "exact"),
        ("1.2", "1.2.2", LINES, "line"),
        ("1.2.x", "1.2.2", LINES, "line"),
        ("1.x", "1.2.2", LINES, "coarse"),
        ("v1", "1.2.2", LINES, "coarse"),
        ("1.2.2", "1.2.2", LINES, "exact"),
        ("1.2.7", "1.2.2", LINES, "sibling"),
        ("1.2.2", "1.2.x", LINES, "inside"),
        ("1.2.2", "1.2", LINES, "inside"),
        # `1.4.0` is `1.4` until it has been made; then `1.2` asks for the line.
        ("1.4.0", "1.4", LINES, "exact"),
        ("1.2.0", "1.2", LINES, "inside"),
        # A word before the number is no bar, a number behind it is.
        ("rc/1.2.2", "1.2.2", LINES, "exact"),
        ("rc/1.2", "1.2.2", LINES, "line"),
        ("release/1.2-beta", "1.2.2", LINES, "line"),
        ("1.2.2-rc1", "1.2.2", LINES, "early"),
        ("1.2.2-rc1", "1.2.2-rc1", LINES, "exact"),
        ("1.2.2-rc1", "1.2.2-rc2", LINES, "early"),
        # Other lines count only if they carry this one.
        ("1.4", "1.2.2", LINES, None),
        ("1.4", "1.2.2", LINES + "v1.2.1@1.4", "newer"),
        ("1.1", "1.2.2", LINES + "v1.2.1@1.1", "older"),
        # Without a version, only those that carry the line or the release before it.
        ("gold", "1.2.2", LINES, None),
        ("gold", "1.2.2", LINES + "v1.2.1@gold", None),  # beside 1.2, which carries it by its name
        ("gold", "1.3.1", "v1.3.0@gold", "none"),
        # Its releases are others than its name says.
        ("ovirt-4.1", "4.19.2", releases("ovirt-4.1", "4.19.0 4.19.1"), "contrary"),
        ("ovirt-4.1", "4.1.2", releases("ovirt-4.1", "4.19.0 4.19.1"), None),
    ],
)
def test_how_a_name_relates_to_the_version(branch: str, label: str, tags: str, name: Name | None) -> None:
    found = placed(case(f"main 1.2 1.3 {branch}", label, tags), branch)
    assert (found.name if found else None) == name


# --- where the newest release of the line is ---


@pytest.mark.parametrize(
    ("tags", "standing", "state"),
    [
        ("v1.2.0@1.2", "newest", "held"),
        ("v1.2.0@1.2 v1.2.1@1.3", "some", "held"),
        ("v1.2.1@1.3", "elsewhere", "held"),
        ("v1.2.1@main", "trunk", "trunk"),
        ("v1.2.1@main,1.2", "newest", "trunk"),
        ("v1.2.1@", "lost", "lost"),
        ("v1.2.1@gone", "lost", "lost"),
        ("v1.2.1", "unread", "unread"),
        ("v1.2.1 v1.2.0@1.2", "some", "unread"),
        ("", "first", "none"),
        ("v1.3.0@1.3", "first", "none"),
        ("v1.1.0@1.2", "before", "none"),
        # What comes after the version does not count.
        ("v1.2.0@1.2 v1.2.9@main", "newest", "held"),
    ],
)
def test_where_the_newest_release_of_the_line_is(tags: str, standing: Standing, state: State) -> None:
    found = case("main 1.2 1.3", "1.2.2", tags)
    candidate = placed(found, "1.2")
    assert candidate is not None
    assert (candidate.standing, found.state) == (standing, state)


def test_a_merged_release_stands_merged() -> None:
    bundle = facts("main 1.2 1.3", tags="v1.2.0@", issue=wants("1.2.1"))
    merged = tuple(replace(t, merged_into=("1.2",)) for t in bundle.refs.tags)
    found = placed(case_of(replace(bundle, refs=replace(bundle.refs, tags=merged)), "1.2.1"), "1.2")
    assert found is not None
    assert found.standing == "merged"


def test_of_two_tags_of_one_version_all_branches_count() -> None:
    found = case("main 1.2 v1.2", "1.2.1", "v1.2.0@1.2 1.2.0@v1.2")
    assert found.line is not None
    assert found.line.branches == frozenset({"1.2", "v1.2"})


# --- which branches are set aside ---


@pytest.mark.parametrize(
    ("branches", "label", "tags", "aside"),
    [
        ("main 1.2 1.2.2-rc1", "1.2.2", LINES, ["1.2.2-rc1"]),
        ("main 1.2 1.2.7", "1.2.2", LINES, ["1.2.7"]),
        ("main 1.2 1.2.7", "1.2.2", LINES + "v1.2.1@1.2.7", []),
        ("main 1.2 1.3", "1.2.2", LINES, []),
    ],
)
def test_a_branch_for_another_version_is_set_aside_unless_the_line_goes_on_there(
    branches: str, label: str, tags: str, aside: list[str]
) -> None:
    assert [c.branch for c in case(branches, label, tags).aside] == aside


def test_the_default_branch_is_no_candidate() -> None:
    found = case("2.0 1.0", "2.0.1", "v2.0.0@2.0 v1.0.0@1.0", default="2.0")
    assert placed(found, "2.0") is None


# --- how many numbers name a line ---

OLD_AND_NEW = releases("main", " ".join(f"1.{n}" for n in range(30))) + releases(
    "main", " ".join(f"2.{n}.0" for n in range(20))
)


@pytest.mark.parametrize(
    ("branches", "tags", "label", "size"),
    [
        ("main", "", "8.4.1", 2),
        ("main", "", "8", 1),
        ("main", "", "7.17.x", 2),
        ("main", "", "7.x", 1),
        # A wildcard says it itself.
        ("main v1 v2", "v1.0.0@v1", "1.0.x", 2),
        # By the names that carry releases; first by those of the version itself.
        ("main release/1.0 release/1.1", "v1.0.0@release/1.0", "1.0.1", 2),
        ("main v1 v2", "v1.0.0@v1", "1.0.1", 1),
        ("main v1 v2", "v1.0.0@v1 v2.0.0@v2", "3.0.1", 1),
        ("main v1 v2.0", "v1.0.0@v1 v2.0.0@v2.0", "2.0.1", 2),
        ("main v1 v1.0", "v1.0.0@v1,v1.0", "1.0.1", 2),
        # Else by names that stand together, those of the same major first.
        ("main v1.0 v1.1 v2 v3", "", "1.2.0", 2),
        ("main v1.0 v1.1 v2.0 v2.1", "", "3.0.1", 2),
        # Branches of single releases: a line is what they share.
        ("main 1.2.0 1.2.1", "v1.2.0@1.2.0 v1.2.1@1.2.1", "1.2.2", 2),
        ("main 1.2.0 1.3.0", "v1.2.0@1.2.0 v1.3.0@1.3.0", "1.4.0", 3),
        # By the newest releases, pre-releases apart.
        ("main", "v1@main v2@main", "3.0", 1),
        ("main", OLD_AND_NEW, "2.20.0", 2),
        ("main", "v1.0.0@main v2.0-rc1@main v3.0-rc1@main", "3.0.1", 2),
        # Lines and releases of two numbers: the next line is no later release of the one before.
        ("main release/1.4 release/1.5", "1.4@release/1.4 1.5@release/1.5", "1.6", 2),
        ("main 2026.02 2026.03", "2026.02@2026.02 2026.03@2026.03", "2026.04", 2),
    ],
)
def test_how_many_numbers_name_a_line(branches: str, tags: str, label: str, size: int) -> None:
    assert case(branches, label, tags).size == size


# --- further signals ---


@pytest.mark.parametrize(
    ("branch", "tags", "moved"),
    [
        ("1.2", LINES, False),
        ("1.2", LINES + "v1.4.0@1.2", True),
        ("1.2", LINES + "v1.4.0@1.2,main", False),  # it is merged up
        ("1.2", LINES + "v1.3.1@1.2,1.3", False),  # the branch of that line carries it too
        ("1.2", LINES + "v1.1.9@1.2", False),
    ],
)
def test_a_branch_that_released_newer_lines_has_moved_on(branch: str, tags: str, moved: bool) -> None:  # noqa: FBT001 - a column of the table
    assert codes(case("main 1.2 1.3", "1.2.2", tags), branch, "moved") == (["named"] if moved else [])


@pytest.mark.parametrize(
    ("tags", "share"),
    [
        ("", "unknown"),
        ("v1.2@1.2", "unknown"),  # another shape
        (releases("main", "1.2.0 1.2.1 1.3.0"), "none"),
        (releases("main", "1.1.0 1.1.1 1.2.1") + "v1.2.0@1.2", "few"),
        (releases("main", "1.1.0") + "v1.2.0@1.2", "many"),
        (LINES, "most"),
        # The newest only: how releases were made once does not count.
        (releases("main", " ".join(f"0.{n}.0" for n in range(40))) + releases("1.2", "1.2.0 " * 1)
         + releases("1.3", " ".join(f"1.3.{n}" for n in range(20))), "most"),
    ],
)  # fmt: skip
def test_the_habit_is_how_many_recent_releases_of_that_shape_were_made_on_such_names(tags: str, share: str) -> None:
    by_date = facts("main 1.2 1.3", tags=tags, issue=wants("1.2.2"))
    assert codes(case_of(by_date, "1.2.2"), "1.2", "habit") == [share]


def test_a_branch_without_a_version_has_a_habit_of_its_own() -> None:
    found = case("main owl elk", "1.2.2", releases("owl", "1.2.0 1.2.1") + releases("elk", "1.1.0 1.1.1 1.0.0 1.0.1"))
    assert codes(found, "owl", "habit") == ["few"]


@pytest.mark.parametrize(
    ("branches", "tags", "template"),
    [
        ("main 1.2 1.3", "", "new|lacks"),
        ("main 1.2 1.3", LINES, "own|carries"),
        ("main 1.2 1.3", "v1.3.0@1.3", "own|lacks"),
        ("main 1.2 1.3", releases("main", "1.2.0 1.3.0"), "away|lacks"),
        ("main 1.1 1.2 1.3", LINES + "v1.1.0@1.1", "own|often|carries"),
        ("main 1.1 1.2 1.3", releases("main", "1.1.0 1.2.0 1.3.0"), "away|often|lacks"),
    ],
)
def test_what_the_branches_with_such_names_show(branches: str, tags: str, template: str) -> None:
    assert codes(case(branches, "1.2.2", tags), "1.2", "template") == [template]


def test_a_name_for_one_release_that_has_been_made_is_out() -> None:
    tags = releases("1.2.0", "1.2.0") + releases("1.3.0", "1.3.0")
    assert codes(case("main 1.2.0 1.3.0", "1.2.1", tags), "1.2.0", "out") == ["other"]
    assert codes(case("main 1.2.0 1.3.0", "1.2.0", tags), "1.2.0", "out") == []
    assert codes(case("main 1.2.0 1.2.5 1.3.0", "1.2", tags), "1.2.5", "out") == []


def test_beside_an_exact_name_the_others_say_so() -> None:
    found = case("main 1.2 1.2.2", "1.2.2", LINES)
    assert codes(found, "1.2", "beside-exact") == ["carries"]
    assert codes(found, "1.2.2", "beside-exact") == []
    assert codes(case("main 1.2 1.3", "1.2.2", LINES), "1.2", "beside-exact") == []


@pytest.mark.parametrize(
    ("branch", "unknown"),
    [
        ("release/1.2", []),
        ("app-1.2", []),  # the repository's own word
        ("lib-1.2", []),  # the product's that is asked for
        ("gold-1.2", ["1|unproven"]),
        ("gold-amber-1.2", ["2|unproven"]),
        ("gold-amber-coral-1.2", ["2|unproven"]),
    ],
)
def test_words_that_nothing_else_carries(branch: str, unknown: list[str]) -> None:
    assert codes(case(f"main {branch}", "lib 1.2.2", "lib-1.0.0@main"), branch, "unknown-words") == unknown


def test_words_of_a_template_whose_releases_are_made_there_are_proven() -> None:
    tags = releases("gold-1.0", "1.0.0") + releases("gold-1.1", "1.1.0") + releases("gold-1.2", "1.2.0")
    assert codes(case("main gold-1.0 gold-1.1 gold-1.2", "1.2.1", tags), "gold-1.2", "unknown-words") == ["1|proven"]


@pytest.mark.parametrize(
    ("branch", "label", "work"),
    [
        ("hotfix/1.2.2", "1.2.2", ["exact"]),
        ("bugfix/1.2.2-login", "1.2.2", ["exact"]),
        ("feature/1.2", "1.2", ["exact"]),
        ("release/1.2.2", "1.2.2", []),
    ],
)
def test_a_work_branch_that_is_named_for_exactly_the_version_is_a_candidate(
    branch: str, label: str, work: list[str]
) -> None:
    assert codes(case(f"main {branch}", label), branch, "work") == work


def test_another_work_branch_is_a_candidate_only_with_releases_on_it() -> None:
    assert placed(case("main feature/1.2", "1.2.2"), "feature/1.2") is None
    found = case("main feature/1.2", "1.2.2", "v1.2.1@feature/1.2")
    assert codes(found, "feature/1.2", "work") == ["other"]


@pytest.mark.parametrize(
    ("branch", "label", "tail"),
    [
        ("4.8-HBase-1.2", "4.8.1-HBase-1.2", []),
        ("4.8-HBase-1.2", "4.8.1-HBase-1.1", [""]),
        ("4.8-HBase-1.2", "4.8.1", [""]),
        ("4.8", "4.8.1", []),
    ],
)
def test_numbers_behind_the_version(branch: str, label: str, tail: list[str]) -> None:
    assert codes(case(f"main {branch}", label), branch, "tail") == tail


JS = releases("js-0.4.x", "0.4.0", "js-") + releases("0.4.x", "0.4.0")


@pytest.mark.parametrize(
    ("label", "branch", "said"),
    [
        ("JS-0.4.1", "js-0.4.x", ["asked"]),
        ("JS-0.4.1", "0.4.x", []),
        ("0.4.1", "js-0.4.x", ["other"]),
        ("0.4.1", "0.4.x", []),
    ],
)
def test_the_word_of_a_product(label: str, branch: str, said: list[str]) -> None:
    assert codes(case("main js-0.4.x 0.4.x", label, JS), branch, "product") == said


def test_a_word_that_other_branches_carry_excludes_these() -> None:
    found = case("main js-0.4.x 0.11.x", "JS-0.11.0")
    assert codes(found, "0.11.x", "product") == ["not-named"]


@pytest.mark.parametrize(
    ("version", "says"),
    [
        ("1.2.2-SNAPSHOT", ["version"]),
        ("1.2.2", ["version"]),
        ("1.2.9", ["line"]),
        ("1.2", ["line"]),
        ("2.0.0", []),
        ("x", []),
    ],
)
def test_what_a_branch_declares(version: str, says: list[str]) -> None:
    bundle = facts("main 1.2 1.3", tags=LINES, issue=wants("1.2.2"))
    declares = (Declaration(file="pom.xml", version=version),)
    branches = tuple(replace(b, declares=declares) for b in bundle.refs.branches)
    bundle = replace(bundle, refs=replace(bundle.refs, branches=branches))
    found = case_of(bundle, "1.2.2")
    assert codes(found, "1.2", "declares") == says
    assert [code.rpartition("|")[2] for code in found.trunk if "declares" in code] == says
    assert bool(declared(branches[0])) == (version != "x")


def test_of_several_declarations_the_nearest_counts() -> None:
    bundle = facts("main 1.2 1.3", tags=LINES, issue=wants("1.2.2"))
    files = (Declaration(file="a", version="9.9"), Declaration(file="b", version="1.2.2"))
    branches = tuple(replace(b, declares=files) for b in bundle.refs.branches)
    found = case_of(replace(bundle, refs=replace(bundle.refs, branches=branches)), "1.2.2")
    assert codes(found, "1.2", "declares") == ["version"]


@pytest.mark.parametrize(("pattern", "named"), [("1.*", True), ("release/**", False), ("**", False)])
def test_a_branch_that_automation_files_name(pattern: str, named: bool) -> None:  # noqa: FBT001 - a column of the table
    bundle = facts("main 1.2 1.3", tags=LINES, issue=wants("1.2.2"))
    patterns = (LinePattern(pattern=pattern, file="ci.yml"),)
    bundle = replace(bundle, repository=replace(bundle.repository, line_patterns=patterns))
    assert bool(codes(case_of(bundle, "1.2.2"), "1.2", "pattern")) is named


def test_a_single_release_on_a_name_without_a_version_is_little() -> None:
    assert codes(case("main owl", "1.2.1", "v1.2.0@owl"), "owl", "once") == [""]
    assert codes(case("main owl", "1.2.2", releases("owl", "1.2.0 1.2.1")), "owl", "once") == []


@pytest.mark.parametrize(("label", "short"), [("1.3", [""]), ("1.2", []), ("1.2.5", [])])
def test_two_numbers_newer_than_all_may_begin_a_line(label: str, short: list[str]) -> None:
    assert codes(case("main owl", label, releases("owl", "1.2 1.1")), "owl", "short") == short


@pytest.mark.parametrize(
    ("branches", "beside"),
    [
        ("main 1.2 1.3 demo-1.1 demo-1.2", [""]),
        ("main 1.2 1.3 demo-1.5 demo-1.6", []),  # a newer way to name lines
        ("main demo-1.2 demo-1.3", []),
    ],
)
def test_a_word_beside_plain_lines_where_nothing_is_released(branches: str, beside: list[str]) -> None:
    branch = branches.rsplit(maxsplit=1)[-1]
    label = branch.rpartition("-")[2] + ".1"
    assert codes(case(branches, label), branch, "beside-plain") == beside


# --- the default branch, and no branch ---


@pytest.mark.parametrize(
    ("label", "tags", "trunk"),
    [
        ("1.0.0", "", ["trunk|none|newest", "trunk|after-nothing|newer", "trunk|no-releases"]),
        ("1.4.0", LINES, ["trunk|none|newest", "trunk|after-branch|newer"]),
        ("1.4.0", LINES + "v1.3.5@main", ["trunk|none|newest", "trunk|after-trunk|newer"]),
        ("1.4.0", LINES + "v1.3.5@", ["trunk|none|newest", "trunk|after-lost|newer"]),
        ("1.1.0", LINES, ["trunk|none|ahead", "trunk|after-nothing|older"]),
        ("1.1.0", LINES + "v2.0.0@main", ["trunk|none|older", "trunk|after-nothing|older"]),
        ("1.2.2", LINES, ["trunk|held|ahead"]),
        ("1.2.2", LINES + "v2.0.0@main", ["trunk|held|older"]),
        ("1.3.1", LINES, ["trunk|held|newest"]),
    ],
)
def test_what_speaks_for_the_default_branch_and_for_none(label: str, tags: str, trunk: list[str]) -> None:
    found = case("main 1.2 1.3", label, tags)
    assert list(found.trunk) == trunk
    alike = [code.replace("trunk", "nothing", 1) for code in trunk if code != "trunk|no-releases"]
    assert list(found.nothing) == alike


# --- the tables ---


def test_every_prior_and_every_sentence_has_a_signal_that_it_is_about() -> None:
    kinds = {code.partition("|")[0] for code in (*POINTS, *PRIORS)}
    assert {code.partition("|")[0] for code in SENTENCES} <= kinds


def test_a_prior_is_only_for_what_has_no_fitted_points() -> None:
    assert not PRIORS.keys() & POINTS.keys()
