"""From GitHub's answers, GraphQL's and REST's, to the issue's facts. Pure: JSON in, records out.

Free text decides one thing only: a closing keyword in a pull request's body, because GitHub itself lists no
closing pull request against a branch that is not the default. A pull request that merely mentions the issue
is a relation and no ground to act on; so is a parent of another repository, whose versions are that one's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from collectors.github.failures import GraphError, Json
from ranking.facts import Failure, Issue, IssueField, IssueLink, IssueVersion, Role

How = Literal["linked", "unlinked", "closes", "mentions"]

ITEM: Final = ("repository", "issueOrPullRequest")
_LINK_PARTS: Final = frozenset(
    "closedByPullRequestsReferences closingIssuesReferences parent subIssues timelineItems".split()
)
_STATES: Final[dict[str, Literal["open", "merged", "closed"]]] = {
    "OPEN": "open",
    "MERGED": "merged",
    "CLOSED": "closed",
}

_KEYWORD: Final = r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+"
# What Markdown does not show as words of the text: a template's comments, code that is quoted.
_UNSHOWN: Final = re.compile(r"<!--.*?(?:-->|\Z)|^(```|~~~).*?(?:^\1|\Z)|`[^`\n]*`", re.DOTALL | re.MULTILINE)


class Place(Struct, frozen=True, kw_only=True):
    """Which issue: `repository` as it was asked for, `canonical` as GitHub names it now, and the host."""

    repository: str
    canonical: str
    number: int
    host: str

    @property
    def key(self) -> str:
        """How the issue is named: `acme/app#12`."""
        return f"{self.repository}#{self.number}"

    def spelled(self, name: str) -> str:
        """A repository's name as the caller writes it, where it is this one: names are compared as text later."""
        return self.repository if self.holds(name) else name

    def holds(self, name: str) -> bool:
        """Whether a name is this repository's."""
        return name.lower() in (self.repository.lower(), self.canonical.lower())


class Pull(Struct, frozen=True, kw_only=True):
    """A pull request as far as it was told; `read` says what became of asking for its base."""

    repository: str
    number: int
    state: Literal["open", "merged", "closed"] | None
    base: str | None
    body: str = ""
    read: Literal["answered", "failed", "not-asked"] = "answered"


class Mention(Struct, frozen=True, kw_only=True):
    """One event that ties a pull request to the issue."""

    pull: Pull
    how: How


class Tied(Struct, frozen=True, kw_only=True):
    """A pull request and the strongest tie that it has to the issue."""

    pull: Pull
    how: How


# --- GraphQL ---


def graph_issue(
    item: Mapping[str, Json],
    place: Place,
    *,
    errors: Sequence[GraphError] = (),
    failure: Failure | None = None,
    timeline: Sequence[Json] = (),
    timeline_whole: bool = True,
) -> Issue:
    """The facts of an `issueOrPullRequest`; `timeline`: all events that were read, in their order."""
    # An error without a path, or above the item, may have taken any of it.
    parts = {e.path[len(ITEM)] if e.path[: len(ITEM)] == ITEM and len(e.path) > len(ITEM) else None for e in errors}
    milestone = item.get("milestone")
    labels = [text_of(label, "name") for label in nodes_of(item, "labels")]
    fields = (
        _field("milestone", "milestone", "milestone" in item, bool(milestone), "milestone" in parts),
        _field("labels", "label", "labels" in item, bool(labels), "labels" in parts),
    )
    if item.get("__typename") == "PullRequest":
        links = [
            itself(graph_pull(item), place),
            *_relatives(nodes_of(item, "closingIssuesReferences"), "closes", place),
        ]
    else:
        mentions = [*graph_mentions(timeline, place), *_closers(item)]
        links = [pull_link(tied, place) for tied in tie(mentions)]
        links += _parents(item.get("parent"), place)
        links += _relatives(nodes_of(item, "subIssues"), "has sub-issue", place)
    whole = timeline_whole and not any(_cut(item, part) for part in _LINK_PARTS)
    return Issue(
        key=place.key,
        source="github",
        read="partial" if parts else "answered",
        failure=failure,
        fields=fields,
        versions=(*versions_of(milestone), *labels_of(labels)),
        links_read="answered" if whole and not parts & {None, *_LINK_PARTS} else "partial",
        links=ordered(links),
    )


def graph_pull(node: Json) -> Pull:
    """A pull request of GraphQL's."""
    fields = dict_of(node)
    base = text_of(fields, "baseRefName") or None
    return Pull(
        repository=text_of(fields.get("repository"), "nameWithOwner"),
        number=number_of(fields, "number"),
        state=_STATES.get(text_of(fields, "state")),
        base=base,
        body=text_of(fields, "bodyText"),
        read="answered" if base else "failed",
    )


