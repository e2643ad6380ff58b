"""What a URL says, and that no credential in it is ever shown."""

from __future__ import annotations

import pytest

from collectors.remote_url import RemoteType, host_of, owner_and_name, redact, remote_type, rewritten


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://x-access-token:ghp_s3cret@github.com/o/r.git", "https://***@github.com/o/r.git"),
        ("https://s3crettoken@github.com/o/r.git", "https://***@github.com/o/r.git"),
        ("https://:s3cret@host/r", "https://***@host/r"),
        ("https://u:s3@cret@host/r", "https://***@host/r"),
        ("https://u:s3/cret@host/r", "https://***@host/r"),
        ("https://u:s3'cret@host/r", "https://***@host/r"),
        ("HTTP://u:s3cret@[::1]:8080/r", "HTTP://***@[::1]:8080/r"),
        ("ssh://u:s3cret@host/r", "ssh://***@host/r"),
        (
            "fatal: unable to access 'https://u:s3cret@h/r/': nope",
            "fatal: unable to access 'https://***@h/r/': nope",
        ),
        ("a https://u:s3cret@h/r and https://v:s3cret@i/s", "a https://***@h/r and https://***@i/s"),
        ("Authorization: Basic czNjcmV0", "Authorization: ***"),
        ("http.extraheader=AUTHORIZATION: bearer s3cret", "http.extraheader=AUTHORIZATION: ***"),
        ("PRIVATE-TOKEN: s3cret", "PRIVATE-TOKEN: ***"),
        ("https://h/r?a=1&private_token=s3cret&b=2", "https://h/r?a=1&private_token=***&b=2"),
        ("it says ghp_0123456789abcdefs3cret here", "it says *** here"),
        ("git@github.com:o/r.git", "git@github.com:o/r.git"),
        ("ssh://git@github.com/o/r.git", "ssh://git@github.com/o/r.git"),
        ("ssh://ada@host:22/o/r.git", "ssh://ada@host:22/o/r.git"),
        ("https://git@host/o/r.git", "https://git@host/o/r.git"),
        ("https://host:8443/o/r@v1", "https://host:8443/o/r@v1"),
        ("https://host/o/r@v1", "https://host/o/r@v1"),
        ("/srv/a@b/r.git", "/srv/a@b/r.git"),
        ("fatal: 'https://h:80/r': see you@example.org", "fatal: 'https://h:80/r': see you@example.org"),
        ("", ""),
    ],
)
def test_redact(text: str, shown: str) -> None:
    assert redact(text) == shown
    assert redact(shown) == shown


@pytest.mark.parametrize(
    ("url", "host", "name", "kind"),
    [
        ("https://github.com/acme/app.git", "github.com", "acme/app", "github"),
        ("https://u:p@GitHub.com:443/acme/app/", "github.com", "acme/app", "github"),
        ("git@github.com:acme/app.git", "github.com", "acme/app", "github"),
        ("github.com:acme/app", "github.com", "acme/app", "github"),
        ("ssh://git@github.acme.example:22/acme/app.git", "github.acme.example", "acme/app", "github"),
        ("https://acme.ghe.com/acme/app", "acme.ghe.com", "acme/app", "github"),
        ("https://bitbucket.org/acme/app.git", "bitbucket.org", "acme/app", "bitbucket"),
        (
            "ssh://git@bitbucket.acme.example:7999/acme/app.git",
            "bitbucket.acme.example",
            "acme/app",
            "bitbucket",
        ),
        ("https://bitbucket.acme.example/scm/~ada/app.git", "bitbucket.acme.example", "ada/app", "bitbucket"),
        ("git@gitlab.com:group/sub/app.git", "gitlab.com", "group/sub/app", "gitlab"),
        ("https://dev.azure.example/org/proj/_git/app", "dev.azure.example", "proj/app", "generic-git"),
        ("https://notgithub.example/acme/app", "notgithub.example", "acme/app", "generic-git"),
        ("git://127.0.0.1:9418/app.git", "127.0.0.1", "app", "generic-git"),
        ("http://[::1]:80/acme/app", "::1", "acme/app", "generic-git"),
        ("[host:2222]:acme/app.git", "host", "acme/app", "generic-git"),
        ("ada@[::1]:acme/app.git", "::1", "acme/app", "generic-git"),
        ("file:///srv/git/acme/app.git", None, "app", "generic-git"),
        ("/srv/git/acme/app.git/", None, "app", "generic-git"),
        ("/srv/app/.git", None, "app", "generic-git"),
        ("../app", None, "app", "generic-git"),
        ("./a:b/app", None, "app", "generic-git"),
        (r"C:\src\app.git", None, "app", "generic-git"),
        ("C:/src/app", None, "app", "generic-git"),
        ("https::https://host/acme/app", "host", "acme/app", "generic-git"),
        ("https://host/", "host", None, "generic-git"),
        ("..", None, None, "generic-git"),
        ("", None, None, None),
    ],
)
def test_what_a_url_names(url: str, host: str | None, name: str | None, kind: RemoteType | None) -> None:
    assert (host_of(url), owner_and_name(url), remote_type(url)) == (host, name, kind)


def test_the_longest_instead_of_wins() -> None:
    rules = [("ssh://git@h/", "https://h/"), ("https://mirror/", "https://h/acme/"), ("x", "")]
    assert rewritten("https://h/acme/app", rules) == "https://mirror/app"
    assert rewritten("https://h/other/app", rules) == "ssh://git@h/other/app"
    assert rewritten("https://i/app", rules) == "https://i/app"


def test_a_word_of_megabytes_is_looked_through_once_and_what_stands_before_a_url_hides_nothing() -> None:
    """Looked through from each of its letters it would take minutes."""
    assert redact("x" * 1_000_000) == "x" * 1_000_000
    assert redact("1https://user:s3cret@host/ +-https://s3cret@host/") == "1https://***@host/ +-https://***@host/"
