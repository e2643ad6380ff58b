"""The texts of the questions, one file a language: `texts/en.toml`, `tr.toml`, and any other that is named.

A language is complete or refused: every text of the English file, with exactly its placeholders.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from msgspec import Struct

from collectors.errors import InvalidInput
from collectors.input_file import read_whole
from collectors.stores.store_file import reason_of
from ranking.names import shown

_FOLDER: Final = Path(__file__).with_name("texts")
NAMES: Final = ("en", "tr")
_LONGEST_TEXT: Final = 400


class Language(Struct, frozen=True, kw_only=True):
    """The texts of one language; `own`: None where they are the program's, which are read when something is said."""

    name: str
    own: Mapping[str, str] | None = None

    @property
    def texts(self) -> Mapping[str, str]:
        """Every text by its key."""
        return _packaged(self.name) if self.own is None else self.own

    def say(self, key: str, **values: object) -> str:
        """One text with its values in their places."""
        return self.texts[key].format(**values)


def read_language(name: str) -> Language:
    """`en`, `tr`, or the path of a TOML file; InvalidInput for a language that is unknown or incomplete."""
    if name in NAMES:
        return Language(name=name)
    if not name.endswith(".toml"):
        message = f"there is no language {shown(name)!r}"
        raise InvalidInput(message, where="--language", hint=f"--language {', '.join(NAMES)}, or a FILE.toml")
    what = f"the language file {shown(name)}"
    try:
        data = read_whole(Path(name))
    except OSError as fault:
        raise InvalidInput(f"{what} cannot be read: {reason_of(fault)}", where="--language") from fault
    except ValueError as fault:  # a NUL in the name
        raise InvalidInput(f"{what} cannot be read: {fault}", where="--language") from fault
    return parse_language(data, Path(name).stem, ENGLISH.texts, what)


def parse_language(data: bytes, name: str, like: Mapping[str, str], what: str) -> Language:
    """The texts of a file, held against another's; InvalidInput with every fault at once. Pure."""
    from tomllib import loads  # noqa: PLC0415 - only for a question

    try:
        texts = loads(data.decode())
    except (ValueError, RecursionError) as fault:  # no UTF-8, no TOML, a number of thousands of digits
        raise InvalidInput(f"{what} is no TOML: {shown(str(fault))}") from fault
    faults = [f"{key} is missing" for key in like if key not in texts]
    faults += [f"{shown(key)} is none of the texts" for key in sorted(texts.keys() - like.keys())]
    faults += [f"{key}: {why}" for key in like if key in texts and (why := _fault(texts[key], like[key]))]
    if faults:
        raise InvalidInput(f"{what}: {'; '.join(faults)}")
    return Language(name=name, own={key: texts[key] for key in like})


def _fault(text: object, like: str) -> str | None:
    """Why a text cannot stand for another: it is none, it is too long, or it has other placeholders."""
    if not isinstance(text, str) or not text.strip():
        return "it is no text"
    if not text.isprintable():
        return "it holds characters that do not show"
    if len(text) > _LONGEST_TEXT:
        return f"it is longer than {_LONGEST_TEXT} characters"
    try:
        own = _placeholders(text)
    except ValueError as fault:
        return f"its braces do not match: {fault}"
    wanted = _placeholders(like)
    named = ", ".join(f"{{{name}}}" for name in sorted(wanted)) or "none"
    return None if own == wanted else f"its placeholders must be {named}"


def _placeholders(text: str) -> frozenset[str]:
    """The bare names between braces; anything more (an attribute, a format) is kept, so that it equals no name."""
    from string import Formatter  # noqa: PLC0415 - only for a language of one's own

    return frozenset(
        f"{name}{'!' + conversion if conversion else ''}{':' + form if form else ''}"
        for _, name, form, conversion in Formatter().parse(text)
        if name is not None
    )


@cache
def _packaged(name: str) -> Mapping[str, str]:
    from tomllib import loads  # noqa: PLC0415 - only for a question

    return loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


ENGLISH: Final = Language(name="en")
