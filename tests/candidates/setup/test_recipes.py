"""Recipes build what they say, the same everywhere, and a bad one is refused with its place."""

from __future__ import annotations

import os
import subprocess
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from candidates.setup import recipes
from candidates.setup.recipes import Clone, build, load_recipe, parse_recipe, plan, recipe_names
from collectors.errors import InvalidInput, SetupError

ROOT = Path(__file__).parents[3]


def git(folder: Path, *arguments: str) -> str:
    """What plain git says there."""
    ran = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, check=True)
    return ran.stdout.decode().strip()


def refnames(folder: Path, prefix: str) -> list[str]:
    return git(folder, "for-each-ref", "--format=%(refname:lstrip=2)", prefix).split()


def subjects(folder: Path, revision: str) -> list[str]:
    return git(folder, "log", "--format=%s", "--topo-order", revision).splitlines()


def recipe_of(steps: str, more: str = "") -> recipes.Recipe:
    return parse_recipe(f'about = "any"\n{more}\nsteps = [\n{steps}\n]\n'.encode(), "the recipe")


def refused(steps: str, more: str = "") -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        recipe_of(steps, more)
    return caught.value


# What stands in the tree.


def test_the_recipes_are_these() -> None:
    assert recipe_names() == (
        "demo",
        "dotted_x",
        "empty",
        "knots",
        "moved_on",
        "release_lines",
        "stable_dash",
        "trunk_only",
        "two_products",
    )


@pytest.mark.parametrize(
    ("name", "default", "branches", "tags"),
    [
        (
            "release_lines",
            "main",
            ["develop", "feature/APP-12-login", "main", "release/8.2.0", "release/8.3.0", "release/8.4.0"],
            ["v8.0.0", "v8.1.0", "v8.2.0", "v8.2.1", "v8.3.0"],
        ),
        (
            "stable_dash",
            "main",
            ["7-0-stable", "7-1-stable", "main"],
            ["v7.0.0", "v7.0.0.alpha1", "v7.0.1", "v7.1.0"],
        ),
        ("dotted_x", "4.1.x", ["4.0.x", "4.1.x"], ["4.0.0", "4.0.1", "4.1.0"]),
        ("trunk_only", "main", ["fix/typo", "main"], ["v1.0.0", "v1.1.0"]),
        (
            "two_products",
            "main",
            ["client-4.1", "main", "server-4.1", "server-4.2"],
            ["client-4.1.0", "client-4.1.1", "server-4.1.0", "server-4.2.0"],
        ),
        ("empty", "main", [], []),
        (
            "demo",
            "main",
            [
                "bugfix/APP-9-receipt-8.3",
                "feature/APP-7-dark-mode",
                "main",
                "release/8.2.0",
                "release/8.3.0",
                "release/8.4.0",
                "release/8.5.0",
            ],
            ["v8.1.0", "v8.2.0", "v8.2.1", "v8.3.0", "v8.3.1", "v8.4.0-rc.1"],
        ),
    ],
)
def test_what_each_recipe_builds(name: str, default: str, branches: list[str], tags: list[str], tmp_path: Path) -> None:
    built = build(load_recipe(name), tmp_path / "here", os.environ)
    assert built == recipes.Built(remote=tmp_path / "here" / "remote.git", clone=tmp_path / "here" / "clone")
    assert refnames(built.remote, "refs/heads") == branches
    assert refnames(built.remote, "refs/tags") == tags
    assert refnames(built.remote, "refs/") == branches + tags
    assert git(built.remote, "symbolic-ref", "HEAD") == f"refs/heads/{default}"
    assert git(built.remote, "fsck", "--strict", "--no-dangling") == ""
    assert git(built.clone, "symbolic-ref", "HEAD") == f"refs/heads/{default}"
    tracked = [f"origin/{branch}" for branch in branches]
    assert sorted(refnames(built.clone, "refs/remotes")) == sorted([*tracked, *(["origin/HEAD"] if branches else [])])
    assert git(built.clone, "status", "--porcelain") == ""


