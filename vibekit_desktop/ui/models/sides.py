"""Between which points of a chat a review can be: the choices of each side, and what stands over it. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vibekit_desktop.core.types.checkpoints import (
    AfterTurn,
    AtEntry,
    AtTag,
    BeforeTurn,
    EntryKind,
    Now,
    Point,
    Start,
    Timeline,
    TimelineEntry,
)
from vibekit_desktop.core.types.ids import tag_order
from vibekit_desktop.ui import when
from vibekit_desktop.ui.models.timeline_facts import facts_of
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.wording import point_label

FLAT = 24
"""So many points stand in one menu; more are put together by turns."""
_TURNS_TOGETHER = 10


@dataclass(frozen=True, slots=True)
class PointGroup:
    """Points that are one entry of a menu."""

    words: str
    points: tuple[Point, ...]


def old_points(timeline: Timeline | None, chosen: Point) -> list[Point]:
    """What can stand on the left, oldest first; ``chosen`` is always among them."""
    return _with(chosen, [Start(), *_points(timeline)])


def new_points(timeline: Timeline | None, chosen: Point) -> list[Point]:
    """What can stand on the right beside the disk, oldest first; ``chosen`` is among them unless it is the disk."""
    points = list(_points(timeline))
    return points if chosen == Now() else _with(chosen, points)


def last_end(timeline: Timeline, wanted: Point) -> Point:
    """The end of a turn that is ``wanted``, if there is such a turn; else the newest point beside the disk, if there is one."""
    if isinstance(wanted, AfterTurn) and wanted.turn in facts_of(timeline).turns:
        return wanted
    newest = ([*_points_of(entry)] for entry in reversed(timeline.entries))
    return next((points[-1] for points in newest if points), Now())


def grouped(points: Sequence[Point], timeline: Timeline | None) -> list[Point | PointGroup]:
    """The same points as entries of a menu: all in a row, or if they are many, by ten turns."""
    if len(points) <= FLAT:
        return list(points)
    turn_of = _turns(timeline)
    entries: list[Point | PointGroup] = []
    open_points: list[Point] = []
    number = -1

    def close() -> None:
        if open_points:
            first, last = number * _TURNS_TOGETHER + 1, (number + 1) * _TURNS_TOGETHER
            entries.append(PointGroup(tr("Turns {first} to {last}", first=first, last=last), tuple(open_points)))
            open_points.clear()

    for point in points:
        turn = turn_of.get(point, 0)
        if not turn:
            close()
            entries.append(point)
            continue
        if (turn - 1) // _TURNS_TOGETHER != number:
            close()
            number = (turn - 1) // _TURNS_TOGETHER
        open_points.append(point)
    close()
    return entries


def side_label(timeline: Timeline | None, point: Point, now_ms: int) -> tuple[str, str]:
    """The name of a side, and its moment where the timeline tells one."""
    return point_label(point), when.stamp(_moment(timeline, point), now_ms)


def _with(chosen: Point, points: list[Point]) -> list[Point]:
    return points if chosen in points else [*points, chosen]


def _points(timeline: Timeline | None) -> Iterator[Point]:
    for entry in timeline.entries if timeline is not None else ():
        yield from _points_of(entry)


def _points_of(entry: TimelineEntry) -> Iterator[Point]:
    if entry.kind is EntryKind.TURN:
        yield BeforeTurn(entry.turn)
        # Before the first capture of a turn the files are as they were before it.
        tags = sorted({change.tag for change in entry.files if change.tag is not None}, key=tag_order)
        yield from (AtTag(tag) for tag in tags[1:])
        yield AfterTurn(entry.turn)
    elif entry.kind is EntryKind.RESTORE and entry.entry:
        yield AtEntry(entry.entry)


def _turns(timeline: Timeline | None) -> dict[Point, int]:
    """To which turn a point belongs; a restore to the one before it."""
    return {point: entry.turn for entry in (timeline.entries if timeline is not None else ()) for point in _points_of(entry)}


def _moment(timeline: Timeline | None, point: Point) -> int:
    """Unix milliseconds, or 0 if it is not known."""
    for entry in timeline.entries if timeline is not None else ():
        if entry.kind is EntryKind.RESTORE and point == AtEntry(entry.entry):
            return max(0, entry.at)
        if entry.kind is EntryKind.TURN and entry.at > 0:
            if point == BeforeTurn(entry.turn):
                return entry.at
            if point == AfterTurn(entry.turn) and entry.duration_ms > 0:
                return entry.at + entry.duration_ms
    return 0
