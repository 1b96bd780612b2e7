"""The file of a review: what survives in it, what a damaged one does, and that it goes with its chat."""

import json
import os
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import Clock
from vibekit_desktop.core.chat import leftovers, reviews
from vibekit_desktop.core.chat.review_codec import KeptComment, KeptMark, Review, Unreadable, decode, encode
from vibekit_desktop.core.chat.store import ChatStore
from vibekit_desktop.core.disk import faults
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.types.chats import Chat
from vibekit_desktop.core.types.checkpoints import AfterTurn, Now
from vibekit_desktop.core.types.errors import CannotRead, ChatNotFound, CommentRefused, NewerFormat
from vibekit_desktop.core.types.ids import BlobHash, ChatId, WorkspacePath
from vibekit_desktop.core.types.reviews import Comment, ReviewedFile, Side

A, B = ChatId("chat-a"), ChatId("chat-b")
SHA = BlobHash("ab" * 32)


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> ChatStore:
    made = ChatStore(Fs(), tmp_path, clock=clock)
    for chat in (A, B):
        made.save(Chat(id=chat, messages=()), {})
    return made


def file(store: ChatStore, chat: ChatId = A) -> Path:
    return store.places.desktop / "reviews" / f"{chat}.json"


def mark(path: str = "a.py", at: int = 1) -> KeptMark:
    return KeptMark(ReviewedFile(path=WorkspacePath(path), before=None, after=SHA, at=at))


def comment(identity: str = "c1", path: str = "a.py", *, text: str = "Why?", at: int = 1, changed_at: int = 1) -> KeptComment:
    return KeptComment(
        Comment(
            id=identity,
            path=WorkspacePath(path),
            side=Side.NEW,
            first_line=2,
            last_line=4,
            text=text,
            quote="x\ny",
            point=AfterTurn(3),
            sha=SHA,
            at=at,
            changed_at=changed_at,
        ),
        ("above",),
        ("below",),
    )


def add(
    store: ChatStore, *, chat: ChatId = A, marks: tuple[KeptMark, ...] = (), comments: tuple[KeptComment, ...] = ()
) -> None:
    def more(found: Review) -> Review:
        return msgspec.structs.replace(found, marks=found.marks + marks, comments=found.comments + comments)

    store.reviews.change(chat, more)


def test_a_review_is_read_back_as_it_was_written(store: ChatStore) -> None:
    odd = os.fsdecode(b"caf\xe9/\xe2\x80\xae")
    add(store, marks=(mark(), mark(odd)), comments=(comment(), comment("c2", odd)))
    found = ChatStore(Fs(), store.folder.parent, clock=Clock()).reviews.of(A)
    assert found.marks == (mark(), mark(odd))
    assert found.comments == (comment(), comment("c2", odd))
    assert store.reviews.of(B) == Review()
    assert file(store).stat().st_mode & 0o777 == 0o600
    assert not store.reviews.change(A, lambda review: review), "what changes nothing writes nothing"


@given(
    text=st.text(st.characters(exclude_categories=["Cs"])),
    name=st.binary(min_size=1).filter(lambda data: b"/" not in data and b"\0" not in data and data not in (b".", b"..")),
)
def test_any_words_and_any_name_survive(text: str, name: bytes) -> None:
    review = Review(comments=(comment("c", os.fsdecode(name), text=text),), marks=(mark(os.fsdecode(name)),))
    assert decode(encode(review)) == review


def test_what_a_later_version_adds_to_this_format_stays(store: ChatStore) -> None:
    add(store, marks=(mark(),), comments=(comment(),))
    stored = json.loads(file(store).read_bytes())
    stored["mood"] = {"deep": [1, 2.5, None, 123456789012345678901234567890]}
    stored["comments"][0]["resolved_by"] = "somebody"
    stored["reviewed"][0]["how"] = "quick"
    strange = [{"id": "x", "path": "../out", "side": "new"}, 7, {"id": "y", "side": "middle"}]
    stored["comments"] += strange
    stored["reviewed"].append({"path": "b", "before": "no hash"})
    file(store).write_text(json.dumps(stored))
    assert [one.comment.id for one in store.reviews.of(A).comments] == ["c1"], "one that is not understood hides no other"
    add(store, comments=(comment("c2"),))
    after = json.loads(file(store).read_bytes())
    assert after["mood"] == stored["mood"]
    assert [one for one in after["comments"] if one in strange] == strange
    assert {"path": "b", "before": "no hash"} in after["reviewed"]
    by_id = {one["id"]: one for one in after["comments"] if isinstance(one, dict)}
    assert by_id["c1"]["resolved_by"] == "somebody"
    assert by_id["c2"]["text"] == "Why?"
    assert any(one.get("how") == "quick" for one in after["reviewed"])


DAMAGED = (
    b"", b"{", b"[]", b"\xff\xfe", b"null", b'{"version": "1"}', b'{"version": 0}', b'{"version": 1, "comments": 7}',
    b"[" * 100_000, b'{"version": 1, "reviewed": {"a": 1}}',
)  # fmt: skip


