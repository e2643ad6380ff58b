"""The remote's answer, or the local cache said to be so: which remote, what both hold, the listing.

git is run through `collectors.process`; every parser is pure. Nothing here ranks, and of all refs only
`refs/remotes/REMOTE/NAME` is ever written, by `fetch_branches`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from collectors.errors import InvalidInput, SetupError
from collectors.git_failures import failure_of, relevant_line
from collectors.refspecs import covers_all_branches, parse_refspec, tracking_splitter
from collectors.remote_url import host_of, redact, rewritten
from ranking.facts import Branch, Failure, RefListing, Tag
from ranking.names import HEADS, REMOTES, TAGS, Refname, fault_of, remote_tracking

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from collectors.process import Deadline, Git, Ran
    from collectors.repository import Config

    _RemoteRule = Callable[[Config, Sequence[str]], tuple[str, str] | None]

_PEELED: Final = "^{}"

# --- which remote ---


@dataclass(frozen=True, kw_only=True, slots=True)
class RemoteChoice:
    """The remote that holds the lines, and the ground on which it was chosen; the URL is redacted."""

    name: str
    url: str | None
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class RemoteQuestion:
    """Several remotes could be meant and nothing tells which: a person must choose."""

    names: tuple[str, ...]
    reason: str


def choose_remote(config: Config, asked: str | None) -> RemoteChoice | RemoteQuestion | None:
    """The remote that holds the lines, as far as configuration tells; None where there is none.

    Names that git could take for an option, or that no refname can hold, are never considered.
    """
    names = tuple(name for name in config.subsections("remote", "url") if fault_of(name) is None)
    if asked is not None:
        if asked not in names:
            message = f"there is no remote named {redact(asked)!r}"
            raise SetupError(message, code="no-such-remote", hint="git remote -v")
        return _choice(config, asked, "asked for")
    for rule in _REMOTE_RULES:
        if found := rule(config, names):
            return _choice(config, *found)
    if not names:
        return None
    return RemoteQuestion(names=names, reason=f"{len(names)} remotes, and nothing says which holds the lines")


def remote_url(config: Config, name: str) -> str | None:
    """The URL that git asks for a remote, `insteadOf` applied, credentials left out."""
    urls = config.every(f"remote.{name}.url")
    rules = [
        (base, prefix)
        for base in config.subsections("url", "insteadof")
        for prefix in config.every(f"url.{base}.insteadof")
    ]
    return redact(rewritten(urls[0], rules)) if urls else None


def _choice(config: Config, name: str, reason: str) -> RemoteChoice:
    return RemoteChoice(name=name, url=remote_url(config, name), reason=reason)


def _resolved_by_gh(config: Config, names: Sequence[str]) -> tuple[str, str] | None:
    based = [name for name in names if config.last(f"remote.{name}.gh-resolved") == "base"]
    return (based[0], f"remote.{based[0]}.gh-resolved is base") if len(based) == 1 else None


def _upstream_of_fork(config: Config, names: Sequence[str]) -> tuple[str, str] | None:
    del config
    return ("upstream", "upstream stands beside origin") if {"upstream", "origin"} <= set(names) else None


def _push_default(config: Config, names: Sequence[str]) -> tuple[str, str] | None:
    # Where branches track another remote than the one that is pushed to, the latter is somebody's fork
    # (gitworkflows(7), "triangular"), and the lines are not there.
    name = config.last("remote.pushDefault")
    tracked = {config.last(f"branch.{b}.remote") for b in config.subsections("branch", "remote")} & set(names)
    return (name, "remote.pushDefault") if name and name in names and tracked <= {name} else None


def _only_one(config: Config, names: Sequence[str]) -> tuple[str, str] | None:
    del config
    return (names[0], "the only remote") if len(names) == 1 else None


def _origin(config: Config, names: Sequence[str]) -> tuple[str, str] | None:
    del config
    return ("origin", f"named origin, of {len(names)} remotes") if "origin" in names else None


# In this order; the first that finds one wins.
_REMOTE_RULES: Final[tuple[_RemoteRule, ...]] = (
    _resolved_by_gh,
    _upstream_of_fork,
    _push_default,
    _only_one,
    _origin,
)

# --- what is in this clone ---


@dataclass(frozen=True, kw_only=True, slots=True)
class Elsewhere:
    """The remote-tracking ref of a branch that lies elsewhere than at `refs/remotes/REMOTE/BRANCH`."""

    refname: Refname
    tip: str


@dataclass(frozen=True, kw_only=True, slots=True)
class LocalRefs:
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
    """The refs of this clone as git lists them; no object is read for it.

    `%(*objectname)` would read every ref's object (five times the cost at 100,000 refs) and, before git 2.45,
    peel a nested tag only once: so the tags come from `show-ref --dereference`.
    """
    specs = {
        name: tuple(map(parse_refspec, config.every(f"remote.{name}.fetch")))
        for name in config.subsections("remote", "fetch")
    }
    own = specs.get(remote, ()) if remote is not None else ()
    under = {HEADS} if remote is None else {HEADS, remote_tracking(remote, "")}
    stored = [s.destination.partition("*")[0] for s in own if s.destination.startswith(REMOTES)]
    under.update(prefix.rpartition("/")[0] for prefix in stored)
    rows = parse_ref_rows(_listed(git, "for-each-ref", f"--format={_ROW}", *sorted(under)))
    heads = {name[len(HEADS) :]: oid for oid, _, name in rows if name.startswith(HEADS)}
    heads.pop("HEAD", None)
    tracking: dict[str, str] = {}
    elsewhere: dict[str, Elsewhere] = {}
    default = dangling = None
    if remote is not None:
        branch_of = tracking_splitter(remote, specs)
        pointer = remote_tracking(remote, "HEAD")
        target = next((symref for _, symref, name in rows if name == pointer), None)
        if target is None:  # for-each-ref passes over a symref whose target is gone
            target = "\n".join(git.run("symbolic-ref", "--quiet", pointer).lines)
            dangling = branch_of(target)
        else:
            default = branch_of(target)
        tracking, elsewhere = _tracked(rows, remote, branch_of)
    return LocalRefs(
        heads=heads,
        tracking=tracking,
        elsewhere=elsewhere,
        tags=_read_tags(git),
        cached_default=default,
        dangling_default=dangling,
        covers_all=covers_all_branches(own),
        covered=tuple(spec.source for spec in own if spec.destination),
    )


_STRANGE: Final = "git listed refs in an unknown form"
_ROW: Final = "%(objectname)%00%(symref)%00%(refname)"


def parse_ref_rows(text: str) -> list[tuple[str, str, str]]:
    """Rows of object id, symref target (empty: none) and full refname, NUL between, a newline after each."""
    lines = text.removesuffix("\n").split("\n") if text else ()
    try:
        return [(oid, symref, refname) for oid, symref, refname in (line.split("\0") for line in lines)]
    except ValueError as fault:
        raise SetupError(_STRANGE, code="unexpected-git-output") from fault


def _tracked(
    rows: Sequence[tuple[str, str, str]], remote: str, branch_of: Callable[[str], str | None]
) -> tuple[dict[str, str], dict[str, Elsewhere]]:
    tracking: dict[str, str] = {}
    elsewhere: dict[str, Elsewhere] = {}
    usual = remote_tracking(remote, "")
    for oid, symref, refname in rows:
        # By being a symref, not by name: a server may really have a branch that is called like one.
        branch = None if symref or refname.startswith(HEADS) else branch_of(refname)
        if branch is None or branch == "HEAD":
            continue
        if refname == usual + branch:
            tracking[branch] = oid
        else:
            elsewhere[branch] = Elsewhere(refname=Refname(refname), tip=oid)
    return tracking, elsewhere


def _read_tags(git: Git) -> dict[str, str | None]:
    ran = git.run("show-ref", "--tags", "--dereference")
    if ran.code in {0, 1}:  # 1: there are none
        return dict(parse_advertised(_text(ran), separator=" ").tags)
    # It stops at the first tag whose object is missing. Names alone need no object.
    rows = parse_ref_rows(_listed(git, "for-each-ref", f"--format={_ROW}", TAGS))
    return {name[len(TAGS) :]: None for _, _, name in rows}


def _listed(git: Git, *arguments: str) -> str:
    ran = git.run(*arguments)
    if ran.code != 0:
        said = "no answer in time" if ran.timed_out else relevant_line(ran.stderr)
        message = f"git cannot list the refs: {said}"
        raise SetupError(message, code="refs-unreadable", hint="git fsck --connectivity-only")
    return _text(ran)


def _text(ran: Ran) -> str:
    # Refnames are bytes; what is no UTF-8 stays visible and can never pass for another name.
    return ran.stdout.decode("utf-8", "backslashreplace")


# --- what the remote says ---


@dataclass(frozen=True, kw_only=True, slots=True)
class RemoteAnswer:
    """All branches and tags that the remote advertised (none: it is empty), tags peeled, by short name."""

    branches: Mapping[str, str]
    tags: Mapping[str, str]
    milliseconds: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class DefaultAnswer:
    """The branch that the remote's HEAD names; None where HEAD is detached, unborn or not told."""

    branch: str | None
    milliseconds: int = 0


