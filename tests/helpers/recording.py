"""Chats as they are on an afternoon, recorded: our own scripted agent talked and worked, the program's core wrote it down.

Nothing in them is made up as an object: every chat went through a real process, every file through the disk, every line of an
event log through the core. Only the time is ours: it is the same afternoon whenever it is recorded.
"""

import asyncio
import json
import os
import shutil
import sys
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from pathlib import Path

from tests.helpers import scripted_agent, tidepool
from tests.helpers.scripted_agent import JsonObject
from vibekit_desktop.core.api import Core
from vibekit_desktop.core.types.agents import AgentChoice, Answer, Headless, Prompt, Question
from vibekit_desktop.core.types.checkpoints import KEEP_MINE, BeforeTurn, Scope
from vibekit_desktop.core.types.ids import ChatId

Until = Callable[[Callable[[], object]], Awaitable[None]]
Turn = tuple[str, Sequence[JsonObject]]

MODES = {
    "type": "select", "id": "mode", "name": "Mode", "category": "mode", "currentValue": "ask",
    "options": [{"value": "ask", "name": "Ask before edits"}, {"value": "auto", "name": "Edit without asking"}],
}  # fmt: skip
MODELS = {
    "type": "select", "id": "model", "name": "Model", "category": "model", "currentValue": "sonnet",
    "options": [{"value": "sonnet", "name": "Sonnet"}, {"value": "opus", "name": "Opus"}],
}  # fmt: skip

MAIN = "Keep empty rows in export"
DOCS = "Docs: tidy the export guide"


class Clock:
    """The time of the recording, as the core and the window are told it. It moves when somebody moves it, and a millisecond
    whenever the core asks."""

    def __init__(self) -> None:
        self.now_ms = 0
        self.at(2026, 6, 11, 13, 12)

    def __call__(self) -> int:
        self.now_ms += 1
        return self.now_ms

    def at(self, *when: int) -> None:
        """It is this local time now."""
        year, month, day, hour, minute = when
        self.now_ms = int(datetime(year, month, day, hour, minute).timestamp() * 1000)

    def on(self, seconds: float) -> None:
        """Time passes."""
        self.now_ms += int(seconds * 1000)


class Recorder:
    """Lets agents work in the folders of a person's home."""

    def __init__(self, core: Core, data: Path, home: Path, scratch: Path, clock: Clock, until: Until) -> None:
        self.core, self.data, self.home, self.scratch, self.clock, self.until = core, data, home, scratch, clock, until
        self._gates = 0
        self._tools()

    def _tools(self) -> None:
        """Commands that agents run: the formatter there is, and an ``npm`` that takes its time. They are in ``bin`` of the
        scratch folder, which is to be first in PATH before the core begins."""
        tools = self.scratch / "bin"
        tools.mkdir(parents=True, exist_ok=True)
        npm = tools / "npm"
        npm.write_text(
            "#!/bin/sh\necho '$ npm test -- plot'\necho '✓ loader reads the manifest first 41 ms'\n"
            "echo '✓ a missing chunk is reported once 12 ms'\necho '› loads 200 charts without blocking …'\nsleep 600\n"
        )
        npm.chmod(0o755)
        (tools / "ruff").symlink_to(Path(sys.executable).parent / "ruff")

    def folder(self, name: str) -> Path:
        """A workspace in the person's home."""
        made = self.home / "code" / name
        made.mkdir(parents=True, exist_ok=True)
        return made

    # What agents do.

    def wait(self, seconds: float) -> JsonObject:
        """A step in which so much time passes."""
        self._gates += 1
        gate = self.scratch / f"gate-{self._gates}"
        return {"parallel": [[{"touch": f"{gate}-here"}, {"wait_for": f"{gate}-go"}]], "seconds": seconds, "gate": str(gate)}

    def read(self, folder: Path, *names: str) -> JsonObject:
        """Steps that read files, as agents tell of it."""
        updates = [
            {
                "update": {
                    "sessionUpdate": "tool_call", "toolCallId": f"read-{self._gates}-{name}", "title": f"Read {name}",
                    "kind": "read", "status": "completed", "locations": [{"path": str(folder / name)}],
                }
            }
            for name in names
        ]  # fmt: skip
        self._gates += 1
        return {"repeat": 1, "steps": updates}

    def shell(self, line: str, *, lasts: float = 0.0, **more: object) -> JsonObject:
        """A command in a terminal of ours; so many seconds pass until the agent says that it is over."""
        waits = self.wait(lasts) if lasts else {}
        return {"shell": line, "via": "terminal", "quiet": True, "then": waits.pop("parallel", [[]])[0], **waits, **more}

    def choice(self, title: str, turns: Sequence[Turn]) -> AgentChoice:
        """An agent that has these turns before it."""
        self._gates += 1
        script: JsonObject = {
            "counter": str(self.scratch / f"prompts-{self._gates}"),
            "title": title,
            "name": title.lower().replace(" ", "-"),
            "config_options": [MODES, MODELS],
            "turns": [list(steps) for _, steps in turns],
        }
        return AgentChoice(name=title, command=scripted_agent.command(script, self.scratch))

    # What a person does.

    async def begin(self, folder: Path, title: str, turns: Sequence[Turn]) -> ChatId:
        """A new chat with an agent; nothing is said yet."""
        return await self.core.live.new_chat(folder, self.choice(title, turns))

    async def say(self, chat: ChatId, turn: Turn) -> None:
        """Say something and wait for the end of the turn, while its time passes."""
        text, steps = turn
        task = asyncio.ensure_future(self.core.live.run(chat, Prompt(text=text), allow=Headless.ALL))
        for step in steps:
            gate = step.get("gate")
            if isinstance(gate, str):
                await self.until(lambda gate=gate: Path(f"{gate}-here").exists() or task.done())
                seconds = step["seconds"]
                assert isinstance(seconds, float | int)
                self.clock.on(seconds)
                Path(f"{gate}-go").touch()
        await task

    async def whole(self, folder: Path, agent: str, name: str, *turns: Turn) -> ChatId:
        """A chat from its beginning to its end."""
        chat = await self.begin(folder, agent, turns)
        for turn in turns:
            await self.say(chat, turn)
        await self.core.chats.rename(chat, name)
        await self.seen(chat)
        return chat

    async def seen(self, chat: ChatId) -> None:
        """A person has read all of it."""
        view = await self.core.chats.open(chat)
        await self.core.chats.note_seen(chat, view.header.message_count)


