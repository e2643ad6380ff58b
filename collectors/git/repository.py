"""What git says of the repository at a folder: where it is, what kind it is, and its configuration.

Everything is asked of the git executable, so that what git opens, we open (linked worktree, submodule, bare,
shallow, sha256, reftable, safe.directory, GIT_DIR). Parsers are pure and stand apart from running git.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from collectors.errors import SetupError
from collectors.strict_json import json_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from collectors.process import Git, ProcessResult

# `fetch --no-write-fetch-head` and `--no-auto-maintenance` are of 2.29; the first `rev-parse` that takes
# `--end-of-options` for what it is, is of 2.30.
OLDEST_GIT: Final = (2, 30)

_OBJECT_FORMATS: Final = ("sha1", "sha256")

# The answers of fixed form come first, so that a path with a newline in it cannot shift them; what may fail
# (HEAD, in a repository without a commit) comes last. `--show-cdup` prints a line in a work tree only.
_QUESTIONS: Final = (
    "--is-bare-repository",
    "--is-shallow-repository",
    "--show-object-format",
    "--is-inside-work-tree",
    "--absolute-git-dir",
    "--git-common-dir",
    "--show-cdup",
    "--symbolic-full-name",
    "HEAD",
)
_FIXED: Final = 4
_PATHS: Final = 2

_TRUE: Final = ("true", "yes", "on")
_FALSE: Final = ("false", "no", "off", "")


class Checkout(Struct, frozen=True, kw_only=True):
    """One repository as git sees it from one folder."""

    top: Path | None
    """The work tree's top; None where the folder is in none (a bare repository, inside `.git`)."""
    git_dir: Path
    """This work tree's own folder; of a linked worktree `.git/worktrees/NAME`."""
    common_dir: Path
    """What all work trees of the repository share; equal to `git_dir` in the main one."""
    bare: bool
    shallow: bool
    object_format: str
    git_version: tuple[int, ...]
    head: str | None
    """The refname that HEAD stands for, born or not; None where it is detached."""

    @property
    def name(self) -> str:
        r"""The name of the repository's folder; bytes that are no UTF-8, and so no JSON, stand as `\xNN`."""
        return json_text((self.top or self.common_dir).name)


class Config(Struct, frozen=True, kw_only=True):
    """The whole configuration, its files merged as git merges them; a key's values in order of precedence."""

    values: Mapping[str, tuple[str | None, ...]]

    def last(self, key: str) -> str | None:
        """The value that counts of a single-valued key; None where it is unset or has no value."""
        found = self.values.get(canonical_key(key), ())
        return found[-1] if found else None

    def every(self, key: str) -> tuple[str, ...]:
        """All values of a multi-valued key; an empty one clears those before it, as git has it for lists."""
        kept: list[str] = []
        for value in self.values.get(canonical_key(key), ()):
            if value:
                kept.append(value)
            else:
                kept.clear()
        return tuple(kept)

    def flag(self, key: str) -> bool | None:
        """A boolean by git's spelling; None where it is unset. SetupError where it is no boolean."""
        found = self.values.get(canonical_key(key), ())
        return parse_boolean(found[-1], key=key) if found else None

    def subsections(self, section: str, variable: str) -> tuple[str, ...]:
        """The middle parts of all keys `section.MIDDLE.variable`, each once, sorted."""
        head, tail = section.lower() + ".", "." + variable.lower()
        found = (key for key in self.values if key.startswith(head) and key.endswith(tail))
        return tuple(sorted(key[len(head) : -len(tail)] for key in found if len(key) > len(head + tail)))


def open_repository(git: Git) -> Checkout:
    """What is at git's folder; SetupError with the next command where git cannot or may not open it."""
    asked = git.run("version")
    if asked.code != 0:
        said = "no answer in time" if asked.timed_out else _first_line(asked.stderr)
        raise SetupError(f"{git.executable} does not run: {said}", code="git-missing", hint="git version")
    version = parse_git_version(asked.stdout)
    if version < OLDEST_GIT:
        here, oldest = (".".join(map(str, numbers)) for numbers in (version, OLDEST_GIT))
        raise SetupError(
            f"{git.executable} is version {here or 'unknown'}; the oldest that serves is {oldest}",
            code="git-too-old",
            hint=f"install git {oldest} or newer, then: git version",
        )
    ran = git.run("rev-parse", *_QUESTIONS)
    lines = _text_lines(ran.stdout)
    if len(lines) <= _FIXED:
        raise explain_refusal(ran, git.folder)
    fixed, rest = lines[:_FIXED], lines[_FIXED:]
    head = rest.pop() if rest and (rest[-1] == "HEAD" or rest[-1].startswith("refs/")) else ""
    if head in {"HEAD", ""}:
        # Detached; or no commit yet, which rev-parse cannot resolve, though HEAD is a symref. The exit code
        # does not tell: inside a git folder rev-parse takes HEAD for the file of that name, and succeeds.
        head = _text(git.run("symbolic-ref", "--quiet", "HEAD").stdout).removesuffix("\n")
    inside = fixed[3] == "true"
    climb = rest.pop() if inside and rest else ""
    if fixed[2] not in _OBJECT_FORMATS or len(rest) < _PATHS:
        raise SetupError(
            "git rev-parse answered in an unknown form",
            code="unexpected-git-output",
            hint="git --version, and a newer git",
        )
    if len(rest) > _PATHS:  # a path holds a newline: ask for each by itself
        rest = [_one_path(git, "--absolute-git-dir"), _one_path(git, "--git-common-dir")]
    return Checkout(
        top=(git.folder / climb).resolve() if inside else None,
        git_dir=Path(rest[0]),
        common_dir=(git.folder / rest[1]).resolve(),
        bare=fixed[0] == "true",
        shallow=fixed[1] == "true",
        object_format=fixed[2],
        git_version=version,
        head=head if head.startswith("refs/") else None,
    )


