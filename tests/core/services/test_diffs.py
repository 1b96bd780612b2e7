"""Diffs between points of a chat: renames, kinds of files, and what is compared; colours that are remembered."""

import asyncio
import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.core.services.town import Town
from vibekit_desktop.app.wiring import Wired
from vibekit_desktop.core.checkpoint.kernel import CheckpointKernel
from vibekit_desktop.core.diff.renames import LARGEST
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.services import colours as module
from vibekit_desktop.core.services import contents, diffs
from vibekit_desktop.core.services.colours import Colours
from vibekit_desktop.core.services.vaults import OpenVault
from vibekit_desktop.core.types.checkpoints import AfterTurn, BeforeTurn, FileState, Now, Start
from vibekit_desktop.core.types.diffs import (
    EXACT,
    BinaryPair,
    Compare,
    DiffDocument,
    DiffNote,
    DiffRequest,
    FileDiff,
    Identical,
    Ignore,
    Note,
    StyleRuns,
    Unreadable,
)
from vibekit_desktop.core.types.errors import NotKnownThere, WorkerDied
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath, parse_workspace_path
from vibekit_desktop.core.worker.pool import WorkerPool

TEXT = "".join(f"line {number} of it\n" for number in range(20))


def change(town: Town, files: dict[str, bytes | None], links: dict[str, str] | None = None) -> ChatId:
    """One turn in which these files and links come, change or go; the chat."""

    async def work(wired: Wired) -> ChatId:
        turns = wired.core.turns
        await turns.begin("diffs", workspace=town.work, agent="Agent", prompt="go")
        for name, data in files.items():
            path = town.work / name
            await turns.record("diffs", name, content=data, deleted=data is None, mode=None)
            path.unlink(missing_ok=True)
            if data is not None:
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(data)
        for name, to in (links or {}).items():
            await turns.record("diffs", name, content=None, deleted=False, mode=None)
            (town.work / name).unlink(missing_ok=True)
            (town.work / name).symlink_to(to)
        await turns.end("diffs", answer="done")
        return await wired.core.chats.resolve("diffs")

    found = town.run(work)
    town.clock.advance(1000)
    return found


def diffs_of(town: Town, chat: ChatId, compare: Compare = EXACT) -> dict[str, FileDiff]:
    found = town.run(lambda wired: wired.core.diffs.files(chat, Start(), Now(), (), compare=compare))
    return {str(diff.request.path): diff for diff in found}


