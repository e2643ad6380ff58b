"""Why GitHub gave no answer, and how long to wait before it is asked again. Pure: replies in, failures out.

The kinds are told apart by status, headers and the API's own error types, never by a status alone: 403 is a
rate limit, a single sign-on, or a refusal; 404 is a missing thing, a hidden one, or nobody logged in.
"""

from __future__ import annotations

import errno
import re
import ssl
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct, field

from collectors.github.site import GitHubSite
from collectors.http_waiting import parse_retry_after, until
from collectors.remote_url import HIDDEN, redact
from ranking.facts import Failure, FailureKind

Json = object
"""What JSON holds, before it was looked at."""

_OK: Final = range(200, 300)
_UNAUTHORIZED, _FORBIDDEN, _NOT_FOUND, _GONE, _TOO_MANY, _LEGAL = 401, 403, 404, 410, 429, 451
# Answers of an overloaded server to what was only a question: asked once more, they are often well.
_PASSING: Final = (502, 503, 504)
# GitHub asks for a minute at least where a secondary limit names no time.
_SECONDARY_PAUSE: Final = 60.0

_PRIMARY: Final = re.compile(r"api rate limit (?:already )?exceeded", re.IGNORECASE)
_SECONDARY: Final = re.compile(
    r"secondary rate limit|abuse detection|retry your request again later|wait a few minutes before you try again",
    re.IGNORECASE,
)
_SSO_URL: Final = re.compile(r"\burl=(\S+)")
_WORDS_SHOWN: Final = 200
# Far more than is shown, so that no secret is cut in two and shown by half; far less than a server may send.
_WORDS_READ: Final = 20_000

Path = tuple[str | int, ...]


class Reply(Struct, frozen=True, kw_only=True):
    """One answer: its status, when it came, headers by lower-case name, and its JSON (None: it holds none)."""

    status: int
    at: datetime
    headers: Mapping[str, str] = field(default_factory=dict)
    json: Json = None


class GraphError(Struct, frozen=True, kw_only=True):
    """One entry of a GraphQL answer's `errors`."""

    kind: str
    message: str
    path: Path
    saml: bool


def graph_errors(reply: Reply) -> tuple[GraphError, ...]:
    """The errors of a GraphQL answer; it may hold data beside them."""
    found = _dict(reply.json).get("errors")
    return tuple(_graph_error(_dict(entry)) for entry in found) if isinstance(found, list) else ()


def failure_of(reply: Reply, site: GitHubSite, what: str) -> Failure | None:
    """Why a reply is no answer about `what` (`acme/app#12`); None where it is one, errors of its parts aside."""
    kind_and_detail = _status_failure(reply, site, what)
    if kind_and_detail is None and not isinstance(reply.json, dict | list):
        kind_and_detail = "protocol", _no_api(reply, site)
    if kind_and_detail is None:
        return None
    kind, detail = kind_and_detail
    return Failure(kind=kind, detail=_clean(detail, site), host=site.host)


def graph_failure(reply: Reply, errors: tuple[GraphError, ...], site: GitHubSite) -> Failure | None:
    """What the errors beside a GraphQL answer's data say, by the first that tells most; None where there are none."""
    if not errors:
        return None
    worst = next((e for e in errors if e.saml), errors[0])
    if worst.saml:
        kind, detail = _sign_on(reply, site)
    elif worst.kind in ("FORBIDDEN", "INSUFFICIENT_SCOPES"):
        kind, detail = "access-denied", f"access denied: {worst.message}"
    else:
        kind, detail = "unknown", f"{site.host} answered in part: {worst.message or worst.kind}"
    return Failure(kind=kind, detail=_clean(detail, site), host=site.host)


def has_next(reply: Reply) -> bool:
    """Whether REST says that a further page follows."""
    return 'rel="next"' in reply.headers.get("link", "")


def may_retry(reply: Reply, *, repeatable: bool) -> bool:
    """Whether the same request may be sent again after a pause.

    `repeatable`: sending it twice does no harm. A limit is met before anything is done, so what it refused may
    always be sent again; the hourly limit is not waited for.
    """
    return not _is_primary(reply) if _limited(reply) else repeatable and reply.status in _PASSING


