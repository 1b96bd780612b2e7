"""Everything that can go wrong and whose fault it is.

Three branches: `Refusal` (the request cannot be carried out as asked, nothing is broken), `EnvironmentFault` (the world:
disk, files, other processes) and `BugError` (us). Every class has a stable ``code``. Errors carry facts (ids, sizes,
paths of the user's own files), never file content; the sentences are in `ui.error_text` and `cli.printing`.
"""

from collections.abc import Sequence
from typing import ClassVar


class CoreError(Exception):
    """Base of every error the core raises on purpose. ``code`` is stable and part of the command line's promise."""

    code: ClassVar[str] = "core.error"
    retryable: ClassVar[bool] = False


class Refusal(CoreError):
    """The request cannot be done as asked; nothing was changed and nothing is broken."""

    code = "core.refused"


class EnvironmentFault(CoreError):
    """The world did not play along; nothing was lost."""

    code = "core.environment"


class BugError(CoreError):
    """Our own fault; the report dialog is for these."""

    code = "core.bug"


class Malformed(Refusal):
    """A text that cannot mean anything: a bad point, a bad option. Exit status 2."""

    code = "request.malformed"

    def __init__(self, what: str, text: str) -> None:
        super().__init__(what, text)
        self.what = what
        self.text = text


class WorkspaceNeeded(Malformed):
    """A chat that is not there yet can only be made for a workspace. Exit status 2."""

    code = "workspace.needed"

    def __init__(self, chat: str) -> None:
        super().__init__("workspace", "")
        self.chat = chat


class BadSetting(Malformed):
    """A text that a setting cannot be. ``wanted`` says in words what it can. Exit status 2."""

    code = "settings.bad-value"

    def __init__(self, key: str, text: str, wanted: str) -> None:
        super().__init__(f"value for {key}", text)
        self.key = key
        self.wanted = wanted


class UnknownSetting(Malformed):
    """There is no setting of this key. Exit status 2."""

    code = "settings.unknown"

    def __init__(self, key: str, known: Sequence[str]) -> None:
        super().__init__("setting", key)
        self.key = key
        self.known = tuple(known)


class InvalidId(Refusal):
    """A text is not an id of the kind wanted."""

    code = "request.invalid-id"

    def __init__(self, kind: str, length: int) -> None:
        super().__init__(kind, length)
        self.kind = kind
        self.length = length


class PathEscape(Refusal):
    """A path is absolute, empty, or leaves the workspace; or a link stands on the way."""

    code = "path.escape"

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


class PathRefused(Refusal):
    """A path lies inside the workspace but is never touched: ``.git``, our own data, a reserved name."""

    code = "path.refused"

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason


class PlanStale(Refusal):
    """The plan that was confirmed is no longer what would happen."""

    code = "checkpoint.plan-stale"
    retryable = True

    def __init__(self, changed: Sequence[str]) -> None:
        super().__init__(tuple(changed))
        self.changed = tuple(changed)


class NothingToTakeBack(Refusal):
    """There is no entry that ``undo`` or ``redo`` could take back."""

    code = "checkpoint.nothing-to-take-back"

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


class NothingToEnd(Refusal):
    """No restore of this chat waits for somebody to end it."""

    code = "checkpoint.nothing-to-end"

    def __init__(self, chat: str) -> None:
        super().__init__(chat)
        self.chat = chat


class ChangedMeanwhile(Refusal):
    """A file is not what the writer read: somebody changed it since. Nothing was written; what is there is in the store."""

    code = "checkpoint.changed-meanwhile"
    retryable = True

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


class NotProtected(Refusal):
    """What a write would overwrite cannot be put into the store, so the write is held until the user accepts."""

    code = "checkpoint.not-protected"

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason


class NoOpenTurn(Refusal):
    """The end of a turn or of a command that never began."""

    code = "turn.none-open"

    def __init__(self, chat: str, what: str) -> None:
        super().__init__(chat, what)
        self.chat = chat
        self.what = what


