"""What a command changed, under its row in the box of tool calls: a head, and a row with Diff and Undo for each file.

Of many files only a few rows are made at a time; all of them are seen in the review. UI thread only.
"""

from dataclasses import dataclass

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter

from vibekit_desktop.ui.models.blocks import FOLD_FROM, Card, CardFile, conflict_key
from vibekit_desktop.ui.models.timeline_phrases import why_not_kept
from vibekit_desktop.ui.text import tr, tr_n
from vibekit_desktop.ui.theme.style import focus_ring
from vibekit_desktop.ui.views.block_view import PaintState, TextButton, button_ground, icon_button, tall
from vibekit_desktop.ui.views.card_detail import CardDetail
from vibekit_desktop.ui.views.controls import draw_icon
from vibekit_desktop.ui.views.row_paint import (
    LETTER_WIDTH,
    counts_width,
    draw_counts,
    draw_letter,
    draw_path,
    draw_text,
    text_width,
)
from vibekit_desktop.ui.wording import shown_path

PAD = 8
MORE_FILES = 200
"""So many rows of files are shown at first, and so many more each time."""


def diff_words(of: Card | CardFile, turn: int) -> str:
    """What a Diff button says to whoever hears it: "Show diff of docs/export.md, turn 5, 18 added, 2 deleted, conflict"."""
    parts = [tr("Show diff of {path}, turn {turn}", path=shown_path(of.path), turn=turn)]
    parts += [tr("{n} added", n=of.added)] if of.added else []
    parts += [tr("{n} deleted", n=of.removed)] if of.removed else []
    parts += [tr("conflict")] if of.conflict is not None and not of.undone else []
    return ", ".join(parts)


def redo_words(path: str, turn: int) -> str:
    """What a Redo button says to whoever hears it."""
    return tr("Redo what turn {turn} did to {path}", turn=turn, path=shown_path(path))


@dataclass(frozen=True, slots=True)
class _FileRow:
    """Where a file's row stands, and the numbers of what can be pressed in it; -1 where there is nothing."""

    file: CardFile
    top: float
    diff: int
    undo: int
    note: int


def _heading(card: Card) -> tuple[str, str]:
    """How many files, and how it is known that they are the command's."""
    count = card.file_count
    if card.sure:
        text = tr_n("1 file changed by this command", "{n} files changed by this command", count)
        return text, tr(" \u00b7 found on disk, not announced by the agent")
    text = tr("Changed while this command ran")
    if count >= FOLD_FROM:
        text = tr_n("1 file changed while this command ran", "{n} files changed while this command ran", count)
    return text, tr("; may be yours or another chat's")


