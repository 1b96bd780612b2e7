"""The header over a transcript: title, which agent answers and how, where it works, Review changes. UI thread only."""

from PySide6.QtCore import QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QGuiApplication, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QMenu, QSizePolicy, QWidget

from vibekit_desktop.core.types.agents import AgentOption, LivePhase, LiveState, OptionKind
from vibekit_desktop.ui.models import usage_words
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.tool_tip import plain_tip
from vibekit_desktop.ui.views.controls import Button, IconButton
from vibekit_desktop.ui.views.option_picks import ChipButton, fill_menu, of_kind, value_words
from vibekit_desktop.ui.visible import one_line, visible_name

_LEFT, _RIGHT, _GAP = 20, 12, 8
_TIGHT = 790
_UNDER_CHIPS = 4
_CHIP_CHARS = 32
_PATH_LEAST = 80
"""A path that is cut shorter says nothing."""


class _PathLabel(QAbstractButton):
    """The workspace's path; a click copies it."""

    def __init__(self, hub: ThemeHub, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.property("path") or ""))
        hub.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        width = self._hub.theme.metrics("small").horizontalAdvance(self.text())
        return QSize(int(width + 2), round(self._hub.theme.size("chip") * max(1.0, self._hub.theme.zoom)))

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        font = theme.font("small")
        painter.setFont(font)
        painter.setPen(theme.color("text.secondary" if self.underMouse() else "text.tertiary"))
        text = theme.metrics("small").elidedText(self.text(), Qt.TextElideMode.ElideMiddle, self.width())
        painter.drawText(QRectF(self.rect()), int(Qt.AlignmentFlag.AlignVCenter), text)


class ChatHeader(QWidget):
    """56 px with a hairline under it. ``review_requested``, ``inspector_toggled`` and ``agents_requested`` (the agent was
    pressed: who else could answer) have no argument; ``picked(option, value)``: a mode or a model was chosen.

    When it gets tight the path goes first, then the model, then "Review changes" becomes "Review", then the mode; the title
    elides last.
    """

    review_requested = Signal()
    inspector_toggled = Signal()
    agents_requested = Signal()
    picked = Signal(str, str)

    def __init__(self, hub: ThemeHub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self._title = ""
        self._inset = 0
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
        self.review = Button(hub, tr("Review changes"), icon="review", parent=self)
        self.review.clicked.connect(self.review_requested)
        self.inspector = IconButton(hub, "sidebar-right", tr("Hide inspector"), large=True, parent=self)
        self.inspector.clicked.connect(self.inspector_toggled)
        self.timeline = Button(hub, tr("Timeline"), icon="sidebar-right", parent=self)
        self.timeline.clicked.connect(self.inspector_toggled)
        self.timeline.hide()
        self._narrow = False
        self.review.hide()
        hub.changed.connect(self._themed)

    def _themed(self) -> None:
        self.setFixedHeight(self._hub.theme.size("header"))
        self._place()
        self.update()

    def set_chat(self, title: str, agent: str, model: str, path: str, shown_path: str) -> None:
        """Show another chat. ``shown_path`` is the path as it is written, ``path`` what a click copies."""
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
        self.update()

    def set_live(self, state: LiveState | None) -> None:
        """Who answers in the chat, and what of that can be chosen; None: nothing is known of it."""
        self._live = state
        self._show_chips()

    def _show_chips(self) -> None:
        live = self._live
        mode, model = self._option(OptionKind.MODE), self._option(OptionKind.MODEL)
        agent = one_line(live.agent, _CHIP_CHARS) if live is not None and live.agent else self._made_by
        self.agent.set_text(agent, pressable=live is not None and live.phase is not LivePhase.UNAVAILABLE)
        self.agent.setToolTip(plain_tip(usage_words.in_full(live)) if live is not None else "")
        self.model.set_text(value_words(model) if model is not None else self._made_with, pressable=_chooses(model))
        self.mode.set_text(value_words(mode) if mode is not None else "", pressable=_chooses(mode))
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

    def set_changed(self, count: int) -> None:
        """How many files the chat changed; without any there is nothing to review."""
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

    def _place(self) -> None:
        height = self._hub.theme.size("header")
        right = self.width() - _RIGHT
        toggle = self.timeline if self._narrow else self.inspector
        self.inspector.setVisible(not self._narrow)
        self.timeline.setVisible(self._narrow)
        toggle.resize(toggle.sizeHint())
        right -= toggle.width()
        toggle.move(right, (height - 1 - toggle.height()) // 2)
        left = _LEFT + self._inset
        chips_left = left
        if not self.review.isHidden():
            self.review.setText(tr("Review changes") if self.width() >= _TIGHT else tr("Review"))
            self.review.resize(self.review.sizeHint())
            right -= self.review.width() + _GAP
            self.review.move(right, (height - 1 - self.review.height()) // 2)
        self._room = right - _GAP * 2 - left
        chip_y = self._chip_y()
        room = right - _GAP * 2
        known = [chip for chip in (self.agent, self.model, self.mode) if chip.text()]
        shown = list(known)
        for first in (self.model, self.mode):
            if first in shown and chips_left + sum(chip.sizeHint().width() + 6 for chip in shown) - 6 > room:
                shown.remove(first)
        for chip in (self.agent, self.model, self.mode):
            chip.setVisible(chip in shown)
            if chip in shown:
                size = chip.sizeHint()
                chip.setGeometry(chips_left, chip_y, size.width(), size.height())
                chips_left += size.width() + 6
        whole = self._path.sizeHint().width()
        path_width = min(whole, room - chips_left - 4)
        dropped = shown != known
        self._path.setVisible(bool(self._path.text()) and not dropped and path_width >= min(whole, _PATH_LEAST))
        self._path.setGeometry(chips_left + 4, chip_y, max(0, path_width), self._path.sizeHint().height())

    def _chip_y(self) -> int:
        """Where the chips stand: with larger text they are higher, and the header is not."""
        return min(29, self._hub.theme.size("header") - 1 - self.agent.sizeHint().height() - _UNDER_CHIPS)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._place()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.color("bg.surface"))
        painter.fillRect(QRectF(0, self.height() - 1, self.width(), 1), theme.color("line.hair"))
        font = theme.font("heading")
        painter.setFont(font)
        painter.setPen(theme.color("text.primary"))
        left = _LEFT + self._inset
        text = QFontMetricsF(font).elidedText(self._title, Qt.TextElideMode.ElideRight, self._room)
        has_chips = any(one.text() for one in (self.agent, self.model, self.mode, self._path))
        box = QRectF(left, self._chip_y() - 22 if has_chips else 17, self._room + 2, 20)
        painter.drawText(box, int(Qt.AlignmentFlag.AlignVCenter), text)


def _chooses(option: AgentOption | None) -> bool:
    """Whether there is another value than the present one."""
    return option is not None and len(option.choices) > 1