def ask_remote(git: Git, remote: str, deadline: Deadline, *, host: str | None = None) -> RemoteAnswer | Failure:
    """Ask the remote (a name or a URL) for heads and tags in one question; `host` names it in a failure."""
    heard = _ask(git, ("--heads", "--tags", "--", remote), deadline, host or host_of(remote))
    if isinstance(heard, Failure):
        return heard
    answer = parse_advertised(_text(heard))
    return RemoteAnswer(branches=answer.branches, tags=answer.tags, milliseconds=heard.milliseconds)


def ask_default_branch(
    git: Git, remote: str, deadline: Deadline, *, host: str | None = None
) -> DefaultAnswer | Failure:
    """Ask the remote which branch its HEAD names. The server sends every ref for it: ask where it counts."""
    heard = _ask(git, ("--symref", "--", remote, "HEAD"), deadline, host or host_of(remote))
    if isinstance(heard, Failure):
        return heard
    return DefaultAnswer(branch=parse_default_branch(_text(heard)), milliseconds=heard.milliseconds)


def _ask(git: Git, question: Sequence[str], deadline: Deadline, host: str | None) -> Ran | Failure:
    ran = git.run("ls-remote", *question, deadline=deadline)
    if ran.code == 0 and not ran.stdout:
        # Over http, git takes a page without a newline (a proxy's, an empty one) for an old server's empty
        # list. An empty repository speaks git's protocol, and only where nothing came need that be heard.
        ran = git.run("ls-remote", *question, deadline=deadline, packets=True)
        if ran.code == 0 and not ran.stdout and _PACKET not in ran.stderr:
            return Failure(kind="protocol", detail="the answer is empty, and not in git's protocol", host=host)
    return ran if ran.code == 0 else failure_of(ran, host)


