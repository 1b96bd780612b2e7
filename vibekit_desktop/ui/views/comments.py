"""What a person says about a review: a field to say it, the list of what was said, and Send to the agent.

Stands at the right of the diff. Shows values and emits intents; asks nobody. UI thread only.
"""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPlainTextEdit, QStackedWidget, QVBoxLayout, QWidget

from vibekit_desktop.core.types.ids import WorkspacePath
from vibekit_desktop.core.types.reviews import Comment, PlacedComment, Side
from vibekit_desktop.ui.models.comments import CommentListModel, lines_words
from vibekit_desktop.ui.text import tr, tr_n
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.theme.style import ink
from vibekit_desktop.ui.tool_tip import plain_tip
from vibekit_desktop.ui.views.blank import Blank
from vibekit_desktop.ui.views.comment_list import CommentList
from vibekit_desktop.ui.views.controls import Button, IconButton
from vibekit_desktop.ui.views.row_paint import draw_text
from vibekit_desktop.ui.visible import one_line
from vibekit_desktop.ui.wording import file_name, shown_path

_WIDTH = 320
_FIELD_HEIGHT = 108
_QUOTED = 3
Target = tuple[WorkspacePath, Side, int, int]
"""Path, side, first and last line."""


class CommentEditor(QWidget):
    """The field. Signals: ``made(target, text)``: a new comment; ``changed(comment, text)``: another text for one there is;
    ``left()``: the field is closed.

    Invariant: while it is open it is about one target or one comment. What was written of a new comment is kept until it is
    stored or cancelled, also while the field is put aside."""

    made = Signal(object, str)
    changed = Signal(object, str)
    left = Signal()

    def __init__(self, hub: ThemeHub, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self._target: Target | None = None
        self._comment: Comment | None = None
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 8, 12, 12)
        layout.setSpacing(6)
        self._where = _label(self)
        self._quote = _label(self)
        self.field = QPlainTextEdit(self)
        self.field.setFixedHeight(_FIELD_HEIGHT)
        self.field.setTabChangesFocus(True)
        self.field.setPlaceholderText(tr("What should be different here?"))
        self.field.setAccessibleName(tr("Comment"))
        self.field.textChanged.connect(self._typed)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addStretch(1)
        self.cancel = Button(hub, tr("Cancel"), size="small", parent=self)
        self.cancel.clicked.connect(self.close_field)
        self.save = Button(hub, tr("Comment"), kind="primary", size="small", parent=self)
        self.save.clicked.connect(self.store)
        row.addWidget(self.cancel)
        row.addWidget(self.save)
        for widget in (self._where, self._quote, self.field):
            layout.addWidget(widget)
        layout.addLayout(row)
        hub.changed.connect(self._dress)
        self._dress()
        self.hide()

    @property
    def target(self) -> Target | None:
        """What a new comment is about, while one is written."""
        return self._target

    def begin(self, target: Target, quote: Sequence[str]) -> None:
        """Say something about lines. One that is being written is moved there: its words are not lost."""
        if self._comment is not None:
            self.field.clear()
        self._target, self._comment = target, None
        self._open(*target, quote, tr("Comment"))

    def edit(self, comment: Comment) -> None:
        """Change what was said."""
        self._target, self._comment = None, comment
        lines = comment.quote.splitlines()
        self.field.setPlainText(comment.text)
        self._open(comment.path, comment.side, comment.first_line, comment.last_line, lines, tr("Save"))

    def _open(self, path: WorkspacePath, side: Side, first: int, last: int, quote: Sequence[str], verb: str) -> None:
        name = file_name(shown_path(path))
        self._where.setText(tr("{file}, {lines}", file=name, lines=lines_words(side, first, last)))
        shown = [one_line(line)[:200] for line in quote[:_QUOTED]]
        if len(quote) > _QUOTED:
            shown.append("…")
        self._quote.setText("\n".join(shown))
        self._quote.setVisible(bool(shown))
        self.save.setText(verb)
        self.save.setAccessibleName(verb)
        self.show()
        self._typed()
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)

    def store(self) -> None:
        """What was written is what is said."""
        text = self.field.toPlainText().strip()
        if not text:
            return
        if self._comment is not None:
            self.changed.emit(self._comment, text)
        elif self._target is not None:
            self.made.emit(self._target, text)

    def close_field(self) -> None:
        """It is stored, or not wanted."""
        if self.isHidden():
            return
        self._target = self._comment = None
        self.field.clear()
        self.hide()
        self.left.emit()

    def put_aside(self) -> None:
        """Close the field for now: a new comment's words are there when the next one begins."""
        if self._comment is not None or not self.field.toPlainText().strip():
            self.close_field()
        elif not self.isHidden():
            self._target = None
            self.hide()
            self.left.emit()

    def _typed(self) -> None:
        self.save.setEnabled(bool(self.field.toPlainText().strip()))

    def _dress(self) -> None:
        theme = self._hub.theme
        self._where.setFont(theme.font("small", weight=500))
        self._quote.setFont(theme.font("code-small"))
        ink(self._quote, theme, "text.tertiary")
        self.field.setFont(theme.font("body"))

    # Qt's names below.

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.store()
        elif event.key() == Qt.Key.Key_Escape:
            self.put_aside()
        else:
            super().keyPressEvent(event)


