"""What was allowed in the turn that runs, each bound to what was shown when it was: used once, and gone with the turn.

An edit is bound to its path, to what was there, and to the new text: all of it, or what becomes of what was there with the
fragments that were shown. Pure but for its lists; loop thread.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vibekit_desktop.core.agent import commands
from vibekit_desktop.core.types.agents import Why
from vibekit_desktop.core.types.chats import DiffFragment
from vibekit_desktop.core.types.checkpoints import FileState, State
from vibekit_desktop.core.types.ids import WorkspacePath

_MOST_WAYS = 64
"""In which fragments may fit one file: with more of them it is asked again."""


@dataclass(frozen=True, slots=True)
class Edit:
    """An edit that was allowed. ``text``: all of what will be there, or None if that was not said. ``lossy``: the diff that
    said it lacks the last newline of the file that is there. ``fragments``: what was shown instead, old and new text each."""

    path: WorkspacePath
    before: FileState
    text: str | None
    tool_call_id: str
    lossy: bool = False
    fragments: tuple[tuple[str, str], ...] = ()

    def fits_text(self, text: str, there: str | None) -> bool:
        """Whether writing ``text`` over ``there`` is what was allowed; None: what is there is not known. One agent's diffs lack
        the last newline, so this one may come back."""
        if self.text is None:
            return not self.fragments or (there is not None and replaces(there, self.fragments, text))
        if text == self.text:
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

    def wants_content(self, path: WorkspacePath) -> bool:
        """Whether only what is there tells if a write of the path is one that was allowed."""
        return any(edit.path == path and edit.fragments for edit in self._edits)

    def take_edit(self, path: WorkspacePath, now: FileState, text: str, there: str | None = None) -> Edit | Why:
        """Use up the grant that a write fits; or why there is none. ``there``: what the file holds, if that was read."""
        of_path = [edit for edit in self._edits if edit.path == path]
        as_shown = [edit for edit in of_path if same_state(edit.before, now)]
        for edit in as_shown:
            if edit.fits_text(text, there):
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
    there; else its diffs are fragments, in order. ``shown``: the texts that the path was given as. Hashes, so not on the
    loop."""
    of_path = [diff for diff in diffs if diff.path in shown]
    text, lossy = _whole_text(of_path[0], before) if len(of_path) == 1 else (None, False)
    fragments = () if text is not None else tuple((diff.old_text, diff.new_text) for diff in of_path)
    return Edit(path, before, text, tool_call_id, lossy, fragments)


def replaces(there: str, fragments: Sequence[tuple[str, str]], text: str) -> bool:
    """Whether ``text`` is ``there`` with each fragment's old text replaced by its new one, in order: in one place or
    everywhere. An old text that is empty, or is not there, says nothing of where: then only the new text itself is meant."""
    found = {there}
    for number, (old, new) in enumerate(fragments):
        last = number == len(fragments) - 1
        found = {became for one in found for became in _replaced(one, old, new, text if last else None)}
        if len(found) > _MOST_WAYS:
            return False
    return text in found


def came_of(fragments: Sequence[tuple[str, str]], before: bytes | None, after: bytes | None) -> bool:
    """Whether what is at a path now may be what an agent says that it wrote: one whole text, perhaps without its last newline,
    or fragments in what was there before."""
    if after is None or not fragments:
        return False
    text = after.decode("utf-8", "surrogateescape")
    if len(fragments) == 1 and fragments[0][1] in (text, text.removesuffix("\n")):
        return True
    return before is not None and replaces(before.decode("utf-8", "surrogateescape"), fragments, text)


def _replaced(there: str, old: str, new: str, wanted: str | None) -> Iterator[str]:
    """What replacing may have made; with ``wanted`` only places are tried that could make that."""
    if not old or old not in there:
        yield new
        return
    yield there.replace(old, new)
    at, tried = there.find(old), 0
    while at >= 0 and tried < _MOST_WAYS and (wanted is None or wanted.startswith(there[:at])):
        yield there[:at] + new + there[at + len(old) :]
        at, tried = there.find(old, at + 1), tried + 1


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
