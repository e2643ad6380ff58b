"""Asks GitHub: the only importer of its client library, and the one place where its answers come in.

An issue is one GraphQL request. REST serves where that does not: without a token, which GraphQL refuses; on a
server that does not know the fields; and to say why GraphQL found nothing (gone, moved, hidden). The library's
own retries and pauses are off: they know no deadline (1,800 s were seen). Nothing here raises for what
a server does; what it did stands in the facts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Final, Self

from github import Auth, Github
from msgspec import Struct, field
from msgspec.structs import replace

from collectors.errors import InvalidInput
from collectors.github import queries
from collectors.github.facts import Place, dict_of, graph_issue, nodes_of, number_of, rest_repository, text_of, unread
from collectors.github.failures import (
    GraphError,
    Json,
    Reply,
    asked_pause,
    failure_of,
    graph_errors,
    graph_failure,
    may_retry,
    transport_failure,
)
from collectors.github.rest import HostBranches, read_by_rest, with_default_branch, with_protected_branches
from collectors.github.site import GitHubSite
from collectors.http_body import reader_until
from collectors.http_waiting import CLOCK, Clock, next_wait, pause, within
from collectors.issue.reference import REPOSITORY
from collectors.process import Deadline
from collectors.strict_json import loads_foreign
from ranking.facts import Failure, Issue

_USER_AGENT: Final = "base-branch-evidence"
_HEADERS: Final = {"Accept": "application/vnd.github+json"}

# A page holds 100 events, the newest first; a longer timeline is said to be read in part.
_MOST_TIMELINE_PAGES: Final = 2

_NO_GRAPHQL: Final = (404, 405, 410)


class GitHubAnswer(Struct, frozen=True, kw_only=True):
    """An issue and, beside it, what the same request told of the repository's branches; how many requests it took."""

    issue: Issue
    branches: HostBranches
    requests: int = 0


def read_github(
    site: GitHubSite, repository: str, number: int, deadline: Deadline, *, clock: Clock = CLOCK
) -> GitHubAnswer:
    """The issue or pull request, and its repository's default branch where GraphQL told it beside; how many requests.

    InvalidInput for what is no `owner/name`; raises nothing else.
    """
    place = Place(repository=repository, canonical=repository, number=number, host=site.host)
    with open_client(site, repository, deadline, clock) as client:
        answer = _by_graphql(client, place) if site.token is not None else None
        nothing = HostBranches(repository=repository)
        answer = answer or GitHubAnswer(issue=read_by_rest(client, place), branches=nothing)
        return replace(answer, requests=len(client.sent))


def read_github_branches(
    site: GitHubSite,
    repository: str,
    deadline: Deadline,
    *,
    known: HostBranches | None = None,
    clock: Clock = CLOCK,
) -> HostBranches:
    """Default and protected branches; `known`: what `read_github` told already, which is not asked again.

    The protected ones by REST: GraphQL shows its rules to administrators only, and nothing to others.
    """
    with open_client(site, repository, deadline, clock) as client:
        branches = known or HostBranches(repository=repository)
        if branches.default_branch_state not in ("host-api", "none"):
            branches = with_default_branch(client, branches)
            if branches.failure is not None:
                return replace(branches, protected_read="failed")
        return with_protected_branches(client, branches)


# --- by GraphQL ---


def _by_graphql(client: Client, place: Place) -> GitHubAnswer | None:
    """The answer of one request, of two for a long timeline; None where REST has to be asked."""
    nothing = HostBranches(repository=place.repository)
    reply = client.graph(queries.ISSUE, queries.variables(place.repository, place.number), place.key)
    if not isinstance(reply, Reply):
        return None if reply is None else GitHubAnswer(issue=unread(place.key, reply), branches=nothing)
    found = _found(reply)
    branches = _default_of(nothing, found)
    issue = _graph_facts(client, place, found)
    if issue is not None:
        return GitHubAnswer(issue=issue, branches=branches)
    reason = graph_failure(reply, found.errors, client.site)
    if reason is not None and reason.kind == "access-denied":
        return GitHubAnswer(issue=unread(place.key, reason), branches=branches)
    return GitHubAnswer(issue=_why_nothing(client, place), branches=branches)