class NotABranch(Refusal):
    """Only a branch can be promoted, discarded or merged."""

    code = "chat.not-a-branch"

    def __init__(self, chat: str) -> None:
        super().__init__(chat)
        self.chat = chat


class NothingToMerge(Refusal):
    """A branch holds no message that its parent does not have."""

    code = "chat.nothing-to-merge"

    def __init__(self, chat: str) -> None:
        super().__init__(chat)
        self.chat = chat


class NotAllRestored(Refusal):
    """Files that were to be put back first were not; what was done is entry ``entry`` and can be undone. Nothing else was."""

    code = "chat.not-all-restored"

    def __init__(self, chat: str, entry: int, paths: Sequence[str]) -> None:
        super().__init__(chat, entry, tuple(paths))
        self.chat = chat
        self.entry = entry
        self.paths = tuple(paths)


class NotKnownThere(Refusal):
    """The content of a path at a point is not to be had: absent there, not captured, or unknown."""

    code = "checkpoint.not-known-there"

    def __init__(self, path: str, point: str, reason: str) -> None:
        super().__init__(path, point, reason)
        self.path = path
        self.point = point
        self.reason = reason


class FolderNotEmpty(Refusal):
    """A checkout wants an empty folder."""

    code = "checkout.not-empty"

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        self.folder = folder


class FileThere(Refusal):
    """A new file was to be written where there is something already; it was not touched."""

    code = "export.file-there"

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


class ExportTooLarge(Refusal):
    """What was to be exported is more than one file may hold: at least ``size`` bytes, ``most`` allowed. None was made."""

    code = "export.too-large"

    def __init__(self, size: int, most: int) -> None:
        super().__init__(size, most)
        self.size = size
        self.most = most


class CommentNotFound(Refusal):
    """A chat's review has no comment of this id."""

    code = "review.no-comment"

    def __init__(self, chat: str, comment: str) -> None:
        super().__init__(chat, comment)
        self.chat = chat
        self.comment = comment


class CommentRefused(Refusal):
    """A comment that cannot be kept: ``empty``, ``too-long``, ``too-many`` in one chat, or ``no-lines`` where it stands (a file
    that is not text, or has not so many). Nothing was changed."""

    code = "review.comment-refused"

    def __init__(self, chat: str, reason: str) -> None:
        super().__init__(chat, reason)
        self.chat = chat
        self.reason = reason


class WorkspaceRefused(Refusal):
    """A folder that must not become a workspace, or an import that belongs to another workspace already."""

    code = "workspace.refused"

    def __init__(self, folder: str, reason: str) -> None:
        super().__init__(folder, reason)
        self.folder = folder
        self.reason = reason


class ChatGone(Refusal):
    """A late write to a chat that was ``deleted`` a moment ago, or that is ``archived``; nothing was written."""

    code = "chat.gone"

    def __init__(self, chat: str, reason: str = "deleted") -> None:
        super().__init__(chat, reason)
        self.chat = chat
        self.reason = reason


class ChatInUse(Refusal):
    """A chat of this id is there already, where one is to be put; both were left as they are."""

    code = "chat.in-use"

    def __init__(self, chat: str) -> None:
        super().__init__(chat)
        self.chat = chat


class ChatOpen(Refusal):
    """A window has the chat open, so it is not taken away."""

    code = "chat.open"

    def __init__(self, chat: str) -> None:
        super().__init__(chat)
        self.chat = chat


class DraftTooLarge(Refusal):
    """A draft is longer than a draft may be; the one that was there stays."""

    code = "chat.draft-too-large"

    def __init__(self, chat: str, size: int) -> None:
        super().__init__(chat, size)
        self.chat = chat
        self.size = size


class InvalidText(Refusal):
    """A text holds half characters, which no file can hold; nothing was written."""

    code = "chat.invalid-text"

    def __init__(self, chat: str) -> None:
        super().__init__(chat)
        self.chat = chat


