"""A preferences file that another program keeps: its own shapes are read, and come back as they were found."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from candidates.memory import forget, remember
from candidates.setup.schemas import schema_of
from collectors.stores.preferences import WebRepo, parse_recent, read_recent
from collectors.stores.recent_entries import Use
from ranking.facts import RecentChoice

if TYPE_CHECKING:
    from pathlib import Path

KEY, OLD = "git.example.com/acme/app", "acme/app"
NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)
DAY_BEFORE = "2026-11-29T00:00:00Z"

MAP = """\
{
  "projects": {"acme/app": {"webRepos": [{"path": "/srv/web", "readOnly": true}], "testPolicy": "tdd"}},
  "global": {
    "outputLanguage": "tr",
    "baseBranchEvidence": {"enabled": true, "autopilotAsksOnIssue": true},
    "recentBranches": {
      "other": [{"branch": "origin/develop", "lastUsed": "2026-11-20", "mark": 1.50}],
      "acme/app": [{"branch": "release/8.3.0", "lastUsed": "2026-11-28T10:00:00Z", "mark": 2.50}],
      "odd": "main"
    }
  }
}
"""


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    path = tmp_path / "preferences.json"
    path.write_text(MAP)
    return path


def of(document: object, key: str = KEY, old: str | None = OLD) -> list[tuple[str, datetime]]:
    found = parse_recent(json.dumps(document).encode(), key, "prefs", old_key=old)
    assert found.state == "answered", found.detail
    return [(choice.branch, choice.last_used) for choice in found.choices]


def listing(shape: str, *entries: dict[str, Any], key: str = OLD) -> dict[str, Any]:
    """The same entries of one project as a map or as a flat list."""
    as_list = [{"projectKey": key} | entry for entry in entries]
    return {"global": {"recentBranches": {key: list(entries)} if shape == "map" else as_list}}


def test_a_map_from_project_key_to_list_is_read(shared: Path) -> None:
    found = read_recent(shared, KEY, old_key=OLD)
    moment = datetime(2026, 11, 28, 10, tzinfo=UTC)
    assert found.choices == (RecentChoice(branch="release/8.3.0", last_used=moment),)
    assert (found.state, found.evidence, found.autopilot_asks_on_issue) == ("answered", True, True)
    assert found.web_repos == (WebRepo(path="/srv/web", read_only=True),)


def test_a_choice_joins_its_project_and_every_other_byte_stays(shared: Path) -> None:
    changed = remember(shared, KEY, "main", NOW, old_key=OLD)
    assert (changed.written, changed.aside, changed.warnings) == (True, None, ())
    document = json.loads(shared.read_text())
    assert document["global"]["recentBranches"]["acme/app"] == [
        {"branch": "main", "lastUsed": "2026-11-30T09:00:00Z", "count": 1, "project": KEY},
        {"branch": "release/8.3.0", "lastUsed": "2026-11-28T10:00:00Z", "mark": 2.5},
    ]
    head, tail = MAP.partition('"acme/app": [{"branch"')[0], MAP.partition('"mark": 2.50}')[2].removeprefix("]")
    text = shared.read_text()
    assert text.startswith(head)
    assert text.endswith(tail)
    assert "2.50" in text
    assert [path.name for path in shared.parent.iterdir() if "damaged" in path.name] == []


def test_a_project_that_is_new_to_the_map_gets_a_list_of_its_own(shared: Path) -> None:
    remember(shared, "git.example.com/acme/new", "main", NOW, old_key="acme/new")
    branches = json.loads(shared.read_text())["global"]["recentBranches"]
    assert list(branches) == ["other", "acme/app", "odd", "git.example.com/acme/new"]
    assert [entry["branch"] for entry in branches["git.example.com/acme/new"]] == ["main"]


def test_forgetting_empties_the_projects_list_alone(shared: Path) -> None:
    forget(shared, KEY, None, NOW, old_key=OLD)
    branches = json.loads(shared.read_text())["global"]["recentBranches"]
    assert (branches.pop("acme/app"), sorted(branches)) == ([], ["odd", "other"])


def test_a_flat_list_stays_one(tmp_path: Path) -> None:
    path = tmp_path / "preferences.json"
    path.write_text(json.dumps(listing("list", {"branch": "develop", "lastUsed": DAY_BEFORE})))
    remember(path, KEY, "main", NOW, old_key=OLD)
    entries = json.loads(path.read_text())["global"]["recentBranches"]
    assert [(entry["projectKey"], entry["branch"]) for entry in entries] == [(KEY, "main"), (OLD, "develop")]
    assert [choice.branch for choice in read_recent(path, KEY, old_key=OLD).choices] == ["main", "develop"]


@pytest.mark.parametrize("shape", ["map", "list"])
@pytest.mark.parametrize(
    ("written", "moment"),
    [
        ("2026-11-29", datetime(2026, 11, 29, tzinfo=UTC)),
        ("2026-11-29T10:00:00", datetime(2026, 11, 29, 10, tzinfo=UTC)),
        (1764374400, datetime(2025, 11, 29, tzinfo=UTC)),
        (1764374400000, datetime(2025, 11, 29, tzinfo=UTC)),
    ],
)
def test_a_date_and_an_epoch_are_moments(shape: str, written: object, moment: datetime) -> None:
    assert of(listing(shape, {"branch": "main", "lastUsed": written})) == [("main", moment)]


@pytest.mark.parametrize(("epoch", "now"), [(1764374400, 1796029200), (1764374400000, 1796029200000)])
def test_an_epoch_stays_an_epoch(tmp_path: Path, epoch: int, now: int) -> None:
    path = tmp_path / "preferences.json"
    path.write_text(json.dumps(listing("map", {"branch": "main", "lastUsed": epoch})))
    remember(path, KEY, "main", NOW, old_key=OLD)
    assert json.loads(path.read_text())["global"]["recentBranches"][OLD][0]["lastUsed"] == now


@pytest.mark.parametrize("written", ["origin/develop", "refs/heads/develop", "refs/remotes/origin/develop"])
def test_a_branch_chosen_again_keeps_the_spelling_of_its_name(tmp_path: Path, written: str) -> None:
    path = tmp_path / "preferences.json"
    path.write_text(json.dumps(listing("map", {"branch": written, "lastUsed": DAY_BEFORE, "count": 2})))
    remember(path, KEY, "develop", NOW, old_key=OLD)
    (entry,) = json.loads(path.read_text())["global"]["recentBranches"][OLD]
    assert (entry["branch"], entry["count"]) == (written, 3)


@pytest.mark.parametrize(
    ("value", "evidence", "asks"),
    [
        ({"enabled": False}, False, False),
        ({"autopilotAsksOnIssue": True}, None, True),
        ({"enabled": "on"}, True, False),
        ({}, None, False),
        (False, False, False),
    ],
)
def test_the_evidence_switch_may_be_an_object(value: object, evidence: object, asks: object) -> None:
    found = parse_recent(json.dumps({"global": {"baseBranchEvidence": value}}).encode(), KEY, "prefs")
    assert (found.evidence, found.autopilot_asks_on_issue, found.state) == (evidence, asks, "answered")


@pytest.mark.parametrize("key", [KEY, OLD, "app"])
def test_the_web_repositories_of_the_project_are_read(key: str) -> None:
    document = {
        "projects": {
            key: {"webRepos": ["/srv/a", {"root": "/srv/b", "editable": False}]},
            "other": {"webRepos": ["/x"]},
        },
        "global": {"webRepos": ["/srv/a"]},
    }
    found = parse_recent(json.dumps(document).encode(), KEY, "prefs", old_key=OLD)
    assert found.web_repos == (WebRepo(path="/srv/a"), WebRepo(path="/srv/b", read_only=True))


# Which project an entry is of.


@pytest.mark.parametrize("shape", ["map", "list"])
def test_the_old_key_is_read_unless_another_project_has_the_same(shape: str) -> None:
    document = listing(shape, {"branch": "main", "lastUsed": DAY_BEFORE})
    assert [branch for branch, _ in of(document)] == ["main"]
    entry = {"branch": "develop", "lastUsed": DAY_BEFORE}
    if shape == "map":
        document["global"]["recentBranches"]["git.other.com/acme/app"] = [entry]
    else:
        document["global"]["recentBranches"].append({"projectKey": "git.other.com/acme/app"} | entry)
    assert of(document) == []


def test_an_entry_that_names_its_project_is_no_other_projects(shared: Path) -> None:
    remember(shared, KEY, "main", NOW, old_key=OLD)
    assert read_recent(shared, "git.other.com/acme/app", old_key=OLD).choices == ()
    assert [choice.branch for choice in read_recent(shared, KEY, old_key=OLD).choices] == ["main", "release/8.3.0"]


def test_the_schema_takes_both_shapes(shared: Path) -> None:
    validator = jsonschema.Draft202012Validator(schema_of("preferences"))
    remember(shared, KEY, "main", NOW, old_key=OLD)
    document = json.loads(shared.read_text())
    del document["global"]["recentBranches"]["odd"]
    validator.validate(document)
    validator.validate(listing("list", {"branch": "main", "lastUsed": 1764374400}))
    assert not validator.is_valid({"global": {"recentBranches": {"app": "main"}}})
    assert not validator.is_valid(listing("list", {"lastUsed": DAY_BEFORE}))


# What a branch was chosen for.


def test_each_kind_of_work_keeps_its_own_moment(tmp_path: Path) -> None:
    path = tmp_path / "preferences.json"
    later = NOW + timedelta(days=1)
    remember(path, KEY, "develop", NOW, work="8.3.0")
    remember(path, KEY, "develop", later, work="8.4.0")
    (entry,) = json.loads(path.read_text())["global"]["recentBranches"][KEY]
    assert entry["chosenFor"] == {"8.4.0": "2026-12-01T09:00:00Z", "8.3.0": "2026-11-30T09:00:00Z"}
    found = read_recent(path, KEY).uses["develop"]
    assert found == (Use(work="8.4.0", last_used=later), Use(work="8.3.0", last_used=NOW))


def test_what_another_program_used_is_for_any_work(tmp_path: Path) -> None:
    path = tmp_path / "preferences.json"
    remember(path, KEY, "develop", NOW, work="8.3.0")
    document = json.loads(path.read_text())
    document["global"]["recentBranches"][KEY][0]["lastUsed"] = "2026-12-02T00:00:00Z"
    path.write_text(json.dumps(document))
    assert [use.work for use in read_recent(path, KEY).uses["develop"]] == ["any work", "8.3.0"]


def test_a_choice_for_any_work_stays_one_beside_a_choice_for_a_version(tmp_path: Path) -> None:
    path = tmp_path / "preferences.json"
    remember(path, KEY, "develop", NOW)
    assert "chosenFor" not in path.read_text()
    remember(path, KEY, "develop", NOW + timedelta(days=1), work="8.4.0")
    assert [use.work for use in read_recent(path, KEY).uses["develop"]] == ["8.4.0", "any work"]