class CardFiles(CardDetail):
    """Parts of a box, among them the files that commands changed. ``opened`` has ``files:`` and the call where the files of a
    long list are shown, and with a number behind where more than so many of them are."""

    def add_files(self, card: Card) -> None:
        """The files that a command changed; of six or more first only how many they are."""
        key = f"files:{card.key}"
        folds = card.file_count >= FOLD_FROM
        is_open = not folds or key in self.opened
        shown = MORE_FILES if is_open else 0
        while shown and f"{key}:{shown}" in self.opened:
            shown += MORE_FILES
        self._add_head(card, key if folds else "", is_open=is_open)
        if files := card.files[:shown]:
            self._add_rows(card, files)
        if is_open and card.file_count > shown:
            more = tr_n("Show 1 more", "Show {n} more", min(MORE_FILES, len(card.files) - shown))
            self._add_rest(card, more if len(card.files) > shown else "", f"{key}:{shown}")
        for file in card.files:
            if file.conflict is not None and not file.undone and conflict_key(file.conflict) in self.opened:
                self.add_conflict(file.conflict)

    def _add_head(self, card: Card, key: str, *, is_open: bool) -> None:
        theme = self.theme
        top, line_height = self.y, tall(theme, 24)
        height = 1 + 6 + line_height + (0 if is_open else 6)
        text, note = _heading(card)
        index = self.hit(QRectF(0, top, self.width, height), "fold", f"{text}{note}", key) if key else -1
        counts = (card.files_added, card.files_removed)
        used = counts_width(theme, counts) if key else 0.0
        place = QRectF(self.width - PAD - used, top + 7, used, line_height)

        def part(painter: QPainter, state: PaintState) -> None:
            token = "bg.hover" if index >= 0 and state.hover == index else "bg.raised"
            painter.fillRect(QRectF(0, top + 1, self.width, height - 1), theme.color(token))
            middle = top + 7 + line_height / 2
            if index >= 0:
                chevron = "chevron-down" if is_open else "chevron-right"
                draw_icon(painter, theme, chevron, "text.tertiary", PAD, round(middle - 7), 14)
            draw_icon(painter, theme, "file-modified", "text.secondary", 32, round(middle - 7), 14)
            line = QRectF(54, top + 7, place.left() - 8 - 54, line_height)
            left = draw_text(painter, theme, line, text, style="small", weight=500)
            draw_text(painter, theme, line.adjusted(left, 0, 0, 0), note, style="small", token="text.secondary")
            if used:
                draw_counts(painter, theme, counts, place)
            if index >= 0 and state.focus == index:
                focus_ring(painter, theme, QRectF(1, top + 1, self.width - 2, height - 2), theme.radius("control"))

        self.add(height, part)

    def _add_rows(self, card: Card, files: tuple[CardFile, ...]) -> None:
        theme = self.theme
        row, top = theme.size("row-file"), self.y
        rows = [self._place(card, file, top + number * row) for number, file in enumerate(files)]
        height = row * len(files) + 6

        def part(painter: QPainter, state: PaintState) -> None:
            painter.fillRect(QRectF(0, top, self.width, height), theme.color("bg.raised"))
            first, end = 0, len(rows)
            if state.clip is not None:
                first = max(0, int((state.clip.top() - top) // row))
                end = min(end, int((state.clip.bottom() - top) // row) + 1)
            for one in rows[first:end]:
                self._paint_file(painter, state, one)

        self.add(height, part, ruled=False)

    def _place(self, card: Card, file: CardFile, y: float) -> _FileRow:
        """Where what can be pressed in the row of a file stands."""
        turn, height = card.turn, self.theme.size("row-file")
        undo = QRectF(self.width - PAD - 24, y + (height - 24) / 2, 24, 24)
        note = -1
        if file.conflict is not None and not file.undone:
            box = QRectF(self._counts_place(file, y).left() - 8 - 24, undo.y(), 24, 24)
            phrase = tr("Conflict in {path}: {title}", path=shown_path(file.path), title=file.conflict.title)
            note = self.hit(box, "conflict", phrase, conflict_key(file.conflict))
        diff = undo.translated(-24, 0)
        if file.missing:
            show = self.off(diff, why_not_kept())
        else:
            show = self.hit(diff, "diff", diff_words(file, turn), file.path, turn)
        back = self.off(undo, why_not_kept()) if file.lost else -1
        action = "undo" if not file.undone else "redo" if file.can_redo else ""
        if card.can_undo and action and not file.lost:
            name = tr("Undo what turn {turn} did to {path}", turn=turn, path=shown_path(file.path))
            words = name if action == "undo" else redo_words(file.path, turn)
            back = self.off(undo, card.held) if card.held else self.hit(undo, action, words, file.path, turn)
        return _FileRow(file, y, show, back, note)

    def _add_rest(self, card: Card, more: str, key: str) -> None:
        """Under the rows that are shown: the way to the next ones, and to all."""
        theme = self.theme
        top, height = self.y, 1 + tall(theme, 28)
        buttons: list[tuple[TextButton, int]] = []
        right = 5.0
        review = tr_n("Review the 1 file", "Review all {n} files", card.file_count)
        specs = [(more, "fold", tr("{show} of the files of {command}", show=more, command=card.target), key, 0)] if more else []
        specs.append((review, "review", tr("Review what turn {n} changed", n=card.turn), "", card.turn))
        for text, action, name, argument, number in specs:
            right += text_width(theme, "small", text, weight=500) + 14
            button = TextButton(theme, text, right, top + height / 2, link=True)
            buttons.append((button, self.hit(button.box, action, name, argument, number)))
            right += 6

        def part(painter: QPainter, state: PaintState) -> None:
            painter.fillRect(QRectF(0, top + 1, self.width, height - 1), theme.color("bg.raised"))
            for button, index in buttons:
                button.paint(painter, state, index)

        self.add(height, part)

    def _counts_place(self, file: CardFile, y: float) -> QRectF:
        """Where the counts of a file stand, or that it was undone."""
        counts = (file.added, file.removed)
        words = tr("Undone") if file.undone else file.missing
        used = text_width(self.theme, "small", words) if words else counts_width(self.theme, counts)
        return QRectF(self.width - PAD - 48.0 - 8 - used, y, used, self.theme.size("row-file"))

    def _paint_file(self, painter: QPainter, state: PaintState, one: _FileRow) -> None:
        theme, file, y, show, back = self.theme, one.file, one.top, one.diff, one.undo
        row = theme.size("row-file")
        draw_letter(painter, theme, file.letter, QRectF(32, y, LETTER_WIDTH, row), faded=file.undone)
        icon_button(painter, theme, "diff", self.found[show].box, state, -1 if file.missing else show)
        if not file.undone or file.can_redo:
            off = back >= 0 and self.found[back].action == "off"
            box = self.found[show].box.translated(24, 0)
            icon_button(painter, theme, "redo" if file.undone else "undo", box, state, -1 if off else back)
        place = self._counts_place(file, y)
        if words := tr("Undone") if file.undone else file.missing:
            draw_text(painter, theme, place, words, style="small", token="text.tertiary", elide=None)
        else:
            draw_counts(painter, theme, (file.added, file.removed), place)
        end = place.left() - 8
        if one.note >= 0:
            box = self.found[one.note].box
            button_ground(painter, theme, box, state, one.note)
            draw_icon(painter, theme, "conflict", "warning.text", box.x() + 5, round(box.center().y() - 7), 14)
            end = box.left() - 4
        path = QRectF(54, y, end - 54, row)
        token = "text.tertiary" if file.undone else "text.primary"
        draw_path(painter, theme, path, shown_path(file.path), style="code", token=token, struck=file.undone)
