"""The switch between the chats and the archive, with how many there are in each. UI thread only."""

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QHBoxLayout, QSizePolicy, QWidget

from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.theme.style import rounded
from vibekit_desktop.ui.views.row_paint import draw_text, text_width

_PAD, _GAP, _INSET = 10, 10, 2


class _Side(QAbstractButton):
    """One side: a word and a number."""

    def __init__(self, hub: ThemeHub, word: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self._word = word
        self._count = ""
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.set_count(0)

    def set_count(self, count: int) -> None:
        """How many there are; none is not said."""
        self._count = f"{count:,}" if count else ""
        self.setText(f"{self._word} {self._count}".strip())
        self.setAccessibleName(self.text())
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        theme = self._hub.theme
        width = 2 * _PAD + text_width(theme, "body", self._word, weight=500)
        if self._count:
            width += _GAP + text_width(theme, "small", self._count)
        return QSize(int(width + 0.999), round(24 * max(1.0, theme.zoom)))

    def minimumSizeHint(self) -> QSize:
        return QSize(2 * _PAD + 24, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        if self.isChecked():
            box = QRectF(self.rect())
            rounded(painter, box, theme.radius("small"), fill=theme.color("bg.button"), line=theme.color("line.strong"))
        strong = self.isChecked() or (self.underMouse() and self.isEnabled())
        x = _PAD
        room = QRectF(x, 0, self.width() - 2 * _PAD, self.height())
        token = "text.primary" if strong else "text.secondary"
        used = draw_text(painter, theme, room, self._word, weight=500, token=token)
        count = room.adjusted(used + _GAP, 0, 0, 0)
        if self._count and count.width() >= text_width(theme, "small", self._count) - 1:
            draw_text(painter, theme, count, self._count, style="small", token="text.tertiary", elide=None)


class ArchiveSwitch(QWidget):
    """Chats or Archived. ``switched(archived)``: the person chose the other one."""

    switched = Signal(bool)

    def __init__(self, hub: ThemeHub, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self._sides = (_Side(hub, tr("Chats"), self), _Side(hub, tr("Archived"), self))
        self._group = QButtonGroup(self)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(_INSET, _INSET, _INSET, _INSET)
        layout.setSpacing(0)
        for number, side in enumerate(self._sides):
            self._group.addButton(side, number)
            layout.addWidget(side)
        self._sides[0].setChecked(True)
        self._archived = False
        self._group.idClicked.connect(lambda number: self._choose(bool(number)))
        self.setAccessibleName(tr("Chats or archived"))
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        hub.changed.connect(self._themed)

    def _themed(self) -> None:
        for side in self._sides:
            side.updateGeometry()
        self.update()

    def set_counts(self, chats: int, archived: int) -> None:
        """How many there are on each side."""
        self._sides[0].set_count(chats)
        self._sides[1].set_count(archived)

    @property
    def archived(self) -> bool:
        """Which side is on."""
        return self._archived

    def side(self, *, archived: bool) -> QAbstractButton:
        """The button of one side."""
        return self._sides[int(archived)]

    def set_archived(self, archived: bool) -> None:
        """Switch, and say so if that is another side."""
        self._sides[int(archived)].setChecked(True)
        self._choose(archived)

    def _choose(self, archived: bool) -> None:
        if archived != self._archived:
            self._archived = archived
            self.switched.emit(archived)

    # Qt's names from here on

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() not in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            super().keyPressEvent(event)
            return
        archived = event.key() == Qt.Key.Key_Right
        self._sides[int(archived)].setFocus(Qt.FocusReason.TabFocusReason)
        self.set_archived(archived)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        rounded(QPainter(self), QRectF(self.rect()), theme.radius("control"), fill=theme.color("bg.chip"))
