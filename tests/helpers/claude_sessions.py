"""Write session files as Claude Code writes them, made up from scratch, for tests, stories and pictures.

`SessionBuilder` keeps a small disk of its own, so that originals and patches in the records are right. Nothing here imports the
reader under test.
"""

import difflib
import json
import re
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

START = datetime(2026, 1, 14, 9, 12, tzinfo=UTC)


def display_patch(before: str, after: str) -> list[dict[str, object]]:
    """Hunks as Claude Code stores them: display text, every leading tab written as two spaces."""
    old, new = before.split("\n"), after.split("\n")
    hunks: list[dict[str, object]] = []
    for group in difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(3):
        lines: list[str] = []
        for tag, a, b, c, d in group:
            if tag == "equal":
                lines += [" " + line for line in old[a:b]]
                continue
            lines += ["-" + line for line in old[a:b]]
            lines += ["+" + line for line in new[c:d]]
        shown = [line[0] + re.sub(r"^\t+", lambda tabs: "  " * len(tabs[0]), line[1:]) for line in lines]
        first, last = group[0], group[-1]
        hunks.append(
            {
                "oldStart": first[1] + 1,
                "oldLines": last[2] - first[1],
                "newStart": first[3] + 1,
                "newLines": last[4] - first[3],
                "lines": shown,
            }
        )
    return hunks


@dataclass
class SessionBuilder:
    """One session in the making. ``files`` is the disk as the agent's tools see it: absolute path to content."""

    cwd: str = "/home/ann/tidewatch"
    session: str = "3b0f5a1e-6c55-4f0e-9d39-1f2a3b4c5d6e"
    version: str = "2.1.40"
    model: str = "claude-opus-4-6"
    files: dict[str, str] = field(default_factory=dict)
    records: list[dict[str, object]] = field(default_factory=list)
    parent: str | None = None
    now: datetime = START
    count: int = 0
    sidechain: bool = False

    # -- records -------------------------------------------------------------------------------------------------

    def _id(self) -> str:
        self.count += 1
        return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{self.session}/{self.count}"))

    def stamp(self, seconds: float = 2) -> str:
        """The time, which goes on."""
        self.now += timedelta(seconds=seconds)
        return self.now.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def raw(self, **record: object) -> dict[str, object]:
        """A record without the usual keys (state lines)."""
        self.records.append(record)
        return record

    def record(self, kind: str, **fields: object) -> str:
        """A conversation record under the newest one; returns its uuid."""
        identity = str(fields.pop("uuid", None) or self._id())
        base: dict[str, object] = {
            "parentUuid": self.parent,
            "isSidechain": self.sidechain,
            "userType": "external",
            "cwd": self.cwd,
            "sessionId": self.session,
            "version": self.version,
            "gitBranch": "main",
            "type": kind,
            "uuid": identity,
            "timestamp": self.stamp(),
        }
        self.records.append({**base, **fields})
        self.parent = identity
        return identity

    def prompt(self, text: object, **fields: object) -> str:
        """What the person typed; with the snapshot line that goes before it."""
        identity = self._id()
        self.raw(
            type="file-history-snapshot",
            messageId=identity,
            snapshot={"messageId": identity, "trackedFileBackups": {}, "timestamp": self.stamp(20)},
            isSnapshotUpdate=False,
        )
        return self.record("user", message={"role": "user", "content": text}, uuid=identity, **fields)

    def block(self, block: dict[str, object], **fields: object) -> str:
        """One content block of the assistant on a line of its own."""
        message = {
            "id": f"msg_{self.count:04d}",
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": [block],
            "stop_reason": None,
        }
        return self.record("assistant", message=message, **fields)

    def say(self, text: str) -> str:
        """Text of the answer."""
        return self.block({"type": "text", "text": text})

    def think(self, text: str) -> str:
        """A thinking block."""
        return self.block({"type": "thinking", "thinking": text, "signature": "c2ln"})

    def call(self, tool: str, **arguments: object) -> str:
        """A tool call; returns its id."""
        identity = f"toolu_{self._id().replace('-', '')[:20]}"
        self.block({"type": "tool_use", "id": identity, "name": tool, "input": arguments})
        return identity

    def result(self, call: str, text: object, outcome: object = None, *, failed: bool = False) -> str:
        """The answer to a call; ``outcome`` is the structured result."""
        block: dict[str, object] = {"tool_use_id": call, "type": "tool_result", "content": text}
        if failed:
            block["is_error"] = True
        fields: dict[str, object] = {} if outcome is None else {"toolUseResult": outcome}
        return self.record("user", message={"role": "user", "content": [block]}, **fields)

    # -- tools ---------------------------------------------------------------------------------------------------

    def at(self, path: str) -> str:
        """The absolute path of one inside the session's folder."""
        return path if path.startswith("/") or path[1:2] == ":" else f"{self.cwd}/{path}"

    def read(self, path: str) -> str:
        """A full Read."""
        path = self.at(path)
        content = self.files[path]
        lines = content.count("\n") + 1
        numbered = "\n".join(f"{number:6d}→{line}" for number, line in enumerate(content.split("\n"), 1))
        call = self.call("Read", file_path=path)
        file = {"filePath": path, "content": content, "numLines": lines, "startLine": 1, "totalLines": lines}
        self.result(call, numbered, {"type": "text", "file": file})
        return call

    def write(self, path: str, content: str) -> str:
        """A Write that creates or overwrites."""
        path = self.at(path)
        before = self.files.get(path)
        call = self.call("Write", file_path=path, content=content)
        self.files[path] = content
        outcome = {
            "type": "create" if before is None else "update",
            "filePath": path,
            "content": content,
            "structuredPatch": [] if before is None else display_patch(before, content),
            "originalFile": before,
        }
        word = "created successfully at:" if before is None else "has been updated:"
        self.result(call, f"File {word} {path}", outcome)
        return call

    def edit(self, path: str, old: str, new: str, *, every: bool = False, **changed: object) -> str:
        """A successful Edit; ``changed`` replaces keys of the structured result (for example ``originalFile=None``)."""
        path = self.at(path)
        before = self.files[path]
        assert old in before, "the demo edits text that is there"
        gone = old + "\n" if not new and not old.endswith("\n") and old + "\n" in before else old
        after = before.replace(gone, new) if every else before.replace(gone, new, 1)
        self.files[path] = after
        call = self.call("Edit", file_path=path, old_string=old, new_string=new, replace_all=every)
        outcome = {
            "filePath": path,
            "oldString": old,
            "newString": new,
            "originalFile": before,
            "structuredPatch": display_patch(before, after),
            "userModified": False,
            "replaceAll": every,
        }
        self.result(call, f"The file {path} has been updated successfully.", {**outcome, **changed})
        return call

    def bash(self, command: str, output: str, *, failed: bool = False, **more: object) -> str:
        """A shell command."""
        call = self.call("Bash", command=command, description=command.split("\n")[0])
        outcome: object = {"stdout": output, "stderr": "", "interrupted": False, **more}
        self.result(call, output, f"Error: {output}" if failed else outcome, failed=failed)
        return call

    def end_turn(self, text: str) -> None:
        """The last words of a turn and its duration."""
        self.say(text)
        self.record("system", subtype="turn_duration", durationMs=42_000, isMeta=False)

    # -- files ---------------------------------------------------------------------------------------------------

    def text(self) -> str:
        """The file's text: one record a line."""
        return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in self.records)

    def install(self, home: Path) -> Path:
        """Write the session where Claude Code keeps it under a home folder."""
        slug = re.sub(r"[^A-Za-z0-9]", "-", self.cwd)
        path = home / ".claude" / "projects" / slug / f"{self.session}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.text(), encoding="utf-8", newline="\n")
        return path


