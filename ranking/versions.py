"""Version tokens in refnames, tags and version labels; one comparison key; what covers what.

A name is read once into a `Reading`: the text before the version, the version, the text after it. Nothing here
knows which names exist; what several names say together is `conventions` and `lines`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import force_setattr
from msgspec.structs import replace as altered
from packaging.version import InvalidVersion
from packaging.version import Version as Pep440

from ranking.names import is_seen

# A component of more digits is a hash, a time stamp or an attack, not a version number.
_LONGEST_COMPONENT = 14

_OPEN_END = 10**_LONGEST_COMPONENT
"""Stands in a comparison key for a wildcard: `7.x` is newer than every 7.n that exists."""

# How ripe a version is. `dev` and its like are builds on the way to a release, `post` comes after it.
_RIPENESS = {
    **dict.fromkeys(("dev", "snapshot", "nightly", "canary", "development"), -7),
    "next": -6,
    **dict.fromkeys(("a", "alpha"), -5),
    **dict.fromkeys(("b", "beta"), -4),
    **dict.fromkeys(("m", "milestone", "ea"), -3),
    **dict.fromkeys(("pre", "preview"), -2),
    **dict.fromkeys(("c", "cr", "rc", "candidate"), -1),
    **dict.fromkeys(("final", "ga", "release"), 0),
    **dict.fromkeys(("sp", "post"), 1),
}
FINAL = 0
DAILY = -7
"""Builds that are made at any time: no step towards a release."""

_NUMBERS = re.compile(
    r"(?<![0-9])(?P<numbers>[0-9]+(?:(?P<separator>\.|[_-](?!(?:[0-9]{1,14}[_-]){0,3}[0-9]{1,14}\.[0-9]))[0-9]+(?:(?P=separator)[0-9]+)*)?)"
    r"(?P<wildcard>(?:[._-]?(?:[xX]{1,2}|[zZ]|\*|y)(?![A-Za-z0-9]))+)?"
)
_PHASE = re.compile(
    r"[._-]?(?:(?P<word>dev|snapshot|nightly|canary|development|next|alpha|beta|milestone|ea|preview|pre|rc|cr|candidate|final"
    r"|ga|release|sp|post)(?:[._-]?(?P<n>[0-9]+(?:\.[0-9]+)*))?"
    r"|(?P<letter>[abcm])(?P<m>[0-9]+))(?![A-Za-z0-9])",
    re.IGNORECASE,
)
# Standing before the number they say the same: `beta/2.3`.
_UNRIPE_PREFIXES = frozenset({"alpha", "beta", "milestone", "pre", "preview", "rc", "snapshot"})
# `2.x-dev` and `5.0-release` name a line in a branch's name; in a tag or a label they name a build.
_LINE_WORDS = frozenset({"dev", "development", "next", "release"})

_WORD = re.compile(r"[A-Za-z]+")
PLACES = ("{major}", "{minor}", "{patch}", "{build}")
_DIGITS = re.compile("[0-9]+")
# A number this long after a version is the day of the build (`9.3.19.v20170502`) and tells no lines apart; nor
# does what stands behind a plus sign, which is a build's metadata by semver.org, clause 10.
_STAMP = 8
# What stands between the versions of a list or a span, and what says "from here on": no one version.
# Blanks are taken off before: between two stars of the same blanks a match would try every place.
_LIST = re.compile(r"[,;/&|+\u2013\u2014\u2192]|->|\.\.+|and|or|to|und|bis", re.IGNORECASE)
_SPANS = frozenset({"", "-", "_"})
_V = re.compile(r"(?<![A-Za-z])[vV]\Z")
_RANGE = re.compile(
    r"[<>=\u2264\u2265~^]|[0-9xX]\s*\+(?![0-9A-Za-z])"
    r"|\b(?:before|after|not|later|newer|older|above|below|since|until|earlier|higher|lower|except|from|plus|up|was)\b"
    r"|[?&]",
    re.IGNORECASE,
)
# Between two numbers: a character that looks like a dot, or like nothing, so that one version reads as another.
_DISGUISED = re.compile(r"[0-9][._-]?[^\x00-\x7f\s]+[._-]?[0-9]")
_ISSUE_KEY = re.compile("[A-Z][A-Z0-9]+-[0-9]+")
# PEP 440's epoch says how versions sort, and is none of their numbers.
_EPOCH = re.compile("[vV]?[0-9]+!(?=[0-9])")
# Words whose bare number counts something else.
_COUNTED = frozenset("q pr mr issue bug ticket sprint week iteration day days hour hours percent points".split())
# `v1.2` and `R1.2`: the letter belongs to the number. In `r-1.2` it is a word.
_MARK = re.compile(r"(?<![A-Za-z])[vVrR]$")


class Version(Struct, frozen=True, eq=False):
    """A version or, with `wildcard`, a line of versions.

    `numbers`: its components without zero padding; `ripeness`: below 0 a pre-release, 0 final, above 0 a later
    build of the same; `build`: the numbers of its phase (`rc2` has (2,)).
    """

    numbers: tuple[int, ...]
    wildcard: bool = False
    ripeness: int = FINAL
    build: tuple[int, ...] = ()
    key: tuple[tuple[int, ...], int, tuple[int, ...]] = ((), FINAL, ())
    """The one comparison key, also of equality and hash: `8.4` and `8.4.0` are equal, a line is newer than all in it.

    >>> Version((8, 10)).key > Version((8, 9)).key
    True
    """

    def __post_init__(self) -> None:
        """Make the key once: sorting asks for it again and again."""
        numbers = (*self.numbers, _OPEN_END) if self.wildcard else _trimmed(self.numbers)
        force_setattr(self, "key", (numbers, self.ripeness, self.build))

    def __eq__(self, other: object) -> bool:
        """By the key alone."""
        return self.key == other.key if isinstance(other, Version) else NotImplemented

    def __ne__(self, other: object) -> bool:
        """By the key alone: a record's own would tell equal versions apart."""
        return self.key != other.key if isinstance(other, Version) else NotImplemented

    def __hash__(self) -> int:
        """By the key alone."""
        return self.key.__hash__()

    def __repr__(self) -> str:
        """What it was made of."""
        return f"Version({self.numbers}, wildcard={self.wildcard}, ripeness={self.ripeness}, build={self.build})"

    @property
    def prerelease(self) -> bool:
        """Whether it comes before the final version of the same numbers."""
        return self.ripeness < FINAL

    def covers(self, other: Version) -> bool:
        """Whether a branch of this version takes `other`: its components are a prefix of the other's.

        >>> Version((7,), wildcard=True).covers(Version((7, 17, 3)))
        True
        >>> Version((4, 1)).covers(Version((4, 10, 0)))
        False
        >>> Version((7, 17, 3)).covers(Version((7, 17)))
        False
        """
        if self.prerelease:
            same = self.ripeness == other.ripeness and other.build[: len(self.build)] == self.build
            return same and not other.wildcard and _trimmed(self.numbers) == _trimmed(other.numbers)
        size = len(self.numbers)
        if other.numbers[:size] == self.numbers:
            return True
        return not self.wildcard and not other.wildcard and self.numbers == _padded(other.numbers, size)

    def within(self, line: tuple[int, ...]) -> bool:
        """Whether it belongs to the line that these components name."""
        return (
            _padded(self.numbers, len(line))[: len(line)] == line
            if not self.wildcard
            else self.numbers[: len(line)] == line
        )

    def __str__(self) -> str:
        """The plain spelling, for messages."""
        return ".".join(map(str, self.numbers)) + (".x" if self.wildcard else "")


