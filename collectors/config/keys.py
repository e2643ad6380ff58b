"""What can be configured: one table of keys, who may set each, and how a text or a TOML value becomes its value.

Pure. A value that does not fit is an InvalidInput that names the key and where it stood, and never shows a secret.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, NoReturn, Union, get_args, get_origin
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from collectors.errors import InvalidInput
from collectors.process import MOST_REFS
from collectors.remote_url import HIDDEN, redact
from ranking.facts import Settings
from ranking.names import printable

SourceName = Literal["flag", "environment", "repository", "user", "default"]

PRECEDENCE: Final[tuple[SourceName, ...]] = ("flag", "environment", "repository", "user", "default")
"""The strongest first. A source replaces a value whole: lists are not joined, so what is shown is what counts."""

Autonomy = Literal["manual", "guided", "full"]
OnFetchFailure = Literal["ask", "retry", "cached", "local", "abort"]
Refresh = Literal["probe", "needed", "all", "none"]

REPOSITORY_MAY_SET: Final[Mapping[str, str]] = {
    "remote": "which remote holds the lines: a name, which this clone's own configuration makes a URL of",
    "projectKey": "what the project is called in the user's memory",
    "multipleVersions": "what several fix versions mean here: all are the issue's own, and only the project knows",
    "resolveOrder": "an order; one that derives has to look at the memory too, or onConflict would have no say",
    "defaultOrder": "patterns of its own branches",
    "workPrefixes": "patterns of its own branches",
    "jira.fields": "names of fields: asked for at the site that the user names, and read only",
}
"""All that a repository's file may set, and why. Whoever can push to a repository writes that file, so nothing in
it may decide whom the program talks to, with which credentials or for how long, or what it does unasked: hosts,
URLs, tokens, the time-out, autonomy, the policies for failures and conflicts, the floor, the comment."""

_SHOWN_CHARACTERS: Final = 60
_TRUE: Final = ("true", "yes", "on", "1")
_FALSE: Final = ("false", "no", "off", "0")
_INTEGER: Final = re.compile(r"[+-]?\d{1,18}", re.ASCII)
_NUMBER: Final = re.compile(r"[+-]?\d{1,18}(?:\.\d{1,18})?", re.ASCII)

# Only forms that every reader of URLs takes for the same host: no backslash, no blank, nothing to be encoded.
_HOST: Final = r"(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?"
_WHOLE_HOST: Final = re.compile(_HOST)
_URL: Final = re.compile(rf"https?://(?:[^\s/?#\\]*@)?{_HOST}(?:/[^\s?#\\]*)?", re.IGNORECASE | re.ASCII)
_LANGUAGE: Final = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*")
_LOGIN: Final = re.compile(r"[^\s:]+")
# What a header's value can hold.
_SECRET: Final = re.compile(r"[\x21-\x7e]+")
DEFAULT_PORTS: Final = {"http": 80, "https": 443}


class Secret:
    """A token. Only `reveal` gives its text; nothing that prints, formats, copies out or stores it does.

    >>> token = Secret("s3cret")
    >>> f"{token} {token!r} {token:>5}", token.reveal()
    ('*** *** ***', 's3cret')
    """

    __slots__ = ("_text",)
    _text: str

    def __init__(self, text: str) -> None:
        """Hold it."""
        object.__setattr__(self, "_text", text)

    def reveal(self) -> str:
        """The token itself, for the one request that it is meant for."""
        return self._text

    def __repr__(self) -> str:
        """Hide it."""
        return HIDDEN

    def __format__(self, spec: str) -> str:
        """Hide it, and its length from any padding."""
        del spec
        return HIDDEN

    def __setattr__(self, name: str, value: object) -> NoReturn:
        """Refuse: it is frozen."""
        raise AttributeError("a secret cannot be changed")

    def __eq__(self, other: object) -> bool:
        """By the text."""
        return self._text == other._text if isinstance(other, Secret) else NotImplemented

    def __hash__(self) -> int:
        """By the same key as equality."""
        return hash(self._text)

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """Refuse: a pickle would write it out."""
        raise TypeError("a secret cannot be pickled")


class Origin(Struct, frozen=True, kw_only=True):
    """Where a value came from: the flag's or variable's name, or the file and the dotted path in it."""

    source: SourceName
    name: str = ""
    file: str | None = None

    def __str__(self) -> str:
        """In words, for a person."""
        if self.source == "default":
            return "default"
        return f"{self.file}: {self.name}" if self.file is not None else self.name


DEFAULT: Final = Origin(source="default")


class SourcedValue(Struct, frozen=True, kw_only=True):
    """A value and where it came from."""

    value: object
    origin: Origin


class Key(Struct, frozen=True, kw_only=True):
    """One thing that can be configured.

    `type`: as msgspec reads it. `flag`: None where no flag sets it. `variables`: the first one set counts.
    `check`: what else is wrong with a value that fits its type, or None.
    """

    name: str
    type: Any
    default: object = None
    flag: str | None = None
    variables: tuple[str, ...] = ()
    user: bool = True
    secret: bool = False
    check: Callable[[str], str | None] | None = None

    def allowed(self) -> tuple[SourceName, ...]:
        """Who may set it, the strongest first."""
        may = {
            "flag": self.flag is not None,
            "environment": bool(self.variables),
            "repository": self.name in REPOSITORY_MAY_SET,
            "user": self.user,
            "default": True,
        }
        return tuple(source for source in PRECEDENCE if may[source])


def snake(name: str) -> str:
    """A key's name in the way of variables and flags.

    >>> snake("jira.fields"), snake("branchTtlDays")
    ('jira_fields', 'branch_ttl_days')
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.replace(".", "_")).lower()


