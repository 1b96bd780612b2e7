"""Advisory locks between processes; who holds one.

The lock is the kernel's, on a file that is never deleted: it ends with its process, so there is no stale lock to remove, and
what the file says is only for people. Its descriptor is not inherited by children. Not reentrant. Blocking.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from vibekit_desktop.core.disk.fs import NOFOLLOW, NONBLOCK, Fs, cannot_read, cannot_write
from vibekit_desktop.core.types.errors import Busy, CannotRead

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_RETRY_S = 0.02
"""Locks are held for some milliseconds; nobody should notice the wait for one."""
_HOLDER_BYTES = 200
"""A program's name and a number: whatever is longer, we did not write."""


def try_lock(fd: int) -> bool:
    """Take the lock of an open file if nobody has it."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


def _open_to_hold(fs: Fs, path: Path) -> int:
    """The file of a lock, made if it is missing; the descriptor is the caller's to close."""
    fs.make_folder(path.parent)
    try:
        return fs.open(path, os.O_RDWR | os.O_CREAT | NOFOLLOW, 0o600)
    except OSError as error:
        raise cannot_write(path, error) from error


def _is_held(fs: Fs, path: Path) -> bool:
    """Whether some descriptor holds the lock of a file now. Makes nothing; `CannotRead` if that cannot be found out."""
    try:
        fd = fs.open(path, os.O_RDWR | NOFOLLOW | NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise cannot_read(path, error) from error
    try:
        return not try_lock(fd)
    finally:
        fs.close(fd)


class TurnLock:
    """Held for the length of a turn that a process of ours runs (``desktop/turns/<chat>.lock``). A hook's turn holds none."""

    def __init__(self, fs: Fs, desktop: Path, chat: str) -> None:
        self._fs = fs
        self.path = desktop / "turns" / f"{chat}.lock"

    @contextmanager
    def hold(self, turn: int = 0) -> Iterator[Callable[[int], None]]:
        """The turn runs inside the block; `Busy` if another process runs one of this chat. Yields how to say its number, if it
        is not known yet. After a block that ends by itself the file says nothing: what it says while nobody holds it is the
        number of a turn that a crash cut off."""
        fd = _open_to_hold(self._fs, self.path)
        try:
            if not try_lock(fd):
                raise Busy(f"turn {text} of this chat" if (text := self._text()) else "a turn of this chat")
            self._say(fd, turn)
            yield lambda number: self._say(fd, number)
            self._say(fd, 0)
        finally:
            self._fs.close(fd)

    def _say(self, fd: int, turn: int) -> None:
        try:
            self._fs.truncate(fd, 0)
            os.lseek(fd, 0, os.SEEK_SET)
            if turn:
                self._fs.write_all(fd, f"{turn}\n".encode())
        except OSError as error:
            raise cannot_write(self.path, error) from error

    def cut_off(self) -> int:
        """The turn that ran when its process ended without a word; 0 if there is none. Makes nothing."""
        text = self._text()
        return int(text) if text.isascii() and text.isdecimal() and len(text) < 16 and not self.running() else 0

    def _text(self) -> str:
        try:
            return self._fs.read_bytes(self.path, limit=_HOLDER_BYTES).decode("ascii", "replace").strip()
        except (FileNotFoundError, CannotRead):
            return ""

    def running(self) -> str:
        """The number of the turn that some process runs, as text; empty if none does. Makes nothing."""
        return (self._text() or "?") if _is_held(self._fs, self.path) else ""


class ShownLock:
    """Held by every window that shows a chat (``desktop/open/<chat>.lock``); many may hold it, and it ends with the process."""

    def __init__(self, fs: Fs, desktop: Path, chat: str) -> None:
        self._fs = fs
        self.path = desktop / "open" / f"{chat}.lock"
        self._fd: int | None = None

    def take(self) -> None:
        """The chat is shown from now on, until `give_back`."""
        if self._fd is not None:
            return
        fd = _open_to_hold(self._fs, self.path)
        if sys.platform == "win32":
            try_lock(fd)  # not obtained: another window shows it, which says the same
        else:
            fcntl.flock(fd, fcntl.LOCK_SH)  # whoever asks holds it for a moment only
        self._fd = fd

    def give_back(self) -> None:
        """This window shows the chat no longer."""
        fd, self._fd = self._fd, None
        if fd is not None:
            self._fs.close(fd)

    def is_held(self) -> bool:
        """Whether some window shows the chat, this process's own included. Makes nothing."""
        return self._fd is not None or _is_held(self._fs, self.path)


def running_turns(fs: Fs, desktop: Path) -> list[tuple[str, str]]:
    """Chat and turn of every turn that a process runs in a vault now."""
    names = [name.removesuffix(".lock") for name in fs.list_names(desktop / "turns") if name.endswith(".lock")]
    turns = [(chat, TurnLock(fs, desktop, chat).running()) for chat in names]
    return [(chat, turn) for chat, turn in turns if turn]


class VaultLock:
    """The one lock of a vault, ``desktop/lock``, held only while something in it is changed."""

    def __init__(
        self,
        fs: Fs,
        vault_folder: Path,
        *,
        program: str = "vibekit-desktop",
        now_s: Callable[[], float] = time.monotonic,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        self._fs = fs
        self.path = vault_folder / "desktop" / "lock"
        self._program = program
        self._now_s = now_s
        self._wait = wait

    @contextmanager
    def hold(self, timeout_s: float = 5.0) -> Iterator[None]:
        """The lock is ours inside the block; `Busy` names the holder if it is not to be had in ``timeout_s``."""
        fd = _open_to_hold(self._fs, self.path)
        try:
            self._take(fd, timeout_s)
            self._sign(fd)
            yield
        finally:
            # Closing the descriptor frees the lock; the file stays, because unlinking it would give two holders.
            self._fs.close(fd)

    def is_held(self) -> bool:
        """Whether some process holds the lock right now. Makes nothing; `CannotRead` if that cannot be found out."""
        return _is_held(self._fs, self.path)

    def _take(self, fd: int, timeout_s: float) -> None:
        until = self._now_s() + timeout_s
        while not try_lock(fd):
            if self._now_s() >= until:
                raise Busy(self.holder())
            self._wait(_RETRY_S)

    def _sign(self, fd: int) -> None:
        try:
            self._fs.truncate(fd, 0)
            self._fs.write_all(fd, f"{self._program} {os.getpid()}\n".encode())
        except OSError as error:
            raise cannot_write(self.path, error) from error

    def holder(self) -> str:
        """Program and process id of the last holder, for people; empty if nobody has signed."""
        try:
            data = self._fs.read_bytes(self.path, limit=_HOLDER_BYTES)
        except (FileNotFoundError, CannotRead):
            return ""
        return data.decode("utf-8", "replace").strip()
