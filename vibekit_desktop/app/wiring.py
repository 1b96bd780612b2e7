"""Build the object graph. The only file that names concrete classes from both sides.

Reads top to bottom like a parts list. Called on the loop thread; makes no folder and starts no process.
"""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from vibekit_desktop import __version__
from vibekit_desktop.app.dirs import Dirs
from vibekit_desktop.core.agent.launch import Launch
from vibekit_desktop.core.agent.link import Host, Link
from vibekit_desktop.core.api import Core
from vibekit_desktop.core.bus import Bus
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.services.agents import AgentService
from vibekit_desktop.core.services.chats import ChatService
from vibekit_desktop.core.services.checkpoints import CheckpointService
from vibekit_desktop.core.services.colours import Colours
from vibekit_desktop.core.services.contents import LineCounts
from vibekit_desktop.core.services.diffs import DiffService
from vibekit_desktop.core.services.exports import ExportService
from vibekit_desktop.core.services.families import Families
from vibekit_desktop.core.services.found import Finder
from vibekit_desktop.core.services.headers import Headers
from vibekit_desktop.core.services.history import HistoryService
from vibekit_desktop.core.services.hook_chats import HookChats
from vibekit_desktop.core.services.inverse import InverseService
from vibekit_desktop.core.services.library import LibraryService
from vibekit_desktop.core.services.live import LiveService
from vibekit_desktop.core.services.live_means import Means
from vibekit_desktop.core.services.live_rules import Rules
from vibekit_desktop.core.services.purge import Purge, RetentionService
from vibekit_desktop.core.services.review_sheets import ReviewSheets
from vibekit_desktop.core.services.reviews import ReviewService
from vibekit_desktop.core.services.seen import Seen
from vibekit_desktop.core.services.serial import Serial
from vibekit_desktop.core.services.settings import SettingsService
from vibekit_desktop.core.services.shelf import Shelf
from vibekit_desktop.core.services.shown import Shown
from vibekit_desktop.core.services.turn_book import TurnBook
from vibekit_desktop.core.services.turns import TurnService
from vibekit_desktop.core.services.watch import WatchService
from vibekit_desktop.core.sources.claude_code import ClaudeCode
from vibekit_desktop.core.types.checkpoints import RestoreReport
from vibekit_desktop.core.worker.pool import WorkerPool


@dataclass(frozen=True, slots=True, kw_only=True)
class Wired:
    """The core, and what the program does with it at its edges.

    ``recover`` finishes interrupted restores and turns (the window calls it at start); ``close`` ends the agents, the watching,
    the removing of old archived chats and the worker process.
    """

    core: Core
    bus: Bus
    recover: Callable[[], Awaitable[Sequence[RestoreReport]]]
    close: Callable[[], Awaitable[None]]


def now_ms() -> int:
    """Unix milliseconds."""
    return time.time_ns() // 1_000_000


def build(
    dirs: Dirs,
    *,
    home: Path,
    config_dir: Path | None = None,
    vault: tuple[Path, Path] | None = None,
    clock: Callable[[], int] = now_ms,
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    now_s: Callable[[], float] = time.monotonic,
    from_desktop: bool = False,
) -> Wired:
    """Put the program together. ``from_desktop``: it was started by a desktop and not in a shell, so PATH may lack what the
    user's shell adds. ``vault`` is (folder, workspace) of ``--vault``; ``config_dir`` is where the environment moved Claude
    Code's folder to, only for the user's own home. ``pause`` and ``now_s`` are how the services wait."""

    def load() -> object:
        return import_module("vibekit_desktop.core.agent.acp_link")

    def connect(launch: Launch, host: Host) -> Link:
        from vibekit_desktop.core.agent.acp_link import AcpLink  # half a second, which `load` has taken in a thread

        return AcpLink(launch, host, errors_to=dirs.logs / "agents.log")

    fs = Fs()
    bus = Bus()
    serial = Serial()
    counts = LineCounts()
    headers = Headers(fs, dirs.cache)
    pool = WorkerPool()

    shelf = Shelf(fs, dirs.data, clock=clock, home=home)
    settings = SettingsService(bus, shelf)
    shelf.limits = settings.limits
    if vault is not None:
        shelf.open_for_this_run(*vault)
    sources = (ClaudeCode(),)
    finder = Finder(fs, sources, home, dirs.cache, config_dir=config_dir)
    history = HistoryService(bus, shelf, finder, headers, serial, clock=clock)
    checkpoints = CheckpointService(bus, history, headers, serial, counts, now_s=now_s)
    families = Families(fs, shelf, clock=clock)
    shown = Shown(fs)
    seen = Seen(fs, dirs.data)
    purge = Purge(bus, shelf, headers, serial, families, shown, clock=clock)
    chats = ChatService(bus, shelf, history, headers, serial, families, purge, shown, seen, checkpoints, clock=clock)
    retention = RetentionService(bus, purge, settings, clock=clock, pause=pause)
    diffs = DiffService(history, serial, pool, Colours(fs, dirs.cache / "highlight", pool))
    reviews = ReviewService(bus, history, serial, clock=clock)
    sheets = ReviewSheets(history, serial, diffs, reviews, clock=clock)
    undo = InverseService(history, serial, pool, counts)
    exports = ExportService(fs, history, serial, diffs, sheets, clock=clock)
    agents = AgentService(
        bus,
        fs,
        data_dir=dirs.data,
        cache_dir=dirs.cache,
        logs_dir=dirs.logs,
        home=home,
        environ=os.environ,
        connect=connect,
        load=load,
        from_desktop=from_desktop,
        workspaces=lambda: [entry.workspace for entry in shelf.read().vaults],
    )
    library = LibraryService(bus, fs, shelf, history, finder, headers, serial, settings, agents, version=__version__)
    book = TurnBook(bus, headers, serial, counts, count_again=checkpoints.count_again, pause=pause, now_s=now_s)
    turns = TurnService(book, HookChats(shelf, history, chats), clock=clock, path_of=library.workspace_path)
    means = Means(
        bus=bus,
        book=book,
        fs=fs,
        agents=agents,
        rules=Rules(fs),
        connect=connect,
        load=load,
        clock=clock,
        home=home,
        data_dir=dirs.data,
    )
    live = LiveService(means, shelf, history, chats)
    watch = WatchService(bus, fs, shelf, headers, settings, shown, pause=pause)

    core = Core(
        events=bus,
        chats=chats,
        checkpoints=checkpoints,
        undo=undo,
        turns=turns,
        watch=watch,
        diffs=diffs,
        reviews=reviews,
        exports=exports,
        histories=history,
        library=library,
        settings=settings,
        retention=retention,
        agents=agents,
        live=live,
        version=__version__,
    )

    async def close() -> None:
        await live.close()
        await agents.close()
        await retention.stop()
        await watch.stop()
        await pool.close()
        shown.close()

    return Wired(core=core, bus=bus, recover=checkpoints.recover_all, close=close)
