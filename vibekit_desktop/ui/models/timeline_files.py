"""Make the row of one file in the timeline: what happened to it between two points, and what can be done about it. Pure."""

from dataclasses import dataclass

from vibekit_desktop.core.types.checkpoints import FileChange, Point
from vibekit_desktop.ui.models.timeline_phrases import not_kept, why_not_kept
from vibekit_desktop.ui.models.timeline_rows import Button, Key, RowKind, TimelineRow
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.wording import shown_path

_PLAIN = (Button.DIFF, Button.UNDO)
_CHANGING = frozenset({Button.UNDO, Button.REDO})
_NONE: frozenset[Button] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """What all files of a turn, of a restore or of now have in common: the points between which they changed, the one that Undo
    goes to, and why nothing can be put back, or empty."""

    old: Point
    new: Point
    undo_to: Point
    in_now: bool = False
    why_off: str = ""


def file_row(
    change: FileChange, key: Key, span: Span, *, last: bool, size: int | None, conflict: bool, can_redo: bool
) -> TimelineRow:
    """The row of a file. ``size``: how large it is where no copy was kept; ``can_redo``: what was undone can be redone."""
    buttons: tuple[Button, ...] = _PLAIN
    remark, why = "", span.why_off
    off = _CHANGING if why else _NONE
    missing, lost = not_kept(change, size)
    if change.undone:
        buttons = (Button.DIFF, Button.REDO) if can_redo else (Button.DIFF,)
        remark = tr("Undone")
    elif missing:
        remark = missing
        off = off | {Button.DIFF, Button.UNDO} if lost else off | {Button.DIFF}
        why = why_not_kept()
    elif change.old_path is not None and not (change.lines_added or change.lines_removed):
        remark = tr("renamed")
    return TimelineRow(
        key=key,
        kind=RowKind.FILE,
        number=key[1],
        title=shown_path(change.path, change.old_path),
        change=change,
        letter=change.status.value,
        counts=(change.lines_added, change.lines_removed),
        remark=remark,
        undone=change.undone,
        conflict=conflict,
        in_now=span.in_now,
        last_in_block=last,
        old=span.old,
        new=span.new,
        undo_to=span.undo_to,
        buttons=buttons,
        off=off.intersection(buttons) if off else _NONE,
        why_off=why if off else "",
    )
