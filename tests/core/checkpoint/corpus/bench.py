"""The bench of the corpus: one turn on a real folder, by three kinds of hands, and what must be true of it afterwards.

Every test seeds a folder, lets a turn change it, and asks for the whole way: the timeline tells it, the coverage is right, a
restore gives the seed back to the byte, undo and redo go to and fro, and nothing is left behind.
"""

import os
import stat as stat_bits
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path

from tests.conftest import Clock
from tests.core.checkpoint.hooks import Hooks, row, told
from tests.core.checkpoint.world import ALL_MINE, A, World
from tests.helpers.unsynced_fs import Unsynced
from vibekit_desktop.core.checkpoint.capture import Announced
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.disk.names import is_stage_name
from vibekit_desktop.core.types.checkpoints import KEEP_MINE, Coverage, Mine, RestoreReport, TimelineEntry
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath

Thing = tuple[str, int, bytes]
"""Kind, permission bits (of files only: nobody records those of folders), and bytes or the text of a link."""


class Hand(StrEnum):
    """How a turn changes files: the hook announces each write; a command is reported; nobody says anything."""

    ANNOUNCED = "announced"
    COMMAND = "command"
    NOBODY = "nobody"


_TOLD = {
    Hand.ANNOUNCED: ("agent", "announced"),
    Hand.COMMAND: ("command", "scan"),
    Hand.NOBODY: ("unknown", "scan"),
}


def picture(root: Path, *, git: bool = False) -> dict[bytes, Thing]:
    """Everything below a folder by its exact name: links not followed, what is no file not opened. ``git``: also what is in
    ``.git``."""
    found: dict[bytes, Thing] = {}
    top = os.fsencode(root)
    for folder, below, files in os.walk(top):
        if not git:
            below[:] = [name for name in below if name != b".git"]
        for name in (*below, *files):
            place = os.path.join(folder, name)
            found[os.path.relpath(place, top)] = _thing(place)
    return found


def _thing(place: bytes) -> Thing:
    mode = os.lstat(place).st_mode
    if stat_bits.S_ISLNK(mode):
        return "link", 0, os.readlink(place)
    if stat_bits.S_ISDIR(mode):
        return "folder", 0, b""
    if not stat_bits.S_ISREG(mode):
        return stat_bits.filemode(mode)[0], 0, b""
    with open(place, "rb") as file:
        return "file", stat_bits.S_IMODE(mode), file.read()


