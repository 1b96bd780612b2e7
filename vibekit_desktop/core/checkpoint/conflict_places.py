"""Where the two contents of a conflict are to be found: at which points a path is as the others left it, and as the chat did.

A point is only named if the path has that content there. Pure but for looking at the disk through ``disk``; any thread.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import NamedTuple

from vibekit_desktop.core.checkpoint import conflicts, ownership
from vibekit_desktop.core.checkpoint.history import Observation, View
from vibekit_desktop.core.checkpoint.points import Marks
from vibekit_desktop.core.types.checkpoints import (
    AfterTurn,
    AtEntry,
    AtLine,
    AtTag,
    Author,
    BeforeTurn,
    Conflict,
    FileState,
    How,
    Now,
    PlacedConflict,
    Point,
    State,
)
from vibekit_desktop.core.types.ids import Tag, WorkspacePath

Disk = Callable[[WorkspacePath], FileState]
_At = tuple[int, Point]


def placed(view: View, marks: Marks, disk: Disk) -> tuple[PlacedConflict, ...]:
    """All conflicts of a chat with their points, oldest first; none of them settled."""
    found = conflicts.positions(view)
    points = _Points(marks) if found else None
    return tuple(_placed(view, points, position, one, disk) for position, one in found if points is not None)


class _Points:
    """All points of a chat by position. Turns come before tags and entries: people know them by their number. Where none of
    these stands, a line of the chat's own log does."""

    def __init__(self, marks: Marks) -> None:
        view = marks.view
        turns: list[_At] = [(turn.start, BeforeTurn(turn.number)) for turn in marks.turns.values()]
        turns += [(turn.end, AfterTurn(turn.number)) for turn in marks.turns.values()]
        others: list[_At] = [(at, AtTag(Tag(tag))) for tag, (at, _) in marks.tags.items()]
        others += [(entry.position, AtEntry(entry.number)) for entry in marks.entries.values()]
        lines: list[_At] = [
            (at, AtLine(placed.line.seq)) for at, placed in view.own if placed.chat == view.chat and placed.line.seq > 0
        ]
        self._kinds = tuple(sorted(kind, key=_position) for kind in (turns, others))
        self._lines = (lines,)

    def between(self, first: int, last: int, *, lines: bool) -> Point | None:
        """The first point behind ``first`` and not behind ``last``; with ``lines`` only lines are looked at."""
        for kind in self._lines if lines else self._kinds:
            at = bisect_right(kind, first, key=_position)
            if at < len(kind) and kind[at][0] <= last:
                return kind[at][1]
        return None


def _position(found: _At) -> int:
    return found[0]


def _placed(view: View, points: _Points, position: int, one: Conflict, disk: Disk) -> PlacedConflict:
    seen = view.by_path.get(one.path, [])
    own = [
        _Own(found, left)
        for index, found in enumerate(seen)
        if ownership.puts_in_plan(found) and found.author is not Author.UNKNOWN and found.how is not How.SETTLE
        if (left := conflicts.left_by(seen[index : index + 2])) is not None
    ]
    later = next((each for each in own if each.seen.position > position and _is(each.seen.before, one.actual_sha)), None)
    earlier = next((each for each in reversed(own) if each.seen.position < position), None)
    mine = later or earlier
    theirs = None if later is not None or not _is(disk(one.path), one.actual_sha) else Now()
    return PlacedConflict(
        conflict=one,
        theirs=theirs or _point_of(view, points, seen, one.actual_sha, position),
        ours=None if mine is None else _point_of(view, points, seen, mine.left.sha or "", mine.seen.position + 1),
        turn=_turn_of(later),
        before=_turn_of(earlier),
    )


class _Own(NamedTuple):
    """A change that the chat made, with what it left."""

    seen: Observation
    left: FileState


def _turn_of(own: _Own | None) -> int:
    return own.seen.line.turn if own is not None and not own.seen.line.entry else 0


def _point_of(view: View, points: _Points, seen: Sequence[Observation], sha: str, near: int) -> Point | None:
    """The first point at or behind ``near`` where a path of these observations has a content; a line if there is no other."""
    return _found(view, points, seen, sha, near, lines=False) or _found(view, points, seen, sha, near, lines=True)


def _found(view: View, points: _Points, seen: Sequence[Observation], sha: str, near: int, *, lines: bool) -> Point | None:
    for index in range(len(seen) + 1):
        upto = seen[index].position if index < len(seen) else view.end
        there = seen[index].before if index < len(seen) else seen[-1].after if seen else None
        if there is None or upto < near or not _is(there, sha):
            continue
        point = points.between(seen[index - 1].position if index else -1, upto, lines=lines)
        if point is not None:
            return point
    return None


def _is(state: FileState, sha: str) -> bool:
    """Whether a state is the content of a hash; no hash is no file."""
    return state.sha == sha if sha else state.state is State.ABSENT
