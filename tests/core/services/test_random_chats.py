"""Every operation on chats in random order agrees with a model; see `chat_histories`."""

import os
import random
from functools import partial
from pathlib import Path

import pytest

from tests.conftest import Clock
from tests.core.services.chat_histories import SEEDS, SMALL, STEPS, WEIGHTS, History, OneVault
from vibekit_desktop.core.chat.store import ChatStore
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.services import vaults

ASKED = int(os.environ.get("VIBEKIT_HISTORIES", "0"))


class Quick(Fs):
    """A process that stops loses nothing that it wrote."""

    def fsync(self, fd: int) -> None:
        return


def play(seed: int, folder: Path, home: Path) -> None:
    folder.mkdir()
    town = OneVault(folder, home, Clock())
    history = History(town, seed)
    names = history.dice.choices(list(WEIGHTS), list(WEIGHTS.values()), k=STEPS)
    try:
        for name in names:
            history.step(name)
            history.check()
        history.now = 0
        history.do_reopen()
        history.check()
        if history.model.talks:
            history.check_nothing_left()
    except BaseException as error:
        error.add_note(f"seed {seed}:\n" + "\n".join(history.log))
        raise
    finally:
        history.close()


GROUPS = [list(SEEDS[start::5]) for start in range(5)] + [[random.SystemRandom().randrange(1 << 40)] for _ in range(ASKED)]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chats of a few turns are long ones, and nothing is synced."""
    monkeypatch.setattr(vaults, "ChatStore", partial(ChatStore, limits=SMALL))
    monkeypatch.setattr(Fs, "fsync", Quick.fsync)


@pytest.mark.parametrize("seeds", GROUPS, ids=lambda seeds: f"from-{seeds[0]}")
def test_any_history_is_as_the_model_says(seeds: list[int], tmp_path: Path, home: Path) -> None:
    for seed in seeds:
        play(seed, tmp_path / str(seed), home)
