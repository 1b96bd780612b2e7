"""Begin a chat: in which folder, with which agent, anew or where a session of the agent's own ended. Nothing is installed here.

Also asks, without folder and session, who is to go on with a chat that is there. UI thread only.
"""

import asyncio
import shlex
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from vibekit_desktop.core.types.agents import AgentChoice, AgentInfo, AgentSession, AgentState
from vibekit_desktop.core.types.errors import CoreError, WorkspaceRefused
from vibekit_desktop.core.types.ids import ChatId
from vibekit_desktop.ui import when
from vibekit_desktop.ui.dialogs.overlay import Overlay
from vibekit_desktop.ui.dialogs.sign_in import show_through
from vibekit_desktop.ui.error_text import sentence
from vibekit_desktop.ui.text import tr, tr_n
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.theme.style import Dress
from vibekit_desktop.ui.views.agent_rows import AgentRows, can_start
from vibekit_desktop.ui.views.controls import Button
from vibekit_desktop.ui.views.segments import PickButton
from vibekit_desktop.ui.visible import one_line, visible_name
from vibekit_desktop.ui.wording import short_path, workspace_name

_WIDTH, _ROWS, _SESSIONS, _NAME_CHARS = 560, 6, 40, 56
_ANOTHER = object()
"""In the menu of folders: another one."""


@dataclass(frozen=True, slots=True)
class NewChat:
    """What is wanted. ``session``: empty for a new one."""

    workspace: str
    choice: AgentChoice
    session: str = ""


