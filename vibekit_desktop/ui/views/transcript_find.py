"""The bar to find a text in a chat: what, how many places, which one; next and previous.

Everything is counted, also in messages that are not loaded: those are asked for, some at a time, while everything else goes on.
UI thread only.
"""

from collections.abc import Iterator, Sequence
from typing import Protocol

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from vibekit_desktop.core.types.chats import Message
from vibekit_desktop.ui.models.transcript_find import Finds, Pattern, Place
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.controls import Button, IconButton
from vibekit_desktop.ui.views.diff_find import count_words
from vibekit_desktop.ui.views.diff_steps import Steps
from vibekit_desktop.ui.views.fields import SearchField
from vibekit_desktop.ui.views.row_paint import draw_text, text_width

_FIELD = 280


class Searched(Protocol):
    """What is looked through: the list of a chat."""

    def loaded_messages(self) -> tuple[Sequence[Message], int]:
        """The messages that are loaded, and the index of the first of them."""

    def message_in_sight(self) -> int:
        """The index of the message at the top."""

    def show_place(self, place: Place) -> bool:
        """Bring a place into sight; False if its message is not loaded."""

    def marks_changed(self) -> None:
        """Other places are to be marked."""


class FindInChat(QWidget):
    """Hidden at first. Signals: ``closed()``: it was closed by hand; ``earlier_wanted(upto)``: the messages that end before
    this index are to be told with `earlier`; ``load_wanted(message)``: the message of this index is to be loaded, then `loaded`
    called.

    Invariant: while it is open, the places that are marked are those of its text."""

    closed = Signal()
    earlier_wanted = Signal(int)
    load_wanted = Signal(int)

    def __init__(self, hub: ThemeHub, chat: Searched, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self._chat = chat
        self._finds: Finds | None = None
        self._current = -1
        self._from = 0
        self._going = False
        self._asked = -1
        """The index that earlier messages were asked for up to; -1 = for none."""
        self._missing = False
        """Earlier messages could not be read."""
        self._waits: Place | None = None
        self._steps = Steps(self)
        self._steps.advanced.connect(self._advanced)
        self.field = _Field(hub, self)
        self.field.setFixedWidth(_FIELD)
        self.field.textChanged.connect(lambda _: self._search(go=True))
        self.field.stepped.connect(self.step)
        self.field.left.connect(self.close_bar)
        self._words = _Words(hub, self)
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

    # What can be asked and told

    @property
    def pattern(self) -> Pattern | None:
        """What is looked for at the moment."""
        return self._finds.pattern if self._finds is not None and not self.isHidden() else None

    @property
    def place(self) -> Place | None:
        """The place that was gone to, if any."""
        finds = self._finds
        return finds[self._current] if finds is not None and 0 <= self._current < len(finds) else None

    @property
    def count(self) -> int:
        """How many places are known."""
        return len(self._finds) if self._finds is not None else 0

    @property
    def words(self) -> str:
        """What is said beside the field."""
        return self._words.text

    def open(self, text: str = "") -> None:
        """Show the bar with the focus in its field; ``text`` replaces what is in it."""
        self.show()
        if text and text != self.field.text():
            self.field.setText(text)
        elif self._finds is None:
            self._search(go=False)
        self.field.selectAll()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def close_bar(self) -> None:
        """Hide the bar and the marks."""
        self._drop()
        self.hide()
        self._chat.marks_changed()
        self.closed.emit()

    def step(self, step: int) -> None:
        """Go to the next place (1) or the one before (-1), from the last to the first and back."""
        finds = self._finds
        if finds is None or not len(finds):
            return
        if self._current < 0:
            at = finds.at_or_after(self._chat.message_in_sight())
            self._go(at if step > 0 else (at - 1) % len(finds))
        else:
            self._go((self._current + step) % len(finds))

    def start_over(self) -> None:
        """Another chat is shown."""
        self._drop()
        if not self.isHidden():
            self._search(go=False)

    def news(self) -> None:
        """There may be more messages at the end."""
        if self._finds is not None and not self.isHidden() and not self._steps.busy:
            self._look_on(self._finds)

    def earlier(self, upto: int, messages: Sequence[Message]) -> None:
        """The answer to ``earlier_wanted``: the messages before an index; none if they could not be read."""
        finds = self._finds
        if finds is None or upto != self._asked:
            return
        self._asked = -1
        if messages:
            self._steps.start(self._before(finds, messages, upto), lambda: self._look_on(finds))
        else:
            self._missing = True
            self._say()

    def loaded(self) -> None:
        """Earlier messages were loaded."""
        if self._waits is not None and self._chat.show_place(self._waits):
            self._waits = None

    # How

    def _drop(self) -> None:
        self._steps.stop()
        self._finds, self._waits = None, None
        self._current = self._asked = -1
        self._missing = False

    def _search(self, *, go: bool) -> None:
        self._drop()
        text = self.field.text()
        self._going = go
        if text:
            self._from = self._chat.message_in_sight()
            finds = Finds(Pattern(text, match_case=self._case.isChecked()), self._chat.loaded_messages()[1])
            self._finds = finds
            self._look_on(finds)
        self._chat.marks_changed()
        self._say()

    def _look_on(self, finds: Finds) -> None:
        """Look through what is loaded and was not looked through; then ask for what is not loaded."""
        messages, first = self._chat.loaded_messages()
        if finds.looked_to < first + len(messages):
            self._steps.start(finds.look_on(messages, first), lambda: self._look_on(finds))
        elif finds.looked_from and self._asked < 0 and not self._missing:
            self._asked = finds.looked_from
            self.earlier_wanted.emit(finds.looked_from)

    def _before(self, finds: Finds, messages: Sequence[Message], upto: int) -> Iterator[None]:
        known = len(finds)
        for _ in finds.look_before(messages, upto):
            if self._current >= 0:
                self._current += len(finds) - known  # the place that was gone to stays it
            known = len(finds)
            yield

    def _advanced(self) -> None:
        finds = self._finds
        if finds is None:
            return
        if self._going and len(finds):
            at = finds.at_or_after(self._from)
            if finds[at].message >= self._from or not self._steps.busy:
                self._going = False
                self._go(at)
        self._say()

    def _go(self, index: int) -> None:
        finds = self._finds
        if finds is None:
            return
        self._current, self._waits = index, None
        place = finds[index]
        if not self._chat.show_place(place):
            self._waits = place
            self.load_wanted.emit(place.message)
        self._chat.marks_changed()
        self._say()

    def _say(self) -> None:
        finds, count = self._finds, self.count
        for button in (self._up, self._down):
            button.setEnabled(count > 0)
        whole = finds is None or not (self._steps.busy or (finds.looked_from and not self._missing))
        words = count_words(count, self._current, whole=whole, asked=bool(self.field.text()))
        self._words.say(tr("{words}, earlier messages could not be read", words=words) if self._missing else words)

    # Qt's names below.

    def sizeHint(self) -> QSize:
        return QSize(_FIELD, round(41 * max(1.0, self._hub.theme.zoom)))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._hub.theme.color("bg.raised"))
        painter.fillRect(QRectF(0, self.height() - 1, self.width(), 1), self._hub.theme.color("line.hair"))


