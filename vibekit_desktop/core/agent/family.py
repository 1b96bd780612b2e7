"""The processes that a process of ours started, to end them and nobody else.

A child that leaves the group and the session of its parent is only known while its parent lives, so a family is looked up
before anything of it is ended. A process is its id and when it was started: ids are given again. Only where there is ``/proc``
and a handle on a process (Linux); elsewhere a family is empty, and the group is all that is ended. Blocking; any thread.
"""

import contextlib
import os
import select
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.types.errors import CannotRead

_PROC = Path("/proc")
_STAT_BYTES = 4096
_KILL_WAIT_S = 1.0


@dataclass(frozen=True, slots=True)
class Kin:
    """A process; ``started`` in the system's own ticks."""

    pid: int
    started: int


@dataclass(frozen=True, slots=True)
class _Entry:
    parent: int
    group: int
    session: int
    started: int


def kin_of(pid: int) -> Kin | None:
    """A process that runs now; None if it cannot be told."""
    entry = _entry(pid)
    return None if entry is None else Kin(pid, entry.started)


def family(leader: Kin) -> frozenset[Kin]:
    """Everything alive that the leader of a session started, itself not: its descendants, and what is in its group or session.

    It may be gone by now; its number is nobody else's while there is anything in its group or session.
    """
    table = dict(_table())
    first = table.get(leader.pid)
    if first is not None and first.started != leader.started:
        return frozenset()  # the number was given again, so nothing of the family is left
    found = {pid for pid, entry in table.items() if leader.pid in (entry.group, entry.session)}
    children: dict[int, list[int]] = {}
    for pid, entry in table.items():
        children.setdefault(entry.parent, []).append(pid)
    asked = [leader.pid, *found]
    while asked:
        for pid in children.get(asked.pop(), ()):
            if pid not in found:
                found.add(pid)
                asked.append(pid)
    return frozenset(Kin(pid, table[pid].started) for pid in found - {leader.pid, os.getpid(), 1} if pid in table)


def send_group(leader: int, number: int) -> None:
    """Send a signal to the group of a process that has not been waited for yet, so that its number is its own."""
    if sys.platform != "win32":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, number)


def send(kin: Iterable[Kin], number: int) -> None:
    """Send a signal to each that is still the one it was."""
    if sys.platform != "linux":
        return
    for handle in _handles(kin).values():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            signal.pidfd_send_signal(handle, number)
        os.close(handle)


def end(kin: Iterable[Kin], patience_s: float) -> bool:
    """End them: asked first, killed after ``patience_s``. True: all of them are gone."""
    if sys.platform != "linux":
        return True
    handles = _handles(kin)
    try:
        for number, wait_s in ((signal.SIGTERM, patience_s), (signal.SIGKILL, _KILL_WAIT_S)):
            for handle in handles.values():
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    signal.pidfd_send_signal(handle, number)
            _wait(handles, wait_s)
            if not handles:
                break
        return not handles
    finally:
        for handle in handles.values():
            os.close(handle)


def _handles(kin: Iterable[Kin]) -> dict[Kin, int]:
    """An open handle on each that is still there: a signal through it cannot reach another."""
    handles: dict[Kin, int] = {}
    if sys.platform == "linux":
        for one in kin:
            with contextlib.suppress(OSError):
                handle = os.pidfd_open(one.pid)
                if kin_of(one.pid) == one:
                    handles[one] = handle
                else:
                    os.close(handle)
    return handles


def _wait(handles: dict[Kin, int], wait_s: float) -> None:
    """Take out those that end within the time."""
    until = time.monotonic() + wait_s
    poll = select.poll()
    for handle in handles.values():
        poll.register(handle, select.POLLIN)
    while handles and (left_s := until - time.monotonic()) > 0:
        gone = {handle for handle, _ in poll.poll(left_s * 1000)}
        for one in [one for one, handle in handles.items() if handle in gone]:
            handle = handles.pop(one)
            poll.unregister(handle)
            os.close(handle)


def _table() -> Iterator[tuple[int, _Entry]]:
    if sys.platform != "linux":
        return
    try:
        names = Fs().list_names(_PROC)
    except CannotRead:
        return
    for name in names:
        if name.isdecimal() and (entry := _entry(int(name))) is not None:
            yield int(name), entry


def _entry(pid: int) -> _Entry | None:
    if sys.platform != "linux":
        return None
    try:
        text = Fs().read_start(_PROC / str(pid) / "stat", _STAT_BYTES)
    except (FileNotFoundError, ProcessLookupError, CannotRead):
        return None
    # The name is in brackets and may hold any, so the fields begin after the last one: state, parent, group, session, ...
    fields = text[text.rfind(b")") + 2 :].split()
    if len(fields) < 20 or fields[0] in (b"Z", b"X"):
        return None
    return _Entry(*(int(fields[index]) for index in (1, 2, 3, 19)))
