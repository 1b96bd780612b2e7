"""Show a chat's transcript and say what the person wants of it. Paints a model, emits intents; links are reported, never
opened here. UI thread only.

Following the model is `views.transcript_list`'s, choosing text `views.select_list`'s, pointer and keyboard `views.hit_list`'s,
laying out `views.block_list`'s.
"""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QMimeData, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QKeyEvent, QKeySequence, QPainter, QResizeEvent
from PySide6.QtWidgets import QMenu, QWidget

from vibekit_desktop.core.types.chats import Message
from vibekit_desktop.ui.models.block_words import spoken
from vibekit_desktop.ui.models.blocks import AnswerBlock, CardsBlock, ThinkingBlock, UserBlock, conflict_key
from vibekit_desktop.ui.models.copying import Copying
from vibekit_desktop.ui.models.transcript import TranscriptModel
from vibekit_desktop.ui.models.transcript_find import Place
from vibekit_desktop.ui.models.transcript_rows import Key, Kind
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.theme.style import rounded
from vibekit_desktop.ui.views.answer import AnswerView
from vibekit_desktop.ui.views.block_view import Hit, TextView
from vibekit_desktop.ui.views.diff_steps import Steps
from vibekit_desktop.ui.views.text_places import Ground
from vibekit_desktop.ui.views.transcript_find import FindInChat
from vibekit_desktop.ui.views.transcript_list import TranscriptList

_FOLDS = ("card", "fold", "conflict")
_MOST_BACKS = 20
"""A menu that takes back one file each has so many entries at most: of more files each has its button, and the review all."""
_NO_MESSAGE = (Kind.BRANCH, Kind.EARLIER, Kind.WORKING)
_EXPLAINED = frozenset(
    {"restore", "branch", "diff", "undo", "redo", "copy", "review", "link", "file", "chat", "earlier", "stop", "off"}
)
_EXPLAINED_TOO = frozenset({"conflict", "conflicts", "settle"})


