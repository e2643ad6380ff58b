"""What a record on the wire leaves out: not known, not asked or none, and settings as they are documented."""

from __future__ import annotations

import msgspec

from ranking.facts import Facts, Failure, Ranking

Wire = dict[str, object]

NOW = "2026-11-30T09:00:00Z"
VERSION: Wire = {"name": "8.4.0", "field": "fixVersions"}

SHORT: Wire = {
    "schema": "base-branch/bundle@1",
    "now": NOW,
    "repository": {"name": "acme/app"},
    "refs": {"provenance": "remote", "complete": True, "branches": [{"name": "main"}], "tags": [{"name": "v8.3.0"}]},
    "issue": {"key": "APP-1", "read": "answered", "versions": [VERSION], "links": [{"kind": "parent", "key": "APP-9"}]},
    "recent": [{"branch": "main", "lastUsed": NOW}],
}
LONG_VERSION = VERSION | {
    "role": None,
    "inheritedFrom": None,
    "released": None,
    "archived": None,
    "closed": None,
    "releaseDate": None,
}
LONG: Wire = SHORT | {
    "repository": {
        "name": "acme/app",
        "remote": None,
        "remoteReason": None,
        "url": None,
        "remoteType": None,
        "defaultBranch": None,
        "defaultBranchState": "not-asked",
    },
    "refs": {
        "provenance": "remote",
        "complete": True,
        "branches": [
            {
                "name": "main",
                "tip": None,
                "cachedTip": None,
                "localTip": None,
                "committedAt": None,
                "dateState": "not-asked",
                "protected": None,
            }
        ],
        "tags": [{"name": "v8.3.0", "commit": None, "createdAt": None, "branches": None}],
        "tagsComplete": None,
        "failure": None,
    },
    "issue": {
        "key": "APP-1",
        "read": "answered",
        "source": "file",
        "failure": None,
        "fields": [],
        "versions": [LONG_VERSION],
        "linksRead": "not-asked",
        "links": [
            {
                "kind": "parent",
                "key": "APP-9",
                "direction": None,
                "label": None,
                "repository": None,
                "state": None,
                "depth": 1,
                "read": "answered",
                "versions": [],
                "baseBranch": None,
            }
        ],
    },
    "recent": [{"branch": "main", "lastUsed": NOW, "count": 1}],
    "backtest": None,
    "settings": {
        "multipleVersions": "ambiguous",
        "onConflict": "remembered",
        "resolveOrder": ["remembered", "derived", "default"],
        "defaultOrder": None,
        "branchTtlDays": 15,
        "maxCandidates": 50,
        "deriveFloor": None,
        "workPrefixes": None,
    },
}


def test_what_a_bundle_leaves_out() -> None:
    assert msgspec.convert(SHORT, Facts) == msgspec.convert(LONG, Facts)


def test_a_bundle_without_anything_listed_asked_or_remembered() -> None:
    bare: Wire = {key: SHORT[key] for key in ("schema", "now", "repository")} | {
        "refs": {"provenance": "local", "complete": False}
    }
    said: Wire = bare | {
        "refs": {"provenance": "local", "complete": False, "branches": [], "tags": []},
        "issue": None,
        "recent": [],
        "settings": {},
    }
    assert msgspec.convert(bare, Facts) == msgspec.convert(said, Facts)


def test_an_issue_of_which_only_the_key_is_known() -> None:
    issue: Wire = {"key": "APP-1", "read": "failed"}
    said: Wire = issue | {"fields": [], "versions": [], "links": []}
    assert msgspec.convert(SHORT | {"issue": issue}, Facts) == msgspec.convert(SHORT | {"issue": said}, Facts)


def test_a_failure_without_a_host_and_a_ranking_without_a_choice() -> None:
    failure = {"kind": "timed-out", "detail": "no answer in 15 s"}
    assert msgspec.convert(failure, Failure) == msgspec.convert(failure | {"host": None}, Failure)
    ranking = {"refProvenance": "remote", "ambiguous": True, "convention": None, "candidates": [], "notes": []}
    found = msgspec.convert(ranking, Ranking)
    assert (found.chosen, found.asked_on_issue) == (msgspec.UNSET, None)
