"""A Jira issue's facts, in few requests; the one question on it. The only module that imports `jira`.

Asks, and leaves what an answer means to `facts` and why there is none to `failures`. Nothing that the
server does raises from `read_jira_issue` and `who_am_i`; a comment that could not be found or posted is a SourceError.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from itertools import count
from types import TracebackType
from typing import Final, Literal, Self

import requests
import urllib3
from jira import JIRA, JIRAError
from msgspec import Struct
from msgspec.structs import replace

from collectors.http_body import reader_until
from collectors.http_waiting import CLOCK, Clock, next_wait, pause, within
from collectors.jira.around import Wanted, climb
from collectors.jira.comments import find_marked, post_marked
from collectors.jira.facts import (
    Fields,
    KnownField,
    TargetFields,
    find_above,
    find_targets,
    is_field_id,
    names_of,
    only_on,
    read_above,
    read_issue_links,
    read_own,
    read_remote_links,
    usual_in,
)
from collectors.jira.failures import (
    Answer,
    asked_wait,
    fault_of_exception,
    from_cloud,
    from_data_center,
    login_refused,
    problem_of,
    read_answer,
    timed_out,
)
from collectors.jira.port import odd
from collectors.jira.site import JiraSite, is_issue_key, parse_issue_key
from collectors.process import Deadline
from ranking.facts import Failure, Issue, IssueField, IssueLink

__all__ = ["Identity", "JiraSite", "find_comment", "post_comment", "read_jira_issue", "who_am_i"]

_CONNECT_SECONDS: Final = 5.0

# All but what is long and never a ground: versions may stand in custom fields, whose ids are not known beforehand.
_ALL_BUT_TEXT: Final = "*all,-comment,-worklog,-attachment,-description,-environment"

_BUSY: Final = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})
_AWAY: Final = frozenset({"rate-limited", "timed-out", "refused", "host-not-found", "tls"})


# --- asking ---


class _Connection:
    """One client for a few questions: its deadline, its clock, and how many questions it asked."""

    def __init__(self, site: JiraSite, deadline: Deadline, clock: Clock) -> None:
        self.site = site
        self.clock = clock
        self.asked = 0
        self.last: Answer | None = None
        self._stopped: Failure | None = None
        self._deadline = deadline
        basic = (site.email or "", site.token or "") if site.login == "basic" else None
        # No retry of the library's own: it sleeps for minutes, and cannot read a date (jira 3.10.5).
        self._client = JIRA(
            site.address,
            options={"rest_api_version": site.rest_api, "verify": site.ca_file or site.verify},
            basic_auth=basic,
            token_auth=site.token if site.login == "bearer" else None,
            get_server_info=False,
            max_retries=0,
        )
        self._client._session.hooks["response"].append(reader_until(deadline))  # noqa: SLF001 - it has no other way in

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()  # type: ignore[no-untyped-call]

    def get(self, path: str, what: str, **parameters: str | int) -> Answer | Failure:
        """A JSON answer, or why there is none."""
        return self._ask(path, what, parameters, None)

    def post(self, path: str, what: str, body: Mapping[str, object]) -> Answer | Failure:
        """A JSON answer, or why there is none; asked again only where the server surely did nothing."""
        return self._ask(path, what, {}, json.dumps(body))

    def unnoticed(self, what: str) -> Failure:
        """The failure where an answer came and the login did not count for it."""
        detail = f"{what}: not logged in: {self.site.host} took no notice of the token, so not all may be shown"
        return Failure(kind="auth-wanted", detail=detail, host=self.site.host)

    def _ask(self, path: str, what: str, parameters: Mapping[str, str | int], body: str | None) -> Answer | Failure:
        if self._stopped is not None:
            return self._stopped
        self.asked += 1
        again = {HTTPStatus.TOO_MANY_REQUESTS} if body is not None else _BUSY
        for retries in count():
            answer = self._once(path, parameters, body)
            if isinstance(answer, Failure):
                return self._stop_at(answer)
            self.last, wait = answer, None
            if answer.status in again:
                wait = next_wait(retries, asked_wait(answer, self.clock.now()), self._deadline.remaining())
            if wait is None:
                problem = problem_of(self.site, answer, what, self.clock.now())
                return answer if problem is None else self._stop_at(problem)
            pause(wait, self._deadline, self.clock)
        raise AssertionError  # pragma: no cover - count() does not end

    def _stop_at(self, failure: Failure) -> Failure:
        """A server that is away, or too busy, is not asked the next question either."""
        if failure.kind in _AWAY:
            self._stopped = failure
        return failure

    def _once(self, path: str, parameters: Mapping[str, str | int], body: str | None) -> Answer | Failure:
        saying = f"{'GET' if body is None else 'POST'} {self.site.host} {path}"
        try:
            return _answer_of(within(self._deadline, lambda: self._send(path, parameters, body), saying=saying))
        except JIRAError as error:
            # Only ever taken apart: its text holds whole headers.
            if isinstance(error.response, requests.Response):
                return _answer_of(error.response)
            return Failure(kind="unknown", detail="the client gave up without an answer", host=self.site.host)
        except TimeoutError:
            return timed_out(self.site)
        except (OSError, ValueError, urllib3.exceptions.HTTPError) as error:
            return fault_of_exception(self.site, error)

    def _send(self, path: str, parameters: Mapping[str, str | int], body: str | None) -> requests.Response:
        """One request by the library's session, which has its login and its headers.

        Not by its methods: they ask for the list of all fields before a search, and keep the headers to themselves.
        """
        session = self._client._session  # noqa: SLF001 - see above
        url = self._client._get_url(path)  # noqa: SLF001 - likewise
        left = max(self._deadline.remaining(), 0.001)
        session.timeout = (min(_CONNECT_SECONDS, left), left)
        if body is not None:
            return session.post(url, data=body, allow_redirects=False)
        return session.get(url, params=dict(parameters), allow_redirects=False)


def _answer_of(response: requests.Response) -> Answer:
    return read_answer(response.status_code, response.headers, response.content)


# --- the issue ---


def read_jira_issue(site: JiraSite, key: str, deadline: Deadline, *, clock: Clock = CLOCK) -> Issue:
    """Read an issue: versions, target fields, labels, links, and what it inherits from above.

    InvalidInput where `key` is no issue key; whatever the server does stands in `read` and `failure`.
    """
    key = parse_issue_key(key)
    with _Connection(site, deadline, clock) as jira:
        answer = jira.get(f"issue/{key}", key, fields=_ALL_BUT_TEXT, expand="names")
        if isinstance(answer, Failure):
            return _unread(jira, key, answer)
        data = answer.data
        fields = data.get("fields") if isinstance(data, Mapping) else None
        if not isinstance(data, Mapping) or not isinstance(fields, Mapping):
            return _unread(jira, key, odd(jira, "an issue"))
        told = data.get("key")
        if told != key:
            # Jira answers for an issue that was moved under its new key, and a wrong proxy for any other.
            other = f"{key}, but {told}: if it was moved, ask for that" if is_issue_key(told) else key
            return _unread(jira, key, odd(jira, other))
        return _read(jira, key, answer, fields, names_of(data.get("names")))


def _unread(jira: _Connection, key: str, failure: Failure) -> Issue:
    """The issue that is not there, or not for us; who we are is asked where the answer does not say it.

    A token that does not count makes an issue look missing, so "missing" may only be said to who is logged in.
    """
    if failure.kind == "not-found" and jira.site.token and not (jira.last and jira.last.names_a_user):
        who = _who(jira)
        if isinstance(who, Identity):
            failure = replace(failure, detail=f"{key} is missing or not visible to {jira.site.scrub(who.name)}")
        elif who.kind in ("auth-wanted", "auth-refused", "access-denied"):
            failure = who
        else:
            failure = replace(failure, detail=f"{failure.detail}, if the login counted: {who.detail}")
    read: Literal["not-found", "failed"] = "not-found" if failure.kind == "not-found" else "failed"
    return Issue(key=key, source="jira", read=read, failure=failure)


def _read(jira: _Connection, key: str, answer: Answer, fields: Fields, names: Mapping[str, str]) -> Issue:
    """The facts of an issue that was answered, and of what is around it."""
    site = jira.site
    unnoticed = bool(site.token) and (answer.anonymous or login_refused(answer))
    problems = [jira.unnoticed(key)] if unnoticed else []
    remote = jira.get(f"issue/{key}/remotelink", f"the remote links of {key}")
    targets, above_fields, more = _known_fields(jira, fields, names)
    around = climb(
        jira,
        key,
        read_above(fields, above_fields, 1),
        read_issue_links(fields.get("issuelinks"), key),
        Wanted(targets=targets, above=above_fields, cloud=_on_cloud(site, answer)),
    )
    problems += [*more, *([remote] if isinstance(remote, Failure) else []), *around.problems]
    shown = only_on(targets, names.keys() | fields.keys(), configured=site.target_fields is not None)
    reads = read_own(fields, shown, names, hidden=unnoticed)
    states = tuple(each.field for each in reads)
    states += tuple(IssueField(name=name, role="target", state="failed") for name in targets.missing)
    links = (*around.links, *(read_remote_links(remote.data) if isinstance(remote, Answer) else ()))
    links_read = _links_read(links, issue_links="issuelinks" in fields, remote_links=isinstance(remote, Answer))
    whole = not problems and links_read == "answered" and all(f.state in ("values", "empty") for f in states)
    return Issue(
        key=key,
        source="jira",
        read="answered" if whole else "partial",
        failure=_joined(problems),
        fields=states,
        versions=tuple(version for each in reads for version in each.versions),
        links_read=links_read,
        links=links,
    )


def _joined(problems: Sequence[Failure]) -> Failure | None:
    """One failure of several: the first one's kind, and the words of all."""
    if not problems:
        return None
    return replace(problems[0], detail="; ".join(dict.fromkeys(problem.detail for problem in problems)))


