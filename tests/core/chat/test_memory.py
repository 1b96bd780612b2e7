"""Files that are too large are refused by their size, before they are read, in a process that could not hold them."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from vibekit_desktop.core.disk import journal
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.types.errors import CannotWrite

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the limit of a process's memory is Linux's")

LIMIT = 512 << 20
CHILD = """
import resource, sys
from pathlib import Path
from vibekit_desktop.core.chat.store import ChatStore
from vibekit_desktop.core.checkpoint.vault import VaultStore
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.types.errors import CoreError

resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))
folder = Path(sys.argv[1])
chats = ChatStore(Fs(), folder, clock=lambda: 1)
vault = VaultStore(Fs(), folder, clock=lambda: 1)


def told(work):
    try:
        return repr(work())
    except CoreError as error:
        return f"{{error.code}}: {{getattr(error, 'reason', '')}}"
"""


def alone(folder: Path, work: str) -> list[str]:
    """What a process of its own prints."""
    code = textwrap.dedent(CHILD).format(limit=LIMIT) + textwrap.dedent(work)
    done = subprocess.run([sys.executable, "-c", code, str(folder)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def sparse(path: Path, start: bytes, size: int) -> None:
    """A file of that size that takes no room on the disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(start)
    with path.open("r+b") as file:
        file.truncate(size)


def test_a_chat_of_200_megabytes_is_a_damaged_row_and_hides_no_other(tmp_path: Path) -> None:
    start = b'{\n  "id": "large",\n  "name": "Large",\n  "messages": ['
    sparse(tmp_path / "chats" / "large.json", start, 200 << 20)
    (tmp_path / "chats" / "small.json").write_text('{"id": "small", "messages": []}')
    said = alone(
        tmp_path,
        """
        print([(row.id, row.problem) for row in sorted(chats.list(), key=lambda row: row.id)])
        print(told(lambda: chats.load("large")))
        print(told(lambda: chats.load_to_show("large")))
        print(told(lambda: chats.mutate("large", lambda chat, _: chat)))
        """,
    )
    assert said == ["[('large', 'too large'), ('small', '')]", *["disk.too-large: too large"] * 3]
    assert (tmp_path / "chats" / "large.json").stat().st_size == 200 << 20, "it is kept"


def test_a_part_and_a_running_answer_larger_than_any_are_refused(tmp_path: Path) -> None:
    sparse(tmp_path / "desktop" / "overflow" / "one-1.json", b"{", 1 << 30)
    sparse(tmp_path / "chats" / "one.partial", b"{", 1 << 30)
    (tmp_path / "chats" / "one.json").write_text('{"id": "one", "messages": []}')
    said = alone(
        tmp_path,
        """
        from vibekit_desktop.core.chat import partial
        from vibekit_desktop.core.types.chats import ChatPart

        part = ChatPart(n=1, messages=1, size=100, sha="a" * 64, head=10, head_sha="b" * 64)
        print(told(lambda: chats.parts.messages("one", part)))
        print(told(lambda: chats.parts.prompts("one", part)))
        print(partial.recover(chats))
        """,
    )
    assert said == [
        "chat.damaged: part 1 of its older messages is not to be read (too large)",
        "chat.damaged: part 1 of its older messages is not what was written",
        "[]",
    ]


def test_a_log_of_a_gigabyte_is_damaged_as_a_whole_and_hides_no_other(tmp_path: Path) -> None:
    logs = tmp_path / "snapshots" / "chats"
    line = b'{"type":"turn_start","turn":1,"v":1,"seq":1}\n'
    sparse(logs / "one" / "events.jsonl", line, 1 << 30)
    sparse(logs / "two" / "events.jsonl", line, len(line))
    said = alone(
        tmp_path,
        """
        from vibekit_desktop.core.checkpoint.log import Line

        print(bool(vault.damage("one")), bool(vault.damage("two")), len(vault.lines("two")))
        print(told(lambda: vault.append("one", [Line(type="turn_start", turn=2)])))
        print(len(vault.append("two", [Line(type="turn_start", turn=2)])))
        """,
    )
    assert said == ["True False 1", "store.log-damaged: ", "1"]


def test_no_log_grows_so_large_that_it_could_not_be_read(tmp_path: Path) -> None:
    path = tmp_path / "log"
    sparse(path, b"", journal.LARGEST - 10)
    with path.open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\n")
    with pytest.raises(CannotWrite):
        journal.append(Fs(), path, [b"x" * 20], set_aside=tmp_path / "aside")
    assert path.stat().st_size == journal.LARGEST - 10
