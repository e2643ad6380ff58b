"""The submodules that `.gitmodules` names: path, URL (redacted) and the branch that it hints at. Nothing is fetched."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from msgspec import Struct

from collectors.git.repository import parse_config
from collectors.process import Git
from collectors.remote_url import redact

_FILE = ".gitmodules"


class Submodule(Struct, frozen=True, kw_only=True):
    """One submodule. `path`: relative to the work tree's top; `branch`: the hint, `.` for the parent's own branch.

    `present`: whether there is a repository at the path.
    """

    name: str
    path: str
    url: str | None
    branch: str | None
    present: bool


def read_submodules(git: Git, top: Path) -> tuple[Submodule, ...]:
    """The submodules of a work tree, by path; () where it has none. Odd entries, out of the work tree, are left out.

    git reads the file, because its syntax is git's; the file is data of the repository and only named, never run.
    """
    if not (top / _FILE).is_file():
        return ()
    ran = git.at(top).run("config", "--file", _FILE, "--null", "--list")
    if ran.code != 0:
        return ()
    config = parse_config(ran.stdout)
    found = []
    for name in config.subsections("submodule", "path"):
        path = config.last(f"submodule.{name}.path") or ""
        if not _inside(path):
            continue
        url = config.last(f"submodule.{name}.url")
        found.append(
            Submodule(
                name=name,
                path=path,
                url=redact(url) if url else None,
                branch=config.last(f"submodule.{name}.branch"),
                present=(top / path / ".git").exists(),
            )
        )
    return tuple(sorted(found, key=lambda module: module.path))


def _inside(path: str) -> bool:
    pure = PurePosixPath(path)
    return bool(path) and not pure.is_absolute() and ".." not in pure.parts and not path.startswith("-")
