"""What Fusion paints, as the tokens want it: focus ring, check box, radio, scroll bar, splitter line.

`apply` dresses the whole application and follows the theme hub. UI thread only.
"""

from PySide6.QtCore import QObject, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QFocusFrame,
    QGraphicsDropShadowEffect,
    QProxyStyle,
    QStyle,
    QStyleHintReturn,
    QStyleOption,
    QStyleOptionSlider,
    QToolTip,
    QWidget,
)
from shiboken6 import isValid

from vibekit_desktop.ui.theme.palette import Theme, ThemeHub
from vibekit_desktop.ui.theme.qss import stylesheet

_INDICATOR = 16


def rounded(painter: QPainter, box: QRectF, radius: float, *, fill: QColor | None = None, line: QColor | None = None) -> None:
    """A rounded box with a crisp 1 px line inside its bounds."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(line, 1) if line is not None else Qt.PenStyle.NoPen)
    painter.setBrush(fill if fill is not None else Qt.BrushStyle.NoBrush)
    inner = box.adjusted(0.5, 0.5, -0.5, -0.5) if line is not None else box
    painter.drawRoundedRect(inner, radius - (0.5 if line is not None else 0), radius - (0.5 if line is not None else 0))
    painter.restore()


class _Shadow(QGraphicsDropShadowEffect):
    """Follows the theme while the widget that casts it lives."""

    def __init__(self, widget: QWidget, hub: ThemeHub) -> None:
        super().__init__(widget)
        self._hub = hub
        hub.changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        theme = self._hub.theme
        token = theme.tokens.shadow(theme.dark)
        color = QColor(token.color)
        color.setAlphaF(token.alpha)
        self.setBlurRadius(token.blur)
        self.setOffset(0, token.y)
        self.setColor(color)


def cast_shadow(widget: QWidget, hub: ThemeHub) -> None:
    """The shadow under everything that lies above the window's panes."""
    widget.setGraphicsEffect(_Shadow(widget, hub))


def focus_ring(painter: QPainter, theme: Theme, box: QRectF, radius: float) -> None:
    """The 2 px ring inside ``box``; painted views use it for their current row or button."""
    width = theme.size("focus-width")
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(theme.color("line.focus"), width))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    inset = width / 2
    painter.drawRoundedRect(box.adjusted(inset, inset, -inset, -inset), radius - inset, radius - inset)
    painter.restore()


