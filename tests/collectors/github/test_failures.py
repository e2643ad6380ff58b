"""What is said when GitHub gives no answer, over real HTTP: each state its own words, and no wait past the end."""

from __future__ import annotations

import errno
import ssl
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from collectors.github.failures import Reply, asked_pause, failure_of, graph_errors, may_retry, transport_failure
from collectors.github.issue import read_github, read_github_branches
from collectors.github.site import GitHubSite
from collectors.http_waiting import Clock
from collectors.process import Deadline
from ranking.facts import Failure, Issue
from tests.support.github_server import (
    HOST,
    SAML,
    SSO_URL,
    TOKEN,
    Canned,
    Event,
    Hub,
    Item,
    Milestone,
    Repo,
    github_server,
)
from tests.support.servers import breaking_listener, http_answering, refusing_port, silent_listener

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

APP = "acme/app"
NOW = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
OTHER_TOKEN = "ghp_ffffffffffffffffffffffffffffffffffff"  # noqa: S105 - of no service
LOG_IN = f" (gh auth login --hostname {HOST})"


@pytest.fixture
def hub() -> Iterator[Hub]:
    """A server with one repository and one issue."""
    with github_server(Hub(repos={APP: Repo(items={49: Item(milestone=Milestone(title="1.2"))})})) as state:
        yield state


@dataclass
class Slept:
    """A clock that does not wait and remembers for how long it should have; it is an hour ahead of the server's."""

    seconds: list[float] = field(default_factory=list)

    def clock(self) -> Clock:
        return Clock(sleep=self.seconds.append, now=lambda: NOW + timedelta(hours=1))

    @property
    def whole(self) -> float:
        return round(sum(self.seconds), 3)


def read(
    hub: Hub, number: int = 49, *, token: str | None = TOKEN, seconds: float = 60, slept: Slept | None = None
) -> Issue:
    clock = (slept or Slept()).clock()
    return read_github(hub.site(token=token), APP, number, Deadline(seconds), clock=clock).issue


def why(issue: Issue) -> tuple[str, str, str]:
    """What the issue says of its failure; an unreadable one never looks like an empty one."""
    assert issue.failure is not None
    assert issue.failure.host == HOST
    if issue.read in ("failed", "not-found"):
        assert {each.state for each in issue.fields} == {"failed"}
        assert issue.links_read == "failed"
    return issue.read, issue.failure.kind, issue.failure.detail


# --- missing, hidden, gone, moved ---


def test_missing_with_a_token(hub: Hub) -> None:
    words = "acme/app#7 is missing or not visible with this token"
    assert why(read(hub, 7)) == ("not-found", "not-found", words)
    assert hub.paths == ["POST /graphql", "GET /repos/acme/app/issues/7"]


def test_missing_without_a_token_is_nobody_logged_in(hub: Hub) -> None:
    hub.repos[APP].private = True
    words = f"not logged in: acme/app#49 is missing or not public{LOG_IN}"
    assert why(read(hub, token=None)) == ("failed", "auth-wanted", words)


def test_an_enterprise_server_in_private_mode(hub: Hub) -> None:
    hub.canned = [Canned(status=401, body={"message": "Must authenticate to access this API."})]
    words = f"not logged in: acme/app#49 is not shown without a token{LOG_IN}"
    assert why(read(hub, token=None)) == ("failed", "auth-wanted", words)


def test_a_wrong_token(hub: Hub) -> None:
    words = f"the token for {HOST} was refused: Bad credentials"
    assert why(read(hub, token=OTHER_TOKEN)) == ("failed", "auth-refused", words)
    assert len(hub.asked) == 1


def test_deleted(hub: Hub) -> None:
    hub.repos[APP].gone = frozenset({8})
    assert why(read(hub, 8)) == ("not-found", "not-found", "acme/app#8 is gone: This issue was deleted")


