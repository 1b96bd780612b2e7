"""One turn of a live agent: from the stored prompt to the stored answer. It always ends, whatever the agent does.

| step, each durable | a crash after it leaves | who goes on |
| --- | --- | --- |
| the turn's lock is held | nothing | - |
| a look, ``turn_start``, the prompt in the transcript | an open turn with its prompt | `recovery` ends it |
| every capture and write, before it lands | the same, and what was captured | the same |
| the answer so far, once a second, in a file of its own | the same | the chat gets it, marked as interrupted |
| the answer in the transcript, ``turn_end`` after a look | a turn that ended, and that file | the next change drops it |
| the file is gone, the lock is free | - | - |
"""

import asyncio
import logging
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, suppress

import msgspec

from vibekit_desktop.core.agent.answer import DENIED, STOPPED, AnswerBuilder
from vibekit_desktop.core.agent.link import Ask, LinkEvent, ToolChanged
from vibekit_desktop.core.chat import prompted
from vibekit_desktop.core.chat.hooked import storable
from vibekit_desktop.core.chat.partial import Partial
from vibekit_desktop.core.checkpoint.kernel import CheckpointKernel
from vibekit_desktop.core.disk.locks import TurnLock
from vibekit_desktop.core.services import live_words
from vibekit_desktop.core.services.attachments import stored
from vibekit_desktop.core.services.live_stage import Saying, Stage
from vibekit_desktop.core.services.serial import durably
from vibekit_desktop.core.types.agent_errors import AgentFailed, AgentNotSignedIn
from vibekit_desktop.core.types.agents import NOT_COMPLETE, Given, StopReason, TurnOutcome
from vibekit_desktop.core.types.chats import Chat, Message, Role
from vibekit_desktop.core.types.checkpoints import Coverage, FileChange
from vibekit_desktop.core.types.errors import CoreError
from vibekit_desktop.core.types.events import AnswerStreamed, MessageAppended
from vibekit_desktop.core.types.ids import WorkspacePath

_log = logging.getLogger(__name__)

FRAME_S = 1 / 30
SAVE_S = 1.0
STOP_S = 8.0
"""An agent that was asked to stop gets so long before it is ended."""
KILL_S = 1.0
SILENT_S = 30 * 60.0
"""An agent that says nothing for so long, while nobody is asked and no command of its runs in a terminal of ours, hangs."""
_OPEN_CALLS_FACTOR = 3
_LOOK_S = 5.0


