"""A bench for every test: by each kind of hand, or by one."""

from pathlib import Path

import pytest

from tests.conftest import Clock
from tests.core.checkpoint.corpus.bench import Bench, Hand


@pytest.fixture(params=list(Hand))
def bench(tmp_path: Path, clock: Clock, request: pytest.FixtureRequest) -> Bench:
    """By each hand in turn."""
    return Bench(tmp_path, clock, Hand(request.param))


@pytest.fixture(params=[Hand.ANNOUNCED, Hand.COMMAND])
def either(tmp_path: Path, clock: Clock, request: pytest.FixtureRequest) -> Bench:
    """Announced, or found by a look: what nobody reports is found like a command's, and is only called otherwise."""
    return Bench(tmp_path, clock, Hand(request.param))


@pytest.fixture
def shell(tmp_path: Path, clock: Clock) -> Bench:
    """By a reported command only."""
    return Bench(tmp_path, clock, Hand.COMMAND)


@pytest.fixture
def hooked(tmp_path: Path, clock: Clock) -> Bench:
    """By announced writes only."""
    return Bench(tmp_path, clock, Hand.ANNOUNCED)
