"""The header over a transcript: title, which agent answers and how, where it works, what can be done. UI thread only."""

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QLineEdit, QMenu, QSizePolicy, QWidget
from shiboken6 import isValid

from vibekit_desktop.core.types.agents import AgentOption, LivePhase, LiveState, OptionKind
from vibekit_desktop.ui.models import usage_words
from vibekit_desktop.ui.text import tr, tr_n
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.tool_tip import plain_tip
from vibekit_desktop.ui.views.controls import Button, IconButton, pressed_by
from vibekit_desktop.ui.views.option_picks import ChipButton, fill_menu, of_kind, value_words
from vibekit_desktop.ui.views.row_paint import draw_text
from vibekit_desktop.ui.visible import one_line, visible_name

_LEFT, _RIGHT, _GAP = 20, 12, 8
_TIGHT = 790
"""In a narrower pane "Review changes" is short in any case: the words are worth less than air."""
_BUTTON_GAP, _CHIP_GAP = 6, 6
_UNDER_CHIPS = 4
_CHIPS_FROM, _TITLE_LINE = 29, 20
_CHIP_CHARS, _NAME_CHARS = 32, 200
_PATH_LEAST = 80
"""A path that is cut shorter says nothing."""


class _PathLabel(QAbstractButton):
    """The workspace's path; a click copies it. ``copied`` has no argument."""

    copied = Signal()

    def __init__(self, hub: ThemeHub, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.clicked.connect(self._copy)
        hub.changed.connect(self.update)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.property("path") or "")
        self.copied.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not pressed_by(self, event):
            super().keyPressEvent(event)

    def sizeHint(self) -> QSize:
        width = self._hub.theme.metrics("small").horizontalAdvance(self.text())
        return QSize(int(width + 2), self._hub.theme.size("chip"))

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        font = theme.font("small")
        painter.setFont(font)
        painter.setPen(theme.color("text.secondary" if self.underMouse() else "text.tertiary"))
        text = theme.metrics("small").elidedText(self.text(), Qt.TextElideMode.ElideMiddle, self.width())
        painter.drawText(QRectF(self.rect()), int(Qt.AlignmentFlag.AlignVCenter), text)


