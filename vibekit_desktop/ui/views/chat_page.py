"""The centre page of an open chat: header, a banner if something is wrong, transcript, the foot. UI thread only."""

from dataclasses import replace

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from vibekit_desktop.core.api import StoreSize
from vibekit_desktop.core.types.agents import LivePhase, LiveState
from vibekit_desktop.core.types.chats import ChatStatus, ChatView
from vibekit_desktop.core.types.checkpoints import AfterTurn, Timeline
from vibekit_desktop.ui.models.banners import NOTHING, Known, worst
from vibekit_desktop.ui.models.transcript import TranscriptModel
from vibekit_desktop.ui.models.untold import files_of, note, untold
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.banner import Banner
from vibekit_desktop.ui.views.blank import Blank
from vibekit_desktop.ui.views.chat_foot import ChatFoot
from vibekit_desktop.ui.views.chat_header import ChatHeader
from vibekit_desktop.ui.views.composer import Written
from vibekit_desktop.ui.views.main_window import MainWindow
from vibekit_desktop.ui.views.store_line import amount_words
from vibekit_desktop.ui.views.transcript import TranscriptView
from vibekit_desktop.ui.visible import one_line
from vibekit_desktop.ui.wording import workspace_name

_AGENT_CHARS = 40
_OPENER = 32
"""Room for the button that brings the chat list back."""


