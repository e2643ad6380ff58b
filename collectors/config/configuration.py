"""The configuration: flag, environment, repository, user file, default, merged by that precedence; origins kept.

Owns which host a token may go to. Reads two files (`files`) and an environment that was captured by the
caller; keeps no state. A flag or a variable decides for this run, so either beats what lies in a file; the
repository's file beats the user's because it is the nearer one, and may set only what is its own to know.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial, reduce
from pathlib import Path
from types import MappingProxyType
from typing import Final, cast
from urllib.parse import urlsplit, urlunsplit

import msgspec
from msgspec import Struct

from collectors.config.files import read_repository_file, read_user_file
from collectors.config.keys import (
    DEFAULT,
    FLAGS,
    KEYS,
    Autonomy,
    OnFetchFailure,
    Origin,
    Refresh,
    Secret,
    SourcedValue,
    from_text,
    from_value,
    nearest,
    parse_address,
)
from collectors.errors import InvalidInput
from collectors.stores.preferences import PREFERENCES_VARIABLE
from collectors.stores.runs import RUNS_VARIABLE
from collectors.stores.user_folders import config_folder
from ranking.facts import Settings
from ranking.names import printable

CONFIG_VARIABLE: Final = "BASE_BRANCH_CONFIG"
AUTOPILOT_FLAG: Final = "--autopilot"

_PREFIX: Final = "BASE_BRANCH_"
# Read elsewhere in the program; no settings.
_OTHER_VARIABLES: Final = (CONFIG_VARIABLE, PREFERENCES_VARIABLE, RUNS_VARIABLE, "BASE_BRANCH_DEBUG")
_PUBLIC_HOST: Final = "github.com"
_LOOPBACK: Final = re.compile(r"localhost|127\.[0-9.]+|::1")

Layer = Mapping[str, SourcedValue]
"""What one source sets, by dotted key."""


class JiraCredential(Struct, frozen=True, kw_only=True):
    """A token with the one address it may go to, who bound it there, and the login that goes with it."""

    address: tuple[str, str, int]
    token: Secret
    token_origin: Origin
    bound_by: Origin
    email: str | None = None


class JiraConfiguration(Struct, frozen=True, kw_only=True):
    """The Jira that keys belong to; `fields`: None for the usual names of target-version fields."""

    url: str | None = None
    fields: tuple[str, ...] | None = None
    credentials: tuple[JiraCredential, ...] = ()

    def credential_for(self, url: str) -> JiraCredential | None:
        """The credential that is bound to a URL's scheme, host and port, whoever gave the URL; None: anonymous."""
        address = parse_address(url)
        return next((one for one in self.credentials if one.address == address), None)


class GitHubConfiguration(Struct, frozen=True, kw_only=True):
    """The GitHub beside the public one that the user works with, and its API's URL where it is not the usual."""

    host: str | None = None
    api_url: str | None = None

    def api_url_for(self, host: str) -> str | None:
        """The configured API URL where it is this host's; None for the usual one.

        A token follows the URL that it is sent to: one host's API URL must not draw another host's token.
        """
        return self.api_url if host.lower() == (self.host or _PUBLIC_HOST).lower() else None

    def environment(self, environ: Mapping[str, str]) -> dict[str, str]:
        """The environment for `github.site.find_site`: the configured host stands in it as gh's own GH_HOST does.

        A GH_HOST that is there stays: the Enterprise token beside it is that host's.
        """
        return dict(environ) | ({"GH_HOST": self.host} if self.host and not environ.get("GH_HOST") else {})


class Configuration(Struct, frozen=True, kw_only=True):
    """What counts in this run, each value's origin, and what has to be said of it."""

    remote: str | None
    project_key: str | None
    timeout: float
    settings: Settings
    autonomy: Autonomy
    on_fetch_failure: OnFetchFailure | None
    refresh: Refresh
    issue_optional: bool
    language: str
    ask_on_issue: bool
    max_refs: int
    keep_runs: int
    jira: JiraConfiguration
    github: GitHubConfiguration
    held: Mapping[str, SourcedValue]
    """Every key's value with its origin, in the order of the table; a token is a `Secret`."""
    warnings: tuple[str, ...] = ()

    @property
    def origins(self) -> dict[str, Origin]:
        """Every key's origin."""
        return {name: one.origin for name, one in self.held.items()}

    @property
    def branch_ttl_days(self) -> int | None:
        """How many days a choice counts, if somebody set it; None if the store's own number counts."""
        return self.settings.branch_ttl_days if self.is_set("branchTtlDays") else None

    def is_set(self, key: str) -> bool:
        """Whether anybody set it: a value equal to the default may have been meant."""
        return self.held[key].origin.source != "default"


