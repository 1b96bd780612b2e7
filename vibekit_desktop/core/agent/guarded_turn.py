"""The turn that runs, as the gate sees it: its calls, what was allowed, what was kept, which commands run.

Everything that the vault is told goes one by one, in the order in which it was heard: what an agent's command did and what its
next edit does are then not taken for each other. Loop thread.
"""

import asyncio
import logging
from collections.abc import Coroutine, Iterable
from dataclasses import dataclass

from vibekit_desktop.core.agent.calls import Call, Calls
from vibekit_desktop.core.agent.grants import Grants, same_state
from vibekit_desktop.core.agent.places import reason_of
from vibekit_desktop.core.agent.policy import Refused
from vibekit_desktop.core.agent.sink import Sink
from vibekit_desktop.core.agent.wishes import WRITES, Wish
from vibekit_desktop.core.types.agents import Given, Headless, Hold, Operation
from vibekit_desktop.core.types.checkpoints import ALL_KEPT, CaptureReport, FileState, Protection, State
from vibekit_desktop.core.types.errors import (
    CoreError,
    DiskFull,
    EnvironmentFault,
    NotProtected,
    PathEscape,
    PathRefused,
    Refusal,
    WorkspaceMissing,
)
from vibekit_desktop.core.types.ids import WorkspacePath

_log = logging.getLogger(__name__)

MOST_GIVEN = 1_000
MOST_WAITING = 64
"""So many things that nobody asked about wait to be kept; more are left to the look at the turn's end, which is not held up by
an agent gone wild."""
_FOLDER = "folder"
_NOTHING_THERE = ("empty-folder", "missing")
_TOO_LARGE = "too-large"
_DISK_FULL = "disk-full"


@dataclass(frozen=True, slots=True)
class Kept:
    """Whether what is about to go is in the store. ``hold``: it is not, and why. ``changed``: it is, and it is not what was
    looked at before. ``refused``: a path that must not be touched. ``gone``: there is no workspace folder any more.
    ``protection``: what of the workspace is not in the store, where all of it may be changed."""

    hold: Hold = Hold.NONE
    changed: bool = False
    refused: Refused | None = None
    gone: bool = False
    protection: Protection = ALL_KEPT


KEPT = Kept()


def hold_of(error: CoreError) -> Hold:
    """Why a write waits, by the error that keeping what goes has raised."""
    if isinstance(error, DiskFull):
        return Hold.DISK_FULL
    if isinstance(error, NotProtected) and error.reason == _TOO_LARGE:
        return Hold.TOO_LARGE
    if isinstance(error, PathRefused) and error.reason == _FOLDER:
        return Hold.TOO_LARGE  # a folder with more in it than is kept one by one
    return Hold.CANNOT_STORE


def _protected(found: Protection) -> Kept:
    if not found.unkept:
        return Kept(protection=found)
    full = any(one.reason == _DISK_FULL for one in found.unkept)
    return Kept(hold=Hold.DISK_FULL if full else Hold.CANNOT_STORE, protection=found)


