"""A small Jira on loopback: the recorded shapes of Cloud (REST 2 and 3) and Data Center (REST 2), with state.

It refuses what the products refuse: the other's way of logging in, fields and parameters that do not exist, the
search that Cloud no longer has, a body of the other version's shape. It counts what it is asked.
"""

from __future__ import annotations

import base64
import json
import re
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Final, Literal
from urllib.parse import parse_qsl, urlsplit

from collectors.jira.site import JiraSite
from tests.support.servers import HOST

if TYPE_CHECKING:
    from collections.abc import Iterator

EMAIL: Final = "ada@example.invalid"
TOKEN: Final = "s3cr3t-t0ken-of-ada"  # noqa: S105 - of nobody
MOVED: Final = "The requested API has been removed. Please migrate to the /rest/api/3/search/jql API."

Product = Literal["cloud", "server"]
Json = dict[str, Any]

SYSTEM_FIELDS: Final = {
    "summary": "Summary",
    "description": "Description",
    "issuetype": "Issue Type",
    "status": "Status",
    "project": "Project",
    "fixVersions": "Fix versions",
    "versions": "Affects versions",
    "labels": "Labels",
    "parent": "Parent",
    "issuelinks": "Linked Issues",
    "comment": "Comment",
    "worklog": "Log Work",
    "attachment": "Attachment",
    "environment": "Environment",
}

# What each address takes, by the products' own documents; anything else is refused.
_PARAMETERS: Final = {
    "issue": "fields fieldsByKeys expand properties updateHistory",
    "remotelink": "globalId",
    "comment": "startAt maxResults orderBy expand",
    "field": "",
    "myself": "expand",
    "search/jql": "jql nextPageToken maxResults fields expand properties fieldsByKeys failFast reconcileIssues",
    "search": "jql startAt maxResults validateQuery fields expand",
}


def version(name: str, **more: object) -> Json:
    """A version object as both products give it."""
    return {"self": "http://jira/rest/api/2/version/1", "id": "10000", "name": name, "archived": False,
            "released": False, **more}  # fmt: skip


def link(side: Literal["inward", "outward"], key: str, inward: str, outward: str) -> Json:
    """One entry of `issuelinks`: only one side is there."""
    kind = {"id": "10000", "name": "Blocks", "inward": inward, "outward": outward, "self": "http://jira/linktype"}
    other = {"id": "10", "key": key, "self": "http://jira/issue", "fields": {"summary": "fix in 9.9"}}
    return {"id": "1", "self": "http://jira/link", "type": kind, f"{side}Issue": other}


def remote(url: str, relationship: str = "mentioned in") -> Json:
    """One remote link."""
    return {"id": 10000, "self": "http://jira/remotelink/1", "globalId": f"url={url}", "relationship": relationship,
            "object": {"url": url, "title": "backport to 7.7", "icon": {}, "status": {"icon": {}}}}  # fmt: skip


def parent(key: str, level: int = 0) -> Json:
    """What `parent` holds: a stub without versions and without its own parent."""
    kind = {"id": "1", "name": "Story", "subtask": False, "hierarchyLevel": level}
    return {"id": "11", "key": key, "self": "http://jira/issue", "fields": {"summary": "above", "issuetype": kind}}


@dataclass(frozen=True, kw_only=True)
class Reply:
    """A made-up answer; `after`: the request is carried out first, and only its answer is lost."""

    status: int
    body: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    after: bool = False
    hang_up: bool = False


