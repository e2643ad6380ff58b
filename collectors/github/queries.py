"""What is asked of GitHub: the GraphQL texts and the REST paths. Pure: nothing is sent from here.

One text gives all of an issue in one request. Its fields are those that an Enterprise server of the last years
has; an older one refuses the text, and REST is asked instead.
"""

from __future__ import annotations

from typing import Final

TIMELINE_PAGE: Final = 100

# `closedByPullRequestsReferences` holds pull requests against the default branch only, and those linked by hand:
# one against a release branch, which is what matters here, shows in the timeline alone.
_TIMELINE: Final = """
fragment Pull on PullRequest { number state baseRefName bodyText repository { nameWithOwner } }

fragment Timeline on Issue {
  timelineItems(
    last: 100, before: $before, itemTypes: [CROSS_REFERENCED_EVENT, CONNECTED_EVENT, DISCONNECTED_EVENT]
  ) {
    pageInfo { hasPreviousPage startCursor }
    nodes {
      __typename
      ... on CrossReferencedEvent { willCloseTarget source { __typename ...Pull } }
      ... on ConnectedEvent { source { __typename ...Pull } subject { __typename ...Pull } }
      ... on DisconnectedEvent { source { __typename ...Pull } subject { __typename ...Pull } }
    }
  }
}
"""

ISSUE: Final = (
    """
query Issue($owner: String!, $name: String!, $number: Int!, $before: String) {
  repository(owner: $owner, name: $name) {
    nameWithOwner
    defaultBranchRef { name }
    issueOrPullRequest(number: $number) {
      __typename
      ... on Issue {
        number
        milestone { ...Version }
        labels(first: 100) { pageInfo { hasNextPage } nodes { name } }
        parent { ...Relative parent { ...Relative parent { ...Relative } } }
        subIssues(first: 50) { pageInfo { hasNextPage } nodes { ...Relative } }
        closedByPullRequestsReferences(first: 50, includeClosedPrs: true) {
          pageInfo { hasNextPage }
          nodes { ...Pull }
        }
        ...Timeline
      }
      ... on PullRequest {
        ...Pull
        milestone { ...Version }
        labels(first: 100) { pageInfo { hasNextPage } nodes { name } }
        closingIssuesReferences(first: 20) { pageInfo { hasNextPage } nodes { ...Relative } }
      }
    }
  }
}

fragment Version on Milestone { title state dueOn }

fragment Relative on Issue { number repository { nameWithOwner } milestone { ...Version } }
"""
    + _TIMELINE
)

MORE_TIMELINE: Final = (
    """
query Timeline($owner: String!, $name: String!, $number: Int!, $before: String) {
  repository(owner: $owner, name: $name) {
    issueOrPullRequest(number: $number) { __typename ... on Issue { ...Timeline } }
  }
}
"""
    + _TIMELINE
)

# From the newest: the one comment that is looked for is seldom old.
COMMENTS: Final = """
query Comments($owner: String!, $name: String!, $number: Int!, $before: String) {
  repository(owner: $owner, name: $name) {
    issueOrPullRequest(number: $number) {
      __typename
      ... on Issue { comments(last: 100, before: $before) { ...Page } }
      ... on PullRequest { comments(last: 100, before: $before) { ...Page } }
    }
  }
}

fragment Page on IssueCommentConnection {
  pageInfo { hasPreviousPage startCursor }
  nodes { url body }
}
"""

VIEWER: Final = "query Viewer { viewer { login } }"


def variables(repository: str, number: int, before: str | None = None) -> dict[str, str | int | None]:
    """The variables of the texts about one issue.

    >>> variables("acme/app", 12)
    {'owner': 'acme', 'name': 'app', 'number': 12, 'before': None}
    """
    owner, _, name = repository.partition("/")
    return {"owner": owner, "name": name, "number": number, "before": before}


def repository_path(repository: str) -> str:
    """Where REST has a repository.

    >>> repository_path("acme/app")
    '/repos/acme/app'
    """
    return f"/repos/{repository}"


def issue_path(repository: str, number: int) -> str:
    """Where REST has an issue, or the issue's half of a pull request."""
    return f"/repos/{repository}/issues/{number}"


def pull_path(repository: str, number: int) -> str:
    """Where REST has a pull request."""
    return f"/repos/{repository}/pulls/{number}"
