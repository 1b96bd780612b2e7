"""Hooks of an agent as a test drives them: what the agent says it does, and what it does."""

from collections.abc import Callable

from tests.core.checkpoint.world import A, World
from vibekit_desktop.core.checkpoint.capture import Announced
from vibekit_desktop.core.checkpoint.log import Line
from vibekit_desktop.core.types.checkpoints import CaptureReport, EntryKind, FileChange, TimelineEntry
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath


class Hooks:
    """One agent's hooks: what it says it does, and what it does."""

    def __init__(self, world: World) -> None:
        self.world = world

    def begin(self, chat: ChatId = A) -> int:
        self.world.clock.advance(1000)
        transcript = self.world.transcripts.chats.setdefault(chat, [])
        turn = self.world.kernel.recorder.begin_turn(chat, message_count=len(transcript) + 1)
        transcript += [turn, 0]
        return turn

    def end(self, chat: ChatId = A) -> None:
        self.world.kernel.recorder.end_turn(chat)

    def record(self, path: str, data: bytes | None, chat: ChatId = A, *, known: bool = True, do: bool = True) -> CaptureReport:
        """Announce a write and, as the hook's caller, do it."""
        announced = Announced(content=data if known else None, deleted=data is None)
        report = self.world.kernel.recorder.capture(
            chat, WorkspacePath(path), announced, message_count=len(self.world.transcripts.chats.get(chat, []))
        )
        if do:
            self.world.write(path, data)
        return report

    def command(self, act: Callable[[], object], chat: ChatId = A) -> None:
        self.world.kernel.recorder.begin_command(chat)
        act()
        self.world.kernel.recorder.end_command(chat)

    def lines(self, chat: ChatId = A) -> list[Line]:
        return list(self.world.vault.lines(chat))


def row(world: World, turn: int, chat: ChatId = A) -> TimelineEntry:
    entries = world.kernel.timeline(chat).entries
    return next(one for one in entries if one.kind is EntryKind.TURN and one.turn == turn)


def told(files: tuple[FileChange, ...]) -> dict[str, tuple[str, str, str]]:
    return {one.path: (one.status.value, one.author.value, one.how.value) for one in files}
