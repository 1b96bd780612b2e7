"""Paint consecutive tool calls in one bordered box, with what is open under them. UI thread only."""

from collections.abc import Callable, Sequence, Set

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPen

from vibekit_desktop.core.types.diffs import Span
from vibekit_desktop.ui.long_text import terminal_lines
from vibekit_desktop.ui.models.blocks import Card, CardFile, CardsBlock
from vibekit_desktop.ui.models.mini_diff import MiniLine, compare
from vibekit_desktop.ui.text import tr, tr_n
from vibekit_desktop.ui.theme.palette import Theme
from vibekit_desktop.ui.theme.style import focus_ring, rounded
from vibekit_desktop.ui.views.block_view import LEFT, RIGHT, Hit, PaintState, TextButton, icon_button, off_hit
from vibekit_desktop.ui.views.code_cells import line_of
from vibekit_desktop.ui.views.code_line import LinePainter
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
from vibekit_desktop.ui.wording import MINUS, fit_path, shown_path

_MOST_LINES = 12
_MOST_STEPS = 30
_LAST_OUTPUT = 64_000
_PAD = 8

Painting = Callable[[QPainter, PaintState], None]


def is_open_card(card: Card, opened: Set[str], closed: Set[str]) -> bool:
    """Whether a card shows what is under it: somebody opened it, or it opens by itself and nobody closed it."""
    return card.key in opened or (card.opens_itself and card.key not in closed)


def _last_lines(output: str) -> tuple[tuple[str, ...], int]:
    """The last lines of an output and how many it has, without looking at the lines before when it is long."""
    if len(output) <= _LAST_OUTPUT:
        return terminal_lines(output, _MOST_LINES)
    shown, _ = terminal_lines(output[-_LAST_OUTPUT:], _MOST_LINES)
    return shown, output.rstrip("\n").count("\n") + 1