class AppStyle(QProxyStyle):
    """Fusion with our indicators, scroll bars and focus ring. Reads the hub's theme at every paint."""

    def __init__(self, hub: ThemeHub) -> None:
        super().__init__("Fusion")
        self._hub = hub

    def pixelMetric(self, metric: QStyle.PixelMetric, option: QStyleOption | None = None, widget: QWidget | None = None) -> int:
        theme = self._hub.theme
        match metric:
            case QStyle.PixelMetric.PM_ScrollBarExtent:
                return theme.size("scrollbar")
            case QStyle.PixelMetric.PM_ScrollView_ScrollBarSpacing:
                return 0
            case QStyle.PixelMetric.PM_SplitterWidth:
                return theme.size("splitter-line")
            case QStyle.PixelMetric.PM_FocusFrameHMargin | QStyle.PixelMetric.PM_FocusFrameVMargin:
                return theme.size("focus-width") + theme.size("focus-gap")
            case (
                QStyle.PixelMetric.PM_IndicatorWidth
                | QStyle.PixelMetric.PM_IndicatorHeight
                | QStyle.PixelMetric.PM_ExclusiveIndicatorWidth
                | QStyle.PixelMetric.PM_ExclusiveIndicatorHeight
            ):
                return _INDICATOR
            case QStyle.PixelMetric.PM_CheckBoxLabelSpacing | QStyle.PixelMetric.PM_RadioButtonLabelSpacing:
                return theme.tokens.space("s8")
            case QStyle.PixelMetric.PM_SmallIconSize | QStyle.PixelMetric.PM_ButtonIconSize:
                return theme.size("icon")
            case QStyle.PixelMetric.PM_MenuPanelWidth:
                return 0
            case _:
                return super().pixelMetric(metric, option, widget)

    def styleHint(
        self,
        hint: QStyle.StyleHint,
        option: QStyleOption | None = None,
        widget: QWidget | None = None,
        returnData: QStyleHintReturn | None = None,  # noqa: N803  Qt's name
    ) -> int:
        if hint is QStyle.StyleHint.SH_ScrollBar_Transient:
            return 0
        if hint is QStyle.StyleHint.SH_Widget_Animation_Duration and self._hub.theme.still:
            return 0
        if hint is QStyle.StyleHint.SH_MenuBar_AltKeyNavigation:
            return 0  # the bar is there while Alt is held, and only then
        if hint is QStyle.StyleHint.SH_ToolTip_WakeUpDelay:
            return 500
        return super().styleHint(hint, option, widget, returnData) if returnData else super().styleHint(hint, option, widget)

    def drawPrimitive(
        self, element: QStyle.PrimitiveElement, option: QStyleOption, painter: QPainter, widget: QWidget | None = None
    ) -> None:
        match element:
            case QStyle.PrimitiveElement.PE_IndicatorCheckBox:
                self._indicator(option, painter, circle=False)
            case QStyle.PrimitiveElement.PE_IndicatorRadioButton:
                self._indicator(option, painter, circle=True)
            case QStyle.PrimitiveElement.PE_FrameFocusRect:
                pass  # The ring stands outside the widget: see FocusRing.
            case QStyle.PrimitiveElement.PE_PanelScrollAreaCorner:
                pass
            case _:
                super().drawPrimitive(element, option, painter, widget)

    def drawControl(
        self, element: QStyle.ControlElement, option: QStyleOption, painter: QPainter, widget: QWidget | None = None
    ) -> None:
        if element is QStyle.ControlElement.CE_FocusFrame:
            rect: QRect = option.rect
            focus_ring(painter, self._hub.theme, QRectF(rect), self._hub.theme.radius("control") + 3)
            return
        if element is QStyle.ControlElement.CE_Splitter:
            splitter: QRect = option.rect
            painter.fillRect(splitter, self._hub.theme.color("line.hair"))
            return
        super().drawControl(element, option, painter, widget)

    def drawComplexControl(
        self,
        control: QStyle.ComplexControl,
        option: QStyleOption,
        painter: QPainter,
        widget: QWidget | None = None,
    ) -> None:
        if control is QStyle.ComplexControl.CC_ScrollBar and isinstance(option, QStyleOptionSlider):
            self._scroll_bar(option, painter, widget)
            return
        super().drawComplexControl(control, option, painter, widget)  # type: ignore[arg-type]  # Qt passes the right kind

    def subControlRect(
        self,
        control: QStyle.ComplexControl,
        option: QStyleOption,
        sub: QStyle.SubControl,
        widget: QWidget | None = None,
    ) -> QRect:
        if control is QStyle.ComplexControl.CC_ScrollBar and isinstance(option, QStyleOptionSlider):
            return self._scroll_part(option, sub)
        return super().subControlRect(control, option, sub, widget)  # type: ignore[arg-type]  # Qt passes the right kind

    def _scroll_part(self, option: QStyleOptionSlider, sub: QStyle.SubControl) -> QRect:
        box: QRect = option.rect
        upright = option.orientation == Qt.Orientation.Vertical
        length = box.height() if upright else box.width()
        span = option.maximum - option.minimum
        page: int = option.pageStep
        thumb = length if span <= 0 else max(24, int(length * page / (span + page)))
        value = option.sliderPosition - option.minimum
        start = QStyle.sliderPositionFromValue(0, span, value, max(0, length - thumb), False) if span > 0 else 0
        match sub:
            case QStyle.SubControl.SC_ScrollBarGroove:
                return box
            case QStyle.SubControl.SC_ScrollBarSlider:
                parts = (start, thumb)
            case QStyle.SubControl.SC_ScrollBarSubPage:
                parts = (0, start)
            case QStyle.SubControl.SC_ScrollBarAddPage:
                parts = (start + thumb, length - start - thumb)
            case _:
                return QRect()
        first, size = parts
        if upright:
            return QRect(box.x(), box.y() + first, box.width(), size)
        return QRect(box.x() + first, box.y(), size, box.height())

    def _scroll_bar(self, option: QStyleOptionSlider, painter: QPainter, widget: QWidget | None) -> None:
        theme = self._hub.theme
        box: QRect = option.rect
        state: QStyle.StateFlag = option.state
        upright = option.orientation == Qt.Orientation.Vertical
        if option.maximum <= option.minimum:
            return
        hovered = bool(state & QStyle.StateFlag.State_MouseOver) or bool(state & QStyle.StateFlag.State_Sunken)
        if hovered:
            painter.fillRect(box, theme.color("bg.track"))
        thumb = QRectF(self._scroll_part(option, QStyle.SubControl.SC_ScrollBarSlider))
        inset = (theme.size("scrollbar") - theme.size("scrollbar-thumb")) / 2
        thumb = thumb.adjusted(inset, 2, -inset, -2) if upright else thumb.adjusted(2, inset, -2, -inset)
        token = "bg.thumb" if hovered else "line.strong"
        rounded(painter, thumb, theme.size("scrollbar-thumb") / 2, fill=theme.color(token))

    def _indicator(self, option: QStyleOption, painter: QPainter, *, circle: bool) -> None:
        theme = self._hub.theme
        state: QStyle.StateFlag = option.state
        rect: QRect = option.rect
        box = QRectF(rect)
        on = bool(state & (QStyle.StateFlag.State_On | QStyle.StateFlag.State_NoChange))
        enabled = bool(state & QStyle.StateFlag.State_Enabled)
        radius = box.height() / 2 if circle else theme.radius("small")
        fill = theme.color("accent.fill" if enabled else "text.disabled") if on else theme.color("bg.field")
        line = fill if on else theme.color("line.control" if enabled else "line.strong")
        rounded(painter, box, radius, fill=fill, line=line)
        if not on:
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        mark = theme.color("text.on-accent")
        if circle:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(mark)
            painter.drawEllipse(box.center(), 3, 3)
        else:
            painter.setPen(QPen(mark, 1.6, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin))
            x, y = box.x(), box.y()
            if state & QStyle.StateFlag.State_NoChange:
                painter.drawLine(QPointF(x + 4, y + 8), QPointF(x + 12, y + 8))
            else:
                points = [QPointF(x + 4, y + 8.3), QPointF(x + 6.8, y + 11), QPointF(x + 12, y + 5.2)]
                painter.drawPolyline(QPolygonF(points))
        painter.restore()


