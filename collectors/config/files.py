"""The two files of the configuration: opened without trust, bounded, and turned into values with their origins.

`.base-branch.toml` at a work tree's top is the repository's; `config.toml` in the user's own folder is the user's.
A file that is not right stops the run (exit 2): what it meant cannot be known, and a decision by half of it would
look like one by all of it. The same holds for a key that is not the repository's to set: nobody means it to do
nothing, a token there is a leak to be mended now, and one loud run is better than many with a warning unread.
"""

from __future__ import annotations

import codecs
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from tomllib import loads
from typing import Final, Literal

from msgspec import Struct

from collectors.config.keys import KEYS, REPOSITORY_MAY_SET, Key, Origin, SourcedValue, from_value, nearest
from collectors.errors import InvalidInput
from collectors.strict_json import join_path

REPOSITORY_FILE: Final = ".base-branch.toml"
LARGEST_FILE: Final = 64 * 1024
"""Bytes; a hundred times what a full configuration holds."""

FileSource = Literal["repository", "user"]

_TABLES: Final = tuple(dict.fromkeys(name.partition(".")[0] for name in KEYS if "." in name))
# A FIFO would block at opening, a terminal would become ours.
_OPENING: Final = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)


class FileText(Struct, frozen=True, kw_only=True):
    """What a file holds, and whether others than its owner may read it."""

    data: bytes
    private: bool


def read_repository_file(top: Path) -> dict[str, SourcedValue]:
    """What the repository's file sets; {} where there is none. InvalidInput where it is not right."""
    path = top / REPOSITORY_FILE
    try:
        # Its end, resolved first and then opened as it is: a link may lead about inside the work tree, not out.
        real = path.resolve(strict=True)
        inside = real.relative_to(top.resolve(strict=True)).parts
    except FileNotFoundError as error:
        if path.is_symlink():
            raise InvalidInput(f"{path} is a symbolic link to what is not there", hint=f"ls -l {path}") from error
        return {}
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links, before Python 3.13
        raise InvalidInput(f"{path} cannot be read: {_why(error)}") from error
    except ValueError as error:
        raise InvalidInput(
            f"{path} is a symbolic link out of the work tree; it is not followed", hint=f"ls -l {path}"
        ) from error
    if ".git" in inside:
        raise InvalidInput(f"{path} is a symbolic link into .git; it is not followed", hint=f"ls -l {path}")
    text = read_bounded(real, str(path), follow=False)
    return {} if text is None else parse_file(text.data, str(path), "repository")


def read_user_file(path: Path, *, named: bool) -> tuple[dict[str, SourcedValue], tuple[str, ...]]:
    """What the user's file sets, and warnings. `named`: the user said it is there, so it has to be."""
    if str(path) == os.devnull:  # the usual way to say "none"
        return {}, ()
    text = read_bounded(path, str(path), follow=True)
    if text is None:
        if named:
            raise InvalidInput(f"{path} does not exist", hint="unset BASE_BRANCH_CONFIG, or name a file that is there")
        return {}, ()
    layer = parse_file(text.data, str(path), "user")
    told = any(KEYS[name].secret for name in layer) and not text.private
    return layer, (f"{path} holds a token and others may read it: chmod 600 it",) if told else ()


def read_bounded(path: Path, what: str, *, follow: bool) -> FileText | None:
    """Read a regular file of a bounded size; None where there is none. InvalidInput for anything else."""
    try:
        descriptor = os.open(path, _OPENING | (0 if follow else getattr(os, "O_NOFOLLOW", 0)))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise InvalidInput(f"{what!r} cannot be read: {_why(error)}") from error
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise InvalidInput(f"{what} is no regular file")
        with os.fdopen(descriptor, "rb", closefd=False) as stream:
            data = stream.read(LARGEST_FILE + 1)
    except OSError as error:
        raise InvalidInput(f"{what} cannot be read: {_why(error)}") from error
    finally:
        os.close(descriptor)
    if len(data) > LARGEST_FILE:
        raise InvalidInput(f"{what} is larger than {LARGEST_FILE // 1024} KiB")
    private = os.name != "posix" or not status.st_mode & 0o077
    return FileText(data=data, private=private)


def parse_file(data: bytes, what: str, source: FileSource) -> dict[str, SourcedValue]:
    """The values of a file's bytes, each with its origin; InvalidInput with file and dotted path. Pure."""
    layer: dict[str, SourcedValue] = {}
    for parts, raw in _leaves(parse_toml(data, what)):
        where = ""
        for part in parts:
            where = join_path(where, part)
        # A quoted key with a dot in it (`"jira.url" = ...`) is no path.
        known = None if any("." in part for part in parts) else KEYS.get(".".join(parts))
        key = _permitted(known, where, what, source)
        value = from_value(key, raw, where, what)
        if source == "repository":
            _check_order(key, value, where, what)
        layer[key.name] = SourcedValue(value=value, origin=Origin(source=source, name=where, file=what))
    return layer


def parse_toml(data: bytes, what: str) -> dict[str, object]:
    """TOML as it stands; InvalidInput for what is none."""
    if data.startswith(codecs.BOM_UTF8):
        raise InvalidInput(f"{what} begins with a byte order mark; TOML is plain UTF-8")
    try:
        return loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidInput(f"{what} is not UTF-8 (line {line})") from None  # the fault would hold the whole file
    except RecursionError as error:
        raise InvalidInput(f"{what} is nested too deeply") from error
    except ValueError as error:
        said = str(error)
        raise InvalidInput(f"{what} is no TOML: {said[:1].lower()}{said[1:]}") from error


def _leaves(root: Mapping[str, object]) -> Iterator[tuple[tuple[str, ...], object]]:
    """Every value with its path, through the tables that are known; what is no table where one belongs, as it is."""
    for name, value in root.items():
        if name in _TABLES and isinstance(value, dict):
            yield from (((name, inner), below) for inner, below in value.items())
        else:
            yield (name,), value


def _permitted(key: Key | None, where: str, what: str, source: FileSource) -> Key:
    """The key, or InvalidInput: it is not known, or not this file's to set."""
    if key is None:
        if where in _TABLES:
            raise InvalidInput(f"expected a table (in {what})", where=where)
        settable = tuple(KEYS) if source == "user" else tuple(REPOSITORY_MAY_SET)
        near = nearest(where, settable)
        hint = f"the nearest is {near}" if near else f"known: {', '.join(settable)}"
        raise InvalidInput(f"unknown key (in {what})", where=where, hint=hint)
    if source in key.allowed():
        return key
    whose = "a repository's file" if source == "repository" else "the user's file"
    if key.secret and source == "repository":
        hint = "take the token out of the repository and revoke it"
    else:
        ways = [*([key.flag] if key.flag else []), *key.variables, *(["the user's own file"] if key.user else [])]
        hint = f"set it by {' or '.join(ways)}"
    raise InvalidInput(f"{whose} may not set this (in {what})", where=where, hint=hint)


def _check_order(key: Key, value: object, where: str, what: str) -> None:
    """A repository's order may not lead past the user's onConflict: it compares the memory with what is derived."""
    if key.name == "resolveOrder" and isinstance(value, tuple) and "derived" in value and "remembered" not in value:
        said = "a repository's order that holds derived has to hold remembered too"
        raise InvalidInput(f"{said} (in {what})", where=where)


def _why(error: Exception) -> str:
    """The system's words, without the path, which the message names."""
    return ((error.strerror if isinstance(error, OSError) else None) or str(error)).lower()
