"""What an issue asks for: its own versions, those it inherits, those it is said to affect, its linked bases.

Free text never comes here. A label that holds no version yields a note and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace as altered

from ranking.facts import Issue, IssueLink, IssueVersion, Role
from ranking.names import printable
from ranking.versions import Reading, read_label
from ranking.words import is_family

_ROLES: dict[str, Role] = {
    "fixversions": "fix",
    "fixversion": "fix",
    "versions": "affected",
    "affectedversions": "affected",
    "affectsversion": "affected",
    "affectsversions": "affected",
    "milestone": "milestone",
    "labels": "label",
}
_OF_A_REPOSITORY = {"pull-request": "pull request", "release": "release"}
_OWN: tuple[Role, ...] = ("fix", "target", "milestone")

# Each version is held against every branch. An issue that names more than so many is somebody's joke or a report.
_MOST_VERSIONS = 20

# A tracker label is free to say anything (`python3.9`, `sev-2`, `k8s-1.25`): only a label that is a version and
# nothing else is read as one.
_PLAIN_LABEL = re.compile(r"(?:[A-Za-z]+[-_:/ ]+)*v?[0-9]+(?:[._][0-9]+)*(?:[._]?[xXzZ*])?", re.IGNORECASE)


class Target(Struct, frozen=True):
    """One version label that an issue, or what it inherits from, names."""

    label: str
    field: str
    reading: Reading
    source: str | None = None
    depth: int = 1

    def __str__(self) -> str:
        """How evidence names it: `fixVersions 8.4.0`."""
        origin = f" of {self.source}" if self.source else ""
        return printable(f"{self.field} {self.label}{origin}")


class Targets(Struct, frozen=True):
    """What was read of an issue, by how far it binds.

    `unread`: versions of its own that cannot be read, each with how evidence names it; `loose`: tracker labels with a
    version among other words, which may only be noted.
    """

    own: tuple[Target, ...] = ()
    inherited: tuple[Target, ...] = ()
    released: tuple[Target, ...] = ()
    affected: tuple[Target, ...] = ()
    weak: tuple[Target, ...] = ()
    bases: tuple[IssueLink, ...] = ()
    unread: tuple[tuple[str, str], ...] = ()
    loose: tuple[Target, ...] = ()
    notes: tuple[str, ...] = ()

    def words(self) -> frozenset[str]:
        """The words of all version labels."""
        every = (*self.own, *self.inherited, *self.released, *self.affected, *self.weak)
        return frozenset(word for target in every for word in target.reading.words)

    def spelled(self) -> frozenset[str]:
        """The numbers of all version labels, as they are written."""
        every = (*self.own, *self.inherited, *self.released, *self.affected, *self.weak)
        return frozenset(target.reading.spelling for target in every)


def role_of(version: IssueVersion) -> Role:
    """Its role, else the one that its field's well-known name gives, else `target`."""
    return version.role or _ROLES.get(re.sub("[^a-z]", "", version.field.lower()), "target")


def read_targets(issue: Issue | None, repository: str) -> Targets:
    """Sort an issue's versions and links by what they may decide."""
    if issue is None:
        return Targets()
    notes: list[str] = []
    own_versions = [v for v in issue.versions if v.inherited_from is None]
    firm = [v for v in own_versions if role_of(v) in _OWN and not _closed(v)]
    labels = [v for v in own_versions if role_of(v) == "label" and _says_version(v.name)]
    loose = [v for v in own_versions if role_of(v) == "label" and not _says_version(v.name)]
    own = _read(firm, [])
    unread = [(v.name, f"{v.field} {v.name!r}") for v in firm if read_label(v.name) is None]
    if not own:
        own = _read(labels, notes)
    else:
        notes += [f"label {v.name} is not used: the issue names a version elsewhere" for v in labels]
    links = issue.links
    passed_on = [v for v in issue.versions if v.inherited_from and role_of(v) in _OWN]
    inherited = _read([v for v in passed_on if not _closed(v)], notes)
    inherited += _read_links((k for k in links if k.kind in ("parent", "epic")), notes)
    here = (k for k in links if k.kind == "release" and same_repository(k.repository, repository))
    released = _read_links(here, notes)
    closed = [v for v in issue.versions if _closed(v)]
    closed += [v for k in links if k.kind in ("parent", "epic", "release") for v in k.versions if _closed(v)]
    notes += [f"milestone {v.name} is closed: weak evidence" for v in closed]
    notes += [f"{v.field} {v.name} is archived in the tracker" for v in firm if v.archived]
    notes += [f"{v.field} {v.name} is already released, by the tracker" for v in firm if v.released and not v.archived]
    said = [*_unread(issue), *notes, *_silent_links(links, repository)]
    return Targets(
        own=_once(own, said),
        inherited=_once(inherited, said),
        released=_once(released, said),
        affected=_once(_read([v for v in own_versions if role_of(v) == "affected"], []), said),
        weak=_once(_read(closed, []), said),
        loose=_once((t for t in _read(loose, []) if t.reading.separator or t.reading.version.wildcard), said),
        unread=tuple(sorted(set(unread))),
        bases=tuple(sorted((k for k in links if k.kind == "pull-request" and k.base_branch), key=_base_order)),
        notes=tuple(sorted(map(printable, said))),
    )