class NewChatDialog(Overlay[NewChat]):
    """The dialog. ``sessions_wanted(AgentChoice, workspace)`` is answered with `show_sessions` or `no_sessions`;
    ``check_wanted(agent)``: it is chosen, and nobody has looked yet whether it is ready. ``folder_chosen(workspace)`` is
    answered with `show_weight`.

    Invariant: the primary button is on exactly if there is a folder (where one is asked for) that may be worked in, and an
    agent that can be started. It stays open until what is wanted was done: see `ask`.
    """

    sessions_wanted = Signal(object, str)
    check_wanted = Signal(str)
    folder_chosen = Signal(str)

    def __init__(
        self,
        hub: ThemeHub,
        parent: QWidget,
        agents: Sequence[AgentInfo],
        *,
        workspaces: Sequence[str] = (),
        workspace: str = "",
        agent: str = "",
        go_on: bool = False,
    ) -> None:
        """``agent``: the one to begin with, by its id or name. ``go_on``: a chat is there, only its agent is asked for."""
        super().__init__(hub, parent)
        self._go_on = go_on
        self._folders = tuple(dict.fromkeys(one for one in (workspace, *workspaces) if one))
        self._workspace = workspace or (self._folders[0] if self._folders else "")
        self._folder_dialog: QFileDialog | None = None
        title = tr("Continue with an agent") if go_on else tr("New chat")
        self.setAccessibleName(title)
        self._title = _label(title, self.card)
        Dress(self._title, hub, "title")
        self.folder = PickButton(hub, tr("Folder"), self.card)
        self.folder.picked.connect(self._pick_folder)
        self.weight = _label("", self.card)
        Dress(self.weight, hub, "small", "text.secondary")
        self.weight.hide()
        self.agents = AgentRows(hub, self.card)
        self.agents.chosen.connect(self._chosen)
        self.agents.accepted.connect(self._accept)
        self.agents.copied.connect(lambda: self._say(tr("The command was copied. Nothing was installed.")))
        self._scroll = QScrollArea(self.card)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setWidgetResizable(True)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.setWidget(self.agents)
        show_through(self._scroll)
        self.command = QLineEdit(self.card)
        self.command.setPlaceholderText(tr("Or a command of your own that speaks ACP, for example: my-agent --acp"))
        self.command.setAccessibleName(tr("Command of your own"))
        self.command.textChanged.connect(self._typed)
        self.command.returnPressed.connect(self._accept)
        self.ask_sessions = Button(hub, tr("Continue one of its sessions…"), kind="link", size="small", parent=self.card)
        self.ask_sessions.clicked.connect(self._ask_sessions)
        self.sessions = PickButton(hub, tr("Session"), self.card)
        self.sessions.picked.connect(self._pick_session)
        self.sessions.hide()
        self._session = ""
        self._doing: asyncio.Task[object] | None = None
        self._given_up: asyncio.Task[object] | None = None
        self._looked_at: set[str] = set()
        self._session_choices: Sequence[tuple[str, object]] = ()
        self.note = _label("", self.card)
        self._note_dress = Dress(self.note, hub, "small", "text.secondary")
        self.cancel = Button(hub, tr("Cancel"), size="large", parent=self.card)
        self.cancel.clicked.connect(lambda: self.answer(None))
        self.primary = Button(hub, "", kind="primary", size="large", parent=self.card)
        self.primary.clicked.connect(self._accept)
        self._build()
        self._show_folders()
        self.show_agents(agents, agent)
        self.stops = [self.agents, self.command, self.ask_sessions, self.sessions, self.folder, self.primary, self.cancel]

    def _build(self) -> None:
        outer = self._layout = QVBoxLayout(self.card)
        outer.setContentsMargins(24, 20, 24, 20)
        outer.setSpacing(10)
        outer.addWidget(self._title)
        if self._go_on:
            self.folder.hide()
        else:
            outer.addWidget(self._section(tr("Folder")))
            outer.addWidget(self.folder, 0, Qt.AlignmentFlag.AlignLeft)
            outer.addWidget(self.weight)
        outer.addWidget(self._section(tr("Agent")))
        outer.addWidget(self._scroll, 1)
        outer.addWidget(self.command)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.ask_sessions)
        row.addWidget(self.sessions)
        row.addStretch(1)
        outer.addLayout(row)
        outer.addWidget(self.note)
        buttons = QHBoxLayout()
        buttons.setSpacing(12)
        buttons.addStretch(1)
        buttons.addWidget(self.cancel)
        buttons.addWidget(self.primary)
        outer.addLayout(buttons)

    def _section(self, text: str) -> QLabel:
        label = _label(text, self.card)
        Dress(label, self.hub, "label", "text.tertiary")
        return label

    # What it shows

    def show_agents(self, agents: Sequence[AgentInfo], chosen: str = "") -> None:
        """The agents as they are known now; the one that was chosen stays chosen."""
        self.agents.show_agents(agents, chosen=chosen)
        if not agents:
            self._say(tr("No agent is known. Give a command of your own."))
        self._refresh()

    def show_sessions(self, sessions: Sequence[AgentSession]) -> None:
        """What the agent keeps of the folder."""
        now = when.local_now_ms()
        words = [(_session_words(one, now), one.id) for one in sessions[:_SESSIONS]]
        self._session = ""
        self._session_choices = [(tr("A new session"), ""), *words]
        self.sessions.set_choices(self._session_choices, "")
        self.sessions.setVisible(bool(words))
        self.ask_sessions.setVisible(False)
        text = tr_n("It keeps {n} session of this folder.", "It keeps {n} sessions of this folder.", len(sessions))
        self._say(text if words else tr("It keeps no session of this folder."))
        if words:
            self.sessions.setFocus(Qt.FocusReason.OtherFocusReason)
        self._refresh()

    def show_weight(self, folder: str, text: str) -> None:
        """How large the folder is that is chosen, where that will be felt; empty: not so large."""
        if folder == self._workspace:
            self.weight.setText(text)
            self.weight.setVisible(bool(text))
            if text:
                QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self.weight, text))
            self._place()

    def refuse(self, why: str) -> None:
        """What was wanted could not be done, and why; everything stays as it was chosen."""
        self._refresh()
        self._say(why, wrong=True)

    def no_sessions(self, why: str) -> None:
        """Its sessions can't be listed, and why."""
        self.ask_sessions.setEnabled(True)
        self._say(why)

    def _say(self, text: str, *, wrong: bool = False) -> None:
        self.note.setText(text)
        self._note_dress.set_token("danger.text" if wrong else "text.secondary")
        if wrong:
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self.note, text))
        self._place()

    def _show_folders(self) -> None:
        choices: list[tuple[str, object]] = [
            (f"{workspace_name(one)}  ·  {visible_name(short_path(one))}"[:80], one) for one in self._folders
        ]
        self.folder.set_choices([*choices, (tr("Choose a folder…"), _ANOTHER)], self._workspace or _ANOTHER)

    # What a person does

    def _pick_folder(self, value: object) -> None:
        if value is not _ANOTHER:
            self._take_folder(str(value))
        elif self._folder_dialog is None:
            dialog = self._folder_dialog = QFileDialog(self.window(), tr("Choose a folder to work in"))
            dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            dialog.setFileMode(QFileDialog.FileMode.Directory)
            if self._workspace:
                dialog.setDirectory(self._workspace)
            dialog.setOption(QFileDialog.Option.ShowDirsOnly)
            dialog.fileSelected.connect(self._take_folder)
            dialog.destroyed.connect(self._folder_dialog_gone)
            dialog.open()

    def _folder_dialog_gone(self) -> None:
        self._folder_dialog = None

    def _take_folder(self, folder: str) -> None:
        self._workspace = folder
        self._folders = tuple(dict.fromkeys((folder, *self._folders)))
        self._show_folders()
        self._say("")
        self.show_weight(folder, "")
        self._forget_sessions()
        self.folder_chosen.emit(folder)

    def look_at_chosen(self) -> None:
        """Ask for a look at the agent that is chosen, once; none is started that nobody chose."""
        info = self.agents.agent
        if info is not None and info.state is AgentState.FOUND and info.id not in self._looked_at:
            self._looked_at.add(info.id)
            self.check_wanted.emit(info.id)

    def _chosen(self, _info: object) -> None:
        self.look_at_chosen()
        self._see_chosen()
        self._say("")
        self._forget_sessions()

    def _see_chosen(self) -> None:
        box = self.agents.chosen_box.toRect()
        self._scroll.ensureVisible(box.center().x(), box.center().y(), 0, box.height())

    def _show_card(self) -> None:
        super()._show_card()
        self._layout.activate()
        self._see_chosen()  # not before: nothing had a size yet

    def _typed(self) -> None:
        self._say("")
        self._forget_sessions()

    def _forget_sessions(self) -> None:
        self._session = ""
        self.sessions.hide()
        self.ask_sessions.setEnabled(True)
        self._refresh()

    def _pick_session(self, value: object) -> None:
        self._session = str(value)
        self.sessions.set_choices(self._session_choices, value)
        self._refresh()

    def _ask_sessions(self) -> None:
        choice = self.choice
        if choice is not None and self._workspace:
            self.ask_sessions.setEnabled(False)
            self._say(tr("Asking the agent…"))
            self.sessions_wanted.emit(choice, self._workspace)

    @property
    def choice(self) -> AgentChoice | None:
        """The agent that is chosen; None if none can be started."""
        text = self.command.text()
        if text:  # a blank is no command, and nobody who typed it means the agent of the list
            try:
                command = tuple(shlex.split(text))
            except ValueError:
                return None
            return AgentChoice(name=command[0].rpartition("/")[2], command=command) if command else None
        info = self.agents.agent
        return AgentChoice(name=info.id) if info is not None and can_start(info) else None

    def _refresh(self) -> None:
        choice = self.choice
        refused = None if self._go_on else _refused(self._workspace)
        ready = choice is not None and (self._go_on or bool(self._workspace)) and refused is None and self._doing is None
        begin = tr("Continue session") if self._session else tr("Start chat")
        text = tr("Continue here") if self._go_on else begin
        if self._doing is not None:
            text = tr("Starting…")
        self.primary.setText(text)
        self.primary.setAccessibleName(text)
        self.primary.setEnabled(ready)
        self.primary.updateGeometry()
        self.ask_sessions.setVisible(ready and not self._go_on and self.sessions.isHidden())
        if self.command.text().strip() and choice is None:
            self._say(tr("A quotation mark is missing in that command."), wrong=True)
        elif refused is not None:
            self._say(sentence(refused).sentence, wrong=True)

    def _accept(self) -> None:
        choice = self.choice
        if self.primary.isEnabled() and choice is not None:
            self.answer(NewChat(self._workspace, choice, self._session))

    async def ask(self, do: Callable[[NewChat], Awaitable[ChatId]]) -> ChatId | None:
        """Let ``do`` do what is wanted; if it raises a `CoreError` that is said here and asked again. Returns the chat, or None
        if nothing is wanted. The dialog is gone afterwards."""
        while (wanted := await self.wait()) is not None:
            doing = self._doing = asyncio.current_task()
            self._refresh()
            try:
                chat = await do(wanted)
            except CoreError as error:
                self._doing = None
                self.refuse(sentence(error).sentence)
            except asyncio.CancelledError:
                self.close_now()
                if doing is None or doing is not self._given_up:
                    raise
                doing.uncancel()  # what was cancelled is the beginning of the chat, not who asked
                return None
            else:
                self.close_now()
                return chat
        return None

    def answer(self, value: NewChat | None) -> None:
        """The answer; a no while what was wanted is being done gives that up."""
        if value is None and self._doing is not None:
            self._given_up, self._doing = self._doing, None
            self._given_up.cancel()
        super().answer(value)

    # How large it is.

    def wanted_size(self, room: QSize) -> QSize:
        """As high as its agents need, at most what fits and `_ROWS` of them at once."""
        row = self.hub.theme.size("source")
        rest = self._layout.totalMinimumHeightForWidth(_WIDTH) - self._scroll.minimumHeight()
        shown = max(1, min(_ROWS, len(self.agents.rows), (room.height() - rest) // row))
        self._scroll.setFixedHeight(row * shown)
        return QSize(_WIDTH, rest + row * shown).boundedTo(room)


def _refused(folder: str) -> WorkspaceRefused | None:
    """Why a folder is not to be worked in, as far as its name says it; the core looks at the others."""
    if not folder:
        return None
    path = Path(folder)
    reason = "root" if path == Path(path.anchor) else "home" if path == Path.home() else ""
    return WorkspaceRefused(folder, reason) if reason else None


def _session_words(session: AgentSession, now_ms: int) -> str:
    title = one_line(session.title, _NAME_CHARS) or tr("Session {id}", id=one_line(session.id, 12))
    age = when.age_in_days(session.updated_at, now_ms) if session.updated_at else ""
    return f"{title}  ·  {age}" if age else title


def _label(text: str, parent: QWidget) -> QLabel:
    label = QLabel(parent)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
    label.setText(text)
    return label
