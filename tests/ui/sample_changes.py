"""The chat of the design pictures as checkpoint values: five turns of work on an exporter, edited by hand afterwards."""

from collections.abc import Sequence
from datetime import datetime

from vibekit_desktop.core.types.checkpoints import (
    ABSENT,
    Action,
    BeforeTurn,
    ChangeStatus,
    Coverage,
    EntryKind,
    FileChange,
    FileState,
    LeaveReason,
    Mine,
    PlannedFile,
    Point,
    RestoreKind,
    RestorePlan,
    Scope,
    Skipped,
    State,
    Timeline,
    TimelineEntry,
)
from vibekit_desktop.core.types.diffs import DiffRequest, DiffResult, FileDiff
from vibekit_desktop.core.types.ids import BlobHash, ChatId, WorkspacePath

CHAT = ChatId("01890a5d-ac96-774b-bcce-b302099a8057")
DAY = datetime(2024, 8, 14)


def moment(clock: str) -> int:
    hours, minutes = clock.split(":")
    return int(DAY.replace(hour=int(hours), minute=int(minutes)).timestamp() * 1000)


NOW_MS = moment("14:05")


def path(text: str) -> WorkspacePath:
    return WorkspacePath(text)


def present(seed: str, size: int = 100) -> FileState:
    return FileState(State.PRESENT, BlobHash((seed.encode().hex() * 64)[:64]), 0o644, size=size)


def change(
    text: str,
    added: int | None,
    removed: int | None,
    *,
    old: str | None = None,
    undone: bool = False,
    letter: str = "",
) -> FileChange:
    status = ChangeStatus(letter) if letter else ChangeStatus.MODIFIED
    return FileChange(
        path=path(text),
        status=status,
        before=ABSENT if status is ChangeStatus.ADDED else present("a" + text),
        after=ABSENT if status is ChangeStatus.DELETED else present("b" + text),
        old_path=path(old) if old else None,
        lines_added=added,
        lines_removed=removed,
        undone=undone,
    )


def turn(
    number: int,
    clock: str,
    seconds: int,
    prompt: str,
    files: Sequence[FileChange],
    skipped: tuple[Skipped, ...] = (),
) -> TimelineEntry:
    return TimelineEntry(
        kind=EntryKind.TURN,
        turn=number,
        at=moment(clock),
        prompt=prompt,
        duration_ms=seconds * 1000,
        files=tuple(files),
        coverage=Coverage(complete=not skipped, skipped=skipped),
    )


SEVEN = (
    change("src/export/csv_writer.py", 13, 10),
    change("src/export/rows.py", 9, 4),
    change("src/export/legacy_rows.py", None, 64, letter="D"),
    change("src/export/format.py", None, None, old="src/export/fmt.py", letter="R"),
    change("tests/test_csv_writer.py", 31, 4),
    change("tests/data/empty_row.csv", 3, None, letter="A"),
    change("docs/export.md", 2, 1),
)


def entries() -> tuple[TimelineEntry, ...]:
    return (
        turn(1, "13:12", 22, "Where does the export lose rows? Read only, please. Show me the lines that drop them.", ()),
        turn(
            2,
            "13:20",
            31,
            "Add a failing test for a table with an empty row.",
            (
                change("tests/test_csv_writer.py", 38, None, letter="A"),
                change("tests/helpers/table_helpers.py", None, None, old="tests/helpers/tables.py", letter="R"),
            ),
        ),
        turn(3, "13:31", 125, "Now make it pass. Keep the public API.", SEVEN),
        TimelineEntry(
            kind=EntryKind.RESTORE,
            turn=3,
            at=moment("13:44"),
            entry=1,
            point="before:3",
            restore_kind=RestoreKind.RESTORE,
            files=SEVEN[:5],
        ),
        turn(
            4,
            "13:47",
            48,
            "Try again, but write the rows lazily.",
            (
                change("src/export/csv_writer.py", 21, 9),
                change("src/export/rows.py", 9, 4),
                change("src/export/legacy_rows.py", None, 64, letter="D"),
            ),
            (Skipped("data/samples.parquet", "not-captured", 48_000_000),),
        ),
        turn(
            5,
            "14:02",
            72,
            "Run the formatter, then bring the export guide up to date. Say that rows are now written lazily.",
            (
                change("docs/export.md", 18, 2),
                change("docs/changes/0142-lazy-rows.md", 5, None, letter="A"),
                change("src/export/csv_writer.py", 4, 4),
                change("src/export/__init__.py", 1, 1),
            ),
        ),
        TimelineEntry(
            kind=EntryKind.NOW,
            turn=5,
            at=0,
            files=(change("src/export/rows.py", 6, 1), change("docs/export.md", 2, 2)),
        ),
    )


