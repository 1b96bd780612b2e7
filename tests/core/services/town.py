"""One workspace with chats that hooks tell of, for tests about chats as a whole: each call of `run` is a program of its own."""

import asyncio
import json
import shutil
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from tests.conftest import Clock
from vibekit_desktop.app.dirs import Dirs
from vibekit_desktop.app.wiring import Wired, build
from vibekit_desktop.core.disk import faults
from vibekit_desktop.core.types.events import Event
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath, parse_workspace_path

T = TypeVar("T")
DAY_MS = 24 * 60 * 60 * 1000


class Crash(Exception):
    """The program ends here."""


@dataclass
class Town:
    """The places, the clock, and what was announced."""

    folder: Path
    home: Path
    clock: Clock
    events: list[Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.data, self.work = self.folder / "data", self.folder / "work"
        self.work.mkdir()

    async def _pause(self, seconds: float) -> None:
        self.clock.advance(int(seconds * 1000))

    def build(self) -> Wired:
        places = Dirs(self.data)
        return build(places, home=self.home, clock=self.clock, pause=self._pause, now_s=lambda: self.clock.now_ms / 1000)

    def run(self, work: Callable[[Wired], Awaitable[T]]) -> T:
        """One program: made, used, ended. ``events``: what this one announced."""
        self.events.clear()

        async def whole() -> T:
            wired = self.build()
            subscriptions = [wired.bus.subscribe(kind, self.events.append) for kind in Event.__args__]
            try:
                return await work(wired)
            finally:
                for subscription in subscriptions:
                    subscription.close()
                await wired.close()

        return asyncio.run(whole())

    def turn(self, chat: str, prompt: str = "go", **files: str) -> None:
        """One turn of a chat that writes ``<name>.txt`` for every keyword."""

        async def work(wired: Wired) -> None:
            turns = wired.core.turns
            await turns.begin(chat, workspace=self.work, agent="Agent", prompt=prompt)
            for name, content in files.items():
                path = self.work / f"{name}.txt"
                await turns.record(chat, path.name, content=content.encode(), deleted=False, mode=None)
                path.write_text(content)
            await turns.end(chat, answer=f"did {prompt}")

        self.run(work)
        self.clock.advance(1000)

    def branch(self, chat: str, turn: int) -> ChatId:
        made = self.run(lambda wired: wired.core.chats.branch(ChatId(chat), turn))
        self.clock.advance(1000)
        return made

    def rows(self, *, archived: bool = False) -> list[str]:
        """The ids of the list."""
        found = self.run(lambda wired: wired.core.chats.list(archived=archived))
        return [row.id for row in found]

    def words(self, chat: str) -> list[str]:
        """The messages of a chat, as role and text."""
        view = self.run(lambda wired: wired.core.chats.open(ChatId(chat)))
        return [f"{message.role}: {message.content}" for message in view.messages]

    def dies_at(self, number: int, work: Callable[[Wired], Awaitable[object]]) -> str:
        """The program dies at the ``number``-th point of ``work``; returns its name, or nothing if there are not so many."""
        seen: list[str] = []

        def hook(name: str) -> None:
            seen.append(name)
            if len(seen) == number:
                raise Crash(name)

        try:
            with faults.armed(hook):
                self.run(work)
        except Crash:
            return seen[-1]
        return ""

    def run_path(self, name: str) -> WorkspacePath:
        return parse_workspace_path(name)

    def copy(self) -> Path:
        """A copy of all that is there, for `put_back`."""
        kept = self.folder / "kept"
        for one in (self.data, self.work):
            shutil.copytree(one, kept / one.name, symlinks=True)
        return kept

    def put_back(self, kept: Path) -> None:
        """Everything as it was. The clock goes on, as clocks do."""
        for one in (self.data, self.work):
            shutil.rmtree(one)
            shutil.copytree(kept / one.name, one, symlinks=True)

    @property
    def vault(self) -> Path:
        (entry,) = json.loads((self.data / "library.json").read_text())["vaults"]
        return self.data / str(entry["folder"])

    def file(self, chat: str, *, archived: bool = False) -> Path:
        folder = self.vault / "chats" / "archive" if archived else self.vault / "chats"
        return folder / f"{chat}.json"

    def stored(self, chat: str, *, archived: bool = False) -> dict[str, object]:
        loaded = json.loads(self.file(chat, archived=archived).read_bytes())
        assert isinstance(loaded, dict)
        return loaded

    def dangling(self) -> list[str]:
        """What names a chat that is not there: parents, and turns that are kept elsewhere; and logs without a chat."""
        names = {path.stem for path in self.vault.glob("chats/*.json")} | {
            path.stem for path in self.vault.glob("chats/archive/*.json")
        }
        found: list[str] = []
        for chat in sorted(names):
            active = self.file(chat).exists()
            stored = self.stored(chat, archived=not active)
            parent = str(stored.get("parent_chat_id") or "")
            if parent and parent not in names:
                found.append(f"{chat} names {parent}")
            removed = stored.get("removed_turns") or ()
            assert isinstance(removed, list | tuple)
            found += [f"{chat} keeps turns in {entry[2]}" for entry in removed if entry[2] not in names]
        logs = [path.parent.name for path in self.vault.glob("snapshots/chats/*/events.jsonl")]
        found += [f"a log of {chat}" for chat in logs if chat not in names]
        left = [*self.vault.glob("chats/*.plan.md"), *self.vault.glob("chats/archive/*.plan.md")]
        return found + [f"a draft of {path.name}" for path in left if path.name.removesuffix(".plan.md") not in names]

    def tell(self) -> Sequence[str]:
        """What was announced, in words."""
        said: list[str] = []
        for event in self.events:
            of = getattr(event, "chat", None) or getattr(event, "key", None) or event.header.id  # type: ignore[union-attr]
            said.append(f"{type(event).__name__} {of}")
        return said
