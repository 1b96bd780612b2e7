"""A fresh world for every test."""

from pathlib import Path

import pytest

from tests.conftest import Clock
from tests.core.checkpoint.hooks import Hooks
from tests.core.checkpoint.world import World


@pytest.fixture
def world(tmp_path: Path, clock: Clock) -> World:
    return World(tmp_path, clock)


@pytest.fixture
def hooks(world: World) -> Hooks:
    return Hooks(world)
