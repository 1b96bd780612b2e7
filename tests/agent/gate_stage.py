"""A gate over a real folder, with a vault that writes down what it is told and keeps what it is to keep."""

import asyncio
import json
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from vibekit_desktop.core.agent.gate import Gate
from vibekit_desktop.core.agent.link import Ask, AskOption, ToolChanged
from vibekit_desktop.core.agent.questions import Questions
from vibekit_desktop.core.agent.terminals import Terminals
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.disk.workspace import Workspace
from vibekit_desktop.core.types.agents import Answer, Headless, Question, Rule
from vibekit_desktop.core.types.chats import DiffFragment, Location
from vibekit_desktop.core.types.checkpoints import (
    UNKNOWN,
    CaptureReport,
    Coverage,
    FileState,
    Fits,
    Protection,
    Skipped,
    State,
)
from vibekit_desktop.core.types.errors import CannotRead, ChangedMeanwhile, NotProtected, PathEscape, PathRefused
from vibekit_desktop.core.types.ids import ChatId, Tag, WorkspacePath

T = TypeVar("T")
CHAT = ChatId("11111111-1111-7111-8111-111111111111")
TURN = 3
OPTIONS = (
    AskOption("yes", "Yes", "allow_once"),
    AskOption("ever", "Always", "allow_always"),
    AskOption("no", "No", "reject_once"),
)


class RecordingSink:
    """`core.agent.sink.Sink` over a real workspace. ``events``: what it was told, in order. ``kept``: contents by path."""

    def __init__(self, root: Path) -> None:
        self.workspace = Workspace.open(Fs(), root)
        self.events: list[tuple[str, str]] = []
        self.kept: dict[str, list[bytes | None]] = {}
        self.fail: dict[str, list[Exception]] = {}
        """Errors to raise, one a call, by the name of the method."""
        self.too_large: set[str] = set()
        self.meanwhile: Callable[[str], None] = lambda path: None
        """Called just before a capture or a write."""
        self.waiting: list[tuple[WorkspacePath, ...]] = []
        """What was closed before a person was asked."""
        self.finishing: list[WorkspacePath] = []
        """What a call was said to have changed."""
        self.protected = Protection()
        self.slow: asyncio.Event | None = None
        """A command's look waits for it."""

    def _told(self, what: str, subject: str) -> None:
        self.events.append((what, subject))
        errors = self.fail.get(what)
        if errors:
            raise errors.pop(0)

    async def look(self, path: WorkspacePath) -> FileState:
        return self.workspace.look(path)

    async def read(self, path: WorkspacePath, limit_bytes: int) -> bytes:
        state = self.workspace.look(path)
        if state.state is State.ABSENT:
            raise CannotRead(path, "missing")
        if state.state is not State.PRESENT:
            raise PathRefused(path, state.reason or state.state.value)
        if (state.size or 0) > limit_bytes:
            raise CannotRead(path, "too-large")
        return b"".join(self.workspace.pieces(path))

    async def real(self, path: WorkspacePath) -> WorkspacePath:
        return self.workspace.real(self.workspace.spelled(path))

    def _keep(self, path: WorkspacePath) -> CaptureReport:
        state, data = self.workspace.read(path)
        if state.state is State.UNKNOWN and state.reason == "not-regular":
            raise PathRefused(path, "not-regular")
        if path in self.too_large and state.state is State.PRESENT:
            before = FileState(State.NOT_CAPTURED, state.sha, state.mode, "too-large", state.size)
            missing = Coverage(complete=False, skipped=(Skipped(path, "too-large", state.size),))
            return CaptureReport(chat=CHAT, path=path, tag=Tag("3"), before=before, after=UNKNOWN, coverage=missing)
        self.kept.setdefault(path, []).append(data)
        return CaptureReport(chat=CHAT, path=path, tag=Tag("3"), before=state, after=UNKNOWN, coverage=Coverage(complete=True))

    async def capture(self, path: WorkspacePath, *, tool_call_id: str, deleted: bool = False) -> CaptureReport:
        await asyncio.sleep(0)
        self._told("capture", path)
        self.meanwhile(path)
        state = self.workspace.look(path)
        if state.state is State.FOLDER:
            below = self.workspace.holds(path) or []
            if not deleted:
                raise PathRefused(path, "folder")
            files = [one for one in below if self.workspace.look(one).state is State.PRESENT]
            if not files:
                raise PathRefused(path, "empty-folder")
            return [self._keep(one) for one in files][-1]
        return self._keep(path)

    async def capture_move(self, old: WorkspacePath, new: WorkspacePath, *, tool_call_id: str) -> Sequence[CaptureReport]:
        self._told("capture_move", f"{old} {new}")
        if self.workspace.look(old).state is State.FOLDER:
            raise PathRefused(old, "folder")
        return [self._keep(old), self._keep(new)]

    async def write(
        self,
        path: WorkspacePath,
        data: bytes,
        *,
        expected: FileState | None,
        tool_call_id: str,
        unprotected: bool = False,
    ) -> CaptureReport:
        self._told("write unprotected" if unprotected else "write", path)
        self.meanwhile(path)
        state = self.workspace.look(path)
        if state.state is State.LINK:
            raise PathRefused(path, "link")
        if self.workspace.real(path) != path:
            raise PathEscape(path)
        if expected is not None and (state.state, state.sha) != (expected.state, expected.sha):
            raise ChangedMeanwhile(path)
        if path in self.too_large and state.state is State.PRESENT and not unprotected:
            raise NotProtected(path, "too-large")
        report = self._keep(path)
        target = self.workspace.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        return report

    async def not_done(self, path: WorkspacePath) -> None:
        self._told("not done", path)

    async def waits(self, paths: Sequence[WorkspacePath], *, tool_call_id: str) -> None:
        self.waiting.append(tuple(paths))

    async def meet(self, path: WorkspacePath, expected: FileState) -> None:
        self._told("meet", path)

    async def finished(self, paths: Sequence[WorkspacePath], fits: Fits, *, tool_call_id: str) -> None:
        self.finishing += paths

    async def protection(self) -> Protection | None:
        return self.protected

    async def command_begins(self, tool_call_id: str, *, unprotected: bool = False) -> Protection | None:
        self._told("begins", tool_call_id)
        if self.slow is not None:
            await self.slow.wait()
        return self.protected

    async def command_ends(self, tool_call_id: str) -> None:
        self._told("ends", tool_call_id)


