"""From what an agent says in a turn to the one message that is its answer (chat.md 1.6 to 1.8).

Pieces of one message's text that follow each other are one block; every call of a tool has a block of its own. What is kept of
it is bounded, whatever the agent sends, and says so where something was left out. Pure, but for the clock it is given; one
thread.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from vibekit_desktop.core.agent.link import (
    LinkEvent,
    PlanChanged,
    TextArrived,
    ThoughtArrived,
    ToolChanged,
)
from vibekit_desktop.core.chat.hooked import storable
from vibekit_desktop.core.types.chats import Block, DiffFragment, Location, Message, Role, ToolCall

TEXT_CHARS = 2 << 20
"""Of the words of one answer, thinking included; together with the tools' it stays under what a chat file may hold."""
OUTPUT_CHARS = 256 << 10
"""Of the output of one tool: its beginning and its end."""
OUTPUTS_CHARS = 2 << 20
DIFF_CHARS = 128 << 10
DIFFS_CHARS = 2 << 20
INPUT_BYTES = 64 << 10
INPUTS_BYTES = 1 << 20
PATHS_CHARS = 2 << 20
"""Of the places that tools name, all together."""
_AROUND_PATH = 40
"""What a place takes in a file beside its path."""
MOST_CALLS = 5_000
_CUT = "\n[… {count} characters are not kept …]\n"
_MORE_NOT_KEPT = "\n\n[The rest of this answer was too long to be kept.]"
_OPEN = ("pending", "in_progress")

DENIED = "denied"
STOPPED = "stopped"


class _Running:
    """One block that is still growing; its pieces are joined when somebody asks."""

    def __init__(self, kind: str, message: str, began: int) -> None:
        self.kind = kind
        self._message = message
        self._began = began
        self._took_ms = 0
        self._pieces: list[str] = []
        self._block: Block | None = None

    def goes_on(self, kind: str, message: str) -> bool:
        """Whether a piece is more of this block. An agent that ends one message and begins another says so only by the id."""
        return self.kind == kind and (self._message == message or not (self._message and message))

    def add(self, text: str) -> None:
        self._pieces.append(text)
        self._block = None

    def end(self, now: int) -> None:
        """What comes next is another block."""
        if self.kind == "thinking" and not self._took_ms:
            self._took_ms, self._block = max(1, now - self._began), None

    def text(self) -> str:
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    def block(self) -> Block:
        if self._block is None:
            text = self.text()
            thinking = self.kind == "thinking"
            self._block = Block(type="thinking", thinking=text, duration_ms=self._took_ms) if thinking else Block(text=text)
        return self._block


class _CallBlock:
    """The place of a tool call among the blocks; what is known of the call is kept apart."""

    kind = "tool_use"

    def __init__(self, call: str) -> None:
        self._block = Block(type="tool_use", tool_call_id=call)

    def text(self) -> str:
        return ""

    def block(self) -> Block:
        return self._block