@pytest.mark.expects_log("cannot be read")
@pytest.mark.parametrize("data", DAMAGED, ids=range(len(DAMAGED)))
def test_a_damaged_file_gives_nothing_and_is_kept_aside_before_it_is_replaced(store: ChatStore, data: bytes) -> None:
    file(store).parent.mkdir(parents=True)
    file(store).write_bytes(data)
    assert store.reviews.of(A) == Review()
    assert store.reviews.problems(A) == (str(file(store)),)
    assert file(store).read_bytes() == data, "reading changes nothing"
    add(store, comments=(comment(),))
    assert [one.comment.id for one in store.reviews.of(A).comments] == ["c1"]
    (aside,) = store.reviews.problems(A)
    assert Path(aside).name.startswith("chat-a.json.unread-")
    assert Path(aside).read_bytes() == data
    assert store.reviews.problems(B) == ()


@pytest.mark.expects_log("cannot be read")
def test_a_file_that_is_too_large_or_a_link_is_not_read(store: ChatStore, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text('{"version": 1}')
    file(store).parent.mkdir(parents=True)
    file(store).symlink_to(secret)
    assert store.reviews.problems(A)
    add(store, marks=(mark(),))
    assert not file(store).is_symlink()
    assert secret.read_text() == '{"version": 1}'
    with file(store, B).open("wb") as made:
        made.truncate(1 << 30)
    assert store.reviews.problems(B)


def test_a_link_in_the_place_of_the_folder_leads_nowhere(store: ChatStore, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for name in ("chat-a.json", "gone.json", "chat-a.json.unread-1"):
        (elsewhere / name).write_text('{"version": 1}')
    store.places.desktop.mkdir(exist_ok=True)
    store.reviews.folder.symlink_to(elsewhere)
    for work in (lambda: store.reviews.of(A), lambda: add(store, marks=(mark(),))):
        with pytest.raises(CannotRead):
            work()
    assert store.reviews.orphans() == []
    store.delete(A)
    leftovers.sweep(store)
    assert len(os.listdir(elsewhere)) == 3


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_be_readable_another_time_is_not_replaced(store: ChatStore) -> None:
    add(store, marks=(mark(),))
    file(store).chmod(0)
    with pytest.raises(CannotRead):
        add(store, comments=(comment(),))
    file(store).chmod(0o600)
    assert store.reviews.of(A).marks == (mark(),)


@pytest.mark.parametrize("more", [b"", b', "comments": {"by": "id"}', b', "reviewed": 3'])
def test_a_newer_version_is_read_as_far_as_it_goes_and_never_changed(store: ChatStore, more: bytes) -> None:
    add(store, marks=(mark(),), comments=(comment(),))
    data = file(store).read_bytes().replace(b'"version": 1', b'"version": 2')
    data = data if not more else b'{"version": 2' + more + b"}"
    file(store).write_bytes(data)
    assert len(store.reviews.of(A).comments) == (0 if more else 1)
    assert store.reviews.problems(A) == ()
    with pytest.raises(NewerFormat):
        add(store, comments=(comment("c2"),))
    assert file(store).read_bytes() == data


def test_a_review_is_never_made_for_a_chat_that_is_not_there(store: ChatStore) -> None:
    with pytest.raises(ChatNotFound):
        add(store, chat=ChatId("missing"), marks=(mark(),))
    store.delete(A)
    with pytest.raises(ChatNotFound):
        add(store, marks=(mark(),))
    assert not file(store).exists()


def test_comments_beyond_what_a_chat_holds_are_refused_and_marks_give_way(
    store: ChatStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reviews, "MOST_COMMENTS", 3)
    monkeypatch.setattr(reviews, "MOST_MARKS", 5)
    monkeypatch.setattr(reviews, "MOST_BYTES", 4_000)
    add(store, comments=tuple(comment(f"c{n}") for n in range(3)))
    with pytest.raises(CommentRefused):
        add(store, comments=(comment("c9"),))
    add(store, marks=tuple(mark(f"f{n}", n) for n in range(8)))
    assert [kept.mark.path for kept in store.reviews.of(A).marks] == ["f3", "f4", "f5", "f6", "f7"]
    add(store, marks=tuple(mark("x" * 300 + str(n), n + 10) for n in range(5)))
    kept = [one.mark.at for one in store.reviews.of(A).marks]
    assert kept
    assert kept[-1] == 14
    assert file(store).stat().st_size <= 4_000 + 1_000
    assert len(store.reviews.of(A).comments) == 3, "a comment never gives way"
    with pytest.raises(CommentRefused):
        store.reviews.change(A, lambda found: msgspec.structs.replace(found, comments=(comment(text="x" * 5_000),)))
    assert len(store.reviews.of(A).comments) == 3


@pytest.mark.expects_log("cannot be read")
def test_a_review_goes_with_its_chat_and_what_could_not_be_read_too(store: ChatStore) -> None:
    add(store, marks=(mark(),))
    file(store).write_bytes(b"{")
    add(store, marks=(mark(),))
    add(store, chat=B, marks=(mark(),))
    assert len(os.listdir(file(store).parent)) == 3
    store.delete(A)
    assert os.listdir(file(store).parent) == ["chat-b.json"]


def test_a_crash_while_a_chat_is_deleted_leaves_nothing_for_good(store: ChatStore) -> None:
    add(store, marks=(mark(),))
    (store.folder / "chat-a.json").unlink()  # as after the commit point
    assert store.reviews.orphans() == [A]
    assert leftovers.there_are(store)
    leftovers.sweep(store)
    assert not file(store).exists()
    assert not leftovers.there_are(store)


def test_an_archived_chat_keeps_its_review(store: ChatStore) -> None:
    add(store, marks=(mark(),))
    archive = store.places.make_archive()
    (store.folder / "chat-a.json").rename(archive / "chat-a.json")
    leftovers.sweep(store)
    add(store, comments=(comment(),))
    assert store.reviews.of(A).marks == (mark(),)


class _Crash(Exception):
    """The program ends here."""


@pytest.mark.parametrize("damaged", [False, True])
@pytest.mark.expects_log("cannot be read")
def test_a_crash_at_any_point_of_a_change_leaves_the_old_review_or_the_new_one(store: ChatStore, damaged: bool) -> None:
    if not damaged:
        add(store, marks=(mark(),))
    for number in range(1, 20):
        if damaged:
            file(store).parent.mkdir(parents=True, exist_ok=True)
            file(store).write_bytes(b"{ broken")
        seen: list[str] = []

        def hook(name: str, seen: list[str] = seen, number: int = number) -> None:
            seen.append(name)
            if len(seen) == number:
                raise _Crash(name)

        before = store.reviews.of(A)
        try:
            with faults.armed(hook):
                add(store, comments=(comment(f"c{number}"),))
        except _Crash:
            after = store.reviews.of(A)
            assert after == before or [one.comment.id for one in after.comments][-1] == f"c{number}"
            kept = [Path(one).read_bytes() for one in store.reviews.problems(A)]
            assert not damaged or b"{ broken" in kept, "what could not be read is always somewhere"
        else:
            assert len(seen) < number
            return
    pytest.fail("there is no end")


# -- what goes from chat to chat ---------------------------------------------------------------------------------------


def told(kept: KeptComment, at: int) -> KeptComment:
    return kept.now(replace(kept.comment, sent_at=at))


def test_what_is_open_goes_along_and_what_was_told_only_if_wanted(store: ChatStore) -> None:
    add(store, marks=(mark("x", 5), mark("y", 1)), comments=(comment("open", at=3), told(comment("told", at=2), 9)))
    assert store.reviews.carry(A, B, told=False)
    assert [one.mark.path for one in store.reviews.of(B).marks] == ["y", "x"]
    assert [one.comment.id for one in store.reviews.of(B).comments] == ["open"]
    assert not store.reviews.carry(A, B, told=False), "twice is once"
    assert store.reviews.carry(A, B, told=True)
    assert [one.comment.id for one in store.reviews.of(B).comments] == ["told", "open"]
    assert store.reviews.of(A).comments[1].comment.sent_at == 9


def test_of_one_comment_in_both_chats_the_one_changed_last_stays(store: ChatStore) -> None:
    add(store, comments=(comment("one", text="new", changed_at=9), comment("two", text="old", changed_at=1)))
    add(store, chat=B, comments=(comment("one", text="old", changed_at=1), comment("two", text="new", changed_at=9)))
    store.reviews.carry(A, B, told=False)
    assert [one.comment.text for one in store.reviews.of(B).comments] == ["new", "new"]
    assert [one.comment.text for one in store.reviews.of(A).comments] == ["new", "old"]


@pytest.mark.expects_log("did not go along|cannot be read")
def test_what_cannot_go_along_stops_nothing(store: ChatStore) -> None:
    add(store, chat=B, marks=(mark(),))
    file(store, B).write_text('{"version": 2}')
    add(store, marks=(mark(),))
    assert not store.reviews.carry(A, B, told=True)
    file(store).write_text("{")
    assert not store.reviews.carry(A, B, told=True)
    assert file(store, B).read_text() == '{"version": 2}'


def test_a_review_is_no_chat_and_no_version_is_unreadable() -> None:
    with pytest.raises(Unreadable):
        decode(b'{"id": "chat-a", "messages": []}')
    assert decode(b'{"version": 1}') == Review()
    least = b'{"id": "a", "path": "a", "side": "old", "first_line": 1, "last_line": 1, "text": ""}'
    assert decode(b'{"version": 1, "comments": [' + least + b"]}").comments[0].comment.point == Now()
