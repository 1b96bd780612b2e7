"""The files that an agent reads and writes through us: only what was allowed, and only as it was allowed.

A write uses up the grant for its path if the disk and the text are what was shown; else it is asked about. The vault carries it
out: it keeps what goes in the same step, and writes nothing if the file is another one by then. Loop thread.
"""

import asyncio
import hashlib
import logging
from dataclasses import replace

from vibekit_desktop.core.agent import not_written
from vibekit_desktop.core.agent.deciding import SHOWN_BYTES, Decider, Decision, Outcome
from vibekit_desktop.core.agent.grants import Edit
from vibekit_desktop.core.agent.guarded_turn import GuardedTurn, hold_of
from vibekit_desktop.core.agent.link import Denied
from vibekit_desktop.core.agent.places import Place, Places, reason_of
from vibekit_desktop.core.agent.policy import Refused, Verdict
from vibekit_desktop.core.agent.sink import Sink
from vibekit_desktop.core.agent.wishes import Wish, refused_because
from vibekit_desktop.core.types.agents import Answer, Headless, Hold, Operation, Why
from vibekit_desktop.core.types.chats import DiffFragment
from vibekit_desktop.core.types.checkpoints import UNKNOWN, FileState, State
from vibekit_desktop.core.types.errors import (
    CannotRead,
    ChangedMeanwhile,
    CoreError,
    DiskFull,
    EnvironmentFault,
    NotProtected,
    PathEscape,
    PathRefused,
)

_log = logging.getLogger(__name__)

READ_BYTES = 8 << 20
_MOST_ROUNDS = 20


