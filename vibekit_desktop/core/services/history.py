"""Find other programs' histories on this computer, and open one of them as a chat.

Implements `core.api.Histories`, and is where every service asks which vault holds a chat: a session that nobody opened yet is
materialised first (docs/storage-format.md 6), one that has grown is brought up to date. Never writes to a source.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import assert_never

from vibekit_desktop.core.bus import Bus
from vibekit_desktop.core.disk import folders
from vibekit_desktop.core.services.found import Finder, FoundSession
from vibekit_desktop.core.services.headers import Headers
from vibekit_desktop.core.services.serial import Serial, durably
from vibekit_desktop.core.services.shelf import Shelf
from vibekit_desktop.core.services.vaults import OpenVault
from vibekit_desktop.core.sources.base import Source
from vibekit_desktop.core.sources.materialise import ImportKind, ImportOutcome, materialise
from vibekit_desktop.core.sources.reading import let_go
from vibekit_desktop.core.types.checkpoints import RestoreReport
from vibekit_desktop.core.types.errors import (
    CannotRead,
    ChatNotFound,
    CoreError,
    Malformed,
    UnknownFormat,
    WorkspaceMissing,
    WorkspaceRefused,
)
from vibekit_desktop.core.types.events import ChatCreated, ChatUpdated, ImportProgressed, RestoreRecovered
from vibekit_desktop.core.types.ids import ChatId, imported_chat_id
from vibekit_desktop.core.types.sources import FailedImport, ImportedChat, ImportReport, SourceSummary

_log = logging.getLogger(__name__)

_PROGRESS_S = 0.1
"""How often it is told how far a history is read."""


@dataclass(frozen=True, slots=True)
class _Wanted:
    """One file to import: by which source, onto which workspace (None = the folder it was recorded in)."""

    source: Source
    path: Path
    workspace: Path | None


class Ask(Enum):
    """Who wants a source to be read."""

    NOBODY = "nobody"
    """It is followed, or a chat of it is opened."""
    FILE = "file"
    """A person, this very file: it comes back if it was deleted or archived."""
    FOLDER = "folder"
    """A person, a folder that it is in."""


@dataclass(frozen=True, slots=True)
class _Written:
    """What an import came to, the restores that were finished first, and whether the chat came back from the archive."""

    outcome: ImportOutcome
    finished: list[RestoreReport]
    back: bool


class HistoryService:
    """Sources and imports."""

    def __init__(
        self, bus: Bus, shelf: Shelf, finder: Finder, headers: Headers, serial: Serial, *, clock: Callable[[], int]
    ) -> None:
        self._bus = bus
        self._shelf = shelf
        self._finder = finder
        self._headers = headers
        self._serial = serial
        self._clock = clock
        self._reading = Serial()
        """By the path of a source: who opens a chat and who looks after it want the same one at the same time."""

    def vaults(self) -> list[OpenVault]:
        """All vaults. Blocking."""
        return self._shelf.vaults()

    async def found(self) -> Sequence[FoundSession]:
        """All sessions found, looked for anew."""
        return await asyncio.to_thread(self._finder.scan)

    async def sources(self) -> Sequence[SourceSummary]:
        """What was found, by program."""
        return await asyncio.to_thread(self._finder.summaries)

    async def holds(self, chat: ChatId) -> bool:
        """Whether a vault has the chat's file."""
        return await asyncio.to_thread(self._shelf.holding, chat) is not None

    async def vault_of(self, chat: ChatId) -> OpenVault:
        """The vault that holds ``chat``; a found session is materialised first. Raises `ChatNotFound`."""
        vault = await asyncio.to_thread(self._shelf.holding, chat)
        if vault is not None:
            return vault
        found = await self.found_session(chat)
        if found is None:
            raise ChatNotFound(chat)
        async with self._reading.hold(str(found.path)):
            vault = await asyncio.to_thread(self._shelf.holding, chat)
            if vault is None:  # nobody has read it meanwhile
                await self._import_one(_Wanted(found.source, found.path, None))
                vault = await asyncio.to_thread(self._shelf.holding, chat)
        if vault is None:
            raise ChatNotFound(chat)
        return vault

    async def found_session(self, chat: ChatId) -> FoundSession | None:
        """The session of another program that would become ``chat``; none if that chat was deleted here."""

        def look() -> FoundSession | None:
            return None if chat in self._shelf.hidden() else self._finder.session(chat)

        return await asyncio.to_thread(look)

    def source_label(self, name: str) -> str:
        """What people call the program whose histories are named ``name``; empty if we read none of it."""
        source = self._finder.source(name)
        return "" if source is None else source.label

    async def chat_of_session(self, source: str, session: str) -> ChatId:
        """The chat that another program's session is, or would become: one of ours that its agent answered in, if there is one
        (docs/storage-format.md 6)."""

        def look() -> ChatId:
            for vault in self._shelf.vaults():
                if session in vault.chats.sessions().ids:
                    for row in (*vault.chats.list(), *vault.chats.list(archived=True)):
                        if session in row.sessions:
                            return row.id
            return imported_chat_id(source, session)

        return await asyncio.to_thread(look)

    async def bring_up_to_date(self, chat: ChatId, vault: OpenVault) -> None:
        """Read the source of an imported chat to its end, if it has grown. A source that cannot be read any more is no
        fault: what was kept is shown."""
        wanted = await asyncio.to_thread(self._follows, chat, vault)
        if wanted is None:
            return
        async with self._reading.hold(str(wanted.path)):
            wanted = await asyncio.to_thread(self._follows, chat, vault)
            try:
                if wanted is not None:  # nobody has read it meanwhile
                    await self._import_one(wanted)
            except CoreError as error:
                _log.info("source of chat %s was not read again: %s", chat, error.code)

    def _follows(self, chat: ChatId, vault: OpenVault) -> _Wanted | None:
        header = vault.chats.header(chat)
        if (
            header is None
            or header.problem
            or not header.source
            or header.cut
            or vault.chats.where(chat) == "archived"
            or not (header.source_path or header.hooked_from)
            or header.parent_chat_id
        ):
            return None
        source = self._finder.source(header.source)
        # A chat that hooks began may be older than its source's file.
        found = None if header.source_path else self._finder.session(chat)
        path = found.path if found is not None else Path(header.source_path)
        try:
            if source is None or not (header.source_path or found) or not folders.exists(path):
                return None
            lost = not header.hooked_from and not vault.store.contents(chat).numbers and not vault.store.damage(chat)
            if source.stamp(path) == header.source_stamp and not lost:
                return None
        except (FileNotFoundError, CoreError) as error:
            _log.info("source of chat %s was not looked at: %s", chat, type(error).__name__)
            return None
        return _Wanted(source, path, Path(vault.workspace_path) if header.detached else None)

    async def import_path(self, path: Path, *, workspace: Path | None, agent: str | None) -> ImportReport:
        """Materialise one history file, or every one in a folder. One bad file hides no other."""
        if workspace is not None and not await asyncio.to_thread(folders.is_folder, workspace):
            raise WorkspaceMissing(str(workspace))
        if workspace is not None:
            await asyncio.to_thread(self._shelf.refuse_as_workspace, workspace)
        wanted = await asyncio.to_thread(self._wanted, path, workspace, agent)
        single = len(wanted) == 1 and wanted[0].path == path
        report = ImportReport()
        for one in wanted:
            try:
                outcome = await self._import_one(one, Ask.FILE if single else Ask.FOLDER)
            except CoreError as error:
                if single:
                    raise
                failed = FailedImport(str(one.path), _why(error), error.code)
                report = replace(report, failed=(*report.failed, failed))
                continue
            report = _added(report, outcome) if outcome is not None else report
        return report

    async def keep_all(self, source: str, told: Callable[[int, int], None]) -> ImportReport:
        """Materialise all sessions of a program that no vault has; what was put away or deleted here stays so."""
        found = [one for one in await self.found() if one.source.name == source]
        report = ImportReport()
        for number, one in enumerate(found):
            told(number, len(found))
            if await self.holds(one.chat):
                report = replace(report, unchanged=(*report.unchanged, one.chat))
                continue
            try:
                async with self._reading.hold(str(one.path)):
                    outcome = await self._import_one(_Wanted(one.source, one.path, None), Ask.FOLDER)
            except CoreError as error:
                report = replace(report, failed=(*report.failed, FailedImport(str(one.path), _why(error), error.code)))
                continue
            report = _added(report, outcome) if outcome is not None else report
        return report

    def _wanted(self, path: Path, workspace: Path | None, agent: str | None) -> list[_Wanted]:
        sources = self._finder.sources
        if agent is not None:
            sources = tuple(source for source in sources if agent in (source.name, source.label))
            if not sources:
                raise Malformed("known agent", agent)
        if not folders.exists(path):
            raise CannotRead(str(path), "missing")
        if folders.is_folder(path):
            found = [_Wanted(source, file, workspace) for source in sources for file in source.find_in(path)]
            if not found:
                raise UnknownFormat(str(path), "no history of a known program is in this folder")
            return found
        for source in sources:
            if agent is not None or source.recognise(path):
                return [_Wanted(source, path, workspace)]
        raise UnknownFormat(str(path), "no known program writes files like this one")

    async def _import_one(self, wanted: _Wanted, ask: Ask = Ask.NOBODY) -> ImportOutcome | None:
        """None: what was put away or deleted here stays so, since nobody asked for this file by its name."""
        loop = asyncio.get_running_loop()

        def read() -> tuple[OpenVault, Callable[[], _Written]] | None:
            chat = wanted.source.summarise(wanted.path).chat_id
            if ask is Ask.FOLDER and self._put_away(chat):
                return None

            told = 0.0

            def progress(done: int, total: int) -> None:
                nonlocal told
                if done < total and time.monotonic() < told + _PROGRESS_S:
                    return  # thousands a second would be all that the window's thread does
                told = time.monotonic()
                event = ImportProgressed(chat, done, total)
                loop.call_soon_threadsafe(self._bus.publish, event)

            session = wanted.source.read(wanted.path, progress=progress)
            recorded = session.cwd
            root = str(wanted.workspace) if wanted.workspace is not None else recorded
            self._shelf.refuse_own_data(root)
            holder = self._shelf.holding(chat)
            vault = self._vault_for(holder, wanted.workspace, root)
            detached = wanted.workspace is not None and not folders.same_folder(vault.workspace_path, recorded)
            held = [session]

            def write() -> _Written:
                session = held.pop()  # a long one takes its time to go: in this thread, not in the window's
                with vault.lock.hold():
                    kernel = vault.kernel()
                    # Following a source while reading is no change that a person asked for.
                    finished = kernel.recover() if ask is not Ask.NOBODY and kernel.needs_recovery() else []
                    back = ask is Ask.FILE and self._bring_back(vault, chat)
                    outcome = materialise(
                        session,
                        vault=vault.store,
                        chats=vault.chats,
                        workspace_root=vault.workspace_path,
                        detached=detached,
                        clock=self._clock,
                    )
                    self._shelf.unhide([chat])
                    messages, steps = list(session.messages), list(session.steps)
                    del session
                    let_go(messages)
                    let_go(steps)
                    return _Written(outcome, finished, back)

            return vault, write

        found = await asyncio.to_thread(read)
        if found is None:
            return None
        vault, write = found
        async with self._serial.hold(vault.id):
            written = await durably(write)
        for report in written.finished:
            self._bus.publish(RestoreRecovered(report.chat, report))
        await self._announce(vault, written)
        return written.outcome

    def _vault_for(self, holder: OpenVault | None, asked: Path | None, root: str) -> OpenVault:
        """Where a session is kept: with the chat it became before, else with its folder. A folder that is not the chat's is
        refused before anything is noted of it."""
        if holder is not None and asked is None:
            return holder
        if holder is not None:
            there = self._shelf.find(root)
            if there is None or there.id != holder.id:
                raise WorkspaceRefused(root, "other-workspace")
        return self._shelf.for_workspace(root)

    def _put_away(self, chat: ChatId) -> bool:
        """Whether the chat of a session was archived or deleted here."""
        holder = self._shelf.holding(chat)
        return chat in self._shelf.hidden() if holder is None else holder.chats.where(chat) == "archived"

    def _bring_back(self, vault: OpenVault, chat: ChatId) -> bool:
        """Make the chat of a session that a person asked for one of the list again; whether it was archived."""
        place = vault.chats.where(chat)
        if not place:
            vault.chats.tombstones.clear(chat)
            vault.store.take_back_up(chat)
        if place == "archived":
            vault.archive.unarchive(chat)
        return place == "archived"

    async def _announce(self, vault: OpenVault, written: _Written) -> None:
        outcome = written.outcome
        if written.back:
            self._bus.publish(ChatCreated(await self._headers.one(vault, outcome.chat_id)))
        if outcome.imported is None or outcome.kind is ImportKind.UNCHANGED:
            return
        kind = ChatCreated if outcome.kind is ImportKind.IMPORTED else ChatUpdated
        self._bus.publish(kind(await self._headers.one(vault, outcome.chat_id)))
        for branch in outcome.imported.branches:
            if await asyncio.to_thread(vault.chats.exists, branch):
                self._bus.publish(kind(await self._headers.one(vault, branch)))


def _added(report: ImportReport, outcome: ImportOutcome) -> ImportReport:
    chats: tuple[ImportedChat, ...] = (outcome.imported,) if outcome.imported is not None else ()
    match outcome.kind:
        case ImportKind.IMPORTED:
            return replace(report, imported=report.imported + chats)
        case ImportKind.UPDATED:
            return replace(report, updated=report.updated + chats)
        case ImportKind.UNCHANGED:
            return replace(report, unchanged=(*report.unchanged, outcome.chat_id))
        case ImportKind.FAILED:
            failed = (outcome.failed,) if outcome.failed is not None else ()
            return replace(report, failed=report.failed + failed)
        case _:
            assert_never(outcome.kind)


def _why(error: CoreError) -> str:
    match error:
        case CannotRead(reason=reason) | UnknownFormat(reason=reason) | WorkspaceRefused(reason=reason):
            return reason
        case _:
            return error.code
