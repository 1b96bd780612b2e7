"""Which vaults there are; open one for a folder; check them all; what a bug report needs.

Implements `core.api.Library`.
"""

import asyncio
import os
import platform
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Protocol

from vibekit_desktop.core.api import Check, StoreSize
from vibekit_desktop.core.bus import Bus
from vibekit_desktop.core.checkpoint.weigh import WeighingStopped, weigh
from vibekit_desktop.core.disk import folders
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.disk.workspace import Workspace, relative
from vibekit_desktop.core.services import moves
from vibekit_desktop.core.services.found import Finder
from vibekit_desktop.core.services.headers import Headers
from vibekit_desktop.core.services.history import HistoryService
from vibekit_desktop.core.services.serial import Serial, durably
from vibekit_desktop.core.services.settings import SettingsService
from vibekit_desktop.core.services.shelf import Shelf
from vibekit_desktop.core.services.store_size import StoreSizes
from vibekit_desktop.core.services.vaults import OpenVault
from vibekit_desktop.core.types.agents import AgentInfo, AgentState
from vibekit_desktop.core.types.errors import CannotRead, ChatDamaged, CoreError, PathEscape, WorkspaceMissing
from vibekit_desktop.core.types.events import WorkspaceMoved
from vibekit_desktop.core.types.folders import FolderWeight
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath
from vibekit_desktop.core.types.moves import Likeness
from vibekit_desktop.core.types.settings import BUDGET_GB
from vibekit_desktop.core.types.verified import Problem, ProblemFound, VerifyReport

PACKAGES = (
    "PySide6-Essentials",
    "qasync",
    "agent-client-protocol",
    "msgspec",
    "pygit2",
    "rapidfuzz",
    "Pygments",
    "platformdirs",
    "rich",
)
LOW_SPACE = 512 << 20


class KnownAgents(Protocol):
    """Who knows which agents there are."""

    async def list(self) -> Sequence[AgentInfo]:
        """See `core.api.Agents.list`."""

    async def problems(self) -> Sequence[str]:
        """What is wrong with the user's own list of them."""


