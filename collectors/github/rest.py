"""What REST tells of an issue and its repository's branches, one request at a time. Knows no client library."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from collectors.github import queries
from collectors.github.facts import (
    Place,
    Pull,
    dict_of,
    has_unnamed_ties,
    itself,
    number_of,
    pull_link,
    relative,
    rest_issue,
    rest_mentions,
    rest_repository,
    text_of,
    tie,
    unread,
    with_base,
)
from collectors.github.failures import Json, Reply, has_next
from collectors.github.site import GitHubSite
from collectors.issue.reference import REPOSITORY
from ranking.facts import Failure, Issue, IssueLink

# Pages of 100 each; a longer timeline is said to be read in part.
_MOST_TIMELINE_PAGES: Final = 2
_MOST_BRANCH_PAGES: Final = 5
# REST tells a pull request's base one request at a time, of sixty an hour.
_MOST_BASES: Final = 5


class Asks(Protocol):
    """Asks one site by REST."""

    @property
    def site(self) -> GitHubSite:
        """Who is asked."""

    def get(self, path: str, what: str, parameters: Mapping[str, str | int] | None = None) -> Reply | Failure:
        """Read a path; `what` names the thing in a failure's words."""


class HostBranches(Struct, frozen=True, kw_only=True):
    """What the host itself says of a repository's branches; `protected` holds what `protected_read` says.

    `default_branch_state`: as in the bundle; `none` for a repository without a commit.
    """

    repository: str
    default_branch: str | None = None
    default_branch_state: Literal["host-api", "none", "failed", "not-asked"] = "not-asked"
    protected: tuple[str, ...] = ()
    protected_read: Literal["answered", "partial", "failed", "not-asked"] = "not-asked"
    failure: Failure | None = None


class _Links(Struct):
    """Links as they come in, one request at a time, and the first reason why some did not."""

    found: list[IssueLink] = field(default_factory=list)
    whole: bool = True
    failure: Failure | None = None

    def cut(self, failure: Failure | None = None) -> None:
        """Some did not come: there were too many to ask for, or something failed."""
        self.whole = False
        self.failure = self.failure or failure


def read_by_rest(client: Asks, place: Place, first: Reply | None = None) -> Issue:
    """The issue by REST; `first`: its own answer, where it is here already."""
    reply = first or client.get(queries.issue_path(place.repository, place.number), place.key)
    if isinstance(reply, Reply) and not number_of(reply.json, "number"):
        reply = Failure(kind="protocol", detail=f"{client.site.host} answered no issue", host=client.site.host)
    if isinstance(reply, Failure):
        return unread(place.key, reply)
    item, links = dict_of(reply.json), _Links()
    # A redirect was followed to where it is now: that repository is the one its links belong to.
    name, number = rest_repository(item), number_of(item, "number")
    at_home = not name or place.holds(name)
    there = place if at_home else Place(repository=name, canonical=name, number=number, host=place.host)
    if isinstance(item.get("pull_request"), dict):
        pull = Pull(repository=there.repository, number=number, state=None, base=None)
        links.found.append(itself(_asked_pull(client, pull, links), there))
    else:
        _timeline(client, there, links)
        _parent(client, there, item, links)
    return rest_issue(item, place.key, links.found, whole=links.whole, failure=links.failure)


def _timeline(client: Asks, place: Place, links: _Links) -> None:
    events: list[Json] = []
    path = f"{queries.issue_path(place.repository, place.number)}/timeline"
    for page in range(1, _MOST_TIMELINE_PAGES + 1):
        reply = client.get(path, f"the timeline of {place.key}", {"per_page": queries.TIMELINE_PAGE, "page": page})
        if isinstance(reply, Failure):
            links.cut(reply)
            break
        events += reply.json if isinstance(reply.json, list) else []
        if not has_next(reply):
            break
    else:
        links.cut()
    # The newest first: what is not asked for any more is the oldest.
    tied = tie(rest_mentions(reversed(events), place))
    asked = [t for t in tied if t.how == "closes"][:_MOST_BASES]
    if has_unnamed_ties(events) or len(asked) < sum(t.how == "closes" for t in tied):
        links.cut()
    for each in tied:
        pull = _asked_pull(client, each.pull, links) if each in asked else each.pull
        links.found.append(pull_link(replace(each, pull=pull), place))


def _asked_pull(client: Asks, pull: Pull, links: _Links) -> Pull:
    """A pull request with its base, by one request."""
    what = f"{pull.repository}#{pull.number}"
    reply: Reply | Failure | None = None
    if REPOSITORY.fullmatch(pull.repository):
        reply = client.get(queries.pull_path(pull.repository, pull.number), what)
    found = with_base(pull, reply.json if isinstance(reply, Reply) else None)
    if found.read == "failed":
        links.cut(reply if isinstance(reply, Failure) else None)
    return found


def _parent(client: Asks, place: Place, item: Mapping[str, Json], links: _Links) -> None:
    """The parent, where REST names one; its own parent is not asked for."""
    url = text_of(item, "parent_issue_url")
    if not url:
        return
    name, number = "/".join(url.split("/")[-4:-2]), url.rpartition("/")[2]
    if not REPOSITORY.fullmatch(name) or not number.isdecimal():
        links.cut()
        return
    reply = client.get(queries.issue_path(name, int(number)), f"{name}#{number}")
    if isinstance(reply, Failure) or not number_of(reply.json, "number"):
        links.cut(reply if isinstance(reply, Failure) else None)
        unread_parent = relative("parent", {"number": int(number), "repository_url": f"/{name}"}, place)
        links.found.append(replace(unread_parent, read="failed"))
        return
    links.found.append(relative("parent", dict_of(reply.json), place))
    if text_of(reply.json, "parent_issue_url"):
        links.cut()


# --- branches ---


def with_default_branch(client: Asks, branches: HostBranches) -> HostBranches:
    """The branches with the default one, by one request."""
    reply = client.get(queries.repository_path(branches.repository), branches.repository)
    if isinstance(reply, Failure):
        return replace(branches, default_branch_state="failed", failure=reply)
    # An empty repository names the branch that it would have.
    name = text_of(reply.json, "default_branch") or None
    return replace(branches, default_branch=name, default_branch_state="host-api" if name else "failed")


def with_protected_branches(client: Asks, branches: HostBranches) -> HostBranches:
    """The branches with the protected ones, by one request a hundred of them."""
    names: list[str] = []
    state: Literal["answered", "partial", "failed"] = "partial"
    failure = None
    path = f"{queries.repository_path(branches.repository)}/branches"
    for page in range(1, _MOST_BRANCH_PAGES + 1):
        reply = client.get(path, branches.repository, {"protected": "true", "per_page": 100, "page": page})
        if isinstance(reply, Failure):
            state, failure = "partial" if names else "failed", reply
            break
        listed = reply.json if isinstance(reply.json, list) else []
        names += [name for branch in listed if (name := text_of(branch, "name"))]
        if not has_next(reply):
            state = "answered"
            break
    return replace(branches, protected=tuple(sorted(names)), protected_read=state, failure=failure)
