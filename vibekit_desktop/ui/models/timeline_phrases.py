"""What the timeline says about turns, files and entries: titles, and whole phrases for assistive technology.

Pure functions of core values; every text goes through `ui.text`.
"""

from collections.abc import Mapping

from vibekit_desktop.core.types.checkpoints import (
    Author,
    BeforeTurn,
    Coverage,
    FileChange,
    Point,
    RestoreKind,
    State,
    TimelineEntry,
    parse_point,
)
from vibekit_desktop.core.types.errors import Malformed
from vibekit_desktop.core.types.ids import ChatId
from vibekit_desktop.ui.text import tr, tr_n
from vibekit_desktop.ui.visible import one_line
from vibekit_desktop.ui.wording import change_words, file_name, point_words, shown_path, size_text

_NAME_CHARACTERS = 40
_BY_RULE = "ignored"


def only_doubts(coverage: Coverage) -> bool:
    """Whether no file is known to be missing; something ran that may have changed more than was recorded."""
    return bool(coverage.skipped) and not any(skipped.path for skipped in coverage.skipped)


def only_rules(coverage: Coverage) -> bool:
    """Whether rules left out all that is missing: whoever made them wants no warning of it."""
    return bool(coverage.skipped) and all(skipped.reason == _BY_RULE for skipped in coverage.skipped)


def coverage_text(coverage: Coverage, *, with_size: bool = True) -> str:
    """The words of the chip: "Complete", "1 not captured: 48 MB", "1 left out", "May be incomplete", or "Partly recorded"."""
    if coverage.complete:
        return tr("Complete")
    if not coverage.skipped:
        return tr("Partly recorded")
    if only_doubts(coverage):
        return tr("May be incomplete")
    count, size = _missing(coverage)
    if only_rules(coverage):
        return tr_n("{n} left out", "{n} left out", count)
    text = tr_n("{n} not captured", "{n} not captured", count)
    return f"{text}: {size}" if size and with_size else text


def _missing(coverage: Coverage) -> tuple[int, str]:
    """How many files are missing, and their sizes together as text."""
    sizes: dict[str, int] = {}
    for skipped in coverage.skipped:  # a file may be missing as it was before and as it was after
        if skipped.path:
            sizes[skipped.path] = max(sizes.get(skipped.path, 0), skipped.size or 0)
    total = sum(sizes.values())
    return len(sizes), size_text(total) if total else ""


def coverage_name(turn: int, coverage: Coverage) -> str:
    """The whole phrase of a coverage chip."""
    if only_doubts(coverage):
        return tr("Coverage of turn {turn}: may be incomplete", turn=turn)
    count, total = _missing(coverage)
    if only_rules(coverage):
        files = tr_n("{n} left out by a rule", "{n} left out by rules", count)
    else:
        files = tr_n("{n} file not captured", "{n} files not captured", count)
    size = f", {total}" if total else ""
    return tr("Coverage of turn {turn}: {files}{size}", turn=turn, files=files, size=size)


def undo_name(change: FileChange, undo_to: Point) -> str:
    """The whole phrase of an Undo button."""
    match undo_to:
        case BeforeTurn(turn):
            return tr("Undo what turn {turn} did to {path}", turn=turn, path=shown_path(change.path))
        case _:
            return tr("Put {path} back to {point}", path=shown_path(change.path), point=point_words(undo_to))


def diff_name(change: FileChange, old: Point) -> str:
    """The whole phrase of a Diff button."""
    where = tr("turn {turn}", turn=old.turn) if isinstance(old, BeforeTurn) else tr("since {point}", point=point_words(old))
    counts = counts_phrase(change)
    return ", ".join(part for part in (tr("Show diff of {path}", path=shown_path(change.path)), where, counts) if part)


def not_kept(change: FileChange, size: int | None) -> tuple[str, bool]:
    """Where a side of a change is not in the store what is said of it, else empty; and whether it is the earlier one, so that
    it cannot be put back. ``size``: how large it is, if its own state does not tell."""
    for state in (change.before, change.after):
        if state.state is State.NOT_CAPTURED:
            known = state.size or size
            words = tr("{size}, not captured", size=size_text(known)) if known else tr("not captured")
            return words, state is change.before
    return "", False


def why_not_kept() -> str:
    """Why there is no diff, and nothing to put back."""
    return tr("No earlier copy was kept.")


def counts_phrase(change: FileChange) -> str:
    """The counts in words: "18 added, 2 deleted"."""
    added = tr("{n} added", n=change.lines_added) if change.lines_added else ""
    removed = tr("{n} deleted", n=change.lines_removed) if change.lines_removed else ""
    return ", ".join(part for part in (added, removed) if part)


def file_phrase(change: FileChange, remark: str) -> str:
    """A file row in words: path, what happened, counts, remark."""
    words = {"A": tr("added"), "M": tr("modified"), "D": tr("deleted"), "R": tr("renamed")}
    parts = (shown_path(change.path, change.old_path), words[change.status.value], counts_phrase(change), remark)
    return ", ".join(part for part in parts if part)


def point_of(entry: TimelineEntry) -> Point | None:
    """The point a restore entry went to, or None if it is not one."""
    try:
        return parse_point(entry.point)
    except Malformed:
        return None


def _upto_of(entry: TimelineEntry) -> Point | None:
    """Where the change ends that an undo of a turn or hunk took back."""
    try:
        return parse_point(entry.upto)
    except Malformed:
        return None


def entry_title(entry: TimelineEntry) -> str:
    """What a restore entry says it did."""
    point = point_of(entry)
    words = point_words(point) if point is not None else tr("an earlier state")
    match entry.restore_kind:
        case RestoreKind.UNDO_FILE if entry.files:
            return tr("{file} as it was {point}", file=file_name(shown_path(entry.files[0].path)), point=words)
        case RestoreKind.UNDO_HUNK if entry.files and point is not None:
            what = change_words(point, _upto_of(entry))
            return tr("Undid a part of {what} in {file}", what=what, file=file_name(shown_path(entry.files[0].path)))
        case RestoreKind.UNDO_TURN if len(entry.files) == 1 and point is not None:
            file = file_name(shown_path(entry.files[0].path))
            return tr("Undid {what} in {file}", what=change_words(point, _upto_of(entry)), file=file)
        case RestoreKind.UNDO_TURN | RestoreKind.UNDO_HUNK if point is not None:
            return tr("Undid {what}", what=change_words(point, _upto_of(entry)))
        case RestoreKind.UNDO:
            return tr("Undid a restore")
        case RestoreKind.REDO:
            return tr("Restored again")
        case _:
            return tr("Restored to {point}", point=words)


def one_author(entry: TimelineEntry) -> tuple[Author, ChatId | None]:
    """Who changed all files of an entry, and which other chat that is; unknown if it was not one alone."""
    authors = {(change.author, change.other_chat) for change in entry.files}
    return next(iter(authors)) if len(authors) == 1 else (Author.UNKNOWN, None)


def who_changed(entry: TimelineEntry, names: Mapping[ChatId, str]) -> str:
    """Who changed the files, inside a sentence; empty unless that is known of all of them. ``names``: of other chats."""
    author, other = one_author(entry)
    if author is Author.USER:
        return tr("you")
    if author is Author.CHAT and other is not None:
        name = one_line(names.get(other, ""), _NAME_CHARACTERS)
        return tr("“{name}”", name=name) if name else tr("another chat")
    return ""
