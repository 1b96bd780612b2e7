"""From values to the JSON objects of command-line.md. The keys are a promise: added to, never renamed.

Pure. Paths that are not UTF-8 are printed with replacement characters and ``path_b64`` beside them holds the exact bytes.
"""

import base64
import os
from collections.abc import Iterable, Mapping, Sequence

from vibekit_desktop.core.types.agents import TurnOutcome
from vibekit_desktop.core.types.chats import ChatHeader, ChatStatus, TurnSpan
from vibekit_desktop.core.types.checkpoints import (
    CaptureReport,
    Conflict,
    Coverage,
    EntryKind,
    FileChange,
    LeftFile,
    PlannedFile,
    RestorePlan,
    RestoreReport,
    Skipped,
    TimelineEntry,
    TurnReport,
    point_text,
)
from vibekit_desktop.core.types.diffs import (
    BinaryPair,
    DiffDocument,
    DiffNote,
    FileDiff,
    Identical,
    RowKind,
    TooLarge,
    Unreadable,
)
from vibekit_desktop.core.types.reviews import OverlapAt
from vibekit_desktop.core.types.settings import Setting
from vibekit_desktop.core.types.sources import ImportedChat, ImportReport, SourceSummary
from vibekit_desktop.core.types.verified import VerifyReport

Json = None | bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"]


def shown(path: str) -> str:
    """A path as text that can be encoded: bytes that are not UTF-8 become U+FFFD."""
    return os.fsencode(path).decode("utf-8", "replace")


def path_keys(path: str, key: str = "path") -> dict[str, Json]:
    """A path as text, and its exact bytes beside it if they are not UTF-8."""
    text = shown(path)
    if text == path:
        return {key: text}
    return {key: text, f"{key}_b64": base64.b64encode(os.fsencode(path)).decode("ascii")}


def chat_row(header: ChatHeader) -> dict[str, Json]:
    """One element of ``list``."""
    return {
        "id": header.id,
        "name": header.name,
        "agent": header.agent or None,
        "source": header.source or None,
        "workspace": header.workspace,
        "created_at": header.created_at,
        "updated_at": header.updated_at,
        "message_count": header.message_count,
        "turn_count": header.turn_count,
        "lines_added": header.lines_added,
        "lines_removed": header.lines_removed,
        "parent_chat_id": header.parent_chat_id,
        "archived": header.archived,
        "archived_at": header.archived_at or None,
        "pinned_at": header.pinned_at or None,
        "summary": header.summary or None,
        "rewind_from_turn": header.rewind_from_turn or None,
        "damaged": header.status is ChatStatus.DAMAGED,
        "problem": header.problem or None,
        "opened": header.status is not ChatStatus.FOUND,
    }


def source_row(source: SourceSummary) -> dict[str, Json]:
    """One element of ``sources``."""
    return {
        "name": source.name,
        "label": source.label,
        "root": source.root,
        "sessions": source.sessions,
        "newest_at": source.newest_at,
        "problems": list(source.problems),
    }


def _imported(chat: ImportedChat) -> dict[str, Json]:
    return {
        "chat_id": chat.chat_id,
        "source": chat.source,
        "path": chat.path,
        "turns": chat.turns,
        "files": chat.files,
        "edits": chat.edits,
        "branches": list(chat.branches),
        "skipped": [{"line": line.line, "reason": line.reason} for line in chat.skipped],
    }


def import_object(report: ImportReport) -> dict[str, Json]:
    """The object of ``import``."""
    return {
        "imported": [_imported(chat) for chat in report.imported],
        "updated": [_imported(chat) for chat in report.updated],
        "unchanged": list(report.unchanged),
        "failed": [{"path": shown(one.path), "reason": one.reason, "code": one.code} for one in report.failed],
    }


def turn_object(turn: TurnSpan) -> dict[str, Json]:
    """One element of ``turns`` of ``show``; messages count from 1, as ``--messages`` does."""
    return {
        "turn": turn.turn,
        "first_message": turn.first_message + 1,
        "last_message": turn.last_message + 1,
        "tag": turn.tag or None,
    }


def _skipped(one: Skipped) -> dict[str, Json]:
    return {**path_keys(one.path), "reason": one.reason, "size": one.size}


