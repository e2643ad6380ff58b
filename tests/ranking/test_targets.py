"""What is read of an issue, by how far it binds, where it names very many versions."""

from __future__ import annotations

import pytest

from ranking.facts import Issue, IssueLink, IssueVersion
from ranking.targets import read_targets
from tests.ranking.facts_builder import parent, versions, wants


def naming(group: str, labels: tuple[str, ...]) -> Issue:
    """Make an issue of whose versions all are of one group."""
    match group:
        case "own":
            return wants(labels)
        case "inherited":
            return wants(links=(parent(labels),))
        case "released":
            return wants(links=(IssueLink(kind="release", key="REL-7", versions=versions(labels, "fix")),))
        case "affected":
            return wants(affected=labels)
        case _:
            closed = (IssueVersion(name=n, field="milestone", role="milestone", closed=True) for n in labels)
            return wants(more=tuple(closed))


@pytest.mark.parametrize("group", ["own", "inherited", "released", "affected", "weak"])
def test_of_very_many_versions_the_ten_lowest_and_highest_are_looked_at(group: str) -> None:
    labels = tuple(f"1.{n}.0" for n in range(1, 22))
    found = read_targets(naming(group, labels[::-1]), "acme/app")
    assert [target.label for target in getattr(found, group)] == [*labels[:10], *labels[11:]]
    assert "21 versions are named: the 10 lowest and highest of them are looked at" in found.notes
    found = read_targets(naming(group, labels[:20]), "acme/app")
    assert [target.label for target in getattr(found, group)] == [*labels[:20]]
    assert not any("are named" in note for note in found.notes)
