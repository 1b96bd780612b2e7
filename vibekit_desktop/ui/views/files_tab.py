"""The Files tab of the inspector: every file that the chat changed, as a list or a tree, with Diff and Undo beside each.

Paints a `FilesTreeModel` and emits intents. In the tree Right opens a folder and Left closes it. UI thread only.
"""

from collections.abc import Callable, Mapping

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QPainter
from PySide6.QtWidgets import QHBoxLayout, QMenu, QStackedWidget, QStyle, QStyleOptionViewItem, QVBoxLayout, QWidget

from vibekit_desktop.core.types.ids import WorkspacePath
from vibekit_desktop.ui.models.files_tree import TREE_ROLE, FileButton, FilesTreeModel, TreeRow
from vibekit_desktop.ui.models.timeline_rows import NOW, START
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import Theme, ThemeHub
from vibekit_desktop.ui.theme.style import focus_ring, rounded
from vibekit_desktop.ui.views import row_keys
from vibekit_desktop.ui.views.blank import Blank, Skeleton
from vibekit_desktop.ui.views.button_list import Aim, ButtonDelegate, ButtonList
from vibekit_desktop.ui.views.controls import draw_icon
from vibekit_desktop.ui.views.fields import SearchField
from vibekit_desktop.ui.views.row_keys import add_action, keys_of
from vibekit_desktop.ui.views.row_paint import (
    LETTER_WIDTH,
    counts_width,
    draw_counts,
    draw_icon_button,
    draw_letter,
    draw_path,
    draw_text,
    text_width,
)
from vibekit_desktop.ui.views.segments import Segment, Segments
from vibekit_desktop.ui.wording import shown_path

_LEFT, _RIGHT, _STEP = 8, 8, 16
_PATH_LEAST = 120
"""A name keeps so much room before it is said who wrote the file."""
_BATCH = 300
_LIST, _TREE = 0, 1


