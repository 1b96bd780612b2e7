"""Where a text that an agent gave for a path really leads: the verdict of `policy` on the name, and on what is behind links.

A link inside of the workspace that leads outside makes its name a refused one for what is written; for what is read it is a
place outside. Looks at the disk and changes nothing. Loop thread; the looking is done elsewhere.
"""

import asyncio
from dataclasses import dataclass, replace

from vibekit_desktop.core.agent.policy import Bounds, Refused, Ruling, Verdict, absolute, judge
from vibekit_desktop.core.agent.sink import Sink
from vibekit_desktop.core.disk import folders
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.types.agents import Operation, Why
from vibekit_desktop.core.types.errors import CoreError, PathEscape, PathRefused, WorkspaceMissing
from vibekit_desktop.core.types.ids import WorkspacePath

_ELSEWHERE = (Refused.OUTSIDE, Refused.HOME_FILE, Refused.SYSTEM)
"""Reasons that fall if the place turns out to be the workspace by another name."""
_REASONS = {
    "git": Refused.REPOSITORY,
    "stage": Refused.STAGE,
    "own-data": Refused.OWN_DATA,
    "refused": Refused.OWN_DATA,
    "not-regular": Refused.NOT_REGULAR,
    "reserved": Refused.RESERVED,
    "link": Refused.LINK,
}


@dataclass(frozen=True, slots=True)
class Place:
    """One path. ``path``: as it was named, inside of the workspace, or None. ``real``: the file behind it there, which is what
    is looked at and kept. ``absolute``: for a place outside, the file behind it."""

    text: str
    verdict: Verdict
    absolute: str = ""
    path: WorkspacePath | None = None
    real: WorkspacePath | None = None
    refused: Refused | None = None
    why: Why | None = None

    @property
    def shown(self) -> str:
        """Relative to the workspace, or absolute outside of it."""
        return self.path or self.absolute or self.text


def reason_of(error: PathRefused) -> Refused:
    """Why the disk's keeper refuses a path, as a reason of the policy."""
    return _REASONS.get(error.reason, Refused.CANNOT_LOOK)


class Places:
    """Finds places of one workspace."""

    def __init__(self, bounds: Bounds, sink: Sink) -> None:
        self._bounds = bounds
        self._sink = sink
        self._fs = Fs()

    async def find(self, text: str, operation: Operation) -> Place:
        """The place that a text means for an operation, and the verdict on it. Never raises."""
        ruling = judge(text, operation, self._bounds)
        place = absolute(text, self._bounds)
        if ruling.verdict is Verdict.REFUSE and ruling.refused not in _ELSEWHERE:
            return _place(text, ruling)
        if ruling.path is None or ".." in place.split("/"):
            # By text alone ``link/../x`` is a place that opening it would not reach.
            ruling = judge(await asyncio.to_thread(folders.settled_parent, place), operation, self._bounds)
            if ruling.verdict is Verdict.REFUSE:
                return _place(text, ruling)
        if ruling.path is None:
            return await self._outside(text, ruling, operation)
        return await self._inside(text, ruling, ruling.path, operation)

    async def _inside(self, text: str, ruling: Ruling, path: WorkspacePath, operation: Operation) -> Place:
        try:
            real = await self._real(path, itself=operation in (Operation.DELETE, Operation.MOVE))
        except PathEscape:
            if operation in (Operation.READ, Operation.RUN, Operation.OTHER):
                return await self._outside(text, ruling, operation)
            return Place(text, Verdict.REFUSE, ruling.absolute, path, refused=Refused.LINK)
        except PathRefused as error:
            if operation in (Operation.READ, Operation.RUN, Operation.OTHER):
                return Place(text, ruling.verdict, ruling.absolute, path, path, why=ruling.why)
            return Place(text, Verdict.REFUSE, ruling.absolute, path, refused=reason_of(error))
        except WorkspaceMissing:
            return Place(text, Verdict.REFUSE, ruling.absolute, path, refused=Refused.GONE)
        except CoreError:
            return Place(text, Verdict.REFUSE, ruling.absolute, path, refused=Refused.CANNOT_LOOK)
        found = _place(text, ruling, real)
        if real == path:
            return found
        behind = judge(f"{self._bounds.workspace.rstrip('/')}/{real}", operation, self._bounds)
        if behind.verdict is Verdict.REFUSE:
            return replace(found, verdict=Verdict.REFUSE, refused=behind.refused)
        if behind.verdict is Verdict.ASK:
            return replace(found, verdict=Verdict.ASK, why=behind.why or found.why)
        return found

    async def _real(self, path: WorkspacePath, *, itself: bool) -> WorkspacePath:
        """The file behind a path; with ``itself`` a link in the last place is what is meant, not what it leads to."""
        above, _, name = path.rpartition("/")
        if not itself:
            return await self._sink.real(path)
        if not above:
            return path
        return WorkspacePath(f"{await self._sink.real(WorkspacePath(above))}/{name}")

    async def _outside(self, text: str, ruling: Ruling, operation: Operation) -> Place:
        """A place outside that is read: what is behind all links is what counts."""
        behind = await asyncio.to_thread(self._fs.realpath, ruling.absolute)
        found = judge(behind, operation, self._bounds)
        if found.verdict is Verdict.REFUSE:
            return _place(text, found)
        if found.path is not None:
            return Place(text, found.verdict, found.absolute, found.path, found.path, why=found.why)
        return Place(text, found.verdict, found.absolute, why=found.why)

    async def read_outside(self, place: Place, limit_bytes: int) -> bytes:
        """The content of a regular file outside, by the place that was judged: a link that came there since is not followed.
        `FileNotFoundError`, `CannotRead`."""
        return await asyncio.to_thread(self._fs.read_bytes, place.absolute, limit=limit_bytes)


def _place(text: str, ruling: Ruling, real: WorkspacePath | None = None) -> Place:
    return Place(text, ruling.verdict, ruling.absolute, ruling.path, real, ruling.refused, ruling.why)
