"""What the lineage of tags costs beside git's own walk of the same history."""

from __future__ import annotations

import subprocess
from pathlib import Path

from bench.racing import PYTHON, Case, apart, race, ratio

RELEASES = 2_000
# Commits on the trunk between two releases, and on the short-lived branch of each.
_BETWEEN, _OWN = 40, 5

# As long as people write them: what a commit's bytes cost git is part of the walk.
_MESSAGE = "\n".join(["Take the part in the middle for the whole", "", *["and say in a few lines why that was so"] * 6])

_IMPORTS = (
    "import os, sys; from pathlib import Path; from collectors import git_objects, local_refs, process, repository"
)
_REFS = f"""{_IMPORTS}
git = process.Git(folder=Path.cwd(), environ=os.environ)
local = local_refs.read_local_refs(git, None, repository.read_config(git))
"""
_LINEAGE = f"""{_REFS}
found = git_objects.read_lineage(git, Path.cwd(), local.heads, local.tags, "main", shallow=False)
sys.exit(len(found.merged) != {RELEASES})
"""


def merged_in(folder: Path, repeats: int) -> None:
    """2,000 releases made on branches that are gone, each merged into a line, and the line into the trunk."""
    apart(_build, folder)
    refs, lineage, walk = race(
        {
            "python, and the refs": Case(argv=[*PYTHON, _REFS], cwd=folder),
            f"the same, and the lineage of {RELEASES:,} merged tags": Case(argv=[*PYTHON, _LINEAGE], cwd=folder),
            "git rev-list --all --parents": Case(argv=["git", "rev-list", "--all", "--parents"], cwd=folder),
        },
        repeats,
    ).values()
    ratio("lineage / git rev-list", (lineage.seconds - refs.seconds) / walk.seconds, "at most 1.3")


def _build(folder: Path) -> None:
    folder.mkdir()
    subprocess.run(["git", "init", "--quiet", "--bare"], cwd=folder, check=True)
    stream = _commits("main", 1, 0) + "reset refs/heads/stable\nfrom refs/heads/main\n\n"
    for number in range(RELEASES):
        start = 1 + number * (_BETWEEN + _OWN + 2)
        stream += _commits("main", _BETWEEN, start)
        stream += "reset refs/heads/gone\nfrom refs/heads/stable\n\n"
        stream += _commits("gone", _OWN, start + _BETWEEN)
        stream += f"reset refs/tags/v1.{number}\nfrom refs/heads/gone\n\n"
        stream += _commits("stable", 1, start + _BETWEEN + _OWN, merge="gone")
        stream += _commits("main", 1, start + _BETWEEN + _OWN + 1, merge="stable")
    subprocess.run(["git", "fast-import", "--quiet"], cwd=folder, input=stream.encode(), check=True)
    subprocess.run(["git", "branch", "--quiet", "-D", "gone"], cwd=folder, check=True)


def _commits(branch: str, count: int, start: int, *, merge: str | None = None) -> str:
    merged = f"merge refs/heads/{merge}\n" if merge else ""
    return "".join(
        f"commit refs/heads/{branch}\ncommitter Ada <ada@example.invalid> {1_600_000_000 + start + number} +0000\n"
        f"data {len(_MESSAGE)}\n{_MESSAGE}\n{merged}\n"
        for number in range(count)
    )
