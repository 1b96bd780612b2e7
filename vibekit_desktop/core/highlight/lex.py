"""Source text to packed style runs, with Pygments; runs in the worker.

The lexer is chosen by the file's name, or by a first line that names an interpreter. Nothing is raised for ordinary data: no
lexer, or a text over the limits, is None and means plain text. Any thread; slow (30,000 lines a second), so that it can be
done in slices.
"""

import math
import re
import time
from array import array
from collections.abc import Generator, Sequence

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
from pygments.lexers.special import TextLexer
from pygments.token import Comment, Keyword, Literal, Name, Number, Operator, Punctuation, String, Token, _TokenType
from pygments.util import ClassNotFound

from vibekit_desktop.core.types.diffs import STYLE_NAMES, StyleRuns

LARGEST_TEXT = 2 << 20
"""Characters; more is shown plain."""
LONGEST_LINE = 20_000
_STEP = 500
"""Tokens between two looks at the clock."""

_INTERPRETER = re.compile(r"#!\s*(?:\S*/env\s+(?:(?:-\S+|\w+=\S*)\s+)*)?\S*?([A-Za-z]+)[\d.]*(?:\s|$)")
_ALIASES = {"node": "javascript", "deno": "typescript", "bun": "typescript", "sh": "bash", "dash": "bash", "ash": "bash"}

_PLAIN = STYLE_NAMES.index("plain")
# The nearest parent counts: Name.Function.Magic is a function, Name.Attribute is plain, as Name is.
_STYLES: dict[_TokenType, int] = {
    Token: _PLAIN,
    Keyword: STYLE_NAMES.index("keyword"),
    Keyword.Type: STYLE_NAMES.index("type"),
    Keyword.Constant: STYLE_NAMES.index("number"),
    Operator.Word: STYLE_NAMES.index("keyword"),
    String: STYLE_NAMES.index("string"),
    Literal: STYLE_NAMES.index("string"),
    Number: STYLE_NAMES.index("number"),
    Comment: STYLE_NAMES.index("comment"),
    Comment.Preproc: STYLE_NAMES.index("keyword"),
    Comment.PreprocFile: STYLE_NAMES.index("string"),
    Name.Function: STYLE_NAMES.index("function"),
    Name.Decorator: STYLE_NAMES.index("function"),
    Name.Class: STYLE_NAMES.index("type"),
    Name.Builtin: STYLE_NAMES.index("type"),
    Name.Builtin.Pseudo: STYLE_NAMES.index("keyword"),
    Name.Exception: STYLE_NAMES.index("type"),
    Name.Tag: STYLE_NAMES.index("keyword"),
    Name.Attribute: STYLE_NAMES.index("function"),
    Name.Constant: STYLE_NAMES.index("number"),
    Operator: STYLE_NAMES.index("punctuation"),
    Punctuation: STYLE_NAMES.index("punctuation"),
    Token.Generic.Heading: STYLE_NAMES.index("keyword"),
    Token.Generic.Subheading: STYLE_NAMES.index("keyword"),
    Token.Generic.Inserted: STYLE_NAMES.index("string"),
    Token.Generic.Deleted: STYLE_NAMES.index("comment"),
}


class Lexing:
    """A text being coloured. ``done`` once it is; ``runs`` is None for a text that stays plain."""

    def __init__(self, path: str, text: str) -> None:
        self.runs: StyleRuns | None = None
        self.done = False
        lines = text.split("\n")
        lexer = _lexer(path, lines[0])
        if lexer is None or not text or len(text) > LARGEST_TEXT or max(map(len, lines)) > LONGEST_LINE:
            self.done = True
            return
        self._steps = _runs(lexer, text, lines)

    def go_on(self, until: float) -> None:
        """Work until it is done or `time.monotonic` is there."""
        while not self.done and time.monotonic() < until:
            try:
                next(self._steps)
            except StopIteration as end:
                self.runs, self.done = end.value, True


def lex(path: str, lines: Sequence[str]) -> StyleRuns | None:
    """Colours for the lines of the file called ``path``; every line that is not empty has a run from its column 0."""
    lexing = Lexing(path, "\n".join(lines))
    lexing.go_on(math.inf)
    return lexing.runs


def _lexer(path: str, first_line: str) -> Lexer | None:
    name = path.rpartition("/")[2]
    lexer: Lexer | None
    try:
        lexer = get_lexer_for_filename(name, stripnl=False, ensurenl=False)
    except ClassNotFound:
        lexer = _named_by(first_line) if "." not in name else None
    return None if isinstance(lexer, TextLexer) else lexer


def _named_by(first_line: str) -> Lexer | None:
    """By the interpreter in a first line like ``#!/usr/bin/env python3``."""
    found = _INTERPRETER.match(first_line[:200])
    if found is None:
        return None
    try:
        return get_lexer_by_name(_ALIASES.get(found[1], found[1]), stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def _runs(lexer: Lexer, text: str, lines: Sequence[str]) -> Generator[None, None, StyleRuns]:
    offsets, starts = array("I", (0,)), array("I")
    kinds = bytearray()
    line, line_start = 0, 0
    line_end = len(lines[0])
    position = 0  # everything before it has a run

    def put(end: int, kind: int) -> None:
        """Colour from ``position`` to ``end``, over line ends."""
        nonlocal line, line_start, line_end, position
        while True:
            stop = min(end, line_end)
            if stop > position:
                at_start = len(starts) == offsets[-1]
                if at_start or kinds[-1] != kind:
                    starts.append(0 if at_start else position - line_start)
                    kinds.append(kind)
                position = stop
            if end <= line_end:
                return
            # Past the newline, into the next line.
            offsets.append(len(starts))
            line += 1
            line_start = line_end + 1
            line_end = line_start + len(lines[line])
            position = line_start

    for count, (index, token, value) in enumerate(lexer.get_tokens_unprocessed(text)):
        if not count % _STEP:
            yield
        if index > position:  # what a lexer leaves out is plain
            put(index, _PLAIN)
        end = index + len(value)
        if end > position:
            put(end, _style(token))
    if position < len(text):
        put(len(text), _PLAIN)
    offsets.append(len(starts))
    return StyleRuns(offsets=offsets, starts=starts, kinds=bytes(kinds))


def _style(token: _TokenType) -> int:
    """The style of a token type, remembered for the next time."""
    found = _STYLES.get(token)
    if found is None:
        found = _STYLES[token] = _PLAIN if token.parent is None else _style(token.parent)
    return found
