"""The centre page of an open chat: header, a banner if something is wrong, transcript, the read-only row. UI thread only."""

from PySide6.QtCore import QRect, QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from vibekit_desktop.core.types.chats import ChatStatus, ChatView
from vibekit_desktop.ui.models.transcript import TranscriptModel
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.theme.style import rounded
from vibekit_desktop.ui.views.chat_header import ChatHeader
from vibekit_desktop.ui.views.controls import Button, draw_icon
from vibekit_desktop.ui.views.main_window import MainWindow
from vibekit_desktop.ui.views.open_link import ask_to_open
from vibekit_desktop.ui.views.transcript import TranscriptView

_TONES = {
    "info": ("accent.tint", "accent.text"),
    "warning": ("warning.tint", "warning.text"),
    "error": ("danger.tint", "danger.text"),
}


_BEFORE_TEXT, _BESIDE, _AROUND_BUTTON = 44, 12, 4


class Banner(QWidget):
    """One fact about the chat, under the header, with at most one button; hidden while there is none. ``tone``: ``info``,
    ``warning`` or ``error``. ``acted`` has no argument: the button was pressed."""

    acted = Signal()

    def __init__(self, hub: ThemeHub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self._text, self._tone, self._icon = "", "info", "info"
        self._button = Button(hub, "", parent=self)
        self._button.clicked.connect(self.acted)
        self._button.hide()
        self.hide()
        hub.changed.connect(self._themed)

    def say(self, text: str, tone: str = "info", icon: str = "info", *, action: str = "") -> None:
        """Show a fact; an empty text hides the banner. Without an ``action`` there is no button."""
        self._text, self._tone, self._icon = text, tone, icon
        self.setAccessibleName(text)
        self._button.setText(action)
        self._button.setAccessibleName(action)
        self._button.setVisible(bool(action))
        self.setVisible(bool(text))
        self._fit()
        self.update()

    def _themed(self) -> None:
        self._fit()
        self.update()

    @property
    def _room(self) -> int:
        """How wide the text may be."""
        button = self._button.sizeHint().width() + _BESIDE if self._button.text() else 0
        return max(100, self.width() - _BEFORE_TEXT - _BESIDE - button)

    def _fit(self) -> None:
        flags = int(Qt.TextFlag.TextWordWrap)
        box = self._hub.theme.metrics("body").boundingRect(QRectF(0, 0, self._room, 400), flags, self._text)
        hint = self._button.sizeHint()
        least = hint.height() + 2 * _AROUND_BUTTON if self._button.text() else 0
        self.setFixedHeight(max(36, int(box.height()) + 16, least))
        left, top = self.width() - _BESIDE - hint.width(), (self.height() - hint.height()) // 2
        self._button.setGeometry(left, top, hint.width(), hint.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._fit()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        ground, ink = _TONES[self._tone]
        painter.fillRect(self.rect(), theme.color(ground))
        draw_icon(painter, theme, self._icon, ink, 20, (self.height() - 16) // 2)
        painter.setFont(theme.font("body"))
        painter.setPen(theme.color("text.primary"))
        flags = int(Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextWordWrap)
        painter.drawText(QRect(_BEFORE_TEXT, 0, self._room, self.height()), flags, self._text)


class ReadOnlyRow(QWidget):
    """The foot of the page: where the chat comes from, and that it is shown as recorded."""

    def __init__(self, hub: ThemeHub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self._text = ""
        hub.changed.connect(self.update)

    def say(self, text: str) -> None:
        """The one sentence; empty hides the row."""
        self._text = text
        self.setAccessibleName(text)
        self.setVisible(bool(text))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.color("bg.surface"))
        width = max(200, min(theme.size("reading-max"), self.width() - 64))
        box = QRectF((self.width() - width) / 2, 0, width, self.height() - theme.tokens.space("s16"))
        rounded(painter, box, theme.radius("composer"), fill=theme.color("bg.raised"), line=theme.color("line.hair"))
        draw_icon(painter, theme, "lock", "text.tertiary", round(box.x()) + 14, 14)
        painter.setFont(theme.font("body"))
        painter.setPen(theme.color("text.secondary"))
        text = theme.metrics("body").elidedText(self._text, Qt.TextElideMode.ElideRight, width - 56)
        painter.drawText(box.adjusted(40, 0, -14, 0), int(Qt.AlignmentFlag.AlignVCenter), text)


class ChatPage(QWidget):
    """The page. Its parts are public: ``header``, ``banner``, ``transcript``; their signals are the page's.

    ``leave_requested`` has no argument: a restore that did not end is to be ended, the files as they are."""

    leave_requested = Signal()

    def __init__(self, hub: ThemeHub, model: TranscriptModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = model
        self._window: MainWindow | None = None
        self._chat = ""
        self._wrong = ("", "info", "info")
        self._unfinished = self._to_answer = self._archived = False
        self.header = ChatHeader(hub, self)
        self.banner = Banner(hub, self)
        self.banner.acted.connect(self.leave_requested)
        self.transcript = TranscriptView(hub, model, self)
        self.foot = ReadOnlyRow(hub, self)
        self.foot.setFixedHeight(hub.theme.size("chat-foot"))
        self.transcript.link_requested.connect(lambda address: ask_to_open(self.window(), address))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.header)
        layout.addWidget(self.banner)
        layout.addWidget(self.transcript, 1)
        layout.addWidget(self.foot)

    def follow(self, window: MainWindow) -> None:
        """Let the header say what the window's panes do."""
        self._window = window
        window.sidebar_shown.connect(lambda shown: self.header.set_left_inset(0 if shown else 32))
        window.inspector_shown.connect(self._panes_moved)
        window.narrow_changed.connect(self._panes_moved)
        self._panes_moved()

    def _panes_moved(self) -> None:
        if self._window is not None:
            panes = self._window.panes
            self.header.set_inspector(shown=panes.inspector_open, narrow=panes.is_narrow)

    def show_view(self, view: ChatView, *, shown_path: str) -> None:
        """Show a chat that was opened. ``shown_path`` is its workspace as it is written (home folder shortened)."""
        header, chat = view.header, view.chat
        self.model.set_view(view)
        self.header.set_chat(header.name, header.agent, chat.model, view.vault_workspace, shown_path)
        self.foot.say(_origin(header.agent, source=bool(header.source)))
        self._unfinished = self._unfinished and header.id == self._chat
        self._chat = header.id
        self._wrong = _what_is_wrong(view)
        self._archived = header.archived
        self._say_what_is_wrong()

    def say_unfinished(self, unfinished: bool, *, to_answer: bool = False) -> None:
        """Whether a restore of the shown chat began and did not end, and whether it waits for somebody to say that the files
        stay as they are. What keeps all of it from being restored goes first."""
        self._unfinished, self._to_answer = unfinished, to_answer
        self._say_what_is_wrong()

    def _say_what_is_wrong(self) -> None:
        if self._unfinished and not self._wrong[0]:
            text = tr("A restore of this chat began and did not end. Some of its files may be put back and others not.")
            action = tr("Leave the files as they are") if self._to_answer else ""
            self.banner.say(text, "warning", "warning", action=action)
        elif self._archived and not self._wrong[0]:
            self.banner.say(tr("This chat is archived."), "info", "archive")
        else:
            self.banner.say(*self._wrong)


def _what_is_wrong(view: ChatView) -> tuple[str, str, str]:
    """What the banner says of a chat, with its tone and icon; an empty text if nothing is wrong."""
    if view.header.status is ChatStatus.DAMAGED:
        return view.header.problem or tr("Parts of this chat can't be read."), "error", "damaged"
    if not view.workspace_found:
        text = tr("The workspace was not found where it was. The chat can be read; nothing can be restored.")
        return text, "warning", "warning"
    return "", "info", "info"


def _origin(agent: str, *, source: bool) -> str:
    if source and agent:
        return tr("This chat was made with {agent}. It is shown here as it was recorded.", agent=agent)
    return tr("This chat is shown here as it was recorded.")