def same_repository(one: str | None, other: str) -> bool:
    """Whether a link's repository is this one: the hosts do not tell case apart; unnamed, it is."""
    return one is None or one.lower() == other.lower()


def _closed(version: IssueVersion) -> bool:
    """Whether it is a milestone that is closed: a hint, no target."""
    return role_of(version) == "milestone" and bool(version.closed)


def _base_order(link: IssueLink) -> tuple[str, str]:
    """All that a note says of a pull request, so that the order of the notes is not the issue's."""
    return link.key, link.base_branch or ""


def _read(versions: Iterable[IssueVersion], notes: list[str]) -> list[Target]:
    targets = []
    for version in versions:
        reading = read_label(version.name)
        if reading is None:
            notes.append(f"{version.field} {version.name!r} names no version")
            continue
        targets.append(Target(version.name, version.field, reading, source=version.inherited_from))
    return targets


def _read_links(links: Iterable[IssueLink], notes: list[str]) -> list[Target]:
    targets = []
    for link in links:
        named = [v for v in link.versions if role_of(v) in _OWN and not _closed(v)]
        targets += [altered(target, source=link.key, depth=link.depth) for target in _read(named, notes)]
        if link.kind == "release" and not named:
            reading = read_label(link.key)
            if reading is not None and (reading.separator or reading.version.wildcard):
                targets.append(Target(link.key, "release", reading))
    return targets


def _once(targets: Iterable[Target], notes: list[str]) -> tuple[Target, ...]:
    """Each once, in an order that does not depend on the issue's; of very many the lowest and the highest."""
    every = sorted(set(targets), key=lambda t: (t.depth, t.reading.version.key, t.label, t.field, t.source or ""))
    if len(every) <= _MOST_VERSIONS:
        return tuple(every)
    notes.append(f"{len(every)} versions are named: the {_MOST_VERSIONS // 2} lowest and highest of them are looked at")
    return (*every[: _MOST_VERSIONS // 2], *every[-_MOST_VERSIONS // 2 :])


def _says_version(label: str) -> bool:
    reading = read_label(label) if _PLAIN_LABEL.fullmatch(label.strip()) else None
    if reading is None or not (reading.separator or reading.version.wildcard):
        return False
    return all(map(is_family, reading.words))


def _unread(issue: Issue) -> list[str]:
    notes = []
    detail = f": {issue.failure.detail}" if issue.failure else ""
    if issue.read in ("failed", "not-found"):
        notes.append(f"issue {issue.key} could not be read ({issue.read}){detail}: its versions are not known")
    elif issue.read == "partial":
        notes.append(f"issue {issue.key} was read in part only{detail}")
    said = {
        "not-delivered": "was not delivered",
        "not-visible": "is not visible to us",
        "failed": "could not be read",
    }
    notes += [f"field {f.name} {said[f.state]}" for f in issue.fields if f.state in said]
    notes += [f"field {f.name} is empty" for f in issue.fields if f.state == "empty"]
    return notes


def _silent_links(links: Iterable[IssueLink], repository: str) -> list[str]:
    notes = []
    for link in links:
        if link.read == "failed":
            notes.append(f"linked {link.key} could not be read")
        elif link.kind in _OF_A_REPOSITORY and not same_repository(link.repository, repository):
            notes.append(f"linked {_OF_A_REPOSITORY[link.kind]} {link.key} is of another repository, {link.repository}")
        elif link.kind in ("clones", "blocks", "relates", "other") and link.versions:
            names = ", ".join(sorted(v.name for v in link.versions))
            notes.append(f"linked {link.key} ({link.label or link.kind}) names {names}: no ground to act on")
    return notes
