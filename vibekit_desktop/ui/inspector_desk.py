"""Answer what the inspector asks for beside the timeline: pinned points, conflicts, files in other programs, who wrote a file.

Connects only. What changes files is in `operations.checkpoints`; what is open in `operations.open_chat`. UI thread only.
"""

from collections.abc import Awaitable, Sequence
from typing import Protocol

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from vibekit_desktop.core.api import Core
from vibekit_desktop.core.types.checkpoints import Conflict, FileState, PlacedConflict, Point, Timeline
from vibekit_desktop.core.types.errors import CoreError
from vibekit_desktop.core.types.events import ChatCreated, ChatUpdated, TimelineNoted
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath
from vibekit_desktop.ui.bridge import Bridge
from vibekit_desktop.ui.dialogs.pin_point import PinPoint
from vibekit_desktop.ui.error_text import sentence
from vibekit_desktop.ui.models.chat_list import ChatListModel
from vibekit_desktop.ui.models.conflicts import CardButton, ConflictCard, matters
from vibekit_desktop.ui.notify import Notifier
from vibekit_desktop.ui.operations.checkpoints import CheckpointOperations
from vibekit_desktop.ui.operations.disk_watch import DiskWatch
from vibekit_desktop.ui.operations.editor import open_file
from vibekit_desktop.ui.operations.open_chat import OpenChat
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.inspector import Inspector
from vibekit_desktop.ui.views.inspector_bar import CONFLICTS
from vibekit_desktop.ui.visible import one_line
from vibekit_desktop.ui.wording import file_name, shown_path

_NAME_CHARACTERS = 60


class Holds(Protocol):
    """Whoever knows whether something can be taken back now; the live desk."""

    @property
    def why_held(self) -> str: ...
    @property
    def is_running(self) -> bool: ...
    def stop(self) -> None: ...


