"""A diff with all that belongs around it: heads of the two sides, notes, overview strip; or the reason there is none.

Shows `FileDiff` values whatever their result, and asks nobody: words and colours are given to it. UI thread only.
"""

from typing import assert_never

from PySide6.QtCore import QRectF, QSize, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QStackedWidget, QVBoxLayout, QWidget

from vibekit_desktop.core.types.diffs import BinaryPair, DiffDocument, DiffSide, FileDiff, Identical, TooLarge, Unreadable
from vibekit_desktop.ui.error_text import ErrorText
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.blank import Blank, Skeleton
from vibekit_desktop.ui.views.controls import Button, draw_icon
from vibekit_desktop.ui.views.diff import DiffView
from vibekit_desktop.ui.views.diff_notes import binary_text, large_text, notes_of, unreadable_text
from vibekit_desktop.ui.views.overview import OverviewStrip
from vibekit_desktop.ui.views.row_paint import draw_text


class NoteRow(QWidget):
    """One fact in a row of 28: icon, words in bold, words, perhaps a link. ``acted``: the link was pressed.

    ``tone``: ``accent``, ``danger`` or empty (plain).
    """

    acted = Signal()

    def __init__(
        self,
        hub: ThemeHub,
        icon: str,
        strong: str,
        text: str,
        *,
        tone: str = "",
        action: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._hub = hub
        self._icon = icon
        self._strong = strong
        self._text = text
        self._tone = tone
        self.setFixedHeight(hub.theme.size("pane-head"))
        self.setAccessibleName(" ".join(part for part in (strong, text) if part))
        self.setToolTip("")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 12, 1)
        layout.addStretch(1)
        if action:
            button = Button(hub, action, kind="link", size="small", parent=self)
            button.clicked.connect(self.acted)
            layout.addWidget(button)
        hub.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(200, self._hub.theme.size("pane-head"))

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        if self._tone == "accent":
            painter.fillRect(self.rect(), theme.color("accent.tint"))
        painter.fillRect(QRectF(0, self.height() - 1, self.width(), 1), theme.color("line.hair"))
        token = "danger.text" if self._tone == "danger" else "text.secondary"
        icon = {"accent": "accent.text", "danger": "danger.text"}.get(self._tone, "text.secondary")
        draw_icon(painter, theme, self._icon, icon, 16, 7, 14)
        box = QRectF(38, 0, self.width() - 140, self.height() - 1)
        x = 38.0
        if self._strong:
            x += draw_text(painter, theme, box, self._strong, style="small", weight=500) + 4
        draw_text(
            painter, theme, QRectF(x, 0, self.width() - x - 120, self.height() - 1), self._text, style="small", token=token
        )