def graph_mentions(events: Iterable[Json], place: Place) -> list[Mention]:
    """The ties that the timeline's events make, in their order."""
    found = []
    for event in map(dict_of, events):
        kind = text_of(event, "__typename")
        # Which side of a connection is the pull request depends on where it was made.
        ends = (event.get("source"), event.get("subject"))
        pull = next((graph_pull(e) for e in ends if text_of(e, "__typename") == "PullRequest"), None)
        if pull is None or not pull.number:
            continue
        how: How
        if kind == "ConnectedEvent":
            how = "linked"
        elif kind == "DisconnectedEvent":
            how = "unlinked"
        else:
            closes = event.get("willCloseTarget") is True or is_closing(pull, place)
            how = "closes" if closes else "mentions"
        found.append(Mention(pull=pull, how=how))
    return found


def _closers(item: Mapping[str, Json]) -> list[Mention]:
    closers = nodes_of(item, "closedByPullRequestsReferences")
    return [Mention(pull=graph_pull(node), how="closes") for node in closers if isinstance(node, dict)]


def _parents(node: Json, place: Place) -> list[IssueLink]:
    """The parent, its parent, and so on, as far as the answer goes."""
    links, depth = [], 1
    while isinstance(node, dict):
        links.append(relative("parent", node, place, depth=depth))
        node, depth = node.get("parent"), depth + 1
    return links


def _relatives(nodes: Iterable[Json], label: str, place: Place) -> list[IssueLink]:
    return [relative(label, node, place) for node in nodes if isinstance(node, dict)]


def _cut(item: Mapping[str, Json], part: str) -> bool:
    return dict_of(dict_of(item.get(part)).get("pageInfo")).get("hasNextPage") is True


# --- REST ---


def rest_issue(
    item: Mapping[str, Json], key: str, links: Iterable[IssueLink], *, whole: bool, failure: Failure | None
) -> Issue:
    """The facts of REST's issue, with the links that were asked for one by one; not `whole`: not all of them."""
    milestone, listed = item.get("milestone"), item.get("labels")
    # A label was once a plain string here, and may be one still.
    labels = [e if isinstance(e, str) else text_of(e, "name") for e in listed] if isinstance(listed, list) else []
    return Issue(
        key=key,
        source="github",
        read="partial" if failure else "answered",
        failure=failure,
        fields=(
            _field("milestone", "milestone", "milestone" in item, bool(milestone), failed=False),
            _field("labels", "label", "labels" in item, bool(labels), failed=False),
        ),
        versions=(*versions_of(milestone), *labels_of(labels)),
        links_read="answered" if whole else "partial",
        links=ordered(links),
    )


def rest_mentions(events: Iterable[Json], place: Place) -> list[Mention]:
    """The ties of REST's timeline; its pull requests come without their base."""
    found = []
    for event in map(dict_of, events):
        source = dict_of(dict_of(event.get("source")).get("issue"))
        if text_of(event, "event") != "cross-referenced" or not isinstance(source.get("pull_request"), dict):
            continue
        merged = dict_of(source.get("pull_request")).get("merged_at") is not None
        pull = Pull(
            repository=rest_repository(source),
            number=number_of(source, "number"),
            state="merged" if merged else _STATES.get(text_of(source, "state").upper()),
            base=None,
            body=_UNSHOWN.sub(" ", text_of(source, "body")),
            read="not-asked",
        )
        found.append(Mention(pull=pull, how="closes" if is_closing(pull, place) else "mentions"))
    return found


def has_unnamed_ties(events: Iterable[Json]) -> bool:
    """Whether pull requests were linked by hand: REST tells that, and not which."""
    return any(text_of(event, "event") == "connected" for event in events)


def with_base(pull: Pull, answer: Json) -> Pull:
    """A pull request with what its own address says; `failed` where that is nothing."""
    base = text_of(dict_of(answer).get("base"), "ref") or None
    if base is None:
        return replace(pull, read="failed")
    merged = dict_of(answer).get("merged") is True or dict_of(answer).get("merged_at") is not None
    state = "merged" if merged else _STATES.get(text_of(answer, "state").upper(), pull.state)
    return replace(pull, base=base, state=state, read="answered")


def rest_repository(item: Mapping[str, Json]) -> str:
    """The repository of an issue of REST's: `owner/name`."""
    full = text_of(item.get("repository"), "full_name")
    return full or "/".join(text_of(item, "repository_url").rsplit("/", 2)[-2:])


# --- both ---


def tie(mentions: Iterable[Mention]) -> list[Tied]:
    """Each pull request once, by the strongest tie that still holds."""
    rank: dict[How, int] = {"closes": 0, "linked": 1, "mentions": 2, "unlinked": 3}
    pulls: dict[tuple[str, int], Pull] = {}
    ties: dict[tuple[str, int], set[How]] = {}
    for mention in mentions:
        key = (mention.pull.repository.lower(), mention.pull.number)
        pulls.setdefault(key, mention.pull)
        held = ties.setdefault(key, set())
        if mention.how == "unlinked":
            held.discard("linked")
        else:
            held.add(mention.how)
    return [Tied(pull=pulls[key], how=min(held, key=rank.__getitem__)) for key, held in ties.items() if held]


