"""Answer what the transcript asks for: something to be taken back or shown, messages that are not loaded, a file to be opened.

Connects only; what is found is in `views.transcript_find`, what is open in `operations.open_chat`. UI thread only.
"""

import asyncio
from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication

from vibekit_desktop.core.api import Core
from vibekit_desktop.core.types.agents import Prompt
from vibekit_desktop.core.types.chats import DiffFragment, Message
from vibekit_desktop.core.types.checkpoints import AfterTurn, BeforeTurn, Now, State, Timeline
from vibekit_desktop.core.types.diffs import DiffRequest
from vibekit_desktop.core.types.errors import CoreError
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath
from vibekit_desktop.ui.bridge import Bridge
from vibekit_desktop.ui.error_text import sentence
from vibekit_desktop.ui.live_desk import LiveDesk
from vibekit_desktop.ui.models.mini_diff import places
from vibekit_desktop.ui.models.named_files import named_files
from vibekit_desktop.ui.models.transcript import TranscriptModel
from vibekit_desktop.ui.notify import Notifier
from vibekit_desktop.ui.operations.editor import open_file
from vibekit_desktop.ui.operations.open_chat import OpenChat
from vibekit_desktop.ui.taking_back import TakingBack
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.views.diff_steps import Steps
from vibekit_desktop.ui.views.transcript import TranscriptView
from vibekit_desktop.ui.wording import file_name, shown_path

_AT_ONCE = 500
"""So many messages are looked through at a time; so many more than needed are loaded, so that the next place is there too."""
_RECENT = 2_000
"""Calls of so many of the last messages are looked at for paths that can be opened."""


class TranscriptDesk(QObject):
    """One window's transcript. Signals: ``review_wanted(old, new, path)``: the changes between two points are to be shown,
    beginning with a file if ``path`` is not None; ``chat_wanted(chat)``: it is to be shown; ``branch_wanted(turn)``: a branch
    from before this turn is to be made.

    Invariant: what it is told is of the chat that is open."""

    review_wanted = Signal(object, object, object)
    chat_wanted = Signal(object)
    branch_wanted = Signal(int)

    def __init__(
        self,
        core: Core,
        bridge: Bridge,
        notifier: Notifier,
        opened: OpenChat,
        live: LiveDesk,
        back: TakingBack,
        view: TranscriptView,
        model: TranscriptModel,
    ) -> None:
        super().__init__(live)
        self._core = core
        self._bridge = bridge
        self._notifier = notifier
        self._open = opened
        self._live = live
        self._view = view
        self._model = model
        self._naming = Steps(self)
        view.restore_requested.connect(lambda turn: back.restore_to(BeforeTurn(turn)))
        view.undo_requested.connect(lambda path, turn: back.undo_file(WorkspacePath(path), BeforeTurn(turn)))
        view.redo_requested.connect(back.undo)
        view.diff_requested.connect(lambda path, turn: self._review(turn, WorkspacePath(path)))
        view.review_requested.connect(self._review)
        view.branch_requested.connect(self.branch_wanted)
        view.open_chat_requested.connect(lambda chat: self.chat_wanted.emit(ChatId(chat)))
        view.earlier_requested.connect(lambda: opened.read_earlier(model.first_loaded))
        view.colours_wanted.connect(self._colour)
        view.places_wanted.connect(self._place)
        view.copied.connect(lambda: notifier.toast(tr("Copied"), "done"))
        view.edit_requested.connect(self._write_anew)
        view.file_requested.connect(self._open_file)
        view.finding.earlier_wanted.connect(self._look_earlier)
        view.finding.load_wanted.connect(self._load)
        opened.opened.connect(self._naming.stop)
        opened.timeline_read.connect(self._note_files)

    # What a turn did.

    def _review(self, turn: int, path: WorkspacePath | None = None) -> None:
        self.review_wanted.emit(BeforeTurn(turn), AfterTurn(turn), path)

    # Code.

    def _colour(self, key: str, name: str, lines: tuple[str, ...]) -> None:
        async def work() -> None:
            self._view.set_colours(key, await self._core.diffs.highlight(name, lines))

        self._bridge.spawn(self._view, work(), name="colour a code block")

    def _place(self, key: str, turn: int, path: str, fragments: tuple[DiffFragment, ...]) -> None:
        """Where the fragments of a change stand in the file, before and after the turn; nowhere if that is not known."""
        chat = self._open.chat

        async def work(chat: ChatId) -> None:
            try:
                sides = await self._core.diffs.sides(DiffRequest(chat, WorkspacePath(path), BeforeTurn(turn), AfterTurn(turn)))
            except CoreError:
                return
            found = await asyncio.to_thread(places, fragments, *sides)
            if chat == self._open.chat:
                self._view.set_places(key, found)

        if chat is not None:
            self._bridge.spawn(self._view, work(chat), name="place a small diff")

    # Messages that are not loaded.

    def _look_earlier(self, upto: int) -> None:
        chat = self._open.chat

        async def work() -> None:
            messages: Sequence[Message] = ()
            try:
                if chat is not None:
                    messages = await self._core.chats.earlier(chat, upto, _AT_ONCE)
            finally:
                if chat == self._open.chat:
                    self._view.finding.earlier(upto, messages)

        self._bridge.spawn(self._view, work(), name="look through earlier messages")

    def _load(self, message: int) -> None:
        chat, upto = self._open.chat, self._model.first_loaded

        async def work(chat: ChatId) -> None:
            messages = await self._core.chats.earlier(chat, upto, upto - max(0, message - _AT_ONCE))
            turns = await self._core.chats.turns(chat)
            if chat == self._open.chat:
                self._model.put_before(chat, upto, messages, turns)

        if chat is not None and message < upto:
            self._bridge.spawn(self._view, work(chat), name="load earlier messages")

    # Files that are named.

    def _note_files(self, timeline: Timeline) -> None:
        view = self._open.view
        if view is None or not view.workspace_found:
            self._naming.stop()
            self._view.set_files(frozenset())
            return
        found: set[str] = {change.path for entry in timeline.entries for change in entry.files}
        root = view.chat.recorded_workspace or view.vault_workspace
        job = named_files(self._model.messages[-_RECENT:], root, found)
        self._naming.start(job, lambda: self._view.set_files(frozenset(found)))

    def _open_file(self, text: str) -> None:
        view = self._open.view
        if view is None:
            return
        path, name = WorkspacePath(text), file_name(shown_path(text))
        request = DiffRequest(view.header.id, path, Now(), Now())

        async def work(workspace: str) -> None:
            try:
                state = (await self._core.diffs.file(request)).after
            except CoreError as error:
                self._notifier.toast(sentence(error).sentence, "error")
                return
            if state.state in (State.ABSENT, State.FOLDER, State.UNKNOWN):
                self._notifier.toast(tr("{file} is not in the workspace now.", file=name), "info")
                return
            open_file(self._notifier, workspace, path, state)

        self._bridge.spawn(self._view, work(view.vault_workspace), name="open a file")

    # A message that is written anew.

    def _write_anew(self, text: str) -> None:
        chat = self._open.chat
        if chat is None:
            return
        if not self._live.write(chat, Prompt(text=text)):
            QGuiApplication.clipboard().setText(text.encode("utf-8", "replace").decode("utf-8"))
            self._notifier.toast(tr("Nobody answers in this chat here. The message was copied."), "info")