@pytest.mark.parametrize("token", [TOKEN, None])
def test_moved_is_followed_and_keeps_its_key(hub: Hub, token: str | None) -> None:
    hub.repos[APP].moved = {8: ("acme/new", 3)}
    there = Item(milestone=Milestone(title="2.0"), events=[Event(pull=("acme/new", 4))])
    hub.repos["acme/new"] = Repo(items={3: there, 4: Item(base="main", body="fixes #3")})
    issue = read(hub, 8, token=token)
    assert (issue.key, issue.read, issue.versions[0].name) == ("acme/app#8", "answered", "2.0")
    # It closes the issue, and is a pull request of the other repository.
    assert [(k.kind, k.repository) for k in issue.links] == [("pull-request", "acme/new")]
    asked = ["POST /graphql", "GET /repos/acme/app/issues/8", "GET /repos/acme/new/issues/3", "POST /graphql"]
    rest = ["GET /repos/acme/new/issues/3/timeline", "GET /repos/acme/new/pulls/4"]
    assert hub.paths == (asked if token else [*asked[1:3], *rest])


def test_moved_in_a_circle(hub: Hub) -> None:
    hub.repos[APP].moved = {8: (APP, 8)}
    read_, kind, _ = why(read(hub, 8))
    assert (read_, kind) == ("failed", "protocol")


def test_moved_to_another_host_gets_no_token(hub: Hub) -> None:
    there = Canned(status=301, headers={"Location": "http://127.0.0.2:1/repos/acme/app/issues/7"}, body={})
    hub.repos[APP].items.clear()
    found = Canned(status=200, body={"data": {"repository": None}})
    hub.canned = [found, there]
    assert why(read(hub))[:2] == ("failed", "protocol")


# --- single sign-on and refusals ---


def test_single_sign_on_by_graphql_gives_the_url(hub: Hub) -> None:
    hub.repos[APP].saml = True
    words = f"single sign-on: the token is not authorised for this organisation; authorise it at {SSO_URL}"
    assert why(read(hub)) == ("failed", "access-denied", words)
    assert len(hub.asked) == 1


def test_single_sign_on_by_rest_gives_the_url(hub: Hub) -> None:
    hub.repos[APP].saml = True
    failure = read_github_branches(hub.site(), APP, Deadline(60), known=None).failure
    assert failure is None  # the repository itself is shown
    hub.unknown_fields = frozenset({"milestone"})
    assert why(read(hub))[1:] == (
        "access-denied",
        f"single sign-on: the token is not authorised for this organisation; authorise it at {SSO_URL}",
    )


@pytest.mark.parametrize("url", ["https://evil.example/sso", f"http://{HOST}/sso", f"https://{HOST}@evil.example/", ""])
def test_a_url_of_another_host_is_not_handed_on(hub: Hub, url: str) -> None:
    hub.canned = [Canned(status=403, headers={"X-GitHub-SSO": f"required; url={url}"}, body={"message": "SAML"})]
    _, kind, detail = why(read(hub))
    assert kind == "access-denied"
    assert detail.endswith("authorise it for the organisation (SAML) in the token's settings")


def test_a_refusal_says_why(hub: Hub) -> None:
    hub.canned = [Canned(status=403, body={"message": "Resource not accessible by personal access token"})]
    words = "access to acme/app#49 was denied: Resource not accessible by personal access token"
    assert why(read(hub)) == ("failed", "access-denied", words)


def test_graphql_refuses_the_item(hub: Hub) -> None:
    error = {"type": "FORBIDDEN", "path": ["repository"], "message": "Resource not accessible by integration"}
    hub.canned = [Canned(status=200, body={"data": {"repository": None}, "errors": [error]})]
    assert why(read(hub)) == ("failed", "access-denied", "access denied: Resource not accessible by integration")
    assert len(hub.asked) == 1


# --- in part ---