class ChatHeader(QWidget):
    """56 px with a hairline under it. Without an argument: ``review_requested``; ``find_requested``; ``inspector_toggled``;
    ``agents_requested``: the agent was pressed, who else could answer; ``path_copied``. ``picked(option, value)``: a mode or a
    model was chosen; ``menu_wanted(place)``: what can be done with the chat is to open, its right upper corner there;
    ``renamed(name)``: a person typed another title.

    When it gets tight the path goes first, then the model, then "Review changes" becomes "Review", then the mode; the title
    elides last.
    """

    review_requested = Signal()
    inspector_toggled = Signal()
    agents_requested = Signal()
    picked = Signal(str, str)
    find_requested = Signal()
    menu_wanted = Signal(QPoint)
    renamed = Signal(str)
    path_copied = Signal()

    def __init__(self, hub: ThemeHub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self._title = ""
        self._inset = self._room = 0
        self._made_by = self._made_with = ""
        self._live: LiveState | None = None
        self.setFixedHeight(hub.theme.size("header"))
        self.agent = ChipButton(hub, "agent", tr("Agent"), self)
        self.agent.clicked.connect(self.agents_requested)
        self.model = ChipButton(hub, "model", tr("Model"), self)
        self.model.clicked.connect(lambda: self._open(OptionKind.MODEL, self.model))
        self.mode = ChipButton(hub, "shield", tr("Mode"), self)
        self.mode.clicked.connect(lambda: self._open(OptionKind.MODE, self.mode))
        self._path = _PathLabel(hub, self)
        self._path.copied.connect(self.path_copied)
        self.review = Button(hub, tr("Review changes"), icon="review", parent=self)
        self.review.clicked.connect(self.review_requested)
        self.search = IconButton(hub, "search", tr("Find in the chat"), large=True, parent=self)
        self.search.clicked.connect(self.find_requested)
        self.inspector = IconButton(hub, "sidebar-right", tr("Hide inspector"), large=True, parent=self)
        self.inspector.clicked.connect(self.inspector_toggled)
        self.timeline = Button(hub, tr("Timeline"), icon="sidebar-right", parent=self)
        self.timeline.clicked.connect(self.inspector_toggled)
        self.timeline.hide()
        self.more = IconButton(hub, "more", tr("More"), large=True, parent=self)
        self.more.clicked.connect(self.open_menu)
        self._former: QWidget | None = None
        self._renaming = False
        self._field = QLineEdit(self)
        self._field.setMaxLength(_NAME_CHARS)
        self._field.setAccessibleName(tr("Name of the chat"))
        self._field.installEventFilter(self)
        self._field.hide()
        self._narrow = False
        self.review.hide()
        hub.changed.connect(self._themed)

    def _themed(self) -> None:
        self.setFixedHeight(self._hub.theme.size("header"))
        self._place()
        self.update()

    def set_chat(self, title: str, agent: str, model: str, path: str, shown_path: str) -> None:
        """Show another chat. ``shown_path`` is the path as it is written, ``path`` what a click copies."""
        if self._title != one_line(title):
            self._end_renaming(keep=False)  # it was another chat's
        self._title = one_line(title)
        self._made_by, self._made_with = one_line(agent, _CHIP_CHARS), one_line(model, _CHIP_CHARS)
        self._path.setText(visible_name(shown_path))
        self._path.setProperty("path", path)
        self._path.setAccessibleName(tr("Copy the path {path}", path=visible_name(path)))
        self.setAccessibleName(self._title)
        self._show_chips()

    def set_title(self, title: str) -> None:
        """The chat has another name now."""
        self._title = one_line(title)
        self.setAccessibleName(self._title)
        self._place()
        self.update()

    def set_live(self, state: LiveState | None) -> None:
        """Who answers in the chat, and what of that can be chosen; None: nothing is known of it."""
        self._live = state
        self._show_chips()

    def _show_chips(self) -> None:
        live = self._live
        mode, model = self._option(OptionKind.MODE), self._option(OptionKind.MODEL)
        there = live is not None and live.phase is not LivePhase.UNAVAILABLE
        answers = one_line(live.agent, _CHIP_CHARS) if live is not None else ""
        # Of one that is not here only its id may be known; the chat knows what people call it.
        agent = (answers or self._made_by) if there else (self._made_by or answers)
        self.agent.set_text(agent, pressable=there)
        self.agent.setToolTip(plain_tip(usage_words.in_full(live)) if live is not None else "")
        self.model.set_text(value_words(model) if model is not None else self._made_with, pressable=there and _chooses(model))
        self.mode.set_text(value_words(mode) if mode is not None else "", pressable=there and _chooses(mode))
        self._place()
        self.update()

    def _option(self, kind: OptionKind) -> AgentOption | None:
        return of_kind(self._live.options, kind) if self._live is not None else None

    def menu(self, kind: OptionKind) -> QMenu:
        """The menu of a chip; a fresh one at every call."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        option = self._option(kind)
        if option is not None:
            fill_menu(menu, option, self.picked.emit)
        return menu

    def _open(self, kind: OptionKind, chip: QWidget) -> None:
        self.menu(kind).popup(chip.mapToGlobal(QPoint(0, chip.height() + 4)))

    def open_menu(self) -> None:
        """Ask for what can be done with the chat, under its button."""
        self.menu_wanted.emit(self.more.mapToGlobal(QPoint(self.more.width(), self.more.height() + 4)))

    # Another title, typed in place

    def rename(self) -> None:
        """Let a person type another title."""
        if not self._title or self._renaming:
            return
        self._renaming = True
        self._former = QApplication.focusWidget()
        self._field.setText(self._title)
        self._field.selectAll()
        self._field.show()
        self._place()
        self._field.setFocus(Qt.FocusReason.ShortcutFocusReason)

    @property
    def is_renaming(self) -> bool:
        """Whether a title is being typed."""
        return self._renaming

    def _end_renaming(self, *, keep: bool) -> None:
        if not self.is_renaming:
            return
        name = " ".join(self._field.text().split())
        self._renaming = False  # what has the focus next does not end it a second time
        former, self._former = self._former, None
        if self._field.hasFocus() and former is not None and isValid(former) and former.isVisible():
            former.setFocus(Qt.FocusReason.OtherFocusReason)
        self._field.hide()
        if keep and name and name != self._title:
            self.renamed.emit(name)
        self.update()

    def set_changed(self, count: int) -> None:
        """How many files the chat changed; without any there is nothing to review."""
        self.review.setAccessibleDescription(tr_n("{n} file changed", "{n} files changed", count) if count else "")
        self.review.set_badge(f"{count:,}" if count else "")
        self.review.setVisible(count > 0)
        self._place()
        self.update()  # the title has another width now

    def set_inspector(self, *, shown: bool, narrow: bool) -> None:
        """Whether the inspector is visible, and whether it is a drawer at this width."""
        self.inspector.set_icon("sidebar-right", tr("Hide inspector") if shown else tr("Show inspector"))
        self._narrow = narrow
        self._place()
        self.update()

    def set_left_inset(self, pixels: int) -> None:
        """Room at the left for the button that brings the chat list back."""
        self._inset = pixels
        self._place()
        self.update()

    # Where everything stands

    def _place(self) -> None:
        self.inspector.setVisible(not self._narrow)
        self.timeline.setVisible(self._narrow)
        order = (self.timeline, self.search, self.more) if self._narrow else (self.search, self.inspector, self.more)
        left = _LEFT + self._inset
        shown, short = self._collapsed(left, order)
        right = self._place_buttons((self.review, *order) if not self.review.isHidden() else order, short=short)
        self._room = right - 2 * _GAP - left
        x, chip_y = left, self._chip_y()
        for chip in (self.agent, self.model, self.mode):
            chip.setVisible(chip in shown)
            if chip in shown:
                size = chip.sizeHint()
                width = min(size.width(), max(0, left + self._room - x))
                chip.setGeometry(x, chip_y, width, size.height())
                x += width + _CHIP_GAP
        whole = self._path.sizeHint().width()
        path_width = min(whole, left + self._room - x - 4)
        self._path.setVisible(self._path in shown)
        self._path.setGeometry(x + 4, chip_y, max(0, path_width), self._path.sizeHint().height())
        height = self._hub.theme.size("control")
        middle = self._chip_y() - 2 - round(_TITLE_LINE * self._scale / 2) if self._has_chips else self.height() // 2
        field = QRect(left - 6, middle - height // 2, min(self._room + 12, 420), height)
        self._field.setGeometry(field.translated(0, max(0, 2 - field.y())))

    def _collapsed(self, left: int, order: tuple[QWidget, ...]) -> tuple[list[QWidget], bool]:
        """What is shown of the second line, and whether Review is short: the least that is given up in this width."""
        known: list[QWidget] = [chip for chip in (self.agent, self.model, self.mode) if chip.text()]
        if self._path.text():
            known.append(self._path)
        title = self._hub.theme.metrics("heading").horizontalAdvance(self._title)
        shown, short = list(known), self.width() < _TIGHT
        for step in (self._path, self.model, None, self.mode):
            room = self._right_edge(order, short=short) - 2 * _GAP - left
            if self._needs(shown) <= room and (short or title <= room):
                break
            if step is None:
                short = True
            elif self._needs(shown) > room and step in shown:
                shown.remove(step)
        return shown, short

    def _needs(self, shown: list[QWidget]) -> int:
        """How wide the second line is at least."""
        width = sum(chip.sizeHint().width() + _CHIP_GAP for chip in shown if chip is not self._path)
        if self._path in shown:
            return width + 4 + min(self._path.sizeHint().width(), _PATH_LEAST)
        return max(0, width - _CHIP_GAP)

    def _right_edge(self, order: tuple[QWidget, ...], *, short: bool) -> int:
        """Where the buttons begin."""
        widths = [button.sizeHint().width() for button in order]
        if not self.review.isHidden():
            self.review.setText(tr("Review") if short else tr("Review changes"))
            widths.append(self.review.sizeHint().width())
        return self.width() - _RIGHT - sum(widths) - _BUTTON_GAP * (len(widths) - 1)

    def _place_buttons(self, order: tuple[QWidget, ...], *, short: bool) -> int:
        """Put the buttons at the right; returns where they begin."""
        self.review.setText(tr("Review") if short else tr("Review changes"))
        height = self._hub.theme.size("header")
        right = self.width() - _RIGHT
        for button in reversed(order):
            button.resize(button.sizeHint())
            right -= button.width()
            button.move(right, (height - 1 - button.height()) // 2)
            right -= _BUTTON_GAP
        return right + _BUTTON_GAP

    @property
    def _has_chips(self) -> bool:
        return any(one.text() for one in (self.agent, self.model, self.mode, self._path))

    @property
    def _scale(self) -> float:
        """How much larger than drawn everything is across the lines."""
        return max(1.0, self._hub.theme.zoom)

    def _chip_y(self) -> int:
        """Where the chips stand."""
        lowest = self._hub.theme.size("header") - 1 - self.agent.sizeHint().height() - _UNDER_CHIPS
        return min(round(_CHIPS_FROM * self._scale), lowest)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._place()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._field and self.is_renaming:
            if event.type() == QEvent.Type.FocusOut:
                self._end_renaming(keep=True)
            elif event.type() in (QEvent.Type.KeyPress, QEvent.Type.ShortcutOverride) and isinstance(event, QKeyEvent):
                return self._typed(event)
        return super().eventFilter(watched, event)

    def _typed(self, event: QKeyEvent) -> bool:
        """Enter keeps what was typed, Esc does not; neither is for anybody else."""
        if event.key() not in (Qt.Key.Key_Escape, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            return False
        if event.type() == QEvent.Type.KeyPress:
            self._end_renaming(keep=event.key() != Qt.Key.Key_Escape)
        event.accept()
        return True

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if QRectF(_LEFT + self._inset, 0, self._room, self._chip_y()).contains(event.position()):
            self.rename()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.color("bg.surface"))
        painter.fillRect(QRectF(0, self.height() - 1, self.width(), 1), theme.color("line.hair"))
        if self.is_renaming:
            return
        left = _LEFT + self._inset
        height = _TITLE_LINE * self._scale
        top = self._chip_y() - 2 - height if self._has_chips else (self.height() - 1 - height) / 2
        box = QRectF(left, top, self._room, height)
        draw_text(painter, theme, box, self._title, style="heading")


def _chooses(option: AgentOption | None) -> bool:
    """Whether there is another value than the present one."""
    return option is not None and len(option.choices) > 1
