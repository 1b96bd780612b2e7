"""Paint consecutive tool calls in one bordered box: their rows. UI thread only.

What is open under a row is painted by `views.card_detail`, what a command changed by `views.card_files`.
"""

from collections.abc import Mapping, Set
from types import MappingProxyType

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath

from vibekit_desktop.core.types.diffs import StyleRuns
from vibekit_desktop.ui.models.blocks import Card, CardsBlock, conflict_key
from vibekit_desktop.ui.models.timeline_phrases import why_not_kept
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import Theme
from vibekit_desktop.ui.theme.style import focus_ring, rounded
from vibekit_desktop.ui.views.asked_once import Places
from vibekit_desktop.ui.views.block_view import LEFT, RIGHT, PaintState, TextButton
from vibekit_desktop.ui.views.card_files import PAD, CardFiles, diff_words, redo_words
from vibekit_desktop.ui.views.conflict_note import ConflictChip
from vibekit_desktop.ui.views.controls import draw_icon
from vibekit_desktop.ui.views.row_paint import counts_width, draw_counts, draw_text, text_width
from vibekit_desktop.ui.wording import fit_path, shown_path


def is_open_card(card: Card, opened: Set[str], closed: Set[str]) -> bool:
    """Whether a card shows what is under it: somebody opened it, or it opens by itself and nobody closed it."""
    return card.key in opened or (card.opens_itself and card.key not in closed)


