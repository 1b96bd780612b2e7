"""Scenarios 85 to 103 of the specification: restore and checkout. Each test says which of them it shows."""

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from tests.core.checkpoint.scenarios.session import Session, killed_at
from tests.core.checkpoint.world import ALL_MINE, A, B, World
from tests.helpers.original import OriginalStore
from tests.helpers.original_log import Event
from vibekit_desktop.core.checkpoint import recover
from vibekit_desktop.core.checkpoint.plan import PlanRequest
from vibekit_desktop.core.disk import names
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.disk.locks import VaultLock
from vibekit_desktop.core.disk.workspace import Workspace
from vibekit_desktop.core.types.checkpoints import RestoreKind, Scope, parse_point
from vibekit_desktop.core.types.errors import CannotWrite, PathEscape, PlanStale, PointNotFound
from vibekit_desktop.core.types.ids import WorkspacePath, parse_workspace_path


def crash_at(world: World, step: str) -> None:
    """A restore of everything during which the program is killed, and begun again."""
    with killed_at(step):
        world.restore("before:1", scope=Scope.BOTH, mine=ALL_MINE)
    world.reopen()


def test_85_the_agents_file_goes_back_and_the_users_stays(session: Session) -> None:
    """The original cuts at the tag's count, 2; ours before the prompt, which goes into the composer."""
    world = session.world
    world.write("agent.txt", b"v1")
    session.turn({"agent.txt": b"v2"}, count=2)
    world.write("user.txt", b"mine")
    session.turn({"agent.txt": b"v3"}, count=4)
    plan = world.plan("1", scope=Scope.BOTH)
    assert session.counts() == {"1": 2, "2": 4}
    assert (plan.keep_messages, plan.next_prompt) == (1, "prompt 1")
    assert world.do(plan).restored == ("agent.txt",)
    assert world.disk() == {"agent.txt": b"v1", "user.txt": b"mine"}


def test_86_a_file_that_was_made_later_is_deleted(session: Session) -> None:
    session.turn({"f": b"new"})
    session.world.restore("1")
    assert session.world.disk() == {}


def test_87_a_file_that_was_deleted_after_its_capture_is_made_again(session: Session) -> None:
    world = session.world
    world.write("f", b"old")
    session.turn({"f": b"new"})
    world.write("f", None)
    session.turn({"f": b"again"})
    assert world.at("2", "f") is None
    world.restore("1")
    assert world.disk() == {"f": b"old"}


@pytest.mark.parametrize("tag", ["9", "1.1", "1.0", "01", "0.0"])
def test_88_an_unknown_tag_is_refused_by_restore_preview_and_checkout(session: Session, tag: str, tmp_path: Path) -> None:
    world = session.world
    session.turn({"f": b"1"})
    with pytest.raises(PointNotFound):
        world.restore(tag)
    with pytest.raises(PointNotFound):
        world.undo_file(tag, "f")
    with pytest.raises(PointNotFound):
        world.kernel.checkout(A, parse_point(tag), tmp_path / "out")
    assert world.disk() == {"f": b"1"}


def test_89_the_preview_lists_what_was_touched_at_the_tag_and_later(session: Session) -> None:
    session.turn({"a": b"1"})
    session.turn({"b": b"1"})
    assert session.world.actions(session.world.plan("1")) == {"a": "delete", "b": "delete"}
    assert session.world.actions(session.world.plan("2")) == {"b": "delete"}


@pytest.mark.parametrize("name", ["f.vibekit-restore", "f.vibekit-restore-0", "f.vibekit-restore-1"])
def test_90_a_link_planted_at_a_stage_name_leads_nowhere(session: Session, name: str) -> None:
    """Stage names are random and made exclusively; one that is there already is somebody's file."""
    world = session.world
    world.write("f", b"old")
    session.turn({"f": b"new"})
    outside = world.root.parent / "outside"
    (world.root / name).symlink_to(outside)
    world.restore("1")
    world.undo()
    world.undo_file("1", "f", mine=ALL_MINE)
    assert world.read("f") == b"old"
    assert not outside.exists()
    assert (world.root / name).is_symlink()


def test_91_no_stage_is_left(session: Session) -> None:
    world = session.world
    world.write("sub/f", b"old")
    session.turn({"sub/f": b"new", "sub/g": b"new"})
    world.restore("1")
    assert world.stages() == []
    for again in (world.undo, world.redo):
        again()
        assert world.stages() == []
        assert not (world.vault_folder / "desktop" / "staging").exists()


def test_92_the_stages_of_a_restore_that_never_began_are_taken_away(session: Session) -> None:
    """By name from the list, so that nothing that only looks like a stage is touched; deletions have none."""
    world = session.world
    world.write("f", b"old")
    session.turn({"f": b"new", "made": b"new"})
    world.write("x.vibekit-restore-7", b"somebody's file")
    crash_at(world, "restore.plan")
    assert len(world.stages()) == 2
    world.recover()
    assert world.stages() == ["x.vibekit-restore-7"]
    assert world.disk() == {"f": b"new", "made": b"new", "x.vibekit-restore-7": b"somebody's file"}


def test_93_renaming_a_stage_that_is_missing_is_an_error(tmp_path: Path) -> None:
    workspace = Workspace.open(Fs(), tmp_path)
    with pytest.raises(CannotWrite):
        workspace.put_in_place(WorkspacePath("f"), "f.vibekit-restore-1")


