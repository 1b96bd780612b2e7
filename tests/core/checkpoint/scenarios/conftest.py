"""A fresh recorded session for every scenario."""

import pytest

from tests.core.checkpoint.scenarios.session import Session
from tests.core.checkpoint.world import World


@pytest.fixture
def session(world: World) -> Session:
    return Session(world)
