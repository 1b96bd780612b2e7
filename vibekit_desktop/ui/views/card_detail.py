"""The parts of a box of tool calls, under each other, and what is open under a call: a small diff, output, steps, a conflict.

A part paints itself and knows where it stands; only those in sight are painted. UI thread only.
"""

from collections.abc import Callable, Mapping, Sequence, Set

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from vibekit_desktop.core.types.chats import DiffFragment
from vibekit_desktop.core.types.diffs import Span, StyleRuns
from vibekit_desktop.ui.long_text import terminal_lines
from vibekit_desktop.ui.models.blocks import Card
from vibekit_desktop.ui.models.conflicts import ConflictCard
from vibekit_desktop.ui.models.mini_diff import MiniLine, compare
from vibekit_desktop.ui.text import tr, tr_n
from vibekit_desktop.ui.theme.palette import Theme
from vibekit_desktop.ui.views.asked_once import Places, Unplaced, Wanted
from vibekit_desktop.ui.views.block_view import LEFT, RIGHT, Hit, PaintState, TextButton, off_hit, tall
from vibekit_desktop.ui.views.code_cells import line_of
from vibekit_desktop.ui.views.code_layout import Runs
from vibekit_desktop.ui.views.code_line import LinePainter, runs_of
from vibekit_desktop.ui.views.conflict_note import ConflictNoteView
from vibekit_desktop.ui.views.controls import draw_icon
from vibekit_desktop.ui.views.row_paint import draw_text, text_width
from vibekit_desktop.ui.wording import MINUS, shown_path

_MOST_LINES = 12
_MOST_SHOWN = 2_000
_MOST_STEPS = 30
_LAST_OUTPUT = 64_000
_MOST_COLOURED = 64_000
_NOTE_INSET = 12

Painting = Callable[[QPainter, PaintState], None]


def _last_lines(output: str, most: int) -> tuple[tuple[str, ...], int]:
    """The last lines of an output and how many it has, without looking at the lines before when it is long."""
    if len(output) <= _LAST_OUTPUT:
        return terminal_lines(output, most)
    reach = _LAST_OUTPUT if most <= _MOST_LINES else _LAST_OUTPUT * 8
    shown, _ = terminal_lines(output[-reach:], most)
    return shown, output.rstrip("\n").count("\n") + 1


