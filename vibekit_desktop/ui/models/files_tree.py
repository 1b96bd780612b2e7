"""Serve the files that a chat changed to a list view: flat, or as a tree whose folders open and close; filtered by a text.

The tree is a list of the rows in sight, each with its depth, so that hundreds of files cost what is seen of them. Folders with
nothing but one folder in them are one row. UI thread; no I/O.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from vibekit_desktop.core.types.checkpoints import Start, State
from vibekit_desktop.core.types.ids import WorkspacePath
from vibekit_desktop.ui.models.changed_files import ChangedFile, totals_of
from vibekit_desktop.ui.models.list_changes import apply_changes
from vibekit_desktop.ui.text import tr, tr_n
from vibekit_desktop.ui.wording import file_name, point_words, shown_path

TREE_ROLE = int(Qt.ItemDataRole.UserRole) + 1
"""The `TreeRow` itself, for the delegate."""


class FileButton(StrEnum):
    """What can be pressed in a row, in the order of Left and Right."""

    TOGGLE = "toggle"
    DIFF = "diff"
    UNDO = "undo"


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeRow:
    """A file, or a folder with ``count`` files in it. ``title`` is what is painted: in the tree a name, else the path."""

    title: str
    depth: int = 0
    file: ChangedFile | None = None
    folder: str = ""
    count: int = 0
    counts: tuple[int | None, int | None] = (None, None)
    open: bool = True
    why_off: str = ""
    """Why Undo can't be pressed, or empty."""

    @property
    def key(self) -> tuple[str, str]:
        """The same while the row is about the same thing."""
        return ("file", self.file.path) if self.file is not None else ("folder", self.folder)

    @property
    def path(self) -> WorkspacePath | None:
        """The file, or None for a folder."""
        return self.file.path if self.file is not None else None

    @property
    def buttons(self) -> tuple[FileButton, ...]:
        """What can be pressed."""
        return (FileButton.TOGGLE,) if self.file is None else (FileButton.DIFF, FileButton.UNDO)

    @property
    def name(self) -> str:
        """The whole phrase for assistive technology."""
        if self.file is None:
            files = tr_n("{n} file", "{n} files", self.count)
            return tr("Folder {path}, {files}, {state}", path=self.folder, files=files, state=self._state())
        file = self.file
        words = {"A": tr("added"), "M": tr("modified"), "D": tr("deleted"), "R": tr("renamed")}
        by = tr("last written by {who}", who=file.by) if file.by else ""
        conflict = tr("conflict") if file.conflict else ""
        path = shown_path(file.path, file.old_path)
        parts = (path, words.get(file.letter, ""), *self._counted(), file.remark, by, conflict)
        return ", ".join(part for part in parts if part)

    def button_name(self, button: FileButton) -> str:
        """The whole phrase of a button."""
        if self.file is None:
            return (
                tr("Hide the files in {path}", path=self.folder)
                if self.open
                else tr("Show the files in {path}", path=self.folder)
            )
        path = shown_path(self.file.path)
        if button is FileButton.UNDO:
            return tr("Put {path} back to {point}", path=path, point=point_words(Start()))
        shown = tr("Show diff of {path}", path=path)
        since = tr("since {point}", point=point_words(Start()))
        return ", ".join(part for part in (shown, since, *self._counted()) if part)

    def _counted(self) -> tuple[str, str]:
        added, removed = self.counts
        return tr("{n} added", n=added) if added else "", tr("{n} deleted", n=removed) if removed else ""

    def _state(self) -> str:
        return tr("open") if self.open else tr("closed")


@dataclass(slots=True)
class _Folder:
    """One folder while the tree is made."""

    path: str
    folders: dict[str, "_Folder"] = field(default_factory=dict)
    files: list[ChangedFile] = field(default_factory=list)

    def all(self) -> list[ChangedFile]:
        """Every file below."""
        found: list[ChangedFile] = []
        waiting = [self]
        while waiting:
            folder = waiting.pop()
            found += folder.files
            waiting += folder.folders.values()
        return found


