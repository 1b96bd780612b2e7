"""How much of a long text is laid out: lines and texts with a bound, the last lines of a command's output.

What is copied is always the original, never what this module makes. Pure; any thread.
"""

import re

from vibekit_desktop.ui.text import tr

MAX_LINE = 10_000
"""A longer line is cut: laying it out would stall the window (77 s at a million characters were measured)."""

MAX_RICH = 64_000
"""A longer text is shown plain."""

_TAB = 8
_SGR = re.compile(r"\x1b\[[0-9;:]*m")


def cut_line(line: str) -> str:
    """At most `MAX_LINE` characters and how many are not shown."""
    if len(line) <= MAX_LINE:
        return line
    return tr("{start} \u2026 {n} more characters", start=line[:MAX_LINE], n=len(line) - MAX_LINE)


def cut_lines(text: str) -> str:
    """Every line cut to `MAX_LINE`."""
    if len(text) <= MAX_LINE:
        return text
    return "\n".join(cut_line(line) for line in text.split("\n"))


def terminal_lines(output: str, last: int) -> tuple[tuple[str, ...], int]:
    """The last lines of a command's output, and how many lines it has in all.

    Colours are dropped, a line that was overwritten shows its last state; everything else is as it was written.
    """
    lines = output.rstrip("\n").split("\n") if output.strip("\n") else []
    shown = (_SGR.sub("", line.rstrip("\r")).rsplit("\r", 1)[-1] for line in (lines[-last:] if last else lines))
    return tuple(line.expandtabs(_TAB) for line in shown), len(lines)
