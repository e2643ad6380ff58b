"""The listing: three tips a branch, and who vouches for it."""

from __future__ import annotations

from collectors.git.local_refs import LocalRefs
from collectors.git.refs import RemoteAnswer, build_listing
from ranking.facts import Branch, Failure, RefListing, Tag

A, B, C, D = (digit * 40 for digit in "abcd")

CACHE = LocalRefs(
    heads={"main": B, "mine": C},
    tracking={"release/1.9": A, "main": A},
    elsewhere={},
    tags={"v2": None, "v1": A},
    cached_default="main",
    dangling_default=None,
    covers_all=True,
    covered=("refs/heads/*",),
)


def test_the_remote_answered() -> None:
    answer = RemoteAnswer(branches={"release/1.10": D, "main": D}, tags={"v3": D, "v1": B}, milliseconds=7)
    assert build_listing(CACHE, answer) == RefListing(
        provenance="remote",
        complete=True,
        branches=(
            Branch(name="main", tip=D, cached_tip=A, local_tip=B),
            Branch(name="mine", local_tip=C),
            Branch(name="release/1.10", tip=D),
            # Known only from the cache: the remote does not have it.
            Branch(name="release/1.9", cached_tip=A),
        ),
        # The local v2 is not the remote's.
        tags=(Tag(name="v1", commit=B), Tag(name="v3", commit=D)),
        tags_complete=True,
    )


def test_the_remote_is_empty() -> None:
    listing = build_listing(CACHE, RemoteAnswer(branches={}, tags={}))
    assert (listing.provenance, listing.complete, listing.tags, listing.tags_complete) == (
        "remote",
        True,
        (),
        True,
    )
    assert [(branch.name, branch.tip) for branch in listing.branches] == [
        ("main", None),
        ("mine", None),
        ("release/1.9", None),
    ]


def test_no_answer_came() -> None:
    failure = Failure(kind="timed-out", detail="no answer within 20.0 s", host="h")
    expected = RefListing(
        provenance="local",
        complete=False,
        branches=(
            Branch(name="main", cached_tip=A, local_tip=B),
            Branch(name="mine", local_tip=C),
            Branch(name="release/1.9", cached_tip=A),
        ),
        tags=(Tag(name="v1", commit=A), Tag(name="v2")),
        tags_complete=None,
        failure=failure,
    )
    assert build_listing(CACHE, failure) == expected


def test_not_asked_is_not_failed() -> None:
    listing = build_listing(CACHE, None)
    assert (listing.provenance, listing.complete, listing.tags_complete) == ("local", False, None)
    assert listing.failure is None


def test_the_order_is_that_of_the_names_bytes() -> None:
    names = ["b", "a/b", "a-b", "B", "\u00e9", "\U0001f600", "\uff5e", "a"]
    answer = RemoteAnswer(branches=dict.fromkeys(names, A), tags=dict.fromkeys(names, A))
    listing = build_listing(CACHE, answer)
    ordered = sorted({*names, "main", "mine", "release/1.9"}, key=str.encode)
    assert [branch.name for branch in listing.branches] == ordered
    assert [tag.name for tag in listing.tags] == sorted(names, key=str.encode)
