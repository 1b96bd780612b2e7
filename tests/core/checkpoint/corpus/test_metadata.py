"""Permission bits, read-only files and folders, links of every kind, empty folders, and what is no file at all."""

import errno
import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Clock
from tests.core.checkpoint.corpus.bench import Bench, Hand, picture
from tests.core.checkpoint.hooks import told
from tests.core.checkpoint.world import ALL_MINE
from tests.helpers.unsynced_fs import Unsynced
from vibekit_desktop.core.checkpoint.capture import Announced
from vibekit_desktop.core.types.errors import PathEscape, PathRefused


@pytest.fixture
def bench(either: Bench) -> Bench:
    """Who is told to have done it makes no difference here."""
    return either


# -- modes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [0o755, 0o700, 0o444, 0o600, 0o666, 0o777, 0o400])
def test_permission_bits(bench: Bench, mode: int) -> None:
    bench.world.write("edited", b"0", mode)
    bench.world.write("gone", b"0", mode)

    def act(one: Bench) -> None:
        one.write("edited", b"1")
        one.write("gone", None)
        one.write("made", b"2", mode)

    bench.whole_way(act, {"edited": "M", "gone": "D", "made": "A"})


def test_the_executable_bit_alone(bench: Bench) -> None:
    bench.world.write("on", b"#!/bin/sh\n", 0o644)
    bench.world.write("off", b"#!/bin/sh\n", 0o755)

    def act(one: Bench) -> None:
        for path, mode in (("on", 0o755), ("off", 0o644)):
            one.announce(path, Announced(mode=mode))
            (one.root / path).chmod(mode)

    bench.whole_way(act, {"on": "M", "off": "M"})


def test_a_script_rewritten_without_its_executable_bit(shell: Bench) -> None:
    shell.world.write("run", b"#!/bin/sh\n1\n", 0o755)

    def act(one: Bench) -> None:
        (one.root / "run").unlink()
        one.world.write("run", b"#!/bin/sh\n2\n", 0o644)

    shell.whole_way(act, {"run": "M"})


def test_the_bits_that_change_who_runs_a_file_never_come_back(shell: Bench) -> None:
    shell.world.write("suid", b"0")
    (shell.root / "suid").chmod(0o4755)
    with shell.turn():
        shell.write("suid", b"1")
    shell.restore()
    assert (shell.root / "suid").stat().st_mode & 0o7777 == 0o755


class Forbidding(Unsynced):
    """Nothing is made, renamed or removed in the folder that this inode is of."""

    def __init__(self) -> None:
        self.inode = 0

    def _check(self, dir_fd: int | None) -> None:
        if dir_fd is not None and os.fstat(dir_fd).st_ino == self.inode:
            raise OSError(errno.EACCES, os.strerror(errno.EACCES))

    def open(self, path: Path | str, flags: int, mode: int = 0o600, *, dir_fd: int | None = None) -> int:
        if flags & os.O_CREAT:
            self._check(dir_fd)
        return super().open(path, flags, mode, dir_fd=dir_fd)

    def move(self, old: Path | str, new: Path | str, *, dir_fd: int | None = None) -> None:
        self._check(dir_fd)
        super().move(old, new, dir_fd=dir_fd)

    def unlink(self, name: Path | str, *, dir_fd: int | None = None) -> None:
        self._check(dir_fd)
        super().unlink(name, dir_fd=dir_fd)


@pytest.mark.parametrize("hand", list(Hand))
def test_a_read_only_folder_leaves_its_files_says_so_and_keeps_nothing_else(tmp_path: Path, clock: Clock, hand: Hand) -> None:
    fs = Forbidding()
    bench = Bench(tmp_path, clock, hand, fs)
    bench.seed({"closed/edit": b"0", "closed/gone": b"0", "open/f": b"0"})
    with bench.turn():
        bench.write("closed/edit", b"1")
        bench.write("closed/gone", None)
        bench.write("closed/made", b"2")
        bench.write("open/f", b"1")
    fs.inode = (bench.root / "closed").stat().st_ino
    report = bench.world.restore("before:1", mine=ALL_MINE)
    assert report.restored == ("open/f",)
    assert {(one.path, one.reason) for one in report.failed} == {
        (f"closed/{name}", "cannot-write") for name in ("edit", "gone", "made")
    }
    assert bench.world.disk() == {"closed/edit": b"1", "closed/made": b"2", "open/f": b"0"}
    fs.inode = 0
    bench.restore()
    assert picture(bench.root) == bench.before, "once it is open, the rest goes back"
    bench.world.undo()
    bench.world.undo()
    assert picture(bench.root) == bench.after
    bench.is_quiet()


# -- links -------------------------------------------------------------------------------------------------------

LINKS = {
    "inside": "target",
    "a folder inside": "folder",
    "a path inside": "folder/../target",
    "outside": "../outside/secret",
    "an absolute path": "/etc/hostname",
    "the parent": "..",
    "itself": "link",
    "the root": ".",
    "nothing": "nowhere/at/all",
    "a name that is no UTF-8": os.fsdecode(b"caf\xe9"),
    "a long text": "x/" * 500 + "y",
}