_README = """# Tidewatch

Prints the tides of a harbour.

## Use

    python -m tidewatch
"""

_NOTES = """# Ideas

- read the tables of the harbour office
- warn before spring tides
- colours?
"""

_MODEL = '''"""What a tide is."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Tide:
    at: datetime
    height_m: float
    high: bool


def parse_line(line):
    when, height = line.split(";")
    return Tide(datetime.fromisoformat(when), float(height), float(height) > 2.0)


def parse_table(text):
    tides = []
    for line in text.split("\\n"):
        tides.append(parse_line(line))
    return tides
'''

_REPORT = '''"""Print a day of tides."""


def report(tides):
    for tide in tides:
        print(tide.at, tide.height_m)
'''

_REPORT_TABLE = '''"""Print a day of tides as a table."""

from collections.abc import Iterable

from tidewatch.model import Tide

HEADER = "time   height  kind"


def row(tide: Tide) -> str:
    """One tide as a line of the table."""
    kind = "high" if tide.high else "low"
    return f"{tide.at:%H:%M}  {tide.height_m:5.2f} m  {kind}"


def report(tides: Iterable[Tide]) -> str:
    """The whole table."""
    return "\\n".join([HEADER, *(row(tide) for tide in tides)])
'''

_TESTS = """from tidewatch.model import parse_line, parse_table


def test_a_line_becomes_a_tide():
    tide = parse_line("2026-01-14T06:12;3.41")
    assert tide.height_m == 3.41
    assert tide.high


def test_empty_lines_are_passed_over():
    assert len(parse_table("2026-01-14T06:12;3.41\\n\\n")) == 1
"""

_MAIN = '''"""Print the tides of a table given on standard input."""

import sys

from tidewatch.model import parse_table
from tidewatch.report import report


def main() -> int:
    print(report(parse_table(sys.stdin.read())))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
'''


