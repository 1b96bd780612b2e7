"""The chat list as a Qt model: group headers and chats, newest first, branches under their parent.

Fed by `load_first` with what was known last, by `load`, and by the core's events after that. It resets at the first rows only;
later it emits the smallest signals, gathered once per turn of the event loop. Never does I/O. UI thread only.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum, StrEnum

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt, QTimer, Signal

from vibekit_desktop.core.types.agents import LiveState
from vibekit_desktop.core.types.chats import ChatHeader, ChatStatus
from vibekit_desktop.core.types.ids import ChatId
from vibekit_desktop.ui import when
from vibekit_desktop.ui.models.list_changes import apply_changes
from vibekit_desktop.ui.models.running import BUSY
from vibekit_desktop.ui.text import tr, tr_n
from vibekit_desktop.ui.visible import one_line
from vibekit_desktop.ui.wording import workspace_name

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


@dataclass(frozen=True, slots=True)
class GroupRow:
    """A header over chats. Equal texts are the same row."""

    key: str
    text: str


class Mark(StrEnum):
    """What a chat's agent is doing, as far as the list tells it."""

    NONE = ""
    RUNNING = "running"
    NEEDS_YOU = "needs-you"


def mark_of(state: LiveState) -> Mark:
    """What the list says of a live chat: a question goes before a turn that runs."""
    if state.questions:
        return Mark.NEEDS_YOU
    return Mark.RUNNING if state.turn and state.phase in BUSY else Mark.NONE


@dataclass(frozen=True, slots=True)
class ChatRow:
    """One chat; ``depth`` 1 = a branch under its parent."""

    key: str
    header: ChatHeader
    depth: int
    mark: Mark = Mark.NONE


Row = GroupRow | ChatRow


def title_of(header: ChatHeader) -> str:
    """The title a row shows; a damaged chat without one has its id."""
    return one_line(header.name) or tr("Chat {id}", id=header.id[:8])


def spoken(header: ChatHeader, now_ms: int, mark: Mark = Mark.NONE) -> str:
    """The whole row as one phrase, for assistive technology."""
    if header.parent_chat_id:
        first = tr("Branch: {title}, from turn {turn}", title=title_of(header), turn=header.rewind_from_turn)
    else:
        first = tr("Chat: {title}", title=title_of(header))
    parts = [first, header.agent, workspace_name(header.workspace), when.spoken_age(header.updated_at, now_ms)]
    if header.lines_added:
        parts.append(tr_n("1 line added", "{n} lines added", header.lines_added))
    if header.lines_removed:
        parts.append(tr("{n} deleted", n=header.lines_removed))
    if header.status is ChatStatus.DAMAGED:
        parts.append(tr("damaged: {problem}", problem=header.problem))
    parts.append({Mark.NEEDS_YOU: tr("needs you"), Mark.RUNNING: tr("running"), Mark.NONE: ""}[mark])
    return ", ".join(part for part in parts if part)


