"""Every file that a chat changed: its net change against the start of the chat, and who wrote it last. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from vibekit_desktop.core.types.checkpoints import (
    Author,
    EntryKind,
    FileState,
    State,
    Timeline,
)
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath
from vibekit_desktop.ui.models.files import FileEntry
from vibekit_desktop.ui.models.timeline_facts import Run, facts_of, same_state
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


def changed_files(
    timeline: Timeline,
    *,
    net: Mapping[WorkspacePath, FileEntry] | None = None,
    names: Mapping[ChatId, str] | None = None,
    conflicts: frozenset[WorkspacePath] = frozenset(),
) -> list[ChangedFile]:
    """All files that the chat's turns, restores and undos changed, by path. ``net``: what is known of the differences between
    the start and the disk, where that was computed; ``names``: how other chats are called."""
    return [_file(run, path, net, names or {}, path in conflicts) for path, run in facts_of(timeline).runs.items()]


def count_changed(timeline: Timeline) -> int:
    """How many files `changed_files` finds."""
    return len(facts_of(timeline).runs)


def _file(
    run: Run, path: WorkspacePath, net: Mapping[WorkspacePath, FileEntry] | None, names: Mapping[ChatId, str], conflict: bool
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


def _letter(run: Run, old_path: WorkspacePath | None) -> str:
    if old_path is not None and run.last.state is not State.ABSENT:
        return "R"
    if same_state(run.first, run.last):
        return ""
    if run.first.state is State.ABSENT:
        return "A"
    return "D" if run.last.state is State.ABSENT else "M"


def _writer(run: Run, names: Mapping[ChatId, str]) -> tuple[str, int]:
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
