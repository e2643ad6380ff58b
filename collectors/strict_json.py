"""JSON from outside into records: strictly, and with the dotted path of the fault.

Pure: bytes in, a record or InvalidInput out. The paths are msgspec's (`$.versions[0]`), written as docs/contract.md
writes them (`versions[0].name`), with the name of an unknown or missing field at the end.
"""

from __future__ import annotations

import codecs
import json
import os
import re
from collections import Counter
from typing import TypeVar

import msgspec

from collectors.errors import InvalidInput

T = TypeVar("T")

_KEY = "key` in `"
_FIELD = re.compile(r"(?s)Object (?P<fault>contains unknown|missing required) field `(?P<name>.*)`\Z")
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,79}")
_SHOWN_CHARACTERS = 80


def decode_strict(data: bytes, type: type[T], what: str) -> T:  # noqa: A002 - as in msgspec
    """Decode UTF-8 JSON into `type`; InvalidInput, its `where` the dotted path, for anything else.

    `what` names the input in the message ("the issue file x.json").
    """
    if data.startswith(codecs.BOM_UTF8):
        raise InvalidInput(f"{what} begins with a byte order mark; JSON is plain UTF-8")
    if not data.strip():
        raise InvalidInput(f"{what} is empty")
    try:
        found = msgspec.json.decode(data, type=type)
        _ONCE.decode(data.decode("utf-8"))
    except _TwiceError as error:
        raise InvalidInput(
            f"{what} has the key {json.dumps(str(error)[:_SHOWN_CHARACTERS])} twice in one object"
        ) from None
    except msgspec.ValidationError as error:
        message, where = place_of(str(error))
        raise InvalidInput(f"{message} (in {what})", where=where) from error
    except msgspec.DecodeError as error:
        raise InvalidInput(f"{what} is no JSON: {_lower_first(str(error))}") from error
    except RecursionError as error:
        raise InvalidInput(f"{what} is nested too deeply") from error
    return found


class _TwiceError(Exception):
    """A key stands twice in one object: which of the two counts would depend on who reads."""


def _seen_once(pairs: list[tuple[str, object]]) -> None:
    if len(dict(pairs)) < len(pairs):
        keys = [key for key, _ in pairs]
        raise _TwiceError(next(key for key, times in Counter(keys).items() if times > 1))


def _zero(_: str) -> int:
    return 0


# msgspec takes the last of two; it has read everything else by then, so nothing is made of the numbers here.
_ONCE = json.JSONDecoder(object_pairs_hook=_seen_once, parse_int=_zero, parse_float=_zero)


# Any escape, so that the second of two backslashes begins none; a pair of surrogates, or half of one.
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)"
)


def json_text(text: str) -> str:
    r"""A path or an argument, as JSON can hold it: bytes that are no UTF-8 stand as `\xNN`, as no refname can."""
    return os.fsencode(text).decode("utf-8", "backslashreplace")


def loads_foreign(data: bytes) -> object:
    """JSON of a server as Python reads it, but for half of a surrogate pair: that could never be written out again.

    ValueError and RecursionError as of `json.loads`.
    """
    if b"\\ud" in data or b"\\uD" in data:
        data = _ESCAPE.sub(lambda found: b"\\ufffd" if found["half"] else found[0], data)
    found: object = json.loads(data)
    return found


def place_of(message: str) -> tuple[str, str | None]:
    """Split msgspec's message into what is wrong and the dotted path where; None: the whole is.

    >>> place_of("Expected `str`, got `int` - at `$.versions[0].name`")
    ('expected `str`, got `int`', 'versions[0].name')
    >>> place_of("Object contains unknown field `zip` - at `$.versions[0]`")
    ('unknown field', 'versions[0].zip')
    """
    said, _, path = message.removesuffix("`").rpartition(" - at `")
    if not (message.endswith("`") and path.removeprefix(_KEY).startswith("$")):
        said, path = message, "$"
    if path.startswith(_KEY):
        said, path = f"{said} as a key", path.removeprefix(_KEY)
    where = path.removeprefix("$").removeprefix(".")
    field = _FIELD.fullmatch(said)
    if field:
        said = "unknown field" if field["fault"].startswith("contains") else "a required field is missing"
        where = join_path(where, field["name"])
    return _lower_first(said), where or None


def join_path(where: str, key: str) -> str:
    """Put a key at the end of a dotted path; one that would not read as a key is quoted and cut.

    >>> join_path("versions[0]", "name"), join_path("", "a.b")
    ('versions[0].name', '["a.b"]')
    """
    if _PLAIN_KEY.fullmatch(key):
        return f"{where}.{key}" if where else key
    shown = key if len(key) <= _SHOWN_CHARACTERS else key[:_SHOWN_CHARACTERS] + "..."
    return f"{where}[{json.dumps(shown)}]"


def _lower_first(text: str) -> str:
    """Messages are lower case; what is named inside them keeps its spelling."""
    return text[:1].lower() + text[1:] if not text.startswith("JSON") else text
