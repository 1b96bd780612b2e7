"""Paint one row of the timeline. Reads `TimelineRow` only; where its parts stand is in `timeline_places`. UI thread."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyleOptionViewItem

from vibekit_desktop.core.types.checkpoints import Coverage
from vibekit_desktop.ui.models.timeline import ROW_ROLE, TimelineModel
from vibekit_desktop.ui.models.timeline_phrases import coverage_text, only_doubts, only_rules
from vibekit_desktop.ui.models.timeline_rows import Button, RowKind, TimelineRow
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import Theme, ThemeHub
from vibekit_desktop.ui.theme.style import focus_ring, rounded
from vibekit_desktop.ui.views.button_list import Aim, ButtonDelegate
from vibekit_desktop.ui.views.controls import draw_icon
from vibekit_desktop.ui.views.flash import Flash
from vibekit_desktop.ui.views.pulse import Pulse
from vibekit_desktop.ui.views.row_paint import (
    LETTER_WIDTH,
    counts_width,
    draw_counts,
    draw_icon_button,
    draw_letter,
    draw_path,
    draw_text,
    draw_text_button,
    text_width,
)
from vibekit_desktop.ui.views.row_pictures import RowPictures
from vibekit_desktop.ui.views.timeline_places import LEFT, PROMPT, TOP, TimelinePlaces, link_words
from vibekit_desktop.ui.wording import shown_path

RAIL = 25
_GLYPH = 22
_PATH_LEAST = 64
"""So much of a path is there whatever is said beside it."""
_MISSING = ("warning.tint", "warning", "warning.text")
"""Ground, icon and ink of a chip that names missing files."""


class TimelineDelegate(ButtonDelegate):
    """Paints rows for a `TimelineView`."""

    def __init__(self, hub: ThemeHub, model: TimelineModel) -> None:
        super().__init__()
        self._hub = hub
        self._model = model
        self.places = TimelinePlaces(hub)
        self.pulse: Pulse | None = None
        self.flash = Flash(hub)
        self._pictures = RowPictures("bg.inspector")

    # Painting.

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        row = index.data(ROW_ROLE)
        if not isinstance(row, TimelineRow):
            return
        number, last = index.row(), index.model().rowCount() - 1
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        aimed_at = number in (self.hover.row, self.down.row, self.focus.row)
        if chosen or aimed_at or row.running_since >= 0 or self.flash.strength(row.key) > 0.0:
            self._paint(painter, row, QRectF(option.rect), number, last=number == last, chosen=chosen)
            return
        off = tuple(button for button in row.buttons if self._model.is_off(row, button))
        self._pictures.paint(
            painter,
            self._hub.theme,
            option.rect,
            (row, number == 0, number == last, off),
            lambda inside, box: self._paint(inside, row, box, number, last=number == last, chosen=False),
        )

    def _paint(self, painter: QPainter, row: TimelineRow, box: QRectF, number: int, *, last: bool, chosen: bool) -> None:
        theme = self._hub.theme
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._rail(painter, theme, row, box, first=number == 0, last=last)
        body = self.places.body(row, box)
        self._background(painter, theme, row, body, number, chosen=chosen)
        match row.kind:
            case RowKind.NOW:
                self._now(painter, theme, row, body)
            case RowKind.TURN:
                self._turn(painter, theme, row, box, body)
            case RowKind.FILE:
                self._file(painter, theme, row, box, body, number)
            case RowKind.GROUP:
                self._group(painter, theme, row, body)
            case RowKind.QUIET:
                draw_text(painter, theme, body, row.title, style="small", token="text.tertiary")
            case RowKind.RESTORE:
                self._restore(painter, theme, row, box, body, number)
            case RowKind.ENTRY:
                self._entry(painter, theme, row, box, body, number)
            case RowKind.BETWEEN:
                self._between(painter, theme, row, body)
            case RowKind.PIN:
                self._pin(painter, theme, row, box, body, number)
        if self.focus.row == number:
            self._focus(painter, theme, row, box, body)
        painter.restore()

    def _rail(self, painter: QPainter, theme: Theme, row: TimelineRow, box: QRectF, *, first: bool, last: bool) -> None:
        if row.in_now:
            top = box.top() + (TOP if row.kind is RowKind.NOW else -20)
            bottom = box.bottom() - (6 if row.last_in_block else -20)
            painter.save()
            painter.setClipRect(box)
            rounded(painter, QRectF(8, top, box.width() - 16, bottom - top), 8, fill=theme.color("accent.tint"))
            painter.restore()
        start = box.top() + (TOP + 18 if row.kind is RowKind.NOW else 15 if first else 0)
        end = box.top() + 15 if last else box.bottom()
        painter.fillRect(QRectF(RAIL, start, 1, max(0.0, end - start)), theme.color("line.strong"))

    def _background(
        self, painter: QPainter, theme: Theme, row: TimelineRow, body: QRectF, number: int, *, chosen: bool
    ) -> None:
        lit = self.flash.strength(row.key)
        if lit > 0.0:
            painter.setOpacity(lit)
            ground = theme.color("bg.selected" if row.in_now else "accent.tint")
            rounded(painter, body.adjusted(-4, 0, 0, 0), theme.radius("small"), fill=ground)
            painter.setOpacity(1.0)
            self.flash.goes_on(painter, body.adjusted(-4, 0, 0, 0), self.pulse)
        if row.kind not in (RowKind.FILE, RowKind.GROUP, RowKind.BETWEEN):
            return
        token = "bg.selected" if chosen else "bg.hover" if self.hover.row == number else ""
        if token == "bg.hover" and row.in_now:
            token = "bg.selected"
        if token:
            rounded(painter, body.adjusted(-4, 0, 0, 0), theme.radius("small"), fill=theme.color(token))

    def _circle(self, painter: QPainter, theme: Theme, middle: float, *, line: str, fill: str, width: float = 1.0) -> QRectF:
        circle = QRectF(RAIL + 0.5 - _GLYPH / 2, middle - _GLYPH / 2, _GLYPH, _GLYPH)
        painter.setPen(QPen(theme.color(line), width))
        painter.setBrush(theme.color(fill))
        inset = width / 2
        painter.drawEllipse(circle.adjusted(inset, inset, -inset, -inset))
        return circle

    def _now(self, painter: QPainter, theme: Theme, row: TimelineRow, body: QRectF) -> None:
        middle = body.top() + 18 * theme.zoom
        circle = self._circle(painter, theme, middle, line="accent.text", fill="accent.tint", width=1.5)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("accent.text"))
        painter.drawEllipse(circle.center(), 5, 5)
        head = body.translated(0, 4 * theme.zoom)
        draw_text(painter, theme, head, row.title, weight=600)
        detail = QRectF(LEFT, body.top() + 28 * theme.zoom, body.width() - 8, 16 * theme.zoom)
        draw_text(painter, theme, detail, row.detail, style="small", token="text.secondary")

    def _turn(self, painter: QPainter, theme: Theme, row: TimelineRow, box: QRectF, body: QRectF) -> None:
        runs = row.running_since >= 0
        line = "accent.text" if runs else "line.control"
        circle = self._circle(painter, theme, body.center().y(), line=line, fill="bg.inspector")
        painter.setFont(theme.font("label"))
        painter.setPen(theme.color("text.secondary"))
        right = body.right() - 8
        if runs and self.pulse is not None:
            arc = QRectF(circle.center().x() - 7, circle.center().y() - 7, 14, 14)
            self.pulse.draw_arc(painter, arc)
            so_far = QRectF(right - 200, body.top(), 200, body.height())
            right -= draw_text(painter, theme, so_far, tr("so far"), style="small", token="text.tertiary", right=True)
        elif row.number < 1000:
            painter.drawText(circle, Qt.AlignmentFlag.AlignCenter, str(row.number))
        if row.coverage is not None:
            right = self._coverage(painter, theme, row, row.coverage, box, body)
        width = draw_text(painter, theme, QRectF(LEFT, body.top(), right - LEFT, body.height()), row.title, weight=600)
        rest = QRectF(LEFT + width + 6, body.top(), right - LEFT - width - 14, body.height())
        if rest.width() > 24:
            whole = theme.metrics("small").horizontalAdvance(row.detail) <= rest.width()
            when = row.detail if whole else row.detail.partition(" · ")[0]  # the moment without how long it took
            if runs and self.pulse is not None:
                when = " · ".join(part for part in (row.detail, self.pulse.elapsed(row.running_since)) if part)
                self.pulse.counts(painter, rest)
            draw_text(painter, theme, rest, when, style="small", token="text.tertiary")
        if row.prompt:
            prompt = QRectF(LEFT, body.bottom(), body.width() - 8, 16 * theme.zoom)
            draw_text(painter, theme, prompt, row.prompt, style="small", token="text.secondary")

    def _coverage(
        self, painter: QPainter, theme: Theme, row: TimelineRow, coverage: Coverage, box: QRectF, body: QRectF
    ) -> float:
        """Paint the coverage at the right; returns where it begins."""
        buttons = self.places.buttons(row, box)
        text = self.places.chip_text(row, coverage, body) if buttons else coverage_text(coverage)
        if buttons:
            chip = self.places.chip(buttons[0][1])
            quiet = only_doubts(coverage) or only_rules(coverage)
            ground, icon, ink = ("bg.chip", "info", "text.secondary") if quiet else _MISSING
            rounded(painter, chip, theme.radius("small"), fill=theme.color(ground))
            draw_icon(painter, theme, icon, ink, chip.left() + 6, round(chip.center().y() - 7), 14)
            draw_text(painter, theme, chip.adjusted(24, 0, -4, 0), text, style="small", token=ink, elide=None)
            return chip.left()
        width = theme.metrics("small").horizontalAdvance(text)
        x = body.right() - 8 - width
        draw_text(painter, theme, QRectF(x, body.top(), width + 1, body.height()), text, style="small", token="text.tertiary")
        glyph = "shield" if coverage.complete else "info"
        draw_icon(painter, theme, glyph, "text.tertiary", round(x - 18), round(body.center().y() - 7), 14)
        return x - 18

    def _file(self, painter: QPainter, theme: Theme, row: TimelineRow, box: QRectF, body: QRectF, number: int) -> None:
        draw_letter(painter, theme, row.letter, QRectF(LEFT, body.top(), LETTER_WIDTH, body.height()), faded=row.undone)
        left, right = LEFT + LETTER_WIDTH + 8, body.right()
        for button, place in self.places.buttons(row, box):
            self._button(painter, theme, row, button, place, number)
            right = min(right, place.left())
        right -= 8
        if row.remark:
            room = right - left - min(_PATH_LEAST * theme.zoom, text_width(theme, "body", row.title)) - 8
            width = min(text_width(theme, "small", row.remark), max(0.0, room))
            remark = QRectF(right - width, body.top(), width + 1, body.height())
            draw_text(painter, theme, remark, row.remark, style="small", token="text.tertiary")
            right -= width + 8
        else:
            width = counts_width(theme, row.counts)
            if width:
                draw_counts(painter, theme, row.counts, QRectF(right - width, body.top(), width, body.height()))
                right -= width + 8
        if row.conflict:
            draw_icon(painter, theme, "conflict", "warning.text", right - 14, round(body.center().y() - 7), 14)
            right -= 14 + 8
        path = QRectF(left, body.top(), right - left, body.height())
        title = row.title
        if row.change is not None and row.change.old_path and theme.metrics("body").horizontalAdvance(title) > path.width():
            # Both names do not fit: the new one alone says which file it is, the remark says the rest.
            title = shown_path(row.change.path)
        draw_path(painter, theme, path, title, struck=row.undone, token="text.tertiary" if row.undone else "text.primary")

    def _group(self, painter: QPainter, theme: Theme, row: TimelineRow, body: QRectF) -> None:
        glyph = "chevron-down" if row.open else "chevron-right"
        draw_icon(painter, theme, glyph, "text.secondary", LEFT, round(body.center().y() - 7), 14)
        left, right = LEFT + 22.0, body.right() - 8
        counts = counts_width(theme, row.counts)
        room = right - left - (counts + 8 if counts else 0)
        title = QRectF(left, body.top(), room, body.height())
        width = draw_text(painter, theme, title, row.title, style="small", token="text.secondary")
        draw_counts(painter, theme, row.counts, QRectF(left + width + 8, body.top(), counts, body.height()))

    def _between(self, painter: QPainter, theme: Theme, row: TimelineRow, body: QRectF) -> None:
        self._circle(painter, theme, body.center().y(), line="line.control", fill="bg.inspector")
        glyph = "chat" if row.by_chat else "user"
        draw_icon(painter, theme, glyph, "text.secondary", RAIL - 6.5, round(body.center().y() - 7), 14)
        self._group(painter, theme, row, body)

    def _restore(self, painter: QPainter, theme: Theme, row: TimelineRow, box: QRectF, body: QRectF, number: int) -> None:
        y = round(body.center().y() - 8)
        painter.fillRect(QRectF(RAIL - 8, y, 16, 16), theme.color("bg.inspector"))
        draw_icon(painter, theme, "checkpoint", "accent.text", RAIL - 7.5, y, 16)
        for button, place in self.places.buttons(row, box):
            self._button(painter, theme, row, button, place, number)

    def _entry(self, painter: QPainter, theme: Theme, row: TimelineRow, box: QRectF, body: QRectF, number: int) -> None:
        self._circle(painter, theme, body.center().y(), line="accent.line", fill="accent.tint")
        draw_icon(painter, theme, "restore", "accent.text", RAIL - 6.5, round(body.center().y() - 7), 14)
        width, with_time = self.places.entry_room(row, body)
        if with_time:
            time = QRectF(body.left(), body.top(), body.width() - 8, body.height())
            draw_text(painter, theme, time, row.detail, style="small", token="text.tertiary", right=True)
        token = "text.tertiary" if row.undone else "text.primary"
        title = QRectF(body.left(), body.top(), width, body.height())
        drawn = draw_text(painter, theme, title, row.title, token=token, elide=Qt.TextElideMode.ElideMiddle)
        if row.undone:
            y = round(body.center().y()) + 0.5
            painter.drawLine(QPointF(title.left(), y), QPointF(title.left() + drawn, y))
        x = body.left() + width
        if row.undone:
            x = self._dotted(painter, theme, x, body)
            x += draw_text(painter, theme, QRectF(x, body.top(), 200, body.height()), tr("Undone"), token="text.tertiary")
        for button, place in self.places.buttons(row, box):
            if button is Button.TOGGLE:
                continue
            self._dotted(painter, theme, place.left() + 7 - self.places.dot(), body)
            self._button(painter, theme, row, button, place, number)

    def _pin(self, painter: QPainter, theme: Theme, row: TimelineRow, box: QRectF, body: QRectF, number: int) -> None:
        self._circle(painter, theme, body.center().y(), line="line.strong", fill="bg.inspector")
        draw_icon(painter, theme, "pin", "text.secondary", RAIL - 6.5, round(body.center().y() - 7), 14)
        width, with_point = self.places.entry_room(row, body)
        if with_point:
            point = QRectF(body.left(), body.top(), body.width() - 8, body.height())
            draw_text(painter, theme, point, row.detail, style="small", token="text.tertiary", right=True)
        draw_text(painter, theme, QRectF(body.left(), body.top(), width, body.height()), row.title)
        for button, place in self.places.buttons(row, box):
            self._dotted(painter, theme, place.left() + 7 - self.places.dot(), body)
            self._button(painter, theme, row, button, place, number)

    def _dotted(self, painter: QPainter, theme: Theme, x: float, body: QRectF) -> float:
        draw_text(painter, theme, QRectF(x + 6, body.top(), 20, body.height()), "·", token="text.tertiary", elide=None)
        return x + self.places.dot()

    def _button(self, painter: QPainter, theme: Theme, row: TimelineRow, button: Button, place: QRectF, number: int) -> None:
        aim = Aim(number, button)
        hovered, pressed, enabled = self.hover == aim, self.down == aim, not self._model.is_off(row, button)
        match button:
            case Button.DIFF | Button.UNDO:
                name = "diff" if button is Button.DIFF else "undo"
                draw_icon_button(painter, theme, name, place, hovered=hovered, pressed=pressed, enabled=enabled)
            case Button.RESTORE if row.kind is RowKind.RESTORE:
                draw_text_button(painter, theme, row.title, place, hovered=hovered, pressed=pressed, enabled=enabled)
            case Button.TAKE_BACK | Button.REDO | Button.OPEN_CHAT | Button.RESTORE:
                style, text = "small" if row.kind is RowKind.FILE else "body", link_words()[button]
                draw_text_button(painter, theme, text, place, hovered=hovered, pressed=pressed, enabled=enabled, style=style)
            case _:
                pass

    def _focus(self, painter: QPainter, theme: Theme, row: TimelineRow, box: QRectF, body: QRectF) -> None:
        for button, place in self.places.buttons(row, box):
            if button is self.focus.button and button is not Button.TOGGLE:
                focus_ring(painter, theme, place, theme.radius("small"))
                return
        height = PROMPT * theme.zoom if row.kind is RowKind.NOW or (row.kind is RowKind.TURN and row.prompt) else 0
        focus_ring(painter, theme, body.adjusted(-4, 0, 0, height), theme.radius("small"))

    # Qt's names below.

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        row = self._model.row_at(index.row())  # not by way of Qt: a layout asks for all rows
        return QSize(100, self.places.height(row)) if row is not None else QSize(0, 0)
