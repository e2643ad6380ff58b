"""What works here and what does not: git, the repository, its remote, the tokens, the trackers, the preferences.

Asks the remote, Jira and GitHub side by side under one deadline, and writes nothing. Says of a token where it was
set and whom it belongs to, never what it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from candidates.exit_codes import ExitCode
from candidates.run.collect import Located, RemoteUndecided, locate
from candidates.run.trackers import github_site, on_github
from candidates.styled import Line
from collectors.config.configuration import Configuration, read_configuration
from collectors.errors import EvidenceError, InvalidInput, SetupError, SourceError
from collectors.git.refs import RemoteAnswer, ask_remote
from collectors.git.repository import OLDEST_GIT, Checkout, open_repository, parse_git_version
from collectors.github.comment import who_am_i as github_identity
from collectors.github.site import GitHubSite
from collectors.input_file import read_whole
from collectors.issue.reference import PUBLIC_HOST
from collectors.jira.issue import Identity
from collectors.jira.issue import who_am_i as jira_identity
from collectors.jira.site import JiraSite
from collectors.process import Deadline, Git
from collectors.remote_url import redact
from collectors.signals import awaited
from collectors.stores.preferences import Remembered, describe, preferences_path, read_recent
from ranking.facts import FailureKind, Record
from ranking.names import printable

CheckName = Literal["git", "repository", "configuration", "preferences", "remote", "jira", "github"]
State = Literal["works", "warns", "fails", "not-set"]

# Where nothing can be asked at all comes first; then what a resolve would stop with, in its order.
_GRAVEST: Final = (
    ExitCode.SETUP,
    ExitCode.USAGE,
    ExitCode.REMOTE_SILENT,
    ExitCode.SOURCE_FAILED,
    ExitCode.ASK,
    ExitCode.ANSWERED,
)
_LOGIN: Final = ("auth-refused", "auth-wanted", "access-denied")
_STYLES: Final[Mapping[State, str]] = {"works": "green", "warns": "yellow", "fails": "red", "not-set": "dim"}
_TOKEN_VARIABLES: Final = ("GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN")
_SET_JIRA: Final = "set JIRA_URL, JIRA_EMAIL (Cloud only) and JIRA_TOKEN, then: base-branch doctor"


class Check(Record, frozen=True, kw_only=True):
    """One thing that was looked at; `next`: the command or the setting that mends it."""

    name: CheckName
    state: State
    detail: str
    kind: FailureKind | None = None
    host: str | None = None
    token: str | None = None
    """Where the token was set; null where none is."""
    identity: str | None = None
    next: str | None = None


class Health(Record, frozen=True, kw_only=True):
    """All that was looked at, and the gravest of it as an exit code."""

    schema: Literal["base-branch/doctor@1"] = "base-branch/doctor@1"
    checks: tuple[Check, ...]
    exit_code: int


class _Finding(Struct, frozen=True, kw_only=True):
    """A check with the exit code that it stands for."""

    check: Check
    code: ExitCode = ExitCode.ANSWERED


def examine(git: Git, flags: Mapping[str, object]) -> Health:
    """Look at everything; nothing that fails keeps the rest from being looked at."""
    found, checkout = _local(git)
    configuration, said = _configuration(git, checkout, flags)
    found += said
    if configuration is not None:
        found += _asked(replace(git, most_refs=configuration.max_refs), checkout, configuration)
    codes = {one.code for one in found}
    return Health(checks=tuple(one.check for one in found), exit_code=next(c for c in _GRAVEST if c in codes))


def health_lines(health: Health) -> Iterator[Line]:
    """The same for a person: what works, what does not, and under that what to do."""
    for check in health.checks:
        who = f" as {printable(check.identity)}" if check.identity else ""
        token = f" (token from {printable(check.token)})" if check.token else ""
        yield [
            ("bold", f"{check.name:<14}"),
            (_STYLES[check.state], f"{check.state:<8}"),
            ("", f"{printable(check.detail)}{who}{token}"),
        ]
        if check.next:
            yield [("", f"{'':<22}try: {printable(check.next)}")]


# --- this machine ---


def _local(git: Git) -> tuple[list[_Finding], Checkout | None]:
    try:
        checkout = open_repository(git)
    except SetupError as error:
        if error.code in ("git-missing", "git-too-old"):
            return [_failed("git", error, ExitCode.SETUP)], None
        version = parse_git_version(git.run("version").stdout)
        return [_git_works(version), _failed("repository", error, ExitCode.SETUP)], None
    kinds = [word for word, so in (("bare", checkout.bare), ("shallow", checkout.shallow)) if so]
    words = f" ({', '.join(kinds)})" if kinds else ""
    detail = f"{checkout.top or checkout.common_dir}{words}"
    here = Check(name="repository", state="works", detail=printable(detail))
    if checkout.shallow:
        lacking = f"{detail}: which branches carry which tags cannot be told"
        here = Check(name="repository", state="warns", detail=printable(lacking), next="git fetch --unshallow")
    return [_git_works(checkout.git_version), _Finding(check=here)], checkout


def _git_works(version: tuple[int, ...]) -> _Finding:
    here, oldest = (".".join(map(str, numbers)) for numbers in (version, OLDEST_GIT))
    return _Finding(
        check=Check(name="git", state="works", detail=f"version {here}; {oldest} is the oldest that serves")
    )


def _configuration(
    git: Git, checkout: Checkout | None, flags: Mapping[str, object]
) -> tuple[Configuration | None, list[_Finding]]:
    try:
        configuration = read_configuration(flags, git.environ, checkout.top if checkout else None)
    except InvalidInput as error:
        return None, [_failed("configuration", error, ExitCode.USAGE)]
    except SetupError as error:
        return None, [_failed("configuration", error, ExitCode.SETUP)]
    if not configuration.warnings:
        return configuration, [_Finding(check=Check(name="configuration", state="works", detail="nothing is odd"))]
    return configuration, [
        _Finding(check=Check(name="configuration", state="warns", detail=redact(warning), next="base-branch config"))
        for warning in configuration.warnings
    ]


def _preferences(git: Git, key: str, old_key: str | None) -> list[_Finding]:
    """Whether the file can be used, then how each of its keys is read."""
    try:
        path = preferences_path(git.environ)
        remembered = read_recent(path, key, old_key=old_key)
    except SetupError as error:
        return [_failed("preferences", error, ExitCode.SETUP)]
    whole = _preferences_file(path, key, remembered)
    try:
        lines = describe(read_whole(path), key, old_key=old_key)
    except OSError:  # not there, or not readable: the first check says so
        lines = ()
    return [whole, *(_Finding(check=Check(name="preferences", state="works", detail=line)) for line in lines)]


def _preferences_file(path: Path, key: str, remembered: Remembered) -> _Finding:
    count = f"{len(remembered.choices)} remembered for {key}" if key else "it can be read"
    detail = remembered.detail or f"{path}: {count}"
    if remembered.state == "failed":
        mend = f"mend or move {path}"
        return _Finding(check=Check(name="preferences", state="fails", detail=detail, next=mend), code=ExitCode.SETUP)
    if remembered.state == "partial":
        return _Finding(check=Check(name="preferences", state="warns", detail=detail, next=f"mend {path}"))
    return _Finding(check=Check(name="preferences", state="works", detail=detail))


# --- whom the network reaches ---


def _asked(git: Git, checkout: Checkout | None, configuration: Configuration) -> list[_Finding]:
    """The preferences, and the remote and both trackers side by side; always in this order."""
    deadline = Deadline(configuration.timeout)
    here = _located(git, configuration) if checkout is not None else None
    located = here if isinstance(here, Located) else None
    key, old_key = configuration.project_key or "", None
    if located is not None and not key:
        key, old_key = located.key, located.name
    questions: list[Callable[[], _Finding]] = [
        lambda: _jira(configuration, deadline),
        lambda: _github(git, configuration, located, deadline),
    ]
    with ThreadPoolExecutor(max_workers=3) as pool:
        try:
            asked = pool.submit(_remote, git, here, deadline)
            others = [pool.submit(question) for question in questions]
            remote, *trackers = (awaited(future) for future in (asked, *others))
        except BaseException:
            deadline.cancel()
            raise
    return [*_preferences(git, key, old_key), *([remote] if checkout is not None else []), *trackers]


def _located(git: Git, configuration: Configuration) -> Located | EvidenceError:
    try:
        return locate(git, configuration.remote)
    except (SetupError, RemoteUndecided) as error:
        return error


def _remote(git: Git, here: Located | EvidenceError | None, deadline: Deadline) -> _Finding:
    if isinstance(here, EvidenceError):
        return _failed("remote", here, ExitCode.ASK if isinstance(here, RemoteUndecided) else ExitCode.SETUP)
    if here is None or here.choice is None:
        add = "git remote add origin URL"
        return _Finding(check=Check(name="remote", state="not-set", detail="this repository has no remote", next=add))
    choice = here.choice
    where = f"{choice.name} {choice.url or ''}".strip()
    answer = ask_remote(git, choice.name, deadline, host=here.host)
    if isinstance(answer, RemoteAnswer):
        detail = f"{where} ({choice.reason}): {len(answer.branches)} branches"
        return _Finding(check=Check(name="remote", state="works", detail=detail, host=here.host))
    check = Check(
        name="remote",
        state="fails",
        detail=f"{where} did not answer: {answer.detail}",
        kind=answer.kind,
        host=here.host,
        next=f"git ls-remote --heads {printable(choice.name)}",
    )
    return _Finding(check=check, code=ExitCode.REMOTE_SILENT)


def _jira(configuration: Configuration, deadline: Deadline) -> _Finding:
    jira, held = configuration.jira, configuration.held["jira.token"]
    if jira.url is None:
        if held.value is not None:
            detail = "a token is set, and nothing names the Jira that it is for"
            check = Check(name="jira", state="warns", detail=detail, token=str(held.origin), next="set JIRA_URL")
            return _Finding(check=check)
        return _Finding(check=Check(name="jira", state="not-set", detail="no Jira is configured", next=_SET_JIRA))
    bound = jira.credential_for(jira.url)
    try:
        site = JiraSite(
            url=jira.url,
            email=bound.email if bound else None,
            token=bound.token.reveal() if bound else None,
            target_fields=jira.fields,
        )
    except InvalidInput as error:
        return _failed("jira", error, ExitCode.USAGE)
    who = jira_identity(site, deadline)
    origin = str(bound.token_origin) if bound else None
    if isinstance(who, Identity):
        check = Check(
            name="jira", state="works", detail=f"{site.address} answers", host=site.host, token=origin,
            identity=site.scrub(who.name),
        )  # fmt: skip
        return _Finding(check=check)
    if bound is None and who.kind == "auth-wanted":
        detail = f"{site.address} answers, and no token is bound to it: only public issues can be read"
        return _Finding(check=Check(name="jira", state="warns", detail=detail, host=site.host, next=_SET_JIRA))
    check = Check(
        name="jira",
        state="fails",
        detail=who.detail,
        kind=who.kind,
        host=site.host,
        token=origin,
        next="base-branch config" if who.kind in _LOGIN else f"curl --head {printable(site.address)}",
    )
    return _Finding(check=check, code=ExitCode.SOURCE_FAILED)


def _github(git: Git, configuration: Configuration, here: Located | None, deadline: Deadline) -> _Finding:
    host = _github_host(git, configuration, here)
    if host is None:
        detail = "the remote is on no GitHub, and no token of one is set"
        return _Finding(check=Check(name="github", state="not-set", detail=detail, next="gh auth login"))
    try:
        site = github_site(host, git, configuration, deadline)
    except InvalidInput as error:
        return _failed("github", error, ExitCode.USAGE)
    origin = _token_origin(site, git.environ)
    log_in = f"gh auth login --hostname {host}"
    try:
        login = github_identity(site, deadline)
    except SourceError as error:
        check = Check(
            name="github",
            state="fails",
            detail=str(error),
            kind=error.failure.kind,
            host=host,
            token=origin,
            next=log_in if error.failure.kind in _LOGIN else _reach(site),
        )
        return _Finding(check=check, code=ExitCode.SOURCE_FAILED)
    if login is None:
        detail = f"{host} answers, and there is no token for it: 60 requests an hour, and public repositories only"
        return _Finding(check=Check(name="github", state="warns", detail=detail, host=host, next=log_in))
    check = Check(name="github", state="works", detail=f"{host} answers", host=host, token=origin, identity=login)
    return _Finding(check=check)


def _github_host(git: Git, configuration: Configuration, here: Located | None) -> str | None:
    """The GitHub of the remote; else the one that the user names; else the public one, where a token is set for it."""
    choice = here.choice if here else None
    if here is not None and choice is not None and choice.url:
        _, host = on_github(here.name, choice.host, git, configuration)
        if host is not None:
            return host
    if configuration.github.host:
        return configuration.github.host.lower()
    tokens = (git.environ.get(name, "").strip() for name in ("GH_TOKEN", "GITHUB_TOKEN"))
    return PUBLIC_HOST if any(tokens) or configuration.github.api_url else None


def _token_origin(site: GitHubSite, environ: Mapping[str, str]) -> str | None:
    if site.token is None:
        return None
    return next((n for n in _TOKEN_VARIABLES if environ.get(n, "").strip() == site.token), "gh auth token")


def _reach(site: GitHubSite) -> str:
    return f"curl --head {re.sub(r'[^A-Za-z0-9:/._-]', '', site.api)}"


def _failed(name: CheckName, error: EvidenceError, code: ExitCode) -> _Finding:
    return _Finding(check=Check(name=name, state="fails", detail=redact(str(error)), next=error.hint), code=code)
