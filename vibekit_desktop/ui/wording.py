"""Values as people read them: points, sizes, reasons, paths cut to a width. Moments and durations are in `ui.when`.

Pure; the words are those of the table of wording, and every text goes through `ui.text`.
"""

from collections.abc import Callable
from pathlib import Path

from vibekit_desktop.core.types.checkpoints import (
    AfterTurn,
    AtEntry,
    AtLine,
    AtTag,
    BeforeTurn,
    LeaveReason,
    Now,
    Point,
    Start,
)
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.visible import visible_name

ELLIPSIS = "…"
MINUS = "−"


def point_words(point: Point) -> str:
    """A point inside a sentence: "before turn 3"."""
    match point:
        case Start():
            return tr("the start of the chat")
        case Now():
            return tr("now")
        case BeforeTurn(turn):
            return tr("before turn {turn}", turn=turn)
        case AfterTurn(turn):
            return tr("after turn {turn}", turn=turn)
        case AtTag(tag):
            return tr("checkpoint {tag}", tag=tag)
        case AtEntry(entry):
            return tr("before restore {entry}", entry=entry)
        case AtLine(line):
            return tr("before change {line}", line=line)


def change_words(old: Point, new: Point | None) -> str:
    """What changed between two points, inside a sentence: "what turn 3 did"."""
    match old, new:
        case BeforeTurn(first), AfterTurn(last) if first == last:
            return tr("what turn {turn} did", turn=first)
        case _, None:
            return tr("what changed after {point}", point=point_words(old))
        case _:
            return tr("what changed from {old} to {new}", old=point_words(old), new=point_words(new))


def point_label(point: Point) -> str:
    """A point standing alone, as the side of a diff: "Before turn 3", "On disk"."""
    match point:
        case Start():
            return tr("Start of chat")
        case Now():
            return tr("On disk")
        case BeforeTurn(turn):
            return tr("Before turn {turn}", turn=turn)
        case AfterTurn(turn):
            return tr("After turn {turn}", turn=turn)
        case AtTag(tag):
            return tr("Checkpoint {tag}", tag=tag)
        case AtEntry(entry):
            return tr("Before restore {entry}", entry=entry)
        case AtLine(line):
            return tr("Before change {line}", line=line)


def size_text(size_bytes: int | None) -> str:
    """ "812 bytes", "212 KB", "9.2 MB", "48 MB"; empty if not known."""
    if size_bytes is None:
        return ""
    if size_bytes < 1000:
        return tr("{n} bytes", n=size_bytes)
    value = float(size_bytes)
    for unit in ("KB", "MB", "GB"):
        value /= 1000
        if value < 999.5 or unit == "GB":
            return f"{value:.0f} {unit}" if value >= 9.95 or unit == "KB" else f"{value:.1f} {unit}"
    raise AssertionError("not reached")


def number_text(number: int) -> str:
    """A whole number with thousands apart: "148,020"."""
    return f"{number:,}"


def leave_text(reason: str, size_bytes: int | None = None) -> str:
    """Why a file stays as it is, as a sentence of its own."""
    match reason:
        case LeaveReason.SAME:
            return tr("Already as it was then.")
        case LeaveReason.CHANGED_SINCE:
            return tr("Changed after the agent. It stays as it is now.")
        case LeaveReason.CHANGED_LATER | LeaveReason.CHANGED_JUST_NOW:
            return tr("Changed since. It stays as it is now.")
        case LeaveReason.NOT_CAPTURED:
            if size_bytes:
                return tr("{size}: no earlier copy was kept. It stays as it is now.", size=size_text(size_bytes))
            return tr("No earlier copy was kept. It stays as it is now.")
        case LeaveReason.UNKNOWN:
            return tr("What it was then is not known. It stays as it is now.")
        case LeaveReason.DAMAGED:
            return tr("Its earlier copy is damaged.")
        case LeaveReason.CANNOT_READ:
            return tr("It can't be read now. It stays as it is.")
        case LeaveReason.CANNOT_WRITE:
            return tr("It can't be written: in use by another program, or read-only.")
        case LeaveReason.CANNOT_STORE:
            return tr("The store has no room for a copy of its present state.")
        case LeaveReason.NOT_REGULAR:
            return tr("Not a plain file.")
        case LeaveReason.NOT_EMPTY:
            return tr("The folder is not empty.")
        case LeaveReason.REFUSED | LeaveReason.LINK_ON_THE_WAY:
            return tr("Outside the workspace.")
        case LeaveReason.FILE_ON_THE_WAY:
            return tr("A file is where its folder must be.")
        case LeaveReason.SAME_FILE:
            return tr("Another name of a file that stays.")
        case LeaveReason.NOT_THIS_CHAT:
            return tr("This chat did not change it.")
        case _:
            return tr("It stays as it is now.")


