"""Ask as what a chat is to be exported, and without what. Where to the system's own dialog asks afterwards. UI thread only."""

from typing import NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QButtonGroup, QCheckBox, QLabel, QRadioButton, QVBoxLayout, QWidget

from vibekit_desktop.core.types.chats import ExportFormat, Withheld
from vibekit_desktop.ui.dialogs.asking import Asking
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.theme.style import ink
from vibekit_desktop.ui.tool_tip import plain_tip

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


class Exporting(NamedTuple):
    """What is wanted: as what, and without what."""

    kind: ExportFormat = ExportFormat.MARKDOWN
    withheld: Withheld = Withheld(secrets=True)


USUAL = Exporting()


class ExportChatDialog(Asking[Exporting]):
    """The chat called ``title`` as one of `FORMATS`; what was chosen last is preset. Invariant: nothing can be left out of a
    patch, which would not apply any more."""

    def __init__(self, hub: ThemeHub, parent: QWidget, title: str, *, preset: Exporting = USUAL) -> None:
        super().__init__(
            hub,
            parent,
            title=tr("Export “{title}”", title=title),
            text=tr("All of its messages go into one new file."),
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
            radio.setChecked(kind is preset.kind)
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
        self.output = QCheckBox(tr("Leave out command output"), self.card)
        self.output.setChecked(preset.withheld.output)
        self.secrets = QCheckBox(tr("Mask likely secrets"), self.card)
        self.secrets.setChecked(preset.withheld.secrets)
        for box in (self.output, self.secrets):
            self.add_part(box, box, gap=6)
        self._group.idToggled.connect(lambda *_: self._look())
        self._look()
        self._dress_notes()
        hub.changed.connect(self._dress_notes)

    def _dress_notes(self) -> None:
        theme = self.hub.theme
        for said in self._said:
            said.setFont(theme.font("small"))
            ink(said, theme, "text.tertiary")

    def _look(self) -> None:
        whole = FORMATS[self._group.checkedId()] is ExportFormat.PATCH
        why = tr("A patch has to be whole, or it can't be applied.") if whole else ""
        for box in (self.output, self.secrets):
            box.setEnabled(not whole)
            box.setToolTip(plain_tip(why))
        if not whole:
            self.secrets.setToolTip(plain_tip(tr("What looks like a key, a token or a password. Look through the file too.")))

    def choose(self, kind: ExportFormat) -> None:
        """Preset another format."""
        self._group.button(FORMATS.index(kind)).setChecked(True)

    def agreed(self) -> Exporting:
        """What was chosen."""
        withheld = Withheld(output=self.output.isChecked(), secrets=self.secrets.isChecked())
        return Exporting(FORMATS[self._group.checkedId()], withheld)

    async def ask(self) -> Exporting | None:
        """What is wanted, or None; the dialog is gone afterwards."""
        answer = await self.wait()
        self.close_now()
        return answer