class TreePlaces:
    """The places in the rows of one view. Invariant: they follow from the row and the theme alone."""

    def __init__(self, hub: ThemeHub) -> None:
        self._hub = hub

    def body(self, row: TreeRow, box: QRectF) -> QRectF:
        """The part that is tinted and takes clicks."""
        return box.adjusted(_LEFT, 0, -_RIGHT, 0)

    def start(self, row: TreeRow, box: QRectF) -> float:
        """Where the chevron or the letter stands."""
        indent = round(_STEP * max(1.0, self._hub.theme.zoom))
        most = max(0, round(box.width() / 3) // indent)
        return box.left() + _LEFT + 6 + min(row.depth, most) * indent

    def buttons(self, row: TreeRow, box: QRectF) -> list[tuple[FileButton, QRectF]]:
        """Where the row's buttons are."""
        side = self._hub.theme.size("icon-button")
        y = box.top() + (box.height() - side) / 2
        if row.file is None:
            return [(FileButton.TOGGLE, self.body(row, box))]
        right = box.right() - _RIGHT
        return [
            (FileButton.DIFF, QRectF(right - 2 * side, y, side, side)),
            (FileButton.UNDO, QRectF(right - side, y, side, side)),
        ]


class TreeDelegate(ButtonDelegate):
    """Paints `TreeRow`s."""

    def __init__(self, hub: ThemeHub, model: FilesTreeModel) -> None:
        super().__init__()
        self._hub = hub
        self._model = model
        self.places = TreePlaces(hub)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        row = index.data(TREE_ROLE)
        if not isinstance(row, TreeRow):
            return
        theme, box, number = self._hub.theme, QRectF(option.rect), index.row()
        state: QStyle.StateFlag = option.state
        body = self.places.body(row, box)
        painter.save()
        token = ""
        if state & QStyle.StateFlag.State_Selected:
            token = "bg.selected" if state & QStyle.StateFlag.State_Active else "bg.selected-inactive"
        elif self.hover.row == number:
            token = "bg.hover"
        if token:
            rounded(painter, body, theme.radius("small"), fill=theme.color(token))
        line = QRectF(self.places.start(row, box), box.top(), 0, box.height())
        line.setRight(body.right() - 8)
        if row.file is None:
            self._folder(painter, theme, row, line)
        else:
            self._file(painter, theme, row, line, box, number)
        if self.focus.row == number:
            buttons = dict(self.places.buttons(row, box))
            place = next((where for which, where in buttons.items() if which is self.focus.button), body)
            focus_ring(painter, theme, place, theme.radius("small"))
        painter.restore()

    def _folder(self, painter: QPainter, theme: Theme, row: TreeRow, line: QRectF) -> None:
        middle = round(line.center().y())
        draw_icon(
            painter, theme, "chevron-down" if row.open else "chevron-right", "text.secondary", line.left(), middle - 7, 14
        )
        icon = "folder-open" if row.open else "folder"
        draw_icon(painter, theme, icon, "text.secondary", line.left() + 20, middle - 7, 14)
        width = counts_width(theme, row.counts)
        right = line.right() - width
        draw_counts(painter, theme, row.counts, QRectF(right, line.top(), width, line.height()))
        count = f"{row.count:,}"
        right -= (text_width(theme, "small", count) + 12) if width else text_width(theme, "small", count)
        draw_text(painter, theme, QRectF(right, line.top(), 80, line.height()), count, style="small", token="text.tertiary")
        left = line.left() + 40
        name = QRectF(left, line.top(), right - 8 - left, line.height())
        draw_path(painter, theme, name, row.title, token="text.secondary")

    def _file(self, painter: QPainter, theme: Theme, row: TreeRow, line: QRectF, box: QRectF, number: int) -> None:
        file = row.file
        if file is None:
            return
        letter = file.letter or "·"
        draw_letter(painter, theme, letter, QRectF(line.left(), line.top(), LETTER_WIDTH, line.height()), faded=file.is_back)
        right = line.right()
        for button, place in self.places.buttons(row, box):
            aim = Aim(number, button)
            on = not self._model.why_off(row, button)
            icon = "diff" if button is FileButton.DIFF else "undo"
            draw_icon_button(painter, theme, icon, place, hovered=self.hover == aim, pressed=self.down == aim, enabled=on)
            right = min(right, place.left())
        right -= 8
        width = counts_width(theme, row.counts)
        if width:
            draw_counts(painter, theme, row.counts, QRectF(right - width, line.top(), width, line.height()))
            right -= width + 8
        elif file.remark:
            right = self._words(painter, theme, file.remark, right, line)
        if file.conflict:
            draw_icon(painter, theme, "conflict", "warning.text", right - 14, round(line.center().y()) - 7, 14)
            right -= 22
        left = line.left() + LETTER_WIDTH + 8
        least = min(_PATH_LEAST * max(1.0, theme.zoom), text_width(theme, "body", row.title))
        room = right - left - least - 8
        if file.by and room >= min(text_width(theme, "small", file.by), 48 * theme.zoom):
            right = self._words(painter, theme, file.by, right, line, most=room)
        path = QRectF(left, line.top(), right - left, line.height())
        draw_path(painter, theme, path, row.title, token="text.tertiary" if file.is_back else "text.primary")

    def _words(self, painter: QPainter, theme: Theme, text: str, right: float, line: QRectF, *, most: float = 400.0) -> float:
        """Small words that end at ``right``; returns where what is left of them may end."""
        width = min(most, text_width(theme, "small", text))
        box = QRectF(right - width, line.top(), width + 1, line.height())
        draw_text(painter, theme, box, text, style="small", token="text.tertiary")
        return right - width - 8

    # Qt's names below.

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(100, self._hub.theme.size("row-file"))


class FilesView(ButtonList[TreeRow, FileButton]):
    """The rows. Signals: ``diff_requested(path)``, ``undo_requested(path)``, ``editor_requested(path, state)``,
    ``writers_requested(path)``."""

    diff_requested = Signal(object)
    undo_requested = Signal(object)
    editor_requested = Signal(object, object)
    writers_requested = Signal(object)

    def __init__(self, hub: ThemeHub, model: FilesTreeModel, parent: QWidget | None = None) -> None:
        self._delegate = TreeDelegate(hub, model)
        places = self._delegate.places
        super().__init__(hub, model, model, places, self._delegate, name=tr("Changed files"), batch=_BATCH, parent=parent)
        self._model = model
        self.setUniformItemSizes(True)
        self.button_pressed.connect(self._pressed)

    def _pressed(self, number: int, button: FileButton) -> None:
        row = self._model.row_at(number)
        if button is FileButton.TOGGLE:
            self._model.toggle(number)
        elif row is not None and row.path is not None:
            (self.diff_requested if button is FileButton.DIFF else self.undo_requested).emit(row.path)

    # What `ButtonList` asks.

    def steps_out(self, number: int, row: TreeRow, step: int) -> None:
        """Right opens a folder; Left closes it, or goes to the folder that the row is in."""
        if row.file is None and row.open is (step < 0):
            self.act(number, FileButton.TOGGLE)
        elif step < 0 and (above := self._model.parent_of(number)) >= 0:
            self.setCurrentIndex(self._model.index(above))

    def is_open(self, row: TreeRow) -> bool | None:
        """Whether what is in a folder is shown."""
        return row.open if row.file is None else None

    @property
    def is_tree(self) -> bool:
        """Whether folders are rows of their own."""
        return self._model.as_tree

    def row_actions(self, number: int, row: TreeRow) -> Mapping[str, Callable[[], None]]:
        """What the keys for rows do here."""
        file = row.file
        if file is None:
            return {}
        return {
            row_keys.UNDO: lambda: self.act(number, FileButton.UNDO),
            row_keys.COPY_PATH: lambda: _copy(file.path),
            row_keys.EDITOR: lambda: self.editor_requested.emit(file.path, file.after),
        }

    def other_key(self, number: int, row: TreeRow, event: QKeyEvent) -> bool:
        """Space opens and closes a folder."""
        if event.key() != Qt.Key.Key_Space or row.file is not None:
            return False
        self.act(number, FileButton.TOGGLE)
        return True

    def tip(self, row: TreeRow) -> str:
        """The whole path and who wrote it last."""
        if row.file is None:
            return shown_path(row.folder)
        by = tr("Last written by: {who}", who=row.file.by) if row.file.by else ""
        return "\n".join(part for part in (shown_path(row.file.path, row.file.old_path), by) if part)

    def button_tip(self, row: TreeRow, button: FileButton) -> str:
        """A folder's row says what it is, not what a press does."""
        return self.tip(row) if button is FileButton.TOGGLE else super().button_tip(row, button)

    def menu(self, number: int, row: TreeRow) -> QMenu | None:
        """The menu of a file, or of a folder."""
        menu, theme, file = QMenu(self), self.hub.theme, row.file
        if file is None:
            text = tr("Hide files") if row.open else tr("Show files")
            add_action(menu, theme, "", text, tr("Space")).triggered.connect(lambda: self.act(number, FileButton.TOGGLE))
            return menu
        add_action(menu, theme, "diff", tr("Show diff"), tr("Enter")).triggered.connect(
            lambda: self.act(number, FileButton.DIFF)
        )
        undo = add_action(menu, theme, "undo", tr("Put back to the start of the chat"), keys_of(row_keys.UNDO))
        undo.setEnabled(not self._model.why_off(row, FileButton.UNDO))
        undo.triggered.connect(lambda: self.act(number, FileButton.UNDO))
        menu.addSeparator()
        opening = add_action(menu, theme, "external", tr("Open in editor"), keys_of(row_keys.EDITOR))
        opening.triggered.connect(lambda: self.editor_requested.emit(file.path, file.after))
        copying = add_action(menu, theme, "copy", tr("Copy path"), keys_of(row_keys.COPY_PATH))
        copying.triggered.connect(lambda: _copy(file.path))
        writers = add_action(menu, theme, "chat", tr("Every chat that changed it"))
        writers.triggered.connect(lambda: self.writers_requested.emit(file.path))
        return menu


def _copy(path: WorkspacePath) -> None:
    QGuiApplication.clipboard().setText(shown_path(path))


class FilesTab(QWidget):
    """The filter, the switch between list and tree, and the rows. Signals: ``diff_requested(path, old point, new point)``,
    ``undo_file_requested(path, point)``; ``layout_chosen(as tree)``: a person chose."""

    diff_requested = Signal(object, object, object)
    undo_file_requested = Signal(object, object)
    layout_chosen = Signal(bool)

    def __init__(self, hub: ThemeHub, model: FilesTreeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.list = FilesView(hub, model, self)
        self.filter = SearchField(hub, tr("Filter files"), self)
        self.filter.textChanged.connect(self._filtered)
        self.layout_switch = Segments(hub, [Segment(tr("List")), Segment(tr("Tree"))], name=tr("Show files as"), parent=self)
        self.layout_switch.chosen.connect(self._choose_layout)
        self._blank = Blank(hub, self)
        self._skeleton = Skeleton(hub, self, row=28)
        self._stack = QStackedWidget(self)
        for widget in (self.list, self._blank, self._skeleton):
            self._stack.addWidget(widget)
        head = QHBoxLayout()
        head.setContentsMargins(12, 0, 12, 0)
        head.setSpacing(8)
        head.addWidget(self.filter, 1)
        head.addWidget(self.layout_switch)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 8, 0, 0)
        layout.setSpacing(8)
        layout.addLayout(head)
        layout.addWidget(self._stack, 1)
        self.list.diff_requested.connect(lambda path: self.diff_requested.emit(path, START, NOW))
        self.list.undo_requested.connect(lambda path: self.undo_file_requested.emit(path, START))

    @property
    def as_tree(self) -> bool:
        """Whether folders are rows of their own."""
        return self._model.as_tree

    def set_tree(self, as_tree: bool) -> None:
        """As a tree, or as a list."""
        self.layout_switch.set_index(_TREE if as_tree else _LIST)
        self._model.set_tree(as_tree)
        self.show_rows()

    def _choose_layout(self, number: int) -> None:
        self.set_tree(number == _TREE)
        self.layout_chosen.emit(number == _TREE)

    def show_loading(self) -> None:
        """The files are not known yet; nothing for 200 ms, then a skeleton."""
        self._skeleton.begin()
        self._stack.setCurrentWidget(self._skeleton)

    def show_rows(self) -> None:
        """The rows, or why there are none."""
        self._skeleton.end()
        if self._model.rowCount():
            self._stack.setCurrentWidget(self.list)
            return
        if self._model.files:
            self._blank.say("search", tr("Nothing found for “{text}”", text=self.filter.text()), "")
        else:
            text = tr("When a turn changes files, they appear here with Diff and Undo.")
            self._blank.say("file", tr("No changes yet"), text)
        self._stack.setCurrentWidget(self._blank)

    def _filtered(self, text: str) -> None:
        self._model.set_filter(text)
        self.show_rows()