def skip_text(reason: str) -> str:
    """Why something is not in the store, for the list behind a coverage chip."""
    match reason:
        case "not-captured" | "too-large" | "too large" | "size":
            return tr("over the size limit")
        case "cannot-read" | "locked":
            return tr("locked or not readable")
        case "not-regular":
            return tr("not a plain file")
        case "excluded" | "ignored" | "rule":
            return tr("left out by a rule")
        case "link-on-the-way" | "refused":
            return tr("outside the workspace")
        case "unknown" | "no-copy" | "not-announced" | "":
            return tr("content before this turn not recorded")
        case "still-changing":
            return tr("still changing when the turn ended")
        case "too-many-files":
            return tr("too many files to look at")
        case "ignore-rules":
            return tr("the ignore rules could not be read")
        case "baseline-lost":
            return tr("what was there before the turn was forgotten")
        case "before-unknown":
            return tr("a command ran before it could be looked at what was there")
        case "not-walked":
            return tr("not searched: this is a home folder or a whole disk")
        case "too-many" | "too-deep" | "changed":
            return tr("not seen completely")
        case "cannot-store":
            return tr("could not be stored")
        case _:
            return reason.replace("-", " ")


def doubt_text(reason: str) -> str:
    """Why a turn may have changed more than is known, as a sentence of its own."""
    match reason:
        case "command":
            return tr("A command ran; what it changed outside the recorded edits is not known.")
        case "sub-agent":
            return tr("A sub-agent worked whose steps are not recorded; what it changed is not known.")
        case "unknown-tool":
            return tr("A tool ran that is not known here; what it changed is not known.")
        case _:
            return tr("Something ran that may have changed more than was recorded.")


def file_name(path: str) -> str:
    """The last part of a path."""
    return path.rpartition("/")[2]


def folder_name(path: str) -> str:
    """Everything before the last part of a path, or empty."""
    return path.rpartition("/")[0]


def workspace_name(workspace: str) -> str:
    """The last part of a workspace's path, as any system writes it."""
    return visible_name(workspace.replace("\\", "/").rstrip("/").rpartition("/")[2])


def short_path(path: str) -> str:
    """A folder's path with the home folder as ``~``."""
    home = str(Path.home())
    return "~" + path[len(home) :] if path == home or path.startswith(home + "/") else path


def shown_path(path: str, old_path: str | None = None) -> str:
    """A path as it is painted: what cannot be seen is made visible; a rename as "src/fmt.py → format.py"."""
    shown = visible_name(path)
    if old_path is None:
        return shown
    before = visible_name(old_path)
    if folder_name(before) == folder_name(shown):
        return f"{before} → {file_name(shown)}"
    return f"{before} → {shown}"


def fit_path(path: str, width: float, measure: Callable[[str], float]) -> str:
    """The path in ``width``, cut in the middle: first folder and file name stay, then the file name alone, then its tail."""
    if measure(path) <= width:
        return path
    parts = path.split("/")
    if len(parts) > 2:
        for keep in range(len(parts) - 2, 0, -1):
            text = "/".join((parts[0], ELLIPSIS, *parts[-keep:]))
            if measure(text) <= width:
                return text
    name = parts[-1]
    if len(parts) > 1 and measure(f"{ELLIPSIS}/{name}") <= width:
        return f"{ELLIPSIS}/{name}"
    return fit_middle(name, width, measure)


def fit_middle(text: str, width: float, measure: Callable[[str], float]) -> str:
    """The text in ``width``, its middle replaced by an ellipsis; what remains of it if nothing fits."""
    if measure(text) <= width:
        return text
    low, high = 0, len(text)
    while low < high:
        keep = (low + high + 1) // 2
        if measure(_without_middle(text, keep)) <= width:
            low = keep
        else:
            high = keep - 1
    return _without_middle(text, low)


def _without_middle(text: str, keep: int) -> str:
    head = keep // 2
    tail = keep - head
    return text[:head] + ELLIPSIS + (text[-tail:] if tail else "")
