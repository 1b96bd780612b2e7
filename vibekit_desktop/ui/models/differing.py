"""How many files of a chat are not as they were at its start: what there is to review. Pure."""

from collections.abc import Iterator

from vibekit_desktop.core.types.checkpoints import EntryKind, FileChange, FileState, State, Timeline
from vibekit_desktop.core.types.ids import WorkspacePath

_OF_THE_CHAT = (EntryKind.TURN, EntryKind.RESTORE)


def differing_files(timeline: Timeline) -> int:
    """The files that a turn, a restore or an undo of the chat changed and that differ now from what they were before all of it.
    A file that was put back is not one of them."""
    own: set[WorkspacePath] = set()
    first: dict[WorkspacePath, FileState] = {}
    last: dict[WorkspacePath, FileState] = {}
    for kind, change in _changes(timeline):
        if kind in _OF_THE_CHAT:
            own.add(change.path)
            first.setdefault(change.path, change.before)
        last[change.path] = change.after
    return sum(1 for path in own if not same_state(first[path], last[path]))


def _changes(timeline: Timeline) -> Iterator[tuple[EntryKind, FileChange]]:
    for entry in timeline.entries:
        for change in entry.files:
            yield entry.kind, change


def same_state(one: FileState, other: FileState) -> bool:
    """Whether both are known to be the same; what is not known may differ."""
    if one.state is not other.state:
        return False
    if one.state in (State.ABSENT, State.FOLDER):
        return True
    return one.sha is not None and one.sha == other.sha and (one.mode == other.mode or None in (one.mode, other.mode))


def touched_by_turns(timeline: Timeline) -> frozenset[WorkspacePath]:
    """The files that a turn, a restore or an undo of the chat changed."""
    return frozenset(change.path for kind, change in _changes(timeline) if kind in _OF_THE_CHAT)
