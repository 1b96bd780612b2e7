"""A scripted person at work in the whole program: no frame over 16 ms, no turn of the loop over 50 ms.

The real core, a history of 100,000 messages among many others, a chat in which an agent answers, edits and runs commands. The
person reads, scrolls, searches, writes, resizes, reviews, previews restores and takes back what the agent did; everything goes
through Qt's events. Measured is the processor time of the window's thread: every frame that is painted, and what the loop did
between two ticks of a timer of 4 ms, which is one turn or more. ``VIBEKIT_BENCH_MINUTES`` says for how long: half a minute
unless told, 60 for an hour. ``BENCH_STACKS=1`` prints what the loop was doing whenever it was late.
"""

import asyncio
import os
import random
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from tests.app.window import Window, opened
from tests.bench.opening import Ticker, write_others
from tests.bench.window import spread
from tests.helpers import scripted_agent
from tests.helpers.claude_sessions import START, SessionBuilder
from vibekit_desktop.core.types.agents import AgentChoice
from vibekit_desktop.core.types.ids import ChatId

FRAME_MS, STEP_MS = 16.0, 50.0
MESSAGES, OTHERS, AGENT_TURNS = 100_000, 500, 600
WISH_S = 1 / 30
BIG, LIVE = "Step 0", "Live"
_WORDS = ("tide", "harbour", "gauge", "level", "offset", "sample", "reading", "window", "pier", "buoy", "chart", "epoch")


