"""A menu as every other place: keys are written "Ctrl ⇧ R", and each entry has a letter that chooses it. UI thread only."""

from collections.abc import Iterable
from functools import lru_cache

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QMenu, QStyleOptionMenuItem

from vibekit_desktop.ui.actions import keys_text, on_mac

_ALONE = (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.AltModifier)


@lru_cache(maxsize=64)
def letters(texts: tuple[str, ...]) -> tuple[int, ...]:
    """For each entry of a menu which of its characters chooses it: the first of a word if that is free, else any; -1 where all
    are taken, or where the text says itself which it is."""
    taken: set[str] = set()
    found: list[int] = []
    for text in texts:
        begins = [at for at, sign in enumerate(text) if sign.isalnum() and (at == 0 or text[at - 1] == " ")]
        places = [*begins, *(at for at, sign in enumerate(text) if sign.isalnum())] if "&" not in text else []
        place = next((at for at in places if text[at].casefold() not in taken), -1)
        if place >= 0:
            taken.add(text[place].casefold())
        found.append(place)
    return tuple(found)


class KeyMenu(QMenu):
    """A `QMenu`. The actions keep their texts and keys, so that assistive technology is told them; only what is painted
    differs, and what a letter does. On macOS menus have no such letters."""

    def _by_letter(self) -> Iterable[tuple[QAction, int]]:
        actions = [action for action in self.actions() if action.isVisible() and not action.isSeparator()]
        return zip(actions, letters(tuple(action.text() for action in actions)), strict=True)

    # Qt's names below.

    def initStyleOption(self, option: QStyleOptionMenuItem, action: QAction) -> None:
        super().initStyleOption(option, action)
        words, tab, keys = option.text.partition("\t")
        if not on_mac():
            place = next((at for one, at in self._by_letter() if one is action), -1)
            words = f"{words[:place]}&{words[place:]}" if place >= 0 else words
        if tab and not action.shortcut().isEmpty():
            keys = keys_text(action.shortcut())
        option.text = f"{words}{tab}{keys}"

    def keyPressEvent(self, event: QKeyEvent) -> None:
        typed = event.text().casefold()
        if typed and event.modifiers() in _ALONE and not on_mac():
            for action, place in self._by_letter():
                if place >= 0 and action.text()[place].casefold() == typed and action.isEnabled():
                    self.setActiveAction(action)
                    enter = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_Return, Qt.KeyboardModifier.NoModifier)
                    super().keyPressEvent(enter)
                    event.accept()
                    return
        super().keyPressEvent(event)