def asked_pause(reply: Reply) -> float | None:
    """Seconds that the server wants between this reply and the next request; None where it does not care."""
    asked = parse_retry_after(reply.headers.get("retry-after"), reply.at)
    return _SECONDARY_PAUSE if asked is None and _limited(reply) else asked


def _status_failure(reply: Reply, site: GitHubSite, what: str) -> tuple[FailureKind, str] | None:
    said = _message(reply) or "no reason given"
    if _limited(reply):
        return "rate-limited", _limit_words(reply, site)
    if reply.status in _OK:
        return None
    if reply.status == _FORBIDDEN and "x-github-sso" in reply.headers:
        return _sign_on(reply, site)
    if reply.status == _NOT_FOUND and not _message(reply):
        return "protocol", f"no GitHub answers at {site.api} (404 without its words)"
    if site.token is None and reply.status in (_UNAUTHORIZED, _NOT_FOUND):
        why = "missing or not public" if reply.status == _NOT_FOUND else "not shown without a token"
        return "auth-wanted", f"not logged in: {what} is {why}{_log_in(site)}"
    told: dict[int, tuple[FailureKind, str]] = {
        _UNAUTHORIZED: ("auth-refused", f"the token for {site.host} was refused: {said}"),
        _FORBIDDEN: ("access-denied", f"access to {what} was denied: {said}"),
        _LEGAL: ("access-denied", f"access to {what} was denied: {said}"),
        _NOT_FOUND: ("not-found", f"{what} is missing or not visible with this token"),
        _GONE: ("not-found", f"{what} is gone: {said}"),
    }
    return told.get(reply.status, ("protocol", f"{site.host} answered {reply.status}: {said}"))


def _log_in(site: GitHubSite) -> str:
    return f" (gh auth login --hostname {site.host})"


def _no_api(reply: Reply, site: GitHubSite) -> str:
    kind = reply.headers.get("content-type", "").partition(";")[0].strip().lower() or "nothing"
    where = urlsplit(reply.headers.get("location", "")).hostname
    return f"{site.host} answered {kind} instead of JSON" + (
        f", a redirect to {where}" if where else ": a login page or a proxy?"
    )


def _sign_on(reply: Reply, site: GitHubSite) -> tuple[FailureKind, str]:
    """Single sign-on: the URL under which a person authorises the token, where it is one of this site."""
    found = _SSO_URL.search(reply.headers.get("x-github-sso", ""))
    url = found[1].rstrip(";,") if found else ""
    parts = urlsplit(url)
    trusted = parts.scheme == "https" and parts.netloc.lower() == site.host
    how = f"authorise it at {url}" if trusted else "authorise it for the organisation (SAML) in the token's settings"
    return "access-denied", f"single sign-on: the token is not authorised for this organisation; {how}"


# --- limits ---


def _limited(reply: Reply) -> bool:
    if reply.status == _TOO_MANY:
        return True
    errors = graph_errors(reply)
    words = " ".join([_message(reply), *(e.message for e in errors)])
    if reply.status in _OK:  # GraphQL says it in its errors
        return any(e.kind in ("RATE_LIMITED", "RATE_LIMIT") for e in errors) or (
            bool(errors) and _SECONDARY.search(words) is not None
        )
    if reply.status != _FORBIDDEN:
        return False
    return "retry-after" in reply.headers or bool(_PRIMARY.search(words) or _SECONDARY.search(words))


def _is_primary(reply: Reply) -> bool:
    return reply.headers.get("x-ratelimit-remaining") == "0" and "retry-after" not in reply.headers


def _limit_words(reply: Reply, site: GitHubSite) -> str:
    words = f"rate limited {until(_reset(reply) if _is_primary(reply) else asked_pause(reply), reply.at)}"
    if site.token is None:
        words += "; without a token 60 requests an hour are answered" + _log_in(site)
    return words