def test_94_a_restore_that_was_done_leaves_nothing_open_and_says_its_count(session: Session) -> None:
    """Nothing warns (a record of level warning would fail this test)."""
    world = session.world
    session.turn({"f": b"1"}, count=3)
    session.turn({"f": b"2"}, count=7)
    report = world.restore("2", scope=Scope.BOTH)
    assert (report.verified, report.failed, report.next_prompt) == (True, (), "prompt 2")
    assert world.kernel.unfinished() == []
    closing = world.vault.lines(A)[-1]
    assert (closing.type, closing.message_count) == ("restore_done", 6)
    assert session.counts() == {"1": 3, "2": 7}


def test_95_a_plan_that_is_written_down_is_open_until_it_is_closed(session: Session) -> None:
    world = session.world
    session.turn({"f": b"1"})
    crash_at(world, "restore.planned")
    assert world.kernel.unfinished() == [(A, recover.INTERRUPTED)]
    assert world.kernel.timeline(A).unfinished
    (report,) = world.recover()
    assert report.restored == ("f",)
    assert world.kernel.unfinished() == []
    assert world.vault.lines(A)[-1].type == "restore_done"


def test_96_an_interrupted_restore_of_ours_is_finished_and_one_of_the_originals_is_not(session: Session) -> None:
    """The original finishes its own in whatever call comes first, by its rule W1; we ask."""
    world = session.world
    world.write("f", b"0")
    session.turn({"f": b"1"})
    other = OriginalStore(world.vault_folder, world.root, world.clock)
    other.append(A, Event("restore_started", tag="1"))
    world.reopen()
    assert world.recover() == []
    assert world.kernel.unfinished() == [(A, recover.ORIGINAL)]
    assert world.disk() == {"f": b"1"}
    other.append(A, Event("restore_committed", tag="1"))
    crash_at(world, "restore.planned")
    world.recover()
    assert world.disk() == {"f": b"0"}


def test_97_one_of_the_originals_to_an_unknown_tag_blocks_no_reading_and_no_other_chat(session: Session) -> None:
    """The original fails every call of that chat from then on."""
    world = session.world
    session.turn({"f": b"1"})
    OriginalStore(world.vault_folder, world.root, world.clock).append(A, Event("restore_started", tag="99"))
    assert world.kernel.unfinished() == [(A, recover.ORIGINAL)]
    assert world.at("1", "f") is None
    assert world.actions(world.plan("1")) == {"f": "delete"}
    session.turn({"g": b"1"}, B)
    assert world.restore("1", B).restored == ("g",)


def test_98_two_chats_that_restore_one_file_do_it_one_after_the_other(session: Session) -> None:
    """Ours holds one lock a vault; who comes second is told that its preview is old, and asks again."""
    world = session.world
    world.write("f", b"old")
    session.turn({"f": b"by a"})
    session.turn({"f": b"by b"}, B)
    one, two = world.plan("1", mine=ALL_MINE), world.plan("1", B, mine=ALL_MINE)
    assert world.do(one).restored == ("f",)
    with pytest.raises(PlanStale):
        world.do(two)
    assert world.read("f") == b"old"
    world.restore("1", B, mine=ALL_MINE)
    assert world.read("f") == b"by a"
    assert world.stages() == []


def test_99_writes_and_restores_at_once_break_nothing(session: Session) -> None:
    world = session.world
    world.write("f", b"0")
    session.turn({"f": b"1"})
    failed: list[BaseException] = []

    def hammer(work: Session, *, restoring: bool) -> None:
        own = work.world
        try:
            for number in range(8):
                with VaultLock(own.fs, own.vault_folder).hold(30):
                    if restoring:
                        request = PlanRequest(RestoreKind.RESTORE, parse_point("1"), Scope.FILES, ALL_MINE, ())
                        own.kernel.carry_out(own.kernel.plan(A, request))
                    else:
                        own.kernel.recorder.write(A, WorkspacePath("f"), b"%d" % number, message_count=1)
        except BaseException as error:  # a thread's error must reach the test
            failed.append(error)

    threads = []
    for restoring in (False, True):
        twin = replace(session, world=_second(world))
        threads.append(threading.Thread(target=hammer, args=(twin,), kwargs={"restoring": restoring}))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    world.reopen()
    assert world.kernel.verify().problems == ()
    assert len(set(session.tags())) == len(session.tags()) == 9
    assert world.stages() == []


def _second(world: World) -> World:
    """Another process on the same folders."""
    twin = World.__new__(World)
    twin.__dict__.update(world.__dict__)
    twin.reopen()
    return twin


def test_100_a_restore_leaves_what_only_another_chat_wrote(session: Session) -> None:
    session.turn({"a": b"1"})
    session.turn({"b": b"1"}, B)
    assert session.world.restore("1").restored == ("a",)
    assert session.world.disk() == {"b": b"1"}


def test_101_a_checkout_of_one_of_two_files_changes_only_that(session: Session) -> None:
    for name in ("a", "b"):
        session.world.write(name, b"0")
    session.turn({"a": b"1", "b": b"1"})
    assert session.world.undo_file("1", "a").restored == ("a",)
    assert session.world.disk() == {"a": b"0", "b": b"1"}


def test_102_a_checkout_of_a_file_that_was_not_there_deletes_it(session: Session) -> None:
    session.turn({"a": b"1", "b": b"1"})
    session.world.undo_file("1", "b")
    assert session.world.disk() == {"a": b"1"}


@pytest.mark.parametrize("text", ["", ".", "..", "../x", "../../x", "a/../..", "/etc/passwd", "a\0b", "a/../../x"])
def test_103_a_path_that_leads_out_is_refused(text: str) -> None:
    with pytest.raises(PathEscape):
        parse_workspace_path(text)
    with pytest.raises(PathEscape):
        names.relative("/some/workspace", text)
