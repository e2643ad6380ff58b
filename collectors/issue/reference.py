"""What `--issue` may name: a Jira key or URL, a GitHub issue or pull request, a file, standard input.

Pure: nothing is opened or asked, so no file decides what a text means. Where two readings exist:

* `-` is standard input; a file of that name is written `./-`.
* `APP-12` is a Jira key and `acme/app#12` a GitHub issue, even where a file of that name lies here; `./APP-12`
  is the file. A text is taken as a file only where it looks like a path: it holds a slash or backslash, begins
  with a dot or a tilde, or ends in `.json`.
* `GH-12` is a key of the Jira project GH, as Jira sees it.
* `SHA-256`, `UTF-8` and their like are names of standards and no keys, unless the known projects hold them; a
  Jira URL names an issue of such a project.
* Keys are written in capitals. In a URL, where nothing else can be meant, they need not be.
* A URL is Jira's by its path and GitHub's by its path, never by its host alone; one of GitLab or Bitbucket is neither.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final
from urllib.parse import SplitResult, parse_qs, urlsplit

from msgspec import Struct

from collectors.errors import InvalidInput
from collectors.remote_url import redact, remote_type

STANDARD_INPUT: Final = "-"
PUBLIC_HOST: Final = "github.com"

ACCEPTED: Final = (
    "accepted: PROJ-123, a Jira URL, owner/repo#12, #12, the URL of a GitHub issue or pull request, a file, "
    "- for standard input"
)

_KEY: Final = r"[A-Z][A-Z0-9_]+-[1-9][0-9]{0,9}"
_WHOLE_KEY: Final = re.compile(_KEY)
_KEY_IN_URL: Final = re.compile(_KEY, re.IGNORECASE)

# Each cost other tools a look-up (The-PR-Agent/pr-agent#3304), or is commonly written like a key.
_STANDARDS: Final = frozenset("AES ANSI CVE CWE ECMA EN IEC IEEE ISO MD PEP RFC RSA SHA UTF".split())

_OWNER: Final = r"[A-Za-z0-9][A-Za-z0-9_-]*"
_NAME: Final = r"(?!\.{1,2}(?:[#/]|$))[A-Za-z0-9._-]+"
REPOSITORY: Final = re.compile(rf"{_OWNER}/{_NAME}")
_SHORT: Final = re.compile(rf"(?P<repository>{_OWNER}/{_NAME})?#(?P<number>[0-9]+)")
_GITHUB_PATH: Final = re.compile(
    rf"/(?:api/v3/)?(?:repos/)?(?P<repository>{_OWNER}/{_NAME})/(?:issues|pulls?)/(?P<number>[0-9]+)(?:/.*)?"
)
# The API of github.com and of its tenants under ghe.com has a host of its own.
_API_HOST: Final = re.compile(r"^api\.(?=github\.com$|[^.]+\.ghe\.com$)")
_BROWSE: Final = re.compile(rf"(?P<context>(?:/[^/]+)*)/browse/(?P<key>{_KEY})/?", re.IGNORECASE)
_ISSUE_PAGE: Final = re.compile(rf"(?P<before>.*)/issues/(?P<key>{_KEY})/?", re.IGNORECASE)
_OF_PROJECT: Final = re.compile(r"/projects/[^/]+(?:/.*)?\Z")
# Where a Data Center's context path ends; Cloud has none, and its boards lie under /jira.
_BOARD: Final = re.compile(r"(?P<context>(?:/[^/]+)*?)/(?:secure|projects|issues|browse|plugins|dashboards)(?:/.*)?")
_CLOUD_PATH: Final = re.compile(r"/jira/(?:software|core|servicedesk|for-you|dashboards|plans)(?:/|$)")
_CLOUD_HOST: Final = re.compile(r"\.(?:atlassian\.net|jira\.com)$")

_PATH_LIKE: Final = re.compile(r"[/\\]|^[.~]|\.json$")

# GraphQL's Int, which GitHub's issue numbers are.
_LARGEST_NUMBER: Final = 2**31 - 1


class JiraReference(Struct, frozen=True, kw_only=True):
    """A Jira issue by its key; `url`: the site's base URL, where a URL named it."""

    key: str
    url: str | None = None


class GitHubReference(Struct, frozen=True, kw_only=True):
    """An issue or pull request, which share their numbers, of a repository on a host."""

    repository: str
    number: int
    host: str


class FileReference(Struct, frozen=True, kw_only=True):
    """A file with the issue's record; `-` is standard input."""

    path: str


IssueReference = JiraReference | GitHubReference | FileReference


