"""Real repositories for the tests: one, a workshop that makes them, and a remote with its clone."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from collectors.process import Git

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Repo:
    """A real repository at a path, driven by the real git."""

    path: Path

    def git(self, *arguments: str, stdin: str = "") -> str:
        """Run git here; its output without the last newline. Anything but success is an error of the test."""
        ran = subprocess.run(
            ["git", *arguments],
            cwd=self.path,
            input=stdin.encode(),
            capture_output=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr.decode()
        return ran.stdout.decode().removesuffix("\n")

    def commit(self, message: str = "work", *, branch: str | None = None) -> str:
        """Add an empty commit to HEAD, or to a branch that is made from HEAD if need be; its object id."""
        if branch is None:
            self.git("commit", "--quiet", "--allow-empty", "--message", message)
            return self.oid("HEAD")
        held = self.refs().get(f"refs/heads/{branch}") or self.oid("HEAD")
        made = self.git("commit-tree", "-p", held, "-m", message, f"{held}^{{tree}}")
        self.git("update-ref", f"refs/heads/{branch}", made)
        return made

    def oid(self, revision: str) -> str:
        """The object id that a revision stands for."""
        return self.git("rev-parse", "--verify", revision)

    def refs(self) -> dict[str, str]:
        """All refs: full refname to object id."""
        rows = self.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
        return {name: oid for name, _, oid in (row.partition(" ") for row in rows)}

    def port(self, *, environ: Mapping[str, str] | None = None, executable: str = "git") -> Git:
        """The program's own git at this path, in the test's environment."""
        return Git(folder=self.path, environ=dict(os.environ) | dict(environ or {}), executable=executable)


@dataclass(frozen=True, slots=True)
class Workshop:
    """Makes repositories in one temporary folder."""

    folder: Path

    def init(self, name: str, *options: str, commit: bool = True) -> Repo:
        """Make a repository with one commit on main."""
        path = self.folder / name
        path.mkdir(parents=True)
        repo = Repo(path)
        repo.git("init", "--quiet", *options)
        if commit:
            repo.commit("first")
        return repo

    def clone(self, source: Repo | str, name: str, *options: str) -> Repo:
        """Clone a repository, or what a URL names."""
        url = str(source.path) if isinstance(source, Repo) else source
        Repo(self.folder).git("clone", "--quiet", *options, "--", url, name)
        return Repo(self.folder / name)


@dataclass(frozen=True, slots=True)
class Stand:
    """A remote and its clone, both real, of one test alone."""

    remote: Repo
    clone: Repo

    def take_the_remote_away(self) -> None:
        """The remote is no longer where the clone looks for it."""
        self.remote.path.rename(self.remote.path.with_name("taken-away"))

    def serve_as(self, url: str) -> None:
        """Let the clone look for its remote at another address."""
        self.clone.git("config", "remote.origin.url", url)


MakeStand = Callable[[str], Stand]