class GuardedTurn:
    """One turn. Invariant: a command that begins also ends, at the latest with the turn."""

    def __init__(self, number: int, headless: Headless | None, sink: Sink) -> None:
        self.number = number
        self.headless = headless
        self.calls = Calls()
        self.grants = Grants()
        self.asked: set[str] = set()
        """The calls that the agent asked about; what these do is kept when they are allowed."""
        self.order = asyncio.Lock()
        """Fair: who comes first is first. Never held while a person is asked."""
        self.heard_running: set[str] = set()
        """Calls whose commands may have begun."""
        self._sink = sink
        self._stopped = False
        self._settled = False
        self._given: list[Given] = []
        self._jobs: set[asyncio.Task[None]] = set()
        self._waiting = 0
        self._commands: set[str] = set()
        self._paths_heard: dict[str, int] = {}
        self._why_not: dict[str, str] = {}
        self._kept: dict[tuple[str, WorkspacePath], FileState] = {}

    def stop(self) -> None:
        """The turn is being stopped: nothing more is allowed in it."""
        self._stopped = True

    def stopped(self) -> bool:
        """Whether it is being stopped. A question, as the answer may change while something is waited for."""
        return self._stopped

    # -- what is told at the end -------------------------------------------------------------------------------------

    @property
    def given(self) -> tuple[Given, ...]:
        """The answers so far."""
        return tuple(self._given)

    def note(self, title: str, answer: str, *, not_done: str = "", said: str = "") -> None:
        """Something was answered. ``not_done``: what was allowed was not done, and why; said of it once. ``said``: see
        `Given`."""
        allowed = Given(title, answer)
        if not_done and allowed in self._given:
            self._given.reverse()
            self._given.remove(allowed)
            self._given.reverse()
        if len(self._given) < MOST_GIVEN:
            self._given.append(Given(title, answer, not_done, said))

    def why_not(self, call: str) -> str:
        """Why a call was not let through although no person said no: a sentence; empty if there was no such reason."""
        return self._why_not.get(call, "")

    def let_not(self, call: str, why: str) -> None:
        """A call is not let through, and this is why."""
        if call in self._why_not or len(self._why_not) < MOST_GIVEN:
            self._why_not[call] = why

    async def not_done(self, paths: Iterable[WorkspacePath]) -> None:
        """What was announced for these paths is known not to have been done; within `order`."""
        for path in paths:
            await self._sink.not_done(path)

    async def waits(self, wish: Wish) -> None:
        """A person is asked about a wish, and its call does nothing meanwhile: what was kept for it is kept anew when it is
        allowed. Within `order`."""
        for key in [key for key in self._kept if key[0] == wish.tool_call_id]:
            del self._kept[key]
        await self._sink.waits(wish.inside if wish.operation in WRITES else (), tool_call_id=wish.tool_call_id)

    def kept_for(self, call: str) -> tuple[WorkspacePath, ...]:
        """The paths that were kept for a call."""
        return tuple(path for of, path in self._kept if of == call)

    # -- work that nobody waits for ----------------------------------------------------------------------------------

    def later(self, work: Coroutine[object, object, None], name: str) -> None:
        """Do something soon; `settled` waits for it, and after it nothing is done any more."""
        if self._settled:
            work.close()
            return
        task = asyncio.create_task(work, name=name)
        self._jobs.add(task)
        self._waiting += 1
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._waiting -= 1
        if task.cancelled() or task.exception() is None:
            self._jobs.discard(task)  # only mistakes are kept, for `settled`; a turn may do any number of things

    def has_room(self) -> bool:
        """Whether one thing more can wait that nobody asked about."""
        return self._waiting < MOST_WAITING

    async def settled(self) -> None:
        """Wait for all that was to be done later. A mistake of ours in it is raised here."""
        while self._jobs:
            jobs, self._jobs = self._jobs, set()
            for found in await asyncio.gather(*jobs, return_exceptions=True):
                if isinstance(found, BaseException) and not isinstance(found, asyncio.CancelledError):
                    raise found
        self._settled = True

    def is_news(self, call: Call) -> bool:
        """Whether a call names more paths than when this was asked last."""
        heard = self._paths_heard.get(call.id, 0)
        self._paths_heard[call.id] = max(heard, len(call.paths))
        return len(call.paths) > heard

    # -- commands ----------------------------------------------------------------------------------------------------

    async def begin_command(self, call: str, *, unprotected: bool = False) -> Protection:
        """A command is about to run; within `order`. What the vault raises is raised. With anything ``unkept`` it has not
        begun, unless ``unprotected``."""
        self.heard_running.add(call)
        if call in self._commands:
            return ALL_KEPT
        found = await self._sink.command_begins(call, unprotected=unprotected) or ALL_KEPT
        if unprotected or not found.unkept:
            self._commands.add(call)
        return found

    async def end_command(self, call: str) -> None:
        """A command has ended, if it ever began; within `order`."""
        if call in self._commands:
            self._commands.discard(call)
            try:
                await self._sink.command_ends(call)
            except CoreError as error:
                _log.info("what a command changed was not looked for: %s", error.code)

    async def end_commands(self) -> None:
        """All of them."""
        async with self.order:
            for call in sorted(self._commands):
                await self.end_command(call)

    # -- keeping -----------------------------------------------------------------------------------------------------

    async def keep(self, wish: Wish, *, unprotected: bool = False) -> Kept:
        """Put into the store what a wish is about to overwrite, delete, or run over; within `order`. Where one path can't be
        kept the others are. ``unprotected``: a command begins nevertheless."""
        if wish.is_anywhere:
            return await self._tried(self._looked_at(wish, unprotected=unprotected))
        if wish.operation is Operation.MOVE and len(wish.inside) == 2:
            return await self._tried(self._keep_move(wish))
        return await self._keep_each(wish) if wish.operation in WRITES else KEPT

    async def _tried(self, work: Coroutine[object, object, Kept]) -> Kept:
        try:
            return await work
        except WorkspaceMissing:
            return Kept(gone=True)
        except PathEscape:
            return Kept(refused=Refused.LINK)
        except PathRefused as error:
            return Kept(hold=hold_of(error)) if error.reason == _FOLDER else Kept(refused=reason_of(error))
        except (EnvironmentFault, Refusal) as error:
            _log.info("what an agent is about to change was not kept: %s", error.code)
            return Kept(hold=hold_of(error))

    async def protection(self) -> Kept:
        """What of the workspace is not in the store, before a person is asked about something that may change any of it; within
        `order`."""
        return await self._tried(self._protection())

    async def _protection(self) -> Kept:
        return _protected(await self._sink.protection() or ALL_KEPT)

    async def _looked_at(self, wish: Wish, *, unprotected: bool = False) -> Kept:
        """Nobody knows which paths it is about, so the whole workspace is looked at, as with a command."""
        return _protected(await self.begin_command(wish.tool_call_id, unprotected=unprotected))

    async def _keep_each(self, wish: Wish, *, stays: WorkspacePath | None = None) -> Kept:
        """Path by path. ``stays``: the one that a deletion or a move leaves there."""
        deleted = wish.operation in (Operation.DELETE, Operation.MOVE)
        found = KEPT
        for path in wish.inside:
            if self._stopped and wish.tool_call_id in self.asked:
                break  # the answer will not be yes any more
            one = await self._tried(self._keep_one(wish, path, deleted=deleted and path != stays))
            if one.refused is not None or one.gone:
                return one
            if found.hold is Hold.NONE and (one.changed or one.hold is not Hold.NONE):
                found = one
        return found

    async def _keep_one(self, wish: Wish, path: WorkspacePath, *, deleted: bool) -> Kept:
        if await self._is_kept(wish, path):
            return KEPT
        try:
            report = await self._sink.capture(path, tool_call_id=wish.tool_call_id, deleted=deleted)
        except PathRefused as error:
            if deleted and error.reason in _NOTHING_THERE:
                return KEPT
            if not deleted and error.reason == _FOLDER:
                return await self._looked_at(wish)  # what an edit does to a folder is not said
            raise
        return self._reported(wish, report)

    async def _keep_move(self, wish: Wish) -> Kept:
        old, new = wish.inside
        if await self._is_kept(wish, old) and await self._is_kept(wish, new):
            return KEPT
        try:
            reports = await self._sink.capture_move(old, new, tool_call_id=wish.tool_call_id)
        except PathRefused as error:
            if error.reason not in (_FOLDER, *_NOTHING_THERE):
                raise
            if error.reason != _FOLDER:
                return await self._keep_each(wish, stays=new)  # gone from its old name: it was moved before it was told
            return await self._keep_each(wish)  # a folder: what is in it, file by file
        found = KEPT
        for report in reports:
            one = self._reported(wish, report)
            if found.hold is Hold.NONE and (one.changed or one.hold is not Hold.NONE):
                found = one
        return found

    async def _is_kept(self, wish: Wish, path: WorkspacePath) -> bool:
        """Whether this was kept for the same call when it was announced, and is still the same."""
        known = self._kept.get((wish.tool_call_id, path))
        return known is not None and same_state(known, await self._sink.look(path))

    def _reported(self, wish: Wish, report: CaptureReport) -> Kept:
        before = report.before
        if not (before.has_content or before.state in (State.ABSENT, State.FOLDER)) or report.coverage.skipped:
            reasons = {before.reason, *(one.reason for one in report.coverage.skipped)}
            return Kept(hold=Hold.TOO_LARGE if _TOO_LARGE in reasons else Hold.CANNOT_STORE)
        self._kept[(wish.tool_call_id, report.path)] = before
        seen = wish.states.get(report.path)
        return Kept(changed=seen is not None and seen.state is not State.FOLDER and not same_state(seen, before))
