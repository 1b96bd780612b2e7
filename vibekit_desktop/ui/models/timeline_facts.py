"""What a timeline says as a whole: which files, which turns, how each file stands. Pure; any thread.

A chat of tens of thousands of turns takes a tenth of a second to go through: it is done once, by whoever reads a timeline, away
from the window's thread, and everybody else finds it done.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from vibekit_desktop.core.types.checkpoints import EntryKind, FileChange, FileState, State, Timeline, TimelineEntry
from vibekit_desktop.core.types.ids import WorkspacePath

MANY = 500
"""From so many entries on it is worth a thread."""
_OF_THE_CHAT = (EntryKind.TURN, EntryKind.RESTORE)


@dataclass(slots=True)
class Run:
    """The changes of one file, as they are met from the oldest on."""

    first: FileState
    last: FileState
    entry: TimelineEntry
    change: FileChange
    old_path: WorkspacePath | None = None
    changes: list[FileChange] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """``touched``: the files that a turn, a restore or an undo of the chat changed; ``differing``: how many of them differ now
    from what they were before all of it; ``runs``: what became of each, under its last path; ``turns`` and ``restores``: the
    entries by their number, of a number that is there twice the last."""

    touched: frozenset[WorkspacePath]
    differing: int
    runs: Mapping[WorkspacePath, Run]
    turns: Mapping[int, TimelineEntry]
    restores: Mapping[int, TimelineEntry]


_found: deque[tuple[Timeline, Facts]] = deque(maxlen=3)
"""Of the timelines that were asked about last, the newest at the end."""


def facts_of(timeline: Timeline) -> Facts:
    """What it says; found again where the very same timeline was asked about before."""
    for known, facts in tuple(_found):
        if known is timeline:
            return facts
    made = _gather(timeline)
    _found.append((timeline, made))
    return made


def same_state(one: FileState, other: FileState) -> bool:
    """Whether both are known to be the same; what is not known may differ."""
    if one.state is not other.state:
        return False
    if one.state in (State.ABSENT, State.FOLDER):
        return True
    return one.sha is not None and one.sha == other.sha and (one.mode == other.mode or None in (one.mode, other.mode))


def _gather(timeline: Timeline) -> Facts:
    first: dict[WorkspacePath, FileState] = {}
    last: dict[WorkspacePath, FileState] = {}
    turns: dict[int, TimelineEntry] = {}
    restores: dict[int, TimelineEntry] = {}
    for entry in timeline.entries:
        own = entry.kind in _OF_THE_CHAT
        if entry.kind is EntryKind.TURN:
            turns[entry.turn] = entry
        elif entry.kind is EntryKind.RESTORE and entry.entry:
            restores[entry.entry] = entry
        for change in entry.files:
            if own:
                first.setdefault(change.path, change.before)
            last[change.path] = change.after
    runs: dict[WorkspacePath, Run] = {}
    for entry in timeline.entries if first else ():
        for change in entry.files:
            if change.path in first:
                _take(runs, entry, change)
    return Facts(
        touched=frozenset(first),
        differing=sum(1 for path, state in first.items() if not same_state(state, last[path])),
        runs=dict(sorted(runs.items())),
        turns=turns,
        restores=restores,
    )


def _take(runs: dict[WorkspacePath, Run], entry: TimelineEntry, change: FileChange) -> None:
    run = runs.get(change.path)
    moved = runs.pop(change.old_path, None) if change.old_path is not None and change.old_path != change.path else None
    if run is None:
        first = moved.first if moved is not None else change.before
        run = runs[change.path] = Run(first, change.after, entry, change)
        run.old_path = (moved.old_path or change.old_path) if moved is not None else change.old_path
        run.changes += moved.changes if moved is not None else ()
    run.last, run.entry, run.change = change.after, entry, change
    run.changes.append(change)
