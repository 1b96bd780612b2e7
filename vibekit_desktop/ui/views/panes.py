"""Three panes beside each other, with dividers, and drawers where the window is narrow.

Applies the rule of `views.arrangement` and paints grounds and hairlines until the content comes. UI thread only.
"""

from collections.abc import Sequence
from itertools import pairwise

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QSizePolicy, QWidget
from shiboken6 import isValid

from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.arrangement import Arranged, Wanted, arrange, default_wanted

_KEY_STEP = 16
_SNAP_SIDEBAR = 150
_SNAP_INSPECTOR = 200


class _Divider(QWidget):
    """The 1 px line between two panes with its 7 px grab area. ``moved`` carries the wanted x of the line in the parent;
    ``stepped`` a keyboard step in pixels; ``reset`` a double click."""

    moved = Signal(int)
    stepped = Signal(int)
    reset = Signal()

    def __init__(self, hub: ThemeHub, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self._dragged = False
        self._ring = False
        self.setCursor(Qt.CursorShape.SplitHCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAccessibleName(name)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        lit = self._dragged or self._ring
        line = theme.color("line.focus" if lit else "line.hair")
        width = theme.size("focus-width") if lit else theme.size("splitter-line")
        QPainter(self).fillRect(QRect(self.width() // 2, 0, width, self.height()), line)

    def focusInEvent(self, event: QFocusEvent) -> None:
        self._ring = event.reason() in (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self._ring = False
        self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton:
            self._dragged = True
            self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._dragged:
            self.moved.emit(self.mapToParent(event.position().toPoint()).x())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._dragged = False
        self.update()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.reset.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Left: -_KEY_STEP, Qt.Key.Key_Right: _KEY_STEP}.get(Qt.Key(event.key()))
        if step is None:
            super().keyPressEvent(event)
        else:
            self.stepped.emit(step)


class _Slot(QWidget):
    """The place of one pane; holds one widget over its whole area and paints the pane's ground until it comes."""

    def __init__(self, hub: ThemeHub, token: str, *, header: bool, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self._token = token
        self._header = header
        self.content: QWidget | None = None
        self.drawer = False
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)

    def put(self, widget: QWidget) -> None:
        old = self.content
        if old is not None and old is not widget:
            old.setParent(None)
            old.deleteLater()
        self.content = widget
        widget.setParent(self)
        self._fit()
        widget.show()

    def _fit(self) -> None:
        if self.content is not None:
            edge = 1 if self.drawer else 0
            self.content.setGeometry(self.rect().adjusted(edge, 0, -edge, 0))

    def set_drawer(self, drawer: bool) -> None:
        if drawer != self.drawer:
            self.drawer = drawer
            self._fit()
            self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._fit()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.color(self._token))
        if self._header and self.content is None:
            painter.fillRect(QRect(0, theme.size("header") - 1, self.width(), 1), theme.color("line.hair"))
        if self.drawer:
            for x in (0, self.width() - 1):
                painter.fillRect(QRect(x, 0, 1, self.height()), theme.color("line.strong"))


class Panes(QWidget):
    """Chat list, centre, inspector. Invariant: the geometry is always what `arrange` says.

    ``sidebar_shown`` and ``inspector_shown`` say whether the pane is visible now, ``narrow_changed`` whether the inspector is a
    drawer at this width, ``wanted_changed`` that a person gave a pane another width, opened or closed one.
    """

    sidebar_shown = Signal(bool)
    inspector_shown = Signal(bool)
    narrow_changed = Signal(bool)
    wanted_changed = Signal()

    def __init__(self, hub: ThemeHub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self._wanted = default_wanted(hub.theme)
        self._drawer_open = {"sidebar": False, "inspector": False}
        self._openers: dict[str, QWidget] = {}
        """What had the focus when a drawer was opened: it has it again when the drawer is closed."""
        self._inspector_allowed = True
        self._last = Arranged(0, 0, sidebar_drawer=False, inspector_drawer=False)
        self.centre = _Slot(hub, "bg.surface", header=True, parent=self)
        self.sidebar = _Slot(hub, "bg.sidebar", header=False, parent=self)
        self.inspector = _Slot(hub, "bg.inspector", header=True, parent=self)
        self._left = _Divider(hub, tr("Width of the chat list"), self)
        self._right = _Divider(hub, tr("Width of the inspector"), self)
        self._left.moved.connect(self._drag_sidebar)
        self._left.stepped.connect(lambda step: self._resize_sidebar(self._last.sidebar + step))
        self._left.reset.connect(lambda: self._resize_sidebar(self._hub.theme.size("sidebar-default")))
        self._right.moved.connect(self._drag_inspector)
        self._right.stepped.connect(lambda step: self._resize_inspector(self._last.inspector - step))
        self._right.reset.connect(lambda: self._resize_inspector(self._hub.theme.size("inspector-default")))
        hub.changed.connect(self._themed)

    def _themed(self) -> None:
        for part in (self, self.sidebar, self.centre, self.inspector, self._left, self._right):
            part.update()
        self._place()

    @property
    def wanted(self) -> Wanted:
        """What the person asked for, whatever the window's width makes of it."""
        return self._wanted

    def want(self, wanted: Wanted) -> None:
        """Stand as it was asked for at another time."""
        if wanted != self._wanted:
            self._wanted = wanted
            self._place()
            self.wanted_changed.emit()

    @property
    def widths(self) -> tuple[int, int]:
        """Wanted widths of chat list and inspector."""
        return self._wanted.sidebar, self._wanted.inspector

    @property
    def inspector_open(self) -> bool:
        """Whether the inspector is visible, as pane or drawer."""
        return bool(self._last.inspector)

    @property
    def is_narrow(self) -> bool:
        """Whether the inspector is a drawer at this width."""
        return self._last.inspector_drawer

    def order_focus(self, sidebar_last: QWidget, centre_last: QWidget, inspector: Sequence[QWidget]) -> None:
        """Let Tab go through the chat list, the centre and the inspector, and to each divider at the end of its pane. Told the
        last stops, because walking Qt's chain from Python makes each widget the owner of the next one's wrapper."""
        QWidget.setTabOrder(sidebar_last, self._left)
        for before, after in pairwise([centre_last, *inspector, self._right]):
            QWidget.setTabOrder(before, after)

    def allow_inspector(self, allowed: bool) -> None:
        """Whether the page in the centre has an inspector at all."""
        self._inspector_allowed = allowed
        if not allowed:
            self._drawer_open["inspector"] = False
        self._place()

    def toggle_sidebar(self) -> None:
        """Open or close the chat list, as pane or drawer, whatever it is at this width."""
        if self.width() < self._hub.theme.size("narrow-sidebar"):
            self._turn_drawer("sidebar")
            self._place()
        else:
            self.want(self._wanted._replace(sidebar_open=not self._wanted.sidebar_open))

    def toggle_inspector(self) -> None:
        """Open or close the inspector, as pane or drawer, whatever it is at this width."""
        if self.width() < self._hub.theme.size("narrow-inspector"):
            self._turn_drawer("inspector")
            self._place()
        else:
            self.want(self._wanted._replace(inspector_open=not self._wanted.inspector_open))

    def _turn_drawer(self, name: str) -> None:
        self._drawer_open[name] = not self._drawer_open[name]
        focus = QApplication.focusWidget()
        if self._drawer_open[name] and focus is not None and not self._drawer(name).isAncestorOf(focus):
            self._openers[name] = focus
        elif not self._drawer_open[name]:
            self._give_back_focus(name)

    def _drawer(self, name: str) -> QWidget:
        return self.sidebar if name == "sidebar" else self.inspector

    def _give_back_focus(self, name: str) -> None:
        """Before a drawer goes: what is in it loses the focus to what opened it."""
        opener, focus = self._openers.pop(name, None), QApplication.focusWidget()
        if opener is not None and (focus is None or self._drawer(name).isAncestorOf(focus)):
            there = isValid(opener) and opener.isVisible()  # it may have gone while the drawer was open
            (opener if there else self.centre).setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def has_drawer(self) -> bool:
        """Whether a drawer lies over the centre: Esc closes it."""
        return any(
            drawer and self._drawer_open[name]
            for name, drawer in (("inspector", self._last.inspector_drawer), ("sidebar", self._last.sidebar_drawer))
        )

    def close_drawer(self) -> bool:
        """Close the drawer on top; False if there is none."""
        for name, drawer in (("inspector", self._last.inspector_drawer), ("sidebar", self._last.sidebar_drawer)):
            if drawer and self._drawer_open[name]:
                self._give_back_focus(name)
                self._drawer_open[name] = False
                self._place()
                return True
        return False

    def _drag_sidebar(self, x: int) -> None:
        if x < _SNAP_SIDEBAR:
            self.want(self._wanted._replace(sidebar_open=False))
        else:
            self._resize_sidebar(x)

    def _drag_inspector(self, x: int) -> None:
        if self.width() - x < _SNAP_INSPECTOR:
            self.want(self._wanted._replace(inspector_open=False))
        else:
            self._resize_inspector(self.width() - x)

    def _resize_sidebar(self, width: int) -> None:
        size = self._hub.theme.size
        self.want(self._wanted._replace(sidebar=min(max(width, size("sidebar-min")), size("sidebar-max"))))

    def _resize_inspector(self, width: int) -> None:
        size = self._hub.theme.size
        self.want(self._wanted._replace(inspector=min(max(width, size("inspector-min")), size("inspector-max"))))

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._place()

    def _place(self) -> None:
        theme = self._hub.theme
        wanted = self._wanted
        if self.width() < theme.size("narrow-sidebar"):
            wanted = wanted._replace(sidebar_open=self._drawer_open["sidebar"])
        else:
            self._drawer_open["sidebar"] = False
        if self.width() < theme.size("narrow-inspector"):
            wanted = wanted._replace(inspector_open=self._drawer_open["inspector"])
        else:
            self._drawer_open["inspector"] = False
        if not self._inspector_allowed:
            wanted = wanted._replace(inspector_open=False)
        now = arrange(self.width(), wanted, theme)
        left = 0 if now.sidebar_drawer else now.sidebar
        right = 0 if now.inspector_drawer else now.inspector
        height = self.height()
        self.centre.setGeometry(left, 0, self.width() - left - right, height)
        line = theme.size("splitter-line")
        self._put(self.sidebar, QRect(0, 0, now.sidebar - (0 if now.sidebar_drawer else line), height), now.sidebar_drawer)
        x = self.width() - now.inspector + (0 if now.inspector_drawer else line)
        self._put(self.inspector, QRect(x, 0, self.width() - x, height), now.inspector_drawer)
        grab = theme.size("splitter-grab")
        self._left.setGeometry(left - line - grab // 2, 0, grab, height)
        self._left.setVisible(left > 0)
        self._right.setGeometry(self.width() - right - grab // 2, 0, grab, height)
        self._right.setVisible(right > 0)
        self._left.raise_()
        self._right.raise_()
        before, self._last = self._last, now
        if bool(before.sidebar) != bool(now.sidebar):
            self.sidebar_shown.emit(bool(now.sidebar))
        if bool(before.inspector) != bool(now.inspector):
            self.inspector_shown.emit(bool(now.inspector))
        if before.inspector_drawer != now.inspector_drawer:
            self.narrow_changed.emit(now.inspector_drawer)

    @staticmethod
    def _put(slot: _Slot, box: QRect, drawer: bool) -> None:
        slot.set_drawer(drawer)
        if box.width() > 0:
            slot.setGeometry(box)
        slot.setVisible(box.width() > 0)
        if drawer:
            slot.raise_()
