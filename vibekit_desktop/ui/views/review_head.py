"""The heads of the review page: its title, the sums over the file list, and what stands above the diff of one file.

Painted from the tokens; emit intents. UI thread only.
"""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QSizePolicy, QWidget

from vibekit_desktop.ui.models.files import FileEntry, Mark, totals
from vibekit_desktop.ui.text import tr, tr_n
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.theme.style import ink
from vibekit_desktop.ui.tool_tip import plain_tip
from vibekit_desktop.ui.views.controls import Button, IconButton
from vibekit_desktop.ui.views.row_paint import counts_width, draw_counts, draw_letter, draw_path, draw_text
from vibekit_desktop.ui.visible import one_line
from vibekit_desktop.ui.wording import file_name, fit_path, folder_name, shown_path

_TITLE_LEAST = 96
_NAME_ROOM = 160
"""So much of a file's name is worth more than the words on the buttons beside it."""
_LEAST = 240
_SHORT, _NO_HUNK, _NO_COUNTS, _NO_EDITOR = 2, 4, 5, 6
"""How much the head leaves out for the name: words on the way, then what is said or can be done elsewhere too."""


class TitleBlock(QWidget):
    """ "Review changes" and the chat's title under it; elided where there is less room."""

    def __init__(self, hub: ThemeHub, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self._title = ""
        self.setMinimumWidth(_TITLE_LEAST)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        hub.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        theme = self._hub.theme
        return QSize(theme.size("review-title"), theme.line_height("heading") + theme.line_height("small"))

    def set_title(self, title: str) -> None:
        """The chat's title."""
        self._title = one_line(title)
        self.setAccessibleName(tr("Review changes of {title}", title=self._title))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        first, second = theme.line_height("heading"), theme.line_height("small")
        top = (self.height() - first - second) / 2
        draw_text(painter, theme, QRectF(0, top, self.width(), first), tr("Review changes"), style="heading")
        box = QRectF(0, top + first, self.width(), second)
        draw_text(painter, theme, box, self._title, style="small", token="text.tertiary")


class ListHead(QWidget):
    """ "7 files" and the sums of their counts."""

    def __init__(self, hub: ThemeHub, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self._entries: Sequence[FileEntry] = ()
        hub.changed.connect(self._themed)
        self._themed()

    def _themed(self) -> None:
        self.setFixedHeight(self._hub.theme.size("row-group"))
        self.update()

    def set_entries(self, entries: Sequence[FileEntry]) -> None:
        """What is counted."""
        self._entries = entries
        self.setAccessibleName(tr_n("{n} file", "{n} files", len(entries)))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._entries:
            return
        theme = self._hub.theme
        painter = QPainter(self)
        box = QRectF(16, 2, self.width() - 32, self.height() - 2)
        text = tr_n("{n} file", "{n} files", len(self._entries))
        draw_text(painter, theme, box, text, style="label", token="text.tertiary")
        counts = totals((entry.added, entry.removed) for entry in self._entries)
        width = counts_width(theme, counts, weight=600)
        draw_counts(painter, theme, counts, QRectF(box.right() - width, box.top(), width, box.height()), weight=600)


class _PathLine(QWidget):
    """Letter, folder and name of the file, copy button, counts; the path is cut in the middle. ``copied()``: the path was."""

    copied = Signal()

    def __init__(self, hub: ThemeHub, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self._entry: FileEntry | None = None
        self._counts = True
        self.copy = IconButton(hub, "copy", tr("Copy path"), parent=self)
        self.copy.clicked.connect(self.copy_path)
        self.copy.hide()
        hub.changed.connect(self.update)

    def show_counts(self, shown: bool) -> None:
        """Whether there is room for them; they are in the list too."""
        self._counts = shown
        self.update()

    @property
    def wanted(self) -> int:
        """How wide it must be for the name of the file, as far as names are of a usual length."""
        if self._entry is None:
            return 0
        theme = self._hub.theme
        name = theme.metrics("code", weight=500).horizontalAdvance(file_name(shown_path(self._entry.path)))
        return round(22 + min(name, _NAME_ROOM * theme.zoom) + 8 + self._tail(self._entry) + 1)

    def _tail(self, entry: FileEntry) -> float:
        """The room after the path: the copy button, the counts or the word in their place."""
        if not self._counts:
            return 24
        theme = self._hub.theme
        counts = counts_width(theme, (entry.added, entry.removed))
        return 24 + 8 + (counts or theme.metrics("small").horizontalAdvance(entry.remark)) + 8

    def set_entry(self, entry: FileEntry | None) -> None:
        """Which file."""
        self._entry = entry
        self.setAccessibleName(entry.name if entry else "")
        self.copy.setVisible(entry is not None)
        self.update()

    def copy_path(self) -> None:
        """Put the path on the clipboard."""
        if self._entry is not None:
            QGuiApplication.clipboard().setText(shown_path(self._entry.path))
            self.copied.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        entry = self._entry
        if entry is None:
            return
        theme = self._hub.theme
        painter = QPainter(self)
        height = self.height()
        draw_letter(painter, theme, entry.letter, QRectF(0, 0, 14, height))
        counts = (entry.added, entry.removed)
        x = 22.0
        room = max(20.0, self.width() - x - 8 - self._tail(entry))
        path = shown_path(entry.path, entry.old_path)
        metrics = theme.metrics("code")
        folder, name = folder_name(path), file_name(path)
        before = f"{folder}/" if folder else ""
        name_width = theme.metrics("code", weight=500).horizontalAdvance(name)
        if metrics.horizontalAdvance(before) + name_width <= room:
            x += draw_text(painter, theme, QRectF(x, 0, room, height), before, style="code", token="text.tertiary", elide=None)
            x += draw_text(painter, theme, QRectF(x, 0, room, height), name, style="code", weight=500, elide=None)
        else:
            draw_path(painter, theme, QRectF(x, 0, room, height), path, style="code")
            x += metrics.horizontalAdvance(fit_path(path, room, metrics.horizontalAdvance))
        self.copy.move(round(x) + 8, (height - self.copy.height()) // 2)
        x += 8 + 24 + 8
        if not self._counts:
            return
        if counts_width(theme, counts):
            draw_counts(painter, theme, counts, QRectF(x, 0, 200, height))
        elif entry.remark:
            draw_text(painter, theme, QRectF(x, 0, 200, height), entry.remark, style="small", token="text.tertiary")


class FileHead(QWidget):
    """What stands above the panes. Signals: ``reviewed(on)``, ``previous_hunk()``, ``next_hunk()``, ``undo_hunk()``,
    ``undo_file()``, ``open_file()``, ``copied(path)``.

    Invariant: what can't be done now is off and says why in its tool tip."""

    reviewed = Signal(bool)
    previous_hunk = Signal()
    next_hunk = Signal()
    undo_hunk = Signal()
    undo_file = Signal()
    open_file = Signal()
    copied = Signal()

    def __init__(self, hub: ThemeHub, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self._entry: FileEntry | None = None
        self._why_no_hunk = ""
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 0, 12, 1)
        row.setSpacing(8)
        self._line = _PathLine(hub, self)
        self._check = QCheckBox(tr("Reviewed"), self)
        self._hunk = _Words(hub, self)
        self._up = IconButton(hub, "arrow-up", tr("Previous hunk"), parent=self)
        self._down = IconButton(hub, "arrow-down", tr("Next hunk"), parent=self)
        self._undo_hunk = Button(hub, tr("Undo hunk"), size="small", icon="undo", parent=self)
        self._undo = Button(hub, tr("Undo file"), size="small", icon="undo", parent=self)
        self._editor = Button(hub, tr("Open in editor"), size="small", icon="external", parent=self)
        self._line.copied.connect(self.copied)
        self._check.clicked.connect(self.reviewed)
        self._up.clicked.connect(self.previous_hunk)
        self._down.clicked.connect(self.next_hunk)
        self._undo_hunk.clicked.connect(self.undo_hunk)
        self._undo.clicked.connect(self.undo_file)
        self._editor.clicked.connect(self.open_file)
        row.addWidget(self._line, 1)
        row.addWidget(self._check)
        row.addSpacing(8)
        hunks = QHBoxLayout()
        hunks.setSpacing(0)
        hunks.addWidget(self._hunk)
        hunks.addWidget(self._up)
        hunks.addWidget(self._down)
        row.addLayout(hunks)
        row.addSpacing(4)
        row.addWidget(self._undo_hunk)
        row.addWidget(self._undo)
        row.addWidget(self._editor)
        hub.changed.connect(self._themed)
        self._themed()
        self.clear()

    @property
    def stops(self) -> tuple[QWidget, ...]:
        """What can have the focus, from left to right."""
        return (
            self._line.copy, self._check, self._up, self._down, self._undo_hunk, self._undo, self._editor,
        )  # fmt: skip

    @property
    def can_undo(self) -> bool:
        """Whether Undo file is on."""
        return self._undo.isEnabled() and not self._undo.isHidden()

    @property
    def can_undo_hunk(self) -> bool:
        """Whether Undo hunk is on."""
        return self._undo_hunk.isEnabled() and not self._undo_hunk.isHidden()

    @property
    def can_mark(self) -> bool:
        """Whether the file can be marked as reviewed."""
        return self._check.isEnabled() and not self._check.isHidden()

    def clear(self) -> None:
        """No file is shown."""
        self._entry = None
        self._line.set_entry(None)
        for widget in (self._undo, self._editor, self._check):
            widget.hide()
        self.set_hunk(-1, 0)

    def set_file(self, entry: FileEntry, *, why_no_undo: str = "", why_no_hunk: str = "", why_no_editor: str = "") -> None:
        """Which file. The reasons switch Undo file, Undo hunk (also without hunks) and Open in editor off."""
        self._entry = entry
        self._line.set_entry(entry)
        path = shown_path(entry.path)
        self._why_no_hunk = why_no_undo or why_no_hunk
        for button, why, name in (
            (self._undo, why_no_undo, tr("Undo the changes in {path}", path=path)),
            (self._undo_hunk, self._why_no_hunk, tr("Undo the current hunk in {path}", path=path)),
            (self._editor, why_no_editor, tr("Open {path} in its editor", path=path)),
        ):
            button.setEnabled(not why)
            button.setToolTip(plain_tip(why or name))
            button.setAccessibleName(name)
        self._check.setAccessibleName(tr("Reviewed: {path}", path=path))
        self._undo.show()
        self._check.show()
        self._fit()

    def copy_path(self) -> None:
        """Put the path of the file on the clipboard."""
        self._line.copy_path()

    def set_counts(self, entry: FileEntry) -> None:
        """Counts of the diff that is shown now."""
        self._entry = entry
        self._line.set_entry(entry)
        self._fit()

    def set_mark(self, mark: Mark, *, possible: bool) -> None:
        """Whether the file is reviewed, and whether that can be said of it."""
        self._check.setChecked(mark is Mark.REVIEWED)
        self._check.setEnabled(possible)
        why = "" if possible else tr("Its content is not known, so nobody could tell whether it changed again.")
        self._check.setToolTip(plain_tip(why))

    def set_hunk(self, index: int, count: int, *, before: bool = False, after: bool = False) -> None:
        """Which hunk is current, from 0; -1 without hunks. ``before``, ``after``: the review goes on in another file."""
        text = tr("Hunk {n} of {count}", n=index + 1, count=count) if index >= 0 else ""
        self._hunk.set_text(text)
        for widget in (self._up, self._down):
            widget.setVisible(self._entry is not None)
        self._undo_hunk.setVisible(count > 0)
        self._up.setEnabled(index > 0 or before)
        self._down.setEnabled(0 <= index < count - 1 or after)
        self._undo_hunk.setEnabled(index >= 0 and not self._why_no_hunk)
        self._fit()

    def _themed(self) -> None:
        theme = self._hub.theme
        self.setFixedHeight(theme.size("file-head"))
        self._check.setFont(theme.font("small"))
        ink(self._check, theme, "text.secondary")
        self._fit()
        self.update()

    def _fit(self) -> None:
        """Where there is little room the buttons of the file say less, one after the other; their names stay."""
        fewer = 0
        self._say(fewer)
        while fewer < _NO_EDITOR and self._wanted(fewer) > self.width():
            fewer += 1
            self._say(fewer)
        self._hunk.setVisible(bool(self._hunk.text) and fewer < _NO_HUNK)
        self._editor.setVisible(self._entry is not None and fewer < _NO_EDITOR)
        for widget in (self._editor, self._undo, self._undo_hunk, self._check):
            widget.updateGeometry()

    def _say(self, fewer: int) -> None:
        """The words, so many steps shorter."""
        self._editor.setText(tr("Open in editor") if not fewer else "")
        self._undo.setText(tr("Undo file") if fewer < _SHORT else tr("File"))
        self._undo_hunk.setText(tr("Undo hunk") if fewer < _SHORT else tr("Hunk"))
        self._check.setText(tr("Reviewed") if fewer <= _SHORT else "")
        self._line.show_counts(fewer < _NO_COUNTS)

    def _wanted(self, fewer: int) -> int:
        row = self.layout()
        assert row is not None
        margins = row.contentsMargins()
        shown = [one for one in (self._check, self._undo_hunk, self._undo) if not one.isHidden()]
        shown += [self._editor] if self._entry is not None and fewer < _NO_EDITOR else []
        hunks: list[QWidget] = [one for one in (self._up, self._down) if not one.isHidden()]
        if self._hunk.text and fewer < _NO_HUNK:
            hunks.append(self._hunk)
        wide = sum(one.sizeHint().width() + 8 for one in shown) + sum(max(one.width(), one.sizeHint().width()) for one in hunks)
        return self._line.wanted + margins.left() + margins.right() + wide + 8 + 8 + 8 + 4

    # Qt's names below.

    def minimumSizeHint(self) -> QSize:
        return QSize(_LEAST, super().minimumSizeHint().height())  # the words that are on it now can go

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._hub.theme.color("bg.surface"))
        painter.fillRect(QRectF(0, self.height() - 1, self.width(), 1), self._hub.theme.color("line.hair"))


class _Words(QWidget):
    """A few words in small secondary text."""

    def __init__(self, hub: ThemeHub, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self._text = ""
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        hub.changed.connect(self._fit)

    @property
    def text(self) -> str:
        """What it says."""
        return self._text

    def set_text(self, text: str) -> None:
        """Say something else."""
        self._text = text
        self.setAccessibleName(text)
        self._fit()

    def _fit(self) -> None:
        self.setFixedSize(round(self._hub.theme.metrics("small").horizontalAdvance(self._text)) + 6, 24)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        draw_text(
            QPainter(self),
            self._hub.theme,
            QRectF(self.rect()),
            self._text,
            style="small",
            token="text.secondary",
            elide=None,
        )