@dataclass(kw_only=True)
class Jira:
    """The state of one Jira, and what was asked of it."""

    product: Product
    port: int = 0
    issues: dict[str, Json] = field(default_factory=dict)
    public: set[str] = field(default_factory=set)
    custom: dict[str, str] = field(default_factory=dict)
    remotes: dict[str, list[Json]] = field(default_factory=dict)
    comments: dict[str, list[Json]] = field(default_factory=dict)
    page: int = 50
    ids_only: bool = False
    names_users: bool = True
    marked: bool = True
    scripted: dict[str, list[Reply]] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    queries: list[dict[str, str]] = field(default_factory=list)

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://{HOST}:{self.port}"

    def add(self, key: str, **fields: object) -> Json:
        """An issue with all the system fields that an empty one has."""
        own: Json = {"summary": "fix it in 9.9", "issuetype": {"id": "1", "name": "Bug"}, "fixVersions": [],
                     "versions": [], "labels": [], "issuelinks": [], "description": "backport to 6.6"}  # fmt: skip
        self.issues[key] = own | fields
        return self.issues[key]

    def say(self, address: str, *replies: Reply) -> None:
        """Answer the next requests for an address so."""
        self.scripted.setdefault(address, []).extend(replies)

    def asked(self, address: str) -> int:
        """How many requests came for one address."""
        return self.requests.count(address)

    # --- who asks ---

    def user_of(self, header: str | None) -> str | Reply | None:
        """The user; None for nobody; a refusal for the other product's way of logging in and for a wrong token."""
        scheme, _, value = (header or "").partition(" ")
        if self.product == "cloud":
            if scheme.lower() == "bearer":
                return Reply(status=403, body=json.dumps({"error": "Failed to parse Connect Session Auth Token"}))
            pair = base64.b64encode(f"{EMAIL}:{TOKEN}".encode()).decode()
            return EMAIL if value == pair else None  # Cloud takes a wrong token for nobody
        if not header:
            return None
        if scheme.lower() == "bearer" and value == TOKEN:
            return "ada"
        failed = {"X-Seraph-LoginReason": "AUTHENTICATED_FAILED"} if scheme.lower() == "basic" else {}
        return Reply(status=401, body="<html>401</html>", headers=failed | {"WWW-Authenticate": 'OAuth realm="jira"'})

    def marks(self, user: str | None) -> dict[str, str]:
        """The headers by which the product shows."""
        if self.product == "cloud":
            marks = {"Server": "AtlassianEdge", "Atl-Traceid": "1f"}
            who = {"X-AACCOUNTID": "5b10a"} if user else {}
        else:
            marks = {"X-ANODEID": "node1", "X-AREQUESTID": "1x1"}
            who = {"X-AUSERNAME": user or "anonymous"}
        return (marks if self.marked else {}) | (who if self.names_users else {})

    # --- what is asked ---

    def serve(self, method: str, target: str, authorization: str | None, body: str) -> Reply:
        """Answer one request."""
        parts = urlsplit(target)
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        match = re.fullmatch(r"/rest/api/(2|3)/(.*)", parts.path)
        address = _address(match[2]) if match else parts.path
        name = f"POST {address}" if method == "POST" else address
        self.requests.append(name)
        self.queries.append(query)
        scripted = self.scripted.get(name, [])
        reply = scripted.pop(0) if scripted else None
        if reply is not None and not reply.after:
            return reply
        if match is None or (match[1] == "3" and self.product == "server"):
            return Reply(status=404, body="<html>Oops, you&#39;ve found a dead link.</html>")
        user = self.user_of(authorization)
        if isinstance(user, Reply):
            return user
        unknown = set(query) - set(_PARAMETERS.get(address, "").split())
        if unknown and method == "GET":
            answer = _fault(400, f"unknown parameter {sorted(unknown)}")
        elif address == "search" and self.product == "cloud":
            answer = _fault(410, MOVED)
        else:
            answer = self._answer(method, match[2], match[1], query, body, user)
        return reply or Reply(status=answer.status, body=answer.body, headers=answer.headers | self.marks(user))

    def _answer(  # noqa: PLR0911 - a table of addresses
        self, method: str, path: str, api: str, query: dict[str, str], body: str, user: str | None
    ) -> Reply:
        match path.split("/"):
            case ["issue", key]:
                return self._issue(key, api, query, user)
            case ["issue", key, "remotelink"]:
                return self._hidden(key, user) or _ok(self.remotes.get(key, []))
            case ["issue", key, "comment"] if method == "POST":
                return self._hidden(key, user) or self._comment(key, api, json.loads(body))
            case ["issue", key, "comment"]:
                return self._hidden(key, user) or self._comments(key, query)
            case ["field"]:
                fields = SYSTEM_FIELDS | self.custom
                return _ok([{"id": i, "key": i, "name": n, "custom": i in self.custom} for i, n in fields.items()])
            case ["myself"] if user is None:
                return _fault(401, "Client must be authenticated to access this resource.")
            case ["myself"] if self.product == "cloud":
                return _ok({"accountId": "5b10a", "displayName": "Ada Lovelace", "emailAddress": EMAIL, "active": True})
            case ["myself"]:
                return _ok({"name": "ada", "key": "ada", "displayName": "Ada Lovelace", "active": True})
            case ["search"] | ["search", "jql"]:
                return self._search(query, user, cloud=path == "search/jql")
            case _:
                return Reply(status=404, body="<html>Oops, you&#39;ve found a dead link.</html>")

    def _hidden(self, key: str, user: str | None) -> Reply | None:
        """Missing and not visible are one answer, so that it tells nothing."""
        if key in self.issues and (user or key in self.public):
            return None
        return _fault(404, "Issue does not exist or you do not have permission to see it.")

    def _issue(self, key: str, api: str, query: dict[str, str], user: str | None) -> Reply:
        if hidden := self._hidden(key, user):
            return hidden
        fields = self._chosen(self.issues[key], query.get("fields", "*all"))
        if isinstance(fields, Reply):
            return fields
        if api == "3" and "description" in fields:
            fields["description"] = {"type": "doc", "version": 1, "content": []}
        answer: Json = {"id": "10001", "key": key, "self": f"{self.url}/rest/api/{api}/issue/10001", "fields": fields}
        if "names" in query.get("expand", "").split(","):
            # Both name the fields of the issue's own context, and not all that the site has.
            known = SYSTEM_FIELDS | self.custom
            answer["names"] = {i: known[i] for i in (*SYSTEM_FIELDS, *self.issues[key]) if i in known}
        return _ok(answer)

    def _chosen(self, fields: Json, wanted: str) -> Json | Reply:
        parts = wanted.split(",")
        unknown = {part.removeprefix("-") for part in parts} - {*SYSTEM_FIELDS, *self.custom, "*all"}
        if unknown:
            return _fault(400, f"unknown fields {sorted(unknown)}")
        left_out = {part[1:] for part in parts if part.startswith("-")}
        every = "*all" in parts
        return {i: v for i, v in fields.items() if i not in left_out and (every or i in parts)}

    def _search(self, query: dict[str, str], user: str | None, *, cloud: bool) -> Reply:
        if cloud != (self.product == "cloud"):
            return Reply(status=404, body="<html>dead link</html>")
        keys = re.findall(r'"([A-Z]+-\d+)"', query["jql"])
        hidden = [key for key in keys if self._hidden(key, user)]
        if hidden and query.get("validateQuery") != "false":
            return _fault(400, *(f"An issue with key '{key}' does not exist for field 'key'." for key in hidden))
        if (cloud and "fields" not in query) or self.ids_only:
            rows: list[Json] = [{"id": str(i)} for i, _ in enumerate(keys)]
        else:
            rows = []
            for key in sorted(set(keys) - set(hidden)):
                fields = self._chosen(self.issues[key], query["fields"])
                if isinstance(fields, Reply):
                    return fields
                rows.append({"id": "1", "key": key, "self": "http://jira/issue", "fields": fields})
        start = int(query.get("nextPageToken", "p0")[1:]) if cloud else int(query.get("startAt", "0"))
        size = min(self.page, int(query.get("maxResults", "50")))
        shown = rows[start : start + size]
        if not cloud:
            return _ok({"startAt": start, "maxResults": size, "total": len(rows), "issues": shown})
        last = start + size >= len(rows)
        return _ok({"issues": shown, "isLast": last} | ({} if last else {"nextPageToken": f"p{start + size}"}))

    def _comment(self, key: str, api: str, data: Json) -> Reply:
        if isinstance(data.get("body"), str) == (api == "3"):
            return _fault(400, "Comment body is not valid!")
        held = self.comments.setdefault(key, [])
        held.append({"id": str(20000 + len(held)), "body": data["body"], "author": {"displayName": "Ada Lovelace"}})
        return Reply(status=201, body=json.dumps(held[-1]))

    def _comments(self, key: str, query: dict[str, str]) -> Reply:
        held, start = self.comments.get(key, []), int(query.get("startAt", "0"))
        size = min(self.page, int(query.get("maxResults", "50")))
        page = {"startAt": start, "maxResults": size, "total": len(held), "comments": held[start : start + size]}
        return _ok(page)


