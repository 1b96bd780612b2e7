"""Put the views of one window together, and connect what a person asks for to the core.

Connects only: the open chat is in `operations.open_chat`, what changes files in `operations.checkpoints`, where chats come from
in `operations.history`, the agent at work in `live_desk`, who it is in `agent_desk`, everything shown in the models. UI thread.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence

from PySide6.QtCore import QEvent, QObject, QTimer

from vibekit_desktop.core.api import Core
from vibekit_desktop.core.types.chats import ChatHeader, ChatStatus, ChatView
from vibekit_desktop.core.types.checkpoints import BeforeTurn, Now, Point, RestoreReport, Timeline, parse_point
from vibekit_desktop.core.types.errors import CoreError
from vibekit_desktop.core.types.events import (
    ChatArchived,
    ChatCreated,
    ChatDeleted,
    ChatUpdated,
    HistoryGrew,
    TranscriptChanged,
    WorkspaceMoved,
)
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath
from vibekit_desktop.ui.agent_desk import AgentDesk
from vibekit_desktop.ui.bridge import Bridge
from vibekit_desktop.ui.chat_desk import ChatDesk
from vibekit_desktop.ui.dialogs.open_link import ask_to_open
from vibekit_desktop.ui.dialogs.shortcuts import Shortcuts, rows_of
from vibekit_desktop.ui.error_text import ErrorText, sentence
from vibekit_desktop.ui.inspector_desk import InspectorDesk
from vibekit_desktop.ui.keys import Keys
from vibekit_desktop.ui.live_desk import LiveDesk
from vibekit_desktop.ui.models.chat_list import ChatListModel
from vibekit_desktop.ui.models.chat_rows import title_of
from vibekit_desktop.ui.models.differing import differing_files
from vibekit_desktop.ui.models.files import entry_of
from vibekit_desktop.ui.models.transcript import TranscriptModel
from vibekit_desktop.ui.notify import Notifier
from vibekit_desktop.ui.operations.checkpoints import CheckpointOperations
from vibekit_desktop.ui.operations.folders import FolderOperations
from vibekit_desktop.ui.operations.follow_theme import FollowTheme
from vibekit_desktop.ui.operations.history import HistoryOperations
from vibekit_desktop.ui.operations.keeping import KeepOperations
from vibekit_desktop.ui.operations.moves import MoveOperations
from vibekit_desktop.ui.operations.open_chat import OpenChat
from vibekit_desktop.ui.operations.storage import StorageOperations
from vibekit_desktop.ui.review_desk import ReviewDesk
from vibekit_desktop.ui.taking_back import TakingBack
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import LateHub, ThemeHub
from vibekit_desktop.ui.told import Told
from vibekit_desktop.ui.transcript_desk import TranscriptDesk
from vibekit_desktop.ui.views.blank import Blank
from vibekit_desktop.ui.views.chat_page import ChatPage
from vibekit_desktop.ui.views.first_run import FirstRun
from vibekit_desktop.ui.views.inspector import Inspector
from vibekit_desktop.ui.views.main_window import CENTRE_PAGES, MainWindow
from vibekit_desktop.ui.views.review import ReviewPage
from vibekit_desktop.ui.views.sidebar import Sidebar
from vibekit_desktop.ui.when import local_now_ms
from vibekit_desktop.ui.wording import short_path, workspace_name

_log = logging.getLogger(__name__)

_LOOK_AGAIN_MS = 300
_LATE_MS = (12, 24)
"""So much later than the rest sidebar and inspector have another theme or size of text: each in a frame of its own."""
_SETTLE_S = 0.05
_SETTLED_TURNS = 8
_SETTLE_LIMIT_TURNS = 600
_DRAIN_TURNS = 40


class Conductor(QObject):
    """One window's worth of program. Invariant: transcript, timeline and review show the same chat, or nothing."""

    def __init__(self, core: Core, hub: ThemeHub, window: MainWindow, *, own_theme: bool = False) -> None:
        """``own_theme``: the look was chosen for this run, so the setting does not decide."""
        super().__init__(window)
        self._core = core
        self._hub = hub
        self._window = window
        self.bridge = Bridge(core.events, report=self._failed)
        self.open = OpenChat(core, self.bridge, self)
        self._theme = FollowTheme(core, hub, self.bridge, self, own=own_theme)
        self._dialog_open = 0
        self.chats = ChatListModel(local_now_ms, self)
        self.transcript = TranscriptModel(local_now_ms, self)
        self._late = tuple(LateHub(hub, delay_ms, self) for delay_ms in _LATE_MS)
        self.sidebar = Sidebar(self._late[0], self.chats)
        self.page = ChatPage(hub, self.transcript)
        self.inspector = Inspector(self._late[1])
        self.review = ReviewPage(hub, self.bridge, core.diffs)
        self.first_run = FirstRun(hub)
        self.empty = Blank(hub, ground="bg.surface")
        self._window.install_sidebar(self.sidebar, self.sidebar.opener)
        self._window.install_inspector(self.inspector)
        self._window.install_page("first_run", self.first_run)
        self._window.install_page("empty", self.empty)
        self._window.install_page("transcript", self.page)
        self._window.install_page("review", self.review)
        self.page.follow(window)
        self.notifier = Notifier(window.panes.centre, hub)
        self._place_toasts()
        self.live = LiveDesk(
            core, hub, self.bridge, self.notifier, window, self.open, self.page, self.inspector, self.chats, self.transcript
        )
        self.folders = FolderOperations(core, hub, self.bridge, self.notifier, window)
        self.agents = AgentDesk(
            core, hub, self.bridge, self.notifier, window, self.open, self.page, self.first_run, self.live, self.folders
        )
        self.checkpoints = CheckpointOperations(hub, self.bridge, core, self.notifier, window)
        self.back = TakingBack(self.bridge, self.notifier, self.open, self.checkpoints, self.live)
        around = (core, hub, self.bridge, self.notifier, window, self.open, self.live, self.checkpoints)
        self.reviews = ReviewDesk(*around, self.review)
        self.histories = HistoryOperations(core, self.bridge, self.notifier, self.folders, self)
        self.told = Told(self)
        self.keeping = KeepOperations(core, hub, self.bridge, self.notifier, window, self.open, self.told)
        self.moves = MoveOperations(core, hub, self.bridge, self.notifier, window, self.open)
        self.desk = ChatDesk(
            core, hub, self.bridge, self.notifier, window, self.open, self.sidebar, self.page.header, self.chats
        )
        self.storage = StorageOperations(core, hub, self.bridge, self.notifier, window, self.desk.work.open_folder)
        self.transcripts = TranscriptDesk(
            core, self.bridge, self.notifier, self.open, self.live, self.back, self.page.transcript, self.transcript
        )
        self.inspectors = InspectorDesk(*around, self.inspector, self.chats)
        self._look_again = QTimer(self)
        self._look_again.setSingleShot(True)
        self._look_again.setInterval(_LOOK_AGAIN_MS)
        self._look_again.timeout.connect(self.rescan)
        self._connect_views()
        self._connect_operations()
        self._subscribe()
        self.keys = Keys(self, hub, window, more_panes=self.review.panes)
        self.back.held_changed.connect(self.keys.hold_back)
        window.menu.fill(self.keys.actions, self.review.actions())
        window.installEventFilter(self)

    # Putting together.

    def _place_toasts(self) -> None:
        """Where people look: over the foot of the centre pane, or in the review, which covers the panes."""
        reviewing = self._window.page == "review"
        foot = 0 if reviewing else self.page.foot.height()
        host = self.review if reviewing else self._window.panes.centre
        self.notifier.stand_in(host, inset=self._hub.theme.space("s16") + foot)

    def _order_focus(self) -> None:
        """From pane to pane; not before the first page, when all of it is in one window."""
        if self._window.page in CENTRE_PAGES:
            stops = self.inspector.focus_stops()
            self._window.panes.order_focus(self.sidebar.last_stop, self.page.foot.read_only.copy, stops)

    def _connect_views(self) -> None:
        self._window.page_changed.connect(self._place_toasts)
        self._window.page_changed.connect(self._order_focus)
        self.page.foot_changed.connect(self._place_toasts)
        self.sidebar.new_chat_requested.connect(self.new_chat)
        self.agents.chat_wanted.connect(self.histories.start_list)  # its folder may be a new one in the list
        self.agents.chat_wanted.connect(self.open_chat)
        self.empty.acted.connect(lambda: self.agents.new_chat(workspace=self.sidebar.workspace))
        self.sidebar.chat_chosen.connect(lambda chat: self.open_chat(ChatId(chat)))
        self.sidebar.hide_requested.connect(self._window.toggle_sidebar)
        self.sidebar.import_requested.connect(self.histories.start_import)
        self.sidebar.folder_requested.connect(self.histories.start_open_folder)
        self.page.header.review_requested.connect(self.open_review)
        self.page.leave_requested.connect(self.back.leave_unfinished)
        self.page.unarchive_requested.connect(self.desk.unarchive_open)
        self.page.match_requested.connect(self.back.restore_to)
        self.page.damage_requested.connect(self.desk.work.show_damage)
        self.page.locate_requested.connect(self.moves.ask)
        self.page.keeping_requested.connect(self.keeping.explain)
        for asked in (self.page.storage_requested, self.sidebar.storage_requested):
            asked.connect(self.storage.open)
        self.keeping.cleanup_known.connect(self.page.set_cleanup)
        self.moves.moved.connect(self._moved)
        self.desk.store_counted.connect(self.page.set_store)
        self.page.header.inspector_toggled.connect(self._window.toggle_inspector)
        self.transcripts.review_wanted.connect(self.open_review)
        self.transcripts.chat_wanted.connect(self.open_chat)
        self.transcripts.branch_wanted.connect(self._branch)
        self.page.transcript.conflict_pressed.connect(self.inspectors.press_conflict)
        self.page.transcript.conflicts_requested.connect(self._show_conflicts)
        self.page.transcript.link_requested.connect(self._open_link)
        self.page.header.find_requested.connect(self.page.transcript.open_find)
        self.inspector.diff_requested.connect(lambda path, old, new: self.open_review(old, new, path))
        self.inspector.review_requested.connect(self.open_review)
        self.inspector.undo_file_requested.connect(self.back.undo_file)
        self.inspector.restore_requested.connect(self.back.restore_to)
        self.inspector.undo_requested.connect(self.back.undo)
        self.inspector.redo_requested.connect(self.back.redo)
        self.inspector.open_chat_requested.connect(self.open_chat)
        self.inspector.files_wanted.connect(self.open.list_files)
        self.inspector.retry_requested.connect(self.open.refresh)
        self.inspector.rescan_requested.connect(self.rescan)
        self.inspectors.conflicts_known.connect(self.transcript.set_conflicts)
        self.inspectors.compare_wanted.connect(lambda path, old, new: self.open_review(old, new, path))
        self.desk.chat_wanted.connect(self.open_chat)
        self.desk.rescan_wanted.connect(self.rescan)
        self.review.back_requested.connect(lambda: self._window.show_page("transcript"))
        self.first_run.folder_chosen.connect(self.histories.start_open_folder)
        self.folders.another_wanted.connect(self.sidebar.choose_folder)
        self.first_run.source_opened.connect(self.histories.start_open_source)

    def _connect_operations(self) -> None:
        self.open.opening.connect(self._opening)
        self.open.slow.connect(self._opening_slowly)
        self.open.opened.connect(self._opened)
        self.open.read_again.connect(self._show)
        self.open.not_opened.connect(self._not_opened)
        self.open.timeline_read.connect(self._timeline_read)
        self.open.timeline_not_read.connect(self.inspector.show_error)
        self.open.earlier_read.connect(self.transcript.put_before)
        self.open.files_listed.connect(lambda diffs: self.inspector.show_files([entry_of(diff) for diff in diffs]))
        self.checkpoints.diff_wanted.connect(lambda _chat, path, point: self.open_review(point, Now(), path))
        self.back.open_chat_wanted.connect(self.open_chat)
        self.histories.known.connect(self.chats.load_first)
        self.histories.listed.connect(self._listed)
        self.histories.chat_wanted.connect(self.open_chat)
        self.histories.folder_opened.connect(self._folder_opened)

    def _subscribe(self) -> None:
        self.bridge.subscribe(self, ChatCreated, lambda event: self._put(event.header))
        self.bridge.subscribe(self, ChatUpdated, lambda event: self._put(event.header))
        self.bridge.subscribe(self, ChatDeleted, lambda event: self._gone(event.chat))
        self.bridge.subscribe(self, ChatArchived, lambda event: self._put_away(event.chat))
        self.bridge.subscribe(self, TranscriptChanged, self._transcript_changed)
        self.bridge.subscribe(self, WorkspaceMoved, lambda event: self.open.workspace_moved(event.workspace))
        self.bridge.subscribe(self, HistoryGrew, lambda event: self.open.history_grew(event.chat, event.workspace))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        # Coming back to the window: files may have changed meanwhile, and Now must not lie.
        if watched is self._window and event.type() == QEvent.Type.WindowActivate and self.open.timeline is not None:
            self._look_again.start()
        return super().eventFilter(watched, event)

    # Start and end.

    async def start(
        self,
        *,
        open_chat: str | None,
        view: str | None,
        recover: Callable[[], Awaitable[Sequence[RestoreReport]]] | None,
    ) -> None:
        """Show the list as it was known last; finish interrupted restores, list the chats, and show what was asked for, or the
        newest chat of ours."""
        await self.histories.show_first_rows()
        try:
            await self._theme.begin()
            await self.reviews.settings.begin()
        except CoreError as error:
            self._failed("read the settings", error)
        if recover is not None:
            try:
                await self.back.recover(recover)
            except CoreError as error:
                self._failed("recover", error)
        headers = await self.histories.list_chats()
        if view == "first-run":
            await self._show_first_run()
        elif open_chat is not None:
            await self.open.open(await self._core.chats.resolve(open_chat))
            await self._show_view(view)
        elif opened := self._newest(headers):
            await self.open.open(opened.id)
        else:
            await self._show_first_run()

    def _newest(self, headers: Sequence[ChatHeader]) -> ChatHeader | None:
        """The newest chat of ours of those that are listed, else of all."""
        ours = [one for one in headers if one.status is ChatStatus.PLAIN]
        return next((one for one in ours if one.workspace == self.sidebar.workspace), next(iter(ours), None))

    async def _show_view(self, view: str | None) -> None:
        if view == "review":
            self.open_review()
        elif view is not None and view.startswith("restore:") and self.open.chat is not None:
            self._dialog_open = 1
            self.back.restore_to(parse_point(view.removeprefix("restore:")))

    async def settled(self) -> None:
        """Wait until nothing is loading: no task for a while, beyond an open dialog's."""
        quiet = 0
        for _ in range(_SETTLE_LIMIT_TURNS):
            await asyncio.sleep(_SETTLE_S)
            quiet = quiet + 1 if self.bridge.running <= self._dialog_open else 0
            if quiet >= _SETTLED_TURNS:
                return

    def close(self) -> None:
        """The window is closing: nothing new begins, and what was written is stored."""
        self._look_again.stop()
        self.open.forget_wishes()
        self.inspectors.close()
        self.bridge.cancel_all()
        self.reviews.close()
        self.live.close()

    async def may_close(self) -> bool:
        """Whether the window may close; asks while a turn runs."""
        return await self.agents.may_close()

    async def drained(self) -> None:
        """Wait for what was still running; a write that has begun ends first. What does not end is cancelled."""
        for _ in range(_DRAIN_TURNS):
            if not self.bridge.running:
                return
            await asyncio.sleep(_SETTLE_S)
        self.bridge.cancel_all(lasting=True)

    # The list of chats.

    def _listed(self, headers: Sequence[ChatHeader], workspaces: Sequence[str]) -> None:
        self.chats.load(headers)
        self.sidebar.set_workspaces(workspaces, self.sidebar.workspace)
        if self.sidebar.workspace not in workspaces:  # it was chosen before the last start, and is gone
            self.sidebar.choose_workspace("")
        for header in headers:
            self.live.note(header)

    def _put(self, header: ChatHeader) -> None:
        self.live.note(header)
        self.chats.put(header)
        self.open.row_changed(header)
        if header.id == self.open.chat:
            self._window.set_chat(header.name, workspace_name(header.workspace))
            self.page.header.set_title(header.name)

    def _put_away(self, chat: ChatId) -> None:
        self.chats.put_away(chat)
        if chat == self.open.chat:
            self.open.reload()

    def _gone(self, chat: ChatId) -> None:
        self.chats.drop(chat)
        self.live.gone(chat)
        if chat == self.open.chat:
            self.open.let_go()
            self.review.close_chat()
            self._not_opened(ErrorText(tr("This chat was deleted."), tr("The files in the workspace are as they were.")))

    def rescan(self) -> None:
        """Look for histories again, and at the open chat and its folder: agents and people may have been at work meanwhile."""
        self.histories.start_list()
        self.open.look_again()

    async def _show_first_run(self) -> None:
        self._window.show_page("first_run")
        self._window.set_chat("", "")
        self.agents.show_agents()
        self.first_run.show_sources(await self._core.histories.sources())

    def _moved(self, former: str, workspace: str) -> None:
        """The chats of a workspace are in another folder now."""
        if self.sidebar.workspace == former:
            self.sidebar.choose_workspace(workspace)
        self.histories.start_list()

    def new_chat(self) -> None:
        """Begin a chat, after asking where and with whom."""
        self.agents.new_chat(workspace=self.sidebar.workspace)

    def _folder_opened(self, workspace: str, newest: ChatId | None) -> None:
        self.sidebar.choose_workspace(workspace)
        if newest is not None:
            self.open_chat(newest)
            return
        name = workspace_name(workspace)
        text = tr("Chats of agents that work in {name} appear here.", name=name)
        self.empty.say("folder-open", tr("No chats in {name} yet", name=name), text, tr("New chat"))
        self._window.show_page("empty")

    # The open chat.

    def open_chat(self, chat: ChatId) -> None:
        """Show a chat; one that is being opened meanwhile is forgotten."""
        if chat != self.open.wanted or (chat == self.open.chat and self._window.page != "transcript"):
            self.open.start_open(chat)

    def _opening(self, chat: ChatId) -> None:
        self.sidebar.show_chat(chat)
        self.inspector.show_loading()
        self.live.opening(chat)

    def _opening_slowly(self, chat: ChatId) -> None:
        """A chat takes its time to be read: what is shown of the former one must not be taken for it."""
        header = self.chats.header(chat)
        name = title_of(header) if header is not None else ""
        self.empty.say("chat", tr("Opening \u201c{name}\u201d", name=name) if name else tr("Opening the chat"), "")
        self._window.show_page("empty")
        self._window.set_chat(name, "")

    def _opened(self, view: ChatView) -> None:
        self.review.close_chat()
        self.notifier.show_chat(view.header.id)
        self._show(view)
        self.live.opened(view)
        self.page.transcript.scroll_to_end()
        self._window.set_chat(view.header.name, workspace_name(view.vault_workspace))
        self._window.show_page("transcript")
        self.agents.opened(view.header.id)

    def _show(self, view: ChatView) -> None:
        self.page.show_view(view, shown_path=short_path(view.vault_workspace))

    def _not_opened(self, text: ErrorText) -> None:
        self.live.closed()
        self.inspector.show_timeline(None)
        self.empty.say("warning", text.title, text.detail)
        self._window.show_page("empty")
        self._window.set_chat("", "")

    def _timeline_read(self, timeline: Timeline) -> None:
        self.transcript.set_timeline(timeline)
        self.inspector.show_timeline(timeline)
        self.page.header.set_changed(differing_files(timeline))
        self.page.show_timeline(timeline)
        self.reviews.timeline_read(timeline)

    # What a person asks for.

    def open_review(self, old: Point | None = None, new: Point | None = None, path: WorkspacePath | None = None) -> None:
        """Show the changes of the open chat between two points, beginning with a file."""
        if self.reviews.open(old, new, path):
            self._window.show_page("review")

    def restore(self) -> None:
        """Restore to before the turn that the keyboard is on in the transcript, else before the last one, after a preview."""
        turn = self.page.transcript.turn_in_focus
        if turn:
            self.back.restore_to(BeforeTurn(turn))
        else:
            self.back.restore_last()

    def act_on_chat(self, name: str) -> None:
        """Do one of `chat_desk.CHAT_ACTIONS` with the chat whose row has the focus, else with the open one."""
        self.desk.act_on_open(name)

    def branch(self) -> None:
        """Make a chat of its own that ends before the turn that the keyboard is on in the transcript, else before the last one,
        after asking."""
        turn = self.page.transcript.turn_in_focus or self.open.last_turn
        if turn:
            self._branch(turn)

    def _branch(self, turn: int) -> None:
        if self.open.chat is not None:
            self.desk.work.branch(self.open.chat, turn, why_files_stay=self.live.why_held)

    def _open_link(self, address: str) -> None:
        self.bridge.spawn(self, ask_to_open(self._hub, self._window, address), name="open a link")

    def _show_conflicts(self) -> None:
        if not self._window.panes.inspector_open:
            self._window.toggle_inspector()
        self.inspectors.show_conflicts()

    def undo(self) -> None:
        """Take back what the toast in sight offers to, else the newest restore or undo of a file of the open chat."""
        if not self.notifier.take_back():
            self.back.undo()

    def redo(self) -> None:
        """Take back the newest undo of the open chat."""
        self.back.redo()

    def stop(self) -> None:
        """Stop the turn of the open chat, if one runs."""
        self.live.stop()

    def choose_theme(self, mode: str) -> None:
        """Look like this from now on: ``system``, ``light`` or ``dark``."""
        self._theme.choose(mode)

    def show_shortcuts(self) -> None:
        """Show which keys do what."""
        dialog = Shortcuts(self._hub, self._window, rows_of(self.keys.actions))
        self.bridge.spawn(self, dialog.ask(), name="show the keys")

    # News.

    def _transcript_changed(self, event: TranscriptChanged) -> None:
        if event.chat == self.open.chat:
            self.open.reload()

    def _failed(self, task: str, error: BaseException) -> None:
        if isinstance(error, CoreError):
            _log.info("%s: %s", task, error.code)
            self.notifier.toast(sentence(error).sentence, "error")
        else:
            _log.error("task %s failed: %s", task, type(error).__name__, exc_info=error)
            self.tell_fault(error)

    def tell_fault(self, error: BaseException) -> None:
        """A fault of the program: say so once; the details are in the log."""
        text = tr("Something went wrong in the program ({kind}). What happened is in its log.", kind=type(error).__name__)
        self.notifier.toast(text, "error", everywhere=True)
