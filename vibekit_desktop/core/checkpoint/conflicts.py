"""Who else changed what a chat works on: conflicts that its captures met, and drift that looks found. Pure; any thread.

Drift is a recorded change by the user, by nobody known, or by another chat, of a path that this chat had changed before. A
change that a capture met is told once, by the capture.
"""

from collections.abc import Sequence

from vibekit_desktop.core.checkpoint import log, ownership
from vibekit_desktop.core.checkpoint.history import Observation, View, agree, is_known
from vibekit_desktop.core.checkpoint.log import Line
from vibekit_desktop.core.types.checkpoints import Author, Conflict, FileState, How
from vibekit_desktop.core.types.ids import WorkspacePath


def conflicts(view: View) -> tuple[Conflict, ...]:
    """All of them, oldest first."""
    return tuple(one for _, one in positions(view))


def positions(view: View) -> list[tuple[int, Conflict]]:
    """All of them with their places in the history, oldest first."""
    found: list[tuple[int, Conflict]] = []
    met: set[tuple[WorkspacePath, str]] = set()
    for position, placed in view.own:
        one = _of_line(placed.line)
        if one is not None:
            met.add((one.path, one.actual_sha))
            found.append((position, one))
    for seen, left in _drift(view):
        if (seen.path, left.sha or "") not in met:
            found.append((seen.position, _told(view, seen, left)))
    return sorted(found, key=lambda item: item[0])


def _drift(view: View) -> list[tuple[Observation, FileState]]:
    """Others' changes of what was this chat's, each with what it left."""
    found: list[tuple[Observation, FileState]] = []
    for seen_of_path in view.by_path.values():
        mine = False
        for index, seen in enumerate(seen_of_path):
            if seen.own and ownership.puts_in_plan(seen) and seen.author is not Author.UNKNOWN:
                mine = True
            elif (
                (mine or _is_written_over(seen_of_path[index : index + 2]))
                and not seen.computed
                and seen.how is not How.SETTLE
                and _is_foreign(view, seen)
            ):
                left = left_by(seen_of_path[index : index + 2])
                if left is not None:
                    found.append((seen, left))
    return found


def _is_written_over(seen: Sequence[Observation]) -> bool:
    """Whether the second of two observations wrote over the first, which was found in the same turn of this chat and announced
    by nobody: no restore of a turn brings that back."""
    if len(seen) < 2:
        return False
    found, then = seen
    return (
        found.how is How.SCAN
        and found.author is Author.UNKNOWN
        and found.own
        and then.own
        and then.how is How.SCAN
        and then.author in (Author.AGENT, Author.COMMAND)
        and found.line.turn == then.line.turn > 0
    )


def left_by(seen: Sequence[Observation]) -> FileState | None:
    """What the first of two observations of a path left. What came of a write that was announced without its content, the one
    after it knows; None if nothing came of it, or nothing yet."""
    first = seen[0]
    if is_known(first.after) or first.how is not How.ANNOUNCED:
        return first.after
    if len(seen) == 1:
        return None
    left = seen[1].after if seen[1].how is How.SETTLE else seen[1].before
    return left if is_known(left) and not agree(first.before, left) else None


def _is_foreign(view: View, seen: Observation) -> bool:
    word = ownership.author_word(seen, view.chat)
    return word in (Author.USER.value, Author.UNKNOWN.value) or ownership.other_chat(word) is not None


def _told(view: View, seen: Observation, left: FileState) -> Conflict:
    return Conflict(
        path=seen.path,
        other_chat=ownership.other_chat(ownership.author_word(seen, view.chat)) or "",
        expected_sha=seen.before.sha or "",
        actual_sha=left.sha or "",
        tag="",
        ts=seen.line.ts,
    )


def line_of(conflict: Conflict) -> Line:
    """The original's ``conflict_detected`` line: same keys and meaning."""
    text, exact = log.path_keys(conflict.path)
    return Line(
        type="conflict_detected",
        tag=conflict.tag,
        path=text,
        path_b64=exact,
        before_sha=conflict.actual_sha,
        other_chat=conflict.other_chat,
        expected_sha=conflict.expected_sha,
        ts=conflict.ts,
    )


def _of_line(line: Line) -> Conflict | None:
    """The conflict that a line tells of; None for another kind."""
    if line.type != "conflict_detected":
        return None
    return Conflict(
        path=log.path_of(line),
        other_chat=line.other_chat,
        expected_sha=line.expected_sha,
        actual_sha=line.before_sha,
        tag=line.tag,
        ts=line.ts,
    )
