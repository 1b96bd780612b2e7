"""Work out what an edit of Claude Code's wrote, from the recorded original and the exact replay rule; checked, never guessed.

The rule is session-formats.md 2.5. The stored patch is display text (leading tabs are spaces in it): it is never applied, but
what it shows must be what we computed. Pure; any thread.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vibekit_desktop.core.sources.base import (
    ABSENT_FILE,
    EMPTY_OR_ABSENT,
    NO_CONTENT,
    NOT_TEXT,
    NOT_THE_SAME,
    USER_MODIFIED,
    Content,
    not_captured,
    present,
    unknown,
)
from vibekit_desktop.core.sources.reading import mapping, number, sequence, text
from vibekit_desktop.core.types.checkpoints import State

EDITING = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})
_TABS = re.compile(r"^\t+")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Replacement:
    """One string replaced by another."""

    old: str
    new: str
    every: bool = False

    def apply(self, content: str) -> str | None:
        """The content after it; None if ``old`` does not occur."""
        if self.old == "":
            return self.new if content == "" else None
        old = self.old
        if old not in content:
            return None
        if self.new == "" and not old.endswith("\n") and old + "\n" in content:
            old += "\n"
        return content.replace(old, self.new) if self.every else content.replace(old, self.new, 1)

    def reverse(self, content: str) -> str | None:
        """The one content that this replacement turns into ``content``; None if there may be another."""
        if self.every or not self.new or not self.old or content.count(self.new) != 1:
            return None
        before = content.replace(self.new, self.old, 1)
        return before if self.apply(before) == content else None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one successful call did to its file."""

    path: str
    before: Content
    after: Content
    replacements: tuple[Replacement, ...] = ()


def encoded(content: str) -> Content:
    """A recorded text as file content."""
    if _SURROGATE.search(content):
        return not_captured(NOT_TEXT)
    return present(content.encode("utf-8"))


def decoded(content: Content) -> str | None:
    """The text of known content; None if it is not known, or not text that a replacement can work on."""
    if content.state is not State.PRESENT or content.data is None:
        return None
    try:
        found = content.data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if "\r" in found else found


def target(tool: str, call: Mapping[str, object], result: Mapping[str, object]) -> str:
    """The path as recorded; empty if there is none."""
    if tool == "NotebookEdit":
        return text(result.get("notebook_path")) or text(call.get("notebook_path"))
    return text(result.get("filePath")) or text(call.get("file_path"))


def structured(tool: str, call: Mapping[str, object], result: Mapping[str, object]) -> Outcome:
    """The outcome of a call with a structured result."""
    path = target(tool, call, result)
    if tool == "NotebookEdit":
        return Outcome(path, _recorded(result.get("original_file")), _recorded(result.get("updated_file")))
    original = result.get("originalFileContents" if tool == "MultiEdit" else "originalFile")
    before = _recorded(original)
    changes: tuple[Replacement, ...] = ()
    after: Content
    if tool == "Write":
        created = result.get("type") == "create"
        if created:
            before = ABSENT_FILE
        elif before.state is not State.PRESENT and result.get("type") != "update":
            before = unknown(NO_CONTENT)
        content = result.get("content", call.get("content"))
        after = encoded(content) if isinstance(content, str) else not_captured(NO_CONTENT)
    else:
        changes = replacements(tool, call, result)
        if changes and changes[0].old == "" and original in ("", None):
            before = unknown(EMPTY_OR_ABSENT)
            after = _replay("", changes)
        else:
            source = decoded(before)
            after = not_captured(before.reason or NO_CONTENT) if source is None else _replay(source, changes)
    if result.get("userModified"):
        after = not_captured(USER_MODIFIED)
    if after.state is State.PRESENT and not shows(result.get("structuredPatch"), decoded(before), decoded(after)):
        after = not_captured(NOT_THE_SAME)
    return Outcome(path, before, after, changes)


