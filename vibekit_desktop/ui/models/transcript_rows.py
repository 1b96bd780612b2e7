"""Which rows a transcript has, in tables of numbers: no block is made before it is asked for. Pure; any thread."""

from array import array
from collections.abc import Sequence, Set
from enum import IntEnum

from vibekit_desktop.core.types.chats import ChatView, Message
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
    starts: dict[int, int] = {}
    ends: dict[int, int] = {}
    for span in reversed(view.turns):
        if span.last_message < since:
            break
        starts[span.first_message] = span.turn
        ends[span.last_message] = span.turn
    branches = sorted((turn, place) for place, (turn, _last, _chat) in enumerate(view.chat.removed_turns))[branches_before:]
    for number in range(since, first + len(messages)):
        message = messages[number - first]
        turn = starts.get(number)
        if turn is not None:
            while branches and branches[0][0] < turn:
                rows.add(_BRANCH, branches.pop(0)[1])
            rows.add(_CHECKPOINT, number)
        if message.role == "user":
            rows.add(_USER, number, 0, 0, len(message.content))
        elif message.role == "assistant":
            add_answer(rows, number, message)
        else:
            rows.add(_EVENT, number)
        if number in ends and ends[number] not in quiet:
            rows.add(_FOOTER, number, ends[number])
    for _turn, place in branches:
        rows.add(_BRANCH, place)


def add_answer(rows: Rows, number: int, message: Message, since: int = -1) -> None:
    """The rows of one answer: all, or those of its blocks from ``since`` on, where a row of it begins."""
    blocks = message.blocks
    if since < 0 and message.plan and (steps := len(steps_of(message.plan))):
        rows.add(_PLAN, number, -1, -1, steps)
    if not blocks:
        if message.reasoning:
            rows.add(_THINKING, number, -1, -1)
        if message.tool_calls:
            rows.add(_CARDS, number, -1, -1, len(message.tool_calls))
        if message.content:
            _text_rows(rows, number, -1, message.content)
        return
    at, count = max(0, since), len(blocks)
    while at < count:
        block = blocks[at]
        if block.type == "tool_use":
            end, limit = at, min(count, at + MOST_CALLS)
            while end + 1 < limit and blocks[end + 1].type == "tool_use":
                end += 1
            rows.add(_CARDS, number, at, end, end - at + 1)
            at = end
        elif block.type == "thinking":
            if block.thinking and not block.thinking.isspace():
                rows.add(_THINKING, number, at, at)
        elif block.text and not block.text.isspace():
            _text_rows(rows, number, at, block.text)
        at += 1


def _text_rows(rows: Rows, number: int, block: int, text: str) -> None:
    sizes = text_parts.sizes(text)
    if len(sizes) == 1:
        rows.add(_ANSWER, number, block, block, len(text))
        return
    for part, size in enumerate(sizes):
        rows.add(_ANSWER, number, block, -2 - part, size)


def message_turns(view: ChatView) -> tuple[Sequence[int], Sequence[tuple[int, int]]]:
    """The first message of every span in order, and (last message, turn) beside it; for looking a message's turn up."""
    spans = sorted((span.first_message, span.last_message, span.turn) for span in view.turns)
    return [span[0] for span in spans], [(span[1], span[2]) for span in spans]
