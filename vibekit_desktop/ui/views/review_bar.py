"""The bar on top of the review: back, title, the two sides, whitespace, layout, comments, more.

Shows what it is told and says what was chosen; the menus are in `review_menus`. UI thread only.
"""

from dataclasses import replace

from PySide6.QtCore import QRectF, QSize, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QWidget

from vibekit_desktop.core.types.checkpoints import Now, Point, Start, Timeline
from vibekit_desktop.core.types.diffs import Ignore
from vibekit_desktop.ui.models.review_options import ReviewOptions, ignoring
from vibekit_desktop.ui.models.sides import last_end, new_points, old_points, turn_of
from vibekit_desktop.ui.text import tr, tr_n
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.theme.style import ink
from vibekit_desktop.ui.views.controls import Button, IconButton, draw_icon
from vibekit_desktop.ui.views.review_head import TitleBlock
from vibekit_desktop.ui.views.review_menus import points_menu, whitespace_menu
from vibekit_desktop.ui.views.segments import PickButton, Segment, Segments
from vibekit_desktop.ui.wording import point_label

NOW = Now()
_TIGHT = 1000
"""Below this width the bar says the layout by icons only, and the title elides."""
_TIGHTER = 860
"""Below this one it says less of whitespace, and comments are only in the menu."""
_LEAST = 480