class CardsView:
    """The box. ``opened`` are the keys of the cards somebody opened, ``closed`` of those that were open by themselves and that
    somebody closed; a hit of the action ``card`` opens or closes the card it names.

    Invariant: ``hits`` are in reading order: for each card the row, Stop, Diff, Undo, then what is under it.
    """

    def __init__(self, theme: Theme, block: CardsBlock, width: int, opened: Set[str], closed: Set[str] = frozenset()) -> None:
        self._theme = theme
        self._width = width
        self._parts: list[tuple[float, float, Painting]] = []
        self._hits: list[Hit] = []
        self._y = 0.0
        self.copy_text = "\n".join(f"{card.verb} {card.target}" for card in block.cards)
        for card in block.cards:
            is_open = is_open_card(card, opened, closed)
            self._add_row(card, is_open=is_open)
            if card.files:
                self._add_files(card)
            if is_open:
                self._add_detail(card)
        self.height = round(self._y) + 1
        self.hits = tuple(self._hits)

    def paint(self, painter: QPainter, state: PaintState) -> None:
        theme = self._theme
        box = QRectF(0, 0, self._width, self.height)
        rounded(painter, box, theme.radius("card"), fill=theme.color("bg.surface"))
        painter.save()
        shape = QPainterPath()
        shape.addRoundedRect(box, theme.radius("card"), theme.radius("card"))
        painter.setClipPath(shape, Qt.ClipOperation.IntersectClip)
        for top, bottom, part in self._parts:
            if state.clip is not None and (bottom < state.clip.top() or top > state.clip.bottom()):
                continue
            if top > 0:
                painter.fillRect(QRectF(0, top, self._width, 1), theme.color("line.hair"))
            part(painter, state)
        painter.restore()
        rounded(painter, box, theme.radius("card"), line=theme.color("line.hair"))

    def _add(self, height: float, part: Painting) -> None:
        self._parts.append((self._y, self._y + height, part))
        self._y += height

    def _hit(self, box: QRectF, action: str, name: str, text: str = "", number: int = 0) -> int:
        self._hits.append(Hit(box, action, name, text, number))
        return len(self._hits) - 1

    def _off(self, box: QRectF, why: str) -> int:
        self._hits.append(off_hit(box, why))
        return len(self._hits) - 1

    # One row

    def _add_row(self, card: Card, *, is_open: bool) -> None:
        theme = self._theme
        top, height = self._y, theme.size("row-tool") + (1 if self._y else 0)
        middle = top + height / 2
        name = tr("{verb} {target}", verb=card.verb, target=card.target)
        row_hit = self._hit(QRectF(0, top, self._width, height), "card", name, card.key) if card.opens else -1
        right = float(self._width - _PAD)
        buttons: list[tuple[TextButton, int]] = []
        if card.can_stop:
            stop = TextButton(theme, tr("Stop"), right, middle)
            phrase = tr("Stop {command}", command=card.target)
            buttons.append((stop, self._hit(stop.box, "stop", phrase, card.key)))
            right = stop.box.x() - 8
        if card.path:
            turn = card.turn
            free = card.can_undo and not card.held
            specs = [
                (tr("Undo"), "undo", tr("Undo what turn {turn} did to {path}", turn=turn, path=shown_path(card.path))),
                (tr("Diff"), "diff", tr("Show diff of {path}, turn {turn}", path=shown_path(card.path), turn=turn)),
            ]
            made = []
            for text, action, phrase in specs:
                if action == "undo" and card.undone:
                    continue
                button = TextButton(theme, text, right, middle, enabled=action == "diff" or free)
                made.append((button, action, phrase))
                right = button.box.x()
            for button, action, phrase in reversed(made):
                if action == "undo" and card.can_undo and card.held:
                    buttons.append((button, self._off(button.box, card.held)))
                    continue
                usable = action == "diff" or free
                buttons.append((button, self._hit(button.box, action, phrase, card.path, turn) if usable else -1))
            right -= 8

        def part(painter: QPainter, state: PaintState) -> None:
            if row_hit >= 0 and state.hover == row_hit:
                painter.fillRect(QRectF(1, top + 1, self._width - 2, height - 1), theme.color("bg.hover"))
            for button, index in buttons:
                button.paint(painter, state, index)
            self._paint_row(painter, state, card, top, height, right, is_open=is_open)
            if row_hit >= 0 and state.focus == row_hit:
                focus_ring(painter, theme, QRectF(1, top + 1, self._width - 2, height - 2), theme.radius("control"))

        self._add(height, part)

    def _paint_row(
        self, painter: QPainter, state: PaintState, card: Card, top: float, height: float, right: float, *, is_open: bool
    ) -> None:
        theme = self._theme
        middle = top + height / 2
        if card.opens:
            chevron = "chevron-down" if is_open else "chevron-right"
            draw_icon(painter, theme, chevron, "text.tertiary", _PAD, round(middle - 7), 14)
        draw_icon(painter, theme, card.icon, "text.secondary", 30, round(middle - 8))
        right = self._paint_status(painter, state, card, top, height, right)
        x = 54.0
        painter.setFont(theme.font("body-strong"))
        painter.setPen(theme.color("text.primary"))
        painter.drawText(QRectF(x, top, 200, height), LEFT, card.verb)
        x += text_width(theme, "body-strong", card.verb) + 8
        counts = counts_width(theme, (card.added, card.removed))
        room = right - x - (counts + 8 if counts else 0) - 8
        style, token = ("code", "text.primary") if card.mono else ("body", "text.secondary")
        target = fit_path(card.target, room, theme.metrics(style).horizontalAdvance) if card.path else card.target
        x += draw_text(painter, theme, QRectF(x, top, room, height), target, style=style, token=token) + 8
        draw_counts(painter, theme, (card.added, card.removed), QRectF(x, top, counts, height))

    def _paint_status(self, painter: QPainter, state: PaintState, card: Card, top: float, height: float, right: float) -> float:
        theme, pulse = self._theme, state.pulse
        status, token, icon = card.status, "text.tertiary", ""
        if card.undone:
            status = tr("Undone")
        else:
            token = "danger.text" if card.state == "failed" else token
            # The step of a plan that is being worked on turns by itself.
            icon = {"active": "" if card.steps else "spinner", "done": "check"}.get(card.state, "")
        if card.waits:
            token, icon = "warning.text", "status-needs-you"
        if icon:
            place = QRectF(right - 14, round(top + height / 2 - 7), 14, 14)
            if icon == "spinner" and card.began_at and pulse is not None:
                pulse.draw_arc(painter, place)
                status = pulse.elapsed(card.began_at)
                pulse.counts(painter, QRectF(right - 120, top, 120, height))
            else:
                tint = {"check": "success.text", "status-needs-you": "warning.text"}.get(icon, "accent.text")
                draw_icon(painter, theme, icon, tint, place.x(), place.y(), 14)
            right -= 22
        if status:
            painter.setFont(theme.font("small"))
            painter.setPen(theme.color(token))
            width = text_width(theme, "small", status)
            painter.drawText(QRectF(right - width - 1, top, width + 1, height), RIGHT, status)
            right -= width + 8
        return right

    # What a command changed

    def _add_files(self, card: Card) -> None:
        theme = self._theme
        row = theme.size("row-file")
        top = self._y
        height = 1 + 6 + 24 + row * len(card.files) + 6
        text = tr_n("1 file changed by this command", "{n} files changed by this command", len(card.files))
        note = tr("found on disk, not announced by the agent")
        if not card.sure:
            text = tr_n("1 file changed while this ran", "{n} files changed while this ran", len(card.files))
            note = tr("may be yours or another chat's")
        rows: list[tuple[CardFile, float, int, int]] = []
        y = top + 1 + 6 + 24
        for file in card.files:
            undo = QRectF(self._width - _PAD - 24, y + (row - 24) / 2, 24, 24)
            diff = undo.translated(-24, 0)
            turn = card.turn
            show = self._hit(diff, "diff", tr("Show diff of {path}, turn {turn}", path=file.path, turn=turn), file.path, turn)
            name = tr("Undo what turn {turn} did to {path}", turn=turn, path=shown_path(file.path))
            back = -1
            if card.can_undo and not file.undone:
                back = self._off(undo, card.held) if card.held else self._hit(undo, "undo", name, file.path, turn)
            rows.append((file, y, show, back))
            y += row

        def part(painter: QPainter, state: PaintState) -> None:
            painter.fillRect(QRectF(0, top + 1, self._width, height - 1), theme.color("bg.raised"))
            draw_icon(painter, theme, "file-modified", "text.secondary", 32, round(top + 7 + 5), 14)
            painter.setFont(theme.font("small", weight=500))
            painter.setPen(theme.color("text.primary"))
            line = QRectF(54, top + 7, self._width - 62, 24)
            painter.drawText(line, LEFT, text)
            painter.setFont(theme.font("small"))
            painter.setPen(theme.color("text.secondary"))
            left = text_width(theme, "small", text, weight=500)
            painter.drawText(line.adjusted(left, 0, 0, 0), LEFT, f" \u00b7 {note}")
            for file, y, show, back in rows:
                self._paint_file(painter, state, file, y, show, back)

        self._add(height, part)

    def _paint_file(self, painter: QPainter, state: PaintState, file: CardFile, y: float, show: int, back: int) -> None:
        theme = self._theme
        row = theme.size("row-file")
        draw_letter(painter, theme, file.letter, QRectF(32, y, LETTER_WIDTH, row))
        right = self._width - _PAD - 48.0
        icon_button(painter, theme, "diff", self._hits[show].box, state, show)
        if not file.undone:
            off = back >= 0 and self._hits[back].action == "off"
            icon_button(painter, theme, "undo", self._hits[show].box.translated(24, 0), state, -1 if off else back)
        counts = (file.added, file.removed)
        used = text_width(theme, "small", tr("Undone")) if file.undone else counts_width(theme, counts)
        place = QRectF(right - 8 - used, y, used, row)
        if file.undone:
            draw_text(painter, theme, place, tr("Undone"), style="small", token="text.tertiary", elide=None)
        else:
            draw_counts(painter, theme, counts, place)
        path = QRectF(54, y, place.left() - 8 - 54, row)
        draw_path(painter, theme, path, shown_path(file.path), style="code")

    # What is open

    def _add_detail(self, card: Card) -> None:
        if card.fragments:
            lines: list[MiniLine] = []
            for fragment in card.fragments:
                lines += compare(fragment.old_text, fragment.new_text, card.first_line if not lines else 0)
            self._add_mini(lines[:_MOST_LINES])
            if len(lines) > _MOST_LINES and card.path:
                self._add_more(tr_n("Show the 1 line", "Show all {n} lines", len(lines)), "diff", card.path, card.turn)
            elif len(lines) > _MOST_LINES:
                self._add_note(tr("{n} more lines", n=len(lines) - _MOST_LINES))
        elif card.lines:
            self._add_text(card.lines)
        elif card.steps:
            self._add_steps(card)
        elif card.output.strip():
            shown, count = _last_lines(card.output)
            self._add_text(shown)
            if count > _MOST_LINES:
                self._add_more(tr_n("Copy the 1 line", "Copy all {n} lines", count), "copy", card.output, 0)

    def _add_mini(self, lines: list[MiniLine]) -> None:
        theme = self._theme
        step = theme.line_height("code-small")
        top, height = self._y, 1 + 4 + step * len(lines) + 4
        code = LinePainter(theme, "code-small")

        def part(painter: QPainter, _state: PaintState) -> None:
            y = top + 5
            for line in lines:
                self._paint_mini(painter, code, line, y, step)
                y += step

        self._add(height, part)

    def _paint_mini(self, painter: QPainter, code: LinePainter, line: MiniLine, y: float, step: int) -> None:
        theme = self._theme
        row = QRectF(0, y, self._width, step)
        side = "del" if line.sign == "-" else "add"
        if line.sign:
            painter.fillRect(row, theme.color(f"diff.{side}-line"))
            painter.fillRect(QRectF(0, y, 40, step), theme.color(f"diff.{side}-gutter"))
        painter.setFont(theme.font("code-small"))
        if line.number:
            painter.setPen(theme.color("diff.line-number-changed" if line.sign else "diff.line-number"))
            painter.drawText(QRectF(0, y, 32, step), RIGHT, str(line.number))
        if line.sign:
            painter.setFont(theme.font("code-small", weight=600))
            painter.setPen(theme.color(f"diff.{side}-mark"))
            painter.drawText(QRectF(40, y, 20, step), Qt.AlignmentFlag.AlignCenter, MINUS if line.sign == "-" else "+")
        shown = line_of(line.text)
        marks = [Span(start, end) for start, end in line.marks]
        box = QRectF(60, y, self._width - 60, step)
        code.draw(painter, box, shown, [(0, shown.length, 0)], marks, scroll=0, mark_token=f"diff.{side}-word")

    def _add_text(self, texts: Sequence[str]) -> None:
        theme = self._theme
        lines = [line_of(text) for text in texts]
        step = theme.line_height("code-small")
        top, height = self._y, 1 + 6 + step * len(lines) + 6
        code = LinePainter(theme, "code-small")

        def part(painter: QPainter, _state: PaintState) -> None:
            painter.fillRect(QRectF(0, top + 1, self._width, height - 1), theme.color("bg.raised"))
            y = top + 7
            for line in lines:
                box = QRectF(12, y, self._width - 24, step)
                code.draw(painter, box, line, [(0, line.length, 0)], (), scroll=0, mark_token="diff.add-word")
                y += step

        self._add(height, part)

    def _add_steps(self, card: Card) -> None:
        theme = self._theme
        shown, step_height = card.steps[:_MOST_STEPS], round(24 * max(1.0, theme.zoom))
        top, height = self._y, 1 + 6 + step_height * len(shown) + 6
        moves = card.state == "active"

        def part(painter: QPainter, state: PaintState) -> None:
            y = top + 7
            for step in shown:
                middle = y + step_height / 2
                box = QRectF(54, y, self._width - 62, step_height)
                if step.state == "active" and moves and state.pulse is not None:
                    state.pulse.draw_arc(painter, QRectF(31, round(middle - 7), 14, 14))
                elif step.state == "done":
                    draw_icon(painter, theme, "check", "success.text", 31, round(middle - 7), 14)
                else:
                    painter.setPen(QPen(theme.color("accent.text" if step.state == "active" else "line.control"), 1.4))
                    painter.setBrush(Qt.BrushStyle.NoBrush)
                    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                    painter.drawEllipse(QPointF(38, middle), 4.5, 4.5)
                token = "text.tertiary" if step.state == "done" else "text.primary"
                draw_text(painter, theme, box, step.text, token=token)
                y += step_height

        self._add(height, part)
        if len(card.steps) > len(shown):
            self._add_note(tr("{n} more steps", n=len(card.steps) - len(shown)))

    def _add_note(self, text: str) -> None:
        theme = self._theme
        top, height = self._y, 28

        def part(painter: QPainter, _state: PaintState) -> None:
            painter.setFont(theme.font("small"))
            painter.setPen(theme.color("text.tertiary"))
            painter.drawText(QRectF(12, top, self._width - 24, height), LEFT, text)

        self._add(height, part)

    def _add_more(self, text: str, action: str, argument: str, number: int) -> None:
        theme = self._theme
        top, height = self._y, 29
        width = text_width(theme, "small", text, weight=500) + 14
        button = TextButton(theme, text, 5 + width, top + height / 2, link=True)
        index = self._hit(button.box, action, text, argument, number)
        self._add(height, lambda painter, state: button.paint(painter, state, index))
