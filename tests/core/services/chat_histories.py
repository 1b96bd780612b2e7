"""Every operation on chats in random order, by two processes in turns, with deaths in the midst of it, against a model.

One seed is one history, always the same. After each step everything that can be seen must be as the model says: lists,
messages, parents, tags, drafts; nothing is left over that no chat needs. A process that dies is started again and recovers:
then the step was not done, or was, or can be done again to its end.
"""

import asyncio
import copy
import random
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from tests.core.services.town import Crash, Town
from tests.helpers.chat_model import Chats, Talk
from vibekit_desktop.app.wiring import Wired
from vibekit_desktop.core.chat.fitting import ChatLimits
from vibekit_desktop.core.chat.partial import Partial
from vibekit_desktop.core.chat.store import ChatStore
from vibekit_desktop.core.disk import faults
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.services.chats import ChatService
from vibekit_desktop.core.services.vaults import OpenVault
from vibekit_desktop.core.types.chats import Message
from vibekit_desktop.core.types.checkpoints import BeforeTurn, Mine, Scope
from vibekit_desktop.core.types.errors import (
    ChatGone,
    ChatNotFound,
    CoreError,
    NoOpenTurn,
    NotABranch,
    NothingToMerge,
)
from vibekit_desktop.core.types.ids import ChatId, MessageId

SEEDS = range(1, 41)
STEPS = 35
DAY_MS = 24 * 60 * 60 * 1000
NAMES = ("chat-aa", "chat-bb", "chat-cc")
SMALL = ChatLimits(read=60_000, write=50_000, split_over=6_000, split_to=2_000)
WEIGHTS = {
    "begin": 10,
    "end": 7,
    "record": 3,
    "append": 5,
    "update": 2,
    "rename": 2,
    "pin": 2,
    "draft": 3,
    "summary": 1,
    "archive": 3,
    "unarchive": 3,
    "delete": 2,
    "branch": 5,
    "branch_at": 3,
    "promote": 2,
    "discard": 1,
    "merge": 4,
    "cut": 4,
    "uncut": 4,
    "purge": 1,
    "partial": 2,
    "wait": 1,
    "reopen": 2,
    "crash": 8,
}
Seen = dict[str, tuple[object, ...]]


def seen_in(talks: dict[str, Talk]) -> Seen:
    """What there is to see of chats, of the model or of the product."""
    return {
        chat: (
            talk.name,
            [(one.role, one.text, one.turn, one.tag) for one in talk.said],
            (talk.parent, talk.rewind),
            bool(talk.archived),
            talk.pinned,
            talk.draft,
            talk.summary,
            talk.kept,
        )
        for chat, talk in talks.items()
    }


async def ended(wired: Wired) -> None:
    """A process ends as it should."""
    await wired.close()


class OneVault(Town):
    """A town whose list of vaults may not be written yet: a death came before it, and its one vault says what it is."""

    def vaults(self) -> list[Path]:
        return [path.parent.parent for path in (self.data / "vaults").glob("*/desktop/vault.json")]

    @property
    def vault(self) -> Path:
        (folder,) = self.vaults()
        return folder


