"""What this clone holds: local heads, remote-tracking refs and tags, as git lists them.

git is run through `collectors.process`. No object is read for it, but where an annotated tag lies loose.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from collectors.errors import SetupError
from collectors.git.failures import relevant_line
from collectors.git.ref_lines import RefLines, parse_ref_lines, text_of
from collectors.git.refspecs import covers_all_branches, parse_refspec, tracking_splitter
from ranking.names import HEADS, REMOTES, TAGS, Refname, remote_tracking

if TYPE_CHECKING:
    from collections.abc import Mapping

    from collectors.git.refspecs import Splitter
    from collectors.git.repository import Config
    from collectors.process import Git

_PLAIN: Final = "--format=%(objectname) %(refname)"
_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})
_MOST_NAMES: Final = 200


class Elsewhere(Struct, frozen=True, kw_only=True):
    """The remote-tracking ref of a branch that lies elsewhere than at `refs/remotes/REMOTE/BRANCH`."""

    refname: Refname
    tip: str


class LocalRefs(Struct, frozen=True, kw_only=True):
    """What this clone holds: local heads, remote-tracking refs and tags, each by its short name.

    Of the remote it is a cache: what it lacks proves nothing, least of all where `covers_all` is False.
    """

    heads: Mapping[str, str]
    tracking: Mapping[str, str]
    """The remote's branch to the tip of `refs/remotes/REMOTE/BRANCH`, where `fetch_branches` puts it."""
    elsewhere: Mapping[str, Elsewhere]
    """The remote's branches that configured refspecs keep at another ref: no answer can name that one."""
    tags: Mapping[str, str | None]
    """Fully peeled; None where the tag's objects are not here to say what it stands for."""
    cached_default: str | None
    """The branch that `refs/remotes/REMOTE/HEAD` names: as it was when somebody last set it."""
    dangling_default: str | None
    """Likewise, where that branch's remote-tracking ref is not here (any more)."""
    covers_all: bool
    """Whether the fetch refspecs of the remote cover all its branches."""
    covered: tuple[str, ...]
    """The sources of those refspecs: what the cache can know of."""

    @property
    def newest(self) -> dict[str, str]:
        """The remote's branch to its newest known tip: what configured refspecs keep is what fetches renew."""
        return {**self.tracking, **{name: kept.tip for name, kept in self.elsewhere.items()}}


def read_local_refs(git: Git, remote: str | None, config: Config) -> LocalRefs:
    """The refs of this clone. SetupError where git cannot list them."""
    return without_aliases(git, remote, list_local_refs(git, remote, config))


def list_local_refs(git: Git, remote: str | None, config: Config) -> LocalRefs:
    """The refs of this clone, those among its remote-tracking refs that are symrefs too.

    `show-ref` does not tell symrefs, and lists 100,000 refs in a fifth of the time of `for-each-ref`, which does:
    for many runs nothing hangs on it. SetupError where git cannot list the refs.
    """
    specs = {
        name: tuple(map(parse_refspec, config.every(f"remote.{name}.fetch")))
        for name in config.subsections("remote", "fetch")
    }
    own = specs.get(remote, ()) if remote is not None else ()
    ran = git.run("show-ref", "--dereference")
    whole = ran.code in {0, 1}  # 1: there are none
    lines = parse_ref_lines(text_of(ran) if whole else _listed(git, _PLAIN), " ")
    heads = lines.under(HEADS)
    heads.pop("HEAD", None)
    tracking: dict[str, str] = {}
    elsewhere: dict[str, Elsewhere] = {}
    default = dangling = None
    if remote is not None:
        split = tracking_splitter(remote, specs)
        tracking, elsewhere = _tracked(lines, remote, split)
        target = "\n".join(git.run("symbolic-ref", "--quiet", remote_tracking(remote, "HEAD")).lines)
        pointed = split.branch_of(target)
        default, dangling = (pointed, None) if target in lines else (None, pointed)
    return LocalRefs(
        heads=heads,
        tracking=tracking,
        elsewhere=elsewhere,
        tags=lines.peeled_tags() if whole else _tags_alone(git),
        cached_default=default,
        dangling_default=dangling,
        covers_all=covers_all_branches(own),
        covered=tuple(spec.source for spec in own if spec.destination),
    )


def without_aliases(git: Git, remote: str | None, local: LocalRefs, listed: Mapping[str, str] = _NOTHING) -> LocalRefs:
    """The same, less the symrefs among the remote-tracking refs: what they lead to is no remote's branch of their name.

    `listed`: the remote's branches by its own word. Where the ref here holds just that commit it makes no difference.
    """
    if remote is None:
        return local
    doubtful = [remote_tracking(remote, name) for name, tip in local.tracking.items() if listed.get(name) != tip]
    doubtful += [kept.refname for name, kept in local.elsewhere.items() if listed.get(name) != kept.tip]
    if not doubtful:
        return local
    # Each by its name costs no walk through the others; many are no command line, nor is what is no plain text.
    by_name = len(doubtful) <= _MOST_NAMES and "".join(doubtful).isascii() and "\\" not in "".join(doubtful)
    rows = _listed(git, "--format=%(symref) %(refname)", *(doubtful if by_name else [REMOTES]))
    aliases = {refname for symref, _, refname in (row.partition(" ") for row in rows.split("\n")) if symref}
    aliases &= set(doubtful)
    if not aliases:
        return local
    return replace(
        local,
        tracking={n: tip for n, tip in local.tracking.items() if remote_tracking(remote, n) not in aliases},
        elsewhere={n: kept for n, kept in local.elsewhere.items() if kept.refname not in aliases},
    )


def _tracked(lines: RefLines, remote: str, split: Splitter) -> tuple[dict[str, str], dict[str, Elsewhere]]:
    usual = remote_tracking(remote, "")
    tracking = lines.under(usual) if split.plain else {}
    elsewhere: dict[str, Elsewhere] = {}
    others = lines.beside(REMOTES, usual) if split.plain else lines.under(REMOTES)
    for name, oid in others.items():
        refname = REMOTES + name
        branch = split.branch_of(refname)
        if branch is None:
            continue
        if refname == usual + branch:
            tracking[branch] = oid
        else:
            elsewhere[branch] = Elsewhere(refname=Refname(refname), tip=oid)
    # A pointer to the default branch, or a branch that git itself would take for one.
    tracking.pop("HEAD", None)
    elsewhere.pop("HEAD", None)
    return tracking, elsewhere


def _tags_alone(git: Git) -> Mapping[str, str | None]:
    """The tags where some ref's object is missing, at which `show-ref` stops: no tag's need it be."""
    ran = git.run("show-ref", "--tags", "--dereference")
    if ran.code in {0, 1}:
        return parse_ref_lines(text_of(ran), " ").peeled_tags()
    # One is: what each of them stands for cannot be told. Names alone need no object.
    return dict.fromkeys(parse_ref_lines(_listed(git, _PLAIN, TAGS), " ").under(TAGS))


def _listed(git: Git, form: str, *under: str) -> str:
    ran = git.run("for-each-ref", form, *under)
    if ran.code != 0:
        said = "no answer in time" if ran.timed_out else relevant_line(ran.stderr)
        message = f"git cannot list the refs: {said}"
        raise SetupError(message, code="refs-unreadable", hint="git fsck --connectivity-only")
    return text_of(ran)
