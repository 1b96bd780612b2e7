"""How an agent wants its user to sign in: by itself, by variables, or by a command in a terminal. We run none of the commands.

UI thread only.
"""

import shlex
from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from vibekit_desktop.core.types.agents import SignIn, SignInKind
from vibekit_desktop.ui.dialogs.overlay import Overlay
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.theme.style import Dress
from vibekit_desktop.ui.views.controls import Button
from vibekit_desktop.ui.views.framed import Framed
from vibekit_desktop.ui.visible import one_line

AGAIN = ""
"""The answer of a person who signed in elsewhere: the agent is to be started again."""
_WIDTH, _NAME_CHARS, _TEXT_CHARS, _MOST_WAYS = 560, 60, 300, 12


def shell_words(command: Sequence[str]) -> str:
    """A command as it is typed in a terminal."""
    return shlex.join(command)


def show_through(area: QScrollArea) -> None:
    """Let the card's ground be seen behind what scrolls on it."""
    for widget in (area.viewport(), area.widget()):
        if widget is not None:
            widget.setAutoFillBackground(False)


class SignInDialog(Overlay[str]):
    """The dialog. Its answer is the id of a way that the agent itself carries out, or `AGAIN`. The agent's own words are framed
    or stand under ours, plain."""

    def __init__(self, hub: ThemeHub, parent: QWidget, agent: str, ways: Sequence[SignIn]) -> None:
        super().__init__(hub, parent)
        name = one_line(agent, _NAME_CHARS)
        title = tr("Sign in to {agent}", agent=name)
        self.setAccessibleName(title)
        outer = QVBoxLayout(self.card)
        outer.setContentsMargins(24, 20, 24, 20)
        outer.setSpacing(12)
        head = self._label(title, "title")
        outer.addWidget(head)
        outer.addWidget(
            self._label(tr("These are the agent's own ways. Nothing that you type there passes through here."), "body")
        )
        body = QWidget(self.card)
        rows = QVBoxLayout(body)
        rows.setContentsMargins(0, 4, 4, 4)
        rows.setSpacing(16)
        for way in ways[:_MOST_WAYS]:
            rows.addLayout(self._row(way, body))
        rows.addStretch(1)
        self._scroll = QScrollArea(self.card)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setWidgetResizable(True)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.setWidget(body)
        show_through(self._scroll)
        self._body = body
        outer.addWidget(self._scroll, 1)
        buttons = QHBoxLayout()
        buttons.setSpacing(12)
        buttons.addStretch(1)
        self.cancel = Button(hub, tr("Cancel"), size="large", parent=self.card)
        self.cancel.clicked.connect(lambda: self.answer(None))
        self.again = Button(hub, tr("I have signed in"), size="large", parent=self.card)
        self.again.clicked.connect(lambda: self.answer(AGAIN))
        buttons.addWidget(self.cancel)
        buttons.addWidget(self.again)
        outer.addLayout(buttons)
        self.stops = [*self.stops, self.again, self.cancel]

    def _label(self, text: str, style: str, *, token: str = "text.primary") -> QLabel:
        label = QLabel(self.card)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setWordWrap(True)
        label.setText(text)
        Dress(label, self.hub, style, token)
        return label

    def _row(self, way: SignIn, body: QWidget) -> QVBoxLayout:
        """One way: its name, what there is to do, and a button."""
        row = QVBoxLayout()
        row.setSpacing(6)
        head = QHBoxLayout()
        name = one_line(way.name, _NAME_CHARS) or one_line(way.id, _NAME_CHARS)
        head.addWidget(self._label(name, "body-strong"), 1)
        row.addLayout(head)
        if way.description:
            row.addWidget(self._label(one_line(way.description, _TEXT_CHARS), "small", token="text.tertiary"))
        if way.kind is SignInKind.AGENT:
            button = Button(self.hub, tr("Sign in"), kind="primary", parent=body)
            button.setAccessibleName(tr("Sign in: {way}", way=name))
            button.clicked.connect(lambda: self.answer(way.id))
        else:
            terminal = way.kind is SignInKind.TERMINAL
            text = shell_words(way.command) if terminal else "\n".join(way.variables)
            told = tr("Run this in a terminal:") if terminal else tr("Set these variables before the program starts:")
            row.addWidget(self._label(told, "small", token="text.secondary"))
            frame = Framed(self.hub, body)
            frame.show_text(text.split("\n"))
            frame.setFixedHeight(frame.height_for(_WIDTH - 60, 4))
            frame.lines.setAccessibleName(f"{name}: {told}")
            row.addWidget(frame)
            button = Button(self.hub, tr("Copy"), icon="copy", parent=body)
            button.setAccessibleName(tr("Copy: {way}", way=name))
            button.clicked.connect(lambda: QGuiApplication.clipboard().setText(text))
        head.addWidget(button)
        self.stops.append(button)
        return row

    def wanted_size(self, room: QSize) -> QSize:
        """As high as its ways need."""
        spare = self._body.sizeHint().height() - self._scroll.minimumSizeHint().height()
        return QSize(_WIDTH, self.card.minimumSizeHint().height() + max(0, spare) + 8).boundedTo(room)

    async def ask(self) -> str | None:
        """The id of a way, `AGAIN`, or None; the dialog is gone afterwards."""
        found = await self.wait()
        self.close_now()
        return found