def _reset(reply: Reply) -> float | None:
    """Seconds until the hourly limit begins anew, which GitHub tells as a moment."""
    try:
        moment = datetime.fromtimestamp(int(float(reply.headers["x-ratelimit-reset"])), UTC)
    except (KeyError, ValueError, OverflowError, OSError):
        return None
    return (moment - reply.at).total_seconds()


# --- the transport ---


def transport_failure(error: BaseException, site: GitHubSite) -> Failure:
    """Why no reply came, by the innermost reason: the library's own text holds addresses of objects."""
    kind, detail = _transport(_reasons(error), site.host)
    return Failure(kind=kind, detail=_clean(detail, site), host=site.host)


def _transport(reasons: list[BaseException], host: str) -> tuple[FailureKind, str]:
    # By name, because requests hands through what urllib3 raises under names of its own.
    names = {kind.__name__ for reason in reasons for kind in type(reason).__mro__}
    names |= {errno.errorcode.get(r.errno or 0, "") for r in reasons if isinstance(r, OSError)}
    untrusted = next((r for r in reasons if isinstance(r, ssl.SSLError)), None)
    if untrusted is not None:
        why = getattr(untrusted, "verify_message", "") or untrusted.reason or "the handshake failed"
        return "tls", f"{host} could not be trusted: {str(why).lower().replace('_', ' ')}"
    rows: tuple[tuple[set[str], FailureKind, str], ...] = (
        ({"ProxyError"}, "refused", f"the proxy on the way to {host} did not let through"),
        ({"EndlessAnswerError"}, "protocol", f"{host} answered without an end: {reasons[0]}"),
        ({"NameResolutionError", "gaierror"}, "host-not-found", f"there is no host {host}"),
        ({"ConnectionRefusedError"}, "refused", f"{host} refused the connection"),
        ({"ENETUNREACH", "EHOSTUNREACH"}, "refused", f"there is no way to {host}"),
        # After the two: urllib3 calls every connection that did not come about a kind of time-out.
        ({"Timeout", "ReadTimeoutError", "TimeoutError"}, "timed-out", f"{host} did not answer in time"),
        ({"SSLError"}, "tls", f"{host} could not be trusted"),
        ({"ConnectionError", "ChunkedEncodingError", "ContentDecodingError"}, "protocol", f"{host} broke off"),
    )
    for words, kind, detail in rows:
        if words & names:
            return kind, detail
    if isinstance(reasons[0], OSError):
        if "certificate" in str(reasons[0]):
            return "tls", "the file of trusted certificates is not there"
        return "unknown", f"{host} could not be asked: {type(reasons[0]).__name__}"
    return "protocol", f"{host} answered what its API does not: {reasons[0]}"


def _reasons(error: BaseException) -> list[BaseException]:
    """A fault with all that it carries: causes, contexts, arguments, and urllib3's `reason`."""
    found: list[BaseException] = []
    waiting: list[object] = [error]
    while waiting:
        each = waiting.pop(0)
        if isinstance(each, BaseException) and not any(each is seen for seen in found):
            found.append(each)
            waiting += [each.__cause__, each.__context__, getattr(each, "reason", None), *each.args]
    return found


# --- words ---


def _message(reply: Reply) -> str:
    said = _dict(reply.json).get("message")
    return said if isinstance(said, str) else ""


def _clean(text: str, site: GitHubSite) -> str:
    """One line, no secret, not endless: parts of it were written elsewhere."""
    text = " ".join(redact(text[:_WORDS_READ]).split())
    if site.token:
        text = text.replace(site.token, HIDDEN)
    # The authorisation URL is given whole, or it is of no use.
    return text if len(text) <= _WORDS_SHOWN or "authorise it at " in text else text[:_WORDS_SHOWN] + "..."


def _graph_error(entry: Mapping[str, Json]) -> GraphError:
    extensions = _dict(entry.get("extensions"))
    path, message = entry.get("path"), entry.get("message")
    kind = entry.get("type") or extensions.get("code") or ""
    return GraphError(
        kind=str(kind),
        message=message if isinstance(message, str) else "",
        path=tuple(p for p in path if isinstance(p, str | int)) if isinstance(path, list) else (),
        saml=extensions.get("saml_failure") is True,
    )


def _dict(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, dict) else {}