class GateFiles:
    """Reads and writes of one chat's agent."""

    def __init__(self, places: Places, sink: Sink, decider: Decider) -> None:
        self._places = places
        self._sink = sink
        self._decider = decider

    # -- reading -----------------------------------------------------------------------------------------------------

    async def read(self, turn: GuardedTurn, text: str, line: int | None, limit: int | None) -> str:
        """The text of a regular file, or some lines of it; `Denied`."""
        wish = Wish(operation=Operation.READ, places=(Place(text, Verdict.FREE),))
        wish = await self._decider.look(wish)
        place = wish.places[0]
        if wish.refused is not None:
            raise self._refuse(turn, wish, wish.refused)
        if place.why is not None and not turn.grants.may_read(place.absolute):
            decision = await self._decider.decide(turn, wish.with_why(Why.NOT_ANNOUNCED))
            place = self._allowed(turn, decision).places[0]
            turn.grants.allow_read(place.absolute)
        elif turn.headless is Headless.NONE:
            turn.note(wish.words(), Outcome.DENIED.value)
            raise _denied()
        data = await self._content(place)
        return _lines(data.decode("utf-8", "replace"), line, limit)

    async def _content(self, place: Place) -> bytes:
        try:
            if place.path is None:
                return await self._places.read_outside(place, READ_BYTES)
            if (await self._sink.look(place.real or place.path)).state is State.ABSENT:
                raise FileNotFoundError
            return await self._sink.read(place.real or place.path, READ_BYTES)
        except FileNotFoundError as error:
            raise Denied("not-found", "There is no such file.") from error
        except (PathRefused, PathEscape) as error:
            raise Denied("refused", "Refused: this is no file that can be read.") from error
        except CannotRead as error:
            if error.reason in ("too-large", "too large"):
                raise Denied("too-large", "The file is too large to be read at once.") from error
            if error.reason == "missing":
                raise Denied("not-found", "There is no such file.") from error
            raise Denied("failed", "The file could not be read.") from error
        except CoreError as error:
            raise Denied("failed", "The file could not be read.") from error

    # -- writing -----------------------------------------------------------------------------------------------------

    async def write(self, turn: GuardedTurn, text: str, content: str) -> None:
        """Make a file hold ``content``; `Denied`."""
        try:
            data = content.encode("utf-8")
        except UnicodeEncodeError as error:
            raise Denied("not-text", "The text holds half characters, which no file can hold.") from error
        wish = await self._decider.look(Wish(operation=Operation.EDIT, places=(Place(text, Verdict.FREE),)))
        place = wish.places[0] if wish.places else Place(text, Verdict.REFUSE, refused=Refused.WORKSPACE)
        if place.refused is not None or place.real is None:
            raise self._refuse(turn, replace(wish, places=(place,)), place)
        if await _is_there(wish, place, data):
            turn.grants.take_edit(place.real, wish.states.get(place.real, UNKNOWN), content)
            return
        there = await self._there(wish, place) if turn.grants.wants_content(place.real) else None
        taken = turn.grants.take_edit(place.real, wish.states.get(place.real, UNKNOWN), content, there)
        if isinstance(taken, Edit):
            call, unprotected = taken.tool_call_id, False
        else:
            call = turn.grants.call_of(place.real) or self._call_of(turn, place)
            wish, unprotected = await self._asked(turn, wish.with_why(taken), call, content)
            turn.grants.drop_edits(place.real, call)
        await self._carry_out(turn, wish, call, content, data, unprotected=unprotected)

    async def _there(self, wish: Wish, place: Place) -> str | None:
        """The text that is there; None where there is none, or too much of it."""
        state = UNKNOWN if place.real is None else wish.states.get(place.real, UNKNOWN)
        if place.real is None or state.state is not State.PRESENT or (state.size or 0) > SHOWN_BYTES:
            return "" if state.state is State.ABSENT else None
        try:
            data = await self._sink.read(place.real, SHOWN_BYTES)
        except CoreError as error:
            _log.info("what is there is not held against what was shown: %s", error.code)
            return None
        if state.sha is not None and await asyncio.to_thread(_sha, data) != state.sha:
            return None  # another one by now: it is asked again
        return data.decode("utf-8", "surrogateescape")

    def _call_of(self, turn: GuardedTurn, place: Place) -> str:
        """The call that runs and names this file; empty if none does."""
        names = {place.text, place.path, place.absolute}
        return next((call.id for call in turn.calls.running() if names & set(call.paths)), "")

    async def _asked(self, turn: GuardedTurn, wish: Wish, call: str, content: str) -> tuple[Wish, bool]:
        """Ask about a write by itself. What goes is kept with the write, so not here."""
        shown = await self._shown(wish, call, content)
        decision = await self._decider.decide(turn, shown, keeps=False)
        if decision.outcome is Outcome.NOT_DONE:
            raise await self._not_written(turn, decision.wish, decision.why)
        return self._allowed(turn, decision), decision.unprotected

    async def _shown(self, wish: Wish, call: str, content: str) -> Wish:
        place = wish.places[0]
        old = b""
        state = UNKNOWN if place.real is None else wish.states.get(place.real, UNKNOWN)
        if place.real is not None and state.state is State.PRESENT and (state.size or 0) <= SHOWN_BYTES:
            try:
                old = await self._sink.read(place.real, SHOWN_BYTES)
            except CoreError as error:
                _log.info("the old side of a write is not shown: %s", error.code)
        diff = DiffFragment(path=place.shown, old_text=old.decode("utf-8", "replace"), new_text=content)
        return replace(wish, tool_call_id=call, diffs=(diff,))

    async def _carry_out(
        self, turn: GuardedTurn, wish: Wish, call: str, content: str, data: bytes, *, unprotected: bool
    ) -> None:
        """Write it; ask again where the file is another one by now, or what goes can't be kept."""
        for _ in range(_MOST_ROUNDS):
            place = wish.places[0]
            path = place.path or place.real
            if turn.stopped() or path is None:
                raise _stopped()
            try:
                async with turn.order:
                    if turn.stopped():
                        raise _stopped()
                    await self._sink.write(
                        path, data, expected=_expected(wish, place), tool_call_id=call, unprotected=unprotected
                    )
                return
            except ChangedMeanwhile:
                again = (await self._decider.look(wish)).with_why(Why.CHANGED)
                if again.refused is None and again.places and await _is_there(again, again.places[0], data):
                    return
                wish, unprotected = await self._asked(turn, again, call, content)
            except (PathRefused, PathEscape) as error:
                reason = reason_of(error) if isinstance(error, PathRefused) else Refused.LINK
                raise self._refuse(turn, wish, _as_refused(place, reason)) from error
            except CoreError as error:
                why = not_written.reason(error)
                # A person can make room on a disk and try again.
                if why is not None and (turn.headless is not None or not isinstance(error, DiskFull)):
                    raise await self._not_written(turn, wish, why) from error
                waits = isinstance(error, DiskFull) or not unprotected
                if not waits or not isinstance(error, EnvironmentFault | NotProtected):
                    raise await self._not_written(turn, wish, not_written.NO_REASON) from error
                unprotected = await self._held(turn, wish, hold_of(error)) or unprotected
        raise Denied("changed", "The file changed each time it was to be written.")

    async def _held(self, turn: GuardedTurn, wish: Wish, hold: Hold) -> bool:
        """Ask what to do with a write that waits; whether it may go without being kept."""
        answer = await self._decider.held(turn, wish, hold)
        if answer is Answer.UNPROTECTED:
            turn.note(f"{wish.words()} (can't be undone)", Outcome.ALLOWED.value)
            return True
        if answer is Answer.RETRY:
            return False
        if answer is None:
            raise _stopped()
        why = not_written.DISK_FULL if hold is Hold.DISK_FULL else "it could not be undone"
        turn.note(f"{wish.words()} ({why})", Outcome.DENIED.value)
        raise _denied()

    async def _not_written(self, turn: GuardedTurn, wish: Wish, why: str) -> Denied:
        """An allowed write that cannot be done: it is closed, and all are told why."""
        _log.info("an allowed write was not done: %s", why)
        turn.note(wish.words(), Outcome.ALLOWED.value, not_done=why)
        async with turn.order:
            await turn.not_done(wish.inside)
        return Denied("not-written", not_written.sentence(why))

    # -- what comes of it --------------------------------------------------------------------------------------------

    def _allowed(self, turn: GuardedTurn, decision: Decision) -> Wish:
        """The wish, if it was allowed; else `Denied`."""
        turn.note(decision.words, decision.given, not_done=decision.why)
        match decision.outcome:
            case Outcome.ALLOWED:
                return decision.wish
            case Outcome.CANCELLED:
                raise _stopped()
            case Outcome.DENIED:
                raise _denied()
            case Outcome.NOT_DONE:
                raise Denied("failed", not_written.sentence(decision.why, writes=False))
            case Outcome.REFUSED:
                raise Denied("refused", refused_because(decision.wish.refused or decision.wish.places[0]))

    def _refuse(self, turn: GuardedTurn, wish: Wish, place: Place) -> Denied:
        _log.info("an agent was refused a file: %s", place.refused)
        turn.note(wish.refusal(place), Outcome.REFUSED.value)
        return Denied("refused", refused_because(place))


