"""Ask before a chat is deleted for good, and whether its branches go with it. UI thread only."""

from typing import NamedTuple

from PySide6.QtWidgets import QCheckBox, QWidget

from vibekit_desktop.core.types.chats import ChatHeader, ChatStatus
from vibekit_desktop.ui.dialogs.asking import Asking
from vibekit_desktop.ui.models.chat_rows import title_of
from vibekit_desktop.ui.text import tr, tr_n
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.visible import one_line

_AGENT_CHARS = 40


class Deletion(NamedTuple):
    """What is to be deleted with the chat."""

    keep_branches: bool


class DeleteChatDialog(Asking[Deletion]):
    """``branches``: how many the chat has, those of its branches too."""

    def __init__(self, hub: ThemeHub, parent: QWidget, header: ChatHeader, branches: int) -> None:
        self._header, self._branches = header, branches
        found = header.status is ChatStatus.FOUND
        title = tr("Delete “{title}” for good?", title=title_of(header))
        if found:
            title = tr("Take “{title}” off the list?", title=title_of(header))
        super().__init__(
            hub,
            parent,
            title=title,
            text=self._words_for(keep=False),
            icon="trash",
            cancel=tr("Cancel"),
            go=tr("Take off the list") if found else tr("Delete chat"),
            kind="danger",
            tone="danger",
        )
        self.keep: QCheckBox | None = None
        if branches and not found:
            self.keep = QCheckBox(tr_n("Keep the branch", "Keep the branches", branches), self.card)
            self.keep.toggled.connect(lambda kept: self.say(self._words_for(keep=kept)))
            self.add_part(self.keep, self.keep)

    def _words_for(self, *, keep: bool) -> str:
        header = self._header
        if header.status is ChatStatus.FOUND:
            agent = one_line(header.agent, _AGENT_CHARS) or tr("another program")
            return tr("The history stays where {agent} keeps it. Importing its file brings it back.", agent=agent)
        what = self._what(header.turn_count, 0 if keep else self._branches)
        if keep and self._branches:
            one, many = "Its branch becomes a chat of its own.", "Its {n} branches become chats of their own."
            what += " " + tr_n(one, many, self._branches)
        return " ".join((what, tr("Your files stay as they are."), tr("This can't be undone.")))

    @staticmethod
    def _what(checkpoints: int, branches: int) -> str:
        points = tr_n("its checkpoint", "its {n} checkpoints", checkpoints) if checkpoints else ""
        below = tr_n("its branch", "its {n} branches", branches) if branches else ""
        if points and below:
            return tr("The chat, {points} and {below} are removed.", points=points, below=below)
        if points or below:
            return tr("The chat and {what} are removed.", what=points or below)
        return tr("The chat is removed.")

    def agreed(self) -> Deletion:
        """What was chosen."""
        return Deletion(keep_branches=self.keep is not None and self.keep.isChecked())

    async def ask(self) -> Deletion | None:
        """What to delete, or None; the dialog is gone afterwards."""
        answer = await self.wait()
        self.close_now()
        return answer
