"""Dates, lineage and counts from real objects; slow, plain git questions are the oracle."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import starmap, takewhile
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from candidates.setup.recipes import Branch, Clone, Commit, Delete, Merge, Recipe, Tag, build, load_recipe
from collectors.git import objects as git_objects
from collectors.git.commit_graph import Line, parse_batch, parse_graph, to_datetime
from collectors.git.objects import Lineage, read_ahead_behind, read_dates, read_lineage
from collectors.process import Deadline, Git
from ranking.names import BranchName, Oid

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.support.repositories import Workshop

MISSING = Oid("1" * 40)
BEGIN = datetime(2026, 1, 5, 9, tzinfo=UTC)


def hour(number: int) -> datetime:
    """The moment of a step of a recipe with one hour between steps."""
    return BEGIN + timedelta(hours=number)


def port(folder: Path, executable: str = "git") -> Git:
    return Git(folder=folder, environ=dict(os.environ), executable=executable)


def ask(git_dir: Path, *arguments: str, stdin: bytes = b"") -> str:
    """What plain git says, without any of the code under test."""
    command = ["git", f"--git-dir={git_dir}", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, check=True).stdout.decode().strip()


def refs(git_dir: Path, kind: str) -> dict[str, Oid]:
    """Short names to commits."""
    shown = ask(git_dir, "for-each-ref", "--format=%(refname:lstrip=2) %(objectname) %(*objectname)", f"refs/{kind}")
    rows = [row.split() for row in shown.splitlines()]
    return {row[0]: Oid(row[-1]) for row in rows}


def tips_of(git_dir: Path) -> dict[BranchName, Oid]:
    return {BranchName(name): oid for name, oid in refs(git_dir, "heads").items()}


def lineage(git_dir: Path, default: str | None, executable: str = "git") -> Lineage:
    named = None if default is None else BranchName(default)
    return read_lineage(port(git_dir, executable), git_dir, tips_of(git_dir), refs(git_dir, "tags"), named)


def expected_branches(git_dir: Path, default: str) -> dict[str, tuple[str, ...]]:
    """`tags[].branches` of docs/contract.md, with one git question a branch."""
    tips = refs(git_dir, "heads")
    trunk = ask(git_dir, "rev-list", "--first-parent", tips[default]).split()
    own: dict[str, list[str]] = {}
    lacked: dict[str, list[str]] = {}
    for name, tip in tips.items():
        line = ask(git_dir, "rev-list", "--first-parent", tip).split()
        meets = [index for index, oid in enumerate(line) if oid in trunk]
        own[name] = line[: meets[0]] if meets else line
        lacked[name] = ask(git_dir, "rev-list", tip, f"^{tips[default]}").split()
    answer: dict[str, tuple[str, ...]] = {}
    for tag, commit in refs(git_dir, "tags").items():
        on_own = tuple(sorted(name for name in own if commit in own[name]))
        holding = tuple(sorted(name for name in lacked if commit in lacked[name]))
        answer[tag] = (default,) if commit in trunk else on_own or holding
    return answer


@pytest.fixture(scope="module")
def knots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bare repository of the recipe with every awkward shape."""
    return build(load_recipe("knots"), tmp_path_factory.mktemp("knots"), os.environ).remote


