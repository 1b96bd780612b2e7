"""Chats at the size that real users reach: a list of ten thousand, and one chat of a hundred thousand messages.

Each is compared with what the machine itself needs for the like: listing with looking at every file's size and time, and with
`json.loads` of the whole transcript in one file. Processor time, the least of several, in turns. What a chat takes of memory is
the growth of a process of its own; run as ``python -m tests.bench.chats NAME DATA`` this file is such a process.
"""

import asyncio
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from tests.arch.source import ROOT
from vibekit_desktop.app.dirs import Dirs
from vibekit_desktop.app.wiring import Wired, build
from vibekit_desktop.core.chat.store import ChatStore
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.disk.locks import VaultLock
from vibekit_desktop.core.services.shelf import Shelf
from vibekit_desktop.core.types.chats import Block, Chat, ChatHeader, Message, ToolCall
from vibekit_desktop.core.types.ids import ChatId

CHATS = 10_000
MESSAGES = 100_000
LONG = ChatId("chat-of-100000-messages")
LAST = 1_000
"""Of the messages of the long chat, those that came since its file was split: it is about as large as such files are."""
ROUNDS = 5
FIRST_ROWS = 60
FIRST_AIM, LIST_AIM, OPEN_AIM = 1 / 20, 1.5, 1 / 50
_WORDS = ("tide", "harbour", "gauge", "level", "offset", "sample", "reading", "window", "pier", "buoy", "chart", "epoch")


class _Unsynced(Fs):
    """Making what is measured needs no syncing."""

    def fsync(self, fd: int) -> None:
        return


# What is measured.


def _words(dice: random.Random, count: int) -> str:
    return " ".join(dice.choices(_WORDS, k=count))


def _answer(dice: random.Random, identity: str, number: int) -> Message:
    words = _words(dice, 60)
    call = ToolCall(id=f"call-{number}", title=f"Read {number}.py", kind="read", status="completed", output=_words(dice, 20))
    return Message(
        id=identity,
        role="assistant",
        ts=number,
        content=words,
        blocks=(Block(type="text", text=words),),
        tool_calls=(call,) if number % 3 == 0 else (),
    )


