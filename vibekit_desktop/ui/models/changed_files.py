"""Every file that a chat changed: its net change against the start of the chat, and who wrote it last. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from vibekit_desktop.core.types.checkpoints import (
    Author,
    EntryKind,
    FileChange,
    FileState,
    State,
    Timeline,
    TimelineEntry,
)
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath
from vibekit_desktop.ui.models.differing import same_state, touched_by_turns
from vibekit_desktop.ui.models.files import FileEntry
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.visible import one_line

_NAME_CHARACTERS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFile:
    """One file. ``letter`` is empty for one that is as it was at the start; ``counts`` are None where they are not known (yet);
    ``by`` says who wrote it last, ``turn`` in which turn that was, or 0."""

    path: WorkspacePath
    before: FileState
    after: FileState
    letter: str
    counts: tuple[int | None, int | None] = (None, None)
    remark: str = ""
    old_path: WorkspacePath | None = None
    by: str = ""
    turn: int = 0
    conflict: bool = False

    @property
    def is_back(self) -> bool:
        """Whether it is as it was at the start of the chat."""
        return not self.letter


@dataclass(slots=True)
class _Run:
    """The changes of one file, as they are met from the oldest on."""

    first: FileState
    last: FileState
    entry: TimelineEntry
    change: FileChange
    old_path: WorkspacePath | None = None
    changes: list[FileChange] = field(default_factory=list)


def changed_files(
    timeline: Timeline,
    *,
    net: Mapping[WorkspacePath, FileEntry] | None = None,
    names: Mapping[ChatId, str] | None = None,
    conflicts: frozenset[WorkspacePath] = frozenset(),
) -> list[ChangedFile]:
    """All files that the chat's turns, restores and undos changed, by path. ``net``: what is known of the differences between
    the start and the disk, where that was computed; ``names``: how other chats are called."""
    own = touched_by_turns(timeline)
    if not own:
        return []
    runs: dict[WorkspacePath, _Run] = {}
    for entry in timeline.entries:
        for change in entry.files:
            if change.path in own:
                _take(runs, entry, change)
    return [_file(run, path, net, names or {}, path in conflicts) for path, run in sorted(runs.items())]


def count_changed(timeline: Timeline) -> int:
    """How many files `changed_files` finds, without looking at what became of each."""
    own = touched_by_turns(timeline)
    if not own:
        return 0
    found: set[WorkspacePath] = set()
    for entry in timeline.entries:
        for change in entry.files:
            if change.path in own:
                if change.old_path is not None and change.old_path != change.path:
                    found.discard(change.old_path)
                found.add(change.path)
    return len(found)


def _take(runs: dict[WorkspacePath, _Run], entry: TimelineEntry, change: FileChange) -> None:
    run = runs.get(change.path)
    moved = runs.pop(change.old_path, None) if change.old_path is not None and change.old_path != change.path else None
    if run is None:
        first = moved.first if moved is not None else change.before
        run = runs[change.path] = _Run(first, change.after, entry, change)
        run.old_path = (moved.old_path or change.old_path) if moved is not None else change.old_path
        run.changes += moved.changes if moved is not None else ()
    run.last, run.entry, run.change = change.after, entry, change
    run.changes.append(change)


def _file(
    run: _Run, path: WorkspacePath, net: Mapping[WorkspacePath, FileEntry] | None, names: Mapping[ChatId, str], conflict: bool
) -> ChangedFile:
    by, turn = _writer(run, names)
    found = net.get(path) if net is not None else None
    old_path = found.old_path if found is not None else run.old_path
    letter = found.letter if found is not None else _letter(run, old_path)
    counts: tuple[int | None, int | None] = (None, None)
    remark = ""
    if not letter:
        remark = tr("as at the start")
    elif found is not None:
        counts, remark = (found.added, found.removed), found.remark
    elif len(run.changes) == 1:
        counts = (run.change.lines_added, run.change.lines_removed)
        remark = tr("not captured") if State.NOT_CAPTURED in (run.first.state, run.last.state) else ""
    return ChangedFile(
        path=path,
        before=run.first,
        after=run.last,
        letter=letter,
        counts=counts,
        remark=remark,
        old_path=old_path,
        by=by,
        turn=turn,
        conflict=conflict,
    )


def _letter(run: _Run, old_path: WorkspacePath | None) -> str:
    if old_path is not None and run.last.state is not State.ABSENT:
        return "R"
    if same_state(run.first, run.last):
        return ""
    if run.first.state is State.ABSENT:
        return "A"
    return "D" if run.last.state is State.ABSENT else "M"


def _writer(run: _Run, names: Mapping[ChatId, str]) -> tuple[str, int]:
    """Who wrote a file last: a turn, a restore, you, another chat, or somebody."""
    entry, change = run.entry, run.change
    if entry.kind is EntryKind.TURN:
        return tr("Turn {turn}", turn=entry.turn), entry.turn
    if entry.kind is EntryKind.RESTORE:
        return tr("Restored"), 0
    if change.author is Author.USER:
        return tr("You"), 0
    if change.author is Author.CHAT and change.other_chat is not None:
        name = one_line(names.get(change.other_chat, ""), _NAME_CHARACTERS)
        return (tr("“{name}”", name=name) if name else tr("Another chat")), 0
    return tr("Others"), 0


def totals_of(files: Iterable[ChangedFile]) -> tuple[int, int]:
    """The sums of the known counts."""
    known = [(file.counts[0] or 0, file.counts[1] or 0) for file in files]
    return sum(added for added, _ in known), sum(removed for _, removed in known)
