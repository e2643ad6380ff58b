"""Repositories built from recipes: real git objects and refs, fixed dates and identity, a remote and a clone.

A recipe is a TOML file of `fixtures/repos`: ordered steps (commit, branch, merge, tag, delete, clone) and
what the clone looks like. Tests and the `demo` command share this one builder.
"""

from __future__ import annotations

import re
import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
from msgspec import Struct, field

from collectors.errors import InvalidInput, SetupError
from collectors.process import Git
from collectors.strict_json import place_of
from ranking.facts import Instant

if TYPE_CHECKING:
    from collections.abc import Mapping

_IDENTITY = "Ada Example <ada@example.com>"
_MARKS = "recipe-marks"
_NO_COMMIT = 0
_RECIPE_NAME = re.compile(r"[a-z][a-z0-9_]*")
_UNWRITABLE = re.compile(r"[\x00-\x20\x7f]")

# What the user's configuration may not change about a built repository.
_OWN_WAYS = ("-c", "core.hooksPath=/dev/null", "-c", "protocol.file.allow=always")

_DIGITS = {"sha1": 40, "sha256": 64}

ObjectFormat = Literal["sha1", "sha256"]
Name = Annotated[str, msgspec.Meta(min_length=1)]


class _Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """What all parts of a recipe share: frozen and strict."""


class Commit(_Part, frozen=True, kw_only=True, tag_field="do", tag="commit"):
    """Commits on a branch; the first one on the default branch is the root. `at`: sets the clock."""

    on: Name
    message: str | None = None
    times: Annotated[int, msgspec.Meta(ge=1, le=100_000)] = 1
    at: Instant | None = None


class Branch(_Part, frozen=True, kw_only=True, tag_field="do", tag="branch"):
    """A new branch from another's tip; without `from` its next commit begins a history of its own."""

    name: Name
    from_: Name | None = msgspec.field(name="from", default=None)


class Merge(_Part, frozen=True, kw_only=True, tag_field="do", tag="merge"):
    """A merge commit of one branch or more into another; with `fast-forward` the tip is moved instead."""

    into: Name
    from_: Name | tuple[Name, ...] = msgspec.field(name="from")
    message: str | None = None
    fast_forward: bool = False
    at: Instant | None = None


class Tag(_Part, frozen=True, kw_only=True, tag_field="do", tag="tag"):
    """A tag on a branch's tip: annotated, unless said otherwise."""

    name: Name
    on: Name
    annotated: bool = True
    at: Instant | None = None


class Delete(_Part, frozen=True, kw_only=True, tag_field="do", tag="delete"):
    """A branch goes; its commits stay where something else holds them."""

    name: Name


class CloneNow(_Part, frozen=True, kw_only=True, tag_field="do", tag="clone"):
    """The clone is made here: what follows happens on the remote only. Without this step: at the end."""


class Clone(_Part, frozen=True, kw_only=True):
    """What the clone looks like. `local`: branches that get a local head besides the one checked out."""

    remote: Name = "origin"
    depth: Annotated[int, msgspec.Meta(ge=1)] | None = None
    single_branch: Name | None = None
    tags: bool = True
    local: tuple[Name, ...] = ()


class Recipe(_Part, frozen=True, kw_only=True):
    """One repository: `begin` is the first commit's date, `hours` the time between two commits or tags."""

    about: str
    default: Name = "main"
    begin: Instant = datetime(2026, 1, 5, 9, tzinfo=UTC)
    hours: Annotated[int, msgspec.Meta(ge=0, le=24 * 366)] = 24
    steps: tuple[Commit | Branch | Merge | Tag | Delete | CloneNow, ...] = ()
    clone: Clone = Clone()


class Built(Struct, frozen=True, kw_only=True):
    """Where a recipe was built: the bare remote and its clone."""

    remote: Path
    clone: Path


def recipe_names() -> tuple[str, ...]:
    """Names of the recipes that are there, in order."""
    return tuple(sorted(path.stem for path in _recipes_folder().glob("*.toml")))


def load_recipe(name: str) -> Recipe:
    """Read a recipe of `fixtures/repos`; InvalidInput where there is none of this name, or a bad one."""
    path = _recipes_folder() / f"{name}.toml"
    if not _RECIPE_NAME.fullmatch(name) or not path.is_file():
        known = ", ".join(recipe_names())
        raise InvalidInput(f"there is no recipe {name!r}", hint=f"the recipes are: {known}")
    return parse_recipe(path.read_bytes(), f"the recipe {name}")


def parse_recipe(data: bytes, what: str) -> Recipe:
    """Decode a recipe and try its steps; InvalidInput with the place (`steps[3].on`) of a fault. Pure."""
    try:
        recipe = msgspec.convert(tomllib.loads(data.decode("utf-8")), Recipe)
    except msgspec.ValidationError as error:
        message, where = place_of(str(error))
        raise InvalidInput(f"{message} (in {what})", where=where) from error
    except ValueError as error:
        raise InvalidInput(f"{what} is no TOML: {error}") from error
    plan(recipe)
    return recipe