class TranscriptView(TranscriptList):
    """The list. Signals: ``restore_requested`` and ``branch_requested`` (turn), ``diff_requested`` and ``undo_requested``
    (path, turn), ``redo_requested`` (nothing: the newest undo is the file's, and is to be taken back), ``review_requested``
    (turn), ``open_chat_requested`` (chat id), ``link_requested`` (address),
    ``file_requested`` (path in the workspace), ``stop_command_requested`` (tool call id), ``edit_requested`` (the words of a
    message, to be written anew), ``conflict_pressed`` (`ConflictCard`, `CardButton`), ``conflicts_requested``, ``copied`` and
    ``earlier_requested`` (nothing), and ``colours_wanted`` (key, file name, lines), which `set_colours` answers. ``finding`` is
    the bar to find a text; its signals are answered by whoever reads chats.
    """

    restore_requested = Signal(int)
    branch_requested = Signal(int)
    diff_requested = Signal(str, int)
    undo_requested = Signal(str, int)
    redo_requested = Signal()
    review_requested = Signal(int)
    open_chat_requested = Signal(str)
    link_requested = Signal(str)
    file_requested = Signal(str)
    stop_command_requested = Signal(str)
    edit_requested = Signal(str)
    conflict_pressed = Signal(object, object)
    conflicts_requested = Signal()
    copied = Signal()
    earlier_requested = Signal()

    _found: tuple[Key, int] | None = None
    """The row of the place that was gone to, and which place of the row it is."""

    def __init__(self, hub: ThemeHub, model: TranscriptModel, parent: QWidget | None = None) -> None:
        super().__init__(hub, model, parent)
        self._copying = Steps(self)
        self.finding = FindInChat(hub, self, self)
        self.finding.closed.connect(self._find_closed)
        model.modelReset.connect(self.finding.start_over)
        model.rowsInserted.connect(self.finding.news)
        model.earlier_came.connect(self.finding.loaded)
        hub.changed.connect(self._place_find)

    @property
    def turn_in_focus(self) -> int:
        """The turn of the block that the keyboard is on, or that was pressed last, while it is in sight and the transcript has
        the focus; else 0."""
        row = self._current
        if not self.hasFocus() or not 0 <= row < self.count:
            return 0
        below = self.row_top(row + 1) if row + 1 < self.count else self.viewport().height()
        in_sight = self.row_top(row) < self.viewport().height() and below > 0
        return self._model.turn_of(row) if in_sight else 0

    def words(self, row: int) -> str:
        return spoken(self._model.block(row))

    def explains(self, hit: Hit) -> bool:
        return hit.action in _EXPLAINED or hit.action in _EXPLAINED_TOO

    # Menus

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        row = self._hit_at(QPointF(event.pos()))[0] if event.reason() is QContextMenuEvent.Reason.Mouse else self._current
        if row >= 0:
            menu = self.block_menu(row)
            if menu.actions():
                menu.popup(event.globalPos())

    def block_menu(self, row: int) -> QMenu:
        """What can be done with a block, as a menu; a fresh one at every call."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if self.chosen_in(row) is not None:
            menu.addAction(tr("Copy what is chosen"), self.copy_selection)
            menu.addAction(tr("Copy it as Markdown"), lambda: self.copy_selection(as_markdown=True))
            menu.addSeparator()
        view, block = self.lay_out(row), self._model.block(row)
        if view.copy_text.strip():
            menu.addAction(tr("Copy"), lambda: self._copy(view.copy_text))
        if isinstance(block, UserBlock):
            menu.addAction(tr("Edit in the composer"), lambda: self.edit_requested.emit(block.text))
        backs = sum(hit.action in ("undo", "redo") for hit in view.hits)
        for hit in view.hits:
            match hit.action:
                case "restore":
                    menu.addAction(tr("Restore to before this turn…"), self._later(hit))
                case "branch":
                    menu.addAction(tr("Branch from here"), self._later(hit))
                case "review":
                    menu.addAction(tr("Review changes"), self._later(hit))
                case "undo" | "redo" if backs <= _MOST_BACKS:
                    menu.addAction(hit.name.replace("&", "&&"), self._later(hit))
        return menu

    def _later(self, hit: Hit) -> Callable[[], None]:
        return lambda: self.do(hit)

    # What a press does

    def do(self, hit: Hit) -> None:
        match hit.action:
            case "card" | "fold" | "conflict":
                self.toggle(hit.text)
            case "copy":
                self._copy(hit.text)
            case "restore":
                self.restore_requested.emit(hit.number)
            case "branch":
                self.branch_requested.emit(hit.number)
            case "review":
                self.review_requested.emit(hit.number)
            case "diff":
                self.diff_requested.emit(hit.text, hit.number)
            case "undo":
                self.undo_requested.emit(hit.text, hit.number)
            case "redo":
                self.redo_requested.emit()
            case "chat":
                self.open_chat_requested.emit(hit.text)
            case "earlier":
                self.earlier_requested.emit()
            case "link":
                self.link_requested.emit(hit.text)
            case "file":
                self.file_requested.emit(hit.text)
            case "stop":
                self.stop_command_requested.emit(hit.text)
            case "settle":
                card = self._model.conflict(hit.text)
                if card is not None and hit.number < len(card.buttons):
                    self.conflict_pressed.emit(card, card.buttons[hit.number])
            case "conflicts":
                self._show_conflict(hit.text, hit.number)

    def _show_conflict(self, key: str, turn: int) -> None:
        """Open the note of a conflict where the file was changed; where no card says so, whoever lists them is asked."""
        for row in range(self.count):
            if self._model.kind(row) == Kind.CARDS and self._model.turn_of(row) == turn:
                block = self._model.block(row)
                cards = block.cards if isinstance(block, CardsBlock) else ()
                notes = [note for card in cards for note in (card.conflict, *(file.conflict for file in card.files))]
                if any(note is not None and conflict_key(note) == key for note in notes):
                    self._opened.add(key)
                    self.drop_rows(row, row)
                    self._show_hit(row, "settle", key)
                    return
        self.conflicts_requested.emit()

    def _show_hit(self, row: int, action: str, text: str) -> None:
        self.hold_still()
        if self.lay_out(row) and not 0 <= self.row_top(row) < self.viewport().height():
            self.scroll_to_row(row)
        box = next((hit.box for hit in self.lay_out(row).hits if (hit.action, hit.text) == (action, text)), None)
        if box is not None:
            self.show_part(row, box)

    # The clipboard

    def _copy(self, text: str) -> None:
        # Half a surrogate pair cannot be put on the clipboard.
        QGuiApplication.clipboard().setText(text.encode("utf-8", "replace").decode("utf-8"))
        self.copied.emit()

    def copy_selection(self, *, as_markdown: bool = False) -> None:
        """Put what is chosen on the clipboard, as words and as Markdown, or only as Markdown; without a choice the block that
        the keyboard is on."""
        found = self.selection
        if found is None:
            if self._current >= 0:
                self._copy(self.lay_out(self._current).copy_text)
            return
        first, last = found
        parts = {row: self._part_of(row) for row in {first.row, last.row}}
        gathered = Copying(self._model.kinds(), self._model.block, first.row, last.row, parts.get)

        def put() -> None:
            data = QMimeData()
            words = gathered.markdown if as_markdown else gathered.text
            data.setText(words.encode("utf-8", "replace").decode("utf-8"))
            data.setData("text/markdown", gathered.markdown.encode("utf-8", "replace"))
            QGuiApplication.clipboard().setMimeData(data)
            self.copied.emit()

        self._copying.start(gathered.gather(), put)

    def _part_of(self, row: int) -> str | None:
        """What is chosen of a row at one end; None if it is all of it."""
        part, length = self.chosen_in(row), self.length(row)
        if part is None:
            return ""
        start, end = part[0], length if part[1] < 0 else part[1]
        if start == 0 and end >= length:
            return None
        view = self.lay_out(row)
        return view.text[start:end] if isinstance(view, TextView) else ""

    # Find

    def loaded_messages(self) -> tuple[Sequence[Message], int]:
        """What the find bar looks through."""
        return self._model.messages, self._model.first_loaded

    def message_in_sight(self) -> int:
        """The index of the message at the top."""
        for row in range(self.top_row, self.count):
            kind, message, _, _ = self._model.key(row)
            if Kind(kind) not in _NO_MESSAGE:
                return message
        return 0

    def show_place(self, place: Place) -> bool:
        """Bring a place of the find bar into sight; False if its message is not loaded."""
        if place.message < self._model.first_loaded:
            return False
        row, nth = self._row_of(place)
        if row < 0:
            return True
        self._found = (self._model.key(row), nth)
        name = self.name_of(row)
        if self._model.kind(row) == Kind.THINKING and name not in self._opened:
            self._opened.add(name)
            self.drop_rows(row, row)
        self.hold_still()
        self._current, self._button = row, -1
        view = self.lay_out(row)
        top = self.row_top(row)
        if top < 0 or top + self.heights[row] > self.viewport().height():
            self.scroll_to_row(row)
        spans = self._spans(view)
        if isinstance(view, TextView) and spans:
            box = view.box_of(spans[min(nth, len(spans) - 1)][0])
            self._bring_sideways(row, view, box)
            self.show_part(row, box)
        return True

    def _row_of(self, place: Place) -> tuple[int, int]:
        """The row of a place and which one it is there; -1 if there is none."""
        pattern, nth, last = self.finding.pattern, place.nth, -1
        for row in self._model.rows_of_message(place.message):
            kind, _, first, end = self._model.key(row)
            if kind in (Kind.CHECKPOINT, Kind.FOOTER, Kind.PLAN) or pattern is None:
                continue
            inside = first == place.block if end < 0 or kind != Kind.CARDS else first <= place.block <= end
            if not (inside or kind in (Kind.USER, Kind.EVENT)):
                continue
            block = self._model.block(row)
            last = row
            if not isinstance(block, AnswerBlock | ThinkingBlock):
                return row, nth
            times = pattern.times(block.text)
            if nth < times:
                return row, nth
            nth -= times
        return last, 0

    def _spans(self, view: object) -> list[tuple[int, int]]:
        pattern = self.finding.pattern
        return pattern.spans(view.text) if pattern is not None and isinstance(view, TextView) else []

    def _bring_sideways(self, row: int, view: object, box: QRectF) -> None:
        """A place far to the right in code is brought under the eyes."""
        if not isinstance(view, AnswerView) or 0 <= box.x() <= self.column_width() - 24:
            return
        for key, place, most in view.code:
            if place.top() <= box.center().y() <= place.bottom():
                by = round(box.x() - self.column_width() / 2)
                self._shifts[key] = min(max(0, self._shifts.get(key, 0) + by), most)
                self.drop_rows(row, row)

    def marks(self, row: int) -> Sequence[Ground]:
        spans = self._spans(self.views.get(row)) if not self.finding.isHidden() else []
        current = self._found[1] if self._found is not None and spans and self._model.key(row) == self._found[0] else -1
        current = min(current, len(spans) - 1)
        return [
            Ground(start, end, "find.hit-current" if number == current else "find.hit")
            for number, (start, end) in enumerate(spans)
        ]

    def marks_changed(self) -> None:
        """Other places are to be marked."""
        if self.finding.place is None:
            self._found = None
        self._place_find()
        self.viewport().update()

    def paint_over(self, painter: QPainter, row: int, box: QRectF) -> None:
        super().paint_over(painter, row, box)
        if self._found is not None and self._found[0] == self._model.key(row) and self._model.kind(row) == Kind.CARDS:
            theme = self.hub.theme
            rounded(painter, box.adjusted(-2, -2, 2, 2), theme.radius("card"), line=theme.color("find.hit-current"))

    def open_find(self) -> None:
        """Open the bar to find a text; what is chosen on one line is looked for."""
        found = self.selection
        words = ""
        if found is not None and found[0].row == found[1].row:
            words = self._part_of(found[0].row) or ""
        self.finding.show()
        self._place_find()
        self.finding.open(words if 0 < len(words) <= 200 and "\n" not in words else "")

    def _find_closed(self) -> None:
        self._place_find()
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def _place_find(self) -> None:
        height = 0 if self.finding.isHidden() else self.finding.sizeHint().height()
        if self.viewportMargins().top() != height:
            self.setViewportMargins(0, height, 0, 0)
        self.finding.setGeometry(0, 0, self.width(), height)
        self.finding.raise_()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_find()

    # Keyboard

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, modifiers = Qt.Key(event.key()), event.modifiers()
        up_down = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(key, 0)
        sideways = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(key, 0)
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_selection()
        elif event.matches(QKeySequence.StandardKey.Find):
            self.open_find()
        elif event.matches(QKeySequence.StandardKey.FindNext):
            self.find_next(1)
        elif event.matches(QKeySequence.StandardKey.FindPrevious):
            self.find_next(-1)
        elif modifiers & Qt.KeyboardModifier.AltModifier and up_down:
            self.step_turn(up_down)
        elif modifiers & Qt.KeyboardModifier.ShiftModifier or not self._walk(sideways, up_down):
            super().keyPressEvent(event)

    def _walk(self, sideways: int, up_down: int) -> bool:
        """Left and Right close and open, Up and Down walk inside of a block; False if they do something else here."""
        if sideways:
            return self._open_or_close(opens=sideways > 0)
        return bool(up_down) and self._step_inside(up_down)

    def find_next(self, step: int) -> None:
        """Go to the next place (1) or the one before (-1) of what is looked for; if nothing is, ask for it."""
        if self.finding.isHidden():
            self.open_find()
        else:
            self.finding.step(step)

    def _open_or_close(self, *, opens: bool) -> bool:
        """Open or close what the keyboard is on; False if there is nothing to open or to close."""
        if self._current < 0:
            return False
        hits, at = self.lay_out(self._current).hits, max(0, self._button)
        # On the block itself: what it consists of alone, like a piece of thinking.
        alone = self._model.kind(self._current) in (Kind.THINKING, Kind.EVENT)
        if at >= len(hits) or hits[at].action not in _FOLDS or (self._button < 0 and not alone):
            return False
        if self._is_open(self._current, hits[at].text) == opens:
            return False
        self._ring = True
        self.toggle(hits[at].text)
        self._announce()
        return True

    def _step_inside(self, step: int) -> bool:
        """Inside of a block go to the next line that has something to press; False where it ends."""
        if self._current < 0 or self._button < 0:
            return False
        hits = self.lay_out(self._current).hits
        here = hits[self._button].box if self._button < len(hits) else QRectF()
        if step > 0:
            places = [(hit.box.top(), hit.box.left(), at) for at, hit in enumerate(hits) if hit.box.top() > here.bottom() - 6]
        else:
            places = [(-hit.box.top(), hit.box.left(), at) for at, hit in enumerate(hits) if hit.box.bottom() < here.top() + 6]
        if not places:
            return False
        self._ring, self._button = True, min(places)[2]
        self.show_part(self._current, hits[self._button].box)
        self._announce()
        return True

    def step_turn(self, step: int) -> None:
        """Bring the previous (-1) or next (1) turn to the top."""
        kinds = self._model.kinds()
        row = (self._current if self._current >= 0 else self.top_row) + step
        while 0 <= row < len(kinds):
            if kinds[row] == Kind.CHECKPOINT:
                self.go_to(row)
                return
            row += step
