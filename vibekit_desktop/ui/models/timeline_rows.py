"""What one row of the timeline is, as a value: its words, what it points at, what can be pressed. Pure.

Every row has a key that stays the same while the thing it shows stays the same, so that the model can tell an update from a new
row. `timeline_build` makes them.
"""

from dataclasses import dataclass
from enum import StrEnum

from vibekit_desktop.core.types.checkpoints import AtEntry, BeforeTurn, Coverage, FileChange, Now, Point, Start
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath
from vibekit_desktop.ui.models.timeline_phrases import (
    coverage_name,
    diff_name,
    file_phrase,
    undo_name,
)
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.wording import shown_path

START = Start()
NOW = Now()

Key = tuple[str, int, str]


class RowKind(StrEnum):
    """What a row is; the view's geometry depends on nothing else."""

    NOW = "now"
    TURN = "turn"
    BETWEEN = "between"
    ENTRY = "entry"
    FILE = "file"
    GROUP = "group"
    QUIET = "quiet"
    RESTORE = "restore"
    PIN = "pin"


class Button(StrEnum):
    """What can be pressed in a row, in the order of Left and Right."""

    TOGGLE = "toggle"
    COVERAGE = "coverage"
    OPEN_CHAT = "open-chat"
    DIFF = "diff"
    UNDO = "undo"
    RESTORE = "restore"
    TAKE_BACK = "take-back"
    REDO = "redo"


HELD = frozenset({Button.UNDO, Button.REDO, Button.RESTORE, Button.TAKE_BACK})
"""What waits while a turn runs."""


@dataclass(frozen=True, slots=True)
class Running:
    """The turn that runs, and since when."""

    turn: int
    began_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineRow:
    """One row: its words, what it points at, what can be pressed, and the whole phrases for assistive technology."""

    key: Key
    kind: RowKind
    number: int = 0
    title: str = ""
    detail: str = ""
    prompt: str = ""
    change: FileChange | None = None
    letter: str = ""
    counts: tuple[int | None, int | None] = (None, None)
    remark: str = ""
    undone: bool = False
    conflict: bool = False
    """Somebody else's content was here, and nobody has settled that."""
    by_chat: bool = False
    """Of changes between turns: another chat is known to have made all of them."""
    open: bool = False
    in_now: bool = False
    last_in_block: bool = False
    coverage: Coverage | None = None
    running_since: int = -1
    """Of a turn that runs: when it began, 0 if that is not known."""
    old: Point = START
    new: Point = NOW
    undo_to: Point = START
    branch: ChatId | None = None
    buttons: tuple[Button, ...] = ()
    off: frozenset[Button] = frozenset()
    why_off: str = ""
    spoken: str = ""

    @property
    def name(self) -> str:
        """The whole phrase for assistive technology; made when asked for, timelines have thousands of rows."""
        if self.spoken or self.change is None:
            return self.spoken or self.title
        conflict = tr("conflict") if self.conflict else ""
        return ", ".join(part for part in (file_phrase(self.change, self.remark), conflict) if part)

    @property
    def point(self) -> Point | None:
        """The point that the row stands for, so that it can be pinned or restored to; None for what has none of its own."""
        match self.kind:
            case RowKind.TURN if self.number and self.running_since < 0:
                return BeforeTurn(self.number)
            case RowKind.RESTORE | RowKind.PIN:
                return self.undo_to
            case RowKind.ENTRY if self.number:
                return AtEntry(self.number)
            case RowKind.FILE if isinstance(self.old, BeforeTurn):
                return self.old
            case _:
                return None

    @property
    def path(self) -> WorkspacePath | None:
        """The file the row is about, if it is about one."""
        return self.change.path if self.change else None

    def button_name(self, button: Button) -> str:
        """The whole phrase of a button, "Undo what turn 5 did to docs/export.md"; empty if the row has no such button."""
        return _button_phrase(self, button) if button in self.buttons else ""

    @property
    def button_names(self) -> tuple[str, ...]:
        """The phrases of all buttons, in order."""
        return tuple(_button_phrase(self, button) for button in self.buttons)


def _button_phrase(row: TimelineRow, button: Button) -> str:
    change = row.change
    match button:
        case Button.DIFF if change is not None:
            conflict = tr("conflict") if row.conflict else ""
            return ", ".join(part for part in (diff_name(change, row.old), conflict) if part)
        case Button.UNDO if change is not None:
            return undo_name(change, row.undo_to)
        case Button.REDO if change is not None:
            return tr("Redo in {path}", path=shown_path(change.path))
        case Button.COVERAGE if row.coverage is not None:
            return coverage_name(row.number, row.coverage)
        case Button.RESTORE:
            return row.spoken
        case Button.TOGGLE:
            return tr("Hide files") if row.open else tr("Show files")
        case Button.OPEN_CHAT:
            return tr("Open the branch with the turns that were moved")
        case Button.TAKE_BACK:
            return tr("Undo: {what}", what=row.title)
        case _:
            return tr("Redo: {what}", what=row.title)
