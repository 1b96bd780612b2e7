"""What a restore preview shows, made from a `RestorePlan`: groups in order, sentences, the text of the primary button.

Pure except for `RestoreItemsModel`, which serves the rows to a list view. The wording is that of the table of wording.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from vibekit_desktop.core.types.checkpoints import (
    Action,
    AfterTurn,
    LeaveReason,
    PlannedFile,
    RestoreKind,
    RestorePlan,
    Scope,
    State,
)
from vibekit_desktop.core.types.ids import WorkspacePath
from vibekit_desktop.ui.text import tr, tr_n
from vibekit_desktop.ui.wording import change_words, leave_text, point_words, shown_path

ITEM_ROLE = int(Qt.ItemDataRole.UserRole) + 1
"""The `RestoreRow` itself, for the delegate."""


class Group(StrEnum):
    """The groups of the list, in the order in which they are shown."""

    MINE = "mine"
    REWRITTEN = "rewritten"
    DELETED = "deleted"
    BROUGHT_BACK = "brought-back"
    LEFT_ALONE = "left-alone"


ICONS = {
    Group.MINE: ("user", "warning.text"),
    Group.REWRITTEN: ("edit", "text.secondary"),
    Group.DELETED: ("file-deleted", "text.secondary"),
    Group.BROUGHT_BACK: ("file-added", "text.secondary"),
    Group.LEFT_ALONE: ("lock", "text.secondary"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreRow:
    """One row: a group's head (``file`` is None) or a file with its choice. ``restores``: it is set to Restore."""

    group: Group
    file: PlannedFile | None = None
    title: str = ""
    remark: str = ""
    count: int = 0
    letter: str = ""
    chooses: bool = False
    restores: bool = False
    stale: bool = False

    @property
    def path(self) -> WorkspacePath | None:
        """The file's path, or None for a head."""
        return self.file.path if self.file else None

    @property
    def name(self) -> str:
        """The whole phrase for assistive technology."""
        if self.file is None:
            return ", ".join(part for part in (self.title, f"{self.count:,}", self.remark) if part)
        choice = (tr("restore") if self.restores else tr("keep mine")) if self.chooses else ""
        return ", ".join(part for part in (self.title, choice, self.remark) if part)


def may_choose(file: PlannedFile) -> bool:
    """Whether Keep mine | Restore is offered: somebody changed it after this chat, and it can be restored."""
    if file.changed_by is None:
        return False
    return file.action is not Action.LEAVE or file.reason in (LeaveReason.CHANGED_SINCE, LeaveReason.CHANGED_LATER)


def group_of(file: PlannedFile) -> Group:
    """Where a file stands in the list."""
    if may_choose(file):
        return Group.MINE
    match file.action:
        case Action.LEAVE:
            return Group.LEFT_ALONE
        case Action.DELETE:
            return Group.DELETED
        case Action.CREATE:
            return Group.BROUGHT_BACK
        case Action.WRITE | Action.MODE:
            return Group.REWRITTEN


def letter_of(file: PlannedFile) -> str:
    """A, M or D: what restoring the file would do to it."""
    if file.current.state is State.ABSENT and file.wanted.state is not State.ABSENT:
        return "A"
    if file.wanted.state is State.ABSENT and file.current.state is not State.ABSENT:
        return "D"
    return "M"


@dataclass(frozen=True, slots=True)
class _Slot:
    """What a row is made of, when it is seen: a restore may have tens of thousands. A head has a count and no file."""

    group: Group
    file: PlannedFile | None
    count: int = 0
    stale: bool = False

    @property
    def place(self) -> tuple[Group, WorkspacePath | None]:
        return self.group, None if self.file is None else self.file.path

    def row(self) -> RestoreRow:
        if self.file is not None:
            return _file_row(self.group, self.file, stale=self.stale)
        return RestoreRow(group=self.group, title=group_title(self.group), remark=_group_remark(self.group), count=self.count)