class FilesTreeModel(QAbstractListModel):
    """Invariant: ``rows`` follow from the files, the filter, what is closed, and whether it is a tree."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._files: tuple[ChangedFile, ...] = ()
        self._rows: list[TreeRow] = []
        self._closed: set[str] = set()
        self._filter = ""
        self._as_tree = False
        self._why_off = ""
        self._held = ""

    @property
    def files(self) -> tuple[ChangedFile, ...]:
        """All files, whether shown or not."""
        return self._files

    @property
    def rows(self) -> Sequence[TreeRow]:
        """The rows in the list."""
        return tuple(self._rows)

    @property
    def as_tree(self) -> bool:
        """Whether folders are rows of their own."""
        return self._as_tree

    def set_files(self, files: Sequence[ChangedFile], *, why_off: str = "") -> None:
        """Show other files; ``why_off``: why nothing can be undone, whatever the file."""
        self._files, self._why_off = tuple(files), why_off
        self._update()

    def set_filter(self, text: str) -> None:
        """Show only paths that contain every word of ``text``, whatever the case. While there is one every folder is open."""
        self._filter = text
        self._update()

    def set_tree(self, as_tree: bool) -> None:
        """As a tree, or as a flat list."""
        self._as_tree = as_tree
        self._update()

    @property
    def held(self) -> str:
        """Why nothing can be undone at the moment, or empty. The rows are the same ones; views ask `why_off`."""
        return self._held

    def set_held(self, why: str) -> None:
        """Let Undo wait; empty frees it. Whoever shows the rows paints them again."""
        self._held = why

    def why_off(self, row: TreeRow, button: FileButton) -> str:
        """Why a button can't be pressed, or empty."""
        if button is not FileButton.UNDO:
            return ""
        return row.why_off or self._held

    def buttons_of(self, row: TreeRow) -> tuple[FileButton, ...]:
        """What can be pressed in a row, in the order of Left and Right."""
        return row.buttons

    def button_name(self, row: TreeRow, button: FileButton) -> str:
        """The whole phrase of a button."""
        return row.button_name(button)

    def toggle(self, row: int) -> None:
        """Open or close the folder in a row."""
        found = self.row_at(row)
        if found is not None and found.file is None:
            self._closed ^= {found.folder}
            self._update()

    def fold_all(self, folded: bool) -> None:
        """Close all folders, or open them."""
        self._closed = _folders(self._files) if folded else set()
        self._update()

    def row_at(self, row: int) -> TreeRow | None:
        """The row, or None outside."""
        return self._rows[row] if 0 <= row < len(self._rows) else None

    def row_of(self, path: WorkspacePath) -> int:
        """Where a file stands, or -1."""
        return next((index for index, row in enumerate(self._rows) if row.path == path), -1)

    def parent_of(self, row: int) -> int:
        """The row of the folder that a row is in, or -1."""
        depth = self._rows[row].depth if 0 <= row < len(self._rows) else 0
        return next((above for above in range(row - 1, -1, -1) if self._rows[above].depth < depth), -1)

    # Making the rows.

    def _update(self) -> None:
        words = self._filter.casefold().split()
        files = [file for file in self._files if all(word in file.path.casefold() for word in words)]
        made = self._tree(files) if self._as_tree else [self._row(file, shown_path(file.path, file.old_path)) for file in files]
        apply_changes(self, self._rows, made, lambda row: row.key)

    def _row(self, file: ChangedFile, title: str, depth: int = 0) -> TreeRow:
        why = self._why_off
        if not why and file.is_back:
            why = tr("It is as it was at the start of the chat.")
        if not why and file.before.state in (State.NOT_CAPTURED, State.UNKNOWN):
            why = tr("No earlier copy was kept.")
        return TreeRow(title=title, depth=depth, file=file, counts=file.counts, why_off=why)

    def _tree(self, files: list[ChangedFile]) -> list[TreeRow]:
        rows: list[TreeRow] = []
        # Folders wait on a stack of our own: a path may have more of them than calls can be nested.
        waiting: list[tuple[int, str, _Folder | ChangedFile]] = _inside(_tree_of(files), 0)
        while waiting:
            depth, title, one = waiting.pop()
            if isinstance(one, ChangedFile):
                rows.append(self._row(one, title, depth))
                continue
            while not one.files and len(one.folders) == 1:
                inner, one = next(iter(one.folders.items()))
                title = f"{title}/{inner}"
            inside = one.all()
            is_open = bool(self._filter.strip()) or one.path not in self._closed
            rows.append(
                TreeRow(
                    title=shown_path(title),
                    depth=depth,
                    folder=one.path,
                    count=len(inside),
                    counts=totals_of(inside),
                    open=is_open,
                )
            )
            if is_open:
                waiting += _inside(one, depth + 1)
        return rows

    # Qt's names below.

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        row = self.row_at(index.row()) if index.isValid() else None
        if row is None:
            return None
        if role == TREE_ROLE:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return row.title
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return row.name
        if role == Qt.ItemDataRole.AccessibleDescriptionRole:
            return "; ".join(row.button_name(button) for button in row.buttons)
        return None


def _inside(folder: _Folder, depth: int) -> list[tuple[int, str, _Folder | ChangedFile]]:
    """What is in a folder, the last first: folders stand before files, both by name."""
    folders = sorted(folder.folders, key=lambda name: (name.casefold(), name), reverse=True)
    files = sorted(folder.files, key=lambda file: (file.path.casefold(), file.path), reverse=True)
    found: list[tuple[int, str, _Folder | ChangedFile]] = [(depth, file_name(shown_path(file.path)), file) for file in files]
    return [*found, *((depth, name, folder.folders[name]) for name in folders)]


def _tree_of(files: Sequence[ChangedFile]) -> _Folder:
    root = _Folder("")
    for file in files:
        at = root
        for part in file.path.split("/")[:-1]:
            path = f"{at.path}/{part}" if at.path else part
            at = at.folders.setdefault(part, _Folder(path))
        at.files.append(file)
    return root


def _folders(files: Sequence[ChangedFile]) -> set[str]:
    """The path of every folder above a file."""
    found: set[str] = set()
    for file in files:
        path = file.path.rpartition("/")[0]
        while path and path not in found:
            found.add(path)
            path = path.rpartition("/")[0]
    return found