class ChatListModel(QAbstractListModel):
    """Rows of the sidebar. ``loaded`` is emitted after the first load, ``settled`` after every later change of the rows,
    ``counted`` with the number of chats in the workspace chosen whenever it changes.

    Invariant: the rows are always a function of the headers, the marks, the filter, the workspace and the clock at the last
    change.
    """

    loaded = Signal()
    settled = Signal()
    counted = Signal(int)

    def __init__(self, now_ms: Callable[[], int], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._now = now_ms
        self._headers: dict[ChatId, ChatHeader] = {}
        self._marks: dict[ChatId, Mark] = {}
        self._rows: list[Row] = []
        self._filter = ""
        self._workspace = ""
        self._loaded = False
        self._complete = False
        self._count = -1
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
        self._headers = {header.id: header for header in headers}
        was_complete, self._complete = self._complete, True
        if not self._loaded:
            self._reset()
        elif was_complete:
            self._gather.start()
        else:
            self.flush()

    def _reset(self) -> None:
        self.beginResetModel()
        self._rows = self._wanted_rows()
        self._loaded = True
        self.endResetModel()
        self._tell_count()
        self.loaded.emit()

    def put(self, header: ChatHeader) -> None:
        """A chat appeared or changed."""
        self._headers[header.id] = header
        self._gather.start()

    def set_live(self, state: LiveState) -> None:
        """What a live chat is doing. Only a row whose mark is another one now changes."""
        mark = mark_of(state)
        if mark is self._marks.get(state.chat, Mark.NONE):
            return
        self._marks[state.chat] = mark
        if mark is Mark.NONE:
            del self._marks[state.chat]
        row = self.row_of(state.chat)
        shown = self._rows[row] if row >= 0 else None
        if isinstance(shown, ChatRow):
            self._rows[row] = replace(shown, mark=mark)
            self.dataChanged.emit(self.index(row), self.index(row))

    def drop(self, chat: ChatId) -> None:
        """A chat is gone."""
        if self._headers.pop(chat, None) is not None:
            self._gather.start()

    def set_filter(self, text: str) -> None:
        """Show only chats whose title contains every word of ``text``, in any case."""
        if text.strip().casefold() != self._filter:
            self._filter = text.strip().casefold()
            self.flush()

    def set_workspace(self, workspace: str) -> None:
        """Show only chats of one workspace; empty shows all."""
        if workspace != self._workspace:
            self._workspace = workspace
            self.flush()

    def clock_moved(self) -> None:
        """Bring the relative times and the groups up to date; call it once a minute."""
        if self._loaded and self._rows:
            self.flush()
            self.dataChanged.emit(self.index(0), self.index(len(self._rows) - 1), [int(Role.TIME)])

    def flush(self) -> None:
        """Apply what was gathered."""
        self._gather.stop()
        if self._loaded:
            apply_changes(self, self._rows, self._wanted_rows(), lambda row: row.key)
            self.settled.emit()
            self._tell_count()

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
    def workspace(self) -> str:
        """The workspace whose chats are shown, or empty for all."""
        return self._workspace

    @property
    def filter_text(self) -> str:
        """The filter as it is applied."""
        return self._filter

    def row_of(self, chat: ChatId) -> int:
        """The row of a chat, or -1."""
        return next((i for i, row in enumerate(self._rows) if isinstance(row, ChatRow) and row.header.id == chat), -1)

    # Qt's names from here on

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid() or isinstance(self._rows[index.row()], GroupRow):
            return Qt.ItemFlag.ItemIsEnabled if index.isValid() else Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren

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
            case Qt.ItemDataRole.AccessibleTextRole:
                return spoken(header, self._now(), row.mark)
            case Qt.ItemDataRole.ToolTipRole:
                return self._tool_tip(header)
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

    # How the rows come about

    def _tool_tip(self, header: ChatHeader) -> str:
        lines = [when.full_date(header.updated_at), header.workspace]
        if header.status is ChatStatus.FOUND:
            lines.append(tr("Found on this computer. It is read where it is and never changed."))
        if header.status is ChatStatus.DAMAGED:
            lines.append(header.problem)
        return "\n".join(line for line in lines if line)

    def _in_workspace(self, header: ChatHeader) -> bool:
        return not self._workspace or header.workspace == self._workspace

    def _wanted_rows(self) -> list[Row]:
        shown = [header for header in self._headers.values() if self._in_workspace(header)]
        shown.sort(key=lambda header: (-header.updated_at, header.id))
        if self._filter:
            words = self._filter.split()
            found = [header for header in shown if all(word in title_of(header).casefold() for word in words)]
            if not found:
                return []
            text = tr_n("1 chat matches", "{n} chats match", len(found))
            return [GroupRow("group:matches", text), *(self._chat_row(header, 0) for header in found)]
        return self._grouped(shown)

    def _grouped(self, shown: Sequence[ChatHeader]) -> list[Row]:
        present = {header.id for header in shown}
        branches: dict[ChatId, list[ChatHeader]] = {}
        tops: list[ChatHeader] = []
        for header in shown:
            parent = header.parent_chat_id
            if parent is not None and parent in present and parent != header.id and self._has_top(header, present):
                branches.setdefault(parent, []).append(header)
            else:
                tops.append(header)
        rows: list[Row] = []
        last: when.Group | None = None
        bounds = when.bounds(self._now())
        for top in tops:
            group = bounds.group_at(top.updated_at)
            if group is not last:
                rows.append(GroupRow(f"group:{int(group)}", when.group_name(group)))
                last = group
            rows.append(self._chat_row(top, 0))
            self._add_branches(rows, top.id, branches)
        return rows

    def _has_top(self, header: ChatHeader, present: set[ChatId]) -> bool:
        """Whether the chain of parents ends at a chat that stands alone; a circle in damaged data does not."""
        seen = {header.id}
        parent = header.parent_chat_id
        while parent is not None and parent in present:
            if parent in seen:
                return False
            seen.add(parent)
            parent = self._headers[parent].parent_chat_id
        return True

    def _add_branches(self, rows: list[Row], parent: ChatId, branches: dict[ChatId, list[ChatHeader]]) -> None:
        waiting = list(reversed(branches.get(parent, [])))
        while waiting:
            branch = waiting.pop()
            rows.append(self._chat_row(branch, 1))
            waiting.extend(reversed(branches.get(branch.id, [])))

    def _chat_row(self, header: ChatHeader, depth: int) -> ChatRow:
        return ChatRow(f"chat:{header.id}", header, depth, self._marks.get(header.id, Mark.NONE))

    def _tell_count(self) -> None:
        count = self.chats
        if self._complete and count != self._count:
            self._count = count
            self.counted.emit(count)
