"""From the name of a transcript's row to its block: what the messages, the timeline and the running turn say about it.

Makes one block at a time, when somebody asks. No Qt; UI thread only.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace
from operator import attrgetter

from vibekit_desktop.core.types.agents import LivePhase, LiveState
from vibekit_desktop.core.types.chats import ChatView, Message, ToolCall, TurnSpan
from vibekit_desktop.core.types.checkpoints import Timeline, TimelineEntry
from vibekit_desktop.core.types.ids import ChatId
from vibekit_desktop.ui import when
from vibekit_desktop.ui.models import text_parts
from vibekit_desktop.ui.models.block_words import event_block
from vibekit_desktop.ui.models.blocks import (
    AnswerBlock,
    Block,
    BranchBlock,
    Card,
    CardsBlock,
    CheckpointBlock,
    EarlierBlock,
    FooterBlock,
    ThinkingBlock,
    UserBlock,
    WorkingBlock,
    conflict_key,
)
from vibekit_desktop.ui.models.cards import NOTHING_KNOWN, Edits, Known, cards, known_of, undone_last, wish, with_redo
from vibekit_desktop.ui.models.conflicts import ConflictCard
from vibekit_desktop.ui.models.plan import current_step, plan_card
from vibekit_desktop.ui.models.running import Change, Stream, running_turn
from vibekit_desktop.ui.models.timeline_facts import facts_of
from vibekit_desktop.ui.models.transcript_rows import Key, Kind
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.visible import visible_name

_FIRST_MESSAGE = attrgetter("first_message")


class BlockMaker:
    """What is known of the chat that is shown. The model sets ``live``, ``stream``, ``ended`` (a turn that ended though its
    state does not say so yet) and ``held_by_others`` (why Undo waits for somebody else's turn)."""

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now = now_ms
        self.live: LiveState | None = None
        self.ended = 0
        self.held_by_others = ""
        self._stream: Stream | None = None
        self._edits = Edits("")
        self._view: ChatView | None = None
        self._messages: Sequence[Message] = ()
        self._first = 0
        self._timeline: Timeline | None = None
        self._redo: tuple[int, frozenset[str]] = (0, frozenset())
        """The turn and the files whose undo is what the next undo takes back."""
        self._changes: dict[int, Known] = {}
        self._conflicts: dict[int, dict[str, ConflictCard]] = {}
        """By turn and path, the newest of each."""

    # What comes in

    def show(self, view: ChatView | None, messages: Sequence[Message], first: int) -> None:
        """The chat, and which of its messages are loaded: those from index ``first`` on."""
        self._view, self._messages, self._first = view, messages, first
        self._changes = {}

    def appended(self, view: ChatView, messages: Sequence[Message], span: TurnSpan | None) -> None:
        """There is one more message at the end; ``span``: the turn it belongs to, as it is now."""
        self._view, self._messages = view, messages
        if span is not None:
            self._changes.pop(span.turn, None)

    def set_timeline(self, timeline: Timeline) -> None:
        """What the turns changed."""
        self._timeline = timeline
        self._redo = undone_last(timeline)
        self._changes = {}

    def _entry(self, turn: int) -> TimelineEntry | None:
        return facts_of(self._timeline).turns.get(turn) if self._timeline is not None else None

    def set_conflicts(self, conflicts: Sequence[ConflictCard]) -> bool:
        """Who else changed what the chat changed, oldest first; whether that is news."""
        found: dict[int, dict[str, ConflictCard]] = {}
        for card in conflicts:
            if not card.settled:
                found.setdefault(card.placed.turn or card.placed.before, {})[card.path] = card
        if found == self._conflicts:
            return False
        self._conflicts, self._changes = found, {}
        return True

    def conflict(self, key: str) -> ConflictCard | None:
        """The conflict of a key of `conflict_key`."""
        return next((one for of in self._conflicts.values() for one in of.values() if conflict_key(one) == key), None)

    @property
    def stream(self) -> Stream | None:
        """The answer that is coming in the chat that is shown."""
        return self._stream

    def set_stream(self, stream: Stream | None) -> None:
        """Another answer is coming, or none."""
        self._stream = stream
        self._edits = Edits(self._workspace())
        if stream is not None:
            self._edits.update(stream.message.tool_calls)
            self._changes.pop(stream.turn, None)

    def grew(self, stream: Stream, change: Change) -> None:
        """The answer that is coming is another one now, by a change."""
        self._stream = stream
        if change.calls:
            self._edits.update(stream.calls[call] for call in change.calls)

    # What follows from it

    @property
    def running(self) -> int:
        """The turn that runs, or 0."""
        return running_turn(self.live, self._stream, self.ended)

    @property
    def quiet(self) -> frozenset[int]:
        """Turns that have no footer yet."""
        return frozenset({self.running, self._stream.turn if self._stream is not None else 0} - {0})

    @property
    def held(self) -> str:
        """Why nothing can be undone now, or empty."""
        turn = self.running
        return tr("Wait until turn {turn} ends, or stop it", turn=turn) if turn else self.held_by_others

    @property
    def _number(self) -> int:
        """The index that the message of the answer that is coming will have."""
        return self._first + len(self._messages)

    def turn_at(self, number: int) -> int:
        """The turn that a message belongs to, or 0."""
        if number >= self._number and self._stream is not None:
            return self._stream.turn
        span = self._span_at(number)
        return span.turn if span is not None and number <= span.last_message else 0

    def begins(self, turn: int) -> int:
        """The index of a turn's first message, or of the next one to come."""
        for span in reversed(self._turns):
            if span.turn == turn:
                return span.first_message
        return self._number

    @property
    def _turns(self) -> Sequence[TurnSpan]:
        return self._view.turns if self._view is not None else ()

    def _span_at(self, number: int) -> TurnSpan | None:
        """The last turn that begins at a message or before it."""
        place = bisect_right(self._turns, number, key=_FIRST_MESSAGE) - 1
        return self._turns[place] if place >= 0 else None

    def make(self, row: Key) -> Block:
        """The block of a row."""
        kind, number, first, last = row
        if kind == Kind.BRANCH and self._view is not None:
            start, end, chat = self._view.chat.removed_turns[number]
            return BranchBlock(start, end, ChatId(chat))
        if kind == Kind.EARLIER:
            return EarlierBlock(number)
        if kind == Kind.WORKING:
            return self._working(first)
        coming = number >= self._number
        message = self._stream.message if coming and self._stream is not None else self._messages[number - self._first]
        growing = coming and bool(self.running) and first == len(message.blocks) - 1
        match Kind(kind):
            case Kind.CHECKPOINT:
                turn = self.turn_at(number)
                return CheckpointBlock(turn, self._changed(turn), self._found(), self.held if self._found() else "")
            case Kind.USER:
                attached = tuple((visible_name(one.name), one.media_type.startswith("image/")) for one in message.attachments)
                return UserBlock(message.content, when.stamp(message.ts, self._now()), attached)
            case Kind.THINKING if first < 0:
                return ThinkingBlock(message.reasoning)
            case Kind.THINKING:
                thought = message.blocks[first]
                return ThinkingBlock(thought.thinking, growing, 0 if growing else thought.duration_ms)
            case Kind.ANSWER:
                text = message.content if first < 0 else message.blocks[first].text
                plain = not text_parts.is_rich(text)
                if last >= -1:
                    return AnswerBlock(text, plain=plain, growing=growing)
                part = -2 - last
                at_end = part == text_parts.count(text) - 1
                return AnswerBlock(text_parts.part(text, part), plain=plain, growing=growing and at_end)
            case Kind.CARDS:
                return self._make_cards(message, number, first, last)
            case Kind.PLAN:
                key = f"plan:{message.id or number}"
                turn = self.turn_at(number)
                return CardsBlock((plan_card(message.plan, key, turn, running=coming and turn == self.running),))
            case Kind.FOOTER:
                return self._make_footer(message, first)
            case Kind.EVENT | Kind.BRANCH | Kind.EARLIER | Kind.WORKING:
                return event_block(message)

    def _found(self) -> bool:
        """Whether the workspace is where it was, so that files can be put back."""
        return self._view is None or self._view.workspace_found

    def _changed(self, turn: int) -> bool | None:
        entry = self._entry(turn)
        if self._timeline is None or (turn == self.running and entry is None):
            return None
        if turn == self.running and not (entry is not None and entry.files):
            return None  # it may still change something
        return bool(entry is not None and entry.files)

    def _make_cards(self, message: Message, number: int, first: int, last: int) -> CardsBlock:
        turn = self.turn_at(number)
        known = self._known(turn, number)
        coming = number >= self._number and self._stream is not None
        if first < 0:
            calls: Sequence[ToolCall] = message.tool_calls
        else:
            if coming and self._stream is not None:
                by_id = self._stream.calls
            else:
                by_id = {call.id: call for call in message.tool_calls}
            wanted = [by_id.get(block.tool_call_id) for block in message.blocks[first : last + 1]]
            calls = [call for call in wanted if call is not None]
        made = cards(calls, turn, self._workspace(), known)
        if turn == self._redo[0]:
            made = tuple(with_redo(card, self._redo[1]) for card in made)
        if not self._found():
            made = tuple(replace(card, can_undo=False) for card in made)
        elif held := self.held:
            made = tuple(replace(card, held=held) if card.path or card.files else card for card in made)
        if coming and turn == self.running:
            by_key = {call.id: call for call in calls}
            made = tuple(self._active(card, by_key.get(card.key)) if card.state == "active" else card for card in made)
        return CardsBlock(made)

    def _active(self, card: Card, call: ToolCall | None) -> Card:
        live, began_at = self.live, call.ts if call is not None else 0
        if call is not None and live is not None and any(question.tool_call_id == card.key for question in live.questions):
            return replace(card, waits=True, verb=wish(call.kind), status=tr("Waiting for you"))
        can_stop = live is not None and card.key in live.running_commands
        return replace(card, began_at=began_at or (live.turn_began_at if live is not None else 0), can_stop=can_stop)

    def _workspace(self) -> str:
        if self._view is None:
            return ""
        return self._view.chat.recorded_workspace or self._view.vault_workspace

    def _known(self, turn: int, number: int) -> Known:
        """What is known of the changes of a turn that a message belongs to."""
        entry = self._entry(turn)
        if entry is None:
            return NOTHING_KNOWN
        found = self._changes.get(turn)
        if found is None:
            if number >= self._number:
                found = known_of(entry.files, (), "")
                found = replace(found, edits=self._edits.by_path)
            else:
                span = self._span_at(number)
                start, end = (span.first_message, span.last_message + 1) if span is not None else (0, 0)
                messages = self._messages[max(0, start - self._first) : max(0, end - self._first)]
                calls = [call for message in messages for call in message.tool_calls]
                found = known_of(entry.files, calls, self._workspace())
            if sizes := {one.path: one.size for one in entry.coverage.skipped if one.size}:
                found = replace(found, sizes=sizes)
            if mine := self._conflicts.get(turn):
                found = replace(found, conflicts=mine)
            self._changes[turn] = found
        return found

    def _working(self, turn: int) -> WorkingBlock:
        live, entry = self.live, self._entry(turn)
        files = entry.files if entry is not None else ()
        began = live.turn_began_at if live is not None else 0
        return WorkingBlock(
            turn,
            began,
            len(files),
            sum(change.lines_added or 0 for change in files),
            sum(change.lines_removed or 0 for change in files),
            step=current_step(self._stream.message.plan) if self._stream is not None and self._stream.turn == turn else "",
            stopping=live is not None and live.phase is LivePhase.STOPPING,
            waiting=live is not None and bool(live.questions) and live.phase is LivePhase.RUNNING,
            starting=live.agent if live is not None and live.phase is LivePhase.STARTING else "",
        )

    def _make_footer(self, message: Message, turn: int) -> FooterBlock:
        took = message.turn_elapsed_ms
        entry = self._entry(turn)
        if not took and entry is not None:
            took = entry.duration_ms
        files = entry.files if entry is not None else ()
        return FooterBlock(
            turn=turn,
            files=len(files) if self._timeline is not None else None,
            added=sum(change.lines_added or 0 for change in files),
            removed=sum(change.lines_removed or 0 for change in files),
            duration_ms=took,
            answer=message.content if message.role == "assistant" else "",
            conflicts=tuple(self._conflicts.get(turn, {}).values()),
        )
