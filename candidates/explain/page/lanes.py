"""The picture of a timeline: a lane for each branch, drawn as SVG beside its names, and the same in words.

Pure geometry, without a script. Text from outside passes through `escape` alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime

from msgspec import Struct

from candidates.explain.page.escape import code, text
from candidates.explain.page.time_axis import TimeAxis, axis_over
from candidates.explain.page.timeline import Lane, Mark, Timeline

# Heights and widths in CSS pixels: the names beside the picture are laid out by the same numbers in `style`.
ROW = 28
EDGE = 26

_LINE = 19  # where a lane's line is inside its row: its labels stand above it
_LEFT = 34
_LEAD = 24
_NARROWEST, _WIDEST = 989, 2_600
_MARK_APART = 24
_YEAR, _YEAR_APART = 365.25, 160
_IN_VIEW = 900
_TICK_APART, _NOW_APART = 76, 82
_CHARACTER = 6.1  # of the monospaced type that labels are set in, with some room
_FLAG_CHARACTER = 6.8
_LONGEST_LABEL = 22
_LONGEST_FLAG = 26
_MOST_IN_WORDS = 12
# Not "on no branch": a branch may have taken the release in by a merge.
_LOST = "on no branch's own line"


class _Frame(Struct, frozen=True, kw_only=True):
    """The picture's measures: where a mark and a moment stand, where rows end, where the flags begin."""

    x: Callable[[Mark], float]
    axis: TimeAxis | None
    right: float
    width: float
    rows: int

    @property
    def height(self) -> int:
        return 2 * EDGE + self.rows * ROW

    @property
    def bottom(self) -> int:
        return EDGE + self.rows * ROW


def figure(timeline: Timeline, answer: str | None, badges: Mapping[str, str]) -> str:
    """The picture with its names, legend and words. `badges`: what is to be said beside a branch's name."""
    frame = _frame(timeline)
    names = "".join(_name(lane, answer, badges.get(lane.name)) for lane in timeline.lanes)
    if timeline.lost:
        names += f'<li class="lost">{_LOST}</li>'
    drawing = "\n".join(_drawing(timeline, frame, answer))
    what = "over time" if timeline.dated else "in the order of versions"
    return f"""<figure>
<div class="picture">
<ol class="lanes" aria-label="Branches, from the top lane to the bottom">{names}</ol>
<div class="scroll" tabindex="0" role="region" aria-label="Picture of the release lines, scrolls sideways">
<svg role="img" aria-labelledby="picture-title picture-desc" width="{frame.width:g}" height="{frame.height}" \
viewBox="0 0 {frame.width:g} {frame.height}">
<title id="picture-title">Release lines {what}</title>
<desc id="picture-desc">{_description(timeline, answer)}</desc>
{drawing}
</svg>
</div>
</div>
<figcaption>
{_legend(timeline, answer)}
</figcaption>
</figure>"""


# --- measures ---


def _frame(timeline: Timeline) -> _Frame:
    marks = [mark for group in (*(lane.marks for lane in timeline.lanes), timeline.lost) for mark in group]
    densest = max((len(lane.marks) for lane in timeline.lanes), default=0)
    wanted = [lane.wanted for lane in timeline.lanes if lane.wanted] + [timeline.lost_wanted]
    flags = max(len(_flag_text(versions)) for versions in wanted)
    room = flags * _FLAG_CHARACTER + 34 if flags else 20
    right = max(_NARROWEST - room, min(_LEFT + densest * _MARK_APART, _WIDEST))
    rows = len(timeline.lanes) + bool(timeline.lost)
    if timeline.dated:
        dates = [*(m.at for m in marks), *(lane.last for lane in timeline.lanes)]
        # The right end is now: one commit of a clock that runs ahead must not push all else out of sight.
        moments = [timeline.now, *(at for at in dates if at is not None and at <= timeline.now)]
        right = max(right, min((max(moments) - min(moments)).days / _YEAR * _YEAR_APART, _WIDEST))
        axis = axis_over(moments, _LEFT, right)
        return _Frame(
            x=lambda mark: axis.at(mark.at or timeline.now), axis=axis, right=right, width=right + room, rows=rows
        )
    order = {place: i for i, place in enumerate(sorted({mark.place for mark in marks}))}
    step = (right - _LEFT) / max(len(order) - 1, 1)
    return _Frame(
        x=lambda mark: round(_LEFT + order[mark.place] * step, 1), axis=None, right=right, width=right + room, rows=rows
    )


