"""Put the lines of all logs of a vault into one order (docs/storage-format.md 3). Pure; any thread.

Numbered lines go by ``seq``, whatever the clock said. A line without ``seq`` goes by the largest time so far in its log. The
order within a log always holds, so such a line also stays before the next numbered line of its log.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from vibekit_desktop.core.checkpoint.log import Line, LogContents
from vibekit_desktop.core.types.ids import ChatId

_Key = tuple[int, str]
"""A time, and the chat id that decides between equal times."""


@dataclass(frozen=True, slots=True)
class Placed:
    """One line, the log it stands in, and its number there."""

    chat: ChatId
    number: int
    line: Line


@dataclass(frozen=True, slots=True)
class Merged:
    """All lines of all logs, in the order of the vault's history; and what decides whether a new line comes after them."""

    lines: list[Placed]
    top: _Key
    """The largest key of a numbered line."""
    last: _Key
    """The key of the last line."""

    def then(self, line: Line, chat: ChatId) -> "_Key | None":
        """The key of a line that was just written to the log of ``chat``, if it comes after everything; else None."""
        if not line.seq:
            return None
        key = max(self.top, (line.ts, str(chat)))
        return key if key > self.last or (self.lines and self.lines[-1].line.seq) else None


def merged(logs: Mapping[ChatId, LogContents]) -> Merged:
    """Put all lines of all logs in order."""
    chain: dict[int, _Key] = {}
    top: _Key = (0, "")
    for seq, ts, chat in sorted((line.seq, line.ts, chat) for chat, found in logs.items() for line in found.lines if line.seq):
        # A clock that went back must not move a numbered line before one with a smaller number.
        top = max(top, (ts, chat))
        chain[seq] = top
    keyed: list[tuple[_Key, float, str, int, Placed]] = []
    for chat, found in logs.items():
        keyed.extend(_keyed(chat, found, chain))
    keyed.sort(key=lambda item: item[:4])
    return Merged([item[4] for item in keyed], top, keyed[-1][0] if keyed else (0, ""))


def _keyed(chat: ChatId, found: LogContents, chain: Mapping[int, _Key]) -> list[tuple[_Key, float, str, int, Placed]]:
    count = len(found.lines)
    keys: list[_Key] = [(0, "")] * count
    ranks: list[float] = [math.inf] * count
    limit: _Key | None = None
    rank = math.inf
    latest = 0
    times: list[int] = []
    for line in found.lines:
        latest = max(latest, line.ts)
        times.append(latest)
    for index in range(count - 1, -1, -1):
        line = found.lines[index]
        if line.seq:
            keys[index] = limit = chain[line.seq] if limit is None else min(limit, chain[line.seq])
            rank = line.seq
            ranks[index] = rank
        else:
            own = (times[index], str(chat))
            keys[index] = own if limit is None else min(own, limit)
            # Before the next numbered line of its log also where the times are equal.
            ranks[index] = rank - 0.5
    low: _Key = (0, "")
    result: list[tuple[_Key, float, str, int, Placed]] = []
    for index, line in enumerate(found.lines):
        low = max(low, keys[index])
        result.append((low, ranks[index], chat, index, Placed(chat, found.numbers[index], line)))
    return result
