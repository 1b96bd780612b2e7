"""A chat as rows for the transcript view: one row per block, each made only when it is asked for.

`set_view` gives the chat, `put_before` earlier messages of a long one, `set_timeline` what its turns changed. A row is a small
tuple until it is painted, so a hundred thousand messages cost little. It resets only for another chat. No I/O. UI thread only.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from vibekit_desktop.core.types.chats import ChatView, Message, ToolCall, TurnSpan
from vibekit_desktop.core.types.checkpoints import EntryKind, Timeline, TimelineEntry
from vibekit_desktop.core.types.ids import ChatId
from vibekit_desktop.ui import when
from vibekit_desktop.ui.models.blocks import (
    AnswerBlock,
    Block,
    BranchBlock,
    Card,
    CardsBlock,
    CheckpointBlock,
    EarlierBlock,
    EventBlock,
    FooterBlock,
    ThinkingBlock,
    UserBlock,
)
from vibekit_desktop.ui.models.cards import NOTHING_KNOWN, Known, cards, known_of
from vibekit_desktop.ui.models.transcript_rows import Key, Kind, Rows, message_turns, rows_of, slice_of
from vibekit_desktop.ui.text import tr, tr_n
from vibekit_desktop.ui.visible import one_line

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
_KEEP = 400

BLOCK = int(Qt.ItemDataRole.UserRole) + 1


class TranscriptModel(QAbstractListModel):
    """Rows of one chat. Invariant: a row's block is a function of the view, the messages, the timeline and the row alone.

    Signals, without arguments: ``earlier_coming`` before rows change above what is there, ``earlier_came`` after it.
    """

    earlier_coming = Signal()
    earlier_came = Signal()

    def __init__(self, now_ms: Callable[[], int], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._now = now_ms
        self._view: ChatView | None = None
        self._messages: tuple[Message, ...] = ()
        self._first = 0
        """The index in the whole transcript of the first message that is loaded."""
        self._rows = Rows()
        self._blocks: dict[Key, Block] = {}
        self._spans: tuple[Sequence[int], Sequence[tuple[int, int]]] = ((), ())
        self._entries: dict[int, TimelineEntry] | None = None
        self._changes: dict[int, Known] = {}

    # What comes in

    def set_view(self, view: ChatView | None) -> None:
        """Show a chat. The same chat again brings only the messages that differ."""
        same = view is not None and self._view is not None and view.header.id == self._view.header.id
        if same and view is not None:
            self._update(view)
            return
        self.beginResetModel()
        self._view = view
        self._messages = view.messages if view is not None else ()
        self._first = view.first_index if view is not None else 0
        self._entries = None
        self._changes = {}
        self._blocks = {}
        self._rows = self._make_rows()
        self.endResetModel()

    def set_timeline(self, timeline: Timeline) -> None:
        """What the turns changed, as far as it is known; rows that show it change."""
        self._entries = {entry.turn: entry for entry in timeline.entries if entry.kind is EntryKind.TURN}
        self._changes = {}
        self._blocks = {}
        if self._rows:
            self.dataChanged.emit(self.index(0), self.index(len(self._rows) - 1))

    def _update(self, view: ChatView) -> None:
        old = self._rows
        # What was loaded of earlier messages stays: a transcript changes at its end.
        loaded = range(self._first, self._first + len(self._messages) + 1)
        earlier = self._messages[: view.first_index - self._first] if view.first_index in loaded else ()
        if earlier and self._view is not None:
            view = _with_turns(view, self._view.turns)
        self._view, self._messages, self._blocks, self._changes = view, (*earlier, *view.messages), {}, {}
        self._first = view.first_index - len(earlier)
        new = self._make_rows()
        # Rows hold message numbers, so an unchanged start has equal rows; what follows it is replaced.
        same = old.same_start(new)
        if same < len(old):
            self.beginRemoveRows(_ROOT, same, len(old) - 1)
            self._rows = old.cut(same)
            self.endRemoveRows()
        if same < len(new):
            self.beginInsertRows(_ROOT, same, len(new) - 1)
            self._rows = new
            self.endInsertRows()
        if same:
            self.dataChanged.emit(self.index(0), self.index(same - 1))

    def put_before(self, chat: ChatId, upto: int, messages: Sequence[Message], turns: Sequence[TurnSpan] = ()) -> None:
        """Earlier messages of the shown chat, those that end before index ``upto``; others than the ones that come next are not
        wanted any more. ``turns``: where turns stand among them."""
        if self._view is None or self._view.header.id != chat or upto != self._first or not messages:
            return
        self.earlier_coming.emit()
        old = self._rows
        self._view = _with_turns(self._view, turns)
        self._messages, self._blocks, self._changes = (*messages, *self._messages), {}, {}
        self._first = upto - len(messages)
        new = self._make_rows()
        same = old.same_end(new)
        if same < len(old):
            self.beginRemoveRows(_ROOT, 0, len(old) - same - 1)
            self._rows = old.without_start(len(old) - same)
            self.endRemoveRows()
        if same < len(new):
            self.beginInsertRows(_ROOT, 0, len(new) - same - 1)
            self._rows = new
            self.endInsertRows()
        self.earlier_came.emit()

    # What goes out

    @property
    def first_loaded(self) -> int:
        """The index in the whole transcript of the first message that is loaded; above 0 there are earlier ones."""
        return self._first

    @property
    def view(self) -> ChatView | None:
        """The chat that is shown."""
        return self._view

    def kind(self, row: int) -> Kind:
        """What a row is, without making its block."""
        return Kind(self._rows.kinds[row])

    def kinds(self) -> Sequence[int]:
        """The kind of every row; for guessing heights and for looking for turns."""
        return self._rows.kinds

    def weights(self) -> Sequence[int]:
        """About how many characters (or, for cards, calls) every row shows: enough to guess its height."""
        return self._rows.weights

    def block(self, row: int) -> Block:
        """The block of a row; made now if it is not at hand."""
        key = self._rows.key(row)
        block = self._blocks.get(key)
        if block is None:
            if len(self._blocks) >= _KEEP:
                self._blocks.clear()
            block = self._blocks[key] = self._make(key)
        return block

    def key(self, row: int) -> Key:
        """What names a row as long as the messages before it stay the same."""
        return self._rows.key(row)

    def row_of_turn(self, turn: int) -> int:
        """The row of a turn's checkpoint line, or -1."""
        rows = self._rows
        for row, kind in enumerate(rows.kinds):
            if kind == Kind.CHECKPOINT and self._turn_at(rows.messages[row]) == turn:
                return row
        return -1

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

    # How the rows come about

    def _make_rows(self) -> Rows:
        view = self._view
        self._spans = message_turns(view) if view is not None else ((), ())
        return rows_of(view, self._messages, self._first) if view is not None else Rows()

    def _turn_at(self, number: int) -> int:
        """The turn that a message belongs to, or 0."""
        firsts, rest = self._spans
        place = bisect_right(firsts, number) - 1
        return rest[place][1] if place >= 0 and number <= rest[place][0] else 0

    def _make(self, row: Key) -> Block:
        kind, number, first, last = row
        if kind == Kind.BRANCH and self._view is not None:
            start, end, chat = self._view.chat.removed_turns[number]
            return BranchBlock(start, end, ChatId(chat))
        if kind == Kind.EARLIER:
            return EarlierBlock(number)
        message = self._messages[number - self._first]
        match Kind(kind):
            case Kind.CHECKPOINT:
                turn = self._turn_at(number)
                return CheckpointBlock(turn, self._changed(turn), self._found())
            case Kind.USER:
                return UserBlock(message.content, when.stamp(message.ts, self._now()))
            case Kind.THINKING:
                return ThinkingBlock(message.reasoning if first < 0 else message.blocks[first].thinking)
            case Kind.ANSWER:
                text = message.content if first < 0 else message.blocks[first].text
                return AnswerBlock(slice_of(text, -2 - last), plain=True) if last < -1 else AnswerBlock(text)
            case Kind.CARDS:
                return self._make_cards(message, number, first, last)
            case Kind.FOOTER:
                return self._make_footer(message, first)
            case Kind.EVENT | Kind.BRANCH | Kind.EARLIER:
                return _event(message)

    def _found(self) -> bool:
        """Whether the workspace is where it was, so that files can be put back."""
        return self._view is None or self._view.workspace_found

    def _changed(self, turn: int) -> bool | None:
        if self._entries is None:
            return None
        entry = self._entries.get(turn)
        return bool(entry is not None and entry.files)

    def _make_cards(self, message: Message, number: int, first: int, last: int) -> CardsBlock:
        turn = self._turn_at(number)
        workspace = self._workspace()
        known = self._known(turn, number)
        if first < 0:
            return CardsBlock(self._undoable(cards(message.tool_calls, turn, workspace, known)))
        by_id = {call.id: call for call in message.tool_calls}
        wanted = [by_id.get(block.tool_call_id) for block in message.blocks[first : last + 1]]
        calls: list[ToolCall] = [call for call in wanted if call is not None]
        return CardsBlock(self._undoable(cards(calls, turn, workspace, known)))

    def _undoable(self, made: tuple[Card, ...]) -> tuple[Card, ...]:
        return made if self._found() else tuple(replace(card, can_undo=False) for card in made)

    def _workspace(self) -> str:
        if self._view is None:
            return ""
        return self._view.chat.recorded_workspace or self._view.vault_workspace

    def _known(self, turn: int, number: int) -> Known:
        """What is known of the changes of a turn that a message belongs to."""
        found = self._changes.get(turn)
        if found is None:
            entry = (self._entries or {}).get(turn)
            if entry is None:
                return NOTHING_KNOWN
            firsts, rest = self._spans
            place = bisect_right(firsts, number) - 1
            start, end = (firsts[place], rest[place][0] + 1) if place >= 0 else (0, 0)
            messages = self._messages[max(0, start - self._first) : max(0, end - self._first)]
            calls = [call for message in messages for call in message.tool_calls]
            found = self._changes[turn] = known_of(entry.files, calls, self._workspace())
        return found

    def _make_footer(self, message: Message, turn: int) -> FooterBlock:
        took = message.turn_elapsed_ms
        entry = (self._entries or {}).get(turn)
        if not took and entry is not None:
            took = entry.duration_ms
        files = entry.files if entry is not None else ()
        return FooterBlock(
            turn=turn,
            files=len(files) if self._entries is not None else None,
            added=sum(change.lines_added or 0 for change in files),
            removed=sum(change.lines_removed or 0 for change in files),
            duration_ms=took,
            answer=message.content if message.role == "assistant" else "",
        )


