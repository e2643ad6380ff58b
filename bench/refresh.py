"""What asking the remote costs, as ratios within one run: needed fetch, very many branches, repositories side by side.

Run with the project's Python: `python bench/refresh.py [REPEATS]`. Everything is built in a temporary folder with the
real git, and the remotes are plain paths: no network flatters us or git. The ratios count, not the seconds.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = [sys.executable, "-c", "from candidates.front import main; main()"]

BEHIND_COMMITS = 5_000
BEHIND_BRANCHES = 200
MANY_BRANCHES = 100_000
SIDE_BY_SIDE = 4

# A commit of real work touches files: so many bytes of text that does not compress to nothing.
_PAYLOAD = 4_000
_FILES = 3


def main() -> None:
    """Build, measure, print."""
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _settle_in(folder)
        behind(folder / "behind", repeats)
        many(folder / "many", repeats)
        side_by_side(folder / "several", repeats)


def behind(folder: Path, repeats: int) -> None:
    """A clone 5,000 commits and 200 branches behind: `resolve` against a whole fetch and the same listing."""
    remote, clone = folder / "app.git", folder / "clone"
    _init(remote)
    _import(remote, _line("main", 100, start=1))
    _git(folder, "clone", "--quiet", str(remote), str(clone))
    # Each line was cut from main as main was then, and went on by itself.
    each, own = 5, (BEHIND_COMMITS // BEHIND_BRANCHES) - 5
    stream = ""
    for number in range(BEHIND_BRANCHES):
        stream += _line("main", each, start=1_000 + number * each, onto=None if number else "refs/heads/main^0")
        name = f"release/{number // 20}.{number % 20}"
        stream += _line(name, own, start=10_000 + number * own, onto="refs/heads/main")
    _import(remote, stream)

    def fresh() -> None:
        shutil.rmtree(folder / "copy", ignore_errors=True)
        shutil.copytree(clone, folder / "copy")

    copy = folder / "copy"
    ours = _time([*PROGRAM, "resolve", str(copy), "--autopilot", "--issue-version", "7.3.1"], repeats, before=fresh)

    def fetched() -> None:
        _git(copy, "fetch", "--quiet")
        _git(copy, "for-each-ref", "--sort=-committerdate", "refs/remotes/origin")

    whole = _time(fetched, repeats, before=fresh)
    _say(f"resolve, {BEHIND_COMMITS:,} commits and {BEHIND_BRANCHES} branches behind", ours)
    _say("git fetch and the listing", whole)
    _ratio("whole fetch / resolve (target: at least 10)", whole / ours)


def many(folder: Path, repeats: int) -> None:
    """A remote with 100,000 branches: `collect` against bare `ls-remote` and against a sorted local listing."""
    remote, clone = folder / "app.git", folder / "clone"
    _init(remote)
    _import(remote, _line("main", 2_000, start=1, payload=40))
    oids = _git(remote, "rev-list", "main").split()
    names = [f"release/{i // 50}.{i % 50}" for i in range(1_000)]
    names += [f"feature/APP-{i}-change" for i in range(MANY_BRANCHES - len(names) - 1)]
    packed = sorted([(f"refs/heads/{name}", oids[i % len(oids)]) for i, name in enumerate(names)])
    packed = sorted([*packed, ("refs/heads/main", oids[0])])
    for made in remote.rglob("refs/heads/main"):
        made.unlink()
    rows = "".join(f"{oid} {name}\n" for name, oid in packed)
    (remote / "packed-refs").write_text(f"# pack-refs with: peeled fully-peeled sorted \n{rows}")
    _git(folder, "clone", "--quiet", "--no-checkout", str(remote), str(clone))
    listed = ["git", "-C", str(clone), "ls-remote", "--heads", "--tags", "origin"]
    bare = _time(listed, repeats)
    ours = _time([*PROGRAM, "collect", str(clone), "--issue-version", "7.3.1"], repeats)
    pipeline = "git branch -r --sort=-committerdate | grep -v HEAD | grep release/"
    piped = _time(["sh", "-c", pipeline], repeats, cwd=clone)
    _say(f"collect, {MANY_BRANCHES:,} remote branches", ours)
    _say("bare git ls-remote of the same refs", bare)
    _say("git branch -r by date, piped through two greps", piped)
    _ratio("collect / ls-remote (target: at most 4)", ours / bare)
    _ratio("collect / sorted listing (target: under 1)", ours / piped)


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
    alone = max(_time([*PROGRAM, "resolve", clone, *options], repeats) for clone in clones)
    together = _time([*PROGRAM, "resolve", *clones, *options], repeats)
    _say(f"{SIDE_BY_SIDE} repositories side by side, each remote a second away", together)
    _say("the slowest alone", alone)
    _ratio("together / the slowest", together / alone)


# --- building ---


def _settle_in(folder: Path) -> None:
    """An own home, and nothing of the caller's git."""
    for name in tuple(os.environ):
        if name.startswith(("GIT_", "XDG_", "SSH_")):
            del os.environ[name]
    os.environ |= {"HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1", "PYTHONPATH": str(ROOT)}
    (folder / ".gitconfig").write_text(
        "[init]\n\tdefaultBranch = main\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n"
    )


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


# --- measuring ---


def _time(
    what: Sequence[str] | Callable[[], None],
    repeats: int,
    *,
    before: Callable[[], None] | None = None,
    cwd: Path | None = None,
) -> float:
    """Median seconds of a command or a function."""
    seconds = []
    for _ in range(repeats):
        if before is not None:
            before()
        began = time.perf_counter()
        if callable(what):
            what()
        else:
            ran = subprocess.run(list(what), cwd=cwd or ROOT, stdout=subprocess.DEVNULL, check=False)
            if ran.returncode:
                raise SystemExit(f"{what[-1]} ended with {ran.returncode}")
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds)


def _say(what: str, seconds: float) -> None:
    print(f"{what:<70} {seconds * 1000:>8.0f} ms")


def _ratio(what: str, value: float) -> None:
    print(f"  -> {what:<65} {value:>8.2f}\n")


if __name__ == "__main__":
    main()
