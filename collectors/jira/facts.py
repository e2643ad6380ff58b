"""From Jira's decoded answers to facts: fields and their states, versions, links. Pure.

Nothing is taken from descriptions, comments or titles: anyone may write there.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, Literal
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from collectors.jira.site import USUAL_TARGET_FIELDS, is_issue_key
from ranking.facts import IssueField, IssueLink, IssueVersion, Role
from ranking.versions import read_label

Fields = Mapping[str, object]
FieldState = Literal["values", "empty", "not-delivered", "not-visible", "failed", "not-asked"]
AncestorKind = Literal["parent", "epic"]

# The name is Jira's own and the same on every site; the id is the site's.
_ABOVE_FIELDS: Final = ("Epic Link", "Parent Link")
_CUSTOM_ID: Final = re.compile(r"customfield_\d+", re.ASCII)
# Each is ranked on its own. Jira itself takes 255 characters for a version's name.
_MOST_VALUES: Final = 1000
_LONGEST_NAME: Final = 255
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


# --- which fields ---


class KnownField(Struct, frozen=True, kw_only=True):
    """A field of this site: its id and the name under which it is shown."""

    id: str
    name: str


class TargetFields(Struct, frozen=True, kw_only=True):
    """Which fields hold the version that is aimed at.

    `found`: those that decide; `similar`: those of a usual name that the configuration does not name: shown, and
    never taken instead; `missing`: what was configured and is under no name and no id that we know.
    """

    found: tuple[KnownField, ...] = ()
    similar: tuple[KnownField, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of those that decide."""
        return tuple(each.id for each in self.found)


def find_targets(names: Mapping[str, str], wanted: Sequence[str] | None) -> TargetFields:
    """Find the target fields by name or id among the known ones (id to name); None: by the usual names.

    >>> find_targets({"customfield_7": "Target Release"}, ["target release", "Aim"]).missing
    ('Aim',)
    """
    usual = usual_in(names)
    if wanted is None:
        return TargetFields(found=_told_apart(usual))
    found = _named(names, wanted)
    known = {plain(each.name) for each in found} | {each.id for each in found}
    return TargetFields(
        found=_told_apart(found),
        similar=_told_apart([each for each in usual if each not in found]),
        missing=tuple(dict.fromkeys(each for each in wanted if plain(each) not in known and each not in known)),
    )


def usual_in(names: Mapping[str, str]) -> tuple[KnownField, ...]:
    """The known fields of a usual name."""
    return tuple(_named(names, USUAL_TARGET_FIELDS))


def only_on(targets: TargetFields, present: Container[str], *, configured: bool) -> TargetFields:
    """Those that an issue can show: what was not asked for by name is shown only where the issue has it."""
    found = targets.found if configured else tuple(each for each in targets.found if each.id in present)
    return TargetFields(
        found=found, similar=tuple(each for each in targets.similar if each.id in present), missing=targets.missing
    )


def find_above(names: Mapping[str, str]) -> tuple[KnownField, ...]:
    """The custom fields that name an epic, or what stands above one."""
    return tuple(_named(names, _ABOVE_FIELDS))


def is_field_id(text: str) -> bool:
    """Whether a configured name is an id."""
    return _CUSTOM_ID.fullmatch(text) is not None


def plain(name: str) -> str:
    """A name as it is compared: letter case and spaces do not count."""
    return " ".join(name.split()).casefold()


def names_of(answer: object) -> dict[str, str]:
    """Id to name: of an issue's `names`, or of the list of all fields."""
    if isinstance(answer, Mapping):
        return {str(each): name for each, name in answer.items() if isinstance(name, str)}
    pairs = ((each.get("id"), each.get("name")) for each in maps_in(answer))
    return {i: name for i, name in pairs if isinstance(i, str) and isinstance(name, str)}


