"""A workspace, a vault and chats in real folders, driven as a turn would; and transcripts that are only lists."""

import copy
import shutil
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from tests.conftest import Clock
from vibekit_desktop.core.checkpoint import log
from vibekit_desktop.core.checkpoint.kernel import CheckpointKernel
from vibekit_desktop.core.checkpoint.log import Line
from vibekit_desktop.core.checkpoint.plan import PlanRequest
from vibekit_desktop.core.checkpoint.vault import VaultStore
from vibekit_desktop.core.disk import faults
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.disk.locks import VaultLock
from vibekit_desktop.core.disk.workspace import Workspace
from vibekit_desktop.core.types.chats import TranscriptShape
from vibekit_desktop.core.types.checkpoints import (
    KEEP_MINE,
    Author,
    FileState,
    How,
    Mine,
    RestoreKind,
    RestorePlan,
    RestoreReport,
    Scope,
    State,
    parse_point,
)
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath
from vibekit_desktop.core.types.settings import Limits

A = ChatId("chat-a")
B = ChatId("chat-b")


class Crash(BaseException):
    """The program ends here: nothing catches it, nothing cleans up."""


@dataclass
class CrashAt:
    """Raises `Crash` at the n-th point it is told of; counts them otherwise."""

    at: int = 0
    seen: list[str] = field(default_factory=list)

    def __call__(self, name: str) -> None:
        self.seen.append(name)
        if len(self.seen) == self.at:
            raise Crash(name)


class Transcripts:
    """Chat files as lists of turns (0 for an answer), with the promises of the real ones: whole steps, harmless twice."""

    def __init__(self) -> None:
        self.chats: dict[ChatId, list[int]] = {}

    def shape(self, chat: ChatId) -> TranscriptShape:
        messages = self.chats.get(chat, [])
        index = {turn: at for at, turn in enumerate(messages) if turn}
        return TranscriptShape(messages=len(messages), prompt_index=index, prompts={turn: f"prompt {turn}" for turn in index})

    def keep_as_branch(self, chat: ChatId, branch: ChatId, *, keep: int, first_turn: int) -> None:
        faults.point("fake.keep")
        self.chats.setdefault(branch, list(self.chats[chat]))

    def cut(self, chat: ChatId, *, keep: int, branch: ChatId, first_turn: int, last_turn: int) -> None:
        faults.point("fake.cut")
        assert self.chats[branch][:keep] == self.chats[chat][:keep]
        del self.chats[chat][keep:]

    def branch(self, chat: ChatId, branch: ChatId, *, keep: int, first_turn: int) -> None:
        faults.point("fake.branch")
        self.chats.setdefault(branch, self.chats[chat][:keep])

    def bring_back(self, chat: ChatId, branch: ChatId) -> None:
        faults.point("fake.back")
        if branch in self.chats:
            self.chats[chat] = list(self.chats[branch])
            faults.point("fake.gone")
            del self.chats[branch]


