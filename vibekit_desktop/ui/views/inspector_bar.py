"""The row of tabs over the inspector, and the menu at its end. UI thread only."""

from PySide6.QtCore import QEvent, QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QHBoxLayout, QMenu, QSizePolicy, QWidget

from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.controls import IconButton, badge_width, draw_badge
from vibekit_desktop.ui.views.row_paint import draw_text

TIMELINE, FILES, CONFLICTS = range(3)
_UNDER = 2
_TAB = 40
_GAP, _LEAST_GAP = 20, 8


class Tab(QAbstractButton):
    """One tab: a word, perhaps a count, and a 2 px line under the current one. Signals are `QAbstractButton`'s."""

    def __init__(self, hub: ThemeHub, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self._count = ""
        self._alarm = self._bare = False
        self.setText(text)
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(text)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        hub.changed.connect(self.updateGeometry)

    @property
    def count(self) -> str:
        """The number it shows, or empty."""
        return self._count

    def set_count(self, count: int | None, *, alarm: bool = False) -> None:
        """Show how many there are behind the tab, or no number; ``alarm``: in amber."""
        self._count = "" if count is None else f"{count:,}"
        self._alarm = alarm
        self.setAccessibleName(f"{self.text()}, {self._count}" if self._count else self.text())
        self.updateGeometry()
        self.update()

    def set_bare(self, bare: bool) -> None:
        """Show the word alone, where there is no room for the number."""
        if bare is not self._bare:
            self._bare = bare
            self.updateGeometry()

    def width_for(self, *, bare: bool) -> int:
        """How wide it is with its number, or without."""
        theme = self._hub.theme
        width = theme.metrics("body-strong").horizontalAdvance(self.text())
        return round(width + (6 + badge_width(theme, self._count) if self._count and not bare else 0) + 0.5)

    # Qt's names below.

    def sizeHint(self) -> QSize:
        return QSize(self.width_for(bare=self._bare), _TAB)

    def minimumSizeHint(self) -> QSize:
        return QSize(24, _TAB)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        on = self.isChecked()
        token = "text.primary" if on or self.underMouse() else "text.secondary"
        box = QRectF(0, 4, self.width(), self.height() - 8)
        width = draw_text(painter, theme, box, self.text(), style="body-strong", token=token)
        if self._count and not self._bare:
            ink = "warning.text" if self._alarm else "text.secondary"
            draw_badge(painter, theme, self._count, width + 6, box.top() + (box.height() - 18) / 2, ink)
        if on:
            painter.fillRect(QRectF(0, self.height() - _UNDER, self.width(), _UNDER), theme.color("accent.text"))


class InspectorBar(QWidget):
    """The tabs, of which one is on, and the menu. Signals: ``chosen(number)``: a person chose another tab; entries of the menu:
    ``rescan_requested()``, ``fold_requested(folded)``, ``only_changes_requested(on)``, ``settled_requested(on)``."""

    chosen = Signal(int)
    rescan_requested = Signal()
    fold_requested = Signal(bool)
    only_changes_requested = Signal(bool)
    settled_requested = Signal(bool)

    def __init__(self, hub: ThemeHub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._group = QButtonGroup(self)
        self.tabs = [Tab(hub, text, self) for text in (tr("Timeline"), tr("Files"), tr("Conflicts"))]
        self.more = IconButton(hub, "more", tr("More about this chat's changes"), large=True, parent=self)
        self.more.clicked.connect(self._open_menu)
        self.only_changes = self.with_settled = False
        """What is ticked in the menu."""
        self.settled = 0
        """How many conflicts were settled."""
        row = QHBoxLayout(self)
        self._hub = hub
        hub.changed.connect(self._themed)
        row.setSpacing(_GAP)
        for number, tab in enumerate(self.tabs):
            self._group.addButton(tab, number)
            row.addWidget(tab)
        row.addStretch(1)
        row.addWidget(self.more, 0, Qt.AlignmentFlag.AlignVCenter)
        self.tabs[TIMELINE].setChecked(True)
        self._group.idClicked.connect(self.chosen)
        self._themed()

    def _themed(self) -> None:
        """As high as the headers of the other panes, so that the hairlines under them are one."""
        row = self.layout()
        if row is not None:
            row.setContentsMargins(16, self._hub.theme.size("header") - _TAB, 12, 0)

    @property
    def current(self) -> int:
        """Which tab is on."""
        return self._group.checkedId()

    def choose(self, number: int) -> None:
        """Switch without saying so."""
        self.tabs[number].setChecked(True)

    def menu(self) -> QMenu:
        """The entries that fit the tab that is on."""
        menu = QMenu(self)
        menu.setAccessibleName(self.more.accessibleName())
        menu.addAction(tr("Rescan")).triggered.connect(self.rescan_requested)
        menu.addSeparator()
        if self.current != CONFLICTS:
            menu.addAction(tr("Fold all")).triggered.connect(lambda: self.fold_requested.emit(True))
            menu.addAction(tr("Unfold all")).triggered.connect(lambda: self.fold_requested.emit(False))
        if self.current == TIMELINE:
            menu.addSeparator()
            ticked = _ticked(menu, tr("Show only turns that changed files"), self.only_changes)
            ticked.toggled.connect(self.only_changes_requested)
        if self.current == CONFLICTS:
            ticked = _ticked(menu, tr("Show settled conflicts"), self.with_settled)
            ticked.setEnabled(bool(self.settled))
            ticked.toggled.connect(self.settled_requested)
        return menu

    def _open_menu(self) -> None:
        menu = self.menu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        place = self.more.rect().bottomRight() + QPoint(1, 4)
        menu.popup(self.more.mapToGlobal(place) - QPoint(menu.sizeHint().width(), 0))

    # Qt's names below.

    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Resize):
            self._fit()
        return super().event(event)

    def _fit(self) -> None:
        """The numbers go before the words do; that of the conflicts goes last."""
        row = self.layout()
        if row is None:
            return
        edges = row.contentsMargins()
        room = self.width() - edges.left() - edges.right() - self.more.sizeHint().width()
        words = sum(tab.width_for(bare=True) for tab in self.tabs)
        gap = _GAP if words + _GAP * len(self.tabs) <= room else _LEAST_GAP
        if row.spacing() != gap:
            row.setSpacing(gap)
        room -= gap * len(self.tabs)
        bare: set[Tab] = set()
        for tab in self.tabs:
            if sum(one.width_for(bare=one in bare) for one in self.tabs) > room:
                bare.add(tab)
        for tab in self.tabs:
            tab.set_bare(tab in bare)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        focus = self.focusWidget()
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()))
        if isinstance(focus, Tab) and step is not None:
            number = (self.current + step) % len(self.tabs)
            self.choose(number)
            self.tabs[number].setFocus(Qt.FocusReason.TabFocusReason)
            self.chosen.emit(number)
            return
        super().keyPressEvent(event)


def _ticked(menu: QMenu, text: str, on: bool) -> QAction:
    action = menu.addAction(text)
    action.setCheckable(True)
    action.setChecked(on)
    return action
