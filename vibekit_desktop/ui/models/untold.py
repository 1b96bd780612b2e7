"""What a person put back since the agent's last turn, so that the agent does not know it; and the note that tells it.

Pure; UI thread only.
"""

from vibekit_desktop.core.types.checkpoints import EntryKind, RestoreKind, Timeline, TimelineEntry
from vibekit_desktop.core.types.ids import WorkspacePath
from vibekit_desktop.ui.text import tr, tr_n
from vibekit_desktop.ui.visible import visible_name
from vibekit_desktop.ui.wording import file_name, shown_path

_NAMED = 20
_PUT_BACK = (RestoreKind.RESTORE, RestoreKind.UNDO_FILE, RestoreKind.UNDO_TURN, RestoreKind.UNDO_HUNK)


def untold(timeline: Timeline) -> tuple[TimelineEntry, ...]:
    """The entries after the last turn that put files back and were not undone. One that cut the chat too is none of them: what
    the agent is told of the chat then ends where the files are."""
    found: list[TimelineEntry] = []
    for entry in reversed(timeline.entries):
        if entry.kind is EntryKind.TURN:
            return tuple(reversed(found))
        put_back = entry.kind is EntryKind.RESTORE and entry.restore_kind in _PUT_BACK
        if put_back and not entry.undone and entry.files and entry.branch_chat_id is None:
            found.append(entry)
    return ()  # no turn: there is no agent that could take anything for as it left it


def files_of(entries: tuple[TimelineEntry, ...]) -> list[WorkspacePath]:
    """The files of some entries, each once."""
    return list(dict.fromkeys(change.path for entry in entries for change in entry.files))


def untold_text(files: list[WorkspacePath]) -> str:
    """The sentence of the banner."""
    if len(files) == 1:
        return tr("The agent does not know that {file} changed.", file=file_name(shown_path(files[0])))
    return tr_n("The agent does not know that {n} file changed.", "The agent does not know that {n} files changed.", len(files))


def note(files: list[WorkspacePath]) -> str:
    """What the next message begins with."""
    named = ", ".join(visible_name(path) for path in files[:_NAMED])
    more = len(files) - _NAMED
    if more > 0:
        named = tr_n("{named} and {n} more", "{named} and {n} more", more, named=named)
    one = "Note: since your last answer I put {named} back to an earlier state. Read it again before you change it."
    many = "Note: since your last answer I put files back to an earlier state: {named}. Read them again before you change them."
    return tr_n(one, many, len(files), named=named)
