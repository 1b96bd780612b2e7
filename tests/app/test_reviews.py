"""Marks and comments of a review, and its documents, through the command line and the core that it calls."""

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, given, settings

from tests.core.chat.test_review_documents import whole
from tests.core.diff.test_patch_trees import Tree, apply, edited, lay, read
from tests.helpers.program import Answer, call, with_core
from vibekit_desktop.core.api import Core, Reviews
from vibekit_desktop.core.services import review_sheets
from vibekit_desktop.core.types.checkpoints import AfterTurn, BeforeTurn, Now, Point, Start
from vibekit_desktop.core.types.errors import (
    CommentNotFound,
    CommentRefused,
    ExportTooLarge,
    InvalidText,
    NewerFormat,
    NotKnownThere,
)
from vibekit_desktop.core.types.events import ReviewChanged
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath
from vibekit_desktop.core.types.reviews import Comment, PlacedComment, ReviewFormat, Side

T = TypeVar("T")
CHAT = ChatId("live-0001")
A = WorkspacePath("a.py")
FIRST, SECOND = "one\ntwo\nthree\nfour\n", "one\nTWO\nthree\nfour\n"


@dataclass
class Place:
    """A workspace with one chat that hooks tell of, and the program's data."""

    data: Path
    home: Path
    work: Path

    def call(self, *words: str, given: bytes | None = None) -> Answer:
        return call(self.data, self.home, *words, given=given)

    def ok(self, *words: str) -> Answer:
        answer = self.call(*words)
        assert (answer.status, answer.err) == (0, ""), answer.err
        return answer

    def turn(self, *, chat: str = CHAT, prompt: str = "Go on.", **files: str | bytes | None) -> None:
        """One turn that writes files, or deletes them. ``_py`` at the end of a keyword is ``.py``."""
        named = {name.replace("_py", ".py"): content for name, content in files.items()}
        self.turn_of(named, chat=chat, prompt=prompt)

    def turn_of(self, files: Mapping[str, str | bytes | None], *, chat: str = CHAT, prompt: str = "Go on.") -> None:
        self.call("turn", chat, "begin", "--workspace", str(self.work), "--prompt", prompt)
        for name, content in files.items():
            path = self.work / name
            data = content.encode() if isinstance(content, str) else content
            more = ("--delete",) if data is None else ()
            assert self.call("record", chat, str(path), *more, given=data).status == 0
            if data is None:
                path.unlink()
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
        assert self.call("turn", chat, "end", "--answer", "Done.").status == 0

    def core(self, work: Callable[[Core], Awaitable[T]]) -> T:
        return with_core(self.data, self.home, work)

    def reviews(self, work: Callable[[Reviews], Awaitable[T]]) -> T:
        return self.core(lambda core: work(core.reviews))

    def say(
        self,
        text: str = "Why?",
        lines: tuple[int, int] = (2, 3),
        *,
        chat: ChatId = CHAT,
        path: WorkspacePath = A,
        side: Side = Side.NEW,
    ) -> Comment:
        return self.reviews(lambda reviews: reviews.comment(chat, path, side, *lines, text, old=Start(), new=Now()))

    def said(self, chat: str = CHAT) -> list[str]:
        return [one.text for one in self.reviews(lambda reviews: reviews.comments(ChatId(chat)))]

    def marks(self, chat: str = CHAT) -> list[str]:
        return [one.path for one in self.reviews(lambda reviews: reviews.reviewed(ChatId(chat)))]

    def mark(self, path: WorkspacePath = A, *, chat: ChatId = CHAT) -> None:
        async def work(core: Core) -> None:
            (diff,) = await core.diffs.files(chat, Start(), Now(), [path])
            await core.reviews.set_reviewed(chat, path, diff.before.sha, diff.after.sha, True)

        self.core(work)

    def place(
        self, path: WorkspacePath = A, side: Side = Side.NEW, point: Point | None = None
    ) -> list[tuple[int | None, int | None]]:
        placed = self.reviews(lambda reviews: reviews.place(CHAT, path, side, point or Now()))
        return [(one.first_line, one.last_line) for one in placed]

    def file(self, chat: str = CHAT) -> Path:
        (vault,) = self.data.glob("vaults/*")
        return vault / "desktop" / "reviews" / f"{chat}.json"