class CardsView(CardFiles):
    """The box. ``opened`` are the keys of the cards somebody opened, ``closed`` of those that were open by themselves and that
    somebody closed; a hit of the action ``card`` opens or closes the card it names.

    Invariant: ``hits`` are in reading order: for each card the row, Stop, its conflict, Diff, Undo, then what is under it.
    """

    def __init__(
        self,
        theme: Theme,
        block: CardsBlock,
        width: int,
        opened: Set[str],
        closed: Set[str] = frozenset(),
        *,
        styles: Mapping[str, StyleRuns | None] = MappingProxyType({}),
        places: Mapping[str, Places] = MappingProxyType({}),
    ) -> None:
        super().__init__(theme, width, opened, styles, places)
        self.copy_text = "\n".join(f"{card.verb} {card.target}" for card in block.cards)
        for card in block.cards:
            is_open = is_open_card(card, opened, closed)
            self._add_row(card, is_open=is_open)
            if card.conflict is not None and conflict_key(card.conflict) in opened:
                self.add_conflict(card.conflict)
            if card.files:
                self.add_files(card)
            if is_open:
                self.add_detail(card)
        self.height = round(self.y) + 1
        self.hits = tuple(self.found)

    def paint(self, painter: QPainter, state: PaintState) -> None:
        theme = self.theme
        box = QRectF(0, 0, self.width, self.height)
        rounded(painter, box, theme.radius("card"), fill=theme.color("bg.surface"))
        painter.save()
        shape = QPainterPath()
        shape.addRoundedRect(box, theme.radius("card"), theme.radius("card"))
        painter.setClipPath(shape, Qt.ClipOperation.IntersectClip)
        for top, bottom, part in self.parts:
            if state.clip is not None and (bottom < state.clip.top() or top > state.clip.bottom()):
                continue
            part(painter, state)
        for top in self.rules:
            painter.fillRect(QRectF(0, top, self.width, 1), theme.color("line.hair"))
        painter.restore()
        rounded(painter, box, theme.radius("card"), line=theme.color("line.hair"))

    # One row

    def _add_row(self, card: Card, *, is_open: bool) -> None:
        theme = self.theme
        top, height = self.y, theme.size("row-tool") + (1 if self.y else 0)
        middle = top + height / 2
        name = tr("{verb} {target}", verb=card.verb, target=card.target)
        row_hit = self.hit(QRectF(0, top, self.width, height), "card", name, card.key) if card.opens else -1
        right = float(self.width - PAD)
        buttons: list[tuple[TextButton, int]] = []
        if card.can_stop:
            stop = TextButton(theme, tr("Stop"), right, middle)
            phrase = tr("Stop {command}", command=card.target)
            buttons.append((stop, self.hit(stop.box, "stop", phrase, card.key)))
            right = stop.box.x() - 8
        if card.path:
            turn = card.turn
            free = card.can_undo and not card.held and not card.lost
            specs = [(tr("Diff"), "diff", diff_words(card, turn))]
            if card.undone and card.can_redo:
                specs.insert(0, (tr("Redo"), "redo", redo_words(card.path, turn)))
            elif not card.undone:
                phrase = tr("Undo what turn {turn} did to {path}", turn=turn, path=shown_path(card.path))
                specs.insert(0, (tr("Undo"), "undo", phrase))
            made = []
            for text, action, phrase in specs:
                button = TextButton(theme, text, right, middle, enabled=free if action != "diff" else not card.missing)
                made.append((button, action, phrase))
                right = button.box.x()
            for button, action, phrase in reversed(made):
                if card.lost or (card.missing and action == "diff"):
                    buttons.append((button, self.off(button.box, why_not_kept())))
                    continue
                if action != "diff" and card.can_undo and card.held:
                    buttons.append((button, self.off(button.box, card.held)))
                    continue
                usable = action == "diff" or free
                buttons.append((button, self.hit(button.box, action, phrase, card.path, turn) if usable else -1))
            right -= 8
        # Between the state and the buttons there is only the check; the chip stands before both.
        chip = self._add_chip(card, right - (22 if card.state == "done" else 0), middle)

        def part(painter: QPainter, state: PaintState) -> None:
            if row_hit >= 0 and state.hover == row_hit:
                painter.fillRect(QRectF(1, top + 1, self.width - 2, height - 1), theme.color("bg.hover"))
            for button, index in buttons:
                button.paint(painter, state, index)
            self._paint_row(painter, state, card, top, height, right, chip, is_open=is_open)
            if row_hit >= 0 and state.focus == row_hit:
                focus_ring(painter, theme, QRectF(1, top + 1, self.width - 2, height - 2), theme.radius("control"))

        self.add(height, part)

    def _add_chip(self, card: Card, right: float, middle: float) -> ConflictChip | None:
        note = card.conflict
        if note is None or card.undone:
            return None
        chip = ConflictChip(self.theme, tr("Conflict"), right, middle)
        phrase = tr("Conflict in {path}: {title}", path=shown_path(note.path), title=note.title)
        chip.index = self.hit(chip.box, "conflict", phrase, conflict_key(note))
        return chip

    def _paint_row(
        self,
        painter: QPainter,
        state: PaintState,
        card: Card,
        top: float,
        height: float,
        right: float,
        chip: ConflictChip | None,
        *,
        is_open: bool,
    ) -> None:
        theme = self.theme
        middle = top + height / 2
        if card.opens:
            chevron = "chevron-down" if is_open else "chevron-right"
            draw_icon(painter, theme, chevron, "text.tertiary", PAD, round(middle - 7), 14)
        draw_icon(painter, theme, card.icon, "text.secondary", 30, round(middle - 8))
        right = self._paint_status(painter, state, card, top, height, right)
        if chip is not None:
            chip.paint(painter, state)
            right = min(right, chip.box.x()) - 4
        x = 54.0
        painter.setFont(theme.font("body-strong"))
        painter.setPen(theme.color("text.primary"))
        painter.drawText(QRectF(x, top, 200, height), LEFT, card.verb)
        x += text_width(theme, "body-strong", card.verb) + 8
        counts = counts_width(theme, (card.added, card.removed))
        room = right - x - (counts + 8 if counts else 0) - 8
        style, token = ("code", "text.primary") if card.mono else ("body", "text.secondary")
        token = "text.tertiary" if card.undone else token
        target = fit_path(card.target, room, theme.metrics(style).horizontalAdvance) if card.path else card.target
        box = QRectF(x, top, room, height)
        x += draw_text(painter, theme, box, target, style=style, token=token)
        if card.undone:
            y = round(box.center().y()) + 0.5
            painter.drawLine(QPointF(box.left(), y), QPointF(x, y))
        x += 8
        draw_counts(painter, theme, (card.added, card.removed), QRectF(x, top, counts, height))

    def _paint_status(self, painter: QPainter, state: PaintState, card: Card, top: float, height: float, right: float) -> float:
        theme, pulse = self.theme, state.pulse
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
