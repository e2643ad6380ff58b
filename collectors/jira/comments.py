"""The one comment: its body in either of Jira's two shapes, found by its marker, and never posted twice.

REST version 2 takes wiki text, version 3 a document (ADF). The text is shown as it is: what it quotes (branch
names, versions) must not turn into markup, a mention or a macro. Asks through the port; knows no client library.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from collectors.errors import InvalidInput, SourceError
from collectors.jira.facts import maps_in
from collectors.jira.failures import Answer
from collectors.jira.port import JiraPort, odd
from ranking.facts import Failure

_FENCE: Final = "{noformat}"
_PAGE: Final = 100

# The server may have heard the comment before the answer was lost.
_UNSURE: Final = frozenset({"timed-out", "protocol", "unknown"})


# --- finding and posting ---


def post_marked(jira: JiraPort, key: str, body: str, marker: str) -> str:
    """Post a comment, unless there is one with the marker; its URL. SourceError where that is not sure."""
    if not marker or "\n" in marker or marker not in body:
        raise InvalidInput("the comment does not hold its own marker, in one line")
    earlier = find_marked(jira, key, marker)
    if earlier is not None:
        return earlier
    answer = jira.post(f"issue/{key}/comment", f"a comment on {key}", {"body": write_body(body, jira.site.rest_api)})
    data = answer.data if isinstance(answer, Answer) else None
    if isinstance(data, Mapping) and isinstance(data.get("id"), str):
        return _url(jira, key, data["id"])
    failure = answer if isinstance(answer, Failure) else odd(jira, "a comment")
    if failure.kind not in _UNSURE:
        raise SourceError(f"the comment on {key} was not posted: {failure.detail}", failure=failure)
    try:
        posted = find_marked(jira, key, marker)
    except SourceError:
        words = f"whether the comment on {key} was posted is not known: {failure.detail}"
        raise SourceError(words, failure=failure) from None
    if posted is None:
        raise SourceError(f"the comment on {key} was not posted: {failure.detail}", failure=failure)
    return posted


def find_marked(jira: JiraPort, key: str, marker: str) -> str | None:
    """The URL of the earliest comment with the marker, or None. SourceError where not all could be read."""
    start = 0
    while True:
        answer = jira.get(
            f"issue/{key}/comment", f"the comments of {key}", startAt=start, maxResults=_PAGE, orderBy="created"
        )
        data = answer.data if isinstance(answer, Answer) else None
        if not isinstance(data, Mapping) or not isinstance(data.get("comments"), list):
            failure = answer if isinstance(answer, Failure) else odd(jira, "a list of comments")
            raise SourceError(f"the comments of {key} could not be read: {failure.detail}", failure=failure)
        for comment in maps_in(data["comments"]):
            if marker in text_of(comment.get("body")) and isinstance(comment.get("id"), str):
                return _url(jira, key, str(comment["id"]))
        size, total = len(data["comments"]), data.get("total")
        start += size
        if not size or not isinstance(total, int) or start >= total:
            return None


def _url(jira: JiraPort, key: str, number: str) -> str:
    return f"{jira.site.address}/browse/{key}?focusedCommentId={number}"


# --- bodies ---


def write_body(text: str, api: Literal["2", "3"]) -> object:
    r"""The body of a new comment.

    >>> write_body("Which {base}?", "2")
    '{noformat}\nWhich {base}?\n{noformat}'
    """
    if api == "2":
        return f"{_FENCE}\n{text.replace(_FENCE, '(noformat)')}\n{_FENCE}"
    paragraphs = [part for part in text.split("\n\n") if part.strip()]
    return {"type": "doc", "version": 1, "content": [_paragraph(part) for part in paragraphs]}


def _paragraph(text: str) -> dict[str, object]:
    content: list[dict[str, object]] = []
    for line in text.split("\n"):
        if content:
            content.append({"type": "hardBreak"})
        if line:  # a text node must not be empty
            content.append({"type": "text", "text": line})
    return {"type": "paragraph", "content": content}


def text_of(body: object) -> str:
    """The text of a comment's body, of either shape; the paragraphs of a document apart.

    >>> text_of({"type": "doc", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]})
    'ab'
    """
    parts: list[str] = []
    ahead = [body]
    while ahead:  # a document may be nested deeper than calls may be
        node = ahead.pop()
        if isinstance(node, str):
            parts.append(node)
        elif isinstance(node, list):
            ahead += reversed(node)
        elif isinstance(node, Mapping):
            if node.get("type") in ("paragraph", "hardBreak", "heading", "codeBlock"):
                parts.append("\n")
            ahead += [node["content"]] if "content" in node else [node.get("text")]
    return "".join(parts)
