"""The keys that act on the current row of a list, from the one table of actions: what they are, and how menus show them.

UI thread only.
"""

from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QMenu

from vibekit_desktop.ui.actions import ActionSpec, keys_text, on_mac, review_table, sequences, table
from vibekit_desktop.ui.theme import icons
from vibekit_desktop.ui.theme.palette import Theme

UNDO, RESTORE, EDITOR, COPY_PATH = "undo-here", "restore", "editor", "copy-path"
_ROW_KEYS = (UNDO, RESTORE, EDITOR, COPY_PATH)


def _specs() -> dict[str, ActionSpec]:
    return {spec.id: spec for spec in (*table(), *review_table())}


def row_action(event: QKeyEvent) -> str:
    """The id of the row's action that a key press means, or empty."""
    pressed = QKeySequence(event.keyCombination())
    specs = _specs()
    return next((name for name in _ROW_KEYS if pressed in sequences(specs[name], mac=on_mac())), "")


def keys_of(name: str) -> str:
    """The keys of an action as menus show them: "Ctrl ⇧ E"."""
    keys = sequences(_specs()[name], mac=on_mac())
    return keys_text(keys[0]) if keys else ""


def add_action(menu: QMenu, theme: Theme, icon: str, text: str, keys: str = "") -> QAction:
    """An entry of a row's menu. The keys are only shown: they work while the row is current, not while the menu is open."""
    words = text.replace("&", "&&")
    line = f"{words}\t{keys}" if keys else words
    return menu.addAction(icons.icon(theme, icon), line) if icon else menu.addAction(line)
