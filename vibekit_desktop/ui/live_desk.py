"""Show the open chat's agent at work, and connect composer, queue and permission panel to what can be done with it.

Keeps what every live chat is doing, so that a chat which is opened shows at once what runs in it. Connects only: what a person
can do is in `operations.live`, drafts in `operations.drafts`, choosing agents in `agent_desk`. UI thread only.
"""

from dataclasses import replace

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication

from vibekit_desktop.core.api import Core
from vibekit_desktop.core.types.agents import Answer, LivePhase, LiveState, Prompt, Question, Rule, TurnOutcome
from vibekit_desktop.core.types.chats import ChatHeader, ChatView, Role
from vibekit_desktop.core.types.events import AnswerStreamed, LiveChanged, LiveTurnEnded, MessageAppended
from vibekit_desktop.core.types.ids import ChatId
from vibekit_desktop.ui.bridge import Bridge
from vibekit_desktop.ui.dialogs.question import Choice
from vibekit_desktop.ui.dialogs.question import Question as Dialog
from vibekit_desktop.ui.escape_twice import EscapeTwice
from vibekit_desktop.ui.models import permission_words as words
from vibekit_desktop.ui.models.chat_list import ChatListModel
from vibekit_desktop.ui.models.ending_words import how_it_ended
from vibekit_desktop.ui.models.transcript import TranscriptModel
from vibekit_desktop.ui.notify import Notifier
from vibekit_desktop.ui.operations.drafts import Drafts
from vibekit_desktop.ui.operations.live import LiveOperations
from vibekit_desktop.ui.operations.open_chat import OpenChat
from vibekit_desktop.ui.sending import PARKED, Sending
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.chat_page import ChatPage
from vibekit_desktop.ui.views.composer import NOTHING, Written
from vibekit_desktop.ui.views.inspector import Inspector
from vibekit_desktop.ui.views.main_window import MainWindow

_RUNS = (LivePhase.RUNNING, LivePhase.STOPPING)
_NOT_THERE = (LivePhase.OFF, LivePhase.STARTING)
_STOPS = (LivePhase.STARTING, LivePhase.RUNNING)


