"""From an error to a sentence: what failed, what was or was not changed, what to do.

The core's errors carry facts; the words are here and nowhere else. A test demands an entry for every class. UI thread only.
"""

import re
from collections.abc import Callable
from pathlib import PurePath
from typing import NamedTuple

from vibekit_desktop.core.types import errors
from vibekit_desktop.ui.error_text_agents import WORDS as AGENT_WORDS
from vibekit_desktop.ui.error_text_chats import WORDS as CHAT_WORDS
from vibekit_desktop.ui.text import tr, tr_n
from vibekit_desktop.ui.visible import visible_name
from vibekit_desktop.ui.wording import size_text, skip_text, workspace_name


class ErrorText(NamedTuple):
    """``title``: what failed. ``detail``: what was or was not changed and what to do. ``action``: a button's text, or empty."""

    title: str
    detail: str
    action: str = ""

    @property
    def sentence(self) -> str:
        """Title and detail as one line, for a toast."""
        return f"{self.title} {self.detail}" if self.detail else self.title


def _refusal(_error: errors.CoreError) -> ErrorText:
    return ErrorText(tr("This can't be done as asked."), tr("Nothing was changed. Choose something else and try again."))


def _environment(error: errors.CoreError) -> ErrorText:
    return ErrorText(
        tr("This computer did not allow it."),
        tr("Nothing was changed. Look at the disk and its permissions, then try again."),
        tr("Try again") if error.retryable else "",
    )


def _bug(_error: errors.CoreError) -> ErrorText:
    return ErrorText(
        tr("Something is wrong in VibeKit Desktop itself."),
        tr("Your files and the store are as they were. Restart the program; if it happens again, report it."),
    )


def _malformed(error: errors.Malformed) -> ErrorText:
    return ErrorText(
        tr("“{text}” is not a {what}.", text=error.text, what=error.what), tr("Nothing was changed. Correct it and try again.")
    )


def _workspace_needed(_error: errors.WorkspaceNeeded) -> ErrorText:
    return ErrorText(
        tr("This chat is not there yet."), tr("Nothing was changed. Choose the folder that it works in, then begin again.")
    )


def _changed_meanwhile(error: errors.ChangedMeanwhile) -> ErrorText:
    return ErrorText(
        tr("{path} was changed by somebody else meanwhile.", path=error.path),
        tr("Nothing was written, and what is there now is kept. Let the agent read the file again, then try again."),
        tr("Try again"),
    )


def _not_protected(error: errors.NotProtected) -> ErrorText:
    return ErrorText(
        tr("What {path} holds now can't be kept: {reason}.", path=error.path, reason=skip_text(error.reason)),
        tr("Nothing was written. If it is written all the same, what it holds now can't be brought back."),
    )


def _no_open_turn(error: errors.NoOpenTurn) -> ErrorText:
    title = tr("No command is running in this chat.") if error.what == "command" else tr("No turn is running in this chat.")
    return ErrorText(title, tr("Nothing was changed. Something ended here that never began."))


def _invalid_id(error: errors.InvalidId) -> ErrorText:
    return ErrorText(
        tr("This is not a valid {kind}.", kind=error.kind), tr("Nothing was changed. Choose the chat from the list.")
    )


def _path_escape(error: errors.PathEscape) -> ErrorText:
    return ErrorText(
        tr("{path} is outside the workspace.", path=error.path or tr("The empty path")),
        tr("Nothing was changed. Only files inside the workspace are read or written; links on the way are not followed."),
    )


def _path_refused(error: errors.PathRefused) -> ErrorText:
    match error.reason:
        case "git":
            why = tr("It belongs to Git. Nothing was changed.")
        case "reserved":
            why = tr("The name is reserved by the system. Nothing was changed.")
        case "stage":
            why = tr("The name is reserved for our own temporary files. Nothing was changed.")
        case _:
            why = tr("It is kept out of every restore. Nothing was changed.")
    return ErrorText(tr("{path} is never touched.", path=error.path), why)


