"""From what an agent wants to whether it may: looked at, answered, looked at again, kept; and whatever changed is asked again.

The order is the promise: the answer leaves only after what will go is in the store, and it is about the files that were there
when the question was asked. Loop thread.
"""

import asyncio
import logging
from dataclasses import dataclass, replace
from enum import StrEnum

import msgspec

from vibekit_desktop.core.agent.asker import Asker
from vibekit_desktop.core.agent.grants import edit_of, same_state
from vibekit_desktop.core.agent.guarded_turn import GuardedTurn
from vibekit_desktop.core.agent.not_written import FOLDER_GONE
from vibekit_desktop.core.agent.places import Place, Places
from vibekit_desktop.core.agent.policy import Refused, Verdict
from vibekit_desktop.core.agent.sink import Sink
from vibekit_desktop.core.agent.wishes import WRITES, Wish
from vibekit_desktop.core.types.agents import Answer, Hold, Operation, Why
from vibekit_desktop.core.types.chats import DiffFragment
from vibekit_desktop.core.types.checkpoints import UNKNOWN, FileState, State
from vibekit_desktop.core.types.errors import CoreError, WorkspaceMissing
from vibekit_desktop.core.types.ids import WorkspacePath

_log = logging.getLogger(__name__)

SHOWN_BYTES = 1 << 20
"""Of a larger file the old side is not shown; what will be written always is."""
MOST_ROUNDS = 20
"""A file that is another one every time is not worth more questions."""
_NOT_REGULAR = "not-regular"


class Outcome(StrEnum):
    """How a request ended, in the words of `Given`."""

    ALLOWED = "allowed"
    DENIED = "denied"
    CANCELLED = "cancelled"
    REFUSED = "refused"
    NOT_DONE = "not-done"
    """It was allowed and cannot be done; `Given` says ``allowed``, and why not."""


@dataclass(frozen=True, slots=True)
class Decision:
    """An outcome, and the wish as it was looked at last. ``unprotected``: it may be done although it can't be undone. ``why``:
    with ``NOT_DONE``."""

    outcome: Outcome
    wish: Wish
    unprotected: bool = False
    why: str = ""

    @property
    def given(self) -> str:
        """The answer, as `Given` says it."""
        return Outcome.ALLOWED.value if self.outcome is Outcome.NOT_DONE else self.outcome.value

    @property
    def words(self) -> str:
        """One line of ours for it."""
        refused = self.wish.refused
        if self.outcome is Outcome.REFUSED and refused is not None:
            return self.wish.refusal(refused)
        return f"{self.wish.words()} (can't be undone)" if self.unprotected else self.wish.words()


