"""The keys of the review, bound to its page. Text fields keep their own keys. UI thread only.

What a window of its own has beside them (undo and redo of the last restore, closing) is bound by that window.
"""

from collections.abc import Callable
from functools import partial
from typing import Protocol

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit, QTextEdit, QWidget

from vibekit_desktop.ui.actions import on_mac, review_table, sequences


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


_ALSO_IN_FIELDS = ("find", "find-next", "find-previous", "back")


def bind_keys(page: QWidget, walker: Walker, *, mac: bool | None = None) -> None:
    """Give the page the actions of `review_table` with their keys."""
    does: dict[str, Callable[[], None]] = {
        "next-hunk": walker.next_hunk,
        "previous-hunk": walker.previous_hunk,
        "next-file": lambda: walker.step_file(1),
        "previous-file": lambda: walker.step_file(-1),
        "reviewed": walker.toggle_mark,
        "whitespace": walker.toggle_whitespace,
        "layout": walker.toggle_layout,
        "comment": walker.comment_here,
        "comments": walker.toggle_comments,
        "undo-here": walker.undo_here,
        "undo-file": walker.undo_file,
        "editor": walker.open_in_editor,
        "copy-path": walker.copy_path,
        "find": walker.open_find,
        "find-next": lambda: walker.step_find(1),
        "find-previous": lambda: walker.step_find(-1),
        "back": walker.leave,
    }
    for spec in review_table():
        action = QAction(spec.text, page)
        action.setObjectName(spec.id)
        action.setShortcuts(sequences(spec, mac=on_mac() if mac is None else mac))
        action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        action.triggered.connect(partial(_act, does[spec.id], spec.id in _ALSO_IN_FIELDS))
        page.addAction(action)


def _act(does: Callable[[], None], in_fields: bool, _checked: bool = False) -> None:
    if in_fields or not writing():
        does()
