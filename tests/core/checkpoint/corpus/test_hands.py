"""Several hands: what a person, another chat or another process does before, between and after an agent's turns."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.core.checkpoint.corpus.bench import Bench, Hand, picture
from tests.core.checkpoint.hooks import row, told
from tests.core.checkpoint.world import ALL_MINE, A, B, World
from vibekit_desktop.core.disk.locks import VaultLock
from vibekit_desktop.core.types.checkpoints import EntryKind, Mine, Scope
from vibekit_desktop.core.types.errors import Busy, NothingToTakeBack, PlanStale, PointNotFound

# -- a person ----------------------------------------------------------------------------------------------------

EDITS: dict[str, tuple[str, bytes | None]] = {
    "edits what the agent edited": ("edited", b"hours of work"),
    "deletes what the agent edited": ("edited", None),
    "deletes what the agent made": ("made", None),
    "edits what the agent made": ("made", b"hours of work"),
    "makes again what the agent deleted": ("deleted", b"hours of work"),
    "makes again what the agent deleted, as it was": ("deleted", b"0"),
}


@pytest.mark.parametrize(("path", "data"), EDITS.values(), ids=EDITS)
def test_what_a_person_does_after_the_agent_stays_until_they_choose(bench: Bench, path: str, data: bytes | None) -> None:
    bench.seed({"edited": b"0", "deleted": b"0", "other": b"0"})
    with bench.turn():
        bench.write("edited", b"1")
        bench.write("made", b"1")
        bench.write("deleted", None)
        bench.write("other", b"1")
    bench.world.write(path, data)
    by_hand = picture(bench.root)
    there = bench.world.disk()
    plan = bench.world.plan("before:1")
    (file,) = [one for one in plan.files if one.path == path]
    assert (file.action.value, file.reason) in (("leave", "changed-since"), ("leave", "same"))
    if bench.hand is not Hand.NOBODY:
        report = bench.world.do(plan)
        assert report.failed == ()
        assert bench.world.read(path) == data
        assert bench.world.read("other") == b"0"
        bench.world.undo()
        assert picture(bench.root) == by_hand
    bench.world.restore("before:1", mine=Mine(restore_all=True))
    assert picture(bench.root) == bench.before
    bench.world.undo()
    assert bench.world.disk() == there
    assert picture(bench.root) == by_hand


def test_a_person_edits_between_two_turns_and_the_second_goes_back_to_their_edit(bench: Bench) -> None:
    bench.seed({"f": b"0"})
    with bench.turn():
        bench.write("f", b"1")
    bench.world.write("f", b"by hand")
    with bench.turn():
        bench.write("f", b"2")
    bench.tells({"f": "M"})
    kinds = [entry.kind for entry in bench.world.kernel.timeline(A).entries]
    assert kinds == [EntryKind.TURN, EntryKind.BETWEEN, EntryKind.TURN, EntryKind.NOW]
    bench.goes_back_and_forth()
    bench.restore()
    assert bench.world.read("f") == b"by hand"


def test_a_file_that_a_person_makes_where_an_agents_write_never_happened_is_theirs(hooked: Bench) -> None:
    hooked.hooks.begin()
    hooked.hooks.record("f", b"never written", do=False)
    hooked.hooks.end()
    hooked.world.write("f", b"by hand")
    hooked.world.restore("before:1")
    assert hooked.world.read("f") == b"by hand"


def test_a_file_that_a_person_made_after_the_agent_looked_for_it_is_theirs(hooked: Bench) -> None:
    """In the middle of the turn in which the agent wanted to write it."""
    hooked.hooks.begin()
    hooked.hooks.record("f", b"never written", do=False)
    hooked.world.write("f", b"by hand")
    hooked.hooks.end()
    hooked.world.restore("before:1")
    assert hooked.world.read("f") == b"by hand"


def test_what_was_gone_before_the_turn_is_not_brought_back_and_what_was_untouched_is_not_touched(bench: Bench) -> None:
    bench.seed({"f": b"0", "gone before": b"0", "untouched": b"0"})
    bench.hooks.begin()
    bench.hooks.end()
    bench.world.write("gone before", None)
    bench.world.write("untouched", b"uncommitted")
    with bench.turn():
        bench.write("f", b"1")
    stamp = (bench.root / "untouched").stat()
    bench.goes_back_and_forth()
    bench.restore()
    assert bench.world.disk() == {"f": b"0", "untouched": b"uncommitted"}
    now = (bench.root / "untouched").stat()
    assert (now.st_ino, now.st_mtime_ns, now.st_ctime_ns) == (stamp.st_ino, stamp.st_mtime_ns, stamp.st_ctime_ns)


def test_a_plan_that_a_person_saw_is_not_carried_out_once_they_changed_a_file(bench: Bench) -> None:
    bench.seed({"f": b"0"})
    with bench.turn():
        bench.write("f", b"1")
    plan = bench.world.plan("before:1", mine=ALL_MINE)
    bench.world.write("f", b"typed while the question was open")
    with pytest.raises(PlanStale):
        bench.world.do(plan)
    assert bench.world.read("f") == b"typed while the question was open"


def test_a_turn_that_changed_nothing_takes_nothing_back(bench: Bench) -> None:
    bench.seed({"f": b"unstaged work"})
    with bench.turn():
        pass
    before = {path: path.stat() for path in bench.root.rglob("*")}
    assert bench.world.restore("before:1", mine=ALL_MINE).entry == 0
    assert {path: path.stat() for path in bench.root.rglob("*")} == before


# -- another chat ------------------------------------------------------------------------------------------------


def test_what_a_second_chat_edited_since_is_left_and_named(hooked: Bench) -> None:
    hooked.seed({"shared": b"0", "of a": b"0", "of b": b"0"})
    with hooked.turn():
        hooked.write("shared", b"by a")
        hooked.write("of a", b"by a")
    hooked.hooks.begin(B)
    hooked.hooks.record("shared", b"by b", B)
    hooked.hooks.record("of b", b"by b", B)
    hooked.hooks.end(B)
    plan = hooked.world.plan("before:1")
    assert {file.path: (file.action.value, file.changed_by, file.also_by) for file in plan.files} == {
        "of a": ("write", None, ()),
        "shared": ("leave", B, (B,)),
    }
    hooked.world.do(plan)
    assert hooked.world.disk() == {"shared": b"by b", "of a": b"0", "of b": b"by b"}
    hooked.world.undo()
    assert hooked.world.disk() == {"shared": b"by b", "of a": b"by a", "of b": b"by b"}
    hooked.world.restore("before:1", B)
    assert hooked.world.disk() == {"shared": b"by a", "of a": b"by a", "of b": b"0"}


def test_a_second_chats_turn_inside_the_first_ones_is_its_own(hooked: Bench) -> None:
    hooked.seed({"f": b"0", "g": b"0"})
    hooked.hooks.begin(A)
    hooked.hooks.record("f", b"by a")
    hooked.hooks.begin(B)
    hooked.hooks.record("g", b"by b", B)
    hooked.world.write("nobody's", b"?")
    hooked.hooks.end(B)
    hooked.hooks.end(A)
    assert set(told(row(hooked.world, 1, A).files)) == {"f"}
    assert set(told(row(hooked.world, 1, B).files)) == {"g"}
    hooked.world.restore("before:1", A)
    assert hooked.world.disk() == {"f": b"0", "g": b"by b", "nobody's": b"?"}


def test_a_chat_never_takes_back_what_another_one_restored(hooked: Bench) -> None:
    hooked.seed({"f": b"0"})
    with hooked.turn():
        hooked.write("f", b"1")
    hooked.world.restore("before:1")
    hooked.hooks.begin(B)
    hooked.hooks.end(B)
    with pytest.raises(NothingToTakeBack):
        hooked.world.undo(B)
    assert hooked.world.plan("start", B).files == ()
    assert hooked.world.disk() == {"f": b"0"}


def test_deleting_a_chat_or_its_messages_touches_no_file(hooked: Bench) -> None:
    hooked.seed({"f": b"0"})
    with hooked.turn():
        hooked.write("f", b"1")
    with hooked.turn():
        hooked.write("f", b"2")
    hooked.world.restore("before:2", scope=Scope.CHAT)
    assert hooked.world.disk() == {"f": b"2"}
    hooked.world.kernel.retire(A)
    assert hooked.world.disk() == {"f": b"2"}


def test_without_its_log_a_chat_restores_nothing(bench: Bench) -> None:
    """The record of what is safe is gone: then nothing is, and nothing is guessed."""
    bench.seed({"f": b"0"})
    with bench.turn():
        bench.write("f", b"1")
    bench.world.log_path().unlink()
    bench.world.reopen()
    with pytest.raises(PointNotFound):
        bench.world.restore("before:1", mine=ALL_MINE)
    assert bench.world.disk() == {"f": b"1"}


# -- another process ---------------------------------------------------------------------------------------------

RESTORING = """
import sys
from pathlib import Path
from tests.conftest import Clock
from tests.helpers.unsynced_fs import Unsynced
from tests.core.checkpoint.world import ALL_MINE, A, Transcripts, World
from vibekit_desktop.core.disk import faults

