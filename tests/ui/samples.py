"""Values like those of a real project, made by hand: a list of chats, one chat with five turns, its timeline.

Everything is fixed; `NOW` is a Wednesday, 14:04 local time.
"""

from dataclasses import replace
from datetime import datetime

from vibekit_desktop.core.types.chats import (
    Block,
    Chat,
    ChatHeader,
    ChatStatus,
    ChatView,
    DiffFragment,
    Location,
    Message,
    ToolCall,
    TurnSpan,
)
from vibekit_desktop.core.types.checkpoints import (
    Author,
    ChangeStatus,
    Coverage,
    EntryKind,
    FileChange,
    FileState,
    How,
    Skipped,
    State,
    Timeline,
    TimelineEntry,
)
from vibekit_desktop.core.types.ids import BlobHash, ChatId, Tag, WorkspacePath

WORKSPACE = "/home/ada/code/tidepool"
MAIN = ChatId("0190a1b2-0000-7000-8000-000000000001")
BRANCH = ChatId("0190a1b2-0000-7000-8000-000000000002")


def at(day: int, hour: int, minute: int, month: int = 9) -> int:
    """A moment of 2026 in local time, as Unix milliseconds."""
    return int(datetime(2026, month, day, hour, minute).timestamp() * 1000)


NOW = at(16, 14, 4)


def _header(n: int, name: str, agent: str, workspace: str, updated: int, added: int = 0, removed: int = 0) -> ChatHeader:
    return ChatHeader(
        id=ChatId(f"0190a1b2-0000-7000-8000-{n:012d}"),
        name=name,
        agent=agent,
        source="claude-code",
        workspace=workspace,
        created_at=updated - 3_600_000,
        updated_at=updated,
        message_count=10,
        turn_count=5,
        lines_added=added or None,
        lines_removed=removed or None,
    )


def headers() -> list[ChatHeader]:
    """Nine rows: a branch, a damaged chat, two that were only found."""
    lantern, orchard = "/home/ada/code/lantern", "/home/ada/code/orchard-api"
    rows = [
        _header(1, "Keep empty rows in export", "Claude Code", WORKSPACE, at(16, 14, 2), 71, 90),
        _header(2, "Write rows eagerly instead", "Claude Code", WORKSPACE, at(16, 13, 23), 31, 12),
        _header(3, "Speed up cold start", "Codex", lantern, NOW - 20_000, 124, 38),
        _header(4, "Move settings to TOML", "Gemini CLI", WORKSPACE, at(16, 13, 46)),
        _header(5, "Docs: tidy the export guide", "Claude Code", WORKSPACE, at(15, 17, 20), 57, 20),
        _header(6, "Why does the watcher miss renames?", "Codex", lantern, at(15, 9, 41)),
        _header(7, "Replace the retry loop", "Claude Code", orchard, at(14, 11, 0), 212, 140),
        _header(8, "Port the importer to asyncio", "Claude Code", WORKSPACE, at(14, 10, 0)),
        _header(9, "First pass at the plot module", "Claude Code", WORKSPACE, at(12, 9, 0, 8), 640, 8),
    ]
    rows[1] = replace(rows[1], parent_chat_id=MAIN, rewind_from_turn=3)
    rows[5] = replace(rows[5], status=ChatStatus.FOUND)
    rows[7] = replace(rows[7], status=ChatStatus.DAMAGED, problem="3 messages unreadable")
    return rows


GUIDE = WorkspacePath("docs/export.md")
WRITER = WorkspacePath("src/export/csv_writer.py")
INIT = WorkspacePath("src/export/__init__.py")
NEWS = WorkspacePath("docs/changes/0142-lazy-rows.md")

ANSWER = """The guide now shows the loop that readers should copy:

```python
with CsvWriter(path) as out:
    for row in table.rows():      # one row in memory
        out.write(row)            # an empty row stays a line
```
"""


