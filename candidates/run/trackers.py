"""The issue that `--issue` names, read from a file, Jira or GitHub, and how it is asked on there.

The client libraries are loaded here alone, each by the path that needs it.
"""

from __future__ import annotations

import dataclasses
import time
from functools import partial
from typing import BinaryIO
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from candidates.contract import Source, SourceName
from candidates.run.filed_issue import read_filed_issue
from candidates.run.issue import GivenIssue, IssueAnswer, IssueReader
from collectors.config.configuration import Configuration
from collectors.errors import SetupError
from collectors.github.site import GitHubSite, find_site, gh_of
from collectors.issue.reference import (
    PUBLIC_HOST,
    FileReference,
    GitHubReference,
    JiraReference,
    parse_reference,
)
from collectors.jira.site import JiraSite
from collectors.process import Deadline, Git
from collectors.remote_url import remote_type
from ranking.facts import Issue, IssueVersion

# github.com's ssh on the port of https.
_SSH_HOST = "ssh.github.com"


def find_reader(
    text: str,
    stdin: BinaryIO | None,
    named: tuple[IssueVersion, ...],
    git: Git,
    configuration: Configuration,
    *,
    repository: str | None,
    host: str | None,
) -> IssueReader:
    """Return the reader of the issue of this reference; `named`: versions that were named beside it.

    InvalidInput for what is no reference, and for a file that is not right; SetupError where Jira is named and
    none is configured.
    """
    here = on_github(repository, host, git, configuration)
    reference = parse_reference(text, *here)
    match reference:
        case FileReference(path=path):
            if stdin is None:
                raise SetupError("standard input is not at hand", code="no-standard-input")
            return GivenIssue(with_versions(read_filed_issue(path, stdin), named))
        case JiraReference():
            return JiraReader(site=jira_site(reference, configuration), key=reference.key, named=named)
        case GitHubReference():
            own = here[0] if here[1] == reference.host else None
            return GitHubReader(reference=reference, git=git, configuration=configuration, named=named, own=own)


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
    return replace(issue, versions=(*issue.versions, *named)) if named else issue


def jira_site(reference: JiraReference, configuration: Configuration) -> JiraSite:
    """The Jira that is named or configured, with the token that is bound to it. SetupError where there is none."""
    url = reference.url or configuration.jira.url
    if url is None:
        message = f"{reference.key} is a Jira key, and no Jira is configured"
        raise SetupError(message, code="no-jira", hint="set JIRA_URL, JIRA_EMAIL and JIRA_TOKEN; base-branch config")
    credential = configuration.jira.credential_for(url)
    return JiraSite(
        url=url,
        email=credential.email if credential else None,
        token=credential.token.reveal() if credential else None,
        target_fields=configuration.jira.fields,
    )


def github_site(host: str, git: Git, configuration: Configuration, deadline: Deadline) -> GitHubSite:
    """The GitHub of a host, with the token that is bound to it."""
    environ = configuration.github.environment(git.environ)
    site = find_site(environ, host, gh_of(environ, git.folder, deadline))
    api = configuration.github.api_url_for(host)
    return dataclasses.replace(site, api=api) if api else site


class JiraReader(Struct, frozen=True, kw_only=True):
    """An issue of a Jira; `named`: versions that were named beside it."""

    site: JiraSite
    key: str
    named: tuple[IssueVersion, ...]

    def read(self, deadline: Deadline) -> IssueAnswer:
        """Read the issue."""
        from collectors.jira.issue import read_jira_issue  # noqa: PLC0415 - only where Jira is asked

        began = time.monotonic()
        issue = read_jira_issue(self.site, self.key, deadline)
        return IssueAnswer(
            issue=with_versions(issue, self.named),
            source=_source("jira", issue, self.site.host, began),
            post=partial(self.post, deadline),
        )

    def post(self, deadline: Deadline, marker: str, body: str) -> str:
        """Post a comment unless one with its marker is there; return its URL."""
        from collectors.jira.issue import post_comment  # noqa: PLC0415 - only where Jira is asked

        return post_comment(self.site, self.key, body, deadline, marker=marker)


class GitHubReader(Struct, frozen=True, kw_only=True):
    """An issue of a GitHub repository; `named`: versions that were named beside it.

    `own`: this repository, if it is on the same host; its protected branches are asked for beside its issue.
    """

    reference: GitHubReference
    git: Git
    configuration: Configuration
    named: tuple[IssueVersion, ...]
    own: str | None

    def read(self, deadline: Deadline) -> IssueAnswer:
        """Read the issue, and the repository's branches if it is this one."""
        from collectors.github.issue import read_github, read_github_branches  # noqa: PLC0415 - where GitHub is asked

        began = time.monotonic()
        site = github_site(self.reference.host, self.git, self.configuration, deadline)
        repository, number = self.reference.repository, self.reference.number
        answer = read_github(site, repository, number, deadline)
        branches = answer.branches
        ours = self.own is not None and self.own.lower() == repository.lower()
        # Two requests an issue are the most: none for what a second page of it cost, nor of the sixty without a token.
        if ours and answer.requests == 1 and answer.issue.read in ("answered", "partial") and site.token is not None:
            branches = read_github_branches(site, repository, deadline, known=branches)
        return IssueAnswer(
            issue=with_versions(answer.issue, self.named),
            source=_source("github", answer.issue, site.host, began),
            branches=branches,
            post=partial(self.post, site, deadline),
        )

    def post(self, site: GitHubSite, deadline: Deadline, marker: str, body: str) -> str:
        """Post a comment unless one with its marker is there; return its URL."""
        from collectors.github.comment import post_comment  # noqa: PLC0415 - only where GitHub is asked

        return post_comment(site, self.reference.repository, self.reference.number, marker, body, deadline)


def _source(name: SourceName, issue: Issue, host: str | None, began: float) -> Source:
    """What became of the tracker: unread, read in part, or read."""
    failure = issue.failure
    partial = issue.read == "partial" or issue.links_read in ("partial", "failed")
    unread = issue.read in ("failed", "not-found")
    return Source(
        name=name,
        state="failed" if unread else "partial" if partial else "answered",
        kind=failure.kind if failure else None,
        host=(failure.host if failure else None) or host,
        detail=failure.detail if failure else None,
        ms=round((time.monotonic() - began) * 1000),
    )