def build(
    recipe: Recipe,
    folder: Path,
    git_environ: Mapping[str, str],
    *,
    object_format: ObjectFormat = "sha1",
) -> Built:
    """Build the recipe's remote (`remote.git`, bare) and its clone (`clone`) in a folder, made if need be.

    SetupError where git does not do it. The same recipe gives the same object ids, on any machine.
    """
    folder.mkdir(parents=True, exist_ok=True)
    built = Built(remote=folder / "remote.git", clone=folder / "clone")
    git = Git(folder=folder, environ=git_environ)
    before, after = plan(recipe, object_format)
    options = ("--template=", f"--object-format={object_format}", f"--initial-branch={recipe.default}")
    _do(git, "init", "--quiet", "--bare", *options, str(built.remote))
    _import(git.at(built.remote), before, keep_marks=after is not None)
    _clone(git, recipe.clone, built)
    if after is not None:
        _import(git.at(built.remote), after, keep_marks=True)
        (built.remote / _MARKS).unlink()
    return built


def plan(recipe: Recipe, object_format: ObjectFormat = "sha1") -> tuple[bytes, bytes | None]:
    """Write the recipe as streams for `git fast-import`: up to the clone, and after it (None: nothing is).

    InvalidInput where a step names what does not stand there at that step.
    """
    story = _Story(recipe, object_format)
    before: bytes | None = None
    for index, step in enumerate(recipe.steps):
        where = f"steps[{index}]"
        if isinstance(step, CloneNow):
            if before is not None:
                raise InvalidInput("a repository is cloned once", where=where)
            before = story.end_stream()
        else:
            try:
                story.tell(step, where)
            except OverflowError as error:
                raise InvalidInput("its date is beyond the calendar", where=where) from error
    last = story.end_stream()
    return (last, None) if before is None else (before, last)


class _Story(Struct):
    """The state while the steps are told: tips by mark (0: no commit yet), the clock, the stream so far."""

    recipe: Recipe
    object_format: ObjectFormat
    tips: dict[str, int] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)
    tags: set[str] = field(default_factory=set)
    marks: int = 0
    ticks: int = 0
    clock: datetime = datetime(1970, 1, 1, tzinfo=UTC)
    stream: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        """The default branch stands from the beginning, without a commit."""
        self.clock = self.recipe.begin
        self.tips[self.recipe.default] = _NO_COMMIT
        self.used.add(self.recipe.default)

    def tell(self, step: Commit | Branch | Merge | Tag | Delete, where: str) -> None:
        """Tell one step; InvalidInput where it cannot be."""
        match step:
            case Commit():
                tip = self._standing(step.on, f"{where}.on")
                for number in range(step.times):
                    tip = self._commit(step.on, tip, [], step.message, step.at if number == 0 else None)
            case Branch():
                self._branch(step, where)
            case Merge():
                self._merge(step, where)
            case Tag():
                self._tag(step, where)
            case Delete():
                self._standing(step.name, f"{where}.name")
                del self.tips[step.name]
                self.gone.add(step.name)

    def end_stream(self) -> bytes:
        """Close the stream: every branch where it stands now, and none that is gone."""
        for name, mark in self.tips.items():
            if mark != _NO_COMMIT:
                self._write(f"reset refs/heads/{name}\nfrom :{mark}\n\n")
        for name in sorted(self.gone):
            self._write(f"reset refs/heads/{name}\nfrom {'0' * _DIGITS[self.object_format]}\n\n")
        self._write("done\n")
        stream, self.stream, self.gone = b"".join(self.stream), [], set()
        return stream

    def _branch(self, step: Branch, where: str) -> None:
        name = _writable(step.name, f"{where}.name")
        if name in self.tips:
            raise InvalidInput(f"the branch {name} stands already", where=f"{where}.name")
        if step.from_ is not None:
            self.tips[name] = self._committed(step.from_, f"{where}.from")
        elif name in self.used:
            raise InvalidInput("an unrelated history needs a name that was not used", where=f"{where}.name")
        else:
            self.tips[name] = _NO_COMMIT
        self.used.add(name)
        self.gone.discard(name)

    def _merge(self, step: Merge, where: str) -> None:
        into = self._committed(step.into, f"{where}.into")
        names = (step.from_,) if isinstance(step.from_, str) else step.from_
        merged = [self._committed(name, f"{where}.from") for name in names]
        if not merged:
            raise InvalidInput("a merge needs a branch to merge", where=f"{where}.from")
        if step.fast_forward:
            if len(merged) > 1:
                raise InvalidInput("only one branch can be fast-forwarded to", where=f"{where}.from")
            self.tips[step.into] = merged[0]
        else:
            message = step.message or f"Merge {', '.join(names)} into {step.into}"
            self._commit(step.into, into, merged, message, step.at)

    def _tag(self, step: Tag, where: str) -> None:
        name = _writable(step.name, f"{where}.name")
        if name in self.tags:
            raise InvalidInput(f"the tag {name} stands already", where=f"{where}.name")
        mark = self._committed(step.on, f"{where}.on")
        self.tags.add(name)
        if step.annotated:
            self._write(f"tag {name}\nfrom :{mark}\ntagger {_IDENTITY} {self._tick(step.at)}\n")
            self._write_data(f"Release {name}\n")
        else:
            self._write(f"reset refs/tags/{name}\nfrom :{mark}\n\n")

    def _commit(self, branch: str, tip: int, merged: list[int], message: str | None, at: datetime | None) -> int:
        """Write one commit and move the branch to it."""
        self.marks += 1
        said = message or f"Work on {branch}, step {self.marks}"
        self._write(f"commit refs/heads/{branch}\nmark :{self.marks}\ncommitter {_IDENTITY} {self._tick(at)}\n")
        self._write_data(f"{said}\n")
        if tip != _NO_COMMIT:
            self._write(f"from :{tip}\n")
        for mark in merged:
            self._write(f"merge :{mark}\n")
        # A file a branch: no two branches touch the same one, so real merges of the clone do not conflict.
        self._write(f"M 100644 inline notes/{branch.replace('/', '-')}.txt\n")
        self._write_data(f"{self.marks}: {said}\n")
        self.tips[branch] = self.marks
        return self.marks

    def _tick(self, at: datetime | None) -> str:
        """The next moment, as git writes it: the given one, or one interval after the one before."""
        if at is not None:
            self.clock = at
        elif self.ticks:
            self.clock += timedelta(hours=self.recipe.hours)
        self.ticks += 1
        return f"{int(self.clock.timestamp())} +0000"

    def _standing(self, name: str, where: str) -> int:
        """The mark of a branch that stands at this step, committed to or not."""
        if name not in self.tips:
            raise InvalidInput(f"no branch {name} stands here at this step", where=where)
        return self.tips[_writable(name, where)]

    def _committed(self, name: str, where: str) -> int:
        """The mark of a branch's tip."""
        mark = self._standing(name, where)
        if mark == _NO_COMMIT:
            raise InvalidInput(f"the branch {name} has no commit yet", where=where)
        return mark

    def _write(self, text: str) -> None:
        self.stream.append(text.encode())

    def _write_data(self, text: str) -> None:
        self.stream.append(b"data %d\n%s\n" % (len(text.encode()), text.encode()))


