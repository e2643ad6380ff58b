"""One small file that several processes change: locked, replaced whole, and kept when it is damaged.

Readers take no lock: they see the old content or the new. Also the edits of JSON text that leave every byte
that is not meant as it was; those are pure. Nothing here knows what the file is about.

The lock is `fcntl.flock` and not the filelock package: on the systems that this program runs on (it drives
process groups, which Windows lacks) filelock takes the same flock, 25 times slower and after 32 ms of import
against 0.4. The kernel frees it when its holder dies, so a killed process leaves nothing to break.
"""

from __future__ import annotations

import codecs
import fcntl
import json
import os
import re
import stat
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from collectors.errors import InvalidInput, SetupError
from collectors.input_file import LARGEST, TOO_LARGE, TooLargeError, bounded
from collectors.signals import signals_held
from collectors.strict_json import join_path
from ranking.names import printable

LOCK_SECONDS = 5.0
_RETRY_SECONDS = 0.01
# A program that writes in place is done with a file of some kilobytes well within this.
_SETTLE_SECONDS = 0.05
# Whoever holds the lock has the only draft that lives; the hour is for a file system whose locks do not hold.
_LEFTOVER_SECONDS = 3600
_MOST_READINGS = 5
_PRIVATE = 0o600

Pause = Callable[[float], None]


# --- reading and replacing ---


class Damage(Struct, frozen=True, kw_only=True):
    """Why bytes are no such file ("is no JSON: ..."); `foreign`: whole, perhaps, but not ours to set aside."""

    why: str
    foreign: bool = False


class Reading(Struct, frozen=True, kw_only=True):
    """What stands in a file (`data` None: there is none), what is wrong with it, and whether it still changes."""

    data: bytes | None
    damage: Damage | None = None
    moving: bool = False
    found: os.stat_result | None = None


class Edit(Struct, frozen=True, kw_only=True):
    """The new content; `aside`: the old is kept beside it under a dated name."""

    data: bytes
    aside: bool = False


class Outcome(Struct, frozen=True, kw_only=True):
    """What stood in the file, what was written (None: nothing), and where the old content was kept."""

    before: bytes | None
    after: bytes | None = None
    aside: Path | None = None


Judge = Callable[[bytes], Damage | None]
"""Says what is damaged about a file's bytes. Pure."""


class NotRegularError(OSError):
    """A folder, a pipe, a device: not to be read, and never to be replaced."""


def read_settled(path: Path, judge: Judge, pause: Pause = time.sleep) -> Reading:
    """Read a file; one that looks damaged is read once more, because another program may be writing it.

    OSError where it cannot be read.
    """
    first = _read(path)
    if first.data is None or judge(first.data) is None:
        return first
    pause(_SETTLE_SECONDS)
    second = _read(path)
    damage = judge(second.data) if second.data is not None else None
    moving = damage is not None and _mark(first.found) != _mark(second.found)
    return Reading(data=second.data, damage=damage, moving=moving, found=second.found)


def change_file(
    path: Path,
    edit: Callable[[Reading], Edit | None],
    *,
    judge: Judge,
    now: datetime,
    create: bool = True,
    hint: str | None = None,
    wait_seconds: float = LOCK_SECONDS,
    pause: Pause = time.sleep,
) -> Outcome:
    """Replace a file by what `edit` makes of it, under the lock; None from `edit` leaves it as it is.

    A file that is not there is made, and its folder, for its owner only; with `create` off nothing is. One that
    is there keeps its mode, and a symbolic link stays one. SetupError where that cannot be; nothing is written then.
    `edit` may be called again, where a program without the lock has written meanwhile.
    """
    try:
        _refuse_odd_path(path)
        # The lock and the draft stand beside the file itself, whatever links lead to it.
        target = Path(os.path.realpath(path))
        if _read(target).data is None:
            if not create:
                return Outcome(before=None)
            target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with _locked(target, path, wait_seconds, pause):
            return _change_locked(target, path, edit, judge, now, hint, pause)
    except OSError as error:
        said = f"{printable(str(path))} cannot be written: {reason_of(error)}"
        raise SetupError(said, code="store-unwritable", hint=hint) from error


