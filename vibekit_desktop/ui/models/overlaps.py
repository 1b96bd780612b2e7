"""What is asked where an undo and later work meet: rows of overlaps, what was decided of each, the sentences around them.

Pure except for `OverlapsModel`, which serves the rows to a list view. The wording is that of the table of wording.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from vibekit_desktop.core.types.checkpoints import AfterTurn, BeforeTurn
from vibekit_desktop.core.types.ids import WorkspacePath
from vibekit_desktop.core.types.reviews import Decision, Decisions, InversePlan, InverseRequest, Overlap, OverlapAt
from vibekit_desktop.ui.text import tr, tr_n
from vibekit_desktop.ui.wording import file_name, shown_path

OVERLAP_ROLE = int(Qt.ItemDataRole.UserRole) + 1
"""The `OverlapRow` itself, for the delegate."""

Key = tuple[WorkspacePath, int]


def key_of(overlap: OverlapAt) -> Key:
    """What a decision about an overlap is kept under."""
    return overlap.path, overlap.number


@dataclass(frozen=True, slots=True)
class OverlapRow:
    """One overlap and what was decided of it."""

    overlap: OverlapAt
    decision: Decision | None = None

    @property
    def where(self) -> str:
        """Which part of the file."""
        overlap = self.overlap
        match overlap.kind:
            case Overlap.FILE:
                return tr("the whole file")
            case Overlap.MODE:
                return tr("its permissions")
            case Overlap.LINES if overlap.last_line < overlap.first_line:
                return tr("before line {n}", n=overlap.first_line)
            case Overlap.LINES if overlap.first_line == overlap.last_line:
                return tr("line {n}", n=overlap.first_line)
            case Overlap.LINES:
                return tr("lines {first} to {last}", first=overlap.first_line, last=overlap.last_line)

    @property
    def state(self) -> str:
        """What was decided, in a word or two."""
        words = {Decision.KEEP: tr("keep"), Decision.UNDO: tr("undo")}
        return words[self.decision] if self.decision is not None else tr("not decided")

    @property
    def name(self) -> str:
        """The whole phrase for assistive technology."""
        return f"{shown_path(self.overlap.path)}, {self.where}, {self.state}"


def change_name(request: InverseRequest) -> str:
    """What is to be undone, as the subject of a sentence: "turn 5"."""
    if isinstance(request.old, BeforeTurn) and request.new == AfterTurn(request.old.turn):
        return tr("turn {turn}", turn=request.old.turn)
    return tr("this change")


def whose_lines(plan: InversePlan) -> str:
    """Who changed the same lines later, as the beginning of a sentence; later turns of the same chat are nobody else."""
    who = {overlap.changed_by for overlap in plan.overlaps}
    if who == {"user"}:
        return tr("Your lines")
    return tr("Later lines") if who <= {"user", "unknown", plan.request.chat} else tr("Lines of another chat")


def overlaps_title(plan: InversePlan) -> str:
    """What the dialog says first."""
    return tr_n(
        "{who} and {what} overlap in {n} place",
        "{who} and {what} overlap in {n} places",
        len(plan.overlaps),
        who=whose_lines(plan),
        what=change_name(plan.request),
    )


def overlaps_summary(plan: InversePlan) -> str:
    """What is to be done, and what happens until then."""
    files = len({overlap.path for overlap in plan.overlaps})
    first = next((file_name(shown_path(overlap.path)) for overlap in plan.overlaps), "")
    where = first if files == 1 else tr_n("{n} file", "{n} files", files)
    return tr("Decide for each place in {where}. Nothing is written before.", where=where)


def decisions_of(decided: Mapping[Key, Decision]) -> Decisions:
    """What was decided, as the core takes it."""
    return tuple((path, number, decision) for (path, number), decision in sorted(decided.items()))


class OverlapsModel(QAbstractListModel):
    """The overlaps of a plan. Invariant: a decision stays with its place of the file while the plan is made again."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[OverlapRow] = []

    @property
    def rows(self) -> tuple[OverlapRow, ...]:
        """All rows in order."""
        return tuple(self._rows)

    @property
    def decided(self) -> dict[Key, Decision]:
        """What was decided so far."""
        return {key_of(row.overlap): row.decision for row in self._rows if row.decision is not None}

    def set_overlaps(self, overlaps: Sequence[OverlapAt], decided: Mapping[Key, Decision]) -> None:
        """Show other overlaps."""
        self.beginResetModel()
        self._rows = [OverlapRow(overlap, decided.get(key_of(overlap))) for overlap in overlaps]
        self.endResetModel()

    def decide(self, row: int, decision: Decision) -> None:
        """Something was decided of one of them."""
        if 0 <= row < len(self._rows):
            self._rows[row] = OverlapRow(self._rows[row].overlap, decision)
            self.dataChanged.emit(self.index(row), self.index(row))

    def row_at(self, row: int) -> OverlapRow | None:
        """The row, or None outside."""
        return self._rows[row] if 0 <= row < len(self._rows) else None

    def next_open(self, row: int) -> int:
        """The next row after this one, round to the top, that is not decided; -1 if all are."""
        order = (*range(row + 1, len(self._rows)), *range(min(row + 1, len(self._rows))))
        return next((number for number in order if self._rows[number].decision is None), -1)

    # Qt's names below.

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        row = self.row_at(index.row()) if index.isValid() else None
        if row is None:
            return None
        if role == OVERLAP_ROLE:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return f"{shown_path(row.overlap.path)}, {row.where}"
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return row.name
        return None