class ReviewBar(QWidget):
    """Signals: ``back()``; ``old_picked(point)``, ``new_picked(point)``; ``chosen(options)``: whitespace or layout;
    ``comments_toggled()``; ``more_wanted()``: the button of the menu was pressed, which is ``more``.

    Invariant: the sides shown are ``old`` and ``new``."""

    back = Signal()
    old_picked = Signal(object)
    new_picked = Signal(object)
    chosen = Signal(object)
    comments_toggled = Signal()
    more_wanted = Signal()

    def __init__(self, hub: ThemeHub, parent: QWidget, *, closes: bool = True) -> None:
        """``closes``: the page has somewhere to go back to."""
        super().__init__(parent)
        self._hub = hub
        self.closes = closes
        self._timeline: Timeline | None = None
        self.old: Point = Start()
        self.new: Point = NOW
        self._point: Point = NOW
        """What the right side is when it is not the disk."""
        self._with_comments = False
        self._options = ReviewOptions()
        self._last_ignored = Ignore.ALL
        self._layouts = ((tr("Side by side"), "split"), (tr("Unified"), "unified"))
        row = QHBoxLayout(self)
        row.setContentsMargins(8 if closes else 16, 0, 12, 1)
        row.setSpacing(8)
        self._back = IconButton(hub, "arrow-left", tr("Back to chat"), large=True, parent=self)
        self._back.clicked.connect(self.back)
        self._back.setVisible(closes)
        self._title = TitleBlock(hub, self)
        head = QHBoxLayout()
        head.setSpacing(4)
        if closes:
            head.addWidget(self._back)
        head.addWidget(self._title)
        row.addLayout(head)
        row.addSpacing(4)
        self.left = _SidePick(hub, tr("Left side"), self)
        self.left.wanted.connect(self._open_old)
        self.right = Segments(
            hub,
            (Segment(tr("After turn {turn}", turn=0), menu=True), Segment(tr("On disk"))),
            name=tr("Right side"),
            parent=self,
        )
        self.right.chosen.connect(self._switch_new)
        self.right.menu_wanted.connect(lambda _: self._open_new())
        row.addWidget(self.left)
        row.addWidget(_Arrow(hub, self))
        row.addWidget(self.right)
        row.addStretch(1)
        self.white = QCheckBox(tr("Ignore whitespace"), self)
        self.white.clicked.connect(lambda _: self.toggle_whitespace())
        self._white_menu = IconButton(hub, "chevron-down", tr("Which whitespace is ignored"), parent=self)
        self._white_menu.clicked.connect(self.open_whitespace)
        whites = QHBoxLayout()
        whites.setSpacing(0)
        whites.addWidget(self.white)
        whites.addWidget(self._white_menu)
        row.addLayout(whites)
        self.layout_switch = Segments(
            hub,
            [Segment(words, icon, name=words) for words, icon in self._layouts],
            name=tr("Layout of the diff"),
            parent=self,
        )
        self.layout_switch.chosen.connect(lambda index: self.chosen.emit(replace(self._options, unified=index == 1)))
        row.addWidget(self.layout_switch)
        self.comments = Button(hub, "", kind="ghost", icon="chat", parent=self)
        self.comments.clicked.connect(self.comments_toggled)
        row.addWidget(self.comments)
        self.more = IconButton(hub, "more", tr("More"), large=True, parent=self)
        self.more.clicked.connect(self.more_wanted)
        row.addWidget(self.more)
        self.set_comments(0)
        self.set_options(self._options)
        hub.changed.connect(self._themed)
        self._themed()

    def _themed(self) -> None:
        self.setFixedHeight(self._hub.theme.size("header"))
        ink(self.white, self._hub.theme, "text.secondary")
        self._fit()

    @property
    def stops(self) -> tuple[QWidget, ...]:
        """What can have the focus, from left to right."""
        return (
            self._back, self.left, self.right.piece(0), self.right.piece(1), self.white, self._white_menu,
            self.layout_switch.piece(0), self.layout_switch.piece(1), self.comments, self.more,
        )  # fmt: skip

    # Showing.

    def set_title(self, title: str) -> None:
        """The chat's title."""
        self._title.set_title(title)

    def set_sides(self, timeline: Timeline, old: Point, new: Point) -> None:
        """Between what is compared."""
        self._timeline = timeline
        self.old, self.new = old, new
        if new != NOW:
            self._point = new
        else:
            self._point = last_end(timeline, self._point)
        self._show()

    def set_options(self, options: ReviewOptions) -> None:
        """What was chosen of whitespace and layout."""
        self._options = options
        ignore = options.compare.ignore
        if ignore is not Ignore.NOTHING:
            self._last_ignored = ignore
        self.white.setChecked(ignore is not Ignore.NOTHING)
        self.layout_switch.set_index(1 if options.unified else 0)

    def set_comments(self, count: int, *, shown: bool = False) -> None:
        """How many comments there are; without any, and while their list is closed, the button is not there."""
        self.comments.set_badge(f"{count:,}" if count else "")
        name = tr_n("{n} comment", "{n} comments", count) if count else tr("Comments")
        self.comments.setAccessibleName(tr("Hide comments") if shown else name)
        self._with_comments = bool(count) or shown
        self._fit()

    def _show(self) -> None:
        self.left.set_choices([(point_label(self.old), self.old)], self.old)
        self.right.set_text(0, point_label(self._point) if self._point != NOW else tr("After turn"))
        self.right.piece(0).setVisible(self._point != NOW)
        self.right.set_index(1 if self.new == NOW else 0)
        self._fit()

    # Choosing.

    def toggle_whitespace(self) -> None:
        """Ignore whitespace as it was ignored last, or not any more."""
        off = self._options.compare.ignore is not Ignore.NOTHING
        self.chosen.emit(ignoring(self._options, Ignore.NOTHING if off else self._last_ignored))

    def toggle_layout(self) -> None:
        """One pane instead of two, or two instead of one."""
        self.chosen.emit(replace(self._options, unified=not self._options.unified))

    def open_whitespace(self) -> None:
        """Show the menu of whitespace."""
        whitespace_menu(self._white_menu, self._options, self.chosen.emit)

    def _open_old(self) -> None:
        entries, turn = old_points(self._timeline, self.old), turn_of(self._timeline, self.old)
        points_menu(self.left, entries, self.old, turn, self.old_picked.emit)

    def _switch_new(self, index: int) -> None:
        self.new_picked.emit(NOW if index == 1 else self._point)

    def _open_new(self) -> None:
        entries, turn = new_points(self._timeline, self.new), turn_of(self._timeline, self.new)
        points_menu(self.right, entries, self.new, turn, self.new_picked.emit)

    def _fit(self) -> None:
        zoom = max(1.0, self._hub.theme.zoom)
        words = self.width() >= _TIGHT * zoom
        for number, (text, _) in enumerate(self._layouts):
            self.layout_switch.set_text(number, text if words else "")
        self.white.setText(tr("Ignore whitespace") if self.width() >= _TIGHTER * zoom else tr("Whitespace"))
        self.white.setAccessibleName(tr("Ignore whitespace"))
        self.comments.setVisible(self._with_comments and self.width() >= _TIGHTER * zoom)
        # Whitespace goes before a side is cut: it is in the menu too.
        if not self.isVisible():
            return  # nothing is hidden by a width that nobody sees: what comes back would be shown where it was never laid out
        room = self.width() - self._taken() - self.white.sizeHint().width() - self._white_menu.sizeHint().width() - 8
        for widget in (self.white, self._white_menu):
            widget.setVisible(room >= 0)
        self._title.setVisible(self.width() >= self._taken())
        self.update()

    def _taken(self) -> int:
        """What the bar needs at least, without whitespace."""
        row = self.layout()
        assert row is not None
        margins = row.contentsMargins()
        shown = [self.left, self.right, self.layout_switch, self.more, *([] if self.comments.isHidden() else [self.comments])]
        back = self._back.sizeHint().width() + 4 if self.closes else 0
        parts = sum(one.sizeHint().width() + 8 for one in shown)
        return margins.left() + margins.right() + back + self._title.minimumWidth() + 8 + 4 + 16 + 8 + 8 + parts

    # Qt's names below.

    def minimumSizeHint(self) -> QSize:
        return QSize(_LEAST, super().minimumSizeHint().height())  # what is in it now can go

    def showEvent(self, event: QShowEvent) -> None:
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.color("bg.surface"))
        painter.fillRect(QRectF(0, self.height() - 1, self.width(), 1), theme.color("line.hair"))


class _SidePick(PickButton):
    """A `PickButton` whose menu is made by whoever has it. ``wanted()``: it was pressed."""

    wanted = Signal()

    def _open(self) -> None:
        self.wanted.emit()


class _Arrow(QWidget):
    """The arrow between the two sides; decorative."""

    def __init__(self, hub: ThemeHub, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self.setFixedSize(16, 16)
        hub.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        draw_icon(QPainter(self), self._hub.theme, "arrow-right", "text.secondary", 0, 0)
