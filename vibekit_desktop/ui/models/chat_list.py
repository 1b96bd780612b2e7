"""The chat list as a Qt model: group headers and chats, newest first, branches under their parent; or the archived ones.

Fed by `load_first` with what was known last, by `load` and `load_archived`, and by the core's events after that. It resets at
the first rows only; later it emits the smallest signals, gathered once per turn of the event loop. Never does I/O. UI thread
only.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from enum import IntEnum

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt, QTimer, Signal

from vibekit_desktop.core.types.agents import LiveState
from vibekit_desktop.core.types.chats import ChatHeader, ChatStatus
from vibekit_desktop.core.types.ids import ChatId
from vibekit_desktop.ui import when
from vibekit_desktop.ui.models import chat_rows
from vibekit_desktop.ui.models.chat_rows import ChatRow, Facts, Filter, GroupRow, Mark, Row, RowMaker, mark_of, spoken, title_of
from vibekit_desktop.ui.models.list_changes import apply_changes
from vibekit_desktop.ui.models.unread import Unread
from vibekit_desktop.ui.tool_tip import plain_tip

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()


class Role(IntEnum):
    """What the sidebar's delegate asks for."""

    KIND = Qt.ItemDataRole.UserRole + 1
    CHAT = KIND + 1
    HEADER = CHAT + 1
    TIME = HEADER + 1
    DETAIL = TIME + 1
    DEPTH = DETAIL + 1


