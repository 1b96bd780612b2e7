"""The menus of the review: points of a side, what whitespace counts, how the diff is shown and what else can be done with it.

Each makes a menu from values and calls back with what was chosen. UI thread only.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QWidget

from vibekit_desktop.core.types.checkpoints import AfterTurn, BeforeTurn, Point
from vibekit_desktop.core.types.diffs import Ignore
from vibekit_desktop.ui.models.review_options import CONTEXTS, TAB_WIDTHS, ReviewOptions, ignoring
from vibekit_desktop.ui.models.sides import PointGroup
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.wording import point_label

Choose = Callable[[ReviewOptions], None]
EXPORTS = ("patch", "html", "md")
"""What a review can be exported as, in the order of the menu."""


def points_menu(
    anchor: QWidget, entries: Sequence[Point | PointGroup], value: Point, turn: int, picked: Callable[[Point], None]
) -> QMenu:
    """The points that a side can be, under a button; the present one, of turn ``turn``, is ticked."""
    menu = _menu(anchor)
    _fill_points(menu, entries, value, turn, picked)
    _pop_up(menu, anchor)
    return menu


def _fill_points(
    menu: QMenu, entries: Sequence[Point | PointGroup], value: Point, turn: int, picked: Callable[[Point], None]
) -> None:
    for entry in entries:
        if isinstance(entry, PointGroup):
            _group(menu.addMenu(entry.words), entry, value, turn, picked)
        else:
            _point(menu, entry, value, picked)


def _group(inner: QMenu, group: PointGroup, value: Point, turn: int, picked: Callable[[Point], None]) -> None:
    """A menu that is filled when it is opened."""

    def fill() -> None:
        if inner.isEmpty():
            _fill_points(inner, group.parts(), value, turn, picked)

    inner.aboutToShow.connect(fill)
    if group.first <= turn <= group.last:
        inner.menuAction().setCheckable(True)
        inner.menuAction().setChecked(True)


def _point(menu: QMenu, point: Point, value: Point, picked: Callable[[Point], None]) -> None:
    _tick(menu, point_label(point), point == value, lambda: picked(point))


def whitespace_menu(anchor: QWidget, options: ReviewOptions, choose: Choose) -> QMenu:
    """Which whitespace is no change."""
    menu = _menu(anchor)
    menu.setAccessibleName(tr("Ignore whitespace"))
    _fill_whitespace(menu, options, choose)
    _pop_up(menu, anchor)
    return menu


def _fill_whitespace(menu: QMenu, options: ReviewOptions, choose: Choose) -> None:
    group = QActionGroup(menu)
    for ignore, words in (
        (Ignore.NOTHING, tr("Show all whitespace changes")),
        (Ignore.ALL, tr("Ignore all whitespace")),
        (Ignore.AMOUNT, tr("Ignore changes in its amount")),
        (Ignore.END_OF_LINE, tr("Ignore it at the end of lines")),
    ):
        ticked = options.compare.ignore is ignore
        group.addAction(_tick(menu, words, ticked, partial(choose, ignoring(options, ignore))))
    menu.addSeparator()
    blank = options.compare.blank_lines
    without = replace(options, compare=replace(options.compare, blank_lines=not blank))
    _tick(menu, tr("Ignore blank lines"), blank, lambda: choose(without))


class More(NamedTuple):
    """What the menu at the right end of the bar does. ``own_window`` is None where the review has one."""

    choose: Choose
    export: Callable[[str], None]
    own_window: Callable[[], None] | None
    undo_all: Callable[[], None]
    comments: Callable[[], None]


def more_menu(
    anchor: QWidget,
    options: ReviewOptions,
    does: More,
    *,
    undo_words: str,
    files: int,
    comments_shown: bool,
    why_no_undo: str,
) -> QMenu:
    """How the diff is shown, and what else can be done with the review. ``why_no_undo`` switches the undo off."""
    menu = _menu(anchor)
    menu.setToolTipsVisible(True)
    menu.setAccessibleName(tr("More"))
    choose = does.choose
    _tick(menu, tr("Wrap long lines"), options.wrap, lambda: choose(replace(options, wrap=not options.wrap)))
    _tick(
        menu,
        tr("Show invisible characters"),
        options.invisibles,
        lambda: choose(replace(options, invisibles=not options.invisibles)),
    )
    _tick(menu, tr("Stronger marks"), options.stronger, lambda: choose(replace(options, stronger=not options.stronger)))
    tabs = menu.addMenu(tr("Tab width"))
    for width in TAB_WIDTHS:
        ticked = options.tab_width == width
        _tick(tabs, f"{width}", ticked, partial(choose, replace(options, tab_width=width)))
    _fill_whitespace(menu.addMenu(tr("Whitespace")), options, choose)
    context = menu.addMenu(tr("Unchanged lines around a change"))
    for lines in CONTEXTS:
        ticked = options.context == lines
        words = tr("All") if lines is None else f"{lines}"
        _tick(context, words, ticked, partial(choose, replace(options, context=lines)))
    menu.addSeparator()
    _tick(menu, tr("Comments"), comments_shown, does.comments)
    if does.own_window is not None:
        menu.addAction(tr("Open in own window")).triggered.connect(does.own_window)
    export = menu.addMenu(tr("Export this review"))
    names = {"patch": tr("Patch…"), "html": tr("Web page (HTML)…"), "md": tr("Summary (Markdown)…")}
    for kind in EXPORTS:
        export.addAction(names[kind]).triggered.connect(lambda _=False, which=kind: does.export(which))
    export.setEnabled(files > 0)
    menu.addSeparator()
    undo = menu.addAction(undo_words)
    undo.triggered.connect(does.undo_all)
    undo.setEnabled(files > 0 and not why_no_undo)
    undo.setToolTip(why_no_undo)
    _pop_up(menu, anchor)
    return menu


def undo_all_words(old: Point, new: Point) -> str:
    """What taking everything between two points back is called."""
    if isinstance(old, BeforeTurn) and new == AfterTurn(old.turn):
        return tr("Undo turn {turn}…", turn=old.turn)
    return tr("Undo all of these changes…")


def _menu(anchor: QWidget) -> QMenu:
    menu = QMenu(anchor)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    return menu


def _tick(menu: QMenu, words: str, ticked: bool, does: Callable[[], None]) -> QAction:
    action = menu.addAction(words.replace("&", "&&"))
    action.setCheckable(True)
    action.setChecked(ticked)
    action.triggered.connect(lambda _=False: does())
    return action


def _pop_up(menu: QMenu, anchor: QWidget) -> None:
    menu.popup(anchor.mapToGlobal(QPoint(0, anchor.height() + 4)))
