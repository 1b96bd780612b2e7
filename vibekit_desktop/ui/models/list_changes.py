"""Turn one list of rows into another with the smallest signals a Qt list model has. UI thread only."""

from collections.abc import Callable, Hashable, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple, Protocol, TypeVar

from PySide6.QtCore import QModelIndex

R = TypeVar("R")
K = TypeVar("K", bound=Hashable)

_ROOT = QModelIndex()


class _Model(Protocol):
    """The part of `QAbstractListModel` that is used here."""

    def beginInsertRows(self, parent: QModelIndex, first: int, last: int, /) -> None: ...
    def endInsertRows(self) -> None: ...
    def beginRemoveRows(self, parent: QModelIndex, first: int, last: int, /) -> None: ...
    def endRemoveRows(self) -> None: ...
    def beginMoveRows(self, source: QModelIndex, first: int, last: int, to: QModelIndex, row: int, /) -> bool: ...
    def endMoveRows(self) -> None: ...
    def index(self, row: int, /) -> QModelIndex: ...

    @property
    def dataChanged(self) -> object: ...


class Step(NamedTuple):
    """A part of two lists: the same in both, or what stands in the one in the place of what stands in the other."""

    same: bool
    old_from: int
    old_to: int
    new_from: int
    new_to: int


def steps_between(old: Sequence[K], new: Sequence[K]) -> list[Step]:
    """What turns one list into another whose common parts stand in the same order, from the start on."""
    in_old, in_new = set(old), set(new)
    if len(in_old) < len(old) or len(in_new) < len(new) or [k for k in old if k in in_new] != [k for k in new if k in in_old]:
        matcher = SequenceMatcher(None, old, new, autojunk=False)
        return [Step(tag == "equal", *where) for tag, *where in matcher.get_opcodes()]
    # Each is there once and the order is kept: one walk is enough, where comparing would cost the square of what differs.
    found: list[Step] = []
    at_old = at_new = 0
    while at_old < len(old) or at_new < len(new):
        begin_old, begin_new = at_old, at_new
        while at_old < len(old) and old[at_old] not in in_new:
            at_old += 1
        while at_new < len(new) and new[at_new] not in in_old:
            at_new += 1
        if (at_old, at_new) != (begin_old, begin_new):
            found.append(Step(False, begin_old, at_old, begin_new, at_new))
        begin_old, begin_new = at_old, at_new
        while at_old < len(old) and at_new < len(new) and old[at_old] == new[at_new]:
            at_old += 1
            at_new += 1
        if at_old > begin_old:
            found.append(Step(True, begin_old, at_old, begin_new, at_new))
    return found


def apply_changes(model: _Model, rows: list[R], wanted: list[R], key: Callable[[R], K]) -> None:
    """Change ``rows`` in place into ``wanted``; rows with the same ``key`` are the same row. Keys must be unique in each list.

    One changed row gives one signal: a row that only moved is moved, not removed and inserted.
    """
    target = {key(row): i for i, row in enumerate(wanted)}
    _remove_missing(model, rows, target, key)
    have = {key(row) for row in rows}
    at = 0
    while at < len(wanted):
        name = key(wanted[at])
        if at < len(rows) and key(rows[at]) == name:
            at += 1
        elif name not in have:
            end = at
            while end < len(wanted) and key(wanted[end]) not in have:
                end += 1
            model.beginInsertRows(_ROOT, at, end - 1)
            rows[at:at] = wanted[at:end]
            model.endInsertRows()
            at = end
        else:
            _move(model, rows, at, target, key, name)
    _tell_changed(model, rows, wanted)


def _remove_missing(model: _Model, rows: list[R], target: dict[K, int], key: Callable[[R], K]) -> None:
    last = len(rows) - 1
    while last >= 0:
        if key(rows[last]) in target:
            last -= 1
            continue
        first = last
        while first > 0 and key(rows[first - 1]) not in target:
            first -= 1
        model.beginRemoveRows(_ROOT, first, last)
        del rows[first : last + 1]
        model.endRemoveRows()
        last = first - 1


def _move(model: _Model, rows: list[R], at: int, target: dict[K, int], key: Callable[[R], K], name: K) -> None:
    """Bring the row called ``name`` to ``at``; or, if only the row at ``at`` is in the way, send that one down."""
    if at + 1 < len(rows) and key(rows[at + 1]) == name:
        goal = target[key(rows[at])]
        end = at + 1
        while end < len(rows) and target[key(rows[end])] < goal:
            end += 1
        model.beginMoveRows(_ROOT, at, at, _ROOT, end)
        rows.insert(end - 1, rows.pop(at))
        model.endMoveRows()
        return
    source = next(i for i in range(at + 1, len(rows)) if key(rows[i]) == name)
    model.beginMoveRows(_ROOT, source, source, _ROOT, at)
    rows.insert(at, rows.pop(source))
    model.endMoveRows()


def _tell_changed(model: _Model, rows: list[R], wanted: list[R]) -> None:
    first = -1
    for i in range(len(wanted) + 1):
        changed = i < len(wanted) and rows[i] != wanted[i]
        if changed:
            rows[i] = wanted[i]
            first = i if first < 0 else first
        elif first >= 0:
            model.dataChanged.emit(model.index(first), model.index(i - 1))  # type: ignore[attr-defined]  # a Qt signal
            first = -1
