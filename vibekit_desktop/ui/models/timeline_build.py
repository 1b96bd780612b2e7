"""Make the rows of the timeline from the core's `Timeline` values, newest first.

Pure: no Qt, no clock of its own (``now_ms`` is given), no I/O.
"""

import sys
from dataclasses import replace

from vibekit_desktop.core.types.checkpoints import (
    AfterTurn,
    AtEntry,
    AtTag,
    Author,
    BeforeTurn,
    EntryKind,
    FileChange,
    Now,
    PinnedPoint,
    Point,
    RestoreKind,
    Start,
    Timeline,
    TimelineEntry,
    point_text,
)
from vibekit_desktop.core.types.ids import tag_order
from vibekit_desktop.ui import when
from vibekit_desktop.ui.models.blocks import FOLD_FROM
from vibekit_desktop.ui.models.files import totals
from vibekit_desktop.ui.models.timeline_beside import NOTHING_BESIDE, Beside
from vibekit_desktop.ui.models.timeline_facts import facts_of, same_state
from vibekit_desktop.ui.models.timeline_files import Span, file_row
from vibekit_desktop.ui.models.timeline_phrases import (
    coverage_text,
    entry_title,
    one_author,
    point_of,
    who_changed,
)
from vibekit_desktop.ui.models.timeline_rows import Button, Key, RowKind, Running, TimelineRow
from vibekit_desktop.ui.text import tr, tr_n
from vibekit_desktop.ui.visible import one_line
from vibekit_desktop.ui.wording import point_label, point_words

_MOST_FILES = 1_000
"""So many rows of files a turn has at most: nobody reads more of them here."""

_NEWEST = 50
"""The turn that runs is looked for among so many of the last entries."""

Kept = dict[int, tuple[tuple[object, ...], tuple[TimelineRow, ...]]]
"""The rows of each turn as they were made last, and what they were made of. Whoever keeps it asks for one chat only."""


def rows_of(
    timeline: Timeline,
    opened: frozenset[Key] = frozenset(),
    *,
    now_ms: int,
    running: Running | None = None,
    beside: Beside = NOTHING_BESIDE,
    kept: Kept | None = None,
    most: int = sys.maxsize,
) -> list[TimelineRow]:
    """All rows, newest first. ``opened`` are the keys of the groups and entries that show their files. A ``running`` turn is on
    top, in the place of what is on disk now. Turns whose rows were ``kept`` and would be the same are not made again. From
    ``most`` rows on no earlier turn is looked at: if there are so many, there may be more."""
    return _Rows(timeline, opened, now_ms, running, beside, {} if kept is None else kept).build(most)


