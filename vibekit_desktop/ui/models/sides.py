"""Between which points of a chat a review can be: the choices of each side, and what stands over it. Pure."""

from collections.abc import Iterator

from vibekit_desktop.core.types.checkpoints import AfterTurn, BeforeTurn, EntryKind, Now, Point, Start, Timeline
from vibekit_desktop.ui import when
from vibekit_desktop.ui.wording import point_label


def old_points(timeline: Timeline | None, chosen: Point) -> list[Point]:
    """What can stand on the left, oldest first; ``chosen`` is always among them."""
    return _with(chosen, [Start(), *_around_turns(timeline)])


def new_points(timeline: Timeline | None, chosen: Point) -> list[Point]:
    """What can stand on the right beside the disk, oldest first; ``chosen`` is among them unless it is the disk."""
    points = list(_around_turns(timeline))
    return points if chosen == Now() else _with(chosen, points)


def side_label(timeline: Timeline | None, point: Point, now_ms: int) -> tuple[str, str]:
    """The name of a side, and its moment where the timeline tells one."""
    return point_label(point), when.stamp(_moment(timeline, point), now_ms)


def _with(chosen: Point, points: list[Point]) -> list[Point]:
    return points if chosen in points else [*points, chosen]


def _around_turns(timeline: Timeline | None) -> Iterator[Point]:
    for entry in timeline.entries if timeline is not None else ():
        if entry.kind is EntryKind.TURN:
            yield BeforeTurn(entry.turn)
            yield AfterTurn(entry.turn)


def _moment(timeline: Timeline | None, point: Point) -> int:
    """Unix milliseconds, or 0 if it is not known."""
    for entry in timeline.entries if timeline is not None else ():
        if entry.kind is EntryKind.TURN and entry.at > 0:
            if point == BeforeTurn(entry.turn):
                return entry.at
            if point == AfterTurn(entry.turn) and entry.duration_ms > 0:
                return entry.at + entry.duration_ms
    return 0
