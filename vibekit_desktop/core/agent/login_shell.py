"""What PATH the user's shell has: a program that a desktop starts does not know what the shell's own files add to it.

The shell is asked once, as a terminal would start it, and runs the user's own files for that. It has no terminal and is ended
with everything that it started. Loop thread.
"""

import asyncio
import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from vibekit_desktop.core.agent.launch import Launch
from vibekit_desktop.core.agent.process import AgentProcess, ErrorLog

LIMIT_S = 5.0
_MOST_BYTES = 1 << 20
_END_PATIENCE_S = 0.2
# They take no command as a login shell, or are none.
_NOT_ASKED = frozenset({"csh", "tcsh", "nologin", "false", "true"})


class _Answer:
    """What the shell writes; ``path`` is what stands between two marks, whatever its files print around them."""

    def __init__(self, mark: bytes) -> None:
        self._mark = mark
        self._text = bytearray()
        self.ended = asyncio.Event()
        self.path = ""

    def data(self, data: bytes) -> None:
        """More of it; what comes after a lot of it is not looked at."""
        if self.ended.is_set() or len(self._text) > _MOST_BYTES:
            return
        self._text += data
        parts = self._text.split(self._mark)
        if len(parts) > 2:
            self.path = os.fsdecode(bytes(parts[1]))
            self.ended.set()

    def end(self) -> None:
        """There is no more."""
        self.ended.set()


async def login_shell_path(shell: str, env: Mapping[str, str], home: Path, *, limit_s: float = LIMIT_S) -> str:
    """The PATH that the shell says it has; empty if it does not say one in time, or is none that can be asked."""
    if not os.path.isabs(shell) or os.path.basename(shell) in _NOT_ASKED:
        return ""
    mark = f"__{secrets.token_hex(12)}__"
    answer = _Answer(mark.encode())
    # The mark is put together by the shell, so that one that prints its commands does not print it.
    said = f'printf "%s%s%s%s%s" "{mark[:9]}" "{mark[9:]}" "$PATH" "{mark[:9]}" "{mark[9:]}"'
    launch = Launch(name="the login shell", command=(shell, "-l", "-i", "-c", said), folder=str(home), env=env)
    process = AgentProcess(launch, ErrorLog(None))
    try:
        await process.start(answer)
    except (OSError, ValueError):
        return ""
    try:
        async with asyncio.timeout(limit_s):
            await answer.ended.wait()
    except TimeoutError:
        return ""
    finally:
        await process.end(_END_PATIENCE_S)
    return answer.path if "\n" not in answer.path else ""