def parse_reference(
    text: str,
    repository: str | None,
    host: str | None,
    *,
    projects: Collection[str] | None = None,
) -> IssueReference:
    """Read what `--issue` names; InvalidInput, with the accepted forms as its hint, where it names nothing.

    `repository` and `host` are this repository's where its remote is on GitHub, else None. `projects`: the known
    Jira project keys; with them no other key is taken (None: not known).

    >>> parse_reference("#12", "acme/app", "github.com")
    GitHubReference(repository='acme/app', number=12, host='github.com')
    >>> parse_reference("https://acme.atlassian.net/browse/APP-12", None, None)
    JiraReference(key='APP-12', url='https://acme.atlassian.net')
    """
    text = text.strip()
    if text == STANDARD_INPUT:
        return FileReference(path=text)
    if re.match(r"https?://", text, re.IGNORECASE):
        return _read_url(text)
    if found := _SHORT.fullmatch(text):
        return _read_short(text, found, repository, host)
    if _WHOLE_KEY.fullmatch(text):
        return _read_key(text, projects)
    if _PATH_LIKE.search(text) and "://" not in text:
        return FileReference(path=text)
    raise InvalidInput(f"{_shown(text)} names no issue", hint=ACCEPTED)


def _read_short(text: str, found: re.Match[str], repository: str | None, host: str | None) -> GitHubReference:
    named = found["repository"] or repository
    if named is None:
        raise InvalidInput(
            f"{text} is an issue of this repository's GitHub, and its remote is no GitHub repository",
            hint="write owner/repo#12 or the issue's URL",
        )
    return GitHubReference(repository=named, number=_number(text, found["number"]), host=host or PUBLIC_HOST)


def _read_key(text: str, projects: Collection[str] | None) -> JiraReference:
    project = text.rpartition("-")[0]
    if projects is not None and project not in projects:
        raise InvalidInput(f"{text} is no issue key: {project} is none of the known projects", hint=ACCEPTED)
    if projects is None and project in _STANDARDS:
        raise InvalidInput(f"{text} reads as the name of a standard, no issue key", hint="give the issue's Jira URL")
    return JiraReference(key=text)


def _read_url(text: str) -> IssueReference:
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise InvalidInput(f"{_shown(text)} is no URL", hint=ACCEPTED) from error
    if not parts.hostname:
        raise InvalidInput(f"{_shown(text)} is no URL", hint=ACCEPTED)
    host = parts.hostname + (f":{port}" if port else "")
    if found := _jira(parts, host):
        return found
    elsewhere = remote_type(text) in ("gitlab", "bitbucket")
    found_path = _GITHUB_PATH.fullmatch(parts.path)
    if found_path and not elsewhere:
        number = _number(text, found_path["number"])
        return GitHubReference(repository=found_path["repository"], number=number, host=_API_HOST.sub("", host))
    what = "the URL of no Jira issue and of no GitHub issue or pull request"
    raise InvalidInput(f"{_shown(text)} is {what}", hint=ACCEPTED)


def _jira(parts: SplitResult, host: str) -> JiraReference | None:
    """Jira's issue pages: /browse/KEY, .../issues/KEY, and any board or list with `selectedIssue=KEY`."""
    query = parse_qs(parts.query)
    selected = [*query.get("selectedIssue", ()), *query.get("issueKey", ())][:1]
    browse, page = _BROWSE.fullmatch(parts.path), _ISSUE_PAGE.fullmatch(parts.path)
    if browse:
        key, context = browse["key"], browse["context"]
    elif page:
        key, context = page["key"], _OF_PROJECT.sub("", page["before"])
    elif selected and _KEY_IN_URL.fullmatch(selected[0]):
        board = _BOARD.fullmatch(parts.path)
        key, context = selected[0], board["context"] if board else ""
    else:
        return None
    cloud = _CLOUD_HOST.search(parts.hostname or "") or _CLOUD_PATH.match(parts.path)
    base = f"{parts.scheme.lower()}://{host}" + ("" if cloud else context)
    return JiraReference(key=key.upper(), url=base)


def _number(text: str, digits: str) -> int:
    number = int(digits) if len(digits) <= len(str(_LARGEST_NUMBER)) else 0
    if not 0 < number <= _LARGEST_NUMBER or digits.startswith("0"):
        raise InvalidInput(f"{_shown(text)}: {digits[:20]} is no issue number", hint=ACCEPTED)
    return number


def _shown(text: str) -> str:
    """What was given, without credentials, and never longer than a line."""
    shown = redact(text)
    return repr(shown if len(shown) <= 80 else shown[:80] + "...")  # noqa: PLR2004 - a line