def _slots_of(plan: RestorePlan, stale: frozenset[str]) -> list[_Slot]:
    """Heads and files in order; empty groups are absent. ``stale`` are paths that changed a moment ago."""
    groups: dict[Group, list[PlannedFile]] = {group: [] for group in Group}
    for file in plan.files:
        groups[group_of(file)].append(file)
    slots: list[_Slot] = []
    for group, files in groups.items():
        if files:
            slots.append(_Slot(group, None, count=len(files)))
            slots.extend(_Slot(group, file, stale=file.path in stale) for file in files)
    return slots


def group_title(group: Group) -> str:
    """A group's words."""
    return {
        Group.MINE: tr("You changed these after the agent"),
        Group.REWRITTEN: tr("Rewritten"),
        Group.DELETED: tr("Deleted"),
        Group.BROUGHT_BACK: tr("Brought back"),
        Group.LEFT_ALONE: tr("Left alone"),
    }[group]


def _group_remark(group: Group) -> str:
    return {Group.MINE: tr("choose"), Group.DELETED: tr("did not exist then")}.get(group, "")


def _file_row(group: Group, file: PlannedFile, *, stale: bool) -> RestoreRow:
    remark = ""
    if group is Group.LEFT_ALONE:
        remark = leave_text(file.reason, file.current.size)
        if file.reason == LeaveReason.SAME and file.current.state is State.ABSENT:
            remark = tr("Not there, as it was then.")
    elif group is Group.MINE:
        remark = _changed_by(file)
    elif file.action is Action.MODE:
        remark = tr("permissions only")
    elif file.hard_linked:
        remark = tr("hard-linked: gets a file of its own")
    elif State.FOLDER in (file.current.state, file.wanted.state):
        remark = tr("folder")
    return RestoreRow(
        group=group,
        file=file,
        title=shown_path(file.path),
        remark=remark,
        letter=letter_of(file),
        chooses=group is Group.MINE,
        restores=group is Group.MINE and file.action is not Action.LEAVE,
        stale=stale,
    )


def _changed_by(file: PlannedFile) -> str:
    match file.changed_by:
        case "user":
            return tr("edited by you")
        case "unknown" | None:
            return tr("found in the agent's turn, may be yours") if file.may_be_yours else tr("may be yours")
        case _:
            return tr("by another chat")


def differing(old: RestorePlan, new: RestorePlan) -> list[str]:
    """The paths of which two plans say something else."""
    before, after = ({file.path: file for file in plan.files} for plan in (old, new))
    return sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))


def title_of(plan: RestorePlan) -> str:
    """The dialog's question."""
    match plan.kind:
        case RestoreKind.UNDO:
            return tr("Undo the last restore?")
        case RestoreKind.REDO:
            return tr("Restore again what was undone?")
        case RestoreKind.UNDO_FILE:
            return tr("Put the file back to {point}?", point=point_words(plan.point))
        case RestoreKind.UNDO_TURN | RestoreKind.UNDO_HUNK:
            return tr("Undo {what}, and keep later work?", what=change_words(plan.point, plan.upto))
        case RestoreKind.RESTORE:
            return tr("Restore the workspace to {point}?", point=point_words(plan.point))


def summary_of(plan: RestorePlan) -> str:
    """The sentences under the question; under Chat only, what happens to the chat."""
    if plan.scope is Scope.CHAT:
        return moved_text(plan)
    groups = [group_of(file) for file in plan.files]
    acts = plan.acts
    sentences: list[str] = []
    if acts:
        parts = [
            text
            for count, text in (
                (_count(acts, Action.WRITE, Action.MODE), tr("{n} rewritten")),
                (_count(acts, Action.DELETE), tr("{n} deleted")),
                (_count(acts, Action.CREATE), tr("{n} brought back")),
            )
            if count
            for text in (text.replace("{n}", f"{count:,}"),)
        ]
        will = tr_n("{n} file will change", "{n} files will change", len(acts))
        sentences.append(f"{will}: {', '.join(parts)}.")
    else:
        sentences.append(tr("No file will change."))
    kept = sum(1 for file in plan.files if may_choose(file) and file.action is Action.LEAVE)
    if kept:
        sentences.append(
            tr_n(
                "{n} file you edited is kept unless you choose otherwise.",
                "{n} files you edited are kept unless you choose otherwise.",
                kept,
            )
        )
    left = groups.count(Group.LEFT_ALONE)
    if left:
        sentences.append(tr_n("{n} file is left alone.", "{n} files are left alone.", left))
    return " ".join(sentences)


