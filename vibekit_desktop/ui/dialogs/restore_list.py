"""The list of a restore preview: groups, files, and Keep mine | Restore for what the person changed.

Paints a `RestoreItemsModel` and says what was chosen. UI thread only.
"""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from vibekit_desktop.ui.models.restore_items import ICONS, ITEM_ROLE, RestoreItemsModel, RestoreRow
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import Theme, ThemeHub
from vibekit_desktop.ui.theme.style import focus_ring, rounded
from vibekit_desktop.ui.views.controls import draw_badge, draw_icon
from vibekit_desktop.ui.views.painted_list import PaintedList
from vibekit_desktop.ui.views.row_paint import (
    LETTER_WIDTH,
    counts_width,
    draw_counts,
    draw_letter,
    draw_path,
    draw_text,
)

_HEAD = 36
_MINE = 63
_LEFT = 46
_DIMMED = 0.45
_BATCH = 200


class RestoreDelegate(QStyledItemDelegate):
    """Paints `RestoreRow`s. ``dimmed``: the files are not part of what will happen."""

    def __init__(self, hub: ThemeHub) -> None:
        super().__init__()
        self._hub = hub
        self.dimmed = False
        self.ring = False

    def switch(self, row: RestoreRow, box: QRectF) -> list[tuple[bool, QRectF]]:
        """Where Keep mine (False) and Restore (True) are; nothing for rows without the choice."""
        if not row.chooses:
            return []
        theme = self._hub.theme
        metrics = theme.metrics("small", weight=500)
        x = box.left() + 8 + 10 + LETTER_WIDTH + 8 + 2
        y = box.top() + 6 + 20 * theme.zoom + 5 + 2
        places: list[tuple[bool, QRectF]] = []
        for restores, text in ((False, tr("Keep mine")), (True, tr("Restore"))):
            width = metrics.horizontalAdvance(text) + 18
            places.append((restores, QRectF(x, y, width, 20 * theme.zoom)))
            x += width
        return places

    # Qt's names below.

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        row = index.data(ITEM_ROLE)
        theme = self._hub.theme
        height = theme.size("row-file")
        if isinstance(row, RestoreRow):
            if row.file is None:
                height = round(_HEAD * theme.zoom)
            elif row.chooses:
                height = round(_MINE * theme.zoom)
            elif row.remark:
                height = round(_LEFT * theme.zoom)
        return QSize(100, height)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        row = index.data(ITEM_ROLE)
        if not isinstance(row, RestoreRow):
            return
        theme = self._hub.theme
        box = QRectF(option.rect)
        state: QStyle.StateFlag = option.state
        painter.save()
        if self.dimmed:
            painter.setOpacity(_DIMMED)
        if row.file is None:
            self._head(painter, theme, row, box)
        else:
            self._file(painter, theme, row, box, state)
        painter.restore()

    def _head(self, painter: QPainter, theme: Theme, row: RestoreRow, box: QRectF) -> None:
        line = QRectF(box.left() + 16, box.top() + 4, box.width() - 32, box.height() - 4)
        icon, token = ICONS[row.group]
        draw_icon(painter, theme, icon, token, round(line.left()), round(line.center().y() - 8))
        x = line.left() + 23
        x += draw_text(painter, theme, QRectF(x, line.top(), line.width(), line.height()), row.title, style="small", weight=600)
        draw_badge(painter, theme, f"{row.count:,}", x + 7, round(line.center().y() - 9))
        draw_text(painter, theme, line, row.remark, style="small", token="text.tertiary", right=True)

    def _file(self, painter: QPainter, theme: Theme, row: RestoreRow, box: QRectF, state: QStyle.StateFlag) -> None:
        ground = box.adjusted(8, 0, -8, 0)
        radius = theme.radius("control")
        if state & QStyle.StateFlag.State_Selected:
            active = state & QStyle.StateFlag.State_Active
            rounded(painter, ground, radius, fill=theme.color("bg.selected" if active else "bg.selected-inactive"))
        elif row.stale:
            rounded(painter, ground, radius, fill=theme.color("accent.tint"))
        elif state & QStyle.StateFlag.State_MouseOver:
            rounded(painter, ground, radius, fill=theme.color("bg.hover"))
        tall = row.chooses or bool(row.remark)
        top = box.top() + (6 if row.chooses else 5 if tall else 0)
        height = 20 * theme.zoom if tall else box.height()
        left = ground.left() + 10
        draw_letter(painter, theme, row.letter, QRectF(left, top, LETTER_WIDTH, height))
        line = QRectF(left + LETTER_WIDTH + 8, top, ground.right() - 8 - left - LETTER_WIDTH - 8, height)
        counts = (row.file.lines_added, row.file.lines_removed) if row.file is not None else (None, None)
        width = counts_width(theme, counts)
        draw_counts(painter, theme, counts, QRectF(line.right() - width, line.top(), width, line.height()))
        draw_path(painter, theme, QRectF(line.left(), line.top(), line.width() - width - 8, line.height()), row.title)
        if row.chooses:
            self._switch(painter, theme, row, box, line)
        elif row.remark:
            second = QRectF(line.left(), line.bottom(), line.width(), 16 * theme.zoom)
            draw_text(painter, theme, second, row.remark, style="small", token="text.tertiary")
        if self.ring and state & QStyle.StateFlag.State_HasFocus:
            focus_ring(painter, theme, ground, radius)

    def _switch(self, painter: QPainter, theme: Theme, row: RestoreRow, box: QRectF, line: QRectF) -> None:
        places = self.switch(row, box)
        ground = places[0][1].united(places[1][1]).adjusted(-2, -2, 2, 2)
        rounded(painter, ground, theme.radius("control"), fill=theme.color("bg.chip"))
        for (restores, place), text in zip(places, (tr("Keep mine"), tr("Restore")), strict=True):
            on = restores is row.restores
            if on:
                line_color = theme.color("line.strong")
                rounded(painter, place, theme.radius("small"), fill=theme.color("bg.button"), line=line_color)
            token = "text.primary" if on else "text.secondary"
            draw_text(painter, theme, place.adjusted(9, 0, 0, 0), text, style="small", weight=500, token=token, elide=None)
        rest = QRectF(ground.right() + 8, ground.top(), line.right() - ground.right() - 8, ground.height())
        draw_text(painter, theme, rest, row.remark, style="small", token="text.tertiary", right=True)


