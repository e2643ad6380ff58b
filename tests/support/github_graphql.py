"""A small GraphQL: parses a query, refuses what GitHub's schema does not have, and answers what was asked for.

The types are the part of GitHub's public schema that this project asks for; a test holds them, and every text
that is sent, against the whole schema where that is to be had.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

Json = object

# Of each type its fields, and what they lead to: a type, or nothing further. `!` before a type: a connection,
# which has to be told how many nodes are wanted.
TYPES: Final[dict[str, dict[str, str | None]]] = {
    "Query": {"repository": "Repository", "viewer": "User"},
    "User": {"login": None},
    "Ref": {"name": None},
    "Repository": {"nameWithOwner": None, "defaultBranchRef": "Ref", "issueOrPullRequest": "IssueOrPullRequest"},
    "Issue": {
        "number": None,
        "repository": "Repository",
        "milestone": "Milestone",
        "labels": "!LabelConnection",
        "parent": "Issue",
        "subIssues": "!IssueConnection",
        "closedByPullRequestsReferences": "!PullRequestConnection",
        "timelineItems": "!IssueTimelineItemsConnection",
        "comments": "!IssueCommentConnection",
    },
    "PullRequest": {
        "number": None,
        "repository": "Repository",
        "state": None,
        "baseRefName": None,
        "bodyText": None,
        "milestone": "Milestone",
        "labels": "!LabelConnection",
        "closingIssuesReferences": "!IssueConnection",
        "comments": "!IssueCommentConnection",
    },
    "Milestone": {"title": None, "state": None, "dueOn": None},
    "Label": {"name": None},
    "LabelConnection": {"pageInfo": "PageInfo", "nodes": "Label"},
    "IssueConnection": {"pageInfo": "PageInfo", "nodes": "Issue"},
    "PullRequestConnection": {"pageInfo": "PageInfo", "nodes": "PullRequest"},
    "IssueTimelineItemsConnection": {"pageInfo": "PageInfo", "nodes": "IssueTimelineItems"},
    "IssueCommentConnection": {"pageInfo": "PageInfo", "nodes": "IssueComment"},
    "IssueComment": {"url": None, "body": None},
    "PageInfo": {"hasNextPage": None, "hasPreviousPage": None, "startCursor": None},
    "CrossReferencedEvent": {"source": "ReferencedSubject", "willCloseTarget": None},
    "ConnectedEvent": {"source": "ReferencedSubject", "subject": "ReferencedSubject"},
    "DisconnectedEvent": {"source": "ReferencedSubject", "subject": "ReferencedSubject"},
}
UNIONS: Final[dict[str, tuple[str, ...]]] = {
    "IssueOrPullRequest": ("Issue", "PullRequest"),
    "ReferencedSubject": ("Issue", "PullRequest"),
    "IssueTimelineItems": ("CrossReferencedEvent", "ConnectedEvent", "DisconnectedEvent"),
}
MOST_NODES: Final = 100


class Refused(Exception):  # noqa: N818 - it is what the server says
    """The query itself is wrong: nothing is looked up, and GitHub answers 200 with errors and no data."""

    def __init__(self, code: str, message: str) -> None:
        """`code`: GitHub's word for the fault."""
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A value that cannot be given: null, and an error at its path."""

    type: str
    message: str
    extensions: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Selected:
    """A field that is asked for, or (`on` set) what is asked for of one type."""

    name: str
    alias: str = ""
    arguments: Mapping[str, Json] = field(default_factory=dict)
    inner: tuple[Selected, ...] = ()
    on: str | None = None
    spread: bool = False


@dataclass(frozen=True, kw_only=True)
class Document:
    """A parsed query."""

    variables: Mapping[str, str]
    selected: tuple[Selected, ...]
    fragments: Mapping[str, Selected]


_TOKEN = re.compile(r'\.\.\.|[{}():!\[\]=]|\$?[A-Za-z_]\w*|-?\d+|"[^"\n]*"')
_IGNORED = re.compile(r"(?:[\s,]|#[^\n]*)+")


class _Variable(str):
    """The name of a variable, to be replaced by its value."""

    __slots__ = ()


def parse(text: str) -> Document:
    """Parse a query with its fragments."""
    return _Parser(text).document()


class _Parser:
    def __init__(self, text: str) -> None:
        self.tokens: list[str] = []
        at = 0
        while at < len(text):
            if ignored := _IGNORED.match(text, at):
                at = ignored.end()
            elif token := _TOKEN.match(text, at):
                self.tokens.append(token[0])
                at = token.end()
            else:
                raise Refused("parse", f"Parse error on {text[at]!r}")
        self.tokens.append("")

    def next(self, wanted: str = "") -> str:
        token = self.tokens.pop(0)
        if not token or (wanted and token != wanted):
            raise Refused("parse", f"Parse error on {token!r}: expected {wanted!r}")
        return token

    def took(self, wanted: str) -> bool:
        return self.tokens[0] == wanted and bool(self.next())

    def document(self) -> Document:
        variables: dict[str, str] = {}
        selected: tuple[Selected, ...] = ()
        fragments: dict[str, Selected] = {}
        while self.tokens[0]:
            if self.took("fragment"):
                name = self.next()
                self.next("on")
                fragments[name] = Selected(name=name, on=self.next(), inner=self.selection())
                continue
            self.next("query")
            self.next()
            if self.took("("):
                while not self.took(")"):
                    name = self.next()
                    self.next(":")
                    variables[name[1:]] = self.next() + ("!" if self.took("!") else "")
            selected = self.selection()
        return Document(variables=variables, selected=selected, fragments=fragments)

    def selection(self) -> tuple[Selected, ...]:
        self.next("{")
        found = []
        while not self.took("}"):
            found.append(self.selected())
        return tuple(found)

    def selected(self) -> Selected:
        if self.took("..."):
            if self.took("on"):
                name = self.next()
                return Selected(name=name, on=name, inner=self.selection())
            return Selected(name=self.next(), spread=True)
        name = alias = self.next()
        if self.took(":"):
            name = self.next()
        arguments: dict[str, Json] = {}
        if self.took("("):
            while not self.took(")"):
                key = self.next()
                self.next(":")
                arguments[key] = self.value()
        inner = self.selection() if self.tokens[0] == "{" else ()
        return Selected(name=name, alias=alias, arguments=arguments, inner=inner)

    def value(self) -> Json:
        word = self.next()
        if word == "[":
            values = []
            while not self.took("]"):
                values.append(self.value())
            return values
        if word.startswith("$"):
            return _Variable(word[1:])
        if word in {"true", "false"}:
            return word == "true"
        return int(word) if word.lstrip("-").isdecimal() else word.strip('"')


def check(document: Document, variables: Mapping[str, Json], unknown: frozenset[str]) -> None:
    """Refuse fields that the schema does not have (`unknown`: nor does this server), and missing variables."""
    for name, kind in document.variables.items():
        value = variables.get(name)
        if value is None and not kind.endswith("!"):
            continue
        wanted = int if kind.startswith("Int") else str
        if not isinstance(value, wanted):
            raise Refused("variableMismatch", f"Variable ${name} of type {kind} was provided invalid value")
    _check("Query", document.selected, document, unknown)


def _check(parent: str, selected: Sequence[Selected], document: Document, unknown: frozenset[str]) -> None:
    for each in selected:
        if each.on is not None or each.spread:
            part = document.fragments.get(each.name) if each.spread else each
            if part is None or part.on not in (parent, *UNIONS.get(parent, ())):
                raise Refused("cannotSpreadFragment", f"Fragment {each.name} can't be spread inside {parent}")
            _check(part.on or "", part.inner, document, unknown)
            continue
        if each.name == "__typename":
            continue
        fields = TYPES.get(parent, {})
        if each.name not in fields or each.name in unknown:
            raise Refused("undefinedField", f"Field '{each.name}' doesn't exist on type '{parent}'")
        leads = fields[each.name]
        if bool(leads) != bool(each.inner):
            raise Refused("selectionMismatch", f"Selections of '{each.name}' do not fit its type")
        for value in each.arguments.values():
            if isinstance(value, _Variable) and value not in document.variables:
                raise Refused("variableNotDefined", f"Variable ${value} is not declared")
        if leads:
            _check(leads.removeprefix("!"), each.inner, document, unknown)


def execute(document: Document, root: Mapping[str, Json], variables: Mapping[str, Json]) -> dict[str, Json]:
    """The answer: data, and errors where parts could not be given."""
    errors: list[Json] = []
    data = _object("Query", root, document.selected, _Run(document, variables, errors), ())
    return {"data": data, **({"errors": errors} if errors else {})}


@dataclass(frozen=True)
class _Run:
    document: Document
    variables: Mapping[str, Json]
    errors: list[Json]


def _object(
    parent: str, value: Mapping[str, Json], selected: Sequence[Selected], run: _Run, path: tuple[Json, ...]
) -> dict[str, Json]:
    found: dict[str, Json] = {}
    concrete = str(value.get("__typename", parent))
    for each in selected:
        if each.on is not None or each.spread:
            part = run.document.fragments[each.name] if each.spread else each
            if part.on in (concrete, parent):
                found |= _object(concrete, value, part.inner, run, path)
        elif each.name == "__typename":
            found[each.alias] = concrete
        else:
            found[each.alias] = _field(concrete, value, each, run, (*path, each.alias))
    return found


def _field(parent: str, value: Mapping[str, Json], each: Selected, run: _Run, path: tuple[Json, ...]) -> Json:
    leads = TYPES[parent][each.name]
    raw = value.get(each.name)
    arguments = {k: run.variables.get(v) if isinstance(v, _Variable) else v for k, v in each.arguments.items()}
    if leads and leads.startswith("!"):
        raw = raw if isinstance(raw, Fault) else _connection(raw, arguments)
    elif callable(raw):
        raw = raw(**arguments)
    return _value((leads or "").removeprefix("!"), raw, each, run, path)


def _value(kind: str, raw: Json, each: Selected, run: _Run, path: tuple[Json, ...]) -> Json:
    if isinstance(raw, Fault):
        extensions = {"extensions": dict(raw.extensions)} if raw.extensions else {}
        run.errors.append({"type": raw.type, "path": list(path), "message": raw.message, **extensions})
        return None
    if isinstance(raw, list):
        return [_value(kind, node, each, run, (*path, i)) for i, node in enumerate(raw)]
    if isinstance(raw, Mapping):
        return _object(kind, raw, each.inner, run, path)
    return raw


def _connection(raw: Json, arguments: Mapping[str, Json]) -> Json:
    """One page of a list; cursors are the places in it."""
    nodes: list[Json] = list(raw()) if callable(raw) else list(raw) if isinstance(raw, list | tuple) else []
    first, last, before = arguments.get("first"), arguments.get("last"), arguments.get("before")
    wanted = first or last
    if not isinstance(wanted, int):
        return Fault(type="MISSING_PAGINATION_BOUNDARIES", message="You must provide a `first` or `last` value")
    if wanted > MOST_NODES:
        return Fault(type="EXCESSIVE_PAGINATION", message=f"Requesting {wanted} records exceeds the limit of 100")
    end = int(before) if isinstance(before, str) else len(nodes)
    start, stop = (max(0, end - wanted), end) if last else (0, min(wanted, end))
    page = {"hasNextPage": stop < len(nodes), "hasPreviousPage": start > 0, "startCursor": str(start)}
    return {"nodes": nodes[start:stop], "pageInfo": page}
