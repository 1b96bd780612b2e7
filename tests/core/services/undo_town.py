"""A chat whose turns write any bytes at any path, and undos of parts of it: for tests about taking changes back."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tests.core.services.town import Town
from vibekit_desktop.app.wiring import Wired
from vibekit_desktop.core.types.checkpoints import (
    KEEP_MINE,
    Action,
    AfterTurn,
    BeforeTurn,
    Point,
    RestoreReport,
    Timeline,
)
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath
from vibekit_desktop.core.types.reviews import Decision, Decisions, InversePlan, InverseRequest

CHAT = ChatId("chat-main")
OTHER = ChatId("chat-other")

Files = Mapping[str, bytes | None]


def text(*lines: object, end: str = "\n") -> bytes:
    """Some lines as a file."""
    return "".join(f"{line}{end}" for line in lines).encode()


async def turn(wired: Wired, work: Path, files: Files, *, chat: str = CHAT, ends: bool = True) -> None:
    """A turn that announces what it writes. ``ends``: whether anybody says that it is over."""
    turns = wired.core.turns
    await turns.begin(chat, workspace=work, agent="Agent", prompt="go")
    for path, data in files.items():
        await turns.record(chat, path, content=data, deleted=data is None, mode=None)
        put(work, path, data)
    if ends:
        await turns.end(chat, answer="done")


def put(work: Path, path: str, data: bytes | None) -> None:
    """Whoever it is changes a file."""
    target = work / path
    if data is None:
        target.unlink()
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)


def disk(work: Path) -> dict[str, bytes]:
    """Every file of the workspace; a link by its text."""
    found: dict[str, bytes] = {}
    for path in sorted(work.rglob("*")):
        if path.is_symlink():
            found[path.relative_to(work).as_posix()] = b"-> " + os.fsencode(path.readlink())
        elif path.is_file():
            found[path.relative_to(work).as_posix()] = path.read_bytes()
    return found


class UndoTown:
    """A town whose steps are one call each."""

    def __init__(self, town: Town) -> None:
        self.town = town
        self.work = town.work

    def turn(self, files: Files, *, chat: str = CHAT, ends: bool = True) -> None:
        self.town.run(lambda wired: turn(wired, self.work, files, chat=chat, ends=ends))
        self.town.clock.advance(1000)

    def turn_of_others(self, work: Callable[[], None]) -> None:
        """A turn in which something happens that nobody announced."""

        async def run(wired: Wired) -> None:
            await wired.core.turns.begin(CHAT, workspace=self.work, agent="Agent", prompt="go")
            work()
            await wired.core.turns.end(CHAT, answer="done")

        self.town.run(run)
        self.town.clock.advance(1000)

    def put(self, files: Files) -> None:
        for path, data in files.items():
            put(self.work, path, data)

    def disk(self) -> dict[str, bytes]:
        return disk(self.work)

    def read(self, path: str) -> bytes:
        return (self.work / path).read_bytes()

    def plan(
        self,
        number: int | tuple[Point, Point],
        *,
        paths: Sequence[str] = (),
        hunks: Sequence[int] = (),
        decide: Decisions | Decision = (),
    ) -> InversePlan:
        """What undoing turn ``number``, or the change between two points, would do. ``decide``: one decision for everything."""
        old, new = (BeforeTurn(number), AfterTurn(number)) if isinstance(number, int) else number
        named = tuple(WorkspacePath(path) for path in paths)
        request = InverseRequest(chat=CHAT, old=old, new=new, paths=named, hunks=tuple(hunks))

        async def ask(wired: Wired) -> InversePlan:
            if not isinstance(decide, Decision):
                return await wired.core.undo.plan(request, decide)
            found = await wired.core.undo.plan(request)
            return await wired.core.undo.plan(request, tuple((one.path, one.number, decide) for one in found.overlaps))

        return self.town.run(ask)

    def do(self, found: InversePlan) -> RestoreReport:
        plan = found.plan
        assert plan is not None, found.open
        self.town.clock.advance(1000)
        return self.town.run(lambda wired: wired.core.checkpoints.carry_out(plan))

    def undo_turn(
        self, number: int | tuple[Point, Point], *, paths: Sequence[str] = (), decide: Decisions | Decision = ()
    ) -> RestoreReport:
        return self.do(self.plan(number, paths=paths, decide=decide))

    def undo_hunks(self, number: int, path: str, *hunks: int, decide: Decisions | Decision = ()) -> RestoreReport:
        return self.do(self.plan(number, paths=(path,), hunks=hunks, decide=decide))

    def take_back(self, *, redo: bool = False) -> RestoreReport:
        """`undo` or `redo` of the newest entry."""

        async def work(wired: Wired) -> RestoreReport:
            checkpoints = wired.core.checkpoints
            ask = checkpoints.plan_redo if redo else checkpoints.plan_undo
            return await checkpoints.carry_out(await ask(CHAT, mine=KEEP_MINE))

        self.town.clock.advance(1000)
        return self.town.run(work)

    def timeline(self) -> Timeline:
        return self.town.run(lambda wired: wired.core.checkpoints.timeline(CHAT))

    def undone(self) -> set[tuple[int, str]]:
        """Turn and path of every change that is marked as undone."""
        return {(entry.turn, file.path) for entry in self.timeline().entries for file in entry.files if file.undone}


def actions(found: InversePlan) -> dict[str, str]:
    """Path to action, or ``leave:`` and the reason."""
    plan = found.plan
    assert plan is not None, found.open
    return {one.path: one.action.value if one.action is not Action.LEAVE else f"leave:{one.reason}" for one in plan.files}
