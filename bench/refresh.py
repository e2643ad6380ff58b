"""What asking the remote costs: the needed fetch, very many branches, repositories side by side.

The remotes are plain paths, built with the real git: no network flatters us or git.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from bench.racing import PROGRAM, Case, Taken, apart, race, ratio

BEHIND_COMMITS = 5_000
BEHIND_BRANCHES = 200
# Cut early, in the middle, late.
_LINES = ("1.2", "5.0", "9.2")
MANY_BRANCHES = 100_000
MANY_TAGS = 20_000
SIDE_BY_SIDE = 4

# A commit of real work touches files: so many bytes of text that does not compress to nothing.
_PAYLOAD = 4_000
_FILES = 3


def _build_behind(remote: Path, clone: Path) -> None:
    _init(remote)
    _import(remote, _line("main", 100, start=1))
    _git(remote.parent, "clone", "--quiet", str(remote), str(clone))
    # Each line was cut from main as main was then, and went on by itself.
    each, own = 5, (BEHIND_COMMITS // BEHIND_BRANCHES) - 5
    stream = ""
    for number in range(BEHIND_BRANCHES):
        stream += _line("main", each, start=1_000 + number * each, onto=None if number else "refs/heads/main^0")
        name = f"release/{number // 20}.{number % 20}"
        stream += _line(name, own, start=10_000 + number * own, onto="refs/heads/main")
    _import(remote, stream)


def behind(folder: Path, repeats: int) -> None:
    """A clone 5,000 commits and 200 branches behind: `resolve` against a whole fetch and the same listing.

    A line that was cut early lacks little here, a late one all that it was cut from. What git itself takes to list the
    refs and to bring the one is beside it: no program that goes through git is faster.
    """
    clone, copy = folder / "clone", folder / "copy"
    apart(_build_behind, folder / "app.git", clone)

    def fresh() -> None:
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(clone, copy)

    def shell(line: str) -> Case:
        return Case(argv=["sh", "-c", f"cd {copy} && {line}"], before=fresh)

    whole = "git fetch --quiet && git for-each-ref --sort=-committerdate refs/remotes/origin"
    one = "git ls-remote --heads --tags origin && git fetch --quiet --no-tags origin {0}:refs/remotes/origin/{0}"
    cases = {f"git fetch and the listing, {BEHIND_COMMITS:,} commits and {BEHIND_BRANCHES} branches": shell(whole)}
    for line in _LINES:
        question = ["resolve", str(copy), "--autopilot", "--issue-version", f"{line}.1"]
        cases[f"resolve, release/{line}"] = Case(argv=[*PROGRAM, *question], before=fresh)
        cases[f"git ls-remote and git fetch of release/{line}"] = shell(one.format(f"release/{line}"))
    theirs, *taken = (each.seconds for each in race(cases, repeats).values())
    for line, ours, least in zip(_LINES, taken[::2], taken[1::2], strict=True):
        ratio(f"git fetch and the listing / resolve, release/{line}", theirs / ours, "at least 10")
        ratio(f"the same / git alone, release/{line}", theirs / least, "what git leaves possible")


def _build_many(remote: Path, clone: Path, releases: int) -> None:
    _init(remote)
    _import(remote, _line("main", 2_000, start=1, payload=40))
    oids = _git(remote, "rev-list", "main").split()
    names = [f"release/{i // 50}.{i % 50}" for i in range(1_000)]
    names += [f"feature/APP-{i}-change" for i in range(MANY_BRANCHES - len(names) - 1)]
    tags = [f"v{i // 50}.{i % 50}.{patch}" for i in range(1_000) for patch in range(releases // 1_000)]
    packed = [(f"refs/heads/{name}", oids[i % len(oids)]) for i, name in enumerate(names)]
    packed += [(f"refs/tags/{name}", oids[i % len(oids)]) for i, name in enumerate(tags)]
    packed = sorted([*packed, ("refs/heads/main", oids[0])])
    for made in remote.rglob("refs/heads/main"):
        made.unlink()
    rows = "".join(f"{oid} {name}\n" for name, oid in packed)
    (remote / "packed-refs").write_text(f"# pack-refs with: peeled fully-peeled sorted \n{rows}")
    _git(remote.parent, "clone", "--quiet", "--no-checkout", str(remote), str(clone))


def many(folder: Path, repeats: int) -> None:
    """A remote with 100,000 branches: `collect` against bare `ls-remote` and against a sorted local listing."""
    ours, bare, piped = _collected(folder, repeats, 0)
    ratio("collect / ls-remote", ours.seconds / bare.seconds, "at most 4")
    ratio("collect / sorted listing", ours.seconds / piped.seconds, "under 1")


def many_with_tags(folder: Path, repeats: int) -> None:
    """The same with 20,000 release tags, whose branches are looked up in the history."""
    ours, _, _ = _collected(folder, repeats, MANY_TAGS)
    ratio("collect, seconds", ours.seconds, "under 3")
    ratio("collect, MiB", ours.mebibytes, "under 400")


def _collected(folder: Path, repeats: int, releases: int) -> tuple[Taken, Taken, Taken]:
    clone = folder / "clone"
    apart(_build_many, folder / "app.git", clone, releases)
    ours, bare, piped = race(
        {
            f"collect, {MANY_BRANCHES:,} branches and {releases:,} tags on the remote": Case(
                argv=[*PROGRAM, "collect", str(clone), "--issue-version", "7.3.1"]
            ),
            "git ls-remote of the same refs": Case(
                argv=["git", "-C", str(clone), "ls-remote", "--heads", "--tags", "origin"]
            ),
            "git branch -r by date, piped through two greps": Case(
                argv=["sh", "-c", "git branch -r --sort=-committerdate | grep -v HEAD | grep release/"], cwd=clone
            ),
        },
        repeats,
    ).values()
    return ours, bare, piped


def side_by_side(folder: Path, repeats: int) -> None:
    """Repositories whose remotes take their time: together against the slowest alone."""
    clones, wrapper = [], folder / "slow-upload-pack"
    folder.mkdir()
    # A network's round trip, so that what is waited for is not this machine's processors.
    wrapper.write_text('#!/bin/sh\nsleep "$SLOW"\nexec git-upload-pack "$@"\n')
    wrapper.chmod(0o755)
    for number in range(SIDE_BY_SIDE):
        remote, clone = folder / f"app-{number}.git", folder / f"clone-{number}"
        _init(remote)
        _import(remote, _line("main", 20, start=1) + _line("release/1.2", 20, start=100, onto="refs/heads/main"))
        _git(folder, "clone", "--quiet", str(remote), str(clone))
        _git(clone, "config", "remote.origin.uploadpack", str(wrapper))
        clones.append(str(clone))
    os.environ["SLOW"] = "1"
    options = ["--autopilot", "--issue-version", "1.2.3"]
    alone, together = race(
        {
            "resolve, a remote that is a second away": Case(argv=[*PROGRAM, "resolve", clones[-1], *options]),
            f"resolve, {SIDE_BY_SIDE} of them side by side": Case(argv=[*PROGRAM, "resolve", *clones, *options]),
        },
        repeats,
    ).values()
    ratio("side by side / one", together.seconds / alone.seconds, "little more than 1")


# --- building ---


def _init(remote: Path) -> None:
    remote.parent.mkdir(exist_ok=True)
    _git(remote.parent, "init", "--quiet", "--bare", str(remote))


def _line(branch: str, commits: int, *, start: int, onto: str | None = None, payload: int = _PAYLOAD) -> str:
    """A stream for fast-import: commits one after another on a branch, each with a few files of its own text."""
    said = []
    for number in range(start, start + commits):
        first = f"from {onto}\n" if onto and number == start else ""
        said.append(
            f"commit refs/heads/{branch}\ncommitter Ada <ada@example.invalid> {1_700_000_000 + number} +0000\n"
            f"data 4\nwork\n{first}"
        )
        for file in range(_FILES):
            seed = number * _FILES + file
            text = "".join(f"{(seed * 2654435761 + i * 40503) % 2**32:08x}\n" for i in range(payload // _FILES // 9))
            path = f"module{seed % 13}/package{seed % 37}/file{seed % 211}"
            said.append(f"M 100644 inline {path}\ndata {len(text)}\n{text}\n")
    return "".join(said)


def _import(remote: Path, stream: str) -> None:
    subprocess.run(["git", "-C", str(remote), "fast-import", "--quiet", "--force"], input=stream.encode(), check=True)


def _git(folder: Path, *arguments: str) -> str:
    ran = subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return ran.stdout