class _Found(Struct, frozen=True, kw_only=True):
    """What a GraphQL answer about one issue holds, and the errors beside it."""

    reply: Reply
    repository: Mapping[str, Json]
    item: Mapping[str, Json]
    errors: tuple[GraphError, ...]


def _found(reply: Reply) -> _Found:
    repository = dict_of(dict_of(dict_of(reply.json).get("data")).get("repository"))
    item = dict_of(repository.get("issueOrPullRequest"))
    return _Found(reply=reply, repository=repository, item=item, errors=graph_errors(reply))


def _graph_facts(client: Client, place: Place, found: _Found) -> Issue | None:
    """The facts, with the older events where one page does not hold them all; None where there is no issue."""
    if number_of(found.item, "number") != place.number:
        return None
    place = replace(place, canonical=text_of(found.repository, "nameWithOwner") or place.repository)
    events, before = _page(found.item)
    pages = 1
    while before and pages < _MOST_TIMELINE_PAGES:
        values = queries.variables(place.repository, place.number, before)
        reply = client.graph(queries.MORE_TIMELINE, values, place.key)
        if not isinstance(reply, Reply) or graph_errors(reply):
            break
        older, before = _page(_found(reply).item)
        events, pages = [*older, *events], pages + 1
    return graph_issue(
        found.item,
        place,
        errors=found.errors,
        failure=graph_failure(found.reply, found.errors, client.site),
        timeline=events,
        timeline_whole=not before,
    )


def _page(item: Mapping[str, Json]) -> tuple[list[Json], str]:
    """A page's events, and where the older ones begin; empty where there are none."""
    info = dict_of(dict_of(item.get("timelineItems")).get("pageInfo"))
    return nodes_of(item, "timelineItems"), text_of(info, "startCursor") if info.get("hasPreviousPage") is True else ""


def _default_of(branches: HostBranches, found: _Found) -> HostBranches:
    """The default branch as the same answer tells it: null for a repository without a commit."""
    if any(e.path[:2] == ("repository", "defaultBranchRef") for e in found.errors):
        return replace(branches, default_branch_state="failed")
    if "defaultBranchRef" not in found.repository:
        return branches
    name = text_of(found.repository.get("defaultBranchRef"), "name") or None
    return replace(branches, default_branch=name, default_branch_state="host-api" if name else "none")


def _why_nothing(client: Client, place: Place) -> Issue:
    """GraphQL found nothing, or refused the text: REST tells what is gone or has moved from what is hidden."""
    reply = client.get(queries.issue_path(place.repository, place.number), place.key)
    if isinstance(reply, Failure):
        return unread(place.key, reply)
    item = dict_of(reply.json)
    name, number = rest_repository(item), number_of(item, "number")
    here = (name.lower(), number) == (place.repository.lower(), place.number)
    if here or not REPOSITORY.fullmatch(name) or not number:
        return read_by_rest(client, place, reply)
    # Asked once more only: what moves again between two requests is read by REST, as far as that goes.
    there = Place(repository=name, canonical=name, number=number, host=place.host)
    again = client.graph(queries.ISSUE, queries.variables(name, number), there.key)
    issue = _graph_facts(client, there, _found(again)) if isinstance(again, Reply) else None
    return replace(issue or read_by_rest(client, there, reply), key=place.key)


# --- the client ---