class FocusRing(QObject):
    """One frame for the whole program: stands around the focused button unless the mouse put the focus there."""

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        self._frame: QFocusFrame | None = None
        app.focusChanged.connect(self._moved)

    def _moved(self, _old: QWidget | None, new: QWidget | None) -> None:
        pressed = QApplication.mouseButtons() != Qt.MouseButton.NoButton
        wanted = new if isinstance(new, QAbstractButton) and not pressed else None
        if self._frame is not None and isValid(self._frame):
            self._frame.destroyed.disconnect(self._gone)  # it comes later, and would be taken for the end of the next frame
            self._frame.setWidget(None)  # type: ignore[arg-type]  # Qt takes null, the stubs do not say so
            self._frame.deleteLater()
        self._frame = None
        if wanted is not None:
            self._frame = QFocusFrame(wanted)
            self._frame.destroyed.connect(self._gone)
            self._frame.setWidget(wanted)

    def _gone(self) -> None:
        self._frame = None


class Dress(QObject):
    """Keeps the application dressed in the hub's theme."""

    def __init__(self, app: QApplication, hub: ThemeHub) -> None:
        super().__init__(app)
        self._app = app
        self._hub = hub
        hub.changed.connect(self.refresh)

    def refresh(self) -> None:
        """Set palette, font and style sheet anew."""
        theme = self._hub.theme
        self._app.setPalette(theme.palette())
        self._app.setFont(theme.font("body"))
        self._app.setStyleSheet(stylesheet(theme))
        QToolTip.setFont(theme.font("small"))


def apply(app: QApplication, hub: ThemeHub) -> Dress:
    """Dress ``app`` now and whenever the theme changes."""
    app.setStyle(AppStyle(hub))
    dress = Dress(app, hub)
    dress.refresh()
    if app.findChild(FocusRing) is None:
        FocusRing(app)
    return dress
