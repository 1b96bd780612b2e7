"""A diff with all that belongs around it: heads of the two sides, notes, find, overview strip; or the reason there is none.

Shows `FileDiff` values whatever their result, and asks nobody: words, colours and images are given to it. UI thread only.
"""

from typing import assert_never

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from vibekit_desktop.core.types.diffs import BinaryPair, DiffDocument, DiffSide, FileDiff, Identical, TooLarge, Unreadable
from vibekit_desktop.core.types.ids import WorkspacePath
from vibekit_desktop.ui.error_text import ErrorText
from vibekit_desktop.ui.models.diff_options import DiffOptions
from vibekit_desktop.ui.models.diff_runs import Runs
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views import diff_access
from vibekit_desktop.ui.views.blank import Blank, Skeleton
from vibekit_desktop.ui.views.diff import DiffView
from vibekit_desktop.ui.views.diff_find import FindBar
from vibekit_desktop.ui.views.diff_frame import NoteRow, SideHeads
from vibekit_desktop.ui.views.diff_notes import binary_text, folded_text, large_text, notes_of, unreadable_text
from vibekit_desktop.ui.views.image_pair import ImagePair, Picture
from vibekit_desktop.ui.views.overview import OverviewStrip

_Labels = tuple[tuple[str, str], tuple[str, str]]


