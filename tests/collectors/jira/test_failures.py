"""Every way in which Jira gives no answer, or half of one: its kind, its words, and that no secret is in them."""

from __future__ import annotations

import base64
import json
import logging
import socket
import ssl
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import msgspec
import pytest
import requests
from urllib3.exceptions import MaxRetryError, NameResolutionError

from collectors.errors import InvalidInput
from collectors.http_waiting import Clock
from collectors.jira.failures import fault_of_exception
from collectors.jira.issue import Identity, JiraSite, read_jira_issue, who_am_i
from collectors.process import Deadline
from ranking.facts import Failure, Issue
from tests.support.jira_server import EMAIL, TOKEN, Jira, Reply, jira_server, link, site_of, version
from tests.support.servers import HOST, refusing_port, silent_listener

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOW = datetime(2026, 11, 30, 9, 15, tzinfo=UTC)
PAIR = base64.b64encode(f"{EMAIL}:{TOKEN}".encode()).decode()
LOGIN_PAGE = "<html><title>Log in - Jira</title></html>"


@pytest.fixture
def server() -> Iterator[Jira]:
    """A Data Center with one issue."""
    with jira_server("server") as jira:
        jira.add("APP-1", fixVersions=[version("8.4.0")])
        yield jira


@pytest.fixture
def cloud() -> Iterator[Jira]:
    """A Cloud site with one issue."""
    with jira_server("cloud") as jira:
        jira.add("APP-1", fixVersions=[version("8.4.0")])
        yield jira


class Waits:
    """A clock that stands still and remembers what was slept."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.slept = 0.0
        self.clock = Clock(sleep=self._sleep, now=lambda: NOW)

    def _sleep(self, seconds: float) -> None:
        self.slept += seconds


def read(site: JiraSite, key: str = "APP-1", *, seconds: float = 30, waits: Waits | None = None) -> Issue:
    """Read an issue; whatever comes, neither the token nor what is sent of it is in the answer."""
    issue = read_jira_issue(site, key, Deadline(seconds), clock=(waits or Waits()).clock)
    told = msgspec.json.encode(issue).decode() + repr(issue) + repr(site)
    assert TOKEN not in told
    assert PAIR not in told
    return issue


def said(issue: Issue) -> tuple[str, str, str]:
    """How it was read, the failure's kind and its words."""
    assert issue.failure is not None
    assert issue.failure.host == HOST
    return issue.read, issue.failure.kind, issue.failure.detail


# --- who is asking ---


def test_missing_for_somebody_who_is_logged_in(server: Jira) -> None:
    assert said(read(site_of(server), "APP-9")) == ("not-found", "not-found", "APP-9 is missing or not visible to ada")
    assert server.requests == ["issue"]


def test_missing_on_cloud(cloud: Jira) -> None:
    words = f"APP-9 is missing or not visible to {EMAIL}"
    assert said(read(site_of(cloud), "APP-9")) == ("not-found", "not-found", words)


@pytest.mark.parametrize("product", ["cloud", "server"])
def test_where_the_answer_names_nobody_the_user_is_asked_for(product: str) -> None:
    with jira_server("cloud" if product == "cloud" else "server") as jira:
        jira.names_users = False
        words = "APP-9 is missing or not visible to Ada Lovelace"
        assert said(read(site_of(jira), "APP-9")) == ("not-found", "not-found", words)
        assert jira.requests == ["issue", "myself"]


def test_whether_the_login_counted_may_stay_unknown(cloud: Jira) -> None:
    cloud.names_users = False
    cloud.say("myself", Reply(status=500))
    words = f"APP-9 is missing or not visible to {EMAIL}, if the login counted: the login: HTTP 500"
    assert said(read(site_of(cloud), "APP-9")) == ("not-found", "not-found", words)


def test_anonymous_is_not_missing(server: Jira) -> None:
    site = replace(site_of(server), token=None)
    words = "APP-1: not logged in: no token is set"
    assert said(read(site)) == ("failed", "auth-wanted", words)


def test_a_401_without_a_name_is_no_refusal_where_nobody_tried(server: Jira) -> None:
    server.say("issue", Reply(status=401))
    words = "APP-1: not logged in: no token is set"
    assert said(read(replace(site_of(server), token=None))) == ("failed", "auth-wanted", words)


def test_a_404_of_cloud_without_a_name_is_no_absence_where_nobody_tried(cloud: Jira) -> None:
    words = "APP-9: not logged in: no token is set"
    assert said(read(replace(site_of(cloud), email=None, token=None), "APP-9")) == ("failed", "auth-wanted", words)


