"""The words for comments: where one stands, and all of them as one message for the agent. Pure; any thread.

What is quoted is fenced so that nothing inside can end it; nothing of it is changed, since the agent reads the file as it is.
"""

from collections.abc import Sequence
from typing import assert_never

from vibekit_desktop.core.chat.export_markdown import code, fenced
from vibekit_desktop.core.chat.export_text import on_one_line
from vibekit_desktop.core.types.checkpoints import AfterTurn, AtEntry, AtLine, AtTag, BeforeTurn, Now, Point, Start
from vibekit_desktop.core.types.reviews import Comment, PlacedComment, Side


def point_words(point: Point) -> str:
    """A point inside a sentence: "before turn 3"."""
    match point:
        case Start():
            return "at the start"
        case Now():
            return "now"
        case BeforeTurn(turn=turn):
            return f"before turn {turn}"
        case AfterTurn(turn=turn):
            return f"after turn {turn}"
        case AtTag(tag=tag):
            return f"at checkpoint {tag}"
        case AtEntry(entry=entry):
            return f"before restore {entry}"
        case AtLine(line=line):
            return f"before change {line}"
        case _:
            assert_never(point)


def lines_words(first: int, last: int) -> str:
    """ "line 3", "lines 3 to 5"."""
    return f"line {first}" if first == last else f"lines {first} to {last}"


def where(placed: PlacedComment) -> str:
    """Where a comment stands now, and where it stood when it was written, if that is another place."""
    comment = placed.comment
    then = lines_words(comment.first_line, comment.last_line)
    if placed.first_line is None or placed.last_line is None:
        return f"{then} then; no longer there"
    now = lines_words(placed.first_line, placed.last_line)
    return now if now == then else f"{now} ({then} when this was written)"


def in_order(comments: Sequence[PlacedComment]) -> list[PlacedComment]:
    """By file, then by line, then as they were written."""

    def key(placed: PlacedComment) -> tuple[str, int, int]:
        return placed.comment.path, placed.first_line or placed.comment.first_line, placed.comment.at

    return sorted(comments, key=key)


def message(comments: Sequence[PlacedComment]) -> str:
    """All comments as one message, by file and line; empty without any."""
    if not comments:
        return ""
    head = "Please look at this review comment." if len(comments) == 1 else "Please look at these review comments."
    return "\n\n".join([head, *(_one(placed) for placed in in_order(comments))])


def _one(placed: PlacedComment) -> str:
    comment = placed.comment
    place = f"{code(on_one_line(comment.path))}, {where(placed)}"
    if comment.side is Side.OLD:
        place += f", in the file as it was {point_words(comment.point)}"
    return "\n\n".join([f"**{place}**", *([fenced(comment.quote)] if comment.quote.strip() else []), comment.text])


def is_open(comment: Comment) -> bool:
    """Whether the agent was not told yet."""
    return not comment.sent_at
