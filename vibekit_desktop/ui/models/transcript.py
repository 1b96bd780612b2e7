"""A chat as rows for the transcript view: one row per block, each made only when it is asked for.

`set_view` gives the chat, `put_before` earlier messages of a long one, `set_timeline` what its turns changed; `stream`,
`append` and `set_live` tell of a turn that runs. A row is a small tuple until it is painted, so a hundred thousand messages
cost little. It resets only for another chat, and a running answer costs what differs in it. No I/O. UI thread only.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from PySide6.QtCore import QModelIndex, QObject, Signal

from vibekit_desktop.core.types.agents import LiveState
from vibekit_desktop.core.types.chats import ChatView, Message, TurnSpan
from vibekit_desktop.core.types.checkpoints import Timeline
from vibekit_desktop.core.types.ids import ChatId
from vibekit_desktop.ui.models import text_parts
from vibekit_desktop.ui.models.conflicts import ConflictCard
from vibekit_desktop.ui.models.running import Change, Stream, change_of, marked
from vibekit_desktop.ui.models.transcript_blocks import BlockMaker
from vibekit_desktop.ui.models.transcript_reading import TranscriptRows
from vibekit_desktop.ui.models.transcript_rows import Kind, Rows, add_answer, add_messages, rows_of
from vibekit_desktop.ui.models.turn_spans import span_of, with_turns

_ROOT = QModelIndex()
_LATE = 60  # a message that is told again is looked for among so many of the last ones

GROWING = 3
"""So many rows before the first new one can differ when a text grows: its last two parts, and the running line."""


def _divided_alike(one: str, more: str) -> bool:
    """Whether a text that has grown is divided into rows as it was, as far as it was there."""
    return text_parts.is_rich(one) == text_parts.is_rich(more) and more.startswith(one)


class TranscriptModel(TranscriptRows):
    """Rows of one chat, as they change.

    Signals: ``earlier_coming`` before rows change above what is there, ``earlier_came`` after it, both without arguments;
    ``answered``: the answer that was coming is there, its words.
    """

    earlier_coming = Signal()
    earlier_came = Signal()
    answered = Signal(str)

    def __init__(self, now_ms: Callable[[], int], parent: QObject | None = None) -> None:
        super().__init__(now_ms, parent)
        self._settled = 0
        """How many rows are of messages; those of the running turn follow."""
        self._streams: dict[ChatId, Stream] = {}
        self._lives: dict[ChatId, LiveState] = {}

    # What comes in

    def set_view(self, view: ChatView | None) -> None:
        """Show a chat. The same chat again brings only the messages that differ; an answer that is coming stays."""
        same = view is not None and self._view is not None and view.header.id == self._view.header.id
        if same and view is not None:
            self._update(view)
            return
        self.beginResetModel()
        self._view = view
        self._messages = view.messages if view is not None else ()
        self._first = view.first_index if view is not None else 0
        self._blocks = {}
        held, self._maker = self._maker.held_by_others, BlockMaker(self.now_ms)
        self._maker.held_by_others = held
        if view is not None:
            self._maker.live = self._lives.get(view.header.id)
            self._maker.show(view, self._messages, self._first)
            self._take_stream(view.header.id, anew=True)
        self._rows = self._make_rows()
        self.endResetModel()

    def set_timeline(self, timeline: Timeline) -> None:
        """What the turns changed, as far as it is known; rows that show it change."""
        self._maker.set_timeline(timeline)
        self._refresh(0, len(self._rows))

    def set_conflicts(self, conflicts: Sequence[ConflictCard]) -> None:
        """Who else changed what this chat changed, oldest first."""
        if self._maker.set_conflicts(conflicts):
            self._refresh(0, len(self._rows))

    def set_held(self, why: str) -> None:
        """Undo and Restore have to wait for something else than this chat's own turn, and why; empty frees them."""
        if why != self._maker.held_by_others:
            self._maker.held_by_others = why
            self._refresh(0, len(self._rows))

    def set_live(self, state: LiveState | None) -> None:
        """What a live chat is doing; None = nothing is known of the one that is shown. Another chat's is remembered for when
        that one is shown."""
        shown = self._view.header.id if self._view is not None else None
        if state is not None:
            self._lives[state.chat] = state
        elif shown is not None:
            self._lives.pop(shown, None)
        if shown is None or (state is not None and state.chat != shown):
            return
        maker = self._maker
        before, others = maker.running, marked(maker.live)
        maker.live = state
        if state is not None and state.turn > maker.ended:
            maker.ended = 0
        if maker.running != before:
            self._retail(min(maker.begins(before), maker.begins(maker.running)), before)
        else:
            self._refresh_calls({call for call, _ in others ^ marked(state)})
            self._refresh(max(0, len(self._rows) - 1), len(self._rows))

    def stream(self, chat: ChatId, turn: int, message: Message) -> None:
        """The running answer of a chat as it is now. Costs what differs from how it was told before."""
        self._streams[chat] = Stream(turn, message)
        if self._view is None or self._view.header.id != chat:
            return
        was, now = self._maker.stream, self._streams[chat]
        if was is None or was.message.id != message.id:
            running = self._maker.running
            self._take_stream(chat)
            self._retail(self._maker.begins(turn), running)
            return
        change = change_of(was.message, message)
        self._maker.grew(now, change)
        self._grow(was.message, message, change)

    def append(self, chat: ChatId, message: Message) -> None:
        """A chat has a new message at its end; an answer that was coming with the same id is whole now."""
        coming = self._streams.get(chat)
        ended = coming is not None and coming.message.id == message.id
        if ended:
            del self._streams[chat]
        view = self._view
        if view is None or view.header.id != chat or self._has(message):
            return
        maker, running = self._maker, self._maker.running
        if ended:
            maker.set_stream(None)
        number = self._first + len(self._messages)
        self._messages = (*self._messages, message)
        span = span_of(view, number, message)
        if span is not None:
            kept = view.turns[:-1] if view.turns and view.turns[-1].first_message == span.first_message else view.turns
            self._view = view = replace(view, turns=(*kept, span))
        if span is not None and message.role == "assistant":
            maker.ended = span.turn  # one answer is the whole of a turn
            if maker.stream is not None and maker.stream.turn == span.turn:
                del self._streams[chat]
                maker.set_stream(None)
        maker.appended(view, self._messages, span)
        self._retail(span.first_message if span is not None else number, running)
        if ended:
            self.answered.emit(message.content)

    def _update(self, view: ChatView) -> None:
        # What was loaded of earlier messages stays: a transcript changes at its end.
        loaded = range(self._first, self._first + len(self._messages) + 1)
        earlier = self._messages[: view.first_index - self._first] if view.first_index in loaded else ()
        if earlier and self._view is not None:
            view = with_turns(view, self._view.turns)
        self._view, self._messages = view, (*earlier, *view.messages)
        self._first = view.first_index - len(earlier)
        self._maker.show(view, self._messages, self._first)
        self._take_stream(view.header.id, anew=True)
        self._splice(0, self._make_rows())
        self._refresh(0, len(self._rows))

    def put_before(self, chat: ChatId, upto: int, messages: Sequence[Message], turns: Sequence[TurnSpan] = ()) -> None:
        """Earlier messages of the shown chat, those that end before index ``upto``; others than the ones that come next are not
        wanted any more. ``turns``: where turns stand among them."""
        if self._view is None or self._view.header.id != chat or upto != self._first or not messages:
            return
        self.earlier_coming.emit()
        old = self._rows
        self._view = with_turns(self._view, turns)
        self._messages, self._blocks = (*messages, *self._messages), {}
        self._first = upto - len(messages)
        self._maker.show(self._view, self._messages, self._first)
        new = self._make_rows()
        same = old.same_end(new)
        if same < len(old):
            self.beginRemoveRows(_ROOT, 0, len(old) - same - 1)
            self._rows = old.part(len(old) - same, len(old))
            self.endRemoveRows()
        if same < len(new):
            self.beginInsertRows(_ROOT, 0, len(new) - same - 1)
            self._rows = new
            self.endInsertRows()
        self.earlier_came.emit()

    # How the rows come about

    def _make_rows(self) -> Rows:
        """All rows anew."""
        if self._view is None:
            self._settled = 0
            return Rows()
        rows = rows_of(self._view, self._messages, self._first, self._maker.quiet)
        self._settled = len(rows)
        self._add_running(rows)
        return rows

    def _add_running(self, rows: Rows) -> None:
        """The rows after those of the messages."""
        stream, running = self._maker.stream, self._maker.running
        if stream is not None:
            add_answer(rows, self._first + len(self._messages), stream.message)
        if running:
            rows.add(Kind.WORKING, 0, running)

    def _take_stream(self, chat: ChatId, *, anew: bool = False) -> None:
        """Show the answer that is coming in a chat, unless the messages have it already or, with ``anew``, its turn ended."""
        stream = self._streams.get(chat)
        live = self._maker.live
        if stream is not None and (self._is_over(stream) or (anew and live is not None and live.turn != stream.turn)):
            del self._streams[chat]
            stream = None
        self._maker.set_stream(stream)

    def _is_over(self, stream: Stream) -> bool:
        return any(one.turn > stream.turn or one.id == stream.message.id for one in self._messages[-_LATE:])

    def _has(self, message: Message) -> bool:
        return bool(message.id) and any(one.id == message.id for one in self._messages[-_LATE:])

    # What changes in them

    def _row_of_message(self, number: int) -> int:
        """The first row of a message, counted from the end, the lines of branches before it included."""
        kinds, messages, row = self._rows.kinds, self._rows.messages, self._settled
        while row and (kinds[row - 1] == Kind.BRANCH or (kinds[row - 1] != Kind.EARLIER and messages[row - 1] >= number)):
            row -= 1
        return row

    def _retail(self, number: int, running: int) -> None:
        """Make the rows of the message of an index, and all after them, anew. ``running``: the turn that ran before."""
        if self._view is None:
            return
        number = max(number, self._first)
        at = self._row_of_message(number)
        new = Rows()
        branches = self._rows.kinds[:at].count(Kind.BRANCH)
        add_messages(new, self._view, self._messages, self._first, number, self._maker.quiet, branches)
        self._settled = at + len(new)
        self._add_running(new)
        self._splice(at, new)
        # Whether a turn runs decides everywhere whether something can be undone.
        self._refresh(at if self._maker.running == running else 0, len(self._rows))

    def _grow(self, was: Message, message: Message, change: Change) -> None:
        """The answer that is coming is another one: make the rows anew that differ."""
        rows, first = self._rows, change.first_block
        working = bool(self._maker.running)
        at = len(rows) - working
        if change.plan or first == 0:
            first, at = -1, self._settled
        else:
            while at > self._settled and rows.firsts[at - 1] >= first:
                at -= 1
            extends = first < len(message.blocks) and message.blocks[first].type == "tool_use"
            if extends and at > self._settled and rows.kinds[at - 1] == Kind.CARDS and rows.lasts[at - 1] >= first - 1:
                at -= 1
                first = rows.firsts[at]
        new = Rows()
        add_answer(new, self._first + len(self._messages), message, first)
        if working:
            new.add(Kind.WORKING, 0, self._maker.running)
        start = self._splice(at, new)
        elsewhere = set(change.calls)
        elsewhere.difference_update(block.tool_call_id for block in message.blocks[max(0, first) :])
        if elsewhere:
            self._refresh_calls(elsewhere)
        last = len(message.blocks) - 1
        grew = not change.plan and change.first_block == last >= 0 and last < len(was.blocks)
        if grew and message.blocks[last].type == "text" and _divided_alike(was.blocks[last].text, message.blocks[last].text):
            # A text that grew: only its last parts are others, and where the one before them ends.
            at = max(at, start - GROWING)
        self._refresh(at, len(self._rows))

    def _splice(self, at: int, new: Rows) -> int:
        """Put ``new`` in the place of the rows from ``at`` on; rows that stay the same ones are not told of. The first row that
        is none of these."""
        rows = self._rows
        same, most = rows.part(at, len(rows)).same_start(new), min(len(rows) - at, len(new))
        while same < most and rows.is_same(at + same, new, same):
            same += 1
        end, new_end = len(rows), len(new)
        while end > at + same and new_end > same and rows.key(end - 1) == new.key(new_end - 1):
            end, new_end = end - 1, new_end - 1
        rows.replace(at, at + same, new.part(0, same))
        start = at + same
        if end > start:
            self.beginRemoveRows(_ROOT, start, end - 1)
            self._exchange(start, end, Rows())
            self.endRemoveRows()
        if new_end > same:
            self.beginInsertRows(_ROOT, start, at + new_end - 1)
            self._exchange(start, start, new.part(same, new_end))
            self.endInsertRows()
        return start

    def _exchange(self, first: int, end: int, new: Rows) -> None:
        self._rows.replace(first, end, new)
        shift = len(new) - (end - first)
        kept = ((row, block) for row, block in self._blocks.items() if not first <= row < end)
        self._blocks = {row if row < end else row + shift: block for row, block in kept}

    def _refresh(self, first: int, end: int) -> None:
        """Tell of the rows whose blocks are other ones now, or may be: one that nobody has asked for is not compared."""
        begin = first
        for row in sorted(row for row in self._blocks if first <= row < end):
            block = self._make(row)
            if block == self._blocks[row]:
                if begin < row:
                    self.dataChanged.emit(self.index(begin), self.index(row - 1))
                begin = row + 1
            else:
                self._blocks[row] = block
        if begin < end:
            self.dataChanged.emit(self.index(begin), self.index(end - 1))

    def _refresh_calls(self, calls: Iterable[str]) -> None:
        """Tell of the rows of the running answer that show one of the calls."""
        stream, wanted = self._maker.stream, set(calls)
        if stream is None or not wanted:
            return
        blocks, rows = stream.message.blocks, self._rows
        for row in range(len(rows) - 1, self._settled - 1, -1):
            if rows.kinds[row] != Kind.CARDS:
                continue
            here = {block.tool_call_id for block in blocks[rows.firsts[row] : rows.lasts[row] + 1]} if blocks else wanted
            if here & wanted:
                self._refresh(row, row + 1)
                wanted -= here
            if not wanted:
                return