def edit(path: str, text: str, **more: object) -> JsonObject:
    """A step that writes a file and announces it."""
    return {"write": path, "text": text, "via": "client", **more}


class Afternoon:
    """The chats of the pictures. ``main`` is the one that is open."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.main = self.docs = ChatId("")
        self.tidepool = recorder.folder("tidepool")

    async def record(self) -> None:
        """Everything up to the last minute."""
        recorder, clock = self.recorder, self.recorder.clock
        for name, text in tidepool.FIRST.items():
            path = self.tidepool / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        await recorder.core.settings.set("capture.max_mb", "32")
        await self._earlier()
        clock.at(2026, 6, 11, 13, 12)
        turns = self._turns()
        self.main = main = await recorder.begin(self.tidepool, "Claude Code", turns)
        await recorder.say(main, turns[0])
        await recorder.core.chats.rename(main, MAIN)
        for turn, minute in ((1, 20), (2, 31)):
            clock.at(2026, 6, 11, 13, minute)
            await recorder.say(main, turns[turn])
        clock.at(2026, 6, 11, 13, 44)
        await self._restore()
        await self._branch()
        clock.at(2026, 6, 11, 13, 47)
        await recorder.say(main, turns[3])
        clock.at(2026, 6, 11, 13, 58)
        await recorder.seen(self.docs)
        await recorder.say(self.docs, self._docs_turns[1])
        clock.at(2026, 6, 11, 14, 2)
        await recorder.say(main, turns[4])
        await recorder.seen(main)
        (self.tidepool / "src/export/rows.py").write_text(tidepool.ROWS_NOW)
        (self.tidepool / "docs/export.md").write_text(tidepool.GUIDE_NOW)
        clock.at(2026, 6, 11, 14, 5)

    def _turns(self) -> list[Turn]:
        recorder, folder = self.recorder, self.tidepool
        small = {name: text.replace("DROP_EMPTY = True", "DROP_EMPTY = False") for name, text in tidepool.SMALL.items()}
        return [
            (
                "Where does the export lose rows? Read only, please.",
                [
                    recorder.read(folder, "src/export/csv_writer.py", "src/export/rows.py", "src/export/legacy_rows.py"),
                    recorder.wait(22),
                    {"say": "In `CsvWriter.write`: it calls `drop_empty`, which leaves out every row without values."},
                ],
            ),
            (
                "Add a failing test for a table with an empty row.",
                [
                    recorder.shell("mkdir -p tests/support && mv tests/table_helpers.py tests/support/"),
                    edit("tests/test_csv_writer.py", tidepool.TEST),
                    recorder.wait(31),
                    {"say": "Four tests, and three of them fail, as they should."},
                ],
            ),
            (
                "Now make it pass. Keep the public API.",
                [
                    edit("src/export/csv_writer.py", tidepool.WRITER_3),
                    *(edit(name, text) for name, text in small.items()),
                    edit("docs/export.md", tidepool.GUIDE_3),
                    recorder.wait(125),
                    {"say": "The rows stay, and the public names are as they were."},
                ],
            ),
            (
                "Try again, but write the rows lazily.",
                [
                    edit("src/export/csv_writer.py", tidepool.WRITER_4),
                    edit("src/export/rows.py", tidepool.ROWS_4),
                    {"delete": "src/export/legacy_rows.py"},
                    recorder.shell("mkdir -p data && truncate -s 48MB data/samples.parquet"),
                    recorder.wait(48),
                    {"say": "All 31 tests pass. The public names of `csv_writer` are unchanged."},
                ],
            ),
            (
                "Run the formatter, then bring the export guide up to date. Say that rows are now written lazily.",
                [
                    {"think": "The guide quotes code. If I format after I quoted it, the guide is wrong again."},
                    recorder.wait(6),
                    {"say": "I’ll format first, so that the guide quotes the final code."},
                    recorder.shell("ruff format src", lasts=0.8),
                    recorder.read(folder, "docs/export.md", "src/export/csv_writer.py", "src/export/rows.py"),
                    edit("docs/export.md", tidepool.GUIDE_5),
                    edit("docs/changes/0142-lazy-rows.md", tidepool.NOTE),
                    recorder.wait(66),
                    {
                        "say": "The guide now shows the loop that readers should copy:\n\n```python\n"
                        "with CsvWriter(path) as out:\n    for row in table.rows():      # one row in memory\n"
                        "        out.write(row)            # an empty row stays a line\n```\n"
                    },
                ],
            ),
            (
                "Ship the plot bundle and check that it loads with a cold cache.",
                [
                    {"think": "The loader asks for eleven chunks in a row. A manifest would tell it what there is."},
                    recorder.wait(9),
                    recorder.read(folder, "web/plot/loader.ts", "setup.cfg", "docs/export.md", "src/export/__init__.py"),
                    edit("web/plot/loader.ts", tidepool.LOADER_6),
                    edit("web/plot/manifest.json", tidepool.MANIFEST),
                    {
                        "parallel": [
                            [recorder.shell("npm test -- plot")],
                            [
                                {"sleep": 0.4},
                                {
                                    "say": "The loader now asks for the manifest first, so a cold cache costs one extra "
                                    "request instead of eleven. While the tests run, the old bundle has to go before the "
                                    "new one is "
                                },
                                recorder.shell("rm -rf dist && npm run build -- --mode plot", ask=True, cwd="web"),
                            ],
                        ]
                    },
                ],
            ),
        ]

    async def _branch(self) -> None:
        recorder = self.recorder
        branch = await recorder.core.chats.branch(self.main, 3)
        await recorder.core.chats.rename(branch, "Write rows eagerly instead")

    async def _restore(self) -> None:
        """Only the files: the chat goes on from where it is."""
        checkpoints = self.recorder.core.checkpoints
        plan = await checkpoints.plan_restore(self.main, BeforeTurn(3), paths=(), scope=Scope.FILES, mine=KEEP_MINE)
        report = await checkpoints.carry_out(plan)
        assert report.entry, report
        assert not report.failed, report

    async def _earlier(self) -> None:
        """The chats of other days, oldest first."""
        recorder, clock = self.recorder, self.recorder.clock
        lantern, orchard = recorder.folder("lantern"), recorder.folder("orchard-api")
        plot = "".join(f"POINT_{number} = {number * 7 % 13}\n" for number in range(640))
        (orchard / "retry.py").write_text("".join(f"def try_{number}():\n    pass\n" for number in range(70)))
        (lantern / "start.py").write_text("".join(f"import part_{number}\n" for number in range(60)))
        clock.at(2025, 8, 12, 10, 0)
        first = ("Draw the points of a table", [edit("plot.py", plot), recorder.wait(90), {"say": "Done."}])
        await recorder.whole(recorder.folder("tidepool-plot"), "Claude Code", "First pass at the plot module", first)
        clock.at(2026, 6, 8, 11, 30)
        port = ("Port the importer to asyncio", [recorder.wait(40), {"say": "It awaits every read now."}])
        damaged = await recorder.whole(orchard, "Codex", "Port the importer to asyncio", port)
        clock.at(2026, 6, 9, 15, 0)
        loop = "".join(f"async def attempt_{number}():\n    return {number}\n\n" for number in range(70))
        retry = ("Replace the retry loop", [edit("retry.py", loop), recorder.wait(60), {"say": "One loop is left."}])
        await recorder.whole(orchard, "Claude Code", "Replace the retry loop", retry)
        clock.at(2026, 6, 10, 9, 41)
        why = ("Why does the watcher miss a rename?", [recorder.wait(20), {"say": "It looks at the old name only."}])
        await recorder.whole(lantern, "Codex", "Why does the watcher miss a rename?", why)
        clock.at(2026, 6, 10, 17, 19)
        self._docs_turns: list[Turn] = [
            (
                "Tidy the export guide",
                [edit("docs/guide-outline.md", tidepool.GUIDE_OTHER), recorder.wait(50), {"say": "Done."}],
            ),
            (
                "Give it a short title",
                [edit("docs/export.md", tidepool.GUIDE_OTHER), recorder.wait(4), {"say": "It is “Export”."}],
            ),
        ]
        self.docs = await recorder.begin(self.tidepool, "Claude Code", self._docs_turns)
        await recorder.say(self.docs, self._docs_turns[0])
        await recorder.core.chats.rename(self.docs, DOCS)
        for number in range(2):
            old = (f"Try idea {number + 1}", [{"say": "It does not help."}])
            chat = await recorder.whole(lantern, "Codex", f"Idea {number + 1} for the cold start", old)
            await recorder.core.chats.archive(chat)
        self._damage(damaged)

    def _damage(self, chat: ChatId) -> None:
        """Somebody's disk lost three messages of a chat."""
        (file,) = self.recorder.data.glob(f"vaults/*/chats/{chat}.json")
        content = json.loads(file.read_text("utf-8"))
        content["messages"] += [17, [], "lost"]
        file.write_text(json.dumps(content), "utf-8")
        then = self.recorder.clock.now_ms / 1000
        os.utime(file, (then, then))

    async def at_work(self) -> None:
        """Two other chats are busy: one works, one waits for an answer."""
        recorder, clock, live = self.recorder, self.recorder.clock, self.recorder.core.live
        now = clock.now_ms
        lantern = recorder.folder("lantern")
        start = "".join(f"import part_{number}\n" if number % 2 else f"lazy('part_{number}')\n" for number in range(76))
        cold: list[Turn] = [("Speed up the cold start", [edit("start.py", start), {"say": "Now I measure."}, {"sleep": 600}])]
        codex = await recorder.begin(lantern, "Codex", cold)
        await live.prompt(codex, Prompt(text=cold[0][0]))
        await self.allow(codex, 1)
        clock.on(-18 * 60)
        settings: list[Turn] = [("Move the settings to TOML", [edit("setup.cfg", "[metadata]\n", ask=True)])]
        gemini = await recorder.begin(recorder.folder("orchard-api"), "Gemini CLI", settings)
        await live.prompt(gemini, Prompt(text=settings[0][0]))
        await self.recorder.until(lambda: any(state.questions for state in live.running()))
        await recorder.core.chats.rename(gemini, "Move settings to TOML")
        clock.now_ms = now
        await recorder.core.chats.rename(codex, "Speed up cold start")

    async def allow(self, chat: ChatId, count: int) -> None:
        """Say yes to so many questions of a chat, as they come."""
        live = self.recorder.core.live
        for _ in range(count):
            asked: list[Question] = []

            def look(asked: list[Question] = asked) -> bool:
                asked[:] = [one for state in live.running() if state.chat == chat for one in state.questions]
                return bool(asked)

            await self.recorder.until(look)
            await live.answer(chat, asked[0].id, Answer.ALLOW_ONCE)
            await self.recorder.until(lambda gone=asked[0].id: not any(one.id == gone for one in self._questions(chat)))

    def _questions(self, chat: ChatId) -> list[Question]:
        running = self.recorder.core.live.running()
        return [one for state in running if state.chat == chat for one in state.questions]

    def close(self) -> None:
        """Nothing of it is left."""
        shutil.rmtree(self.recorder.scratch, ignore_errors=True)