# So GIT_TRACE_PACKET marks what was received.
_PACKET: Final = "packet:"


def parse_advertised(text: str, *, separator: str = "\t") -> RemoteAnswer:
    """Lines of object id and refname, `^{}` after a tag's name where the id is the peeled one; no HEAD.

    >>> parse_advertised("a1 refs/tags/v1", separator=" ").tags
    {'v1': 'a1'}
    """
    branches: dict[str, str] = {}
    tags: dict[str, str] = {}
    for line in text.removesuffix("\n").split("\n") if text else ():
        oid, _, refname = line.partition(separator)
        if not refname:
            raise SetupError(_STRANGE, code="unexpected-git-output")
        if refname.startswith(HEADS):
            branches[refname[len(HEADS) :]] = oid
        elif refname.startswith(TAGS):
            # The peeled line follows its tag's, and takes its place.
            tags[refname[len(TAGS) :].removesuffix(_PEELED)] = oid
    branches.pop("HEAD", None)
    return RemoteAnswer(branches=branches, tags=tags)


def parse_default_branch(text: str) -> str | None:
    """The branch of the line `ref: refs/heads/NAME<TAB>HEAD`; refs that end in `/HEAD` are answered too."""
    for line in text.split("\n"):
        target, _, name = line.partition("\t")
        if name == "HEAD" and target.startswith("ref: " + HEADS):
            return target.removeprefix("ref: " + HEADS)
    return None


