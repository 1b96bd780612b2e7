"""The keys of the review, bound to its page. Text fields keep their own keys. UI thread only.

What a window of its own has beside them (undo and redo of the last restore, closing) is bound by that window.
"""

from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit, QTextEdit, QWidget

from vibekit_desktop.ui.actions import on_mac
from vibekit_desktop.ui.text import tr


class Walker(Protocol):
    """What the keys ask for; the page."""

    def next_hunk(self) -> None: ...
    def previous_hunk(self) -> None: ...
    def step_file(self, step: int) -> None: ...
    def toggle_mark(self) -> None: ...
    def toggle_whitespace(self) -> None: ...
    def toggle_layout(self) -> None: ...
    def undo_here(self) -> None: ...
    def undo_file(self) -> None: ...
    def open_in_editor(self) -> None: ...
    def copy_path(self) -> None: ...
    def open_find(self) -> None: ...
    def step_find(self, step: int) -> None: ...
    def comment_here(self) -> None: ...
    def toggle_comments(self) -> None: ...
    def leave(self) -> None: ...


def writing() -> bool:
    """Whether the focus is in a field that text is typed in."""
    return isinstance(QApplication.focusWidget(), QLineEdit | QTextEdit | QPlainTextEdit)


def bind_keys(page: QWidget, walker: Walker) -> None:
    """Give the page its keys, on macOS those of macOS."""
    mac = on_mac()
    table: tuple[tuple[str, tuple[str, ...], Callable[[], None]], ...] = (
        (tr("Next hunk"), ("F7", "Alt+Down"), walker.next_hunk),
        (tr("Previous hunk"), ("Shift+F7", "Alt+Up"), walker.previous_hunk),
        (tr("Next file"), ("Ctrl+Alt+Down",) if mac else ("Ctrl+PgDown",), lambda: walker.step_file(1)),
        (tr("Previous file"), ("Ctrl+Alt+Up",) if mac else ("Ctrl+PgUp",), lambda: walker.step_file(-1)),
        (tr("Reviewed"), ("V",), walker.toggle_mark),
        (tr("Ignore whitespace"), ("W",), walker.toggle_whitespace),
        (tr("Side by side or unified"), ("S",), walker.toggle_layout),
        (tr("Comment on the lines"), ("C",), walker.comment_here),
        (tr("Comments"), ("Shift+C",), walker.toggle_comments),
        (tr("Undo the file or hunk"), ("Ctrl+Backspace",), walker.undo_here),
        (tr("Undo the file"), ("Ctrl+Shift+Backspace",), walker.undo_file),
        (tr("Open in editor"), ("Ctrl+Shift+E",), walker.open_in_editor),
        (tr("Copy path"), ("Ctrl+Shift+C",), walker.copy_path),
    )
    for text, keys, does in table:
        _give(page, text, keys, does, in_fields=False)
    for text, keys, does in (
        (tr("Find in the diff"), ("Ctrl+F",), walker.open_find),
        (tr("Next place"), ("Ctrl+G",) if mac else ("F3",), lambda: walker.step_find(1)),
        (tr("Previous place"), ("Ctrl+Shift+G",) if mac else ("Shift+F3",), lambda: walker.step_find(-1)),
    ):
        _give(page, text, keys, does, in_fields=True)
    _give(page, tr("Back"), ("Esc",), walker.leave, in_fields=True)


def _give(page: QWidget, text: str, keys: tuple[str, ...], does: Callable[[], None], *, in_fields: bool) -> None:
    action = QAction(text, page)
    action.setShortcuts([QKeySequence(key) for key in keys])
    action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
    action.triggered.connect(lambda _=False: does() if in_fields or not writing() else None)
    page.addAction(action)
