"""What was started and still lives, found by what it inherited: from /proc; nothing where there is none."""

import contextlib
import os
import select
import signal
import time
from pathlib import Path


def with_variable(name: str, value: str) -> dict[int, str]:
    """The processes whose environment has this variable, with their command lines: whatever group or session they made."""
    wanted = f"{name}={value}".encode()
    found = {}
    for listed in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it ended, or is somebody else's
            if wanted in (listed / "environ").read_bytes().split(b"\0"):
                said = (listed / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
                found[int(listed.name)] = said.strip()[:200]
    return found


def wait_for_end(pid: int, limit_s: float) -> bool:
    """Wait until a process that need not be a child of ours has ended; False if it lives."""
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([watched], [], [], max(0.0, limit_s))[0])
    finally:
        os.close(watched)


def survivors(name: str, value: str, *, limit_s: float) -> dict[int, str]:
    """Those of `with_variable` that have not ended within a time, however long that takes less."""
    end = time.monotonic() + limit_s
    while found := with_variable(name, value):
        for pid in found:
            if not wait_for_end(pid, end - time.monotonic()):
                return with_variable(name, value)
    return {}


def end_all(name: str, value: str) -> None:
    """End those of `with_variable` for good."""
    for pid in with_variable(name, value):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            wait_for_end(pid, 5.0)