def is_closing(pull: Pull, place: Place) -> bool:
    """Whether a pull request's text says that it closes the issue, by GitHub's own keywords."""
    names = "|".join(re.escape(name) for name in dict.fromkeys((place.repository, place.canonical)))
    url = rf"https?://{re.escape(place.host)}/(?:{names})/issues/"
    here = "?" if place.holds(pull.repository) else ""  # a bare number is one of the pull request's own repository
    wanted = rf"{_KEYWORD}(?:(?:{names}){here}#|{url}){place.number}\b"
    return re.search(wanted, pull.body, re.IGNORECASE) is not None


def itself(pull: Pull, place: Place) -> IssueLink:
    """The pull request that is the item: its own base is the surest that there is."""
    return _link(pull, place, "pull-request", "itself", None)


def pull_link(tied: Tied, place: Place) -> IssueLink:
    """A pull request tied to the issue; one that only mentions it is a relation."""
    if tied.how == "mentions":
        return _link(tied.pull, place, "relates", "is mentioned by", "inward")
    return _link(tied.pull, place, "pull-request", "is closed by" if tied.how == "closes" else "is linked to", "inward")


def _link(
    pull: Pull,
    place: Place,
    kind: Literal["pull-request", "relates"],
    label: str,
    direction: Literal["inward"] | None,
) -> IssueLink:
    repository = place.spelled(pull.repository)
    return IssueLink(
        kind=kind,
        key=f"{repository}#{pull.number}",
        direction=direction,
        label=label,
        repository=repository or None,
        state=pull.state,
        read=pull.read,
        base_branch=pull.base,
    )


def relative(label: str, node: Mapping[str, Json], place: Place, *, depth: int = 1) -> IssueLink:
    """A parent, sub-issue or closed issue with its milestone; only a parent of this repository is inherited from."""
    name = text_of(node.get("repository"), "nameWithOwner") or rest_repository(node)
    is_parent = label == "parent"
    kind: Literal["parent", "other"] = "parent" if is_parent and place.holds(name) else "other"
    repository = place.spelled(name)
    return IssueLink(
        kind=kind,
        key=f"{repository}#{number_of(node, 'number')}",
        direction="inward" if is_parent else "outward",
        label="parent in another repository" if is_parent and kind == "other" else label,
        repository=repository or None,
        depth=depth,
        versions=versions_of(node.get("milestone")),
    )


def versions_of(milestone: Json) -> tuple[IssueVersion, ...]:
    """A milestone as a version; none where there is none."""
    fields = dict_of(milestone)
    title = text_of(fields, "title")
    if not title:
        return ()
    due = text_of(fields, "dueOn") or text_of(fields, "due_on")
    state = text_of(fields, "state").lower()
    return (
        IssueVersion(
            name=title,
            field="milestone",
            role="milestone",
            closed={"open": False, "closed": True}.get(state),
            release_date=due[:10] or None,
        ),
    )


def labels_of(names: Iterable[str]) -> tuple[IssueVersion, ...]:
    """Labels as the tracker gives them; which of them are versions is for the ranking to say."""
    return tuple(IssueVersion(name=name, field="labels", role="label") for name in sorted(set(names)) if name)


def ordered(links: Iterable[IssueLink]) -> tuple[IssueLink, ...]:
    """The same links in the same order, whichever way they came."""
    return tuple(sorted(links, key=lambda link: (link.kind, link.depth, link.key, link.label or "")))


def unread(key: str, failure: Failure) -> Issue:
    """The issue that gave no answer: nothing is known of its fields, and nothing is said to be empty."""
    return Issue(
        key=key,
        source="github",
        read="not-found" if failure.kind == "not-found" else "failed",
        failure=failure,
        fields=(
            IssueField(name="milestone", role="milestone", state="failed"),
            IssueField(name="labels", role="label", state="failed"),
        ),
        links_read="failed",
    )


def _field(name: str, role: Role, delivered: bool, filled: bool, failed: bool) -> IssueField:  # noqa: FBT001 - a table's columns
    if failed:
        return IssueField(name=name, role=role, state="failed")
    if not delivered:
        return IssueField(name=name, role=role, state="not-delivered")
    return IssueField(name=name, role=role, state="values" if filled else "empty")


# --- JSON, looked at with care ---


def dict_of(value: Json) -> Mapping[str, Json]:
    """An object's fields; none where it is no object."""
    return value if isinstance(value, dict) else {}


def nodes_of(value: Json, connection: str) -> list[Json]:
    """The nodes of a connection; one that is hidden is null."""
    nodes = dict_of(dict_of(value).get(connection)).get("nodes")
    return nodes if isinstance(nodes, list) else []


def text_of(value: Json, key: str) -> str:
    """A text; empty where there is none."""
    found = dict_of(value).get(key)
    return found if isinstance(found, str) else ""


def number_of(value: Json, key: str) -> int:
    """A number; 0 where there is none."""
    found = dict_of(value).get(key)
    return found if isinstance(found, int) and not isinstance(found, bool) else 0