def _writable(name: str, where: str) -> str:
    """A name that can stand in a stream; whether git allows it as a refname git says."""
    if _UNWRITABLE.search(name):
        raise InvalidInput("a name holds neither spaces nor control characters", where=where)
    return name


def _recipes_folder() -> Path:
    """The recipes: beside this module in an installed package, else at the top of the source tree."""
    here = Path(__file__).resolve().parent
    installed = here / "fixtures" / "repos"
    return installed if installed.is_dir() else here.parents[1] / "fixtures" / "repos"


def _import(git: Git, stream: bytes, *, keep_marks: bool) -> None:
    """Bring a stream into a bare repository, in one process."""
    marks = (f"--import-marks-if-exists={_MARKS}", f"--export-marks={_MARKS}") if keep_marks else ()
    _do(git, "fast-import", "--quiet", "--force", "--done", *marks, stdin=stream)


def _clone(git: Git, clone: Clone, built: Built) -> None:
    """Clone the remote as the recipe wants it."""
    options = ["--quiet", "--template=", f"--origin={clone.remote}"]
    if clone.single_branch is not None:
        options += ["--single-branch", f"--branch={clone.single_branch}"]
    if clone.depth is not None:
        options.append(f"--depth={clone.depth}")
        # git takes a depth for a wish for one branch.
        options += ["--no-single-branch"] if clone.single_branch is None else []
    if not clone.tags:
        options.append("--no-tags")
    # A plain path would be linked, not transferred, and a depth ignored.
    address = str(built.remote) if clone.depth is None else built.remote.resolve().as_uri()
    _do(git, "clone", *options, "--", address, str(built.clone))
    for name in clone.local:
        _do(git.at(built.clone), "branch", "--track", name, f"refs/remotes/{clone.remote}/{name}")


def _do(git: Git, *arguments: str, stdin: bytes = b"") -> None:
    """Run git; SetupError where it did not do it."""
    ran = git.run(*_OWN_WAYS, *arguments, stdin=stdin, network=True)
    if ran.code != 0:
        said = ran.stderr.strip() or "it did not end in time"
        raise SetupError(f"git {arguments[0]} did not build the repository: {said}", code="recipe-not-built")
