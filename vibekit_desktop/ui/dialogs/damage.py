"""Say which messages of a damaged chat can't be read, why, and where its file is. Changes nothing. UI thread only."""

from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from vibekit_desktop.core.types.chats import Damage
from vibekit_desktop.ui.dialogs.asking import Asking
from vibekit_desktop.ui.models.damage_words import damage_lines, damage_told, promises
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.visible import visible_name
from vibekit_desktop.ui.wording import short_path

_LINES, _AROUND = 8, 24


class DamageDialog(Asking[bool]):
    """Invariant: its text can be selected and copied, and nothing in it can be changed."""

    def __init__(self, hub: ThemeHub, parent: QWidget, damage: Damage) -> None:
        super().__init__(
            hub,
            parent,
            title=damage_told(damage),
            text=promises(damage),
            icon="damaged",
            cancel=tr("Close"),
            go=tr("Open its folder"),
            kind="secondary",
            tone="danger",
        )
        words = [visible_name(short_path(damage.file)), *damage_lines(damage)]
        self.details = QPlainTextEdit(self.card)
        self.details.setReadOnly(True)
        self.details.setTabChangesFocus(True)
        self.details.setAccessibleName(tr("Details"))
        self.details.setPlainText("\n".join(words))
        self.details.setFixedWidth(self.inner_width)
        self.add_part(self.details, self.details, gap=12)
        self._lines = min(_LINES, len(words) + 1)
        self._fit()
        hub.changed.connect(self._fit)

    def _fit(self) -> None:
        font = self.hub.theme.font("code-small")
        self.details.setFont(font)
        self.details.setFixedHeight(self._lines * QFontMetrics(font).lineSpacing() + _AROUND)

    def agreed(self) -> bool:
        """The folder is to be shown."""
        return True

    async def ask(self) -> bool:
        """Whether the folder of the file is to be shown; the dialog is gone afterwards."""
        answer = await self.wait()
        self.close_now()
        return bool(answer)