def _links_read(
    links: Iterable[IssueLink], *, issue_links: bool, remote_links: bool
) -> Literal["answered", "partial", "failed"]:
    if not issue_links and not remote_links:
        return "failed"
    whole = issue_links and remote_links and all(link.read == "answered" for link in links)
    return "answered" if whole else "partial"


def _on_cloud(site: JiraSite, answer: Answer) -> bool:
    """Which search there is: as configured, else by the marks of the answer, else by host and login."""
    if site.deployment is None and (from_cloud(answer) or from_data_center(answer)):
        return from_cloud(answer)
    return site.on_cloud


# --- which fields there are ---


def _known_fields(
    jira: _Connection, fields: Fields, names: Mapping[str, str]
) -> tuple[TargetFields, tuple[KnownField, ...], list[Failure]]:
    """The target fields, those that name what stands above, and what could not be found out.

    An answer names the fields of its own issue. The list of all is asked for where that does not do: a
    configured field is not among them, or there is an issue above, which may have others.
    """
    wanted = jira.site.target_fields
    targets, above = find_targets(names, wanted), find_above(names)
    if names and not targets.missing and not read_above(fields, above, 1):
        return targets, above, []
    listed = jira.get("field", "the list of fields")
    if isinstance(listed, Failure):
        return targets, above, [listed]
    known = names_of(listed.data) | dict(names)
    targets = find_targets(known, wanted)
    missing = [_unknown(jira.site, name, known) for name in targets.missing]
    return targets, find_above(known), missing


