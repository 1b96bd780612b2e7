"""A link to a scripted agent over real pipes, a host that writes down what reaches it, and that nothing is left running."""

import asyncio
import logging
import os
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.helpers.scripted_agent import command
from vibekit_desktop.core.agent.acp_link import AcpLink, Patience
from vibekit_desktop.core.agent.launch import Launch
from vibekit_desktop.core.agent.link import (
    Ask,
    Denied,
    LinkEvent,
    Session,
    TerminalExit,
    TerminalOutput,
    TextArrived,
    TextPart,
    ToolChanged,
)
from vibekit_desktop.core.agent.wire import LIMITS, Limits
from vibekit_desktop.core.types.agents import StopReason

SOON = Patience(handshake_s=20, session_s=20, option_s=20)
PATH = {"PATH": os.environ["PATH"]}


@dataclass
class Host:
    """Allows everything, with the first of the options; ``calls`` is all that reached it, in order."""

    calls: list[tuple[str, object]] = field(default_factory=list)
    events: list[LinkEvent] = field(default_factory=list)
    denies: set[str] = field(default_factory=set)
    answers: Callable[[Ask], str | None] = lambda ask: ask.options[0].id
    gate: asyncio.Event | None = None
    """What every request waits for, if it is there."""
    most: int = 0
    """Requests that were waiting at a time."""
    waiting: int = 0

    def event(self, event: LinkEvent) -> None:
        self.calls.append(("event", event))
        self.events.append(event)

    async def _note(self, name: str, value: object = None) -> None:
        self.calls.append((name, value))
        self.waiting += 1
        self.most = max(self.most, self.waiting)
        try:
            if self.gate is not None:
                await self.gate.wait()
        finally:
            self.waiting -= 1
        if name in self.denies:
            raise Denied("test", f"no {name} in this test")

    async def ask(self, ask: Ask) -> str | None:
        await self._note("ask", ask)
        return self.answers(ask)

    async def read(self, path: str, line: int | None, limit: int | None) -> str:
        await self._note("read", (path, line, limit))
        return "read by us"

    async def write(self, path: str, text: str) -> None:
        await self._note("write", (path, text))
        await asyncio.to_thread(Path(path).write_text, text, "utf-8")

    async def create_terminal(
        self, command: str, args: Sequence[str], folder: str | None, env: Sequence[tuple[str, str]], limit_bytes: int | None
    ) -> str:
        await self._note("create_terminal", (command, tuple(args), folder, tuple(env), limit_bytes))
        return "terminal-1"

    async def terminal_output(self, terminal: str) -> TerminalOutput:
        await self._note("terminal_output", terminal)
        return TerminalOutput("what it wrote", False, TerminalExit(3, None))

    async def wait_for_exit(self, terminal: str) -> TerminalExit:
        await self._note("wait_for_exit", terminal)
        return TerminalExit(3, None)

    async def kill_terminal(self, terminal: str) -> None:
        await self._note("kill_terminal", terminal)

    async def release_terminal(self, terminal: str) -> None:
        await self._note("release_terminal", terminal)

    @property
    def said(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, TextArrived))

    @property
    def tools(self) -> list[ToolChanged]:
        return [event for event in self.events if isinstance(event, ToolChanged)]

    def asked(self, name: str) -> list[object]:
        return [value for called, value in self.calls if called == name]


@dataclass
class Linked:
    """A link, its host and the folder of its session."""

    link: AcpLink
    host: Host
    folder: Path
    log: Path
    opened: Session | None = None

    async def session(self) -> Session:
        await self.link.open()
        self.opened = await self.link.new_session(str(self.folder))
        return self.opened

    async def prompt(self, text: str = "go on") -> StopReason:
        session = self.opened or await self.session()
        return await self.link.prompt(session.id, [TextPart(text)])

    def received(self, method: str) -> list[dict[str, object]]:
        """What the agent got from us under a method."""
        import json

        lines = self.log.read_text("utf-8").splitlines() if self.log.exists() else []
        return [message for line in lines if (message := json.loads(line)).get("method") == method]


class _ForeignLog(logging.Handler):
    """What the SDK and asyncio log: nothing, whatever the agent does; it would be what the agent sent."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if not record.name.startswith("vibekit_desktop"):
            self.found.append(f"{record.name}: {record.getMessage()[:200]}")


@asynccontextmanager
async def linked(
    tmp_path: Path,
    script: dict[str, object],
    *,
    host: Host | None = None,
    patience: Patience = SOON,
    limits: Limits = LIMITS,
    env: Mapping[str, str] = PATH,
    run: tuple[str, ...] | None = None,
) -> AsyncIterator[Linked]:
    """A link that is not open yet; it is closed in the end, and then nothing of it is left: no process, no task, no log."""
    folder = tmp_path / "workspace"
    folder.mkdir(exist_ok=True)
    log = tmp_path / "received.jsonl"
    launch = Launch(name="Scripted", command=run or command({"log": str(log), **script}, tmp_path), folder=str(folder), env=env)
    host = host or Host()
    foreign = _ForeignLog()
    logging.getLogger().addHandler(foreign)
    before = asyncio.all_tasks()
    link = AcpLink(launch, host, errors_to=tmp_path / "errors.log", patience=patience, limits=limits)
    try:
        yield Linked(link, host, folder, log)
    finally:
        await link.close()
        logging.getLogger().removeHandler(foreign)
    if link.pid is not None:
        assert not lives(link.pid)
    await until(lambda: asyncio.all_tasks() <= before | {asyncio.current_task()})  # type: ignore[arg-type]
    assert not foreign.found


def lives(pid: int) -> bool:
    """Whether a process is there; one that nobody has waited for yet is not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in (b"Z", b"X")


async def until(condition: Callable[[], bool], limit_s: float = 20.0) -> None:
    """Wait for a condition, with a limit."""
    end = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < end, "the condition did not come true"
        await asyncio.sleep(0.005)