class History:
    """One vault with two processes, and its model."""

    def __init__(self, town: OneVault, seed: int) -> None:
        self.town, self.clock = town, town.clock
        self.dice = random.Random(seed)
        self.model = Chats()
        self.runner = asyncio.Runner()
        self.processes = [town.build(), town.build()]
        self.now = 0
        self.crash_at = 0
        self.words = 0
        self.open: dict[str, int | None] = {}
        """The turn that is open in a chat as far as is known; None: a death makes it unsure."""
        self.undoable: set[str] = set()
        """Chats whose last news is a cut."""
        self.went_on: set[str] = set()
        """Chats that had turns: as branches that hold what was cut away they stay what they are."""
        self.begun: set[str] = set()
        """Logs of chats that a death kept from being made: nobody sees them."""
        self.log: list[str] = []

    # -- the product -------------------------------------------------------------------------------------------------

    @property
    def wired(self) -> Wired:
        return self.processes[self.now]

    def vault(self) -> OpenVault:
        chats = self.wired.core.chats
        assert isinstance(chats, ChatService)
        (vault,) = chats._shelf.vaults()
        return vault

    def run(self, work: Callable[[Wired], object]) -> object:
        return self.runner.run(work(self.wired))  # type: ignore[arg-type]  # every work is a coroutine

    async def locked(self, work: Callable[[OpenVault], object]) -> object:
        """What an agent of ours does to a chat."""

        def held() -> object:
            with self.vault().lock.hold():
                return work(self.vault())

        return await asyncio.to_thread(held)

    def close(self) -> None:
        for wired in self.processes:
            self.runner.run(ended(wired))
        self.runner.close()

    def reader(self) -> ChatStore:
        """Somebody who knows nothing yet."""
        return ChatStore(Fs(), self.town.vault, clock=self.clock, limits=SMALL)

    def stored(self) -> Seen:
        """All that a reader finds."""
        if not self.town.vaults():
            return {}
        store = self.reader()
        found: Seen = {}
        for row in (*store.list(), *store.list(archived=True)):
            assert not row.problem, row
            chat = store.whole(store.load(row.id)[0])
            said = [(one.role, one.content, one.turn, one.checkpoint_tag) for one in chat.messages or ()]
            assert row.message_count == len(said)
            found[row.id] = (
                chat.name,
                said,
                (chat.parent_chat_id, chat.rewind_from_turn),
                row.archived,
                bool(chat.pinned_at),
                self._draft(row.id, archived=row.archived),
                chat.summary,
                [branch for _, _, branch in chat.removed_turns],
            )
        return found

    def _draft(self, chat: str, *, archived: bool) -> str:
        folder = self.town.vault / "chats" / ("archive" if archived else "")
        path = folder / f"{chat}.plan.md"
        return path.read_text() if path.exists() else ""

    # -- checking ----------------------------------------------------------------------------------------------------

    def check(self) -> None:
        stored, wanted = self.stored(), seen_in(self.model.talks)
        assert stored.keys() == wanted.keys()
        for chat, seen in wanted.items():
            for stands, should in zip(stored[chat], seen, strict=True):
                assert stands == should, chat
        if not self.model.talks:
            return
        for wired in self.processes:
            for archived in (False, True):
                rows = self.runner.run(wired.core.chats.list(archived=archived))
                assert [row.id for row in rows] == self.model.listed(archived=archived)
        assert set(self.town.dangling()) <= self.begun

    def check_nothing_left(self) -> None:
        store = self.reader()
        numbers = {chat: set(own) for chat, own in store.parts.numbers().items()}
        named = {chat: {part.n for part in store.load(ChatId(chat))[0].parts} for chat in self.model.talks}
        assert numbers == {chat: own for chat, own in named.items() if own}
        assert [path for path in self.town.vault.rglob(".vibekit-temp-*") if path.parent.name != "blobs"] == []
        names = {path.name.split(".")[0] for path in (self.town.vault / "chats").rglob("*") if path.is_file()}
        assert names <= self.model.talks.keys()

    # -- one step ----------------------------------------------------------------------------------------------------

    def do(self, what: str, work: Callable[[Wired], object], then: Callable[[Chats, object], None]) -> None:
        """Do it to both. ``then`` is told what the product answered: after a death, the id of the new chat, if there is one."""
        self.log.append(f"{self.now}: {what}" + (f" dies at {self.crash_at}" if self.crash_at else ""))
        at, self.crash_at = self.crash_at, 0
        if not at:
            then(self.model, self.run(work))
            return
        points: list[str] = []

        def hook(name: str) -> None:
            points.append(name)
            if len(points) == at:
                raise Crash(name)

        try:
            with faults.armed(hook):
                answer = self.run(work)
        except Crash as crash:
            self.log.append(f"   at {crash}")
            self.recover(work, then)
            self.open = dict.fromkeys(self.open)
        else:
            then(self.model, answer)

    def recover(self, work: Callable[[Wired], object], then: Callable[[Chats, object], None]) -> None:
        """The process that died is started again."""
        self.runner.run(ended(self.wired))
        self.processes[self.now] = self.town.build()
        self.run(lambda wired: wired.recover())
        found = self.stored()
        if self.town.vaults():
            self.begun |= {left for left in self.town.dangling() if left.startswith("a log of ")}
        if found == seen_in(self.model.talks):
            return
        new = sorted(found.keys() - self.model.talks.keys())
        done = copy.deepcopy(self.model)
        then(done, new[0] if new else None)
        if found != seen_in(done.talks):
            try:
                self.run(work)
            except NotABranch:  # it is promoted; its parent is one chat more
                for chat in done.talks.keys() & found.keys():
                    if done.talks[chat].archived and not found[chat][3]:
                        self.runner.run(self.wired.core.chats.archive(ChatId(chat)))
            except CoreError as error:
                self.log.append(f"   again: {error.code}")
        self.model = done

    def refused(self, what: str, work: Callable[[Wired], object], *kinds: type[CoreError]) -> None:
        self.log.append(f"{self.now}: {what} is refused")
        with pytest.raises(kinds):
            self.run(work)

    def step(self, name: str) -> None:
        self.now = self.dice.randrange(2)
        self.clock.advance(self.dice.randrange(1, 5_000))
        getattr(self, f"do_{name}")()

    def text(self) -> str:
        self.words += 1
        return f"{self.words} " + "word " * self.dice.choice((1, 60, 150))

    def not_from_the_archive(self, chat: str) -> None:
        """A death after a chat came back to the list, and before what it came back for, is another story."""
        if chat in self.model.talks and self.model.talks[chat].archived:
            self.crash_at = 0

    def any(self, wanted: Callable[[Talk], object] = lambda talk: True) -> ChatId | None:
        found = [chat for chat, talk in self.model.talks.items() if wanted(talk)]
        return ChatId(self.dice.choice(found)) if found else None

    # -- the operations ----------------------------------------------------------------------------------------------

    def do_begin(self) -> None:
        chat = ChatId(self.dice.choice([*NAMES, *self.model.talks]))
        prompt = self.text().strip()

        async def begin(wired: Wired) -> int:
            report = await wired.core.turns.begin(chat, workspace=self.town.work, agent="Agent", prompt=prompt)
            return report.turn

        if self.model.late(chat, self.clock()):
            self.refused(f"begin {chat}", begin, ChatGone)
            return

        def then(model: Chats, turn: object) -> None:
            if not isinstance(turn, int):
                chats = self.reader().load(chat)[0]
                turn = (chats.messages or ())[-1].turn
            assert all(turn > one.turn for one in model.talks.get(chat, Talk()).said)
            model.begin(chat, prompt, turn, self.clock())
            self.open[chat] = turn

        self.undoable.discard(chat)
        self.went_on.add(chat)
        self.not_from_the_archive(chat)
        self.do(f"begin {chat}", begin, then)

    def do_end(self) -> None:
        chat = self.any()
        if chat is None:
            return
        answer = self.text().strip()

        async def end(wired: Wired) -> None:
            await wired.core.turns.end(chat, answer=answer)

        turn = self.open.get(chat, 0)
        if turn is None:
            return
        if not turn:
            self.refused(f"end {chat}", end, NoOpenTurn)
            return

        def then(model: Chats, _: object) -> None:
            model.talks[chat].archived = 0
            model.say(chat, "assistant", answer, self.clock())
            self.open[chat] = 0

        self.undoable.discard(chat)
        self.not_from_the_archive(chat)
        self.do(f"end {chat}", end, then)

    def do_record(self) -> None:
        chat = self.any(lambda talk: talk.said)
        if chat is None or not self.open.get(chat):
            return
        content = self.text().encode()

        async def record(wired: Wired) -> str:
            report = await wired.core.turns.record(chat, "a.txt", content=content, deleted=False, mode=None)
            (self.town.work / "a.txt").write_bytes(content)
            return report.tag

        def then(model: Chats, tag: object) -> None:
            if not isinstance(tag, str):  # it died after the stamp
                tag = next(one.checkpoint_tag for one in reversed(self.whole(chat)) if one.checkpoint_tag)
            model.talks[chat].archived = 0
            if "." not in tag and any(one.turn == int(tag) for one in self.reader().load(chat)[0].messages or ()):
                model.tag(chat, tag, self.clock())  # a prompt that is in a part bears none

        self.undoable.discard(chat)
        self.not_from_the_archive(chat)
        self.do(f"record {chat}", record, then)

    def whole(self, chat: ChatId) -> tuple[Message, ...]:
        store = self.reader()
        return store.whole(store.load(chat)[0]).messages or ()

    def do_append(self) -> None:
        chat = self.any(lambda talk: not talk.archived)
        if chat is None:
            return
        text = self.text()
        message = Message(id=f"own-{self.words}", role="assistant", content=text)
        self.undoable.discard(chat)
        self.do(
            f"append to {chat}",
            lambda _: self.locked(lambda vault: vault.chats.append(chat, message)),
            lambda model, _: model.say(chat, "assistant", text, self.clock()),
        )

    def do_update(self) -> None:
        chat = self.any(lambda talk: not talk.archived and talk.said)
        if chat is None:
            return
        index = self.dice.randrange(len(self.model.talks[chat].said))
        wanted, text = self.whole(chat)[index].id, self.text()

        def change(vault: OpenVault) -> None:
            vault.chats.update(chat, wanted, lambda one: msgspec.structs.replace(one, content=text))

        self.undoable.discard(chat)
        self.do(f"update {chat}", lambda _: self.locked(change), lambda model, _: model.change(chat, index, text, self.clock()))

    def do_partial(self) -> None:
        """An answer is interrupted: the next start stores it."""
        chat = self.any(lambda talk: not talk.archived)
        if chat is None:
            return
        text = self.text()
        message = Message(id=f"half-{self.words}", role="assistant", content=text)
        self.log.append(f"{self.now}: interrupted answer of {chat}")
        self.crash_at = 0
        Partial(self.vault().chats, chat, turn=0).add(message)
        self.do_reopen()
        self.model.say(chat, "assistant", text, self.clock())
        self.model.say(chat, "event", "", self.clock())
        self.undoable.discard(chat)

    def do_rename(self) -> None:
        chat = self.any()
        if chat is not None:
            name = f"name {self.text().split()[0]}"

            def then(model: Chats, _: object) -> None:
                model.talks[chat].name = name

            self.do(f"rename {chat}", lambda wired: wired.core.chats.rename(chat, name), then)

    def do_pin(self) -> None:
        chat = self.any()
        if chat is not None:
            pinned = self.dice.random() < 0.6

            def then(model: Chats, _: object) -> None:
                model.talks[chat].pinned = pinned

            self.do(f"pin {chat}", lambda wired: wired.core.chats.pin(chat, pinned), then)

    def do_draft(self) -> None:
        chat = self.any(lambda talk: not talk.archived)
        if chat is not None:
            text = self.dice.choice(("", self.text()))

            def then(model: Chats, _: object) -> None:
                model.talks[chat].draft = text

            self.do(f"draft of {chat}", lambda wired: wired.core.chats.set_draft(chat, text), then)

    def do_summary(self) -> None:
        chat = self.any(lambda talk: talk.archived)
        if chat is not None:
            text = self.text()

            def then(model: Chats, _: object) -> None:
                model.talks[chat].summary = text

            self.do(f"summary of {chat}", lambda _: self.locked(lambda vault: vault.archive.set_summary(chat, text)), then)

    def do_archive(self) -> None:
        chat = self.any()
        if chat is not None:
            self.do(
                f"archive {chat}",
                lambda wired: wired.core.chats.archive(chat),
                lambda model, _: model.archive(chat, self.clock()),
            )

    def do_unarchive(self) -> None:
        chat = self.any(lambda talk: talk.archived)
        if chat is not None:

            def then(model: Chats, _: object) -> None:
                model.talks[chat].archived = 0

            self.do(f"unarchive {chat}", lambda wired: wired.core.chats.unarchive(chat), then)

    def do_delete(self) -> None:
        chat = self.any()
        if chat is None:
            self.refused("delete", lambda wired: wired.core.chats.delete(ChatId("chat-never")), ChatNotFound)
            return
        keep = self.dice.random() < 0.5
        self.do(
            f"delete {chat} keep={keep}",
            lambda wired: wired.core.chats.delete(chat, keep_branches=keep),
            lambda model, _: model.delete(chat, self.clock(), keep_branches=keep),
        )

    def do_branch(self) -> None:
        chat = self.any(lambda talk: any(one.turn for one in talk.said))
        if chat is None:
            return
        talk = self.model.talks[chat]
        turn = self.dice.choice([one.turn for one in talk.said if one.turn])
        keep = next(index for index, one in enumerate(talk.said) if one.turn == turn)
        self.make_branch(f"branch {chat} before {turn}", chat, keep, turn, lambda wired: wired.core.chats.branch(chat, turn))

    def do_branch_at(self) -> None:
        chat = self.any(lambda talk: talk.said)
        if chat is None:
            return
        index = self.dice.randrange(len(self.model.talks[chat].said))
        message = MessageId(self.whole(chat)[index].id)
        self.make_branch(
            f"branch {chat} at {index}", chat, index, -1, lambda wired: wired.core.chats.branch(chat, 0, message=message)
        )

    def make_branch(self, what: str, chat: ChatId, keep: int, turn: int, work: Callable[[Wired], object]) -> None:
        def then(model: Chats, new: object) -> None:
            assert isinstance(new, str)
            first = turn if turn >= 0 else self.reader().load(ChatId(new))[0].rewind_from_turn
            model.branch(chat, new, keep, first, self.clock())
            model.made[new] = self.clock()
            self.open[new] = None  # whether it is in the midst of a turn is the log's business

        self.do(what, work, then)

    def do_promote(self) -> None:
        chat = self.any()
        if chat is None:
            return
        if not self.model.talks[chat].parent:
            self.refused(f"promote {chat}", lambda wired: wired.core.chats.promote(chat), NotABranch)
            return
        self.do(
            f"promote {chat}",
            lambda wired: wired.core.chats.promote(chat),
            lambda model, _: model.promote(chat, self.clock()),
        )

    def do_discard(self) -> None:
        chat = self.any(lambda talk: talk.parent)
        if chat is not None:
            self.do(
                f"discard {chat}",
                lambda wired: wired.core.chats.discard(chat),
                lambda model, _: model.delete(chat, self.clock(), keep_branches=True),
            )

    def do_merge(self) -> None:
        chat = self.any(lambda talk: talk.parent in self.model.talks)
        if chat is None:
            return
        if not self.model.fresh(chat)[0]:
            self.refused(f"merge {chat}", lambda wired: wired.core.chats.merge(chat), NothingToMerge)
            return
        self.undoable.discard(self.model.talks[chat].parent)
        self.do(f"merge {chat}", lambda wired: wired.core.chats.merge(chat), lambda model, _: model.merge(chat, self.clock()))

    def do_cut(self) -> None:
        chat = self.any(lambda talk: any(one.turn for one in talk.said))
        if chat is None:
            return
        talk = self.model.talks[chat]
        turn = self.dice.choice([one.turn for one in talk.said if one.turn])
        keep = next(index for index, one in enumerate(talk.said) if one.turn == turn)

        async def cut(wired: Wired) -> str:
            checkpoints = wired.core.checkpoints
            plan = await checkpoints.plan_restore(chat, BeforeTurn(turn), paths=(), scope=Scope.CHAT, mine=Mine())
            return (await checkpoints.carry_out(plan)).branch_chat_id or ""

        def then(model: Chats, new: object) -> None:
            assert isinstance(new, str)
            assert new
            model.cut(chat, new, keep, turn, self.clock())
            model.made[new] = self.clock()
            self.open[chat] = self.open[new] = None
            self.undoable.add(chat)

        self.do(f"cut {chat} before {turn}", cut, then)

    def do_uncut(self) -> None:
        talks = self.model.talks
        undoable = [chat for chat in self.undoable if chat in talks and talks[chat].kept]
        # What was cut away from where it was kept is elsewhere again; and with turns of its own it stays a chat.
        chats = [chat for chat in undoable if not talks[talks[chat].kept[-1]].kept and talks[chat].kept[-1] not in self.went_on]
        if not chats:
            return
        chat = ChatId(self.dice.choice(sorted(chats)))

        async def undo(wired: Wired) -> None:
            plan = await wired.core.checkpoints.plan_undo(chat, mine=Mine())
            await wired.core.checkpoints.carry_out(plan)

        self.undoable.discard(chat)
        self.do(f"uncut {chat}", undo, lambda model, _: model.uncut(chat, self.clock()))

    def do_purge(self) -> None:
        self.clock.advance(DAY_MS * 3 // 4)
        limit = self.clock() - DAY_MS
        self.do("purge", lambda wired: wired.core.chats.purge(1), lambda model, _: model.purge(limit, self.clock()))

    def do_wait(self) -> None:
        self.clock.advance(11 * 60 * 1000)

    def do_reopen(self) -> None:
        self.runner.run(ended(self.wired))
        self.processes[self.now] = self.town.build()
        self.run(lambda wired: wired.recover())

    def do_crash(self) -> None:
        """The next operation of many steps dies at one of them."""
        self.crash_at = self.dice.choice((self.dice.randint(1, 8), self.dice.randint(5, 40)))