def _named(names: Mapping[str, str], wanted: Iterable[str]) -> list[KnownField]:
    """In the order of the ids, so that no answer's order shows."""
    asked = {plain(each) for each in wanted} | set(wanted)
    return [KnownField(id=i, name=n) for i, n in sorted(names.items()) if i in asked or plain(n) in asked]


def _told_apart(found: Sequence[KnownField]) -> tuple[KnownField, ...]:
    """A site may give one name to several fields: then the id is shown with it."""
    often = [plain(each.name) for each in found]
    return tuple(
        KnownField(id=each.id, name=f"{each.name} ({each.id})") if often.count(plain(each.name)) > 1 else each
        for each in found
    )


# --- values ---


class Read(Struct, frozen=True, kw_only=True):
    """One field: its state and the versions in it."""

    field: IssueField
    versions: tuple[IssueVersion, ...] = ()


def read_own(fields: Fields, targets: TargetFields, names: Mapping[str, str], *, hidden: bool) -> tuple[Read, ...]:
    """All version fields of an issue. `names`: those that the answer names; `hidden`: whether we may not see all.

    A field that the answer names and does not hold was not delivered; one that it does not even name is not for
    this issue, or not for us.
    """
    absent: FieldState = "not-visible" if hidden else "not-delivered"
    shown: list[tuple[KnownField, str, Role]] = [(each, each.name, "target") for each in targets.found]
    shown += [(each, f"{each.name} (not the configured field)", "affected") for each in targets.similar]
    return (
        read_field(fields, "fixVersions", "fixVersions", "fix", absent=absent),
        read_field(fields, "versions", "versions", "affected", absent=absent),
        *(
            read_field(fields, each.id, name, role, absent=absent if each.id in names else "not-visible")
            for each, name, role in shown
        ),
        _read_labels(fields, absent),
    )


def read_field(fields: Fields, field_id: str, name: str, role: Role, *, absent: FieldState = "not-delivered") -> Read:
    """One field's state and versions: missing, null or empty, holding values, or holding what is no version."""
    if field_id not in fields:
        return Read(field=IssueField(name=name, role=role, state=absent))
    value = fields[field_id]
    entries = [each for each in (value if isinstance(value, list) else [value]) if each not in (None, "")]
    if len(entries) > _MOST_VALUES:
        return Read(field=IssueField(name=name, role=role, state="failed"))
    versions = [_version(each, name, role) for each in entries]
    state: FieldState = "failed" if None in versions else "values" if versions else "empty"
    return Read(
        field=IssueField(name=name, role=role, state=state),
        versions=tuple(version for version in versions if version is not None),
    )


def _read_labels(fields: Fields, absent: FieldState) -> Read:
    """Labels say many things: only those that could be read as a version are kept."""
    read = read_field(fields, "labels", "labels", "label", absent=absent)
    return Read(field=read.field, versions=tuple(v for v in read.versions if read_label(v.name) is not None))


def _version(value: object, field: str, role: Role) -> IssueVersion | None:
    """A version object, an option of a list, or plain text; None for anything else.

    A number with a point is none: it cannot tell 4.1 from 4.10.
    """
    entry: Fields = value if isinstance(value, Mapping) else {"name": str(value) if _is_plain(value) else None}
    name = entry.get("name", entry.get("value"))
    if isinstance(child := entry.get("child"), Mapping) and isinstance(child.get("value"), str):
        name = child["value"]  # a cascading list: the second choice is the narrower one
    if not isinstance(name, str) or not name.strip() or len(name) > _LONGEST_NAME:
        return None
    return IssueVersion(
        name=name.strip(),
        field=field,
        role=role,
        released=_flag(entry.get("released")),
        archived=_flag(entry.get("archived")),
        release_date=release_date(entry.get("releaseDate")),
    )


def _is_plain(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool))


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def release_date(value: object) -> str | None:
    """A release date as text, also where it is given in milliseconds since 1970; None where it is missing.

    >>> release_date("2026-05-01"), release_date(1777593600000), release_date(None)
    ('2026-05-01', '2026-05-01', None)
    """
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return (_EPOCH + timedelta(milliseconds=value)).date().isoformat()
    except (OverflowError, ValueError):
        return None


