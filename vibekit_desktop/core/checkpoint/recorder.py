"""Record what agents do while they do it: the edges of turns and commands, and every announced write before it lands.

Turns and commands are lines; a look at the disk stands at each of their edges (docs/storage-format.md 5). An announced write is
captured first: what it will overwrite is in the store, durably, before the call returns. Blocking; the caller holds the vault's
lock.
"""

from collections.abc import Mapping, Sequence

from vibekit_desktop.core.checkpoint import announcements, capture, look, writing
from vibekit_desktop.core.checkpoint.capture import Announced
from vibekit_desktop.core.checkpoint.ground import Ground
from vibekit_desktop.core.checkpoint.history import agree
from vibekit_desktop.core.checkpoint.log import Line
from vibekit_desktop.core.checkpoint.open_turns import OpenTurn, open_turn
from vibekit_desktop.core.disk import faults
from vibekit_desktop.core.disk.ignore import IgnoreRules
from vibekit_desktop.core.disk.tree import Stamp, walk
from vibekit_desktop.core.types.checkpoints import CaptureReport, FileState, Fits, Protection, State
from vibekit_desktop.core.types.errors import CannotRead, NoOpenTurn
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath

MOST_STAMPS = 50_000
"""More cannot be stamped again and again within the seconds that the end of a turn may take."""


