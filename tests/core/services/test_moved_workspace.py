"""A workspace that is not where it was is found again: all its chats go on there, and nothing is written in it."""

import json
import shutil
from pathlib import Path

import pytest

from tests.core.services.town import Town
from tests.helpers.program import tree
from vibekit_desktop.app.wiring import Wired
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.disk.locks import TurnLock
from vibekit_desktop.core.types.checkpoints import BeforeTurn, Mine
from vibekit_desktop.core.types.errors import Busy, WorkspaceMissing, WorkspaceRefused
from vibekit_desktop.core.types.events import WorkspaceMoved
from vibekit_desktop.core.types.ids import ChatId
from vibekit_desktop.core.types.moves import Likeness

ONE, TWO = ChatId("chat-0001"), ChatId("chat-0002")


@pytest.fixture
def moved(town: Town) -> Town:
    """Two chats, three files; then the folder has another name."""
    town.turn(ONE, "make", a="one\n", b="two\n")
    town.turn(TWO, "more", c="three\n")
    town.work.rename(town.folder / "elsewhere")
    return town


def look(town: Town, folder: Path) -> Likeness:
    return town.run(lambda wired: wired.core.library.look_at_move(str(town.work), folder))


def move(town: Town, folder: Path) -> str:
    return town.run(lambda wired: wired.core.library.move_workspace(str(town.work), folder))


def copied(town: Town) -> Path:
    """The same files in another folder, which is not the one that was moved."""
    place = town.folder / "copy"
    shutil.copytree(town.folder / "elsewhere", place)
    return place


def test_the_very_folder_under_another_name_needs_no_question_and_takes_all_its_chats(moved: Town) -> None:
    place = moved.folder / "elsewhere"
    (place / "a.txt").write_text("changed since\n")
    found = look(moved, place)
    assert (found.same, found.is_sure, found.alike, found.changed) == (True, True, 2, (moved.run_path("a.txt"),))
    before = tree(place)
    assert move(moved, place) == str(place)
    assert WorkspaceMoved(str(moved.work)) in moved.events
    assert tree(place) == before
    one = moved.run(lambda wired: wired.core.chats.open(ONE))
    two = moved.run(lambda wired: wired.core.chats.open(TWO))
    assert {(view.vault_workspace, view.workspace_found) for view in (one, two)} == {(str(place), True)}
    assert moved.run(lambda wired: wired.core.library.workspaces()) == [str(place)]
    assert str(moved.work) not in (moved.data / "library.json").read_text()
    assert str(moved.work) not in (moved.vault / "desktop" / "vault.json").read_text()


def test_what_is_put_back_afterwards_is_put_back_there(moved: Town) -> None:
    place = moved.folder / "elsewhere"
    move(moved, place)
    path = moved.run_path("c.txt")
    plan = moved.run(lambda wired: wired.core.checkpoints.plan_undo_file(TWO, BeforeTurn(1), path, mine=Mine()))
    moved.run(lambda wired: wired.core.checkpoints.carry_out(plan))
    assert not (place / "c.txt").exists()
    assert not moved.work.exists()


def test_a_copy_with_the_same_files_needs_no_question_and_one_that_differs_does(moved: Town) -> None:
    place = copied(moved)
    assert look(moved, place).is_sure
    (place / "a.txt").write_text("other\n")
    (place / "b.txt").unlink()
    found = look(moved, place)
    assert (found.is_sure, found.can_be, found.alike) == (False, True, 1)
    assert (found.changed, found.missing) == ((moved.run_path("a.txt"),), (moved.run_path("b.txt"),))
    assert move(moved, place) == str(place)


def test_a_folder_in_which_none_of_its_files_is_cannot_be_it(moved: Town) -> None:
    place = moved.folder / "empty"
    place.mkdir()
    assert not look(moved, place).can_be
    before = (moved.data / "library.json").read_bytes()
    with pytest.raises(WorkspaceRefused) as refused:
        move(moved, place)
    assert refused.value.reason == "not-alike"
    assert (moved.data / "library.json").read_bytes() == before


def test_no_folder_the_home_our_own_data_and_another_workspace_are_refused(moved: Town) -> None:
    with pytest.raises(WorkspaceMissing):
        look(moved, moved.folder / "nowhere")
    for folder, reason in ((moved.home, "home"), (moved.data, "own-data"), (Path("/"), "root")):
        with pytest.raises(WorkspaceRefused) as refused:
            look(moved, folder)
        assert refused.value.reason == reason
    other = copied(moved)

    async def begin(wired: Wired) -> None:
        turns = wired.core.turns
        await turns.begin(ChatId("chat-0003"), workspace=other, agent="Agent", prompt="go")
        await turns.end(ChatId("chat-0003"), answer="done")

    moved.run(begin)
    with pytest.raises(WorkspaceRefused) as refused:
        look(moved, other)
    assert refused.value.reason == "has-chats"


def test_a_folder_that_was_only_opened_is_no_other_workspace_and_leaves_the_list(moved: Town) -> None:
    place = moved.folder / "elsewhere"
    moved.run(lambda wired: wired.core.library.open_folder(place))
    assert look(moved, place).is_sure
    move(moved, place)
    (entry,) = json.loads((moved.data / "library.json").read_text())["vaults"]
    assert entry["workspace"] == str(place)
    (moved.data / "library.json").unlink()
    assert moved.run(lambda wired: wired.core.library.workspaces()) == [str(place)], "each vault says itself whose it is"


def test_a_workspace_that_is_where_it_was_is_not_moved(moved: Town) -> None:
    place = copied(moved)
    (moved.folder / "elsewhere").rename(moved.work)
    with pytest.raises(WorkspaceRefused) as refused:
        move(moved, place)
    assert refused.value.reason == "not-missing"


def test_while_a_turn_runs_nothing_moves(moved: Town) -> None:
    place = moved.folder / "elsewhere"

    async def work(wired: Wired) -> None:
        with TurnLock(Fs(), moved.vault / "desktop", ONE).hold(2):
            await wired.core.library.move_workspace(str(moved.work), place)

    with pytest.raises(Busy):
        moved.run(work)


@pytest.mark.parametrize("number", range(1, 8))
def test_a_crash_inside_leaves_the_former_place_or_the_new_one(moved: Town, number: int) -> None:
    place = moved.folder / "elsewhere"
    work = str(moved.work)
    died = moved.dies_at(number, lambda wired: wired.core.library.move_workspace(work, place))
    workspaces = moved.run(lambda wired: wired.core.library.workspaces())
    assert workspaces in ([work], [str(place)])
    if not died:
        assert workspaces == [str(place)]
    if workspaces == [work]:
        assert move(moved, place) == str(place)
