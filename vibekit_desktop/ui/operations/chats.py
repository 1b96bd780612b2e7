"""Name, pin, put away, delete, export and branch chats, as a person asks for it; and read what the list shows of all of them.

Each operation tells its own errors, and what was done in a toast. What cannot be taken back is asked first. UI thread only.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QWidget

from vibekit_desktop.core.api import Core
from vibekit_desktop.core.types.chats import ChatHeader, ChatStatus, Damage, Export
from vibekit_desktop.core.types.errors import CoreError
from vibekit_desktop.core.types.ids import ChatId, chat_link
from vibekit_desktop.ui.bridge import Bridge
from vibekit_desktop.ui.dialogs.branch import BranchDialog
from vibekit_desktop.ui.dialogs.damage import DamageDialog
from vibekit_desktop.ui.dialogs.delete_chat import DeleteChatDialog
from vibekit_desktop.ui.dialogs.export_chat import USUAL, ExportChatDialog
from vibekit_desktop.ui.dialogs.question import Choice, Question
from vibekit_desktop.ui.dialogs.save_file import ask_for_place, documents
from vibekit_desktop.ui.error_text import sentence
from vibekit_desktop.ui.models.chat_list import ChatListModel
from vibekit_desktop.ui.models.chat_rows import title_of
from vibekit_desktop.ui.notify import Notifier
from vibekit_desktop.ui.text import tr, tr_n
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.visible import visible_name
from vibekit_desktop.ui.wording import file_name, short_path

_log = logging.getLogger(__name__)


class ChatOperations(QObject):
    """Invariant: at most one of its dialogs is open.

    Signals: ``chat_wanted(chat)``: this one is to be shown; ``leaving(chat, next)``: a chat goes out of sight because a person
    wants it, and ``next`` is whose row follows (or None).
    """

    chat_wanted = Signal(object)
    leaving = Signal(object, object)

    def __init__(
        self, core: Core, hub: ThemeHub, bridge: Bridge, notifier: Notifier, window: QWidget, chats: ChatListModel
    ) -> None:
        super().__init__(window)
        self._core = core
        self._hub = hub
        self._bridge = bridge
        self._notifier = notifier
        self._window = window
        self._chats = chats
        self._asking = False
        self._exporting = USUAL
        self._folder = documents()

    # How an operation runs.

    def _do(self, name: str, work: Callable[[], Awaitable[None]], *, lasting: bool = False) -> None:
        async def told() -> None:
            try:
                await work()
            except CoreError as error:
                self._notifier.toast(sentence(error).sentence, "error", everywhere=True)

        self._bridge.spawn(self, told(), name=name, lasting=lasting)

    def _ask(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        """As `_do`, with a dialog in it."""
        if self._asking:
            return

        async def alone() -> None:
            try:
                await work()
            finally:
                self._asking = False

        self._asking = True
        self._do(name, alone)

    def _told(self, text: str, undo: Callable[[], None] | None = None) -> None:
        self._notifier.toast(text, "done", None if undo is None else (tr("Undo"), undo), everywhere=True)

    # Of one chat.

    def rename(self, chat: ChatId, name: str) -> None:
        """Give a chat another name."""
        self._do("rename a chat", lambda: self._core.chats.rename(chat, name), lasting=True)

    def pin(self, chat: ChatId, pinned: bool) -> None:
        """Keep a chat at the top of the list, or no longer."""
        self._do("pin a chat", lambda: self._core.chats.pin(chat, pinned), lasting=True)

    def running_turn(self, chat: ChatId) -> int:
        """The turn that runs in a chat, or 0."""
        return next((state.turn for state in self._core.live.running() if state.chat == chat), 0)

    def _is_free(self, chat: ChatId) -> bool:
        """Whether no turn runs in the chat; else it is said."""
        turn = self.running_turn(chat)
        if turn:
            self._notifier.toast(tr("Wait until turn {turn} ends, or stop it", turn=turn), "info", everywhere=True)
        return not turn

    def is_damaged(self, chat: ChatId) -> bool:
        """Whether the chat's file is damaged, so that nothing is written to it; then it is said."""
        header = self._chats.header(chat)
        if header is None or header.status is not ChatStatus.DAMAGED:
            return False
        self._notifier.toast(tr("This chat's file is damaged. Nothing is written to it."), "info", everywhere=True)
        return True

    def show_damage(self, damage: Damage) -> None:
        """Say what of a damaged chat can't be read, and let the system show where its file is if that is wanted."""

        async def work() -> None:
            if await DamageDialog(self._hub, self._window, damage).ask():
                self.open_folder(str(Path(damage.file).parent))

        self._ask("say what is damaged", work)

    def archive(self, chat: ChatId) -> None:
        """Put a chat out of sight; a toast can undo it."""
        header = self._chats.header(chat)
        if header is None or header.archived or not self._is_free(chat):
            return

        async def work() -> None:
            following = self._chats.neighbour(chat)
            await self._core.chats.archive(chat)
            self.leaving.emit(chat, following)
            self._told(tr("Archived “{title}”", title=title_of(header)), lambda: self.unarchive(chat, show=True))

        self._do("archive a chat", work, lasting=True)

    def unarchive(self, chat: ChatId, *, show: bool = False) -> None:
        """Bring an archived chat back; with ``show`` it is opened."""

        async def work() -> None:
            header = self._chats.header(chat)
            following = self._chats.neighbour(chat)
            await self._core.chats.unarchive(chat)
            if self._chats.archived:
                self.leaving.emit(chat, following)
            if show:
                self.chat_wanted.emit(chat)
            elif header is not None:
                self._told(tr("“{title}” is in the list again", title=title_of(header)), lambda: self.archive(chat))

        self._do("bring a chat back", work, lasting=True)

    def delete(self, chat: ChatId) -> None:
        """Delete a chat for good, after asking."""
        header = self._chats.header(chat)
        if header is None or not self._is_free(chat):
            return

        async def work() -> None:
            answer = await DeleteChatDialog(self._hub, self._window, header, len(self._chats.branches_of(chat))).ask()
            if answer is None:
                return
            going = () if answer.keep_branches else self._chats.branches_of(chat)
            following = self._chats.neighbour(chat, leaving=going)
            report = await self._core.chats.delete(chat, keep_branches=answer.keep_branches)
            self.leaving.emit(chat, following)
            if report.failed_children:
                kept = len(report.failed_children)
                one, many = "{n} branch could not be deleted and is a chat of its own now", "{n} branches could not be deleted"
                self._notifier.toast(tr_n(one, many, kept), "error", everywhere=True)
            else:
                self._told(tr("Deleted “{title}”", title=title_of(header)))

        self._ask("delete a chat", work)

    # Of a branch.

    def promote(self, branch: ChatId) -> None:
        """Let a branch take the place of its chat, after asking."""

        async def work(header: ChatHeader, parent: ChatHeader) -> None:
            title = tr("Let “{title}” take the place of “{parent}”?", title=title_of(header), parent=title_of(parent))
            text = tr("“{parent}” goes into the archive, its other branches become this one's.", parent=title_of(parent))
            if await self._agreed(title, f"{text} {tr('No file is touched.')}", tr("Take its place"), "arrow-up"):
                await self._core.chats.promote(branch)
                self.chat_wanted.emit(branch)

        self._of_branch("promote a branch", branch, work)

    def merge(self, branch: ChatId) -> None:
        """Put what only a branch says at the end of its chat, after asking."""

        async def work(header: ChatHeader, parent: ChatHeader) -> None:
            title = tr("Add the messages of “{title}” to “{parent}”?", title=title_of(header), parent=title_of(parent))
            text = tr("What only the branch says goes to the end of the chat, and the branch into the archive.")
            if await self._agreed(title, f"{text} {tr('No file is touched.')}", tr("Add messages"), "branch"):
                self.chat_wanted.emit(await self._core.chats.merge(branch))

        self._of_branch("merge a branch", branch, work)

    def discard(self, branch: ChatId) -> None:
        """Delete a branch for good, after asking."""

        async def work(header: ChatHeader, parent: ChatHeader) -> None:
            title = tr("Discard the branch “{title}”?", title=title_of(header))
            words = [tr("Its messages are removed, and its own branches become those of “{parent}”.", parent=title_of(parent))]
            words += [tr("Your files stay as they are."), tr("This can't be undone.")]
            if await self._agreed(title, " ".join(words), tr("Discard branch"), "trash", kind="danger"):
                self.leaving.emit(branch, await self._core.chats.discard(branch))
                self._told(tr("Discarded “{title}”", title=title_of(header)))

        if self._is_free(branch):
            self._of_branch("discard a branch", branch, work)

    def _of_branch(self, name: str, branch: ChatId, work: Callable[[ChatHeader, ChatHeader], Awaitable[None]]) -> None:
        header = self._chats.header(branch)
        parent = self.parent_of(branch)
        if header is not None and parent is not None:
            self._ask(name, lambda: work(header, parent))

    def parent_of(self, branch: ChatId) -> ChatHeader | None:
        """The chat that a branch is of, if it is known."""
        header = self._chats.header(branch)
        return self._chats.header(header.parent_chat_id) if header is not None and header.parent_chat_id is not None else None

    async def _agreed(self, title: str, text: str, go: str, icon: str, *, kind: str = "primary") -> bool:
        choices = [Choice("", tr("Cancel")), Choice("go", go, kind)]
        return bool(await Question(self._hub, self._window, title, text, choices, icon=icon).ask())

    def branch(self, chat: ChatId, turn: int, *, why_files_stay: str = "") -> None:
        """Make a chat of its own that ends before a turn, after asking what happens to the files, and show it."""
        if self.is_damaged(chat):
            return

        async def work() -> None:
            answer = await BranchDialog(self._hub, self._window, turn, why_files_stay=why_files_stay).ask()
            if answer is not None:
                self.chat_wanted.emit(await self._core.chats.branch(chat, turn, files_before=answer.files_before))

        self._ask("branch a chat", work)

    # To and from other programs.

    def export(self, chat: ChatId) -> None:
        """Write a chat to one file, after asking as what and where to."""
        header = self._chats.header(chat)
        title = title_of(header) if header is not None else chat[:8]

        async def work() -> None:
            wanted = await ExportChatDialog(self._hub, self._window, title, preset=self._exporting).ask()
            if wanted is not None:
                self._exporting = wanted
                self._ask_where(await self._core.exports.export(chat, wanted.kind, withheld=wanted.withheld))

        self._ask("export a chat", work)

    def _ask_where(self, export: Export) -> None:
        title = tr("Export the chat")
        ask_for_place(self._window, title, self._folder, export.name, lambda place: self.save(export, Path(place)))

    def save(self, export: Export, place: Path) -> None:
        """Write an export to a new file, and say where it is."""

        async def work() -> None:
            saved = await self._core.exports.save(export, place)
            self._folder = str(saved.parent)
            name, folder = file_name(visible_name(saved.as_posix())), visible_name(short_path(str(saved.parent)))
            show = (tr("Show"), lambda: self.open_folder(str(saved.parent)))
            self._notifier.toast(tr("Saved {file} in {folder}", file=name, folder=folder), "done", show, everywhere=True)

        self._do("save an export", work, lasting=True)

    def open_folder(self, folder: str) -> None:
        """Let the system show a folder."""
        if not folder or not QDesktopServices.openUrl(QUrl.fromLocalFile(folder)):
            shown = visible_name(short_path(folder))
            self._notifier.toast(tr("The folder {folder} can't be opened.", folder=shown), "error", everywhere=True)

    def open_workspace(self, chat: ChatId) -> None:
        """Let the system show the folder that a chat works in."""
        header = self._chats.header(chat)
        if header is not None:
            self.open_folder(header.workspace)

    def copy_link(self, chat: ChatId) -> None:
        """Put the address of a chat on the clipboard."""
        QGuiApplication.clipboard().setText(chat_link(chat))
        self._told(tr("Copied the link of the chat"))

    # What the list shows of all chats.

    def read_archive(self) -> None:
        """List the archived chats."""

        async def work() -> None:
            self._chats.load_archived(await self._core.chats.list(archived=True))

        self._do("list the archive", work)

    def read_seen(self) -> None:
        """Read which chats were seen, and how far."""

        async def work() -> None:
            self._chats.load_seen(await self._core.chats.seen())

        self._quietly("read what was seen", work)

    def note_seen(self, chat: str, messages: int) -> None:
        """Keep how far a chat was seen."""
        self._quietly("note what was seen", lambda: self._core.chats.note_seen(ChatId(chat), messages))

    def find_touched(self, chats: Sequence[ChatId]) -> None:
        """Tell the list which files these chats touched, one after the other."""

        async def work() -> None:
            for chat in chats:
                try:
                    paths = await self._core.checkpoints.touched(chat)
                except CoreError as error:
                    _log.info("the files of chat %s were not listed: %s", chat, error.code)
                    paths = ()
                self._chats.set_touched(chat, paths)

        self._bridge.spawn(self, work(), name="list the files of chats")

    def _quietly(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        """What nobody asked for is nobody's error; it is in the log."""

        async def logged() -> None:
            try:
                await work()
            except CoreError as error:
                _log.info("%s: %s", name, error.code)

        self._bridge.spawn(self, logged(), name=name)
