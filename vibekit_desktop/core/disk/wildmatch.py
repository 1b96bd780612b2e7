"""The patterns of git's ignore and attribute files, matched one name at a time.

A pattern is split into what must match the folders above and what must match the name, so that all patterns that reach a folder
become patterns of names there. Works on bytes held as Latin-1 text, as git works on bytes. No pattern can take more than
time proportional to its length and the name's. Pure; any thread.
"""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass

_CLASSES: dict[str, Callable[[str], bool]] = {
    "alnum": str.isalnum,
    "alpha": str.isalpha,
    "blank": lambda sign: sign in " \t",
    "cntrl": lambda sign: ord(sign) < 32 or ord(sign) == 127,
    "digit": str.isdigit,
    "graph": lambda sign: 32 < ord(sign) < 127,
    "lower": str.islower,
    "print": lambda sign: 32 <= ord(sign) < 127,
    "punct": lambda sign: 32 < ord(sign) < 127 and not sign.isalnum(),
    "space": lambda sign: sign in " \t\n\v\f\r",
    "upper": str.isupper,
    "xdigit": lambda sign: sign in "0123456789abcdefABCDEF",
}
_MAX_PATTERN = 4096
"""A longer pattern is none: no name is that long, and the file's author may be hostile."""


@dataclass(frozen=True, slots=True)
class Name:
    """What one name must look like: exactly ``text``, or ending with ``text`` (``suffix``), or ``regex``."""

    text: str = ""
    suffix: bool = False
    regex: re.Pattern[str] | None = None

    def matches(self, name: str) -> bool:
        if self.regex is not None:
            return self.regex.fullmatch(name) is not None
        return name.endswith(self.text) if self.suffix else name == self.text


ANY_NAME = Name(suffix=True)


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """One line. ``folders``: what the folders from the file's own down must be called, None among them for ``**`` (as many as
    you like, none included); None if the rule reaches every folder below."""

    name: Name
    folders: tuple[Name | None, ...] | None
    negated: bool
    only_folders: bool


def byte_text(text: str | bytes, *, fold: bool = False) -> str:
    """A name as the text that rules work on: one sign a byte. ``fold``: ASCII letters made small, as git does."""
    if isinstance(text, str):
        if text.isascii():
            return text.lower() if fold else text
        text = os.fsencode(text)
    return (text.lower() if fold else text).decode("latin-1")


def lines_of(data: bytes) -> list[bytes]:
    """The lines of a file of rules, as git cuts them."""
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    return [line.removesuffix(b"\r") for line in lines]


def ignore_rule(line: bytes, *, fold: bool = False) -> Rule | None:
    """The rule in a line of an ignore file; None for a comment, a blank line, and what can match nothing."""
    if line.startswith(b"#"):
        return None
    text = byte_text(_without_blanks(line), fold=fold)
    negated = text.startswith("!")
    return rule(text[1:] if negated else text, negated=negated)


def rule(pattern: str, *, negated: bool = False) -> Rule | None:
    """The rule of a pattern; None if it can match nothing."""
    only_folders = pattern.endswith("/")
    pattern = pattern.removesuffix("/")
    if not pattern or len(pattern) > _MAX_PATTERN:
        return None
    anchored = "/" in pattern
    parts = _parts(pattern.removeprefix("/"))
    if not parts:
        return None
    if not anchored:
        return Rule(parts[0] or ANY_NAME, None, negated, only_folders)
    folders = tuple(parts if parts[-1] is None else parts[:-1])
    everywhere = bool(folders) and all(folder is None for folder in folders)
    return Rule(parts[-1] or ANY_NAME, None if everywhere else folders, negated, only_folders)


def _without_blanks(line: bytes) -> bytes:
    """Without the blanks at the end, but for one behind a backslash."""
    end = 0
    at = 0
    while at < len(line):
        if line[at : at + 1] == b"\\":
            at += 1
            end = at + 1
        elif line[at : at + 1] != b" ":
            end = at + 1
        at += 1
    return line[:end]