def test_a_recipe_gives_the_same_objects_wherever_it_is_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = build(load_recipe("release_lines"), tmp_path / "a", os.environ).remote
    monkeypatch.setenv("TZ", "Pacific/Auckland")
    monkeypatch.setenv("GIT_COMMITTER_NAME", "Somebody")
    second = build(load_recipe("release_lines"), tmp_path / "b", os.environ).remote
    assert git(first, "for-each-ref") == git(second, "for-each-ref")
    assert git(first, "log", "-1", "--format=%H %an <%ae> %ct", "v8.0.0") == (
        f"{git(first, 'rev-parse', 'v8.0.0^{commit}')} Ada Example <ada@example.com> "
        f"{int(datetime(2026, 1, 5, 9, tzinfo=UTC).timestamp())}"
    )


def test_the_users_hooks_and_templates_stay_out(tmp_path: Path, home: Path) -> None:
    hook = home / "hooks" / "post-checkout"
    hook.parent.mkdir()
    hook.write_text(f"#!/bin/sh\ntouch {home}/ran\n", encoding="utf-8")
    hook.chmod(0o755)
    with (home / "gitconfig").open("a", encoding="utf-8") as config:
        config.write(f"[core]\n\thooksPath = {hook.parent}\n[clone]\n\tdefaultRemoteName = other\n")
    built = build(load_recipe("trunk_only"), tmp_path, os.environ)
    assert not (home / "ran").exists()
    assert git(built.clone, "remote") == "origin"


def test_sha256_objects(tmp_path: Path) -> None:
    built = build(load_recipe("moved_on"), tmp_path, os.environ, object_format="sha256")
    assert len(git(built.remote, "rev-parse", "main")) == 64
    assert refnames(built.remote, "refs/heads") == ["main", "release/1.10"]


# What the steps do.


def test_commits_merges_and_tags(tmp_path: Path) -> None:
    recipe = recipe_of(
        """
        { do = "commit", on = "main", message = "one", at = 2026-02-01T00:00:00Z },
        { do = "branch", name = "a", from = "main" },
        { do = "branch", name = "b", from = "main" },
        { do = "commit", on = "a", message = "two" },
        { do = "commit", on = "b", message = "three", times = 2 },
        { do = "merge", from = ["a", "b"], into = "main", message = "all" },
        { do = "merge", from = "main", into = "a", fast-forward = true },
        { do = "tag", name = "t1", on = "main" },
        { do = "tag", name = "t2", on = "b", annotated = false },
        { do = "branch", name = "other" },
        { do = "commit", on = "other", message = "root" },
        { do = "delete", name = "b" },
        """,
        "hours = 2",
    )
    remote = build(recipe, tmp_path, os.environ).remote
    assert refnames(remote, "refs/heads") == ["a", "main", "other"]
    assert git(remote, "rev-parse", "a") == git(remote, "rev-parse", "main")
    assert subjects(remote, "main^1") == ["one"]
    assert subjects(remote, "main^2") == ["two", "one"]
    assert subjects(remote, "main^3") == subjects(remote, "t2") == ["three", "three", "one"]
    assert subjects(remote, "other") == ["root"]
    assert git(remote, "cat-file", "-t", "t1") == "tag"
    assert git(remote, "cat-file", "-t", "t2") == "commit"
    assert git(remote, "for-each-ref", "--format=%(creatordate:iso)", "refs/tags/t1") == "2026-02-01 10:00:00 +0000"
    assert git(remote, "show", "main^3:notes/b.txt") == "4: three"


def test_a_name_may_be_used_again(tmp_path: Path) -> None:
    recipe = recipe_of(
        """
        { do = "commit", on = "main", message = "one" },
        { do = "branch", name = "a", from = "main" },
        { do = "commit", on = "a", message = "two" },
        { do = "delete", name = "a" },
        { do = "branch", name = "a", from = "main" },
        { do = "commit", on = "a", message = "three" },
        """
    )
    assert subjects(build(recipe, tmp_path, os.environ).remote, "a") == ["three", "one"]


