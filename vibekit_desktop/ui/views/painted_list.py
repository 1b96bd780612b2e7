"""What all lists whose rows a delegate paints have in common. UI thread only."""

from PySide6.QtCore import QAbstractItemModel, Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QStyledItemDelegate, QWidget

from vibekit_desktop.ui.theme.palette import ThemeHub


class PaintedList(QListView):
    """A list without frame, ground or editors, that scrolls by the pixel.

    Whoever makes it keeps the delegate: Qt does not own it. Invariant: after a change of the theme every row is laid out and
    painted anew; one that is not seen when it is seen again.
    """

    def __init__(
        self,
        hub: ThemeHub,
        model: QAbstractItemModel,
        delegate: QStyledItemDelegate,
        *,
        name: str,
        batch: int = 0,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setModel(model)
        self.setItemDelegate(delegate)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.viewport().setAutoFillBackground(False)  # the ground is the pane's
        self.setMouseTracking(True)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        if batch:
            # A long list is laid out in steps; what is in sight is there at once.
            self.setLayoutMode(QListView.LayoutMode.Batched)
            self.setBatchSize(batch)
        self.setAccessibleName(name)
        self._stale = False
        hub.changed.connect(self._lay_out_anew)

    def _lay_out_anew(self) -> None:
        self._stale = not self.isVisible()
        if self._stale:
            return
        self.doItemsLayout()  # now: Qt would do it in the middle of the next frame
        self.viewport().update()

    # Qt's names below.

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self._lay_out_anew()
