"""An issue as Jira's or GitHub's REST interface returns it, turned into the issue record. Pure.

Nothing is asked: an ancestor that the answer only names stays unread, and of GitHub's links there are none.
"""

from __future__ import annotations

from collections.abc import Mapping

from collectors.github.facts import number_of, rest_issue, rest_repository
from collectors.jira.facts import find_above, find_targets, names_of, read_above, read_issue_links, read_own
from ranking.facts import Issue, IssueLink


def raw_issue(document: object) -> Issue | None:
    """The issue that a tracker's answer describes; None if the document is no such answer."""
    if not isinstance(document, Mapping):
        return None
    if isinstance(document.get("key"), str) and isinstance(document.get("fields"), Mapping):
        return _jira(document["key"], document["fields"], names_of(document.get("names") or {}))
    if isinstance(document.get("number"), int) and "key" not in document and rest_repository(document):
        key = f"{rest_repository(document)}#{number_of(document, 'number')}"
        return _filed(rest_issue(document, key, (), whole=False, failure=None))
    return None


def _jira(key: str, fields: Mapping[str, object], names: Mapping[str, str]) -> Issue:
    reads = read_own(fields, find_targets(names, None), names, hidden=False)
    above = tuple(
        IssueLink(kind=each.kind, key=each.key, depth=each.depth, direction="outward", read="not-asked")
        for each in read_above(fields, find_above(names), 1)
    )
    return Issue(
        key=key,
        read="answered",
        fields=tuple(each.field for each in reads),
        versions=tuple(version for each in reads for version in each.versions),
        links_read="partial" if "issuelinks" in fields else "not-asked",
        links=(*above, *read_issue_links(fields.get("issuelinks"), key)),
    )


def _filed(issue: Issue) -> Issue:
    """The same as an issue that the caller brought."""
    return Issue(
        key=issue.key,
        read=issue.read,
        fields=issue.fields,
        versions=issue.versions,
        links_read="not-asked",
        links=issue.links,
    )