def _link_seed(bench: Bench) -> Path:
    bench.seed({"target": b"t", "folder/f": b"f"})
    outside = bench.root.parent / "outside"
    outside.mkdir()
    (outside / "secret").write_bytes(b"secret")
    return outside


@pytest.mark.parametrize("text", LINKS.values(), ids=LINKS)
def test_links_are_texts(shell: Bench, text: str) -> None:
    """A link that is made, one that goes, one that is turned elsewhere, one for a file and back."""
    outside = _link_seed(shell)
    for name in ("gone", "turned", "link_to_file"):
        (shell.root / name).symlink_to(text)
    shell.seed({"file_to_link": b"file"})

    def act(one: Bench) -> None:
        (one.root / "made").symlink_to(text)
        for name in ("gone", "turned", "link_to_file", "file_to_link"):
            (one.root / name).unlink()
        (one.root / "turned").symlink_to("elsewhere")
        (one.root / "link_to_file").write_bytes(b"file")
        (one.root / "file_to_link").symlink_to(text)

    shell.whole_way(act, {"made": "A", "gone": "D", "turned": "M", "link_to_file": "M", "file_to_link": "M"})
    assert (outside / "secret").read_bytes() == b"secret"


def test_a_loop_of_two_links(shell: Bench) -> None:
    (shell.root / "a").symlink_to("b")

    def act(one: Bench) -> None:
        (one.root / "b").symlink_to("a")
        one.write("f", b"1")

    shell.whole_way(act, {"b": "A", "f": "A"})


def test_a_link_to_a_folder_takes_the_place_of_the_folder_and_leads_nobody_out(shell: Bench) -> None:
    outside = _link_seed(shell)

    def act(one: Bench) -> None:
        one.remove_folder("folder")
        (one.root / "folder").symlink_to(outside)

    with shell.turn():
        act(shell)
    shell.tells({"folder": "A", "folder/f": "D"})
    shell.goes_back_and_forth()
    assert {path.name: path.read_bytes() for path in outside.iterdir()} == {"secret": b"secret"}


def test_writing_through_a_link_inside_changes_the_file_it_leads_to(bench: Bench) -> None:
    _link_seed(bench)
    (bench.root / "link").symlink_to("target")

    def act(one: Bench) -> None:
        one.write("link", b"through the link")
        if one.hand is Hand.ANNOUNCED:
            one.announced.add("target")

    bench.whole_way(act, {"target": "M"})


@pytest.mark.parametrize("text", ["../outside/secret", "..", "link", "/etc/hostname"])
def test_writing_through_a_link_that_leads_out_is_refused(hooked: Bench, text: str) -> None:
    outside = _link_seed(hooked)
    (hooked.root / "link").symlink_to(text)
    hooked.hooks.begin()
    with pytest.raises((PathEscape, PathRefused)):
        hooked.announce("link", Announced(content=b"x"))
    with pytest.raises((PathEscape, PathRefused)):
        hooked.announce("link/x", Announced(content=b"x"))
    hooked.hooks.end()
    assert told(hooked.hooks and hooked.world.kernel.timeline("chat-a").entries[0].files) == {}
    assert {path.name: path.read_bytes() for path in outside.iterdir()} == {"secret": b"secret"}


def test_a_restore_never_goes_through_a_link_that_took_the_place_of_a_folder(bench: Bench) -> None:
    outside = _link_seed(bench)
    (outside / "f").write_bytes(b"theirs")
    with bench.turn():
        bench.write("folder/f", b"1")
        bench.write("target", b"1")
    (bench.root / "folder/f").unlink()
    (bench.root / "folder").rmdir()
    (bench.root / "folder").symlink_to(outside)
    report = bench.world.restore("before:1", mine=ALL_MINE)
    assert [(one.path, one.reason) for one in report.failed] == [("folder/f", "link-on-the-way")]
    assert bench.world.read("target") == b"t"
    assert {path.name: path.read_bytes() for path in outside.iterdir()} == {"secret": b"secret", "f": b"theirs"}


# -- hard links --------------------------------------------------------------------------------------------------


def test_hard_links_each_get_their_bytes_back(shell: Bench) -> None:
    shell.seed({"a": b"0"})
    os.link(shell.root / "a", shell.root / "b")
    shell.whole_way(lambda one: one.world.write("a", b"1"), {"a": "M", "b": "M"})


def test_a_hard_link_that_a_turn_makes_goes_alone(shell: Bench) -> None:
    shell.seed({"a": b"0"})
    shell.whole_way(lambda one: os.link(one.root / "a", one.root / "b"), {"b": "A"})