def _plan_stale(error: errors.PlanStale) -> ErrorText:
    many = (
        tr_n("1 file changed since you looked.", "{n} files changed since you looked.", n=len(error.changed))
        if error.changed
        else tr("Something changed since you looked.")
    )
    return ErrorText(many, tr("Nothing was restored. Look at the new preview and confirm again."), tr("Look again"))


def _nothing_to_take_back(error: errors.NothingToTakeBack) -> ErrorText:
    title = tr("There is nothing to redo.") if error.kind == "redo" else tr("There is nothing to undo.")
    return ErrorText(title, tr("Nothing was changed. The timeline shows what was restored in this chat."))


def _nothing_to_end(_error: errors.NothingToEnd) -> ErrorText:
    return ErrorText(tr("There is no restore to end."), tr("Nothing was changed. It may have ended meanwhile."))


def _not_known_there(error: errors.NotKnownThere) -> ErrorText:
    return ErrorText(
        tr("The content of {path} at that moment is not known.", path=error.path),
        tr("Nothing was changed. The file may not have existed then, or it was not captured. Choose another moment."),
    )


def _folder_not_empty(error: errors.FolderNotEmpty) -> ErrorText:
    return ErrorText(
        tr("{folder} is not empty.", folder=error.folder),
        tr("Nothing was written. Choose an empty folder."),
        tr("Choose folder…"),
    )


def _file_there(error: errors.FileThere) -> ErrorText:
    return ErrorText(
        tr("There is something at {path} already.", path=error.path),
        tr("Nothing was written. Choose another name for the file."),
    )


def _workspace_refused(error: errors.WorkspaceRefused) -> ErrorText:
    known = {
        "home": (tr("This is your home folder."), tr("Nothing was changed. Choose a project folder inside it.")),
        "root": (tr("This is the root of the disk."), tr("Nothing was changed. Choose a project folder.")),
        "not-alike": (
            tr("None of the files that the chats know is in {folder}.", folder=error.folder),
            tr("Nothing was changed. Choose the folder in which the project is now."),
        ),
        "has-chats": (
            tr("{folder} has chats of its own.", folder=error.folder),
            tr("Nothing was changed. Choose another folder, or work with the chats that are there."),
        ),
        "not-missing": (tr("The folder is where it was."), tr("Nothing was changed. Press F5 to look at it again.")),
    }
    title, detail = known.get(
        error.reason,
        (
            tr("{folder} can't be used as a workspace for this.", folder=error.folder),
            tr("Nothing was changed. Choose the project folder that the chat was recorded in, or another one."),
        ),
    )
    return ErrorText(title, detail, tr("Choose folder…"))


def _chat_not_found(_error: errors.ChatNotFound) -> ErrorText:
    return ErrorText(
        tr("This chat was not found."), tr("Nothing was changed. It may have been deleted; choose another one from the list.")
    )


def _chat_ambiguous(error: errors.ChatAmbiguous) -> ErrorText:
    return ErrorText(
        tr_n("1 chat begins like this.", "{n} chats begin like this.", n=error.count),
        tr("Nothing was changed. Give more characters of its id, or choose it from the list."),
    )


def _chat_damaged(_error: errors.ChatDamaged) -> ErrorText:
    return ErrorText(
        tr("This chat's file is damaged and can't be read."),
        tr("The file was kept as it is, and its checkpoints are not affected. Put back a copy of the file if you have one."),
    )


def _point_not_found(error: errors.PointNotFound) -> ErrorText:
    return ErrorText(
        tr("This chat has no point “{point}”.", point=error.point), tr("Nothing was changed. Choose a turn in the timeline.")
    )


def _blob_not_found(_error: errors.BlobNotFound) -> ErrorText:
    return ErrorText(
        tr("The earlier copy is not in the store."),
        tr("Nothing was changed. The file stays as it is now; other files of the same turn can still be restored."),
    )


