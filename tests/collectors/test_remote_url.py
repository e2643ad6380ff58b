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
        ("https://h/r?a=1&private_token=s3cret&b=2", "https://h/r?***"),
        ("see 'https://h/r?sig=s3cret', and why?", "see 'https://h/r?***', and why?"),
        ("https://h/orgs/o/sso?authorization_request=A1-b", "https://h/orgs/o/sso?authorization_request=A1-b"),
        ("https://h/orgs/o/sso?authorization_request=A&sig=s3cret", "https://h/orgs/o/sso?***"),
        ("https://h/r#access_token=s3cret", "https://h/r#***"),
        ("https://h/r#issuecomment-1", "https://h/r#issuecomment-1"),
        ("https://ada:pass s3cret@h/r", "https://***@h/r"),
        ("https://ada:2024 s3cret@h/r", "https://***@h/r"),
        ("https://ada:s3\u00a0cret\t@h/r", "https://***@h/r"),
        ("https://ada:12?s3cret@h/r", "https://***@h/r"),
        ("ada:s3cret@h:o/r.git", "***@h:o/r.git"),
        ("https:/ada:s3cret@h/r", "https:/***@h/r"),
        ("url=https%3A%2F%2Fada%3As3cret%40h", "url=https%3A%2F%2F***%40h"),
        ("ext::curl -u ada:s3cret http://x", "ext::***"),
        ("Authorization: AWS4-HMAC-SHA256 Credential=s3cret", "Authorization: ***"),
        ('Proxy-Authorization: Digest username="x", response="s3cret"', "Proxy-Authorization: ***"),
        ("Authorization: 'ApiKey s3cret'\nHost: h", "Authorization: ***\nHost: h"),
        ("Set-Cookie: a=b; session=s3cret", "Set-Cookie: ***"),
        ("JOB-TOKEN: s3cret", "JOB-TOKEN: ***"),
        ("X-JFrog-Art-Api: s3cret", "X-JFrog-Art-Api: ***"),
        ("username=ada\npassword=s3cret", "username=ada\npassword=***"),
        ("https://h/r.git;token=s3cret", "https://h/r.git;token=***"),
        ("client_secret='s3 cret' oauth_token=s3cret", "client_secret=*** oauth_token=***"),
        ("glptt-0123456789s3cret glcbt-64_0123456789s3cret", "*** ***"),
        ("origin/glib-networking-2.76", "origin/glib-networking-2.76"),
        ("token: it holds characters that no token has", "token: it holds characters that no token has"),
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
    for part in ("x", "://", "a-", "https://a:", "?", "a:b"):
        assert redact(part * 300_000)[:1] == part[0]
    assert redact("x" * 1_000_000) == "x" * 1_000_000
    assert redact("1https://user:s3cret@host/ +-https://s3cret@host/") == "1https://***@host/ +-https://***@host/"
