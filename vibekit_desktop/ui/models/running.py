"""The answer that is coming: what differs between two states of it, and since when its parts run. No Qt; UI thread only."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from vibekit_desktop.core.types.agents import LivePhase, LiveState
from vibekit_desktop.core.types.chats import Message, ToolCall

BUSY = frozenset({LivePhase.STARTING, LivePhase.RUNNING, LivePhase.STOPPING})


@dataclass(slots=True)
class Stream:
    """The running answer of a chat, as it was told last."""

    turn: int
    message: Message
    _calls: dict[str, ToolCall] | None = field(default=None, repr=False)

    @property
    def calls(self) -> Mapping[str, ToolCall]:
        """Its tool calls by id."""
        if self._calls is None:
            self._calls = {call.id: call for call in self.message.tool_calls}
        return self._calls


class Change(NamedTuple):
    """What is another one in a newer state: every block from ``first_block`` on, some calls, the plan."""

    first_block: int
    calls: frozenset[str]
    plan: bool


def change_of(old: Message, new: Message) -> Change:
    """Compare two states of one answer. What did not change is the same object as a rule, so this costs next to nothing."""
    first = 0
    for mine, others in zip(old.blocks, new.blocks, strict=False):
        if mine is not others and mine != others:
            break
        first += 1
    if len(new.blocks) > len(old.blocks):
        # The block that was the last one is finished: it is shown in another way now.
        first = min(first, max(0, len(old.blocks) - 1))
    calls = {new_one.id for old_one, new_one in zip(old.tool_calls, new.tool_calls, strict=False) if _differ(old_one, new_one)}
    calls.update(call.id for call in new.tool_calls[len(old.tool_calls) :])
    return Change(first, frozenset(calls), old.plan != new.plan)


def _differ(one: ToolCall, other: ToolCall) -> bool:
    return one is not other and one != other


def running_turn(live: LiveState | None, stream: Stream | None, ended: int) -> int:
    """The turn that runs in a chat, or 0: as it was told, or else as its answer tells. ``ended``: a turn that ended though
    nobody has said so yet."""
    turn = stream.turn if stream is not None else 0
    if live is not None:
        turn = live.turn if live.phase in BUSY else 0
    return 0 if turn == ended else turn


def marked(state: LiveState | None) -> set[tuple[str, bool]]:
    """The tool calls that can be stopped, and those that wait to be allowed."""
    if state is None:
        return set()
    asked = {(question.tool_call_id, True) for question in state.questions if question.tool_call_id}
    return asked | {(call, False) for call in state.running_commands}
