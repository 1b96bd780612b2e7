"""What is written is for its owner only, whatever the umask; a file comes back with its own permissions."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.vaults import Library, make_library


@pytest.fixture(params=[0o000, 0o022, 0o077], ids=["umask-000", "umask-022", "umask-077"])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    wanted: int = request.param
    before = os.umask(wanted)
    yield wanted
    os.umask(before)


@pytest.fixture
def library(tmp_path: Path, home: Path, umask: int) -> Library:
    return make_library(tmp_path, home)


def test_the_data_folder_is_private(library: Library) -> None:
    for words in (
        ("list",), ("timeline", library.one), ("restore", library.one, "before:2", "--yes"), ("undo", library.one, "--yes"),
        ("restore", library.two, "start", "--yes"), ("verify",), ("doctor",),
    ):  # fmt: skip
        assert library.call(*words).status == 0, words
    modes = {path.relative_to(library.data): path.stat().st_mode & 0o777 for path in library.data.rglob("*")}
    modes[Path(".")] = library.data.stat().st_mode & 0o777
    wide = {str(path): oct(mode) for path, mode in modes.items() if mode not in (0o700, 0o600)}
    assert wide == {}
    assert len(modes) > 30


@pytest.mark.parametrize("mode", [0o600, 0o755, 0o640, 0o666], ids=oct)
def test_a_file_comes_back_with_its_own_permissions(library: Library, mode: int) -> None:
    target = library.work / "one.txt"
    target.chmod(mode)
    assert library.call("restore", library.one, "before:2", "--scope", "files", "--yes").status == 0
    assert (target.read_text(), target.stat().st_mode & 0o777) == ("one 1\n", mode)
    assert library.call("restore", library.one, "start", "--scope", "files", "--yes").status == 0
    assert not target.exists()
    assert library.call("undo", library.one, "--yes").status == 0
    assert (target.read_text(), target.stat().st_mode & 0o777) == ("one 1\n", mode)
    assert library.call("undo", library.one, "--yes").status == 0
    assert (target.read_text(), target.stat().st_mode & 0o777) == ("one 2\n", mode)
