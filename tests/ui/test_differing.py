"""What there is to review, and whose the changes under Now are."""

from dataclasses import replace

from tests.ui import samples
from vibekit_desktop.core.types.checkpoints import (
    ABSENT,
    ChangeStatus,
    EntryKind,
    FileChange,
    FileState,
    RestoreKind,
    State,
    Timeline,
    TimelineEntry,
)
from vibekit_desktop.core.types.ids import BlobHash, WorkspacePath
from vibekit_desktop.ui.models.differing import differing_files
from vibekit_desktop.ui.models.timeline_build import rows_of
from vibekit_desktop.ui.models.timeline_rows import RowKind

A, B = WorkspacePath("a.txt"), WorkspacePath("b.txt")
ONE, TWO = (FileState(State.PRESENT, BlobHash(letter * 64), 0o644) for letter in "ab")


def change(path: WorkspacePath, before: FileState, after: FileState) -> FileChange:
    return FileChange(path=path, status=ChangeStatus.MODIFIED, before=before, after=after)


def timeline(*entries: TimelineEntry) -> Timeline:
    return Timeline(chat=samples.MAIN, entries=entries, workspace_found=True)


TURN = TimelineEntry(kind=EntryKind.TURN, turn=1, at=1, files=(change(A, ONE, TWO), change(B, ABSENT, ONE)))
NOW = TimelineEntry(kind=EntryKind.NOW, turn=1, at=9)


def test_what_was_put_back_is_nothing_to_review() -> None:
    back = TimelineEntry(
        kind=EntryKind.RESTORE,
        turn=1,
        at=2,
        entry=1,
        restore_kind=RestoreKind.RESTORE,
        files=(change(A, TWO, ONE), change(B, ONE, ABSENT)),
    )
    assert differing_files(timeline(TURN, NOW)) == 2
    assert differing_files(timeline(TURN, replace(back, files=back.files[:1]), NOW)) == 1
    assert differing_files(timeline(TURN, back, NOW)) == 0


def test_what_the_person_put_back_is_nothing_to_review_and_what_others_changed_is_not_the_chats() -> None:
    other = change(WorkspacePath("c.txt"), ONE, TWO)
    assert differing_files(timeline(TURN, replace(NOW, files=(change(A, TWO, ONE), other)))) == 1


def test_under_now_it_is_said_that_others_changed_what_the_chat_never_touched() -> None:
    def said(*entries: TimelineEntry) -> str:
        return next(row.detail for row in rows_of(timeline(*entries), now_ms=10) if row.kind is RowKind.NOW)

    other = change(WorkspacePath("c.txt"), ONE, TWO)
    assert said(replace(NOW, turn=0, files=(other,))) == "1 file changed by others since the start"
    assert said(TURN, replace(NOW, files=(other, change(A, TWO, ONE)))) == "2 files changed since turn 1"