class CommentsPanel(QWidget):
    """Signals: those of `CommentEditor`; ``go_requested(comment)``, ``delete_requested(comment)``; ``send_requested(ids)``;
    ``closed()``. ``list`` and ``editor`` are its parts."""

    go_requested = Signal(object)
    delete_requested = Signal(object)
    send_requested = Signal(object)
    closed = Signal()

    def __init__(self, hub: ThemeHub, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self.model = CommentListModel(self)
        self.setFixedWidth(_WIDTH)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(1, 0, 0, 0)
        layout.setSpacing(0)
        head = QHBoxLayout()
        head.setContentsMargins(0, 0, 12, 0)
        head.addStretch(1)
        self._close = IconButton(hub, "close", tr("Hide comments"), parent=self)
        self._close.clicked.connect(self.closed)
        head.addWidget(self._close)
        box = QWidget(self)
        box.setFixedHeight(hub.theme.size("file-head"))
        box.setLayout(head)
        layout.addWidget(box)
        self.editor = CommentEditor(hub, self)
        layout.addWidget(self.editor)
        self.list = CommentList(hub, self.model, self)
        self.list.go_requested.connect(self.go_requested)
        self.list.edit_requested.connect(self.editor.edit)
        self.list.delete_requested.connect(self.delete_requested)
        self._blank = Blank(hub, self)
        self._blank.say("chat", tr("No comments yet"), tr("Choose lines in the diff and press C, or use its menu."))
        self._stack = QStackedWidget(self)
        self._stack.addWidget(self._blank)
        self._stack.addWidget(self.list)
        layout.addWidget(self._stack, 1)
        foot = QHBoxLayout()
        foot.setContentsMargins(12, 9, 12, 12)
        foot.addStretch(1)
        self.send = Button(hub, "", kind="primary", parent=self)
        self.send.clicked.connect(self._send)
        foot.addWidget(self.send)
        self._foot = QWidget(self)
        self._foot.setLayout(foot)
        layout.addWidget(self._foot)
        hub.changed.connect(self.update)
        self.set_comments(())

    @property
    def stops(self) -> tuple[QWidget, ...]:
        """What can have the focus, from the top."""
        return (self._close, self.editor.field, self.editor.cancel, self.editor.save, self.list, self.send)

    @property
    def not_sent(self) -> tuple[str, ...]:
        """The ids of the comments that the agent has not been sent."""
        return tuple(row.comment.id for row in self.model.rows if not row.comment.sent_at)

    def set_comments(self, comments: Sequence[Comment]) -> None:
        """All comments of the chat."""
        self.model.set_comments(comments)
        self._stack.setCurrentIndex(1 if comments else 0)
        waiting = len(self.not_sent)
        words = tr_n("Send {n} comment to the agent", "Send {n} comments to the agent", waiting)
        self.send.setText(words if waiting else tr("Everything is sent"))
        self.send.setAccessibleName(self.send.text())
        self.send.setEnabled(bool(waiting))
        self.send.setToolTip(plain_tip(tr("As one message, with the lines they are about") if waiting else ""))
        self._foot.setVisible(bool(comments))

    def set_places(self, places: Sequence[PlacedComment]) -> None:
        """Where the comments of the shown file are in it."""
        self.model.set_places(places)

    def select(self, comment: str) -> None:
        """Make a comment the current one."""
        row = self.model.row_of(comment)
        if row >= 0:
            self.list.setCurrentIndex(self.model.index(row))

    def _send(self) -> None:
        if self.not_sent:
            self.send_requested.emit(self.not_sent)

    # Qt's names below.

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        head = theme.size("file-head")
        painter.fillRect(self.rect(), theme.color("bg.inspector"))
        painter.fillRect(QRectF(0, 0, 1, self.height()), theme.color("line.hair"))
        painter.fillRect(QRectF(0, head - 1, self.width(), 1), theme.color("line.hair"))
        draw_text(painter, theme, QRectF(16, 0, self.width() - 60, head - 1), tr("Comments"), style="body-strong")


def _label(parent: QWidget) -> QLabel:
    label = QLabel(parent)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(False)
    label.setMinimumWidth(1)
    return label
