"""The one question on a GitHub issue: found by its marker, posted once; and who it would be that posts.

Unlike the reading of facts, these raise SourceError: whoever wants to write has to know that it was not done.
"""

from __future__ import annotations

from collections.abc import Mapping

from collectors.errors import SourceError
from collectors.github import queries
from collectors.github.facts import Place, dict_of, nodes_of, text_of
from collectors.github.failures import Json, Reply, graph_errors, graph_failure
from collectors.github.issue import Client, open_client
from collectors.github.site import GitHubSite
from collectors.http_waiting import CLOCK, Clock
from collectors.process import Deadline
from ranking.facts import Failure


def find_comment(
    site: GitHubSite, repository: str, number: int, marker: str, deadline: Deadline, *, clock: Clock = CLOCK
) -> str | None:
    """The URL of the newest comment that holds the marker; None where every comment was read and none does.

    Whoever wrote it: a question that another login of the same team asked is asked.
    """
    with open_client(site, repository, deadline, clock) as client:
        return _find(client, _place(site, repository, number), marker)


def post_comment(
    site: GitHubSite,
    repository: str,
    number: int,
    marker: str,
    body: str,
    deadline: Deadline,
    *,
    clock: Clock = CLOCK,
) -> str:
    """The URL of the comment with the marker: the one that is there already, else a new one.

    It is not posted where the comments could not all be read. Where the answer to the post was lost, it is
    looked for, never posted again.
    """
    place = _place(site, repository, number)
    text = body if marker in body else f"{body}\n\n{marker}"
    with open_client(site, repository, deadline, clock) as client:
        there = _find(client, place, marker)
        if there is not None:
            return there
        reply = client.post(f"{queries.issue_path(repository, number)}/comments", place.key, {"body": text})
        if isinstance(reply, Reply) and (url := text_of(reply.json, "html_url")):
            return url
        failure = reply if isinstance(reply, Failure) else _said_nothing(site)
        there = _find(client, place, marker) if failure.kind in ("timed-out", "protocol", "unknown") else None
        if there is not None:
            return there
        raise SourceError(f"the question was not posted on {place.key}: {failure.detail}", failure=failure)


def who_am_i(site: GitHubSite, deadline: Deadline, *, clock: Clock = CLOCK) -> str | None:
    """The login that the token belongs to; None where there is no token and the site answers."""
    with open_client(site, "any/any", deadline, clock) as client:
        if site.token is None:
            reply: Reply | Failure | None = client.get("/meta", site.host)
            if isinstance(reply, Failure):
                raise SourceError(f"{site.host} was not reached: {reply.detail}", failure=reply)
            return None
        reply = client.graph(queries.VIEWER, {}, site.host)
        if isinstance(reply, Reply):
            login = text_of(dict_of(dict_of(reply.json).get("data")).get("viewer"), "login")
            if login:
                return login
            reply = graph_failure(reply, graph_errors(reply), site)
        failure = reply or _said_nothing(site)
        raise SourceError(f"{site.host} did not say whose token it is: {failure.detail}", failure=failure)


def _find(client: Client, place: Place, marker: str) -> str | None:
    """Page by page from the newest, to the end: a page that is not read may hold it."""
    before: str | None = None
    while True:
        item = _page(client, place, before)
        for node in reversed(nodes_of(item, "comments")):
            if marker in text_of(node, "body"):
                return text_of(node, "url")
        info = dict_of(dict_of(item.get("comments")).get("pageInfo"))
        if info.get("hasPreviousPage") is not True:
            return None
        before = text_of(info, "startCursor")
        if not before:
            raise _unread(place, _said_nothing(client.site))


def _page(client: Client, place: Place, before: str | None) -> Mapping[str, Json]:
    """One page, whole: SourceError where any of it is missing."""
    reply = client.graph(queries.COMMENTS, queries.variables(place.repository, place.number, before), place.key)
    if not isinstance(reply, Reply):
        raise _unread(place, reply or _said_nothing(client.site))
    errors = graph_errors(reply)
    data = dict_of(dict_of(reply.json).get("data"))
    item = dict_of(dict_of(data.get("repository")).get("issueOrPullRequest"))
    if any(e.kind == "NOT_FOUND" for e in errors):
        detail = f"{place.key} is missing or not visible with this token"
        raise _unread(place, Failure(kind="not-found", detail=detail, host=client.site.host))
    if errors or "comments" not in item:
        raise _unread(place, graph_failure(reply, errors, client.site) or _said_nothing(client.site))
    return item


def _unread(place: Place, failure: Failure) -> SourceError:
    return SourceError(f"the comments on {place.key} could not be read: {failure.detail}", failure=failure)


def _place(site: GitHubSite, repository: str, number: int) -> Place:
    return Place(repository=repository, canonical=repository, number=number, host=site.host)


def _said_nothing(site: GitHubSite) -> Failure:
    return Failure(kind="protocol", detail=f"{site.host} answered what its API does not", host=site.host)
