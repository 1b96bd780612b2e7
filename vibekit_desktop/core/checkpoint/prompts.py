"""Find the turns in a transcript whose messages do not say theirs (the original's), by ``message_count``. Pure; any thread.

The original counts the messages when a turn begins, its prompt included. A restore of its own shortens the transcript, so a
later turn with no larger count means that the earlier one's prompt was cut away.
"""

from bisect import bisect_left
from dataclasses import replace

from vibekit_desktop.core.checkpoint.points import Marks
from vibekit_desktop.core.types.chats import TranscriptShape


def placed(shape: TranscriptShape, marks: Marks) -> TranscriptShape:
    """The shape with the prompts that only the log can place."""
    if not shape.unmarked:
        return shape
    free = sorted(shape.unmarked)
    found: list[tuple[int, int]] = []
    for number, turn in sorted(marks.turns.items()):
        if number in shape.prompt_index or turn.line.message_count <= 0:
            continue
        at = bisect_left(free, turn.line.message_count) - 1
        while found and (at < 0 or found[-1][1] >= free[at]):
            found.pop()
        if at >= 0 and turn.line.message_count <= shape.messages:
            found.append((number, free[at]))
    return replace(
        shape,
        prompt_index={**shape.prompt_index, **dict(found)},
        prompts={**shape.prompts, **{number: shape.unmarked[index] for number, index in found}},
    )
