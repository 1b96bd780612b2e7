"""The parts of the review and where they stand: bar, file list, head, diff, comments; and what is done with the lines in sight.

Knows no core. What is compared and how it is walked through is in `review`. UI thread only.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from vibekit_desktop.core.types.diffs import DiffDocument, FileDiff
from vibekit_desktop.core.types.ids import WorkspacePath
from vibekit_desktop.core.types.reviews import Comment, PlacedComment, Side
from vibekit_desktop.ui.models.files import FileListModel
from vibekit_desktop.ui.models.review_options import ReviewOptions
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views import review_lines
from vibekit_desktop.ui.views.comments import CommentsPanel
from vibekit_desktop.ui.views.controls import Button
from vibekit_desktop.ui.views.diff_pane import DiffPane
from vibekit_desktop.ui.views.held_line import HeldLine
from vibekit_desktop.ui.views.review_bar import ReviewBar
from vibekit_desktop.ui.views.review_head import FileHead
from vibekit_desktop.ui.views.review_list import ReviewList
from vibekit_desktop.ui.views.review_menus import More, more_menu


class ReviewFrame(QWidget):
    """Signals: ``back_requested()``; ``options_chosen(options)``; ``export_requested(kind)``; ``own_window_requested()``;
    ``stop_requested()``: the turn that undo waits for; ``told(text)``: something to say once."""

    back_requested = Signal()
    options_chosen = Signal(object)
    export_requested = Signal(str)
    own_window_requested = Signal()
    stop_requested = Signal()
    told = Signal(str)

    def __init__(self, hub: ThemeHub, parent: QWidget | None, *, own_window: bool) -> None:
        super().__init__(parent)
        self._hub = hub
        self._options = ReviewOptions()
        self._all_comments: Sequence[Comment] = ()
        self.diffs: dict[WorkspacePath, FileDiff] = {}
        self.model = FileListModel(self)
        self.bar = ReviewBar(hub, self, closes=not own_window)
        self.list = ReviewList(hub, self.model, self)
        self.head = FileHead(hub, self)
        self.held = HeldLine(hub, self)
        self.stop = Button(hub, tr("Stop"), kind="link", size="small", parent=self.held)
        self.stop.clicked.connect(self.stop_requested)
        held = QHBoxLayout(self.held)
        held.setContentsMargins(0, 0, 12, 4)
        held.addStretch(1)
        held.addWidget(self.stop)
        self.pane = DiffPane(hub, self)
        self.comments = CommentsPanel(hub, self)
        self.comments.hide()
        self._arrange()
        bar, head = self.bar, self.head
        bar.back.connect(self.back_requested)
        bar.chosen.connect(self.options_chosen)
        bar.comments_toggled.connect(self.toggle_comments)
        self.list.opened.connect(lambda _: self.pane.view.setFocus(Qt.FocusReason.OtherFocusReason))
        self.comments.closed.connect(self.toggle_comments)
        self.comments.editor.left.connect(lambda: self.pane.view.setFocus(Qt.FocusReason.OtherFocusReason))
        head.copied.connect(lambda: self.told.emit(tr("Path copied")))
        review_lines.on_comment_wanted(self.pane, self.comment_on)
        self.pane.view.comment_activated.connect(self._show_comment)
        self.pane.view.copy_path_requested.connect(self.copy_path)
        hub.changed.connect(self.update)

    def _arrange(self) -> None:
        right = QVBoxLayout()
        right.setSpacing(0)
        right.addWidget(self.head)
        right.addWidget(self.held)
        right.addWidget(self.pane, 1)
        across = QHBoxLayout()
        across.setSpacing(0)
        across.addWidget(self.list)
        across.addLayout(right, 1)
        across.addWidget(self.comments)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.bar)
        layout.addLayout(across, 1)
        stops = [*self.bar.stops, *self.list.stops, *self.head.stops, self.stop, self.pane.view, *self.comments.stops]
        for first, second in pairwise(stops):
            QWidget.setTabOrder(first, second)

    @property
    def files(self) -> QWidget:
        """What takes the focus first."""
        return self.list.files

    @property
    def panes(self) -> tuple[Callable[[], QWidget], ...]:
        """What F6 goes to, as far as it is shown."""
        return (lambda: self.list.files), (lambda: self.pane.view), (lambda: self.comments.list)

    # Bar.

    def toggle_whitespace(self) -> None:
        """Ignore whitespace, or not any more."""
        self.bar.toggle_whitespace()

    def toggle_layout(self) -> None:
        """One pane or two."""
        self.bar.toggle_layout()

    def open_find(self) -> None:
        """Look for something in the diff that is shown."""
        self.pane.open_find()

    def step_find(self, step: int) -> None:
        """The next place (1) of what is looked for, or the one before."""
        self.pane.view.find_stepped.emit(step)

    def copy_path(self) -> None:
        """Put the path of the current file on the clipboard."""
        self.head.copy_path()

    def leave(self) -> None:
        """Esc: out of what is open here, then back."""
        focus = self.focusWidget()
        if self.comments.editor.isVisible():
            self.comments.editor.put_aside()
        elif focus is self.list.filter and self.list.filter.text():
            self.list.filter.clear()
        elif self.pane.close_find():
            return
        elif self.comments.isAncestorOf(focus):
            self.toggle_comments()
        else:
            self.back_requested.emit()

    def show_more(self, *, undo_words: str, why_no_undo: str, undo_all: Callable[[], None]) -> None:
        """Show the menu at the right end of the bar."""
        does = More(
            choose=self.options_chosen.emit,
            export=self.export_requested.emit,
            own_window=self.own_window_requested.emit if self.bar.closes else None,
            undo_all=undo_all,
            comments=self.toggle_comments,
        )
        more_menu(
            self.bar.more,
            self._options,
            does,
            undo_words=undo_words,
            files=len(self.diffs),
            comments_shown=self.comments.isVisible(),
            why_no_undo=why_no_undo,
        )

    # Comments.

    def path_of(self, comment: Comment) -> WorkspacePath | None:
        """The file of this review that a comment is about, under the name it has now."""
        if comment.path in self.diffs:
            return comment.path
        for path, diff in self.diffs.items():
            if comment.side is Side.OLD and diff.request.old_path == comment.path:
                return path
        return None

    def comment_counts(self) -> dict[WorkspacePath, int]:
        """How many comments the files of this review have."""
        counts: dict[WorkspacePath, int] = {}
        for comment in self._all_comments:
            if (path := self.path_of(comment)) is not None:
                counts[path] = counts.get(path, 0) + 1
        return counts

    @property
    def all_comments(self) -> Sequence[Comment]:
        """All comments of the chat."""
        return self._all_comments

    def toggle_comments(self) -> None:
        """Show or hide the comments. What is being written is kept."""
        self._show_comments(not self.comments.isVisible())
        target = self.comments.list if self.comments.isVisible() and self._all_comments else self.pane.view
        target.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_comments(self, shown: bool) -> None:
        self.comments.setVisible(shown)
        self.bar.set_comments(len(self._all_comments), shown=shown)
        self._fit()

    def _fit(self) -> None:
        """Where there is little room the comments stand in the place of the files."""
        narrow = self.width() < self._hub.theme.size("narrow-inspector")
        self.list.setVisible(not (narrow and self.comments.isVisibleTo(self)))

    def _show_comment(self, comment: str) -> None:
        self._show_comments(True)
        self.comments.select(comment)

    def comment_here(self) -> None:
        """Say something about the chosen lines, or about the current ones."""
        lines = review_lines.lines_here(self.pane)
        if lines is None:
            self.told.emit(tr("Choose lines in the diff to comment on."))
        else:
            self.comment_on(*lines)

    def comment_on(self, side: Side, first: int, last: int) -> None:
        """Say something about lines of the file that is shown."""
        diff = self.pane.diff
        if diff is None or not isinstance(diff.result, DiffDocument):
            return
        request, document = diff.request, diff.result
        path = (request.old_path or request.path) if side is Side.OLD else request.path
        there = document.old if side is Side.OLD else document.new
        self._show_comments(True)
        self.comments.editor.begin((path, side, first, last), there.lines[first - 1 : last])

    def set_places(self, places: Sequence[PlacedComment]) -> None:
        """Where the comments on the shown file are in it."""
        self.comments.set_places(places)
        review_lines.show_comments(self.pane, places)

    def go_to_lines(self, side: Side, first: int, last: int) -> None:
        """Bring lines of the shown file into sight and choose them."""
        review_lines.go_to(self.pane, side, first, last)

    # Qt's names below.

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(self.rect(), self._hub.theme.color("bg.surface"))
