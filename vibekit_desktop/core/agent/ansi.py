"""What a command wrote to a terminal, as the plain text that would be read there.

Lines that are written over, as progress bars do, are kept once. Escape sequences do nothing but move and erase: no colour,
title, link or clipboard comes through, and what is drawn on another screen is not shown. Other control characters become
visible marks. Bounded: the oldest text goes first. Pure; one thread at a time.
"""

import re
from collections import deque
from collections.abc import Callable, Sequence
from enum import Enum, auto

ROWS = 24
COLUMNS = 120
_LINE = 1 << 16
"""A longer line is kept in pieces, the last of which can still be written over."""
_SKIPPED = 1 << 20
"""A title or picture that does not end by then was none."""
_PARAMETERS = 64
_PLAIN = re.compile(r"[^\x00-\x1f\x7f-\x9f]+")
_SIMPLE = re.compile(r"[^\x00-\x08\x0b-\x1f\x7f-\x9f]*")
_COLOUR = re.compile(r"\x1b\[[0-9;:]{0,64}m")
_WHOLE = re.compile(r"\x1b\[([ -?]{0,64})([@-~])")
_END_OF_TITLE = re.compile(r"[\x07\n\x18\x1a\x1b\x9c]")
_END_OF_STRING = re.compile(r"[\x18\x1a\x1b\x9c]")
_OTHER_SCREEN = frozenset({"47", "1047", "1049"})


class _In(Enum):
    TEXT = auto()
    ESCAPE = auto()
    INTERMEDIATE = auto()
    SEQUENCE = auto()
    TITLE = auto()
    STRING = auto()