class Client(Struct, frozen=True, kw_only=True):
    """One connection to a site, under one deadline."""

    site: GitHubSite
    deadline: Deadline
    clock: Clock
    github: Github
    sent: list[str] = field(default_factory=list)
    """What was asked, retries left out."""

    def __enter__(self) -> Self:
        """Nothing is connected before something is asked."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connections."""
        self.github.close()

    def get(self, path: str, what: str, parameters: Mapping[str, str | int] | None = None) -> Reply | Failure:
        """Read a REST path; `what` names the thing in a failure's words."""
        reply = self._send("GET", path, parameters=parameters)
        return self._judged(reply, what)

    def graph(self, text: str, variables: Mapping[str, str | int | None], what: str) -> Reply | Failure | None:
        """Send a GraphQL query, which reads only and may be repeated; None where the server has no GraphQL."""
        body: dict[str, Json] = {"query": text, "variables": dict(variables)}
        reply = self._send("POST", self.github.requester.graphql_url, body=body)
        if isinstance(reply, Reply) and reply.status in _NO_GRAPHQL:
            return None
        return self._judged(reply, what)

    def post(self, path: str, what: str, body: Mapping[str, str]) -> Reply | Failure:
        """Write once: sent again only where it was refused before anything was done."""
        return self._judged(self._send("POST", path, body=body, repeatable=False), what)

    def _judged(self, reply: Reply | Failure, what: str) -> Reply | Failure:
        return reply if isinstance(reply, Failure) else failure_of(reply, self.site, what) or reply

    def _send(
        self,
        verb: str,
        path: str,
        *,
        parameters: Mapping[str, str | int] | None = None,
        body: Mapping[str, Json] | None = None,
        repeatable: bool = True,
    ) -> Reply | Failure:
        """Send, and send again after a pause where that may help and the deadline leaves the time."""
        retries = 0
        self.sent.append(path)
        while True:
            left = self.deadline.remaining()
            try:
                saying = f"{verb} {self.site.host} {path}"
                reply = within(self.deadline, lambda: self._once(verb, path, parameters, body), saying=saying)
            except TimeoutError:
                detail = f"{self.site.host} did not answer within {left:.1f} s"
                return Failure(kind="timed-out", detail=detail, host=self.site.host)
            except (
                OSError,
                ArithmeticError,
                AssertionError,
                LookupError,
                RuntimeError,
                TypeError,
                ValueError,
            ) as error:
                # The transport's errors are OSErrors; the rest is how the library meets a redirect to another host
                # and headers that are no numbers.
                return transport_failure(error, self.site)
            wait = None
            if may_retry(reply, repeatable=repeatable):
                wait = next_wait(retries, asked_pause(reply), self.deadline.remaining())
            if wait is None:
                return reply
            pause(wait, self.deadline, self.clock)
            retries += 1

    def _once(
        self,
        verb: str,
        path: str,
        parameters: Mapping[str, str | int] | None,
        body: Mapping[str, Json] | None,
    ) -> Reply:
        status, headers, text = self.github.requester.requestJson(
            verb,
            path,
            dict(parameters) if parameters else None,
            dict(_HEADERS),
            dict(body) if body else None,
        )
        try:
            found: Json = loads_foreign(text.encode("utf-8", "replace"))
        except (ValueError, RecursionError):
            found = None
        return Reply(status=status, at=self._moment(headers), headers=headers, json=found)

    def _moment(self, headers: Mapping[str, str]) -> datetime:
        """When the reply came, by the server's clock: what it asks to wait is told by that."""
        try:
            moment = parsedate_to_datetime(headers["date"])
        except (KeyError, ValueError, TypeError):
            return self.clock.now()
        return moment if moment.tzinfo else self.clock.now()


def open_client(site: GitHubSite, repository: str, deadline: Deadline, clock: Clock = CLOCK) -> Client:
    """A client for one repository's questions; InvalidInput where that is no `owner/name`."""
    if not REPOSITORY.fullmatch(repository):
        raise InvalidInput(f"{repository!r} is no repository of GitHub's: owner/name is")
    github = Github(
        auth=Auth.Token(site.token) if site.token else None,
        base_url=site.api,
        # Of a single read, in whole seconds; the deadline is kept by `within`.
        timeout=max(1, math.ceil(deadline.remaining())),
        user_agent=_USER_AGENT,
        verify=site.ca or True,
        retry=None,
        seconds_between_requests=None,
        seconds_between_writes=None,
    )
    _bound_answers(github, deadline)
    return Client(site=site, deadline=deadline, clock=clock, github=github)


def _bound_answers(github: Github, deadline: Deadline) -> None:
    """Let every connection that the library makes read bounded answers. It has no other way in than its own maker."""
    name = "_Requester__connectionClass"
    make = getattr(github.requester, name)

    def made(*arguments: object, **options: object) -> object:
        connection = make(*arguments, **options)
        connection.session.hooks["response"].append(reader_until(deadline))
        return connection

    setattr(github.requester, name, made)
