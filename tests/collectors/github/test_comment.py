"""The one question on the issue: found, posted once, never twice; and whose token it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from collectors.errors import SourceError
from collectors.github.comment import find_comment, post_comment, who_am_i
from collectors.http_waiting import Clock
from collectors.process import Deadline
from tests.support.github_server import HOST, TOKEN, Canned, Hub, Item, Repo, github_server

if TYPE_CHECKING:
    from collections.abc import Iterator

APP = "acme/app"
MARKER = "<!-- base-branch: question -->"
FIRST_URL = f"https://{HOST}/{APP}/issues/49#issuecomment-1"
POST = "POST /repos/acme/app/issues/49/comments"


@pytest.fixture
def hub() -> Iterator[Hub]:
    """A server with an issue and a pull request that nobody commented."""
    with github_server(Hub(repos={APP: Repo(items={49: Item(), 65: Item(base="main")})})) as state:
        yield state


def find(hub: Hub, number: int = 49, token: str | None = TOKEN) -> str | None:
    return find_comment(hub.site(token=token), APP, number, MARKER, Deadline(60))


def post(hub: Hub, number: int = 49, *, body: str = "Which branch?", seconds: float = 60) -> str:
    clock = Clock(sleep=lambda _: None)
    return post_comment(hub.site(), APP, number, MARKER, body, Deadline(seconds), clock=clock)


def comments(hub: Hub, number: int = 49) -> list[str]:
    item = hub.item((APP, number))
    assert item is not None
    return [text for _, text in item.comments]


def chatter(hub: Hub, *, before: int, after: int) -> None:
    item = hub.item((APP, 49))
    assert item is not None
    item.comments += [(f"u{i}", "words") for i in range(before)]
    item.comments += [("there", f"asked\n{MARKER}")]
    item.comments += [(f"v{i}", "words") for i in range(after)]


def test_none_is_there(hub: Hub) -> None:
    assert find(hub) is None
    assert len(hub.asked) == 1


@pytest.mark.parametrize(
    ("before", "after", "requests"), [(0, 0, 1), (500, 0, 1), (0, 99, 1), (0, 100, 2), (0, 350, 4)]
)
def test_it_is_found_however_old(hub: Hub, before: int, after: int, requests: int) -> None:
    chatter(hub, before=before, after=after)
    assert find(hub) == "there"
    assert len(hub.asked) == requests


def test_the_newest_of_several_is_given(hub: Hub) -> None:
    hub.repos[APP].items[49].comments = [("old", MARKER), ("new", MARKER), ("other", "words")]
    assert find(hub) == "new"


@pytest.mark.parametrize("number", [49, 65])
def test_it_is_posted_once(hub: Hub, number: int) -> None:
    first = post(hub, number)
    assert post(hub, number) == first == f"https://{HOST}/{APP}/issues/{number}#issuecomment-1"
    assert comments(hub, number) == [f"Which branch?\n\n{MARKER}"]
    assert hub.paths == ["POST /graphql", POST.replace("49", str(number)), "POST /graphql"]


def test_a_body_that_holds_the_marker_is_posted_as_it_is(hub: Hub) -> None:
    post(hub, body=f"{MARKER}\nWhich?")
    assert comments(hub) == [f"{MARKER}\nWhich?"]


@pytest.mark.parametrize(
    "lost",
    [
        Canned(status=None, after=True),
        Canned(status=502, body="<html>", after=True),
        Canned(status=201, body="<", after=True),
    ],
)
def test_an_answer_that_is_lost_is_looked_for_and_not_posted_again(hub: Hub, lost: Canned) -> None:
    hub.canned = [None, lost]
    assert post(hub) == FIRST_URL
    assert len(comments(hub)) == 1
    assert hub.paths == ["POST /graphql", POST, "POST /graphql"]


def test_a_post_that_did_not_arrive_is_not_said_to_be_done(hub: Hub) -> None:
    hub.canned = [None, Canned(status=500, body={"message": "oops"})]
    with pytest.raises(
        SourceError, match=r"the question was not posted on acme/app#49: .* answered 500: oops"
    ) as caught:
        post(hub)
    assert caught.value.failure.kind == "protocol"
    assert comments(hub) == []
    assert hub.paths.count(POST) == 1


def test_a_post_that_was_refused_for_its_rate_is_sent_again(hub: Hub) -> None:
    limit = {"message": "You have exceeded a secondary rate limit."}
    hub.canned = [None, Canned(status=403, headers={"Retry-After": "1"}, body=limit)]
    assert post(hub) == FIRST_URL
    assert len(comments(hub)) == 1


def test_a_post_that_is_refused(hub: Hub) -> None:
    hub.canned = [None, Canned(status=403, body={"message": "Resource not accessible by integration"})]
    with pytest.raises(SourceError, match="access to acme/app#49 was denied: Resource not accessible"):
        post(hub)
    assert hub.paths == ["POST /graphql", POST]


HALF = {"data": {"repository": {"issueOrPullRequest": {"__typename": "Issue", "comments": None}}}}
NO_CURSOR = {
    "data": {
        "repository": {
            "issueOrPullRequest": {
                "comments": {"nodes": [], "pageInfo": {"hasPreviousPage": True, "startCursor": None}}
            }
        }
    }
}


@pytest.mark.parametrize(
    "answer",
    [
        Canned(status=500, body={"message": "oops"}),
        Canned(status=200, body="<html>"),
        Canned(status=200, body={}),
        Canned(status=200, body=HALF | {"errors": [{"message": "timeout", "path": ["repository"]}]}),
        Canned(status=200, body=NO_CURSOR),
        Canned(status=404, body={"message": "Not Found"}),
    ],
)
def test_nothing_is_posted_where_the_comments_were_not_all_read(hub: Hub, answer: Canned) -> None:
    hub.canned = [answer]
    with pytest.raises(SourceError, match="the comments on acme/app#49 could not be read"):
        post(hub)
    assert comments(hub) == []
    assert POST not in hub.paths


def test_a_page_that_fails_leaves_nothing_posted(hub: Hub) -> None:
    chatter(hub, before=0, after=100)
    hub.canned = [None, Canned(status=500, body={"message": "oops"})]
    with pytest.raises(SourceError):
        post(hub)
    assert POST not in hub.paths


def test_an_issue_that_is_not_there(hub: Hub) -> None:
    with pytest.raises(SourceError, match="acme/app#7 is missing or not visible with this token") as caught:
        post(hub, 7)
    assert caught.value.failure.kind == "not-found"


def test_nobody_logged_in(hub: Hub) -> None:
    with pytest.raises(SourceError, match="not logged in") as caught:
        find(hub, token=None)
    assert caught.value.failure.kind == "auth-wanted"


# --- whose token ---


def test_whose_token_it_is(hub: Hub) -> None:
    assert who_am_i(hub.site(), Deadline(60)) == "octo-bot"
    assert hub.paths == ["POST /graphql"]


def test_nobodys(hub: Hub) -> None:
    assert who_am_i(hub.site(token=None), Deadline(60)) is None
    assert hub.paths == ["GET /meta"]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Canned(status=401, body={"message": "Bad credentials"}), "the token for github.example was refused"),
        (Canned(status=200, body={"data": {}}), "answered what its API does not"),
        (Canned(status=200, body={"errors": [{"type": "FORBIDDEN", "message": "no"}]}), "access denied: no"),
        (Canned(status=404, body={"message": "Not Found"}), "answered what its API does not"),
    ],
)
def test_a_site_that_does_not_say(hub: Hub, answer: Canned, words: str) -> None:
    hub.canned = [answer]
    with pytest.raises(SourceError, match=words):
        who_am_i(hub.site(), Deadline(60))


def test_a_site_that_is_not_there(hub: Hub) -> None:
    hub.canned = [Canned(status=None)]
    with pytest.raises(SourceError, match=r"github\.example was not reached: github\.example broke off"):
        who_am_i(hub.site(token=None), Deadline(60))