def _event(message: Message) -> EventBlock:
    match message.event_kind:
        case "interrupted":
            return EventBlock("stop", tr("Interrupted"))
        case "cancelled":
            return EventBlock("stop", tr("Cancelled"))
        case "compacted":
            return EventBlock("archive", tr("Earlier messages were summed up for the agent"), message.content)
        case "compaction_failed":
            return EventBlock("warning", tr("The agent could not sum up earlier messages"), message.content)
        case "model_switched":
            return EventBlock("model", tr("Model changed to {model}", model=one_line(message.content, 80)))
        case "merged":
            return EventBlock("branch", tr("Merged from the branch {name}", name=one_line(message.content, 120)))
        case "infra_safety_blocked":
            return EventBlock("warning", tr("The agent's provider stopped this answer"), message.content)
        case _:
            text = " ".join(message.content.split())
            return EventBlock("info", one_line(text, 120) or tr("Note"), message.content if len(text) > 120 else "")


def spoken(block: Block) -> str:
    """A block in words, for assistive technology."""
    match block:
        case CheckpointBlock(turn, changed, _):
            if changed is False:
                return tr("Before turn {turn}, no files changed", turn=turn)
            return tr("Checkpoint {turn}, before this turn", turn=turn)
        case UserBlock(text, time):
            return tr("You, {time}: {text}", time=time, text=text[:2000])
        case ThinkingBlock():
            return tr("Thought")
        case AnswerBlock(text):
            return text[:4000]
        case CardsBlock(shown):
            return "; ".join(f"{card.verb} {card.target}" for card in shown[:20])
        case FooterBlock(turn, files, added, removed, took, _):
            parts = [tr("End of turn {turn}", turn=turn)]
            if files is not None:
                parts.append(tr_n("{n} file changed", "{n} files changed", files) if files else tr("no files changed"))
            if files:
                parts += (f"+{added} \u2212{removed}", when.duration(took))
            return ", ".join(part for part in parts if part)
        case EventBlock(_, text, _):
            return text
        case EarlierBlock(count):
            return tr_n("{n} earlier message", "{n} earlier messages", count)
        case BranchBlock(first, last, _):
            return tr("Turns {first} to {last} moved to a branch", first=first, last=last)


def _with_turns(view: ChatView, earlier: Sequence[TurnSpan]) -> ChatView:
    """The view with turns among its earlier messages, which it need not tell itself."""
    spans = {span.first_message: span for span in earlier if span.first_message < view.first_index}
    spans |= {span.first_message: span for span in view.turns}
    return replace(view, turns=tuple(spans[first] for first in sorted(spans)))
