"""The reading side of the transcript's model: rows by number, their blocks made when they are asked for.

Changes nothing by itself; `models.transcript` does. No I/O. UI thread only.
"""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from vibekit_desktop.core.types.chats import ChatView, Message
from vibekit_desktop.ui.models.block_words import spoken
from vibekit_desktop.ui.models.blocks import Block
from vibekit_desktop.ui.models.conflicts import ConflictCard
from vibekit_desktop.ui.models.transcript_blocks import BlockMaker
from vibekit_desktop.ui.models.transcript_rows import Key, Kind, Rows

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
_KEEP = 400
_OWN = frozenset((Kind.BRANCH, Kind.EARLIER, Kind.WORKING))
"""Rows that are of no message, whatever their number says."""

BLOCK = int(Qt.ItemDataRole.UserRole) + 1


class TranscriptRows(QAbstractListModel):
    """Rows of one chat. Invariant: a row's block is a function of the view, the messages, the timeline, what is told of the
    running turn, and the row alone."""

    def __init__(self, now_ms: Callable[[], int], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.now_ms = now_ms
        """The clock that elapsed times are counted with."""
        self._view: ChatView | None = None
        self._messages: tuple[Message, ...] = ()
        self._first = 0
        """The index in the whole transcript of the first message that is loaded."""
        self._rows = Rows()
        self._blocks: dict[int, Block] = {}
        self._maker = BlockMaker(now_ms)

    @property
    def first_loaded(self) -> int:
        """The index in the whole transcript of the first message that is loaded; above 0 there are earlier ones."""
        return self._first

    @property
    def view(self) -> ChatView | None:
        """The chat that is shown; messages that came since may be missing in it."""
        return self._view

    @property
    def running(self) -> int:
        """The turn that runs in the chat that is shown, or 0."""
        return self._maker.running

    def kind(self, row: int) -> Kind:
        """What a row is, without making its block."""
        return Kind(self._rows.kinds[row])

    def kinds(self) -> bytearray:
        """The kind of every row; for guessing heights and for looking for turns."""
        return self._rows.kinds

    def weights(self) -> Sequence[int]:
        """About how many characters (or, for cards, calls) every row shows: enough to guess its height."""
        return self._rows.weights

    def block(self, row: int) -> Block:
        """The block of a row; made now if it is not at hand."""
        block = self._blocks.get(row)
        if block is None:
            if len(self._blocks) >= _KEEP:
                self._blocks.clear()
            block = self._blocks[row] = self._make(row)
        return block

    def key(self, row: int) -> Key:
        """What names a row as long as the messages before it stay the same."""
        return self._rows.key(row)

    def row_of_turn(self, turn: int) -> int:
        """The row of a turn's checkpoint line, or -1."""
        rows = self._rows
        for row, kind in enumerate(rows.kinds):
            if kind == Kind.CHECKPOINT and self._maker.turn_at(rows.messages[row]) == turn:
                return row
        return -1

    @property
    def messages(self) -> Sequence[Message]:
        """The messages that are loaded, from the one of index `first_loaded` on; an answer that is coming is not among them."""
        return self._messages

    def conflict(self, key: str) -> ConflictCard | None:
        """A conflict that is shown, by its key."""
        return self._maker.conflict(key)

    def turn_of(self, row: int) -> int:
        """The turn that a row belongs to, or 0."""
        kind, message = self._rows.kinds[row], self._rows.messages[row]
        return 0 if Kind(kind) in _OWN else self._maker.turn_at(message)

    def rows_of_message(self, message: int) -> range:
        """The rows of a message by its index in the whole transcript, its checkpoint line included; empty if it is not
        loaded."""
        kinds, messages, at = self._rows.kinds, self._rows.messages, 0
        while at < len(kinds):
            try:
                at = messages.index(message, at)
            except ValueError:
                break
            if Kind(kinds[at]) not in _OWN:
                end = at
                while end < len(kinds) and messages[end] == message and Kind(kinds[end]) not in _OWN:
                    end += 1
                return range(at, end)
            at += 1
        return range(0)

    # Qt's names from here on

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid() or not 0 <= index.row() < len(self._rows):
            return None
        if role == BLOCK:
            return self.block(index.row())
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return spoken(self.block(index.row()))
        return None

    def _make(self, row: int) -> Block:
        return self._maker.make(self._rows.key(row))
