"""What processes there are, from /proc; nothing where there is none."""

import os
from pathlib import Path


def children(pid: int) -> list[int]:
    """The direct children of a process."""
    found: list[int] = []
    for listed in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += [int(word) for word in listed.read_text("ascii").split()]
        except OSError:
            continue  # the thread has ended
    return found


def words(pid: int) -> list[str]:
    """The command line of a process; nothing once it is gone, or is waited for."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace").split("\0")[:-1]
    except OSError:
        return []


def children_of_ours(word: str) -> list[int]:
    """The children of this process with a word in their command line."""
    return [pid for pid in children(os.getpid()) if word in words(pid)]