def default_user_file(environ: Mapping[str, str]) -> Path:
    """`config.toml` in the user's configuration folder, beside the store of preferences."""
    return config_folder(environ) / "config.toml"


def read_configuration(
    flags: Mapping[str, object],
    environ: Mapping[str, str],
    repository_top: Path | None,
    user_file: Callable[[], Path] | None = None,
) -> Configuration:
    """Read all sources and merge them; InvalidInput for the first that is not right.

    `flags`: by the flag as it is typed (`--remote`); None is one that was not given. `repository_top`: the work
    tree's top; None, in a bare repository, for no repository file. `user_file` is called where BASE_BRANCH_CONFIG
    names none.
    """
    flagged, environment = read_flags(flags), read_environment(environ)
    repository = read_repository_file(repository_top) if repository_top is not None else {}
    named = environ.get(CONFIG_VARIABLE)
    at = user_file or partial(default_user_file, environ)
    user, said = read_user_file(Path(named) if named else at(), named=bool(named))
    found = [*unknown_variables(environ), *said]
    environment, stripped = _without_userinfo(environment)
    found += stripped
    user, stripped = _without_userinfo(user)
    found += stripped
    credentials = bind_jira_tokens(environment, user)
    found += [_in_the_clear(one) for one in credentials if one.address[0] == "http" and not _loopback(one)]
    return _assemble(merge((flagged, environment, repository, user)), credentials, tuple(found))


def read_flags(flags: Mapping[str, object]) -> dict[str, SourcedValue]:
    """The layer of the flags. `--autopilot` is `--autonomy full`; a list may come as texts or comma separated."""
    layer: dict[str, SourcedValue] = {}
    for flag, value in sorted(flags.items()):
        if value is None or value in ((), []) or (flag == AUTOPILOT_FLAG and value is False):
            continue
        key = KEYS["autonomy"] if flag == AUTOPILOT_FLAG else FLAGS[flag]
        raw = "full" if flag == AUTOPILOT_FLAG else value
        if isinstance(raw, list | tuple):
            raw = ",".join(map(str, raw))
        converted = from_text(key, raw, flag) if isinstance(raw, str) else from_value(key, raw, flag)
        earlier = layer.get(key.name)
        if earlier is not None and earlier.value != converted:
            raise InvalidInput(f"{earlier.origin} and {flag} contradict each other", hint="give one of them")
        layer[key.name] = SourcedValue(value=converted, origin=Origin(source="flag", name=flag))
    return layer


def read_environment(environ: Mapping[str, str]) -> dict[str, SourcedValue]:
    """The layer of the environment; a variable that is empty is not set. Pure."""
    layer: dict[str, SourcedValue] = {}
    for key in KEYS.values():
        name = next((name for name in key.variables if environ.get(name, "").strip()), None)
        if name is not None:
            value = from_text(key, environ[name], name)
            layer[key.name] = SourcedValue(value=value, origin=Origin(source="environment", name=name))
    return layer


def unknown_variables(environ: Mapping[str, str]) -> tuple[str, ...]:
    """A warning for every BASE_BRANCH_ variable that nothing reads. No error: they may be another program's."""
    known = tuple(dict.fromkeys([name for key in KEYS.values() for name in key.variables] + [*_OTHER_VARIABLES]))
    strange = sorted(name for name in environ if name.startswith(_PREFIX) and name not in known)
    return tuple(_unknown(name, known) for name in strange)


def overlay(upper: Layer, lower: Layer) -> Layer:
    """Both, the upper where both set a key. Associative; the empty layer changes nothing."""
    return {**lower, **upper}


def merge(layers: Iterable[Layer]) -> Layer:
    """All layers, the strongest first, over the defaults; every key has a value then, in the table's order."""
    defaults: Layer = {key.name: SourcedValue(value=key.default, origin=DEFAULT) for key in KEYS.values()}
    merged = overlay(reduce(overlay, layers, cast("Layer", {})), defaults)
    return MappingProxyType({name: merged[name] for name in KEYS})