class LiveTurn:
    """One turn. Invariant: after `run` the turn's lock is free, its captures are kept, and no request of the agent's is
    open."""

    def __init__(self, stage: Stage, saying: Saying) -> None:
        self._stage = stage
        self._saying = saying
        self.number = 0
        self.outcome: TurnOutcome | None = None
        """What became of it, once it has ended."""
        self.began_at = 0
        self._builder = AnswerBuilder(str(uuid.uuid4()), turn=0, workspace=stage.vault.workspace_path, clock=stage.clock)
        self._changed = asyncio.Event()
        self._stop = asyncio.Event()
        self._stopped_as = StopReason.CANCELLED
        self._closing = False
        self._note = ""
        self._shown_in: dict[str, str] = {}
        """The tool call that shows a terminal, by terminal."""
        self._wrote: set[str] = set()
        """Terminals that wrote or ended, which the answer does not say yet."""
        self._heard_of: set[str] = set()
        """All of the turn's terminals."""
        self._heard_at = time.monotonic()
        self._open_calls: set[str] = set()
        self._partial: Partial | None = None

    # -- what comes in -----------------------------------------------------------------------------------------------

    def event(self, event: LinkEvent) -> None:
        """Something that the agent said in this turn."""
        self._heard_at = time.monotonic()
        if isinstance(event, ToolChanged):
            self._stage.gate.saw(event)
            for terminal in event.terminals or ():
                self._shown_in[terminal] = event.id
                self._wrote.add(terminal)
            if event.status in ("completed", "failed"):
                self._open_calls.discard(event.id)
            elif event.status is not None:
                self._open_calls.add(event.id)
        changed = self._builder.add(event)
        if self.stopping and isinstance(event, ToolChanged) and event.status == "failed":
            changed = self._builder.mark(event.id, STOPPED) or changed  # it failed because we stopped it
        if changed:
            self._changed.set()

    def asked(self, ask: Ask, chosen: str | None) -> None:
        """A question of the agent's was answered: a call that was denied says so, and one that could not be let through says
        why."""
        kind = next((option.kind for option in ask.options if option.id == chosen), "")
        if kind.startswith("reject"):
            self._builder.add(ask.tool)
            why = self._stage.gate.why_not(ask.tool.id)
            if why:
                self._builder.fail(ask.tool.id, why)
            else:
                self._builder.mark(ask.tool.id, DENIED)
            self._changed.set()

    def heard(self) -> None:
        """The agent asked for something: it is alive."""
        self._heard_at = time.monotonic()

    def terminal_wrote(self, terminal: str) -> None:
        """A command in a terminal of ours wrote something, or ended."""
        self._wrote.add(terminal)
        self._heard_of.add(terminal)
        self._changed.set()

    def waiting(self, calls: Iterable[str]) -> None:
        """These are the calls that wait to be allowed now."""
        if self._builder.waiting(calls):
            self._changed.set()

    def stop(self, reason: StopReason = StopReason.CANCELLED, *, closing: bool = False) -> None:
        """End the turn; it ends soon."""
        if not self._stop.is_set():
            self._stopped_as = reason
            self._stop.set()
        self._closing = self._closing or closing

    @property
    def stopping(self) -> bool:
        """Whether somebody asked for its end."""
        return self._stop.is_set()

    # -- the whole of it ---------------------------------------------------------------------------------------------

    async def run(self, begun: Callable[[int], None]) -> TurnOutcome:
        """Say it and wait for the end. ``begun`` is told the turn's number once the prompt is stored; what is raised before
        that (`Busy`, errors of the disk) means that nothing was said."""
        stage = self._stage
        stack = ExitStack()
        lock = TurnLock(stage.fs, stage.vault.store.desktop, stage.chat)
        unended: BaseException | None = None
        try:
            say = await durably(lambda: stack.enter_context(lock.hold(lock.cut_off())))
            self.number = await self._store_prompt(say)
            self._partial = Partial(stage.vault.chats, stage.chat, turn=self.number)
            stage.gate.begin(self.number, self._saying.headless)
            begun(self.number)
            reason, error = await self._talk()
            outcome, unended = await self._end(reason, error)
            return outcome
        except BaseException as error:
            unended = error
            raise
        finally:
            await durably(lambda: _let_go(stack, unended))

    async def _store_prompt(self, say: Callable[[int], None]) -> int:
        stage, saying = self._stage, self._saying
        numbers: list[int] = []
        new: list[Message] = []
        self.began_at = stage.clock()
        message = Message(
            id=str(uuid.uuid4()),
            role=Role.USER.value,
            ts=self.began_at,
            content=storable(saying.prompt.text),
            attachments=stored(saying.prompt.attachments),
        )

        def work(kernel: CheckpointKernel) -> None:
            def change(found: Chat, _there: bool) -> Chat:
                count = stage.vault.chats.count(found) + 1
                say(stage.vault.store.memory.view(stage.chat)[1].last_turn + 1)  # before it begins: a crash may come between
                turn = kernel.recorder.begin_turn(stage.chat, message_count=count, message_id=message.id)
                numbers.append(turn)
                new.append(msgspec.structs.replace(message, turn=turn))
                chat = prompted.begun(found, turn, message, session=saying.session, answer=self._builder.identity)
                return saying.amend(chat)

            stage.vault.chats.mutate(stage.chat, change)

        try:
            await stage.book.changing(stage.chat, stage.vault, work)
        except CoreError:
            if numbers:  # it began, and its prompt could not be stored
                with suppress(CoreError):
                    await stage.book.changing(stage.chat, stage.vault, lambda kernel: kernel.recorder.end_turn(stage.chat))
            raise
        await stage.book.tell(stage.chat, stage.vault, MessageAppended(stage.chat, new[-1]))
        return numbers[-1]

    # -- while it runs -----------------------------------------------------------------------------------------------

    async def _talk(self) -> tuple[StopReason, CoreError | None]:
        stage = self._stage
        said = asyncio.create_task(stage.link.prompt(self._saying.session, self._saying.parts), name="prompt an agent")
        pump = asyncio.create_task(self._pump(), name="stream an answer")
        watch = asyncio.create_task(self._watch(), name="watch for a silent agent")
        try:
            await self._said_or_stopped(said)
            try:
                reason = said.result()
            except asyncio.CancelledError:
                return self._stopped_as, None
            except (AgentFailed, AgentNotSignedIn) as error:
                return self._failed(error)
            return (self._stopped_as if self.stopping else reason), None
        finally:
            for task in (said, pump, watch):
                task.cancel()
            await asyncio.gather(said, pump, watch, return_exceptions=True)
            for task in (pump, watch):
                if not task.cancelled() and (failed := task.exception()) is not None:
                    _log.error("%s failed", task.get_name(), exc_info=failed)

    async def _said_or_stopped(self, said: "asyncio.Task[StopReason]") -> None:
        """Wait for the agent's end of the turn; once somebody wants it stopped, not for ever."""
        stage = self._stage
        stop = asyncio.create_task(self._stop.wait(), name="wait for a stop")
        try:
            await asyncio.wait({said, stop}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stop.cancel()
        if said.done():
            return
        with suppress(CoreError):
            await stage.link.cancel(self._saying.session)
        stage.gate.cancel()
        await stage.terminals.close()
        patience = KILL_S if self._closing else STOP_S
        await asyncio.wait({said}, timeout=patience)
        if not said.done():
            _log.info("the agent of chat %s did not stop and is ended", stage.chat)
            self._note = "" if self._closing else live_words.did_not_stop(stage.agent)
            await stage.link.close(patience_s=KILL_S / 2)
            await asyncio.wait({said}, timeout=KILL_S)

    def _failed(self, error: CoreError) -> tuple[StopReason, CoreError | None]:
        if self.stopping:
            return self._stopped_as, None
        died = isinstance(error, AgentFailed) and error.reason != "said"
        return (StopReason.DIED if died else StopReason.FAILED), error

    async def _watch(self) -> None:
        """End the turn of an agent that says nothing any more."""
        while True:
            await asyncio.sleep(min(_LOOK_S, SILENT_S / 4))
            stage = self._stage
            if stage.questions.open or stage.terminals.running():
                self._heard_at = time.monotonic()
            limit = SILENT_S * (_OPEN_CALLS_FACTOR if self._open_calls else 1)
            if time.monotonic() - self._heard_at > limit:
                _log.info("the agent of chat %s is silent and is stopped", stage.chat)
                self.stop(StopReason.DIED)
                return

    async def _pump(self) -> None:
        """Tell of the running answer 30 times a second at most, and keep it once a second."""
        stage = self._stage
        unsaved = False
        saved_at = time.monotonic()
        while True:
            try:
                async with asyncio.timeout(SAVE_S if unsaved else None):  # `wait_for` may lose a cancellation (3.11)
                    await self._changed.wait()
                self._changed.clear()
                unsaved = True
                while self._wrote:
                    self._take(self._wrote.pop())
                stage.bus.publish(AnswerStreamed(stage.chat, self.number, self._builder.message()))
                await asyncio.sleep(FRAME_S)
            except TimeoutError:
                pass  # nothing new: keep what there is
            if unsaved and time.monotonic() - saved_at >= SAVE_S:
                await self._save()
                unsaved, saved_at = False, time.monotonic()

    def _take(self, terminal: str) -> None:
        """What a terminal wrote goes to the call that shows it, how its command ended to the one that it ran for."""
        stage, shown = self._stage, self._shown_in.get(terminal, "")
        if shown:
            self._builder.output(shown, stage.terminals.text(terminal))
        ended = stage.terminals.exit(terminal)
        if ended is not None and ended.code is not None:
            self._builder.exited(shown or stage.gate.call_of(terminal), ended.code)

    async def _save(self) -> None:
        partial, message = self._partial, self._builder.message(whole=True)
        if partial is None:
            return

        def work() -> None:
            partial.add(message)
            partial.flush()

        try:
            await durably(work)
        except CoreError as error:
            _log.warning("the running answer of chat %s was not kept: %s", self._stage.chat, error.code)

    # -- its end -----------------------------------------------------------------------------------------------------

    async def _end(self, reason: StopReason, error: CoreError | None) -> tuple[TurnOutcome, CoreError | None]:
        """Store the answer and end the turn; why it could not be ended, if so. It is told in any case."""
        stage = self._stage
        given = await self._settle()
        for terminal in {**self._shown_in, **dict.fromkeys(self._heard_of)}:
            self._take(terminal)
        unsettled = await self._until_quiet()
        took_ms = max(0, stage.clock() - self.began_at)
        answer = self._builder.ended(took_ms=took_ms) if self._builder.says_something else None
        notes = live_words.notes(stage.agent, reason, error, ts=stage.clock(), more=self._note)
        heard = reason not in (StopReason.DIED, StopReason.TIMED_OUT)
        stored: list[Message] = []
        unended: CoreError | None = None

        def work(kernel: CheckpointKernel) -> None:
            stage.vault.chats.mutate(stage.chat, lambda found, _: prompted.ended(found, answer, notes, heard=heard))
            stored.extend([*([answer] if answer is not None else []), *notes])
            kernel.recorder.end_turn(stage.chat, duration_ms=took_ms, unsettled=unsettled)

        try:
            await stage.book.changing(stage.chat, stage.vault, work)
        except CoreError as problem:
            _log.warning("turn %d of chat %s stays open: %s", self.number, stage.chat, problem.code)
            unended = problem
        await self._finish_partial(stored=bool(stored) or answer is None)
        files, coverage = await self._changes()
        with suppress(CoreError):  # a chat that somebody removed meanwhile
            await stage.book.tell(stage.chat, stage.vault, *(MessageAppended(stage.chat, one) for one in stored))
        wrong = error or unended
        outcome = TurnOutcome(
            chat=stage.chat,
            turn=self.number,
            stop_reason=StopReason.FAILED if unended is not None and reason is StopReason.END else reason,
            files=files,
            coverage=coverage,
            permissions=given,
            problem=live_words.what_happened(stage.agent, wrong) if wrong is not None else "",
            note=self._note,
        )
        self.outcome = outcome
        return outcome, unended

    async def _until_quiet(self) -> Sequence[WorkspacePath]:
        if self._closing:
            return ()
        try:
            return await self._stage.book.until_quiet(self._stage.vault)
        except CoreError as error:  # the folder is gone, say: what the agent said is stored nevertheless
            _log.info("the workspace of chat %s could not be watched: %s", self._stage.chat, error.code)
            return ()

    async def _finish_partial(self, *, stored: bool) -> None:
        """The answer is in the chat, or else it is kept beside it until it can be."""
        if not stored or self._partial is None:
            await self._save()
            return
        try:
            await durably(self._partial.finish)
        except CoreError as error:
            _log.info("the running answer of chat %s is still beside it: %s", self._stage.chat, error.code)

    async def _changes(self) -> tuple[tuple[FileChange, ...], Coverage]:
        stage = self._stage
        try:
            return await stage.book.changes(stage.vault, stage.chat, self.number)
        except CoreError as error:
            _log.info("what turn %d of chat %s changed is not known: %s", self.number, stage.chat, error.code)
            return (), NOT_COMPLETE

    async def _settle(self) -> tuple[Given, ...]:
        try:
            return await self._stage.gate.settle()
        except CoreError as error:
            _log.warning("what the agent of chat %s did last was not all looked at: %s", self._stage.chat, error.code)
            return ()


def _let_go(stack: ExitStack, unended: BaseException | None) -> None:
    """Free the turn's lock. Of a turn that is not ended its file goes on telling the number, for `recover`."""
    if unended is None:
        stack.close()
    else:
        stack.__exit__(type(unended), unended, unended.__traceback__)