# --- what stands above ---


class Above(Struct, frozen=True, kw_only=True):
    """An issue that another one stands under, and how far up."""

    key: str
    kind: AncestorKind
    depth: int


def read_above(fields: Fields, fields_above: Iterable[KnownField], depth: int) -> tuple[Above, ...]:
    """What an issue names above itself: the native parent first, then the epic's and the parent link's fields."""
    found: dict[str, Above] = {}
    parent = fields.get("parent")
    if isinstance(parent, Mapping) and is_issue_key(parent.get("key")):
        kind: AncestorKind = "epic" if _is_epic(parent) else "parent"
        found[parent["key"]] = Above(key=parent["key"], kind=kind, depth=depth)
    for each in fields_above:
        key = _key_in(fields.get(each.id))
        if key is not None:
            kind = "epic" if plain(each.name) == plain("Epic Link") else "parent"
            found.setdefault(key, Above(key=key, kind=kind, depth=depth))
    return tuple(found.values())


def _is_epic(parent: Fields) -> bool:
    """By its level in the hierarchy, which no translation changes; by its name where the level is not told."""
    fields = parent.get("fields")
    kind = fields.get("issuetype") if isinstance(fields, Mapping) else None
    if not isinstance(kind, Mapping):
        return False
    level = kind.get("hierarchyLevel")
    return level == 1 if isinstance(level, int) else kind.get("name") == "Epic"


def _key_in(value: object) -> str | None:
    """The key in an Epic Link (text) or a Parent Link (text, or an object with the issue's data)."""
    if isinstance(value, Mapping):
        data = value.get("data")
        value = data.get("key") if isinstance(data, Mapping) else value.get("key")
    return value if isinstance(value, str) and is_issue_key(value) else None


# --- links to issues ---


def read_issue_links(value: object, own_key: str) -> tuple[IssueLink, ...]:
    """The links to other issues; what they aim at is not read yet.

    The side that is there gives the direction and the label: an entry with `inwardIssue` reads `type.inward`
    ("A is blocked by B"). An entry with neither side is skipped.
    """
    found: dict[tuple[str, str], IssueLink] = {}
    sides: tuple[Literal["inward", "outward"], ...] = ("inward", "outward")
    for entry in maps_in(value):
        kind = entry.get("type")
        for side in sides:
            other = entry.get(f"{side}Issue")
            key = other.get("key") if isinstance(other, Mapping) else None
            if not isinstance(key, str) or not is_issue_key(key) or key == own_key:
                continue
            label = kind.get(side) if isinstance(kind, Mapping) else None
            label = label if isinstance(label, str) and label else None
            link = IssueLink(kind=kind_of(label or ""), key=key, direction=side, label=label, read="not-asked")
            found.setdefault((key, label or side), link)
    return tuple(found.values())


_KINDS: Final[tuple[tuple[str, Literal["clones", "blocks", "relates"]], ...]] = (
    ("clone", "clones"),
    ("block", "blocks"),
    ("relat", "relates"),
)


def kind_of(label: str) -> Literal["clones", "blocks", "relates", "other"]:
    """What a link's label says; sites rename their link types, and what is not plain is `other`.

    >>> kind_of("is blocked by"), kind_of("is prerequisite of")
    ('blocks', 'other')
    """
    return next((kind for stem, kind in _KINDS if re.search(rf"\b{stem}", label.casefold())), "other")


# --- links to the forge ---

