"""What is around a Jira issue: the versions of what stands above it and of what is linked, in few searches.

Asks through the port; knows no client library.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from collectors.jira.facts import (
    Above,
    Fields,
    KnownField,
    TargetFields,
    read_above,
    read_aims,
    read_found,
)
from collectors.jira.failures import Answer, messages_of
from collectors.jira.port import JiraPort, odd
from ranking.facts import Failure, IssueLink

MOST_REQUESTS: Final = 5
"""For one issue with all its links; retries that the server asked for do not count.

It bounds how far up versions are inherited too, a search for each level: beside the issue, its remote links and
the list of fields two levels are left.
"""

MOST_LINKED: Final = 100
"""Issues in one search; a search of more is cut by some servers without a word."""


class Wanted(Struct, frozen=True, kw_only=True):
    """What is read of other issues, and which search there is."""

    targets: TargetFields
    above: tuple[KnownField, ...]
    cloud: bool

    @property
    def fields(self) -> str:
        """The fields to ask for: a search that names none gives ids alone on Cloud."""
        return ",".join(("fixVersions", "issuetype", "parent", *self.targets.ids, *(each.id for each in self.above)))


class Around(Struct, frozen=True, kw_only=True):
    """The links with what they aim at, and what could not be read."""

    links: tuple[IssueLink, ...]
    problems: tuple[Failure, ...]


class _Found(Struct, frozen=True, kw_only=True):
    """What a search gave; `asked`: whether every page was asked for, so that what is not there is not to be had."""

    fields: Mapping[str, Fields]
    asked: bool = True
    problem: Failure | None = None


def climb(jira: JiraPort, key: str, above: Sequence[Above], linked: Sequence[IssueLink], wanted: Wanted) -> Around:
    """The versions of what stands above, level by level, and in the first search of what is linked too.

    An issue is looked at once, so a cycle and an issue above itself end the climb.
    """
    links: list[IssueLink] = []
    problems: list[Failure] = []
    seen = {key}
    level = [each for each in above if each.key not in seen]
    aside = list(linked)
    while level or aside:
        seen |= {each.key for each in level}
        keys = tuple(dict.fromkeys((*(each.key for each in level), *(link.key for link in aside))))[:MOST_LINKED]
        found = _search(jira, keys, wanted)
        links += [
            _with_versions(link, found, wanted.targets, asked=link.key in keys)
            for link in (*(_link_above(each) for each in level), *aside)
        ]
        problems += _faults_of(jira, found, keys)
        level = [
            higher
            for each in level
            for higher in read_above(found.fields.get(each.key, {}), wanted.above, each.depth + 1)
            if higher.key not in seen
        ]
        level = list({each.key: each for each in level}.values())
        aside = []
    return Around(links=tuple(links), problems=tuple(problems))


def _link_above(above: Above) -> IssueLink:
    return IssueLink(kind=above.kind, key=above.key, depth=above.depth, read="not-asked")


def _with_versions(link: IssueLink, found: _Found, targets: TargetFields, *, asked: bool) -> IssueLink:
    fields = found.fields.get(link.key)
    if fields is not None:
        return replace(link, read="answered", versions=read_aims(fields, targets))
    return replace(link, read="failed" if asked and found.asked else "not-asked")


def _faults_of(jira: JiraPort, found: _Found, keys: Sequence[str]) -> list[Failure]:
    if found.problem is not None:
        return [found.problem]
    absent = [key for key in keys if key not in found.fields]
    if not absent or not found.asked:
        return []
    detail = f"{', '.join(absent)}: linked, and not visible to us or not delivered"
    return [Failure(kind="not-found", detail=detail, host=jira.site.host)]


def _search(jira: JiraPort, keys: Sequence[str], wanted: Wanted) -> _Found:
    """The fields of these issues, page by page, as long as requests are left.

    A key that nobody may see makes some servers refuse the whole query, by name: it is asked again without it.
    """
    found: dict[str, Fields] = {}
    asked = list(keys)
    page: dict[str, str | int] = {}
    while asked and jira.asked < MOST_REQUESTS:
        answer = jira.get(
            "search/jql" if wanted.cloud else "search",
            "the search for linked issues",
            jql=_query(asked),
            fields=wanted.fields,
            maxResults=len(asked),
            **({} if wanted.cloud else {"validateQuery": "false"}),
            **page,
        )
        if isinstance(answer, Failure):
            refused = _named_in_refusal(jira.last, asked)
            if not refused or page:
                return _Found(fields=found, problem=answer)
            asked = [key for key in asked if key not in refused]
            continue
        data = answer.data
        if not isinstance(data, Mapping) or not isinstance(data.get("issues"), list):
            return _Found(fields=found, problem=odd(jira, "a search"))
        found |= read_found(data["issues"])
        following = _next_page(data, wanted, len(data["issues"]))
        if following is None:
            return _Found(fields=found)
        page = following
    return _Found(fields=found, asked=not asked)


def _query(keys: Iterable[str]) -> str:
    """The query for these issues. Quoted: a project may be called like a word of the language."""
    return 'key in ("{}")'.format('", "'.join(keys))


def _named_in_refusal(answer: Answer | None, keys: Iterable[str]) -> set[str]:
    """The keys for whose sake a query was refused."""
    if answer is None or answer.status != HTTPStatus.BAD_REQUEST:
        return set()
    said = {word.strip("'\",.") for text in messages_of(answer) for word in text.split()}
    return {key for key in keys if key in said}


def _next_page(data: Fields, wanted: Wanted, size: int) -> dict[str, str | int] | None:
    """The parameters of the page after this one: Cloud's token, Data Center's offset; None after the last."""
    if wanted.cloud:
        token = data.get("nextPageToken")
        return {"nextPageToken": token} if isinstance(token, str) and token and data.get("isLast") is not True else None
    start, total = data.get("startAt"), data.get("total")
    if not isinstance(start, int) or not isinstance(total, int) or not size or start + size >= total:
        return None
    return {"startAt": start + size}