class Screen:
    """The text so far. Invariant: ``_rows`` are the last lines, which can still change; ``_done`` is before them."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit = limit_bytes
        self._done: deque[tuple[str, int]] = deque()
        self._done_bytes = 0
        self._rows = [""]
        self._row = 0
        self._column = 0
        self._saved = (0, 0)
        self._in = _In.TEXT
        self._parameters = ""
        self._skipped = 0
        self._elsewhere = False
        self.dropped = False
        """Whether the beginning is gone."""

    def text(self) -> str:
        """All that is kept, in order."""
        return "".join(piece for piece, _ in self._done) + "\n".join(self._rows)

    def feed(self, text: str) -> None:
        """More was written. A sequence may come in pieces."""
        if self._is_simple():
            simple = _COLOUR.sub("", text).replace("\r\n", "\n")
            if _SIMPLE.fullmatch(simple):
                self._append(simple.split("\n"))
                return
        at = 0
        while at < len(text):
            at = self._step(text, at)
        self._trim()

    # -- reading the stream --------------------------------------------------------------------------------------

    def _is_simple(self) -> bool:
        at_end = self._row == len(self._rows) - 1 and self._column == len(self._rows[-1])
        return at_end and self._in is _In.TEXT and not self._elsewhere

    def _step(self, text: str, at: int) -> int:
        """Take one thing from the text; where the next begins."""
        sign = text[at]
        match self._in:
            case _In.TEXT:
                run = _PLAIN.match(text, at)
                if run is not None:
                    self._write(run[0])
                    return run.end()
                whole = _WHOLE.match(text, at)
                if whole is not None:
                    self._act(whole[2], whole[1])
                    return whole.end()
                self._control(sign)
            case _In.ESCAPE:
                self._escape(sign)
            case _In.INTERMEDIATE:
                if not " " <= sign <= "/":
                    self._in = _In.TEXT
            case _In.SEQUENCE:
                return self._sequence(sign, at)
            case _In.TITLE:
                return self._skip(text, at, _END_OF_TITLE)
            case _In.STRING:
                return self._skip(text, at, _END_OF_STRING)
        return at + 1

    def _control(self, sign: str) -> None:
        if (known := _CONTROLS.get(sign)) is not None:
            known(self)
        elif sign < " ":
            self._write(chr(0x2400 + ord(sign)))
        elif sign == "\x7f":
            self._write("␡")

    def _escape(self, sign: str) -> None:
        self._in = _In.TEXT
        if " " <= sign <= "/":
            self._in = _In.INTERMEDIATE
        elif sign == "[":
            self._begin(_In.SEQUENCE)
        elif sign == "]":
            self._begin(_In.TITLE)
        elif sign in "PX^_":
            self._begin(_In.STRING)
        elif sign == "7":
            self._save()
        elif sign == "8":
            self._restore()
        elif sign == "M":
            self._up(1)
        elif sign in "DE":
            self._newline()
        elif sign == "c":
            self._clear()
        elif sign < " ":
            self._control(sign)

    def _begin(self, what: _In) -> None:
        self._in, self._parameters, self._skipped = what, "", 0

    def _sequence(self, sign: str, at: int) -> int:
        if " " <= sign <= "?":
            self._parameters += sign
            if len(self._parameters) > _PARAMETERS:
                self._in = _In.TEXT
            return at + 1
        self._in = _In.TEXT
        if "@" <= sign <= "~":
            self._act(sign, self._parameters)
            return at + 1
        return at  # it was cut off by something else, which is read for itself

    def _skip(self, text: str, at: int, end: re.Pattern[str]) -> int:
        found = end.search(text, at)
        stop = len(text) if found is None else found.start()
        self._skipped += stop - at
        if self._skipped > _SKIPPED:
            self._in = _In.TEXT
            return stop
        if found is None:
            return stop
        self._in = _In.TEXT
        if found[0] == "\x1b":
            self._in = _In.ESCAPE  # its other half is a backslash, which does nothing
        return stop if found[0] == "\n" else stop + 1

    # -- what sequences do ---------------------------------------------------------------------------------------

    def _act(self, final: str, parameters: str) -> None:
        if parameters.startswith("?"):
            if final in "hl" and _OTHER_SCREEN & set(parameters[1:].split(";")):
                self._elsewhere = final == "h"
            return
        if parameters and parameters[0] in "<=>":
            return
        if any(sign < "0" for sign in parameters):
            return  # another sequence with the same last letter
        numbers = [int(part) if part.isascii() and part.isdecimal() else 0 for part in parameters.split(";")]
        act = _ACTS.get(final)
        if act is not None and not self._elsewhere:
            act(self, [min(number, 10_000) for number in numbers])

    def _up(self, count: int) -> None:
        self._row = max(0, self._row - count)

    def _to_row(self, row: int) -> None:
        self._row = max(0, min(row, ROWS - 1))
        while self._row >= len(self._rows):
            self._rows.append("")

    def _to_column(self, column: int) -> None:
        self._column = max(0, min(column, _LINE - 1))

    def _to(self, row: int, column: int) -> None:
        self._to_row(row)
        self._to_column(column)

    def _save(self) -> None:
        self._saved = (self._row, self._column)

    def _restore(self) -> None:
        self._to(*self._saved)

    def _clear(self) -> None:
        self._rows, self._row, self._column = [""], 0, 0

    def _erase_lines(self, how: int) -> None:
        if how == 0:
            self._erase_in_line(0)
            del self._rows[self._row + 1 :]
        elif how == 1:
            self._rows[: self._row] = [""] * self._row
            self._erase_in_line(1)
        elif how == 2:
            self._rows = [""] * (self._row + 1)

    def _erase_in_line(self, how: int) -> None:
        line = self._rows[self._row]
        if how == 0:
            self._rows[self._row] = line[: self._column]
        elif how == 1:
            rest = line[self._column + 1 :]
            self._rows[self._row] = " " * min(len(line), self._column + 1) + rest if rest else ""
        elif how == 2:
            self._rows[self._row] = ""

    def _delete_signs(self, count: int) -> None:
        line = self._rows[self._row]
        self._rows[self._row] = line[: self._column] + line[self._column + count :]

    def _insert_blanks(self, count: int) -> None:
        line = self._rows[self._row]
        if self._column < len(line):
            self._rows[self._row] = line[: self._column] + " " * min(count, COLUMNS) + line[self._column :]

    def _blank_signs(self, count: int) -> None:
        line = self._rows[self._row]
        end = min(self._column + count, len(line))
        if self._column < end:
            self._rows[self._row] = line[: self._column] + " " * (end - self._column) + line[end:]

    def _insert_lines(self, count: int) -> None:
        self._rows[self._row : self._row] = [""] * min(count, ROWS)
        del self._rows[ROWS:]

    def _delete_lines(self, count: int) -> None:
        del self._rows[self._row : self._row + count]
        while self._row >= len(self._rows):
            self._rows.append("")

    # -- writing -------------------------------------------------------------------------------------------------

    def _write(self, run: str) -> None:
        if self._elsewhere:
            return
        line = self._rows[self._row]
        if self._column == len(line):
            line += run
        else:
            line = line[: self._column].ljust(self._column) + run + line[self._column + len(run) :]
        self._column += len(run)
        self._rows[self._row] = line
        if len(line) > _LINE:
            self._keep_front()

    def _keep_front(self) -> None:
        """The front of a very long line is not written over any more; so is everything before it."""
        line = self._rows[self._row]
        front, rest = line[:-1024], line[-1024:]
        self._finish("\n".join([*self._rows[: self._row], front]))
        self._rows = [rest, *self._rows[self._row + 1 :]]
        self._row, self._column = 0, max(0, self._column - len(front))

    def _newline(self) -> None:
        if self._elsewhere:
            return
        self._row += 1
        self._column = 0
        if self._row == len(self._rows):
            self._rows.append("")
        if len(self._rows) > ROWS:
            self._finish(self._rows.pop(0) + "\n")
            self._row -= 1

    def _return(self) -> None:
        self._column = 0

    def _back(self) -> None:
        self._column = max(0, self._column - 1)

    def _tab(self) -> None:
        if self._column == len(self._rows[self._row]):
            self._write("\t")
        else:
            self._column += 8 - self._column % 8

    def _append(self, lines: Sequence[str]) -> None:
        """More lines at the end, without anything that would have to be looked at sign by sign."""
        self._rows[-1] += lines[0]
        self._rows.extend(lines[1:])
        over = len(self._rows) - ROWS
        if over > 0:
            self._finish("\n".join(self._rows[:over]) + "\n")
            del self._rows[:over]
        self._row = len(self._rows) - 1
        self._column = len(self._rows[-1])
        if self._column > _LINE:
            self._keep_front()
        self._trim()

    def _finish(self, piece: str) -> None:
        size = len(piece.encode("utf-8", "surrogatepass"))
        self._done.append((piece, size))
        self._done_bytes += size

    def _trim(self) -> None:
        while self._done and self._done_bytes - self._done[0][1] > self._limit:
            self._done_bytes -= self._done.popleft()[1]
            self.dropped = True


def newest(text: str, limit_bytes: int) -> tuple[str, bool]:
    """The end of a text in at most so many bytes of UTF-8, whole characters only; whether something before it was cut off."""
    if len(text) * 4 <= limit_bytes:
        return text, False
    data = text.encode("utf-8", "replace")
    if len(data) <= limit_bytes:
        return text, False
    return data[len(data) - max(0, limit_bytes) :].decode("utf-8", "ignore"), True


def marked(text: str) -> str:
    """A text of one line: control characters as visible marks."""
    return "".join(chr(0x2400 + ord(sign)) if sign < " " else "␡" if "\x7f" <= sign <= "\x9f" else sign for sign in text)


_CONTROLS: dict[str, Callable[[Screen], None]] = {
    "\n": Screen._newline,
    "\x0b": Screen._newline,
    "\x0c": Screen._newline,
    "\x84": Screen._newline,
    "\x85": Screen._newline,
    "\r": Screen._return,
    "\b": Screen._back,
    "\t": Screen._tab,
    "\x1b": lambda screen: screen._begin(_In.ESCAPE),
    "\x9b": lambda screen: screen._begin(_In.SEQUENCE),
    "\x9d": lambda screen: screen._begin(_In.TITLE),
    **{sign: lambda screen: screen._begin(_In.STRING) for sign in "\x90\x98\x9e\x9f"},
}
_ACTS: dict[str, Callable[[Screen, list[int]], None]] = {
    "A": lambda screen, n: screen._up(n[0] or 1),
    "B": lambda screen, n: screen._to_row(screen._row + (n[0] or 1)),
    "C": lambda screen, n: screen._to_column(screen._column + (n[0] or 1)),
    "D": lambda screen, n: screen._to_column(screen._column - (n[0] or 1)),
    "E": lambda screen, n: screen._to(screen._row + (n[0] or 1), 0),
    "F": lambda screen, n: screen._to(screen._row - (n[0] or 1), 0),
    "G": lambda screen, n: screen._to_column((n[0] or 1) - 1),
    "`": lambda screen, n: screen._to_column((n[0] or 1) - 1),
    "d": lambda screen, n: screen._to_row((n[0] or 1) - 1),
    "H": lambda screen, n: screen._to((n[0] or 1) - 1, ([*n, 1][1] or 1) - 1),
    "f": lambda screen, n: screen._to((n[0] or 1) - 1, ([*n, 1][1] or 1) - 1),
    "J": lambda screen, n: screen._erase_lines(n[0]),
    "K": lambda screen, n: screen._erase_in_line(n[0]),
    "P": lambda screen, n: screen._delete_signs(n[0] or 1),
    "@": lambda screen, n: screen._insert_blanks(n[0] or 1),
    "X": lambda screen, n: screen._blank_signs(n[0] or 1),
    "L": lambda screen, n: screen._insert_lines(n[0] or 1),
    "M": lambda screen, n: screen._delete_lines(n[0] or 1),
    "s": lambda screen, n: screen._save(),
    "u": lambda screen, n: screen._restore(),
}