class Decider:
    """Decides for one chat."""

    def __init__(self, places: Places, sink: Sink, asker: Asker) -> None:
        self._places = places
        self._sink = sink
        self._asker = asker

    async def look(self, wish: Wish) -> Wish:
        """The wish with its places found anew, and what is at them now."""
        places = [await self._places.find(place.text, wish.operation) for place in wish.places]
        folder = None if wish.folder is None else await self._places.find(wish.folder.text, wish.operation)
        states: dict[WorkspacePath, FileState] = {}
        for at, place in enumerate(places):
            if place.real is None or place.refused is not None or wish.operation not in (*WRITES, Operation.READ):
                continue
            try:
                state = states[place.real] = await self._sink.look(place.real)
            except WorkspaceMissing:
                places[at] = replace(place, verdict=Verdict.REFUSE, refused=Refused.GONE)
                continue
            if state.state is State.UNKNOWN and state.reason == _NOT_REGULAR:
                places[at] = replace(place, verdict=Verdict.REFUSE, refused=Refused.NOT_REGULAR)
        why = wish.why
        if wish.operation is Operation.EDIT and any(place.refused is Refused.WORKSPACE for place in places):
            # Naming the workspace says no more than naming nothing.
            places = [place for place in places if place.refused is not Refused.WORKSPACE]
            why = why if places else why | {Why.NOT_ANNOUNCED}
        return replace(wish, places=tuple(places), folder=folder, states=states, why=why)

    async def decide(self, turn: GuardedTurn, wish: Wish, *, keeps: bool = True) -> Decision:
        """Whether a wish that was looked at may be done. With ``keeps``, what goes is in the store when this says yes."""
        for _ in range(MOST_ROUNDS):
            if wish.refused is not None:
                return Decision(Outcome.REFUSED, wish)
            if turn.stopped():  # while it was looked at: nobody would take the question away any more
                return Decision(Outcome.CANCELLED, wish)
            if self._asker.at_once(wish, turn.headless) is None:
                await self._waiting(turn, wish)
                if turn.stopped():
                    return Decision(Outcome.CANCELLED, wish)
                if keeps and wish.is_anywhere:
                    async with turn.order:
                        kept = await turn.protection()
                    wish = replace(wish, protection=kept.protection)
                    if kept.hold is not Hold.NONE:
                        decision = await self._unkept(turn, wish, kept.hold)
                        if decision is not None:
                            return decision
                        continue
            reply = await self._asker.ask(wish, turn.number, turn.headless)
            if turn.stopped() or reply.answer is None:
                return Decision(Outcome.CANCELLED, wish)
            if not reply.allows:
                return Decision(Outcome.DENIED, wish)
            if reply.waited:
                now = await self.look(wish)
                if now.refused is not None and now.refused.refused is Refused.GONE:
                    return Decision(Outcome.NOT_DONE, wish, why=FOLDER_GONE)
                if differs(wish, now):
                    wish = await self._changed(wish, now, waited=True)
                    continue
            decision = await self._keep(turn, wish) if keeps else Decision(Outcome.ALLOWED, wish)
            if decision is not None:
                return Decision(Outcome.CANCELLED, wish) if turn.stopped() else decision
            wish = await self._changed(wish, await self.look(wish), waited=reply.waited)
        return Decision(Outcome.DENIED, wish)

    async def _unkept(self, turn: GuardedTurn, wish: Wish, hold: Hold) -> Decision | None:
        """Ask at once about what cannot all be taken back, and say so; None: it is to be tried again."""
        answer = await self.held(turn, wish, hold)
        if answer is Answer.UNPROTECTED:
            return await self._unprotected(turn, wish)
        if answer is Answer.RETRY:
            return None
        return Decision(Outcome.CANCELLED if answer is None else Outcome.DENIED, wish)

    async def _unprotected(self, turn: GuardedTurn, wish: Wish) -> Decision | None:
        """Keep what can be kept of it, now that nobody waits any more; None if it is not what was asked about."""
        async with turn.order:
            if turn.stopped():
                return Decision(Outcome.CANCELLED, wish)
            kept = await turn.keep(wish, unprotected=True)
        return None if kept.changed else Decision(Outcome.ALLOWED, wish, unprotected=True)

    async def _waiting(self, turn: GuardedTurn, wish: Wish) -> None:
        """A person is about to be asked: from here on the agent does nothing about it, so what changes is somebody else's."""
        async with turn.order:
            await turn.waits(wish)

    async def _changed(self, wish: Wish, now: Wish, *, waited: bool) -> Wish:
        """A file is not what was asked about any more: it is asked again, shown as it would be now. Where the agent ``waited``
        for a person, somebody else wrote it, and it is kept as theirs; else it may be the agent's own work."""
        if waited and wish.operation in WRITES:
            for path, state in now.states.items():
                expected = wish.states.get(path)
                if expected is not None and not same_state(expected, state):
                    await self._sink.meet(path, expected)
        diffs = [await self._shown_now(wish, now, diff) for diff in now.diffs]
        return replace(now, diffs=tuple(diffs)).with_why(Why.CHANGED)

    async def _shown_now(self, wish: Wish, now: Wish, diff: DiffFragment) -> DiffFragment:
        """What the agent wants against what is there now, where it said all of what it wants; a fragment stays what it is."""
        place = next((one for one in now.places if diff.path in (one.text, one.shown) and one.real is not None), None)
        if place is None or place.real is None or sum(one.path == diff.path for one in now.diffs) > 1:
            return diff
        before, state = wish.states.get(place.real, UNKNOWN), now.states.get(place.real, UNKNOWN)
        edit = await asyncio.to_thread(edit_of, place.real, before, (diff,), (diff.path,), "")
        if edit.text is None:
            return diff
        if state.state is State.ABSENT:
            return msgspec.structs.replace(diff, old_text="")
        if state.state is not State.PRESENT or (state.size or 0) > SHOWN_BYTES:
            return diff
        try:
            there = (await self._sink.read(place.real, SHOWN_BYTES)).decode("utf-8", "replace")
        except CoreError as error:
            _log.info("what is there now is not shown: %s", error.code)
            return diff
        return msgspec.structs.replace(diff, old_text=there.removesuffix("\n") if edit.lossy else there)

    async def _keep(self, turn: GuardedTurn, wish: Wish) -> Decision | None:
        """Keep what goes, asking as long as that fails; None if it is not what was asked about any more."""
        while True:
            async with turn.order:
                if turn.stopped():
                    return Decision(Outcome.CANCELLED, wish)
                kept = await turn.keep(wish)
            if kept.gone:
                return Decision(Outcome.NOT_DONE, wish, why=FOLDER_GONE)
            if kept.refused is not None:
                return Decision(Outcome.REFUSED, refusing(wish, kept.refused))
            if kept.changed:
                return None
            if kept.hold is Hold.NONE:
                return Decision(Outcome.ALLOWED, wish)
            answer = await self.held(turn, replace(wish, protection=kept.protection), kept.hold)
            if answer is Answer.UNPROTECTED:
                return await self._unprotected(turn, wish)
            if answer is not Answer.RETRY:
                return Decision(Outcome.CANCELLED if answer is None else Outcome.DENIED, wish)

    async def held(self, turn: GuardedTurn, wish: Wish, hold: Hold) -> Answer | None:
        """What the person wants done with a write that can't be undone; None if the turn was stopped."""
        if turn.stopped():
            return None
        if turn.headless is None:
            await self._waiting(turn, wish)
        reply = await self._asker.held(wish, hold, turn.number, turn.headless)
        return None if turn.stopped() else reply.answer


def refusing(wish: Wish, reason: Refused) -> Wish:
    """The wish, refused at its first place for a reason that only showed at the disk."""
    first = wish.places[0] if wish.places else Place("", Verdict.REFUSE)
    return replace(wish, places=(replace(first, verdict=Verdict.REFUSE, refused=reason), *wish.places[1:]))


def differs(wish: Wish, now: Wish) -> bool:
    """Whether anything that a question was about is another one now."""
    if [(place.real, place.absolute, place.refused) for place in wish.places] != [
        (place.real, place.absolute, place.refused) for place in now.places
    ]:
        return True
    if wish.folder != now.folder or set(wish.states) != set(now.states):
        return True
    if wish.operation is Operation.READ:
        return False  # reading a newer version harms nobody
    return any(not same_state(state, now.states[path]) for path, state in wish.states.items())
