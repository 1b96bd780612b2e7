"""Show how much the store takes, let a person choose from where on that is said, and where it is. UI thread only."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from vibekit_desktop.core.api import StoreSize
from vibekit_desktop.ui.dialogs.asking import Asking
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.theme.style import Dress
from vibekit_desktop.ui.views.segments import PickButton
from vibekit_desktop.ui.views.store_line import amount_words, free_words
from vibekit_desktop.ui.visible import visible_name
from vibekit_desktop.ui.wording import short_path

SHOW = "show"
_GB = 1 << 30
_BUDGETS = (1, 2, 5, 10, 20, 50, 100, 200, 500)


def storage_text(size: StoreSize) -> str:
    """What the store takes and what happens when it is full."""
    taken = tr("{amount} are taken by the copies of files that restoring needs, of all workspaces.", amount=amount_words(size))
    free = tr("{size} are free on their disk.", size=free_words(size.free_bytes)) if size.free_bytes is not None else ""
    full = tr("Above the limit nothing stops and nothing is deleted: you are only told.")
    return "\n".join(part for part in (f"{taken} {free}".strip(), full, visible_name(short_path(size.folder))) if part)


class StorageDialog(Asking[str]):
    """``budget_chosen(gigabytes)``: from there on it is to be said; answered with `show_size`. Answers `SHOW` if the folder is
    to be shown."""

    budget_chosen = Signal(int)

    def __init__(self, hub: ThemeHub, parent: QWidget, size: StoreSize) -> None:
        super().__init__(
            hub,
            parent,
            title=tr("Storage"),
            text=storage_text(size),
            icon="store",
            cancel=tr("Close"),
            go=tr("Show the folder"),
            kind="secondary",
        )
        self.budget = PickButton(hub, tr("Limit"), self.card)
        self.budget.picked.connect(self._picked)
        part = QWidget(self.card)
        row = QHBoxLayout(part)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        self._label = QLabel(tr("Tell me above"), part)
        Dress(self._label, hub, "body", "text.primary")
        row.addWidget(self._label)
        row.addWidget(self.budget)
        row.addStretch(1)
        self.add_part(part, self.budget)
        self.go.setEnabled(bool(size.folder))
        self.show_size(size)

    def show_size(self, size: StoreSize) -> None:
        """What it takes now, and the limit."""
        now = size.budget_bytes // _GB
        budgets = sorted({*_BUDGETS, now})
        self.budget.set_choices([(tr("{n} GB", n=each), each) for each in budgets], now)
        self.say(storage_text(size))

    def _picked(self, value: object) -> None:
        if isinstance(value, int):
            self.budget_chosen.emit(value)

    def agreed(self) -> str:
        """The folder is to be shown."""
        return SHOW

    async def ask(self) -> str:
        """`SHOW`, or empty; the dialog is gone afterwards."""
        answer = await self.wait()
        self.close_now()
        return answer or ""
