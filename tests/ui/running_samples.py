"""A sixth turn of the chat of `samples` while it runs: its prompt, its answer as it comes, its state, its timeline."""

from dataclasses import replace

import msgspec

from tests.ui import samples
from vibekit_desktop.core.types.agents import LivePhase, LiveState
from vibekit_desktop.core.types.chats import Attached, Block, DiffFragment, Location, Message, ToolCall
from vibekit_desktop.core.types.checkpoints import ChangeStatus, EntryKind, FileChange, Timeline, TimelineEntry
from vibekit_desktop.core.types.ids import WorkspacePath

TURN = 6
BEGAN = samples.NOW - 38_000
LOADER, MANIFEST = WorkspacePath("web/plot/loader.ts"), WorkspacePath("web/plot/manifest.json")

PROMPT = Message(
    id="u6",
    role="user",
    ts=BEGAN,
    content="Ship the plot bundle and check that it loads with a cold cache.",
    turn=TURN,
    attachments=(
        Attached(name="plot-design.pdf", path="/home/ada/plot-design.pdf"),
        Attached(name="Screen.png", media_type="image/png"),
    ),
)

RUNNING = LiveState(
    chat=samples.MAIN,
    phase=LivePhase.RUNNING,
    agent="Claude Code",
    agent_id="claude",
    turn=TURN,
    turn_began_at=BEGAN,
)
IDLE = replace(RUNNING, phase=LivePhase.IDLE, turn=0, turn_began_at=0)

OUTPUT = "$ npm test -- plot\n✓ loader reads the manifest first 41 ms\n✓ a missing chunk is reported once 12 ms\n"
TAIL = (
    "The loader now asks for the manifest first, so a cold cache costs one extra request instead of eleven. "
    "While the tests run, the old bundle has to go before the new one is"
)


def read(n: int) -> ToolCall:
    """A file that was read."""
    path = f"{samples.WORKSPACE}/web/plot/part_{n}.ts"
    return ToolCall(id=f"read-{n}", kind="read", title=f"Read part_{n}.ts", locations=(Location(path=path),), ts=BEGAN)


def edit(path: str, call: str, old: str, new: str) -> ToolCall:
    """A file that was edited."""
    diffs = (DiffFragment(path=f"{samples.WORKSPACE}/{path}", old_text=old, new_text=new),)
    return ToolCall(id=call, kind="edit", title=path, diffs=diffs, ts=BEGAN + 9_000)


COMMAND = ToolCall(
    id="run-1", kind="execute", title="npm test -- plot", status="in_progress", output=OUTPUT, ts=samples.NOW - 14_000
)


def answer(*blocks: Block, calls: tuple[ToolCall, ...] = (), plan: object = None) -> Message:
    """The answer of the turn as it is after some blocks."""
    words = "\n\n".join(block.text for block in blocks if block.text)
    return Message(id="a6", role="assistant", ts=BEGAN, content=words, blocks=blocks, tool_calls=calls, plan=plan)


def coming() -> Message:
    """The answer as the mock of the running turn shows it."""
    calls = (
        *(read(n) for n in range(4)),
        edit(LOADER, "edit-1", "load(bundle)\n" * 6, "load(manifest)\n" * 14),
        edit(MANIFEST, "edit-2", "", "{}\n" * 11),
        COMMAND,
    )
    use = tuple(Block(type="tool_use", tool_call_id=call.id) for call in calls)
    return answer(Block(type="thinking", thinking="The manifest has to come first."), *use, Block(text=TAIL), calls=calls)


def whole() -> Message:
    """The same answer when it has ended."""
    message = coming()
    calls = tuple(msgspec.structs.replace(call, status="completed") for call in message.tool_calls)
    blocks = (*message.blocks[:-1], Block(text=f"{TAIL} there."))
    return msgspec.structs.replace(message, tool_calls=calls, blocks=blocks, content=f"{TAIL} there.", turn_elapsed_ms=41_000)


def changed() -> tuple[FileChange, ...]:
    """What the turn changed so far."""
    return (
        samples.change(LOADER, ChangeStatus.MODIFIED, 14, 6, "edit-1"),
        samples.change(MANIFEST, ChangeStatus.ADDED, 11, 0, "edit-2"),
    )


def timeline(*files: FileChange) -> Timeline:
    """The timeline of the chat with the turn that runs."""
    before = samples.timeline()
    turn = TimelineEntry(kind=EntryKind.TURN, turn=TURN, at=BEGAN, prompt=PROMPT.content, message_id="u6", files=files)
    now = replace(before.entries[-1], turn=TURN, files=())
    return replace(before, entries=(*before.entries[:-1], turn, now))
