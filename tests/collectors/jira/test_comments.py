"""The one comment: in either shape, found by its marker, never posted twice."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from collectors.errors import InvalidInput, SourceError
from collectors.http_waiting import Clock
from collectors.jira.comments import text_of, write_body
from collectors.jira.issue import JiraSite, find_comment, post_comment
from collectors.process import Deadline
from tests.support.jira_server import TOKEN, Jira, Reply, jira_server, site_of

if TYPE_CHECKING:
    from collections.abc import Iterator

MARKER = "base-branch-question:acme/app"
BODY = f"Which branch is APP-1 for?\n1. release/8.4.0\n2. release/8.3.x\n\n{MARKER}"


@pytest.fixture(params=["cloud-3", "cloud-2", "server-2"])
def jira(request: pytest.FixtureRequest) -> Iterator[tuple[Jira, JiraSite]]:
    """Each product and version with one issue."""
    product, _, api = request.param.partition("-")
    with jira_server(product) as server:
        server.add("APP-1")
        yield server, site_of(server, api)


def find(site: JiraSite) -> str | None:
    return find_comment(site, "APP-1", MARKER, Deadline(30))


def post(site: JiraSite, body: str = BODY, *, deadline: Deadline | None = None) -> str:
    still = Clock(sleep=lambda _: None)
    return post_comment(site, "APP-1", body, deadline or Deadline(30), marker=MARKER, clock=still)


def texts(server: Jira) -> list[str]:
    return [text_of(each["body"]) for each in server.comments.get("APP-1", [])]


def test_a_comment_is_posted_once(jira: tuple[Jira, JiraSite]) -> None:
    server, site = jira
    assert find(site) is None
    url = post(site)
    assert url == f"{server.url}/browse/APP-1?focusedCommentId=20000"
    assert post(site) == find(site) == url
    assert server.asked("POST comment") == 1
    (text,) = texts(server)
    for line in BODY.split():
        assert line in text


def test_the_earlier_comment_is_found_behind_many_others(jira: tuple[Jira, JiraSite]) -> None:
    server, site = jira
    server.page = 10
    own = write_body(BODY, site.rest_api)
    others = [{"id": str(number), "body": write_body("chatter", site.rest_api)} for number in range(25)]
    server.comments["APP-1"] = [*others, {"id": "99", "body": own}, {"id": "100", "body": own}]
    assert find(site) == f"{server.url}/browse/APP-1?focusedCommentId=99"
    assert server.requests == ["comment"] * 3


@pytest.mark.parametrize("reply", [Reply(status=504, after=True), Reply(status=201, after=True, hang_up=True)])
def test_an_answer_that_was_lost_on_the_way_makes_no_second_comment(jira: tuple[Jira, JiraSite], reply: Reply) -> None:
    server, site = jira
    server.say("POST comment", reply)
    assert post(site) == f"{server.url}/browse/APP-1?focusedCommentId=20000"
    assert len(texts(server)) == 1
    assert server.requests == ["comment", "POST comment", "comment"]


def test_a_busy_server_did_nothing_and_is_asked_again(jira: tuple[Jira, JiraSite]) -> None:
    server, site = jira
    server.say("POST comment", Reply(status=429, headers={"Retry-After": "0"}))
    post(site)
    assert (server.asked("POST comment"), len(texts(server))) == (2, 1)


def test_a_server_that_was_away_may_have_heard_it_and_is_not_asked_again(jira: tuple[Jira, JiraSite]) -> None:
    server, site = jira
    server.say("POST comment", Reply(status=503, headers={"Retry-After": "0"}))
    with pytest.raises(SourceError, match="the comment on APP-1 was not posted: a comment on APP-1: HTTP 503"):
        post(site)
    assert server.requests == ["comment", "POST comment", "comment"]


def test_nothing_is_posted_where_the_earlier_ones_cannot_be_read(jira: tuple[Jira, JiraSite]) -> None:
    server, site = jira
    server.say("comment", Reply(status=500))
    with pytest.raises(SourceError, match="the comments of APP-1 could not be read") as caught:
        post(site)
    assert caught.value.failure.kind == "protocol"
    assert server.requests == ["comment"]


def test_whether_it_was_posted_may_not_be_known(jira: tuple[Jira, JiraSite]) -> None:
    server, site = jira
    server.say("POST comment", Reply(status=504, after=True))
    server.say("comment", Reply(status=200, body='{"comments": [], "total": 0}'), Reply(status=500))
    with pytest.raises(SourceError, match="whether the comment on APP-1 was posted is not known"):
        post(site)
    assert server.asked("POST comment") == 1


def test_a_refused_comment_is_said(jira: tuple[Jira, JiraSite]) -> None:
    server, site = jira
    server.say("POST comment", Reply(status=403, body='{"errorMessages": ["You may not comment."]}'))
    with pytest.raises(SourceError, match=r"was not posted: .*You may not comment") as caught:
        post(site)
    assert caught.value.code == "access-denied"


def test_an_issue_that_is_not_there_has_no_comments_to_speak_of(jira: tuple[Jira, JiraSite]) -> None:
    server, site = jira
    server.issues.clear()
    with pytest.raises(SourceError, match="not visible"):
        find(site)


def test_no_time_no_comment(jira: tuple[Jira, JiraSite]) -> None:
    server, site = jira
    with pytest.raises(SourceError, match="did not answer in time"):
        post(site, deadline=Deadline(0))
    assert server.requests == []


def test_an_error_shows_no_token(jira: tuple[Jira, JiraSite]) -> None:
    server, site = jira
    server.say("comment", Reply(status=400, body=f'{{"errorMessages": ["{TOKEN}"]}}'))
    with pytest.raises(SourceError) as caught:
        post(site)
    assert TOKEN not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("body", ["Which branch?", ""])
def test_a_comment_without_its_marker_could_not_be_found_again(jira: tuple[Jira, JiraSite], body: str) -> None:
    server, site = jira
    with pytest.raises(InvalidInput):
        post(site, body)
    assert server.requests == []


def test_a_url_shows_no_credentials(jira: tuple[Jira, JiraSite]) -> None:
    server, site = jira
    url = server.url.replace("://", "://ada:pw@")
    assert post(replace(site, url=url)).startswith(f"{server.url}/browse/")


# --- bodies ---


def test_wiki_text_is_shown_as_it_is() -> None:
    assert write_body("{noformat} [~ada] {color:red}", "2") == "{noformat}\n(noformat) [~ada] {color:red}\n{noformat}"


def test_a_document_has_no_empty_text() -> None:
    body = write_body("one\n\n\n\ntwo\n\nthree\nfour", "3")
    assert text_of(body).split() == ["one", "two", "three", "four"]
    assert '"text": ""' not in str(body).replace("'", '"')


def test_text_of_a_document_that_is_nested_beyond_measure() -> None:
    body: object = {"type": "text", "text": MARKER}
    for _ in range(5000):
        body = {"type": "blockquote", "content": [body]}
    assert text_of(body) == MARKER


@pytest.mark.parametrize("body", [None, 7, {}, {"content": None}, [], {"text": 7}])
def test_a_body_of_no_known_shape_has_no_text(body: object) -> None:
    assert text_of(body) == ""