class ChatListModel(QAbstractListModel):
    """Rows of the sidebar. ``loaded`` is emitted after the first load, ``settled`` after every later change of the rows.

    ``counted`` and ``archived_counted`` tell how many chats the workspace chosen has in the list and in the archive, whenever
    that changes; ``touched_wanted(chats)``: the filter asks for the files of these, and nobody told them yet;
    ``renamed(chat, name)``: a person typed another name into its row; ``seen(chat, messages)``: so many of its messages are
    read; ``workspace_changed``: the chats of another workspace are shown, or of all.

    Invariant: the rows are always a function of the headers, the marks, the filter, the workspace and the clock at the last
    change.
    """

    loaded = Signal()
    settled = Signal()
    counted = Signal(int)
    archived_counted = Signal(int)
    touched_wanted = Signal(object)
    renamed = Signal(str, str)
    seen = Signal(str, int)
    workspace_changed = Signal()

    def __init__(self, now_ms: Callable[[], int], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._now = now_ms
        self._headers: dict[ChatId, ChatHeader] = {}
        self._archive: dict[ChatId, ChatHeader] = {}
        self._marks: dict[ChatId, Mark] = {}
        self._unread = Unread(self.seen.emit)
        self._touched: dict[ChatId, tuple[int, Sequence[str]]] = {}
        self._asked: set[ChatId] = set()
        self._rows: list[Row] = []
        self._filter = Filter()
        self._workspace = ""
        self._archived = False
        self._loaded = self._complete = False
        self._counts = (-1, -1)
        self._gather = QTimer(self)
        self._gather.setSingleShot(True)
        self._gather.setInterval(0)
        self._gather.timeout.connect(self.flush)

    # What comes in

    def load_first(self, headers: Sequence[ChatHeader]) -> None:
        """Show the beginning of the list as it was known last, until `load`; nothing known is nothing to show."""
        if headers and not self._loaded:
            self._headers = {header.id: header for header in headers}
            self._reset()

    def load(self, headers: Iterable[ChatHeader]) -> None:
        """Take the list; whenever rows are there it brings the differences in without a reset."""
        former, self._headers = self._headers, {header.id: header for header in headers}
        for header in self._headers.values():
            self._unread.came(former.get(header.id), header)
        was_complete, self._complete = self._complete, True
        if not self._loaded:
            self._reset()
        elif was_complete:
            self._gather.start()
        else:
            self.flush()

    def load_archived(self, headers: Iterable[ChatHeader]) -> None:
        """Take the archive."""
        self._archive = {header.id: header for header in headers}
        self._gather.start()

    def load_seen(self, seen: Mapping[ChatId, int]) -> None:
        """How many messages of each chat a person saw, in this window or one before."""
        self._unread.load(seen)
        self._gather.start()

    def _reset(self) -> None:
        self.beginResetModel()
        self._rows = self._wanted_rows()
        self._loaded = True
        self.endResetModel()
        self._tell_counts()
        self.loaded.emit()

    def put(self, header: ChatHeader) -> None:
        """A chat appeared or changed, in the list or in the archive."""
        self._unread.came(self._headers.get(header.id), header)
        here, there = (self._archive, self._headers) if header.archived else (self._headers, self._archive)
        here[header.id] = header
        there.pop(header.id, None)
        self._gather.start()

    def put_away(self, chat: ChatId) -> None:
        """A chat went into the archive."""
        header = self._headers.pop(chat, None)
        if header is not None:
            self._archive[chat] = replace(header, archived=True, archived_at=self._now(), pinned_at=0)
            self._gather.start()

    def drop(self, chat: ChatId) -> None:
        """A chat is gone."""
        if self._headers.pop(chat, None) is not None or self._archive.pop(chat, None) is not None:
            self._gather.start()

    def set_live(self, state: LiveState) -> None:
        """What a live chat is doing. Only a row whose mark is another one now changes."""
        mark = mark_of(state)
        if mark is self._marks.get(state.chat, Mark.NONE):
            return
        self._marks[state.chat] = mark
        if mark is Mark.NONE:
            del self._marks[state.chat]
        if self._filter.qualities:
            self._gather.start()
        else:
            self._change_row(state.chat, mark=mark)

    def set_open(self, chat: ChatId | None) -> None:
        """This chat is being looked at, or none: what it has is read, and what comes meanwhile."""
        self._unread.open(chat, self.header(chat) if chat is not None else None)
        if chat is not None:
            self._change_row(chat, unread=False)

    def set_touched(self, chat: ChatId, paths: Sequence[str]) -> None:
        """The files that a chat touched, as the filter asked."""
        header = self.header(chat)
        self._asked.discard(chat)
        if header is not None:
            self._touched[chat] = header.updated_at, paths
            self._gather.start()

    def set_filter(self, text: str) -> None:
        """Show only chats that contain every word of ``text``, in any case; what begins with ``file:`` is about files."""
        self.narrow(replace(self._filter, text=text.strip()))

    def narrow(self, wanted: Filter) -> None:
        """Show only chats that fit."""
        if wanted != self._filter:
            self._filter = wanted
            self.flush()

    def show_archived(self, archived: bool) -> None:
        """Show the archive, or the list."""
        if archived != self._archived:
            self._archived = archived
            self.flush()

    def set_workspace(self, workspace: str) -> None:
        """Show only chats of one workspace; empty shows all."""
        if workspace != self._workspace:
            self._workspace = workspace
            self.flush()
            self.workspace_changed.emit()

    def clock_moved(self) -> None:
        """Bring the relative times and the groups up to date; call it once a minute."""
        if self._loaded and self._rows:
            self.flush()
            if self._rows:
                self.dataChanged.emit(self.index(0), self.index(len(self._rows) - 1), [int(Role.TIME)])

    def flush(self) -> None:
        """Apply what was gathered."""
        self._gather.stop()
        if self._loaded:
            apply_changes(self, self._rows, self._wanted_rows(), lambda row: row.key)
            self.settled.emit()
            self._tell_counts()
            self._ask_for_files()

    # What goes out

    @property
    def is_loaded(self) -> bool:
        """Whether the first list has come."""
        return self._loaded

    @property
    def chats(self) -> int:
        """How many chats the workspace chosen has, whatever the filter says."""
        return sum(1 for header in self._headers.values() if self._in_workspace(header))

    @property
    def archived_chats(self) -> int:
        """How many archived chats the workspace chosen has."""
        return sum(1 for header in self._archive.values() if self._in_workspace(header))

    @property
    def archived(self) -> bool:
        """Whether the archive is shown."""
        return self._archived

    @property
    def workspace(self) -> str:
        """The workspace whose chats are shown, or empty for all."""
        return self._workspace

    @property
    def filter(self) -> Filter:
        """What is asked of the chats."""
        return self._filter

    @property
    def filter_text(self) -> str:
        """The text of the filter as it was typed."""
        return self._filter.text

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents of all chats in sight, by name."""
        return tuple(sorted({header.agent for header in self._shown_headers() if header.agent}, key=str.casefold))

    @property
    def looking(self) -> int:
        """Of how many chats the files are still being looked up for the filter."""
        return len(self._asked) if self._filter.files else 0

    def matches_elsewhere(self) -> int:
        """How many chats on the other side of the switch fit the filter."""
        others = self._headers if self._archived else self._archive
        return self._maker().count([one for one in others.values() if self._in_workspace(one)], self._filter)

    def meant(self) -> str:
        """A word that may have been meant, where nothing was found."""
        return chat_rows.meant(" ".join(self._filter.words), [title_of(header) for header in self._shown_headers()])

    def header(self, chat: ChatId) -> ChatHeader | None:
        """What is known of a chat, in sight or not."""
        return self._headers.get(chat) or self._archive.get(chat)

    def branches_of(self, chat: ChatId) -> frozenset[ChatId]:
        """The branches of a chat, those of branches too."""
        every = [*self._headers.values(), *self._archive.values()]
        found: set[ChatId] = set()
        waiting = [chat]
        while waiting:
            above = waiting.pop()
            fresh = [one.id for one in every if one.parent_chat_id == above and one.id not in found and one.id != chat]
            found.update(fresh)
            waiting += fresh
        return frozenset(found)

    def row_of(self, chat: ChatId) -> int:
        """The row of a chat, or -1."""
        return next((i for i, row in enumerate(self._rows) if isinstance(row, ChatRow) and row.header.id == chat), -1)

    def neighbour(self, chat: ChatId, *, leaving: Iterable[ChatId] = ()) -> ChatId | None:
        """The chat whose row is next after this one, else the one before it; those that leave with it do not count."""
        row, gone = self.row_of(chat), {chat, *leaving}
        if row < 0:
            return None
        after, before = self._rows[row + 1 :], self._rows[:row]
        others = (one.header.id for one in (*after, *reversed(before)) if isinstance(one, ChatRow))
        return next((one for one in others if one not in gone), None)

    # Qt's names from here on

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        row = self._rows[index.row()]
        if isinstance(row, GroupRow):
            return Qt.ItemFlag.ItemIsEnabled
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren
        damaged = row.header.status is ChatStatus.DAMAGED
        return flags if row.header.archived or damaged else flags | Qt.ItemFlag.ItemIsEditable

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid() or not 0 <= index.row() < len(self._rows):
            return None
        row = self._rows[index.row()]
        if role == Role.KIND:
            return row
        if isinstance(row, GroupRow):
            return row.text if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole) else None
        header = row.header
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return title_of(header)
            case Qt.ItemDataRole.EditRole:
                return header.name
            case Qt.ItemDataRole.AccessibleTextRole:
                return spoken(row, self._now())
            case Qt.ItemDataRole.ToolTipRole:
                return plain_tip(chat_rows.tool_tip(header))
            case Role.CHAT:
                return header.id
            case Role.HEADER:
                return header
            case Role.TIME:
                return when.short_time(header.updated_at, self._now())
            case Role.DEPTH:
                return row.depth
            case _:
                return None

    def setData(self, index: Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        row = self._rows[index.row()] if index.isValid() else None
        if role != Qt.ItemDataRole.EditRole or not isinstance(row, ChatRow) or not isinstance(value, str):
            return False
        name = " ".join(value.split())
        if name and name != row.header.name:
            self.renamed.emit(row.header.id, name)
        return True

    # How the rows come about

    def _in_workspace(self, header: ChatHeader) -> bool:
        return not self._workspace or header.workspace == self._workspace

    def _shown_headers(self) -> list[ChatHeader]:
        side = self._archive if self._archived else self._headers
        shown = [header for header in side.values() if self._in_workspace(header)]
        shown.sort(key=lambda header: (-header.updated_at, header.id))
        return shown

    def _maker(self) -> RowMaker:
        unread = self._unread.among(self._headers.values())
        touched = {chat: paths for chat, (_, paths) in self._touched.items()}
        return RowMaker(self.header, Facts(marks=self._marks, unread=unread, touched=touched))

    def _wanted_rows(self) -> list[Row]:
        shown, maker = self._shown_headers(), self._maker()
        if self._filter.is_set:
            return maker.matching(shown, self._filter)
        return maker.grouped(shown, self._now(), pins=not self._archived)

    def _change_row(self, chat: ChatId, *, mark: Mark | None = None, unread: bool | None = None) -> None:
        row = self.row_of(chat)
        shown = self._rows[row] if row >= 0 else None
        if not isinstance(shown, ChatRow):
            return
        wanted = replace(shown, mark=shown.mark if mark is None else mark, unread=shown.unread if unread is None else unread)
        if wanted != shown:
            self._rows[row] = wanted
            self.dataChanged.emit(self.index(row), self.index(row))

    def _ask_for_files(self) -> None:
        """Where the filter is about files: ask for those of the chats that nobody told, or that went on since."""
        if not self._filter.files:
            return
        wanted = [
            header.id
            for header in self._shown_headers()
            if header.status is ChatStatus.PLAIN
            and header.id not in self._asked
            and self._touched.get(header.id, (-1, ()))[0] != header.updated_at
        ]
        if wanted:
            self._asked.update(wanted)
            self.touched_wanted.emit(wanted)

    def _tell_counts(self) -> None:
        before, self._counts = self._counts, (self.chats, self.archived_chats)
        if not self._complete:
            self._counts = (before[0], self._counts[1])
        elif self._counts[0] != before[0]:
            self.counted.emit(self._counts[0])
        if self._counts[1] != before[1]:
            self.archived_counted.emit(self._counts[1])
