"""The agents on the page before the first chat: what each is called, whether it is ready, Start. UI thread only."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QWidget

from vibekit_desktop.core.types.agents import AgentInfo, AgentState
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.theme.style import rounded
from vibekit_desktop.ui.tool_tip import plain_tip
from vibekit_desktop.ui.views.agent_rows import state_words
from vibekit_desktop.ui.views.controls import Button, draw_icon
from vibekit_desktop.ui.views.row_paint import draw_text
from vibekit_desktop.ui.visible import one_line

_MOST = 6
_IN_A_ROW, _NARROW = 3, 560
_HEIGHT = 60
_HERE = (AgentState.READY, AgentState.FOUND, AgentState.NOT_SIGNED_IN, AgentState.FAILED, AgentState.NOT_INSTALLED)


class _Tile(QWidget):
    """One agent in a bordered box. Its button says what can be done about it."""

    def __init__(self, hub: ThemeHub, agent: AgentInfo, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self._agent = agent
        self._name = one_line(agent.name, 80)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(f"{self._name}, {state_words(agent)}")
        self.setToolTip(plain_tip(one_line(agent.problem or agent.description)))
        match agent.state:
            case AgentState.NOT_SIGNED_IN:
                text, kind, phrase = tr("Sign in"), "ghost", tr("Sign in to {agent}", agent=self._name)
            case AgentState.NOT_INSTALLED:
                text, kind, phrase = tr("Install…"), "ghost", tr("How to install {agent}", agent=self._name)
            case _:
                text, kind, phrase = tr("Start"), "secondary", tr("Start {agent}", agent=self._name)
        self.button = Button(hub, text, kind=kind, parent=self)
        self.button.setAccessibleName(phrase)
        hub.changed.connect(self._themed)
        self._themed()

    def _themed(self) -> None:
        self.setFixedHeight(round(_HEIGHT * max(1.0, self._hub.theme.zoom)))
        self._place()
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._place()

    def _place(self) -> None:
        size = self.button.sizeHint()
        left, top = self.width() - 12 - size.width(), (self.height() - size.height()) // 2
        self.button.setGeometry(left, top, size.width(), size.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        rounded(painter, QRectF(self.rect()), theme.radius("card"), line=theme.color("line.hair"))
        top = (self.height() - 32) // 2
        rounded(painter, QRectF(14, top, 32, 32), theme.radius("control"), fill=theme.color("bg.chip"))
        draw_icon(painter, theme, "agent", "text.secondary", 22, top + 8)
        room = self.button.x() - 56 - 8
        first, second = theme.line_height("body"), theme.line_height("small")
        top = (self.height() - first - second) // 2
        draw_text(painter, theme, QRectF(56, top, room, first), self._name, style="body-strong")
        tokens = {AgentState.READY: "success.text", AgentState.FAILED: "danger.text"}
        token = tokens.get(self._agent.state, "text.tertiary")
        draw_text(painter, theme, QRectF(56, top + first, room, second), state_words(self._agent), style="small", token=token)


class AgentTiles(QWidget):
    """Up to six agents, three in a row where there is room. ``chosen`` carries an agent's id."""

    chosen = Signal(str)

    def __init__(self, hub: ThemeHub, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self._tiles: list[_Tile] = []
        self._columns = 0
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(12)
        hub.changed.connect(self._arrange)

    def fill(self, agents: Sequence[AgentInfo]) -> None:
        """Show other agents: those that are on this computer, and others up to a whole row."""
        for tile in self._tiles:
            self._grid.removeWidget(tile)
            tile.hide()
            tile.deleteLater()
        here = sorted(agents, key=lambda agent: _HERE.index(agent.state))
        present = sum(agent.state is not AgentState.NOT_INSTALLED for agent in here)
        count = min(_MOST, max(_IN_A_ROW, -(-present // _IN_A_ROW) * _IN_A_ROW))
        self._tiles = []
        for agent in here[:count]:
            tile = _Tile(self._hub, agent, self)
            tile.button.clicked.connect(lambda _checked=False, name=agent.id: self.chosen.emit(name))
            self._tiles.append(tile)
        self._columns = 0
        self._arrange()

    def _arrange(self) -> None:
        columns = _IN_A_ROW if self.width() >= _NARROW * max(1.0, self._hub.theme.zoom) else 1
        if columns == self._columns:
            return
        self._columns = columns
        for place, tile in enumerate(self._tiles):
            self._grid.removeWidget(tile)
            self._grid.addWidget(tile, place // columns, place % columns)
            tile.show()
        for column in range(_IN_A_ROW):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)

    # Qt's names from here on

    def minimumSizeHint(self) -> QSize:
        return QSize(200, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._arrange()
