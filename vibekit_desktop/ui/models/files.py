"""Serve a flat list of changed files, filtered by a text, to a list view.

Used by the inspector's Files and by the review page. UI thread; no I/O.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from vibekit_desktop.core.types.checkpoints import State, Timeline
from vibekit_desktop.core.types.diffs import BinaryPair, DiffDocument, FileDiff, Identical, TooLarge, Unreadable
from vibekit_desktop.core.types.ids import WorkspacePath
from vibekit_desktop.ui.models.list_changes import apply_changes
from vibekit_desktop.ui.text import tr, tr_n
from vibekit_desktop.ui.wording import shown_path

FILE_ROLE = int(Qt.ItemDataRole.UserRole) + 1
"""The `FileEntry` itself, for the delegate."""


class Mark(StrEnum):
    """Whether a person has reviewed what a file was and became."""

    NONE = ""
    REVIEWED = "reviewed"
    CHANGED = "changed"
    """It was reviewed, and then it changed again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEntry:
    """One changed file: letter, counts where they are known, a word where they are not; ``generated`` as in `FileDiff`."""

    path: WorkspacePath
    letter: str
    added: int | None = None
    removed: int | None = None
    remark: str = ""
    old_path: WorkspacePath | None = None
    mark: Mark = Mark.NONE
    comments: int = 0
    generated: str = ""

    @property
    def name(self) -> str:
        """The whole phrase for assistive technology."""
        words = {"A": tr("added"), "M": tr("modified"), "D": tr("deleted"), "R": tr("renamed")}
        added = tr("{n} added", n=self.added) if self.added else ""
        removed = tr("{n} deleted", n=self.removed) if self.removed else ""
        marks = {Mark.REVIEWED: tr("reviewed"), Mark.CHANGED: tr("changed again since it was reviewed")}
        comments = tr_n("{n} comment", "{n} comments", self.comments) if self.comments else ""
        parts = (
            shown_path(self.path, self.old_path),
            words.get(self.letter, ""),
            added,
            removed,
            self.remark,
            marks.get(self.mark, ""),
            comments,
        )
        return ", ".join(part for part in parts if part)


def changed_files(timeline: Timeline) -> int:
    """How many files the turns and entries of a chat changed."""
    return len({change.path for entry in timeline.entries for change in entry.files if entry.turn or entry.entry})


def entry_of(diff: FileDiff, *, mark: Mark = Mark.NONE, comments: int = 0) -> FileEntry:
    """The row of one computed diff."""
    request = diff.request
    before, after = diff.before.state, diff.after.state
    renamed = request.old_path if request.old_path not in (None, request.path) else None
    letter = "R" if renamed else "A" if before is State.ABSENT else "D" if after is State.ABSENT else "M"
    added: int | None = None
    removed: int | None = None
    match diff.result:
        case DiffDocument() as document:
            added, removed, remark = document.lines_added, document.lines_removed, ""
            if not added and not removed:
                remark = tr("same text")
        case Identical():
            remark = tr("renamed") if renamed else tr("same text")
        case BinaryPair():
            remark = tr("binary")
        case TooLarge():
            remark = tr("large")
        case Unreadable():
            remark = tr("not recorded")
        case _:
            assert_never(diff.result)
    return FileEntry(
        path=request.path,
        letter=letter,
        added=added,
        removed=removed,
        remark=remark,
        old_path=renamed,
        mark=mark,
        comments=comments,
        generated=diff.generated,
    )


def totals(counts: Iterable[tuple[int | None, int | None]]) -> tuple[int, int]:
    """The sums of the known counts of added and deleted lines."""
    all_added = all_removed = 0
    for added, removed in counts:
        all_added += added or 0
        all_removed += removed or 0
    return all_added, all_removed


class FileListModel(QAbstractListModel):
    """The files that fit the filter. Invariant: ``shown`` is ``entries`` without those that the filter leaves out."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._entries: tuple[FileEntry, ...] = ()
        self._shown: list[FileEntry] = []
        self._filter = ""

    @property
    def entries(self) -> tuple[FileEntry, ...]:
        """All files, whether shown or not."""
        return self._entries

    @property
    def shown(self) -> tuple[FileEntry, ...]:
        """The files in the list."""
        return tuple(self._shown)

    def set_entries(self, entries: Sequence[FileEntry]) -> None:
        """Show other files; rows that stay keep their place and selection."""
        self._entries = tuple(entries)
        self._update()

    def set_filter(self, text: str) -> None:
        """Show only paths that contain every word of ``text``, whatever the case."""
        if text != self._filter:
            self._filter = text
            self._update()

    def row_of(self, path: WorkspacePath | None) -> int:
        """Where a file stands, or -1."""
        return next((index for index, entry in enumerate(self._shown) if entry.path == path), -1)

    def entry_at(self, row: int) -> FileEntry | None:
        """The file in a row, or None outside."""
        return self._shown[row] if 0 <= row < len(self._shown) else None

    def _update(self) -> None:
        words = self._filter.casefold().split()
        new = [entry for entry in self._entries if all(word in entry.path.casefold() for word in words)]
        apply_changes(self, self._shown, new, lambda entry: entry.path)

    # Qt's names below.

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._shown)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        entry = self.entry_at(index.row()) if index.isValid() else None
        if entry is None:
            return None
        if role == FILE_ROLE:
            return entry
        if role == Qt.ItemDataRole.DisplayRole:
            return shown_path(entry.path, entry.old_path)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return entry.name
        return None
