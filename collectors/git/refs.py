"""Which remote, what it answers, and the listing of that and of this clone.

git is run through `collectors.process`; every parser is pure. Nothing here ranks, and of all refs only
`refs/remotes/REMOTE/NAME` is ever written, by `fetch_branches` and `fetch_all_branches`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from collectors.errors import InvalidInput, SetupError
from collectors.git.failures import failure_of
from collectors.git.ref_lines import parse_ref_lines, text_of
from collectors.remote_url import host_of, redact, rewritten
from ranking.facts import Branch, Failure, RefListing, Tag
from ranking.names import HEADS, name_problem, remote_tracking

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from collectors.git.local_refs import LocalRefs
    from collectors.git.repository import Config
    from collectors.process import Deadline, Git, ProcessResult

    _RemoteRule = Callable[[Config, Sequence[str]], tuple[str, str] | None]

# --- which remote ---


class RemoteChoice(Struct, frozen=True, kw_only=True):
    """The remote that holds the lines, and the ground on which it was chosen; the URL is redacted."""

    name: str
    url: str | None
    reason: str

    @property
    def host(self) -> str | None:
        """Whom it asks; None for a folder of this machine."""
        return host_of(self.url or "")


class RemoteQuestion(Struct, frozen=True, kw_only=True):
    """Several remotes could be meant and nothing tells which: a person must choose."""

    names: tuple[str, ...]
    reason: str


def choose_remote(config: Config, asked: str | None) -> RemoteChoice | RemoteQuestion | None:
    """The remote that holds the lines, as far as configuration tells; None where there is none.

    Names that git could take for an option, or that no refname can hold, are never considered.
    """
    names = tuple(name for name in config.subsections("remote", "url") if name_problem(name) is None)
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

# --- what the remote says ---


class RemoteAnswer(Struct, frozen=True, kw_only=True):
    """All branches and tags that the remote advertised (none: it is empty), tags peeled, by short name.

    `default`: the branch that its HEAD names; None if HEAD is detached or unborn, or was not asked for.
    """

    branches: Mapping[str, str]
    tags: Mapping[str, str]
    default: str | None = None
    milliseconds: int = 0


def ask_remote(
    git: Git, remote: str, deadline: Deadline, *, host: str | None = None, with_default: bool = False
) -> RemoteAnswer | Failure:
    """Ask the remote (a name or a URL) for heads and tags in one question; `host` names it in a failure.

    `with_default`: for its HEAD too. git then has the server send every ref, of pull requests too.
    """
    wanted = ("--symref",) if with_default else ("--heads", "--tags")
    heard = _ask(git, (*wanted, "--", remote), deadline, host or host_of(remote))
    if isinstance(heard, Failure):
        return heard
    return replace(parse_advertised(text_of(heard)), milliseconds=heard.milliseconds)


def _ask(git: Git, question: Sequence[str], deadline: Deadline, host: str | None) -> ProcessResult | Failure:
    ran = git.run("ls-remote", *question, deadline=deadline, network=True, most_lines=git.most_refs)
    if ran.code == 0 and not ran.stdout:
        # Over http, git takes a page without a newline (a proxy's, an empty one) for an old server's empty
        # list. An empty repository speaks git's protocol, and only where nothing came need that be heard.
        ran = git.run("ls-remote", *question, deadline=deadline, network=True, packets=True, most_lines=git.most_refs)
        if ran.code == 0 and not ran.stdout and _PACKET not in ran.stderr:
            return Failure(kind="protocol", detail="the answer is empty, and not in git's protocol", host=host)
    if ran.too_many:
        detail = f"it lists more than {git.most_refs} refs; maxRefs (BASE_BRANCH_MAX_REFS) allows more"
        return Failure(kind="too-many-refs", detail=detail, host=host)
    return ran if ran.code == 0 else failure_of(ran, host)


# So GIT_TRACE_PACKET marks what was received.
_PACKET: Final = "packet:"


# What begins the line of a symref; no refname holds a blank.
_SYMREF: Final = "ref: "


def parse_advertised(text: str) -> RemoteAnswer:
    """Read lines of object id, tab and refname, `^{}` after a tag's name if the id is the peeled one.

    HEAD and the lines `ref: REFNAME<TAB>SYMREF` come with `--symref`.
    """
    plain, symrefs = _without_symrefs(text)
    before, head, after = plain.partition("\tHEAD\n")
    listed = parse_ref_lines(before[: before.rfind("\n") + 1] + after if head else plain, "\t")
    branches = listed.under(HEADS)
    branches.pop("HEAD", None)
    target = symrefs.get("HEAD", "")
    default = target.removeprefix(HEADS) if target.startswith(HEADS) else None
    return RemoteAnswer(branches=branches, tags=listed.peeled_tags(), default=default)


def _without_symrefs(text: str) -> tuple[str, dict[str, str]]:
    """The other lines, and each symref with what it leads to."""
    plain, symrefs, here = [], {}, 0
    while (at := text.find(_SYMREF, here)) >= 0:
        plain.append(text[here:at])
        here = text.find("\n", at) + 1 or len(text)
        target, _, name = text[at + len(_SYMREF) : here].rstrip("\n").partition("\t")
        symrefs[name] = target
    return "".join((*plain, text[here:])), symrefs


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
    git: Git,
    remote: str,
    names: Sequence[str],
    deadline: Deadline,
    *,
    host: str | None = None,
    others: Sequence[str] = (),
) -> Failure | None:
    """Bring these branches into `refs/remotes/REMOTE/NAME`, and change no other ref; None: they are here.

    Where some cannot come the others are brought all the same, as far as git does.
    InvalidInput for a name that cannot be a branch's or a remote's: it could mean more than one ref.

    `others`: the clone's other remotes. A place that is one of theirs (`origin/sub` beside `origin`) is left alone.
    """
    _refuse_faulty(remote, *names)
    if not names:  # without a refspec git would fetch everything
        return None
    # git writes through a symref, which may lead out of refs/remotes.
    left_alone = find_symrefs(git, remote, names) | _places_of_others(remote, names, others)
    refspecs = [f"+{HEADS}{name}:{remote_tracking(remote, name)}" for name in names if name not in left_alone]
    failure = _fetch(git, remote, refspecs, deadline, host) if refspecs else None
    return failure or next(iter(left_alone.values()), None)


def fetch_all_branches(
    git: Git, remote: str, deadline: Deadline, *, host: str | None = None, others: Sequence[str] = ()
) -> Failure | None:
    """Bring every branch to where `fetch_branches` puts it, and change no other ref; None: git did.

    By one pattern: of thousands of names git holds each against every ref. Under a pattern it leaves alone what is a
    symref here, one that leads nowhere too.
    """
    _refuse_faulty(remote)
    # A branch that is called HEAD is none, and at its place is the pointer to the default.
    refspecs = [f"+{HEADS}*:{remote_tracking(remote, '*')}", f"^{HEADS}HEAD"]
    refspecs += [f"^{HEADS}{inner}*" for inner in _inside(remote, others).values()]
    return _fetch(git, remote, refspecs, deadline, host)


def _inside(remote: str, others: Sequence[str]) -> dict[str, str]:
    """The other remotes whose refs lie among this one's, each with the beginning of the branches that would lie there.

    >>> _inside("origin", ["origin", "origin/sub", "original"])
    {'origin/sub': 'sub/'}
    """
    return {name: f"{name.removeprefix(remote + '/')}/" for name in others if name.startswith(remote + "/")}


def _places_of_others(remote: str, names: Sequence[str], others: Sequence[str]) -> dict[str, Failure]:
    return {
        name: Failure(kind="ref-in-the-way", detail=f"{remote_tracking(remote, name)} is a ref of the remote {other}")
        for other, inner in _inside(remote, others).items()
        for name in names
        if name.startswith(inner)
    }


def find_symrefs(git: Git, remote: str, names: Sequence[str]) -> dict[str, Failure]:
    """Those of these branches at whose place a symref is, so that they cannot be fetched, each with just that."""
    found = {}
    for name in names:
        asked = git.run("symbolic-ref", "--quiet", remote_tracking(remote, name))
        if asked.code not in {0, 1}:  # 1: it is none
            found[name] = failure_of(asked, None)
        elif target := "\n".join(asked.lines):
            detail = f"{remote_tracking(remote, name)} is a symref to {target}"
            found[name] = Failure(kind="unknown", detail=detail)
    return found


def _refuse_faulty(*names: str) -> None:
    for name in names:
        if problem := name_problem(name):
            raise InvalidInput(f"{name!r} cannot be fetched: {problem}")


def _fetch(git: Git, remote: str, refspecs: Sequence[str], deadline: Deadline, host: str | None) -> Failure | None:
    ran = git.run(*_QUIET_CONFIG, "fetch", *_EXACT_FETCH, "--", remote, *refspecs, deadline=deadline, network=True)
    if ran.code == 0:
        return None
    failure = failure_of(ran, host)
    if failure.kind != "ref-in-the-way":
        return failure
    return replace(failure, detail=f"{failure.detail}; what {remote} no longer has goes by: git remote prune {remote}")


# --- the listing ---


def build_listing(local: LocalRefs, answer: RemoteAnswer | Failure | None) -> RefListing:
    """All branches by their three tips, and who vouches for the list (answer None: the remote was not asked).

    Only the remote's own answer is complete: a cache lacks what was never fetched, even under a refspec that
    covers all. Tags are the remote's where it answered; else this clone's, and `tags_complete` is None.
    """
    told = answer if isinstance(answer, RemoteAnswer) else None
    advertised = told.branches if told else {}
    here_alone = {n for known in (local.tracking, local.heads) for n in known if n not in advertised}
    # Code points sort as UTF-8 bytes do: git has sorted nearly all of them.
    names = sorted([*advertised, *here_alone])
    tip, cached_tip, local_tip = advertised.get, local.tracking.get, local.heads.get
    tags: Mapping[str, str | None] = told.tags if told else local.tags
    return RefListing(
        provenance="remote" if told else "local",
        complete=told is not None,
        branches=tuple(map(Branch, names, map(tip, names), map(cached_tip, names), map(local_tip, names))),
        tags=tuple(Tag(name=name, commit=tags[name]) for name in sorted(tags)),
        tags_complete=True if told else None,
        failure=answer if isinstance(answer, Failure) else None,
    )
