"""A review as one HTML page that stands alone: what differs, with the changed words, and the comments where they belong.

As in `export_html`: no script, no request, only the elements that are written here, every text of others escaped and its hidden
characters shown. A page is bounded: files, lines and characters that are left out are said. Pure; any thread.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from vibekit_desktop.core.chat.export_html import POLICY
from vibekit_desktop.core.chat.export_html_style import STYLE
from vibekit_desktop.core.chat.export_html_text import block, plain, shown
from vibekit_desktop.core.chat.export_text import lines_of, moment, on_one_line
from vibekit_desktop.core.chat.review_sheet import Sheet, SheetFile, change_word, facts, many
from vibekit_desktop.core.chat.review_style import REVIEW_STYLE
from vibekit_desktop.core.chat.review_words import in_order, point_words, where
from vibekit_desktop.core.types.diffs import DiffDocument, RowKind, Span, WordSpans
from vibekit_desktop.core.types.reviews import PlacedComment, Side

_BETWEEN = " \u00b7 "


@dataclass(frozen=True, slots=True)
class PageLimits:
    """What one page holds."""

    rows: int = 4_000
    """Of one file."""
    characters: int = 4_000
    """Of one line."""
    page: int = 24 << 20
    """Characters after which no file is shown with its lines any more."""


LIMITS = PageLimits()


def page(sheet: Sheet, limits: PageLimits = LIMITS) -> str:
    """The whole page."""
    return lines_of("\n".join(_page(sheet, limits)) + "\n")


def _page(sheet: Sheet, limits: PageLimits) -> Iterator[str]:
    name = shown(on_one_line(sheet.name)) or "an untitled chat"
    yield "<!DOCTYPE html>"
    yield '<html lang="en">'
    yield "<head>"
    yield '<meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    yield '<meta name="referrer" content="no-referrer">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield '<meta name="color-scheme" content="light dark">'
    yield f"<title>Review of {name}</title>"
    yield f"<style>{STYLE}{REVIEW_STYLE}</style>"
    yield "</head>"
    yield "<body>"
    yield "<header>"
    yield f"<h1>Review of {name}</h1>"
    yield from _about(sheet)
    yield "</header>"
    yield "<main>"
    yield from _contents(sheet)
    size = 0
    for number, file in enumerate(sheet.files, 1):
        for piece in _file(file, number, limits, full=size > limits.page):
            size += len(piece)
            yield piece
    if sheet.elsewhere:
        yield "<section>"
        yield "<h2>Comments on other files</h2>"
        for placed in in_order(sheet.elsewhere):
            yield from _comment(placed, path=True, quote=True)
        yield "</section>"
    yield "</main>"
    yield "</body>"
    yield "</html>"


def _about(sheet: Sheet) -> Iterator[str]:
    about = [("Chat ID", sheet.chat), ("Before", point_words(sheet.old)), ("After", point_words(sheet.new))]
    about += [("Made", moment(sheet.made_at)), ("Changes", sheet.summary)]
    yield "<dl>"
    for name, value in about:
        if value:
            yield f"<div><dt>{name}</dt><dd>{shown(value)}</dd></div>"
    yield "</dl>"


def _contents(sheet: Sheet) -> Iterator[str]:
    if not sheet.files:
        yield '<p class="note">No file differs.</p>'
        return
    yield '<ol class="files">'
    for number, file in enumerate(sheet.files, 1):
        yield f'<li><a href="#f{number}">{_path(file.path)}</a> {_state(file)}</li>'
    yield "</ol>"


def _path(path: str) -> str:
    return f"<code>{shown(path)}</code>"


def _state(file: SheetFile) -> str:
    added, removed = file.counts
    words = [change_word(file.diff)]
    if added:
        words.append(f'<span class="plus">+{added}</span>')
    if removed:
        words.append(f'<span class="minus">\u2212{removed}</span>')
    if file.reviewed:
        words.append("reviewed")
    if file.comments:
        words.append(many(len(file.comments), "comment"))
    return f'<span class="about">{_BETWEEN.join(words)}</span>'


def _file(file: SheetFile, number: int, limits: PageLimits, *, full: bool) -> Iterator[str]:
    yield f'<section id="f{number}">'
    yield f"<h2>{_path(file.path)} {_state(file)}</h2>"
    notes = [shown(fact) for fact in facts(file.diff)]
    if notes:
        yield '<ul class="facts">'
        yield from (f"<li>{note}</li>" for note in notes)
        yield "</ul>"
    document = file.diff.result
    lines = _Lines(file, limits)
    if isinstance(document, DiffDocument) and document.hunks:
        if full:
            yield '<p class="note">Its lines are not shown: the page is long enough.</p>'
        else:
            folded = bool(file.diff.generated)
            yield "<details><summary>Lines</summary>" if folded else "<details open><summary>Lines</summary>"
            yield '<table class="lines"><colgroup><col class="number"><col class="number"><col></colgroup>'
            yield from lines.table(document)
            yield "</table>"
            yield "</details>"
    for placed in in_order(lines.waiting):
        yield from _comment(placed, quote=True)
    yield "</section>"


@dataclass(slots=True)
class _Lines:
    """The rows of one file's hunks. ``waiting``: the comments that no row has shown yet."""

    file: SheetFile
    limits: PageLimits
    waiting: list[PlacedComment] = field(init=False)

    def __post_init__(self) -> None:
        self.waiting = list(self.file.comments)

    def table(self, document: DiffDocument) -> Iterator[str]:
        moved_out = {line for one in document.moves for line in range(one.old_first, one.old_last + 1)}
        moved_in = {line for one in document.moves for line in range(one.new_first, one.new_last + 1)}
        left = self.limits.rows
        for number, hunk in enumerate(document.hunks):
            if left <= 0:
                rest = many(len(document.hunks) - number, "more group")
                yield f'<tr class="hunk"><td colspan="3">{rest} of changes not shown</td></tr>'
                return
            head = f"@@ -{hunk.old_start},{hunk.old_lines} +{hunk.new_start},{hunk.new_lines} @@ {hunk.heading}"
            yield f'<tr class="hunk"><td colspan="3">{shown(on_one_line(head))}</td></tr>'
            last = min(hunk.last_row, hunk.first_row + left - 1)
            left -= hunk.last_row - hunk.first_row + 1
            yield from self._rows(document, hunk.first_row, last, moved_out, moved_in)
            if last < hunk.last_row:
                rest = many(hunk.last_row - last, "more row")
                yield f'<tr class="hunk"><td colspan="3">{rest} not shown</td></tr>'

    def _rows(
        self, document: DiffDocument, first: int, last: int, moved_out: "set[int]", moved_in: "set[int]"
    ) -> Iterator[str]:
        """As in a unified diff: of a block first what went, then what came."""
        came: list[str] = []
        words: Mapping[int, WordSpans] = self.file.words
        for number, row in enumerate(document.rows[first : last + 1], first):
            spans = words.get(number)
            if row.kind is RowKind.SAME:
                yield from came
                came = []
                if row.new_line is not None:
                    yield self._line("same", row.old_line, row.new_line, document.new.lines[row.new_line - 1], ())
                    yield from self._said(Side.OLD, row.old_line)
                    yield from self._said(Side.NEW, row.new_line)
                continue
            if row.old_line is not None:
                kind = "went moved" if row.old_line in moved_out else "went"
                marks = spans.old if spans is not None else ()
                yield self._line(kind, row.old_line, None, document.old.lines[row.old_line - 1], marks)
                yield from self._said(Side.OLD, row.old_line)
            if row.new_line is not None:
                kind = "came moved" if row.new_line in moved_in else "came"
                marks = spans.new if spans is not None else ()
                came.append(self._line(kind, None, row.new_line, document.new.lines[row.new_line - 1], marks))
                came += self._said(Side.NEW, row.new_line)
        yield from came

    def _line(self, kind: str, old: int | None, new: int | None, text: str, marks: Sequence[Span]) -> str:
        sign = {"s": " ", "w": "\u2212", "c": "+"}[kind[0]]
        cells = "".join(f"<td>{'' if line is None else line}</td>" for line in (old, new))
        return f'<tr class="{kind}">{cells}<td><code>{sign}{self._marked(text, marks)}</code></td></tr>'

    def _marked(self, text: str, marks: Sequence[Span]) -> str:
        most = self.limits.characters
        pieces: list[str] = []
        at = 0
        for span in marks:
            start, end = min(span.start, most), min(span.end, most)
            if end > start >= at:
                pieces += [shown(text[at:start]), f"<mark>{shown(text[start:end])}</mark>"]
                at = end
        pieces.append(shown(text[at:most]))
        if len(text) > most:
            pieces.append(f'<span class="left-out"> {many(len(text) - most, "more character")}</span>')
        return "".join(pieces)

    def _said(self, side: Side, line: int | None) -> list[str]:
        """The comments that end in a line of one side."""
        here = [one for one in self.waiting if one.comment.side is side and one.last_line == line]
        if line is None or not here:
            return []
        self.waiting = [one for one in self.waiting if one not in here]
        body = "\n".join(piece for one in in_order(here) for piece in _comment(one))
        return [f'<tr class="said"><td colspan="3">{body}</td></tr>']


def _comment(placed: PlacedComment, *, path: bool = False, quote: bool = False) -> Iterator[str]:
    comment = placed.comment
    place = where(placed)
    if comment.side is Side.OLD:
        place += f", in the file as it was {point_words(comment.point)}"
    about = [_path(on_one_line(comment.path))] if path else []
    about += [shown(place), *([when] if (when := moment(comment.at)) else [])]
    about.append("sent to the agent" if comment.sent_at else "not sent")
    yield '<div class="comment">'
    yield f'<p class="about">{_BETWEEN.join(about)}</p>'
    if quote and comment.quote.strip():
        yield block(comment.quote, "code")
    yield plain(comment.text)
    yield "</div>"