class LiveDesk(QObject):
    """The live part of one window. ``held_changed(turn)``: Undo and Restore wait for this turn; -1: for one of another
    chat, 0: for none.

    Invariant: what the page shows of an agent is about the chat that is open."""

    held_changed = Signal(int)

    def __init__(
        self,
        core: Core,
        hub: ThemeHub,
        bridge: Bridge,
        notifier: Notifier,
        window: MainWindow,
        opened: OpenChat,
        page: ChatPage,
        inspector: Inspector,
        chats: ChatListModel,
        transcript: TranscriptModel,
    ) -> None:
        super().__init__(window)
        self._hub = hub
        self._bridge = bridge
        self._notifier = notifier
        self._window = window
        self._open = opened
        self._page = page
        self._inspector = inspector
        self._chats = chats
        self._transcript = transcript
        self._chat: ChatId | None = None
        """The chat that the composer is about."""
        self._states: dict[ChatId, LiveState] = {}
        self._empty: set[ChatId] = set()
        """The chats that were opened and in which nobody has said anything."""
        self._workspaces: dict[ChatId, str] = {}
        self._rules: dict[ChatId, tuple[Rule, ...]] = {}
        """What agents that were not started yet may do without a question."""
        self._said: dict[ChatId, str] = {}
        self._warmed: set[ChatId] = set()
        self._brought_back: dict[ChatId, str] = {}
        self._held = 0
        self.work = LiveOperations(core, bridge, notifier, self)
        self.drafts = Drafts(core, bridge, notifier, self)
        self.sending = Sending(self.work, self.drafts, self)
        self._connect()
        bridge.subscribe(self, LiveChanged, lambda event: self.know(event.state))
        bridge.subscribe(self, AnswerStreamed, self._streamed)
        bridge.subscribe(self, MessageAppended, self._appended)
        bridge.subscribe(self, LiveTurnEnded, lambda event: self._ended(event.outcome))
        self._twice = EscapeTwice(window, lambda: self.may_stop and page.isVisible(), self)
        self._twice.armed.connect(page.composer.set_armed)
        self._twice.pressed.connect(self.stop)

    def _connect(self) -> None:
        composer, queue, work = self._page.composer, self._page.foot.queue, self.work
        composer.sent.connect(self._send)
        composer.stop_requested.connect(self.stop)
        composer.edited.connect(self._edited)
        composer.previous_requested.connect(self._write_last_again)
        composer.picked.connect(self._pick)
        composer.rule_forgotten.connect(work.forget_rule)
        composer.told.connect(lambda text: self._notifier.toast(text, "info"))
        self._page.header.picked.connect(self._pick)
        self._page.permission.answered.connect(self._answer)
        queue.edit_requested.connect(lambda which: self._unqueue(which, edit=True))
        queue.remove_requested.connect(lambda which: self._unqueue(which, edit=False))
        queue.send_requested.connect(self._send_now)
        self._page.transcript.stop_command_requested.connect(self._stop_command)
        self._page.restart_requested.connect(self._restart)
        work.known.connect(self.know)
        work.ruled.connect(self._ruled)
        self.sending.changed.connect(self._sending_changed)
        self.sending.taken.connect(self._taken)
        self.sending.back.connect(self._write_again)
        work.unqueued.connect(self._write_again)
        self.drafts.known.connect(self._draft_known)

    # What is open.

    def opening(self, chat: ChatId) -> None:
        """A chat is being read: what its agent does is asked meanwhile."""
        self.work.look(chat)

    def opened(self, view: ChatView) -> None:
        """Another chat is shown now."""
        self._leave()
        chat = self._chat = view.header.id
        self.note(view.header)
        self._workspaces[chat] = view.vault_workspace
        self._page.composer.set_busy(self.sending.is_busy(chat))
        self._page.composer.write(self.drafts.of(chat) or NOTHING)
        if not view.messages and not view.header.source and view.damage is None:
            self._empty.add(chat)
        last = next((one.content for one in reversed(view.messages) if one.role == Role.USER and one.content), "")
        self._said[chat] = last
        self._show()

    def closed(self) -> None:
        """No chat is shown any more."""
        self._chat = None
        self._show()

    def _leave(self) -> None:
        """What nobody wrote in and nobody said anything in, nobody misses."""
        former = self._chat
        if former is None or former not in self._empty or (self._open.chat == former):
            return
        state, written = self._states.get(former), self._page.composer.written
        busy = self.sending.is_on_its_way(former) or (state is not None and (state.phase in _RUNS or bool(state.queue)))
        if not busy and written.is_empty:
            self._empty.discard(former)
            self.work.discard_empty(former)

    def note(self, header: ChatHeader) -> None:
        """A row of the list: which workspace a chat works in."""
        self._workspaces[header.id] = header.workspace

    def gone(self, chat: ChatId) -> None:
        """A chat was deleted."""
        for known in (self._states, self._rules, self._workspaces, self._said, self._brought_back):
            known.pop(chat, None)
        for marked in (self._empty, self._warmed):
            marked.discard(chat)
        self.sending.gone(chat)
        self.drafts.drop(chat)
        self._hold()

    def close(self) -> None:
        """The window is closing: what was written is stored, nothing else begins."""
        self._twice.forget()
        self.drafts.store_now()

    # What an agent does.

    @property
    def state(self) -> LiveState | None:
        """What the open chat is doing, if that is known."""
        return self._states.get(self._chat) if self._chat is not None else None

    @property
    def may_stop(self) -> bool:
        """Whether the open chat has something that can be stopped."""
        return self.state is not None and self.state.phase in _STOPS

    @property
    def waiting(self) -> int:
        """How many prompts wait to be said, in all chats."""
        return sum(len(self.sending.shown(state).queue) for state in self._states.values())

    @property
    def is_running(self) -> bool:
        """Whether a turn runs in the open chat."""
        return self.state is not None and self.state.phase in _RUNS

    def know(self, state: LiveState) -> None:
        """What a chat is doing is another thing now."""
        former = self._states.get(state.chat)
        if state.phase in _NOT_THERE and not state.rules:
            state = replace(state, rules=self._rules.get(state.chat, ()))
        self._states[state.chat] = state
        self.sending.know(state)
        self._chats.set_live(state)
        self._transcript.set_live(state)
        asked = {one.id for one in former.questions} if former is not None else set()
        if any(one.id not in asked for one in state.questions):
            self._call()
        if state.chat == self._chat:
            self._show()
        else:
            self._hold()

    def _ruled(self, chat: ChatId, rules: tuple[Rule, ...]) -> None:
        self._rules[chat] = rules
        state = self._states.get(chat)
        if state is not None and state.phase in _NOT_THERE:
            self.know(replace(state, rules=()))

    def _show(self) -> None:
        state = self.state
        if state is not None:
            self._page.set_live(self.sending.shown(state))
        self._open.set_running(state is not None and state.phase in _RUNS)
        self._inspector.set_live(state)
        self._hold()

    def _hold(self) -> None:
        """Undo and Restore wait while any turn runs in the open chat's workspace."""
        own = self.state
        turn = own.turn or 1 if own is not None and own.phase in _RUNS else 0
        other = "" if turn or self._chat is None else self._other_turn(self._chat)
        self._transcript.set_held(other)
        self._inspector.set_held(other)
        held = turn or (-1 if other else 0)
        if held != self._held:
            self._held = held
            self.held_changed.emit(held)

    def _other_turn(self, chat: ChatId) -> str:
        """Why Undo and Restore wait for another chat of the same workspace; empty if they need not."""
        workspace = self._workspaces.get(chat, "")
        for state in self._states.values():
            if state.chat != chat and state.phase in _RUNS and workspace and self._workspaces.get(state.chat) == workspace:
                return tr("Undo and Restore wait: a turn of another chat runs in this workspace.")
        return ""

    @property
    def why_held(self) -> str:
        """Why nothing can be taken back now; empty if something can."""
        if self._held > 0:
            return tr("Undo and Restore wait until turn {turn} ends.", turn=self._held)
        return self._other_turn(self._chat) if self._held and self._chat is not None else ""

    def _call(self) -> None:
        """Somebody has to answer: where the window is not in front, the system says so in its own way; no focus is taken."""
        top = self._window.window()
        if not top.isActiveWindow():
            QApplication.alert(top)

    def _streamed(self, event: AnswerStreamed) -> None:
        self._transcript.stream(event.chat, event.turn, event.message)

    def _appended(self, event: MessageAppended) -> None:
        self._empty.discard(event.chat)
        if event.message.role == Role.USER and event.message.content:
            self._said[event.chat] = event.message.content
            self.sending.said(event.chat)
        self._transcript.append(event.chat, event.message)

    def _ended(self, outcome: TurnOutcome) -> None:
        if outcome.chat == self._chat:
            self._open.turn_ended()
        text = how_it_ended(outcome)
        if text and outcome.chat == self._chat:
            self._notifier.toast(text, "info")

    # What a person writes.

    def _edited(self) -> None:
        chat, state = self._chat, self.state
        if chat is None:
            return
        written = self._page.composer.written
        self.drafts.keep(chat, written)
        self._brought_back.pop(chat, None)
        asleep = state is not None and state.phase is LivePhase.OFF and not state.problem and state.error is None
        if asleep and not written.is_empty and chat not in self._warmed:
            self._warmed.add(chat)  # it starts while the prompt is written, and tells what it offers
            self.work.start(chat, quietly=True)

    def _draft_known(self, chat: ChatId, written: Written) -> None:
        if chat == self._chat and self._page.composer.written.is_empty:
            self._page.composer.write(written)

    def _send(self, prompt: Prompt) -> None:
        chat = self._chat
        if chat is not None:
            self.sending.send(chat, prompt)

    def _sending_changed(self, chat: ChatId) -> None:
        if chat == self._chat:
            self._page.composer.set_busy(self.sending.is_busy(chat))
            self._show()

    def _taken(self, chat: ChatId) -> None:
        self._empty.discard(chat)
        if chat == self._chat:
            self._page.composer.write(NOTHING)
            self._page.transcript.scroll_to_end()

    def _write_last_again(self) -> None:
        """The last prompt, to be written anew: one that waits is taken back, one that was sent is copied."""
        chat = self._chat
        state = self.sending.shown(self.state) if self.state is not None else None
        if state is not None and state.queue:
            self._unqueue(state.queue[-1].id, edit=True)
        elif chat is not None and self._said.get(chat):
            self._page.composer.put_before(Written(self._said[chat]))

    def write(self, chat: ChatId, prompt: Prompt) -> bool:
        """Put something into the message field of a chat, before what is in it, to be looked at and sent; False if there is no
        field because nobody answers there."""
        if chat == self._chat and not self._page.foot.is_composing:
            return False
        self._write_again(chat, prompt)
        return True

    def _write_again(self, chat: ChatId, prompt: Prompt) -> None:
        again = Written(prompt.text, prompt.attachments)
        if chat == self._chat:
            self._page.composer.put_before(again)
            self._page.composer.focus()
            return
        kept = self.drafts.of(chat) or NOTHING
        text = "\n\n".join(one for one in (again.text, kept.text) if one)
        self.drafts.keep(chat, Written(text, (*again.attachments, *kept.attachments)))

    def restored(self, chat: ChatId, next_prompt: str) -> None:
        """A restore of a chat was done: the prompt that it cut is written again, and goes when the restore is undone."""
        if chat != self._chat or not self._page.foot.is_composing:
            return
        composer = self._page.composer
        if next_prompt:
            composer.put_before(Written(next_prompt))
            self._brought_back[chat] = composer.written.text
        elif self._brought_back.pop(chat, None) == composer.written.text and not composer.written.attachments:
            composer.write(NOTHING)
            self.drafts.keep(chat, NOTHING)

    def _unqueue(self, which: str, *, edit: bool) -> None:
        if self._chat is not None and which == PARKED:
            self.sending.withdraw(self._chat, edit=edit)
        elif self._chat is not None:
            self.work.unqueue(self._chat, which, edit=edit)

    def _send_now(self, which: str) -> None:
        if which == PARKED:
            self._notifier.toast(tr("It is sent as soon as the agent is there."), "info")
        elif self._chat is not None:
            self.work.send_now(self._chat, which)

    # What a person answers, chooses and stops.

    def _pick(self, option: str, value: str) -> None:
        if self._chat is not None:
            self.work.set_option(self._chat, option, value)

    def _answer(self, which: str, answer: Answer) -> None:
        question = self._page.permission.question
        chat = self._chat
        if chat is None:
            return
        if answer is Answer.UNPROTECTED and question is not None and question.id == which:
            self._bridge.spawn(self, self._answer_unprotected(chat, question), name="ask once more")
        else:
            self.work.answer(chat, which, answer)

    async def _answer_unprotected(self, chat: ChatId, question: Question) -> None:
        """What can't be undone is asked once more."""
        title, text, go = words.without_copy(question)
        choices = [Choice("", tr("Cancel")), Choice("go", go, "danger")]
        if await Dialog(self._hub, self._window, title, text, choices, icon="warning").ask():
            self.work.answer(chat, question.id, Answer.UNPROTECTED)

    def _restart(self) -> None:
        if self._chat is not None:
            self.work.start(self._chat)

    def _stop_command(self, tool_call_id: str) -> None:
        if self._chat is not None:
            self.work.stop_command(self._chat, tool_call_id)

    def stop(self) -> None:
        """Stop the open chat's turn if one runs, or the start of its agent."""
        state = self.state
        if state is not None and state.phase in _STOPS:
            self._twice.forget()
            if state.phase is LivePhase.STARTING:
                self.sending.withdraw(state.chat)
            else:
                self.work.stop(state.chat)