def replace_bytes(
    path: Path, data: bytes, mode: int = _PRIVATE, *, lasting: bool = True, kin: str | None = None
) -> None:
    """Write a file that has no other writers: whole or not at all. OSError where that cannot be.

    A new one gets `mode`, less the umask; one that is there keeps its own, and a symbolic link stays one. Renaming
    would put a file in the place of a pipe or a device as well (/dev/null!): those are refused. `lasting` off: a power
    failure may take it, which saves the wait for the disk; a killed process never does. `kin`: the pattern of names of
    files beside it that are written once each, so that nobody else would ever sweep what a killed writer left of one.
    """
    _refuse_odd_path(path)
    target = Path(os.path.realpath(path))
    found = _look(target)
    if found is not None and not stat.S_ISREG(found.st_mode):
        raise NotRegularError("it is no regular file")
    _refuse_read_only(target, found)
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with _draft(target, data, found, mode, lasting=lasting) as draft:
        _sweep(target, draft, kin)
        draft.replace(target)
        if lasting:
            _sync_folder(target.parent)


def reason_of(error: OSError) -> str:
    """What the system said, in lower case and without the path."""
    return (error.strerror or str(error)).lower() if error.errno else str(error)


def _change_locked(
    target: Path,
    path: Path,
    edit: Callable[[Reading], Edit | None],
    judge: Judge,
    now: datetime,
    hint: str | None,
    pause: Pause,
) -> Outcome:
    """Read, edit, replace; again from the start where a program without the lock came between."""
    for _ in range(_MOST_READINGS):
        reading = read_settled(target, judge, pause)
        if reading.moving:
            break
        wanted = edit(reading)
        if wanted is None or (wanted.data == reading.data and not wanted.aside):
            return Outcome(before=reading.data)
        _refuse_read_only(target, reading.found)
        with _draft(target, wanted.data, reading.found) as draft:
            if _mark(_look(target)) != _mark(reading.found):
                continue
            kept = _keep_aside(target, reading.data, now) if wanted.aside and reading.data is not None else None
            _sweep(target, draft)
            draft.replace(target)
            _sync_folder(target.parent)
        return Outcome(before=reading.data, after=wanted.data, aside=kept)
    raise SetupError(f"{path} is being written by another program; nothing was changed", code="store-busy", hint=hint)


def _read(path: Path) -> Reading:
    _refuse_odd_path(path)
    try:
        # Without O_NONBLOCK a pipe would keep us until somebody writes to it.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return Reading(data=None)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise NotRegularError("it is no regular file")
        if found.st_size > LARGEST:
            raise TooLargeError(TOO_LARGE)
        with open(descriptor, "rb", closefd=False) as file:
            return Reading(data=bounded(file), found=found)
    finally:
        os.close(descriptor)


def _look(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _mark(found: os.stat_result | None) -> tuple[int, ...]:
    """What tells one content of a file from the next without reading it."""
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns) if found is not None else ()