@pytest.mark.parametrize("status", [401, 404])
def test_a_token_of_which_no_notice_was_taken(server: Jira, status: int) -> None:
    server.say("issue", Reply(status=status, headers={"X-AUSERNAME": "anonymous"}, body='{"errorMessages": ["no"]}'))
    words = f"APP-1: not logged in: {HOST} took no notice of the token"
    assert said(read(site_of(server))) == ("failed", "auth-wanted", words)


def test_a_public_issue_read_as_nobody_is_read_in_part(server: Jira) -> None:
    body = json.dumps({"key": "APP-1", "names": {"labels": "Labels"}, "fields": {"versions": [], "issuelinks": []}})
    server.say("issue", Reply(status=200, headers={"X-AUSERNAME": "anonymous"}, body=body))
    issue = read(site_of(server))
    words = f"APP-1: not logged in: {HOST} took no notice of the token, so not all may be shown"
    assert said(issue) == ("partial", "auth-wanted", words)
    assert {f.name: f.state for f in issue.fields} == {
        "fixVersions": "not-visible",
        "versions": "empty",
        "labels": "not-visible",
    }


def test_a_public_issue_read_as_nobody_on_purpose_is_answered(server: Jira) -> None:
    server.public = {"APP-1"}
    assert read(replace(site_of(server), token=None)).read == "answered"


def test_a_wrong_token_makes_nothing_look_missing(cloud: Jira) -> None:
    site = replace(site_of(cloud), token="another-token")  # noqa: S106 - of nobody
    words = "e-mail and token were refused (401): Client must be authenticated to access this resource."
    assert said(read(site)) == ("failed", "auth-refused", words)


def test_a_wrong_token_on_data_center(server: Jira) -> None:
    site = replace(site_of(server), token="another-token")  # noqa: S106 - of nobody
    assert said(read(site)) == ("failed", "auth-refused", "the token was refused (401)")


def test_cloud_asked_in_the_way_of_data_center(cloud: Jira) -> None:
    words = (
        "the token was refused (403): Failed to parse Connect Session Auth Token"
        "; Jira Cloud wants e-mail and API token together: set JIRA_EMAIL"
    )
    assert said(read(replace(site_of(cloud), email=None))) == ("failed", "auth-refused", words)


def test_data_center_asked_in_the_way_of_cloud(server: Jira) -> None:
    failed = {"X-Seraph-LoginReason": "AUTHENTICATED_FAILED", "X-ANODEID": "node1"}
    server.say("issue", Reply(status=401, headers=failed))
    words = (
        "e-mail and token were refused (401); Jira Data Center wants a personal access token alone: unset JIRA_EMAIL"
    )
    assert said(read(replace(site_of(server), email=EMAIL))) == ("failed", "auth-refused", words)


def test_cloud_that_gives_a_user_name_is_cloud(cloud: Jira) -> None:
    cloud.say("issue", Reply(status=401, headers={"Server": "AtlassianEdge", "X-AUSERNAME": "ada"}))
    assert said(read(site_of(cloud))) == ("failed", "auth-refused", "e-mail and token were refused (401)")


def test_a_captcha(server: Jira) -> None:
    reason = "CAPTCHA_CHALLENGE; login-url=https://jira.example/login.jsp"
    server.say("issue", Reply(status=403, headers={"X-Authentication-Denied-Reason": reason}))
    words = "login refused until a captcha is solved: log in once at https://jira.example/login.jsp"
    assert said(read(site_of(server))) == ("failed", "auth-refused", words)


def test_access_denied(server: Jira) -> None:
    server.say("issue", Reply(status=403, body='{"errorMessages": ["Your licence ended."]}'))
    assert said(read(site_of(server))) == (
        "failed",
        "access-denied",
        "APP-1: access denied (403): Your licence ended.",
    )


def test_a_refused_reason_counts_for_more_than_an_anonymous_name(server: Jira) -> None:
    headers = {"X-AUSERNAME": "anonymous", "X-Seraph-LoginReason": "AUTHENTICATED_FAILED"}
    server.say("issue", Reply(status=404, headers=headers))
    assert said(read(site_of(server)))[1] == "auth-refused"