def applied(
    town: Town, folder: Path, chat: ChatId, before: dict[str, bytes], compare: Compare = EXACT, *, only: str = ""
) -> dict[str, bytes]:
    """What ``git apply`` makes of the files with the chat's patch. ``only``: of one file."""
    paths = [WorkspacePath(only)] if only else []
    patch = town.run(lambda wired: wired.core.diffs.patch(chat, Start(), Now(), paths, compare=compare))
    folder.mkdir()
    for name, data in before.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(data)
    run = subprocess.run(
        ["git", "apply", "--whitespace=nowarn", "-"], cwd=folder, input=patch, capture_output=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


GIT = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@GIT
def test_a_renamed_file_is_one_file_with_its_old_name(town: Town, tmp_path: Path) -> None:
    old = TEXT.encode()
    new = old.replace(b"line 3 ", b"line three ")
    town.work.joinpath("a.py").write_bytes(old)
    chat = change(town, {"a.py": None, "src/b.py": new})
    found = diffs_of(town, chat)
    assert list(found) == ["src/b.py"]
    diff = found["src/b.py"]
    assert diff.request.old_path == "a.py"
    assert isinstance(diff.result, DiffDocument)
    assert diff.result.notes[0] == DiffNote(Note.RENAME, "a.py", "src/b.py")
    assert (diff.result.lines_added, diff.result.lines_removed) == (1, 1)
    again = town.run(lambda wired: wired.core.diffs.file(diff.request))
    assert again == diff
    assert town.run(lambda wired: wired.core.diffs.sides(diff.request)) == (old, new)
    assert applied(town, tmp_path / "there", chat, {"a.py": old}) == {"src/b.py": new}


def test_a_renamed_file_that_is_asked_for_alone_has_its_old_name_too(town: Town, tmp_path: Path) -> None:
    old = TEXT.encode()
    before = {"a.py": old, "d/f": old * 2, "other": b"x\n"}
    for name, data in before.items():
        town.work.joinpath(name).parent.mkdir(exist_ok=True)
        town.work.joinpath(name).write_bytes(data)
    chat = change(town, {"a.py": None, "b.py": old + b"end\n", "other": None, "d/f": None})
    town.work.joinpath("d").rmdir()
    change(town, {"d": old * 2})

    def only(*names: str) -> dict[str, str | None]:
        paths = [WorkspacePath(name) for name in names]
        found = town.run(lambda wired: wired.core.diffs.files(chat, Start(), Now(), paths))
        return {diff.request.path: diff.request.old_path for diff in found}

    assert only() == {"b.py": "a.py", "d": "d/f", "other": None}
    assert only("b.py") == {"b.py": "a.py"}
    assert only("d", "other") == {"d": "d/f", "other": None}
    assert only("a.py") == {"a.py": None}, "by the old name alone it went"
    assert only("a.py", "d") == {"a.py": None, "d": "d/f"}
    for number, name in enumerate(("b.py", "d")):
        made = applied(town, tmp_path / str(number), chat, before, only=name)
        assert made == {path: data for path, data in before.items() if path != only()[name]} | {
            name: town.work.joinpath(name).read_bytes()
        }
    change(town, {"c.py": old})
    assert only() == {"b.py": None, "c.py": "a.py", "d": "d/f", "other": None}
    assert only("b.py") == {"b.py": None}, "it is what it is among all of them"


def test_a_file_that_was_only_renamed_is_identical(town: Town) -> None:
    town.work.joinpath("a").write_text(TEXT)
    town.work.joinpath("other").write_text("x\n")
    chat = change(town, {"a": None, "b": TEXT.encode(), "other": b"y\n"})
    found = diffs_of(town, chat)
    assert list(found) == ["b", "other"]
    assert found["b"].result == Identical(len(TEXT), (DiffNote(Note.RENAME, "a", "b"),))


def test_files_that_share_nothing_came_and_went(town: Town) -> None:
    town.work.joinpath("a").write_text(TEXT)
    chat = change(town, {"a": None, "b": b"something else\n"})
    found = diffs_of(town, chat)
    assert [(name, diff.request.old_path) for name, diff in found.items()] == [("a", None), ("b", None)]


def test_a_file_that_became_a_link_is_told(town: Town) -> None:
    town.work.joinpath("a").write_text("target")
    chat = change(town, {}, {"a": "target"})
    diff = diffs_of(town, chat)["a"]
    assert isinstance(diff.result, Identical)
    assert DiffNote(Note.TYPE, "file", "link") in diff.result.notes


def test_kinds_of_files_are_told(town: Town) -> None:
    chat = change(town, {"go.sum": b"a\n", "logo.png": b"\x89PNG\r\n\x1a\n\0", "plain.py": b"a = 1\n"})
    found = diffs_of(town, chat)
    assert {name: diff.generated for name, diff in found.items()} == {"go.sum": "lock", "logo.png": "", "plain.py": ""}
    assert found["logo.png"].result == BinaryPair(None, 9, new_image=True)


def test_what_did_not_change_is_not_compared_again(town: Town) -> None:
    """A review follows the disk: looking at it again costs what changed, not what there is."""
    chat = change(town, {"a": b"one\n", "b": b"one\n", "c": b"one\n"})

    async def work(wired: Wired) -> None:
        async def look(compare: Compare = EXACT) -> list[FileDiff]:
            return list(await wired.core.diffs.files(chat, Start(), Now(), (), compare=compare))

        first = await look()
        again = await look()
        assert [one is other for one, other in zip(first, again, strict=True)] == [True, True, True]
        town.work.joinpath("b").write_bytes(b"one\ntwo\n")
        town.work.joinpath("c").unlink()
        later = await look()
        assert [str(one.request.path) for one in later] == ["a", "b"]
        assert later[0] is first[0]
        assert isinstance(later[1].result, DiffDocument)
        assert later[1].result.lines_added == 2
        town.work.joinpath("b").write_bytes(b"one\n")
        assert (await look())[1] == first[1]
        assert (await look(Compare(Ignore.ALL)))[0].request.compare == Compare(Ignore.ALL)

    town.run(work)


def test_only_what_is_shown_and_is_not_known_is_read(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    """A list of one file costs that file, however much came and went beside it; the next list costs what changed."""
    town.work.joinpath("old").write_text(TEXT)
    chat = change(town, {"old": None, "new": TEXT.encode(), "a": b"one\n", "b": b"one\n", "large": b"x\n" * LARGEST})
    read: list[str] = []

    def content_of(
        vault: OpenVault, kernel: CheckpointKernel, path: WorkspacePath, state: FileState
    ) -> bytes | contents.Missing | None:
        if state.has_content:
            read.append(path)
        return whole(vault, kernel, path, state)

    whole = contents.content_of
    for one in (contents, diffs):
        monkeypatch.setattr(one, "content_of", content_of)

    async def work(wired: Wired) -> None:
        async def look(*paths: str) -> list[str]:
            read.clear()
            await wired.core.diffs.files(chat, Start(), Now(), [WorkspacePath(path) for path in paths])
            return sorted(read)

        assert await look("a") == ["a"]
        assert await look("new") == ["new", "old"]
        assert await look() == ["a", "b", "large", "new", "old"]
        assert await look() == []
        town.work.joinpath("b").write_bytes(b"one\ntwo\n")
        assert await look() == ["b"]

    town.run(work)


def test_a_side_that_could_not_be_read_is_read_again(town: Town) -> None:
    change(town, {"a": b"one\n"})
    chat = change(town, {"a": b"two\n"})

    async def work(wired: Wired) -> None:
        async def look() -> FileDiff:
            (found,) = await wired.core.diffs.files(chat, AfterTurn(1), Now(), ())
            return found

        sha = hashlib.sha256(b"one\n").hexdigest()
        (blob,) = [path for path in town.data.rglob("*") if path.is_file() and sha.endswith(path.name)]
        data = blob.read_bytes()
        blob.unlink()
        assert isinstance((await look()).result, Unreadable)
        blob.write_bytes(data)
        assert isinstance((await look()).result, DiffDocument)

    town.run(work)


@GIT
def test_a_patch_leaves_out_what_is_ignored(town: Town, tmp_path: Path) -> None:
    old, new = b"if a:\n  b()\n  c()\n", b"if a:\n    b()\n    d()\n"
    town.work.joinpath("a.py").write_bytes(old)
    chat = change(town, {"a.py": new})
    assert applied(town, tmp_path / "all", chat, {"a.py": old}) == {"a.py": new}
    some = applied(town, tmp_path / "some", chat, {"a.py": old}, Compare(Ignore.ALL))
    assert some == {"a.py": b"if a:\n  b()\n    d()\n"}
    assert isinstance(found := diffs_of(town, chat, Compare(Ignore.ALL))["a.py"].result, DiffDocument)
    assert (found.lines_added, found.lines_removed) == (1, 1)


def test_sides_that_are_not_known_are_refused(town: Town) -> None:
    chat = change(town, {"a": b"1\n"})
    (town.work / "pipe").mkdir()

    async def ask(wired: Wired, path: WorkspacePath, *points: object) -> tuple[bytes | None, bytes | None]:
        return await wired.core.diffs.sides(DiffRequest(chat, path, *points))  # type: ignore[arg-type]  # two points

    path = parse_workspace_path("a")
    assert town.run(lambda wired: ask(wired, path, BeforeTurn(1), AfterTurn(1))) == (None, b"1\n")
    (blob,) = town.vault.glob("snapshots/blobs/*/*")
    blob.unlink()
    (town.work / "a").write_bytes(b"2\n")
    with pytest.raises(NotKnownThere):
        town.run(lambda wired: ask(wired, path, BeforeTurn(1), AfterTurn(1)))
    with pytest.raises(NotKnownThere):
        town.run(lambda wired: ask(wired, path, AfterTurn(1), Now()))


def test_a_part_has_the_colours_of_the_whole(town: Town) -> None:
    lines = [f"def name_{number}(a): return 'text'" for number in range(1_000)]

    async def work(wired: Wired) -> None:
        whole = await wired.core.diffs.highlight("a.py", lines)
        assert whole is not None
        for first, last in ((0, 40), (250, 300), (700, 760), (990, 2_000)):
            part = await wired.core.diffs.highlight_part("a.py", lines, first, last)
            assert part is not None
            assert colours(part, 0) == colours(whole, first)
            assert len(part.offsets) == min(last, 999) - first + 2
        assert await wired.core.diffs.highlight_part("a.py", lines, 5, 4) is None
        assert await wired.core.diffs.highlight_part("a.nothing", lines, 0, 4) is None
        assert await wired.core.diffs.highlight("a.py", ["x" * (3 << 20)]) is None

    town.run(work)
    assert list((town.data / "cache" / "highlight").iterdir())


def colours(runs: StyleRuns, line: int) -> list[tuple[int, int]]:
    first, end = runs.offsets[line], runs.offsets[line + 1]
    return list(zip(runs.starts[first:end], runs.kinds[first:end], strict=True))


LINES = [f"x_{number} = {number}  # a line" for number in range(300)]


def ask(folder: Path, *texts: tuple[str, list[str]], pool: WorkerPool | None = None) -> list[StyleRuns | None]:
    async def work() -> list[StyleRuns | None]:
        worker = pool or WorkerPool()
        try:
            known = Colours(Fs(), folder, worker)
            return [await known.whole(path, lines) for path, lines in texts]
        finally:
            await worker.close()

    return asyncio.run(work())


NO_WORKER = ["/nowhere"]


def test_colours_are_remembered_in_memory_and_in_a_folder(tmp_path: Path) -> None:
    first, second = ask(tmp_path / "kept", ("a.py", LINES), ("b/a.py", LINES))
    assert first is second is not None
    (again,) = ask(tmp_path / "kept", ("a.py", LINES), pool=WorkerPool(argv=NO_WORKER))
    assert again == first
    with pytest.raises(WorkerDied):
        ask(tmp_path / "kept", ("a.js", LINES), pool=WorkerPool(argv=NO_WORKER))


def test_a_damaged_file_is_coloured_again(tmp_path: Path) -> None:
    (first,) = ask(tmp_path, ("a.py", LINES))
    (file,) = tmp_path.iterdir()
    good = file.read_bytes()
    for bad in (b"", b"nothing of ours", good[:-9]):
        file.write_bytes(bad)
        assert ask(tmp_path, ("a.py", LINES)) == [first]
    other = [*LINES, ""]
    ask(tmp_path, ("a.py", other))
    (another,) = (one for one in tmp_path.iterdir() if one != file)
    file.write_bytes(another.read_bytes())
    assert ask(tmp_path, ("a.py", LINES)) == [first]


def test_the_folder_and_the_memory_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FOLDER_FILES", 4)
    monkeypatch.setattr(module, "MEMORY_BYTES", 5_000)
    texts = [("a.py", [*LINES, str(number)]) for number in range(7)]
    assert None not in ask(tmp_path, *texts, texts[0])
    assert len(list(tmp_path.iterdir())) <= 4
    monkeypatch.setattr(module, "LARGEST_FILE", 10)
    ask(tmp_path, ("a.py", [*LINES, "more"]))
    assert len(list(tmp_path.iterdir())) <= 4


def test_without_a_folder_texts_are_coloured_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    assert None not in ask(tmp_path / "file" / "kept", ("a.py", LINES))