def _count(files: Sequence[PlannedFile], *actions: Action) -> int:
    return sum(1 for file in files if file.action in actions)


def primary_text(plan: RestorePlan) -> str:
    """What the primary button says; empty if there is nothing to do (then it is off and says "Nothing to restore")."""
    count = len(plan.acts) if plan.scope is not Scope.CHAT else 0
    chat = plan.scope is not Scope.FILES and (plan.cuts or plan.brings_back > 0)
    if count and chat:
        return tr_n("Restore {n} file and the chat", "Restore {n} files and the chat", count)
    if count:
        return tr_n("Restore {n} file", "Restore {n} files", count)
    return tr("Restore the chat") if chat else ""


def scope_note(plan: RestorePlan) -> str:
    """What the scope means for the chat, right of the radios."""
    match plan.scope:
        case Scope.CHAT:
            return tr("Files stay as they are on disk.")
        case Scope.FILES:
            last = plan.cut_turns[1] if plan.cut_turns else 0
            return tr("The chat stays at turn {turn}.", turn=last) if last else tr("The chat stays as it is.")
        case Scope.BOTH:
            return moved_text(plan)


def moved_text(plan: RestorePlan) -> str:
    """What becomes of the turns that are cut away."""
    if plan.cut_turns is None:
        if plan.brings_back:
            return tr("The turns that were moved to a branch come back.")
        turn = plan.point.turn if isinstance(plan.point, AfterTurn) else 0
        return tr("The chat stays at turn {turn}.", turn=turn) if turn else tr("The chat stays as it is.")
    first, last = plan.cut_turns
    if first == last:
        return tr("Turn {turn} moves to a branch; nothing is deleted.", turn=first)
    return tr("Turns {first} to {last} move to a branch; nothing is deleted.", first=first, last=last)


class RestoreItemsModel(QAbstractListModel):
    """The rows of a plan. Invariant: the heads and files of the present plan, in order, without empty groups.

    A plan with the same paths in the same groups changes rows in place, any other resets.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._slots: list[_Slot] = []
        self._made: dict[int, RestoreRow] = {}

    @property
    def rows(self) -> tuple[RestoreRow, ...]:
        """All rows in order."""
        return tuple(slot.row() for slot in self._slots)

    def set_plan(self, plan: RestorePlan, stale: frozenset[str] = frozenset()) -> None:
        """Show another plan."""
        new = _slots_of(plan, stale)
        old = self._slots
        if len(new) == len(old) and all(one.place == other.place for one, other in zip(new, old, strict=True)):
            changed = [position for position, slot in enumerate(new) if slot != old[position]]
            self._slots = new
            for position in changed:
                self._made.pop(position, None)
                self.dataChanged.emit(self.index(position), self.index(position))
            return
        self.beginResetModel()
        self._slots = new
        self._made.clear()
        self.endResetModel()

    def row_at(self, row: int) -> RestoreRow | None:
        """The row, or None outside."""
        if not 0 <= row < len(self._slots):
            return None
        if row not in self._made:
            self._made[row] = self._slots[row].row()
        return self._made[row]

    def row_of(self, path: WorkspacePath) -> int:
        """Where a file stands, or -1."""
        return next((at for at, slot in enumerate(self._slots) if slot.file is not None and slot.file.path == path), -1)

    # Qt's names below.

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._slots)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        row = self.row_at(index.row()) if index.isValid() else None
        if row is None:
            return None
        if role == ITEM_ROLE:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return row.title
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return row.name
        return None

    def flags(self, index: QModelIndex | QPersistentModelIndex) -> Qt.ItemFlag:
        row = self.row_at(index.row()) if index.isValid() else None
        if row is not None and row.file is None:
            return Qt.ItemFlag.ItemIsEnabled
        return super().flags(index)
