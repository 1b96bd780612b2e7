"""Every operation on chats is stopped at each of its durable steps: what was there is whole, and the work goes on."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from tests.conftest import Clock
from tests.core.chat.world import BRANCH, C1, C2, SMALL, World, said, turns, user
from tests.core.checkpoint.world import Crash, CrashAt
from vibekit_desktop.core.chat import partial
from vibekit_desktop.core.chat.partial import Partial
from vibekit_desktop.core.disk import faults
from vibekit_desktop.core.types.chats import Message
from vibekit_desktop.core.types.errors import ChatGone, ChatInUse, ChatNotFound
from vibekit_desktop.core.types.ids import ChatId

LONG = turns(12, 500)
NEW = ChatId("new")
Operation = Callable[[World], object]


def seeded(folder: Path, clock: Clock) -> World:
    """A long chat with a draft, a short one with a running answer, an archived one with parts, a branch of the long one that
    keeps what was cut away."""
    world = World(folder, clock, limits=SMALL)
    world.make(C1, *LONG)
    world.transcripts.keep_as_branch(C1, BRANCH, keep=9, first_turn=5)
    world.transcripts.cut(C1, keep=9, branch=BRANCH, first_turn=5, last_turn=12)
    world.drafts.set(C1, "plan")
    world.make(C2, user("u"))
    Partial(world.chats, C2, turn=1, now_s=lambda: 0).add(said("running", "half an ans"))
    world.make_archived(ChatId("archived"), *LONG)
    return world


def transcripts(world: World) -> dict[str, tuple[Message, ...]]:
    """What every chat says, archived ones too; those must all be whole."""
    rows = [*world.chats.list(), *world.chats.list(archived=True)]
    assert [row for row in rows if row.problem] == []
    assert len({row.id for row in rows}) == len(rows), "no chat is in both places"
    found = {row.id: world.chats.whole(world.chats.load(row.id)[0]).messages or () for row in rows}
    for row in rows:
        assert row.message_count == len(found[row.id])
    return {
        chat: tuple(msgspec.structs.replace(one, id="") if one.event_kind else one for one in said)
        for chat, said in found.items()
    }


def save_whole(world: World) -> object:
    found, raw = world.chats.load(BRANCH)
    changed = (*LONG[:7], said("other"), *LONG[7:])
    return world.chats.save(msgspec.structs.replace(found, parts=(), messages=changed), raw)


def cut_more(world: World) -> None:
    world.transcripts.keep_as_branch(C1, NEW, keep=3, first_turn=2)
    world.transcripts.cut(C1, keep=3, branch=NEW, first_turn=2, last_turn=4)


def once(operation: Operation, *done: type[Exception]) -> Operation:
    """Again after a crash, where the operation says that it was done already."""

    def run(world: World) -> object:
        try:
            return operation(world)
        except done:
            return None

    return run


OPERATIONS: dict[str, Operation] = {
    "a new chat": lambda world: world.make(NEW, user("u")),
    "a new long chat": lambda world: world.make(NEW, *LONG),
    "a message more": lambda world: world.chats.append(C2, said("more")),
    "a message more that splits": lambda world: world.chats.append(BRANCH, said("more", "x" * 5_000)),
    "a message larger than a file": lambda world: world.chats.append(C2, said("more", "x" * 9_000)),
    "a change in the file": lambda world: world.chats.update(C2, "u", lambda one: msgspec.structs.replace(one, content="v")),
    "a change in a part": lambda world: world.chats.update(BRANCH, "u1", lambda one: msgspec.structs.replace(one, content="v")),
    "a rename": lambda world: world.chats.mutate(C1, lambda chat, _: msgspec.structs.replace(chat, name="New")),
    "the whole saved again": save_whole,
    "a branch": lambda world: world.transcripts.branch(BRANCH, NEW, keep=15, first_turn=8),
    "a cut": cut_more,
    "a cut brought back": lambda world: world.transcripts.bring_back(C1, BRANCH),
    "a deletion of a long chat": lambda world: world.chats.delete(BRANCH),
    "a deletion of an archived chat": lambda world: world.chats.delete(ChatId("archived")),
    "archiving": once(lambda world: world.archive.archive(C1), ChatNotFound),
    "bringing back": once(lambda world: world.archive.unarchive(ChatId("archived")), ChatNotFound, ChatInUse),
    "a summary": lambda world: world.archive.set_summary(ChatId("archived"), "text"),
    "a purge": lambda world: (world.clock.advance(5), world.archive.purge(1, keep=lambda chat: False)),
    "a draft": lambda world: world.drafts.set(C1, "other plan"),
    "no draft": lambda world: world.drafts.delete(C1),
    "a sweep": lambda world: (world.chats.parts.write(C1, 99, LONG[:1], []), world.sweep()),
    "an answer that comes": lambda world: Partial(world.chats, C2, turn=1, now_s=lambda: 0).add(
        said("running", "half an answer")
    ),
    "an answer that came": lambda world: (
        world.chats.append(C2, said("running", "an answer")),
        Partial(world.chats, C2, turn=1).finish(),
    ),
    "an answer that is recovered": lambda world: partial.recover(world.chats),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_step_of_an_operation_may_be_the_last(tmp_path: Path, clock: Clock, name: str) -> None:
    operation = OPERATIONS[name]
    counted = CrashAt()
    whole = seeded(tmp_path / "whole", clock)
    before = transcripts(whole)
    with faults.armed(counted):
        operation(whole)
    after = transcripts(whole)
    assert counted.seen
    for at in range(1, len(counted.seen) + 1):
        world = seeded(tmp_path / f"at-{at}", clock)
        with faults.armed(CrashAt(at)), pytest.raises(Crash):
            operation(world)
        world.reopen()
        found = transcripts(world)
        for chat in before.keys() | after.keys() | found.keys():
            assert found.get(chat) in (before.get(chat), after.get(chat)), (counted.seen[at - 1], chat)
        world.sweep()
        assert transcripts(world) == found
        try:
            operation(world)
        except ChatGone:
            assert "deletion" in name
        world.sweep()
        assert transcripts(world) == after, counted.seen[at - 1]
        check_tidy(world)


def check_tidy(world: World) -> None:
    """Nothing is left over: no temps, no parts that nobody names, nothing beside a chat that is gone."""
    rows = [*world.chats.list(), *world.chats.list(archived=True)]
    ids = {row.id for row in rows}
    for chat, numbers in world.chats.parts.numbers().items():
        assert set(numbers) == {part.n for part in world.get(chat).parts}
    for path in world.folder.rglob("*"):
        assert not path.name.startswith(".vibekit-temp"), path
        if path.is_file() and path.parent in (world.active, world.archived):
            assert path.name.split(".")[0] in ids
    if C1 in ids:
        assert world.drafts.get(C1) in ("plan", "other plan", "")


def test_a_draft_moves_with_its_chat_wherever_the_move_stops(tmp_path: Path, clock: Clock) -> None:
    counted = CrashAt()
    first = seeded(tmp_path / "counted", clock)
    with faults.armed(counted):
        first.archive.archive(C1)
    for at in range(1, len(counted.seen) + 1):
        world = seeded(tmp_path / f"at-{at}", clock)
        with faults.armed(CrashAt(at)), pytest.raises(Crash):
            world.archive.archive(C1)
        world.reopen()
        if world.chats.where(C1) == "archived":
            world.archive.unarchive(C1)
        assert world.drafts.get(C1) == "plan"
        world.archive.archive(C1)
        world.archive.unarchive(C1)
        assert world.drafts.get(C1) == "plan"