class LibraryService:
    """The vaults of this user."""

    def __init__(
        self,
        bus: Bus,
        fs: Fs,
        shelf: Shelf,
        history: HistoryService,
        finder: Finder,
        headers: Headers,
        serial: Serial,
        settings: SettingsService,
        agents: KnownAgents,
        *,
        version: str,
    ) -> None:
        self._bus = bus
        self._fs = fs
        self._sizes = StoreSizes(fs)
        self._finder = finder
        self._headers = headers
        self._shelf = shelf
        self._history = history
        self._serial = serial
        self._settings = settings
        self._agents = agents
        self._version = version

    async def workspaces(self) -> Sequence[str]:
        """The workspace folders of all vaults, most recently used first."""
        return await asyncio.to_thread(lambda: [vault.workspace_path for vault in self._shelf.vaults()])

    async def open_folder(self, folder: Path) -> str:
        """Make a vault for a folder, or find the one there is. Writes nothing in the folder."""

        def work() -> str:
            self._shelf.refuse_as_workspace(folder)
            if not folders.is_folder(folder):
                raise WorkspaceMissing(str(folder))
            return self._shelf.for_workspace(str(folder)).workspace_path

        return await durably(work)

    async def weigh_folder(self, folder: Path) -> FolderWeight | None:
        """What the first check of a folder will go through; None if that was done already. Cancelling stops it."""
        stop = threading.Event()

        def work() -> FolderWeight | None:
            self._shelf.refuse_as_workspace(folder)
            if not folders.is_folder(folder):
                raise WorkspaceMissing(str(folder))
            known = self._shelf.find(str(folder))
            if known is not None and known.was_checked():
                return None
            workspace = Workspace.open(self._fs, Path(folders.settled(str(folder))), never=(self._shelf.data_dir,))
            with suppress(WeighingStopped):
                return weigh(workspace, self._settings.limits(), stopped=stop.is_set)
            return None

        try:
            return await asyncio.to_thread(work)
        finally:
            stop.set()  # whoever waited may have gone

    async def look_at_move(self, workspace: str, folder: Path) -> Likeness:
        """How much a folder is like a workspace that is not where it was."""
        vault = await self._of_workspace(workspace)

        def work() -> Likeness:
            return moves.look(self._fs, self._shelf, vault, folder)

        async with self._serial.hold(vault.id):
            return await durably(work)

    async def move_workspace(self, workspace: str, folder: Path) -> str:
        """The workspace is in this folder from now on, with all its chats."""
        vault = await self._of_workspace(workspace)

        def work() -> str:
            with vault.lock.hold():
                return moves.move(self._fs, self._shelf, vault, folder)

        async with self._serial.hold(vault.id):
            found = await durably(work)
        self._bus.publish(WorkspaceMoved(workspace))
        return found

    async def _of_workspace(self, workspace: str) -> OpenVault:
        vaults = await asyncio.to_thread(self._shelf.vaults)
        found = next((vault for vault in vaults if vault.workspace_path == workspace), None)
        if found is None:
            raise WorkspaceMissing(workspace)
        return found

    def workspace_path(self, workspace: str, text: str) -> WorkspacePath:
        """A path a person typed, absolute or relative to the workspace."""
        if "\0" in text:
            raise PathEscape(text)  # nothing on the disk may be asked for such a name
        inside = text.startswith(workspace.rstrip("/") + "/")
        return relative(Path(workspace), text if inside else folders.settled_parent(text))

    async def verify(self, chat: ChatId | None) -> VerifyReport:
        """Check logs, blobs and chat files of one chat's vault, or of all; changes nothing."""
        if chat is not None:
            vault = await self._history.vault_of(chat)
            return await self._verify_vault(vault, chat)
        total = VerifyReport(problems=(), chats=0, events=0, blobs=0, size_bytes=0)
        try:
            vaults = await asyncio.to_thread(self._shelf.vaults)
        except CoreError as error:
            problem = ProblemFound(Problem.LIBRARY, "", "library.json", error.code)
            return replace(total, problems=(problem,))
        for vault in vaults:
            try:
                one = await self._verify_vault(vault, None)
            except CoreError as error:
                problem = ProblemFound(Problem.VAULT, "", str(vault.folder), getattr(error, "reason", error.code))
                one = VerifyReport(problems=(problem,), chats=0, events=0, blobs=0, size_bytes=0)
            total = VerifyReport(
                problems=total.problems + one.problems,
                chats=total.chats + one.chats,
                events=total.events + one.events,
                blobs=total.blobs + one.blobs,
                size_bytes=total.size_bytes + one.size_bytes,
            )
        return total

    async def _verify_vault(self, vault: OpenVault, chat: ChatId | None) -> VerifyReport:
        def work() -> VerifyReport:
            report = vault.kernel().verify(chat)
            listed = [*vault.chats.list(), *vault.chats.list(archived=True)]
            files = [file for file in listed if chat in (None, file.id)]
            damaged: list[ProblemFound] = []
            for file in files:
                try:
                    loaded = vault.chats.load(file.id)[0]
                except (ChatDamaged, CannotRead) as error:
                    place = "chats/archive" if file.archived else "chats"
                    damaged.append(ProblemFound(Problem.CHAT_DAMAGED, file.id, f"{place}/{file.id}.json", error.reason))
                    continue
                for reason in vault.chats.damaged_parts(loaded):
                    damaged.append(ProblemFound(Problem.CHAT_DAMAGED, file.id, "desktop/overflow", reason))
            return replace(report, problems=report.problems + tuple(damaged), chats=len(files))

        async with self._serial.hold(vault.id):
            return await durably(work)

    async def rebuild_caches(self) -> None:
        """Throw away what is only remembered, and look again."""

        def work() -> None:
            self._headers.forget()
            self._finder.forget()
            self._finder.scan()

        await durably(work)

    async def store_size(self) -> StoreSize:
        """What the stored contents of all vaults take, and what is planned for them."""

        def work() -> StoreSize:
            used = self._sizes.bytes_of([vault.folder for vault in self._shelf.vaults()])
            budget, folder = self._settings.number(BUDGET_GB) << 30, self._shelf.data_dir
            free: int | None = None
            with suppress(CannotRead):
                free = folders.free_bytes(folder)
            return StoreSize(used_bytes=used, budget_bytes=budget, free_bytes=free, folder=str(folder))

        return await asyncio.to_thread(work)

    async def doctor(self) -> Sequence[Check]:
        """Versions, folders, locks, disk space; no content, and the home folder shown as ``~``."""
        return [*await asyncio.to_thread(self._doctor), *await self._agent_checks()]

    async def _agent_checks(self) -> list[Check]:
        here = [info for info in await self._agents.list() if info.state is not AgentState.NOT_INSTALLED]
        words = [f"{info.id or 'own'} {info.version or info.state.value}" for info in here if not info.custom]
        own = sum(info.custom for info in here)
        detail = ", ".join([*words, *([f"{own} of your own"] if own else [])]) or "none found"
        problems = len(await self._agents.problems())
        if problems:
            detail += f"; {problems} problem{'' if problems == 1 else 's'} in agents.json, which `agents` shows"
        return [Check(name="agents", state="warning" if problems else "ok", detail=detail)]

    def _doctor(self) -> list[Check]:
        checks = [
            Check(name="program", state="ok", detail=f"vibekit-desktop {self._version}"),
            Check(name="python", state="ok", detail=f"{platform.python_version()} on {platform.system()} {platform.machine()}"),
        ]
        for package in PACKAGES:
            checks.append(_package(package))
        checks.append(_display())
        data_dir = self._shelf.data_dir
        checks.append(self._folder_check("data folder", data_dir))
        checks.append(self._space(data_dir))
        checks += self._vault_checks()
        return checks

    def _folder_check(self, name: str, folder: Path) -> Check:
        found = self._fs.stat(folder)
        if found is None:
            return Check(name=name, state="ok", detail=f"{_tilde(folder)}, not made yet")
        writable = folders.writable(folder)
        state = "ok" if writable else "failed"
        return Check(name=name, state=state, detail=f"{_tilde(folder)}, {'writable' if writable else 'not writable'}")

    def _space(self, folder: Path) -> Check:
        free = folders.free_bytes(folder)
        state = "ok" if free >= LOW_SPACE else "warning"
        return Check(name="disk space", state=state, detail=f"{free >> 20} MB free where the data folder is")

    def _vault_checks(self) -> list[Check]:
        try:
            vaults = self._shelf.vaults()
        except CoreError as error:
            return [Check(name="library", state="failed", detail=error.code)]
        budget = self._settings.number(BUDGET_GB) << 30
        checks = [Check(name="library", state="ok", detail=f"{len(vaults)} vaults"), _store_check(vaults, budget)]
        for number, vault in enumerate(vaults, 1):
            name = f"vault {number}"
            missing = "" if vault.workspace() else ", its workspace is not there"
            try:
                lock = "held" if vault.lock.is_held() else "free"
                unfinished = len(vault.kernel().unfinished())
            except CoreError as error:
                checks.append(Check(name=name, state="failed", detail=error.code))
                continue
            state = "warning" if missing or unfinished or lock == "held" else "ok"
            detail = f"lock {lock}{missing}" + (f", {unfinished} unfinished restores" if unfinished else "")
            checks.append(Check(name=name, state=state, detail=detail))
        return checks


