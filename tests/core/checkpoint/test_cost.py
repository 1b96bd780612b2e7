"""What an answer costs does not grow with paths times chats."""

from pathlib import Path

import pytest

from tests.conftest import Clock
from tests.core.checkpoint.world import A, World
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.types.checkpoints import Now, Start
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath


class CountingFs(Fs):
    """Counts how often a folder is listed; the vault's logs are listed each time the history is looked at."""

    listed = 0

    def names(self, folder: Path | int) -> list[str]:
        self.listed += 1
        return super().names(folder)


@pytest.mark.parametrize("files", [5, 40])
def test_the_history_is_looked_at_once_for_all_paths(tmp_path: Path, clock: Clock, files: int) -> None:
    fs = CountingFs()
    world = World(tmp_path, clock, fs)
    world.turn({f"{number}": b"x" for number in range(files)})
    for number in range(3):
        world.turn({"other": b"%d" % number}, ChatId(f"chat-{number}"))
    for ask in (
        lambda: world.kernel.changed_between(A, Start(), Now()),
        lambda: world.kernel.checkout(A, Start(), tmp_path / "out"),
        lambda: world.kernel.timeline(A),
        lambda: world.plan("before:1"),
    ):
        fs.listed = 0
        ask()
        assert fs.listed < 20, "two lists for each look at the vault, whatever the number of files"
    state = world.kernel.state_at(A, Now(), WorkspacePath("0"))
    world.kernel.read_state(state)
    fs.listed = 0
    world.kernel.read_state(state)
    assert fs.listed == 0