def site_of(jira: Jira, api: Literal["2", "3"] = "2") -> JiraSite:
    """The site as a user has it who logs in as this product wants it."""
    email = EMAIL if jira.product == "cloud" else None
    return JiraSite(url=jira.url, email=email, token=TOKEN, deployment=jira.product, api=api)


def _address(path: str) -> str:
    """What is asked, whichever issue it is about."""
    return re.sub(r"^issue/[^/]+(?:/(\w+))?$", lambda match: match[1] or "issue", path)


def _ok(data: object) -> Reply:
    return Reply(status=200, body=json.dumps(data))


def _fault(status: int, *messages: str) -> Reply:
    return Reply(status=status, body=json.dumps({"errorMessages": list(messages), "errors": {}}))


class _Handler(BaseHTTPRequestHandler):
    jira: Jira

    def do_GET(self) -> None:
        self._reply("GET", "")

    def do_POST(self) -> None:
        self._reply("POST", self.rfile.read(int(self.headers.get("Content-Length", "0"))).decode())

    def _reply(self, method: str, body: str) -> None:
        reply = self.jira.serve(method, self.path, self.headers.get("Authorization"), body)
        if reply.hang_up:
            return
        self.send_response_only(reply.status)
        page = reply.body.lstrip().startswith("<")
        self.send_header("Content-Type", "text/html" if page else "application/json;charset=UTF-8")
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(reply.body.encode())))
        self.end_headers()
        self.wfile.write(reply.body.encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Keep quiet."""


@contextmanager
def jira_server(product: Product = "server") -> Iterator[Jira]:
    """Serve an empty Jira."""
    jira = Jira(product=product)
    handler = type("Handler", (_Handler,), {"jira": jira})
    with ThreadingHTTPServer((HOST, 0), handler) as server:
        jira.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield jira
        finally:
            server.shutdown()
            thread.join()
