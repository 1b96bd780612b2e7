"""Histories of other programs, as values: what was found, and what an import did.

Frozen; no I/O; any thread.
"""

from dataclasses import dataclass

from vibekit_desktop.core.types.ids import ChatId


@dataclass(frozen=True, slots=True)
class Cleanup:
    """A program deletes its chats by itself: those that nobody used for so many ``days``; ``setting``: what it calls that."""

    days: int
    setting: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSummary:
    """One program whose histories were looked for: its root folder, how many sessions, when the newest changed. ``cleanup``:
    None if it keeps them."""

    name: str
    label: str
    root: str
    sessions: int
    folders: int
    newest_at: int | None
    problems: tuple[str, ...] = ()
    cleanup: Cleanup | None = None


@dataclass(frozen=True, slots=True)
class SkippedLine:
    """A line of a history that was not understood and is kept where it is; ``line`` counts from 1."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedChat:
    """One session that was materialised. ``turns`` = real prompts; ``files`` = distinct paths changed; ``edits`` = successful
    file edits recorded, sub-agents' included (command-line.md)."""

    chat_id: ChatId
    source: str
    path: str
    turns: int
    files: int
    edits: int
    skipped: tuple[SkippedLine, ...] = ()
    branches: tuple[ChatId, ...] = ()


@dataclass(frozen=True, slots=True)
class FailedImport:
    """A file that could not be imported, and why, in one sentence."""

    path: str
    reason: str
    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What an import did; running it again moves chats from ``imported`` to ``unchanged`` or ``updated``."""

    imported: tuple[ImportedChat, ...] = ()
    updated: tuple[ImportedChat, ...] = ()
    unchanged: tuple[ChatId, ...] = ()
    failed: tuple[FailedImport, ...] = ()