_FORGE: Final[tuple[tuple[Literal["pull-request", "release"], str, re.Pattern[str]], ...]] = (
    (
        "pull-request",
        "#",
        re.compile(
            r"(?:/[^/]+)*/(?:projects/(?P<project>[^/]+)|users/(?P<user>[^/]+))/repos/(?P<slug>[^/]+)"
            r"/pull-requests/(?P<number>\d+)(?:/.*)?",
            re.ASCII,
        ),
    ),
    ("pull-request", "#", re.compile(r"/(?P<repo>[^/]+/[^/]+)/pull-requests/(?P<number>\d+)(?:/.*)?", re.ASCII)),
    ("pull-request", "#", re.compile(r"/(?P<repo>[^/]+/[^/]+)/pull/(?P<number>\d+)(?:/.*)?", re.ASCII)),
    (
        "pull-request",
        "!",
        re.compile(r"/(?P<repo>[^/]+(?:/[^/]+)+?)(?:/-)?/merge_requests/(?P<number>\d+)(?:/.*)?", re.ASCII),
    ),
    ("release", "", re.compile(r"/(?P<repo>[^/]+/[^/]+)/releases/tag/(?P<tag>.+)")),
    ("release", "", re.compile(r"/(?P<repo>[^/]+(?:/[^/]+)+?)/-/releases/(?P<tag>[^/]+)")),
)


def read_remote_links(answer: object) -> tuple[IssueLink, ...]:
    """The remote links that lead to a pull request or a release; their base branch is not known here."""
    found: dict[tuple[str, str], IssueLink] = {}
    for entry in maps_in(answer):
        thing = entry.get("object")
        link = forge_link(thing.get("url")) if isinstance(thing, Mapping) else None
        label = entry.get("relationship")
        if link is not None:
            kind, repository, key = link
            label = label if isinstance(label, str) and label else None
            found.setdefault((kind, key), IssueLink(kind=kind, key=key, repository=repository, label=label))
    return tuple(found.values())


def forge_link(url: object) -> tuple[Literal["pull-request", "release"], str, str] | None:
    """Kind, repository and key of a URL of GitHub, GitLab or Bitbucket, by its path: hosts have any name.

    >>> forge_link("https://github.com/acme/app/pull/65/files")
    ('pull-request', 'acme/app', 'acme/app#65')
    >>> forge_link("https://github.com/acme/app/releases/tag/v8.4.1")
    ('release', 'acme/app', 'v8.4.1')
    """
    try:
        parts = urlsplit(url if isinstance(url, str) else "")
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return None
    path = unquote(parts.path).rstrip("/")
    if not path.isprintable():  # a dot in the patterns matches no newline: they would try every place before it
        return None
    for kind, mark, pattern in _FORGE:
        match = pattern.fullmatch(path)
        if match is not None:
            repository = _repository(match.groupdict())
            held = match.groupdict().get("tag")
            return kind, repository, held or f"{repository}{mark}{match['number']}"
    return None


def _repository(groups: Mapping[str, str | None]) -> str:
    """`owner/name`. Bitbucket shows its project keys in capitals and writes them small in clone URLs."""
    if groups.get("slug"):
        owner = groups.get("user") or (groups.get("project") or "").lower()
        return f"{owner.removeprefix('~')}/{groups['slug']}"
    return groups.get("repo") or ""


# --- what a search gave ---


def read_found(issues: object) -> dict[str, Fields]:
    """Key to fields of the issues that a search delivered; one without its fields was not read."""
    found: dict[str, Fields] = {}
    for entry in maps_in(issues):
        key, fields = entry.get("key"), entry.get("fields")
        if isinstance(key, str) and isinstance(fields, Mapping) and "fixVersions" in fields:
            found[key] = fields
    return found


def read_aims(fields: Fields, targets: TargetFields) -> tuple[IssueVersion, ...]:
    """The versions that another issue aims at: fix versions and target fields."""
    own = [read_field(fields, "fixVersions", "fixVersions", "fix")]
    own += [read_field(fields, each.id, each.name, "target") for each in targets.found]
    return tuple(version for read in own for version in read.versions)


def maps_in(value: object) -> Iterator[Fields]:
    """The objects of a list; nothing of anything else."""
    if isinstance(value, list):
        yield from (each for each in value if isinstance(each, Mapping))