def timeline(
    given: tuple[TimelineEntry, ...] | None = None,
    *,
    workspace_found: bool = True,
    can_undo: int = 1,
    can_redo: int = 0,
    chat: ChatId = CHAT,
) -> Timeline:
    return Timeline(
        chat=chat,
        entries=entries() if given is None else given,
        workspace_found=workspace_found,
        can_undo=can_undo,
        can_redo=can_redo,
    )


def planned(
    text: str,
    action: Action,
    counts: tuple[int | None, int | None] = (None, None),
    *,
    changed_by: str | None = None,
    reason: str = "",
    size: int = 100,
    turns: tuple[int, ...] = (3, 4),
) -> PlannedFile:
    current = ABSENT if action is Action.CREATE else present("c" + text, size)
    wanted = ABSENT if action is Action.DELETE else present("w" + text)
    return PlannedFile(
        path=path(text),
        action=action,
        current=current,
        wanted=wanted,
        reason=reason,
        changed_by=changed_by,
        turns=turns,
        lines_added=counts[0],
        lines_removed=counts[1],
    )


def plan(scope: Scope = Scope.BOTH, mine: Mine | None = None) -> RestorePlan:
    """Restore to before turn 3: five files act, two are the person's own, one can't be restored."""
    chosen = mine or Mine()

    def own(text: str, counts: tuple[int, int]) -> PlannedFile:
        action, reason = (Action.WRITE, "") if chosen.wants(path(text)) else (Action.LEAVE, LeaveReason.CHANGED_SINCE.value)
        return planned(text, action, counts, changed_by="user", reason=reason)

    return of_files(
        own("src/export/rows.py", (6, 1)),
        own("docs/export.md", (18, 4)),
        planned("src/export/csv_writer.py", Action.WRITE, (4, 9)),
        planned("src/export/__init__.py", Action.WRITE, (1, 1)),
        planned("tests/test_csv_writer.py", Action.WRITE, (4, 31)),
        planned("docs/changes/0142-lazy-rows.md", Action.DELETE, (None, 5)),
        planned("src/export/legacy_rows.py", Action.CREATE, (64, None)),
        planned("data/samples.parquet", Action.LEAVE, reason="not-captured", size=48_000_000),
        scope=scope,
        mine=chosen,
    )


def of_files(
    *files: PlannedFile,
    scope: Scope = Scope.BOTH,
    mine: Mine | None = None,
    kind: RestoreKind = RestoreKind.RESTORE,
    point: Point | None = None,
) -> RestorePlan:
    """A plan over given files, made while the chat was at turn 5."""
    chosen = mine or Mine()
    cuts = scope is not Scope.FILES and kind is RestoreKind.RESTORE
    return RestorePlan(
        chat=CHAT,
        kind=kind,
        point=point or BeforeTurn(3),
        scope=scope,
        mine=chosen,
        paths=(),
        files=files,
        digest=f"{scope}-{sorted(chosen.restore)}",
        log_lines=20,
        keep_messages=4 if cuts else 10,
        total_messages=10,
        cut_turns=(3, 5) if cuts else None,
        next_prompt="Now make it pass. Keep the public API." if cuts else "",
    )


def file_diff(text: str, old: Point, new: Point, result: DiffResult) -> FileDiff:
    request = DiffRequest(CHAT, path(text), old, new)
    return FileDiff(request=request, before=present("o"), after=present("n"), result=result)