@pytest.mark.parametrize(
    ("answers", "who"),
    [
        ((), Identity(name="Ada Lovelace", account="ada")),
        ((Reply(status=200, body="{}"),), "protocol"),
        ((Reply(status=200, body='{"name": "guest"}', headers={"X-AUSERNAME": "anonymous"}),), "auth-wanted"),
        ((Reply(status=401),), "auth-refused"),
        ((Reply(status=200, body=LOGIN_PAGE),), "auth-wanted"),
    ],
)
def test_who_am_i(server: Jira, answers: tuple[Reply, ...], who: Identity | str) -> None:
    server.say("myself", *answers)
    found = who_am_i(site_of(server), Deadline(30))
    assert (found.kind if isinstance(found, Failure) else found) == who
    assert server.requests == ["myself"]


# --- what is no Jira ---


@pytest.mark.parametrize(
    ("reply", "kind", "words"),
    [
        (Reply(status=200, body=LOGIN_PAGE), "auth-wanted", f"not logged in: {HOST} answered with a login page"),
        (
            Reply(status=200, body="<html>Back soon</html>"),
            "protocol",
            f"{HOST} answered 200 with what is no JSON: check the path in the URL",
        ),
        (Reply(status=200), "protocol", f"{HOST} answered 200 without a word"),
        (Reply(status=200, body="[]"), "protocol", f"{HOST} answered with what is not an issue"),
        (Reply(status=200, body='{"fields": null}'), "protocol", f"{HOST} answered with what is not an issue"),
        (Reply(status=200, body="[" * 100_000), "protocol", None),
        (
            Reply(status=302, headers={"Location": "https://sso.example/saml?x=1"}),
            "auth-wanted",
            f"{HOST} sends to sso.example: a single sign-on stands before it",
        ),
        (
            Reply(status=302, headers={"Location": "/login.jsp?os_destination=x"}),
            "auth-wanted",
            f"not logged in: {HOST} sends to its login page",
        ),
        (Reply(status=407), "auth-wanted", "the proxy wants a login (407)"),
        (Reply(status=500, body="<html>login</html>"), "protocol", "APP-1: HTTP 500"),
        (Reply(status=400, body='{"errors": {"fields": "bad"}}'), "protocol", "APP-1: HTTP 400: bad"),
        (Reply(status=200, hang_up=True), "protocol", f"{HOST} broke the connection off"),
    ],
)
def test_answers_that_cannot_be_used(server: Jira, reply: Reply, kind: str, words: str | None) -> None:
    server.say("issue", reply)
    read_as, found, detail = said(read(site_of(server)))
    assert (read_as, found) == ("failed", kind)
    assert words in (None, detail)
    assert server.requests == ["issue"]


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_move_is_told_and_not_followed(server: Jira, scheme: str) -> None:
    port = server.port if scheme == "http" else 443
    server.say("issue", Reply(status=301, headers={"Location": f"{scheme}://{HOST}:{port}/jira/issue"}))
    words = f"{server.url} moved to {scheme}://{HOST}:{port}/jira/issue: set the URL to where it is now"
    assert said(read(site_of(server))) == ("failed", "protocol", words)
    assert server.requests == ["issue"]


def test_no_jira_at_that_path(server: Jira) -> None:
    words = f"no Jira answers at {server.url}/wiki (404 without Jira's words): check the path in the URL"
    assert said(read(replace(site_of(server), url=f"{server.url}/wiki"))) == ("failed", "protocol", words)


def test_the_search_that_cloud_no_longer_has(cloud: Jira) -> None:
    cloud.add("APP-1", fixVersions=[version("8.4.0")], issuelinks=[link("inward", "APP-2", "blocks", "blocks")])
    issue = read(replace(site_of(cloud), deployment="server"))
    assert said(issue) == (
        "partial",
        "protocol",
        (
            "the search for linked issues: this Jira no longer has that address (410): The requested API has been"
            " removed. Please migrate to the /rest/api/3/search/jql API."
        ),
    )
    assert [each.read for each in issue.links] == ["failed"]
    assert [each.name for each in issue.versions] == ["8.4.0"]


def test_a_search_of_another_shape(server: Jira) -> None:
    server.add("APP-1", issuelinks=[link("inward", "APP-2", "blocks", "blocks")])
    server.say("search", Reply(status=200, body='{"issues": {}}'))
    assert said(read(site_of(server))) == ("partial", "protocol", f"{HOST} answered with what is not a search")