def _unknown(site: JiraSite, name: str, known: Mapping[str, str]) -> Failure:
    """The words for a configured field that this Jira does not have; what comes near is named, never taken."""
    near = ", ".join(f"{each.name!r} exists as {each.id}" for each in usual_in(known))
    what = "id" if is_field_id(name) else "field"
    detail = f"the configured {what} {name!r} is unknown to {site.host}" + (f"; a field named {near}" if near else "")
    return Failure(kind="not-found", detail=site.scrub(detail), host=site.host)


# --- who asks ---


class Identity(Struct, frozen=True, kw_only=True):
    """Whom a Jira takes us for: the name that people know, and the account's id or user name."""

    name: str
    account: str | None = None


def who_am_i(site: JiraSite, deadline: Deadline, *, clock: Clock = CLOCK) -> Identity | Failure:
    """Ask whom the site takes us for: one request."""
    with _Connection(site, deadline, clock) as jira:
        return _who(jira)


def _who(jira: _Connection) -> Identity | Failure:
    answer = jira.get("myself", "the login")
    if isinstance(answer, Failure):
        return answer
    if answer.anonymous:
        return jira.unnoticed("the login")
    data = answer.data if isinstance(answer.data, Mapping) else {}
    account = next((v for k in ("accountId", "name", "key") if isinstance(v := data.get(k), str) and v), None)
    shown = next((v for k in ("displayName", "emailAddress") if isinstance(v := data.get(k), str) and v), account)
    return Identity(name=shown, account=account) if shown else odd(jira, "a user")


# --- the one comment ---


def find_comment(site: JiraSite, key: str, marker: str, deadline: Deadline, *, clock: Clock = CLOCK) -> str | None:
    """The URL of the earliest comment that holds the marker, or None where the issue surely has none.

    Whoever wrote it: a quoted marker too shows that the question was asked. SourceError where not all could be read.
    """
    key = parse_issue_key(key)
    with _Connection(site, deadline, clock) as jira:
        return find_marked(jira, key, marker)


def post_comment(site: JiraSite, key: str, body: str, deadline: Deadline, *, marker: str, clock: Clock = CLOCK) -> str:
    """Post a comment once and return its URL; the URL of the earlier one where there is one with the marker.

    `marker` stands in `body`, in one line, and tells it from every other comment. SourceError where it was not
    posted; and, so that nothing is ever posted twice, where nobody knows whether it was.
    """
    key = parse_issue_key(key)
    with _Connection(site, deadline, clock) as jira:
        return post_marked(jira, key, body, marker)