class CardDetail:
    """Parts under each other at one width. ``opened``: keys of what somebody opened. ``wanted`` and ``unplaced``: what would
    be known better of small diffs: colours, and where they stand; `holds` tells whether an answer is about them.

    Invariant: ``found`` are the places that can be pressed, ``rules`` where a line is, ``y`` is where the next part begins."""

    def __init__(
        self,
        theme: Theme,
        width: int,
        opened: Set[str],
        styles: Mapping[str, StyleRuns | None],
        places: Mapping[str, Places],
    ) -> None:
        self.theme = theme
        self.width = width
        self.parts: list[tuple[float, float, Painting]] = []
        self.rules: list[float] = []
        self.found: list[Hit] = []
        self.y = 0.0
        self.opened = opened
        self.wanted: list[Wanted] = []
        self.unplaced: list[Unplaced] = []
        self._styles = styles
        self._places = places

    def holds(self, key: str) -> bool:
        """Whether colours or places of this key are shown here once they are known."""
        return any(key == one[0] for one in (*self.wanted, *self.unplaced))

    def add(self, height: float, part: Painting, *, ruled: bool = True) -> None:
        """One more part, which paints itself where it was told that it stands; ``ruled``: under a line."""
        self.parts.append((self.y, self.y + height, part))
        if ruled and self.y:
            self.rules.append(self.y)
        self.y += height

    def hit(self, box: QRectF, action: str, name: str, text: str = "", number: int = 0) -> int:
        """A place that can be pressed; its number."""
        self.found.append(Hit(box, action, name, text, number))
        return len(self.found) - 1

    def off(self, box: QRectF, why: str) -> int:
        """A place that cannot be pressed now; its number."""
        self.found.append(off_hit(box, why))
        return len(self.found) - 1

    def add_conflict(self, card: ConflictCard) -> None:
        """Who else changed the file, and what can be done about it."""
        inset = _NOTE_INSET
        shown = ConflictNoteView(self.theme, card, self.width - 2 * inset)
        left, top = float(inset), self.y + 1 + inset
        first = len(self.found)
        for one in shown.hits:
            self.hit(one.box.translated(left, top), one.action, one.name, one.text, one.number)

        def part(painter: QPainter, state: PaintState) -> None:
            painter.save()
            painter.translate(left, top)
            shown.paint(painter, PaintState(state.hover - first, state.pressed - first, state.focus - first))
            painter.restore()

        self.add(1 + 2 * inset + shown.height, part)

    def add_detail(self, card: Card) -> None:
        """What an open card shows."""
        if card.fragments:
            count = self._add_mini(card)
            if count > _MOST_LINES and card.path:
                self._add_more(tr_n("Show the 1 line", "Show all {n} lines", count), "diff", card.path, card.turn)
            elif count > _MOST_LINES:
                self._add_note(tr("{n} more lines", n=count - _MOST_LINES))
        elif card.lines:
            self._add_text(card.lines)
        elif card.steps:
            self._add_steps(card)
        elif card.output.strip():
            self._add_output(card)

    def _add_mini(self, card: Card) -> int:
        """The first lines of a small diff; how many it has."""
        key = f"mini:{card.turn}:{card.key}"
        known = self._places.get(key, ())
        if card.path and not card.held:  # while the turn runs the file may go on changing
            self.unplaced.append((key, card.turn, card.path, card.fragments))
        lines: list[tuple[MiniLine, Runs]] = []
        count = 0
        for number, fragment in enumerate(card.fragments):
            told = card.first_line if not number else 0
            old, new = known[number] if number < len(known) else (0, 0)
            found = compare(fragment.old_text, fragment.new_text, (old or told, new or told))
            count += len(found)
            shown = found[: _MOST_LINES - len(lines)]
            if shown and card.state != "active":
                self._want(f"{key}:{number}", fragment, shown)
            lines += [(line, self._runs(f"{key}:{number}", line)) for line in shown]
        self._add_mini_lines(lines)
        return count

    def _want(self, key: str, fragment: DiffFragment, shown: Sequence[MiniLine]) -> None:
        """Ask for the colours of lines of a fragment, once all of it is there."""
        name = shown_path(fragment.path)
        for side, text, signs in (("old", fragment.old_text, "-"), ("new", fragment.new_text, "+")):
            last = max((line.at for line in shown if (line.sign or "+") == signs), default=-1)
            if last >= 0:
                lines = tuple(text.split("\n", last + 1)[: last + 1])
                if sum(map(len, lines)) <= _MOST_COLOURED:
                    self.wanted.append((f"{key}:{side}", name, lines))

    def _runs(self, key: str, line: MiniLine) -> Runs:
        return runs_of(self._styles.get(f"{key}:{'old' if line.sign == '-' else 'new'}"), line.at, len(line.text))

    def _add_mini_lines(self, lines: Sequence[tuple[MiniLine, Runs]]) -> None:
        theme = self.theme
        step = theme.line_height("code-small")
        top, height = self.y, 1 + 4 + step * len(lines) + 4
        code = LinePainter(theme, "code-small")

        def part(painter: QPainter, _state: PaintState) -> None:
            y = top + 5
            for line, runs in lines:
                self._paint_mini(painter, code, line, runs, y, step)
                y += step

        self.add(height, part)

    def _paint_mini(self, painter: QPainter, code: LinePainter, line: MiniLine, runs: Runs, y: float, step: int) -> None:
        theme = self.theme
        row, numbers, sign = QRectF(0, y, self.width, step), tall(theme, 40), tall(theme, 20)
        side = "del" if line.sign == "-" else "add"
        if line.sign:
            painter.fillRect(row, theme.color(f"diff.{side}-line"))
            painter.fillRect(QRectF(0, y, numbers, step), theme.color(f"diff.{side}-gutter"))
        painter.setFont(theme.font("code-small"))
        if line.number:
            painter.setPen(theme.color("diff.line-number-changed" if line.sign else "diff.line-number"))
            painter.drawText(QRectF(0, y, numbers - 8, step), RIGHT, str(line.number))
        if line.sign:
            painter.setFont(theme.font("code-small", weight=600))
            painter.setPen(theme.color(f"diff.{side}-mark"))
            painter.drawText(QRectF(numbers, y, sign, step), Qt.AlignmentFlag.AlignCenter, MINUS if line.sign == "-" else "+")
        shown = line_of(line.text)
        marks = [Span(start, end) for start, end in line.marks]
        left = numbers + sign
        box = QRectF(left, y, self.width - left, step)
        code.draw(painter, box, shown, runs, marks, scroll=0, mark_token=f"diff.{side}-word")

    def _add_output(self, card: Card) -> None:
        whole = f"all:{card.key}" in self.opened
        shown, count = _last_lines(card.output, _MOST_SHOWN if whole else _MOST_LINES)
        self._add_text(shown)
        if count <= _MOST_LINES:
            return
        if not whole and count > _MOST_SHOWN:
            text = tr("Show the last {n} lines", n=_MOST_SHOWN)
        else:
            text = tr("Show fewer lines") if whole else tr("Show all {n} lines", n=count)
        self._add_more(text, "fold", f"all:{card.key}", 0, copied=card.output)

    def _add_text(self, texts: Sequence[str]) -> None:
        theme = self.theme
        lines = [line_of(text) for text in texts]
        step = theme.line_height("code-small")
        top, height = self.y, 1 + 6 + step * len(lines) + 6
        code = LinePainter(theme, "code-small")

        def part(painter: QPainter, state: PaintState) -> None:
            painter.fillRect(QRectF(0, top + 1, self.width, height - 1), theme.color("bg.raised"))
            first, last = 0, len(lines)
            if state.clip is not None:
                first = max(0, int((state.clip.top() - top - 7) // step))
                last = min(last, int((state.clip.bottom() - top - 7) // step) + 1)
            for number in range(first, last):
                line = lines[number]
                box = QRectF(12, top + 7 + number * step, self.width - 24, step)
                code.draw(painter, box, line, [(0, line.length, 0)], (), scroll=0, mark_token="diff.add-word")

        self.add(height, part)

    def _add_steps(self, card: Card) -> None:
        theme = self.theme
        shown, step_height = card.steps[:_MOST_STEPS], tall(theme, 24)
        top, height = self.y, 1 + 6 + step_height * len(shown) + 6
        moves = card.state == "active"

        def part(painter: QPainter, state: PaintState) -> None:
            y = top + 7
            for step in shown:
                middle = y + step_height / 2
                box = QRectF(54, y, self.width - 62, step_height)
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

        self.add(height, part)
        if len(card.steps) > len(shown):
            self._add_note(tr("{n} more steps", n=len(card.steps) - len(shown)))

    def _add_note(self, text: str) -> None:
        theme = self.theme
        top, height = self.y, tall(theme, 28)

        def part(painter: QPainter, _state: PaintState) -> None:
            painter.setFont(theme.font("small"))
            painter.setPen(theme.color("text.tertiary"))
            painter.drawText(QRectF(12, top, self.width - 24, height), LEFT, text)

        self.add(height, part)

    def _add_more(self, text: str, action: str, argument: str, number: int, *, copied: str = "") -> None:
        theme = self.theme
        top, height = self.y, 1 + tall(theme, 28)
        width = text_width(theme, "small", text, weight=500) + 14
        button = TextButton(theme, text, 5 + width, top + height / 2, link=True)
        index = self.hit(button.box, action, text, argument, number)
        copy = TextButton(theme, tr("Copy"), self.width - 4.0, top + height / 2, icon="copy") if copied else None
        copying = self.hit(copy.box, "copy", tr("Copy the whole output"), copied) if copy is not None else -1

        def part(painter: QPainter, state: PaintState) -> None:
            button.paint(painter, state, index)
            if copy is not None:
                copy.paint(painter, state, copying)

        self.add(height, part)