def _parts(pattern: str) -> list[Name | None]:
    """The pattern cut at its slashes; nothing if it can match nothing."""
    parts: list[Name | None] = []
    at = 0
    while at <= len(pattern):
        tokens: list[str] = []
        start = at
        while at < len(pattern) and pattern[at] != "/":
            if pattern.startswith("\\/", at):
                at += 1
                break
            token, at = _token(pattern, at)
            if not token:
                return []
            tokens.append(token)
        if pattern[start:at] and not pattern[start:at].strip("*") and len(pattern[start:at]) > 1:
            parts.append(None)
        elif not tokens:
            return []
        else:
            parts.append(_name(tokens))
        at += 1
    return parts


def _token(pattern: str, at: int) -> tuple[str, int]:
    """The regular expression of one sign of the pattern, and where the next begins. Empty: nothing can match."""
    sign = pattern[at]
    if sign == "*":
        return "*", at + 1
    if sign == "?":
        return "[^/]", at + 1
    if sign == "[":
        return _class(pattern, at)
    if sign == "\\":
        at += 1
        if at == len(pattern):
            return "", at
        sign = pattern[at]
    return re.escape(sign), at + 1


def _class(pattern: str, at: int) -> tuple[str, int]:
    """A set of signs, read as git's matcher reads it."""
    end = len(pattern)
    at += 1
    negated = pattern[at : at + 1] in ("!", "^")
    at += negated
    found: set[int] = set()
    before = -1
    first = True
    while True:
        if at >= end:
            return "", end
        sign = pattern[at]
        if sign == "]" and not first:
            break
        first = False
        if sign == "\\":
            at += 1
            if at >= end:
                return "", end
            before = ord(pattern[at])
            found.add(before)
        elif sign == "-" and before >= 0 and at + 1 < end and pattern[at + 1] != "]":
            at += 1
            if pattern[at] == "\\":
                at += 1
                if at >= end:
                    return "", end
            found.update(range(before, ord(pattern[at]) + 1))
            before = -1
        elif sign == "[" and pattern[at + 1 : at + 2] == ":":
            close = pattern.find("]", at + 2)
            if close < 0:
                return "", end
            if close > at + 2 and pattern[close - 1] == ":":
                member = _CLASSES.get(pattern[at + 2 : close - 1])
                if member is None:
                    return "", end
                found.update(code for code in range(128) if member(chr(code)))
                at = close
                before = -1
            else:
                before = ord(sign)
                found.add(before)
        else:
            before = ord(sign)
            found.add(before)
        at += 1
    found = (set(range(256)) - found if negated else found) - {ord("/")}
    if not found:
        return "", end
    return "[" + "".join(f"\\x{code:02x}" for code in sorted(found)) + "]", at + 1


def _name(tokens: list[str]) -> Name:
    """One name's pattern. Between two stars the first place that fits is as good as a later one, so it is never given back."""
    plain = [re.sub(r"\\(.)", r"\1", token) for token in tokens]
    if all(_is_plain(token) for token in tokens):
        return Name("".join(plain))
    if tokens[0] == "*" and all(_is_plain(token) for token in tokens[1:]):
        return Name("".join(plain[1:]), suffix=True)
    pieces: list[list[str]] = [[]]
    for token in tokens:
        if token != "*":
            pieces[-1].append(token)
        elif pieces[-1] or len(pieces) == 1:
            pieces.append([])
    text = "".join(pieces[0])
    for piece in pieces[1:-1]:
        text += f"(?>[^/]*?{''.join(piece)})"
    if len(pieces) > 1:
        text += f"[^/]*{''.join(pieces[-1])}"
    return Name(regex=re.compile(text, re.DOTALL))


def _is_plain(token: str) -> bool:
    return token != "*" and not token.startswith("[")