@contextmanager
def _locked(target: Path, path: Path, wait_seconds: float, pause: Pause) -> Iterator[None]:
    """Hold the lock. Its file is never removed: a waiter would then lock what nobody else can see."""
    place = target.with_name(f"{target.name}.lock")
    descriptor = os.open(place, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        until = time.monotonic() + wait_seconds
        while not _take(descriptor):
            if time.monotonic() >= until:
                said = f"{path} is locked by another process; waited {wait_seconds:g} s"
                raise SetupError(said, code="store-locked", hint=f"see who holds it: fuser {place}")
            pause(_RETRY_SECONDS)
        yield
    finally:
        # Closing alone frees it only when no child that was forked meanwhile has a copy.
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def _take(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def _draft(
    target: Path, data: bytes, like: os.stat_result | None, mode: int = _PRIVATE, *, lasting: bool = True
) -> Iterator[Path]:
    """Give a finished file beside the target, synced where it is to last; unless moved into place it goes again."""
    # Not tempfile: 8 ms of import for a random name.
    draft = target.with_name(f".{target.name}.{os.getpid()}.{os.urandom(4).hex()}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with signals_held():
        descriptor = os.open(draft, flags, mode)
        try:
            with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor
                if like is not None:
                    # The owner only where we may: root must not take a user's file away from its owner.
                    with suppress(OSError):
                        os.fchown(descriptor, like.st_uid, like.st_gid)
                    os.fchmod(descriptor, stat.S_IMODE(like.st_mode))
                file.write(data)
                file.flush()
                if lasting:
                    os.fsync(descriptor)
            yield draft
        finally:
            with suppress(OSError):
                draft.unlink()


def _keep_aside(target: Path, data: bytes, now: datetime) -> Path:
    """Give the old content a second, dated name, so that there is no moment at which it could be lost."""
    base = f"{target.name}.damaged-{now.astimezone(UTC):%Y%m%dT%H%M%SZ}"
    number = 1
    while True:
        place = target.with_name(base if number == 1 else f"{base}-{number}")
        try:
            os.link(target, place)
        except FileExistsError:
            number += 1
        except OSError:  # a file system without hard links, or another user's file
            if not place.exists():
                replace_bytes(place, data)
                return place
            number += 1
        else:
            return place


def _sweep(target: Path, draft: Path, kin: str | None = None) -> None:
    """Remove what killed writers left. Age is counted by the file system's clock, which dated the draft."""
    ours = re.compile(rf"\.(?:{kin or re.escape(target.name)})\.\d+\.[0-9a-f]{{8}}\.tmp")
    newest = draft.stat().st_mtime
    with suppress(OSError):
        for name in os.listdir(target.parent):  # noqa: PTH208 - most names are looked at no further
            place = target.with_name(name)
            if ours.fullmatch(name) and newest - place.lstat().st_mtime > _LEFTOVER_SECONDS:
                place.unlink()


def _sync_folder(folder: Path) -> None:
    """Make the new name outlive a power failure; where the file system cannot, the content stands all the same."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _refuse_odd_path(path: Path) -> None:
    """A `~` that nobody could expand must not become a folder of that name; a NUL ends a name early."""
    if path.parts[:1] == ("~",):
        raise OSError("it begins with ~, and which folder is home is not known")
    if "\0" in str(path):
        raise OSError("its name holds a NUL")


def _refuse_read_only(target: Path, found: os.stat_result | None) -> None:
    """A file that its owner made read-only is meant to stay; replacing it would not ask for that right."""
    if found is not None and not (found.st_mode & 0o222 and os.access(target, os.W_OK)):
        raise OSError("it is read-only")


# --- JSON text, edited in place. Pure ---


class JsonObject(dict[str, object]):
    """An object as it was read; `twice`: the keys that stand in it more than once."""

    __slots__ = ("twice",)
    twice: frozenset[str]


class Raw(Struct, frozen=True):
    """JSON text that goes into a document as it is."""

    text: str


class Document(Struct, frozen=True, kw_only=True):
    """A JSON object as text and as values; `mark`: the byte order mark that it began with, if any."""

    text: str
    root: JsonObject
    mark: bytes = b""

    def encode(self, text: str) -> bytes:
        """Give edited text the bytes that this document has."""
        return self.mark + text.encode()


class _Member(Struct, frozen=True):
    """Where one member of an object stands in the text: its key, its value, and the end of that."""

    key: str
    begin: int
    value: int
    end: int


class _Style(Struct, frozen=True, kw_only=True):
    """How a document is laid out; `unit` None: on one line."""

    unit: str | None = "  "
    newline: str = "\n"
    colon: str = ": "

    @property
    def comma(self) -> str:
        return ", " if self.colon.endswith(" ") else ","


NEW_DOCUMENT = b"{}\n"

_BLANKS = re.compile(r"[ \t\n\r]*")
_COLON = re.compile(r" ?: ?")
_MOST_DIGITS = 30
_COMMENTS = ("//", "/*")


def parse_document(data: bytes) -> Document | Damage:
    """Read a JSON object. A mark at its beginning is another program's habit, and no damage."""
    mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    try:
        text = data[len(mark) :].decode("utf-8")
        root: object = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        # JSON with comments is whole to its owner.
        comment = error.doc.startswith(_COMMENTS, error.pos)
        return Damage(why=f"is no JSON: {error}", foreign=comment or _other_format(error.doc))
    except UnicodeDecodeError as error:
        return Damage(why=f"is no JSON: {error}")
    except RecursionError:
        return Damage(why="is no JSON: nested too deeply", foreign=True)
    if not isinstance(root, JsonObject):
        return Damage(why="holds no JSON object")
    return Document(text=text, root=root, mark=mark)


def raw_items(document: Document, path: Sequence[str]) -> tuple[Raw, ...]:
    """The items of the list under a path, each as it stands in the text; () where no list is there."""
    text, at = document.text, _skip(document.text, 0)
    for key in path:
        found = [m for m in _members(text, at) if m.key == key] if text[at] == "{" else []
        if not found:
            return ()
        at = found[-1].value
    return tuple(Raw(text[begin:end]) for begin, end in _items(text, at)) if text[at] == "[" else ()


def set_member(text: str, path: Sequence[str], value: object) -> str:
    """Put a value under a path of keys in the text of a JSON object; every other byte stays as it is.

    What is missing on the way is made, in the layout of what is there. InvalidInput, with the dotted path, where
    something on the way is no object (null counts as missing), or a key stands there twice.

    >>> set_member('{"a": 1.0, "b": {"c":1e3}}', ("b", "d"), [1, None])
    '{"a": 1.0, "b": {"c":1e3, "d": [1, null]}}'
    """
    style = _style_of(text)
    start = _skip(text, 0)
    indent: str | None = ""
    where = ""
    for depth, key in enumerate(path):
        if text[start] != "{":
            raise InvalidInput("expected an object", where=where)
        where = join_path(where, key)
        members = _members(text, start)
        inner = _inner_indent(text, start, members, style, indent)
        same = [member for member in members if member.key == key]
        if len(same) > 1:
            raise InvalidInput("it stands there twice", where=where)
        rest = path[depth + 1 :]
        if not same:
            piece = _scalar(key) + style.colon + _render(_nested(rest, value), style, inner)
            return _insert(text, start, members, piece, (style, indent, inner))
        if not rest or text.startswith("null", same[0].value):
            new = _render(_nested(rest, value), style, inner)
            return text[: same[0].value] + new + text[same[0].end :]
        start, indent = same[0].value, inner
    return text


def remove_member(text: str, key: str) -> str:
    """The text of a JSON object without one of its members; every other byte stays as it is.

    >>> remove_member('{"a": 1.0, "b": 2}', "b")
    '{"a": 1.0}'
    """
    start = _skip(text, 0)
    members = _members(text, start)
    at = next((at for at, member in enumerate(members) if member.key == key), None)
    if at is None:
        return text
    if at > 0:
        return text[: members[at - 1].end] + text[members[at].end :]
    end = members[1].begin if len(members) > 1 else members[0].end
    return text[: members[0].begin] + text[end:]


def _object(pairs: list[tuple[str, object]]) -> JsonObject:
    made = JsonObject(pairs)
    times = Counter(key for key, _ in pairs) if len(made) < len(pairs) else {}
    made.twice = frozenset(key for key, count in times.items() if count > 1)
    return made


def _whole(digits: str) -> int | float:
    """Python refuses to read numbers of some thousands of digits; another program's may be as long as it likes."""
    return int(digits) if len(digits) <= _MOST_DIGITS else float(digits)


_DECODER = json.JSONDecoder(parse_int=_whole, object_pairs_hook=_object)


def _other_format(text: str) -> bool:
    """Whether text was never a JSON object, cut off or not: a shell script, an INI file, comments first."""
    first = text[_skip(text, 0) :][:1]
    return first not in {"", "{", "\0"}


def _skip(text: str, at: int) -> int:
    blank = _BLANKS.match(text, at)
    return blank.end() if blank else at


def _members(text: str, start: int) -> list[_Member]:
    """The members of the object that begins at `start`, in text that is known to be JSON."""
    found = []
    at = _skip(text, start + 1)
    while text[at] != "}":
        key, key_end = _DECODER.raw_decode(text, at)
        value = _skip(text, _skip(text, key_end) + 1)
        end = _DECODER.raw_decode(text, value)[1]
        found.append(_Member(str(key), at, value, end))
        at = _next(text, end)
    return found


def _items(text: str, start: int) -> list[tuple[int, int]]:
    """Where each item of the list that begins at `start` begins and ends."""
    found = []
    at = _skip(text, start + 1)
    while text[at] != "]":
        end = _DECODER.raw_decode(text, at)[1]
        found.append((at, end))
        at = _next(text, end)
    return found


def _next(text: str, end: int) -> int:
    at = _skip(text, end)
    return _skip(text, at + 1) if text[at] == "," else at


def _style_of(text: str) -> _Style:
    """The layout of the outermost object: what stands before its first key, and after that key."""
    start = _skip(text, 0)
    members = _members(text, start)
    if not members:
        return _Style()
    first = members[0]
    lead = text[start + 1 : first.begin]
    colon = text[_DECODER.raw_decode(text, first.begin)[1] : first.value]
    return _Style(
        unit=lead.rpartition("\n")[2] if "\n" in lead else None,
        newline="\r\n" if "\r\n" in lead else "\n",
        colon=colon if _COLON.fullmatch(colon) else ": ",
    )


def _inner_indent(text: str, start: int, members: list[_Member], style: _Style, indent: str | None) -> str | None:
    """What the members of an object are indented by; None where they stand on one line."""
    if members:
        lead = text[start + 1 : members[0].begin]
        return lead.rpartition("\n")[2] if "\n" in lead else None
    return indent + style.unit if indent is not None and style.unit is not None else None


def _insert(
    text: str, start: int, members: list[_Member], piece: str, layout: tuple[_Style, str | None, str | None]
) -> str:
    """The text with one more member at the end of an object."""
    style, indent, inner = layout
    if members:
        end = members[-1].end
        gap = "," + style.newline + inner if inner is not None else style.comma
        return text[:end] + gap + piece + text[end:]
    end = text.index("}", start)
    if inner is None or indent is None:
        return text[: start + 1] + piece + text[end:]
    return text[: start + 1] + style.newline + inner + piece + style.newline + indent + text[end:]


def _nested(path: Sequence[str], value: object) -> object:
    for key in reversed(path):
        value = {key: value}
    return value


def _render(value: object, style: _Style, indent: str | None) -> str:
    """JSON text of a value that stands on a line of that indentation (None: all on one line)."""
    deeper = indent + style.unit if indent is not None and style.unit is not None else None
    match value:
        case Raw(text=text):
            return text
        case Mapping():
            opening, closing = "{}"
            parts = [_scalar(str(key)) + style.colon + _render(part, style, deeper) for key, part in value.items()]
        case list() | tuple():
            opening, closing = "[]"
            parts = [_render(part, style, deeper) for part in value]
        case _:
            return _scalar(value)
    if not parts or deeper is None:
        return opening + style.comma.join(parts) + closing
    return opening + ",".join(f"{style.newline}{deeper}{part}" for part in parts) + f"{style.newline}{indent}{closing}"


def _scalar(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    # A lone half of a surrogate pair has no UTF-8.
    return text if text.isascii() or text.encode(errors="replace").decode() == text else json.dumps(value)