def test_a_hidden_link_makes_the_links_partial(hub: Hub) -> None:
    """Data and errors together (jasperapp/jasper#187): what is there counts, and is not taken for all."""
    hub.repos["acme/secret"] = Repo(saml=True, items={1: Item(base="main")})
    events = [Event(pull=("acme/secret", 1)), Event(pull=(APP, 65))]
    hub.repos[APP].items |= {49: Item(milestone=Milestone(title="1.2"), events=events)}
    hub.repos[APP].items[65] = Item(base="release/1.2", body="fixes #49")
    issue = read(hub)
    assert why(issue)[:2] == ("partial", "access-denied")
    assert SSO_URL in why(issue)[2]
    assert issue.links_read == "partial"
    assert [k.base_branch for k in issue.links] == ["release/1.2"]
    assert [v.name for v in issue.versions] == ["1.2"]
    assert {f.name: f.state for f in issue.fields} == {"milestone": "values", "labels": "empty"}


def test_a_milestone_that_fails_is_not_an_empty_one(hub: Hub) -> None:
    hub.repos[APP].items[49] = Item(milestone=replace(SAML, extensions={}, message="no access"), labels=("v1",))
    issue = read(hub)
    assert why(issue) == ("partial", "access-denied", "access denied: no access")
    assert {f.name: f.state for f in issue.fields} == {"milestone": "failed", "labels": "values"}
    assert issue.links_read == "answered"


def test_an_error_without_a_place_may_have_taken_anything(hub: Hub) -> None:
    item = {"__typename": "Issue", "number": 49, "milestone": None, "labels": {"nodes": []}}
    body = {"data": {"repository": {"issueOrPullRequest": item}}, "errors": [{"message": "Something went wrong"}]}
    hub.canned = [Canned(status=200, body=body)]
    issue = read(hub)
    assert why(issue) == ("partial", "unknown", f"{HOST} answered in part: Something went wrong")
    assert issue.links_read == "partial"


def test_a_field_that_did_not_come_is_not_an_empty_one(hub: Hub) -> None:
    body = {"number": 49, "labels": [], "repository_url": f"{hub.base}/repos/acme/app"}
    hub.canned = [Canned(status=200, body=body)]
    issue = read(hub, token=None)
    assert {f.name: f.state for f in issue.fields} == {"milestone": "not-delivered", "labels": "empty"}


def test_fields_that_did_not_come_by_graphql_are_not_empty_ones(hub: Hub) -> None:
    item = {"__typename": "Issue", "number": 49}
    hub.canned = [Canned(status=200, body={"data": {"repository": {"issueOrPullRequest": item}}})]
    assert {f.name: f.state for f in read(hub).fields} == {"milestone": "not-delivered", "labels": "not-delivered"}


def test_of_several_reasons_the_one_with_a_way_out_is_told(hub: Hub) -> None:
    item = {"__typename": "Issue", "number": 49, "milestone": None, "labels": {"nodes": []}}
    path = ["repository", "issueOrPullRequest", "timelineItems", "nodes", 3]
    saml = {"type": "FORBIDDEN", "path": path, "message": "SAML", "extensions": {"saml_failure": True}}
    body = {"data": {"repository": {"issueOrPullRequest": item}}, "errors": [{"message": "oops", "path": path}, saml]}
    hub.canned = [Canned(status=200, headers={"X-GitHub-SSO": f"required; url={SSO_URL}"}, body=body)]
    assert why(read(hub))[1] == "access-denied"


def test_a_timeline_that_fails_leaves_the_rest(hub: Hub) -> None:
    issue_answer = Canned(status=200, body={"number": 49, "milestone": {"title": "1.2"}, "labels": ["old"]})
    hub.canned = [issue_answer, Canned(status=403, body={"message": "no"})]
    issue = read(hub, token=None)
    assert why(issue) == ("partial", "access-denied", "access to the timeline of acme/app#49 was denied: no")
    assert issue.links_read == "partial"
    assert [v.name for v in issue.versions] == ["1.2", "old"]


