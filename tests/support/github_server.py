"""A GitHub on loopback: repositories with issues, pull requests and comments, by REST and GraphQL alike.

One state answers both, in the shapes that the real service gives. It refuses what that refuses: GraphQL and
private repositories without a token, a wrong token, unknown paths, unknown fields, too large pages. It counts
what it was asked. A test puts `Canned` answers before it for what the real one does on a bad day.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final
from urllib.parse import parse_qs, urlsplit

from collectors.github.site import GitHubSite
from tests.support.github_graphql import Fault, Json, Refused, check, execute, parse

HOST: Final = "github.example"
TOKEN: Final = "ghp_0123456789abcdefghij0123456789abcdef"  # noqa: S105 - of no service
DATE: Final = "Mon, 30 Nov 2026 09:00:00 GMT"
SSO_URL: Final = f"https://{HOST}/orgs/acme/sso?authorization_request=AbC"

Ref = tuple[str, int]
SAML: Final = Fault(
    type="FORBIDDEN",
    message="Resource protected by organization SAML enforcement. You must grant your Personal Access token access.",
    extensions={"saml_failure": True},
)


@dataclass(kw_only=True)
class Milestone:
    """A milestone: `due` as REST and GraphQL both write it."""

    title: str
    closed: bool = False
    due: str | None = None


@dataclass(kw_only=True)
class Event:
    """What ties a pull request to an issue: `kind` by GraphQL's name for it."""

    pull: Ref
    kind: str = "CrossReferencedEvent"
    will_close: bool = False


@dataclass(kw_only=True)
class Item:
    """An issue, or (with a base) a pull request."""

    base: str | None = None
    state: str = "open"
    body: str = ""
    milestone: Milestone | Fault | None = None
    labels: tuple[str, ...] = ()
    parent: Ref | None = None
    subs: tuple[Ref, ...] = ()
    events: list[Event] = field(default_factory=list)
    closed_by: tuple[Ref, ...] = ()
    closes: tuple[Ref, ...] = ()
    comments: list[tuple[str, str]] = field(default_factory=list)


@dataclass(kw_only=True)
class Repo:
    """A repository; `moved`: where issues went; `gone`: the deleted ones; `saml`: hidden for want of it."""

    default: str | None = "main"
    protected: tuple[str, ...] = ()
    private: bool = False
    items: dict[int, Item] = field(default_factory=dict)
    moved: dict[int, Ref] = field(default_factory=dict)
    gone: frozenset[int] = frozenset()
    saml: bool = False
    renamed: str | None = None


@dataclass(frozen=True, kw_only=True)
class Canned:
    """An answer that the next request gets, whatever it asks (None in its place: that one is let through).

    `status` None: the connection is cut instead.

    `after`: the request is carried out all the same, and only its answer is lost.
    """

    status: int | None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Json = None
    after: bool = False


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One request as it came."""

    method: str
    path: str
    authorization: str | None
    body: Mapping[str, Json]


@dataclass(kw_only=True)
class Hub:
    """The state of one server, and what it was asked."""

    port: int = 0
    repos: dict[str, Repo] = field(default_factory=dict)
    login: str = "octo-bot"
    unknown_fields: frozenset[str] = frozenset()
    canned: list[Canned | None] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)

    @property
    def base(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    def site(self, *, token: str | None = TOKEN, public: bool = False) -> GitHubSite:
        """The site as the program knows it: an Enterprise server, or one with github.com's paths."""
        return GitHubSite(host=HOST, api=self.base if public else f"{self.base}/api/v3", token=token)

    @property
    def paths(self) -> list[str]:
        """What was asked, in order, without the query and the prefix."""
        return [f"{a.method} {re.sub(r'^/api(?:/v3)?', '', urlsplit(a.path).path)}" for a in self.asked]

    def item(self, ref: Ref) -> Item | None:
        """An issue or pull request."""
        repo = self.repos.get(ref[0])
        return repo.items.get(ref[1]) if repo else None