# --- bringing branches here ---

# What configuration would make a fetch do beyond what `ls-remote` does: run hooks and commands.
_QUIET_CONFIG: Final = (
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.alternateRefsCommand=true"),
    *("-c", "fetch.writeCommitGraph=false"),
)

# Exactly what is asked for and nothing beside it; `--refmap=` keeps the configured refspecs out of it.
_EXACT_FETCH: Final = (
    "--quiet",
    "--no-tags",
    "--no-prune",
    "--no-prune-tags",
    "--no-recurse-submodules",
    "--no-write-fetch-head",
    "--no-auto-maintenance",
    "--no-show-forced-updates",
    "--refmap=",
)


def fetch_branches(
    git: Git, remote: str, names: Sequence[str], deadline: Deadline, *, host: str | None = None
) -> Failure | None:
    """Bring these branches into `refs/remotes/REMOTE/NAME`, and change no other ref; None: they are here.

    InvalidInput for a name that cannot be a branch's or a remote's: it could mean more than one ref.
    """
    for name in (remote, *names):
        if fault := fault_of(name):
            raise InvalidInput(f"{name!r} cannot be fetched: {fault}")
    if not names:  # without a refspec git would fetch everything
        return None
    for name in names:
        # git writes through a symref, which may lead out of refs/remotes.
        asked = git.run("symbolic-ref", "--quiet", remote_tracking(remote, name))
        if asked.code not in {0, 1}:  # 1: it is none
            return failure_of(asked, None)
        if target := "\n".join(asked.lines):
            return Failure(kind="unknown", detail=f"{remote_tracking(remote, name)} is a symref to {target}")
    refspecs = [f"+{HEADS}{name}:{remote_tracking(remote, name)}" for name in names]
    arguments = ("fetch", *_EXACT_FETCH, "--", remote, *refspecs)
    ran = git.run(*_QUIET_CONFIG, *arguments, deadline=deadline)
    return None if ran.code == 0 else failure_of(ran, host)


# --- the listing ---


def build_listing(local: LocalRefs, answer: RemoteAnswer | Failure | None) -> RefListing:
    """All branches by their three tips, and who vouches for the list (answer None: the remote was not asked).

    Only the remote's own answer is complete: a cache lacks what was never fetched, even under a refspec that
    covers all. Tags are the remote's where it answered; else this clone's, and `tags_complete` is None.
    """
    told = answer if isinstance(answer, RemoteAnswer) else None
    advertised = told.branches if told else {}
    # Code points sort as UTF-8 bytes do.
    names = sorted({*advertised, *local.tracking, *local.heads})
    tags: Mapping[str, str | None] = told.tags if told else local.tags
    return RefListing(
        provenance="remote" if told else "local",
        complete=told is not None,
        branches=tuple(
            Branch(
                name=name,
                tip=advertised.get(name),
                cached_tip=local.tracking.get(name),
                local_tip=local.heads.get(name),
            )
            for name in names
        ),
        tags=tuple(Tag(name=name, commit=tags[name]) for name in sorted(tags)),
        tags_complete=True if told else None,
        failure=answer if isinstance(answer, Failure) else None,
    )