def test_what_follows_the_clone_is_on_the_remote_only(tmp_path: Path) -> None:
    built = build(load_recipe("moved_on"), tmp_path, os.environ)
    assert refnames(built.remote, "refs/heads") == ["main", "release/1.10"]
    assert refnames(built.clone, "refs/remotes") == ["origin/HEAD", "origin/main", "origin/release/1.9"]
    assert refnames(built.clone, "refs/heads") == ["main", "release/1.9"]
    assert refnames(built.clone, "refs/tags") == ["v1.9.0"]
    assert git(built.remote, "rev-parse", "main~1") == git(built.clone, "rev-parse", "origin/main")
    assert git(built.remote, "rev-parse", "release/1.10~1") == git(built.remote, "rev-parse", "main")
    assert not (built.remote / "recipe-marks").exists()


def test_a_branch_may_be_rewritten_after_the_clone(tmp_path: Path) -> None:
    recipe = recipe_of(
        """
        { do = "commit", on = "main", message = "one" },
        { do = "branch", name = "a", from = "main" },
        { do = "commit", on = "a", message = "two" },
        { do = "clone" },
        { do = "delete", name = "a" },
        { do = "branch", name = "a", from = "main" },
        { do = "commit", on = "a", message = "three" },
        """
    )
    built = build(recipe, tmp_path, os.environ)
    assert subjects(built.remote, "a") == ["three", "one"]
    assert subjects(built.clone, "origin/a") == ["two", "one"]


def test_what_the_clone_looks_like(tmp_path: Path) -> None:
    recipe = load_recipe("stable_dash")
    wanted = Clone(remote="corp", depth=1, single_branch="7-0-stable", tags=False)
    clone = build(msgspec.structs.replace(recipe, clone=wanted), tmp_path / "a b", os.environ).clone
    assert git(clone, "rev-parse", "--is-shallow-repository") == "true"
    assert refnames(clone, "refs/") == ["7-0-stable", "corp/7-0-stable"]
    all_shallow = build(msgspec.structs.replace(recipe, clone=Clone(depth=1)), tmp_path / "all", os.environ).clone
    assert refnames(all_shallow, "refs/remotes") == [
        "origin/7-0-stable",
        "origin/7-1-stable",
        "origin/HEAD",
        "origin/main",
    ]


# What is refused.


@pytest.mark.parametrize(
    ("steps", "where", "said"),
    [
        ('{ do = "commit", on = "develop" }', "steps[0].on", "no branch develop stands here at this step"),
        ('{ do = "commit" }', "steps[0].on", "a required field is missing"),
        ('{ do = "commit", on = "main", twice = 2 }', "steps[0].twice", "unknown field"),
        ('{ do = "commit", on = "main", times = 0 }', "steps[0].times", "expected `int` >= 1"),
        ('{ do = "commit", on = "main", at = 2026-01-01T00:00:00 }', "steps[0].at", "timezone"),
        ('{ do = "push", on = "main" }', "steps[0].do", "invalid value 'push'"),
        ('{ on = "main" }', "steps[0].do", "a required field is missing"),
        (
            '{ do = "branch", name = "a", from = "main" }',
            "steps[0].from",
            "the branch main has no commit yet",
        ),
        ('{ do = "branch", name = "main" }', "steps[0].name", "the branch main stands already"),
        ('{ do = "branch", name = "a b" }', "steps[0].name", "neither spaces nor control characters"),
        ('{ do = "branch", name = "" }', "steps[0].name", "length >= 1"),
        (
            '{ do = "branch", name = "a" }, { do = "delete", name = "a" }, { do = "branch", name = "a" }',
            "steps[2].name",
            "an unrelated history needs a name that was not used",
        ),
        (
            '{ do = "commit", on = "main" }, { do = "merge", from = "a", into = "main" }',
            "steps[1].from",
            "no branch a",
        ),
        (
            '{ do = "commit", on = "main" }, { do = "merge", from = [], into = "main" }',
            "steps[1].from",
            "a branch to merge",
        ),
        (
            """{ do = "commit", on = "main" },
            { do = "merge", from = ["main", "main"], into = "main", fast-forward = true }""",
            "steps[1].from",
            "only one branch",
        ),
        ('{ do = "tag", name = "v1", on = "main" }', "steps[0].on", "the branch main has no commit yet"),
        (
            """{ do = "commit", on = "main" },
            { do = "tag", name = "v", on = "main" }, { do = "tag", name = "v", on = "main" }""",
            "steps[2].name",
            "the tag v stands already",
        ),
        ('{ do = "delete", name = "a" }', "steps[0].name", "no branch a stands here at this step"),
        ('{ do = "clone" }, { do = "clone" }', "steps[1]", "a repository is cloned once"),
        (
            '{ do = "commit", on = "main", times = 9, at = 9999-12-30T00:00:00Z }',
            "steps[0]",
            "beyond the calendar",
        ),
    ],
)
def test_a_bad_step_is_refused_with_its_place(steps: str, where: str, said: str) -> None:
    problem = refused(steps)
    assert problem.where == where
    assert said in str(problem)