def demo_session(workspace: str, start: datetime = START) -> SessionBuilder:
    """A session of five turns on a small Python project; ``files`` holds what the disk holds in the end."""
    made = SessionBuilder(cwd=workspace, now=start, version="2.1.270")
    made.files = {made.at("README.md"): _README, made.at("NOTES.md"): _NOTES}
    _begin_the_project(made)
    _test_the_parser(made)
    _print_a_table(made)
    _clean_up(made)
    _name_the_limit(made)
    return made


def _begin_the_project(made: SessionBuilder) -> None:
    made.prompt("Start a package `tidewatch` that reads lines like `2026-01-14T06:12;3.41` and prints the tides of a day.")
    made.think("The README names the module already. A small data class and two functions are enough to begin with.")
    made.say("I'll look at what is there first.")
    made.read("README.md")
    made.write("tidewatch/model.py", _MODEL)
    made.write("tidewatch/report.py", _REPORT)
    made.end_turn(
        "The package can parse a table and print it:\n\n- `tidewatch/model.py`: `Tide`, `parse_line`, `parse_table`\n"
        "- `tidewatch/report.py`: `report`"
    )


def _test_the_parser(made: SessionBuilder) -> None:
    made.prompt("Add tests for the parser. Empty lines must not break it.")
    made.read("tidewatch/model.py")
    made.write("tests/test_model.py", _TESTS)
    made.bash("python -m pytest -q", "E   ValueError: not enough values to unpack\n1 failed, 1 passed in 0.03s\n", failed=True)
    made.think("`''.split(';')` gives one value. Skip blank lines in parse_table.")
    made.edit(
        "tidewatch/model.py",
        '    for line in text.split("\\n"):\n        tides.append(parse_line(line))\n',
        "    for line in text.splitlines():\n        if line.strip():\n            tides.append(parse_line(line))\n",
    )
    made.bash("python -m pytest -q", "\x1b[32m2 passed\x1b[0m in 0.02s\n")
    made.end_turn("Both tests pass. `parse_table` passes over blank lines now.")


def _print_a_table(made: SessionBuilder) -> None:
    made.prompt("Print a proper table with a header, and say in the README how to call it.")
    made.read("tidewatch/report.py")
    made.write("tidewatch/report.py", _REPORT_TABLE)
    made.write("tidewatch/__main__.py", _MAIN)
    made.edit(
        "README.md",
        "    python -m tidewatch\n",
        "    python -m tidewatch < harbour.csv\n\nEach line is `time;height in metres`.\n",
    )
    made.end_turn("`report` returns the table, and `python -m tidewatch` prints it.")


def _clean_up(made: SessionBuilder) -> None:
    made.prompt("Move what is left of NOTES.md into the README and delete the file.")
    made.read("NOTES.md")
    made.read("README.md")
    made.edit(
        "README.md",
        "Each line is `time;height in metres`.\n",
        "Each line is `time;height in metres`.\n\n## Ideas\n\n"
        "- read the tables of the harbour office\n- warn before spring tides\n",
    )
    path = made.at("NOTES.md")
    hunk = {"oldStart": 1, "oldLines": 5, "newStart": 0, "newLines": 0, "lines": ["-" + line for line in _NOTES.splitlines()]}
    gone = {"files": [{"filePath": path, "hunks": [hunk], "deleted": True}], "changedFiles": [path], "moreFiles": 0}
    made.bash("rm NOTES.md", "", bashEditDiff=gone)
    del made.files[path]
    made.end_turn("The two open ideas are in the README, and `NOTES.md` is gone.")


def _name_the_limit(made: SessionBuilder) -> None:
    made.prompt("2.0 in parse_line is a magic number, give it a name and add type hints.")
    made.read("tidewatch/model.py")
    failing = made.call(
        "Edit", file_path=made.at("tidewatch/model.py"), old_string="def parse(line):", new_string="def parse(line: str):"
    )
    made.result(
        failing,
        "<tool_use_error>String to replace not found in file.</tool_use_error>",
        "Error: String to replace not found in file.",
        failed=True,
    )
    made.edit(
        "tidewatch/model.py",
        "\n\n@dataclass(frozen=True)\n",
        '\nHIGH_FROM_M = 2.0\n"""A tide above this is a high one."""\n\n\n@dataclass(frozen=True)\n',
    )
    made.edit("tidewatch/model.py", "float(height) > 2.0", "float(height) > HIGH_FROM_M")
    made.edit("tidewatch/model.py", "def parse_line(line):", "def parse_line(line: str) -> Tide:")
    made.edit(
        "tidewatch/model.py",
        "def parse_table(text):\n    tides = []\n",
        "def parse_table(text: str) -> list[Tide]:\n    tides: list[Tide] = []\n",
    )
    made.end_turn("The limit is `HIGH_FROM_M` now, and both functions say what they take and return.")


def write_demo_session(home: Path, workspace: Path, start: datetime = START) -> Path:
    """Put the demo session into a home folder and what it left on disk into the workspace; returns the session's file."""
    made = demo_session(str(workspace), start)
    for path, content in made.files.items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(content, encoding="utf-8", newline="\n")
    return made.install(home)
