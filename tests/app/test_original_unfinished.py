"""A restore that the other program did not end, from the command line: said, never carried on, refused with a sentence."""

from pathlib import Path

import pytest

from tests.conftest import Clock
from tests.helpers.original import OriginalStore, Stopped
from tests.helpers.program import Answer, call, tree

CHAT = '{{"id":"{0}","name":"{0}","messages":null,"usage":{{}},"created_at":1,"updated_at":2}}'


class Folder:
    """Its folder with two chats; the restore of ``chat-a`` to tag 2 was killed after the first file."""

    def __init__(self, root: Path, home: Path) -> None:
        self.vault, self.work, self.data, self.home = root / "vibekit", root / "work", root / "data", home
        (self.vault / "chats").mkdir(parents=True)
        self.work.mkdir()
        clock = Clock()
        self.store = OriginalStore(self.vault, self.work, clock)
        for chat in ("chat-a", "chat-b"):
            (self.vault / "chats" / f"{chat}.json").write_text(CHAT.format(chat))
            for text in (b"1\n", b"2\n"):
                self.store.advance_turn(chat, 1)
                for name in ("x", "y"):
                    clock.advance(5)
                    self.store.write(chat, f"{chat}/{name}", text, 1)
        with pytest.raises(Stopped):
            self.store.restore("chat-a", "2", stop_after=1)

    def call(self, *words: str) -> Answer:
        return call(self.data, self.home, "--vault", str(self.vault), "--workspace", str(self.work), *words)


@pytest.fixture
def folder(tmp_path: Path, home: Path) -> Folder:
    return Folder(tmp_path, home)


def test_the_timeline_says_that_it_did_not_end(folder: Folder) -> None:
    before = tree(folder.vault), tree(folder.work)
    assert folder.call("--json", "timeline", "chat-a").json["unfinished"] is True
    assert folder.call("--json", "timeline", "chat-b").json["unfinished"] is False
    said = b"a restore of this chat began and did not end\n"
    assert folder.call("timeline", "chat-a").out.endswith(said)
    assert said not in folder.call("timeline", "chat-b").out
    found = folder.call("--json", "verify")
    assert [(one["kind"], one["chat_id"]) for one in found.json["problems"]] == [("restore-unfinished", "chat-a")]
    for words in (("diff", "chat-a"), ("preview", "chat-a", "before:1"), ("cat", "chat-a", "before:2", "chat-a/x")):
        assert folder.call(*words).status == 0, words
    assert (tree(folder.vault), tree(folder.work)) == before


def test_a_restore_is_refused_with_a_sentence_and_nothing_is_changed(folder: Folder) -> None:
    before = tree(folder.work), folder.store.log_path("chat-a").read_bytes()
    for words in (("restore", "chat-a", "before:1", "--yes"), ("undo-file", "chat-a", "before:2", "chat-a/y", "--yes")):
        answer = folder.call(*words)
        assert answer.status == 3, words
        assert answer.err == (
            "error: store.restore-unfinished: an earlier restore of chat chat-a is unfinished: another program began it and has not ended it; "
            "it is not carried on here, and nothing was changed\n"
        )
    assert (tree(folder.work), folder.store.log_path("chat-a").read_bytes()) == before


def test_other_chats_of_the_folder_are_restored_all_the_same(folder: Folder) -> None:
    before = folder.store.log_path("chat-a").read_bytes()
    assert folder.call("restore", "chat-b", "before:2", "--yes").status == 0
    assert folder.call("undo", "chat-b", "--yes").status == 0
    assert folder.store.log_path("chat-a").read_bytes() == before


def test_it_goes_on_when_that_program_has_ended_it(folder: Folder) -> None:
    OriginalStore(folder.vault, folder.work, Clock()).load("chat-a")
    assert folder.call("--json", "timeline", "chat-a").json["unfinished"] is False
    assert folder.call("restore", "chat-a", "before:1", "--mine", "restore", "--yes").status == 0
    assert sorted(path.name for path in folder.work.glob("chat-a/*") if "vibekit" not in path.name) == []
