"""A vault for chats."""

from pathlib import Path

import pytest

from tests.conftest import Clock
from tests.core.chat.world import SMALL, World


@pytest.fixture
def world(tmp_path: Path, clock: Clock) -> World:
    return World(tmp_path / "vault", clock)


@pytest.fixture
def small(tmp_path: Path, clock: Clock) -> World:
    """A vault in which a chat of a few turns is a long one."""
    return World(tmp_path / "small", clock, limits=SMALL)