@pytest.mark.parametrize("url", ["", "jira.example", "ftp://jira.example", "https://", "file:///etc/passwd"])
def test_what_is_no_url_is_no_site(url: str) -> None:
    with pytest.raises(InvalidInput, match="is no URL of a Jira"):
        JiraSite(url=url, token=TOKEN)


# --- no answer ---


def test_refused() -> None:
    with refusing_port() as port:
        issue = read(JiraSite(url=f"http://{HOST}:{port}", token=TOKEN))
    assert said(issue) == ("failed", "refused", f"{HOST} refuses connections")


def test_a_server_that_never_answers() -> None:
    with silent_listener() as port:
        issue = read(JiraSite(url=f"http://{HOST}:{port}", token=TOKEN), seconds=0.3)
    assert said(issue) == ("failed", "timed-out", f"{HOST} did not answer in time")


def test_what_is_left_behind_at_the_deadline_ends_by_itself() -> None:
    with silent_listener() as port:
        read(JiraSite(url=f"http://{HOST}:{port}", token=TOKEN), seconds=0.3)
        left = [thread for thread in threading.enumerate() if thread.name == "ask"]
        for thread in left:
            thread.join(20)
        assert not any(thread.is_alive() for thread in left)


def test_a_deadline_that_is_over_asks_nothing(server: Jira) -> None:
    assert said(read(site_of(server), seconds=0))[1] == "timed-out"
    assert server.requests == []


def test_what_is_left_when_the_time_is_up_in_the_middle(server: Jira) -> None:
    deadline = Deadline(30)
    serve = server.serve

    def cut(method: str, target: str, authorization: str | None, body: str) -> Reply:
        reply = serve(method, target, authorization, body)
        if len(server.requests) > 1:
            deadline.cancel()
        return reply

    server.serve = cut  # type: ignore[method-assign]
    server.add("APP-1", fixVersions=[version("8.4.0")], issuelinks=[link("inward", "APP-2", "blocks", "blocks")])
    issue = read_jira_issue(site_of(server), "APP-1", deadline)
    assert said(issue) == ("partial", "timed-out", f"{HOST} did not answer in time")
    assert [each.name for each in issue.versions] == ["8.4.0"]
    assert [(each.key, each.read) for each in issue.links] == [("APP-2", "failed")]


def test_no_secure_connection(server: Jira) -> None:
    issue = read(replace(site_of(server), url=f"https://{HOST}:{server.port}"))
    read_as, kind, words = said(issue)
    assert (read_as, kind) == ("failed", "tls")
    assert words.startswith(f"no secure connection to {HOST}: ")


def test_certificates_to_trust_that_are_not_there(tmp_path: Path) -> None:
    site = JiraSite(url=f"https://{HOST}:1", token=TOKEN, ca_file=str(tmp_path / "none.pem"))
    words = f"no secure connection to {HOST}: the certificates to trust are not there"
    assert said(read(site)) == ("failed", "tls", words)


def no_such_host() -> requests.exceptions.ConnectionError:
    """As requests raises it: the reason stands in the argument, not in the cause."""
    reason = NameResolutionError(HOST, None, socket.gaierror(-2, "Name or service not known"))  # type: ignore[arg-type]
    return requests.exceptions.ConnectionError(MaxRetryError(None, "/", reason))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (no_such_host(), "host-not-found"),
        (requests.exceptions.ConnectTimeout(), "timed-out"),
        (requests.exceptions.ReadTimeout(), "timed-out"),
        (requests.exceptions.ProxyError(f"Bearer {TOKEN}"), "refused"),
        (requests.exceptions.SSLError(ssl.SSLCertVerificationError(1, "self-signed")), "tls"),
        (requests.exceptions.ChunkedEncodingError(), "protocol"),
        (requests.exceptions.InvalidURL(f"https://ada:{TOKEN}@jira"), "protocol"),
        (requests.exceptions.InvalidHeader(f"bad value: 'Bearer {TOKEN}'"), "auth-refused"),
        (UnicodeEncodeError("latin-1", TOKEN, 0, 1, "no"), "auth-refused"),
        (requests.exceptions.RequestException(TOKEN), "unknown"),
    ],
)
def test_what_a_client_raises(error: Exception, kind: str) -> None:
    found = fault_of_exception(JiraSite(url=f"https://{HOST}", token=TOKEN), error)
    assert (found.kind, found.host) == (kind, HOST)
    assert TOKEN not in found.detail


