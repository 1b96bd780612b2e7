"""From an error to one sentence for a terminal, and to the exit status of command-line.md.

Pure; the window has its own wording in `ui.error_text`.
"""

from vibekit_desktop.cli.sentences_agents import agent_sentence
from vibekit_desktop.core.types import errors as e

DONE, REFUSED, USAGE, FAILED, BUSY = 0, 1, 2, 3, 4


def exit_status(error: e.CoreError) -> int:
    """1 refused, 2 wrong usage, 3 the environment failed, 4 busy."""
    if isinstance(error, e.Malformed):
        return USAGE
    if isinstance(error, e.Busy):
        return BUSY
    if isinstance(error, e.Refusal):
        return REFUSED
    return FAILED


_REASONS = {
    "home": "this is your home folder; choose a project folder inside it",
    "root": "this is the root of the disk; choose a project folder",
    "other-workspace": "this session belongs to another workspace already",
    "own-data": "this folder holds the program's own data",
    "git": "nothing inside .git is ever touched",
    "reserved": "the name is reserved on some systems",
    "stage": "the name is one of our own stage files",
    "too-large": "it is too large",
    "missing": "there is no such file",
    "not-found": "there is no such file",
}

_UNFINISHED = {
    "interrupted": "it was interrupted and cannot be finished yet; nothing more was changed",
    "original": "another program began it and has not ended it; it is not carried on here, and nothing was changed{way_out}",
    "other-vault": "it was begun in another folder and is not carried on here; nothing was changed{way_out}",
    "log-damaged": "the log is damaged; `vibekit-desktop verify` shows where; nothing more was changed",
    "damaged": "a content that it needs is damaged; `vibekit-desktop verify` shows which; nothing more was changed",
    "no-plan": "its plan cannot be read; nothing more was changed",
}


_NO_COMMENT = {
    "empty": "it says nothing",
    "too-long": "it is too long",
    "too-many": "the chat has as many as it can hold",
    "no-lines": "there are no such lines",
}


def _reason(reason: str) -> str:
    return _REASONS.get(reason, reason)


