"""A place where a real coding agent works offline, through our own program.

A lab has a home folder of its own, a workspace with a few files, a data folder with the user's own `agents.json`, and a model
that says what a script says (`fake_model`). Nothing in it reaches beyond 127.0.0.1, and nothing of the machine's user is read.
The agents' programs are those of the folder that the variable ``VIBEKIT_AGENTS`` names: a ``node_modules/.bin``, as `.ci/run`
makes one.
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.helpers import program
from tests.helpers.fake_model import FakeModel, Step
from tests.helpers.fake_model_wire import Call
from tests.helpers.survivors import end_all, survivors

LIMIT_S = 240.0
"""What ends a call of our program that hangs: several times what the slowest machine needs."""

# Read when the tests are collected: their fixtures take every variable of ours away.
_PROGRAMS = os.environ.get("VIBEKIT_AGENTS", "")

SEED: Mapping[str, bytes] = {
    "old.txt": b"alpha\nbeta\ngamma\n",
    "side.txt": b"gone\n",
    "doomed.txt": b"bye\n",
    "src/deep/inner.py": b"def level():\n    return 1\n",
    "kept/picture.bin": bytes(range(256)) * 8,
    "kept/dos.txt": b"one\r\ntwo\r\nno end",
}
"""What is in every workspace at first."""


@dataclass(frozen=True)
class Kind:
    """One kind of agent: how it is set up, and its words for what every agent can do."""

    id: str
    program: str
    set_up: Callable[[Path, str], Mapping[str, str]]
    """Write its files into a home folder; the variables that lead it to a model at this address."""
    read: Callable[[str], Call]
    write: Callable[[str, str], Call]
    edit: Callable[[str, str, str], Call]
    run: Callable[[str], Call]
    plan: Callable[[str], Call] | None = None
    writes_through: bool = True
    """It has us write its files; else it does so itself."""
    writes_twice: bool = False
    """It has us write a file and writes it itself at the same time: what we see of that is another thing each time."""
    asks_outside: bool = True
    """It asks before it writes outside of the workspace; else it refuses by itself."""
    keeps_sessions: bool = True
    """A process of it takes up a session of another one, even a short one."""

    def __str__(self) -> str:
        return self.id


def _set_up_opencode(home: Path, url: str) -> Mapping[str, str]:
    settings = {
        "model": "lab/fake",
        "small_model": "lab/fake",
        "autoupdate": False,
        "share": "disabled",
        "provider": {
            "lab": {
                "npm": "@ai-sdk/openai-compatible",
                "name": "Lab",
                "options": {"baseURL": f"{url}/v1", "apiKey": "none"},
                "models": {"fake": {"name": "Fake"}},
            }
        },
    }
    _write_json(home / ".config/opencode/opencode.json", settings)
    return {f"OPENCODE_DISABLE_{name}": "1" for name in ("MODELS_FETCH", "LSP_DOWNLOAD", "AUTOUPDATE")}


def _set_up_gemini(home: Path, url: str) -> Mapping[str, str]:
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "general": {"disableAutoUpdate": True},
    }
    _write_json(home / ".gemini/settings.json", settings)
    return {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": url, "GEMINI_CLI_TRUST_WORKSPACE": "true"}


def _set_up_claude(home: Path, url: str) -> Mapping[str, str]:
    env = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "none", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
    env |= {"DISABLE_TELEMETRY": "1", "DISABLE_ERROR_REPORTING": "1", "DISABLE_AUTOUPDATER": "1"}
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        env["IS_SANDBOX"] = "1"  # it refuses to work for root otherwise
    return env


OPENCODE = Kind(
    "opencode",
    "opencode",
    _set_up_opencode,
    plan=lambda text: Call("todowrite", {"todos": [{"id": "1", "content": text, "status": "in_progress", "priority": "high"}]}),
    read=lambda path: Call("read", {"filePath": path}),
    write=lambda path, text: Call("write", {"filePath": path, "content": text}),
    edit=lambda path, old, new: Call("edit", {"filePath": path, "oldString": old, "newString": new}),
    run=lambda command: Call("bash", {"command": command, "description": "runs a command"}),
    writes_twice=True,
)
GEMINI = Kind(
    "gemini",
    "gemini",
    _set_up_gemini,
    read=lambda path: Call("read_file", {"file_path": path}),
    write=lambda path, text: Call("write_file", {"file_path": path, "content": text}),
    edit=lambda path, old, new: Call(
        "replace", {"file_path": path, "instruction": "replace it", "old_string": old, "new_string": new}
    ),
    run=lambda command: Call("run_shell_command", {"command": command, "description": "runs a command"}),
    asks_outside=False,
    keeps_sessions=False,
)
CLAUDE = Kind(
    "claude-acp",
    "claude-agent-acp",
    _set_up_claude,
    plan=lambda text: Call("TaskCreate", {"subject": text, "description": text, "activeForm": text}),
    read=lambda path: Call("Read", {"file_path": path}),
    write=lambda path, text: Call("Write", {"file_path": path, "content": text}),
    edit=lambda path, old, new: Call("Edit", {"file_path": path, "old_string": old, "new_string": new}),
    run=lambda command: Call("Bash", {"command": command, "description": "runs a command"}),
    writes_through=False,
)
KINDS = (OPENCODE, GEMINI, CLAUDE)


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Make files below a folder."""
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)