def _blob_corrupt(_error: errors.BlobCorrupt) -> ErrorText:
    return ErrorText(
        tr("The earlier copy is damaged and can't be used."),
        tr("Nothing was changed. The file stays as it is now; other files of the same turn can still be restored."),
    )


def _log_damaged(error: errors.LogDamaged) -> ErrorText:
    return ErrorText(
        tr_n(
            "1 line of this chat's record can't be read.", "{n} lines of this chat's record can't be read.", n=len(error.lines)
        ),
        tr("Nothing was changed. The chat can still be read; restoring and undoing are off until the record is repaired."),
    )


def _restore_unfinished(error: errors.RestoreUnfinished) -> ErrorText:
    if error.reason == "original":
        return ErrorText(
            tr("Another program began to restore this chat's files and did not end."),
            tr(
                "Nothing was changed. Restoring and undoing are off until that program ends it, or until you choose, above the "
                "chat, to leave the files as they are."
            ),
        )
    if error.reason == "other-vault":
        return ErrorText(
            tr("This record holds a restore that was begun in another folder."),
            tr(
                "Nothing was changed. It was never meant for these files. Restoring and undoing are off until you choose, "
                "above the chat, to leave them as they are."
            ),
        )
    return ErrorText(
        tr("An interrupted restore could not be finished."),
        tr("Every file's earlier content is in the store. Remove what stands in the way, then try again."),
        tr("Try again"),
    )


def _workspace_missing(error: errors.WorkspaceMissing) -> ErrorText:
    name = workspace_name(error.looked_at) or error.looked_at or tr("The folder of this chat")
    return ErrorText(
        tr("{name} was not found where it was.", name=name),
        tr("Nothing was changed. Put the folder back, or connect its drive; chats and their history can still be read."),
    )


def _cannot_read(error: errors.CannotRead) -> ErrorText:
    return ErrorText(
        tr("{path} can't be read: {reason}.", path=error.path, reason=error.reason),
        tr("Nothing was changed. Check the file's permissions, then try again."),
        tr("Try again"),
    )


def _too_large(error: errors.FileTooLarge) -> ErrorText:
    path = PurePath(error.path)
    name = tr("This chat's file") if path.suffix == ".json" and "chats" in path.parts else path.name
    return ErrorText(
        tr("{name} is {size}, larger than {limit}.", name=name, size=size_text(error.size), limit=size_text(error.limit)),
        tr("That is too much to be read at once. Nothing of it was changed."),
    )


_IN_STORE = re.compile(
    r"(?P<store>[/\\].*?|[A-Za-z]:.*?)[/\\](?:vaults[/\\][0-9a-f-]{36}[/\\]|desktop[/\\](?:lock|known|seq|turns|blobs|baseline|overflow)\b"
    r"|snapshots[/\\](?:blobs|chats)[/\\]|library\.(?:json|lock)\Z)"
)
"""A whole path of a file that is the store's own, none of the project."""


def _store_unwritable(error: errors.StoreUnwritable) -> ErrorText:
    return _store_words(error.path, error.reason)


def _store_words(folder: str, reason: str) -> ErrorText:
    return ErrorText(
        tr("The store can't be written: {reason}.", reason=reason),
        tr("Nothing was changed, and nothing is recorded. Check the disk and the permissions of {folder}.", folder=folder),
        tr("Try again"),
    )


def _cannot_write(error: errors.CannotWrite) -> ErrorText:
    inside = _IN_STORE.match(error.path)
    if inside:
        return _store_words(inside["store"], error.reason)
    return ErrorText(
        tr("{path} can't be written: {reason}.", path=error.path, reason=error.reason),
        tr("The file was left as it was. Close the program that uses it or check its permissions, then try again."),
        tr("Try again"),
    )