def sentence(error: e.CoreError) -> str:
    """What failed, what was or was not changed; one line, without a full stop at the end of codes."""
    about_agent = agent_sentence(error)
    if about_agent is not None:
        return about_agent
    match error:
        case e.WorkspaceNeeded():
            return f"there is no chat {error.chat!r} yet; --workspace DIR says for which folder it is to be made"
        case e.BadSetting():
            return f"{error.text!r} cannot be {error.key}: it must be {error.wanted}; nothing was changed"
        case e.UnknownSetting():
            return f"there is no setting {error.key!r}; there are {', '.join(error.known)}"
        case e.Malformed():
            return f"{error.text!r} is not a {error.what}"
        case e.InvalidId():
            return f"this is not a {error.kind}"
        case e.PathEscape():
            return f"{error.path!r} is not inside the workspace; nothing was done"
        case e.PathRefused():
            return f"{error.path!r} is never touched: {_reason(error.reason)}"
        case e.PlanStale():
            why = f"{', '.join(error.changed[:5])} changed since" if error.changed else "this is not the plan of now"
            return f"the plan is no longer true ({why}); nothing was changed, look at the preview again"
        case e.NothingToTakeBack():
            return f"there is nothing to {error.kind}"
        case e.NothingToEnd():
            return f"chat {error.chat} has no restore that was begun elsewhere and did not end; nothing was changed"
        case e.ChangedMeanwhile():
            return f"{error.path!r} was changed by somebody else meanwhile; nothing was written"
        case e.NotProtected():
            return f"what {error.path!r} holds now cannot be stored ({_reason(error.reason)}); nothing was written"
        case e.NoOpenTurn():
            return f"no {error.what} is running in chat {error.chat}; nothing was changed"
        case e.NotABranch():
            return f"chat {error.chat} is not a branch of another chat; nothing was changed"
        case e.NothingToMerge():
            return f"branch {error.chat} has no message that its parent does not have; nothing was changed"
        case e.ChatGone():
            way = "; `vibekit-desktop unarchive` brings it back" if error.reason == "archived" else " a moment ago"
            return f"chat {error.chat} is {error.reason}{way}; nothing was changed"
        case e.ChatInUse():
            return f"there is a chat {error.chat} already; nothing was changed"
        case e.ChatOpen():
            return f"chat {error.chat} is open in a window; it was left as it is"
        case e.DraftTooLarge():
            return f"a draft of {error.size} bytes is too long to be kept; nothing was changed"
        case e.InvalidText():
            return f"the text holds half characters, which no file can hold; chat {error.chat} was not changed"
        case e.NotAllRestored():
            many = ", ".join(error.paths[:5])
            return f"not every file could be put back first ({many}); what was is entry {error.entry} and can be undone"
        case e.NotKnownThere():
            return f"{error.path!r} has no content at {error.point}: {_reason(error.reason)}"
        case e.FolderNotEmpty():
            return f"{error.folder!r} is not an empty folder; nothing was written"
        case e.FileThere():
            return f"there is something at {error.path!r} already; nothing was written"
        case e.ExportTooLarge():
            return f"it is more than one file may hold (over {error.most >> 20} MiB); nothing was written"
        case e.CommentNotFound():
            return f"the review of chat {error.chat} has no comment {error.comment!r}; nothing was changed"
        case e.CommentRefused():
            return f"the comment was not kept: {_NO_COMMENT.get(error.reason, error.reason)}"
        case e.WorkspaceRefused():
            return f"{error.folder!r} cannot be used: {_reason(error.reason)}"
        case e.ChatNotFound():
            return f"there is no chat {error.text!r}; `vibekit-desktop list` shows them"
        case e.ChatAmbiguous():
            return f"{error.text!r} fits {error.count} chats; give more characters"
        case e.ChatDamaged():
            return f"the file of chat {error.chat} is damaged ({error.reason}); it was kept as it is"
        case e.PointNotFound():
            return f"chat {error.chat} has no point {error.point!r}; `vibekit-desktop timeline` shows its turns"
        case e.BlobNotFound():
            return f"the store has no content {error.sha[:12]}"
        case e.BlobCorrupt():
            return f"the stored content {error.sha[:12]} is damaged and was not used; nothing was changed"
        case e.LogDamaged():
            if not any(error.lines):
                return f"the log of chat {error.chat} cannot be read; nothing was changed"
            lines = ", ".join(str(line) for line in error.lines[:5])
            return f"the log of chat {error.chat} is damaged in line {lines}; it can be read but not added to"
        case e.RestoreUnfinished():
            way_out = f"; `vibekit-desktop end-restore {error.chat} --yes` ends it, the files as they are"
            why = _UNFINISHED.get(error.reason, error.reason).replace("{way_out}", way_out)
            return f"an earlier restore of chat {error.chat} is unfinished: {why}"
        case e.WorkspaceMissing():
            return f"there is no folder at {error.looked_at!r}; nothing was changed"
        case e.StoreUnwritable():
            return f"the data folder {error.path!r} cannot be written ({error.reason}); nothing was changed"
        case e.DiskFull():
            return f"no room on the disk for {error.path!r} ({error.reason}); nothing was lost"
        case e.CannotWrite():
            return f"cannot write {error.path!r} ({error.reason})"
        case e.FileTooLarge():
            return f"{error.path!r} is larger than the {error.limit:,} bytes that are read at once; nothing of it was changed"
        case e.CannotRead():
            return f"cannot read {error.path!r}: {_reason(error.reason)}"
        case e.UnknownFormat():
            return f"{error.path!r} is not a history that can be read: {error.reason}"
        case e.NewerFormat():
            return f"{error.path!r} was written by a newer version; it was not changed"
        case e.Busy():
            return f"busy: {error.holder or 'another program'} is at work; try again in a moment"
        case e.WorkerDied():
            return f"the helper process that compares files gave no answer ({error.reason}); nothing was changed"
        case e.BugError():
            return f"a fault of the program: {error}; nothing was changed on purpose"
        case _:
            return str(error) or error.code
