"""Why Jira gave no usable answer: a closed kind, and words that say what to do next. Pure.

Jira says the same thing in several ways, and different things in one: a wrong token may be a 401, a 403, a 404
or a page of HTML. The headers tell them apart.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from http import HTTPStatus
from typing import Final
from urllib.parse import unquote, urljoin, urlsplit

from msgspec import Struct

from collectors.http_waiting import parse_retry_after, until
from collectors.jira.site import JiraSite
from collectors.remote_url import host_of
from collectors.strict_json import loads_foreign
from ranking.facts import Failure, FailureKind

_ANONYMOUS: Final = "anonymous"
_LOGIN_PAGE: Final = re.compile(r"log[ -]?in|sign[ -]?in|single sign-on|\bsso\b|saml|password", re.IGNORECASE)
_LONGEST_SAYING: Final = 300
_SNIFFED: Final = 20_000


class Answer(Struct, frozen=True, kw_only=True):
    """One HTTP answer: header names in lower case; `data` is the decoded JSON, None where it is none."""

    status: int
    headers: Mapping[str, str]
    body: str
    data: object

    @property
    def user(self) -> str | None:
        """Whom the server took us for, as Data Center's header says; None where it does not."""
        return unquote(self.headers.get("x-ausername", "")) or None

    @property
    def anonymous(self) -> bool:
        """Whether the server says that nobody is logged in."""
        return self.user == _ANONYMOUS

    @property
    def names_a_user(self) -> bool:
        """Whether it says that somebody is: Data Center by name, Cloud by account id."""
        return (self.user is not None and not self.anonymous) or bool(self.headers.get("x-aaccountid"))


def read_answer(status: int, headers: Mapping[str, str], content: bytes) -> Answer:
    """Take an answer apart. JSON is UTF-8 (RFC 8259, 8.1), whatever the header says."""
    data: object = None
    with suppress(ValueError, RecursionError):
        data = loads_foreign(content)
    named = {name.lower(): value for name, value in headers.items()}
    return Answer(status=status, headers=named, body=content.decode("utf-8", "replace"), data=data)


def from_cloud(answer: Answer) -> bool:
    """Whether the answer has the marks of Cloud's front."""
    return (
        "atl-traceid" in answer.headers
        or answer.headers.get("server") == "AtlassianEdge"
        or "Connect Session Auth Token" in answer.body[:_SNIFFED]
    )


def from_data_center(answer: Answer) -> bool:
    """Whether the answer has the marks of Data Center: its node, its session, its user name."""
    return not from_cloud(answer) and any(h in answer.headers for h in ("x-anodeid", "x-asessionid", "x-ausername"))


def problem_of(site: JiraSite, answer: Answer, what: str, now: datetime) -> Failure | None:
    """Why an answer cannot be used; None where it is a JSON answer that can."""
    status = answer.status
    if status < HTTPStatus.MULTIPLE_CHOICES:
        return None if answer.data is not None else _no_json(site, answer)
    if status < HTTPStatus.BAD_REQUEST:
        return _redirected(site, answer)
    if login_refused(answer):
        return _refused_login(site, answer)
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.NOT_FOUND) and (answer.anonymous or _nobody_asked(site, answer)):
        return _not_logged_in(site, answer, what)
    return _refused_login(site, answer) if status == HTTPStatus.UNAUTHORIZED else _refused(site, answer, what, now)


def _refused(site: JiraSite, answer: Answer, what: str, now: datetime) -> Failure:
    kind: FailureKind = "protocol"
    match answer.status:
        case HTTPStatus.FORBIDDEN:
            kind, words = "access-denied", f"{what}: access denied (403){_said(site, answer)}{_scheme(site, answer)}"
        case HTTPStatus.NOT_FOUND if said_by_jira(answer):
            kind, words = "not-found", f"{what} is missing or not visible to {asker(site, answer)}"
        case HTTPStatus.NOT_FOUND:
            words = f"no Jira answers at {site.address} (404 without Jira's words): {_PATH}"
        case HTTPStatus.PROXY_AUTHENTICATION_REQUIRED:
            kind, words = "auth-wanted", "the proxy wants a login (407)"
        case HTTPStatus.GONE:
            words = f"{what}: this Jira no longer has that address (410){_said(site, answer)}"
        case HTTPStatus.TOO_MANY_REQUESTS:
            kind, words = "rate-limited", f"{what}: rate limited {until(asked_wait(answer, now), now)}"
        case status:
            words = f"{what}: HTTP {status}{_said(site, answer)}"
    return _failure(site, kind, words)


