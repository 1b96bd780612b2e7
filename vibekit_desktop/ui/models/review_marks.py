"""Which files of a review a person has reviewed, by content, and how far they are. Pure."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from vibekit_desktop.core.types.checkpoints import FileState, State
from vibekit_desktop.core.types.diffs import FileDiff
from vibekit_desktop.core.types.ids import WorkspacePath
from vibekit_desktop.core.types.reviews import ReviewedFile
from vibekit_desktop.ui.models.files import FileEntry, Mark, entry_of


def can_mark(diff: FileDiff) -> bool:
    """Whether both sides are known by their content; a mark for one that is not would hold for any other too."""
    return _known(diff.before) and _known(diff.after)


def _known(state: FileState) -> bool:
    return state.sha is not None or state.state in (State.ABSENT, State.FOLDER)


def mark_of(diff: FileDiff, reviewed: Iterable[ReviewedFile]) -> Mark:
    """The mark of one file. Another content on the left is another change, so only a new right side is "changed again"."""
    found = Mark.NONE
    if not can_mark(diff):
        return found
    for one in reviewed:
        if one.path != diff.request.path or one.before != diff.before.sha:
            continue
        if one.after == diff.after.sha:
            return Mark.REVIEWED
        found = Mark.CHANGED
    return found


def marked_entries(
    diffs: Sequence[FileDiff], reviewed: Iterable[ReviewedFile], comments: Mapping[WorkspacePath, int]
) -> list[FileEntry]:
    """The rows of a review's file list, in the order of its diffs."""
    by_path: dict[WorkspacePath, list[ReviewedFile]] = {}
    for one in reviewed:
        by_path.setdefault(one.path, []).append(one)
    return [
        entry_of(
            diff,
            mark=mark_of(diff, by_path.get(diff.request.path, ())),
            comments=comments.get(diff.request.path, 0),
        )
        for diff in diffs
    ]


def reviewed_count(entries: Iterable[FileEntry]) -> int:
    """How many of the files are reviewed."""
    return sum(1 for entry in entries if entry.mark is Mark.REVIEWED)


def next_to_review(entries: Sequence[FileEntry], after: WorkspacePath | None) -> WorkspacePath | None:
    """The next file that is not reviewed, from the one after ``after`` on and round to the top; None if all are."""
    start = next((number + 1 for number, entry in enumerate(entries) if entry.path == after), 0)
    for entry in (*entries[start:], *entries[:start]):
        if entry.mark is not Mark.REVIEWED and entry.path != after:
            return entry.path
    return None


def neighbour(
    entries: Sequence[FileEntry], row: int, step: int, unfolded: Collection[WorkspacePath] = ()
) -> WorkspacePath | None:
    """The next file below (1) or above (-1) a row that is walked through: not a generated one, unless it was unfolded."""
    row += step
    while 0 <= row < len(entries):
        entry = entries[row]
        if not entry.generated or entry.path in unfolded:
            return entry.path
        row += step
    return None
