"""Ask how a point of a chat is to be called. UI thread only."""

from PySide6.QtWidgets import QLineEdit, QWidget

from vibekit_desktop.core.types.checkpoints import Point
from vibekit_desktop.ui.dialogs.asking import Asking
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.wording import point_words

_MOST = 120


class PinPoint(Asking[str]):
    """The name of a point. The field has the focus first, Enter in it means the button; no name, no pin."""

    def __init__(self, hub: ThemeHub, parent: QWidget, point: Point, name: str = "") -> None:
        where = point_words(point)
        super().__init__(
            hub,
            parent,
            title=tr("Rename this point") if name else tr("Pin this point"),
            text=tr("It stands in the timeline under this name, {point}.", point=where),
            icon="pin",
            cancel=tr("Cancel"),
            go=tr("Rename") if name else tr("Pin"),
        )
        self.field = QLineEdit(name, self.card)
        self.field.setMaxLength(_MOST)
        self.field.setPlaceholderText(tr("A name, like “before the rewrite”"))
        self.field.setAccessibleName(tr("Name of the point {point}", point=where))
        self.field.selectAll()
        self.field.textChanged.connect(self._typed)
        self.field.returnPressed.connect(self.go.click)
        self.add_part(self.field, gap=10)
        self.stops = [self.field, self.go, self.cancel]
        self._typed(name)

    def _typed(self, text: str) -> None:
        self.go.setEnabled(bool(text.strip()))

    def agreed(self) -> str | None:
        """The name, or None while there is none."""
        return " ".join(self.field.text().split()) or None

    async def ask(self) -> str | None:
        """The name, or None; the dialog is gone afterwards."""
        answer = await self.wait()
        self.close_now()
        return answer
