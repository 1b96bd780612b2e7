"""The text field of the composer: plain text that grows by line, Enter sends, Shift+Enter makes a new line. UI thread only."""

from collections.abc import Callable

from PySide6.QtCore import QMimeData, QPointF, Qt, Signal
from PySide6.QtGui import (
    QDragEnterEvent,
    QDragMoveEvent,
    QDropEvent,
    QFocusEvent,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QTextBlockFormat,
    QTextCursor,
    QTextOption,
)
from PySide6.QtWidgets import QFrame, QTextEdit, QWidget

from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.attachments import may_take, taken_from

MOST_CHARS = 100_000
"""A longer text would make the window wait while it is laid out."""
MOST_LINE = 20_000
"""The same for one line: that costs the square of its length."""
_SEPARATORS = "\u2029\u2028"


class PromptField(QTextEdit):
    """The field. Signals without an argument: ``send_requested``, ``previous_requested`` (Up in the empty field), ``edited`` (a
    person changed the text), ``height_changed``, ``focus_changed``; ``given(attachments)``: files or a picture were pasted or
    dropped; ``refused(text)``: why something that was pasted is not there.

    Invariant: the text is plain, whatever was pasted. ``keys_first`` may take a key before the field does.
    """

    send_requested = Signal()
    previous_requested = Signal()
    edited = Signal()
    height_changed = Signal()
    focus_changed = Signal()
    given = Signal(object)
    refused = Signal(str)

    def __init__(self, hub: ThemeHub, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self._hint = ""
        self._setting = False
        self.keys_first: Callable[[QKeyEvent], bool] | None = None
        self.setAcceptRichText(False)
        self.setTabChangesFocus(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.viewport().setAutoFillBackground(False)  # the ground is the composer's
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.document().setDocumentMargin(0)
        self.document().documentLayout().documentSizeChanged.connect(self.height_changed)
        self.textChanged.connect(self._text_changed)
        self.set_text("")
        hub.changed.connect(self._themed)
        self._themed()

    def _themed(self) -> None:
        self._setting = True
        self.setFont(self._hub.theme.font("reading"))
        self.document().setDefaultFont(self._hub.theme.font("reading"))
        self._space_lines()
        self._setting = False
        self.height_changed.emit()

    def _space_lines(self) -> None:
        """The height of the lines is kept by their blocks; a new block takes it from the one before."""
        spacing = QTextBlockFormat()
        spacing.setLineHeight(self._hub.theme.line_height("reading"), QTextBlockFormat.LineHeightTypes.FixedHeight.value)
        cursor = QTextCursor(self.document())
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.mergeBlockFormat(spacing)

    def _text_changed(self) -> None:
        self.viewport().update()
        if not self._setting:
            self.edited.emit()

    # The text

    @property
    def text(self) -> str:
        """What is written, as it was typed or pasted."""
        # toPlainText would turn no-break spaces into spaces.
        raw = self.document().toRawText()
        for separator in _SEPARATORS:
            raw = raw.replace(separator, "\n")
        return raw.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    @property
    def is_empty(self) -> bool:
        """Whether nothing is written."""
        return self.document().isEmpty()

    def set_text(self, text: str) -> None:
        """Show another text, the cursor behind it; ``edited`` is not emitted."""
        self._setting = True
        self.document().setUndoRedoEnabled(False)
        self.setPlainText(text)
        self._space_lines()
        self.document().setUndoRedoEnabled(True)
        self.moveCursor(QTextCursor.MoveOperation.End)
        self._setting = False
        self.height_changed.emit()

    def put_before(self, text: str) -> None:
        """Put a text before what is written, as something that can be undone."""
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.Start)
        cursor.insertText(text if self.is_empty else f"{text}\n\n")
        self.moveCursor(QTextCursor.MoveOperation.End)

    def put_instead(self, start: int, text: str) -> None:
        """Replace what is written from ``start`` to the cursor."""
        cursor = self.textCursor()
        cursor.setPosition(start, QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(text)
        self.setTextCursor(cursor)

    def set_hint(self, text: str) -> None:
        """What stands in the empty field."""
        self._hint = text
        self.setAccessibleDescription(text)
        self.viewport().update()

    def text_height(self) -> int:
        """How high all of the text is."""
        return max(self._hub.theme.line_height("reading"), round(self.document().size().height()))

    # Qt's names below.

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.keys_first is not None and self.keys_first(event):
            event.accept()
            return
        shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if shift:
                if not self.isReadOnly():
                    self.textCursor().insertBlock()  # Qt would put a separator that is no line end
                    self.ensureCursorVisible()
            elif not event.isAutoRepeat():
                self.send_requested.emit()
            event.accept()
        elif event.key() == Qt.Key.Key_Up and self.is_empty and not event.modifiers() & _HELD:
            self.previous_requested.emit()
            event.accept()
        else:
            super().keyPressEvent(event)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        return not self.isReadOnly() and (source.hasText() or may_take(source))

    def insertFromMimeData(self, source: QMimeData) -> None:
        found = taken_from(source)
        if found is not None:
            self.given.emit(found)
            return
        text = source.text()
        if not text:
            return
        whole = self.document().characterCount() + len(text)
        if whole > MOST_CHARS or max(map(len, text.split("\n"))) > MOST_LINE:
            self.refused.emit(
                tr(
                    "That text is too long: a message takes {most} characters, {line} in one line. Attach it as a file.",
                    most=MOST_CHARS,
                    line=MOST_LINE,
                )
            )
            return
        self.textCursor().insertText(text)
        self.ensureCursorVisible()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if may_take(event.mimeData()):
            event.ignore()  # files are the composer's as a whole
        else:
            super().dragEnterEvent(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        if may_take(event.mimeData()):
            event.ignore()
        else:
            super().dragMoveEvent(event)

    def dropEvent(self, event: QDropEvent) -> None:
        if may_take(event.mimeData()):
            event.ignore()
        else:
            super().dropEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focus_changed.emit()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.focus_changed.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._hint and self.is_empty:
            theme = self._hub.theme
            painter = QPainter(self.viewport())
            painter.setFont(theme.font("reading"))
            painter.setPen(theme.color("text.tertiary"))
            metrics = theme.metrics("reading")
            text = metrics.elidedText(self._hint, Qt.TextElideMode.ElideRight, self.viewport().width() - 2)
            # Where the first line of a text would stand: Qt puts what a fixed line is too high by over the letters.
            painter.drawText(QPointF(1, theme.line_height("reading") - metrics.descent()), text)


_HELD = (
    Qt.KeyboardModifier.ShiftModifier
    | Qt.KeyboardModifier.ControlModifier
    | Qt.KeyboardModifier.AltModifier
    | Qt.KeyboardModifier.MetaModifier
)