class _Heads(QWidget):
    """The row above the panes: which side, when, encoding and line ends."""

    def __init__(self, hub: ThemeHub, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self._sides: tuple[tuple[str, str, str], ...] = ()
        self.setFixedHeight(hub.theme.size("diff-note"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        hub.changed.connect(self.update)

    def set_sides(self, sides: tuple[tuple[str, str, str], ...]) -> None:
        """Label, time and format of each side; two of them, or one text across."""
        self._sides = sides
        self.setAccessibleName(", ".join(" ".join(part for part in side if part) for side in sides))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.color("bg.raised"))
        painter.fillRect(QRectF(0, self.height() - 1, self.width(), 1), theme.color("line.hair"))
        half = self.width() // 2
        places = (QRectF(0, 0, half, 27), QRectF(half + 1, 0, self.width() - half - 1, 27))
        for number, (label, time, form) in enumerate(self._sides):
            box = places[number].adjusted(12, 0, -12, 0)
            width = draw_text(painter, theme, box, label, style="small", weight=500, token="text.secondary")
            rest = box.adjusted(width + 8, 0, 0, 0)
            used = draw_text(painter, theme, rest, time, style="small", token="text.tertiary")
            draw_text(painter, theme, rest.adjusted(used + 8, 0, 0, 0), form, style="small", token="text.tertiary", right=True)
        if len(self._sides) > 1:
            painter.fillRect(QRectF(half, 0, 1, self.height()), theme.color("line.hair"))


class DiffPane(QWidget):
    """Invariant: what is shown is ``diff``, or nothing. ``view`` is the `DiffView`.

    Signals: ``load_anyway()``: show a file over the limits; ``retry()``: Try again after a failure;
    ``hunk_changed(index, count)`` and ``words_wanted(first, last)`` of the view.
    """

    load_anyway = Signal()
    retry = Signal()
    hunk_changed = Signal(int, int)
    words_wanted = Signal(int, int)

    def __init__(
        self, hub: ThemeHub, parent: QWidget | None = None, *, unified: bool = False, heads: bool = True, notes: bool = True
    ) -> None:
        super().__init__(parent)
        self._hub = hub
        self._with_heads = heads
        self._with_notes = notes
        self._labels = (("", ""), ("", ""))
        self._diff: FileDiff | None = None
        self.view = DiffView(hub, self, unified=unified)
        self.view.hunk_changed.connect(self.hunk_changed)
        self.view.words_wanted.connect(self.words_wanted)
        self._strip = OverviewStrip(hub, self.view, self)
        self._heads = _Heads(hub, self)
        self._blank = Blank(hub, self)
        self._blank.acted.connect(self.retry)
        self._skeleton = Skeleton(hub, self, row=40)
        self._reason = QWidget(self)
        self._reason_layout = _column(self._reason)
        self._reason_layout.addStretch(1)
        self._note_box = QWidget(self)
        self._note_layout = _column(self._note_box)
        text = QWidget(self)
        left = _column(text)
        left.addWidget(self._heads)
        left.addWidget(self.view, 1)
        page = QWidget(self)
        across = QHBoxLayout(page)
        across.setContentsMargins(0, 0, 0, 0)
        across.setSpacing(0)
        across.addWidget(text, 1)
        across.addWidget(self._strip)
        self._page = page
        self._stack = QStackedWidget(self)
        for widget in (page, self._blank, self._skeleton, self._reason):
            self._stack.addWidget(widget)
        layout = _column(self)
        layout.addWidget(self._note_box)
        layout.addWidget(self._stack, 1)
        self.clear()

    @property
    def diff(self) -> FileDiff | None:
        """What is shown."""
        return self._diff

    def clear(self) -> None:
        """Show nothing."""
        self._diff = None
        self._show_notes(())
        self.view.set_document(None)
        self._blank.show_nothing()
        self._to(self._blank)

    def show_loading(self) -> None:
        """Something is on its way: nothing for 200 ms, then a skeleton."""
        self._show_notes(())
        self._skeleton.begin()
        self._stack.setCurrentWidget(self._skeleton)

    def show_error(self, error: ErrorText) -> None:
        """It could not be had; say why in its place."""
        self._show_notes(())
        self._blank.say("warning", error.title, error.detail, tr("Try again"), failed=True)
        self._to(self._blank)

    def show_nothing_to_review(self) -> None:
        """Both sides are the same, for every file."""
        self._diff = None
        self._show_notes(())
        self._blank.say("check", tr("Nothing to review"), tr("Both sides are the same."))
        self._to(self._blank)

    def show_diff(self, diff: FileDiff, labels: tuple[tuple[str, str], tuple[str, str]], *, keep_place: bool = False) -> None:
        """Show one file. ``labels``: the two sides' names and times. ``keep_place``: the same file again."""
        same_file = self._diff is not None and self._diff.request.path == diff.request.path
        self._diff = diff
        self._labels = labels
        result = diff.result
        if self._with_notes and isinstance(result, DiffDocument | Identical):
            self._show_notes(notes_of(result))
        else:
            self._show_notes(())
        match result:
            case DiffDocument():
                self.view.set_document(result, keep_place=keep_place and same_file)
                self._show_heads(result)
                self._to(self._page)
            case Identical():
                self._blank.say("check", tr("Nothing to review"), tr("Both sides are the same."))
                self._to(self._blank)
            case BinaryPair():
                self._show_reason(NoteRow(self._hub, "image", "", binary_text(result)))
            case TooLarge():
                row = NoteRow(self._hub, "info", "", large_text(result), action=tr("Load anyway"))
                row.acted.connect(self.load_anyway)
                self._show_reason(row)
            case Unreadable():
                self._show_reason(NoteRow(self._hub, "warning", "", unreadable_text(result), tone="danger"))
            case _:
                assert_never(result)

    def set_unified(self, unified: bool) -> None:
        """One pane or two."""
        self.view.set_unified(unified)
        if self._diff is not None and isinstance(self._diff.result, DiffDocument):
            self._show_heads(self._diff.result)

    def _to(self, widget: QWidget) -> None:
        self._skeleton.end()
        self._stack.setCurrentWidget(widget)

    def _show_heads(self, document: DiffDocument) -> None:
        self._heads.setVisible(self._with_heads and not self.view.unified)
        (old, old_time), (new, new_time) = self._labels
        self._heads.set_sides(((old, old_time, _form(document.old)), (new, new_time, _form(document.new))))

    def _show_reason(self, row: NoteRow) -> None:
        self.view.set_document(None)
        _empty(self._reason_layout)
        self._reason_layout.insertWidget(0, row)
        row.show()
        self._to(self._reason)

    def _show_notes(self, notes: tuple[tuple[str, str], ...]) -> None:
        _empty(self._note_layout)
        for strong, text in notes:
            row = NoteRow(self._hub, "info", strong, text, tone="accent")
            self._note_layout.addWidget(row)
            row.show()
        self._note_box.setVisible(bool(notes))

    # Qt's names below.

    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(self.rect(), self._hub.theme.color("bg.surface"))


def _form(side: DiffSide) -> str:
    if not side.exists:
        return tr("does not exist")
    return " · ".join(part for part in (side.encoding, side.line_ending) if part)


def _column(parent: QWidget) -> QVBoxLayout:
    layout = QVBoxLayout(parent)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(0)
    return layout


def _empty(layout: QVBoxLayout) -> None:
    """Take every widget out of a layout; stretches stay."""
    for position in reversed(range(layout.count())):
        item = layout.itemAt(position)
        widget = item.widget() if item is not None else None
        if widget is not None:
            layout.removeWidget(widget)
            widget.setParent(None)
            widget.deleteLater()