class ChatNotFound(EnvironmentFault):
    """No chat has this id, prefix or row number."""

    code = "chat.not-found"

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class ChatAmbiguous(EnvironmentFault):
    """A prefix fits more than one chat."""

    code = "chat.ambiguous"

    def __init__(self, text: str, count: int) -> None:
        super().__init__(text, count)
        self.text = text
        self.count = count


class ChatDamaged(EnvironmentFault):
    """A chat file cannot be read. The file is kept as it is."""

    code = "chat.damaged"

    def __init__(self, chat: str, reason: str) -> None:
        super().__init__(chat, reason)
        self.chat = chat
        self.reason = reason


class PointNotFound(EnvironmentFault):
    """This chat has no such turn, tag or entry."""

    code = "checkpoint.point-not-found"

    def __init__(self, chat: str, point: str) -> None:
        super().__init__(chat, point)
        self.chat = chat
        self.point = point


class BlobNotFound(EnvironmentFault):
    """The store has no content of this hash, or this chat does not name it."""

    code = "store.blob-not-found"

    def __init__(self, sha: str) -> None:
        super().__init__(sha)
        self.sha = sha


class BlobCorrupt(EnvironmentFault):
    """Stored content does not match its name; it is never handed out."""

    code = "store.blob-corrupt"

    def __init__(self, sha: str) -> None:
        super().__init__(sha)
        self.sha = sha


class LogDamaged(EnvironmentFault):
    """An event log is damaged in the middle: reading goes on around it, writing stops."""

    code = "store.log-damaged"

    def __init__(self, chat: str, lines: Sequence[int]) -> None:
        super().__init__(chat, tuple(lines))
        self.chat = chat
        self.lines = tuple(lines)


class RestoreUnfinished(EnvironmentFault):
    """An earlier restore was interrupted and cannot be finished by itself."""

    code = "store.restore-unfinished"

    def __init__(self, chat: str, reason: str) -> None:
        super().__init__(chat, reason)
        self.chat = chat
        self.reason = reason


class WorkspaceMissing(EnvironmentFault):
    """The workspace folder is not where it was, or is another folder now."""

    code = "workspace.missing"

    def __init__(self, looked_at: str) -> None:
        super().__init__(looked_at)
        self.looked_at = looked_at


class CannotRead(EnvironmentFault):
    """A file or folder could not be read; ``reason`` is the operating system's word for it."""

    code = "disk.cannot-read"
    retryable = True

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason


class FileTooLarge(CannotRead):
    """A file is larger than is read at once: nothing is wrong with it. Sizes in bytes; ``size`` is at least so much."""

    code = "disk.too-large"
    retryable = False

    def __init__(self, path: str, size: int, limit: int) -> None:
        super().__init__(path, "too large")
        self.size = size
        self.limit = limit


class CannotWrite(EnvironmentFault):
    """A file could not be written; nothing was changed unless the report says so."""

    code = "disk.cannot-write"
    retryable = True

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason


class StoreUnwritable(CannotWrite):
    """Nothing can be kept in the data folder, so nothing is recorded."""

    code = "store.unwritable"


class DiskFull(CannotWrite):
    """No room on the disk."""

    code = "disk.full"


class UnknownFormat(EnvironmentFault):
    """A history file is not of a format that we read."""

    code = "source.unknown-format"

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason


class NewerFormat(EnvironmentFault):
    """Written by a newer version: shown read-only, never changed."""

    code = "store.newer-format"

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


class Busy(EnvironmentFault):
    """Another process holds the vault, or a turn is running. ``holder``: who, as part of a sentence ("turn 4 of chat ...");
    empty if that is not known. Exit status 4."""

    code = "vault.busy"
    retryable = True

    def __init__(self, holder: str) -> None:
        super().__init__(holder)
        self.holder = holder


class WorkerDied(EnvironmentFault):
    """The worker process did not do a job: ``died`` (twice), ``too-slow``, ``cannot-start``, or ``closed`` with the program."""

    code = "worker.died"
    retryable = True

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
