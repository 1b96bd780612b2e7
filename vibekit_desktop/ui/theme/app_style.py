"""Fusion as the tokens want it: what Qt's own widgets measure and where their parts are; `theme.parts` paints them.

Reads the hub's theme at every paint, so another theme needs nothing but a repaint. Asked many times for every row of a list:
no work is done here that a table can save. UI thread only.
"""

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import (
    QAbstractScrollArea,
    QPlainTextEdit,
    QProxyStyle,
    QStyle,
    QStyleHintReturn,
    QStyleHintReturnMask,
    QStyleOption,
    QStyleOptionButton,
    QStyleOptionComboBox,
    QStyleOptionHeader,
    QStyleOptionMenuItem,
    QStyleOptionSlider,
    QTextEdit,
    QWidget,
)

from vibekit_desktop.ui.theme import parts
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.theme.style import focus_ring, rounded

_Metric, _Hint, _Primitive = QStyle.PixelMetric, QStyle.StyleHint, QStyle.PrimitiveElement
_Control, _Complex, _Contents, _Element = QStyle.ControlElement, QStyle.ComplexControl, QStyle.ContentsType, QStyle.SubElement
_INDICATORS = frozenset(
    (
        _Metric.PM_IndicatorWidth,
        _Metric.PM_IndicatorHeight,
        _Metric.PM_ExclusiveIndicatorWidth,
        _Metric.PM_ExclusiveIndicatorHeight,
    )
)
_SIZES = {
    _Metric.PM_ScrollBarExtent: "scrollbar",
    _Metric.PM_SplitterWidth: "splitter-line",
    _Metric.PM_SmallIconSize: "icon",
    _Metric.PM_ButtonIconSize: "icon",
} | dict.fromkeys(_INDICATORS, "icon")
_FIXED = {
    _Metric.PM_ScrollView_ScrollBarSpacing: 0,
    _Metric.PM_MenuPanelWidth: parts.MENU_FRAME,
    _Metric.PM_MenuHMargin: parts.MENU_PAD,
    _Metric.PM_MenuVMargin: parts.MENU_PAD,
    _Metric.PM_MenuBarPanelWidth: 0,
    _Metric.PM_ToolTipLabelFrameWidth: 5,
}
_TOOL_TIP_MS = 500
_FRAME, _MULTI = _Metric.PM_DefaultFrameWidth, (QPlainTextEdit, QTextEdit)
_NOT_PAINTED = frozenset(
    (
        _Primitive.PE_FrameFocusRect,  # the ring stands outside of the widget: `FocusRing`
        _Primitive.PE_PanelScrollAreaCorner,
        _Primitive.PE_PanelMenuBar,
        _Primitive.PE_FrameLineEdit,  # the panel has its line
    )
)