def test_a_pull_request_whose_base_fails_is_kept_as_unread(hub: Hub) -> None:
    hub.repos["acme/secret"] = Repo(private=True, items={1: Item(base="main", body="fixes acme/app#49")})
    hub.repos[APP].items[49] = Item(events=[Event(pull=("acme/secret", 1))])
    issue = read(hub, token=None)
    assert [(k.key, k.base_branch, k.read) for k in issue.links] == [("acme/secret#1", None, "failed")]
    assert (issue.read, issue.links_read) == ("partial", "partial")


def test_older_events_that_fail_are_said_to_be_missing(hub: Hub) -> None:
    hub.repos[APP].items |= {1000 + i: Item(base="main") for i in range(101)}
    hub.repos[APP].items[49] = Item(events=[Event(pull=(APP, 1000 + i)) for i in range(101)])
    hub.canned = [None, Canned(status=500, body={"message": "oops"})]
    issue = read(hub)
    assert (len(issue.links), issue.links_read) == (100, "partial")


def test_further_protected_branches_that_fail_are_said_to_be_missing(hub: Hub) -> None:
    hub.repos[APP].protected = tuple(f"b{i}" for i in range(101))
    for passed, listed, state in ((1, 0, "failed"), (2, 100, "partial")):
        hub.canned = [*[None] * passed, Canned(status=500, body={"message": "oops"})]
        branches = read_github_branches(hub.site(), APP, Deadline(60))
        assert branches.default_branch_state == "host-api"
        assert (len(branches.protected), branches.protected_read) == (listed, state)
        assert branches.failure == Failure(kind="protocol", detail=f"{HOST} answered 500: oops", host=HOST)


def test_the_default_branch_that_fails_is_not_none(hub: Hub) -> None:
    item = {"__typename": "Issue", "number": 49}
    error = {"type": "FORBIDDEN", "path": ["repository", "defaultBranchRef"], "message": "no"}
    repository = {"defaultBranchRef": None, "issueOrPullRequest": item}
    hub.canned = [Canned(status=200, body={"data": {"repository": repository}, "errors": [error]})]
    assert read_github(hub.site(), APP, 49, Deadline(60)).branches.default_branch_state == "failed"


# --- answers that are none ---


@pytest.mark.parametrize("token", [TOKEN, None])
@pytest.mark.parametrize("status", [200, 404])
def test_a_page_is_no_answer(hub: Hub, token: str | None, status: int) -> None:
    hub.canned = [Canned(status=status, body="<html>Sign in</html>")] * 2
    read_, kind, detail = why(read(hub, token=token))
    assert (read_, kind) == ("failed", "protocol")
    said = f"{HOST} answered text/html instead of JSON: a login page or a proxy?"
    assert detail == said if status == 200 else detail.startswith("no GitHub answers at http://127.0.0.1")


def test_a_redirect_to_a_login_page(hub: Hub) -> None:
    hub.canned = [Canned(status=302, headers={"Location": "https://login.example/sso"}, body="")]
    assert why(read(hub)) == ("failed", "protocol", f"{HOST} answered 302: no reason given")


@pytest.mark.parametrize(
    "body", [{}, [], [1], {"number": None}, {"number": True}, {"data": []}, {"data": {"repository": 1}}]
)
@pytest.mark.parametrize("token", [TOKEN, None])
def test_json_of_another_shape_is_no_answer(hub: Hub, body: object, token: str | None) -> None:
    hub.canned = [Canned(status=200, body=body)] * 2
    assert why(read(hub, token=token)) == ("failed", "protocol", f"{HOST} answered no issue")


@pytest.mark.parametrize("status", [400, 500, 501])
def test_another_status_is_told(hub: Hub, status: int) -> None:
    hub.canned = [Canned(status=status, body={"message": "Server\nError"})]
    assert why(read(hub)) == ("failed", "protocol", f"{HOST} answered {status}: Server Error")
    assert len(hub.asked) == 1


