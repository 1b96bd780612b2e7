"""Let a person choose who answers: begin a chat, go on with one, sign in, carry a chat elsewhere, leave while a turn runs.

Opens the dialogs and menus and hands what was chosen to `operations.live`. UI thread only.
"""

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, QPoint, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu, QWidget

from vibekit_desktop.core.api import Core
from vibekit_desktop.core.types.agent_errors import NotOffered
from vibekit_desktop.core.types.agents import AgentChoice, AgentInfo, AgentState, LivePhase, LiveState, SignInKind
from vibekit_desktop.core.types.chats import ExportFormat
from vibekit_desktop.core.types.errors import CoreError
from vibekit_desktop.core.types.events import AgentChecked
from vibekit_desktop.core.types.ids import ChatId
from vibekit_desktop.ui.bridge import Bridge
from vibekit_desktop.ui.dialogs.new_chat import NewChatDialog
from vibekit_desktop.ui.dialogs.question import Choice, Question
from vibekit_desktop.ui.dialogs.sign_in import AGAIN, SignInDialog
from vibekit_desktop.ui.error_text import sentence
from vibekit_desktop.ui.live_desk import LiveDesk
from vibekit_desktop.ui.notify import Notifier
from vibekit_desktop.ui.operations.folders import FolderOperations
from vibekit_desktop.ui.operations.open_chat import OpenChat
from vibekit_desktop.ui.text import tr, tr_n
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.agent_rows import can_start, shown_name, state_words
from vibekit_desktop.ui.views.chat_page import ChatPage
from vibekit_desktop.ui.views.first_run import FirstRun
from vibekit_desktop.ui.views.main_window import MainWindow
from vibekit_desktop.ui.visible import one_line

_log = logging.getLogger(__name__)

_MOST_COPIED = 1_000_000
"""A longer chat is copied from its newer end."""
_RUNS = (LivePhase.RUNNING, LivePhase.STOPPING)


