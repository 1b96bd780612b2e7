"""What goes with a prompt beside its words: taken from the clipboard and from drops, shown as chips that can be removed.

Files go by their path; nothing is read here. Pasted text is never anything but text. UI thread only.
"""

from collections.abc import Sequence
from itertools import pairwise

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMimeData, QRectF, Qt, Signal
from PySide6.QtGui import QImage, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from vibekit_desktop.core.types.agents import Attachment
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.theme.style import focus_ring, rounded
from vibekit_desktop.ui.tool_tip import plain_tip
from vibekit_desktop.ui.views.controls import IconButton, draw_icon
from vibekit_desktop.ui.views.row_paint import draw_text, text_width
from vibekit_desktop.ui.visible import visible_name
from vibekit_desktop.ui.wording import file_name, short_path

MOST = 50
"""So many go with one prompt."""
_CHIP, _GAP, _WIDEST = 24, 6, 240
_PICTURES = ("image/png", "image/jpeg")
_FAST_PNG = 80
"""Little compression: the window waits for it."""
_PICTURE_NAMES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp")


def taken_from(data: QMimeData) -> list[Attachment] | None:
    """The files or the picture in a paste or a drop; None if it is text, or nothing that goes with a prompt."""
    urls = data.urls()
    if urls and all(url.isLocalFile() for url in urls):
        return [of_path(url.toLocalFile()) for url in urls]
    if data.hasText() or not data.hasImage():
        return None  # a table copied from another program is text and a picture of itself
    for kind in _PICTURES:
        if data.hasFormat(kind):
            return [Attachment(name=_pasted_name(kind), media_type=kind, data=bytes(data.data(kind).data()))]
    image = data.imageData()
    found = as_png(image) if isinstance(image, QImage) else b""
    return [Attachment(name=_pasted_name("image/png"), media_type="image/png", data=found)] if found else None


def may_take(data: QMimeData) -> bool:
    """Whether a drop holds something that goes with a prompt; looks at the kinds only."""
    urls = data.urls()
    return (bool(urls) and all(url.isLocalFile() for url in urls)) or (data.hasImage() and not data.hasText())


def of_path(path: str) -> Attachment:
    """A file by its path."""
    return Attachment(name=file_name(path.rstrip("/")) or path, path=path)


def as_png(image: QImage) -> bytes:
    """A picture as the bytes of a PNG file; empty if there is none."""
    if image.isNull():
        return b""
    held = QByteArray()
    buffer = QBuffer(held)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG", _FAST_PNG)  # type: ignore[call-overload]  # the stubs want bytes, PySide takes text
    buffer.close()
    return bytes(held.data())


def _pasted_name(kind: str) -> str:
    return tr("Pasted picture.{ending}", ending="png" if kind == "image/png" else "jpg")


def is_picture(one: Attachment) -> bool:
    """Whether it is shown as a picture."""
    return one.media_type.startswith("image/") or one.path.lower().endswith(_PICTURE_NAMES)


def tab_anchor(parent: QWidget) -> QWidget:
    """Marks a place in the order of Tab, for widgets that come and go there: Qt would put what comes later at the very end."""
    anchor = QWidget(parent)
    anchor.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    anchor.hide()
    return anchor


class _Chip(QWidget):
    """One attachment: its name, and a button that removes it. ``removed`` has no argument. Delete removes it as well."""

    removed = Signal()

    def __init__(self, hub: ThemeHub, one: Attachment, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self.one = one
        self._text = visible_name(one.name)
        kind = tr("Attached picture: {name}") if is_picture(one) else tr("Attached file: {name}")
        self.setAccessibleName(kind.replace("{name}", self._text))
        self.setToolTip(plain_tip(visible_name(short_path(one.path)) if one.path else self._text))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.close_button = IconButton(hub, "close", tr("Remove {name}", name=self._text), parent=self)
        self.close_button.setToolTip(tr("Remove"))
        self.close_button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.close_button.clicked.connect(self.removed)

    def fit(self, most: int) -> None:
        """Take the width wanted, at most ``most``."""
        width = 6 + 14 + 6 + text_width(self._hub.theme, "small", self._text) + 4 + 20
        self.resize(min(round(width + 1), most, _WIDEST), _CHIP)
        self.close_button.setGeometry(self.width() - 22, 2, 20, 20)

    # Qt's names below.

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.removed.emit()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._hub.theme
        painter = QPainter(self)
        box = QRectF(self.rect())
        rounded(painter, box, theme.radius("small"), fill=theme.color("bg.chip"))
        draw_icon(painter, theme, "image" if is_picture(self.one) else "file", "text.secondary", 6, 5, 14)
        place = QRectF(26, 0, self.width() - 26 - 24, self.height())
        draw_text(painter, theme, place, self._text, style="small", token="text.secondary", elide=Qt.TextElideMode.ElideMiddle)
        if self.hasFocus():
            focus_ring(painter, theme, box, theme.radius("small"))


class AttachmentStrip(QWidget):
    """The chips, in rows. ``changed`` has no argument: other attachments are there. Invariant: each is there once, at most
    `MOST` of them."""

    changed = Signal()

    def __init__(self, hub: ThemeHub, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self._chips: list[_Chip] = []
        self._anchor = tab_anchor(self)
        self.hide()
        hub.changed.connect(self.changed)

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        """What is there, in the order it came."""
        return tuple(chip.one for chip in self._chips)

    def set_attachments(self, attachments: Sequence[Attachment]) -> None:
        """Show these and no others."""
        if tuple(attachments) == self.attachments:
            return
        for chip in self._chips:
            chip.hide()
            chip.deleteLater()
        self._chips = []
        self.add(attachments)
        if not attachments:
            self.hide()
            self.changed.emit()

    def add(self, attachments: Sequence[Attachment]) -> int:
        """Show these too; how many of them found no room."""
        known = set(self.attachments)
        new = [one for one in dict.fromkeys(attachments) if one not in known]
        room = max(0, MOST - len(self._chips))
        for one in new[:room]:
            chip = _Chip(self._hub, one, self)
            chip.removed.connect(lambda gone=chip: self._remove(gone))
            chip.show()
            self._chips.append(chip)
        for before, after in pairwise([self._anchor, *self._chips]):
            QWidget.setTabOrder(before, after)  # they are before the text, whenever they came
        self.setVisible(bool(self._chips))
        if new:
            self.changed.emit()
        return len(new) - len(new[:room])

    def _remove(self, chip: _Chip) -> None:
        place = self._chips.index(chip)
        focused = chip.hasFocus()
        self._chips.remove(chip)
        chip.hide()
        chip.deleteLater()
        self.setVisible(bool(self._chips))
        if focused and self._chips:
            self._chips[min(place, len(self._chips) - 1)].setFocus(Qt.FocusReason.OtherFocusReason)
        self.changed.emit()

    def chips(self) -> tuple[QWidget, ...]:
        """The chips, for the focus order."""
        return tuple(self._chips)

    def lay_out(self, width: int) -> int:
        """Put the chips into rows of a width; returns the height of all."""
        x = y = 0
        for chip in self._chips:
            chip.fit(width)
            if x and x + chip.width() > width:
                x, y = 0, y + _CHIP + _GAP
            chip.move(x, y)
            x += chip.width() + _GAP
        return y + _CHIP if self._chips else 0
