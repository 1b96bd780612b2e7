"""A library of two workspaces with three imported chats, for tests that break parts of it."""

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.helpers.claude_sessions import SessionBuilder
from tests.helpers.program import Answer, call
from vibekit_desktop.core.types.ids import ChatId, imported_chat_id


def session(workspace: Path, name: str, *prompts: str) -> SessionBuilder:
    """A session with a fixed id that writes ``<name>.txt`` once for every prompt."""
    digits = "".join(f"{ord(sign):02x}" for sign in name)[:12].ljust(12, "0")
    made = SessionBuilder(cwd=str(workspace), session=f"3b0f5a1e-6c55-4f0e-9d39-{digits}")
    for number, prompt in enumerate(prompts, 1):
        made.prompt(prompt)
        made.write(f"{name}.txt", f"{name} {number}\n")
        made.end_turn("Done.")
    return made


def chat_of(made: SessionBuilder) -> ChatId:
    """The chat that a session becomes."""
    return imported_chat_id("claude-code", made.session)


@dataclass
class Library:
    """Chats ``one`` and ``two`` in one workspace, ``far`` in another; all imported, each file as the session left it."""

    data: Path
    home: Path
    work: Path
    other_work: Path
    one: ChatId
    two: ChatId
    far: ChatId

    def call(self, *words: str) -> Answer:
        return call(self.data, self.home, *words)

    @property
    def vault(self) -> Path:
        """The vault of the first workspace."""
        listed = json.loads((self.data / "library.json").read_text())["vaults"]
        (folder,) = [entry["folder"] for entry in listed if entry["workspace"] == str(self.work)]
        return self.data / folder

    def log(self, chat: ChatId) -> Path:
        return self.vault / "snapshots" / "chats" / chat / "events.jsonl"


def make_library(folder: Path, home: Path) -> Library:
    """Everything imported."""
    work, other = folder / "work", folder / "other"
    made = [session(work, "one", "a", "b"), session(work, "two", "c"), session(other, "far", "d", "e")]
    for one in made:
        one.install(home)
        for path, content in one.files.items():
            Path(path).parent.mkdir(exist_ok=True)
            Path(path).write_text(content)
    library = Library(folder / "data", home, work, other, *(chat_of(one) for one in made))
    for one in made:
        assert library.call("show", chat_of(one)).status == 0
    return library


def _gone(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _folder(path: Path) -> None:
    path.mkdir()
    (path / "x").write_text("x")


REPLACED: dict[str, Callable[[Path], None]] = {
    "folder": _folder,
    "link": lambda path: path.symlink_to("/etc/hostname"),
    "loop": lambda path: path.symlink_to(path.name),
    "fifo": os.mkfifo,
    "empty": lambda path: path.write_bytes(b"") and None,
    "deep": lambda path: path.write_bytes(b'{"version":1,"x":' + b"[" * 100_000) and None,
    "garbage": lambda path: path.write_bytes(bytes(range(256)) * 4) and None,
    "gone": lambda path: None,
}


def replace_by(path: Path, kind: str) -> None:
    """Something else in the place of a file or folder."""
    _gone(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    REPLACED[kind](path)