_PATH: Final = "check the path in the URL"


def asked_wait(answer: Answer, now: datetime) -> float | None:
    """Seconds that the server asks to wait: by `Retry-After`, else by Cloud's `X-RateLimit-Reset`."""
    asked = parse_retry_after(answer.headers.get("retry-after"), now)
    if asked is not None:
        return asked
    try:
        moment = datetime.fromisoformat(answer.headers.get("x-ratelimit-reset", ""))
    except ValueError:
        return None
    return max(0.0, (moment - now).total_seconds()) if moment.tzinfo else None


def asker(site: JiraSite, answer: Answer) -> str:
    """Who asked, as people know them."""
    return answer.user or site.email or "the token's owner"


def said_by_jira(answer: Answer) -> bool:
    """Whether an error is Jira's own word, not a proxy's or another program's."""
    data = answer.data
    return isinstance(data, Mapping) and ("errorMessages" in data or "errors" in data)


def messages_of(answer: Answer) -> list[str]:
    """What Jira said, without its markup; nothing of a page of HTML."""
    data = answer.data
    if not isinstance(data, Mapping):
        return []
    said: list[object] = []
    for key in ("errorMessages", "errors", "errorMessage", "message", "error"):
        part = data.get(key)
        said += part if isinstance(part, list) else part.values() if isinstance(part, Mapping) else [part]
    return [text for text in said if isinstance(text, str) and text]


def fault_of_exception(site: JiraSite, error: BaseException) -> Failure:
    """Why no answer came at all. In our own words: a client's exception may quote a header."""
    chain = tuple(_chain(error))
    names = {type(each).__name__ for each in chain}
    host = site.host or "the host"
    tls = next((each for each in chain if isinstance(each, ssl.SSLError)), None)
    why = getattr(tls, "verify_message", None) or getattr(tls, "reason", None) or "the handshake failed"
    # The first row that fits decides.
    rows: tuple[tuple[bool, FailureKind, str], ...] = (
        (
            bool(names & {"InvalidHeader", "UnicodeEncodeError"}) or _NO_HEADER in str(error),
            "auth-refused",
            "the e-mail or the token holds characters that no header can carry",
        ),
        (not names.isdisjoint(_NO_URL), "protocol", f"{site.address!r} is no URL that can be asked"),
        ("ProxyError" in names, "refused", f"the proxy on the way to {host} did not answer"),
        (tls is not None, "tls", f"no secure connection to {host}: {why}"),
        (_NO_BUNDLE in str(error), "tls", f"no secure connection to {host}: the certificates to trust are not there"),
        (any(isinstance(e, TimeoutError) for e in chain) or bool(names & _TIMED_OUT), "timed-out", _late(site)),
        (bool(names & {"gaierror", "NameResolutionError"}), "host-not-found", f"{host}: no such host"),
        ("EndlessAnswerError" in names, "protocol", f"{host} answered without an end: {error}"),
        ("ConnectionRefusedError" in names, "refused", f"{host} refuses connections"),
        (bool(names & {"ConnectionError", "ChunkedEncodingError"}), "protocol", f"{host} broke the connection off"),
        (True, "unknown", f"asking {host} failed: {type(error).__name__}"),
    )
    return next(_failure(site, kind, words) for fits, kind, words in rows if fits)


# By name, because requests hands through what urllib3 raises under names of its own, and both have changed theirs.
_NO_URL: Final = frozenset({"MissingSchema", "InvalidSchema", "InvalidURL", "LocationParseError"})
_TIMED_OUT: Final = frozenset({"ConnectTimeout", "ReadTimeout", "ConnectTimeoutError", "ReadTimeoutError"})
_NO_HEADER: Final = "Invalid header value"
_NO_BUNDLE: Final = "TLS CA certificate bundle"


def _late(site: JiraSite) -> str:
    return f"{site.host} did not answer in time"


def timed_out(site: JiraSite) -> Failure:
    """The deadline came first."""
    return _failure(site, "timed-out", _late(site))