def long_transcript(count: int) -> tuple[Message, ...]:
    """Turns of ten messages, about a kilobyte each as they are stored."""
    dice = random.Random(3)
    return tuple(
        Message(id=f"m-{number}", role="user", ts=number, content=_words(dice, 40), turn=number // 10 + 1)
        if number % 10 == 0
        else _answer(dice, f"m-{number}", number)
        for number in range(count)
    )


def _clock() -> int:
    return int(time.time() * 1000)


def _vault(data: Path, workspace: Path) -> Path:
    workspace.mkdir(exist_ok=True)
    return Shelf(_Unsynced(), data, clock=_clock, home=data.parent).for_workspace(str(workspace)).folder


def make_many(data: Path, count: int) -> Path:
    """A vault of short chats; returns the chats' folder."""
    dice = random.Random(5)
    store = ChatStore(_Unsynced(), _vault(data, data.parent / "work"), clock=_clock)
    for number in range(count):
        prompt = Message(id="m-1", role="user", ts=1, content=_words(dice, 40), turn=1)
        messages = (prompt, *(_answer(dice, f"m-{at}", at) for at in range(2, 6)))
        identity = f"chat-{number:05}"
        store.save(Chat(id=identity, name=_words(dice, 5), created_at=number, updated_at=number, messages=messages))
    return store.folder


def make_long(data: Path, count: int) -> bytes:
    """A vault with one long chat; returns the whole transcript as one JSON object, as it would be stored in one file."""
    store = ChatStore(_Unsynced(), _vault(data, data.parent / "work"), clock=_clock)
    messages = long_transcript(count)
    store.save(Chat(id=LONG, name="Long", created_at=1, updated_at=1, messages=messages[:-LAST]))
    found, raw = store.load(LONG)
    found = store.save(msgspec.structs.replace(found, messages=(*(found.messages or ()), *messages[-LAST:])), raw)
    items = [item for part in found.parts for item in store.parts.objects(LONG, part)]
    raw = json.loads((store.folder / f"{LONG}.json").read_bytes())
    return msgspec.json.format(msgspec.json.encode({**raw, "parts": [], "messages": items + raw["messages"]}), indent=2)


# The measurement.


def _play(data: Path, story: Callable[[Wired], object]) -> None:
    """A program that is made, used and ended."""

    async def whole() -> None:
        wired = build(Dirs(data), home=data.parent / "home")
        try:
            await story(wired)  # type: ignore[misc]  # every story is a coroutine of some result
        finally:
            await wired.close()

    asyncio.run(whole())


def _least(work: dict[str, Callable[[], float]], rounds: int = ROUNDS) -> dict[str, float]:
    found: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(rounds):
        for name, one in work.items():
            found[name].append(one())
    return {name: min(times) for name, times in found.items()}


def _cost(work: Callable[[], object]) -> float:
    before = time.process_time()
    work()
    return time.process_time() - before


def _cost_in(data: Path, story: Callable[[Wired], object]) -> float:
    """What a story costs in a fresh program, the program itself left out."""
    found: list[float] = []

    async def timed(wired: Wired) -> None:
        await asyncio.to_thread(int)  # the first thread is the machine's, not ours
        before = time.process_time()
        await story(wired)  # type: ignore[misc]  # as above
        found.append(time.process_time() - before)

    _play(data, timed)
    return found[0]


def _floor(folder: Path) -> int:
    with os.scandir(folder) as entries:
        return sum(entry.stat(follow_symlinks=False).st_size for entry in entries)


def _grown(name: str, data: Path) -> float:
    """Megabytes that a process of its own grows by, doing it."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.chats", name, str(data)], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return float(done.stdout)


def _append(data: Path) -> None:
    vault = next(folder for folder in (data / "vaults").iterdir())
    store = ChatStore(_Unsynced(), vault, clock=_clock)
    with VaultLock(Fs(), vault).hold():
        store.append(LONG, Message(id=f"m-{time.perf_counter_ns()}", role="user", ts=1, content="one more", turn=1))


async def _list(wired: Wired) -> list[ChatHeader]:
    return list(await wired.core.chats.list())


async def _first(wired: Wired) -> None:
    rows = await wired.core.chats.first_rows(FIRST_ROWS)
    assert len(rows) == FIRST_ROWS


async def _open(wired: Wired) -> None:
    view = await wired.core.chats.open(LONG)
    assert view.messages


def _print(rows: list[tuple[str, float, float, float | None]], unit: str) -> bool:
    met = True
    for name, value, floor, aim in rows:
        if not floor:
            print(f"  {name:44} {value:9.2f} {unit}")
            continue
        ratio = value / floor
        verdict = "" if aim is None else f"  aim {aim:.3f}" + ("" if ratio <= aim else "  MISSED")
        met = met and (aim is None or ratio <= aim)
        print(f"  {name:44} {value:9.2f} {unit}  {ratio:7.3f}x{verdict}")
    return met


def run_many(folder: Path, count: int = CHATS) -> bool:
    """The list of many chats; whether the aims were met."""
    data = folder / "data"
    chats = make_many(data, count)
    _play(data, _list)  # the rows are remembered from now on
    store = ChatStore(Fs(), chats.parent, clock=_clock)
    found = _least(
        {
            "floor": lambda: _cost(lambda: _floor(chats)),
            "first": lambda: _cost(lambda: ChatStore(Fs(), chats.parent, clock=_clock).first(FIRST_ROWS)),
            "fresh": lambda: _cost(lambda: ChatStore(Fs(), chats.parent, clock=_clock).list()),
            "again": lambda: _cost(store.list),
            "first rows": lambda: _cost_in(data, _first),
            "core": lambda: _cost_in(data, _list),
        }
    )
    print(f"  {count} chats; times against listing the folder with size and time of every file")
    times = {name: seconds * 1000 for name, seconds in found.items()}
    rows: list[tuple[str, float, float, float | None]] = [
        ("scandir and stat", times["floor"], times["floor"], None),
        (f"first {FIRST_ROWS} rows", times["first"], times["floor"], FIRST_AIM),
        ("every row verified, first time", times["fresh"], times["floor"], None),
        ("every row verified, again", times["again"], times["floor"], LIST_AIM),
        (f"first {FIRST_ROWS} rows, in a program just started", times["first rows"], times["floor"], None),
        ("the list of a program just started", times["core"], times["floor"], None),
    ]
    met = _print(rows, "ms")
    base = _grown("nothing", data)
    grown = [
        (f"memory: {what}", _grown(name, data) - base, 0.0, None)
        for name, what in (("first", "first rows"), ("list", "the list"))
    ]
    _print([(name, value, 0.0, None) for name, value, _, _ in grown], "MB")
    return met


def run_long(folder: Path, count: int = MESSAGES) -> bool:
    """One long chat; whether the aim was met."""
    data = folder / "data"
    whole = make_long(data, count)
    (folder / "whole.json").write_bytes(whole)
    found = _least(
        {
            "json": lambda: _cost(lambda: json.loads(whole)),
            "open": lambda: _cost_in(data, _open),
            "append": lambda: _cost(lambda: _append(data)),
        }
    )
    times = {name: seconds * 1000 for name, seconds in found.items()}
    print(f"  a chat of {count} messages, {len(whole) / 1e6:.0f} MB; times against json.loads of all of it")
    met = _print(
        [
            ("json.loads", times["json"], times["json"], None),
            ("open at its end, in a program just started", times["open"], times["json"], OPEN_AIM),
            ("append a message, without syncing", times["append"], times["json"], None),
        ],
        "ms",
    )
    base = _grown("nothing", data)
    memory = {name: _grown(name, data) - base for name in ("json", "open", "append")}
    _print([(f"memory: {name}", value, memory["json"], None) for name, value in memory.items()], "MB")
    return met


def run() -> bool:
    """Print the figures; whether the aims were met."""
    met = []
    for bench in (run_many, run_long):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "home").mkdir()
            met.append(bench(Path(folder)))
    return all(met)


# One process of its own, for its memory.


def _most_kb() -> int:
    """The most memory that this process had; the system's own figure would include the process that started it."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().split("VmHWM:")[1].split()[0])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _alone(name: str, data: Path) -> None:
    before = _most_kb()
    match name:
        case "json":
            json.loads((data.parent / "whole.json").read_bytes())
        case "open":
            _play(data, _open)
        case "append":
            _append(data)
        case "first":
            _play(data, _first)
        case "list":
            _play(data, _list)
        case _:
            _play(data, lambda _: asyncio.sleep(0))
    print((_most_kb() - before) / 1024)


if __name__ == "__main__":
    _alone(sys.argv[1], Path(sys.argv[2]))