@pytest.fixture
def folder(tmp_path: Path, home: Path) -> Place:
    """A folder with one file, before any chat."""
    made = Place(tmp_path / "data", home, tmp_path / "work")
    made.work.mkdir()
    (made.work / "a.py").write_text(FIRST)
    return made


@pytest.fixture
def place(folder: Place) -> Place:
    """After one turn."""
    folder.turn(a_py=SECOND)
    return folder


# -- comments ----------------------------------------------------------------------------------------------------------


def test_comments_are_listed_with_where_they_stand_now(place: Place) -> None:
    assert place.ok("comments", CHAT).out == b"No comments.\n"
    made = place.say("Why this?\nAnd \u202e this?")
    place.say("It was right.", (2, 2), side=Side.OLD)
    (place.work / "a.py").write_text("zero\n" + SECOND)
    old, new = place.ok("--json", "comments", CHAT).json["comments"]
    assert (new["id"], new["first_line"], new["last_line"], new["first_line_now"], new["last_line_now"]) == (
        made.id,
        2,
        3,
        3,
        4,
    )
    assert (new["quote"], new["side"], new["point"], new["sent_at"]) == ("TWO\nthree", "new", "now", None)
    assert (old["quote"], old["side"], old["point"]) == ("two", "old", "start")
    text = place.ok("comments", CHAT).out.decode()
    assert "a.py:2 (start)" in text
    assert "a.py:3-4 " in text
    assert "    > TWO\n    > three\n    Why this?\n    And \\u202e this?\n" in text
    (place.work / "a.py").write_text("something else\n")
    assert "a.py:2-3 (no longer there)" in place.ok("comments", CHAT).out.decode()
    (place.work / "a.py").unlink()
    assert "a.py:2-3 (no longer there)" in place.ok("comments", CHAT).out.decode()


def test_a_comment_follows_its_lines_through_turns_and_to_every_point(place: Place) -> None:
    place.say("Of the end.", (4, 4))
    place.turn(a_py="zero\n" + SECOND)
    place.turn(a_py="zero\none\n")
    assert place.place(point=AfterTurn(1)) == [(4, 4)]
    assert place.place(point=BeforeTurn(1)) == [(4, 4)], "the line was there before the chat began"
    assert place.place(point=AfterTurn(2)) == [(5, 5)]
    assert place.place(point=Now()) == [(None, None)]
    assert place.place(side=Side.OLD) == []
    assert place.place(path=WorkspacePath("missing.py")) == []


def test_a_comment_on_what_only_the_disk_has_is_found_by_its_words(place: Place) -> None:
    """Nothing of what a person writes is in the store, so only the words can tell."""
    lines = [f"    value_{number} = {number}" for number in range(50)]
    (place.work / "a.py").write_text("\n".join([*lines, "}", "tail", "}"]))
    place.say("These.", (10, 12))
    place.say("This brace.", (51, 51))
    (place.work / "a.py").write_text("\n".join(["new", "new", *lines, "other", "}", "tail", "}"]))
    assert place.place() == [(12, 14), (54, 54)]
    (place.work / "a.py").write_text("\n".join([*lines[:9], *lines[20:]]))
    assert place.place() == [(None, None), (None, None)]


def test_a_comment_can_be_changed_sent_and_deleted(place: Place) -> None:
    first, second = place.say("First."), place.say("Second.", (4, 4))

    async def work(core: Core) -> tuple[list[ReviewChanged], str, list[int]]:
        told: list[ReviewChanged] = []
        core.events.subscribe(ReviewChanged, told.append)
        reviews = core.reviews
        await reviews.edit_comment(CHAT, first.id, "  First, \r\nreworded. ")
        words = await reviews.message(CHAT, [second.id, first.id, first.id])
        await reviews.sent(CHAT, [first.id, second.id, "gone"])
        await reviews.edit_comment(CHAT, second.id, "Second, again.")
        await reviews.edit_comment(CHAT, first.id, "First, \nreworded.")
        state = [one.sent_at for one in await reviews.comments(CHAT)]
        await reviews.delete_comment(CHAT, first.id)
        for wrong in (reviews.delete_comment(CHAT, first.id), reviews.message(CHAT, [first.id])):
            with pytest.raises(CommentNotFound):
                await wrong
        with pytest.raises(CommentNotFound):
            await reviews.edit_comment(CHAT, "missing", "x")
        return told, words, state

    told, words, state = place.core(work)
    assert told == [ReviewChanged(CHAT)] * 4, "what changes nothing is no news"
    assert words.startswith(
        "Please look at these review comments.\n\n**`a.py`, lines 2 to 3**\n\n```\nTWO\nthree\n```\n\nFirst, "
    )
    assert words.index("reworded.") < words.index("Second.")
    assert state[0] > 0
    assert state[1] == 0, "what the agent was told before was something else"
    assert place.said() == ["Second, again."]