def _middle(row: int) -> int:
    return EDGE + row * ROW + _LINE


# --- the drawing ---


def _drawing(timeline: Timeline, frame: _Frame, answer: str | None) -> Iterator[str]:
    rows = {lane.name: row for row, lane in enumerate(timeline.lanes)}
    for name, row in rows.items():
        if name == answer:
            yield f'<rect class="band" x="0" y="{EDGE + row * ROW}" width="{frame.width:g}" height="{ROW}"/>'
    yield from _grid(timeline, frame)
    for row in range(frame.rows):
        yield f'<path class="guide" d="M0 {_middle(row)}H{frame.right:g}"/>'
    for lane in timeline.lanes:
        yield from _links(lane, rows, frame)
    for lane in timeline.lanes:
        yield f'<g class="lane{" answer" if lane.name == answer else ""}">'
        yield from _lane(lane, _middle(rows[lane.name]), frame)
        yield "</g>"
    if timeline.lost:
        yield '<g class="lane lost">'
        yield from _marks(timeline.lost, _middle(frame.rows - 1), frame)
        yield from _flag(timeline.lost_wanted, _middle(frame.rows - 1), frame)
        yield "</g>"


def _grid(timeline: Timeline, frame: _Frame) -> Iterator[str]:
    """The axis above and below; or, where nothing has a date, what stands in its place."""
    if frame.axis is None:
        yield f'<text class="tick" x="{_LEFT}" y="{EDGE - 9}">older versions</text>'
        yield f'<text class="tick end" x="{frame.right:g}" y="{EDGE - 9}">newer versions</text>'
        return
    now = frame.axis.at(timeline.now)
    for x, written in frame.axis.ticks(_TICK_APART):
        yield f'<path class="grid" d="M{x:g} {EDGE - 4}V{frame.bottom + 4}"/>'
        if x < now - _NOW_APART:
            yield f'<text class="tick mid" x="{x:g}" y="{EDGE - 9}">{written}</text>'
            yield f'<text class="tick mid" x="{x:g}" y="{frame.bottom + 17}">{written}</text>'
    yield f'<path class="now" d="M{now:g} {EDGE - 4}V{frame.bottom + 4}"/>'
    for y in (EDGE - 9, frame.bottom + 17):
        yield f'<text class="tick end strong" x="{now + 18:g}" y="{y}">{timeline.now:%Y-%m-%d}</text>'


def _links(lane: Lane, rows: Mapping[str, int], frame: _Frame) -> Iterator[str]:
    """From the newest release that a line carries from another one down, or up, to the line itself."""
    if lane.shared is not None and lane.shared.lane in rows:
        x = frame.x(lane.shared.mark)
        yield f'<path class="link" d="M{x:g} {_middle(rows[lane.shared.lane])}V{_middle(rows[lane.name])}"/>'


def _lane(lane: Lane, y: int, frame: _Frame) -> Iterator[str]:
    last = frame.axis.at(lane.last) if frame.axis is not None and lane.last is not None else None
    own = [frame.x(mark) for mark in lane.marks]
    points = [*own, *([last] if last is not None else [])]
    if points:
        begin = own[0] if own else points[0]
        start = frame.x(lane.shared.mark) if lane.shared is not None else max(begin - _LEAD, 2)
        yield f'<path class="before" d="M{min(start, begin):g} {y}H{begin:g}"/>'
        yield f'<path class="own" d="M{begin:g} {y}H{max(points):g}"/>'
    elif lane.shared is not None:
        start = frame.x(lane.shared.mark)
        yield f'<path class="before" d="M{start:g} {y}H{min(start + _LEAD, frame.right):g}"/>'
    if last is not None and lane.last is not None:
        said = f"last commit of {text(lane.name)}: {lane.last:%Y-%m-%d}"
        yield f'<rect class="last" x="{last - 1.5:g}" y="{y - 6}" width="3" height="12"><title>{said}</title></rect>'
    yield from _marks(lane.marks, y, frame)
    yield from _hint(lane, max(points, default=None), y, frame)
    yield from _flag(lane.wanted, y, frame)