@pytest.mark.parametrize(
    "headers", [{"X-RateLimit-Reset": "soon"}, {"X-RateLimit-Remaining": "x"}, {"Date": "never"}, {"Link": "<;>"}]
)
def test_headers_of_another_shape_take_nothing_down(hub: Hub, headers: dict[str, str]) -> None:
    hub.canned = [Canned(status=200, headers=headers, body={"number": 49}), Canned(status=200, body=[])]
    assert read(hub, token=None).read in ("answered", "failed")


def test_odd_nodes_take_nothing_down(hub: Hub) -> None:
    pull = {"__typename": "PullRequest", "number": 7, "repository": {"nameWithOwner": APP}, "bodyText": "fixes #49"}
    nodes: list[object] = [
        None,
        1,
        {},
        {"__typename": "CrossReferencedEvent"},
        {"source": {"__typename": "PullRequest"}},
    ]
    nodes.append({"__typename": "CrossReferencedEvent", "source": pull})
    item = {"__typename": "Issue", "number": 49, "timelineItems": {"nodes": nodes, "pageInfo": 3}, "labels": 1}
    item |= {"parent": [], "subIssues": {"nodes": [None]}, "closedByPullRequestsReferences": {"nodes": [None]}}
    hub.canned = [Canned(status=200, body={"data": {"repository": {"issueOrPullRequest": item}}})]
    issue = read(hub)
    assert issue.read == "answered"
    assert [(k.key, k.base_branch, k.read) for k in issue.links] == [("acme/app#7", None, "failed")]


# --- limits ---


def test_the_hourly_limit_is_told_at_once(hub: Hub) -> None:
    reset = int(datetime(2026, 11, 30, 9, 30, tzinfo=UTC).timestamp())
    headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(reset)}
    hub.canned = [Canned(status=403, headers=headers, body={"message": "API rate limit exceeded for user ID 1."})]
    slept = Slept()
    assert why(read(hub, seconds=7200, slept=slept)) == ("failed", "rate-limited", "rate limited until 09:30 UTC")
    assert (slept.seconds, len(hub.asked)) == ([], 1)


def test_the_hourly_limit_without_a_token_names_the_way_out(hub: Hub) -> None:
    reset = int(datetime(2026, 12, 1, 0, 5, tzinfo=UTC).timestamp())
    headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(reset)}
    hub.canned = [Canned(status=429, headers=headers, body={"message": "API rate limit exceeded for 192.0.2.1."})]
    words = f"rate limited until 2026-12-01 00:05 UTC; without a token 60 requests an hour are answered{LOG_IN}"
    assert why(read(hub, token=None)) == ("failed", "rate-limited", words)


def test_the_hourly_limit_of_graphql_comes_with_200(hub: Hub) -> None:
    reset = int(datetime(2026, 11, 30, 9, 30, tzinfo=UTC).timestamp())
    headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(reset)}
    body = {"errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded for user ID 1."}]}
    hub.canned = [Canned(status=200, headers=headers, body=body)]
    assert why(read(hub, seconds=7200)) == ("failed", "rate-limited", "rate limited until 09:30 UTC")
    assert len(hub.asked) == 1


