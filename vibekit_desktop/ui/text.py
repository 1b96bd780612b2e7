"""The one translation function: every text that people read passes here, as a whole sentence.

Values go into ``{names}`` after translation, so their text is never translated or interpreted. UI thread only.
"""

from collections.abc import Mapping

from PySide6.QtCore import QCoreApplication

_CONTEXT = "vibekit"


def tr(text: str, /, **values: object) -> str:
    """``text`` in the user's language, its ``{names}`` filled in; numbers with their thousands apart."""
    translated = QCoreApplication.translate(_CONTEXT, text)
    return translated.format(**_shown(values)) if values else translated


def tr_n(one: str, many: str, /, n: int, **values: object) -> str:
    """``one`` or ``many`` by the number ``n``, which is ``{n}`` in the text; other languages choose among their own forms.
    Every number is written with its thousands marked."""
    translated = QCoreApplication.translate(_CONTEXT, many, "", n)
    if translated == many and n == 1:
        translated = one
    return translated.format(n=f"{n:,}", **_shown(values))


def _shown(values: Mapping[str, object]) -> dict[str, object]:
    return {name: f"{value:,}" if isinstance(value, int) else value for name, value in values.items()}
