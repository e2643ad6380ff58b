"""The lines over time: which releases stand where, what is known of a fork, what is lacking; and the picture."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from candidates.explain.page.lanes import figure, in_words
from candidates.explain.page.time_axis import axis_over
from candidates.explain.page.timeline import Lane, Mark, Shared, Timeline, read_timeline
from candidates.run.replay import recollected
from ranking.facts import Tag
from ranking.names import printable
from ranking.versions import Version
from tests.ranking.facts_builder import NOW, chose, facts, wants
from tests.support.html_reader import PLAIN_TAGS, read_page

if TYPE_CHECKING:
    from ranking.facts import Facts


def lines_of(bundle: Facts) -> Timeline:
    return read_timeline(recollected(bundle))


def lane(timeline: Timeline, name: str) -> Lane:
    return next(lane for lane in timeline.lanes if lane.name == name)


def made(name: str, days_ago: int, *branches: str) -> Tag:
    """A release of so many days ago."""
    return Tag(name=name, created_at=NOW - timedelta(days=days_ago), branches=branches)


def marks(lane: Lane) -> list[str]:
    return [mark.name for mark in lane.marks]


FORKED = facts(
    "main 8.3 8.4 8.5",
    tags=(
        made("v8.3.0", 90, "8.3"),
        made("v8.3.1", 80, "8.3", "8.4"),
        made("v8.3.2", 40, "8.3"),
        made("v8.4.0", 50, "8.4"),
        made("v8.4.1", 20, "8.4"),
        made("v8.2.7", 15),
    ),
    issue=wants("8.4.2"),
    dates={"8.4": 3},
)


def test_lanes_stand_newest_version_first_below_the_trunk() -> None:
    found = lines_of(facts("8.9 main 8.10 develop 7.x topic-1234-thing", tags="v8.9.0@8.9 v7.1.0@7.x"))
    assert [lane.name for lane in found.lanes] == ["main", "develop", "8.10", "8.9", "7.x"]
    assert [lane.trunk for lane in found.lanes] == [True, True, False, False, False]


def test_a_release_stands_on_the_line_that_is_named_for_it_and_the_other_shares_it() -> None:
    found = lines_of(FORKED)
    assert marks(lane(found, "8.3")) == ["v8.3.0", "v8.3.1", "v8.3.2"]
    assert marks(lane(found, "8.4")) == ["v8.4.0", "v8.4.1"]
    shared = lane(found, "8.4").shared
    assert shared is not None
    assert (shared.lane, shared.mark.name) == ("8.3", "v8.3.1")
    assert lane(found, "8.3").shared is None


def test_a_release_that_came_over_after_the_first_own_one_tells_nothing_of_the_fork() -> None:
    found = lines_of(facts("main 8.3 8.4", tags=(made("v8.4.0", 50, "8.4"), made("v8.3.9", 10, "8.3", "8.4"))))
    assert lane(found, "8.4").shared is None


def test_a_release_that_no_name_covers_stands_on_the_oldest_line_that_carries_it() -> None:
    found = lines_of(facts("main stable/2024.1 stable/2024.2", tags="v26.0.0@stable/2024.2,stable/2024.1"))
    assert marks(lane(found, "stable/2024.1")) == ["v26.0.0"]


def test_what_the_issue_wants_is_on_the_lane_that_takes_it() -> None:
    found = lines_of(FORKED)
    assert {lane.name: lane.wanted for lane in found.lanes if lane.wanted} == {"8.4": ("8.4.2",)}
    assert found.notes == ("branches whose last commit has no date here: 3 of 4",)
    tied = lines_of(facts("main 8.3 8.4", issue=wants(("8.3.1", "8.4.1"))))
    assert {lane.name: lane.wanted for lane in tied.lanes if lane.wanted} == {"8.4": ("8.4.1",), "8.3": ("8.3.1",)}


def test_a_version_that_is_not_cut_waits_on_the_development_branch_and_a_lost_one_on_the_lost_lane() -> None:
    waiting = lines_of(facts("main 8.3 8.4", tags="v8.4.0@8.4", issue=wants("9.0.0")))
    assert lane(waiting, "main").wanted == ("9.0.0",)
    assert "fixVersions 9.0.0: newer than v8.4.0" in waiting.notes[0]
    gone = lines_of(facts("main 8.3 8.4", tags="v8.2.0@ v8.4.0@8.4", issue=wants("8.2.1")))
    assert (gone.lost_wanted, [mark.name for mark in gone.lost]) == (("8.2.1",), ["v8.2.0"])
    assert "is on no listed branch" in gone.notes[0]


# --- what is lacking ---


def test_without_a_single_date_versions_stand_in_for_time() -> None:
    found = lines_of(facts("main 8.3 8.4", tags="v8.4.0@8.4 v8.3.1@8.3 v8.3.0@8.3", issue=wants("8.3.2")))
    assert (found.dated, marks(lane(found, "8.3"))) == (False, ["v8.3.0", "v8.3.1"])
    picture = read_page(figure(found, None, {}))
    assert "No date is known here" in picture.one("figcaption").said
    assert [e.said for e in picture.all("text", "tick")] == ["older versions", "newer versions", "no release known"]


def test_a_release_without_a_day_among_dated_ones_is_not_drawn_and_counted() -> None:
    found = lines_of(
        facts("main 8.3", tags=(made("v8.3.0", 9, "8.3"), Tag(name="v8.3.1", branches=("8.3",))), issue=wants("8.3.2"))
    )
    assert marks(lane(found, "8.3")) == ["v8.3.0"]
    assert "release tags without a date here, and so not drawn: 1" in found.notes


def test_a_clock_that_ran_ahead_pushes_nothing_out_of_sight() -> None:
    tags = (made("v8.3.0", 90, "8.3"), made("v8.3.1", 20, "8.3"))
    right, ahead = (
        lines_of(facts("main 8.3", tags=tags, issue=wants("8.3.2"), dates={"main": days})) for days in (0, -2_000_000)
    )
    places = [
        re.findall(
            r'<circle class="release" cx="[^"]+" cy="\d+|<rect class="last" x="[^"]+"', figure(timeline, None, {})
        )
        for timeline in (right, ahead)
    ]
    assert len(places[0]) == 5  # three in the picture, two in its legend
    assert places[0] == places[1]
    said = "release tags and last commits dated after this run, and so drawn at its own moment: 1"
    assert (said in right.notes, said in ahead.notes) == (False, True)


@pytest.mark.parametrize(
    ("version", "said"),
    [
        (None, "no version is asked for, so nobody looked which branches carry which release tags"),
        ("8.3.1", "release tags of which it is not known who carries them, and so not drawn: 1"),
    ],
)
def test_where_nobody_looked_nothing_is_drawn_and_that_is_said(version: str | None, said: str) -> None:
    bundle = facts("main 8.3", tags="v8.3.0", issue=wants(version) if version else None, dates={"8.3": 2})
    found = lines_of(bundle)
    assert marks(lane(found, "8.3")) == []
    assert said in found.notes


# --- how much ---


def test_of_very_many_lines_the_nearest_to_the_answer_are_drawn() -> None:
    many = " ".join(f"8.{n}" for n in range(300))
    found = lines_of(facts(f"main {many}", issue=wants("8.150.1")))
    names = [lane.name for lane in found.lanes]
    assert len(names) == 120
    assert names[0] == "main"
    assert {"8.150", "8.92", "8.208"} <= set(names)
    assert "drawn are the 120 branches nearest to the answer; left out: 181" in found.notes
    far = lines_of(facts(f"main {many}", issue=wants("8.150.1"), recent=(chose("8.3"),)))
    assert {"8.150", "8.3"} <= {lane.name for lane in far.lanes}


def test_of_very_many_releases_the_newest_are_drawn() -> None:
    found = lines_of(facts("main 8.3", tags=tuple(made(f"v8.3.{n}", 3000 - n, "8.3") for n in range(2100))))
    assert (len(lane(found, "8.3").marks), marks(lane(found, "8.3"))[-1]) == (2000, "v8.3.2099")
    assert "of 2100 release tags the newest 2000 are drawn" in found.notes


# --- the picture ---


def test_the_picture_has_a_lane_for_each_branch_in_one_row_with_its_name() -> None:
    found = lines_of(FORKED)
    text = figure(found, "8.4", {"8.4": "answer"})
    picture = read_page(text)
    assert picture.problems == ()
    names = [e.attributes["title"] for e in picture.all("li") if "title" in e.attributes]
    assert names == ["main", "8.5", "8.4", "8.3"]
    assert [e.said for e in picture.all("li", "answer")] == ["answer8.4"]
    drawing = text.partition("<figcaption>")[0]
    assert drawing.count('<g class="lane') == drawing.count('class="guide"') == len(names) + 1  # and the lost
    releases = [e.said for e in picture.all("circle", "release") if e.said]
    assert releases == [
        "v8.4.0, 2026-10-11",
        "v8.4.1, 2026-11-10",
        "v8.3.0, 2026-09-01",
        "v8.3.1, 2026-09-11; carried by 2 branches",
        "v8.3.2, 2026-10-21",
        "v8.2.7, 2026-11-15",
    ]


@pytest.mark.parametrize("dated", [True, False])
@pytest.mark.parametrize("text", ['"><script>x</script>', "'&lt;</text></svg>", "\x00\u202e"])
def test_whatever_a_timeline_names_stays_text(text: str, *, dated: bool) -> None:
    mark = Mark(name=text, version=Version((8,)), at=NOW if dated else None, place=1, carriers=(text, "8.4"))
    timeline = Timeline(
        lanes=(
            Lane(name=text, marks=(mark,), last=NOW, wanted=(text,)),
            Lane(name="8.4", wanted=(text, text), shared=Shared(lane=text, mark=mark)),
        ),
        lost=(mark,),
        lost_wanted=(text,),
        now=NOW,
        dated=dated,
        notes=(),
    )
    for written in (figure(timeline, text, {text: "answer"}), "<table>" + "".join(in_words(timeline)) + "</table>"):
        read = read_page(written)
        assert read.problems == ()
        assert read.tags().keys() <= PLAIN_TAGS
        assert printable(text) in " ".join(e.said for e in (*read.all("title"), *read.all("td")))
    assert [e.said for e in read_page(figure(timeline, text, {})).all("code")] == [printable(text), "8.4"]


def test_no_two_labels_of_a_lane_stand_on_one_another() -> None:
    crowd = tuple(made(f"v8.3.{n}", 900 - 3 * n, "8.3") for n in range(200))
    text = figure(lines_of(facts("main 8.3", tags=crowd)), None, {})
    found = [(float(x), t) for x, t in re.findall(r'<text class="tag mid" x="([\d.]+)" y="\d+">([^<]+)<', text)]
    spans = sorted((x - 3 * len(t), x + 3 * len(t)) for x, t in found)
    assert all(one[1] <= other[0] for one, other in pairwise(spans))
    assert 10 < len(spans) < 200
    assert "v8.3.199" in [t for _, t in found]


def test_a_lane_that_lies_out_of_the_first_view_says_when_it_was_last_alive() -> None:
    old = (made("v1.0.0", 4000, "1.0"), made("v9.0.0", 5, "9.0"))
    text = figure(lines_of(facts("main 1.0 9.0", tags=old, dates={"main": 1})), None, {})
    hints = [e.said for e in read_page(text.partition('<g class="lane')[2]).all("text", "tick")]
    assert hints == ["← 2015-12-18"]
    unknown = read_page(figure(lines_of(facts("main 1.0 2.0", dates={"main": 1})), None, {}))
    assert [e.said for e in unknown.all("text", "tick")][-2:] == ["no date known"] * 2


def test_every_sign_of_the_legend_is_in_the_picture_and_no_other() -> None:
    plain = figure(lines_of(facts("main 8.3", dates={"8.3": 3, "main": 1})), None, {})
    said = [e.said for e in read_page(plain).all("li") if "title" not in e.attributes]
    assert said == ["last commit", "dashed: before what is the line's own; when exactly it forked is not in the facts"]


# --- the axis ---

START = datetime(2026, 11, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("days", "width", "first"),
    [
        (0, 700, ["18 Oct", "20 Oct"]),
        (60, 900, ["5 Nov", "12 Nov"]),
        (400, 900, ["2027", "Apr 2027"]),
        (4000, 900, ["2027", "2028"]),
        (2_000_000, 900, ["2500", "3000"]),
    ],
)
def test_days_are_written_as_far_apart_as_they_need(days: int, width: int, first: list[str]) -> None:
    axis = axis_over([START, START + timedelta(days=days)], 0, width)
    ticks = list(axis.ticks(70))
    assert [text for _, text in ticks][:2] == first
    assert all(other[0] - one[0] >= 65 for one, other in pairwise(ticks))
    assert 0 <= ticks[0][0] <= ticks[-1][0] <= width
    assert axis.at(START + timedelta(days=days)) == width


def test_the_ends_of_time_have_their_places() -> None:
    ends = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    axis = axis_over(ends, 0, 900)
    assert [axis.at(moment) for moment in ends] == [0, 900]
    assert [text for _, text in axis.ticks(70)][:2] == ["1000", "2000"]