def _coverage(coverage: Coverage) -> dict[str, Json]:
    return {"complete": coverage.complete, "skipped": [_skipped(one) for one in coverage.skipped]}


def change_object(change: FileChange) -> dict[str, Json]:
    """One file of a timeline entry."""
    return {
        **path_keys(change.path),
        "status": change.status.value,
        "old_path": shown(change.old_path) if change.old_path else None,
        "lines_added": change.lines_added,
        "lines_removed": change.lines_removed,
        "tag": change.tag,
        "author": change.author.value,
        "how": change.how.value,
        "tool_call_id": change.tool_call_id or None,
        "before_state": change.before.state.value,
        "after_state": change.after.state.value,
        "before_sha": change.before.sha,
        "after_sha": change.after.sha,
        "mode_before": change.before.mode,
        "mode_after": change.after.mode,
        "undone": change.undone,
    }


def entry_object(entry: TimelineEntry) -> dict[str, Json]:
    """One element of ``entries`` of ``timeline``."""
    base: dict[str, Json] = {
        "kind": entry.kind.value,
        "turn": entry.turn,
        "tag": entry.tag,
        "at": entry.at,
        "prompt": entry.prompt or None,
        "coverage": _coverage(entry.coverage),
        "files": [change_object(change) for change in entry.files],
        "notes": [_skipped(one) for one in entry.notes],
    }
    if entry.kind is EntryKind.RESTORE:
        base["entry"] = entry.entry
        base["point"] = entry.point
        base["upto"] = entry.upto or None
        base["undone"] = entry.undone
        base["restore_kind"] = entry.restore_kind.value if entry.restore_kind else None
        base["takes_back"] = entry.takes_back or None
        base["branch_chat_id"] = entry.branch_chat_id
    return base


def conflict_object(conflict: Conflict) -> dict[str, Json]:
    """One element of ``conflicts``."""
    return {
        **path_keys(conflict.path),
        "other_chat": conflict.other_chat,
        "expected_sha": conflict.expected_sha,
        "actual_sha": conflict.actual_sha,
        "tag": conflict.tag,
        "ts": conflict.ts,
    }


def capture_object(report: CaptureReport) -> dict[str, Json]:
    """The object of ``record``."""
    return {
        "chat_id": report.chat,
        "tag": report.tag,
        **path_keys(report.path),
        "coverage": _coverage(report.coverage),
        "before_state": report.before.state.value,
        "after_state": report.after.state.value,
        "before_sha": report.before.sha,
        "after_sha": report.after.sha,
        "conflict": conflict_object(report.conflict) if report.conflict is not None else None,
    }


def turn_report_object(report: TurnReport) -> dict[str, Json]:
    """The object of ``turn``."""
    return {
        "chat_id": report.chat,
        "turn": report.turn,
        "files": [change_object(change) for change in report.files],
        "coverage": _coverage(report.coverage),
    }


def outcome_object(outcome: TurnOutcome) -> dict[str, Json]:
    """The object of ``prompt``."""
    return {
        "chat_id": outcome.chat,
        "turn": outcome.turn,
        "stop_reason": outcome.stop_reason.value,
        "files": [change_object(change) for change in outcome.files],
        "permissions": [
            {
                "title": shown(given.title),
                "answer": given.answer,
                "not_done": shown(given.not_done) or None,
                "agent_title": shown(given.said) or None,
            }
            for given in outcome.permissions
        ],
        "coverage": _coverage(outcome.coverage),
        "problem": shown(outcome.problem),
        "note": shown(outcome.note) or None,
    }


def note_text(note: DiffNote) -> str:
    """One fact in words."""
    return shown(f"{note.note.value}: {note.old} -> {note.new}") if note.old or note.new else note.note.value


def hunk_lines(document: DiffDocument, first_row: int, last_row: int) -> list[str]:
    """The rows of a hunk as lines of a unified diff: deletions of a block before its additions."""
    lines: list[str] = []
    added: list[str] = []
    for row in document.rows[first_row : last_row + 1]:
        if row.kind is RowKind.SAME:
            lines += added
            added = []
            lines.append(" " + document.new.lines[(row.new_line or 1) - 1])
            continue
        if row.old_line is not None:
            lines.append("-" + document.old.lines[row.old_line - 1])
        if row.new_line is not None:
            added.append("+" + document.new.lines[row.new_line - 1])
    return lines + added


