"""What `base-branch config` shows: every value, where it came from, and whether a token is set, never the token.

Pure. The same configuration gives the same bytes: rows stand in the order of the table of keys.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from candidates.styled import Line
from collectors.config.configuration import Configuration, JiraCredential
from collectors.config.files import REPOSITORY_FILE
from collectors.config.keys import (
    DEFAULT_PORTS,
    KEYS,
    PRECEDENCE,
    REPOSITORY_MAY_SET,
    Key,
    Origin,
    Secret,
    SourcedValue,
)
from collectors.remote_url import redact
from ranking.facts import Record
from ranking.names import printable

Plain = None | bool | int | float | str | tuple[str, ...]

_SET = "set"
_NOT_SET = "not set"


class ConfigOrigin(Record, frozen=True, kw_only=True):
    """Where a value came from: a flag's or variable's name; a file with the dotted path in it."""

    source: str
    name: str | None = None
    file: str | None = None


class ConfigValue(Record, frozen=True, kw_only=True):
    """One key; a token's `value` is "set" or null."""

    key: str
    value: Plain
    origin: ConfigOrigin
    may_set: tuple[str, ...]


class TokenBinding(Record, frozen=True, kw_only=True):
    """One token by its origin, the only site that it goes to, and what named that site."""

    token: ConfigOrigin
    goes_to: str
    bound_by: ConfigOrigin


class ConfigView(Record, frozen=True, kw_only=True):
    """The whole configuration, as `base-branch config --json` prints it."""

    schema: Literal["base-branch/config@1"]
    precedence: tuple[str, ...]
    values: tuple[ConfigValue, ...]
    jira_tokens: tuple[TokenBinding, ...]
    warnings: tuple[str, ...]


def view_configuration(configuration: Configuration) -> ConfigView:
    """The configuration for the wire, without any secret."""
    return ConfigView(
        schema="base-branch/config@1",
        precedence=PRECEDENCE,
        values=tuple(_value(key, configuration) for key in KEYS.values()),
        jira_tokens=tuple(_binding(one) for one in configuration.jira.credentials),
        warnings=tuple(redact(warning) for warning in configuration.warnings),
    )


def config_lines(configuration: Configuration) -> list[Line]:
    """The configuration for a person: key, value, origin; what a repository may set; below it, what has to be said."""
    width = max(map(len, KEYS))
    lines = [_line(key, configuration.held[key.name], width) for key in KEYS.values()]
    lines += [[], [("bold", f"What a repository's own {REPOSITORY_FILE} may set")], *_repository_lines()]
    bound = list(_token_lines(configuration))
    lines += [[], [("bold", "Jira tokens")], *bound] if bound else []
    if configuration.warnings:
        lines += [[], [("bold", "Warnings")]]
        lines += [[("yellow", f"  {printable(redact(warning))}")] for warning in configuration.warnings]
    return lines


def _repository_lines() -> list[Line]:
    """What a repository's own file may set, and why that."""
    width = max(map(len, REPOSITORY_MAY_SET))
    return [[("", f"  {name.ljust(width)}  "), ("dim", why)] for name, why in REPOSITORY_MAY_SET.items()]


def _value(key: Key, configuration: Configuration) -> ConfigValue:
    held = configuration.held[key.name]
    return ConfigValue(
        key=key.name,
        value=_plain(held.value),
        origin=_origin(held.origin),
        may_set=key.allowed()[:-1],  # the default is nobody's to set
    )


def _origin(origin: Origin) -> ConfigOrigin:
    return ConfigOrigin(source=origin.source, name=origin.name or None, file=origin.file)


def _binding(credential: JiraCredential) -> TokenBinding:
    return TokenBinding(
        token=_origin(credential.token_origin),
        goes_to=_site(credential),
        bound_by=_origin(credential.bound_by),
    )


def _line(key: Key, held: SourcedValue, width: int) -> Line:
    style = "dim" if held.origin.source == "default" else "bold"
    name, origin = (style, key.name.ljust(width)), printable(str(held.origin))
    if isinstance(held.value, Secret):
        return [name, ("", f"  {_SET}"), ("dim", f" (from {origin})")]
    return [name, ("", f"  {_words(held.value)}"), ("dim", f" ({origin})")]


def _token_lines(configuration: Configuration) -> Iterator[Line]:
    """Where each token goes; of the one that counts also that it goes nowhere."""
    credentials = configuration.jira.credentials
    for one in credentials:
        named = f"{_site(one)} alone, which {printable(str(one.bound_by))} names"
        yield [("", f"  {printable(str(one.token_origin))}: goes to {named}")]
    token = configuration.held["jira.token"]
    if isinstance(token.value, Secret) and all(one.token_origin != token.origin for one in credentials):
        yield [
            (
                "yellow",
                f"  {printable(str(token.origin))}: goes nowhere, because nothing of yours names a site; set JIRA_URL",
            )
        ]


def _site(credential: JiraCredential) -> str:
    scheme, host, port = credential.address
    bracketed = f"[{host}]" if ":" in host else host
    return f"{scheme}://{bracketed}" + ("" if DEFAULT_PORTS[scheme] == port else f":{port}")


def _plain(value: object) -> Plain:
    """A value for the wire."""
    match value:
        case Secret():
            return _SET
        case str():
            return redact(value)
        case tuple():
            return tuple(redact(str(one)) for one in value)
        case None | bool() | int() | float():
            return value
        case _:
            return redact(str(value))


def _words(value: object) -> str:
    """A value in words."""
    match _plain(value):
        case None:
            return _NOT_SET
        case bool(flag):
            return "yes" if flag else "no"
        case tuple(many):
            return ", ".join(map(printable, many)) if many else "none"
        case str(text):
            return printable(text)
        case number:
            return f"{number:g}" if isinstance(number, float) else str(number)