class _Rows:
    """One pass over a timeline. Invariant: ``rows`` holds finished rows only, newest first."""

    def __init__(
        self, timeline: Timeline, opened: frozenset[Key], now_ms: int, running: Running | None, beside: Beside, kept: Kept
    ) -> None:
        self._timeline = timeline
        self._beside = beside
        self._pins: dict[Point, PinnedPoint] = {pin.point: pin for pin in beside.pins}
        self._opened = opened
        self._now_ms = now_ms
        self._today = when.local(now_ms).date()
        self._kept = kept
        self._running = running
        self._why_off = "" if timeline.workspace_found else tr("The workspace was not found where it was.")
        self._entries = facts_of(timeline).restores
        newest = timeline.entries[-1] if timeline.entries and running is None else None
        self._in_now = {one.path: one for one in newest.files} if newest is not None and newest.kind is EntryKind.NOW else {}
        self.rows: list[TimelineRow] = []

    def build(self, most: int) -> list[TimelineRow]:
        after: Point = Now()
        running = self._running
        if running is not None and not any(one.turn == running.turn and one.kind is EntryKind.TURN for one in self._newest()):
            # It has not been written down yet, or it was not read again since.
            self._turn(TimelineEntry(kind=EntryKind.TURN, turn=running.turn, at=running.began_at))
            after = BeforeTurn(running.turn)
        for entry in reversed(self._timeline.entries):
            if len(self.rows) >= most:
                return self.rows
            match entry.kind:
                case EntryKind.NOW if running is not None:
                    pass
                case EntryKind.NOW:
                    self._now(entry)
                case EntryKind.TURN:
                    self._pin(AfterTurn(entry.turn))
                    self._tags(entry)
                    if entry.files or not self._beside.only_changes or self._runs(entry.turn):
                        self._ended_turn(entry)
                    self._pin(BeforeTurn(entry.turn))
                    after = BeforeTurn(entry.turn)
                case EntryKind.BETWEEN:
                    self._between(entry, after)
                case EntryKind.RESTORE:
                    self._entry(entry, after)
                    self._pin(AtEntry(entry.entry))
                    after = AtEntry(entry.entry) if entry.entry else after  # the original's have no number
        self._pin(Start())
        return self.rows

    def _runs(self, turn: int) -> bool:
        return self._running is not None and self._running.turn == turn

    def _tags(self, entry: TimelineEntry) -> None:
        """The pinned points inside a turn, newest first."""
        tags = sorted({change.tag for change in entry.files if change.tag is not None}, key=tag_order, reverse=True)
        for tag in tags if self._pins else ():
            self._pin(AtTag(tag))

    def _pin(self, point: Point) -> None:
        pin = self._pins.get(point)
        if pin is None:
            return
        name = one_line(pin.name)
        self.rows.append(
            TimelineRow(
                key=("pin", 0, point_text(point)),
                kind=RowKind.PIN,
                title=name,
                detail=point_label(point),
                undo_to=point,
                buttons=(Button.RESTORE,),
                off=frozenset({Button.RESTORE}) if self._why_off else frozenset(),
                why_off=self._why_off,
                last_in_block=True,
                spoken=tr("Pinned point {name}, {point}", name=name, point=point_words(point)),
            )
        )

    def _newest(self) -> tuple[TimelineEntry, ...]:
        return self._timeline.entries[-_NEWEST:]

    def _end_of(self, turn: int) -> Point:
        return AfterTurn(turn) if turn else Start()

    def _now(self, entry: TimelineEntry) -> None:
        count = len(entry.files)
        before = next((one for one in reversed(self._timeline.entries) if one.kind is not EntryKind.NOW), None)
        put_back = {change.path for change in before.files} if before is not None else set()
        restored = before is not None and before.kind is EntryKind.RESTORE
        if restored and all(change.path in put_back for change in entry.files):
            since = tr("the last restore")
        else:
            since = tr("turn {turn}", turn=entry.turn) if entry.turn else tr("the start")
        if count:
            detail = self._changed(entry, tr("since {what}", what=since))
        elif self._why_off:
            detail = self._why_off
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
                spoken=f"{tr('Now')}, {detail}",
            )
        )
        old = self._end_of(entry.turn)
        self._files(entry, "now", 0, old=old, new=Now(), undo_to=old, opened=True, in_now=True)

    def _stands_now(self, change: FileChange) -> bool:
        """Whether the block of what is on disk says the very same change: it is told once, where it can be taken back."""
        now = self._in_now.get(change.path)
        return now is not None and same_state(now.before, change.before) and same_state(now.after, change.after)

    def _changed(self, entry: TimelineEntry, when_words: str) -> str:
        """ "2 files changed by you since turn 5"."""
        own = facts_of(self._timeline).touched if entry.kind is EntryKind.NOW else frozenset()
        ours = entry.kind is not EntryKind.NOW or any(change.path in own for change in entry.files)
        count, who = len(entry.files), who_changed(entry, self._beside.names) or ("" if ours else tr("others"))
        if not who:
            return tr_n("{n} file changed {when}", "{n} files changed {when}", count, when=when_words)
        one, many = "{n} file changed by {who} {when}", "{n} files changed by {who} {when}"
        return tr_n(one, many, count, who=who, when=when_words)

    def _ended_turn(self, entry: TimelineEntry) -> None:
        """A turn; one of hundreds in which nothing is new since the last time."""
        turn = entry.turn
        if self._runs(turn):
            self._kept.pop(turn, None)
            self._turn(entry)
            return
        taken_back = self._entries.get(self._timeline.can_undo) if any(change.undone for change in entry.files) else None
        folds, is_open = self._folds(entry), ("group", turn, "turn") in self._opened
        marked = self._beside.conflicts.paths_of(turn) if is_open or not folds else None
        made_of = (entry, self._today, self._why_off, folds, is_open, marked, taken_back)
        found = self._kept.get(turn)
        if found is not None and found[0] == made_of:
            self.rows += found[1]
            return
        begin = len(self.rows)
        self._turn(entry)
        self._kept[turn] = (made_of, tuple(self.rows[begin:]))

    def _folds(self, entry: TimelineEntry) -> bool:
        return len(entry.files) >= FOLD_FROM or (self._beside.folded and not self._runs(entry.turn))

    def _turn(self, entry: TimelineEntry) -> None:
        turn = entry.turn
        title = tr("Turn {turn}", turn=turn)
        runs = self._runs(turn)
        parts = [text for text in (when.stamp(entry.at, self._now_ms), when.duration(entry.duration_ms)) if text]
        covered = coverage_text(entry.coverage) if entry.files or not entry.coverage.complete else ""
        buttons = (Button.COVERAGE,) if entry.coverage.skipped else ()
        if runs:
            parts, covered, buttons = [tr("running")], "", ()
        prompt = one_line(entry.prompt)
        files = tr_n("{n} file changed", "{n} files changed", len(entry.files)) if entry.files else tr("no files changed")
        self.rows.append(
            TimelineRow(
                key=("turn", turn, ""),
                kind=RowKind.TURN,
                number=turn,
                title=title,
                detail=" · ".join(parts),
                prompt=prompt,
                coverage=entry.coverage if covered else None,
                running_since=self._running.began_at if runs and self._running is not None else -1,
                buttons=buttons,
                spoken=", ".join(part for part in (title, *parts, prompt, files, covered) if part),
            )
        )
        if entry.files:
            before = BeforeTurn(turn)
            opened = not self._folds(entry)
            self._files(entry, "turn", turn, old=before, new=AfterTurn(turn), undo_to=before, opened=opened)
        else:
            quiet = tr("No files changed so far") if runs else tr("No files changed")
            self.rows.append(TimelineRow(key=("quiet", turn, ""), kind=RowKind.QUIET, title=quiet))
        text = tr("Restore to before this turn")
        self.rows.append(
            TimelineRow(
                key=("restore", turn, ""),
                kind=RowKind.RESTORE,
                number=turn,
                title=text,
                undo_to=BeforeTurn(turn),
                buttons=(Button.RESTORE,),
                off=frozenset({Button.RESTORE}) if self._why_off else frozenset(),
                why_off=self._why_off,
                last_in_block=True,
                spoken=tr("Restore to before turn {turn}", turn=turn),
            )
        )

    def _between(self, entry: TimelineEntry, after: Point) -> None:
        files = tuple(change for change in entry.files if not self._stands_now(change))
        if not files:
            return
        entry = replace(entry, files=files)
        since = tr("after turn {turn}", turn=entry.turn) if entry.turn else tr("before the first turn")
        title = self._changed(entry, since)
        key: Key = ("between", entry.turn, "")
        opened = key in self._opened
        self.rows.append(
            TimelineRow(
                key=key,
                kind=RowKind.BETWEEN,
                title=title,
                counts=totals((file.lines_added, file.lines_removed) for file in entry.files),
                by_chat=one_author(entry)[0] is Author.CHAT,
                open=opened,
                buttons=(Button.TOGGLE,),
                last_in_block=not opened,
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
        key: Key = ("entry", entry.entry, "" if entry.entry else str(entry.at))
        opened = key in self._opened
        title = entry_title(entry)
        buttons: list[Button] = [Button.TOGGLE] if entry.files else []
        if entry.branch_chat_id and not entry.undone:  # an undo brings the turns back, and the branch is gone
            buttons.append(Button.OPEN_CHAT)
        newest_undo = self._entries.get(self._timeline.can_redo)
        if entry.undone:
            if newest_undo is not None and newest_undo.takes_back == entry.entry:
                buttons.append(Button.REDO)
        elif entry.entry and self._timeline.can_undo == entry.entry:
            buttons.append(Button.TAKE_BACK)
        off = {Button.TAKE_BACK, Button.REDO} & set(buttons) if self._why_off else set()
        state = tr("undone") if entry.undone else ""
        self.rows.append(
            TimelineRow(
                key=key,
                kind=RowKind.ENTRY,
                number=entry.entry,
                title=title,
                detail=when.stamp(entry.at, self._now_ms),
                undone=entry.undone,
                open=opened,
                branch=entry.branch_chat_id,
                buttons=tuple(buttons),
                off=frozenset(off),
                why_off=self._why_off if off else "",
                last_in_block=not (opened and entry.files),
                spoken=", ".join(part for part in (title, state, when.stamp(entry.at, self._now_ms)) if part),
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
                    counts=totals((file.lines_added, file.lines_removed) for file in entry.files),
                    open=is_open,
                    buttons=(Button.TOGGLE,),
                )
            )
            if not is_open:
                return
        ends = len(entry.files) - 1 if group in ("now", "between", "entry") else -1
        sizes = {one.path: one.size for one in entry.coverage.skipped if one.size}
        span = Span(old=old, new=new, undo_to=undo_to, in_now=in_now, why_off=self._why_off)
        marks = self._beside.conflicts
        written_over = marks.paths_of(number) if group == "turn" else frozenset()
        by_others = group in ("now", "between")
        for index, change in enumerate(entry.files[:_MOST_FILES]):
            self.rows.append(
                file_row(
                    change,
                    ("file", number, f"{group} {change.path}"),
                    span,
                    last=index == ends,
                    size=sizes.get(change.path),
                    conflict=marks.of_others(change) if by_others else change.path in written_over,
                    can_redo=change.undone and self._undo_file_in_force(change, undo_to),
                )
            )

        more = len(entry.files) - _MOST_FILES
        if more > 0:
            rest = tr_n(
                "{n} more file; all are in Files and in Review changes",
                "{n} more files; all are in Files and in Review changes",
                more,
            )
            key = ("quiet", number, group)
            self.rows.append(TimelineRow(key=key, kind=RowKind.QUIET, title=rest, in_now=in_now, last_in_block=ends >= 0))

    def _undo_file_in_force(self, change: FileChange, point: Point) -> bool:
        """Whether the next `undo` takes back just the undo of this change, so that "Redo" tells the truth."""
        newest = self._entries.get(self._timeline.can_undo)
        if newest is None or newest.restore_kind is not RestoreKind.UNDO_FILE:
            return False
        return point_of(newest) == point and any(file.path == change.path for file in newest.files)