def read_config(git: Git) -> Config:
    """The configuration that counts at git's folder, in one start of git."""
    ran = git.run("config", "--null", "--list")
    if ran.code != 0:
        raise SetupError(
            f"git cannot read its configuration: {_first_line(ran.stderr)}",
            code="bad-config",
            hint="git config --list --show-origin",
        )
    return parse_config(ran.stdout)


def parse_config(listing: bytes) -> Config:
    r"""The output of `git config --null --list`: `KEY\nVALUE\0`, or `KEY\0` for a key without a value.

    >>> parse_config(b"remote.origin.url\nx\0core.bare\0").values["core.bare"]
    (None,)
    """
    values: defaultdict[str, list[str | None]] = defaultdict(list)
    for entry in listing.decode("utf-8", "backslashreplace").split("\0"):
        key, newline, value = entry.partition("\n")
        if key:
            values[key].append(value if newline else None)
    return Config(values=MappingProxyType({key: tuple(found) for key, found in values.items()}))


def parse_git_version(text: bytes) -> tuple[int, ...]:
    """The numbers of `git version`'s answer; empty where it holds none.

    >>> parse_git_version(b"git version 2.39.5 (Apple Git-154)")
    (2, 39, 5)
    """
    found = re.match(rb"git version ([0-9]{1,9}(?:\.[0-9]{1,9})*)", text)
    return tuple(int(part) for part in found[1].split(b".")) if found else ()


def parse_boolean(value: str | None, *, key: str) -> bool:
    """A boolean as git reads it: no value is true, an empty one false, a number true unless it is zero."""
    word = "true" if value is None else value.lower()
    if word in _TRUE or word in _FALSE:
        return word in _TRUE
    if re.fullmatch(r"[+-]?[0-9]+", word):
        return bool(word.strip("+-0"))  # not int(): Python reads no number of some thousands of digits
    message = f"the configuration's {key} is {value!r}, which is no boolean"
    raise SetupError(message, code="bad-config", hint=f"git config --show-origin --get-all {key}")


def canonical_key(key: str) -> str:
    """A configuration key as `git config --list` prints it: first and last part in lower case.

    >>> canonical_key("remote.Team/Up.pushDefault")
    'remote.Team/Up.pushdefault'
    """
    section, dot, rest = key.partition(".")
    middle, last_dot, variable = rest.rpartition(".")
    return section.lower() + dot + middle + last_dot + variable.lower()


# git's words (LC_ALL=C), the slug, the message's end, and the next command.
_REFUSALS: Final = (
    ("detected dubious ownership", "dubious-ownership", "belongs to another user", None),
    (
        "safe.bareRepository",
        "bare-repository-refused",
        "is a bare repository, which safe.bareRepository forbids here",
        "git --git-dir=. rev-parse --git-dir",
    ),
    (
        "unknown repository extension",
        "git-too-old",
        "uses a repository extension that this git does not know",
        "install a newer git, then: git version",
    ),
    ("not a git repository", "not-a-repository", "is not in a git repository", "git rev-parse --git-dir"),
)


def explain_refusal(ran: ProcessResult, folder: Path) -> SetupError:
    """Why git did not open the repository at a folder, by what it said."""
    for words, code, meaning, hint in _REFUSALS:
        if words in ran.stderr:
            command = hint or _trust_command(ran.stderr, folder)
            return SetupError(f"{folder} {meaning}", code=code, hint=command)
    said = "no answer in time" if ran.timed_out else _first_line(ran.stderr)
    return SetupError(f"git cannot open {folder}: {said}", code="repository-unreadable", hint="git status")


def _trust_command(stderr: str, folder: Path) -> str:
    """Give git's own proposal, since it names the repository's top, which may lie above the folder."""
    command = "git config --global --add safe.directory "
    lines = (line.strip() for line in stderr.splitlines())
    return next((line for line in lines if line.startswith(command)), command + str(folder))


def _one_path(git: Git, question: str) -> str:
    return _text(git.run("rev-parse", question).stdout).removesuffix("\n")


def _text(output: bytes) -> str:
    # Paths: bytes that are no UTF-8 have to survive until they reach the file system again.
    return os.fsdecode(output)


def _text_lines(output: bytes) -> list[str]:
    # Not splitlines(): it splits at more than newlines, and a path may hold those.
    return _text(output).removesuffix("\n").split("\n") if output else []


def _first_line(text: str, otherwise: str = "it said nothing") -> str:
    lines: Iterable[str] = (line for line in text.splitlines() if line.strip())
    return next(iter(lines), otherwise)