class InspectorDesk(QObject):
    """The inspector of one window. Signals: ``conflicts_known(cards)``: the conflicts of the open chat, oldest first, settled
    ones too; ``compare_wanted(path, old point, new point)``.

    Invariant: pins and conflicts that are shown are of the chat whose timeline is shown.
    """

    conflicts_known = Signal(object)
    compare_wanted = Signal(object, object, object)

    def __init__(
        self,
        core: Core,
        hub: ThemeHub,
        bridge: Bridge,
        notifier: Notifier,
        window: QWidget,
        opened: OpenChat,
        live: Holds,
        work: CheckpointOperations,
        inspector: Inspector,
        chats: ChatListModel,
    ) -> None:
        super().__init__(window)
        self._core = core
        self._hub = hub
        self._bridge = bridge
        self._notifier = notifier
        self._window = window
        self._open = opened
        self._live = live
        self._work = work
        self._inspector = inspector
        self._chats = chats
        self._reading = self._news = False
        inspector.pin_requested.connect(self._pin)
        inspector.unpin_requested.connect(self._unpin)
        inspector.settle_requested.connect(self._settle)
        inspector.bring_back_requested.connect(self._bring_back)
        inspector.editor_requested.connect(self._edit)
        inspector.writers_requested.connect(self._find_writers)
        opened.timeline_read.connect(self._timeline_read)
        self._disk = DiskWatch(bridge, core.checkpoints.disk_mark, self._is_seen, self)
        self._disk.changed.connect(opened.refresh)
        opened.opening.connect(self._disk.stop)
        bridge.subscribe(self, TimelineNoted, self._noted)
        bridge.subscribe(self, ChatUpdated, lambda event: self._named(event.header.id))
        bridge.subscribe(self, ChatCreated, lambda event: self._named(event.header.id))
        chats.loaded.connect(self._name_all)

    # Reading.

    def close(self) -> None:
        """The window is closing: nobody looks any more."""
        self._disk.stop()

    def _is_seen(self) -> bool:
        return self._window.isVisible() and not self._window.isMinimized()

    def _timeline_read(self, _timeline: Timeline) -> None:
        self._read()
        if self._open.chat is not None:
            self._disk.start(self._open.chat, self._open.mark)

    def _noted(self, event: TimelineNoted) -> None:
        if event.chat == self._open.chat:
            self._read()

    def _read(self) -> None:
        """Read what stands beside the timeline; what is asked for meanwhile is read once more afterwards."""
        self._news = True
        if not self._reading:
            self._reading = True
            self._bridge.spawn(self, self._read_all(), name="read pins and conflicts")

    async def _read_all(self) -> None:
        try:
            while self._news and (chat := self._open.chat) is not None:
                self._news = False
                pins = await self._core.checkpoints.pins(chat)
                placed = [one for one in await self._core.checkpoints.placed_conflicts(chat) if matters(one)]
                if chat == self._open.chat and chat == self._inspector.timeline_model.chat:
                    self._inspector.show_beside(pins, placed, self._names(placed))
                    self.conflicts_known.emit(self._inspector.conflicts_model.all_cards)
        finally:
            self._reading = False

    def _names(self, placed: Sequence[PlacedConflict]) -> dict[ChatId, str]:
        """How the other chats are called that the timeline or a conflict names."""
        timeline = self._open.timeline
        changes = (change for entry in timeline.entries for change in entry.files) if timeline is not None else ()
        others = {change.other_chat for change in changes if change.other_chat is not None}
        others.update(ChatId(one.conflict.other_chat) for one in placed if one.conflict.other_chat)
        found = {chat: header.name for chat in others if (header := self._chats.header(chat)) is not None}
        return {chat: name for chat, name in found.items() if name}

    def _named(self, chat: ChatId) -> None:
        names = self._inspector.timeline_model.beside.names
        header = self._chats.header(chat)
        if chat in names and header is not None and names[chat] != header.name:
            self._name_all()

    def _name_all(self) -> None:
        if self._open.timeline is not None:
            self._inspector.set_names(self._names(self._inspector.placed))

    # Pinned points.

    def _pin(self, point: Point, name: str) -> None:
        chat = self._open.chat

        async def work(chat: ChatId) -> None:
            wanted = await PinPoint(self._hub, self._window, point, name).ask()
            if wanted is not None and wanted != name:
                await self._tell_errors(self._core.checkpoints.pin(chat, point, wanted))

        if chat is not None:
            self._bridge.spawn(self, work(chat), name="pin a point")

    def _unpin(self, point: Point) -> None:
        chat = self._open.chat
        pins = self._inspector.timeline_model.beside.pins
        name = next((pin.name for pin in pins if pin.point == point), "")

        async def work(chat: ChatId) -> None:
            if await self._tell_errors(self._core.checkpoints.unpin(chat, point)):
                text = tr("Unpinned “{name}”", name=one_line(name, _NAME_CHARACTERS))
                self._notifier.toast(text, "done", (tr("Undo"), lambda: self._pin_again(chat, point, name)))

        if chat is not None:
            self._bridge.spawn(self, work(chat), name="unpin a point")

    def _pin_again(self, chat: ChatId, point: Point, name: str) -> None:
        self._bridge.spawn(self, self._tell_errors(self._core.checkpoints.pin(chat, point, name)), name="pin a point")

    # Conflicts.

    def press_conflict(self, card: ConflictCard, button: CardButton) -> None:
        """A button of a conflict was pressed, wherever it is shown."""
        match button:
            case CardButton.COMPARE:
                self.compare_wanted.emit(card.path, card.old, card.new)
            case CardButton.KEEP:
                self._settle(card, True)
            case CardButton.REOPEN:
                self._settle(card, False)
            case CardButton.BRING_BACK:
                self._bring_back(card)

    def show_conflicts(self) -> None:
        """Show the cards."""
        self._inspector.show_tab(CONFLICTS)
        self._inspector.shown_list().setFocus()

    def _settle(self, card: ConflictCard, settled: bool) -> None:
        chat, conflict = self._open.chat, card.placed.conflict

        async def work(chat: ChatId) -> None:
            done = await self._tell_errors(self._core.checkpoints.settle(chat, conflict, settled=settled))
            if done and settled:
                text = tr("{file} is kept as it is", file=file_name(shown_path(card.path)))
                self._notifier.toast(text, "done", (tr("Undo"), lambda: self._open_again(chat, conflict)))

        if chat is not None:
            self._bridge.spawn(self, work(chat), name="settle a conflict")

    def _open_again(self, chat: ChatId, conflict: Conflict) -> None:
        asked = self._core.checkpoints.settle(chat, conflict, settled=False)
        self._bridge.spawn(self, self._tell_errors(asked), name="open a conflict again")

    def _bring_back(self, card: ConflictCard) -> None:
        chat, point, why = self._open.chat, card.back_to, self._live.why_held
        if chat is None or point is None:
            return
        if why:
            self._notifier.toast(why, "info", (tr("Stop"), self._live.stop) if self._live.is_running else None)
            return

        async def work(chat: ChatId, point: Point) -> None:
            report = await self._work.bring_back(chat, card.path, point)
            if report is not None and report.verified and card.path in report.restored:
                await self._tell_errors(self._core.checkpoints.settle(chat, card.placed.conflict))

        self._bridge.spawn(self, work(chat, point), name="bring a version back")

    # Files.

    def _edit(self, path: WorkspacePath, state: FileState) -> None:
        view = self._open.view
        if view is None or not view.vault_workspace:
            return
        open_file(self._notifier, view.vault_workspace, path, state)

    def _find_writers(self, path: WorkspacePath) -> None:
        chat = self._open.chat

        async def work(chat: ChatId) -> None:
            try:
                found = await self._core.checkpoints.changed_by(chat, path)
            except CoreError as error:
                self._notifier.toast(sentence(error).sentence, "error")
                return
            if chat == self._open.chat:
                self._inspector.show_writers(path, [(one, self._name(one, chat)) for one in found])

        if chat is not None:
            self._bridge.spawn(self, work(chat), name="find who changed a file")

    def _name(self, one: ChatId, chat: ChatId) -> str:
        if one == chat:
            return tr("This chat")
        header = self._chats.header(one)
        return one_line(header.name, _NAME_CHARACTERS) if header is not None and header.name else tr("A chat that is gone")

    async def _tell_errors(self, asked: Awaitable[None]) -> bool:
        """Whether it was done; why not is told."""
        try:
            await asked
        except CoreError as error:
            self._notifier.toast(sentence(error).sentence, "error")
            return False
        return True
