"""Which rows a transcript has, in tables of numbers: no block is made before it is asked for. Pure; any thread."""

import sys
from array import array
from bisect import bisect_left
from collections.abc import Sequence, Set
from enum import IntEnum
from operator import attrgetter
from struct import Struct

from vibekit_desktop.core.types.chats import Block, ChatView, Message, TurnSpan
from vibekit_desktop.ui.models import text_parts
from vibekit_desktop.ui.models.plan import steps_of

MOST_CALLS = 40
"""So many calls share one box at most: a box is laid out as a whole whenever one of its calls changes."""


class Kind(IntEnum):
    """What a row is, before its block is made."""

    BRANCH = 0
    CHECKPOINT = 1
    USER = 2
    THINKING = 3
    ANSWER = 4
    CARDS = 5
    FOOTER = 6
    EVENT = 7
    EARLIER = 8
    PLAN = 9
    WORKING = 10


Key = tuple[int, int, int, int]
"""Kind, message, first and last block of the message; -1 and -1 mean the message itself.

A message is its index in the whole transcript, also where earlier ones are not loaded. The parts of a long text have -2, -3
and so on as last number. A footer has its turn as first, a branch its place in `Chat.removed_turns` as message. The rows of an
answer that is still coming have the index its message will have, and so has the line that says that a turn runs.
"""

_row = Struct("5l").pack
"""One row on its way into the columns: kind, message, first, last, weight. Side by side in one buffer a hundred thousand
messages come about in half the time that five columns at once take."""

_KIND_AT = 0 if sys.byteorder == "little" else array("l").itemsize - 1
"""Where the one byte of a packed kind is that says it."""

_FULL = 1 << 18
"""A buffer of so many bytes goes into the columns: a larger one costs more to make than it saves."""

_PART = text_parts.PART
_LAST_MESSAGE = attrgetter("last_message")
_NO_TURN = TurnSpan(turn=0, first_message=sys.maxsize, last_message=sys.maxsize)
_BRANCH, _CHECKPOINT, _USER, _THINKING, _ANSWER, _CARDS, _FOOTER, _EVENT, _EARLIER, _PLAN, _WORKING = range(11)


class Rows:
    """The rows as parallel columns. ``weights``: about how many characters (for cards: calls) a row shows."""

    def __init__(self) -> None:
        self.kinds = bytearray()
        self.messages = array("l")
        self.firsts = array("l")
        self.lasts = array("l")
        self.weights = array("l")

    def __len__(self) -> int:
        return len(self.kinds)

    def key(self, row: int) -> Key:
        """What names a row as long as the messages before it stay the same."""
        return self.kinds[row], self.messages[row], self.firsts[row], self.lasts[row]

    def add(self, kind: int, message: int, first: int = 0, last: int = 0, weight: int = 0) -> None:
        """One more row at the end."""
        self.kinds.append(kind)
        self.messages.append(message)
        self.firsts.append(first)
        self.lasts.append(last)
        self.weights.append(weight)

    def take(self, packed: bytearray) -> None:
        """More rows at the end, each as `_row` packs it."""
        table = array("l")
        table.frombytes(packed)
        self.kinds += packed[_KIND_AT :: 5 * table.itemsize]
        self.messages += table[1::5]
        self.firsts += table[2::5]
        self.lasts += table[3::5]
        self.weights += table[4::5]

    def part(self, first: int, end: int) -> "Rows":
        """The rows from ``first`` up to ``end``, as a table of their own."""
        part = Rows()
        part.kinds = self.kinds[first:end]
        part.messages, part.firsts = self.messages[first:end], self.firsts[first:end]
        part.lasts, part.weights = self.lasts[first:end], self.weights[first:end]
        return part

    def replace(self, first: int, end: int, other: "Rows") -> None:
        """Put the rows of ``other`` in the place of those from ``first`` up to ``end``."""
        self.kinds[first:end] = other.kinds
        self.messages[first:end], self.firsts[first:end] = other.messages, other.firsts
        self.lasts[first:end], self.weights[first:end] = other.lasts, other.weights

    def is_same(self, row: int, other: "Rows", place: int) -> bool:
        """Whether two rows are the same one, which may have grown: a box by a call, a text into slices."""
        if self.kinds[row] != other.kinds[place] or self.messages[row] != other.messages[place]:
            return False
        mine, others = self.lasts[row], other.lasts[place]
        return self.firsts[row] == other.firsts[place] and (
            mine == others or (mine >= 0 and others >= 0) or (min(mine, others) == -2 and max(mine, others) >= -1)
        )

    def same_end(self, other: "Rows") -> int:
        """How many rows at the end are the same in both."""
        same, most = 0, min(len(self), len(other))
        while same < most and self.key(len(self) - 1 - same) == other.key(len(other) - 1 - same):
            same += 1
        return same

    def same_start(self, other: "Rows") -> int:
        """How many rows at the start are the same in both."""
        most = min(len(self), len(other))
        if self._equal(other, most):
            return most
        low, high = 0, most
        while low < high:
            middle = (low + high + 1) // 2
            if self._equal(other, middle):
                low = middle
            else:
                high = middle - 1
        return low

    def _equal(self, other: "Rows", count: int) -> bool:
        return (
            self.kinds[:count] == other.kinds[:count]
            and self.messages[:count] == other.messages[:count]
            and self.firsts[:count] == other.firsts[:count]
            and self.lasts[:count] == other.lasts[:count]
        )