def _trimmed(numbers: tuple[int, ...]) -> tuple[int, ...]:
    end = len(numbers)
    while end and numbers[end - 1] == 0:
        end -= 1
    return numbers[:end]


def _padded(numbers: tuple[int, ...], size: int) -> tuple[int, ...]:
    return numbers + (0,) * (size - len(numbers))


class Reading(Struct, frozen=True):
    """A name with its version: `before` and `after` are the literal text around it.

    `spelling`: the version as written; `template`: the name with its numbers replaced; `words`: those of both sides, in
    lower case; `tail`: the numbers that follow the version.
    """

    before: str
    version: Version
    after: str
    separator: str
    spelling: str
    template: str
    words: tuple[str, ...]
    tail: tuple[int, ...]

    @property
    def components(self) -> int:
        """How many numbers the name gives."""
        return len(self.version.numbers)


@lru_cache(maxsize=1 << 17)
def read_branch(name: str) -> Reading | None:
    """The version in a branch's name, or None.

    >>> read_branch("release-2.8.x-fix").version
    Version((2, 8), wildcard=True, ripeness=0, build=())
    >>> read_branch("7-1-stable").version.numbers
    (7, 1)
    """
    return _read(name, branch=True)


@lru_cache(maxsize=1 << 17)
def read_tag(name: str) -> Reading | None:
    """The version in a tag's name, or None.

    >>> read_tag("v2.1_rc4").version
    Version((2, 1), wildcard=False, ripeness=-1, build=(4,))
    """
    return _read(name, branch=False)


@lru_cache(maxsize=1 << 12)
def read_label(text: str) -> Reading | None:
    """The version that a tracker's label names, or None where it names none, or several.

    >>> read_label("CNV v4.22.3").version.numbers
    (4, 22, 3)
    >>> read_label("2+"), read_label("Next"), read_label("0.5.2, 0.4.3")
    (None, None, None)
    """
    text = text.strip()
    if not text.isascii():
        text = text.strip("".join(c for c in {*text} if not is_seen(c) or c.isspace()))
    if epoch := _EPOCH.match(text):
        text = text[epoch.end() :]
    if _RANGE.search(text) or _names_several(text):
        return None
    reading = _read(text, branch=False)
    if reading is None or _counts_something(text, reading):
        return None
    return _by_pep440(text, reading)


