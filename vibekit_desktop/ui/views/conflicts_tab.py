"""The Conflicts tab of the inspector: a card for each file that somebody else changed under the chat's hands, newest first.

Paints a `ConflictModel` and emits intents. UI thread only.
"""

from collections.abc import Callable, Mapping

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication, QPainter, QPainterPath, QResizeEvent, QTextLayout, QTextOption
from PySide6.QtWidgets import QListView, QMenu, QStackedWidget, QStyleOptionViewItem, QVBoxLayout, QWidget

from vibekit_desktop.ui.models.conflicts import CARD_ROLE, CardButton, ConflictCard, ConflictModel
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import Theme, ThemeHub
from vibekit_desktop.ui.theme.style import focus_ring, rounded
from vibekit_desktop.ui.views import row_keys
from vibekit_desktop.ui.views.blank import Blank
from vibekit_desktop.ui.views.button_list import Aim, ButtonDelegate, ButtonList
from vibekit_desktop.ui.views.controls import draw_icon
from vibekit_desktop.ui.views.row_keys import add_action, keys_of
from vibekit_desktop.ui.views.row_paint import draw_text, text_width
from vibekit_desktop.ui.wording import shown_path

_MARGIN, _GAP, _PAD = 12, 10, 12
_HEAD, _BUTTON = 36, 24
_MOST_LINES = 12
_BATCH = 60


class CardPlaces:
    """The places in the cards of one view. Invariant: they follow from the card, the width and the theme alone."""

    def __init__(self, hub: ThemeHub) -> None:
        self._hub = hub

    def _scaled(self, length: int) -> int:
        return round(length * max(1.0, self._hub.theme.zoom))

    def body(self, row: ConflictCard, box: QRectF) -> QRectF:
        """The card."""
        return box.adjusted(_MARGIN, 0, -_MARGIN, -_GAP)

    def head(self, body: QRectF) -> QRectF:
        """Its tinted head."""
        return QRectF(body.left(), body.top(), body.width(), self._scaled(_HEAD))

    def text(self, row: ConflictCard, body: QRectF) -> QRectF:
        """Its sentence, as high as it needs."""
        top = self.head(body).bottom() + 10
        width = body.width() - 2 * _PAD
        return QRectF(body.left() + _PAD, top, width, len(self.lines(row, width)) * self.line_height)

    @property
    def line_height(self) -> int:
        """How far the lines of a sentence are apart."""
        return self._hub.theme.line_height("small") + 2

    def lines(self, row: ConflictCard, width: float) -> list[str]:
        """The sentence in lines of a width; a name that is longer than a line is broken."""
        layout = QTextLayout(row.text, self._hub.theme.font("small"))
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        layout.setTextOption(option)
        layout.beginLayout()
        found: list[str] = []
        while len(found) < _MOST_LINES and (line := layout.createLine()).isValid():
            line.setLineWidth(max(1.0, width))
            found.append(row.text[line.textStart() : line.textStart() + line.textLength()].rstrip())
        layout.endLayout()
        return found

    def buttons(self, row: ConflictCard, box: QRectF) -> list[tuple[CardButton, QRectF]]:
        """Where the buttons are; one that does not fit beside the others begins a line of its own."""
        theme, body = self._hub.theme, self.body(row, box)
        x, y, height = body.left() + _PAD, self.text(row, body).bottom() + 8, self._scaled(_BUTTON)
        found: list[tuple[CardButton, QRectF]] = []
        for button in row.buttons:
            width = min(text_width(theme, "small", row.words(button), weight=500) + 18, body.width() - 2 * _PAD)
            if found and x + width > body.right() - _PAD:
                x, y = body.left() + _PAD, y + height + 6
            found.append((button, QRectF(x, y, width, height)))
            x += width + 6
        return found

    def height(self, row: ConflictCard, width: int) -> int:
        """How high a row is in a list of some width, with the gap under the card."""
        last = self.buttons(row, QRectF(0, 0, width, 0))[-1][1]
        return round(last.bottom() + _PAD) + _GAP


