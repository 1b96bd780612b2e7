"""How fields, plain buttons, menus, tool tips and headers of tables look: painted from the tokens, one function for each.

`theme.app_style` says when. There is no style sheet: one for the whole program is applied anew to every widget at every change
of the theme, and the window stands still for a tenth of a second. UI thread only.
"""

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QPainter, QPainterPath, QPalette, QPen, QPolygonF, QRegion
from PySide6.QtWidgets import (
    QStyle,
    QStyleOption,
    QStyleOptionButton,
    QStyleOptionFrame,
    QStyleOptionHeader,
    QStyleOptionMenuItem,
)

from vibekit_desktop.ui.theme import icons
from vibekit_desktop.ui.theme.palette import Theme
from vibekit_desktop.ui.theme.style import focus_ring, rounded

FIELD_PAD = 8
"""From the edge of a field to its text, its line counted in."""
FIELD_FRAME = 3
"""Room for the line around a field of several lines: its corners are round, those of the text's ground are not."""
BUTTON_PAD = 11
"""From the edge of a plain button to its words."""
MENU_FRAME, MENU_PAD = 1, 5
HEADER_PAD = 6
"""So much higher than its text is the name of a column."""
_MENU_ROW, _MENU_GAP = 28, 13
_MENU_LEFT, _MENU_RIGHT, _MENU_ICON, _MENU_KEYS, _MENU_KEYS_RIGHT = 10, 28, 8, 12, 12
_BAR_PAD = 8
_ON, _OVER, _DOWN = QStyle.StateFlag.State_Enabled, QStyle.StateFlag.State_MouseOver, QStyle.StateFlag.State_Sunken
_FOCUS, _CHOSEN = QStyle.StateFlag.State_HasFocus, QStyle.StateFlag.State_Selected
_DEFAULT = QStyleOptionButton.ButtonFeature.DefaultButton
_DEFAULT_ITEM = QStyleOptionMenuItem.MenuItemType.DefaultItem
_LINE = int(Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine | Qt.TextFlag.TextDontClip)


def _icon_side(theme: Theme) -> int:
    return theme.size("icon")


# Fields.


def field(painter: QPainter, theme: Theme, box: QRect, state: QStyle.StateFlag) -> None:
    """The ground of a text field and the line around it."""
    radius = theme.radius("control")
    line = theme.color("line.control" if state & _ON else "line.strong")
    rounded(painter, QRectF(box), radius, fill=theme.color("bg.field"), line=line)
    if state & _FOCUS:
        focus_ring(painter, theme, QRectF(box), radius)


def field_size(theme: Theme, inside: QSize) -> QSize:
    """How large a field of one line is around its text."""
    return QSize(inside.width() + 2 * FIELD_PAD, max(theme.tokens.size("control-large"), inside.height() + 2))


def pick_arrow(painter: QPainter, theme: Theme, box: QRect) -> None:
    """The sign at the right of a field in which one of several is picked."""
    side = _icon_side(theme)
    _sign(painter, theme, "chevron-down", "text.secondary", box.right() - side - FIELD_PAD + 1, box.center().y(), side)


def pick_words(theme: Theme, box: QRect) -> QRect:
    """Where what was picked is written."""
    return box.adjusted(FIELD_PAD, 1, -_icon_side(theme) - FIELD_PAD - 4, -1)


# Plain buttons: those of Qt's own dialogs.


def button(painter: QPainter, theme: Theme, option: QStyleOption) -> None:
    """The ground of a button."""
    state: QStyle.StateFlag = option.state
    on = bool(state & _ON)
    over, down = on and bool(state & _OVER), on and bool(state & _DOWN)
    if is_default(option):
        fill = "accent.fill-pressed" if down else "accent.fill-hover" if over else "accent.fill" if on else "bg.chip"
        line = fill
    else:
        fill, line = "bg.pressed" if down else "bg.button-hover" if over else "bg.button", "line.strong"
    rounded(painter, QRectF(option.rect), theme.radius("control"), fill=theme.color(fill), line=theme.color(line))


def is_default(option: QStyleOption) -> bool:
    """Whether Enter presses this button."""
    return isinstance(option, QStyleOptionButton) and bool(option.features & _DEFAULT)


def button_label(theme: Theme, option: QStyleOptionButton) -> QStyleOptionButton:
    """The same button with the colours of its words."""
    if not (is_default(option) and option.state & _ON):
        return option
    made = QStyleOptionButton(option)
    palette = QPalette(option.palette)
    palette.setColor(QPalette.ColorRole.ButtonText, theme.color("text.on-accent"))
    made.palette = palette
    return made