def parse_address(url: str) -> tuple[str, str, int] | None:
    """Scheme, host and port: what a token is bound to. None for what no two readers need take for the same host.

    >>> parse_address("https://Jira.example.com/browse/APP-1")
    ('https', 'jira.example.com', 443)
    """
    if not _URL.fullmatch(url.partition("?")[0].partition("#")[0]):
        return None
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    scheme = parts.scheme.lower()
    if not parts.hostname or port == 0:  # no server has port 0; what a reader makes of it, differs
        return None
    return scheme, parts.hostname, port or DEFAULT_PORTS[scheme]


def from_value(key: Key, raw: object, where: str, what: str | None = None) -> object:
    """A value as TOML or a typed option gives it, checked; `where`, and the file `what`, are for the message."""
    file = f" (in {what})" if what else ""
    try:
        value: object = msgspec.convert(raw, key.type)
    except (msgspec.ValidationError, OverflowError, UnicodeEncodeError):
        given = "" if key.secret else f", got {_shown(raw)}"
        # The library's words hold the value as it is, and whoever prints a traceback would print them.
        raise InvalidInput(f"expected {expected(key.type)}{given}{file}", where=where) from None
    for text in (value,) if isinstance(value, str) else value if isinstance(value, tuple) else ():
        wrong = _fault_of(key, text)
        if wrong:
            raise InvalidInput(f"{wrong if key.secret else f'{wrong}: {_shown(text)}'}{file}", where=where)
    return Secret(str(value)) if key.secret else value


def from_text(key: Key, text: str, where: str) -> object:
    """A value as a variable or an option's text gives it: lists are comma separated.

    >>> from_text(KEYS["resolveOrder"], "derived, default", "BASE_BRANCH_RESOLVE_ORDER")
    ('derived', 'default')
    """
    return from_value(key, _raw(key.type, text.strip()), where)


def nearest(name: str, known: tuple[str, ...]) -> str | None:
    """The known name that a wrong one was most likely meant for; capitals, dashes and underscores do not count.

    >>> nearest("default_order", ("defaultOrder", "onConflict"))
    'defaultOrder'
    """
    folded = {_folded(one): one for one in known}
    found = get_close_matches(_folded(name), folded, n=1, cutoff=0.7)
    return folded[found[0]] if found else None


def expected(annotation: Any) -> str:  # noqa: ANN401 - an annotation may be anything
    """What a type takes, in words.

    >>> expected(tuple[str, ...] | Literal["seed"] | None), expected(Literal["a", "b"])
    ('a list of texts or seed', 'one of a, b')
    """
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        bounds = arguments[1]
        least = f" from {bounds.ge:g}" if bounds.ge is not None else ""
        most = f" to {bounds.le:g}" if bounds.le is not None else ""
        inner = expected(arguments[0])
        if bounds.max_length is not None:
            inner = inner.replace(" of ", f" of at most {bounds.max_length} ", 1)
        return inner + least + most
    if origin is Literal:
        return arguments[0] if len(arguments) == 1 else f"one of {', '.join(arguments)}"
    if origin is tuple:
        words = get_args(arguments[0])
        return f"a list of {', '.join(words)}" if words else "a list of texts"
    if origin in (Union, UnionType):
        return " or ".join(expected(one) for one in arguments if one is not NoneType)
    names = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
    return names[annotation]


