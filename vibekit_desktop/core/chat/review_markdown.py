"""A review as a short Markdown document: its files with their counts and facts, and all comments. Pure; any thread.

As in `export_markdown` nothing of others reaches beyond its place.
"""

from collections.abc import Iterator, Sequence

from vibekit_desktop.core.chat.export_markdown import code, fenced, harmless, within
from vibekit_desktop.core.chat.export_text import lines_of, marked, moment, on_one_line
from vibekit_desktop.core.chat.review_sheet import Sheet, SheetFile, change_word, facts
from vibekit_desktop.core.chat.review_words import in_order, point_words, where
from vibekit_desktop.core.types.reviews import PlacedComment, Side


def summary(sheet: Sheet) -> str:
    """The whole document."""
    return lines_of("\n\n".join(_parts(sheet)) + "\n")


def _parts(sheet: Sheet) -> Iterator[str]:
    yield f"# Review of {harmless(on_one_line(sheet.name)) or 'an untitled chat'}"
    about = [("Chat ID", code(on_one_line(sheet.chat))), ("Before", point_words(sheet.old)), ("After", point_words(sheet.new))]
    if when := moment(sheet.made_at):
        about.append(("Made", when))
    about.append(("Changes", sheet.summary))
    yield "\n".join(f"- **{name}:** {value}" for name, value in about)
    yield "## Files"
    yield "\n".join(_file(file) for file in sheet.files) or "_No file differs._"
    comments = in_order(sheet.comments)
    if comments:
        yield "## Comments"
        yield from _comments(comments)


def _file(file: SheetFile) -> str:
    added, removed = file.counts
    words = [change_word(file.diff), *([f"+{added} \u2212{removed}"] if added or removed else [])]
    if file.reviewed:
        words.append("reviewed")
    lines = [f"- {code(file.path)}: {', '.join(words)}"]
    lines += [f"  - {_plain(fact)}" for fact in facts(file.diff)]
    return "\n".join(lines)


def _comments(comments: Sequence[PlacedComment]) -> Iterator[str]:
    path = None
    for placed in comments:
        comment = placed.comment
        if comment.path != path:
            path = comment.path
            yield f"### {code(on_one_line(path))}"
        place = where(placed)
        if comment.side is Side.OLD:
            place += f", in the file as it was {point_words(comment.point)}"
        about = [place, *([when] if (when := moment(comment.at)) else [])]
        about.append("sent to the agent" if comment.sent_at else "not sent")
        yield f"**{place[:1].upper()}{place[1:]}** _({', '.join(about[1:])})_"
        if comment.quote.strip():
            yield fenced(marked(comment.quote))
        yield within(comment.text)


def _plain(text: str) -> str:
    """A sentence of ours with a name of others in it, as text and nothing else."""
    special = "\\`*_[]<>&|#~!"
    return "".join(f"\\{char}" if char in special else char for char in text)