class Recorder:
    """Writes the history of one vault while it happens. Holds nothing that is not on disk."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground

    # -- turns ---------------------------------------------------------------------------------------------------

    def open_turn(self, chat: ChatId) -> int:
        """The number of the chat's running turn, 0 if none runs."""
        turn = open_turn(self._ground, chat)
        return 0 if turn is None else turn.turn

    def begin_turn(self, chat: ChatId, *, message_count: int, message_id: str = "") -> int:
        """A look, then the turn begins; its number. ``message_count``: the length of the transcript with the prompt in it."""
        self._ground.folder()
        coverage = look.before_turn(self._ground, chat)
        _, marks = self._ground.vault.memory.view(chat)
        number = marks.last_turn + 1
        faults.point("turn.begin")
        self._ground.vault.append(
            chat,
            [
                Line(
                    type="turn_start",
                    turn=number,
                    message_count=message_count,
                    message_id=message_id,
                    coverage=coverage,
                )
            ],
        )
        return number

    def protect(self, chat: ChatId) -> Protection:
        """A look as before a command: everything is kept that can be, and what is not is told. `NoOpenTurn` outside of one."""
        self._require(chat, "turn")
        return look.before_command(self._ground, chat)

    def begin_command(self, chat: ChatId, *, tool_call_id: str = "", looked: bool = False) -> int:
        """A look, then a command runs; the number of its turn. `NoOpenTurn` outside of a turn. ``looked``: `protect` has just
        looked."""
        turn = self._require(chat, "turn")
        if not looked:
            look.before_command(self._ground, chat)
        self._ground.vault.append(chat, [Line(type="command_start", turn=turn.turn, tool_call_id=tool_call_id)])
        return turn.turn

    def end_command(self, chat: ChatId, *, tool_call_id: str = "") -> int:
        """A look while the command still counts as running, then its end. `NoOpenTurn` if none runs."""
        turn = self._require(chat, "turn")
        if not turn.commands:
            raise NoOpenTurn(chat, "command")
        look.after_command(self._ground, chat, tool_call_id)
        self._ground.vault.append(chat, [Line(type="command_end", turn=turn.turn, tool_call_id=tool_call_id)])
        return turn.turn

    def note_unseen(self, chat: ChatId) -> None:
        """A command of the chat began before it could be looked at what was there: the coverage of the turn says so."""
        turn = self._require(chat, "turn")
        if (".", look.BEFORE_UNKNOWN) not in turn.notes:
            self._ground.vault.append(chat, [Line(type="note", path=".", reason=look.BEFORE_UNKNOWN, turn=turn.turn)])

    def end_turn(self, chat: ChatId, *, duration_ms: int = 0, unsettled: Sequence[WorkspacePath] = ()) -> int:
        """A look, then the turn ends, with what of it is not in the store. ``unsettled``: paths that were still changing."""
        turn = self._require(chat, "turn")
        coverage = look.at_end(self._ground, turn, unsettled)
        faults.point("turn.end")
        self._ground.vault.append(chat, [Line(type="turn_end", turn=turn.turn, duration_ms=duration_ms, coverage=coverage)])
        return turn.turn

    def _require(self, chat: ChatId, what: str) -> OpenTurn:
        self._ground.folder()
        turn = open_turn(self._ground, chat)
        if turn is None:
            raise NoOpenTurn(chat, what)
        return turn

    def signature(self) -> Mapping[WorkspacePath, Stamp]:
        """The stamps of everything in the workspace: two equal ones a moment apart mean that it is quiet. Needs no lock. Empty
        where the workspace is too large to ask again and again."""
        if not self._ground.whole:
            return {}
        workspace = self._ground.folder()
        try:
            rules = IgnoreRules.read(workspace, fold=workspace.folds)
            tree = walk(workspace, ignored=rules.ignored, limit=MOST_STAMPS, entering=rules.entering)
        except CannotRead:
            return {}
        return tree.entries if tree.complete else {}

    # -- writes --------------------------------------------------------------------------------------------------

    def capture(self, chat: ChatId, path: WorkspacePath, announced: Announced, *, message_count: int) -> CaptureReport:
        """Remember a file as it is, just before somebody else writes it. See `capture.capture`."""
        return capture.capture(self._ground, chat, path, announced, message_count=message_count)

    def capture_rename(
        self, chat: ChatId, old: WorkspacePath, new: WorkspacePath, *, message_count: int, tool_call_id: str = ""
    ) -> tuple[CaptureReport, CaptureReport]:
        """Remember both ends of a rename that somebody else is about to do: the old name goes, the new one gets its content."""
        return capture.capture_rename(self._ground, chat, old, new, message_count=message_count, tool_call_id=tool_call_id)

    def not_done(self, chat: ChatId, path: WorkspacePath) -> bool:
        """Close what the chat's running turn announced last for a path, if the disk does not say otherwise; whether it was."""
        return announcements.not_done(self._ground, chat, path)

    def waits(self, chat: ChatId, paths: Sequence[WorkspacePath], *, tool_call_id: str = "") -> bool:
        """A person is asked before a call goes on that may have announced these paths. See `announcements.waits`."""
        return announcements.waits(self._ground, chat, paths, tool_call_id=tool_call_id)

    def meet(self, chat: ChatId, path: WorkspacePath, expected: FileState) -> bool:
        """A file that the chat's agent waits to change is another one than when that was asked; whether it still is. Its bytes
        are kept, as somebody else's, and a conflict is told."""
        there = self._ground.folder().look(path)
        if agree(expected, there) or (there.state is expected.state is State.UNKNOWN):
            return False
        announcements.meet(self._ground, chat, path, expected, there)
        return True

    def finished(self, chat: ChatId, paths: Sequence[WorkspacePath], fits: Fits, *, tool_call_id: str = "") -> bool:
        """A call of the chat's running turn says that it changed these paths. See `announcements.finished`."""
        return announcements.finished(self._ground, chat, paths, fits, tool_call_id=tool_call_id)

    def write(
        self,
        chat: ChatId,
        path: WorkspacePath,
        data: bytes | None,
        *,
        message_count: int,
        mode: int | None = None,
        expected: FileState | None = None,
        tool_call_id: str = "",
        unprotected: bool = False,
    ) -> CaptureReport:
        """Capture and write in one call; None deletes. See `writing.write`."""
        return writing.write(
            self._ground,
            chat,
            path,
            data,
            message_count=message_count,
            mode=mode,
            expected=expected,
            tool_call_id=tool_call_id,
            unprotected=unprotected,
        )