class Bench:
    """One folder and a chat whose turns change it. ``announced``: the paths that the hook spoke of in the last turn."""

    def __init__(self, folder: Path, clock: Clock, hand: Hand = Hand.COMMAND, fs: Fs | None = None) -> None:
        self.world = World(folder, clock, fs or Unsynced())
        self.hooks = Hooks(self.world)
        self.hand = hand
        self.announced: set[str] = set()
        self.before: dict[bytes, Thing] = {}
        self.after: dict[bytes, Thing] = {}
        self.number = 0

    @property
    def root(self) -> Path:
        return self.world.root

    def seed(self, files: Mapping[str, bytes]) -> None:
        """What was there before the first turn."""
        for path, data in files.items():
            self.world.write(path, data)

    # -- inside a turn -------------------------------------------------------------------------------------------

    @contextmanager
    def turn(self, chat: ChatId = A) -> Iterator[None]:
        """What is done in the block is done in a turn, by the hand of this bench."""
        self.announced = set()
        self.before = picture(self.root)
        self.number = self.hooks.begin(chat)
        if self.hand is Hand.COMMAND:
            self.world.kernel.recorder.begin_command(chat)
        yield
        if self.hand is Hand.COMMAND:
            self.world.kernel.recorder.end_command(chat)
        self.hooks.end(chat)
        self.after = picture(self.root)

    def announce(self, path: str, announced: Announced) -> None:
        """What the hook says before a write, where there is one."""
        if self.hand is Hand.ANNOUNCED:
            self.announced.add(path)
            self.world.kernel.recorder.capture(A, WorkspacePath(path), announced, message_count=1)

    def write(self, path: str, data: bytes | None, mode: int | None = None) -> None:
        """The agent writes a file, or deletes it."""
        self.announce(path, Announced(content=data, deleted=data is None, mode=mode))
        self.world.write(path, data, mode)

    def move(self, old: str, new: str) -> None:
        """The agent renames a file."""
        if self.hand is Hand.ANNOUNCED:
            self.announced |= {old, new}
            self.world.kernel.recorder.capture_rename(A, WorkspacePath(old), WorkspacePath(new), message_count=1)
        (self.root / new).parent.mkdir(parents=True, exist_ok=True)
        (self.root / old).rename(self.root / new)

    def remove_folder(self, path: str) -> None:
        """The agent deletes a whole folder."""
        if self.hand is Hand.ANNOUNCED:
            below = (self.root / path).rglob("*")
            self.announced |= {one.relative_to(self.root).as_posix() for one in below if not one.is_dir()}
            self.world.kernel.recorder.capture(A, WorkspacePath(path), Announced(deleted=True), message_count=1)
        for folder, folders, files in os.walk(self.root / path, topdown=False):
            for name in files:
                Path(folder, name).unlink()
            for name in folders:
                below_it = Path(folder, name)
                below_it.unlink() if below_it.is_symlink() else below_it.rmdir()
        (self.root / path).rmdir()

    # -- afterwards ----------------------------------------------------------------------------------------------

    def row(self) -> TimelineEntry:
        return row(self.world, self.number)

    def tells(self, expected: Mapping[str, str], coverage: Coverage | None = None) -> None:
        """The timeline has these paths with these letters, each by the hand that did it, and the coverage is complete, or
        ``coverage``."""
        entry = self.row()
        found = told(entry.files)
        assert {path: status for path, (status, _, _) in found.items()} == dict(expected)
        for path, (_, author, how) in found.items():
            spoken_of = self.hand is not Hand.ANNOUNCED or path in self.announced
            assert (author, how) == _TOLD[self.hand if spoken_of else Hand.NOBODY], path
        assert entry.coverage == (Coverage(complete=True) if coverage is None else coverage)

    def mine(self) -> Mine:
        """What a person must choose so that everything goes back: nothing, unless nobody knows whose some of it is."""
        plan = self.world.plan(f"before:{self.number}")
        left = {file.path: file.reason for file in plan.files if file.action.value == "leave" and file.reason != "same"}
        if self.hand is Hand.NOBODY:
            assert {file.path for file in plan.files if file.reason != "same"} == left.keys(), "what may be a person's is left"
        assert set(left.values()) <= {"changed-since", "file-on-the-way", "not-empty"}, left
        return ALL_MINE if left else KEEP_MINE

    def restore(self) -> RestoreReport:
        """Everything goes back to before the turn."""
        report = self.world.restore(f"before:{self.number}", mine=self.mine())
        assert report.verified
        assert report.failed == ()
        return report

    def goes_back_and_forth(self) -> None:
        """Restore, undo, redo, undo: the seed and the turn's result, each to the byte; and then all is quiet."""
        self.restore()
        assert picture(self.root) == self.before
        for step, wanted in ((self.world.undo, self.after), (self.world.redo, self.before), (self.world.undo, self.after)):
            report = step()
            assert report.failed == ()
            assert report.verified
            assert picture(self.root) == wanted
        self.is_quiet()

    def is_quiet(self) -> None:
        """Nothing is left behind, and a turn in which nothing happens tells nothing."""
        world = self.world
        assert not [name for _, folders, files in os.walk(self.root) for name in (*folders, *files) if is_stage_name(name)]
        assert not (world.vault_folder / "desktop/staging").exists()
        assert not list(world.vault_folder.rglob(".vibekit-temp-*"))
        assert world.kernel.verify().problems == ()
        lines = len(self.hooks.lines())
        self.hooks.begin()
        self.hooks.end()
        assert [line.type for line in self.hooks.lines()[lines:]] == ["turn_start", "turn_end"]

    def whole_way(self, act: Callable[["Bench"], object], expected: Mapping[str, str]) -> None:
        """A turn that does ``act``, and everything that must be true of it."""
        with self.turn():
            act(self)
        self.tells(expected)
        self.goes_back_and_forth()