def bind_jira_tokens(environment: Layer, user: Layer) -> tuple[JiraCredential, ...]:
    """Each of the user's tokens with the one address that it may go to. Pure.

    1. A token is bound by the URL that stands beside it: in the environment by JIRA_URL, in the file by its url.
    2. Where none stands beside it, by the user's other source; where neither names one, to nothing.
    3. The login stands beside the token; another source's serves unless it stands beside another address.
    A flag and a repository's file are not looked at: neither is where the user keeps a token. So JIRA_URL of one
    shell never draws the token that lies beside another URL in the file.
    """
    found: dict[tuple[str, str, int], JiraCredential] = {}
    for own, other in ((environment, user), (user, environment)):
        token, url, email = own.get("jira.token"), own.get("jira.url") or other.get("jira.url"), own.get("jira.email")
        if token is None or url is None:
            continue
        address = parse_address(str(url.value))
        if email is None and ("jira.url" not in other or parse_address(str(other["jira.url"].value)) == address):
            email = other.get("jira.email")
        if address is not None and isinstance(token.value, Secret):
            credential = JiraCredential(
                address=address,
                token=token.value,
                token_origin=token.origin,
                bound_by=url.origin,
                email=str(email.value) if email else None,
            )
            found.setdefault(address, credential)  # the environment's is the stronger
    return tuple(found.values())


def _assemble(held: Layer, credentials: tuple[JiraCredential, ...], warnings: tuple[str, ...]) -> Configuration:
    """The record of a merged layer. The types were checked key by key."""
    value = {name: one.value for name, one in held.items()}
    of_settings = {field.name: value[field.encode_name] for field in msgspec.structs.fields(Settings)}
    return Configuration(
        remote=cast("str | None", value["remote"]),
        project_key=cast("str | None", value["projectKey"]),
        timeout=cast("float", value["timeout"]),
        settings=Settings(**of_settings),  # type: ignore[arg-type] # checked against these very types
        autonomy=cast("Autonomy", value["autonomy"]),
        on_fetch_failure=cast("OnFetchFailure | None", value["onFetchFailure"]),
        refresh=cast("Refresh", value["refresh"]),
        issue_optional=cast("bool", value["issueOptional"]),
        language=cast("str", value["language"]),
        ask_on_issue=cast("bool", value["askOnIssue"]),
        max_refs=cast("int", value["maxRefs"]),
        keep_runs=cast("int", value["runs.keep"]),
        jira=JiraConfiguration(
            url=cast("str | None", value["jira.url"]),
            fields=cast("tuple[str, ...] | None", value["jira.fields"]),
            credentials=credentials,
        ),
        github=GitHubConfiguration(
            host=cast("str | None", value["github.host"]), api_url=cast("str | None", value["github.apiUrl"])
        ),
        held=held,
        warnings=warnings,
    )


def _without_userinfo(layer: dict[str, SourcedValue]) -> tuple[dict[str, SourcedValue], list[str]]:
    """The layer with its URLs' credentials taken out and said: no client sends them, and every text would show them."""
    clean, said = dict(layer), []
    for name in ("jira.url", "github.apiUrl"):
        held = layer.get(name)
        parts = urlsplit(str(held.value)) if held else None
        if held is None or parts is None or "@" not in parts.netloc:
            continue
        bare = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
        clean[name] = SourcedValue(value=bare, origin=held.origin)
        said.append(f"the credentials in the URL of {held.origin} are not used: set the token by itself")
    return clean, said


def _loopback(credential: JiraCredential) -> bool:
    return _LOOPBACK.fullmatch(credential.address[1]) is not None


def _in_the_clear(credential: JiraCredential) -> str:
    return f"{credential.bound_by} is an http URL: the token of {credential.token_origin} goes unencrypted"


def _unknown(name: str, known: tuple[str, ...]) -> str:
    bare = name.removeprefix(_PREFIX)  # BASE_BRANCH_JIRA_URL is meant for JIRA_URL
    near = bare if bare in known else nearest(name, known)
    return f"{printable(name)} is not known" + (f"; the nearest is {near}" if near else "")
