"""Between which points of a chat a review can be: the choices of each side, and what stands over it. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

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
    """The points of turns ``first`` to ``last``, one entry of a menu, made when it is opened: there may be a hundred
    thousand."""

    first: int
    last: int
    entries: tuple[TimelineEntry, ...]

    @property
    def words(self) -> str:
        """What the menu says."""
        return tr("Turns {first} to {last}", first=self.first, last=self.last)

    def parts(self) -> list["Point | PointGroup"]:
        """What stands in it: points, or groups of a tenth of the turns."""
        return _grouped(self.entries, (self.last - self.first + 1) // _TURNS_TOGETHER)


def old_points(timeline: Timeline | None, chosen: Point) -> list[Point | PointGroup]:
    """What can stand on the left, oldest first; ``chosen`` is always among them."""
    return _choices(timeline, [Start()], chosen)


def new_points(timeline: Timeline | None, chosen: Point) -> list[Point | PointGroup]:
    """What can stand on the right beside the disk, oldest first; ``chosen`` is among them unless it is the disk."""
    return _choices(timeline, [], chosen)


def last_end(timeline: Timeline, wanted: Point) -> Point:
    """The end of a turn that is ``wanted``, if there is such a turn; else the newest point beside the disk, if there is one."""
    if isinstance(wanted, AfterTurn) and wanted.turn in facts_of(timeline).turns:
        return wanted
    newest = ([*_points_of(entry)] for entry in reversed(timeline.entries))
    return next((points[-1] for points in newest if points), Now())


def turn_of(timeline: Timeline | None, point: Point) -> int:
    """To which turn a point belongs, a restore to the one before it; 0 if to none that is there."""
    if timeline is None:
        return 0
    facts = facts_of(timeline)
    match point:
        case BeforeTurn(turn) | AfterTurn(turn):
            return turn if turn in facts.turns else 0
        case AtEntry(number) if number in facts.restores:
            return facts.restores[number].turn
        case AtTag():
            return next((turn for turn, entry in facts.turns.items() if point in _points_of(entry)), 0)
        case _:
            return 0


def _choices(timeline: Timeline | None, before: list[Point], chosen: Point) -> list[Point | PointGroup]:
    """All in a row, or if they are many, by ten turns, a hundred, a thousand."""
    entries = timeline.entries if timeline is not None else ()
    turns = facts_of(timeline).turns if timeline is not None else {}
    found: list[Point | PointGroup] = [*before]
    if len(turns) <= FLAT:
        found += _grouped(entries, 1)
    if len(turns) > FLAT or len(found) > FLAT:
        size = _TURNS_TOGETHER
        while max(turns, default=0) > FLAT * size:
            size *= _TURNS_TOGETHER
        found = [*before, *_grouped(entries, size)]
    if chosen != Now() and chosen not in found and not turn_of(timeline, chosen):
        found.append(chosen)
    return found


def _grouped(entries: Sequence[TimelineEntry], size: int) -> list[Point | PointGroup]:
    if size <= 1:
        return [point for entry in entries for point in _points_of(entry)]
    found: list[Point | PointGroup] = []
    with_points = (entry for entry in entries if entry.kind in (EntryKind.TURN, EntryKind.RESTORE))
    for number, some in groupby(with_points, lambda entry: (entry.turn - 1) // size if entry.turn else -1):
        if number < 0:
            found += _grouped(tuple(some), 1)
        else:
            found.append(PointGroup(number * size + 1, (number + 1) * size, tuple(some)))
    return found


def side_label(timeline: Timeline | None, point: Point, now_ms: int) -> tuple[str, str]:
    """The name of a side, and its moment where the timeline tells one."""
    return point_label(point), when.stamp(_moment(timeline, point), now_ms)


def _points_of(entry: TimelineEntry) -> Iterator[Point]:
    if entry.kind is EntryKind.TURN:
        yield BeforeTurn(entry.turn)
        # Before the first capture of a turn the files are as they were before it.
        tags = sorted({change.tag for change in entry.files if change.tag is not None}, key=tag_order)
        yield from (AtTag(tag) for tag in tags[1:])
        yield AfterTurn(entry.turn)
    elif entry.kind is EntryKind.RESTORE and entry.entry:
        yield AtEntry(entry.entry)


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
