"""The one table of characters that cannot be seen, or that turn the text around them, and the one mark for each.

␛ stands for a control, ⟨U+202E⟩ for what has no picture, ⟨80⟩ for a byte that is no text. Pure; any thread.
"""

import re

_ALWAYS = (
    "\x00-\x08\x0a-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufeff\uffa0\ufff9-\ufffc\ud800-\udfff\U000e0000-\U000e007f"
)
_JOINERS = "\u200c\u200d"
_VARIANTS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"

# Joiners shape emoji and the scripts from Hebrew on; between other letters they only make two names look alike.
_SHAPED = "\u0590-\u200b\u200e-\U0010ffff"
# Variants choose the look of the sign before them; a row of them, or one after a letter, can only hide something.
_VARIED = "0-9#*\u00a9-\ufdff\ufe10-\U000e00ff\U000e01f0-\U0010ffff"

PERHAPS = re.compile(f"[{_ALWAYS}{_JOINERS}{_VARIANTS}]")
"""Quick: a text without a match has nothing hidden."""

HIDDEN = re.compile(f"[{_ALWAYS}]|(?<![{_SHAPED}])[{_JOINERS}]|[{_JOINERS}](?![{_SHAPED}])|(?<![{_VARIED}])[{_VARIANTS}]")
"""One hidden character; a line end is one too, a tab is not."""


def mark(found: re.Match[str]) -> str:
    """What is shown in the place of a match of `HIDDEN`."""
    code = ord(found[0])
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if 0xDC80 <= code <= 0xDCFF:
        return f"\u27e8{code - 0xDC00:02X}\u27e9"
    return f"\u27e8U+{code:04X}\u27e9"