def _disk_full(_error: errors.DiskFull) -> ErrorText:
    return ErrorText(
        tr("The disk is full."),
        tr("Nothing was changed. Free some space on this disk, then try again."),
        tr("Try again"),
    )


def _unknown_format(error: errors.UnknownFormat) -> ErrorText:
    return ErrorText(
        tr("{path} is not a history that can be opened.", path=error.path),
        tr("The file was not changed. Choose a history file or folder of a supported agent."),
    )


def _newer_format(_error: errors.NewerFormat) -> ErrorText:
    return ErrorText(
        tr("This was written by a newer version."),
        tr("It is shown read-only and was not changed. Update VibeKit Desktop to work with it."),
    )


def _busy(error: errors.Busy) -> ErrorText:
    holder = error.holder or tr("another program")
    return ErrorText(
        tr("The workspace's store is in use by {holder}.", holder=holder),
        tr("Nothing was changed. Wait until it has finished, then try again."),
        tr("Try again"),
    )


def _worker_died(_error: errors.WorkerDied) -> ErrorText:
    return ErrorText(
        tr("The helper process that compares and colours files gave no answer."),
        tr("Nothing was changed. Try again; if it happens with the same file again, report it."),
        tr("Try again"),
    )


WORDS = {**CHAT_WORDS, **AGENT_WORDS}
_E = errors
_TEXTS: dict[type[errors.CoreError], Callable[..., ErrorText]] = {
    _E.CoreError: _refusal,
    _E.Refusal: _refusal,
    _E.EnvironmentFault: _environment,
    _E.BugError: _bug,
    _E.Malformed: _malformed,
    _E.WorkspaceNeeded: _workspace_needed,
    _E.ChangedMeanwhile: _changed_meanwhile,
    _E.NotProtected: _not_protected,
    _E.NoOpenTurn: _no_open_turn,
    _E.InvalidId: _invalid_id,
    _E.PathEscape: _path_escape,
    _E.PathRefused: _path_refused,
    _E.PlanStale: _plan_stale,
    _E.NothingToTakeBack: _nothing_to_take_back,
    _E.NothingToEnd: _nothing_to_end,
    _E.NotKnownThere: _not_known_there,
    _E.FolderNotEmpty: _folder_not_empty,
    _E.FileThere: _file_there,
    _E.WorkspaceRefused: _workspace_refused,
    _E.ChatNotFound: _chat_not_found,
    _E.ChatAmbiguous: _chat_ambiguous,
    _E.ChatDamaged: _chat_damaged,
    _E.PointNotFound: _point_not_found,
    _E.BlobNotFound: _blob_not_found,
    _E.BlobCorrupt: _blob_corrupt,
    _E.LogDamaged: _log_damaged,
    _E.RestoreUnfinished: _restore_unfinished,
    _E.WorkspaceMissing: _workspace_missing,
    _E.CannotRead: _cannot_read,
    _E.FileTooLarge: _too_large,
    _E.CannotWrite: _cannot_write,
    _E.StoreUnwritable: _store_unwritable,
    _E.DiskFull: _disk_full,
    _E.UnknownFormat: _unknown_format,
    _E.NewerFormat: _newer_format,
    _E.Busy: _busy,
    _E.WorkerDied: _worker_died,
}


def covered() -> frozenset[type[errors.CoreError]]:
    """The classes that have a sentence of their own."""
    return frozenset({*_TEXTS, *WORDS})


def sentence(error: BaseException) -> ErrorText:
    """The words for ``error``; an error that is none of the core's is a bug of ours."""
    for kind in type(error).__mro__:
        if kind in WORDS:
            return ErrorText(*map(visible_name, WORDS[kind](error)))
        if kind in _TEXTS:
            title, detail, action = _TEXTS[kind](error)
            return ErrorText(visible_name(title), visible_name(detail), action)  # paths and names come from elsewhere
    return _bug(errors.BugError())
