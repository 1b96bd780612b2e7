"""Where not one file can be put back, the transcript stays too, and the same request works once the cause is gone (I10)."""

import errno
import os
from pathlib import Path

import pytest

from tests.conftest import Clock
from tests.core.checkpoint.test_crash import BEFORE, MESSAGES, WANTED, make
from tests.core.checkpoint.world import A, World
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.types.checkpoints import EntryKind, Scope


class StubbornFs(Fs):
    """While ``stubborn``, no name inside a workspace can be changed; the vault works as always."""

    stubborn = False

    def _refuse(self, dir_fd: int | None) -> None:
        if self.stubborn and dir_fd is not None:
            raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    def move(self, old: Path | str, new: Path | str, *, dir_fd: int | None = None) -> None:
        self._refuse(dir_fd)
        super().move(old, new, dir_fd=dir_fd)

    def unlink(self, name: Path | str, *, dir_fd: int | None = None) -> None:
        self._refuse(dir_fd)
        super().unlink(name, dir_fd=dir_fd)


def files(world: World) -> dict[str, bytes]:
    """The workspace without the stages that could not be removed yet."""
    return {path: data for path, data in world.disk().items() if ".vibekit-restore-" not in path}


@pytest.fixture
def fs() -> StubbornFs:
    return StubbornFs()


@pytest.fixture
def world(tmp_path: Path, clock: Clock, fs: StubbornFs) -> World:
    made = make(tmp_path / "world", clock)
    (made.root / "run.sh").chmod(0o755)  # nothing is left to do there
    made.fs = fs
    made.reopen()
    return made


def test_the_transcript_stays_where_no_file_could_be_restored(world: World, fs: StubbornFs) -> None:
    fs.stubborn = True
    report = world.restore("before:2", scope=Scope.BOTH)
    assert report.restored == ()
    assert len(report.failed) == 3
    assert report.branch_chat_id is None
    assert world.transcripts.chats == {A: MESSAGES}
    assert files(world) == BEFORE
    assert world.stages(), "they could not be removed"
    timeline = world.kernel.timeline(A)
    assert timeline.can_undo == 0, "nothing was done, so there is nothing to take back"
    assert [entry.branch_chat_id for entry in timeline.entries if entry.kind is EntryKind.RESTORE] in ([], [None])
    fs.stubborn = False
    again = world.restore("before:2", scope=Scope.BOTH)
    assert not again.failed
    assert not world.stages(), "the next change cleared them away"
    assert (world.disk(), world.transcripts.chats[A]) == (WANTED, MESSAGES[:2])
    world.undo()
    assert (world.disk(), world.transcripts.chats) == (BEFORE, {A: MESSAGES})


def test_an_undo_that_could_change_nothing_can_be_asked_for_again(world: World, fs: StubbornFs) -> None:
    entry = world.restore("before:2", scope=Scope.BOTH).entry
    fs.stubborn = True
    assert world.undo().restored == ()
    assert (files(world), world.transcripts.chats[A]) == (WANTED, MESSAGES[:2])
    assert world.kernel.timeline(A).can_undo == entry
    fs.stubborn = False
    assert not world.undo().failed
    assert (world.disk(), world.transcripts.chats) == (BEFORE, {A: MESSAGES})
    fs.stubborn = True
    assert world.redo().restored == ()
    fs.stubborn = False
    assert not world.redo().failed
    assert (world.disk(), world.transcripts.chats[A]) == (WANTED, MESSAGES[:2])


def test_a_restore_of_the_chat_alone_is_not_kept_back(world: World, fs: StubbornFs) -> None:
    fs.stubborn = True
    assert world.restore("before:2", scope=Scope.CHAT).branch_chat_id is not None
    assert (world.disk(), world.transcripts.chats[A]) == (BEFORE, MESSAGES[:2])
