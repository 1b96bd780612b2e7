"""Ask as what a chat is to be exported. Where to is asked by the system's own dialog afterwards. UI thread only."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QButtonGroup, QLabel, QRadioButton, QVBoxLayout, QWidget

from vibekit_desktop.core.types.chats import ExportFormat
from vibekit_desktop.ui.dialogs.asking import Asking
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.theme.style import ink

FORMATS = (ExportFormat.MARKDOWN, ExportFormat.HTML, ExportFormat.JSON, ExportFormat.PATCH)
"""In the order in which they are offered."""


def format_words(kind: ExportFormat) -> tuple[str, str]:
    """The name of a format, and what is in it."""
    match kind:
        case ExportFormat.MARKDOWN:
            return tr("Markdown"), tr("The transcript as text, to read and to quote.")
        case ExportFormat.HTML:
            return tr("Web page"), tr("The transcript as one page that needs nothing else.")
        case ExportFormat.JSON:
            return tr("JSON"), tr("Everything that is stored of the chat, for other programs.")
        case ExportFormat.PATCH:
            return tr("Patch"), tr("What the chat changed, from its start to now, as git apply takes it.")


class ExportChatDialog(Asking[ExportFormat]):
    """The chat called ``title`` as one of `FORMATS`; the one chosen last is preset."""

    def __init__(self, hub: ThemeHub, parent: QWidget, title: str, *, preset: ExportFormat = ExportFormat.MARKDOWN) -> None:
        super().__init__(
            hub,
            parent,
            title=tr("Export “{title}”", title=title),
            text=tr("All of its messages go into one new file. What agents and commands said is in it as it was."),
            icon="export",
            cancel=tr("Cancel"),
            go=tr("Export…"),
        )
        self._group = QButtonGroup(self)
        self._said: list[QLabel] = []
        part = QWidget(self.card)
        column = QVBoxLayout(part)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        for number, kind in enumerate(FORMATS):
            name, what = format_words(kind)
            radio = QRadioButton(name, part)
            radio.setAccessibleDescription(what)
            radio.setChecked(kind is preset)
            self._group.addButton(radio, number)
            said = QLabel(part)
            said.setTextFormat(Qt.TextFormat.PlainText)
            said.setWordWrap(True)
            said.setText(what)
            said.setContentsMargins(24, 0, 0, 6)
            said.setFixedWidth(self.inner_width)
            self._said.append(said)
            column.addWidget(radio)
            column.addWidget(said)
        self.add_part(part, *self._group.buttons())
        self._dress_notes()
        hub.changed.connect(self._dress_notes)

    def _dress_notes(self) -> None:
        theme = self.hub.theme
        for said in self._said:
            said.setFont(theme.font("small"))
            ink(said, theme, "text.tertiary")

    def choose(self, kind: ExportFormat) -> None:
        """Preset another format."""
        self._group.button(FORMATS.index(kind)).setChecked(True)

    def agreed(self) -> ExportFormat:
        """What was chosen."""
        return FORMATS[self._group.checkedId()]

    async def ask(self) -> ExportFormat | None:
        """The format, or None; the dialog is gone afterwards."""
        answer = await self.wait()
        self.close_now()
        return answer
