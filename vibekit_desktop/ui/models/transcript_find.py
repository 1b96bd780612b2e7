"""Find a text in a whole chat: where it is and how often, also in messages that are not loaded. Pure; no Qt.

What a person reads is looked through: their messages, answers, thinking, what calls were about. Marks of Markdown are no part
of it. A place is a message, a block of it and which one it is there, so that it outlives every change of the rows.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from vibekit_desktop.core.types.chats import Message, ToolCall
from vibekit_desktop.ui.models import text_parts

AT_A_TIME = 16_384
"""About so many characters are looked through in a step: some milliseconds, however often the text is in them."""
_A_TEXT = 64
"""To look at a text at all costs as much as so many characters."""
_WORD = re.compile(r"\w+")
_MARKS = re.compile(
    r"^[ ]{0,3}(?:`{3,}|~{3,})[^\n]*$|^[ ]{0,3}#{1,6}[ ]+"
    # No bracket stands within a link's words, and only pairs within its address: else a text of nothing but opening ones
    # would be looked through from each of them to its end.
    r"|!?\[([^\[\]\n]*)\]\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)|\*{1,3}|`+",
    re.MULTILINE,
)


class Place(NamedTuple):
    """One place: the message by its index in the whole transcript, its block (-1 = the message itself), which one there."""

    message: int
    block: int
    nth: int


class Count(NamedTuple):
    """How often it is in one block of one message."""

    message: int
    block: int
    times: int


class Pattern:
    """What is looked for; never empty."""

    def __init__(self, text: str, *, match_case: bool = False) -> None:
        self.text = text
        self.match_case = match_case
        flags = 0 if match_case else re.IGNORECASE
        self._pattern = re.compile(re.escape(text), flags)
        self._longest = re.compile(re.escape(max(_WORD.findall(text), key=len, default=text)), flags)
        """Its longest word: where that is not, nothing has to be taken out of Markdown."""

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where it is in a text."""
        return [found.span() for found in self._pattern.finditer(text)]

    def times(self, text: str) -> int:
        """How often it is in a text as it was written."""
        if self._longest.search(text) is None:
            return 0
        return sum(1 for _ in self._pattern.finditer(shown(text)))

    def look(self, number: int, message: Message) -> Iterator[Count | int]:
        """Where it is in a message, by its index in the whole transcript; between that, about how many characters were looked
        through."""
        for block, text, marked in _texts(message):
            times = 0
            yield _A_TEXT
            for more, size in self._parts(text, marked=marked):
                times += more
                yield size
            if times:
                yield Count(number, block, times)

    def _parts(self, text: str, *, marked: bool) -> Iterator[tuple[int, int]]:
        """How often it is in each part of a text, and how long that is. Markdown has the parts that it is shown in if it is
        long."""
        if marked and text_parts.is_rich(text):
            yield self.times(text), len(text)
        elif marked:
            for number in range(text_parts.count(text)):
                yield self.times(text_parts.part(text, number)), text_parts.SLICE
        else:
            at = 0
            while at < len(text):
                times, begin, at = 0, at, at + AT_A_TIME
                for found in self._pattern.finditer(text, begin, at + len(self.text) - 1):
                    times += 1
                    at = max(at, found.end())
                yield times, at - begin


def shown(text: str) -> str:
    """About what is seen of Markdown: without fences, headings' signs, stars, backticks and addresses."""
    return _MARKS.sub(lambda found: found[1] or "", text)


def call_words(call: ToolCall) -> str:
    """What is seen of a call while it is folded, as far as it says what it was about."""
    paths = [fragment.path for fragment in call.diffs[:1]] or [place.path for place in call.locations[:1]]
    return "\n".join(dict.fromkeys([call.title, *paths]))


def _texts(message: Message) -> Iterator[tuple[int, str, bool]]:
    """The texts of a message with their blocks, and whether they are Markdown."""
    if message.role != "assistant":
        yield -1, message.content, False
        return
    if not message.blocks:
        yield -1, "\n".join(filter(None, (message.reasoning, message.content))), True
        return
    calls = {call.id: call for call in message.tool_calls}
    for number, block in enumerate(message.blocks):
        if block.type == "tool_use":
            call = calls.get(block.tool_call_id)
            if call is not None:
                yield number, call_words(call), False
        elif block.type == "thinking":
            yield number, block.thinking, True
        else:
            yield number, block.text, True


class Finds:
    """Everything that was found up to now, in the order of the chat. ``looked_from`` and ``looked_to``: the messages from the
    one index up to the other were looked through.

    Invariant: a message is looked through once."""

    def __init__(self, pattern: Pattern, at: int) -> None:
        self.pattern = pattern
        self.looked_from = self.looked_to = at
        self._counts: list[Count] = []
        self._sums: list[int] | None = None

    def __len__(self) -> int:
        return self._ends()[-1] if self._counts else 0

    def __getitem__(self, index: int) -> Place:
        ends = self._ends()
        at = bisect_right(ends, index)
        count = self._counts[at]
        return Place(count.message, count.block, index - (ends[at] - count.times))

    def at_or_after(self, message: int) -> int:
        """The first place from a message on; the first of all if there is none after it."""
        at = bisect_left(self._counts, (message, -2, 0))
        return self._ends()[at - 1] if 0 < at < len(self._counts) else 0

    def _ends(self) -> list[int]:
        """How many places there are up to the end of each count."""
        if self._sums is None:
            self._sums = list(accumulate(count.times for count in self._counts))
        return self._sums

    def _add(self, found: Sequence[Count]) -> None:
        self._counts += found
        if self._sums is not None:
            before = self._sums[-1] if self._sums else 0
            self._sums += [before + more for more in accumulate(count.times for count in found)]

    def look_on(self, messages: Sequence[Message], first: int) -> Iterator[None]:
        """Look through what comes after what was looked through; ``messages`` begin at index ``first``. Some with every
        step."""
        found, spent = list[Count](), 0
        while self.looked_to < first + len(messages):
            for one in self.pattern.look(self.looked_to, messages[self.looked_to - first]):
                if isinstance(one, Count):
                    found.append(one)
                elif (spent := spent + one) >= AT_A_TIME:
                    spent = 0
                    yield
            self._add(found)
            found.clear()
            self.looked_to += 1
        yield

    def look_before(self, messages: Sequence[Message], upto: int) -> Iterator[None]:
        """Look through the messages that end before what was looked through, at index ``upto``; others are left out."""
        if upto != self.looked_from:
            return
        found, spent = list[Count](), 0
        first = upto - len(messages)
        for number, message in enumerate(messages, first):
            for one in self.pattern.look(number, message):
                if isinstance(one, Count):
                    found.append(one)
                elif (spent := spent + one) >= AT_A_TIME:
                    spent = 0
                    yield
        self._counts[0:0] = found
        self.looked_from, self._sums = first, None
        yield
