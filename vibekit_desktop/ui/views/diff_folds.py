"""Paint the rows of a diff that are no lines: fold bars, and the note that an end of file has no newline. UI thread only."""

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFont, QPainter

from vibekit_desktop.ui.models.diff_rows import DiffRows, Fold
from vibekit_desktop.ui.models.diff_runs import NEW, OLD
from vibekit_desktop.ui.text import tr, tr_n
from vibekit_desktop.ui.theme.palette import Theme
from vibekit_desktop.ui.theme.style import rounded
from vibekit_desktop.ui.views.controls import draw_icon
from vibekit_desktop.ui.views.diff_geometry import Columns, Geometry, step_text
from vibekit_desktop.ui.views.row_paint import draw_text


def fold_text(fold: Fold) -> str:
    """ "24 unchanged lines"."""
    return tr_n("{n} unchanged line", "{n} unchanged lines", fold.count)


def paint_fold(painter: QPainter, geometry: Geometry, index: int, box: QRectF, hovered: tuple[int, str] | None) -> None:
    """A fold bar over both panes. ``hovered``: the row and button under the pointer."""
    rows, theme = geometry.rows, geometry.theme
    assert rows is not None
    fold = rows.fold(rows.ref(index))
    columns = geometry.columns()
    painter.fillRect(box, theme.color("diff.fold"))
    draw_icon(painter, theme, "more", "text.secondary", round(columns.sign / 2 - 7), round(box.center().y() - 7), 14)
    buttons = geometry.fold_buttons(index, round(box.width()), box.top())
    left = box.left() + columns.text
    edge = buttons[0][1].left() - 8 if rows.unified else geometry.panes(round(box.width()))[0][1].width() - 12
    place = QRectF(left, box.top(), edge - left, box.height())
    width = draw_text(painter, theme, place, fold_text(fold), style="small", token="text.secondary")
    rest = QRectF(left + width + 8, box.top(), edge - left - width - 8, box.height())
    if fold.heading and rest.width() > 24:
        draw_text(painter, theme, rest, fold.heading.strip().rstrip(" :{"), style="small", token="text.tertiary")
    for which, button in buttons:
        if hovered == (index, which):
            rounded(painter, button, theme.radius("small"), fill=theme.color("bg.pressed"))
        inner = button.adjusted(6, 0, -6, 0)
        if which != "all":
            name = "arrow-up" if which == "up" else "arrow-down"
            draw_icon(painter, theme, name, "text.secondary", round(inner.left()), round(inner.center().y() - 7), 14)
            inner.setLeft(inner.left() + 18)
        words = tr("Show all") if which == "all" else step_text()
        inner.setRight(inner.right() + 6)
        draw_text(painter, theme, inner, words, style="small", weight=500, token="text.secondary", elide=None)


def paint_end_note(painter: QPainter, theme: Theme, rows: DiffRows, side: int, box: QRectF, columns: Columns) -> None:
    """The note under the last line of one side, where there is something to say."""
    text = end_note(rows, side)
    if not text:
        return
    icon = columns.sign / 2 - 7
    draw_icon(painter, theme, "info", "text.tertiary", round(box.left() + icon), round(box.top() + 3), 14)
    font = QFont(theme.font("small"))
    font.setItalic(True)
    painter.setFont(font)
    painter.setPen(theme.color("text.tertiary"))
    place = QRectF(box.left() + columns.text, box.top(), box.width() - columns.text, box.height())
    painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, text)


def end_note(rows: DiffRows, side: int) -> str:
    """What the note under the last line says on one side; unified has one note for both."""
    old, new = rows.document.old, rows.document.new
    none = tr("No newline at end of file")
    if rows.unified:
        if not new.exists or old.final_newline == new.final_newline:
            return none
        return tr("Newline added at end of file") if new.final_newline else none
    mine, other = (old, new) if side == OLD else (new, old)
    if not mine.exists or not mine.lines:
        return ""
    if not mine.final_newline:
        return none
    return tr("Newline added at end of file") if side == NEW and other.exists and other.lines else ""
