"""The doctor: each thing with its state, where its token was set, whose it is, and the next command."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.github_server import TOKEN, Canned, Hub, Repo, github_server
from tests.support.issue_world import World, world_of
from tests.support.jira_server import EMAIL, Jira, Reply, jira_server
from tests.support.program import base_branch
from tests.support.servers import HOST, HttpSite, _Backend, _HttpServer, _serving, refusing_port

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.repositories import MakeStand

Check = dict[str, Any]
ORDER = ["git", "repository", "configuration", "preferences", "remote", "jira", "github"]


@pytest.fixture
def world(stand: MakeStand, tmp_path: Path, hub: Hub) -> World:
    """A clone of a GitHub repository, and a GitHub that answers to whoever has no token."""
    return world_of(stand("release_lines"), tmp_path).with_github(hub, token=False)


@pytest.fixture(params=["cloud", "server"])
def jira(request: pytest.FixtureRequest) -> Iterator[Jira]:
    with jira_server(request.param) as server:
        yield server


@pytest.fixture
def hub() -> Iterator[Hub]:
    with github_server(Hub(repos={"acme/app": Repo()})) as state:
        yield state


def checks(world: World, *arguments: str, code: int = 0) -> dict[str, Check]:
    """What was found, by its name; the exit code stands in it too."""
    health = world.run("doctor", "--json", *arguments, code=code).json()
    assert (health["schema"], health["exitCode"]) == ("base-branch/doctor@1", code)
    assert [check["name"] for check in health["checks"]] == ORDER
    return {check["name"]: check for check in health["checks"]}


def states(found: dict[str, Check]) -> dict[str, str]:
    return {name: check["state"] for name, check in found.items() if check["state"] != "works"}


def test_all_that_is_set_up_works(world: World, jira: Jira, hub: Hub) -> None:
    found = checks(world.with_jira(jira).with_github(hub))
    assert states(found) == {}
    assert (found["jira"]["identity"], found["jira"]["token"]) == ("Ada Lovelace", "JIRA_TOKEN")
    assert (found["github"]["identity"], found["github"]["token"]) == ("octo-bot", "GH_TOKEN")
    assert found["remote"]["detail"] == "origin git@github.com:acme/app.git (the only remote): 6 branches"
    assert jira.requests == ["myself"]
    assert hub.paths == ["POST /graphql"]


def test_nothing_is_set_up_but_the_clone(world: World) -> None:
    found = checks(world)
    assert states(found) == {"jira": "not-set", "github": "warns"}
    assert found["jira"]["next"] == "set JIRA_URL, JIRA_EMAIL (Cloud only) and JIRA_TOKEN, then: base-branch doctor"
    assert found["github"]["next"] == "gh auth login --hostname github.com"


def test_a_person_reads_what_to_run(world: World, hub: Hub) -> None:
    hub.canned = [Canned(status=401, body={"message": "Bad credentials"})]
    said = world.with_github(hub).run("doctor", code=6).out.decode()
    assert (
        "github        fails   github.com did not say whose token it is: the token for github.com was refused" in said
    )
    assert "(token from GH_TOKEN)\n" in said
    assert said.endswith("try: gh auth login --hostname github.com\n")


@pytest.mark.parametrize(
    ("reply", "kind", "words"),
    [
        (Reply(status=401), "auth-refused", "were refused (401)"),
        (Reply(status=403, body="{}"), "access-denied", "the login: access denied (403)"),
        (Reply(status=200, body="<html>Log in</html>"), "auth-wanted", "answered with a login page"),
        (Reply(status=200, body="[7]"), "protocol", "answered with what is not a user"),
    ],
)
def test_a_jira_that_does_not_know_us(world: World, reply: Reply, kind: str, words: str) -> None:
    with jira_server("cloud") as jira:
        jira.say("myself", reply)
        found = checks(world.with_jira(jira), code=6)["jira"]
    assert (found["state"], found["kind"], found["token"]) == ("fails", kind, "JIRA_TOKEN")
    assert words in found["detail"]
    assert found["next"] == (f"curl --head {jira.url}" if kind == "protocol" else "base-branch config")


def test_a_jira_without_a_token_is_reached_and_said_to_be_anonymous(world: World) -> None:
    with jira_server() as jira:
        found = checks(world.having({"JIRA_URL": jira.url}))["jira"]
    assert (found["state"], found["token"], found["identity"]) == ("warns", None, None)
    assert found["detail"] == f"{jira.url} answers, and no token is bound to it: only public issues can be read"


def test_a_token_that_goes_nowhere_is_said(world: World) -> None:
    found = checks(world.having({"JIRA_TOKEN": "s3cr3t-value", "JIRA_EMAIL": EMAIL}))["jira"]
    assert (found["state"], found["token"], found["next"]) == ("warns", "JIRA_TOKEN", "set JIRA_URL")


def test_the_gravest_counts(world: World, tmp_path: Path) -> None:
    with refusing_port() as port:
        world.stand.take_the_remote_away()
        broken = world.having({"JIRA_URL": f"http://{HOST}:{port}"})
        found = checks(broken, code=4)
        assert states(found) == {"remote": "fails", "jira": "fails", "github": "warns"}
        assert found["remote"]["next"] == "git ls-remote --heads origin"
        assert found["jira"]["detail"] == "127.0.0.1 refuses connections"
        preferences = tmp_path / "preferences.json"
        preferences.write_text("{", encoding="utf-8")
        found = checks(broken, code=5)
    assert found["preferences"]["next"] == f"mend or move {preferences}"


def test_a_wrong_configuration_is_a_row_and_nothing_is_asked(world: World) -> None:
    (world.stand.clone.path / ".base-branch.toml").write_text("askOnIssue = true\n", encoding="utf-8")
    health = world.run("doctor", "--json", code=2).json()
    assert [check["name"] for check in health["checks"]] == ORDER[:3]
    assert "askOnIssue" in health["checks"][-1]["detail"]


def test_no_repository_is_said_and_the_rest_is_looked_at(world: World, tmp_path: Path) -> None:
    done = base_branch("doctor", "--json", tmp_path, environ=world.environ)
    assert done.code == 5
    found = {check["name"]: check["state"] for check in done.json()["checks"]}
    assert (found["repository"], found["preferences"], found["jira"]) == ("fails", "works", "not-set")
    assert "remote" not in found


def test_several_remotes_are_a_question(world: World) -> None:
    clone = world.stand.clone
    clone.git("remote", "rename", "origin", "one")
    clone.git("remote", "add", "two", "git@github.com:acme/two.git")
    assert checks(world, code=3)["remote"]["state"] == "fails"
    assert checks(world, "--remote", "one")["remote"]["state"] == "works"


def test_remote_jira_and_github_are_asked_side_by_side(world: World, hub: Hub) -> None:
    """Each answers only once all three were asked: one after another they would never come together."""
    together = threading.Barrier(3, timeout=30)

    class Waiting(_Backend):
        root = world.stand.remote.path.parent.parent

        def do_GET(self) -> None:  # noqa: N802 - the base class's name
            together.wait()
            self._serve()

    site = HttpSite(port=0)
    with jira_server() as jira, _serving(_HttpServer(Waiting, site)):
        serve = jira.serve

        def waiting(method: str, target: str, authorization: str | None, body: str) -> Reply:
            together.wait()
            return serve(method, target, authorization, body)

        jira.serve = waiting  # type: ignore[method-assign] # the server of one test
        hub.canned = _Meeting(together)
        world.stand.serve_as(site.url("acme/app.git"))
        mine = world.with_jira(jira).with_github(hub).having({"GH_TOKEN": TOKEN, "BASE_BRANCH_TIMEOUT": "60"})
        found = checks(mine)
    assert [found[name]["state"] for name in ORDER[4:]] == ["works"] * 3


class _Meeting(list[Canned | None]):
    """Answers that are let through once the others are there."""

    def __init__(self, together: threading.Barrier) -> None:
        super().__init__([None])
        self._together = together

    def pop(self, index: object = -1) -> None:
        del index
        super().pop()
        self._together.wait()