async def _is_there(wish: Wish, place: Place, data: bytes) -> bool:
    """Whether the file holds this already: one agent writes each file by itself and through us at the same time. Then there
    is nothing to do, and nobody to ask."""
    state = UNKNOWN if place.real is None else wish.states.get(place.real, UNKNOWN)
    if state.state is not State.PRESENT or state.size != len(data):
        return False
    return state.sha == await asyncio.to_thread(_sha, data)


def _sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _as_refused(place: Place, reason: Refused) -> Place:
    return Place(place.text, Verdict.REFUSE, place.absolute, place.path, place.real, reason)


def _expected(wish: Wish, place: Place) -> FileState | None:
    """What must still be there. What could not be read has nothing to be held against; the vault will not keep it either."""
    state = None if place.real is None else wish.states.get(place.real)
    return None if state is None or state.state is State.UNKNOWN else state


def _denied() -> Denied:
    return Denied("denied", "This was not allowed.")


def _stopped() -> Denied:
    return Denied("stopped", "The turn was stopped.")


def _lines(text: str, line: int | None, limit: int | None) -> str:
    if line is None and limit is None:
        return text
    lines = text.split("\n")
    kept = [one + "\n" for one in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    first = max(1, line or 1) - 1
    return "".join(kept[first:] if limit is None else kept[first : first + max(0, limit)])