class AppStyle(QProxyStyle):
    """The style of the program; it has no state but the hub."""

    def __init__(self, hub: ThemeHub) -> None:
        super().__init__("Fusion")
        self._hub = hub

    # What is asked often.

    def pixelMetric(self, metric: QStyle.PixelMetric, option: QStyleOption | None = None, widget: QWidget | None = None) -> int:
        name = _SIZES.get(metric)
        if name is not None:
            return self._hub.theme.size(name)
        fixed = _FIXED.get(metric)
        if fixed is not None:
            return fixed
        if metric is _FRAME and isinstance(widget, QAbstractScrollArea):
            return parts.FIELD_FRAME if isinstance(widget, _MULTI) else 0
        theme = self._hub.theme
        if metric is _Metric.PM_FocusFrameHMargin or metric is _Metric.PM_FocusFrameVMargin:
            return theme.size("focus-width") + theme.size("focus-gap")
        if metric is _Metric.PM_CheckBoxLabelSpacing or metric is _Metric.PM_RadioButtonLabelSpacing:
            return theme.space("s8")
        return super().pixelMetric(metric, option, widget)

    def styleHint(
        self,
        hint: QStyle.StyleHint,
        option: QStyleOption | None = None,
        widget: QWidget | None = None,
        returnData: QStyleHintReturn | None = None,  # noqa: N803  Qt's name
    ) -> int:
        if hint is _Hint.SH_ScrollBar_Transient:
            return 0
        if hint is _Hint.SH_Widget_Animation_Duration and self._hub.theme.still:
            return 0
        if hint is _Hint.SH_MenuBar_AltKeyNavigation:
            return 0  # the bar is there while Alt is held, and only then
        if hint is _Hint.SH_Menu_Mask and option is not None and isinstance(returnData, QStyleHintReturnMask):
            returnData.region = parts.menu_shape(self._hub.theme, option.rect)
            return 1
        if hint is _Hint.SH_ToolTip_WakeUpDelay:
            return _TOOL_TIP_MS
        return super().styleHint(hint, option, widget, returnData) if returnData else super().styleHint(hint, option, widget)

    # What is painted.

    def drawPrimitive(
        self, element: QStyle.PrimitiveElement, option: QStyleOption, painter: QPainter, widget: QWidget | None = None
    ) -> None:
        theme = self._hub.theme
        if element in _NOT_PAINTED:
            return
        match element:
            case _Primitive.PE_IndicatorCheckBox:
                parts.indicator(painter, theme, option, circle=False)
            case _Primitive.PE_IndicatorRadioButton:
                parts.indicator(painter, theme, option, circle=True)
            case _Primitive.PE_PanelLineEdit:
                parts.field(painter, theme, option.rect, option.state)
            case _Primitive.PE_Frame if isinstance(widget, QAbstractScrollArea):
                if isinstance(widget, _MULTI):
                    parts.frame(painter, theme, option)
            case _Primitive.PE_PanelButtonCommand:
                parts.button(painter, theme, option)
            case _Primitive.PE_PanelMenu:
                parts.menu_ground(painter, theme, option.rect)
            case _Primitive.PE_FrameMenu:
                parts.menu_frame(painter, theme, option.rect)
            case _Primitive.PE_PanelTipLabel:
                parts.tip(painter, theme, option.rect)
            case _:
                super().drawPrimitive(element, option, painter, widget)

    def drawControl(
        self, element: QStyle.ControlElement, option: QStyleOption, painter: QPainter, widget: QWidget | None = None
    ) -> None:
        theme = self._hub.theme
        match element:
            case _Control.CE_FocusFrame:
                box: QRect = option.rect
                focus_ring(painter, theme, QRectF(box), theme.radius("control") + 3)
            case _Control.CE_Splitter:
                painter.fillRect(option.rect, theme.color("line.hair"))
            case _Control.CE_MenuItem if isinstance(option, QStyleOptionMenuItem):
                parts.menu_item(painter, theme, option, underline=self._underlines(option, widget))
            case _Control.CE_MenuBarItem if isinstance(option, QStyleOptionMenuItem):
                parts.bar_item(painter, theme, option, underline=self._underlines(option, widget))
            case _Control.CE_MenuBarEmptyArea:
                parts.bar_ground(painter, theme, option.rect)
            case _Control.CE_PushButtonLabel if isinstance(option, QStyleOptionButton):
                painter.setFont(theme.font("body-strong"))
                super().drawControl(element, parts.button_label(theme, option), painter, widget)
            case _Control.CE_HeaderSection | _Control.CE_HeaderEmptyArea:
                parts.header(painter, theme, option.rect)
            case _Control.CE_HeaderLabel if isinstance(option, QStyleOptionHeader):
                super().drawControl(element, parts.header_label(theme, option), painter, widget)
            case _:
                super().drawControl(element, option, painter, widget)

    def _underlines(self, option: QStyleOption, widget: QWidget | None) -> bool:
        return bool(self.styleHint(_Hint.SH_UnderlineShortcut, option, widget))

    def drawComplexControl(
        self,
        control: QStyle.ComplexControl,
        option: QStyleOption,
        painter: QPainter,
        widget: QWidget | None = None,
    ) -> None:
        if control is _Complex.CC_ScrollBar and isinstance(option, QStyleOptionSlider):
            self._scroll_bar(option, painter)
            return
        if control is _Complex.CC_ComboBox and isinstance(option, QStyleOptionComboBox):
            parts.field(painter, self._hub.theme, option.rect, option.state)
            parts.pick_arrow(painter, self._hub.theme, option.rect)
            return
        super().drawComplexControl(control, option, painter, widget)  # type: ignore[arg-type]  # Qt passes the right kind

    # What is how large, and where.

    def sizeFromContents(
        self, kind: QStyle.ContentsType, option: QStyleOption, size: QSize, widget: QWidget | None = None
    ) -> QSize:
        theme = self._hub.theme
        match kind:
            case _Contents.CT_LineEdit:
                return parts.field_size(theme, size)
            case _Contents.CT_PushButton:
                return parts.button_size(theme, option, size)
            case _Contents.CT_MenuItem if isinstance(option, QStyleOptionMenuItem):
                return parts.menu_item_size(theme, option, size)
            case _Contents.CT_MenuBarItem:
                return parts.bar_item_size(size)
            case _:
                found = super().sizeFromContents(kind, option, size, widget)  # type: ignore[arg-type]  # Qt takes null
        if kind is _Contents.CT_ComboBox:
            return found.expandedTo(parts.field_size(theme, QSize(0, size.height())))
        return QSize(found.width(), found.height() + parts.HEADER_PAD) if kind is _Contents.CT_HeaderSection else found

    def subElementRect(self, element: QStyle.SubElement, option: QStyleOption, widget: QWidget | None = None) -> QRect:
        if element is _Element.SE_LineEditContents:
            box: QRect = option.rect
            return box.adjusted(parts.FIELD_PAD, 1, -parts.FIELD_PAD, -1)
        return super().subElementRect(element, option, widget)  # type: ignore[arg-type]  # Qt takes null

    def subControlRect(
        self,
        control: QStyle.ComplexControl,
        option: QStyleOption,
        sub: QStyle.SubControl,
        widget: QWidget | None = None,
    ) -> QRect:
        if control is _Complex.CC_ScrollBar and isinstance(option, QStyleOptionSlider):
            return self._scroll_part(option, sub)
        if control is _Complex.CC_ComboBox and sub is QStyle.SubControl.SC_ComboBoxEditField:
            return parts.pick_words(self._hub.theme, option.rect)
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
                first, size = start, thumb
            case QStyle.SubControl.SC_ScrollBarSubPage:
                first, size = 0, start
            case QStyle.SubControl.SC_ScrollBarAddPage:
                first, size = start + thumb, length - start - thumb
            case _:
                return QRect()
        if upright:
            return QRect(box.x(), box.y() + first, box.width(), size)
        return QRect(box.x() + first, box.y(), size, box.height())

    def _scroll_bar(self, option: QStyleOptionSlider, painter: QPainter) -> None:
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
