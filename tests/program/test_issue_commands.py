"""Issues of Jira and GitHub through the whole program: a child process, real git, real HTTP on loopback."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.github_server import Canned, Event, Hub, Item, Milestone, Repo, github_server
from tests.support.issue_world import World, world_of
from tests.support.jira_server import Jira, Reply, jira_server, link, parent, remote, version
from tests.support.program import source
from tests.support.servers import HOST, refusing_port, silent_listener

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.jira_server import Product
    from tests.support.program import Answer
    from tests.support.repositories import MakeStand

APP = "acme/app"
LINE = "release/8.3.0"


@pytest.fixture
def world(stand: MakeStand, tmp_path: Path) -> World:
    """A clone of acme/app on GitHub with release branches; no tracker is set up."""
    return world_of(stand("release_lines"), tmp_path)


@pytest.fixture(params=["cloud", "server"])
def jira(request: pytest.FixtureRequest) -> Iterator[Jira]:
    """Each product."""
    with jira_server(request.param) as server:
        yield server


@pytest.fixture
def data_center() -> Iterator[Jira]:
    with jira_server() as server:
        yield server


@pytest.fixture
def hub() -> Iterator[Hub]:
    with github_server(Hub(repos={APP: Repo(items={12: Item()})})) as state:
        yield state


def answered(decision: Answer, name: str) -> None:
    """The tracker and the remote were asked; nobody failed."""
    states = {entry["name"]: entry["state"] for entry in decision["sources"]}
    other = "github" if name == "jira" else "jira"
    assert states == {"remote": "answered", name: "answered", other: "not-asked", "preferences": "answered"}


def derived(decision: Answer, branch: str = LINE) -> None:
    assert (decision["baseBranch"], decision["baseBranchSource"]) == (branch, "derived")


# --- Jira ---


@pytest.mark.parametrize("form", ["APP-1", "{url}/projects/APP/issues/app-1?filter=all"])
def test_jira_by_key_and_by_url(world: World, jira: Jira, form: str) -> None:
    jira.add("APP-1", fixVersions=[version("8.3.0")])
    decision = world.with_jira(jira).resolve(form.format(url=jira.url))
    derived(decision)
    answered(decision, "jira")
    assert source(decision, "jira")["host"] == HOST
    # At most three for an issue without links.
    assert jira.requests == ["issue", "remotelink"]


JIRA_ISSUES: list[tuple[dict[str, Any], list[str]]] = [
    ({"customfield_10": version("8.3.0")}, ["issue", "remotelink"]),
    ({"labels": ["urgent", "v8.3.0"]}, ["issue", "remotelink"]),
    ({"parent": parent("APP-9")}, ["issue", "remotelink", "field", "search"]),
    ({"customfield_20": "APP-9"}, ["issue", "remotelink", "field", "search"]),
    (
        {"fixVersions": [version("8.3.0")], "issuelinks": [link("inward", "APP-8", "is blocked by", "blocks")]},
        ["issue", "remotelink", "search"],
    ),
]


@pytest.mark.parametrize(("fields", "requests"), JIRA_ISSUES, ids=["target", "label", "parent", "epic", "links"])
def test_what_a_jira_issue_says_in_how_many_requests(
    world: World, jira: Jira, fields: dict[str, Any], requests: list[str]
) -> None:
    jira.custom = {"customfield_10": "Target Version", "customfield_20": "Epic Link"}
    jira.add("APP-1", **fields)
    jira.add("APP-8", fixVersions=[version("8.2.0")])
    jira.add("APP-9", fixVersions=[version("8.3.0")])
    decision = world.with_jira(jira).resolve("APP-1")
    derived(decision)
    answered(decision, "jira")
    assert [name.removesuffix("/jql") for name in jira.requests] == requests


def test_the_most_that_a_jira_issue_takes_is_five(world: World, data_center: Jira) -> None:
    data_center.custom = {"customfield_20": "Epic Link"}
    data_center.add("APP-1", parent=parent("APP-2"), issuelinks=[link("outward", "APP-8", "is blocked by", "blocks")])
    for number in range(2, 8):
        data_center.add(f"APP-{number}", parent=parent(f"APP-{number + 1}"))
    data_center.add("APP-8", fixVersions=[version("8.3.0")])
    world.with_jira(data_center).collect("APP-1")
    assert len(data_center.requests) == 5


def test_a_link_to_a_pull_request_and_to_a_release_is_in_the_bundle(world: World, data_center: Jira) -> None:
    data_center.add("APP-1")
    data_center.remotes["APP-1"] = [
        remote("https://github.com/acme/app/pull/65"),
        remote("https://github.com/acme/app/releases/tag/v8.3.1"),
    ]
    issue = world.with_jira(data_center).collect("APP-1")["issue"]
    assert [(k["kind"], k["key"], k["repository"]) for k in issue["links"]] == [
        ("pull-request", "acme/app#65", APP),
        ("release", "v8.3.1", APP),
    ]


def test_explain_says_whom_it_asked(world: World, data_center: Jira) -> None:
    data_center.add("APP-1", fixVersions=[version("8.3.0")])
    said = world.with_jira(data_center).run("explain", "--issue", "APP-1").out.decode()
    assert said.startswith("Work on APP-1 belongs on release/8.3.0\n")
    assert re.search(r"\n  jira +answered", said)


def test_a_jira_key_without_a_jira(world: World) -> None:
    done = world.run("resolve", "--autopilot", "--issue", "APP-1", code=5)
    assert "base-branch: APP-1 is a Jira key, and no Jira is configured\n" in done.err
    assert done.out == b""


@pytest.mark.parametrize("text", ["SHA-256", "https://gitlab.com/acme/app/-/issues/1"])
def test_what_names_no_issue_asks_nobody(world: World, data_center: Jira, text: str) -> None:
    done = world.with_jira(data_center).run("resolve", "--autopilot", "--issue", text, code=2)
    assert (done.out, data_center.requests) == (b"", [])


def test_a_key_is_jira_s_even_where_a_file_has_its_name(world: World, data_center: Jira) -> None:
    (world.stand.clone.path / "APP-1").write_text('{"key": "APP-1", "versions": []}', encoding="utf-8")
    data_center.add("APP-1", fixVersions=[version("8.3.0")])
    data_center.add("OTHER-1", fixVersions=[version("8.2.0")])
    derived(world.with_jira(data_center).resolve("APP-1"))
    derived(world.with_jira(data_center).resolve("OTHER-1"), "release/8.2.0")


# --- GitHub ---


@pytest.mark.parametrize("form", ["#12", "acme/app#12", "https://github.com/acme/app/issues/12#issuecomment-1"])
def test_github_by_number_name_and_url(world: World, hub: Hub, form: str) -> None:
    hub.repos[APP].items[12].milestone = Milestone(title="8.3.0")
    decision = world.with_github(hub).resolve(form)
    derived(decision)
    answered(decision, "github")
    assert source(decision, "github")["host"] == "github.com"
    assert hub.paths == ["POST /graphql", "GET /repos/acme/app/branches"]


PULL = Item(base=LINE, body="Fixes #12")
GITHUB_ISSUES: dict[str, Item] = {
    "milestone": Item(milestone=Milestone(title="v8.3.0")),
    "label": Item(labels=("bug", "8.3.0")),
    "parent": Item(parent=(APP, 9)),
    "pull request": Item(events=[Event(pull=(APP, 65), will_close=True)]),
}


@pytest.mark.parametrize(
    ("kind", "token"), [*((kind, True) for kind in GITHUB_ISSUES), ("milestone", False), ("pull request", False)]
)
def test_what_a_github_issue_says(world: World, hub: Hub, kind: str, *, token: bool) -> None:
    hub.repos[APP].items = {12: GITHUB_ISSUES[kind], 9: Item(milestone=Milestone(title="8.3.0")), 65: PULL}
    decision = world.with_github(hub, token=token).resolve("#12")
    derived(decision)
    answered(decision, "github")
    if token:
        assert hub.paths == ["POST /graphql", "GET /repos/acme/app/branches"]
    else:
        assert {asked.authorization for asked in hub.asked} == {None}
        assert hub.paths[:2] == ["GET /repos/acme/app/issues/12", "GET /repos/acme/app/issues/12/timeline"]


def test_a_long_timeline_takes_the_second_request_and_no_third(world: World, hub: Hub) -> None:
    events = [Event(pull=(APP, 65), will_close=True), *(Event(pull=("acme/lib", n)) for n in range(120))]
    hub.repos["acme/lib"] = Repo(items={n: Item(base="main") for n in range(120)})
    hub.repos[APP].items = {12: Item(events=events), 65: PULL}
    derived(world.with_github(hub).resolve("#12"))
    assert hub.paths == ["POST /graphql", "POST /graphql"]


def test_an_enterprise_by_its_host(world: World, hub: Hub) -> None:
    hub.repos[APP].items[12].milestone = Milestone(title="8.3.0")
    world.stand.serve_as("git@code.example:acme/app.git")
    mine = {"GH_HOST": "code.example", "BASE_BRANCH_GITHUB_API_URL": f"{hub.base}/api/v3"}
    token = hub.site().token
    assert token is not None
    enterprise = world.having(mine | {"GH_ENTERPRISE_TOKEN": token})
    decision = enterprise.resolve("#12")
    derived(decision)
    assert source(decision, "github")["host"] == "code.example"
    assert {asked.authorization for asked in hub.asked} == {f"token {token}"}
    # The public one's token is not the Enterprise host's.
    hub.asked.clear()
    derived(world.having(mine | {"GH_TOKEN": token}).resolve("#12"))
    assert {asked.authorization for asked in hub.asked} == {None}


@pytest.mark.parametrize("url", ["git@gitlab.example:acme/app.git", "git@code.example:acme/app.git"])
def test_a_bare_number_of_a_repository_that_is_on_no_github_asks_nobody(world: World, hub: Hub, url: str) -> None:
    hub.repos[APP].items[12].milestone = Milestone(title="8.3.0")
    world.stand.serve_as(url)
    done = world.with_github(hub).run("resolve", "--autopilot", "--issue", "#12", code=2)
    assert "its remote is no GitHub repository" in done.err
    assert hub.asked == []
    # Named in full it is the public GitHub's, whatever the remote's host is.
    world.with_github(hub).resolve("acme/app#12")
    assert hub.paths[0] == "POST /graphql"


def test_protected_branches_are_marked_beside_the_issue(world: World, hub: Hub) -> None:
    hub.repos[APP].protected = ("main", LINE, "gone")
    branches = world.with_github(hub).collect("#12")["refs"]["branches"]
    marked = {branch["name"]: branch["protected"] for branch in branches}
    assert marked == {
        "develop": False,
        "feature/APP-12-login": False,
        "main": True,
        "release/8.2.0": False,
        LINE: True,
        "release/8.4.0": False,
    }


@pytest.mark.parametrize("cause", ["another repository", "refused"])
def test_what_nobody_told_of_protection_stays_unknown(world: World, hub: Hub, cause: str) -> None:
    hub.repos["acme/lib"] = Repo(items={12: Item()}, protected=("main",))
    hub.canned = [None, Canned(status=403, body={"message": "no"})] if cause == "refused" else []
    bundle = world.with_github(hub).collect("#12" if cause == "refused" else "acme/lib#12")
    assert {branch["protected"] for branch in bundle["refs"]["branches"]} == {None}
    assert bundle["issue"]["read"] == "answered"
    assert len(hub.asked) == (2 if cause == "refused" else 1)


@pytest.mark.parametrize(("name", "state"), [("acme/app#12", "host-api"), ("acme/lib#12", "none")])
def test_the_host_tells_the_default_branch_where_the_remote_cannot(
    world: World, hub: Hub, name: str, state: str
) -> None:
    world.stand.remote.git("symbolic-ref", "HEAD", "refs/heads/gone")
    hub.repos |= {APP: Repo(default="release/8.4.0", items={12: Item()}), "acme/lib": Repo(items={12: Item()})}
    repository = world.with_github(hub).collect(name)["repository"]
    assert (repository["defaultBranch"], repository["defaultBranchState"]) == (
        "release/8.4.0" if state == "host-api" else None,
        state,
    )


# --- not read ---

LOGIN_PAGE = "<html><title>Log in - Acme</title></html>"
WAIT = {"Retry-After": "1800"}
JIRA_FAILURES: dict[str, tuple[Product, list[Reply], str, str, str]] = {
    "404": ("server", [], "not-found", "not-found", "APP-1 is missing or not visible to ada"),
    "404 cloud": ("cloud", [], "not-found", "not-found", "APP-1 is missing or not visible to ada@example.invalid"),
    "401": (
        "server",
        [Reply(status=401, body=LOGIN_PAGE)],
        "failed",
        "auth-refused",
        "the token was refused (401)",
    ),
    "403": (
        "server",
        [Reply(status=403, body='{"errorMessages": ["You may not browse."]}')],
        "failed",
        "access-denied",
        "APP-1: access denied (403): You may not browse.",
    ),
    "429": ("server", [Reply(status=429, headers=WAIT)], "failed", "rate-limited", "APP-1: rate limited until"),
    "login page": (
        "server",
        [Reply(status=200, body=LOGIN_PAGE)],
        "failed",
        "auth-wanted",
        "not logged in: 127.0.0.1 answered with a login page",
    ),
    "500": ("server", [Reply(status=500)], "failed", "protocol", "APP-1: HTTP 500"),
    "wrong types": (
        "server",
        [Reply(status=200, body='{"key": 7, "fields": ["fixVersions"]}')],
        "failed",
        "protocol",
        "127.0.0.1 answered with what is not an issue",
    ),
}


def unread(world: World, issue: str, name: str, read: str, kind: str, words: str) -> None:
    """An unattended run stops and says why; the bundle says it; --issue-optional goes on, and says it too."""
    saved = world.stand.clone.path.with_name("bundle.json")
    saved.unlink(missing_ok=True)
    decision = world.resolve(issue, "--save-bundle", saved, code=6)
    assert decision["baseBranch"] is None
    assert decision["baseFetchStatus"] == "aborted"
    failed = source(decision, name)
    assert (failed["state"], failed["kind"]) == ("failed", kind)
    assert failed["detail"].startswith(words)
    assert decision["log"][-1].partition(" ")[2].startswith(f"issue {issue} could not be read ({read}): {words}")
    bundle = json.loads(saved.read_text(encoding="utf-8"))
    assert (bundle["issue"]["read"], bundle["issue"]["failure"]["kind"]) == (read, kind)
    assert bundle["issue"]["failure"]["detail"].startswith(words)
    assert bundle["issue"]["versions"] == []


@pytest.mark.parametrize("case", JIRA_FAILURES)
def test_a_jira_issue_that_is_not_read(world: World, case: str) -> None:
    product, replies, read, kind, words = JIRA_FAILURES[case]
    with jira_server(product) as jira:
        if replies:
            jira.add("APP-1", fixVersions=[version("8.3.0")])
        jira.say("issue", *replies)
        unread(world.with_jira(jira), "APP-1", "jira", read, kind, words)


def test_a_missing_issue_may_be_a_login_that_does_not_count(world: World, data_center: Jira) -> None:
    data_center.add("APP-1", fixVersions=[version("8.3.0")])
    anonymous = world.having({"JIRA_URL": data_center.url})
    unread(anonymous, "APP-1", "jira", "failed", "auth-wanted", "APP-1: not logged in: no token is set")


GITHUB_FAILURES: dict[str, tuple[bool, list[Canned | None], str, str, str]] = {
    "404": (True, [], "not-found", "not-found", "acme/app#7 is missing or not visible with this token"),
    "404 without a token": (False, [], "failed", "auth-wanted", "not logged in: acme/app#7 is missing or not public"),
    "401": (
        True,
        [Canned(status=401, body={"message": "Bad credentials"})],
        "failed",
        "auth-refused",
        "the token for github.com was refused: Bad credentials",
    ),
    "403": (
        True,
        [Canned(status=403, body={"message": "Resource not accessible"})],
        "failed",
        "access-denied",
        "access to acme/app#7 was denied: Resource not accessible",
    ),
    "429": (
        False,
        [Canned(status=429, headers=WAIT, body={"message": "slow down"})],
        "failed",
        "rate-limited",
        "rate limited until 09:30 UTC; without a token 60 requests an hour are answered",
    ),
    "login page": (
        True,
        [Canned(status=200, body=LOGIN_PAGE)],
        "failed",
        "protocol",
        "github.com answered text/html instead of JSON: a login page or a proxy?",
    ),
    "wrong types": (
        True,
        [Canned(status=200, body=[{"data": 7}]), Canned(status=200, body=["x"])],
        "failed",
        "protocol",
        "github.com answered no issue",
    ),
}


@pytest.mark.parametrize("case", GITHUB_FAILURES)
def test_a_github_issue_that_is_not_read(world: World, hub: Hub, case: str) -> None:
    token, replies, read, kind, words = GITHUB_FAILURES[case]
    hub.canned = list(replies)
    unread(world.with_github(hub, token=token), "acme/app#7", "github", read, kind, words)


def test_an_unread_issue_that_is_optional_is_gone_without_and_said(world: World, data_center: Jira) -> None:
    mine = world.with_jira(data_center)
    decision = mine.resolve("APP-1", "--issue-optional")
    assert (decision["baseBranch"], decision["baseBranchSource"]) == ("develop", "default")
    assert source(decision, "jira")["state"] == "failed"
    question = mine.run("resolve", "--issue", "APP-1", code=3).json()
    assert question["baseBranch"] is None
    assert source(question, "jira")["detail"] == "APP-1 is missing or not visible to ada"


def test_github_down_does_not_matter_to_a_jira_issue_nor_the_reverse(world: World, data_center: Jira, hub: Hub) -> None:
    data_center.add("APP-1", fixVersions=[version("8.3.0")])
    hub.repos[APP].items[12].milestone = Milestone(title="8.3.0")
    with refusing_port() as port:
        nowhere = f"http://{HOST}:{port}"
        jira_up = world.with_github(hub).with_jira(data_center).having({"BASE_BRANCH_GITHUB_API_URL": nowhere})
        derived(jira_up.resolve("APP-1"))
        unread(jira_up, "acme/app#12", "github", "failed", "refused", "github.com refused the connection")
        github_up = world.with_github(hub).with_jira(data_center).having({"JIRA_URL": nowhere})
        derived(github_up.resolve("#12"))
        unread(github_up, "APP-1", "jira", "failed", "refused", "127.0.0.1 refuses connections")


def test_one_timeout_ends_all_of_them(world: World) -> None:
    with silent_listener() as port:
        world.stand.serve_as(f"http://{HOST}:{port}/acme/app.git")
        silent = world.having({"JIRA_URL": f"http://{HOST}:{port}"})
        decision = silent.resolve("APP-1", "--timeout", "1", code=6)
    assert {name: source(decision, name)["kind"] for name in ("remote", "jira")} == {
        "remote": "timed-out",
        "jira": "timed-out",
    }


# --- whom a token goes to ---


def authorizations(jira: Jira) -> list[str | None]:
    """What comes with each request from here on."""
    seen: list[str | None] = []
    serve = jira.serve

    def listening(method: str, target: str, authorization: str | None, body: str) -> Reply:
        seen.append(authorization)
        return serve(method, target, authorization, body)

    jira.serve = listening  # type: ignore[method-assign] # the server of one test
    return seen


def test_a_jira_of_another_host_gets_no_token(world: World, data_center: Jira) -> None:
    data_center.add("APP-1", fixVersions=[version("8.2.0")])
    with jira_server() as other:
        other.add("APP-1", fixVersions=[version("8.3.0")])
        other.public.add("APP-1")
        seen = authorizations(other)
        mine = world.with_jira(data_center)
        derived(mine.resolve(f"{other.url}/browse/APP-1"))
        assert seen == [None, None]
        assert data_center.requests == []
        # The same name, another issue: the key alone is the user's own Jira's.
        derived(mine.resolve("APP-1"), "release/8.2.0")
        assert len(seen) == 2


@pytest.mark.parametrize("status", [301, 302])
def test_a_redirect_takes_no_token_along(world: World, data_center: Jira, hub: Hub, status: int) -> None:
    with jira_server() as other:
        seen = authorizations(other)
        away = {"Location": f"{other.url}/rest/api/2/issue/APP-1"}
        data_center.say("issue", Reply(status=status, headers=away))
        hub.canned = [Canned(status=status, headers=away, body={})]
        both = world.with_jira(data_center).with_github(hub)
        assert source(both.resolve("APP-1", code=6), "jira")["state"] == "failed"
        # Of a redirect GitHub's client follows the path alone, to the host that it asked.
        assert both.collect("#12")["issue"]["read"] == ("answered" if status == 301 else "failed")
        assert seen == []


@pytest.mark.parametrize(
    "words",
    [
        '[jira]\nurl = "{url}"\ntoken = "x"\n',
        '[github]\napiUrl = "{url}"\n',
        "askOnIssue = true\n",
    ],
)
def test_a_repository_s_file_moves_no_token(world: World, data_center: Jira, hub: Hub, words: str) -> None:
    with jira_server() as other:
        seen = authorizations(other)
        text = words.format(url=other.url)
        (world.stand.clone.path / ".base-branch.toml").write_text(text, encoding="utf-8")
        done = world.with_jira(data_center).with_github(hub).run("resolve", "--autopilot", "--issue", "APP-1", code=2)
        assert ".base-branch.toml" in done.err
        assert (done.out, seen, data_center.requests, hub.asked) == (b"", [], [], [])


def test_a_repository_s_file_may_name_the_fields(world: World, data_center: Jira) -> None:
    (world.stand.clone.path / ".base-branch.toml").write_text('[jira]\nfields = ["Goal"]\n', encoding="utf-8")
    data_center.custom = {"customfield_10": "Goal", "customfield_11": "Target Version"}
    data_center.add("APP-1", customfield_10=version("8.3.0"), customfield_11=version("8.2.0"))
    derived(world.with_jira(data_center).resolve("APP-1"))


@pytest.mark.parametrize("name", ["JIRA_TOKEN", "GH_TOKEN"])
def test_a_token_that_no_header_can_carry_is_not_shown(world: World, data_center: Jira, hub: Hub, name: str) -> None:
    mine = world.with_jira(data_center).with_github(hub).having({name: "s3cr3t value"})
    done = mine.run("resolve", "--autopilot", "--issue", "APP-1" if name == "JIRA_TOKEN" else "#12", code=2)
    assert f"{name}" in done.err
    assert "s3cr3t" not in done.err
    assert (done.out, data_center.requests, hub.asked) == (b"", [], [])


def test_a_netrc_does_not_override_a_token(world: World, data_center: Jira, home: Path) -> None:
    (home / ".netrc").write_text(f"machine {HOST} login eve password wrong\n", encoding="utf-8")
    (home / ".netrc").chmod(0o600)
    data_center.add("APP-1", fixVersions=[version("8.3.0")])
    seen = authorizations(data_center)
    derived(world.with_jira(data_center).resolve("APP-1"))
    assert [(word or "").partition(" ")[0] for word in seen] == ["Bearer", "Bearer"]


def test_a_token_that_the_server_says_back_is_not_shown(world: World, data_center: Jira, hub: Hub) -> None:
    jira_says = f'{{"errorMessages": ["no: {world.with_jira(data_center).environ["JIRA_TOKEN"]}"]}}'
    data_center.say("issue", Reply(status=403, body=jira_says))
    hub.canned = [Canned(status=403, body={"message": f"no: {hub.site().token}"})]
    both = world.with_jira(data_center).with_github(hub)
    assert source(both.resolve("APP-1", code=6), "jira")["detail"].endswith("no: ***")
    assert source(both.resolve("#12", code=6), "github")["detail"].endswith("no: ***")


# --- what a hostile tracker sends ---

ODD: list[object] = [7, {}, [None, 7, "x", [], {"name": 7}]]


@pytest.mark.parametrize("odd", ODD)
def test_fields_of_the_wrong_types_are_no_versions_and_no_crash(world: World, data_center: Jira, odd: object) -> None:
    names = ("fixVersions", "versions", "labels", "parent", "issuelinks", "customfield_10")
    issue = {"key": odd, "names": {"customfield_10": "Target Version"}, "fields": dict.fromkeys(names, odd)}
    data_center.say("issue", Reply(status=200, body=json.dumps(issue)))
    data_center.say("remotelink", Reply(status=200, body=json.dumps(odd)))
    data_center.custom = {"customfield_10": "Target Version"}
    bundle = world.with_jira(data_center).collect("APP-1")
    assert bundle["issue"]["key"] == "APP-1"
    assert "8.4.0" not in json.dumps(bundle["issue"]["versions"])


def test_a_huge_answer_is_read_or_refused_in_time_and_shown_short(world: World, data_center: Jira, hub: Hub) -> None:
    data_center.say("issue", Reply(status=403, body=json.dumps({"errorMessages": ["x" * 5_000_000]})))
    hub.canned = [Canned(status=403, body={"message": "x" * 5_000_000})]
    both = world.with_jira(data_center).with_github(hub)
    assert len(source(both.resolve("APP-1", code=6), "jira")["detail"]) == 328
    assert len(str(source(both.resolve("#12", code=6), "github")["detail"])) < 400


def test_words_that_would_move_the_cursor_are_escaped(world: World, data_center: Jira) -> None:
    data_center.add("APP-1", fixVersions=[version("8.3.0\x1b[2J")], labels=["\u202e3.8"])
    said = world.with_jira(data_center).run("explain", "--issue", "APP-1").out.decode()
    assert "\x1b" not in said
    assert "\u202e" not in said