class _Field(SearchField):
    """``stepped(step)``: Enter, F3 and the arrows; ``left()``: Esc."""

    stepped = Signal(int)
    left = Signal()

    def __init__(self, hub: ThemeHub, parent: QWidget) -> None:
        super().__init__(hub, tr("Find in this chat"), parent)

    def event(self, event: QEvent) -> bool:
        # Esc closes the bar: pressed twice elsewhere it stops the turn.
        if event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        elif event.key() == Qt.Key.Key_Up or event.matches(QKeySequence.StandardKey.FindPrevious) or (enter and back):
            self.stepped.emit(-1)
        elif event.key() == Qt.Key.Key_Down or event.matches(QKeySequence.StandardKey.FindNext) or enter:
            self.stepped.emit(1)
        else:
            super().keyPressEvent(event)


class _Words(QWidget):
    """How many places there are; told to assistive technology as its name."""

    def __init__(self, hub: ThemeHub, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self.text = ""

    def say(self, text: str) -> None:
        """What it says."""
        if text != self.text:
            self.text = text
            self.setAccessibleName(text)
            self.setMinimumWidth(min(320, round(text_width(self._hub.theme, "small", text)) + 4))
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        draw_text(QPainter(self), self._hub.theme, QRectF(self.rect()), self.text, style="small", token="text.secondary")
