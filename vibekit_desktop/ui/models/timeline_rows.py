"""What stands in each row of the timeline, made from the core's `Timeline` values.

Pure: no Qt, no clock of its own (``now_ms`` is given), no I/O. Newest first. Every row has a key that stays the same while the
thing it shows stays the same, so that the model can tell an update from a new row.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from vibekit_desktop.core.types.checkpoints import (
    AfterTurn,
    AtEntry,
    BeforeTurn,
    Coverage,
    EntryKind,
    FileChange,
    Now,
    Point,
    RestoreKind,
    Start,
    State,
    Timeline,
    TimelineEntry,
    parse_point,
)
from vibekit_desktop.core.types.errors import Malformed
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath
from vibekit_desktop.ui.text import tr, tr_n
from vibekit_desktop.ui.visible import show
from vibekit_desktop.ui.wording import duration_text, file_name, moment_text, point_words, shown_path, size_text

FOLD_FROM = 6
"""From this many files on a turn shows "7 files" instead of the list."""

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
    open: bool = False
    in_now: bool = False
    last_in_block: bool = False
    coverage: Coverage | None = None
    old: Point = START
    new: Point = NOW
    undo_to: Point = START
    branch: ChatId | None = None
    buttons: tuple[Button, ...] = ()
    off: frozenset[Button] = frozenset()
    why_off: str = ""
    name: str = ""
    button_names: tuple[str, ...] = field(default=())

    @property
    def path(self) -> WorkspacePath | None:
        """The file the row is about, if it is about one."""
        return self.change.path if self.change else None

    def button_name(self, button: Button) -> str:
        """The whole phrase of a button, "Undo what turn 5 did to docs/export.md"."""
        return self.button_names[self.buttons.index(button)] if button in self.buttons else ""


def rows_of(timeline: Timeline, opened: frozenset[Key] = frozenset(), *, now_ms: int) -> list[TimelineRow]:
    """All rows, newest first. ``opened`` are the keys of the groups and entries that show their files."""
    return _Rows(timeline, opened, now_ms).build()


def coverage_text(coverage: Coverage) -> str:
    """The words of the chip: "Complete", "1 not captured: 48 MB", "2 not captured", or "Partly recorded"."""
    if coverage.complete:
        return tr("Complete")
    if not coverage.skipped:
        return tr("Partly recorded")
    text = tr_n("{n} not captured", "{n} not captured", len(coverage.skipped))
    sizes = [skipped.size for skipped in coverage.skipped if skipped.size]
    return f"{text}: {size_text(sum(sizes))}" if sizes else text


def total(files: Sequence[FileChange]) -> tuple[int | None, int | None]:
    """The sums of the known line counts; None if no count is known."""
    added = [change.lines_added for change in files if change.lines_added is not None]
    removed = [change.lines_removed for change in files if change.lines_removed is not None]
    return (sum(added) if added else None, sum(removed) if removed else None)


class _Rows:
    """One pass over a timeline. Invariant: ``rows`` holds finished rows only, newest first."""

    def __init__(self, timeline: Timeline, opened: frozenset[Key], now_ms: int) -> None:
        self._timeline = timeline
        self._opened = opened
        self._now_ms = now_ms
        self._why_off = "" if timeline.workspace_found else tr("The workspace was not found where it was.")
        self._entries = {entry.entry: entry for entry in timeline.entries if entry.kind is EntryKind.RESTORE}
        self.rows: list[TimelineRow] = []

    def build(self) -> list[TimelineRow]:
        after: Point = Now()
        for entry in reversed(self._timeline.entries):
            match entry.kind:
                case EntryKind.NOW:
                    self._now(entry)
                case EntryKind.TURN:
                    self._turn(entry)
                    after = BeforeTurn(entry.turn)
                case EntryKind.BETWEEN:
                    self._between(entry, after)
                case EntryKind.RESTORE:
                    self._entry(entry, after)
                    after = AtEntry(entry.entry)
        return self.rows

    def _end_of(self, turn: int) -> Point:
        return AfterTurn(turn) if turn else Start()

    def _now(self, entry: TimelineEntry) -> None:
        count = len(entry.files)
        since = tr("turn {turn}", turn=entry.turn) if entry.turn else tr("the start")
        if count:
            detail = tr_n("{n} file changed since {since}", "{n} files changed since {since}", count, since=since)
        else:
            detail = tr("Nothing changed since {since}", since=since)
        key: Key = ("now", 0, "")
        self.rows.append(
            TimelineRow(
                key=key,
                kind=RowKind.NOW,
                title=tr("Now"),
                detail=detail,
                in_now=True,
                last_in_block=not count,
                name=f"{tr('Now')}, {detail}",
            )
        )
        old = self._end_of(entry.turn)
        self._files(entry, "now", 0, old=old, new=Now(), undo_to=old, opened=True, in_now=True)

    def _turn(self, entry: TimelineEntry) -> None:
        turn = entry.turn
        title = tr("Turn {turn}", turn=turn)
        parts = [text for text in (moment_text(entry.at, self._now_ms), duration_text(entry.duration_ms)) if text]
        covered = coverage_text(entry.coverage) if entry.files or not entry.coverage.complete else ""
        buttons = (Button.COVERAGE,) if entry.coverage.skipped else ()
        files = tr_n("{n} file changed", "{n} files changed", len(entry.files)) if entry.files else tr("no files changed")
        self.rows.append(
            TimelineRow(
                key=("turn", turn, ""),
                kind=RowKind.TURN,
                number=turn,
                title=title,
                detail=" · ".join(parts),
                prompt=one_line(entry.prompt),
                coverage=entry.coverage if covered else None,
                buttons=buttons,
                button_names=(coverage_name(turn, entry.coverage),) if buttons else (),
                name=", ".join(part for part in (title, *parts, one_line(entry.prompt), files, covered) if part),
            )
        )
        if entry.files:
            before = BeforeTurn(turn)
            self._files(
                entry, "turn", turn, old=before, new=AfterTurn(turn), undo_to=before, opened=len(entry.files) < FOLD_FROM
            )
        else:
            quiet = tr("No files changed")
            self.rows.append(TimelineRow(key=("quiet", turn, ""), kind=RowKind.QUIET, title=quiet, name=quiet))
        text = tr("Restore to before this turn")
        self.rows.append(
            TimelineRow(
                key=("restore", turn, ""),
                kind=RowKind.RESTORE,
                number=turn,
                title=text,
                undo_to=BeforeTurn(turn),
                buttons=(Button.RESTORE,),
                button_names=(tr("Restore to before turn {turn}", turn=turn),),
                off=frozenset({Button.RESTORE}) if self._why_off else frozenset(),
                why_off=self._why_off,
                last_in_block=True,
                name=tr("Restore to before turn {turn}", turn=turn),
            )
        )

    def _between(self, entry: TimelineEntry, after: Point) -> None:
        if not entry.files:
            return
        since = tr("after turn {turn}", turn=entry.turn) if entry.turn else tr("before the first turn")
        count = len(entry.files)
        title = tr_n("{n} file changed {since}", "{n} files changed {since}", count, since=since)
        key: Key = ("between", entry.turn, "")
        opened = key in self._opened
        self.rows.append(
            TimelineRow(
                key=key,
                kind=RowKind.BETWEEN,
                title=title,
                counts=total(entry.files),
                open=opened,
                buttons=(Button.TOGGLE,),
                button_names=(tr("Show files") if not opened else tr("Hide files"),),
                last_in_block=not opened,
                name=title,
            )
        )
        if opened:
            old = self._end_of(entry.turn)
            self._files(entry, "between", entry.turn, old=old, new=after, undo_to=old, opened=True)

    def _entry(self, entry: TimelineEntry, after: Point) -> None:
        kind = entry.restore_kind
        target = self._entries.get(entry.takes_back)
        if kind in (RestoreKind.UNDO, RestoreKind.REDO) and target is not None:
            # The entry taken back carries "Undone · Redo"; a second row would say the same thing again.
            return
        key: Key = ("entry", entry.entry, "")
        opened = key in self._opened
        title = _entry_title(entry)
        buttons: list[Button] = [Button.TOGGLE] if entry.files else []
        names: list[str] = [tr("Show files") if not opened else tr("Hide files")] if entry.files else []
        if entry.branch_chat_id:
            buttons.append(Button.OPEN_CHAT)
            names.append(tr("Open the branch with the turns that were moved"))
        newest_undo = self._entries.get(self._timeline.can_redo)
        if entry.undone:
            if newest_undo is not None and newest_undo.takes_back == entry.entry:
                buttons.append(Button.REDO)
                names.append(tr("Redo: {what}", what=title))
        elif self._timeline.can_undo == entry.entry:
            buttons.append(Button.TAKE_BACK)
            names.append(tr("Undo: {what}", what=title))
        off = {Button.TAKE_BACK, Button.REDO} & set(buttons) if self._why_off else set()
        state = tr("undone") if entry.undone else ""
        self.rows.append(
            TimelineRow(
                key=key,
                kind=RowKind.ENTRY,
                number=entry.entry,
                title=title,
                detail=moment_text(entry.at, self._now_ms),
                undone=entry.undone,
                open=opened,
                branch=entry.branch_chat_id,
                buttons=tuple(buttons),
                button_names=tuple(names),
                off=frozenset(off),
                why_off=self._why_off if off else "",
                last_in_block=not (opened and entry.files),
                name=", ".join(part for part in (title, state, moment_text(entry.at, self._now_ms)) if part),
            )
        )
        if opened:
            at = AtEntry(entry.entry)
            self._files(entry, "entry", entry.entry, old=at, new=after, undo_to=at, opened=True)

    def _files(
        self,
        entry: TimelineEntry,
        group: str,
        number: int,
        *,
        old: Point,
        new: Point,
        undo_to: Point,
        opened: bool,
        in_now: bool = False,
    ) -> None:
        if not opened:
            key: Key = ("group", number, group)
            is_open = key in self._opened
            title = tr_n("{n} file", "{n} files", len(entry.files))
            self.rows.append(
                TimelineRow(
                    key=key,
                    kind=RowKind.GROUP,
                    title=title,
                    counts=total(entry.files),
                    open=is_open,
                    buttons=(Button.TOGGLE,),
                    button_names=(tr("Hide files") if is_open else tr("Show files"),),
                    name=title,
                )
            )
            if not is_open:
                return
        for index, change in enumerate(entry.files):
            row = self._file(change, f"{group} {change.path}", number, old=old, new=new, undo_to=undo_to)
            ends = group in ("now", "between", "entry") and index == len(entry.files) - 1
            self.rows.append(replace(row, in_now=in_now, last_in_block=ends))

    def _file(self, change: FileChange, key: str, number: int, *, old: Point, new: Point, undo_to: Point) -> TimelineRow:
        buttons = [Button.DIFF]
        names = [diff_name(change, old, new)]
        off: set[Button] = set()
        why = self._why_off
        if change.undone:
            if self._undo_file_in_force(change, undo_to):
                buttons.append(Button.REDO)
                names.append(tr("Redo in {path}", path=shown_path(change.path)))
        else:
            buttons.append(Button.UNDO)
            names.append(undo_name(change, undo_to))
        if self._why_off:
            off |= {Button.UNDO, Button.REDO} & set(buttons)
        remark = ""
        missing = next((state for state in (change.before, change.after) if state.state is State.NOT_CAPTURED), None)
        if change.undone:
            remark = tr("Undone")
        elif missing is not None:
            size = size_text(missing.size) if missing.size else ""
            remark = tr("{size}, not captured", size=size) if size else tr("not captured")
            off |= {Button.DIFF}
            why = tr("No earlier copy was kept.")
            if change.before.state is State.NOT_CAPTURED:
                off |= {Button.UNDO}
        elif change.old_path is not None and not (change.lines_added or change.lines_removed):
            remark = tr("renamed")
        return TimelineRow(
            key=("file", number, key),
            kind=RowKind.FILE,
            number=number,
            title=shown_path(change.path, change.old_path),
            change=change,
            letter=change.status.value,
            counts=(change.lines_added, change.lines_removed),
            remark=remark,
            undone=change.undone,
            old=old,
            new=new,
            undo_to=undo_to,
            buttons=tuple(buttons),
            button_names=tuple(names),
            off=frozenset(off & set(buttons)),
            why_off=why if off else "",
            name=_file_name_phrase(change, remark),
        )

    def _undo_file_in_force(self, change: FileChange, point: Point) -> bool:
        """Whether the next `undo` takes back just the undo of this change, so that "Redo" tells the truth."""
        newest = self._entries.get(self._timeline.can_undo)
        if newest is None or newest.restore_kind is not RestoreKind.UNDO_FILE:
            return False
        return _point_of(newest) == point and any(file.path == change.path for file in newest.files)


def one_line(text: str) -> str:
    """The text without line breaks and repeated blanks, cut where no row is wide enough to show more."""
    return show(" ".join(text[:400].split())).text


def coverage_name(turn: int, coverage: Coverage) -> str:
    """The whole phrase of a coverage chip."""
    count = len(coverage.skipped)
    sizes = [skipped.size for skipped in coverage.skipped if skipped.size]
    files = tr_n("{n} file not captured", "{n} files not captured", count)
    size = f", {size_text(sum(sizes))}" if sizes else ""
    return tr("Coverage of turn {turn}: {files}{size}", turn=turn, files=files, size=size)


def undo_name(change: FileChange, undo_to: Point) -> str:
    """The whole phrase of an Undo button."""
    match undo_to:
        case BeforeTurn(turn):
            return tr("Undo what turn {turn} did to {path}", turn=turn, path=shown_path(change.path))
        case _:
            return tr("Put {path} back to {point}", path=shown_path(change.path), point=point_words(undo_to))


def diff_name(change: FileChange, old: Point, new: Point) -> str:
    """The whole phrase of a Diff button."""
    where = tr("turn {turn}", turn=old.turn) if isinstance(old, BeforeTurn) else tr("since {point}", point=point_words(old))
    counts = _counts_phrase(change)
    return ", ".join(part for part in (tr("Show diff of {path}", path=shown_path(change.path)), where, counts) if part)


def _counts_phrase(change: FileChange) -> str:
    added = tr("{n} added", n=change.lines_added) if change.lines_added else ""
    removed = tr("{n} deleted", n=change.lines_removed) if change.lines_removed else ""
    return ", ".join(part for part in (added, removed) if part)


def _file_name_phrase(change: FileChange, remark: str) -> str:
    words = {"A": tr("added"), "M": tr("modified"), "D": tr("deleted"), "R": tr("renamed")}
    parts = (shown_path(change.path, change.old_path), words[change.status.value], _counts_phrase(change), remark)
    return ", ".join(part for part in parts if part)


def _point_of(entry: TimelineEntry) -> Point | None:
    try:
        return parse_point(entry.point)
    except Malformed:
        return None


def _entry_title(entry: TimelineEntry) -> str:
    point = _point_of(entry)
    words = point_words(point) if point is not None else tr("an earlier state")
    match entry.restore_kind:
        case RestoreKind.UNDO_FILE if entry.files:
            return tr("{file} as it was {point}", file=file_name(shown_path(entry.files[0].path)), point=words)
        case RestoreKind.UNDO:
            return tr("Undid a restore")
        case RestoreKind.REDO:
            return tr("Restored again")
        case _:
            return tr("Restored to {point}", point=words)


def local_now_ms() -> int:
    """The present moment, for views that have no clock given."""
    return int(datetime.now().timestamp() * 1000)