@pytest.mark.parametrize("lines", [(0, 1), (3, 2), (5, 5), (1, 999), (-1, 1)])
def test_a_comment_on_lines_that_are_not_there_is_refused(place: Place, lines: tuple[int, int]) -> None:
    with pytest.raises(CommentRefused):
        place.say(lines=lines)
    assert place.said() == []


def test_what_cannot_be_kept_is_refused_and_changes_nothing(place: Place) -> None:
    (place.work / "a.py").write_bytes(b"\0\1")
    (place.work / "link.py").symlink_to("a.py")
    for text, error in (
        (" \n ", CommentRefused),
        ("x" * 70_000, CommentRefused),
        ("half \ud83d", InvalidText),
        ("x", CommentRefused),
    ):
        with pytest.raises(error):
            place.say(text)
    for path in ("missing.py", "folder/x"):
        with pytest.raises(NotKnownThere):
            place.say(path=WorkspacePath(path))
    assert not place.file().exists()


# -- marks -------------------------------------------------------------------------------------------------------------


def test_a_mark_is_of_one_content_and_no_other(place: Place) -> None:
    place.mark()
    place.mark()
    assert place.marks() == ["a.py"]
    assert "a.py`: modified, +1 \u22121, reviewed" in place.ok("diff", CHAT, "--markdown").out.decode()
    (place.work / "a.py").write_text(SECOND + "more\n")
    assert ", reviewed" not in place.ok("diff", CHAT, "--markdown").out.decode()
    place.mark()
    assert place.marks() == ["a.py", "a.py"]
    (place.work / "a.py").write_text(SECOND)
    assert ", reviewed" in place.ok("diff", CHAT, "--markdown").out.decode(), "what was reviewed once is so when it comes back"

    async def take_back(reviews: Reviews) -> None:
        for mark in await reviews.reviewed(CHAT):
            await reviews.set_reviewed(CHAT, mark.path, mark.before, mark.after, False)

    place.reviews(take_back)
    assert place.marks() == []


# -- chats and their branches --------------------------------------------------------------------------------------------


def test_a_branch_begins_with_the_marks_and_what_is_open(place: Place) -> None:
    place.mark()
    place.say("Open.")
    sent = place.say("Sent.")
    place.reviews(lambda reviews: reviews.sent(CHAT, [sent.id]))
    branch = place.ok("--json", "branch", CHAT, "--at", "1").json["chat_id"]
    assert place.said(branch) == ["Open."]
    assert place.marks(branch) == ["a.py"]
    assert place.said() == ["Open.", "Sent."]
    place.ok("discard", branch)
    assert not place.file(branch).exists()
    assert place.said() == ["Open.", "Sent."]


def test_a_promoted_branch_gets_what_was_open_in_its_parent(place: Place) -> None:
    place.say("Before the branch.")
    branch = ChatId(place.ok("--json", "branch", CHAT, "--at", "1").json["chat_id"])
    place.say("After it.")
    place.say("In the branch.", chat=branch)
    place.mark()
    place.ok("promote", branch)
    assert place.said(branch) == ["Before the branch.", "After it.", "In the branch."]
    assert place.marks(branch) == ["a.py"]
    assert place.said() == ["Before the branch.", "After it."], "the archived parent keeps its own"