class DiffPane(QWidget):
    """Invariant: what is shown is ``diff``, or nothing. ``view`` is the `DiffView`.

    Signals: ``load_anyway()``: show a file over the limits; ``retry()``: Try again after a failure; ``images_wanted()``: show
    the images of a binary file; ``unfolded()``: a generated file was opened; ``hunk_changed(index, count)`` and
    ``words_wanted(first, last)`` of the view.
    """

    load_anyway = Signal()
    retry = Signal()
    images_wanted = Signal()
    unfolded = Signal()
    hunk_changed = Signal(int, int)
    words_wanted = Signal(int, int)

    def __init__(
        self, hub: ThemeHub, parent: QWidget | None = None, *, unified: bool = False, heads: bool = True, notes: bool = True
    ) -> None:
        super().__init__(parent)
        self._hub = hub
        self._with_heads = heads
        self._with_notes = notes
        self._labels: _Labels = (("", ""), ("", ""))
        self._opened: set[WorkspacePath] = set()
        self._diff: FileDiff | None = None
        self._focused: QWidget | None = None
        """What had the focus in the page with the lines, while the page is not there."""
        self.view = DiffView(hub, self, unified=unified)
        diff_access.install()
        self.view.cursor_moved.connect(lambda index: diff_access.say_row(self.view, index))
        self.view.hunk_changed.connect(self.hunk_changed)
        self.view.words_wanted.connect(self.words_wanted)
        self.view.find_requested.connect(self.open_find)
        self.view.find_stepped.connect(self._step_find)
        self.view.copy_path_requested.connect(self.copy_path)
        self.view.place_lost.connect(self._say_place_lost)
        self.find_bar = FindBar(hub, self.view, self)
        self.find_bar.closed.connect(lambda: self.view.setFocus(Qt.FocusReason.OtherFocusReason))
        self.images = ImagePair(hub, self)
        self._strip = OverviewStrip(hub, self.view, self)
        self._heads = SideHeads(hub, self)
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
        left.addWidget(self.find_bar)
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
        for widget in (page, self._blank, self._skeleton, self._reason, self.images):
            self._stack.addWidget(widget)
        layout = _column(self)
        layout.addWidget(self._note_box)
        layout.addWidget(self._stack, 1)
        self.clear()

    @property
    def diff(self) -> FileDiff | None:
        """What is shown."""
        return self._diff

    @property
    def folded(self) -> bool:
        """Whether a generated file is there and not opened."""
        diff = self._diff
        return diff is not None and self._is_folded(diff)

    def open_folded(self) -> None:
        """Show a generated file after all."""
        diff = self._diff
        if diff is not None and self._is_folded(diff):
            self._opened.add(diff.request.path)
            self.show_diff(diff, self._labels)
            self.unfolded.emit()

    def clear(self) -> None:
        """Show nothing."""
        self._diff = None
        self._show_notes(())
        self.view.set_document(None)
        self.find_bar.refresh()
        self._blank.show_nothing()
        self._to(self._blank)

    def show_loading(self) -> None:
        """Something is on its way: nothing for 200 ms, then a skeleton."""
        self._show_notes(())
        self._hold_focus()
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

    def show_diff(self, diff: FileDiff, labels: _Labels, *, keep_place: bool = False, runs: Runs | None = None) -> None:
        """Show one file. ``labels``: the two sides' names and times. ``keep_place``: the same file again. ``runs``: of its
        document, where they are known already."""
        same_file = self._diff is not None and self._diff.request.path == diff.request.path
        self._diff = diff
        self._labels = labels
        result = diff.result
        if self._with_notes and isinstance(result, DiffDocument | Identical | BinaryPair):
            self._show_notes(notes_of(result))
        else:
            self._show_notes(())
        match result:
            case DiffDocument() if self._is_folded(diff):
                row = NoteRow(self._hub, "lock", "", folded_text(diff.generated, result), action=tr("Show"))
                row.acted.connect(self.open_folded)
                self._show_reason(row)
            case DiffDocument():
                self._to(self._page)
                self._show_heads(result)
                self.view.set_document(result, runs, keep_place=keep_place and same_file)
                self.find_bar.refresh()
            case Identical():
                self._blank.say("check", tr("Nothing to review"), tr("Both sides are the same."))
                self._to(self._blank)
            case BinaryPair():
                images = result.old_image or result.new_image
                row = NoteRow(self._hub, "image", "", binary_text(result), action=tr("Show images") if images else "")
                row.acted.connect(self.images_wanted)
                self._show_reason(row)
            case TooLarge():
                row = NoteRow(self._hub, "info", "", large_text(result), action=tr("Load anyway"))
                row.acted.connect(self.load_anyway)
                self._show_reason(row)
            case Unreadable():
                self._show_reason(NoteRow(self._hub, "warning", "", unreadable_text(result), tone="danger"))
            case _:
                assert_never(result)

    def show_images(self, old: Picture | None, new: Picture | None) -> None:
        """Show the images of the binary file that is there now."""
        self.images.show_pictures(old, new, (self._labels[0][0], self._labels[1][0]))
        self._to(self.images)

    def set_options(self, options: DiffOptions) -> None:
        """Show diffs in another way from now on."""
        self.view.set_options(options)

    # Find, and the path.

    def open_find(self, text: str = "") -> None:
        """Look for something in the diff that is shown."""
        if self._stack.currentWidget() is self._page:
            self.find_bar.open(text or self.view.words_of_a_line())

    def close_find(self) -> bool:
        """Close the bar; whether it was open."""
        was_open = not self.find_bar.isHidden()
        if was_open:
            self.find_bar.close_bar()
        return was_open

    def _step_find(self, step: int) -> None:
        if self.find_bar.isHidden():
            self.open_find()
        else:
            self.find_bar.step(step)

    def copy_path(self) -> None:
        """Put the file's path on the clipboard."""
        if self._diff is not None:
            QGuiApplication.clipboard().setText(self._diff.request.path)

    def set_unified(self, unified: bool) -> None:
        """One pane or two."""
        self.view.set_unified(unified)
        if self._diff is not None and isinstance(self._diff.result, DiffDocument):
            self._show_heads(self._diff.result)

    def _is_folded(self, diff: FileDiff) -> bool:
        known = diff.request.path in self._opened
        return bool(diff.generated) and not known and self._with_notes and isinstance(diff.result, DiffDocument)

    def _say_place_lost(self) -> None:
        row = NoteRow(self._hub, "info", tr("This file changed on disk."), tr("Showing the new state."), tone="accent")
        self._note_layout.insertWidget(0, row)
        row.show()
        self._note_box.show()

    def _to(self, widget: QWidget) -> None:
        if widget is not self.images:
            self.images.clear()
        if widget is not self._stack.currentWidget():
            self._hold_focus()
        self._skeleton.end()
        self._stack.setCurrentWidget(widget)
        if widget is self._page and self.hasFocus():
            here = self._focused
            if here is None or not here.isVisibleTo(self._page):
                here = self.view
            here.setFocus(Qt.FocusReason.OtherFocusReason)

    def _hold_focus(self) -> None:
        """Keep the focus here while what has it goes: else the next button of the window has it, and a key presses it."""
        focused = QApplication.focusWidget()
        if focused is not None and self._stack.isAncestorOf(focused):
            self._focused = focused if self._page.isAncestorOf(focused) else None
            self.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_heads(self, document: DiffDocument) -> None:
        self._heads.setVisible(self._with_heads and not self.view.unified)
        (old, old_time), (new, new_time) = self._labels
        self._heads.set_sides(((old, old_time, _form(document.old)), (new, new_time, _form(document.new))))

    def _show_reason(self, row: NoteRow) -> None:
        self._hold_focus()
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
