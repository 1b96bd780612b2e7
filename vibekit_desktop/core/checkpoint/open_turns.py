"""Which turns and commands are running, as the logs tell it: the one question that decides whose a change is.

A turn that a process of ours or a hook began is open until its ``turn_end`` or the next ``turn_start`` of its chat; a restore
inside it does not end it. One whose hook never came back stops counting after `FORGOTTEN_MS`: nobody is told that it did what
happens today. Imported turns are never open. Reads the logs only.
"""

from dataclasses import dataclass

from vibekit_desktop.core.checkpoint import log
from vibekit_desktop.core.checkpoint.ground import Ground
from vibekit_desktop.core.checkpoint.log import CoverageLine, Line
from vibekit_desktop.core.types.checkpoints import State
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath

FORGOTTEN_MS = 12 * 60 * 60 * 1000
"""Longer than a night in which nobody answered an agent's question."""
_EDGES = frozenset(("turn_start", "turn_end", "command_start", "command_end", "restore_plan"))
"""The lines before which there is a look at everything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTurn:
    """One running turn, and what its log says of it so far.

    ``commands``: how many are running. ``created``: paths that an announced write of it made. ``notes``: what was noted in it
    as (path, reason). ``coverage``: what the look before it could not see. ``forgotten``: it is open and counts for nothing.
    """

    chat: ChatId
    turn: int
    commands: int
    created: frozenset[WorkspacePath]
    notes: frozenset[tuple[str, str]]
    coverage: CoverageLine | None
    forgotten: bool


def open_turn(ground: Ground, chat: ChatId) -> OpenTurn | None:
    """The open turn of one chat."""
    lines = ground.vault.lines(chat)
    begins = _begins(lines)
    if begins is None:
        return None
    since = lines[begins:]
    running = sum((line.type == "command_start") - (line.type == "command_end") for line in since)
    created = {
        log.path_of(line)
        for line in since
        if line.type == "snapshot" and log.state_before(line).state is State.ABSENT and log.state_after(line).sha is not None
    }
    return OpenTurn(
        chat=chat,
        turn=lines[begins].turn,
        commands=max(running, 0),
        created=frozenset(created),
        notes=frozenset((line.path, line.reason) for line in since if line.type == "note"),
        coverage=lines[begins].coverage,
        forgotten=ground.clock() - max(line.ts for line in since) > FORGOTTEN_MS,
    )


def _begins(lines: tuple[Line, ...]) -> int | None:
    for index in range(len(lines) - 1, -1, -1):
        line = lines[index]
        if line.type == "turn_start":
            return index if line.seq else None
        if line.type == "turn_end":
            return None
    return None


def open_turns(ground: Ground) -> dict[ChatId, OpenTurn]:
    """Every turn that is running now and counts; a chat whose log is damaged takes no lines, so it has none."""
    found: dict[ChatId, OpenTurn] = {}
    for chat in ground.vault.chats_with_logs():
        turn = None if ground.vault.damage(chat) else open_turn(ground, chat)
        if turn is not None and not turn.forgotten:
            found[chat] = turn
    return found


def last_look(ground: Ground) -> int:
    """The number of the last line that stands after a look at everything; what was announced before it has been looked for."""
    logs = ground.vault.all_logs().values()
    return max((line.seq for found in logs for line in found.lines if line.type in _EDGES), default=0)