class RestoreList(PaintedList):
    """``selected(path)``: another file is shown; ``choice(path, restores)``: Keep mine or Restore was chosen for a file."""

    selected = Signal(object)
    choice = Signal(object, bool)

    def __init__(self, hub: ThemeHub, model: RestoreItemsModel, parent: QWidget) -> None:
        self._model = model
        self._delegate = RestoreDelegate(hub)
        super().__init__(hub, model, self._delegate, name=tr("Files that will change"), batch=_BATCH, parent=parent)

    def set_dimmed(self, dimmed: bool) -> None:
        """Under Chat only: the files stay as they are."""
        self._delegate.dimmed = dimmed
        self.viewport().update()

    def piece_at(self, row: int, *, restores: bool) -> QRectF:
        """Where one half of a row's switch is in the viewport; empty without the choice."""
        found = self._model.row_at(row)
        if found is None:
            return QRectF()
        places = self._delegate.switch(found, QRectF(self.visualRect(self._model.index(row))))
        return next((place for which, place in places if which is restores), QRectF())

    def _choose(self, row: int, *, restores: bool) -> None:
        found = self._model.row_at(row)
        if found is not None and found.chooses and found.restores is not restores and not self._delegate.dimmed:
            self.choice.emit(found.path, restores)

    # Qt's names below.

    def currentChanged(
        self, current: QModelIndex | QPersistentModelIndex, previous: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().currentChanged(current, previous)
        row = self._model.row_at(current.row())
        if row is not None and row.path is not None:
            self.selected.emit(row.path)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._delegate.ring = False
        super().mousePressEvent(event)
        point: QPointF = event.position()
        index = self.indexAt(point.toPoint())
        if not index.isValid() or event.button() is not Qt.MouseButton.LeftButton:
            return
        for restores in (False, True):
            if self.piece_at(index.row(), restores=restores).contains(point):
                self._choose(index.row(), restores=restores)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        self._delegate.ring = True
        if event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self._choose(self.currentIndex().row(), restores=event.key() == Qt.Key.Key_Right)
            self.viewport().update()
            return
        super().keyPressEvent(event)
        self.viewport().update()