def _store_check(vaults: Sequence[OpenVault], budget: int) -> Check:
    """More than the budget in all vaults together is worth a word."""
    stored = sum(sum(vault.store.blobs.listed()[0].values()) for vault in vaults)
    state = "warning" if stored > budget else "ok"
    return Check(name="stored contents", state=state, detail=f"{stored >> 20} MB in all vaults, {budget >> 20} MB planned for")


def _package(name: str) -> Check:
    try:
        return Check(name=name, state="ok", detail=metadata.version(name))
    except metadata.PackageNotFoundError:
        return Check(name=name, state="failed", detail="not installed")


def _display() -> Check:
    if sys.platform in ("win32", "darwin"):
        return Check(name="display", state="ok", detail="the system's own")
    chosen = os.environ.get("QT_QPA_PLATFORM")
    if chosen:
        return Check(name="display", state="ok", detail=f"QT_QPA_PLATFORM={chosen}")
    for variable in ("WAYLAND_DISPLAY", "DISPLAY"):
        if os.environ.get(variable):
            return Check(name="display", state="ok", detail=f"{variable} is set")
    return Check(name="display", state="warning", detail="none: the window needs DISPLAY or WAYLAND_DISPLAY")


def _tilde(path: Path) -> str:
    home = os.path.expanduser("~")
    text = str(path)
    return "~" + text[len(home) :] if text == home or text.startswith(home + os.sep) else text
