"""What is said of this clone's idea of the remote."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from candidates.run.cache_notes import cache_notes
from collectors.git.local_refs import Elsewhere, LocalRefs
from ranking.names import Refname

PLAIN = LocalRefs(
    heads={},
    tracking={"main": "a" * 40},
    elsewhere={},
    tags={},
    cached_default="main",
    dangling_default=None,
    covers_all=True,
    covered=("refs/heads/*",),
)
MEND = "mend it with: git remote set-head up/x --auto"


@pytest.mark.parametrize(
    ("local", "answered", "default", "said"),
    [
        (PLAIN, True, "main", []),
        (PLAIN, True, None, []),
        (PLAIN, False, None, []),
        (PLAIN, True, "trunk", [f"refs/remotes/up/x/HEAD still says main; the remote's default is trunk; {MEND}"]),
        (replace(PLAIN, cached_default=None), True, "trunk", []),
        (
            replace(PLAIN, cached_default=None, dangling_default="old"),
            True,
            "trunk",
            [f"refs/remotes/up/x/HEAD points at old, which is not here; {MEND}"],
        ),
        (
            replace(PLAIN, covers_all=False, covered=("refs/heads/main", "refs/heads/r/*")),
            False,
            None,
            ["the fetch refspecs of up/x cover only refs/heads/main, refs/heads/r/*: the rest is unknown here"],
        ),
        (replace(PLAIN, covers_all=False, covered=("refs/heads/main",)), True, "main", []),
        (replace(PLAIN, covers_all=False, covered=()), False, None, []),
        (
            replace(
                PLAIN,
                elsewhere={
                    name: Elsewhere(refname=Refname(f"refs/remotes/kept/{name}"), tip="b" * 40)
                    for name in ("release/1.1", "main", "release/1.0")
                },
            ),
            False,
            None,
            [
                (
                    "kept at other refs by the fetch refspecs (refs/remotes/kept/release/1.0), so that none serves: "
                    "2: release/1.0, release/1.1"
                )
            ],
        ),
    ],
)
def test_what_is_said(local: LocalRefs, *, answered: bool, default: str | None, said: list[str]) -> None:
    assert cache_notes(local, "up/x", answered=answered, default=default) == said
