"""What a check of everything that is stored read and found. Frozen; any thread."""

from dataclasses import dataclass
from enum import StrEnum


class Problem(StrEnum):
    """What `verify` can find."""

    LOG_LINE = "log-line"
    LOG_TAIL = "log-tail"
    BLOB_MISSING = "blob-missing"
    BLOB_CORRUPT = "blob-corrupt"
    BLOB_STRAY = "blob-stray"
    CHAT_DAMAGED = "chat-damaged"
    RESTORE_UNFINISHED = "restore-unfinished"
    LIBRARY = "library"
    VAULT = "vault"
    TOKEN = "token"


@dataclass(frozen=True, slots=True)
class ProblemFound:
    """One finding of `verify`; ``detail`` holds no content."""

    kind: Problem
    chat_id: str
    path: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyReport:
    """What `verify` read and found. It changes nothing."""

    problems: tuple[ProblemFound, ...]
    chats: int
    events: int
    blobs: int
    size_bytes: int
