"""The issue that `--issue` names, read from a file, Jira or GitHub, and how it is asked on there.

The client libraries are loaded here alone, each by the path that needs it.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import BinaryIO
from urllib.parse import urlsplit

from msgspec.structs import replace as altered

from candidates.contract import Source, SourceName
from candidates.run.filed_issue import read_filed_issue
from candidates.run.issue import IssueAnswer, ReadIssue
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


def prepare_reference(
    text: str,
    stdin: BinaryIO | None,
    named: tuple[IssueVersion, ...],
    git: Git,
    configuration: Configuration,
    *,
    repository: str | None,
    host: str | None,
) -> ReadIssue:
    """How the issue of this reference is read, with the versions that were named beside it.

    InvalidInput for what is no reference, and for a file that is not right; SetupError where Jira is named and
    none is configured.
    """
    here = on_github(repository, host, git, configuration)
    reference = parse_reference(text, *here)
    match reference:
        case FileReference(path=path):
            if stdin is None:
                raise SetupError("standard input is not at hand", code="no-standard-input")
            ready = with_versions(read_filed_issue(path, stdin), named)
            return lambda _: IssueAnswer(issue=ready)
        case JiraReference():
            site = jira_site(reference, configuration)
            return lambda deadline: read_jira(site, reference.key, named, deadline)
        case GitHubReference():
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
    return replace(site, api=api) if api else site


def read_jira(site: JiraSite, key: str, named: tuple[IssueVersion, ...], deadline: Deadline) -> IssueAnswer:
    """The issue of this key, with the versions that were named beside it."""
    from collectors.jira.issue import post_comment, read_jira_issue  # noqa: PLC0415 - only where Jira is asked

    began = time.monotonic()
    issue = read_jira_issue(site, key, deadline)
    return IssueAnswer(
        issue=with_versions(issue, named),
        source=_source("jira", issue, site.host, began),
        post=lambda marker, body: post_comment(site, key, body, deadline, marker=marker),
    )


def read_github(
    reference: GitHubReference,
    git: Git,
    configuration: Configuration,
    named: tuple[IssueVersion, ...],
    deadline: Deadline,
    *,
    own: str | None,
) -> IssueAnswer:
    """The issue that is named, with the versions that were named beside it.

    `own`: this repository, where it is on the same host; its protected branches are asked for beside its issue.
    """
    from collectors.github.comment import post_comment  # noqa: PLC0415 - only where GitHub is asked
    from collectors.github.issue import read_github as read_answer  # noqa: PLC0415 - likewise
    from collectors.github.issue import read_github_branches  # noqa: PLC0415 - likewise

    began = time.monotonic()
    site = github_site(reference.host, git, configuration, deadline)
    repository, number = reference.repository, reference.number
    answer = read_answer(site, repository, number, deadline)
    branches = answer.branches
    ours = own is not None and own.lower() == repository.lower()
    # Two requests an issue are the most: none for what a second page of it cost, nor of the sixty without a token.
    if ours and answer.requests == 1 and answer.issue.read in ("answered", "partial") and site.token is not None:
        branches = read_github_branches(site, repository, deadline, known=branches)
    return IssueAnswer(
        issue=with_versions(answer.issue, named),
        source=_source("github", answer.issue, site.host, began),
        branches=branches,
        post=lambda marker, body: post_comment(site, repository, number, marker, body, deadline),
    )


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
