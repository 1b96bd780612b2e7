"""What the timeline and the toasts say of an undo: which file it was, where it was one."""

from dataclasses import replace

import pytest

from tests.ui import sample_changes
from vibekit_desktop.core.types.checkpoints import (
    Action,
    AfterTurn,
    BeforeTurn,
    EntryKind,
    RestoreKind,
    RestoreReport,
    TimelineEntry,
)
from vibekit_desktop.ui.models.timeline_phrases import entry_title
from vibekit_desktop.ui.operations.outcome import done_text

FILES = next(entry.files for entry in sample_changes.entries() if len(entry.files) > 1)


@pytest.mark.parametrize(("count", "title"), [(1, "Undid what turn 2 did in {name}"), (2, "Undid what turn 2 did")])
def test_the_entry_of_an_undo_of_one_file_names_it(count: int, title: str) -> None:
    entry = TimelineEntry(
        kind=EntryKind.RESTORE,
        turn=3,
        at=1,
        entry=4,
        point="before:2",
        upto="after:2",
        restore_kind=RestoreKind.UNDO_TURN,
        files=FILES[:count],
    )
    assert entry_title(entry) == title.format(name=FILES[0].path.rpartition("/")[2])


def test_the_toast_of_an_undo_of_one_file_names_it() -> None:
    plan = sample_changes.of_files(sample_changes.planned("src/a.py", Action.WRITE), kind=RestoreKind.UNDO_TURN)
    plan = replace(plan, point=BeforeTurn(2), upto=AfterTurn(2))
    report = RestoreReport(
        chat=plan.chat,
        kind=plan.kind,
        entry=1,
        restored=tuple(file.path for file in plan.files),
        left=(),
        failed=(),
        verified=True,
    )
    assert done_text(plan, report) == "Undid what turn 2 did in a.py"
