"""Which rows a transcript has, in tables of numbers: no block is made before it is asked for. Pure; any thread."""

from array import array
from collections.abc import Sequence
from enum import IntEnum

from vibekit_desktop.core.types.chats import ChatView, Message
from vibekit_desktop.ui.long_text import MAX_RICH

SLICE = 16_384
"""A text that is too long for Markdown has one row per slice of about this size."""


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


Key = tuple[int, int, int, int]
"""Kind, message, first and last block of the message; -1 and -1 mean the message itself.

A message is its index in the whole transcript, also where earlier ones are not loaded. The slices of a long text have -2, -3
and so on as last number. A footer has its turn as first, a branch its place in `Chat.removed_turns` as message.
"""

_BRANCH, _CHECKPOINT, _USER, _THINKING, _ANSWER, _CARDS, _FOOTER, _EVENT, _EARLIER = range(9)


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

    def cut(self, count: int) -> "Rows":
        """The first rows, as a table of their own."""
        part = Rows()
        part.kinds = self.kinds[:count]
        part.messages, part.firsts = self.messages[:count], self.firsts[:count]
        part.lasts, part.weights = self.lasts[:count], self.weights[:count]
        return part

    def without_start(self, count: int) -> "Rows":
        """The rows after the first ``count``, as a table of their own."""
        part = Rows()
        part.kinds = self.kinds[count:]
        part.messages, part.firsts = self.messages[count:], self.firsts[count:]
        part.lasts, part.weights = self.lasts[count:], self.weights[count:]
        return part

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


def rows_of(view: ChatView, messages: Sequence[Message], first: int) -> Rows:
    """All rows of a chat, of which ``messages`` are loaded, the one of index ``first`` and all after it."""
    rows = Rows()
    if first:
        rows.add(_EARLIER, first)
    starts = {span.first_message: span.turn for span in view.turns}
    ends = {span.last_message: span.turn for span in view.turns}
    branches = sorted((first, place) for place, (first, _last, _chat) in enumerate(view.chat.removed_turns))
    for number, message in enumerate(messages, first):
        turn = starts.get(number)
        if turn is not None:
            while branches and branches[0][0] < turn:
                rows.add(_BRANCH, branches.pop(0)[1])
            rows.add(_CHECKPOINT, number)
        if message.role == "user":
            rows.add(_USER, number, 0, 0, len(message.content))
        elif message.role == "assistant":
            _answer_rows(rows, number, message)
        else:
            rows.add(_EVENT, number)
        if number in ends:
            rows.add(_FOOTER, number, ends[number])
    for _first, place in branches:
        rows.add(_BRANCH, place)
    return rows


def _answer_rows(rows: Rows, number: int, message: Message) -> None:
    blocks = message.blocks
    if not blocks:
        if message.reasoning:
            rows.add(_THINKING, number, -1, -1)
        if message.tool_calls:
            rows.add(_CARDS, number, -1, -1, len(message.tool_calls))
        if message.content:
            _text_rows(rows, number, -1, message.content)
        return
    at, count = 0, len(blocks)
    while at < count:
        block = blocks[at]
        if block.type == "tool_use":
            end = at
            while end + 1 < count and blocks[end + 1].type == "tool_use":
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
    size = len(text)
    if size <= MAX_RICH:
        rows.add(_ANSWER, number, block, block, size)
        return
    for part in range(-(-size // SLICE)):
        rows.add(_ANSWER, number, block, -2 - part, SLICE)


def slice_of(text: str, part: int) -> str:
    """One slice of a long text; it begins and ends at a line end where there is one near."""

    def bound(at: int) -> int:
        found = text.find("\n", at, at + SLICE) if 0 < at < len(text) else -1
        return found + 1 if found >= 0 else min(at, len(text))

    return text[bound(part * SLICE) : bound((part + 1) * SLICE)].removesuffix("\n")


def message_turns(view: ChatView) -> tuple[Sequence[int], Sequence[tuple[int, int]]]:
    """The first message of every span in order, and (last message, turn) beside it; for looking a message's turn up."""
    spans = sorted((span.first_message, span.last_message, span.turn) for span in view.turns)
    return [span[0] for span in spans], [(span[1], span[2]) for span in spans]
