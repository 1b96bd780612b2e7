"""Keep what a window looked like: one small text file in the folder for window state.

Read before the first paint, so it imports nothing and is no JSON: a section for each set of screens begins with ``screens``,
every other line is a name and its value. It can be deleted at any time, and what cannot be read in it is left out. Any thread,
but for the `Keeper`.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio
    from collections.abc import Mapping
    from pathlib import Path

FILE = "window.txt"
_SECTION = "screens"
_MOST_SECTIONS = 32
"""Who carries their computer about gets a new set of screens now and then; the oldest are forgotten."""
_MOST_BYTES = 1 << 16


def read(folder: "Path") -> dict[str, dict[str, str]]:
    """What is known, by the name of a set of screens; nothing if there is no file or it cannot be read."""
    try:
        with open(folder / FILE, "rb") as file:
            text = file.read(_MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return {}
    found: dict[str, dict[str, str]] = {}
    section: dict[str, str] | None = None
    for line in text.splitlines():
        name, _, value = line.partition(" ")
        if name == _SECTION:
            section = found.setdefault(value, {})
        elif section is not None and name:
            section[name] = value
    return found


def write(folder: "Path", known: "Mapping[str, Mapping[str, str]]") -> bool:
    """Keep all of it, the newest section last; whether it was written. Nobody reads half a file."""
    import os

    lines: list[str] = []
    for name, values in list(known.items())[-_MOST_SECTIONS:]:
        lines.append(f"{_SECTION} {name}")
        lines += [f"{key} {value}" for key, value in values.items()]
    made = folder / f"{FILE}.{os.getpid()}"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with open(made, "w", encoding="utf-8", newline="\n") as file:
            file.write("\n".join(lines) + "\n")
        made.replace(folder / FILE)
    except OSError:
        return False
    return True


class Keeper:
    """Writes on behalf of a window, which does not wait for the disk. Loop thread only.

    Invariant: what is in the file at the end is what was kept last; what is older than that may never be written.
    """

    def __init__(self, folder: "Path", loop: "asyncio.AbstractEventLoop") -> None:
        self._folder, self._loop = folder, loop
        self._wanted: dict[str, dict[str, str]] | None = None
        self._task: asyncio.Task[None] | None = None

    def keep(self, known: "Mapping[str, Mapping[str, str]]") -> None:
        """Keep all of it, as it is now, soon."""
        self._wanted = {name: dict(values) for name, values in known.items()}
        if not self._loop.is_running():
            write(self._folder, self._wanted)  # nobody waits any more
        elif self._task is None or self._task.done():
            self._task = self._loop.create_task(self._write(), name="keep how the window stands")

    async def written(self) -> None:
        """Wait until it is in the file."""
        if self._task is not None:
            await self._task

    async def _write(self) -> None:
        import asyncio

        while (wanted := self._wanted) is not None:
            self._wanted = None
            await asyncio.to_thread(write, self._folder, wanted)