class AnswerBuilder:
    """The answer of one turn while it comes. Invariant: `message` is always one that a chat file can hold."""

    def __init__(self, identity: str, *, turn: int, workspace: str, clock: Callable[[], int]) -> None:
        self.identity = identity
        self._turn = turn
        self._root = workspace.replace("\\", "/").rstrip("/") + "/"
        self._clock = clock
        self._began = clock()
        self._blocks: list[_Running | _CallBlock] = []
        self._calls: dict[str, ToolCall] = {}
        self._outputs: dict[str, int] = {}
        self._diffs: dict[str, int] = {}
        self._inputs: dict[str, int] = {}
        self._places: dict[str, int] = {}
        self._diff_paths: dict[str, int] = {}
        self._waiting: dict[str, int] = {}
        """The calls that wait to be allowed, and since when."""
        self._chars = 0
        self._full = False
        self._plan: list[dict[str, str]] | None = None

    @property
    def says_something(self) -> bool:
        """Whether the agent has said, planned or done anything yet."""
        return bool(self._blocks or self._plan)

    @property
    def words(self) -> str:
        """The words of the answer, without its thinking."""
        return "\n\n".join(text for block in self._blocks if block.kind == "text" and (text := block.text().strip()))

    def add(self, event: LinkEvent) -> bool:
        """Take one thing in; whether the message is another one now."""
        match event:
            case TextArrived(text, message):
                return self._say("text", text, message)
            case ThoughtArrived(text, message):
                return self._say("thinking", text, message)
            case ToolChanged():
                return self._call(event)
            case PlanChanged(steps):
                self._plan = [
                    {"content": storable(step.content)[:2000], "priority": step.priority, "status": step.status}
                    for step in steps[:500]
                ]
                return True
            case _:
                return False

    def _say(self, kind: str, text: str, message: str) -> bool:
        if not text or self._full:
            return False
        text = storable(text)
        room = TEXT_CHARS - self._chars
        if len(text) > room:
            text, self._full = text[:room] + _MORE_NOT_KEPT, True
        self._chars += len(text)
        last = self._blocks[-1] if self._blocks else None
        if not isinstance(last, _Running) or not last.goes_on(kind, message):
            last = _Running(kind, message, self._clock())
            self._begin_block(last)
        last.add(text)
        return True

    def _begin_block(self, block: _Running | _CallBlock) -> None:
        self._end_block()
        self._blocks.append(block)

    def _end_block(self) -> None:
        last = self._blocks[-1] if self._blocks else None
        if isinstance(last, _Running):
            last.end(self._clock())

    # -- tools -----------------------------------------------------------------------------------------------------

    def _call(self, event: ToolChanged) -> bool:
        identity = storable(event.id)[:200]
        found = self._calls.get(identity)
        if found is None:
            if not identity or len(self._calls) >= MOST_CALLS:
                return False
            found = ToolCall(id=identity, status="pending", ts=self._clock())
            self._begin_block(_CallBlock(identity))
        changed = msgspec.structs.replace(
            found,
            title=storable(event.title)[:2000] if event.title else found.title,
            kind=event.kind or found.kind,
            status=event.status or found.status,
            locations=self._locations(identity, event.locations) if event.locations else found.locations,
            diffs=self._fragments(identity, event.diffs) if event.diffs else found.diffs,
            input=self._input(identity, event.input) or found.input,
            exit_code=found.exit_code if event.exit_code is None else event.exit_code,
        )
        if event.output is not None and (event.output or not event.terminals):
            changed = self._with_output(changed, event.output)
        if changed.status not in _OPEN and found.status in _OPEN:
            changed = msgspec.structs.replace(changed, duration_ms=self._took_ms(found))
        if changed == found and identity in self._calls:
            return False
        self._calls[identity] = changed
        return True

    def _took_ms(self, call: ToolCall) -> int:
        return max(0, self._waiting.get(call.id, self._clock()) - call.ts)

    def waiting(self, calls: Iterable[str]) -> bool:
        """These are the calls that wait to be allowed now. A call begins anew, so to say, for as long as it waited: what it
        takes is told without that."""
        now, open_ = self._clock(), {storable(call)[:200] for call in calls}
        changed = False
        for call in [call for call in self._waiting if call not in open_]:
            since, found = self._waiting.pop(call), self._calls.get(call)
            if found is not None and found.status in _OPEN:
                later = found.ts + max(0, now - max(since, found.ts))
                self._calls[call] = msgspec.structs.replace(found, ts=later)
                changed = True
        for call in open_:
            self._waiting.setdefault(call, now)
        return changed

    def exited(self, call: str, code: int) -> bool:
        """How a command in a terminal of ours ended."""
        found = self._calls.get(call)
        if found is None or found.exit_code == code:
            return False
        self._calls[call] = msgspec.structs.replace(found, exit_code=code)
        return True

    def output(self, call: str, text: str) -> bool:
        """What a command in a terminal of ours wrote so far."""
        found = self._calls.get(call)
        if found is None:
            return False
        changed = self._with_output(found, text)
        self._calls[call] = changed
        return changed != found

    def mark(self, call: str, outcome: str) -> bool:
        """Say why a call fails: `DENIED` or `STOPPED`."""
        found = self._calls.get(call)
        if found is None or found.outcome:
            return False
        status = "failed" if outcome == DENIED else found.status
        self._calls[call] = msgspec.structs.replace(found, outcome=outcome, status=status)
        return True

    def fail(self, call: str, why: str) -> bool:
        """A call fails for a reason that nobody decided; the agent's own words for it come instead, if it has any."""
        found = self._calls.get(call)
        if found is None or found.outcome:
            return False
        found = found if found.output else self._with_output(found, why)
        self._calls[call] = msgspec.structs.replace(found, status="failed")
        return True

    def _with_output(self, call: ToolCall, text: str) -> ToolCall:
        others = sum(self._outputs.values()) - self._outputs.get(call.id, 0)
        kept = _ends_of(storable(text), min(OUTPUT_CHARS, max(0, OUTPUTS_CHARS - others)))
        self._outputs[call.id] = len(kept)
        return msgspec.structs.replace(call, output=kept)

    def _locations(self, call: str, found: tuple[Location, ...]) -> tuple[Location, ...]:
        kept = tuple(map(self._location, found[:200]))
        count = self._count_paths(self._places, call, [one.path for one in kept])
        return kept[:count]

    def _count_paths(self, paths: dict[str, int], call: str, given: Sequence[str]) -> int:
        """How many of the paths that a call names there is room for; they are counted in ``paths`` then."""
        paths[call] = 0
        room = PATHS_CHARS - sum(self._places.values()) - sum(self._diff_paths.values())
        for count, path in enumerate(given):
            size = len(path) + _AROUND_PATH
            if size > room:
                return count
            room -= size
            paths[call] += size
        return len(given)

    def _location(self, found: Location) -> Location:
        return Location(path=storable(found.path)[:4096], line=found.line if 0 <= found.line < 1 << 53 else 0)

    def _fragments(self, call: str, found: tuple[DiffFragment, ...]) -> tuple[DiffFragment, ...]:
        room = DIFFS_CHARS - sum(self._diffs.values()) + self._diffs.get(call, 0)
        fragments = [self._fragment(one) for one in found[:200]]
        count = self._count_paths(self._diff_paths, call, [one.path for one in fragments])
        kept: list[DiffFragment] = []
        for one in fragments[:count]:
            room -= len(one.old_text) + len(one.new_text)
            kept.append(one if room >= 0 else DiffFragment(path=one.path))
        self._diffs[call] = sum(len(one.old_text) + len(one.new_text) for one in kept)
        return tuple(kept)

    def _input(self, call: str, data: bytes | None) -> msgspec.Raw | None:
        others = sum(self._inputs.values()) - self._inputs.get(call, 0)
        if not data or len(data) > min(INPUT_BYTES, INPUTS_BYTES - others):
            return None
        self._inputs[call] = len(data)
        return msgspec.Raw(data)

    def _fragment(self, found: DiffFragment) -> DiffFragment:
        path = storable(found.path).replace("\\", "/")[:4096]
        return DiffFragment(
            path=path.removeprefix(self._root),
            old_text=_ends_of(storable(found.old_text), DIFF_CHARS),
            new_text=_ends_of(storable(found.new_text), DIFF_CHARS),
        )

    # -- the message -----------------------------------------------------------------------------------------------

    def message(self, *, whole: bool = False) -> Message:
        """The answer as it is now. ``whole``: with its words once more as one text, as it is stored."""
        return Message(
            id=self.identity,
            role=Role.ASSISTANT.value,
            ts=self._began,
            turn=self._turn,
            content=self.words if whole else "",
            reasoning="\n\n".join(one.text() for one in self._blocks if one.kind == "thinking") if whole else "",
            tool_calls=tuple(self._calls.values()),
            blocks=tuple(one.block() for one in self._blocks),
            plan=self._plan,
        )

    def ended(self, *, took_ms: int, outcomes: Mapping[str, str] | None = None) -> Message:
        """The answer as it is stored at the end: no call is open any more, those that were have failed. ``outcomes``: why, by
        call; the others were stopped."""
        self._end_block()
        for identity, call in self._calls.items():
            if call.status in _OPEN:
                why = (outcomes or {}).get(identity, "") or call.outcome or STOPPED
                took = self._took_ms(call)
                self._calls[identity] = msgspec.structs.replace(call, status="failed", outcome=why, duration_ms=took)
        return msgspec.structs.replace(self.message(whole=True), turn=0, turn_elapsed_ms=max(0, took_ms))


def _ends_of(text: str, most: int) -> str:
    """A text, or its beginning and its end if it is too long."""
    if len(text) <= most:
        return text
    head = most // 4
    tail = most - head
    return text[:head] + _CUT.format(count=len(text) - most) + (text[-tail:] if tail else "")