def test_a_merged_branch_brings_its_comments_to_its_parent(place: Place) -> None:
    first = place.say("Shared.")
    branch = ChatId(place.ok("--json", "branch", CHAT, "--at", "1").json["chat_id"])
    place.turn(chat=branch, prompt="Another way.", b_py="b\n")
    made = place.say("Of the branch.", (1, 1), chat=branch, path=WorkspacePath("b.py"))

    async def change(reviews: Reviews) -> None:
        await reviews.edit_comment(branch, first.id, "Shared, reworded.")
        await reviews.sent(branch, [made.id])

    place.reviews(change)
    place.ok("merge", branch)
    assert place.said() == ["Shared, reworded.", "Of the branch."]
    assert place.reviews(lambda reviews: reviews.comments(CHAT))[1].sent_at > 0


def test_an_archived_chat_keeps_its_review_and_a_deleted_one_does_not(place: Place) -> None:
    place.say()
    place.mark()
    place.ok("archive", CHAT)
    assert place.said() == ["Why?"]
    place.say("Said of an archived chat.")
    place.ok("unarchive", CHAT)
    assert place.said() == ["Why?", "Said of an archived chat."]
    place.ok("delete", CHAT, "--yes")
    assert not place.file().exists()
    assert place.call("comments", CHAT).status == 3


def test_a_purge_takes_the_reviews_too(place: Place) -> None:
    place.say()
    place.ok("archive", CHAT)
    stored = place.file().parents[2] / "chats" / "archive" / f"{CHAT}.json"
    raw = json.loads(stored.read_bytes())
    raw["archived_at"] = 1_000
    stored.write_text(json.dumps(raw))
    place.ok("purge", "--older-than", "1", "--yes")
    assert not place.file().exists()


def test_comments_stay_when_turns_are_taken_back_and_come_back_with_them(place: Place) -> None:
    place.turn(a_py=SECOND + "five\n")
    place.say("Of turn 2.", (5, 5))
    branch = place.ok("--json", "restore", CHAT, "before:2", "--yes").json["branch_chat_id"]
    assert place.said() == ["Of turn 2."]
    assert place.place() == [(None, None)]
    place.say("Written beside what was put away.", (1, 1), chat=ChatId(branch))
    place.ok("undo", CHAT, "--yes")
    assert place.call("show", branch).status == 3, "the branch was needed no longer"
    assert place.said() == ["Of turn 2.", "Written beside what was put away."]
    assert place.place() == [(5, 5), (1, 1)]
    assert not place.file(branch).exists()


# -- several processes, and damage -----------------------------------------------------------------------------------------

_OTHER = """
import asyncio, sys
from pathlib import Path
from tests.helpers.program import with_core
from vibekit_desktop.core.types.checkpoints import Now, Start
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath
from vibekit_desktop.core.types.reviews import Side

data, home, label = sys.argv[1:]

async def work(core):
    for number in range(20):
        chat, path, text = ChatId("live-0001"), WorkspacePath("a.py"), f"{label} {number}"
        await core.reviews.comment(chat, path, Side.NEW, 1, 1, text, old=Start(), new=Now())
        await core.reviews.set_reviewed(chat, WorkspacePath(text), None, None, True)

with_core(Path(data), Path(home), work)
"""


def test_two_processes_at_once_lose_nothing_of_each_other(place: Place) -> None:
    root = Path(__file__).resolve().parents[2]
    words = [sys.executable, "-c", _OTHER, str(place.data), str(place.home)]
    running = [subprocess.Popen([*words, label], cwd=root) for label in ("x", "y")]
    assert [process.wait(60) for process in running] == [0, 0]
    wanted = {f"{label} {number}" for label in ("x", "y") for number in range(20)}
    assert set(place.said()) == set(place.marks()) == wanted
    assert len(place.said()) == 40


@pytest.mark.expects_log("cannot be read")
def test_a_damaged_file_is_said_and_kept(place: Place) -> None:
    place.say("Lost from sight.")
    data = place.file().read_bytes()
    place.file().write_bytes(data[:-20])
    answer = place.call("comments", CHAT)
    assert answer.status == 3
    assert answer.err.startswith("error: review.unreadable: ")
    assert place.ok("diff", CHAT, "--html").out, "it hides nothing else"
    place.say("New.")
    answer = place.call("--json", "comments", CHAT)
    assert [one["text"] for one in answer.json["comments"]] == ["New."]
    (kept,) = answer.json["problems"]
    assert Path(kept).read_bytes() == data[:-20]


