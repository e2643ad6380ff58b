"""The texts of the questions, one file a language: `texts/en.toml` and `texts/tr.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tomllib import loads
from typing import Final

from msgspec import Struct

from collectors.errors import InvalidInput
from ranking.names import printable

_FOLDER: Final = Path(__file__).with_name("texts")
NAMES: Final = ("en", "tr")


class Language(Struct, frozen=True, kw_only=True):
    """One language by its name; its texts are read when something is said."""

    name: str

    @property
    def texts(self) -> Mapping[str, str]:
        """Every text by its key."""
        return _packaged(self.name)

    def say(self, key: str, **values: object) -> str:
        """One text with its values in their places."""
        return self.texts[key].format(**values)


def read_language(name: str) -> Language:
    """Return a language by its name. Raises InvalidInput if there is none of that name."""
    if name not in NAMES:
        message = f"unknown language {printable(name)!r}"
        raise InvalidInput(message, where="--language", hint=f"--language {'|'.join(NAMES)}")
    return Language(name=name)


@cache
def _packaged(name: str) -> Mapping[str, str]:
    return loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


ENGLISH: Final = Language(name="en")
