"""Lists, resolving, restores and their news, through the services, on real folders."""

import asyncio
import json
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest

from tests.helpers.program import tree
from tests.helpers.vaults import Library, chat_of, session
from vibekit_desktop.app.dirs import Dirs
from vibekit_desktop.app.wiring import Wired, build
from vibekit_desktop.core.api import Core
from vibekit_desktop.core.types import events
from vibekit_desktop.core.types.checkpoints import KEEP_MINE, BeforeTurn, RestorePlan, Scope, Start
from vibekit_desktop.core.types.errors import (
    ChatAmbiguous,
    ChatNotFound,
    PathEscape,
    PathRefused,
    PlanStale,
    WorkspaceRefused,
)
from vibekit_desktop.core.types.ids import ChatId

T = TypeVar("T")
KINDS = (
    events.ChatCreated, events.ChatUpdated, events.ChatDeleted, events.WorkspaceRestored, events.TranscriptChanged,
    events.RestoreProgressed, events.ImportProgressed, events.RestoreRecovered,
)  # fmt: skip


def run(library: Library, work: Callable[[Wired], Awaitable[T]]) -> T:
    async def inside() -> T:
        wired = build(Dirs(library.data), home=library.home)
        try:
            return await work(wired)
        finally:
            await wired.close()

    return asyncio.run(inside())


async def _plan(core: Core, chat: ChatId, turn: int, scope: Scope = Scope.BOTH) -> RestorePlan:
    return await core.checkpoints.plan_restore(chat, BeforeTurn(turn), paths=(), scope=scope, mine=KEEP_MINE)


def test_a_listed_vault_that_is_gone_or_unreadable_hides_no_chat(library: Library, tmp_path: Path) -> None:
    path = library.data / "library.json"
    listed = json.loads(path.read_text())
    loop = tmp_path / "loop"
    loop.symlink_to("loop")
    for folder in ("vaults/gone", str(tmp_path / "nowhere" / "vault"), str(loop), "library.json"):
        listed["vaults"].append({"id": f"id-{folder}", "folder": folder, "workspace": f"/nowhere/{len(listed['vaults'])}"})
    path.write_text(json.dumps(listed))

    async def work(wired: Wired) -> None:
        rows = await wired.core.chats.list()
        assert {row.id for row in rows} == {library.one, library.two, library.far}
        for chat in (library.one, library.far):
            assert (await wired.core.chats.open(chat)).messages
        report = await wired.core.library.verify(None)
        assert {(one.kind.value, one.path) for one in report.problems} >= {("vault", str(loop))}
        assert await wired.core.library.doctor()

    run(library, work)
    assert not (library.data / "vaults" / "gone").exists(), "looking makes nothing"


def test_a_chat_is_found_by_prefix_row_and_source(library: Library) -> None:
    async def work(wired: Wired) -> None:
        chats = wired.core.chats
        rows = await chats.list()
        assert await chats.resolve(library.one) == library.one
        assert await chats.resolve(library.one[:8]) == library.one
        for number, row in enumerate(rows, 1):
            assert await chats.resolve(f"@{number}") == row.id
        made = session(library.work, "one")
        assert await chats.resolve(f"claude-code:{made.session}") == library.one
        for text in ("@0", "@4", "@", "@x", "", library.one[:7], "claude-code:nobody", "other:x", "../x", "zzzzzzzzzz"):
            with pytest.raises(ChatNotFound):
                await chats.resolve(text)
        for copy in ("twin-chat-1", "twin-chat-2"):
            whole = json.loads((library.vault / "chats" / f"{library.one}.json").read_text())
            (library.vault / "chats" / f"{copy}.json").write_text(json.dumps(whole | {"id": copy}))
        with pytest.raises(ChatAmbiguous):
            await chats.resolve("twin-chat")
        assert await chats.resolve("twin-chat-2") == "twin-chat-2"

    run(library, work)


def test_equal_times_are_listed_by_id_and_archived_rows_apart(library: Library) -> None:
    async def work(wired: Wired) -> None:
        rows = await wired.core.chats.list()
        assert [(-row.updated_at, row.id) for row in rows] == sorted((-row.updated_at, row.id) for row in rows)
        assert len(await wired.core.chats.list(limit=2)) == 2
        here = await wired.core.chats.list(workspace=str(library.work))
        assert {row.id for row in here} == {library.one, library.two}
        assert await wired.core.chats.list(archived=True) == []

    run(library, work)


def test_news_come_after_the_change_in_order_and_name_the_chat(library: Library) -> None:
    """Whoever hears of a restore finds it done: files, log and transcript."""
    heard: list[tuple[str, ChatId]] = []

    async def work(wired: Wired) -> None:
        def hear(event: object) -> None:
            chat: ChatId = event.header.id if hasattr(event, "header") else event.chat  # type: ignore[attr-defined]  # any event
            heard.append((type(event).__name__, chat))
            if isinstance(event, events.WorkspaceRestored) and event.initiator == "me":
                assert (library.work / "one.txt").read_text() == "one 1\n"
                assert b"restore_done" in library.log(library.one).read_bytes()
            if isinstance(event, events.TranscriptChanged) and event.initiator == "me":
                assert event.messages == 2
            if isinstance(event, events.ChatCreated):
                assert (library.vault / "chats" / f"{event.header.id}.json").exists()

        for kind in KINDS:
            wired.bus.subscribe(kind, hear)
        plan = await _plan(wired.core, library.one, 2)
        assert heard == [], "a preview is no news"
        report = await wired.core.checkpoints.carry_out(plan, initiator="me")
        branch = report.branch_chat_id
        assert branch is not None
        news = [one for one in heard if one[0] != "RestoreProgressed"]
        assert news == [
            ("WorkspaceRestored", library.one),
            ("TranscriptChanged", library.one),
            ("ChatCreated", branch),
            ("ChatUpdated", library.one),
        ]
        assert ("RestoreProgressed", library.one) in heard
        heard.clear()
        with pytest.raises(PlanStale):
            await wired.core.checkpoints.carry_out(plan)
        assert heard == [], "what was refused is no news"
        await wired.core.checkpoints.carry_out(await wired.core.checkpoints.plan_undo(library.one, mine=KEEP_MINE))
        assert ("ChatDeleted", branch) in heard, "the branch whose turns came back is gone"
        assert heard.index(("WorkspaceRestored", library.one)) < heard.index(("ChatDeleted", branch))

    run(library, work)