def button_size(theme: Theme, option: QStyleOption, inside: QSize) -> QSize:
    """How large a plain button is around its words."""
    width = inside.width()
    if isinstance(option, QStyleOptionButton) and option.text:  # it was measured in the font of text, which is lighter
        flag = Qt.TextFlag.TextShowMnemonic
        light, own = (theme.metrics(name).size(flag, option.text).width() for name in ("body", "body-strong"))
        width += max(0, round(own - light + 0.5))
    return QSize(width + 2 * BUTTON_PAD, max(theme.size("control"), inside.height() + 2))


# Menus.


def menu_ground(painter: QPainter, theme: Theme, box: QRect) -> None:
    """What a menu stands on."""
    painter.fillRect(box, theme.color("bg.popup"))


def menu_shape(theme: Theme, box: QRect) -> QRegion:
    """Where a menu is: nothing of it stands outside of its round corners."""
    path = QPainterPath()
    path.addRoundedRect(QRectF(box), theme.radius("card"), theme.radius("card"))
    return QRegion(path.toFillPolygon().toPolygon())


def menu_frame(painter: QPainter, theme: Theme, box: QRect) -> None:
    """The line around a menu."""
    rounded(painter, QRectF(box), theme.radius("card"), line=theme.color("line.strong"))


def menu_item_size(theme: Theme, option: QStyleOptionMenuItem, inside: QSize) -> QSize:
    """How large an entry of a menu is; Qt adds the room for its keys."""
    if _is_line(option) and not option.text:
        return QSize(10, _MENU_GAP)
    height = max(round(_MENU_ROW * max(1.0, theme.zoom)), inside.height())
    keys = _MENU_KEYS if "\t" in option.text else 0
    return QSize(_text_left(theme, option) + inside.width() + keys + _MENU_RIGHT, height)


def _is_line(option: QStyleOptionMenuItem) -> bool:
    return option.menuItemType is QStyleOptionMenuItem.MenuItemType.Separator


def _text_left(theme: Theme, option: QStyleOptionMenuItem) -> int:
    signs = option.menuHasCheckableItems or option.maxIconWidth > 0
    return _MENU_ICON + _icon_side(theme) + 6 if signs else _MENU_LEFT


def menu_item(painter: QPainter, theme: Theme, option: QStyleOptionMenuItem, *, underline: bool) -> None:
    """An entry of a menu. ``underline``: the letter that chooses it is underlined."""
    box: QRect = option.rect
    state: QStyle.StateFlag = option.state
    on = bool(state & _ON)
    if _is_line(option):
        _menu_line(painter, theme, option.text, box)
        return
    if state & _CHOSEN and on:
        rounded(painter, QRectF(box), theme.radius("small"), fill=theme.color("bg.selected"))
    side = _icon_side(theme)
    middle = box.center().y()
    if option.checked:
        _sign(painter, theme, "check", "text.primary" if on else "text.disabled", box.left() + _MENU_ICON, middle, side)
    elif not option.icon.isNull():
        icon: QIcon = option.icon
        icon.paint(
            painter,
            QRect(box.left() + _MENU_ICON, middle - side // 2 + 1, side, side),
            Qt.AlignmentFlag.AlignCenter,
            QIcon.Mode.Normal if on else QIcon.Mode.Disabled,
        )
    words, _, keys = option.text.partition("\t")
    painter.setFont(theme.font("body-strong") if option.menuItemType is _DEFAULT_ITEM else option.font)
    painter.setPen(theme.color("text.primary" if on else "text.disabled"))
    mnemonic = int(Qt.TextFlag.TextShowMnemonic if underline else Qt.TextFlag.TextHideMnemonic)
    place = box.adjusted(_text_left(theme, option), 0, -_MENU_RIGHT, 0)
    painter.drawText(place, _LINE | mnemonic | int(Qt.AlignmentFlag.AlignLeft), words)
    if keys:
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("text.tertiary" if on else "text.disabled"))
        place = box.adjusted(0, 0, -_MENU_KEYS_RIGHT, 0)
        painter.drawText(place, _LINE | int(Qt.AlignmentFlag.AlignRight), keys)
    if option.menuItemType is QStyleOptionMenuItem.MenuItemType.SubMenu:
        _sign(painter, theme, "chevron-right", "text.secondary", box.right() - side - 5, middle, side)


def _menu_line(painter: QPainter, theme: Theme, words: str, box: QRect) -> None:
    if not words:
        painter.fillRect(box.left() + 6, box.top() + 6, box.width() - 12, 1, theme.color("line.hair"))
        return
    painter.setFont(theme.font("label"))
    painter.setPen(theme.color("text.tertiary"))
    flags = _LINE | int(Qt.AlignmentFlag.AlignLeft) | int(Qt.TextFlag.TextHideMnemonic)
    painter.drawText(box.adjusted(_MENU_LEFT, 0, -_MENU_LEFT, 0), flags, words)