def _failure(site: JiraSite, kind: FailureKind, detail: str) -> Failure:
    return Failure(kind=kind, detail=site.scrub(detail), host=site.host)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An exception and all that it came from; urllib3 keeps the reason beside the cause."""
    seen: set[int] = set()
    ahead: list[object] = [error]
    while ahead:
        each = ahead.pop()
        if isinstance(each, BaseException) and id(each) not in seen:
            seen.add(id(each))
            yield each
            ahead += [each.__cause__, each.__context__, getattr(each, "reason", None), *each.args]


def _redirected(site: JiraSite, answer: Answer) -> Failure:
    """Redirects are not followed: behind one the login is another's, or none, and a POST becomes a GET."""
    target = urljoin(site.address, answer.headers.get("location", ""))
    here, there = urlsplit(site.address), urlsplit(target)
    upgraded = (here.scheme, there.scheme) == ("http", "https")
    if here.hostname == there.hostname and (upgraded or there.netloc == here.netloc):
        if _LOGIN_PAGE.search(there.path):
            return _failure(site, "auth-wanted", f"not logged in: {site.host} sends to its login page")
        where = f"{there.scheme}://{there.netloc}{there.path}"
        return _failure(site, "protocol", f"{site.address} moved to {where}: set the URL to where it is now")
    return _failure(site, "auth-wanted", f"{site.host} sends to {host_of(target)}: a single sign-on stands before it")


def _no_json(site: JiraSite, answer: Answer) -> Failure:
    if not answer.body.strip():
        return _failure(site, "protocol", f"{site.host} answered {answer.status} without a word")
    if _LOGIN_PAGE.search(answer.body[:_SNIFFED]):
        return _failure(site, "auth-wanted", f"not logged in: {site.host} answered with a login page")
    return _failure(site, "protocol", f"{site.host} answered {answer.status} with what is no JSON: {_PATH}")


def login_refused(answer: Answer) -> bool:
    """Whether the server says that it looked at the login and would not have it, whatever the status."""
    reason = answer.headers.get("x-seraph-loginreason", "")
    return (
        "AUTHENTICATED_FAILED" in reason
        or "AUTHENTICATION_DENIED" in reason
        or "x-authentication-denied-reason" in answer.headers
        or "Connect Session Auth Token" in answer.body[:_SNIFFED]
    )


def _nobody_asked(site: JiraSite, answer: Answer) -> bool:
    """Whether nobody tried to log in, and it is Jira that answers: Cloud names no user beside its 404."""
    return site.login == "none" and (answer.status == HTTPStatus.UNAUTHORIZED or said_by_jira(answer))


def _refused_login(site: JiraSite, answer: Answer) -> Failure:
    denied = answer.headers.get("x-authentication-denied-reason", "")
    if denied.startswith("CAPTCHA"):
        page = denied.partition("login-url=")[2] or f"{site.address}/login.jsp"
        return _failure(site, "auth-refused", f"login refused until a captcha is solved: log in once at {page}")
    words = "e-mail and token were" if site.login == "basic" else "the token was"
    said = f"{_said(site, answer)}{_scheme(site, answer)}"
    return _failure(site, "auth-refused", f"{words} refused ({answer.status}){said}")


def _not_logged_in(site: JiraSite, answer: Answer, what: str) -> Failure:
    if site.login == "none":
        hint = ": no token is set"
    else:
        hint = f": {site.host} took no notice of the token{_scheme(site, answer)}"
    return _failure(site, "auth-wanted", f"{what}: not logged in{hint}")


def _scheme(site: JiraSite, answer: Answer) -> str:
    """The hint where the way of logging in is the other product's."""
    cloud = from_cloud(answer) or (site.on_cloud and not from_data_center(answer))
    if site.login == "bearer" and cloud:
        return "; Jira Cloud wants e-mail and API token together: set JIRA_EMAIL"
    if site.login == "basic" and from_data_center(answer):
        return "; Jira Data Center wants a personal access token alone: unset JIRA_EMAIL"
    return ""


def _said(site: JiraSite, answer: Answer) -> str:
    said = ", ".join(messages_of(answer))
    # Cut after the secrets are out: half of one is no longer found.
    return f": {site.scrub(said[:_SNIFFED])[:_LONGEST_SAYING]}" if said else ""