def _raw(annotation: Any, text: str) -> object:  # noqa: ANN401 - likewise
    """The text as the plain value that its type is made of; itself where it is none, so that the check says so."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _raw(arguments[0], text)
    if origin in (Union, UnionType):
        rest = [one for one in arguments if one is not NoneType]
        word = any(get_origin(one) is Literal and text in get_args(one) for one in rest)
        return text if word else _raw(rest[0], text)
    if origin is tuple:
        return [part for part in (part.strip() for part in text.split(",")) if part]
    return _scalar(annotation, text)


def _scalar(annotation: Any, text: str) -> object:  # noqa: ANN401 - likewise
    if annotation is bool and text.lower() in (*_TRUE, *_FALSE):
        return text.lower() in _TRUE
    if annotation is int and _INTEGER.fullmatch(text):
        return int(text)
    if annotation is float and _NUMBER.fullmatch(text):
        return float(text)
    return text


def _fault_of(key: Key, text: str) -> str | None:
    """What is wrong with one text of a value."""
    if key.secret:
        return key.check(text) if key.check else None
    if not text.strip():
        return "it is empty"
    if any("\ud800" <= c <= "\udfff" for c in text):
        return "it is not UTF-8"
    if not text.isprintable():
        return "it holds characters that do not show"
    return key.check(text) if key.check else None


def _shown(raw: object) -> str:
    """A value for a message: short, escaped, without credentials."""
    text = repr(raw) if isinstance(raw, str | int | float) else f"a {type(raw).__name__}"
    text = redact(text)
    return printable(text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "...")


def _folded(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def _name_fault(text: str) -> str | None:
    # git would read such a remote as an option; a URL is no name, and could hold credentials.
    return "it is no name of a remote" if text.startswith("-") or "://" in text or " " in text else None


def _pattern_fault(text: str) -> str | None:
    return "it is no pattern of branch names: it begins with a dash" if text.startswith("-") else None


def _url_fault(text: str) -> str | None:
    right = _URL.fullmatch(text) and parse_address(text)
    return None if right else "it is no http or https URL of a site, without a query"


def _host_fault(text: str) -> str | None:
    return None if _WHOLE_HOST.fullmatch(text) else "it is no host name"


def _login_fault(text: str) -> str | None:
    return None if _LOGIN.fullmatch(text) else "it is no e-mail address or login"


def _language_fault(text: str) -> str | None:
    return None if _LANGUAGE.fullmatch(text) else "it is no language tag"


def _secret_fault(text: str) -> str | None:
    return None if _SECRET.fullmatch(text) else "it holds characters that no token has"


def _plain(name: str, type_: Any, default: object = None, check: Callable[[str], str | None] | None = None) -> Key:  # noqa: ANN401 - an annotation
    """A key with a flag and a variable of its own name."""
    flag, variable = "--" + snake(name).replace("_", "-"), "BASE_BRANCH_" + snake(name).upper()
    return Key(name=name, type=type_, default=default, flag=flag, variables=(variable,), check=check)


def _settings() -> tuple[Key, ...]:
    """The settings that a ranking looks at, as `ranking.facts` types them: one truth for what they take."""
    checks = {"defaultOrder": _pattern_fault, "workPrefixes": _pattern_fault}
    fields = msgspec.structs.fields(Settings)
    return tuple(_plain(f.encode_name, f.type, f.default, checks.get(f.encode_name)) for f in fields)


# No flag for what binds a token, nor for the token: a flag shows in every list of processes, and the host has to
# stand where the token stands.
_ALL: Final = (
    _plain("remote", str | None, None, _name_fault),
    _plain("projectKey", str | None),
    _plain("timeout", Annotated[float, msgspec.Meta(ge=0.1, le=86400)], 20.0),
    *_settings(),
    _plain("autonomy", Autonomy, "manual"),
    # None: asked where a person is there; unattended, the cache and then a local branch serve.
    _plain("onFetchFailure", OnFetchFailure | None),
    _plain("refresh", Refresh, "needed"),
    _plain("issueOptional", bool, default=False),
    _plain("language", str, "en", _language_fault),
    _plain("askOnIssue", bool, default=False),
    # No flag, and not the repository's to say: how much memory and time a server may take.
    Key(
        name="maxRefs",
        type=Annotated[int, msgspec.Meta(ge=1, le=10_000_000)],
        default=MOST_REFS,
        variables=("BASE_BRANCH_MAX_REFS",),
    ),
    # No flag, and not the repository's to say: how much of a user's own disk, and what is left lying there.
    Key(
        name="runs.keep",
        type=Annotated[int, msgspec.Meta(ge=0, le=1000)],
        default=20,
        variables=("BASE_BRANCH_RUNS_KEEP",),
    ),
    Key(name="jira.url", type=str | None, variables=("JIRA_URL",), check=_url_fault),
    Key(name="jira.email", type=str | None, variables=("JIRA_EMAIL",), check=_login_fault),
    Key(name="jira.token", type=str | None, variables=("JIRA_TOKEN",), secret=True, check=_secret_fault),
    Key(name="jira.fields", type=tuple[str, ...] | None, variables=("BASE_BRANCH_JIRA_FIELDS",)),
    Key(name="github.host", type=str | None, variables=("BASE_BRANCH_GITHUB_HOST", "GH_HOST"), check=_host_fault),
    Key(name="github.apiUrl", type=str | None, variables=("BASE_BRANCH_GITHUB_API_URL",), check=_url_fault),
    # Shown here; `collectors.github.site` binds them to their hosts, and checks them where they are used.
    Key(
        name="github.token",
        type=str | None,
        variables=("GH_TOKEN", "GITHUB_TOKEN"),
        user=False,
        secret=True,
    ),
    Key(
        name="github.enterpriseToken",
        type=str | None,
        variables=("GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"),
        user=False,
        secret=True,
    ),
)

KEYS: Final[Mapping[str, Key]] = {key.name: key for key in _ALL}
"""Every key by its dotted path in a file, in the order in which they are shown."""

FLAGS: Final[Mapping[str, Key]] = {key.flag: key for key in _ALL if key.flag is not None}
"""The keys that a flag sets, by the flag."""
