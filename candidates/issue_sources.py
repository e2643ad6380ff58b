"""The issue that `--issue` names, read from where it lives: a file, or a tracker, with what became of each source."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace as altered

from candidates.contract import UNNAMED, Source
from collectors.configuration import Configuration
from collectors.errors import SetupError
from collectors.issue_file import read_issue
from collectors.issue_reference import (
    PUBLIC_HOST,
    FileReference,
    GitHubReference,
    JiraReference,
    parse_reference,
)
from collectors.process import Deadline, Git
from collectors.remote_url import remote_type
from ranking.facts import Issue, IssueVersion

if TYPE_CHECKING:
    from collectors.github_rest import HostBranches

# github.com's ssh on the port of https.
_SSH_HOST = "ssh.github.com"

PostQuestion = Callable[[str, str], str]
"""Given a marker and a body that holds it: the URL of the one comment with that marker, posted if need be."""


class IssueAnswer(Struct, frozen=True, kw_only=True):
    """The issue as it was read, what became of its source, and what its host told of the repository's branches.

    `post`: how to ask on it, within the run's own deadline; None where it stands in no tracker.
    """

    issue: Issue | None
    source: Source | None = None
    branches: HostBranches | None = None
    post: PostQuestion | None = None


ReadIssue = Callable[[Deadline], IssueAnswer]


class IssueInput(Struct, frozen=True, kw_only=True):
    """What the caller named: a reference, versions beside it, and the standard input that `-` stands for."""

    text: str | None = None
    versions: tuple[str, ...] = ()
    stdin: BinaryIO | None = None


def prepare_issue(
    given: IssueInput, git: Git, configuration: Configuration, *, repository: str | None, host: str | None
) -> ReadIssue:
    """Parse the reference now, before anything is asked; the reading comes when the result is called.

    InvalidInput for what is no reference, and for a file that is not right; SetupError where Jira is named and
    none is configured.
    """
    named = tuple(IssueVersion(name=name, field="fixVersions", role="fix") for name in given.versions)
    if given.text is None:
        issue = Issue(key=UNNAMED, read="answered", versions=named) if named else None
        return lambda _: IssueAnswer(issue=issue)
    here = on_github(repository, host, git, configuration)
    reference = parse_reference(given.text, *here)
    match reference:
        case FileReference(path=path):
            if given.stdin is None:
                raise SetupError("standard input is not at hand", code="no-standard-input")
            ready = with_versions(read_issue(path, given.stdin), named)
            return lambda _: IssueAnswer(issue=ready)
        case JiraReference():
            from candidates.trackers import jira_site, read_jira  # noqa: PLC0415 - only where Jira is asked

            site = jira_site(reference, configuration)
            return lambda deadline: read_jira(site, reference.key, named, deadline)
        case GitHubReference():
            from candidates.trackers import read_github  # noqa: PLC0415 - only where GitHub is asked

            own = here[0] if here[1] == reference.host else None
            return lambda deadline: read_github(reference, git, configuration, named, deadline, own=own)


def on_github(
    repository: str | None, host: str | None, git: Git, configuration: Configuration
) -> tuple[str, str] | tuple[None, None]:
    """A repository and its host where that is a GitHub: by its name, or because the user says so; else neither.

    Otherwise `#12` in a clone from anywhere would be read from github.com, with its token.
    """
    if repository is None or host is None:
        return None, None
    runner = urlsplit(git.environ.get("GITHUB_SERVER_URL", "")).netloc
    for said in (configuration.github.host, git.environ.get("GH_HOST"), runner):
        # A remote's URL may have ssh's port; the site's own stands in what the user said.
        if said and said.lower().partition(":")[0] == host:
            return repository, said.lower()
    if remote_type(f"https://{host}/") != "github":
        return None, None
    return repository, PUBLIC_HOST if host == _SSH_HOST else host


def with_versions(issue: Issue, named: tuple[IssueVersion, ...]) -> Issue:
    """The issue with the versions that were named beside it."""
    return altered(issue, versions=(*issue.versions, *named)) if named else issue