class AgentDesk(QObject):
    """Choosing agents in one window. ``chat_wanted(chat)``: it was made and is to be shown.

    Invariant: at most one of its dialogs is open."""

    chat_wanted = Signal(object)

    def __init__(
        self,
        core: Core,
        hub: ThemeHub,
        bridge: Bridge,
        notifier: Notifier,
        window: MainWindow,
        opened: OpenChat,
        page: ChatPage,
        first_run: FirstRun,
        live: LiveDesk,
        folders: FolderOperations,
    ) -> None:
        super().__init__(window)
        self._core = core
        self._hub = hub
        self._bridge = bridge
        self._notifier = notifier
        self._window = window
        self._open = opened
        self._page = page
        self._first_run = first_run
        self._live = live
        self._folders = folders
        self._dialog: NewChatDialog | None = None
        self._weighing: asyncio.Task[None] | None = None
        self._asking = False
        self._focus_in: ChatId | None = None
        page.header.agents_requested.connect(lambda: self._offer_agents(page.header.agent, below=True))
        page.foot.read_only.continue_requested.connect(lambda: self._offer_agents(page.foot.read_only.go_on, below=False))
        page.foot.read_only.copy_requested.connect(self._copy_as_prompt)
        page.sign_in_requested.connect(self.sign_in)
        first_run.agent_chosen.connect(lambda agent: self.new_chat(agent=agent))
        live.work.agent_chosen.connect(self._agent_chosen)
        bridge.subscribe(self, AgentChecked, lambda _event: self._checked())

    # A chat that begins.

    def new_chat(self, *, workspace: str = "", agent: str = "") -> None:
        """Ask what the new chat is to be."""
        if not self._asking:
            self._asking = True
            self._bridge.spawn(self, self._ask_new_chat(workspace, agent), name="ask for a new chat")

    async def _ask_new_chat(self, workspace: str, agent: str) -> None:
        try:
            agents = await self._agents()
            known = await self._core.library.workspaces()
            view = self._open.view
            here = workspace or (view.vault_workspace if view is not None and view.workspace_found else "")
            dialog = self._dialog = NewChatDialog(
                self._hub, self._window, agents, workspaces=known, workspace=here, agent=agent or self._last_agent()
            )
            dialog.sessions_wanted.connect(self._list_sessions)
            dialog.check_wanted.connect(self._check)
            dialog.folder_chosen.connect(self._weigh)
            dialog.look_at_chosen()
            if here:
                self._weigh(here)
            work = self._live.work
            chat = await dialog.ask(lambda wanted: work.new_chat(wanted.workspace, wanted.choice, wanted.session))
        finally:
            self._asking, self._dialog = False, None
            if self._weighing is not None:
                self._weighing.cancel()
        if chat is not None:
            self._made(chat)

    def _last_agent(self) -> str:
        state = self._live.state
        return state.agent_id if state is not None else ""

    async def _agents(self) -> Sequence[AgentInfo]:
        try:
            return await self._core.agents.list()
        except CoreError as error:
            self._notifier.toast(sentence(error).sentence, "error")
            return ()

    def _check(self, agent: str) -> None:
        """See whether an agent is ready; what comes of it is told as `AgentChecked`."""

        async def work() -> None:
            try:
                await self._core.agents.check(agent)
            except CoreError as error:
                _log.info("agent %s was not looked at: %s", agent, error.code)

        self._bridge.spawn(self, work(), name="look at an agent")

    def _weigh(self, folder: str) -> None:
        """Say in the dialog how large a folder is."""

        async def work() -> None:
            words = await self._folders.words(folder)
            if self._dialog is not None:
                self._dialog.show_weight(folder, " ".join(words).strip())

        if self._weighing is not None:
            self._weighing.cancel()
        self._weighing = self._bridge.spawn(self, work(), name="weigh a folder")

    def _list_sessions(self, choice: AgentChoice, workspace: str) -> None:
        async def work() -> None:
            try:
                found = await self._core.agents.sessions(choice, Path(workspace))
            except NotOffered as error:
                if self._dialog is not None:
                    self._dialog.no_sessions(tr("{agent} can't list its sessions.", agent=one_line(error.name, 40)))
                return
            except CoreError as error:
                if self._dialog is not None:
                    self._dialog.no_sessions(sentence(error).title)
                return
            if self._dialog is not None:
                self._dialog.show_sessions(found)

        self._bridge.spawn(self, work(), name="list an agent's sessions")

    def _made(self, chat: ChatId) -> None:
        self._focus_in = chat
        self.chat_wanted.emit(chat)

    def opened(self, chat: ChatId) -> None:
        """A chat is shown: one that was just made is to be written in."""
        if chat == self._focus_in:
            self._focus_in = None
            self._page.composer.focus()

    def _checked(self) -> None:
        """Something more is known of an agent: what is on the screen of it is told anew."""
        if self._dialog is not None or self._first_run.isVisible():
            self.show_agents()

    def show_agents(self) -> None:
        """Tell the first page, and the dialog that is open, which agents there are."""

        async def work() -> None:
            agents = await self._agents()
            self._first_run.show_agents(agents)
            if self._dialog is not None:
                self._dialog.show_agents(agents)

        self._bridge.spawn(self, work(), name="list the agents")

    # A chat that goes on.

    def _offer_agents(self, anchor: QWidget, *, below: bool) -> None:
        async def work() -> None:
            menu = self.agents_menu(await self._agents())
            height = anchor.height() + 4 if below else -menu.sizeHint().height() - 4
            menu.popup(anchor.mapToGlobal(QPoint(0, height)))

        self._bridge.spawn(self, work(), name="list the agents")

    def agents_menu(self, agents: Sequence[AgentInfo]) -> QMenu:
        """Who could answer in the open chat; a fresh menu at every call."""
        menu = QMenu(self._window)
        chat, state = self._open.chat, self._live.state
        now = state.agent_id if state is not None else ""
        busy = state is not None and state.phase in _RUNS
        if busy and state is not None:
            menu.addAction(tr("Wait until turn {turn} ends, or stop it", turn=state.turn)).setEnabled(False)
        for info in agents:
            if not can_start(info) or chat is None:
                continue
            words = "" if info.state in (AgentState.READY, AgentState.FOUND) else f"\t{state_words(info)}"
            action = menu.addAction(f"{shown_name(info)}{words}".replace("&", "&&"))
            action.setCheckable(True)
            action.setChecked(bool(now) and info.id == now)
            action.setEnabled(not busy)
            action.triggered.connect(lambda _=False, which=info.id: self._choose(chat, AgentChoice(name=which)))
        if not menu.actions():
            menu.addAction(tr("No agent was found on this computer")).setEnabled(False)
        menu.addSeparator()
        menu.addAction(tr("Another agent…"), self._ask_agent).setEnabled(not busy)
        menu.aboutToHide.connect(menu.deleteLater)
        return menu

    def _choose(self, chat: ChatId, choice: AgentChoice) -> None:
        self._live.work.choose_agent(chat, choice)

    def _agent_chosen(self, chat: ChatId) -> None:
        if chat == self._open.chat:
            self._page.composer.focus()

    def _ask_agent(self) -> None:
        async def work(chat: ChatId) -> None:
            try:
                dialog = self._dialog = NewChatDialog(
                    self._hub, self._window, await self._agents(), agent=self._last_agent(), go_on=True
                )
                chosen = await dialog.ask(lambda wanted: self._live.work.choose(chat, wanted.choice))
            finally:
                self._asking, self._dialog = False, None
            if chosen is not None:
                self._agent_chosen(chosen)

        if not self._asking and self._open.chat is not None:
            self._asking = True
            self._bridge.spawn(self, work(self._open.chat), name="ask for an agent")

    def sign_in(self) -> None:
        """Let the agent of the open chat sign its user in: at once if it has one way of its own, else by the dialog."""
        state = self._live.state
        if state is None or not state.sign_in or self._asking:
            return
        if len(state.sign_in) == 1 and state.sign_in[0].kind is SignInKind.AGENT:
            self._live.work.sign_in(state.chat, state.agent_id or state.agent, state.sign_in[0].id)
            return
        self._asking = True
        self._bridge.spawn(self, self._ask_sign_in(state), name="ask how to sign in")

    async def _ask_sign_in(self, state: LiveState) -> None:
        try:
            way = await SignInDialog(self._hub, self._window, state.agent, state.sign_in).ask()
        finally:
            self._asking = False
        if way is None:
            return
        if way == AGAIN:
            self._live.work.start(state.chat)
        else:
            self._live.work.sign_in(state.chat, state.agent_id or state.agent, way)

    def _copy_as_prompt(self) -> None:
        chat = self._open.chat
        if chat is None:
            return

        async def work() -> None:
            try:
                export = await self._core.exports.export(chat, ExportFormat.MARKDOWN)
            except CoreError as error:
                self._notifier.toast(sentence(error).sentence, "error")
                return
            text = export.data.decode("utf-8", "replace")
            cut = len(text) > _MOST_COPIED
            told = tr("This is a conversation with an agent up to now. Go on from where it ends.")
            if cut:
                told += " " + tr("Its earlier part was left out.")
            QGuiApplication.clipboard().setText(f"{told}\n\n{text[-_MOST_COPIED:]}")
            done = (
                tr("The chat was copied as a prompt, without its earlier part")
                if cut
                else tr("The chat was copied as a prompt")
            )
            self._notifier.toast(done, "done")

        self._bridge.spawn(self, work(), name="copy a chat")

    # Leaving.

    async def may_close(self) -> bool:
        """Whether the window may close: while a turn runs it asks, and stops the turns if that is what is wanted; it also asks
        where what somebody wrote cannot be kept."""
        running = self._core.live.running()
        if not running:
            return await self._may_lose_drafts()
        if self._asking:
            return False
        self._asking = True
        try:
            go = await self._ask_to_close(running).ask()
        finally:
            self._asking = False
        if not go:
            return False
        for state in self._core.live.running():
            try:
                await self._core.live.stop(state.chat)
            except CoreError as error:
                self._notifier.toast(sentence(error).sentence, "error")
        return await self._may_lose_drafts()

    async def _may_lose_drafts(self) -> bool:
        error = await self._live.drafts.flush()
        if error is None:
            return True
        if self._asking:
            return False
        self._asking = True
        title = tr("What you wrote and did not send can't be kept.")
        choices = [Choice("", tr("Keep running"), "primary"), Choice("go", tr("Quit without it"), "danger")]
        try:
            return bool(await Question(self._hub, self._window, title, sentence(error).sentence, choices, icon="warning").ask())
        finally:
            self._asking = False

    def _ask_to_close(self, running: Sequence[LiveState]) -> Question:
        one = running[0]
        agent = one_line(one.agent, 40) or tr("The agent")
        if len(running) == 1:
            title = tr("Turn {turn} is still running.", turn=one.turn)
            text = tr("{agent} is at work. What it changed so far stays, and can be taken back.", agent=agent)
        else:
            title = tr_n("{n} turn is still running.", "{n} turns are still running.", len(running))
            text = tr("What they changed so far stays, and can be taken back.")
        waiting = self._live.waiting
        if waiting:
            one_waits, more_wait = "{n} queued message is kept as a draft.", "{n} queued messages are kept as drafts."
            text += " " + tr_n(one_waits, more_wait, waiting)
        choices = [Choice("", tr("Keep running")), Choice("go", tr("Stop and quit"), "primary")]
        return Question(self._hub, self._window, title, text, choices, icon="stop")