def _write_json(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), "utf-8")


def reason_to_skip(kind: Kind) -> str:
    """Why this agent can't be run here; empty if it can."""
    if not _PROGRAMS:
        return "VIBEKIT_AGENTS names no folder with agents"
    if shutil.which(kind.program, path=_PROGRAMS) is None:
        return f"{kind.program} is not in VIBEKIT_AGENTS"
    node = shutil.which("node")
    if node is None:
        return "there is no node"
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    if not said.startswith("v") or int(said[1:].partition(".")[0]) < 20:
        return "node is older than 20"
    return ""


@dataclass(frozen=True)
class Answer:
    """What a call of our program gave."""

    status: int
    out: bytes
    err: str

    @property
    def json(self) -> Any:
        """The one JSON object on standard output."""
        try:
            return json.loads(self.out)
        except ValueError:
            raise AssertionError(f"no JSON: {self.out[:500]!r}\nstandard error: {self.err[-2000:]}") from None


class Lab:
    """One agent in its place; made by `lab`, which ends what it leaves behind."""

    def __init__(self, kind: Kind, root: Path, model: FakeModel) -> None:
        self.kind = kind
        self.model = model
        self.home, self.data, self.workspace = (root / name for name in ("home", "data", "work space"))
        for folder in (self.home, self.data, self.workspace):
            folder.mkdir()
        write_files(self.workspace, SEED)
        env = kind.set_up(self.home, model.url)
        _write_json(self.data / "agents.json", {"version": "1.0.0", "agents": [{"id": kind.id, "desktop": {"env": dict(env)}}]})
        self._env = {name: value for name, value in os.environ.items() if not name.startswith(("VIBEKIT_", "XDG_"))}
        self._env |= {
            "HOME": str(self.home),
            "PATH": os.pathsep.join((_PROGRAMS, os.environ.get("PATH", ""))),
            "LANG": "C.UTF-8",
        }

    def at(self, path: str) -> str:
        """A path of the workspace, as agents are told it."""
        return str(self.workspace / path)

    def play(self, name: str, *steps: Step) -> None:
        """Add a script to the model."""
        self.model.scripts[name] = steps

    def files(self) -> dict[str, bytes]:
        """What is in the workspace now, but for repositories' own."""
        files = [path for path in self.workspace.rglob("*") if path.is_file()]
        named = {path.relative_to(self.workspace).as_posix(): path for path in files}
        return {name: path.read_bytes() for name, path in named.items() if not name.startswith(".git/")}

    def make_repository(self) -> None:
        """Let git know the workspace, with all that is in it."""
        ann = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
        for words in (("init", "-q"), ("add", "-A"), (*ann, "commit", "-qm", "seed")):
            subprocess.run(["git", *words], cwd=self.workspace, env=self._env, check=True, capture_output=True)

    def start(self, *words: str) -> "subprocess.Popen[bytes]":
        """Start our program; `finish` waits for it."""
        command = [sys.executable, "-m", "vibekit_desktop", "--data-dir", str(self.data), "--home", str(self.home), *words]
        return subprocess.Popen(
            command, env=self._env, cwd=self.home, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def finish(self, process: "subprocess.Popen[bytes]") -> Answer:
        """Wait for a call of our program; one that hangs is ended and fails the test."""
        try:
            out, err = process.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            raise AssertionError(f"our program hangs: {out[-500:]!r}\n{err[-2000:].decode(errors='replace')}") from None
        return Answer(process.returncode, out, err.decode("utf-8", "replace"))

    def call(self, *words: str) -> Answer:
        """Call our program."""
        return self.finish(self.start(*words))

    def look(self, *words: str) -> Answer:
        """Call our program for something that it only reads: inside of this process, which takes less time."""
        answer = program.call(self.data, self.home, *words)
        return Answer(answer.status, answer.out, answer.err)

    def prompt(self, text: str, *more: str, chat: str | None = None) -> Answer:
        """One turn with the agent: in a new chat, or in ``chat``."""
        place = (chat, text) if chat else (text, "--workspace", str(self.workspace), "--agent", self.kind.id)
        return self.call("prompt", *place, *more, "--json")

    def left_over(self, *, limit_s: float = 10.0) -> list[str]:
        """The processes that still live in this lab's home folder, once all had ``limit_s`` to end."""
        return [f"{pid}: {said}" for pid, said in survivors("HOME", str(self.home), limit_s=limit_s).items()]


@contextlib.contextmanager
def lab(kind: Kind, root: Path) -> Iterator[Lab]:
    """A lab below ``root``, and its model."""
    with FakeModel({}) as model:
        made = Lab(kind, root, model)
        try:
            yield made
        finally:
            end_all("HOME", str(made.home))
