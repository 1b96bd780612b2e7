"""Who else changed what a chat works on: conflicts that its captures met, and drift that looks found (storage.md 4). Pure.

Drift is a recorded change by the user, by nobody known, or by another chat, of a path that this chat had changed before. A
change that a capture met is told once, by the capture.
"""

from vibekit_desktop.core.checkpoint import log, ownership
from vibekit_desktop.core.checkpoint.history import Observation, View
from vibekit_desktop.core.types.checkpoints import Author, Conflict, How
from vibekit_desktop.core.types.errors import PathEscape
from vibekit_desktop.core.types.ids import WorkspacePath


def conflicts(view: View) -> tuple[Conflict, ...]:
    """All of them, oldest first."""
    found: list[tuple[int, Conflict]] = []
    met: set[tuple[WorkspacePath, str]] = set()
    for position, placed in view.own:
        line = placed.line
        if line.type != "conflict_detected":
            continue
        try:
            path = log.path_of(line)
        except PathEscape:
            continue
        met.add((path, line.before_sha))
        found.append(
            (
                position,
                Conflict(
                    path=path,
                    other_chat=line.other_chat,
                    expected_sha=line.expected_sha,
                    actual_sha=line.before_sha,
                    tag=line.tag,
                    ts=line.ts,
                ),
            )
        )
    for seen in _drift(view):
        if (seen.path, seen.after.sha or "") not in met:
            found.append((seen.position, _told(view, seen)))
    return tuple(one for _, one in sorted(found, key=lambda item: item[0]))


def _drift(view: View) -> list[Observation]:
    found: list[Observation] = []
    for seen_of_path in view.by_path.values():
        mine = False
        for seen in seen_of_path:
            if seen.own and ownership.puts_in_plan(seen) and seen.author is not Author.UNKNOWN:
                mine = True
            elif mine and not seen.computed and seen.how is not How.SETTLE and _is_foreign(view, seen):
                found.append(seen)
    return found


def _is_foreign(view: View, seen: Observation) -> bool:
    word = ownership.author_word(seen, view.chat)
    return word in (Author.USER.value, Author.UNKNOWN.value) or word.startswith("chat:")


def _told(view: View, seen: Observation) -> Conflict:
    word = ownership.author_word(seen, view.chat)
    return Conflict(
        path=seen.path,
        other_chat=word[5:] if word.startswith("chat:") else "",
        expected_sha=seen.before.sha or "",
        actual_sha=seen.after.sha or "",
        tag="",
        ts=seen.line.ts,
    )
