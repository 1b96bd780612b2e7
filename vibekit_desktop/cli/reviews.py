"""What was said of a chat's changes: the verb `comments`, and a review as one document for `diff --html` and `--markdown`."""

import argparse
import sys
from collections.abc import Sequence

from vibekit_desktop.cli import printing
from vibekit_desktop.cli.objects import Json, path_keys
from vibekit_desktop.cli.sentences import DONE, FAILED
from vibekit_desktop.core.api import Core
from vibekit_desktop.core.types.checkpoints import Now, Point, point_text
from vibekit_desktop.core.types.diffs import Compare
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath
from vibekit_desktop.core.types.reviews import PlacedComment, ReviewFormat, Side


async def document(
    core: Core,
    options: argparse.Namespace,
    chat: ChatId,
    between: tuple[Point, Point],
    paths: Sequence[WorkspacePath],
    compare: Compare,
) -> int:
    """``diff --html`` and ``--markdown``: the review on standard output."""
    kind = ReviewFormat.HTML if options.html else ReviewFormat.MARKDOWN
    made = await core.exports.review(chat, *between, paths, kind, compare=compare)
    if options.json:
        text = made.data.decode()
        printing.print_json({"name": made.name, "format": kind.value, "bytes": len(made.data), "content": text})
    else:
        sys.stdout.buffer.write(made.data)
        sys.stdout.buffer.flush()
    return DONE


async def comments(core: Core, options: argparse.Namespace) -> int:
    """``comments``: what was said, by file, with where it stands now."""
    chat = await core.chats.resolve(options.chat)
    placed = await _placed(core, chat)
    problems = await core.reviews.problems(chat)
    if options.json:
        printing.print_json({"comments": [_object(one) for one in placed], "problems": list(problems)})
    else:
        for one in placed:
            _say(one)
        if not placed and not problems:
            printing.say("No comments.")
    for file in problems:
        print(f"error: review.unreadable: {printing.visible(file)} cannot be read; it is kept as it is", file=sys.stderr)
    return FAILED if problems else DONE


async def _placed(core: Core, chat: ChatId) -> list[PlacedComment]:
    found = await core.reviews.comments(chat)
    now: dict[str, PlacedComment] = {}
    for path in dict.fromkeys(one.path for one in found if one.side is Side.NEW):
        now |= {one.comment.id: one for one in await core.reviews.place(chat, path, Side.NEW, Now())}
    placed = [now.get(one.id, PlacedComment(one, one.first_line, one.last_line)) for one in found]
    return sorted(placed, key=lambda one: (one.comment.path, one.first_line or one.comment.first_line))


def _object(placed: PlacedComment) -> dict[str, Json]:
    comment = placed.comment
    return {
        "id": comment.id,
        **path_keys(comment.path),
        "side": comment.side.value,
        "point": point_text(comment.point),
        "first_line": comment.first_line,
        "last_line": comment.last_line,
        "first_line_now": placed.first_line,
        "last_line_now": placed.last_line,
        "text": comment.text,
        "quote": comment.quote,
        "sha": comment.sha,
        "at": comment.at,
        "changed_at": comment.changed_at,
        "sent_at": comment.sent_at or None,
    }


def _lines(first: int, last: int) -> str:
    return f"{first}" if first == last else f"{first}-{last}"


def _say(placed: PlacedComment) -> None:
    comment = placed.comment
    then = _lines(comment.first_line, comment.last_line)
    if comment.side is Side.OLD:
        where = f"{then} ({point_text(comment.point)})"
    elif placed.first_line is None or placed.last_line is None:
        where = f"{then} (no longer there)"
    else:
        where = _lines(placed.first_line, placed.last_line)
    state = f"sent {printing.when(comment.sent_at)}" if comment.sent_at else "not sent"
    printing.say(f"{printing.named(comment.path)}:{where}  {printing.when(comment.at)}  {state}  {comment.id[:8]}")
    for line in comment.quote.split("\n")[:3] if comment.quote.strip() else ():
        printing.say(f"    > {printing.visible(line)}")
    for line in comment.text.split("\n"):
        printing.say(f"    {printing.visible(line)}")
