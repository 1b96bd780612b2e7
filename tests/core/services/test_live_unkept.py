"""Before a command what could not be kept is known: the person is told instead of promised, and no rule answers for it."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.conftest import Clock
from tests.core.services.live_town import LiveTown, Step
from vibekit_desktop.app.wiring import Wired
from vibekit_desktop.core.checkpoint.blobs import BlobStore
from vibekit_desktop.core.checkpoint.known import Known
from vibekit_desktop.core.types.agents import Answer, Headless, Hold, Operation, Prompt
from vibekit_desktop.core.types.checkpoints import BeforeTurn, Skipped
from vibekit_desktop.core.types.errors import DiskFull
from vibekit_desktop.core.types.ids import BlobHash, WorkspacePath

SIZE = 3_000_000
RAND = WorkspacePath("rand.bin")
RUN: Step = {"shell": "echo gone > rand.bin", "ask": True, "via": "terminal"}


@pytest.fixture
def town(tmp_path: Path, home: Path, clock: Clock) -> LiveTown:
    made = LiveTown(tmp_path, home, clock)
    (made.work / RAND).write_bytes(b"r" * SIZE)
    (made.work / "small.txt").write_text("small\n")
    return made


class FullStore:
    """Takes no content of a megabyte or more, as long as it is full."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.full = True
        keep, put = Known.keep, BlobStore.put_pieces

        def kept(known: Known, sha: BlobHash, data: bytes) -> None:
            if self.full and len(data) >= 1 << 20:
                raise DiskFull("/store", "No space left on device")
            keep(known, sha, data)

        def put_in(store: BlobStore, pieces: Iterable[bytes], *, own: bool = False) -> BlobHash:
            found = list(pieces)
            if self.full and sum(map(len, found)) >= 1 << 20:
                raise DiskFull("/store", "No space left on device")
            return put(store, found, own=own)

        patch.setattr(Known, "keep", kept)
        patch.setattr(BlobStore, "put_pieces", put_in)


def test_a_large_file_that_nothing_has_comes_back_after_a_command_overwrote_it(town: LiveTown) -> None:
    choice = town.agent([RUN])

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, choice)
        outcome, (question,) = await town.answering(wired, chat)
        assert question.hold is Hold.NONE
        assert question.protection.unkept == question.protection.left_out == ()
        assert outcome.coverage.complete
        await town.restore(wired, chat, 1)

    town.run(work)
    assert (town.work / RAND).read_bytes() == b"r" * SIZE


def test_a_command_is_asked_about_with_what_could_not_be_kept_and_runs_once_there_is_room(
    town: LiveTown, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = FullStore(monkeypatch)
    choice = town.agent([RUN])

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, choice)
        await wired.core.live.prompt(chat, Prompt(text="go"))
        question = await town.question(wired, chat)
        assert (question.operation, question.hold) == (Operation.RUN, Hold.DISK_FULL)
        assert question.protection.unkept == (Skipped("rand.bin", "disk-full", SIZE),)
        assert question.answers == (Answer.RETRY, Answer.UNPROTECTED, Answer.DENY)
        await wired.core.live.answer(chat, question.id, Answer.RETRY)
        again = await town.question(wired, chat, after=question.id)
        assert again.hold is Hold.DISK_FULL
        store.full = False
        await wired.core.live.answer(chat, again.id, Answer.RETRY)
        plain = await town.question(wired, chat, after=again.id)
        assert (plain.hold, plain.protection.unkept) == (Hold.NONE, ())
        await town.ended(wired, chat, lambda: wired.core.live.answer(chat, plain.id, Answer.ALLOW_ONCE))
        assert await wired.core.checkpoints.content(chat, BeforeTurn(1), RAND) == b"r" * SIZE

    town.run(work)
    assert (town.work / RAND).read_text() == "gone\n"


@pytest.mark.parametrize("answer", [Answer.DENY, Answer.UNPROTECTED])
def test_no_rule_lets_a_command_run_over_what_could_not_be_kept(
    town: LiveTown, monkeypatch: pytest.MonkeyPatch, answer: Answer
) -> None:
    store = FullStore(monkeypatch)
    store.full = False
    command: Step = {**RUN, "shell": "echo gone > other.bin"}
    choice = town.agent([command], [command])

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, choice)
        await town.answering(wired, chat, Answer.ALLOW_COMMAND)
        (town.work / "other.bin").write_bytes(b"o" * SIZE)
        store.full = True
        await wired.core.live.prompt(chat, Prompt(text="again"))
        question = await town.question(wired, chat)
        assert question.hold is Hold.DISK_FULL
        assert question.protection.unkept == (Skipped("other.bin", "disk-full", SIZE),)
        outcome = await town.ended(wired, chat, lambda: wired.core.live.answer(chat, question.id, answer))
        words = "run echo gone > other.bin"
        given = [(one.title, one.answer) for one in outcome.permissions]
        if answer is Answer.DENY:
            assert given == [(words, "denied")]
        else:
            assert given == [(f"{words} (can't be undone)", "allowed")]

    town.run(work)
    assert (town.work / "other.bin").stat().st_size == (SIZE if answer is Answer.DENY else 5)


def test_without_a_person_a_command_does_not_run_over_what_could_not_be_kept(
    town: LiveTown, monkeypatch: pytest.MonkeyPatch
) -> None:
    FullStore(monkeypatch)
    choice = town.agent([RUN])

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, choice)
        outcome = await town.say(wired, chat, allow=Headless.ALL)
        assert [one.answer for one in outcome.permissions] == ["denied"]

    town.run(work)
    assert (town.work / RAND).stat().st_size == SIZE


def test_what_a_limit_leaves_out_is_told_and_holds_nothing(town: LiveTown) -> None:
    choice = town.agent([RUN])

    async def work(wired: Wired) -> None:
        await wired.core.settings.set("capture.max_mb", "2")
        chat = await town.new(wired, choice)
        outcome, (question,) = await town.answering(wired, chat)
        assert question.hold is Hold.NONE
        assert question.protection.left_out == (Skipped("rand.bin", "too-large", SIZE),)
        assert [one.path for one in outcome.coverage.skipped] == ["rand.bin"]

    town.run(work)
