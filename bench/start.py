"""What a start costs: the smallest calls against the imports that nobody can avoid, and `resolve` against its parts."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from bench.racing import PROGRAM, PYTHON, Case, race, ratio

UNAVOIDABLE = "import typer, msgspec"
RESOLVES_OWN = f"{UNAVOIDABLE}; import candidates.cli.app, candidates.cli.resolve, candidates.commands.resolve"


def start(folder: Path, repeats: int) -> None:
    """Measure and print."""
    folder.mkdir()
    bundle, clone = folder / "bundle.json", folder / "clone"
    bundle.write_text(json.dumps(_ten_branches()))
    _small_clone(folder)
    question = ["resolve", str(clone), "--autopilot", "--issue-version", "1.2.3"]
    taken = race(
        {
            f"python -c '{UNAVOIDABLE}'": Case(argv=[*PYTHON, UNAVOIDABLE]),
            "rank, 10 branches": Case(argv=[*PROGRAM, "rank"], stdin=bundle),
            "--help": Case(argv=[*PROGRAM, "--help"]),
            "resolve --help": Case(argv=[*PROGRAM, "resolve", "--help"]),
            "a usage error": Case(argv=[*PROGRAM, "resolve", "--nope"], code=2),
            "python -c 'the modules of resolve'": Case(argv=[*PYTHON, RESOLVES_OWN]),
            "git ls-remote": Case(argv=["git", "-C", str(clone), "ls-remote", "--heads", "--tags", "origin"]),
            "resolve, a small clone": Case(argv=[*PROGRAM, *question]),
        },
        repeats,
    )
    base, rank, _, _, _, own, asked, whole = (one.seconds for one in taken.values())
    ratio("rank / the imports", rank / base, "at most 1")
    ratio("--help / rank", taken["--help"].seconds / rank, "at most 1")
    ratio("a usage error / rank", taken["a usage error"].seconds / rank, "at most 1")
    ratio("resolve / (its imports + ls-remote)", whole / (own + asked), "at most 1.3")


def _ten_branches() -> dict[str, object]:
    names = ["main", *(f"release/8.{i}.x" for i in range(9))]
    return {
        "schema": "base-branch/bundle@1",
        "now": "2026-11-30T09:00:00Z",
        "repository": {"name": "acme/app", "defaultBranch": "main", "defaultBranchState": "remote"},
        "refs": {"provenance": "remote", "complete": True, "branches": [{"name": name} for name in names]},
        "issue": {"key": "APP-1", "read": "answered", "versions": [{"name": "8.4.2", "field": "fixVersions"}]},
    }


def _small_clone(folder: Path) -> None:
    stream = "".join(
        f"commit refs/heads/{name}\ncommitter Ada <ada@example.invalid> {1_700_000_000 + i} +0000\ndata 4\nwork\n\n"
        for i, name in enumerate(["main", *(f"release/1.{i}" for i in range(9))])
    )
    subprocess.run(["git", "init", "--quiet", "--bare", "app.git"], cwd=folder, check=True)
    remote = folder / "app.git"
    subprocess.run(["git", "fast-import", "--quiet"], cwd=remote, input=stream.encode(), check=True)
    subprocess.run(["git", "clone", "--quiet", str(remote), "clone"], cwd=folder, check=True)