def _hint(lane: Lane, newest: float | None, y: int, frame: _Frame) -> Iterator[str]:
    """At the right end, which is seen first: the day of a newest sign far to the left, or that there is none."""
    moments = [moment for moment in (lane.last, *(mark.at for mark in lane.marks[-1:])) if moment is not None]
    if newest is None:
        said = "no date known" if frame.axis is not None else "no release known"
    elif moments and newest < frame.right - _IN_VIEW:
        said = f"← {max(moments):%Y-%m-%d}"
    else:
        return
    yield f'<text class="tick end" x="{frame.right - 8:g}" y="{y + 4}">{said}</text>'


def _marks(marks: Sequence[Mark], y: int, frame: _Frame) -> Iterator[str]:
    for mark in marks:
        kind, radius = ("early", "2.7") if mark.version.prerelease else ("release", "3.6")
        said = f"<title>{_told(mark)}</title>"
        yield f'<circle class="{kind}" cx="{frame.x(mark):g}" cy="{y}" r="{radius}">{said}</circle>'
    for x, label in _labels(marks, frame):
        yield f'<text class="tag mid" x="{x:g}" y="{y - 8}">{label}</text>'


def _labels(marks: Sequence[Mark], frame: _Frame) -> Iterator[tuple[float, str]]:
    """Labels where they do not collide: the newest release first, then the oldest, then from new to old."""
    ordered = [*marks[-1:], *marks[:1], *reversed(marks[1:-1])] if len(marks) > 1 else list(marks)
    ordered.sort(key=lambda mark: mark.version.prerelease)
    taken: list[tuple[float, float]] = []
    for mark in ordered:
        half = (min(len(mark.name), _LONGEST_LABEL) + 1) * _CHARACTER / 2
        x = min(max(frame.x(mark), half), frame.right + 4 - half)  # the versions stand to the right of it
        if all(x + half <= start or x - half >= end for start, end in taken):
            taken.append((x - half, x + half))
            yield x, text(_short(mark.name, _LONGEST_LABEL))


def _flag(wanted: Sequence[str], y: int, frame: _Frame) -> Iterator[str]:
    """The issue's versions at the right end of the lane that takes them: an arrow with their names."""
    if not wanted:
        return
    written = _flag_text(wanted)
    begin, end = frame.right + 7, frame.right + 22 + len(written) * _FLAG_CHARACTER
    yield f'<g class="flag"><title>the issue\'s version: {text(", ".join(wanted))}</title>'
    yield f'<path d="M{begin:g} {y}l8 -9H{end:g}v18H{begin + 8:g}z"/>'
    yield f'<text x="{begin + 11:g}" y="{y + 4}">{text(written)}</text></g>'


def _flag_text(wanted: Sequence[str]) -> str:
    return _short(", ".join(wanted), _LONGEST_FLAG)


def _short(name: str, most: int) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"


def _told(mark: Mark) -> str:
    day = f", {mark.at:%Y-%m-%d}" if mark.at else ""
    beside = f"; carried by {len(mark.carriers)} branches" if len(mark.carriers) > 1 else ""
    return f"{text(mark.name)}{day}{beside}"


# --- the names beside it, the legend, the words ---

_DOT = '<circle class="release" cx="{}" cy="8" r="3.6"/>'
_SIGNS = {
    "release": (f'<g class="lane">{_DOT.format(15)}</g>', "release tag"),
    "early": ('<g class="lane"><circle class="early" cx="15" cy="8" r="2.7"/></g>', "pre-release"),
    "last": ('<g class="lane"><rect class="last" x="13.5" y="2" width="3" height="12"/></g>', "last commit"),
    "flag": ('<g class="flag"><path d="M1 8l8 -7H29v14H9z"/></g>', "the issue's version, on the lane of its line"),
    "answer": (
        '<rect class="band" width="30" height="16"/><g class="lane answer"><path class="own" d="M0 8H30"/></g>',
        "the branch that is taken",
    ),
    "before": (
        '<g class="lane"><path class="before" d="M1 8H20"/><path class="own" d="M20 8H30"/></g>',
        "dashed: before what is the line's own; when exactly it forked is not in the facts",
    ),
    "link": (
        '<path class="link" d="M15 0V16"/>',
        "from the newest release that it carries from another line: it left that one later, or merged it",
    ),
    "several": (
        f'<g class="lane">{_DOT.format(10)}{_DOT.format(20)}</g>',
        "a release that several carry is drawn on the line named for it, else on the oldest",
    ),
}


