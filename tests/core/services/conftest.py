"""The services over real temporary folders, without Qt and without the command line."""

from pathlib import Path

import pytest

from tests.conftest import Clock
from tests.core.services.town import Town
from tests.helpers.vaults import Library, make_library
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.services.shelf import Shelf


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def shelf(tmp_path: Path, home: Path, data: Path, clock: Clock) -> Shelf:
    return Shelf(Fs(), data, clock=clock, home=home)


@pytest.fixture
def library(tmp_path: Path, home: Path) -> Library:
    return make_library(tmp_path, home)


@pytest.fixture
def town(tmp_path: Path, home: Path, clock: Clock) -> Town:
    return Town(tmp_path, home, clock)