def long_session(workspace: str) -> SessionBuilder:
    """A history of 100,000 messages: short questions, answers as agents write them, an edit in every fourth."""
    dice = random.Random(5)
    made = SessionBuilder(cwd=workspace, now=START)
    names = [f"src/{word}.py" for word in _WORDS]
    for turn in range(MESSAGES // 2):
        made.prompt(f"Step {turn}: " + " ".join(dice.choices(_WORDS, k=12)))
        if turn % 4 == 0:
            made.write(
                names[turn // 4 % len(names)], "\n".join(f"{word} = {turn}" for word in dice.choices(_WORDS, k=12)) + "\n"
            )
        code = "\n".join(f"{word} = compute({turn})" for word in dice.choices(_WORDS, k=4))
        prose = " ".join(dice.choices(_WORDS, k=30))
        made.end_turn(f"### The `{dice.choice(_WORDS)}`\n\n{prose}.\n\n- **one**\n- `two`\n\n```python\n{code}\n```\n")
    return made


def agent_script(folder: Path) -> tuple[str, ...]:
    """An agent that talks for some seconds, writes a file and runs a command, as often as it is asked."""
    turns = [
        [
            {"think": "The gauge is read before the level is known."},
            {"chunks": 60, "text": "The **level** of the `gauge` is kept. ", "per_second": 40},
            {"write": f"src/part_{turn % 9}.py", "text": "\n".join(f"line_{n} = {turn * n}" for n in range(40)) + "\n",
             "announce": "before", "ask": turn % 5 == 0},
            {"say": f"\n\n- one\n- two\n\n```python\nvalue = {turn}\n```\n\n"},
            {"shell": f"echo checked {turn}; seq 1 60", "via": "terminal", "quiet": True, "ask": turn % 7 == 0},
            {"chunks": 120, "text": "so it goes on, word by word\n\nand ", "per_second": 40},
        ]
        for turn in range(AGENT_TURNS)
    ]  # fmt: skip
    script = {"title": "Scripted", "name": "scripted", "turns": turns, "counter": str(folder / "prompts")}
    return scripted_agent.command(script, folder)


class Frames(QObject):
    """Paints every frame of a window itself, so that it knows how long that takes."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.doing = ""
        self.found: list[tuple[float, str]] = []
        self._inside = False
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() != QEvent.Type.UpdateRequest or self._inside:
            return False
        self._inside = True
        started = time.thread_time()
        try:
            watched.event(event)
        finally:
            self._inside = False
        self.found.append(((time.thread_time() - started) * 1000, self.doing))
        return True


class Person:
    """Does one thing after the other, about thirty a second where they are small. ``late``: the longest turn of each."""

    def __init__(self, window: Window, live: ChatId) -> None:
        self._window, self._live = window, live
        self._conductor = window.conductor
        self._dice = random.Random(7)
        self.frames = Frames(window.shell)
        self.ticker = Ticker()
        self.own: dict[str, float] = defaultdict(float)
        self.wall: dict[str, float] = defaultdict(float)
        self.times: dict[str, int] = defaultdict(int)
        self.missed: dict[str, str] = {}

    async def work(self, seconds: float) -> None:
        """Go on for so long."""
        wishes = self._wishes()
        names, weights = list(wishes), [weight for weight, _ in wishes.values()]
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            (name,) = self._dice.choices(names, weights)
            await self.do(name, wishes[name][1])
        await self.do("leave the review", self._leave)

    async def do(self, name: str, act: Callable[[], Awaitable[object] | object]) -> None:
        """One of the things."""
        self.ticker.restart()
        self.frames.doing = name
        try:
            done = act()
            if isinstance(done, Awaitable):
                await done
        except AssertionError as error:  # it was gone when the person got there: that happens to people too
            self.missed[name] = str(error) or "it was not there"
        await asyncio.sleep(WISH_S)
        self.times[name] += 1
        self.own[name] = max(self.own[name], self.ticker.worst_own)
        self.wall[name] = max(self.wall[name], self.ticker.worst)
        for stack in self.ticker.stacks:
            print(f"-- {name}\n{stack}", flush=True)

    def _wishes(self) -> dict[str, tuple[float, Callable[[], Awaitable[object] | object]]]:
        page, inspector, sidebar = self._conductor.page, self._conductor.inspector, self._conductor.sidebar
        return {
            "wheel": (30, lambda: self._wheel(page.transcript.viewport())),
            "wheel in the list": (4, lambda: self._wheel(sidebar.list.viewport())),
            "wheel in the timeline": (6, lambda: self._wheel(inspector.timeline.viewport())),
            "page": (6, lambda: self._key(page.transcript, self._dice.choice((Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)))),
            "block": (4, lambda: self._key(page.transcript, self._dice.choice((Qt.Key.Key_Up, Qt.Key.Key_Down)))),
            "choose": (2, lambda: self._key(page.transcript, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)),
            "beginning": (0.5, lambda: self._key(page.transcript, Qt.Key.Key_Home)),
            "end": (2, lambda: self._key(page.transcript, Qt.Key.Key_End)),
            "jump": (3, self._jump),
            "unfold": (4, self._unfold),
            "find": (1, self._find),
            "walk in the timeline": (4, self._walk),
            "tab": (1, lambda: self._act(self._dice.choice(("timeline", "timeline", "files", "conflicts")))),
            "type": (8, self._type),
            "send": (1.5, self._send),
            "allow": (6, lambda: self._act("allow-once")),
            "take back": (1, self._take_back),
            "other chat": (1, self._other_chat),
            "filter": (0.5, self._filter),
            "resize": (3, self._resize),
            "theme": (0.4, lambda: self._window.hub.set_mode(self._dice.choice(("light", "dark")))),
            "zoom": (0.4, lambda: self._act(self._dice.choice(("bigger", "smaller", "normal")))),
            "panes": (0.5, lambda: self._act(self._dice.choice(("toggle-sidebar", "toggle-inspector")))),
            "come back": (1, self._window.come_back),
            "review": (0.7, self._review),
            "restore preview": (0.5, self._preview),
        }

    # What a person does.

    def _act(self, name: str) -> None:
        action = self._conductor.keys.actions[name]
        if action.isEnabled():
            action.trigger()

    def _key(self, widget: QWidget, key: Qt.Key, held: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        if widget.isVisible():
            widget.setFocus()
            QTest.keyClick(widget, key, held)

    def _wheel(self, widget: QWidget) -> None:
        if not widget.isVisible():
            return
        place, turn = QPointF(widget.rect().center()), QPoint(0, self._dice.choice((120, -120, 240)))
        held = (Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase)
        QApplication.sendEvent(widget, QWheelEvent(place, QPointF(widget.mapToGlobal(place)), QPoint(), turn, *held, False))

    def _jump(self) -> None:
        bar = self._conductor.page.transcript.verticalScrollBar()
        bar.setValue(self._dice.randrange(max(1, bar.maximum())))

    def _unfold(self) -> None:
        view = self._conductor.page.transcript
        folds = {"card", "fold", "conflict"}
        hits = [(row, hit) for row, block in view.views.items() for hit in block.hits if hit.action in folds]
        for row, hit in self._dice.sample(hits, len(hits)):
            place = hit.box.translated(view.column_left(), view.row_top(row) + view.gap(row)).toAlignedRect()
            if view.isVisible() and view.viewport().rect().contains(place.center()):
                self._window.click(view.viewport(), place)
                return

    async def _find(self) -> None:
        bar = self._conductor.page.transcript.finding
        self._act("find")
        if not bar.isVisible():
            return
        for letter in self._dice.choice(("compute", "harbour", "nothing like this")):
            QTest.keyClick(QApplication.focusWidget() or bar, letter)
            await asyncio.sleep(0.03)
        for _ in range(4):
            self._act("find-next")
            await asyncio.sleep(0.05)
        QTest.keyClick(QApplication.focusWidget() or bar, Qt.Key.Key_Escape)

    async def _walk(self) -> None:
        view = self._conductor.inspector.timeline
        for key in self._dice.choices(
            (Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_Right, Qt.Key.Key_Left, Qt.Key.Key_PageDown), k=4
        ):
            self._key(view, key)
            await asyncio.sleep(WISH_S)

    async def _type(self) -> None:
        field = self._conductor.page.composer.field
        if not field.isVisible():
            return
        field.setFocus()
        for letter in self._dice.choice(_WORDS) + " ":
            QTest.keyClick(field, letter)
            await asyncio.sleep(WISH_S)

    async def _send(self) -> None:
        field = self._conductor.page.composer.field
        if not field.isVisible() or any(state.chat == self._live for state in self._window.wired.core.live.running()):
            return
        await self._type()
        QTest.keyClick(field, Qt.Key.Key_Return)

    async def _take_back(self) -> None:
        self._act("undo")
        await self._window.settled()
        await asyncio.sleep(0.2)
        if self._window.dialogs():
            self._window.key(Qt.Key.Key_Escape)
        elif self._dice.random() < 0.7:
            self._act("redo")
            await self._window.settled()

    async def _other_chat(self) -> None:
        here = self._conductor.open.chat
        titles = [row.header.name for row in self._window.chats()]
        known = [title for title in titles if title.startswith(BIG)] or titles
        if not self._conductor.sidebar.list.isVisible():
            self._act("toggle-sidebar")
            await asyncio.sleep(WISH_S)
        if here != self._live or not self._conductor.sidebar.list.isVisible():
            self._conductor.open_chat(self._live)
        elif self._dice.random() < 0.7:
            self._window.choose_chat(known[0])
        else:
            self._window.choose_chat(self._dice.choice(titles))
        await self._window.settled()

    async def _filter(self) -> None:
        search = self._conductor.sidebar.search
        for letter in "question 12":
            search.setText(search.text() + letter)
            await asyncio.sleep(0.02)
        search.setText("")

    async def _resize(self) -> None:
        width, height = self._dice.randrange(900, 1440), self._dice.randrange(600, 900)
        shell = self._window.shell
        for _ in range(6):  # a border that is dragged
            shell.resize((shell.width() + width) // 2, (shell.height() + height) // 2)
            await asyncio.sleep(WISH_S)

    async def _review(self) -> None:
        self._conductor.open_review()
        await self._window.settled()
        review = self._conductor.review
        for _ in range(4):
            self._window.key(Qt.Key.Key_Down)
            await asyncio.sleep(0.1)
            self._wheel(review.pane)
            await asyncio.sleep(WISH_S)
        self._leave()
        await self._window.settled()

    def _leave(self) -> None:
        self._conductor._window.show_page("transcript")

    async def _preview(self) -> None:
        points = [row.undo_to for row in self._window.timeline()[:400] if row.undo_to is not None]
        if not points:
            return
        self._conductor.inspector.restore_requested.emit(self._dice.choice(points))
        for _ in range(100):  # while a turn runs it is not allowed, and only said
            if self._window.dialogs():
                break
            await asyncio.sleep(0.02)
        await asyncio.sleep(0.3)
        if self._window.dialogs():
            self._window.key(Qt.Key.Key_Escape)
        await self._window.settled()


async def _hour(window: Window, scratch: Path, minutes: float) -> Person:
    await window.start()
    await window.settled()
    folder = scratch / "live"
    folder.mkdir()
    agent = AgentChoice(name="Scripted", command=agent_script(scratch))
    live = await window.wired.core.live.new_chat(folder, agent)
    person = Person(window, live)
    await person.do("idle", lambda: asyncio.sleep(2))
    window.choose_chat(next(row.header.name for row in window.chats() if row.header.name.startswith(BIG)))
    await person.do("first opening", window.settled)
    await person.work(minutes * 60)
    await person.do("stop", lambda: window.wired.core.live.stop(live))
    await window.until(lambda: not window.wired.core.live.running())
    return person


def run() -> bool:
    """Print the figures; whether every aim was met."""
    app = QApplication.instance() or QApplication(["vibekit-desktop"])
    assert isinstance(app, QApplication)
    minutes = float(os.environ.get("VIBEKIT_BENCH_MINUTES", "0.5"))
    with tempfile.TemporaryDirectory() as made:
        scratch = Path(made)
        home, workspace = scratch / "home", scratch / "workspace"
        workspace.mkdir()
        size = long_session(str(workspace)).install(home).stat().st_size
        write_others(home, OTHERS)
        print(
            f"a person at work in the whole program for {minutes:g} minutes; {MESSAGES:,} messages ({size / 1e6:.0f} MB)",
            flush=True,
        )
        with opened(app, data=scratch / "data", home=home, pictures=scratch) as window:
            person = window.play(_hour(window, scratch, minutes))
            person.ticker.stop()
    return _told(person)


def _told(person: Person) -> bool:
    idle = person.wall.pop("idle", 0.0)
    worst: dict[str, float] = defaultdict(float)
    for took, name in person.frames.found:
        worst[name] = max(worst[name], took)
    for name in sorted(person.own, key=lambda one: -person.own[one]):
        print(
            f"  {name:24} {person.times[name]:7,} times, longest turn {person.own[name]:6.1f} ms, "
            f"late {person.wall[name]:6.1f}, longest frame {worst[name]:5.1f}"
        )
    for name, why in person.missed.items():
        print(f"  not done at least once: {name}: {why[:200]}")
    frames = spread([took for took, _ in person.frames.found], FRAME_MS)
    frame, step = max(person.frames.found), max((took, name) for name, took in person.own.items())
    print(f"  idle, the loop is late by {idle:.1f} ms; {len(person.frames.found):,} frames")
    print(f"  {'met ' if frame[0] <= FRAME_MS else 'MISSED'} the longest frame {frame[0]:.1f} ms ({frame[1]}), {frames}")
    print(f"  {'met ' if step[0] <= STEP_MS else 'MISSED'} the longest turn of the loop {step[0]:.1f} ms ({step[1]})")
    return frame[0] <= FRAME_MS and step[0] <= STEP_MS


if __name__ == "__main__":
    sys.exit(0 if run() else 1)
