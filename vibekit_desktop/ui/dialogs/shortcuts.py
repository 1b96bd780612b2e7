"""The keys of the window, as a list made from the table of actions, so that it cannot say anything else. UI thread only."""

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from vibekit_desktop.ui.actions import Actions, keys_text, on_mac, review_table, sequences
from vibekit_desktop.ui.dialogs.overlay import Overlay
from vibekit_desktop.ui.dialogs.sign_in import show_through
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.theme.style import Dress
from vibekit_desktop.ui.views.controls import Button

_WIDTH, _HIGHEST = 520, 620


def rows_of(actions: Actions) -> list[tuple[str, str]]:
    """What can be done, and with which keys: every action that does something, those of a review, then what the message
    field knows itself."""
    found: list[tuple[str, str]] = []
    for name in actions.names():
        action = actions[name]
        keys = [keys_text(one) for one in action.shortcuts()]
        if action.isVisible() and keys:
            found.append((action.text().rstrip("…"), tr(" or ").join(keys)))
    in_review = [
        (
            tr("{what}, in a review", what=spec.text),
            tr(" or ").join(keys_text(one) for one in sequences(spec, mac=on_mac())),
        )
        for spec in review_table()
    ]
    return [
        *found,
        *in_review,
        (tr("Send the message, or queue it"), tr("Enter")),
        (tr("New line in the message"), tr("⇧ Enter")),
        (tr("Write the last message again"), tr("Up, in the empty message")),
        (tr("Stop"), tr("Esc twice")),
        (tr("Close what lies over the window"), tr("Esc")),
    ]


class Shortcuts(Overlay[str]):
    """The dialog. Its only answer is no."""

    def __init__(self, hub: ThemeHub, parent: QWidget, rows: Sequence[tuple[str, str]]) -> None:
        super().__init__(hub, parent)
        title = tr("Keyboard shortcuts")
        self.setAccessibleName(title)
        outer = QVBoxLayout(self.card)
        outer.setContentsMargins(24, 20, 24, 20)
        outer.setSpacing(12)
        outer.addWidget(self._label(title, "title"))
        body = QWidget(self.card)
        grid = QGridLayout(body)
        grid.setContentsMargins(0, 0, 12, 0)
        grid.setHorizontalSpacing(24)
        grid.setVerticalSpacing(8)
        grid.setColumnStretch(0, 1)
        for number, (text, keys) in enumerate(rows):
            what, how = self._label(text, "body"), self._label(keys, "body", "text.secondary")
            how.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop)
            grid.addWidget(what, number, 0)
            grid.addWidget(how, number, 1)
        self.list = QScrollArea(self.card)
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setWidgetResizable(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.list.setAccessibleName(title)
        self.list.setWidget(body)
        show_through(self.list)
        outer.addWidget(self.list, 1)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        close = Button(hub, tr("Close"), size="large", parent=self.card)
        close.clicked.connect(lambda: self.answer(None))
        buttons.addWidget(close)
        outer.addLayout(buttons)
        self.stops = [close, self.list]
        self._rest = close.sizeHint().height() + hub.theme.line_height("title") + 40 + 24
        self._body = body

    def _label(self, text: str, style: str, token: str = "") -> QLabel:
        label = QLabel(text, self.card)
        label.setTextFormat(Qt.TextFormat.PlainText)
        Dress(label, self.hub, style, token)
        return label

    def wanted_size(self, room: QSize) -> QSize:
        """As high as the list is, if the window is high enough."""
        width = self._body.minimumSizeHint().width() + self.list.verticalScrollBar().sizeHint().width() + 48
        return QSize(max(_WIDTH, width), min(_HIGHEST, self._body.sizeHint().height() + self._rest)).boundedTo(room)

    async def ask(self) -> None:
        """Show it until it is closed."""
        await self.wait()