SECONDARY = {"message": "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}


@pytest.mark.parametrize(
    ("headers", "waited"),
    [
        ({"Retry-After": "0"}, 0),
        ({"Retry-After": "7"}, 7),
        ({"Retry-After": "Mon, 30 Nov 2026 09:00:07 GMT"}, 7),
        ({"Retry-After": "Mon, 30 Nov 2026 08:00:00 GMT"}, 0),
        ({}, 60),
    ],
)
@pytest.mark.parametrize("status", [403, 429])
def test_a_short_limit_is_waited_for(hub: Hub, headers: dict[str, str], waited: float, status: int) -> None:
    hub.canned = [Canned(status=status, headers=headers, body=SECONDARY)]
    slept = Slept()
    issue = read(hub, seconds=600, slept=slept)
    assert (issue.read, issue.versions[0].name) == ("answered", "1.2")
    assert (slept.whole, len(hub.asked)) == (waited, 2)


def test_a_limit_of_graphql_with_200_is_waited_for(hub: Hub) -> None:
    hub.canned = [Canned(status=200, headers={"Retry-After": "1"}, body={"errors": [SECONDARY]})]
    slept = Slept()
    assert read(hub, slept=slept).read == "answered"
    assert slept.whole == 1


def test_without_the_servers_clock_ours_serves(hub: Hub) -> None:
    hub.canned = [Canned(status=429, headers={"Retry-After": "3600", "Date": "?"}, body=SECONDARY)]
    assert why(read(hub))[2] == "rate limited until 11:00 UTC"


@pytest.mark.parametrize(
    ("headers", "until"), [({"Retry-After": "30"}, "09:00"), ({"Retry-After": "3600"}, "10:00"), ({}, "09:01")]
)
def test_a_wait_past_the_end_is_not_begun(hub: Hub, headers: dict[str, str], until: str) -> None:
    hub.canned = [Canned(status=429, headers=headers, body=SECONDARY)]
    slept = Slept()
    assert why(read(hub, seconds=20, slept=slept)) == ("failed", "rate-limited", f"rate limited until {until} UTC")
    assert (slept.seconds, len(hub.asked)) == ([], 1)


def test_retries_are_bounded(hub: Hub) -> None:
    hub.canned = [Canned(status=429, headers={"Retry-After": "0"}, body=SECONDARY)] * 9
    assert why(read(hub))[:2] == ("failed", "rate-limited")
    assert len(hub.asked) == 3


@pytest.mark.parametrize("status", [502, 503, 504])
def test_an_overloaded_server_is_asked_again(hub: Hub, status: int) -> None:
    hub.canned = [Canned(status=status, body="<html>unicorn</html>")] * 2
    slept = Slept()
    assert read(hub, slept=slept).read == "answered"
    assert (slept.whole, len(hub.asked)) == (3, 3)


def test_nothing_is_asked_after_the_end(hub: Hub) -> None:
    assert why(read(hub, seconds=0)) == ("failed", "timed-out", f"{HOST} did not answer within 0.0 s")
    assert hub.asked == []


# --- no way there ---


def site_at(port: int, scheme: str = "http") -> GitHubSite:
    return GitHubSite(host=HOST, api=f"{scheme}://127.0.0.1:{port}/api/v3", token=TOKEN)


def failure_at(site: GitHubSite, seconds: float = 60) -> tuple[str, str]:
    return why(read_github(site, APP, 49, Deadline(seconds)).issue)[1:]


def test_refused() -> None:
    with refusing_port() as port:
        assert failure_at(site_at(port)) == ("refused", f"{HOST} refused the connection")


def test_timed_out() -> None:
    with silent_listener() as port:
        assert failure_at(site_at(port), seconds=0.3) == ("timed-out", f"{HOST} did not answer within 0.3 s")


def test_broken_off() -> None:
    with breaking_listener(b"") as port:
        assert failure_at(site_at(port)) == ("protocol", f"{HOST} broke off")


def test_broken_off_in_the_middle() -> None:
    with breaking_listener(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{") as port:
        assert failure_at(site_at(port)) == ("protocol", f"{HOST} broke off")


def test_no_tls_there() -> None:
    with http_answering(200) as there:
        kind, detail = failure_at(site_at(there.port, "https"))
    assert kind == "tls"
    assert detail.startswith(f"{HOST} could not be trusted: ")


def test_no_file_of_certificates(tmp_path: Path) -> None:
    with refusing_port() as port:
        site = replace(site_at(port, "https"), ca=str(tmp_path / "none.pem"))
        assert failure_at(site) == ("tls", "the file of trusted certificates is not there")


def test_a_proxy_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    with refusing_port() as port:
        monkeypatch.setenv("http_proxy", f"http://ada:hunter2@127.0.0.1:{port}")
        site = GitHubSite(host=HOST, api="http://localhost.localdomain/api/v3", token=TOKEN)
        assert failure_at(site) == ("refused", f"the proxy on the way to {HOST} did not let through")


@contextmanager
def no_names(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Names that do not resolve, without asking anybody."""
    import socket  # noqa: PLC0415 - the one place that replaces a look-up

    def unknown(*_: object, **__: object) -> list[object]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    with monkeypatch.context() as patch:
        patch.setattr(socket, "getaddrinfo", unknown)
        yield


def test_no_such_host(monkeypatch: pytest.MonkeyPatch) -> None:
    with no_names(monkeypatch):
        site = GitHubSite(host=HOST, api="http://github.example/api/v3")
        assert failure_at(site) == ("host-not-found", f"there is no host {HOST}")


@pytest.mark.parametrize("number", [errno.ENETUNREACH, errno.EHOSTUNREACH])
def test_no_way_there(number: int) -> None:
    failure = transport_failure(OSError("wrapped", OSError(number, "no way")), site_at(1))
    assert (failure.kind, failure.detail) == ("refused", f"there is no way to {HOST}")


def test_a_fault_of_no_known_kind_keeps_its_name() -> None:
    failure = transport_failure(OSError("at 0x7f00"), site_at(1))
    assert (failure.kind, failure.detail) == ("unknown", f"{HOST} could not be asked: OSError")


def test_an_untrusted_certificate_says_why() -> None:
    problem = ssl.SSLCertVerificationError(1, "certificate verify failed")
    problem.verify_message = "self-signed certificate"
    wrapped = OSError("wrapped", problem)
    assert transport_failure(wrapped, site_at(1)) == Failure(
        kind="tls", detail=f"{HOST} could not be trusted: self-signed certificate", host=HOST
    )


# --- pure ---


SITE = GitHubSite(host=HOST, api=f"https://{HOST}/api/v3", token=TOKEN)


def test_no_secret_and_no_flood_in_a_detail() -> None:
    said = f"{TOKEN} and Authorization: token {OTHER_TOKEN}\n" + "x" * 9999
    failure = failure_of(Reply(status=500, at=NOW, json={"message": said}), SITE, "x")
    assert failure is not None
    assert TOKEN not in failure.detail
    assert OTHER_TOKEN not in failure.detail
    assert "\n" not in failure.detail
    assert len(failure.detail) < 300


def test_a_token_of_another_shape_is_hidden_too() -> None:
    site = replace(SITE, token="an-old-enterprise-token")  # noqa: S106 - of no service
    failure = failure_of(Reply(status=500, at=NOW, json={"message": "an-old-enterprise-token"}), site, "x")
    assert failure == Failure(kind="protocol", detail=f"{HOST} answered 500: ***", host=HOST)


def test_an_answer_is_no_failure() -> None:
    assert failure_of(Reply(status=200, at=NOW, json={}), SITE, "x") is None


def test_what_may_be_sent_again() -> None:
    limit = Reply(status=429, at=NOW, json=SECONDARY)
    overloaded = Reply(status=502, at=NOW)
    assert may_retry(limit, repeatable=False)
    assert may_retry(overloaded, repeatable=True)
    assert not may_retry(overloaded, repeatable=False)
    assert not may_retry(Reply(status=403, at=NOW, json={"message": "no"}), repeatable=True)
    assert asked_pause(limit) == 60
    assert asked_pause(overloaded) is None


def test_errors_of_another_shape() -> None:
    assert graph_errors(Reply(status=200, at=NOW, json={"errors": "no"})) == ()
    (error,) = graph_errors(Reply(status=200, at=NOW, json={"errors": [7]}))
    assert (error.kind, error.message, error.path, error.saml) == ("", "", (), False)