def _name(lane: Lane, answer: str | None, badge: str | None) -> str:
    marked = f'<span class="badge{" answer" if lane.name == answer else ""}">{badge}</span>' if badge else ""
    return (
        f'<li class="{"answer" if lane.name == answer else "line"}" title="{text(lane.name)}">{marked}'
        f'<span class="clip">{code(lane.name)}</span></li>'
    )


def _description(timeline: Timeline, answer: str | None) -> str:
    count = sum(len(lane.marks) for lane in timeline.lanes)
    said = f"{len(timeline.lanes)} branches, newest version first, with {count} release tags."
    if answer in {lane.name for lane in timeline.lanes}:
        said += f" The answer is {text(answer or '')}."
    takers = [lane for lane in timeline.lanes if lane.wanted]
    said += "".join(f" {text(lane.name)} takes {text(', '.join(lane.wanted))}." for lane in takers)
    return f"{said} The list below the picture says the same in words."


def _legend(timeline: Timeline, answer: str | None) -> str:
    """What each sign that is in the picture means."""
    lanes, marks = timeline.lanes, [mark for lane in timeline.lanes for mark in lane.marks]
    drawn = {
        "release": bool(marks) or bool(timeline.lost),
        "early": any(m.version.prerelease for m in (*marks, *timeline.lost)),
        "several": any(len(m.carriers) > 1 for m in marks),
        "last": timeline.dated and any(lane.last for lane in lanes),
        "before": any(lane.marks or lane.last for lane in lanes),
        "link": any(lane.shared for lane in lanes),
        "flag": any(lane.wanted for lane in lanes) or bool(timeline.lost_wanted),
        "answer": answer in {lane.name for lane in lanes},
    }
    items = "".join(
        f'<li><svg class="swatch" width="30" height="16" viewBox="0 0 30 16" aria-hidden="true">{sign}</svg>'
        f"<span>{said}</span></li>"
        for key, (sign, said) in _SIGNS.items()
        if drawn[key]
    )
    return f'<p>{_lead(timeline)}</p>\n<ul class="legend">{items}</ul>'


def _lead(timeline: Timeline) -> str:
    if timeline.dated:
        return "Newest version first. The picture begins at its right end, which is now; older times are to the left."
    return "No date is known here: lanes and releases stand in the order of their versions; distances mean nothing."


def in_words(timeline: Timeline) -> Iterator[str]:
    """The rows of a table that says what the picture shows: branch, last commit, fork, releases."""
    for lane in timeline.lanes:
        yield (
            f'<tr><th scope="row">{code(lane.name)}</th><td>{_day(lane.last)}</td><td>{_fork(lane)}</td>'
            f"<td>{_listed(lane.marks)}</td></tr>"
        )
    if timeline.lost:
        yield f'<tr><th scope="row">{_LOST}</th><td></td><td></td><td>{_listed(timeline.lost)}</td></tr>'


def _day(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d}" if moment else "not known"


def _fork(lane: Lane) -> str:
    """What is known of where a line left the others."""
    own = f"before {code(lane.marks[0].name)}" if lane.marks else ""
    if lane.trunk:
        return "no release line by its name"
    if lane.shared is None:
        return own or "not known"
    carried = f"carries {code(lane.shared.mark.name)} of {code(lane.shared.lane)}"
    return f"{carried}; {own}" if own else f"{carried}, and no release of its own"


def _listed(marks: Sequence[Mark]) -> str:
    """The newest releases with their days; the rest counted."""
    newest = list(reversed(marks))
    said = [f"{code(m.name)}{f' {m.at:%Y-%m-%d}' if m.at else ''}" for m in newest[:_MOST_IN_WORDS]]
    more = f", and {len(newest) - _MOST_IN_WORDS} older" if len(newest) > _MOST_IN_WORDS else ""
    return (", ".join(said) + more) or "none known"
