"""The menus of the timeline: of a file, of a point, of what a turn did not capture. Each is made from a row. UI thread only."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu, QWidget

from vibekit_desktop.core.types.checkpoints import BeforeTurn, Coverage, FileState, PinnedPoint, Point
from vibekit_desktop.core.types.ids import WorkspacePath
from vibekit_desktop.ui.models.timeline_rows import Button, RowKind, TimelineRow
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import Theme
from vibekit_desktop.ui.views import row_keys
from vibekit_desktop.ui.views.row_keys import add_action, keys_of
from vibekit_desktop.ui.wording import doubt_text, point_words, shown_path, size_text, skip_text

_MOST = 40
"""So many files stand in the list behind a coverage chip; more are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chooser:
    """What the entries of a menu do."""

    act: Callable[[Button], None]
    is_off: Callable[[Button], bool]
    review: Callable[[bool], None]
    restore: Callable[[Point], None]
    why_not_restore: str
    pin: Callable[[Point], None]
    unpin: Callable[[Point], None]
    copy: Callable[[WorkspacePath], None]
    editor: Callable[[WorkspacePath, FileState], None]
    writers: Callable[[WorkspacePath], None]


def file_menu(parent: QWidget, theme: Theme, row: TimelineRow, chooser: Chooser) -> QMenu:
    """What can be done with one file of a turn."""
    menu = QMenu(parent)
    path, change = row.path, row.change
    for button, icon, text, keys in (
        (Button.DIFF, "diff", tr("Show diff"), tr("Enter")),
        (Button.UNDO, "undo", tr("Undo in this file"), keys_of(row_keys.UNDO)),
        (Button.REDO, "redo", tr("Redo in this file"), ""),
    ):
        if button in row.buttons:
            action = add_action(menu, theme, icon, text, keys)
            action.setEnabled(not chooser.is_off(button))
            action.triggered.connect(lambda _=False, which=button: chooser.act(which))
    point = row.point
    if point is not None:
        _restore_entry(menu, theme, point, chooser)
    menu.addSeparator()
    if path is not None and change is not None:
        opening = add_action(menu, theme, "external", tr("Open in editor"), keys_of(row_keys.EDITOR))
        opening.triggered.connect(lambda: chooser.editor(path, change.after))
        copying = add_action(menu, theme, "copy", tr("Copy path"), keys_of(row_keys.COPY_PATH))
        copying.triggered.connect(lambda: chooser.copy(path))
        add_action(menu, theme, "chat", tr("Every chat that changed it")).triggered.connect(lambda: chooser.writers(path))
    return menu


def point_menu(parent: QWidget, theme: Theme, row: TimelineRow, chooser: Chooser, *, pins: Sequence[PinnedPoint]) -> QMenu:
    """What can be done with a turn, a restore or a pinned point."""
    menu = QMenu(parent)
    point = row.point
    if row.kind is RowKind.TURN:
        review = add_action(menu, theme, "review", tr("Review turn {turn}", turn=row.number), tr("Enter"))
        review.triggered.connect(lambda: chooser.review(False))
    since = add_action(menu, theme, "diff", tr("Review everything since then"))
    since.triggered.connect(lambda: chooser.review(True))
    if point is not None:
        menu.addSeparator()
        _restore_entry(menu, theme, point, chooser)
        if any(pin.point == point for pin in pins):
            here = row.kind is RowKind.PIN
            naming = add_action(menu, theme, "edit", tr("Rename this point…"), tr("F2") if here else "")
            naming.triggered.connect(lambda: chooser.pin(point))
            removing = add_action(menu, theme, "close", tr("Unpin this point"), tr("Delete") if here else "")
            removing.triggered.connect(lambda: chooser.unpin(point))
        else:
            add_action(menu, theme, "pin", tr("Pin this point…")).triggered.connect(lambda: chooser.pin(point))
    return menu


def _restore_entry(menu: QMenu, theme: Theme, point: Point, chooser: Chooser) -> None:
    turn = isinstance(point, BeforeTurn)
    text = tr("Restore to before this turn…") if turn else tr("Restore to {point}…", point=point_words(point))
    action = add_action(menu, theme, "restore", text, keys_of(row_keys.RESTORE))
    action.setEnabled(not chooser.why_not_restore)
    action.triggered.connect(lambda: chooser.restore(point))


def coverage_menu(parent: QWidget, name: str, coverage: Coverage) -> QMenu:
    """What a turn may have changed that is not in the store: the path and the reason of each file. A click copies the path."""
    menu = QMenu(parent)
    menu.setAccessibleName(name)
    menu.setToolTipsVisible(True)
    for reason in dict.fromkeys(skipped.reason for skipped in coverage.skipped if not skipped.path):
        menu.addAction(doubt_text(reason).replace("&", "&&"))
    missing = [skipped for skipped in coverage.skipped if skipped.path]
    for skipped in missing[:_MOST]:
        size = f", {size_text(skipped.size)}" if skipped.size else ""
        text = f"{shown_path(skipped.path)}: {skip_text(skipped.reason)}{size}"
        action = menu.addAction(text.replace("&", "&&"))
        action.setToolTip(tr("Copy path"))
        action.triggered.connect(lambda _=False, path=skipped.path: QGuiApplication.clipboard().setText(shown_path(path)))
    if len(missing) > _MOST:
        menu.addAction(tr("{n} more", n=len(missing) - _MOST)).setEnabled(False)
    return menu
