"""A text for a tool tip, shown as it is: one that looks like markup would be read as rich text, which can load files.

Pure; any thread.
"""

from html import escape

from vibekit_desktop.ui.visible import visible

_WIDE = 80
"""A tool tip of plain text is one line, however long; rich text is wrapped."""


def plain_tip(text: str) -> str:
    """The text for `setToolTip` whose lines are shown letter by letter, with a mark for each that cannot be seen."""
    text = visible(text)
    if len(text) <= _WIDE and "<" not in text and "&" not in text:
        return text
    return f"<qt>{escape(text).replace(chr(10), '<br>')}</qt>"
