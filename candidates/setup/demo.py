"""`base-branch demo`: a real repository with a remote in a temporary folder, and three decisions about it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from candidates.explain.text import explain
from candidates.run.collect import Request, collect
from candidates.run.decide import Policy, decide
from candidates.setup.recipes import Built, build, load_recipe
from candidates.styled import Line
from collectors.process import Git
from ranking.facts import Issue, IssueVersion

_SECONDS = 10.0


def run_demo(environ: Mapping[str, str]) -> Iterator[list[Line]]:
    """One group of lines for each step, as it is done. Nothing is left behind, nothing of the user's is read."""
    with tempfile.TemporaryDirectory(prefix="base-branch-demo-") as name:
        folder = Path(name)
        own = _own_environment(environ, folder)
        built = build(load_recipe("demo"), folder, own)
        yield [
            [("bold", "A small repository with a remote was built; these are its branches:")],
            *_branches(built, own),
        ]
        yield _decision("1. A clear one: the issue's fix version is 8.4.0.", built, own, "8.4.0")
        yield _decision("2. An ambiguous one: the fix versions are 8.4.0 and 8.5.0.", built, own, "8.4.0", "8.5.0")
        built.remote.rename(folder / "gone")
        yield _decision(
            "3. The remote is gone: the same as 1, from this clone's cache, and said so.", built, own, "8.4.0"
        )


def _own_environment(environ: Mapping[str, str], folder: Path) -> dict[str, str]:
    """The caller's, less what is theirs: no git configuration, no memory, no home but the demo's."""
    kept = {k: v for k, v in environ.items() if not k.startswith(("GIT_", "XDG_", "BASE_BRANCH_"))}
    mine = {
        "HOME": str(folder),
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "BASE_BRANCH_PREFERENCES": str(folder / "preferences.json"),
    }
    return kept | mine


def _branches(built: Built, environ: Mapping[str, str]) -> Iterator[Line]:
    listed = Git(folder=built.remote, environ=environ).run("for-each-ref", "--format=%(refname:short)", "refs/heads")
    yield from ([("", f"  {name}")] for name in listed.lines)


def _decision(title: str, built: Built, environ: Mapping[str, str], *versions: str) -> list[Line]:
    """What resolve --autopilot answers, and why."""
    issue = Issue(
        key="APP-12",
        read="answered",
        versions=tuple(IssueVersion(name=v, field="fixVersions") for v in versions),
    )
    now = datetime.now(UTC).replace(microsecond=0)
    collected = collect(Request(git=Git(folder=built.clone, environ=environ), now=now, seconds=_SECONDS, issue=issue))
    decision, code = decide(collected, Policy(autonomy="full"))
    how = f"{decision.base_branch_source}, {decision.base_fetch_status}"
    asked = " ".join(f"--issue-version {version}" for version in versions)
    return [
        [],
        [("bold yellow", title)],
        [("dim", f"$ base-branch resolve --autopilot {asked}")],
        [("", f"exit {int(code)}: {decision.base_branch} at {decision.base_ref}, "), ("bold", how)],
        [("dim", f"$ base-branch explain {asked}")],
        *explain(collected),
    ]