def test_a_review_of_a_newer_version_is_shown_and_not_changed(place: Place) -> None:
    place.say("Of the future.")
    place.file().write_bytes(place.file().read_bytes().replace(b'"version": 1', b'"version": 2'))
    before = place.file().read_bytes()
    assert place.said() == ["Of the future."]
    with pytest.raises(NewerFormat):
        place.say("Now.")
    assert place.file().read_bytes() == before


# -- documents -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def rich(folder: Place) -> Place:
    """Everything that a patch can hold: renames, permissions, links, bytes that are no text, odd names, line ends."""
    work = folder.work
    body = "".join(f"line {number}\n" for number in range(40))
    for name, data in {
        "moved from.py": body.encode(), "gone.txt": b"gone\n", "run.sh": b"#!/bin/sh\n", "dos.txt": b"a\r\nb\r\n",
        "end.txt": b"no end", "pic.bin": bytes(range(256)), "empty": b"",
    }.items():  # fmt: skip
        (work / name).write_bytes(data)
    folder.turn_of(
        {
            "a.py": SECOND,
            "moved to/\u65e5\u672c.py": body.replace("line 7\n", "line seven\n"),
            "moved from.py": None,
            "gone.txt": None,
            "dos.txt": "a\nb\n",
            "end.txt": "no end\n",
            "pic.bin": bytes(range(255, -1, -1)),
            "empty": None,
            "new empty": "",
            "package-lock.json": '{"lock": true}\n',
        }
    )
    folder.call("turn", CHAT, "begin", "--prompt", "And a mode and a link.")
    folder.call("record", CHAT, str(work / "run.sh"), "--mode", "755")
    (work / "run.sh").chmod(0o755)
    folder.call("record", CHAT, str(work / "link"))
    (work / "link").symlink_to("elsewhere")
    (work / 'odd "<name>" & \u202e.html').write_text("<script>alert(1)</script>\n\u202eevil\n")
    folder.call("turn", CHAT, "end")
    return folder


def test_a_page_shows_what_differs_and_what_was_said_of_it(rich: Place) -> None:
    rich.say("<b>Not so.</b>", (8, 8), path=WorkspacePath("moved to/\u65e5\u672c.py"))
    rich.say("Keep it.", (1, 1), path=WorkspacePath("gone.txt"), side=Side.OLD)
    rich.say("Of another file.", (1, 1), path=WorkspacePath("end.txt"))
    (rich.work / "end.txt").write_bytes(b"no end")
    rich.mark()
    made = rich.ok("diff", CHAT, "--html").out.decode()
    text = whole(made)
    for words in (
        "Renamed from moved from.py.", "Permissions changed", "Line endings changed: CRLF before, LF after.",
        "Not text: 256 bytes", "A lock file.", "<b>Not so.</b>", "Keep it.", "Comments on other files", "Of another file.",
        "<script>alert(1)</script>", "\u27e8U+202E\u27e9evil", 'odd "<name>" & \u27e8U+202E\u27e9.html', "1 reviewed",
        "3 comments",
    ):  # fmt: skip
        assert words in text, words
    assert "<mark>seven</mark>" in made
    assert made.index("line <mark>seven</mark>") < made.index("Not so.")
    summary = rich.ok("diff", CHAT, "--markdown").out.decode()
    assert "- `gone.txt`: deleted, +0 \u22121" in summary
    assert "`moved to/\u65e5\u672c.py`: renamed, +1 \u22121" in summary
    assert "<script>" not in summary, "a summary has no lines but those that were spoken of"


def test_documents_of_a_selection_and_with_json(rich: Place) -> None:
    made = rich.ok("--json", "diff", CHAT, "a.py", "gone.txt", "--html").json
    assert made["format"] == "html"
    assert made["name"].endswith(f"{CHAT}-review.html")
    assert made["bytes"] == len(made["content"].encode())
    assert 'href="#f2"' in made["content"]
    assert 'href="#f3"' not in made["content"]
    turn = rich.ok("diff", CHAT, "--from", "before:2", "--to", "after:2", "--markdown").out.decode()
    assert "- **Before:** before turn 2\n- **After:** after turn 2\n" in turn
    assert "a.py`" not in turn.replace("\u65e5\u672c.py`", "")
    (rich.work / "dos.txt").write_text("  a\nb\n")
    assert "+1 \u22121" not in rich.ok("diff", CHAT, "dos.txt", "--markdown", "--ignore-whitespace").out.decode()
    assert rich.call("diff", CHAT, "--html", "--patch").status == 2
    assert rich.call("diff", CHAT, "--html", "--markdown").status == 2


