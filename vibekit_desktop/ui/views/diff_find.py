"""The bar to find a text in a diff: what, how many places, which one; next and previous.

Looking through a large file goes on while everything else works; the first place below is gone to as soon as it is known.
UI thread only.
"""

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from vibekit_desktop.ui.models.diff_find import Hits
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.controls import Button, IconButton
from vibekit_desktop.ui.views.diff_choose import ChoosingSurface
from vibekit_desktop.ui.views.diff_steps import Steps
from vibekit_desktop.ui.views.fields import SearchField
from vibekit_desktop.ui.views.row_paint import draw_text, text_width

_FIELD = 280


class FindBar(QWidget):
    """Invariant: while it is open, the places marked in the view are those of its text. ``closed()``: it was closed by hand."""

    closed = Signal()

    def __init__(self, hub: ThemeHub, view: ChoosingSurface, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self._view = view
        self._hits: Hits | None = None
        self._current = -1
        self._from_row = 0
        self._going = False
        self._steps = Steps(self)
        self._steps.advanced.connect(self._advanced)
        self.field = _Field(hub, self)
        self.field.setFixedWidth(_FIELD)
        self.field.textChanged.connect(lambda _: self._search(go=True))
        self.field.stepped.connect(self.step)
        self.field.left.connect(self.close_bar)
        self._words = _Count(hub, self)
        self._case = Button(hub, "Aa", kind="ghost", size="small", parent=self)
        self._case.setCheckable(True)
        self._case.setAccessibleName(tr("Match case"))
        self._case.setToolTip(tr("Match case"))
        self._case.toggled.connect(lambda _: self._search(go=True))
        self._up = IconButton(hub, "arrow-up", tr("Previous place"), parent=self)
        self._down = IconButton(hub, "arrow-down", tr("Next place"), parent=self)
        shut = IconButton(hub, "close", tr("Close find"), parent=self)
        self._up.clicked.connect(lambda: self.step(-1))
        self._down.clicked.connect(lambda: self.step(1))
        shut.clicked.connect(self.close_bar)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 4, 12, 5)
        row.setSpacing(6)
        row.addWidget(self.field)
        for widget in (self._case, self._up, self._down):
            row.addWidget(widget)
        row.addWidget(self._words, 1)
        row.addWidget(shut)
        self.hide()
        hub.changed.connect(self.update)

    @property
    def hits(self) -> Hits | None:
        """What was found up to now."""
        return self._hits

    @property
    def current(self) -> int:
        """Which place was gone to, from 0; -1 before the first."""
        return self._current

    def open(self, text: str = "") -> None:
        """Show the bar with the focus in its field; ``text`` replaces what is in it."""
        self.show()
        if text and text != self.field.text():
            self.field.setText(text)
        else:
            self._search(go=False)
        self.field.selectAll()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def close_bar(self) -> None:
        """Hide the bar and the marks; the view has the focus again."""
        self._drop()
        self.hide()
        self.closed.emit()

    def step(self, step: int) -> None:
        """Go to the next place (1) or the one before (-1), from the last to the first and back."""
        hits = self._hits
        if hits is None or not len(hits):
            return
        if self._current < 0:
            at = hits.at_or_after(self._view.row_in_sight())
            self._go(at if step > 0 else (at - 1) % len(hits))
        else:
            self._go((self._current + step) % len(hits))

    def refresh(self) -> None:
        """Another document is shown: look again, and stay where the person is."""
        if not self.isHidden():
            self._search(go=False)

    def _drop(self) -> None:
        self._steps.stop()
        self._hits = None
        self._current = -1
        self._view.set_hits(None)

    def _search(self, *, go: bool) -> None:
        self._drop()
        runs, text = self._view.runs, self.field.text()
        self._going = go
        if runs is not None and text:
            self._from_row = self._view.row_in_sight()
            self._hits = Hits(runs, text, match_case=self._case.isChecked())
            self._steps.start(self._hits.search())
        self._say()

    def _advanced(self) -> None:
        hits = self._hits
        if hits is None:
            return
        if self._going and len(hits) and (hits.whole or hits[len(hits) - 1].row >= self._from_row):
            self._going = False
            self._go(hits.at_or_after(self._from_row))
        self._view.set_hits(hits, self._current)
        self._say()

    def _go(self, index: int) -> None:
        if self._hits is None:
            return
        self._current = index
        self._view.set_hits(self._hits, index)
        self._view.show_hit(self._hits[index])
        self._say()

    def _say(self) -> None:
        hits = self._hits
        count = len(hits) if hits is not None else 0
        for button in (self._up, self._down):
            button.setEnabled(count > 0)
        self._words.say(count_words(count, self._current, whole=hits is None or hits.whole, asked=bool(self.field.text())))

    def sizeHint(self) -> QSize:
        return QSize(_FIELD, round(41 * max(1.0, self._hub.theme.zoom)))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._hub.theme.color("bg.raised"))
        painter.fillRect(QRectF(0, self.height() - 1, self.width(), 1), self._hub.theme.color("line.hair"))


def count_words(count: int, current: int, *, whole: bool, asked: bool) -> str:
    """ "3 of 17", "17 places", "Not found"."""
    if not asked:
        return ""
    if not count:
        return tr("Not found") if whole else tr("Looking…")
    if current < 0:
        return tr("1 place") if count == 1 else tr("{n} places", n=count)
    words = tr("{n} of {count}", n=current + 1, count=count)
    return words if whole else tr("{words}, looking…", words=words)


class _Field(SearchField):
    """``stepped(step)``: Enter, F3 and the arrows; ``left()``: Esc."""

    stepped = Signal(int)
    left = Signal()

    def __init__(self, hub: ThemeHub, parent: QWidget) -> None:
        super().__init__(hub, tr("Find in this file"), parent)

    def event(self, event: QEvent) -> bool:
        # Esc closes the bar: the page's own Esc would leave the review.
        if event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        match event.key():
            case Qt.Key.Key_Escape:
                self.left.emit()
            case Qt.Key.Key_Return | Qt.Key.Key_Enter | Qt.Key.Key_F3:
                self.stepped.emit(-1 if back else 1)
            case Qt.Key.Key_Up | Qt.Key.Key_Down:
                self.stepped.emit(-1 if event.key() == Qt.Key.Key_Up else 1)
            case _:
                super().keyPressEvent(event)


class _Count(QWidget):
    """How many places there are; told to assistive technology as its name."""

    def __init__(self, hub: ThemeHub, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self._text = ""

    def say(self, text: str) -> None:
        """What it says."""
        if text != self._text:
            self._text = text
            self.setAccessibleName(text)
            self.setMinimumWidth(round(text_width(self._hub.theme, "small", text)) + 4)
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        draw_text(QPainter(self), self._hub.theme, QRectF(self.rect()), self._text, style="small", token="text.secondary")
