"""Answers that a crash interrupted, and what it left beside the chats: found at a start and before a change."""

import json

from tests.core.services.town import Town
from vibekit_desktop.app.wiring import Wired
from vibekit_desktop.core.chat.partial import Partial
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.disk.locks import TurnLock
from vibekit_desktop.core.services.watch import WatchService
from vibekit_desktop.core.types.chats import Message
from vibekit_desktop.core.types.ids import ChatId

ONE, TWO = ChatId("chat-one"), ChatId("chat-two")
HALF = "assistant: half an answer"
FOREIGN = {"id": "b", "ts": 1, "content": "of another program"}


async def interrupt(wired: Wired, chat: ChatId = ONE) -> None:
    """A process dies while it gets an answer."""
    vault = await wired.core.chats._history.vault_of(chat)  # type: ignore[attr-defined]  # nothing outside makes answers yet
    Partial(vault.chats, chat, turn=1).add(Message(id=f"half-{chat}", role="assistant", ts=1, content="half an answer"))


def interrupted(town: Town, chat: ChatId = ONE) -> None:
    town.run(lambda wired: interrupt(wired, chat))


def two(town: Town) -> None:
    town.turn(ONE, "one")
    town.turn(TWO, "two")


def test_a_window_that_starts_finds_every_answer_and_tells_of_the_chats(town: Town) -> None:
    two(town)
    for chat in (ONE, TWO):
        interrupted(town, chat)

    async def window(wired: Wired) -> None:
        await wired.recover()
        watch = wired.core.watch
        assert isinstance(watch, WatchService)
        await watch.look()

    town.run(window)
    assert sorted(town.tell()) == [f"ChatUpdated {ONE}", f"ChatUpdated {TWO}"]
    for chat in (ONE, TWO):
        assert town.words(chat)[-2:] == [HALF, "event: "]
    assert list(town.vault.glob("chats/*.partial")) == []


def test_a_window_that_starts_clears_away_what_no_chat_needs(town: Town) -> None:
    two(town)
    folder = town.vault / "desktop" / "overflow"
    folder.mkdir()
    (folder / "gone-1.json").write_text("{}")
    temp = town.vault / "chats" / f".vibekit-temp-{'a' * 24}"
    temp.write_text("half")
    town.run(lambda wired: wired.recover())
    assert list(folder.iterdir()) == []
    assert not temp.exists()


def test_a_window_that_starts_takes_no_lock_where_there_is_nothing_to_do(town: Town) -> None:
    two(town)
    (town.vault / "chats" / f"{ONE}.partial").write_text(json.dumps(FOREIGN))
    (town.vault / "desktop" / "lock").unlink()
    town.run(lambda wired: wired.recover())
    assert not (town.vault / "desktop" / "lock").exists()
    assert json.loads((town.vault / "chats" / f"{ONE}.partial").read_text()) == FOREIGN


def test_the_first_change_of_a_process_finds_every_answer(town: Town) -> None:
    two(town)
    interrupted(town, TWO)
    town.turn(ONE, "more")
    assert town.words(TWO)[-2:] == [HALF, "event: "]


def test_a_turn_that_begins_comes_after_what_was_interrupted_meanwhile(town: Town) -> None:
    two(town)

    async def work(wired: Wired) -> None:
        turns = wired.core.turns
        await turns.begin(TWO, workspace=None, agent=None, prompt="first change")
        await interrupt(wired, ONE)
        await turns.begin(TWO, workspace=None, agent=None, prompt="not this chat")
        assert list(town.vault.glob("chats/*.partial"))
        await turns.begin(ONE, workspace=None, agent=None, prompt="go on")
        watch = wired.core.watch
        assert isinstance(watch, WatchService)
        town.events.clear()
        await watch.look()

    town.run(work)
    assert f"ChatUpdated {ONE}" in town.tell(), "what recovery did is news for the window of this process too"
    assert town.words(ONE)[-3:] == [HALF, "event: ", "user: go on"]


def test_the_answer_of_a_turn_that_runs_is_left(town: Town) -> None:
    two(town)
    interrupted(town)
    with TurnLock(Fs(), town.vault / "desktop", ONE).hold(2):
        town.run(lambda wired: wired.recover())
        assert list(town.vault.glob("chats/*.partial"))
    town.run(lambda wired: wired.recover())
    assert town.words(ONE)[-2:] == [HALF, "event: "]