def test_a_recipe_that_is_none() -> None:
    for data, said in [
        (b"about = ", "the recipe is no TOML: "),
        (b"\xff", "the recipe is no TOML: "),
        (b"", "about: a required field is missing (in the recipe)"),
        (b'about = "x"\nstep = []', "step: unknown field (in the recipe)"),
        (b'about = "x"\n[clone]\ndepth = 0', "clone.depth: expected `int` >= 1 (in the recipe)"),
    ]:
        with pytest.raises(InvalidInput) as caught:
            parse_recipe(data, "the recipe")
        assert str(caught.value).startswith(said)


@pytest.mark.parametrize("name", ["none", "../repos/demo", "Demo", "", "demo.toml"])
def test_a_recipe_that_is_not_there(name: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        load_recipe(name)
    assert str(caught.value) == f"there is no recipe {name!r}"
    assert caught.value.hint is not None
    assert caught.value.hint.startswith("the recipes are: demo, dotted_x, ")


def test_a_name_that_git_refuses_is_git_s_word(tmp_path: Path) -> None:
    recipe = recipe_of('{ do = "branch", name = "a..b" }, { do = "commit", on = "a..b" }')
    with pytest.raises(SetupError, match="git fast-import did not build the repository"):
        build(recipe, tmp_path, os.environ)


def test_a_folder_is_built_in_once(tmp_path: Path) -> None:
    build(load_recipe("trunk_only"), tmp_path, os.environ)
    with pytest.raises(SetupError, match="git clone did not build the repository"):
        build(load_recipe("trunk_only"), tmp_path, os.environ)


def test_the_plan_is_one_stream_unless_the_clone_is_in_the_middle() -> None:
    assert plan(load_recipe("demo"))[1] is None
    before, after = plan(load_recipe("moved_on"))
    assert after is not None
    assert b"v1.9.0" in before
    assert b"v1.10.0" not in before
    assert b"v1.10.0" in after


# Where the recipes are found.


def test_a_package_carries_its_recipes_beside_the_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = tmp_path / "setup" / "recipes.py"
    (installed.parent / "fixtures" / "repos").mkdir(parents=True)
    (installed.parent / "fixtures" / "repos" / "own.toml").write_text('about = "own"\n', encoding="utf-8")
    monkeypatch.setattr(recipes, "__file__", str(installed))
    assert recipe_names() == ("own",)
    assert load_recipe("own").about == "own"


def test_a_wheel_holds_every_recipe(tmp_path: Path) -> None:
    builders = pytest.importorskip("hatchling.builders.wheel")
    builder = builders.WheelBuilder(str(ROOT))
    (wheel,) = builder.build(directory=str(tmp_path), versions=["standard"])
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if name.startswith("candidates/setup/fixtures/repos/")}
    assert held == {f"candidates/setup/fixtures/repos/{name}.toml" for name in recipe_names()}
