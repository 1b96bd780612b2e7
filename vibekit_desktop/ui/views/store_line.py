"""The line at the foot of the chat list that says how full the store is, with its meter. UI thread only."""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from vibekit_desktop.core.api import StoreSize
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.theme.style import rounded
from vibekit_desktop.ui.tool_tip import plain_tip
from vibekit_desktop.ui.views.row_paint import draw_text

_METER, _GAP = 4, 4
WARNS, FULL = 0.90, 0.98
_GB = 1 << 30


def amount_words(size: StoreSize) -> str:
    """ "1.8 of 5 GB", "212 MB of 5 GB": one unit where both have the same."""
    budget = _number(size.budget_bytes / _GB)
    if size.used_bytes >= _GB // 10 or not size.used_bytes:
        return tr("{used} of {budget} GB", used=_number(size.used_bytes / _GB), budget=budget)
    return tr("{used} MB of {budget} GB", used=max(1, round(size.used_bytes / (1 << 20))), budget=budget)


def free_words(size_bytes: int) -> str:
    """ "80 GB", "212 MB": in the units of `amount_words`."""
    if size_bytes >= _GB:
        return tr("{n} GB", n=_number(size_bytes / _GB))
    return tr("{n} MB", n=round(size_bytes / (1 << 20)))


def meter_token(share: float) -> str:
    """The colour of the meter: neutral, a warning from 90 %, full from 98 %."""
    return "danger.fill" if share >= FULL else "warning.fill" if share >= WARNS else "bg.thumb"


def share_of(size: StoreSize) -> float:
    """How much of the budget is used; 1 where it is more."""
    return min(1.0, size.used_bytes / size.budget_bytes) if size.budget_bytes else 1.0


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 99.5 or round(value, 1) == round(value) else f"{value:.1f}"


class StoreLine(QAbstractButton):
    """A button that tells more of it. Invariant: hidden until the size is known."""

    def __init__(self, hub: ThemeHub, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self._size: StoreSize | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.hide()
        hub.changed.connect(self._themed)

    def _themed(self) -> None:
        self.updateGeometry()
        self.update()

    def set_size(self, size: StoreSize) -> None:
        """What the store takes now."""
        self._size = size
        spoken = amount_words(size).replace("GB", tr("gigabytes")).replace("MB", tr("megabytes"))
        self.setAccessibleName(tr("Store, {amount}", amount=spoken))
        tip = tr("The copies of files that restoring needs, of all workspaces.")
        if size.used_bytes > size.budget_bytes:
            tip += "\n" + tr("They take more than is planned for them. Nothing stops; you only see it here.")
        self.setToolTip(plain_tip(tip))
        self.show()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(80, self._hub.theme.line_height("small") + _GAP + _METER)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._size is None:
            return
        theme = self._hub.theme
        painter = QPainter(self)
        share = share_of(self._size)
        line = QRectF(0, 0, self.width(), theme.line_height("small"))
        token = {"danger.fill": "danger.text", "warning.fill": "warning.text"}.get(meter_token(share), "text.tertiary")
        draw_text(painter, theme, line, tr("Store"), style="small", token="text.tertiary")
        draw_text(painter, theme, line, amount_words(self._size), style="small", token=token, right=True)
        track = QRectF(0, self.height() - _METER, self.width(), _METER)
        rounded(painter, track, _METER / 2, fill=theme.color("bg.track"))
        if self._size.used_bytes:
            filled = QRectF(0, track.y(), max(_METER, track.width() * share), _METER)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            rounded(painter, filled, _METER / 2, fill=theme.color(meter_token(share)))
