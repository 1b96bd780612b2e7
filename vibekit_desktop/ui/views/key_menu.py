"""A menu that shows the keys of its entries as every other place does: "Ctrl ⇧ R". UI thread only."""

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QStyleOptionMenuItem

from vibekit_desktop.ui.actions import keys_text


class KeyMenu(QMenu):
    """A `QMenu`. The actions keep their keys, so that assistive technology is told them; only what is painted differs."""

    # Qt's names below.

    def initStyleOption(self, option: QStyleOptionMenuItem, action: QAction) -> None:
        super().initStyleOption(option, action)
        words, tab, _ = option.text.partition("\t")
        if tab and not action.shortcut().isEmpty():
            option.text = f"{words}\t{keys_text(action.shortcut())}"