def test_the_patch_of_a_review_makes_every_change_and_takes_it_back(rich: Place, tmp_path: Path) -> None:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    old = tmp_path / "old"
    rich.ok("checkout", CHAT, "start", str(old))
    patch = rich.ok("diff", CHAT, "--patch").out
    made = rich.core(lambda core: core.exports.review(CHAT, Start(), Now(), (), ReviewFormat.PATCH))
    assert (made.data, made.media_type) == (patch, "text/x-patch")
    assert b"rename from moved from.py\n" in patch
    assert b"GIT binary patch\n" in patch
    assert b"new file mode 120000\n" in patch
    before, after = _everything(old), _everything(rich.work)
    assert before != after
    for more, wanted in (((), after), (("-R",), before)):
        clean = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "PATH": os.environ["PATH"]}
        words = ["git", "apply", "--whitespace=nowarn", *more, "-"]
        subprocess.run(words, cwd=old, input=patch, check=True, env=clean)
        assert _everything(old) == wanted


def test_a_patch_inside_json_has_its_exact_bytes_beside_it(place: Place) -> None:
    assert "patch_b64" not in place.ok("--json", "diff", CHAT, "--patch").json
    (place.work / "a.py").write_bytes(b"caf\xe9\n")
    exact = place.ok("diff", CHAT, "--patch").out
    assert base64.b64decode(place.ok("--json", "diff", CHAT, "--patch").json["patch_b64"]) == exact


@settings(max_examples=8, suppress_health_check=list(HealthCheck))
@given(change=edited())
def test_any_turn_is_a_patch_that_git_takes_and_a_page(home: Path, change: tuple[Tree, Tree, dict[str, str]]) -> None:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    old, new, _ = change
    with tempfile.TemporaryDirectory() as made:
        place = Place(Path(made) / "data", home, Path(made) / "work")
        copy = Path(made) / "copy"
        for folder in (place.work, copy):
            folder.mkdir()
            lay(folder, old)
        place.ok("turn", CHAT, "begin", "--workspace", str(place.work), "--prompt", "Anything.")
        for path in place.work.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
        lay(place.work, new)
        place.call("turn", CHAT, "end")
        patch = place.ok("diff", CHAT, "--patch").out
        assert bool(patch) == (old != new)
        if patch:
            apply(copy, patch)
            assert read(copy) == new
            apply(copy, patch, "-R")
        assert read(copy) == old
        whole(place.ok("diff", CHAT, "--html").out.decode())
        assert place.ok("diff", CHAT, "--markdown").out


def _everything(folder: Path) -> dict[str, object]:
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            found[str(path.relative_to(folder))] = os.readlink(path)
        elif path.is_file():
            found[str(path.relative_to(folder))] = (path.read_bytes(), bool(path.stat().st_mode & 0o100))
    return found


def test_what_is_too_much_for_one_file_is_refused_before_it_is_read(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(review_sheets, "MOST_BYTES", len(FIRST))

    async def all_kinds(core: Core) -> None:
        for kind in ReviewFormat:
            with pytest.raises(ExportTooLarge):
                await core.exports.review(CHAT, Start(), Now(), (), kind)

    place.core(all_kinds)
    answer = place.call("diff", CHAT, "--html")
    assert (answer.status, answer.out) == (1, b"")
    assert answer.err.startswith("error: export.too-large: ")


def test_documents_change_nothing(rich: Place) -> None:
    rich.say()
    before = _everything(rich.work), rich.file().read_bytes()
    for words in (("diff", CHAT, "--html"), ("diff", CHAT, "--markdown"), ("comments", CHAT)):
        assert rich.call(*words).status == 0
    assert (_everything(rich.work), rich.file().read_bytes()) == before


def test_placed_comments_name_both_places(place: Place) -> None:
    made = place.say()
    assert place.reviews(lambda reviews: reviews.place(CHAT, A, Side.NEW, Now())) == [PlacedComment(made, 2, 3)]