def test_a_hard_link_out_of_the_workspace_keeps_its_own_bytes(bench: Bench) -> None:
    """What is written back gets a file of its own: the other name, wherever it is, stays as it is."""
    outside = bench.root.parent / "outside"
    outside.write_bytes(b"0")
    os.link(outside, bench.root / "f")
    with bench.turn():
        bench.write("f", b"1")
    bench.tells({"f": "M"})
    assert [file.hard_linked for file in bench.world.plan("before:1", mine=ALL_MINE).files] == [True]
    bench.goes_back_and_forth()
    assert outside.read_bytes() == b"1"


def test_the_mode_of_a_hard_linked_file_changes_for_one_name_only(shell: Bench) -> None:
    outside = shell.root.parent / "outside"
    outside.write_bytes(b"0")
    outside.chmod(0o644)
    os.link(outside, shell.root / "f")
    with shell.turn():
        (shell.root / "f").chmod(0o755)
    shell.goes_back_and_forth()
    assert outside.stat().st_mode & 0o777 == 0o755


# -- folders -----------------------------------------------------------------------------------------------------


def test_empty_folders_come_and_go(shell: Bench) -> None:
    (shell.root / "gone").mkdir()
    (shell.root / "deep/er/still").mkdir(parents=True)

    def act(one: Bench) -> None:
        (one.root / "gone").rmdir()
        one.remove_folder("deep")
        (one.root / "made/in/here").mkdir(parents=True)

    with shell.turn():
        act(shell)
    assert shell.row().coverage.complete
    shell.goes_back_and_forth()


def test_a_folder_that_a_turn_empties_stays(bench: Bench) -> None:
    bench.seed({"d/only": b"0"})
    bench.whole_way(lambda one: one.write("d/only", None), {"d/only": "D"})


def test_a_folder_that_a_turn_made_stays_while_somebodys_file_is_in_it(bench: Bench) -> None:
    bench.seed({"f": b"0"})
    with bench.turn():
        bench.write("new/ours", b"1")
    bench.world.write("new/mine", b"by hand")
    report = bench.world.restore("before:1", mine=bench.mine())
    assert report.failed == ()
    assert bench.world.disk() == {"f": b"0", "new/mine": b"by hand"}
    bench.world.undo()
    assert bench.world.disk() == {"f": b"0", "new/mine": b"by hand", "new/ours": b"1"}


# -- what is no file ---------------------------------------------------------------------------------------------


def _socket(place: Path) -> None:
    here = os.getcwd()
    os.chdir(place.parent)  # the name of a socket may have a hundred bytes only
    try:
        made = socket.socket(socket.AF_UNIX)
        made.bind(place.name)
        made.close()
    finally:
        os.chdir(here)


SPECIAL = {"a FIFO": os.mkfifo, "a socket": _socket}
Make = Callable[[Path], None]


@pytest.mark.parametrize("make", SPECIAL.values(), ids=SPECIAL)
def test_what_is_no_file_is_neither_opened_nor_listed_nor_removed(bench: Bench, make: Make) -> None:
    bench.seed({"f": b"0"})
    make(bench.root / "there")
    with bench.turn():
        make(bench.root / "made")
        bench.write("f", b"1")
    bench.tells({"f": "M"})
    bench.restore()
    kinds = {path: kind for path, (kind, _, _) in picture(bench.root).items()}
    assert kinds.pop(b"f") == "file"
    assert set(kinds) == {b"there", b"made"}
    assert set(kinds.values()) < {"p", "s"}


@pytest.mark.parametrize("make", SPECIAL.values(), ids=SPECIAL)
def test_an_agent_cannot_write_what_is_no_file(hooked: Bench, make: Make) -> None:
    make(hooked.root / "there")
    hooked.hooks.begin()
    with pytest.raises(PathRefused):
        hooked.announce("there", Announced(content=b"x"))
    hooked.hooks.end()


@pytest.mark.parametrize("make", SPECIAL.values(), ids=SPECIAL)
def test_what_took_the_place_of_a_file_is_left_and_said(bench: Bench, make: Make) -> None:
    bench.seed({"f": b"0", "g": b"0"})
    with bench.turn():
        bench.write("f", b"1")
        bench.write("g", b"1")
    (bench.root / "f").unlink()
    make(bench.root / "f")
    report = bench.world.restore("before:1", mine=ALL_MINE)
    assert [(one.path, one.reason) for one in report.failed] == [("f", "not-regular")]
    assert bench.world.read("g") == b"0"
    assert bench.world.at("before:1", "f") == b"0", "its bytes are still to be had"


@pytest.mark.parametrize("make", SPECIAL.values(), ids=SPECIAL)
def test_a_file_that_gives_way_to_what_is_none_in_a_turn_is_not_lost(shell: Bench, make: Make) -> None:
    shell.seed({"f": b"0"})
    with shell.turn():
        (shell.root / "f").unlink()
        make(shell.root / "f")
    assert shell.world.at("before:1", "f") == b"0"
    report = shell.world.restore("before:1", mine=ALL_MINE)
    assert [(one.path, one.reason) for one in report.failed] == [("f", "not-regular")]
    (shell.root / "f").unlink()
    assert shell.world.restore("before:1", mine=ALL_MINE).failed == ()
    assert shell.world.read("f") == b"0"