class _Server(ThreadingHTTPServer):
    daemon_threads = False

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a client that gave up is what some tests are about."""


@contextmanager
def github_server(hub: Hub) -> Iterator[Hub]:
    """Serve the state until the end."""

    class Handler(_Handler):
        """The handler that knows this state."""

        state = hub

    server = _Server(("127.0.0.1", 0), Handler)
    hub.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass(frozen=True)
class _Answer:
    status: int
    body: Json
    headers: Mapping[str, str] = field(default_factory=dict)


_MISSING: Final = _Answer(404, {"message": "Not Found", "documentation_url": "https://docs.github.com/rest"})


class _Handler(BaseHTTPRequestHandler):
    state: Hub
    # One request a connection: the server's end does not wait for a client that keeps one open.
    protocol_version = "HTTP/1.0"

    def do_GET(self) -> None:
        """Read."""
        self._serve({})

    def do_POST(self) -> None:
        """Query or write."""
        length = int(self.headers.get("Content-Length", "0"))
        self._serve(json.loads(self.rfile.read(length) or b"{}"))

    def _serve(self, body: Mapping[str, Json]) -> None:
        hub = self.state
        authorization = self.headers.get("Authorization")
        hub.asked.append(Asked(method=self.command, path=self.path, authorization=authorization, body=body))
        canned = hub.canned.pop(0) if hub.canned else None
        answer = _MISSING
        if canned is None or canned.after:
            answer = self._answer(body, authorization)
        if canned is not None:
            if canned.status is None:
                return
            answer = _Answer(canned.status, canned.body, canned.headers)
        self._send(answer)

    def _answer(self, body: Mapping[str, Json], authorization: str | None) -> _Answer:
        hub = self.state
        if not self.headers.get("User-Agent"):
            return _Answer(403, {"message": "Request forbidden by administrative rules."})
        if authorization not in (None, f"token {TOKEN}", f"Bearer {TOKEN}"):
            return _Answer(401, {"message": "Bad credentials", "documentation_url": "https://docs.github.com/rest"})
        parts = urlsplit(self.path)
        if self.command == "POST" and parts.path in ("/graphql", "/api/graphql"):
            return _graphql(hub, body, known=authorization is not None)
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        return _Rest(hub, known=authorization is not None, query=query).answer(
            self.command, parts.path.removeprefix("/api/v3"), body
        )

    def _send(self, answer: _Answer) -> None:
        raw = isinstance(answer.body, str)
        content = (answer.body if isinstance(answer.body, str) else json.dumps(answer.body)).encode()
        self.send_response_only(answer.status)
        headers = {
            "Date": DATE,
            "Content-Type": "text/html; charset=utf-8" if raw else "application/json; charset=utf-8",
            "X-RateLimit-Limit": "5000",
            "X-RateLimit-Remaining": "4999",
            "X-RateLimit-Reset": "1796032800",
        } | dict(answer.headers)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Keep quiet."""


# --- GraphQL ---


def _graphql(hub: Hub, body: Mapping[str, Json], *, known: bool) -> _Answer:
    if not known:
        message = "This endpoint requires you to be authenticated."
        return _Answer(401, {"message": message, "documentation_url": "https://docs.github.com/graphql"})
    variables = body.get("variables")
    variables = variables if isinstance(variables, dict) else {}
    try:
        document = parse(str(body.get("query", "")))
        check(document, variables, hub.unknown_fields)
    except Refused as refused:
        return _Answer(200, {"errors": [{"message": str(refused), "extensions": {"code": refused.code}}]})
    graph = _Graph(hub)
    root = {"viewer": {"login": hub.login}, "repository": graph.repository}
    answer = execute(document, root, variables)
    forbidden = any(repo.saml for repo in hub.repos.values())
    return _Answer(200, answer, {"X-GitHub-SSO": f"required; url={SSO_URL}"} if forbidden else {})


