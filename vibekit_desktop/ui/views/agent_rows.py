"""Agents to choose from, one row each, with what is known of them: ready, wants a sign-in, not installed and how it would be.

One focus stop: the arrows go from row to row and choose. UI thread only.
"""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QGuiApplication, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from vibekit_desktop.core.types.agents import AgentInfo, AgentState
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.theme.style import focus_ring, rounded
from vibekit_desktop.ui.views.controls import Button, draw_icon
from vibekit_desktop.ui.views.row_paint import draw_text, text_width
from vibekit_desktop.ui.visible import one_line, visible_name

_TILE, _LEFT, _TEXT = 32, 12, 56
_STATES = {
    AgentState.READY: ("Ready", "success.text"),
    AgentState.FOUND: ("Installed", "text.tertiary"),
    AgentState.NOT_SIGNED_IN: ("Not signed in", "warning.text"),
    AgentState.NOT_INSTALLED: ("Not installed", "text.tertiary"),
    AgentState.FAILED: ("Did not start", "danger.text"),
}


def state_words(info: AgentInfo) -> str:
    """What is known of an agent, in a word or two."""
    return tr(_STATES[info.state][0])


def can_start(info: AgentInfo) -> bool:
    """Whether it is on this computer."""
    return info.state is not AgentState.NOT_INSTALLED


def shown_name(info: AgentInfo) -> str:
    """Its name, with its version if it has told one."""
    name = one_line(info.name, 48) or one_line(info.id, 48)
    return tr("{name} {version}", name=name, version=one_line(info.version, 16)) if info.version else name


class _Row(QWidget):
    """One agent. ``pressed`` and ``copied`` have no argument."""

    pressed = Signal()
    copied = Signal()

    def __init__(self, hub: ThemeHub, info: AgentInfo, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self.info = info
        self.chosen = False
        self.setAccessibleName(", ".join((shown_name(info), state_words(info), self.detail)).rstrip(", "))
        self.copy = Button(hub, tr("Copy"), icon="copy", size="small", kind="ghost", parent=self)
        self.copy.setAccessibleName(tr("Copy the command that installs {name}", name=one_line(info.name, 48)))
        self.copy.setVisible(not can_start(info) and bool(info.install))
        self.copy.clicked.connect(self._copy)

    @property
    def detail(self) -> str:
        """The second half of the second line: how it would be installed, or why it could not be started."""
        if not can_start(self.info):
            return visible_name(self.info.install)
        return one_line(self.info.problem or self.info.description)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.info.install)
        self.copied.emit()

    # Qt's names below.

    def resizeEvent(self, event: QResizeEvent) -> None:
        size = self.copy.sizeHint()
        self.copy.setGeometry(
            self.width() - 8 - size.width(), (self.height() - size.height()) // 2, size.width(), size.height()
        )

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.pressed.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        box = QRectF(self.rect())
        if self.chosen:
            rounded(painter, box.adjusted(4, 2, -4, -2), theme.radius("control"), fill=theme.color("bg.selected"))
        tile = QRectF(_LEFT, (self.height() - _TILE) / 2, _TILE, _TILE)
        rounded(painter, tile, theme.radius("control"), fill=theme.color("bg.chip"))
        draw_icon(painter, theme, "agent", "text.secondary", tile.x() + 8, tile.y() + 8)
        right = self.copy.x() - 8 if not self.copy.isHidden() else self.width() - 12
        name = QRectF(_TEXT, self.height() / 2 - 20, right - _TEXT, 20)
        token = "text.primary" if can_start(self.info) else "text.secondary"
        draw_text(painter, theme, name, shown_name(self.info), style="body-strong", token=token)
        line = QRectF(_TEXT, self.height() / 2 + 1, right - _TEXT, 16)
        words, tone = state_words(self.info), _STATES[self.info.state][1]
        draw_text(painter, theme, line, words, style="small", token=tone)
        if self.detail:
            left = text_width(theme, "small", words) + 8
            code = not can_start(self.info)
            rest = line.adjusted(left, 0, 0, 0)
            draw_text(painter, theme, rest, self.detail, style="code-small" if code else "small", token="text.tertiary")
        parent = self.parentWidget()
        if self.chosen and parent is not None and parent.hasFocus():
            focus_ring(painter, theme, box.adjusted(4, 2, -4, -2), theme.radius("control"))


class AgentRows(QWidget):
    """The rows. ``chosen(AgentInfo or None)``: another one is chosen; ``accepted()``: Enter on it, or a double click;
    ``copied()``: a command went to the clipboard."""

    chosen = Signal(object)
    accepted = Signal()
    copied = Signal()

    def __init__(self, hub: ThemeHub, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self._rows: list[_Row] = []
        self._at = -1
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(tr("Agent"))

    def show_agents(self, agents: Sequence[AgentInfo], *, chosen: str = "") -> None:
        """The agents, and which one is chosen, by its id or name; otherwise the first that is here."""
        former = self.agent.id if self.agent is not None else chosen
        for row in self._rows:
            row.hide()
            row.deleteLater()
        self._rows = [_Row(self._hub, info, self) for info in agents]
        height = self._hub.theme.size("source")
        for number, row in enumerate(self._rows):
            row.pressed.connect(lambda which=number: self._press(which))
            row.copied.connect(self.copied)
            row.setGeometry(0, number * height, self.width(), height)
            row.show()
        self.setFixedHeight(height * len(self._rows))
        found = next((n for n, one in enumerate(agents) if former and former in (one.id, one.name)), -1)
        self._at = -1
        self.choose(found if found >= 0 else next((n for n, one in enumerate(agents) if can_start(one)), -1))

    @property
    def agent(self) -> AgentInfo | None:
        """The one that is chosen."""
        return self._rows[self._at].info if 0 <= self._at < len(self._rows) else None

    @property
    def rows(self) -> tuple[QWidget, ...]:
        """The rows, from the top."""
        return tuple(self._rows)

    @property
    def chosen_box(self) -> QRectF:
        """Where the chosen row stands."""
        return QRectF(self._rows[self._at].geometry()) if self.agent is not None else QRectF()

    def choose(self, number: int) -> None:
        """Choose a row; -1 chooses none."""
        self._at = number
        for n, row in enumerate(self._rows):
            row.chosen = n == number
            row.update()
        if self.agent is not None:
            self.setAccessibleDescription(self._rows[number].accessibleName())
        self.chosen.emit(self.agent)

    def _press(self, number: int) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        self.choose(number)

    # Qt's names below.

    def sizeHint(self) -> QSize:
        return QSize(300, self._hub.theme.size("source") * len(self._rows))

    def resizeEvent(self, event: QResizeEvent) -> None:
        for row in self._rows:
            row.resize(self.width(), row.height())

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.accepted.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        last = len(self._rows) - 1
        match event.key():
            case Qt.Key.Key_Down:
                self.choose(min(last, self._at + 1))
            case Qt.Key.Key_Up:
                self.choose(max(0, self._at - 1) if self._rows else -1)
            case Qt.Key.Key_Home:
                self.choose(0 if self._rows else -1)
            case Qt.Key.Key_End:
                self.choose(last)
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                self.accepted.emit()
            case _:
                super().keyPressEvent(event)
                return
        event.accept()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._repaint_rows()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._repaint_rows()

    def _repaint_rows(self) -> None:
        for row in self._rows:
            row.update()