def told(tool: str, call: Mapping[str, object], answer: str) -> Outcome:
    """The outcome of a successful call of which only the call and the answer's text are recorded (sub-agents)."""
    path = target(tool, call, {})
    by_user = "user modified" in answer.lower()
    if tool == "Write":
        content = call.get("content")
        after = encoded(content) if isinstance(content, str) else not_captured(NO_CONTENT)
        if "created successfully" in answer:
            before = ABSENT_FILE
        else:
            before = not_captured(NO_CONTENT) if "has been updated" in answer else unknown(NO_CONTENT)
        return Outcome(path, before, not_captured(USER_MODIFIED) if by_user else after)
    changes = replacements(tool, call, {})
    if changes and changes[0].old == "":
        return Outcome(
            path, unknown(EMPTY_OR_ABSENT), not_captured(USER_MODIFIED) if by_user else _replay("", changes), changes
        )
    return Outcome(path, not_captured(NO_CONTENT), not_captured(USER_MODIFIED if by_user else NO_CONTENT), changes)


def with_before(outcome: Outcome, before: Content, patch: object) -> Outcome:
    """The same outcome now that the content before is known from elsewhere; unchanged if the two do not fit together."""
    if outcome.before.reason == EMPTY_OR_ABSENT and before.data:
        return outcome
    if outcome.before.state is State.NOT_CAPTURED and before.state is State.ABSENT:
        return outcome
    if not outcome.replacements or outcome.after.state is State.PRESENT:
        return Outcome(outcome.path, before, outcome.after, outcome.replacements)
    if before.data is not None and b"\r" in before.data:
        # Which line endings it wrote is not recorded; the content before is a fact all the same.
        return Outcome(outcome.path, before, outcome.after, outcome.replacements)
    source = decoded(before)
    if source is None:
        return outcome
    after = _replay(source, outcome.replacements)
    if after.state is not State.PRESENT or not shows(patch, source, decoded(after)):
        return outcome
    if outcome.after.reason != NO_CONTENT:
        after = outcome.after
    return Outcome(outcome.path, before, after, outcome.replacements)


def with_after(outcome: Outcome, after: Content, patch: object) -> Outcome:
    """The same outcome now that the content after is known from what came later; the one before only if there is one answer."""
    before = outcome.before
    found = decoded(after)
    if not before.known and found is not None and len(outcome.replacements) == 1:
        source = outcome.replacements[0].reverse(found)
        if source is not None and shows(patch, source, found):
            before = encoded(source)
    return Outcome(outcome.path, before, after, outcome.replacements)


def replacements(tool: str, call: Mapping[str, object], result: Mapping[str, object]) -> tuple[Replacement, ...]:
    """What was replaced by what: the result's own words, else the call's."""
    if tool == "MultiEdit":
        listed = sequence(result.get("edits")) or sequence(call.get("edits"))
        found = [mapping(item) for item in listed]
        return tuple(
            Replacement(text(e.get("old_string")), text(e.get("new_string")), bool(e.get("replace_all"))) for e in found
        )
    old = result.get("oldString", call.get("old_string"))
    new = result.get("newString", call.get("new_string"))
    every = result.get("replaceAll", call.get("replace_all"))
    return (Replacement(old, new, bool(every)),) if isinstance(old, str) and isinstance(new, str) else ()


def _replay(content: str, changes: Sequence[Replacement]) -> Content:
    if not changes:
        return not_captured(NO_CONTENT)
    for change in changes:
        found = change.apply(content)
        if found is None:
            return not_captured(NOT_THE_SAME)
        content = found
    return encoded(content)


def _recorded(value: object) -> Content:
    return encoded(value) if isinstance(value, str) else not_captured(NO_CONTENT)


def _shown(line: str) -> str:
    return _TABS.sub(lambda found: "  " * len(found[0]), line)


def shows(patch: object, before: str | None, after: str | None) -> bool:
    """Whether every hunk of a display patch shows these two contents; a side that is None is not compared."""
    old = before.split("\n") if before is not None else None
    new = after.split("\n") if after is not None else None
    for hunk in (mapping(item) for item in sequence(patch)):
        lines = [item for item in sequence(hunk.get("lines")) if isinstance(item, str)]
        for whole, signs, start in ((old, " -", "oldStart"), (new, " +", "newStart")):
            wanted = [line[1:] for line in lines if line[:1] and line[0] in signs]
            at = max(0, number(hunk.get(start)) - 1)
            if whole is not None and [_shown(line) for line in whole[at : at + len(wanted)]] != [
                _shown(line) for line in wanted
            ]:
                return False
    return True