class _Graph:
    """The state as GraphQL's objects, made when they are asked for."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub

    def repository(self, owner: str, name: str) -> Json:
        full = f"{owner}/{name}"
        found = next(((k, r) for k, r in self.hub.repos.items() if k.lower() == full.lower()), None)
        if found and found[1].renamed:
            found = found[1].renamed, self.hub.repos[found[1].renamed]
        if found is None:
            return Fault(type="NOT_FOUND", message=f"Could not resolve to a Repository with the name '{full}'.")
        key, repo = found
        return {
            "nameWithOwner": key,
            "defaultBranchRef": {"name": repo.default} if repo.default else None,
            "issueOrPullRequest": lambda number: self._numbered(key, repo, number),
        }

    def _numbered(self, key: str, repo: Repo, number: int) -> Json:
        if repo.saml:
            return SAML
        if number not in repo.items:
            message = f"Could not resolve to an issue or pull request with the number of {number}."
            return Fault(type="NOT_FOUND", message=message)
        return self._item((key, number))

    def _item(self, ref: Ref) -> Json:
        name, number = ref
        repo, item = self.hub.repos.get(name), self.hub.item(ref)
        if repo is None or item is None or repo.saml:
            return SAML
        shared: dict[str, Json] = {
            "number": number,
            "repository": {"nameWithOwner": name},
            "milestone": _graph_milestone(item.milestone),
            "labels": [{"name": label} for label in item.labels],
            "comments": [{"url": url, "body": text} for url, text in item.comments],
        }
        if item.base is not None:
            return shared | {
                "__typename": "PullRequest",
                "state": item.state.upper(),
                "baseRefName": item.base,
                "bodyText": re.sub(r"<!--.*?-->", "", item.body, flags=re.DOTALL),
                "closingIssuesReferences": [self._item(ref) for ref in item.closes],
            }
        return shared | {
            "__typename": "Issue",
            "parent": partial(self._item, item.parent) if item.parent else None,
            "subIssues": lambda: [self._item(ref) for ref in item.subs],
            "closedByPullRequestsReferences": lambda: [self._item(ref) for ref in item.closed_by],
            "timelineItems": lambda: [self._event(event, ref) for event in item.events],
        }

    def _event(self, event: Event, here: Ref) -> Json:
        if event.kind == "CrossReferencedEvent":
            source = self._item(event.pull)
            # GitHub gives no event whose source it hides, but a null in its place.
            if isinstance(source, Fault):
                return source
            return {"__typename": event.kind, "source": source, "willCloseTarget": event.will_close}
        issue = {"__typename": "Issue", "number": here[1]}
        return {"__typename": event.kind, "source": issue, "subject": self._item(event.pull)}


def _graph_milestone(milestone: Milestone | Fault | None) -> Json:
    if not isinstance(milestone, Milestone):
        return milestone
    return {"title": milestone.title, "state": "CLOSED" if milestone.closed else "OPEN", "dueOn": milestone.due}


# --- REST ---

_ITEM_PATH: Final = re.compile(r"/repos/([^/]+/[^/]+)/(issues|pulls)/(\d+)(/timeline|/comments)?")


@dataclass(frozen=True)
class _Rest:
    hub: Hub
    known: bool
    query: Mapping[str, str]

    def answer(self, method: str, path: str, body: Mapping[str, Json]) -> _Answer:
        if path == "/meta":
            return _Answer(200, {"verifiable_password_authentication": False})
        if found := re.fullmatch(r"/repos/([^/]+/[^/]+)(/branches)?", path):
            return self._repository(found[1], branches=bool(found[2]))
        if found := _ITEM_PATH.fullmatch(path):
            return self._numbered(method, (found[1], int(found[3])), found[2], found[4] or "", body)
        return _MISSING

    def _repo(self, name: str) -> Repo | None:
        repo = self.hub.repos.get(name)
        return None if repo is None or (repo.private and not self.known) else repo

    def _repository(self, name: str, *, branches: bool) -> _Answer:
        repo = self._repo(name)
        if repo is None:
            return _MISSING
        if not branches:
            return _Answer(200, {"full_name": name, "default_branch": repo.default or "main"})
        if self.query.get("protected") != "true":
            return _Answer(422, {"message": "this server lists the protected branches only"})
        rows: list[Json] = [
            {"name": branch, "protected": True, "commit": {"sha": "0" * 40}} for branch in repo.protected
        ]
        return self._page(rows)

    def _numbered(self, method: str, ref: Ref, kind: str, part: str, body: Mapping[str, Json]) -> _Answer:
        repo = self._repo(ref[0])
        item = repo.items.get(ref[1]) if repo else None
        answer = _MISSING
        if repo is not None and (elsewhere := self._elsewhere(repo, ref[1])):
            answer = elsewhere
        elif item is None or (kind == "pulls" and item.base is None):
            answer = _MISSING
        elif method == "POST" and part == "/comments":
            answer = self._comment(ref, item, body)
        elif method == "GET" and part == "/timeline":
            answer = self._page([self._event(event) for event in item.events])
        elif method == "GET" and not part:
            answer = _Answer(200, self._pull(ref, item) if kind == "pulls" else self._issue(ref, item))
        return answer

    def _elsewhere(self, repo: Repo, number: int) -> _Answer | None:
        """What is not given from here: hidden, deleted, moved."""
        if repo.saml:
            said = "Resource protected by organization SAML enforcement."
            return _Answer(403, {"message": said}, {"X-GitHub-SSO": f"required; url={SSO_URL}"})
        if number in repo.gone:
            return _Answer(410, {"message": "This issue was deleted"})
        if number in repo.moved:
            url = self._url(repo.moved[number])
            return _Answer(301, {"message": "Moved Permanently", "url": url}, {"Location": url})
        return None

    def _comment(self, ref: Ref, item: Item, body: Mapping[str, Json]) -> _Answer:
        if not self.known:
            return _Answer(401, {"message": "Requires authentication"})
        text = body.get("body")
        if not isinstance(text, str) or not text.strip():
            return _Answer(422, {"message": "Validation Failed"})
        url = f"https://{HOST}/{ref[0]}/issues/{ref[1]}#issuecomment-{len(item.comments) + 1}"
        item.comments.append((url, text))
        return _Answer(201, {"id": len(item.comments), "html_url": url, "body": text})

    def _page(self, rows: list[Json]) -> _Answer:
        size, page = min(100, int(self.query.get("per_page", "30"))), int(self.query.get("page", "1"))
        more = size * page < len(rows)
        link = {"Link": f'<{self.hub.base}/api/v3/x?page={page + 1}>; rel="next"'} if more else {}
        return _Answer(200, rows[size * (page - 1) : size * page], link)

    def _url(self, ref: Ref, kind: str = "issues") -> str:
        return f"{self.hub.base}/api/v3/repos/{ref[0]}/{kind}/{ref[1]}"

    def _issue(self, ref: Ref, item: Item) -> dict[str, Json]:
        issue: dict[str, Json] = {
            "url": self._url(ref),
            "repository_url": f"{self.hub.base}/api/v3/repos/{ref[0]}",
            "number": ref[1],
            "title": "Something",
            "state": "open" if item.state == "open" else "closed",
            "body": item.body or None,
            "labels": [{"name": label, "color": "ededed"} for label in item.labels],
            "milestone": self._milestone(item.milestone),
        }
        if item.parent:
            issue["parent_issue_url"] = self._url(item.parent)
        if item.base is not None:
            merged = "2026-11-01T00:00:00Z" if item.state == "merged" else None
            issue["pull_request"] = {"url": self._url(ref, "pulls"), "merged_at": merged}
        return issue

    def _pull(self, ref: Ref, item: Item) -> dict[str, Json]:
        return {
            "url": self._url(ref, "pulls"),
            "number": ref[1],
            "state": "open" if item.state == "open" else "closed",
            "merged": item.state == "merged",
            "merged_at": "2026-11-01T00:00:00Z" if item.state == "merged" else None,
            "base": {"ref": item.base, "repo": {"full_name": ref[0]}},
        }

    def _milestone(self, milestone: Milestone | Fault | None) -> Json:
        if not isinstance(milestone, Milestone):
            return None
        return {
            "title": milestone.title,
            "state": "closed" if milestone.closed else "open",
            "due_on": milestone.due,
        }

    def _event(self, event: Event) -> Json:
        if event.kind != "CrossReferencedEvent":
            return {"event": event.kind.removesuffix("Event").lower(), "actor": {"login": "ada"}}
        item = self.hub.item(event.pull)
        if item is None:
            return {"event": "labeled", "label": {"name": "x"}}
        issue = self._issue(event.pull, item) | {"repository": {"full_name": event.pull[0]}}
        return {"event": "cross-referenced", "source": {"type": "issue", "issue": issue}}