@dataclass
class Stage:
    """A gate with everything around it. ``answers``: what the person answers, in order; a callable looks at the question first.
    A question without an answer left is a mistake of the test."""

    tmp: Path
    answers: list[Answer | Callable[[Question], Answer | None]] = field(default_factory=list)
    asked: list[Question] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)
    headless: Headless | None = None

    def __post_init__(self) -> None:
        self.root = self.tmp / "work"
        self.home = self.tmp / "home"
        self.store = self.home / ".local" / "share" / "ours"
        for folder in (self.root, self.store):
            folder.mkdir(parents=True, exist_ok=True)
        self.sink = RecordingSink(self.root)
        self.questions = Questions(self._changed)
        self.terminals = Terminals({"PATH": "/usr/bin:/bin", "HOME": str(self.home), "LANG": "C.UTF-8"}, lambda terminal: None)
        self._ids = 0
        self._seen: set[str] = set()
        self.gate = Gate(
            CHAT,
            "Agent",
            self.root,
            self.sink,
            self.questions,
            self.terminals,
            rules=lambda: self.rules,
            add_rule=self._add_rule,
            home=self.home,
            never=[self.store],
            clock=lambda: 1_700_000_000_000,
            new_id=self._new_id,
        )

    def _new_id(self) -> str:
        self._ids += 1
        return f"q{self._ids}"

    async def _add_rule(self, rule: Rule) -> None:
        self.rules.append(rule)

    def _changed(self) -> None:
        for question in self.questions.open:
            if question.id not in self._seen:
                self._seen.add(question.id)
                self.asked.append(question)
                if self.answers:
                    asyncio.get_running_loop().call_soon(self._answer, question)

    def _answer(self, question: Question) -> None:
        wanted = self.answers.pop(0)
        answer = wanted if isinstance(wanted, Answer) else wanted(question)
        if answer is not None:
            assert self.questions.answer(question.id, answer)

    def file(self, path: str, text: str = "old\n") -> Path:
        """A file in the workspace."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        return target

    def run(self, work: Callable[[], Coroutine[object, object, T]]) -> T:
        """Do something in a turn, which is settled afterwards; what is left is ended."""

        async def inside() -> T:
            self.gate.begin(TURN, self.headless)
            try:
                async with asyncio.timeout(10):
                    return await work()
            finally:
                self.given = [(one.title, one.answer) for one in await self.gate.settle()]
                await self.terminals.close()

        return asyncio.run(inside())

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until something is so, for at most some seconds."""
        async with asyncio.timeout(10):
            while not condition():  # noqa: ASYNC110 - the condition has no event of its own
                await asyncio.sleep(0.005)

    @property
    def told(self) -> list[str]:
        """What the vault was told, as short texts."""
        return [f"{what} {subject}" for what, subject in self.sink.events]


def tool(
    call: str = "c1",
    *,
    kind: str | None = None,
    title: str | None = None,
    status: str | None = None,
    diff: tuple[str, str, str] | None = None,
    at: Sequence[str] | None = None,
    given: bytes | None = None,
    terminals: tuple[str, ...] | None = None,
) -> ToolChanged:
    """What an agent says of a call. ``diff``: path, old text, new text; ``at``: locations; ``given``: its raw input."""
    return ToolChanged(
        id=call,
        title=title,
        kind=kind,
        status=status,
        diffs=None if diff is None else (DiffFragment(path=diff[0], old_text=diff[1], new_text=diff[2]),),
        locations=None if at is None else tuple(Location(path=path) for path in at),
        input=given,
        terminals=terminals,
    )


def ask(change: ToolChanged, options: Sequence[AskOption] = OPTIONS) -> Ask:
    """A request for permission."""
    return Ask(tool=change, options=tuple(options))


def edit(path: str, old: str = "old\n", new: str = "new\n", call: str = "c1") -> Ask:
    """A request to edit a file, with a diff of all of it."""
    return ask(tool(call, kind="edit", title="Edit", diff=(path, old, new), at=[path]))


def run(command: str, call: str = "c1", **more: str) -> Ask:
    """A request to run a command."""
    return ask(tool(call, kind="execute", title=command, given=json.dumps({"command": command, **more}).encode()))
