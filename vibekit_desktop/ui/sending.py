"""What a person sent and the agent was not told yet, and what waits in the queue: nothing of it is lost.

While an agent starts, a prompt for it stands in the queue strip, so that more can be written. What waits is stored with the
drafts: a program that ends has it in the message field when it is started again. UI thread only.
"""

from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, QTimer, Signal

from vibekit_desktop.core.types.agents import LivePhase, LiveState, Prompt, QueuedPrompt
from vibekit_desktop.core.types.ids import ChatId
from vibekit_desktop.ui.operations.drafts import Drafts
from vibekit_desktop.ui.operations.live import LiveOperations
from vibekit_desktop.ui.views.composer import Written

PARK_MS = 500
"""A start that is shorter is not worth a row in the strip."""
PARKED = "waits for the start"
"""The id of the row of a prompt that waits for the agent to be there; the core's ids are of another form."""


@dataclass(slots=True)
class _Sent:
    """The prompts of one chat on their way: ``flying`` still stands in the composer, ``parked`` in the strip."""

    flying: Prompt | None = None
    parked: Prompt | None = None
    withdrawn: str = ""
    """``edit`` or ``forget``: what is on its way is not wanted any more, and what becomes of it then."""


class Sending(QObject):
    """Signals: ``changed(chat)``: what stands in the strip or whether the composer waits is another thing now; ``taken(chat)``:
    what stood in the composer was sent; ``back(chat, Prompt)``: it was not said and is to be written again.

    Invariant: a prompt is in the composer, in the strip, or was said."""

    changed = Signal(object)
    taken = Signal(object)
    back = Signal(object, object)

    def __init__(self, work: LiveOperations, drafts: Drafts, parent: QObject) -> None:
        super().__init__(parent)
        self._work = work
        self._drafts = drafts
        self._sent: dict[ChatId, _Sent] = {}
        self._states: dict[ChatId, LiveState] = {}
        work.taken.connect(self._taken)
        work.refused.connect(self._refused)

    def _of(self, chat: ChatId) -> _Sent:
        return self._sent.setdefault(chat, _Sent())

    def is_busy(self, chat: ChatId) -> bool:
        """Whether what stands in the composer is being sent."""
        return self._of(chat).flying is not None

    def is_on_its_way(self, chat: ChatId) -> bool:
        """Whether anything of a chat is being sent."""
        sent = self._of(chat)
        return sent.flying is not None or sent.parked is not None

    def send(self, chat: ChatId, prompt: Prompt) -> None:
        """Send a prompt; nothing happens while another one of the composer is being sent."""
        sent = self._of(chat)
        if sent.flying is not None:
            return
        sent.flying = prompt
        self._drafts.keep(chat, Written(prompt.text, prompt.attachments))
        self.changed.emit(chat)
        self._work.prompt(chat, prompt, unwanted=lambda: bool(sent.withdrawn))
        self._look(chat)

    def know(self, state: LiveState) -> None:
        """What a chat is doing is another thing now."""
        self._states[state.chat] = state
        self._look(state.chat)
        self._keep(state.chat)

    def gone(self, chat: ChatId) -> None:
        """A chat was deleted."""
        self._sent.pop(chat, None)
        self._states.pop(chat, None)

    def said(self, chat: ChatId) -> None:
        """A prompt of the chat is in its transcript."""
        self._of(chat).withdrawn = ""

    def shown(self, state: LiveState) -> LiveState:
        """The state with what waits for the start of the agent at the head of the queue."""
        parked = self._of(state.chat).parked
        return state if parked is None else replace(state, queue=(QueuedPrompt(PARKED, parked), *state.queue))

    def withdraw(self, chat: ChatId, *, edit: bool = True) -> None:
        """End the start of the agent: what was sent to it is written again, or with ``edit`` False forgotten."""
        if self.is_on_its_way(chat):
            self._of(chat).withdrawn = "edit" if edit else "forget"
        self._work.stop(chat)

    # How.

    def _look(self, chat: ChatId) -> None:
        if self._is_starting(chat) and self._of(chat).flying is not None:
            QTimer.singleShot(PARK_MS, self, lambda: self._park(chat))

    def _is_starting(self, chat: ChatId) -> bool:
        state = self._states.get(chat)
        return state is not None and state.phase is LivePhase.STARTING

    def _park(self, chat: ChatId) -> None:
        """The start takes a while: what was sent waits in the strip, and the composer is free."""
        sent = self._of(chat)
        if sent.flying is None or sent.parked is not None or not self._is_starting(chat):
            return
        sent.parked, sent.flying = sent.flying, None
        self._keep(chat)
        self._drafts.forget(chat)
        self.taken.emit(chat)
        self.changed.emit(chat)

    def _keep(self, chat: ChatId) -> None:
        """What waits stands before what is being written, should the program end."""
        parked = self._of(chat).parked
        state = self._states.get(chat)
        queue = [one.prompt for one in state.queue] if state is not None else []
        self._drafts.wait(chat, [one.text for one in ([parked] if parked is not None else []) + queue])

    def _taken(self, chat: ChatId, prompt: Prompt) -> None:
        sent = self._of(chat)
        sent.withdrawn = ""
        if prompt is sent.parked:
            sent.parked = None
            self._keep(chat)
        else:
            sent.flying = None
            self._drafts.forget(chat)
            self.taken.emit(chat)
        self.changed.emit(chat)

    def _refused(self, chat: ChatId, prompt: Prompt) -> None:
        sent = self._of(chat)
        forgotten, sent.withdrawn = sent.withdrawn == "forget", ""
        if prompt is sent.parked:
            sent.parked = None
            if not forgotten:
                self.back.emit(chat, prompt)
            self._keep(chat)
        else:
            sent.flying = None
        self.changed.emit(chat)
