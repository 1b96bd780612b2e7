"""Ask what happens to the files when a chat is branched. UI thread only."""

from typing import NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QButtonGroup, QLabel, QRadioButton, QVBoxLayout, QWidget

from vibekit_desktop.ui.dialogs.asking import Asking
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.theme.style import ink


class Branching(NamedTuple):
    """``files_before``: the files are put back to how they were before the turn."""

    files_before: bool


class BranchDialog(Asking[Branching]):
    """Branch from before ``turn``. ``why_files_stay``: why the files can't be put back now; empty if they can."""

    def __init__(self, hub: ThemeHub, parent: QWidget, turn: int, *, why_files_stay: str = "") -> None:
        copies = (
            tr("Copies the chat up to turn {turn}.", turn=turn - 1) if turn > 1 else tr("The new chat begins without messages.")
        )
        super().__init__(
            hub,
            parent,
            title=tr("Branch from before turn {turn}", turn=turn),
            text=copies,
            icon="branch",
            cancel=tr("Cancel"),
            go=tr("Branch"),
        )
        part = QWidget(self.card)
        column = QVBoxLayout(part)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        self._head, self._note = QLabel(tr("Files"), part), QLabel(part)
        self._group = QButtonGroup(self)
        self.keep = QRadioButton(tr("Keep as they are"), part)
        self.restore = QRadioButton(tr("Restore to before turn {turn}", turn=turn), part)
        self._group.addButton(self.keep, 0)
        self._group.addButton(self.restore, 1)
        self.keep.setChecked(True)
        self.restore.setEnabled(not why_files_stay)
        self._note.setTextFormat(Qt.TextFormat.PlainText)
        self._note.setWordWrap(True)
        self._note.setContentsMargins(24, 0, 0, 0)
        self._note.setFixedWidth(self.inner_width)
        self._note.setText(
            why_files_stay or tr("What you changed since stays. The present state is saved first. You can undo this restore.")
        )
        self.restore.setAccessibleDescription(self._note.text())
        for widget in (self._head, self.keep, self.restore, self._note):
            column.addWidget(widget)
        self.add_part(part, self.keep, self.restore)
        self._dress_part()
        hub.changed.connect(self._dress_part)

    def _dress_part(self) -> None:
        theme = self.hub.theme
        self._head.setFont(theme.font("label"))
        self._note.setFont(theme.font("small"))
        for label in (self._head, self._note):
            ink(label, theme, "text.tertiary")

    def agreed(self) -> Branching:
        """What was chosen."""
        return Branching(files_before=self.restore.isChecked())

    async def ask(self) -> Branching | None:
        """How to branch, or None; the dialog is gone afterwards."""
        answer = await self.wait()
        self.close_now()
        return answer