class World:
    """One vault and its workspace."""

    def __init__(self, folder: Path, clock: Clock, fs: Fs | None = None) -> None:
        self.fs = fs or Fs()
        self.clock = clock
        self.root = folder / "work"
        self.root.mkdir()
        self.vault_folder = folder / "vault"
        self.transcripts = Transcripts()
        self.turns: dict[ChatId, int] = {}
        self.reopen()

    def copy(self, folder: Path) -> "World":
        """The same world in another place, as it is now."""
        twin = copy.copy(self)
        twin.transcripts = copy.deepcopy(self.transcripts)
        twin.turns = dict(self.turns)
        shutil.copytree(self.root.parent, folder, symlinks=True)
        twin.root, twin.vault_folder = folder / "work", folder / "vault"
        twin.reopen()
        return twin

    def reopen(self) -> None:
        """As a new process would: nothing remembered but what is on disk."""
        self.vault = VaultStore(self.fs, self.vault_folder, clock=self.clock)
        self.workspace = Workspace.open(self.fs, self.root)
        self.kernel = CheckpointKernel(self.fs, self.vault, self.workspace, self.transcripts, self.clock)

    def cap(self, capture_bytes: int) -> None:
        """Until it is reopened, no larger file is kept but what a restore is about to lose."""
        limits = Limits(capture_bytes=capture_bytes)
        self.kernel = CheckpointKernel(self.fs, self.vault, self.workspace, self.transcripts, self.clock, limits=limits)

    # -- the disk ------------------------------------------------------------------------------------------------

    def write(self, path: str, data: bytes | None, mode: int | None = None) -> None:
        """What a person or another program does."""
        target = self.root / path
        if data is None:
            target.unlink(missing_ok=True)
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        if mode is not None:
            target.chmod(mode)

    def read(self, path: str) -> bytes | None:
        target = self.root / path
        return target.read_bytes() if target.is_file() else None

    def disk(self) -> dict[str, bytes]:
        """Every file of the workspace."""
        found = (path for path in sorted(self.root.rglob("*")) if path.is_file() and not path.is_symlink())
        return {path.relative_to(self.root).as_posix(): path.read_bytes() for path in found}

    # -- turns ---------------------------------------------------------------------------------------------------

    def look(self, path: str, *, own: bool = False) -> FileState:
        """The state of a path now, its content in the store."""
        state, data = self.workspace.read(WorkspacePath(path))
        if data is not None:
            self.vault.blobs.put(data, own=own or state.state is State.LINK)
        return state

    def begin(self, chat: ChatId = A) -> int:
        """A turn begins."""
        self.clock.advance(1000)
        turn = self.turns.get(chat, 0) + 1
        self.turns[chat] = turn
        transcript = self.transcripts.chats.setdefault(chat, [])
        self.vault.append(chat, [Line(type="turn_start", turn=turn, message_count=len(transcript))])
        transcript += [turn, 0]
        return turn

    def act(self, path: str, change: bytes | Callable[[], None] | None, chat: ChatId = A, mode: int | None = None) -> None:
        """The agent changes a file, announced."""
        turn = self.turns.get(chat, 0)
        before = self.look(path)
        if callable(change):
            change()
        else:
            self.write(path, change, mode)
        after = self.look(path)
        count = sum(line.type == "snapshot" and line.turn == turn for line in self.vault.lines(chat))
        line = log.observed(WorkspacePath(path), before, after, author=Author.AGENT, how=How.ANNOUNCED, turn=turn)
        tag = f"{turn}.{count}" if count or not turn else f"{turn}"
        self.vault.append(chat, [replaced(line, type="snapshot", tag=tag, tool=count)])

    def found(self, path: str, change: bytes | None, chat: ChatId = A, author: Author = Author.UNKNOWN) -> None:
        """Something inside a turn changes a file, found by a scan."""
        before = self.look(path, own=True)
        self.write(path, change)
        after = self.look(path, own=True)
        turn = self.turns[chat]
        self.vault.append(chat, [log.observed(WorkspacePath(path), before, after, author=author, how=How.SCAN, turn=turn)])

    def end(self, chat: ChatId = A) -> None:
        """The turn ends."""
        self.vault.append(chat, [Line(type="turn_end", turn=self.turns[chat])])

    def turn(self, changes: Mapping[str, bytes | None], chat: ChatId = A) -> int:
        """A whole turn."""
        turn = self.begin(chat)
        for path, data in changes.items():
            self.act(path, data, chat)
        self.end(chat)
        return turn

    # -- restores ------------------------------------------------------------------------------------------------

    def plan(
        self,
        point: str | None,
        chat: ChatId = A,
        *,
        kind: RestoreKind = RestoreKind.RESTORE,
        scope: Scope = Scope.FILES,
        mine: Mine = KEEP_MINE,
        paths: tuple[str, ...] = (),
    ) -> RestorePlan:
        named = tuple(WorkspacePath(path) for path in paths)
        wanted = None if point is None else parse_point(point)
        return self.kernel.plan(chat, PlanRequest(kind, wanted, scope, mine, named))

    def do(self, plan: RestorePlan) -> RestoreReport:
        with VaultLock(self.fs, self.vault_folder).hold(0):
            return self.kernel.carry_out(plan)

    def restore(
        self,
        point: str,
        chat: ChatId = A,
        *,
        scope: Scope = Scope.FILES,
        mine: Mine = KEEP_MINE,
        paths: tuple[str, ...] = (),
    ) -> RestoreReport:
        return self.do(self.plan(point, chat, scope=scope, mine=mine, paths=paths))

    def undo_file(self, point: str, path: str, chat: ChatId = A, *, mine: Mine = KEEP_MINE) -> RestoreReport:
        return self.do(self.plan(point, chat, kind=RestoreKind.UNDO_FILE, mine=mine, paths=(path,)))

    def undo(self, chat: ChatId = A, *, mine: Mine = KEEP_MINE) -> RestoreReport:
        return self.do(self.plan(None, chat, kind=RestoreKind.UNDO, scope=Scope.BOTH, mine=mine))

    def redo(self, chat: ChatId = A, *, mine: Mine = KEEP_MINE) -> RestoreReport:
        return self.do(self.plan(None, chat, kind=RestoreKind.REDO, scope=Scope.BOTH, mine=mine))

    def recover(self) -> list[RestoreReport]:
        with nullcontext() if not self.vault_folder.exists() else VaultLock(self.fs, self.vault_folder).hold(0):
            return self.kernel.recover()

    def actions(self, plan: RestorePlan) -> dict[str, str]:
        """Path to action, or ``leave:`` and the reason."""
        return {file.path: file.action.value if file.action.value != "leave" else f"leave:{file.reason}" for file in plan.files}

    def at(self, point: str, path: str, chat: ChatId = A) -> bytes | None:
        """The content at a point; None if it was absent there."""
        state = self.kernel.state_at(chat, parse_point(point), WorkspacePath(path))
        if state.state is State.ABSENT:
            return None
        assert state.has_content, state
        return self.kernel.read_state(state)

    def log_path(self, chat: ChatId = A) -> Path:
        return self.vault_folder / "snapshots" / "chats" / chat / "events.jsonl"

    def stages(self) -> list[str]:
        return [path.name for path in self.root.rglob("*") if ".vibekit-restore-" in path.name]


def replaced(line: Line, **keys: object) -> Line:
    """A line with other values."""
    values = {name: getattr(line, name) for name in line.__struct_fields__} | keys
    return Line(**values)


ALL_MINE = Mine(restore_all=True)