def test_exceptions_in_a_circle_end() -> None:
    problem = requests.exceptions.RequestException()
    problem.__context__ = ValueError(problem)
    assert fault_of_exception(JiraSite(url=f"https://{HOST}"), problem).kind == "unknown"


@pytest.mark.parametrize("token", ["two\nlines", "\u2026"])
def test_a_token_that_no_header_can_carry(server: Jira, token: str) -> None:
    words = "the e-mail or the token holds characters that no header can carry"
    assert said(read(replace(site_of(server), token=token))) == ("failed", "auth-refused", words)


# --- too many questions ---


def busy(status: int, retry_after: str | None = None, times: int = 1) -> tuple[Reply, ...]:
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return (Reply(status=status, headers=headers),) * times


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(
    ("retry_after", "slept"),
    [("0", 0), ("7", 14), ("Mon, 30 Nov 2026 09:15:04 GMT", 8), (None, 3)],
)
def test_a_busy_server_is_asked_again(server: Jira, status: int, retry_after: str | None, slept: float) -> None:
    server.say("issue", *busy(status, retry_after, times=2))
    waits = Waits()
    assert read(site_of(server), waits=waits).read == "answered"
    assert waits.slept == pytest.approx(slept)
    assert server.asked("issue") == 3


@pytest.mark.parametrize("retry_after", ["0", "7", "Mon, 30 Nov 2026 09:15:04 GMT", None])
def test_a_third_refusal_ends_it(server: Jira, retry_after: str | None) -> None:
    server.say("issue", *busy(429, retry_after, times=3))
    read_as, kind, words = said(read(site_of(server)))
    assert (read_as, kind) == ("failed", "rate-limited")
    assert words.startswith("APP-1: rate limited ")
    assert server.requests == ["issue"] * 3


@pytest.mark.parametrize(
    ("retry_after", "words"),
    [("1800", "until 09:45 UTC"), ("Mon, 30 Nov 2026 23:30:00 GMT", "until 23:30 UTC")],
)
def test_no_wait_goes_past_the_deadline(server: Jira, retry_after: str, words: str) -> None:
    server.say("issue", *busy(429, retry_after))
    waits = Waits()
    issue = read(site_of(server), seconds=20, waits=waits)
    assert said(issue) == ("failed", "rate-limited", f"APP-1: rate limited {words}")
    assert (waits.slept, server.requests) == (0, ["issue"])


def test_cloud_names_the_moment_in_a_header_of_its_own(cloud: Jira) -> None:
    reset = (NOW + timedelta(minutes=30)).isoformat()
    cloud.say("issue", Reply(status=429, headers={"X-RateLimit-Reset": reset}))
    assert said(read(site_of(cloud), seconds=20))[2] == "APP-1: rate limited until 09:45 UTC"


def test_a_server_that_is_too_busy_is_not_asked_the_next_question(server: Jira) -> None:
    server.add("APP-1", fixVersions=[version("8.4.0")], issuelinks=[link("inward", "APP-2", "blocks", "blocks")])
    server.say("remotelink", *busy(429, "600"))
    issue = read(site_of(server))
    assert said(issue) == ("partial", "rate-limited", "the remote links of APP-1: rate limited until 09:25 UTC")
    assert server.requests == ["issue", "remotelink"]


def test_a_server_that_stays_away_is_no_rate_limit(server: Jira) -> None:
    server.say("issue", *busy(503, times=3))
    assert said(read(site_of(server))) == ("failed", "protocol", "APP-1: HTTP 503")


# --- secrets ---


def test_a_server_that_says_the_token_is_not_repeated(cloud: Jira) -> None:
    said_back = json.dumps({"errorMessages": [f"no {TOKEN}\u001b[31m", f"sent: {PAIR}"]})
    cloud.say("issue", Reply(status=400, body=said_back))
    assert said(read(site_of(cloud)))[2] == "APP-1: HTTP 400: no *** [31m, sent: ***"


def test_no_log_holds_the_token(cloud: Jira, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    for status in (200, 401, 429, 500):
        cloud.say("issue", Reply(status=status, body="<html>login</html>"))
        read(site_of(cloud), seconds=20)
    assert "GET /rest/api/2/issue/APP-1" in caplog.text
    assert TOKEN not in caplog.text
    assert PAIR not in caplog.text


def test_a_netrc_does_not_take_the_token_s_place(server: Jira, home: Path) -> None:
    (home / ".netrc").write_text(f"machine {HOST} login eve password of-eve\n", encoding="utf-8")
    assert read(site_of(server)).read == "answered"