def test_a_session_that_grew_is_read_before_timeline_plan_and_undo(library: Library) -> None:
    grown = session(library.work, "one", "a", "b", "c")

    async def work(wired: Wired) -> None:
        checkpoints = wired.core.checkpoints
        await checkpoints.carry_out(await _plan(wired.core, library.one, 2, Scope.FILES))
        grown.install(library.home)
        (library.work / "one.txt").write_text("one 3\n")
        timeline = await checkpoints.timeline(library.one)
        assert max(entry.turn for entry in timeline.entries) == 3
        plan = await checkpoints.plan_undo(library.one, mine=KEEP_MINE)
        assert [(file.path, file.action.value) for file in plan.files] == [("one.txt", "leave")], "turn 3 came after the entry"

    run(library, work)


def test_a_source_that_is_gone_or_no_file_leaves_the_chat_as_it_is(library: Library) -> None:
    (source,) = (path for path in library.home.rglob("*.jsonl") if session(library.work, "one").session in path.name)

    async def work(wired: Wired) -> None:
        before = (await wired.core.chats.open(library.one)).raw
        for make in (source.unlink, source.mkdir):
            make()
            assert (await wired.core.chats.open(library.one)).raw == before
            assert len((await wired.core.checkpoints.timeline(library.one)).entries) == 3
            await _plan(wired.core, library.one, 2)
        source.rmdir()
        source.write_bytes(b"")
        assert (await wired.core.chats.open(library.one)).raw == before

    run(library, work)


def test_a_lost_log_is_made_again_from_its_source(library: Library) -> None:
    whole = library.log(library.one).read_bytes()
    shutil.rmtree(library.log(library.one).parent)

    async def work(wired: Wired) -> None:
        timeline = await wired.core.checkpoints.timeline(library.one)
        assert [entry.turn for entry in timeline.entries] == [1, 2, 2]

    run(library, work)
    assert len(library.log(library.one).read_bytes().splitlines()) == len(whole.splitlines())


def test_our_own_data_is_no_workspace_and_is_never_touched_inside_one(library: Library, tmp_path: Path) -> None:
    """A session whose folder holds our data may name files there: they are left, whatever is asked."""
    made = session(tmp_path, "data/library", "evil")
    made.files[made.at("data/library.json")] = "{}"
    made.prompt("again")
    made.write("data/library.json", "{ }")
    made.write("harmless.txt", "x\n")
    made.end_turn("Done.")
    made.install(library.home)
    (tmp_path / "harmless.txt").write_text("x\n")
    inside = session(library.data / "vaults", "inside", "x")
    other = tmp_path / "inside.jsonl"
    other.write_text(inside.text())

    async def work(wired: Wired) -> None:
        chat = chat_of(made)
        plan = await wired.core.checkpoints.plan_restore(chat, Start(), paths=(), scope=Scope.FILES, mine=KEEP_MINE)
        actions = {file.path: (file.action.value, file.reason) for file in plan.files}
        assert actions["data/library.json"] == ("leave", "refused")
        assert actions["harmless.txt"] == ("delete", "")
        report = await wired.core.checkpoints.carry_out(plan)
        assert report.restored == ("harmless.txt",)
        for path, workspace in ((other, None), (other, library.data), (other, library.home), (other, Path("/"))):
            with pytest.raises(WorkspaceRefused):
                await wired.core.histories.import_path(path, workspace=workspace, agent=None)

    run(library, work)
    assert "vaults" in json.loads((library.data / "library.json").read_text())


def test_a_path_may_be_typed_in_every_spelling_that_means_it(library: Library, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(library.work)

    async def work(wired: Wired) -> None:
        at = wired.core.library.workspace_path
        work_path = str(library.work)
        for text in ("a/b.txt", f"{work_path}/a/b.txt", f"{tmp_path}/link/a/b.txt", "./a//b.txt", "a/x/../b.txt"):
            assert at(work_path, text) == "a/b.txt", text
        for text in ("../x", "/etc/passwd", "", ".", work_path, f"{tmp_path}/link", f"{tmp_path}/link/../x"):
            with pytest.raises(PathEscape):
                at(work_path, text)
        for text in (".git/config", f"{tmp_path}/link/.GIT/x", "a.vibekit-restore-1"):
            with pytest.raises(PathRefused):
                at(work_path, text)

    run(library, work)


def test_opening_a_folder_writes_nothing_in_it(library: Library, tmp_path: Path) -> None:
    folder = tmp_path / "dirty"
    (folder / ".git").mkdir(parents=True)
    (folder / "file").write_text("x")
    before = tree(folder)

    async def work(wired: Wired) -> None:
        assert await wired.core.library.open_folder(folder) == str(folder)
        assert (await wired.core.library.workspaces())[0] == str(folder)
        for refused in (library.home, library.data, Path("/")):
            with pytest.raises(WorkspaceRefused):
                await wired.core.library.open_folder(refused)

    run(library, work)
    assert tree(folder) == before
