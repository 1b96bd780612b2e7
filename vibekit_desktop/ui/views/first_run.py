"""What a person sees before there is any chat: a place for a folder, and what was found on this computer. UI thread only."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QFileDialog, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from vibekit_desktop.core.types.agents import AgentInfo
from vibekit_desktop.core.types.sources import SourceSummary
from vibekit_desktop.ui import when
from vibekit_desktop.ui.text import tr, tr_n
from vibekit_desktop.ui.theme import icons
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.theme.style import rounded
from vibekit_desktop.ui.tool_tip import plain_tip
from vibekit_desktop.ui.views.agent_tiles import AgentTiles
from vibekit_desktop.ui.views.controls import Button, draw_icon

_V = int(Qt.AlignmentFlag.AlignVCenter)


class _Head(QWidget):
    """The program's picture, its name, what it is for."""

    def __init__(self, hub: ThemeHub, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self.setAccessibleName(tr("Welcome to VibeKit Desktop"))
        hub.changed.connect(self._themed)
        self._themed()

    def _themed(self) -> None:
        theme = self._hub.theme
        self.setFixedHeight(max(theme.size("app-picture"), theme.line_height("display") + theme.line_height("reading")))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        side = theme.size("app-picture")
        painter.drawPixmap(0, (self.height() - side) // 2, icons.app_pixmap(side, self.devicePixelRatioF()))
        painter.setFont(theme.font("display"))
        painter.setPen(theme.color("text.primary"))
        room = self.width() - 86
        first, second = theme.line_height("display"), theme.line_height("reading")
        top = (self.height() - first - second) / 2
        name = theme.metrics("display").elidedText(tr("Welcome to VibeKit Desktop"), Qt.TextElideMode.ElideRight, room)
        painter.drawText(QRectF(86, top, room, first), _V, name)
        painter.setFont(theme.font("reading"))
        painter.setPen(theme.color("text.secondary"))
        text = tr("See what each turn of an agent changed, and take back any of it.")
        text = theme.metrics("reading").elidedText(text, Qt.TextElideMode.ElideRight, room)
        painter.drawText(QRectF(86, top + first, room, second), _V, text)


def _drop_text() -> str:
    return tr("Or drop one here. Chats of agents that work in it are listed.")


class _DropZone(QWidget):
    """A dashed box that takes a folder. ``folder_chosen`` carries its path."""

    folder_chosen = Signal(str)

    def __init__(self, hub: ThemeHub, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self._over = False
        self.setAcceptDrops(True)
        self.setAccessibleName(tr("Choose a folder to work in"))
        self.setAccessibleDescription(_drop_text())
        self.button = Button(hub, tr("Choose folder…"), kind="primary", size="large", parent=self)
        self.button.clicked.connect(self.ask)
        hub.changed.connect(self._themed)
        self._themed()

    def _themed(self) -> None:
        self.setFixedHeight(self._hub.theme.size("drop-zone"))
        self._place()
        self.update()

    def ask(self) -> None:
        """Open the folder dialog."""
        dialog = QFileDialog(self.window(), tr("Choose a folder to work in"))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.fileSelected.connect(self.folder_chosen)
        dialog.open()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._place()

    def _place(self) -> None:
        size = self.button.sizeHint()
        self.button.setGeometry(
            self.width() - 16 - size.width(), (self.height() - size.height()) // 2, size.width(), size.height()
        )

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if _local_paths(event):
            self._over = True
            self.update()
            event.acceptProposedAction()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self._over = False
        self.update()

    def dropEvent(self, event: QDropEvent) -> None:
        self._over = False
        self.update()
        paths = _local_paths(event)
        if paths:
            event.acceptProposedAction()
            self.folder_chosen.emit(paths[0])

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        box = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        if self._over:
            rounded(painter, box, theme.radius("card"), fill=theme.color("accent.tint"))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pen = QPen(theme.color("line.focus" if self._over else "line.control"), 1)
        pen.setDashPattern([3, 2])
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(box, theme.radius("card"), theme.radius("card"))
        top = (self.height() - 40) // 2
        rounded(painter, QRectF(16, top, 40, 40), theme.radius("control"), fill=theme.color("accent.tint"))
        draw_icon(painter, theme, "folder-open", "accent.text", 26, top + 10, 20)
        room = self.button.x() - 70 - 12
        painter.setFont(theme.font("heading"))
        painter.setPen(theme.color("text.primary"))
        first, second = theme.line_height("heading"), theme.line_height("body")
        top = (self.height() - first - second) // 2
        title = theme.metrics("heading").elidedText(tr("Choose a folder to work in"), Qt.TextElideMode.ElideRight, room)
        painter.drawText(QRectF(70, top, room, first), _V, title)
        painter.setFont(theme.font("body"))
        painter.setPen(theme.color("text.secondary"))
        text = theme.metrics("body").elidedText(_drop_text(), Qt.TextElideMode.ElideRight, room)
        painter.drawText(QRectF(70, top + first, room, second), _V, text)


def _local_paths(event: QDropEvent) -> list[str]:
    return [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]


class _SourceRow(QWidget):
    """One program whose chats were found, with Open."""

    def __init__(self, hub: ThemeHub, source: SourceSummary, now_ms: int, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self._title = source.label
        self._detail = describe(source, now_ms)
        self.setAccessibleName(f"{self._title}, {self._detail}")
        self.button = Button(hub, tr("Open"), parent=self)
        self.button.setAccessibleName(tr("Open the chats of {name}", name=source.label))
        self.button.setVisible(source.sessions > 0)
        self.setToolTip(plain_tip(source.root))
        hub.changed.connect(self._themed)
        self._themed()

    def _themed(self) -> None:
        self.setFixedHeight(self._hub.theme.size("source"))
        self._place()
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._place()

    def _place(self) -> None:
        size = self.button.sizeHint()
        self.button.setGeometry(
            self.width() - 12 - size.width(), (self.height() - size.height()) // 2, size.width(), size.height()
        )

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        top = (self.height() - 32) // 2
        rounded(painter, QRectF(14, top, 32, 32), theme.radius("control"), fill=theme.color("bg.chip"))
        draw_icon(painter, theme, "agent", "text.secondary", 22, top + 8)
        room = self.button.x() - 58 - 12
        painter.setFont(theme.font("body-strong"))
        painter.setPen(theme.color("text.primary"))
        first, second = theme.line_height("body"), theme.line_height("small")
        top = (self.height() - first - second) // 2
        title = theme.metrics("body-strong").elidedText(self._title, Qt.TextElideMode.ElideRight, room)
        painter.drawText(QRectF(58, top, room, first), _V, title)
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("text.tertiary"))
        text = theme.metrics("small").elidedText(self._detail, Qt.TextElideMode.ElideRight, room)
        painter.drawText(QRectF(58, top + first, room, second), _V, text)


def describe(source: SourceSummary, now_ms: int) -> str:
    """ "38 chats in 6 folders · newest today"."""
    text = tr_n("1 chat", "{n} chats", source.sessions)
    if source.folders:
        text += " " + tr_n("in 1 folder", "in {n} folders", source.folders)
    if source.newest_at:
        text += " · " + tr("newest {age}", age=when.age_in_days(source.newest_at, now_ms))
    if source.problems:
        text += " · " + tr_n("1 problem", "{n} problems", len(source.problems))
    return text


class _Sources(QWidget):
    """The box of the rows: a border and hairlines between them."""

    def __init__(self, hub: ThemeHub, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self._rows: list[_SourceRow] = []
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(1, 1, 1, 1)
        self._layout.setSpacing(0)
        hub.changed.connect(self.update)

    def fill(self, sources: Sequence[SourceSummary], now_ms: int, opened: Callable[[str], None]) -> None:
        for row in self._rows:
            self._layout.removeWidget(row)
            row.deleteLater()
        self._rows = []
        for source in sources:
            row = _SourceRow(self._hub, source, now_ms, self)
            row.button.clicked.connect(lambda _checked=False, name=source.name: opened(name))
            self._layout.addWidget(row)
            self._rows.append(row)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        rounded(painter, QRectF(self.rect()), theme.radius("card"), line=theme.color("line.hair"))
        for row in self._rows[1:]:
            painter.fillRect(QRectF(1, row.y(), self.width() - 2, 1), theme.color("line.hair"))


class _Line(QWidget):
    """A painted line of text: a section's header, or the sentence about privacy."""

    def __init__(self, hub: ThemeHub, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self.icon, self.strong, self.text = "", "", ""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.button: Button | None = None
        hub.changed.connect(self._themed)

    def _themed(self) -> None:
        self.updateGeometry()
        self.place()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(200, self._hub.theme.line_height("heading"))

    def say(self, *, icon: str = "", strong: str = "", text: str = "") -> None:
        """What it says."""
        self.icon, self.strong, self.text = icon, strong, text
        self.setAccessibleName(f"{strong} {text}".strip())
        self.update()

    def place(self) -> None:
        """Put the button at the right end; its own padding hangs over the edge so that its text ends in line."""
        if self.button is not None:
            size = self.button.sizeHint()
            top = (self.height() - size.height()) // 2
            self.button.setGeometry(self.width() - size.width() + 8, top, size.width(), size.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.place()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        x = 0.0
        if self.icon:
            draw_icon(painter, theme, self.icon, "text.tertiary", 0, (self.height() - 14) // 2, 14)
            x = 22
        if self.strong:
            painter.setFont(theme.font("heading"))
            painter.setPen(theme.color("text.primary"))
            painter.drawText(QRectF(x, 0, self.width(), self.height()), _V, self.strong)
            x += theme.metrics("heading").horizontalAdvance(self.strong) + 10
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("text.tertiary"))
        right = self.button.x() if self.button is not None and self.button.isVisible() else self.width()
        text = theme.metrics("small").elidedText(self.text, Qt.TextElideMode.ElideRight, right - x - 8)
        painter.drawText(QRectF(x, 0, self.width() - x, self.height()), _V, text)


class FirstRun(QScrollArea):
    """The page. ``folder_chosen`` carries a folder to work in; ``source_opened`` the name of a program whose chats are to be
    shown, or empty for all of them; ``agent_chosen`` the id of an agent to start."""

    folder_chosen = Signal(str)
    source_opened = Signal(str)
    agent_chosen = Signal(str)

    def __init__(self, hub: ThemeHub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        page = QWidget()
        self._page = page
        self._column = QWidget(page)
        column = QVBoxLayout(self._column)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(_Head(hub, self._column))
        column.addSpacing(26)
        self.zone = _DropZone(hub, self._column)
        self.zone.folder_chosen.connect(self.folder_chosen)
        column.addWidget(self.zone)
        self._found = QWidget(self._column)
        found = QVBoxLayout(self._found)
        found.setContentsMargins(0, 22, 0, 0)
        found.setSpacing(8)
        self._heading = _Line(hub, self._found)
        self._heading.say(strong=tr("Found on this computer"), text=tr("Read where they are, never changed"))
        self.open_all = Button(hub, "", kind="link", size="small", parent=self._heading)
        self.open_all.clicked.connect(lambda: self.source_opened.emit(""))
        self._heading.button = self.open_all
        found.addWidget(self._heading)
        self._sources = _Sources(hub, self._found)
        found.addWidget(self._sources)
        self._found.hide()
        column.addWidget(self._found)
        self._start = QWidget(self._column)
        start = QVBoxLayout(self._start)
        start.setContentsMargins(0, 22, 0, 0)
        start.setSpacing(8)
        self._start_heading = _Line(hub, self._start)
        self._start_heading.say(strong=tr("Start an agent"))
        start.addWidget(self._start_heading)
        self._agents = AgentTiles(hub, self._start)
        self._agents.chosen.connect(self.agent_chosen)
        start.addWidget(self._agents)
        self._start.hide()
        column.addWidget(self._start)
        column.addSpacing(22)
        privacy = _Line(hub, self._column)
        privacy.say(
            icon="lock", text=tr("Everything stays on this computer. Nothing is sent anywhere except by the agents you start.")
        )
        column.addWidget(privacy)
        outer = QVBoxLayout(page)
        outer.setContentsMargins(32, 24, 32, 32)
        outer.addStretch(1)
        outer.addWidget(self._column, 0, Qt.AlignmentFlag.AlignHCenter)
        outer.addStretch(1)
        self.setWidget(page)
        hub.changed.connect(self._themed)
        self._themed()

    def _themed(self) -> None:
        for widget in (self._page, self.viewport()):
            palette = widget.palette()
            palette.setColor(widget.backgroundRole(), self._hub.theme.color("bg.surface"))
            widget.setPalette(palette)
            widget.setAutoFillBackground(True)
        self._fit()
        self.update()

    def show_sources(self, sources: Sequence[SourceSummary], now_ms: int | None = None) -> None:
        """What was found; programs without any chat are left out."""
        shown = [source for source in sources if source.sessions]
        self._sources.fill(shown, when.local_now_ms() if now_ms is None else now_ms, self.source_opened.emit)
        total = sum(source.sessions for source in shown)
        self.open_all.setText(tr("Open all {n} chats", n=total))
        self.open_all.setAccessibleName(self.open_all.text())
        self.open_all.setVisible(len(shown) > 1)
        self._heading.place()
        self._found.setVisible(bool(shown))

    def show_agents(self, agents: Sequence[AgentInfo]) -> None:
        """Which agents there are: those that are on this computer first."""
        self._agents.fill(agents)
        self._start.setVisible(bool(agents))

    def _fit(self) -> None:
        theme = self._hub.theme
        most = round(theme.size("reading-max") * max(1.0, theme.zoom))
        self._column.setFixedWidth(max(200, min(most, self.viewport().width() - 64)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._fit()
        super().resizeEvent(event)