def bar_item(painter: QPainter, theme: Theme, option: QStyleOptionMenuItem, *, underline: bool) -> None:
    """A title in the menu bar."""
    box: QRect = option.rect
    state: QStyle.StateFlag = option.state
    bar_ground(painter, theme, box)
    if state & _ON and state & (_CHOSEN | _DOWN):
        rounded(painter, QRectF(box), theme.radius("small"), fill=theme.color("bg.hover"))
    painter.setPen(theme.color("text.primary" if state & _ON else "text.disabled"))
    mnemonic = int(Qt.TextFlag.TextShowMnemonic if underline else Qt.TextFlag.TextHideMnemonic)
    painter.drawText(box, _LINE | mnemonic | int(Qt.AlignmentFlag.AlignHCenter), option.text)


def bar_item_size(inside: QSize) -> QSize:
    """How large a title in the menu bar is around its words."""
    return QSize(inside.width() + 2 * _BAR_PAD, inside.height() + _BAR_PAD)


def bar_ground(painter: QPainter, theme: Theme, box: QRect) -> None:
    """What the menu bar stands on."""
    painter.fillRect(box, theme.color("bg.surface"))


# Tool tips and tables.


def tip(painter: QPainter, theme: Theme, box: QRect) -> None:
    """What the words of a tool tip stand on."""
    painter.fillRect(box, theme.color("bg.tooltip"))


def tip_palette(theme: Theme, palette: QPalette) -> QPalette:
    """The palette of tool tips."""
    made = QPalette(palette)
    for role in (QPalette.ColorRole.WindowText, QPalette.ColorRole.Text, QPalette.ColorRole.ToolTipText):
        made.setColor(role, theme.color("text.on-tooltip"))
    for role in (QPalette.ColorRole.Window, QPalette.ColorRole.Base, QPalette.ColorRole.ToolTipBase):
        made.setColor(role, theme.color("bg.tooltip"))
    return made


def header(painter: QPainter, theme: Theme, box: QRect) -> None:
    """The ground of the names of columns, with the line under it."""
    painter.fillRect(box, theme.color("bg.raised"))
    painter.fillRect(box.left(), box.bottom(), box.width(), 1, theme.color("line.hair"))


def header_label(theme: Theme, option: QStyleOptionHeader) -> QStyleOptionHeader:
    """The same name of a column in its colour."""
    made = QStyleOptionHeader(option)
    palette = QPalette(option.palette)
    palette.setColor(QPalette.ColorRole.ButtonText, theme.color("text.secondary"))
    made.palette = palette
    return made


def frame(painter: QPainter, theme: Theme, option: QStyleOption) -> None:
    """The frame of a field of several lines: its ground as well."""
    if isinstance(option, QStyleOptionFrame):
        field(painter, theme, option.rect, option.state)


# Check boxes and radio buttons.


def indicator(painter: QPainter, theme: Theme, option: QStyleOption, *, circle: bool) -> None:
    """The box or the circle that is ticked; drawn in a square of 16, as large as its place is."""
    state: QStyle.StateFlag = option.state
    rect: QRect = option.rect
    box = QRectF(rect)
    on = bool(state & (QStyle.StateFlag.State_On | QStyle.StateFlag.State_NoChange))
    enabled = bool(state & _ON)
    radius = box.height() / 2 if circle else theme.radius("small")
    fill = theme.color("accent.fill" if enabled else "text.disabled") if on else theme.color("bg.field")
    line = fill if on else theme.color("line.control" if enabled else "line.strong")
    rounded(painter, box, radius, fill=fill, line=line)
    if not on:
        return
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.translate(box.topLeft())
    painter.scale(box.width() / 16, box.height() / 16)
    mark = theme.color("text.on-accent")
    if circle:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(mark)
        painter.drawEllipse(QPointF(8, 8), 3, 3)
    else:
        painter.setPen(QPen(mark, 1.6, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin))
        if state & QStyle.StateFlag.State_NoChange:
            painter.drawLine(QPointF(4, 8), QPointF(12, 8))
        else:
            painter.drawPolyline(QPolygonF([QPointF(4, 8.3), QPointF(6.8, 11), QPointF(12, 5.2)]))
    painter.restore()


def _sign(painter: QPainter, theme: Theme, name: str, token: str, left: int, middle: int, side: int) -> None:
    picture = icons.pixmap(theme, name, token, side, painter.device().devicePixelRatio())
    painter.drawPixmap(QPointF(left, middle - side // 2 + 1), picture)
