"""Make text from elsewhere safe and honest to show: controls visible, colours of a terminal gone, lines and sizes bounded.

What is copied is always the original, never what this module makes. Pure; any thread.
"""

import re

MAX_LINE = 10_000
"""A longer line is cut: laying it out would stall the window (77 s at a million characters were measured)."""

MAX_RICH = 64_000
"""A longer text is shown plain."""

_SGR = re.compile(r"\x1b\[[0-9;:]*m")
_STRANGE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufeff\uffa0\ufff9-\ufffc\ud800-\udfff\U000e0000-\U000e007f]"
)
_JOINERS = re.compile("(?<=[\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?=[\x00-\x7f])")


def _mark(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    return f"\u27e8U+{code:04X}\u27e9"


def visible(text: str) -> str:
    """Controls, direction marks and invisible characters as visible signs; tabs and line feeds stay."""
    if text.isascii() and text.isprintable():
        return text
    text = _STRANGE.sub(_mark, text.replace("\r\n", "\n"))
    return _JOINERS.sub(_mark, text)


def cut_line(line: str) -> str:
    """At most `MAX_LINE` characters and how many are not shown."""
    if len(line) <= MAX_LINE:
        return line
    return f"{line[:MAX_LINE]} \u2026 {len(line) - MAX_LINE:,} more characters"


def cut_lines(text: str) -> str:
    """Every line cut to `MAX_LINE`."""
    if len(text) <= MAX_LINE:
        return text
    return "\n".join(cut_line(line) for line in text.split("\n"))


def one_line(text: str, limit: int = 400) -> str:
    """The text in one line, for rows and titles."""
    return visible(" ".join(text[: limit * 2].split())[:limit])


def terminal_lines(output: str, last: int) -> tuple[tuple[str, ...], int]:
    """The last lines of a command's output as they are shown, and how many lines it has in all.

    Colours are dropped, a line that was overwritten shows its last state, everything else strange is a visible sign.
    """
    lines = output.rstrip("\n").split("\n") if output.strip("\n") else []
    shown = []
    for line in lines[-last:] if last else lines:
        line = cut_line(_SGR.sub("", line.rstrip("\r")).rsplit("\r", 1)[-1])
        shown.append(visible(line).expandtabs(8))
    return tuple(shown), len(lines)