class CardDelegate(ButtonDelegate):
    """Paints `ConflictCard`s."""

    def __init__(self, hub: ThemeHub, model: ConflictModel) -> None:
        super().__init__()
        self._hub = hub
        self._model = model
        self.places = CardPlaces(hub)
        self.width = 300

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        card = index.data(CARD_ROLE)
        if not isinstance(card, ConflictCard):
            return
        theme, box = self._hub.theme, QRectF(option.rect)
        body = self.places.body(card, box)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._ground(painter, theme, card, body)
        self._head(painter, theme, card, self.places.head(body))
        text = self.places.text(card, body)
        for number, line in enumerate(self.places.lines(card, text.width())):
            height = self.places.line_height
            where = QRectF(text.left(), text.top() + number * height, text.width(), height)
            draw_text(painter, theme, where, line, style="small", token="text.secondary", elide=None)
        ring, radius = body, theme.radius("card")
        for button, place in self.places.buttons(card, box):
            self._button(painter, theme, card, button, place, index.row())
            if button is self.focus.button:
                ring, radius = place, theme.radius("small")
        if self.focus.row == index.row():
            focus_ring(painter, theme, ring, radius)
        painter.restore()

    def _ground(self, painter: QPainter, theme: Theme, card: ConflictCard, body: QRectF) -> None:
        radius = theme.radius("card")
        rounded(painter, body, radius, fill=theme.color("bg.surface"))
        head = self.places.head(body)
        shape = QPainterPath()
        shape.addRoundedRect(body, radius, radius)
        painter.save()
        painter.setClipPath(shape)
        painter.fillRect(head, theme.color("bg.raised" if card.settled else "warning.tint"))
        painter.restore()
        rounded(painter, body, radius, line=theme.color("line.hair" if card.settled else "warning.line"))

    def _head(self, painter: QPainter, theme: Theme, card: ConflictCard, head: QRectF) -> None:
        icon, ink = ("check", "text.tertiary") if card.settled else ("conflict", "warning.text")
        draw_icon(painter, theme, icon, ink, head.left() + _PAD, round(head.center().y()) - 8, 16)
        line = head.adjusted(_PAD + 24, 0, -_PAD, 0)
        moment = tr("Settled") if card.settled else card.moment
        width = text_width(theme, "small", moment)
        if width + 100 < line.width():
            draw_text(painter, theme, line, moment, style="small", token="text.tertiary", right=True)
            line.setRight(line.right() - width - 8)
        draw_text(painter, theme, line, card.title, weight=600, elide=Qt.TextElideMode.ElideMiddle)

    def _button(
        self, painter: QPainter, theme: Theme, card: ConflictCard, button: CardButton, place: QRectF, number: int
    ) -> None:
        aim = Aim(number, button)
        on = not self._model.why_off(card, button)
        fill = "bg.button"
        if on and self.hover == aim:
            fill = "bg.pressed" if self.down == aim else "bg.button-hover"
        rounded(painter, place, theme.radius("small"), fill=theme.color(fill), line=theme.color("line.strong"))
        token = "text.primary" if on else "text.disabled"
        draw_text(painter, theme, place.adjusted(9, 0, -8, 0), card.words(button), style="small", weight=500, token=token)

    # Qt's names below.

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        card = index.data(CARD_ROLE)
        return QSize(100, self.places.height(card, self.width)) if isinstance(card, ConflictCard) else QSize(0, 0)


class ConflictsView(ButtonList[ConflictCard, CardButton]):
    """The cards. Signals: ``compare_requested(path, old point, new point)``, ``settle_requested(card, settled)``,
    ``bring_back_requested(card)``."""

    compare_requested = Signal(object, object, object)
    settle_requested = Signal(object, bool)
    bring_back_requested = Signal(object)

    def __init__(self, hub: ThemeHub, model: ConflictModel, parent: QWidget | None = None) -> None:
        self._delegate = CardDelegate(hub, model)
        places = self._delegate.places
        super().__init__(hub, model, model, places, self._delegate, name=tr("Conflicts"), batch=_BATCH, parent=parent)
        self._model = model
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.button_pressed.connect(self._pressed)

    def _pressed(self, number: int, button: CardButton) -> None:
        card = self._model.row_at(number)
        if card is None:
            return
        match button:
            case CardButton.COMPARE:
                self.compare_requested.emit(card.path, card.old, card.new)
            case CardButton.KEEP:
                self.settle_requested.emit(card, True)
            case CardButton.REOPEN:
                self.settle_requested.emit(card, False)
            case CardButton.BRING_BACK:
                self.bring_back_requested.emit(card)

    # What `ButtonList` asks.

    def row_actions(self, number: int, row: ConflictCard) -> Mapping[str, Callable[[], None]]:
        """What the keys for rows do here."""
        return {
            row_keys.COPY_PATH: lambda: QGuiApplication.clipboard().setText(shown_path(row.path)),
            row_keys.UNDO: lambda: self.act(number, CardButton.BRING_BACK),
        }

    def tip(self, row: ConflictCard) -> str:
        """The whole path."""
        return shown_path(row.path)

    def menu(self, number: int, row: ConflictCard) -> QMenu | None:
        """The same actions as the buttons, and the path."""
        menu, theme = QMenu(self), self.hub.theme
        keys = {CardButton.COMPARE: tr("Enter"), CardButton.BRING_BACK: keys_of(row_keys.UNDO)}
        icons = {
            CardButton.COMPARE: "diff",
            CardButton.KEEP: "check",
            CardButton.BRING_BACK: "undo",
            CardButton.REOPEN: "conflict",
        }
        for button in row.buttons:
            action = add_action(menu, theme, icons[button], row.words(button), keys.get(button, ""))
            action.setEnabled(not self._model.why_off(row, button))
            action.triggered.connect(lambda _=False, which=button: self.act(number, which))
        menu.addSeparator()
        copying = add_action(menu, theme, "copy", tr("Copy path"), keys_of(row_keys.COPY_PATH))
        copying.triggered.connect(lambda: QGuiApplication.clipboard().setText(shown_path(row.path)))
        return menu

    # Qt's names below.

    def resizeEvent(self, event: QResizeEvent) -> None:
        if self._delegate.width != self.viewport().width():
            self._delegate.width = self.viewport().width()
            self.scheduleDelayedItemsLayout()
        super().resizeEvent(event)


class ConflictsTab(QWidget):
    """The cards, or that there are none."""

    def __init__(self, hub: ThemeHub, model: ConflictModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.list = ConflictsView(hub, model, self)
        self._blank = Blank(hub, self)
        self._stack = QStackedWidget(self)
        self._stack.addWidget(self.list)
        self._stack.addWidget(self._blank)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 12, 0, 0)
        layout.addWidget(self._stack)
        self.show_cards()

    def show_cards(self) -> None:
        """The cards as they are in the model now."""
        if self._model.rowCount():
            self._stack.setCurrentWidget(self.list)
            return
        text = tr("No other chat changed a file of this one, and no turn wrote over what somebody had changed.")
        if self._model.settled:
            text = tr("What others changed under this chat's hands was settled.")
        self._blank.say("conflict", tr("No conflicts"), text)
        self._stack.setCurrentWidget(self._blank)