def _names_several(text: str) -> bool:
    """Whether a label lists versions or spans them: `0.5.2, 0.4.3`, `17 and 18`, `1.2-1.3`.

    A second version behind a word qualifies the first: `4.8-HBase-1.2`.
    """
    found = _tokens(text)
    for left, right in pairwise(found):
        between = _V.sub("", text[left.end() : right.start()])
        mark = between.strip()
        if _LIST.fullmatch(mark) or (not mark and "\n" in between):
            return True
        both = left["separator"] and right["separator"]
        if both and mark in _SPANS and len(right["numbers"]) < _STAMP:
            return True
    return False


def _counts_something(text: str, reading: Reading) -> bool:
    """Whether a bare number counts something else than releases: `#17`, `17%`, `Q3 2025`, `APP-17`."""
    if reading.separator or reading.version.wildcard:
        return False
    if _ISSUE_KEY.fullmatch(text):
        return True
    near = reading.before[-1:] + reading.after[:1]
    return bool(set(near) & set("#%$")) or bool(_COUNTED.intersection(_WORD.findall(text.lower())))


def _by_pep440(text: str, reading: Reading) -> Reading:
    """Let packaging read what is PEP 440 and more than numbers (`1.0-3`, `1.0+local`)."""
    if not reading.after or _absurd(text):
        return reading
    try:
        exact = Pep440(text)
    except InvalidVersion:
        return reading
    version = reading.version
    # `8-4+local` is 8.4 here, as `8-4` is, and no fourth build of 8.
    if exact.post is not None and exact.release == version.numbers:
        version = altered(version, ripeness=_RIPENESS["post"], build=(exact.post,))
    return altered(reading, version=version, words=(), tail=())


def _tokens(text: str) -> list[re.Match[str]]:
    """The numbers in a text that stand for themselves: no part of a word such as `k8s` or `sqlite3mc`.

    Dots bind closer than other marks: `MK3_3.12` holds a 3 and a 3.12.
    """
    return [m for m in _NUMBERS.finditer(text) if _stands_alone(text, m) and not _absurd(m["numbers"])]


def _absurd(numbers: str) -> bool:
    if len(numbers) <= _LONGEST_COMPONENT:
        return False
    return any(len(n) > _LONGEST_COMPONENT for n in _DIGITS.findall(numbers))


def _stands_alone(text: str, match: re.Match[str]) -> bool:
    end = match.end()
    if end == len(text) or not text[end].isalpha() or match["separator"]:
        return True
    return _PHASE.match(text, end) is not None


def _is_disguised(text: str) -> bool:
    """Whether a text looks like another version than it would be read as: `8.4.0` in full-width digits, hidden marks.

    Such a text names none: what a person sees there is not what is there.
    """
    return _DISGUISED.search(text) is not None or any(c.isdigit() and not c.isascii() for c in text)


def _read(text: str, *, branch: bool) -> Reading | None:
    found = _tokens(text)
    if not found or (not text.isascii() and _is_disguised(text)):
        return None
    # Two components or a wildcard make a version; a bare number only where there is nothing better.
    match = next((m for m in found if m["separator"] or m["wildcard"]), found[0])
    end, ripeness = match.end(), FINAL
    build: tuple[int, ...] = ()
    phase = _PHASE.match(text, end) if end < len(text) else None
    if phase and not (branch and (phase["word"] or "").lower() in _LINE_WORDS):
        ripeness = _RIPENESS[(phase["word"] or phase["letter"]).lower()]
        digits = phase["n"] or phase["m"]
        build = tuple(int(n[:_LONGEST_COMPONENT]) for n in digits.split(".")) if digits else ()
        end = phase.end()
    before, after = text[: match.start()], text[end:]
    words = _WORD.findall(_MARK.sub("", before).lower())
    if ripeness == FINAL and words and words[-1] in _UNRIPE_PREFIXES:
        ripeness = _RIPENESS[words[-1]]
    if after:
        words += _WORD.findall(after.lower())
    separator = match["separator"] or ""
    written = match["numbers"].split(separator) if separator else [match["numbers"]]
    rest = _DIGITS.sub("{n}", text[match.end("numbers") : end])
    places = PLACES[: len(written)] + ("{n}",) * (len(written) - len(PLACES))
    return Reading(
        before=before,
        version=Version(tuple(map(int, written)), wildcard=bool(match["wildcard"]), ripeness=ripeness, build=build),
        after=after,
        separator=separator,
        spelling=text[match.start() : end],
        template=f"{before}{separator.join(places)}{rest}{after}",
        words=tuple(words),
        tail=tuple(int(n) for n in _DIGITS.findall(after.partition("+")[0]) if len(n) < _STAMP) if after else (),
    )
