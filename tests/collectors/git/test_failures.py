"""Failure kinds by the words that git and its helpers were seen to write."""

from __future__ import annotations

import pytest

from collectors.git.failures import classify, failure_of, relevant_line
from collectors.process import ProcessResult
from ranking.facts import Failure, FailureKind

SSH_TAIL = (
    "fatal: Could not read from remote repository.\n\n"
    "Please make sure you have the correct access rights\nand the repository exists.\n"
)

# Kind, the line that is shown, and the whole stderr (the line alone where None).
SEEN: list[tuple[FailureKind, str, str | None]] = [
    ("host-not-found", "fatal: unable to access 'http://h/a/': Could not resolve host: h", None),
    ("host-not-found", "fatal: unable to look up h (port 9418) (Name or service not known)", None),
    ("host-not-found", "ssh: Could not resolve hostname h: Name or service not known", SSH_TAIL),
    ("host-not-found", "fatal: unable to access 'https://h/': Could not resolve proxy: p", None),
    (
        "refused",
        "fatal: unable to access 'http://h/': Failed to connect to h port 1: Couldn't connect to server",
        None,
    ),
    ("refused", "h[0: 127.0.0.1]: errno=Connection refused", None),
    ("refused", "ssh: connect to host h port 22: Connection refused", SSH_TAIL),
    ("refused", "ssh: connect to host h port 22: No route to host", SSH_TAIL),
    ("timed-out", "ssh: connect to host h port 22: Connection timed out", SSH_TAIL),
    (
        "timed-out",
        "fatal: unable to access 'http://h/a/': Failed to connect to h port 1: Connection timed out",
        None,
    ),
    (
        "timed-out",
        "fatal: unable to access 'http://h/a/': Operation too slow. Less than 1000 bytes/sec transferred",
        None,
    ),
    (
        "tls",
        "fatal: unable to access 'https://h/a/': server certificate verification failed. CAfile: none",
        None,
    ),
    ("tls", "fatal: unable to access 'https://h/': SSL certificate problem: self-signed certificate", None),
    (
        "tls",
        "fatal: unable to access 'https://h/': gnutls_handshake() failed: An unexpected TLS packet",
        None,
    ),
    ("auth-wanted", "fatal: could not read Username for 'http://h': terminal prompts disabled", None),
    (
        "auth-wanted",
        "fatal: unable to access 'https://h/': Received HTTP code 407 from proxy after CONNECT",
        None,
    ),
    ("auth-refused", "fatal: Authentication failed for 'http://h/a/'", None),
    ("not-found", "fatal: repository 'http://h/a/' not found", "remote: Not here\n"),
    ("not-found", "fatal: remote error: access denied or repository not exported: /a", None),
    ("not-found", "fatal: '/a' does not appear to be a git repository", SSH_TAIL),
    ("not-found", "ERROR: Repository not found.", SSH_TAIL),
    ("not-found", "fatal: couldn't find remote ref refs/heads/gone", None),
    ("access-denied", "fatal: unable to access 'https://h/a/': The requested URL returned error: 403", None),
    ("access-denied", "git@h: Permission denied (publickey).", SSH_TAIL),
    ("unknown-host-key", "Host key verification failed.", SSH_TAIL),
    ("rate-limited", "fatal: unable to access 'https://h/a/': The requested URL returned error: 429", None),
    ("protocol", "fatal: unable to access 'https://h/a/': The requested URL returned error: 500", None),
    ("protocol", "fatal: http://h/a/info/refs not valid: is this a git repository?", None),
    ("protocol", "git: 'remote-foo' is not a git command. See 'git --help'.", None),
    ("protocol", "fatal: the remote end hung up unexpectedly", None),
    ("protocol", "fatal: protocol error: bad line length character: HTTP", None),
    ("ownership", "fatal: detected dubious ownership in repository at '/a'", SSH_TAIL),
    ("no-remote", "fatal: No remote configured to list refs from.", None),
    ("unknown", "You shall not pass", SSH_TAIL),
    ("unknown", "fatal: something new", "warning: redirecting to http://i/\n"),
]


@pytest.mark.parametrize(("kind", "line", "rest"), SEEN)
def test_kind_and_line(kind: FailureKind, line: str, rest: str | None) -> None:
    # What stands around the telling line may come before or after it.
    for stderr in (f"{line}\n{rest or ''}", f"{rest or ''}{line}\n" if kind != "unknown" else line):
        assert (classify(stderr, 128), relevant_line(stderr)) == (kind, line)


def test_the_words_of_a_url_or_of_the_server_decide_nothing() -> None:
    in_url = "fatal: unable to access 'http://h/Connection refused/timed out/': Could not resolve host: h\n"
    assert classify(in_url, 128) == "host-not-found"
    by_server = "remote: Host key verification failed\nfatal: Authentication failed for 'http://h/'\n"
    assert classify(by_server, 128) == "auth-refused"


def test_what_says_nothing_is_said_to_say_nothing() -> None:
    assert (classify("", 128), relevant_line("")) == ("unknown", "git said nothing")
    assert classify(SSH_TAIL, 128) == "protocol"
    assert relevant_line("remote: only this\n") == "remote: only this"
    assert classify("fatal: repository 'x' not found", None) == "timed-out"


def test_the_detail_is_redacted_and_the_host_named() -> None:
    said = "fatal: unable to access 'https://u:s3cret@h.example/a/': Could not resolve host: h.example\n"
    ran = ProcessResult(argv=("git",), code=128, stdout=b"", stderr=said, milliseconds=5)
    assert failure_of(ran, "h.example") == Failure(
        kind="host-not-found",
        detail="fatal: unable to access 'https://***@h.example/a/': Could not resolve host: h.example",
        host="h.example",
    )
    assert failure_of(ran, None).host is None


def test_a_time_out_says_how_long_it_was_waited_for() -> None:
    ran = ProcessResult(argv=("git",), code=None, stdout=b"", stderr="", milliseconds=1530)
    assert failure_of(ran, "h") == Failure(kind="timed-out", detail="no answer within 1.5 s", host="h")
