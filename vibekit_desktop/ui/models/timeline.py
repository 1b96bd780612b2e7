"""Serve the timeline's rows to a list view, and change them by the smallest signals.

Fed with whole `Timeline` values; what differs is found by row keys. Reset only when another chat is shown. UI thread.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from vibekit_desktop.core.types.checkpoints import Timeline
from vibekit_desktop.core.types.ids import ChatId
from vibekit_desktop.ui.models.list_changes import steps_between
from vibekit_desktop.ui.models.timeline_beside import NOTHING_BESIDE, Beside
from vibekit_desktop.ui.models.timeline_build import Kept, rows_of
from vibekit_desktop.ui.models.timeline_rows import HELD, Button, Key, RowKind, Running, TimelineRow
from vibekit_desktop.ui.when import local_now_ms

ROW_ROLE = int(Qt.ItemDataRole.UserRole) + 1
"""The `TimelineRow` itself, for the delegate."""
AT_ONCE = 400
"""Of a long chat the rows of its last turns are made, about so many, and so many more whenever somebody gets to their end:
those of fifty thousand turns take more than a second."""


class TimelineModel(QAbstractListModel):
    """The rows of one chat's timeline, newest first. Invariant: ``rows`` is what `rows_of` gives for the present value, up to
    the turn that somebody got to."""

    def __init__(self, parent: QObject | None = None, *, now_ms: Callable[[], int] = local_now_ms) -> None:
        super().__init__(parent)
        self._now_ms = now_ms
        self._timeline: Timeline | None = None
        self._opened: set[Key] = set()
        self._rows: list[TimelineRow] = []
        self._running: Running | None = None
        self._beside = NOTHING_BESIDE
        self._held = ""
        self._kept: Kept = {}
        self._most = AT_ONCE

    @property
    def timeline(self) -> Timeline | None:
        """The value shown, or None before the first."""
        return self._timeline

    @property
    def rows(self) -> Sequence[TimelineRow]:
        """The rows that were made, in order."""
        return tuple(self._rows)

    @property
    def chat(self) -> ChatId | None:
        """Whose timeline it is."""
        return self._timeline.chat if self._timeline else None

    def set_timeline(self, timeline: Timeline | None) -> None:
        """Show another value. The same chat: rows are inserted, removed and changed one by one; another chat: reset."""
        same_chat = timeline is not None and self.chat == timeline.chat
        self._timeline = timeline
        if same_chat:
            self._update()
            return
        self.beginResetModel()
        self._opened.clear()
        self._kept.clear()
        self._most = AT_ONCE
        self._beside = Beside(folded=self._beside.folded, only_changes=self._beside.only_changes, names=self._beside.names)
        self._rows = self._made()
        self.endResetModel()

    @property
    def counting(self) -> bool:
        """Whether lines of it are still being counted."""
        return self._timeline is not None and self._timeline.counting

    @property
    def running(self) -> Running | None:
        """The turn of the chat that runs, if one does."""
        return self._running

    def set_running(self, running: Running | None) -> None:
        """Another turn of the chat runs, or none."""
        if running != self._running:
            self._running = running
            if self._timeline is not None:
                self._update()

    @property
    def beside(self) -> Beside:
        """What is shown with the timeline: pins, conflicts, how it is folded."""
        return self._beside

    def set_beside(self, beside: Beside) -> None:
        """Show other pins or conflicts, or fold otherwise."""
        if beside != self._beside:
            self._beside = beside
            if self._timeline is not None:
                self._update()

    def fold_all(self, folded: bool) -> None:
        """Fold the files of every turn, or show them all."""
        self._opened.clear()
        if not folded and self._timeline is not None:
            self._opened.update(("group", entry.turn, "turn") for entry in self._timeline.entries if entry.turn)
        self._beside = replace(self._beside, folded=folded)
        if self._timeline is not None:
            self._update()

    @property
    def held(self) -> str:
        """Why nothing can be undone at the moment, or empty. The rows are the same ones; views ask `is_off`."""
        return self._held

    def set_held(self, why: str) -> None:
        """Let Undo and Restore wait, everywhere; empty frees them. Whoever shows the rows paints them again."""
        self._held = why

    def is_off(self, row: TimelineRow, button: Button) -> bool:
        """Whether a button can't be pressed at the moment."""
        return button in row.off or (bool(self._held) and button in HELD)

    def why_off(self, row: TimelineRow, button: Button) -> str:
        """Why a button can't be pressed, or empty."""
        if button in row.off:
            return row.why_off
        return self._held if self.is_off(row, button) else ""

    def buttons_of(self, row: TimelineRow) -> tuple[Button, ...]:
        """What can be pressed in a row, in the order of Left and Right."""
        return row.buttons

    def button_name(self, row: TimelineRow, button: Button) -> str:
        """The whole phrase of a button."""
        return row.button_name(button)

    def toggle(self, row: int) -> None:
        """Open or close the group or the restore entry in a row."""
        if not 0 <= row < len(self._rows) or self._rows[row].kind not in (RowKind.GROUP, RowKind.BETWEEN, RowKind.ENTRY):
            return
        self._opened ^= {self._rows[row].key}
        self._update()

    def row_at(self, row: int) -> TimelineRow | None:
        """The row, or None outside."""
        return self._rows[row] if 0 <= row < len(self._rows) else None

    def row_of_key(self, key: Key) -> int:
        """Where a row with this key stands now, or -1; what comes before it is made."""
        while (
            found := next((index for index, row in enumerate(self._rows) if row.key == key), -1)
        ) < 0 and self.canFetchMore():
            self.fetchMore()
        return found

    def _made(self) -> list[TimelineRow]:
        if self._timeline is None:
            return []
        return rows_of(
            self._timeline,
            frozenset(self._opened),
            now_ms=self._now_ms(),
            running=self._running,
            beside=self._beside,
            kept=self._kept,
            most=self._most,
        )

    def _update(self) -> None:
        new = self._made()
        # News is at the top: what is the same at the end needs no comparing of keys.
        same = 0
        limit = min(len(self._rows), len(new))
        while same < limit and _same(self._rows[-1 - same], new[-1 - same]):
            same += 1
        old_keys = [row.key for row in self._rows[: len(self._rows) - same]]
        steps = steps_between(old_keys, [row.key for row in new[: len(new) - same]])
        root = QModelIndex()
        # From the end, so that the positions of the earlier steps stay true.
        for equal, old_from, old_to, new_from, new_to in reversed(steps):
            if equal:
                for offset in range(old_to - old_from):
                    if not _same(self._rows[old_from + offset], new[new_from + offset]):
                        self._rows[old_from + offset] = new[new_from + offset]
                        index = self.index(old_from + offset)
                        self.dataChanged.emit(index, index)
                continue
            if old_to > old_from:
                self.beginRemoveRows(root, old_from, old_to - 1)
                del self._rows[old_from:old_to]
                self.endRemoveRows()
            if new_to > new_from:
                self.beginInsertRows(root, old_from, old_from + (new_to - new_from) - 1)
                self._rows[old_from:old_from] = new[new_from:new_to]
                self.endInsertRows()

    # Qt's names below.

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._rows)

    def canFetchMore(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> bool:  # noqa: B008
        return not parent.isValid() and len(self._rows) >= self._most

    def fetchMore(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> None:  # noqa: B008
        if self.canFetchMore(parent):
            self._most = len(self._rows) + AT_ONCE
            self._update()

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        if not index.isValid() or not 0 <= index.row() < len(self._rows):
            return None
        row = self._rows[index.row()]
        if role == ROW_ROLE:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return row.title
        if role in (Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.AccessibleDescriptionRole):
            return row.name if role == Qt.ItemDataRole.AccessibleTextRole else "; ".join(row.button_names)
        return None


def _same(one: TimelineRow, other: TimelineRow) -> bool:
    """Whether nothing is to be painted anew; most rows are the very same ones."""
    return one is other or one == other
