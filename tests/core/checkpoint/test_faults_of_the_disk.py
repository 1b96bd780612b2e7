"""One call of the disk fails, each in turn: the error is typed, every path is whole, and the next try works (S1e, S7)."""

import errno
import os
from pathlib import Path

import pytest

from tests.conftest import Clock
from tests.core.checkpoint.test_crash import BEFORE, MESSAGES, WANTED, check_whole, make
from tests.core.checkpoint.world import A, World
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.types.checkpoints import RestorePlan, RestoreReport, Scope
from vibekit_desktop.core.types.errors import EnvironmentFault


class FailingFs(Fs):
    """The n-th call of one kind fails with an error code; all others work."""

    def __init__(self) -> None:
        self.kind = ""
        self.at = 0
        self.error = 0
        self.seen = 0

    def arm(self, kind: str, at: int, error: int) -> None:
        self.kind, self.at, self.error, self.seen = kind, at, error, 0

    def _pass(self, kind: str) -> None:
        if kind == self.kind:
            self.seen += 1
            if self.seen == self.at:
                raise OSError(self.error, os.strerror(self.error))

    def fsync(self, fd: int) -> None:
        self._pass("fsync")
        super().fsync(fd)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        self._pass("write")
        return super().write(fd, data)

    def move(self, old: Path | str, new: Path | str, *, dir_fd: int | None = None) -> None:
        self._pass("move")
        super().move(old, new, dir_fd=dir_fd)

    def unlink(self, name: Path | str, *, dir_fd: int | None = None) -> None:
        self._pass("unlink")
        super().unlink(name, dir_fd=dir_fd)

    def mkdir(self, name: Path | str, mode: int, *, dir_fd: int | None = None) -> None:
        self._pass("mkdir")
        super().mkdir(name, mode, dir_fd=dir_fd)

    def fchmod(self, fd: int, mode: int) -> None:
        self._pass("fchmod")
        super().fchmod(fd, mode)

    def truncate(self, fd: int, length: int) -> None:
        self._pass("truncate")
        super().truncate(fd, length)

    def link(self, old: Path, new: Path) -> None:
        self._pass("link")
        super().link(old, new)


KINDS = ["fsync", "write", "move", "unlink", "mkdir", "fchmod", "truncate", "link"]


def _try(world: World, plan: RestorePlan) -> RestoreReport | None:
    """The report, or None after a typed error; anything else passes through and fails the test."""
    try:
        return world.do(plan)
    except EnvironmentFault:
        return None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("error", [errno.EIO, errno.ENOSPC, errno.EACCES], ids=["EIO", "ENOSPC", "EACCES"])
def test_a_failing_call_never_loses_anything_and_the_next_try_works(
    tmp_path: Path, clock: Clock, kind: str, error: int
) -> None:
    start = make(tmp_path / "start", clock)
    for at in range(1, 200):
        world = start.copy(tmp_path / f"{at}")
        fs = FailingFs()
        world.fs = fs
        world.reopen()
        plan = world.plan("before:2", scope=Scope.BOTH)
        fs.arm(kind, at, error)
        report = _try(world, plan)
        if fs.seen < at:
            break
        fs.arm("", 0, 0)
        world.reopen()
        check_whole(world)
        if not world.kernel.unfinished() and report is None:
            assert not world.stages(), at
            assert world.disk() in (BEFORE, WANTED), at
            assert (world.root / "deep").exists() == (world.disk() == WANTED), "no folder is left behind"
        world.recover()
        assert world.kernel.unfinished() == []
        assert not world.stages()
        again = world.restore("before:2", scope=Scope.BOTH)
        assert not again.failed, at
        assert world.disk() == WANTED
        assert (world.root / "run.sh").stat().st_mode & 0o777 == 0o755
        assert not (world.vault_folder / "desktop/staging").exists()
        assert not list(world.vault_folder.rglob(".vibekit-temp-*"))
        assert world.kernel.verify().problems == ()
        while world.kernel.timeline(A).can_undo:
            world.undo()
        assert world.disk() == BEFORE
        assert world.transcripts.chats[A] == MESSAGES
    else:
        pytest.fail("the sweep never came to its end")
    assert report is not None
    assert report.verified