def _call(n: int, kind: str, title: str, **more: object) -> ToolCall:
    return ToolCall(id=f"call-{n}", kind=kind, title=title, **more)  # type: ignore[arg-type]  # a builder for tests


def _turn(
    turn: int, prompt: str, when: int, took_ms: int, *calls: ToolCall, blocks: tuple[Block, ...]
) -> tuple[Message, Message]:
    user = Message(id=f"u{turn}", role="user", ts=when, content=prompt, turn=turn)
    answer = Message(
        id=f"a{turn}",
        role="assistant",
        ts=when + took_ms,
        content="\n\n".join(block.text for block in blocks if block.text),
        tool_calls=calls,
        blocks=blocks,
        turn_elapsed_ms=took_ms,
    )
    return user, answer


def messages() -> tuple[Message, ...]:
    """Five turns; the last has a command, three reads, an edit and a new file."""
    text, use = (lambda value: Block(type="text", text=value)), (lambda value: Block(type="tool_use", tool_call_id=value))
    first = _turn(
        1,
        "Where does the export lose rows? Read only, please.",
        at(16, 13, 12),
        22_000,
        blocks=(text("`CsvWriter.write` filters rows with `any(row)`, so a row of zeros is dropped as well."),),
    )
    second = _turn(
        2,
        "Add a failing test for a table with an empty row.",
        at(16, 13, 20),
        31_000,
        _call(
            20,
            "edit",
            "tests/test_csv_writer.py",
            diffs=(
                DiffFragment(path=f"{WORKSPACE}/tests/test_csv_writer.py", new_text="def test_empty_row() -> None:\n" * 38),
            ),
        ),
        _call(
            21, "execute", "pytest -q tests/test_csv_writer.py", status="failed", output="exit 1\n1 failed\n", duration_ms=300
        ),
        blocks=(use("call-20"), use("call-21"), text("The new test fails as it should: 1 of 31.")),
    )
    third = _turn(3, "Now make it pass. Keep the public API.", at(16, 13, 31), 125_000, blocks=(text("Done in seven files."),))
    fourth = _turn(
        4,
        "Try again, but write the rows lazily.",
        at(16, 13, 47),
        48_000,
        blocks=(text("All 31 tests pass. The public names of `csv_writer` are unchanged."),),
    )
    fifth = _turn(
        5,
        "Run the formatter, then bring the export guide up to date. Say that rows are now written lazily.",
        at(16, 14, 2),
        72_000,
        _call(50, "execute", "ruff format src", output="2 files reformatted, 14 files left unchanged\n", duration_ms=800),
        _call(51, "read", "docs/export.md", locations=(Location(path=f"{WORKSPACE}/docs/export.md"),)),
        _call(52, "read", "src/export/rows.py", locations=(Location(path=f"{WORKSPACE}/src/export/rows.py"),)),
        _call(53, "read", "CHANGELOG.md", locations=(Location(path=f"{WORKSPACE}/CHANGELOG.md"),)),
        _call(
            54,
            "edit",
            "docs/export.md",
            diffs=(
                DiffFragment(
                    path=f"{WORKSPACE}/{GUIDE}",
                    old_text="## Empty rows\nRows without values are dropped.\n",
                    new_text="## Empty rows\nRows without values are kept as empty lines.\n"
                    "Rows are written lazily, one at a time.\n",
                ),
            ),
        ),
        _call(
            55,
            "edit",
            "docs/changes/0142-lazy-rows.md",
            diffs=(DiffFragment(path=f"{WORKSPACE}/{NEWS}", new_text="a\nb\nc\nd\ne\n"),),
        ),
        blocks=(
            Block(type="thinking", thinking="Format first, because the guide quotes code that the formatter will move."),
            text("I’ll format first, so that the guide quotes the final code."),
            *(use(f"call-{n}") for n in range(50, 56)),
            text(ANSWER),
        ),
    )
    return (*first, *second, *third, *fourth, *fifth)


