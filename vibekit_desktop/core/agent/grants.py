"""What was allowed in the turn that runs, each bound to what was shown when it was: used once, and gone with the turn.

An edit is bound to its path and to what was there, and to the new text where the request carried all of it. Pure but for its
lists; loop thread.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from vibekit_desktop.core.agent import commands
from vibekit_desktop.core.types.agents import Why
from vibekit_desktop.core.types.chats import DiffFragment
from vibekit_desktop.core.types.checkpoints import FileState, State
from vibekit_desktop.core.types.ids import WorkspacePath


@dataclass(frozen=True, slots=True)
class Edit:
    """An edit that was allowed. ``text``: all of what will be there, or None if that was not said. ``lossy``: the diff that
    said it lacks the last newline of the file that is there."""

    path: WorkspacePath
    before: FileState
    text: str | None
    tool_call_id: str
    lossy: bool = False

    def fits_text(self, text: str) -> bool:
        """Whether writing ``text`` is what was allowed. One agent's diffs lack the last newline, so this one may come back."""
        if self.text is None or text == self.text:
            return True
        return (self.lossy or not self.text.endswith("\n")) and text == self.text + "\n"


@dataclass(frozen=True, slots=True)
class Command:
    """A command that was allowed, and the look before it was done. ``folder``: where, as it was shown."""

    text: str
    folder: str
    tool_call_id: str


class Grants:
    """All of one turn."""

    def __init__(self) -> None:
        self._edits: list[Edit] = []
        self._commands: list[Command] = []
        self._reads: set[str] = set()

    def allow_edit(self, edit: Edit) -> None:
        """An edit was allowed."""
        self._edits.append(edit)

    def allow_command(self, command: Command) -> None:
        """A command was allowed."""
        self._commands.append(command)

    def allow_read(self, absolute: str) -> None:
        """A file outside may be read, also piece by piece."""
        self._reads.add(absolute)

    def may_read(self, absolute: str) -> bool:
        """Whether a file outside may be read."""
        return absolute in self._reads

    def take_edit(self, path: WorkspacePath, now: FileState, text: str) -> Edit | Why:
        """Use up the grant that a write fits; or why there is none."""
        of_path = [edit for edit in self._edits if edit.path == path]
        as_shown = [edit for edit in of_path if same_state(edit.before, now)]
        for edit in as_shown:
            if edit.fits_text(text):
                self._edits.remove(edit)
                return edit
        if as_shown:
            return Why.OTHER_CONTENT
        return Why.CHANGED if of_path else Why.NOT_ANNOUNCED

    def call_of(self, path: WorkspacePath) -> str:
        """The tool call of the newest grant for a path; empty if there is none."""
        return next((edit.tool_call_id for edit in reversed(self._edits) if edit.path == path), "")

    def drop_edits(self, path: WorkspacePath, tool_call_id: str) -> None:
        """What was allowed for a path by one call is answered otherwise now."""
        self._edits = [edit for edit in self._edits if edit.path != path or edit.tool_call_id != tool_call_id]

    def take_command(self, command: str, args: Sequence[str], folder: str) -> Command | Why:
        """Use up the grant that a command fits; or why there is none."""
        for one in self._commands:
            if one.folder == folder and commands.same(one.text, command, args):
                self._commands.remove(one)
                return one
        return Why.OTHER_CONTENT if self._commands else Why.NOT_ANNOUNCED

    def forget(self) -> None:
        """The turn is over."""
        self._edits.clear()
        self._commands.clear()
        self._reads.clear()


def same_state(one: FileState, other: FileState) -> bool:
    """Whether nothing changed at a path between two looks: kind, bytes and mode."""
    return (one.state, one.sha, one.mode, one.reason if one.sha is None else "") == (
        other.state,
        other.sha,
        other.mode,
        other.reason if other.sha is None else "",
    )


def edit_of(
    path: WorkspacePath, before: FileState, diffs: Sequence[DiffFragment], shown: Sequence[str], tool_call_id: str
) -> Edit:
    """The grant for a path. A request says all of the new text if it has one diff for the path, whose old side is all that is
    there; a fragment says nothing of the rest of the file. ``shown``: the texts that the path was given as. Hashes, so not on
    the loop."""
    of_path = [diff for diff in diffs if diff.path in shown]
    text, lossy = _whole_text(of_path[0], before) if len(of_path) == 1 else (None, False)
    return Edit(path, before, text, tool_call_id, lossy)


def _whole_text(diff: DiffFragment, before: FileState) -> tuple[str | None, bool]:
    if before.state is State.ABSENT:
        return (None if diff.old_text else diff.new_text), False
    if before.state is not State.PRESENT or before.sha is None:
        return None, False
    if _sha(diff.old_text) == before.sha:
        return diff.new_text, False
    return (diff.new_text, True) if _sha(diff.old_text + "\n") == before.sha else (None, False)


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