def diff_object(diff: FileDiff, change: dict[str, Json]) -> dict[str, Json]:
    """One file of ``diff``: ``change`` (as in ``timeline``) plus hunks and notes. Nobody is named as its author: between two
    points many may have been at work."""
    hunks: list[Json] = []
    notes: list[Json] = []
    match diff.result:
        case DiffDocument() as document:
            notes += [note_text(note) for note in document.notes]
            hunks += [
                {
                    "old_start": hunk.old_start,
                    "old_lines": hunk.old_lines,
                    "new_start": hunk.new_start,
                    "new_lines": hunk.new_lines,
                    "lines": hunk_lines(document, hunk.first_row, hunk.last_row),
                }
                for hunk in document.hunks
            ]
        case Identical(notes=found):
            notes += [note_text(note) for note in found]
        case BinaryPair(notes=found):
            notes += [*(note_text(note) for note in found), "binary"]
        case TooLarge():
            notes.append("too large to compare")
        case Unreadable(side=side, reason=reason):
            notes.append(f"the {side} side cannot be shown: {reason}")
    return {**change, "author": None, "how": None, "hunks": hunks, "notes": notes}


def _planned(file: PlannedFile) -> dict[str, Json]:
    return {
        **path_keys(file.path),
        "action": file.action.value,
        "reason": file.reason or None,
        "changed_by": file.changed_by,
        "also_by": list(file.also_by),
        "current_sha": file.current.sha,
        "wanted_sha": file.wanted.sha,
        "current_mode": file.current.mode,
        "wanted_mode": file.wanted.mode,
        "current_state": file.current.state.value,
        "wanted_state": file.wanted.state.value,
        "hard_linked": file.hard_linked,
        "may_be_yours": file.may_be_yours,
    }


def plan_object(plan: RestorePlan) -> dict[str, Json]:
    """The object of ``preview``."""
    return {
        "digest": plan.digest,
        "kind": plan.kind.value,
        "point": point_text(plan.point),
        "upto": None if plan.upto is None else point_text(plan.upto),
        "scope": plan.scope.value,
        "message_count": plan.keep_messages,
        "cut_turns": list(plan.cut_turns) if plan.cut_turns else None,
        "files": [_planned(file) for file in plan.files],
        "deletes": plan.deletes,
        "notes": list(plan.notes),
    }


def left_list(left: Iterable[LeftFile]) -> list[Json]:
    """``left`` of a restore or a checkout."""
    return [{**path_keys(one.path), "reason": one.reason} for one in left]


def report_object(report: RestoreReport) -> dict[str, Json]:
    """The object of ``restore`` and every kind of undo."""
    return {
        "entry": report.entry or None,
        "restored": [shown(path) for path in report.restored],
        "left": left_list(report.left),
        "failed": left_list(report.failed),
        "verified": report.verified,
        "branch_chat_id": report.branch_chat_id,
    }


def overlap_object(overlap: OverlapAt) -> dict[str, Json]:
    """One element of ``overlaps`` of ``undo-turn``."""
    return {
        **path_keys(overlap.path),
        "number": overlap.number,
        "kind": overlap.kind.value,
        "first_line": overlap.first_line,
        "last_line": overlap.last_line,
        "now": [shown(line) for line in overlap.now],
        "then": [shown(line) for line in overlap.then],
        "after": [shown(line) for line in overlap.after],
        "changed_by": overlap.changed_by,
    }


def setting_object(setting: Setting) -> dict[str, Json]:
    """One element of ``settings``."""
    return {"key": setting.key, "value": setting.value, "default": setting.default, "text": setting.text}


def verify_object(report: VerifyReport) -> dict[str, Json]:
    """The object of ``verify``."""
    return {
        "ok": not report.problems,
        "problems": [
            {"kind": one.kind.value, "chat_id": one.chat_id or None, "path": shown(one.path), "detail": one.detail}
            for one in report.problems
        ],
        "chats": report.chats,
        "events": report.events,
        "blobs": report.blobs,
        "bytes": report.size_bytes,
    }