world = World.__new__(World)
world.fs, world.clock, world.transcripts = Unsynced(), Clock(), Transcripts()
world.root, world.vault_folder = Path(sys.argv[1]), Path(sys.argv[2])
world.reopen()

def wait(name):
    if name == sys.argv[3]:
        print("here", flush=True)
        sys.stdin.readline()

with faults.armed(wait):
    world.restore("before:1", mine=ALL_MINE)
"""


@pytest.fixture
def restoring(hooked: Bench) -> Callable[[str], "subprocess.Popen[str]"]:
    """Another process that restores, and waits at a step."""
    hooked.seed({"a": b"0", "b": b"0"})
    with hooked.turn():
        hooked.write("a", b"1")
        hooked.write("b", b"1")
        hooked.write("c", b"1")

    def start(step: str) -> "subprocess.Popen[str]":
        command = [sys.executable, "-c", RESTORING, str(hooked.root), str(hooked.world.vault_folder), step]
        other = subprocess.Popen(
            command, cwd=Path(__file__).parents[4], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert other.stdout is not None
        assert other.stdout.readline() == "here\n"
        return other

    return start


def _lock(world: World) -> VaultLock:
    return VaultLock(world.fs, world.vault_folder)


STEPS = ["restore.plan", "target.rename", "restore.close"]


@pytest.mark.parametrize("step", STEPS)
def test_a_prompt_during_a_restore_waits_for_its_end(
    hooked: Bench, restoring: Callable[[str], "subprocess.Popen[str]"], step: str
) -> None:
    other = restoring(step)
    with pytest.raises(Busy, match=str(other.pid)), _lock(hooked.world).hold(0):
        pytest.fail("two processes change one vault")
    other.communicate("go on\n", timeout=60)
    assert other.returncode == 0
    assert picture(hooked.root) == hooked.before
    with _lock(hooked.world).hold(5):
        assert hooked.hooks.begin() == 2
        hooked.hooks.record("a", b"2")
        hooked.hooks.end()
    kinds = [line.type for line in hooked.hooks.lines()]
    assert kinds[kinds.index("restore_plan") :] == [
        "restore_plan", "observed", "observed", "observed", "restore_done", "turn_start", "snapshot", "turn_end",
    ]  # fmt: skip
    assert set(told(row(hooked.world, 2).files)) == {"a"}
    hooked.world.restore("before:2")
    assert picture(hooked.root) == hooked.before


@pytest.mark.parametrize("step", STEPS)
def test_a_prompt_after_a_restore_that_was_killed_finds_it_finished(
    hooked: Bench, restoring: Callable[[str], "subprocess.Popen[str]"], step: str
) -> None:
    other = restoring(step)
    other.kill()
    other.communicate(timeout=60)
    with _lock(hooked.world).hold(5):
        hooked.world.kernel.recover()
        assert picture(hooked.root) == (hooked.after if step == "restore.plan" else hooked.before)
        hooked.hooks.begin()
        hooked.hooks.end()
    assert row(hooked.world, 2).files == ()
    assert hooked.world.kernel.timeline(A).unfinished is False
    hooked.world.restore("before:1")
    assert picture(hooked.root) == hooked.before
    hooked.is_quiet()