def chat_view(shown: tuple[Message, ...] | None = None, **chat: object) -> ChatView:
    """The first chat of `headers`, opened."""
    all_messages = messages() if shown is None else shown
    turns = tuple(
        TurnSpan(turn=message.turn, first_message=i, last_message=min(i + 1, len(all_messages) - 1), tag=str(message.turn))
        for i, message in enumerate(all_messages)
        if message.role == "user" and message.turn
    )
    stored = Chat(
        id=MAIN,
        name="Keep empty rows in export",
        model="sonnet",
        agent="Claude Code",
        source="claude-code",
        **chat,  # type: ignore[arg-type]  # a builder for tests
    )
    return ChatView(
        header=headers()[0],
        chat=stored,
        messages=all_messages,
        turns=turns,
        vault_workspace=WORKSPACE,
        workspace_found=True,
        raw={},
    )


def _present(n: int) -> FileState:
    return FileState(State.PRESENT, BlobHash(f"{n:064x}"), 0o644)


def change(path: str, status: ChangeStatus, added: int, removed: int, call: str = "", **more: object) -> FileChange:
    """One file's change with counts."""
    before = FileState(State.ABSENT) if status is ChangeStatus.ADDED else _present(added * 1000 + removed)
    after = FileState(State.ABSENT) if status is ChangeStatus.DELETED else _present(added * 1000 + removed + 1)
    return FileChange(
        path=WorkspacePath(path),
        status=status,
        before=before,
        after=after,
        lines_added=added,
        lines_removed=removed,
        tool_call_id=call,
        author=Author.AGENT,
        how=How.ANNOUNCED,
        **more,  # type: ignore[arg-type]  # a builder for tests
    )


def timeline() -> Timeline:
    """What the five turns of `messages` did to the files, and what is on disk now."""
    added, modified, deleted = ChangeStatus.ADDED, ChangeStatus.MODIFIED, ChangeStatus.DELETED
    complete = Coverage(complete=True)

    def turn(
        number: int, prompt: str, when: int, took: int, *files: FileChange, coverage: Coverage = complete
    ) -> TimelineEntry:
        return TimelineEntry(
            kind=EntryKind.TURN,
            turn=number,
            at=when,
            tag=Tag(str(number)),
            prompt=prompt,
            message_id=f"u{number}",
            duration_ms=took,
            coverage=coverage,
            files=files,
        )

    said = {message.turn: message for message in messages() if message.role == "user"}
    seven = tuple(change(f"src/export/part_{n}.py", modified, 8 + n, 11 + n % 3) for n in range(7))
    return Timeline(
        chat=MAIN,
        workspace_found=True,
        entries=(
            turn(1, said[1].content, said[1].ts, 22_000),
            turn(2, said[2].content, said[2].ts, 31_000, change("tests/test_csv_writer.py", added, 38, 0, "call-20")),
            turn(3, said[3].content, said[3].ts, 125_000, *seven),
            turn(
                4,
                said[4].content,
                said[4].ts,
                48_000,
                change(str(WRITER), modified, 21, 9),
                change("src/export/rows.py", modified, 9, 4),
                change("src/export/legacy_rows.py", deleted, 0, 64),
                coverage=Coverage(
                    complete=False, skipped=(Skipped("data/samples.parquet", "over the size limit", 48_000_000),)
                ),
            ),
            turn(
                5,
                said[5].content,
                said[5].ts,
                72_000,
                change(str(GUIDE), modified, 18, 2, "call-54"),
                change(str(NEWS), added, 5, 0, "call-55"),
                replace(change(str(WRITER), modified, 4, 4, "call-50"), author=Author.COMMAND, how=How.SCAN),
                replace(change(str(INIT), modified, 1, 1, "call-50"), author=Author.COMMAND, how=How.SCAN),
            ),
            TimelineEntry(
                kind=EntryKind.NOW,
                turn=5,
                at=NOW,
                files=(change("src/export/rows.py", modified, 6, 1), change(str(GUIDE), modified, 2, 2)),
            ),
        ),
    )