@pytest.fixture(scope="module")
def knots_sha256(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("knots256")
    return build(load_recipe("knots"), folder, os.environ, object_format="sha256").remote


ON_KNOTS = {
    "on-main": ("main",),
    "on-left": ("left",),
    "on-right": ("right",),
    "left-after-cross": ("left",),
    "on-merged-gone": (),
    "before-merge": ("lives-on",),
    "merge-on-main": ("main",),
    "after-merge": ("lives-on",),
    "shared": ("line/1.0", "line/1.1"),
    "only-1.0": ("line/1.0",),
    "only-1.1": ("line/1.1",),
    "on-arm-a": ("octopus",),
    "on-arm-b": ("arm-b",),
    "on-octopus": ("octopus",),
    "on-dropped": (),
    "on-pages": ("pages", "same-as-pages"),
}


# Which branches a tag sits on.


def test_each_tag_sits_where_the_design_says(knots: Path) -> None:
    found = lineage(knots, "main")
    assert found.state == "read"
    assert found.missing == ()
    assert found.tags == ON_KNOTS


def test_the_slow_oracle_agrees_whichever_branch_is_the_default(knots: Path) -> None:
    for default in refs(knots, "heads"):
        assert lineage(knots, default).tags == expected_branches(knots, default), default


@pytest.mark.parametrize("name", ["release_lines", "stable_dash", "dotted_x", "trunk_only", "two_products", "demo"])
def test_the_slow_oracle_agrees_on_the_other_recipes(name: str, tmp_path: Path) -> None:
    recipe = load_recipe(name)
    remote = build(recipe, tmp_path, os.environ).remote
    assert lineage(remote, recipe.default).tags == expected_branches(remote, recipe.default)


def test_sha256_objects_give_the_same_answer(knots_sha256: Path) -> None:
    assert lineage(knots_sha256, "main").tags == ON_KNOTS


def test_the_order_of_what_is_given_changes_nothing(knots: Path) -> None:
    tips, tags = tips_of(knots), refs(knots, "tags")
    turned = read_lineage(
        port(knots), knots, dict(reversed(tips.items())), dict(reversed(tags.items())), BranchName("main")
    )
    straight = lineage(knots, "main")
    assert (turned.tags, turned.lines) == (straight.tags, straight.lines)


def test_a_default_that_is_not_listed_first_or_main(knots: Path) -> None:
    tags = lineage(knots, "line/1.0").tags
    assert tags["shared"] == ("line/1.0",)
    assert tags["only-1.1"] == ("line/1.1",)
    assert tags["merge-on-main"] == ("line/1.0",)


@st.composite
def histories(draw: st.DrawFn) -> Recipe:
    """A small history of commits, cuts, merges, deletions and tags in any order."""
    steps: list[Commit | Branch | Merge | Tag | Delete] = [Commit(on="main")]
    standing = ["main"]
    for number in range(draw(st.integers(3, 16))):
        kind = draw(st.sampled_from(["commit", "commit", "cut", "merge", "tag", "tag", "delete"]))
        name = draw(st.sampled_from(standing))
        other = draw(st.sampled_from(standing))
        if kind == "commit":
            steps.append(Commit(on=name))
        elif kind == "cut":
            steps.append(Branch(name=f"b{number}", from_=name))
            standing.append(f"b{number}")
        elif kind == "merge" and name != other:
            steps.append(Merge(into=name, from_=other, fast_forward=draw(st.integers(0, 5)) == 0))
        elif kind == "tag":
            steps.append(Tag(name=f"t{number}", on=name, annotated=draw(st.booleans())))
        elif kind == "delete" and name != "main":
            steps.append(Delete(name=name))
            standing.remove(name)
    return Recipe(about="any", steps=tuple(steps))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(recipe=histories(), data=st.data())
def test_the_slow_oracle_agrees_on_any_history(
    recipe: Recipe, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    remote = build(recipe, tmp_path_factory.mktemp("any"), os.environ).remote
    everywhere = {name: expected_branches(remote, name) for name in sorted(refs(remote, "heads"))}
    default = data.draw(st.sampled_from(sorted(everywhere)))
    assert lineage(remote, default).tags == everywhere[default]
    for tag, branches in lineage(remote, None).tags.items():
        assert branches is None or {answer[tag] for answer in everywhere.values()} == {branches}


# Which branches took a tag in.


@dataclass(frozen=True)
class Node:
    """One commit of a drawn graph: its parents by their places, and its committer date."""

    parents: tuple[int, ...]
    seconds: int


def import_graph(git_dir: Path, nodes: Sequence[Node], heads: Mapping[str, int], tags: Mapping[str, int]) -> None:
    """Build the graph with git itself: commits without files, then the refs."""
    lines = []
    for place, node in enumerate(nodes):
        lines += [f"commit refs/scratch/{place}", f"mark :{place + 1}"]
        lines += [f"committer A <a@example.invalid> {node.seconds} +0000", f"data {len(str(place))}", str(place)]
        lines += [f"{'merge' if at else 'from'} :{parent + 1}" for at, parent in enumerate(node.parents)]
    lines += [f"reset refs/heads/{name}\nfrom :{place + 1}\n" for name, place in heads.items()]
    lines += [f"reset refs/tags/{name}\nfrom :{place + 1}\n" for name, place in tags.items()]
    subprocess.run(["git", "init", "--quiet", "--bare", str(git_dir)], check=True)
    ask(git_dir, "fast-import", "--quiet", stdin=("\n".join(lines) + "\n").encode())


def expected_merged(git_dir: Path, default: str) -> dict[str, tuple[tuple[str, ...], int]]:
    """`tags[].mergedInto` and the moment of the merge, with a git question for each tag and branch."""
    tips = refs(git_dir, "heads")
    trunk = ask(git_dir, "rev-list", "--first-parent", tips[default]).split()
    answer: dict[str, tuple[tuple[str, ...], int]] = {}
    for tag, branches in expected_branches(git_dir, default).items():
        took: dict[str, int] = {}
        commit = refs(git_dir, "tags")[tag]
        for name, tip in tips.items() if branches == () else ():
            line = ask(git_dir, "rev-list", "--first-parent", tip).split()
            own = line if name == default else [*takewhile(lambda oid: oid not in trunk, line)]
            above = {*ask(git_dir, "rev-list", "--ancestry-path", tip, f"^{commit}").split()}
            first = next((oid for oid in reversed(own) if oid in above), None)
            if first is not None and not is_ancestor(git_dir, commit, f"{first}^1"):
                took[name] = int(ask(git_dir, "show", "--no-patch", "--format=%ct", first))
        if took:
            moment = min(took.values())
            answer[tag] = (tuple(sorted(name for name, when in took.items() if when == moment)), moment)
    return answer


def is_ancestor(git_dir: Path, commit: str, of: str) -> bool:
    command = ["git", f"--git-dir={git_dir}", "merge-base", "--is-ancestor", commit, of]
    code = subprocess.run(command, check=False).returncode
    assert code in {0, 1}
    return code == 0


def merged(git_dir: Path, default: str) -> dict[str, tuple[tuple[str, ...], int]]:
    """What the code under test says, in the form of `expected_merged`."""
    found = lineage(git_dir, default).merged
    return {tag: (each.branches, round(each.at.timestamp())) for tag, each in found.items() if each.at}


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[Node], dict[str, int], dict[str, int]]:
    """Commits with up to four parents and several roots; dates repeat and run backwards; refs are anywhere."""
    size = draw(st.integers(3, 14))
    places = st.integers(0, size - 1)
    nodes = [
        Node(
            # Mostly near parents, so that lines form; none at all begins a history of its own.
            parents=tuple(draw(st.lists(st.integers(max(0, place - 4), place - 1), max_size=4, unique=True)))
            if place
            else (),
            seconds=1_700_000_000 + draw(st.integers(0, 5)),
        )
        for place in range(size)
    ]
    heads = {"main": size - 1} | draw(st.dictionaries(st.sampled_from("abcd"), places, max_size=4))
    return nodes, heads, draw(st.dictionaries(st.sampled_from(("t1", "t2", "t3")), places, min_size=1))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(drawn=graphs(), data=st.data())
def test_the_slow_oracle_agrees_on_any_graph(
    drawn: tuple[list[Node], dict[str, int], dict[str, int]],
    data: st.DataObject,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    git_dir = tmp_path_factory.mktemp("graph") / "r.git"
    import_graph(git_dir, *drawn)
    default = data.draw(st.sampled_from(sorted(drawn[1])))
    assert lineage(git_dir, default).tags == expected_branches(git_dir, default)
    assert merged(git_dir, default) == expected_merged(git_dir, default)


def taken_in(
    tmp_path: Path, parents: Sequence[tuple[int, ...]], dates: Sequence[int], **heads: int
) -> dict[str, tuple[str, ...]]:
    """The branches that took in `t`, which is at place 1, with `main` as the default."""
    import_graph(tmp_path / "r.git", [*starmap(Node, zip(parents, dates, strict=True))], heads, {"t": 1})
    return {tag: branches for tag, (branches, _) in merged(tmp_path / "r.git", "main").items()}


def test_the_line_that_took_it_in_first_and_not_the_one_that_took_in_that_line(tmp_path: Path) -> None:
    # 0 root, 1 the release, 2 and 3 stable (3 merges the release), 4 main merges stable.
    parents = [(), (0,), (0,), (2, 1), (0, 3)]
    assert taken_in(tmp_path, parents, range(5), main=4, stable=3) == {"t": ("stable",)}


def test_the_default_counts_like_any_other(tmp_path: Path) -> None:
    parents = [(), (0,), (0, 1), (0,), (3, 1)]
    assert taken_in(tmp_path, parents, range(5), main=2, later=4) == {"t": ("main",)}


def test_merges_at_the_same_moment_are_all_given(tmp_path: Path) -> None:
    parents = [(), (0,), (0,), (2, 1), (0, 3)]
    assert taken_in(tmp_path, parents, (0, 1, 2, 3, 3), main=4, stable=3) == {"t": ("main", "stable")}


def test_a_branch_cut_after_the_merge_took_nothing_in_whatever_its_dates_say(tmp_path: Path) -> None:
    # 2: main merges the release; 3: the first commit of a branch cut from there, by a clock that is behind.
    parents = [(), (0,), (0, 1), (2,)]
    assert taken_in(tmp_path, parents, (0, 1, 5, 2), main=2, cut=3) == {"t": ("main",)}


def test_branches_that_share_the_merge_are_all_given(tmp_path: Path) -> None:
    # 3: the merge on a shared line; 4 and 5 go on from it; 6: main merges one of them.
    parents = [(), (0,), (0,), (2, 1), (3,), (3,), (0, 4)]
    assert taken_in(tmp_path, parents, range(7), main=6, x=4, y=5) == {"t": ("x", "y")}


def test_what_no_line_took_in_has_no_answer(tmp_path: Path) -> None:
    assert taken_in(tmp_path, [(), (0,), (0,)], range(3), main=2) == {}


def test_nothing_is_said_of_merges_while_a_tip_or_the_default_is_not_here(knots: Path) -> None:
    assert lineage(knots, "main").merged.keys() == {"on-merged-gone"}
    assert lineage(knots, None).merged == {}
    tips = tips_of(knots) | {BranchName("new"): MISSING}
    assert read_lineage(port(knots), knots, tips, refs(knots, "tags"), BranchName("main")).merged == {}


def test_an_unknown_default_leaves_open_what_depends_on_it(knots: Path) -> None:
    found = lineage(knots, None)
    assert {tag: branches for tag, branches in found.tags.items() if branches is not None} == {
        "on-left": ("left",),
        "on-right": ("right",),
        "left-after-cross": ("left",),
        "after-merge": ("lives-on",),
        "before-merge": ("lives-on",),
        "only-1.0": ("line/1.0",),
        "only-1.1": ("line/1.1",),
        "on-arm-b": ("arm-b",),
        "on-octopus": ("octopus",),
        "on-dropped": (),
    }
    assert set(found.lines.values()) == {None}


def test_a_default_that_is_not_among_the_branches_is_unknown(knots: Path) -> None:
    assert lineage(knots, "trunk").tags == lineage(knots, None).tags


# Own lines.


def test_where_each_line_begins_and_parts(knots: Path) -> None:
    tags = refs(knots, "tags")
    lines = lineage(knots, "main").lines
    assert lines == {
        "main": None,
        "behind": None,
        "equal": None,
        "left": Line(first=tags["on-left"], began=hour(3), parted=hour(3)),
        "right": Line(first=tags["on-right"], began=hour(5), parted=hour(5)),
        "lives-on": Line(first=tags["before-merge"], began=hour(15), parted=hour(15)),
        "line/1.0": Line(first=tags["shared"], began=hour(22), parted=hour(24)),
        "line/1.1": Line(first=tags["shared"], began=hour(22), parted=hour(26)),
        "arm-b": Line(first=tags["on-arm-b"], began=hour(30), parted=hour(30)),
        "octopus": Line(first=Oid(ask(knots, "rev-parse", "octopus~1")), began=hour(32), parted=hour(32)),
        "pages": Line(first=Oid(ask(knots, "rev-parse", "pages~1")), began=hour(37), parted=None),
        "same-as-pages": Line(first=Oid(ask(knots, "rev-parse", "pages~1")), began=hour(37), parted=None),
    }


def test_a_release_branch_cut_from_develop_parts_at_the_cut(tmp_path: Path) -> None:
    remote = build(load_recipe("release_lines"), tmp_path, os.environ).remote
    lines = lineage(remote, "main").lines
    cut, develop = lines[BranchName("release/8.2.0")], lines[BranchName("develop")]
    assert cut is not None
    assert develop is not None
    assert cut.first == develop.first
    assert cut.parted == datetime(2026, 1, 15, 9, tzinfo=UTC)
    assert cut.began == develop.began == datetime(2026, 1, 7, 9, tzinfo=UTC)


def test_a_line_whose_date_no_calendar_holds(workshop: Workshop) -> None:
    repo = workshop.init("r")
    odd = commit_at(repo.path / ".git", "999999999999999", parent=repo.oid("HEAD"))
    repo.git("update-ref", "refs/heads/far", odd)
    found = lineage(repo.path / ".git", "main")
    assert found.lines[BranchName("far")] == Line(first=odd, began=None, parted=None)


# What is not here, or not whole.


def test_a_missing_tip_turns_no_branch_into_nobody_knows(knots: Path) -> None:
    tips = tips_of(knots) | {BranchName("new"): MISSING}
    tags = refs(knots, "tags") | {"unfetched": Oid("2" * 40)}
    found = read_lineage(port(knots), knots, tips, tags, BranchName("main"))
    assert found.state == "read"
    assert found.missing == ("new",)
    assert found.tags == {tag: branches or None for tag, branches in ON_KNOTS.items()} | {"unfetched": None}
    assert found.lines[BranchName("new")] is None


def test_a_default_whose_tip_is_not_here_decides_nothing(knots: Path) -> None:
    tips = tips_of(knots) | {BranchName("main"): MISSING}
    found = read_lineage(port(knots), knots, tips, refs(knots, "tags"), BranchName("main"))
    assert found.missing == ("main",)
    assert set(found.tags.values()) == {None}


def test_a_tag_of_something_else_than_a_commit_has_no_answer(knots: Path) -> None:
    tree = Oid(ask(knots, "rev-parse", "main^{tree}"))
    found = read_lineage(port(knots), knots, tips_of(knots), {"tree": tree}, BranchName("main"))
    assert found.tags == {"tree": None}


def test_the_same_commits_are_answered_in_a_full_clone_and_withheld_in_a_shallow_one(tmp_path: Path) -> None:
    recipe = load_recipe("stable_dash")
    full = build(recipe, tmp_path / "full", os.environ).clone / ".git"
    cut = msgspec.structs.replace(recipe, clone=Clone(depth=1))
    shallow = build(cut, tmp_path / "shallow", os.environ).clone / ".git"
    tips = {BranchName(name): oid for name, oid in refs(full, "remotes/origin").items() if name != "origin/HEAD"}
    tags = refs(full, "tags")
    main = BranchName("origin/main")
    assert read_lineage(port(full), full, tips, tags, main).tags["v7.0.1"] == ("origin/7-0-stable",)
    found = read_lineage(port(shallow), shallow, tips, tags, main)
    assert found.state == "shallow"
    assert found.tags == dict.fromkeys(tags)
    pair = (tips[main], tips[BranchName("origin/7-0-stable")])
    assert read_ahead_behind(port(full), full, [pair]) == {pair: (3, 2)}
    assert read_ahead_behind(port(shallow), shallow, [pair]) == {pair: None}


def test_a_hole_in_the_history_is_a_failure_and_no_crash(workshop: Workshop) -> None:
    repo = workshop.init("r")
    hole = repo.commit("second")
    repo.commit("third")
    repo.git("tag", "v1")
    (repo.path / ".git" / "objects" / hole[:2] / hole[2:]).unlink()
    found = lineage(repo.path / ".git", "main")
    assert (found.state, found.tags, found.lines) == ("failed", {"v1": None}, {"main": None})
    assert found.detail is not None
    assert found.detail.startswith("git rev-list failed: ")


def test_no_repository_is_a_failure_and_no_crash(tmp_path: Path) -> None:
    found = read_lineage(port(tmp_path), tmp_path, {BranchName("main"): MISSING}, {"v1": MISSING}, BranchName("main"))
    assert (found.state, found.tags) == ("failed", {"v1": None})
    assert read_dates(port(tmp_path), tmp_path, [MISSING]) == {}
    assert read_ahead_behind(port(tmp_path), tmp_path, [(MISSING, MISSING)]) == {(MISSING, MISSING): None}


def test_a_git_that_does_not_end_is_a_failure(knots: Path, tmp_path: Path) -> None:
    slow = wrapper(tmp_path / "git", 'case "$*" in *rev-list*) exec sleep 60;; esac; exec git "$@"')
    tips = tips_of(knots)
    found = read_lineage(port(knots, slow), knots, tips, {}, BranchName("main"), timeout=0.2)
    assert (found.state, found.detail) == ("failed", "git rev-list did not end within 0.2 s")


def test_nothing_to_ask(knots: Path) -> None:
    assert read_lineage(port(knots), knots, {}, {}, None) == Lineage(state="read", tags={}, lines={})
    assert read_dates(port(knots), knots, []) == {}
    assert read_ahead_behind(port(knots), knots, []) == {}


def test_replacements_of_this_clone_do_not_count(workshop: Workshop) -> None:
    repo = workshop.init("r")
    repo.git("tag", "v1")
    repo.commit("second")
    third = repo.commit("third")
    repo.git("replace", "--graft", third)
    assert lineage(repo.path / ".git", "main").tags == {"v1": ("main",)}


def test_a_linked_worktree_is_read_from_its_own_git_directory(workshop: Workshop) -> None:
    repo = workshop.init("r")
    repo.git("tag", "v1")
    repo.git("worktree", "add", "--quiet", "-b", "other", "../wt")
    git_dir = repo.path / ".git" / "worktrees" / "wt"
    assert lineage(git_dir, "main").tags == {"v1": ("main",)}
    pairs = [(Oid(repo.oid("main")), Oid(repo.oid("other")))]
    assert git_objects._count_with_library(git_dir, pairs, Deadline(60)) == {pairs[0]: (0, 0)}


def test_the_graph_is_walked_once_and_not_once_a_branch(tmp_path: Path) -> None:
    branches = [f"line/{number}" for number in range(40)]
    steps: list[Commit | Branch | Merge | Tag | Delete] = [
        Commit(on="main"),
        Branch(name="gone", from_="main"),
    ]
    steps += [Commit(on="gone"), Tag(name="v-gone", on="gone"), Delete(name="gone")]
    for name in branches:
        steps += [Branch(name=name, from_="main"), Commit(on=name), Tag(name=f"v-{name}", on=name)]
    remote = build(Recipe(about="many", steps=tuple(steps)), tmp_path, os.environ).remote
    counted = wrapper(tmp_path / "git", f'echo "$*" >>{tmp_path}/started; exec git "$@"')
    found = lineage(remote, "main", counted)
    assert found.tags == {"v-gone": ()} | {f"v-{name}": (name,) for name in branches}
    started = (tmp_path / "started").read_text().splitlines()
    assert sum("rev-list" in line for line in started) == 1
    assert len(started) == 3


# Dates.


def commit_at(git_dir: Path, seconds: str, *, parent: str | None = None) -> Oid:
    """A commit whose committer date is any text."""
    tree = ask(git_dir, "hash-object", "-w", "-t", "tree", "--stdin")
    lines = [f"tree {tree}", *([f"parent {parent}"] if parent else [])]
    lines += [
        "author A <a@example.com> 1 +0000",
        f"committer A <a@example.com> {seconds} +0000",
        "",
        "odd",
        "",
    ]
    content = "\n".join(lines).encode()
    return Oid(ask(git_dir, "hash-object", "-w", "-t", "commit", "--stdin", "--literally", stdin=content))


def test_dates_of_commits_and_tags(knots: Path) -> None:
    commit = Oid(ask(knots, "rev-parse", "on-left^{commit}"))
    tag = Oid(ask(knots, "rev-parse", "on-left"))
    light = Oid(ask(knots, "rev-parse", "on-right"))
    assert read_dates(port(knots), knots, [commit, tag, light, MISSING]) == {
        commit: hour(3),
        tag: hour(4),
        light: hour(5),
        MISSING: None,
    }


def test_dates_equal_what_for_each_ref_says(knots: Path) -> None:
    shown = ask(knots, "for-each-ref", "--format=%(objectname) %(creatordate:unix)")
    rows = [row.split() for row in shown.splitlines()]
    expected = {oid: datetime.fromtimestamp(int(seconds), UTC) for oid, seconds in rows}
    assert read_dates(port(knots), knots, [Oid(oid) for oid, _ in rows]) == expected


def test_dates_of_sha256_objects(knots_sha256: Path) -> None:
    tip = tips_of(knots_sha256)[BranchName("main")]
    assert read_dates(port(knots_sha256), knots_sha256, [tip, Oid("1" * 64)]) == {
        tip: hour(40),
        Oid("1" * 64): None,
    }


def test_dates_that_no_calendar_holds_are_left_out(workshop: Workshop) -> None:
    git_dir = workshop.init("r").path / ".git"
    far = [
        commit_at(git_dir, seconds)
        for seconds in ("999999999999999", "18446744073709551615", "99999999999999999999999")
    ]
    last = commit_at(git_dir, "253402300799")
    dates = read_dates(port(git_dir), git_dir, [*far, last])
    assert dates[last] == datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
    assert far[0] not in dates
    assert far[1] not in dates


def test_a_tag_without_a_tagger_and_a_file_have_no_date(workshop: Workshop) -> None:
    repo = workshop.init("r")
    git_dir = repo.path / ".git"
    header = f"object {repo.oid('HEAD')}\ntype commit\ntag old\n"
    content = f"{header}\nno tagger\ntagger A <a@example.com> 5 +0000\n".encode()
    old = Oid(ask(git_dir, "hash-object", "-w", "-t", "tag", "--stdin", "--literally", stdin=content))
    blob = Oid(ask(git_dir, "hash-object", "-w", "--stdin", stdin=b"committer A <a@example.com> 5 +0000\n"))
    assert read_dates(port(git_dir), git_dir, [old, blob]) == {}


def test_what_is_no_object_id_reaches_git_as_nothing(knots: Path) -> None:
    tip = tips_of(knots)[BranchName("main")]
    odd = [Oid(text) for text in ("--all", "HEAD", "^" + tip, tip + "\n--all", "", tip[:7])]
    assert read_dates(port(knots), knots, odd) == {}
    assert read_dates(port(knots), knots, [*odd, tip]) == {tip: hour(40)}


def test_an_object_id_of_the_other_length_is_missing(knots: Path) -> None:
    assert read_dates(port(knots), knots, [Oid("a" * 64)]) == {Oid("a" * 64): None}


def test_moments_at_the_edges() -> None:
    assert to_datetime(-1) == datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC)
    assert to_datetime(253402300799) == datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
    assert to_datetime(253402300800) is None
    assert to_datetime(-(2**70)) is None


def test_contents_with_newlines_do_not_end_a_record() -> None:
    first, second = "a" * 40, "b" * 40
    stdout = f"{first} tag 5\n\nx\n\n\n\n{second} missing\n{first} commit 0\n\n".encode()
    assert list(parse_batch(stdout)) == [
        (first, "tag", b"\nx\n\n\n"[:5]),
        (second, "missing", b""),
        (first, "commit", b""),
    ]


def test_a_graph_keeps_all_parents_and_the_dates_of_first_parent_lines() -> None:
    first, second, third = (Oid(letter * 40) for letter in "abc")
    graph = parse_graph(f"7 {first} {second} {third}\n5 {third}\n6 {second}\n".encode(), [first])
    assert graph.first == {first: second, third: None, second: None}
    assert graph.others == {first: [third]}
    assert graph.seconds == {first: 7, second: 6}


# Ahead and behind.


def all_pairs(git_dir: Path) -> list[tuple[Oid, Oid]]:
    tips = sorted(set(refs(git_dir, "heads").values()))
    return [(ours, theirs) for ours in tips for theirs in tips]


def counted_plainly(git_dir: Path, pairs: list[tuple[Oid, Oid]]) -> Mapping[tuple[Oid, Oid], tuple[int, int]]:
    """Sizes of the set differences of two plain lists."""
    held = {oid: set(ask(git_dir, "rev-list", oid).split()) for pair in pairs for oid in pair}
    return {pair: (len(held[pair[0]] - held[pair[1]]), len(held[pair[1]] - held[pair[0]])) for pair in pairs}


def test_library_and_git_count_alike(knots: Path) -> None:
    pairs = all_pairs(knots)
    expected = counted_plainly(knots, pairs)
    assert len(pairs) == 100
    assert git_objects._count_with_library(knots, pairs, Deadline(60)) == expected
    some = pairs[::7]
    assert {pair: git_objects._count_with_git(port(knots), knots, pair, timeout=60) for pair in some} == {
        pair: expected[pair] for pair in some
    }


def test_git_counts_where_the_library_cannot_open_the_repository(knots_sha256: Path) -> None:
    pairs = all_pairs(knots_sha256)[:8]
    assert git_objects._count_with_library(knots_sha256, pairs, Deadline(60)) is None
    assert read_ahead_behind(port(knots_sha256), knots_sha256, pairs) == counted_plainly(knots_sha256, pairs)


def test_an_extension_that_the_library_does_not_know(workshop: Workshop) -> None:
    repo = workshop.init("r")
    first = Oid(repo.oid("HEAD"))
    tips = [Oid(repo.commit(str(number))) for number in range(5)]
    # git knows this one, and fetches nothing; libgit2 refuses it.
    repo.git("config", "core.repositoryFormatVersion", "1")
    repo.git("config", "extensions.partialClone", "origin")
    pairs = [(first, tip) for tip in tips]
    git_dir = repo.path / ".git"
    assert git_objects._count_with_library(git_dir, pairs, Deadline(60)) is None
    assert read_ahead_behind(repo.port(), git_dir, pairs) == {pair: (0, n + 1) for n, pair in enumerate(pairs)}


def test_many_pairs_go_through_the_library_and_few_through_git(knots: Path, tmp_path: Path) -> None:
    no_walk = wrapper(tmp_path / "git", 'case "$*" in *rev-list*) exit 1;; esac; exec git "$@"')
    pairs = all_pairs(knots)
    assert read_ahead_behind(port(knots, no_walk), knots, pairs) == counted_plainly(knots, pairs)
    assert read_ahead_behind(port(knots, no_walk), knots, pairs[:3]) == dict.fromkeys(pairs[:3])


def test_what_the_deadline_leaves_is_not_counted(knots: Path) -> None:
    pairs = all_pairs(knots)
    assert git_objects._count_with_library(knots, pairs, Deadline(0)) == {}
    assert git_objects._count_with_git(port(knots), knots, pairs[1], timeout=0) is None


def test_a_pair_with_a_missing_commit_is_not_counted(knots: Path) -> None:
    pairs = [*all_pairs(knots)[:6], (MISSING, tips_of(knots)[BranchName("main")])]
    counts = read_ahead_behind(port(knots), knots, pairs)
    assert counts == {**counted_plainly(knots, pairs[:6]), pairs[6]: None}


def test_dates_and_lineage_do_not_load_the_library(knots: Path) -> None:
    code = f"""
import os, sys
from pathlib import Path
from collectors.git.objects import read_dates, read_lineage
from collectors.process import Git
at = Path({str(knots)!r})
git = Git(folder=at, environ=os.environ)
tip = {tips_of(knots)[BranchName("main")]!r}
assert read_lineage(git, at, {{"main": tip}}, {{"v": tip}}, "main").tags == {{"v": ("main",)}}
assert list(read_dates(git, at, [tip])) == [tip]
sys.exit("pygit2" in sys.modules)
"""
    root = Path(__file__).parents[3]
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0


def wrapper(path: Path, body: str) -> str:
    """Write a stand-in for the git executable."""
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)
