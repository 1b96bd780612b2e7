"""Serve the comments of a review to a list view: by file, then by line. UI thread; no I/O."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from vibekit_desktop.core.types.reviews import Comment, PlacedComment, Side
from vibekit_desktop.ui.models.list_changes import apply_changes
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.visible import one_line
from vibekit_desktop.ui.wording import shown_path

COMMENT_ROLE = int(Qt.ItemDataRole.UserRole) + 1
"""The `CommentRow` itself, for the delegate."""


@dataclass(frozen=True, slots=True)
class CommentRow:
    """One comment and where its lines are in what is shown; None is not known."""

    comment: Comment
    place: PlacedComment | None = None

    @property
    def is_gone(self) -> bool:
        """Whether its lines are not in what is shown any more."""
        return self.place is not None and self.place.first_line is None

    @property
    def lines(self) -> tuple[int, int]:
        """The lines it is about, as they are numbered now if that is known."""
        if self.place is not None and self.place.first_line is not None and self.place.last_line is not None:
            return self.place.first_line, self.place.last_line
        return self.comment.first_line, self.comment.last_line

    @property
    def where(self) -> str:
        """ "new line 34", "old lines 3 to 5"."""
        return lines_words(self.comment.side, *self.lines)

    @property
    def state(self) -> str:
        """What is to be known of it, in a word or two."""
        if self.is_gone:
            return tr("lines are gone")
        return tr("sent") if self.comment.sent_at else ""

    @property
    def name(self) -> str:
        """The whole phrase for assistive technology."""
        about = tr("Comment on {path}, {where}", path=shown_path(self.comment.path), where=self.where)
        return ", ".join(part for part in (about, self.state, one_line(self.comment.text)) if part)


def lines_words(side: Side, first: int, last: int) -> str:
    """Lines of one side, inside a sentence."""
    if side is Side.OLD:
        return tr("old line {n}", n=first) if first == last else tr("old lines {first} to {last}", first=first, last=last)
    return tr("new line {n}", n=first) if first == last else tr("new lines {first} to {last}", first=first, last=last)


class CommentListModel(QAbstractListModel):
    """Invariant: rows are sorted by path, side and line; a row stays the same row while its comment does."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[CommentRow] = []
        self._places: dict[str, PlacedComment] = {}

    @property
    def rows(self) -> tuple[CommentRow, ...]:
        """All rows, from the top."""
        return tuple(self._rows)

    def row_at(self, row: int) -> CommentRow | None:
        """The comment in a row, or None outside."""
        return self._rows[row] if 0 <= row < len(self._rows) else None

    def row_of(self, comment: str) -> int:
        """Where a comment stands by its id, or -1."""
        return next((number for number, row in enumerate(self._rows) if row.comment.id == comment), -1)

    def set_comments(self, comments: Sequence[Comment]) -> None:
        """Show other comments."""
        known = {comment.id for comment in comments}
        self._places = {key: place for key, place in self._places.items() if key in known}
        self._show(comments)

    def set_places(self, places: Sequence[PlacedComment]) -> None:
        """Where the comments of one file are in what is shown of it."""
        self._places.update({place.comment.id: place for place in places})
        self._show([row.comment for row in self._rows])

    def forget_places(self) -> None:
        """Other contents are compared: nothing is known of where the lines are in them."""
        self._places = {}
        self._show([row.comment for row in self._rows])

    def _show(self, comments: Sequence[Comment]) -> None:
        rows = [CommentRow(comment, self._places.get(comment.id)) for comment in comments]
        rows.sort(key=lambda row: (row.comment.path, row.lines[0], row.comment.side, row.comment.at))
        apply_changes(self, self._rows, rows, lambda row: row.comment.id)

    # Qt's names below.

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        row = self.row_at(index.row()) if index.isValid() else None
        if row is None:
            return None
        if role == COMMENT_ROLE:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return one_line(row.comment.text)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return row.name
        return None