class ChatPage(QWidget):
    """The page. Its parts are public: ``header``, ``banner``, ``transcript``, ``foot`` (and its parts); their signals are the
    page's. Without an argument: ``leave_requested``: a restore that did not end is to be ended, the files as they are;
    ``restart_requested``: the agent is to be started again; ``sign_in_requested``: somebody wants to sign in;
    ``unarchive_requested``: the chat is to come back; ``locate_requested``: somebody knows where its folder is now;
    ``keeping_requested``, ``storage_requested``: somebody wants to know what is kept, or how much; ``foot_changed``: the foot
    has another height.
    ``match_requested(point)``: the files are to be as they were where the chat is; ``damage_requested(damage)``: what can't be
    read is to be told one by one.
    """

    leave_requested = Signal()
    restart_requested = Signal()
    sign_in_requested = Signal()
    unarchive_requested = Signal()
    locate_requested = Signal()
    match_requested = Signal(object)
    keeping_requested = Signal()
    storage_requested = Signal()
    damage_requested = Signal(object)
    foot_changed = Signal()

    def __init__(self, hub: ThemeHub, model: TranscriptModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = model
        self._window: MainWindow | None = None
        self._view: ChatView | None = None
        self._live: LiveState | None = None
        self._known = Known()
        self._fact = NOTHING
        self.header = ChatHeader(hub, self)
        self.banner = Banner(hub, self)
        self.banner.acted.connect(self._act)
        self.transcript = TranscriptView(hub, model, self)
        self.transcript.setMinimumHeight(1)  # in a small window what waits for an answer goes first
        self._blank = Blank(hub, self.transcript)
        self._blank.hide()
        self.transcript.installEventFilter(self)
        self.foot = ChatFoot(hub, self)
        self.foot.height_changed.connect(self.foot_changed)
        self.foot.focus_left.connect(self.transcript.setFocus)
        self.composer = self.foot.composer
        self.permission = self.foot.permission
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.header)
        layout.addWidget(self.banner)
        layout.addWidget(self.transcript, 1)
        layout.addWidget(self.foot)
        for news in (model.modelReset, model.rowsInserted, model.rowsRemoved):
            news.connect(self._say_what_is_missing)

    def follow(self, window: MainWindow) -> None:
        """Let the header say what the window's panes do."""
        self._window = window
        window.sidebar_shown.connect(self._panes_moved)
        window.inspector_shown.connect(self._panes_moved)
        window.narrow_changed.connect(self._panes_moved)
        self._panes_moved()

    def _panes_moved(self) -> None:
        if self._window is not None:
            panes = self._window.panes
            self.header.set_left_inset(_OPENER if panes.sidebar.isHidden() else 0)
            self.header.set_inspector(shown=panes.inspector_open, narrow=panes.is_narrow)

    # What is shown

    def show_view(self, view: ChatView, *, shown_path: str) -> None:
        """Show a chat that was opened. ``shown_path`` is its workspace as it is written (home folder shortened)."""
        header = view.header
        other = self._view is None or self._view.header.id != header.id
        self._view = view
        self._known = replace(self._known, view=view, timeline=None if other else self._known.timeline)
        if other:
            self._known = replace(self._known, noted=frozenset())
        if self._live is not None and self._live.chat != header.id:
            self._live = None
        self.model.set_view(view)
        self.header.set_chat(header.name, header.agent, view.chat.model, view.vault_workspace, shown_path)
        self.permission.set_workspace(view.vault_workspace)
        self.composer.folder = view.vault_workspace if view.workspace_found else ""
        self._show_live()

    def set_live(self, state: LiveState) -> None:
        """What the agent of the shown chat is doing; of another chat it is nothing."""
        if self._view is not None and state.chat == self._view.header.id:
            self._live = state
            self._show_live()

    def _show_live(self) -> None:
        state = self._live
        self.header.set_live(state)
        self.foot.set_state(state)
        why = self._why_read_only()
        if why is None:
            self.foot.show_composer()
        else:
            can_continue = state is not None and state.phase is LivePhase.UNAVAILABLE and self._may_go_on()
            can_copy = self._view is not None and bool(self._view.messages)
            self.foot.show_read_only(why, can_continue=can_continue, can_copy=can_copy and state is not None)
        self._say_what_is_wrong()
        self._say_what_is_missing()

    def _may_go_on(self) -> bool:
        """Whether the chat as it is stored can be gone on with."""
        view = self._view
        if view is None or not view.workspace_found or view.header.archived:
            return False
        return view.header.status is not ChatStatus.DAMAGED

    def _why_read_only(self) -> str | None:
        """Why nothing can be written in the shown chat; None if something can."""
        view, state = self._view, self._live
        if view is None:
            return ""
        if state is not None and state.phase is not LivePhase.UNAVAILABLE and self._may_go_on():
            return None
        made_by = one_line(view.header.agent, _AGENT_CHARS)
        if view.header.status is ChatStatus.DAMAGED:
            return tr("This chat's file is damaged. What can be read is shown; nothing can be added.")
        if state is not None and state.agent and self._may_go_on():
            agent = made_by or one_line(state.agent, _AGENT_CHARS)
            return tr("{agent}, which made this chat, was not found here.", agent=agent)
        if view.header.source and made_by:
            return tr("This chat was made with {agent}. It is shown here as it was recorded.", agent=made_by)
        return tr("This chat is shown here as it was recorded.")

    def show_timeline(self, timeline: Timeline) -> None:
        """What happened to the files of the shown chat: a restore of it may not have ended, or the files are elsewhere."""
        if self._view is not None and timeline.chat == self._view.header.id:
            self._known = replace(self._known, timeline=timeline)
            self._say_what_is_wrong()

    def set_store(self, size: StoreSize) -> None:
        """How full the store is."""
        self._known = replace(self._known, store=size, amount=amount_words(size))
        self._say_what_is_wrong()

    def set_cleanup(self, program: str, days: int) -> None:
        """The program that the shown chat comes from deletes it after so many days; an empty name: nothing is to be said."""
        self._known = replace(self._known, deletes=(program, days))
        self._say_what_is_wrong()

    # The banner: one fact at a time, the worst first.

    def _say_what_is_wrong(self) -> None:
        self._fact = fact = worst(replace(self._known, live=self._live))
        self.banner.say(fact.text, fact.tone, fact.icon, action=fact.action)

    def _act(self) -> None:
        match self._fact.does:
            case "leave":
                self.leave_requested.emit()
            case "restart":
                self.restart_requested.emit()
            case "sign-in":
                self.sign_in_requested.emit()
            case "locate":
                self.locate_requested.emit()
            case "unarchive":
                self.unarchive_requested.emit()
            case "keeping":
                self.keeping_requested.emit()
            case "storage":
                self.storage_requested.emit()
            case "damage" if self._view is not None:
                self.damage_requested.emit(self._view.damage)
            case "note":
                self._add_note()
            case "match" if self._view is not None and self._view.turns:
                self.match_requested.emit(AfterTurn(self._view.turns[-1].turn))

    def _add_note(self) -> None:
        """Let the next message begin with what the agent does not know: it is a part of what the person says."""
        timeline = self._known.timeline
        if timeline is None or not self.foot.is_composing:
            return
        entries = untold(timeline)
        self._known = replace(self._known, noted=self._known.noted | {entry.entry for entry in entries})
        self.composer.put_before(Written(note(files_of(entries))))
        self.composer.focus()
        self._say_what_is_wrong()

    # A chat in which nothing was said yet.

    def _say_what_is_missing(self) -> None:
        view, state = self._view, self._live
        empty = view is not None and not self.model.rowCount() and self.foot.is_composing
        self._blank.setVisible(empty)
        if empty and view is not None and state is not None:
            agent = one_line(state.agent, _AGENT_CHARS) or tr("the agent")
            self._blank.say(
                "chat",
                tr("A new chat with {agent} in {name}", agent=agent, name=workspace_name(view.vault_workspace)),
                tr("Before each turn the files are recorded. Whatever a turn changes can be taken back."),
            )

    # Qt's names below.

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.foot.place()
        self._panes_moved()  # a window that was narrow from the start had nothing to tell

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.transcript and event.type() == QEvent.Type.Resize:
            self._blank.setGeometry(self.transcript.rect())
        return super().eventFilter(watched, event)