def rows_of(view: ChatView, messages: Sequence[Message], first: int, quiet: Set[int] = frozenset()) -> Rows:
    """All rows of a chat, of which ``messages`` are loaded, the one of index ``first`` and all after it. ``quiet``: turns
    without a footer yet, because they run."""
    rows = Rows()
    if first:
        rows.add(_EARLIER, first)
    add_messages(rows, view, messages, first, first, quiet)
    return rows


def add_messages(
    rows: Rows, view: ChatView, messages: Sequence[Message], first: int, since: int, quiet: Set[int], branches_before: int = 0
) -> None:
    """The rows of the messages from index ``since`` on, and of the branches after the first ``branches_before`` of them."""
    packed = bytearray()
    spans = _spans_since(view, since)
    starting = ending = 0
    start, end = spans[0].first_message, spans[0].last_message
    branches = sorted((turn, place) for place, (turn, _last, _chat) in enumerate(view.chat.removed_turns))[branches_before:]
    for number, message in enumerate(messages[since - first :] if since > first else messages, since):
        if number >= start:
            if number == start:
                while branches and branches[0][0] < spans[starting].turn:
                    packed += _row(_BRANCH, branches.pop(0)[1], 0, 0, 0)
                packed += _row(_CHECKPOINT, number, 0, 0, 0)
            while number >= start:
                starting += 1
                start = spans[starting].first_message
        role = message.role
        if role == "user":
            packed += _row(_USER, number, 0, 0, len(message.content))
        elif role == "assistant":
            if (blocks := message.blocks) and not message.plan:
                _pack_blocks(packed, number, blocks, 0)
            else:
                _pack_answer(packed, number, message)
        else:
            packed += _row(_EVENT, number, 0, 0, 0)
        if number >= end:
            if number == end and (turn := spans[ending].turn) not in quiet:
                packed += _row(_FOOTER, number, turn, 0, 0)
            while number >= end:
                ending += 1
                end = spans[ending].last_message
            if len(packed) > _FULL:
                rows.take(packed)
                packed.clear()
    for _turn, place in branches:
        packed += _row(_BRANCH, place, 0, 0, 0)
    rows.take(packed)


def _spans_since(view: ChatView, since: int) -> Sequence[TurnSpan]:
    """The turns that have messages from an index on, in order, and one behind all messages."""
    return (*view.turns[bisect_left(view.turns, since, key=_LAST_MESSAGE) :], _NO_TURN)


def add_answer(rows: Rows, number: int, message: Message, since: int = -1) -> None:
    """The rows of one answer: all, or those of its blocks from ``since`` on, where a row of it begins."""
    packed = bytearray()
    if since < 0 or not message.blocks:
        _pack_answer(packed, number, message)
    else:
        _pack_blocks(packed, number, message.blocks[since:], since)
    rows.take(packed)


def _pack_answer(packed: bytearray, number: int, message: Message) -> None:
    if message.plan and (steps := len(steps_of(message.plan))):
        packed += _row(_PLAN, number, -1, -1, steps)
    if blocks := message.blocks:
        _pack_blocks(packed, number, blocks, 0)
        return
    if message.reasoning:
        packed += _row(_THINKING, number, -1, -1, 0)
    if message.tool_calls:
        packed += _row(_CARDS, number, -1, -1, len(message.tool_calls))
    if message.content:
        _pack_text(packed, number, -1, message.content)


def _pack_blocks(packed: bytearray, number: int, blocks: Sequence[Block], at: int) -> None:
    """The rows of some blocks of an answer, the first of which is number ``at`` of it."""
    calls = 0
    for block in blocks:
        kind = block.type
        if calls and (kind != "tool_use" or calls == MOST_CALLS):
            packed += _row(_CARDS, number, at - calls, at - 1, calls)
            calls = 0
        if kind == "tool_use":
            calls += 1
        elif kind == "thinking":
            if block.thinking and not block.thinking.isspace():
                packed += _row(_THINKING, number, at, at, 0)
        elif (text := block.text) and not text.isspace():
            if len(text) <= _PART:
                packed += _row(_ANSWER, number, at, at, len(text))
            else:
                _pack_text(packed, number, at, text)
        at += 1
    if calls:
        packed += _row(_CARDS, number, at - calls, at - 1, calls)


def _pack_text(packed: bytearray, number: int, block: int, text: str) -> None:
    sizes = text_parts.sizes(text)
    if len(sizes) < 2:
        packed += _row(_ANSWER, number, block, block, len(text))
        return
    for part, size in enumerate(sizes):
        packed += _row(_ANSWER, number, block, -2 - part, size)
