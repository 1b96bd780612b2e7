"""A unified diff that ``git apply`` takes, from the exact bytes of two files.

Unlike the diff document this is about bytes: line ends, last newlines, modes and links are part of it, and files that are
not text are carried whole, in git's binary format. Pure; any thread.
"""

import hashlib
import os
import zlib
from base64 import b85encode
from dataclasses import dataclass

import pygit2
from pygit2.enums import DiffOption

from vibekit_desktop.core.types.checkpoints import ABSENT, FileState, State
from vibekit_desktop.core.types.ids import WorkspacePath

_HOW = DiffOption.PATIENCE | DiffOption.INDENT_HEURISTIC | DiffOption.FORCE_TEXT
_NO_FILE = "0" * 40
_LINK = "120000"
_ESCAPES = {7: b"\\a", 8: b"\\b", 9: b"\\t", 10: b"\\n", 11: b"\\v", 12: b"\\f", 13: b"\\r", 34: b'\\"', 92: b"\\\\"}


@dataclass(frozen=True, slots=True)
class _Side:
    """One file as git sees it: a path, bytes, and one of git's modes."""

    path: bytes
    data: bytes
    mode: str


def unified(
    path: WorkspacePath,
    old: bytes | None,
    new: bytes | None,
    *,
    old_path: WorkspacePath | None = None,
    old_state: FileState = ABSENT,
    new_state: FileState = ABSENT,
) -> bytes:
    """The patch that turns ``old`` into ``new``; None is a file that is not there. Empty if nothing differs.

    The states tell the modes, and whether a side is a link (then its bytes are the link's text). ``old_path`` is another
    name that the file had before.
    """
    name = os.fsencode(path)
    before = None if old is None else _Side(name if old_path is None else os.fsencode(old_path), old, _mode(old_state))
    after = None if new is None else _Side(name, new, _mode(new_state))
    if before is None or after is None:
        return _patch(before, after)
    if (before.mode == _LINK) != (after.mode == _LINK):
        # git has no change between a file and a link: the one goes, the other comes.
        return _patch(before, None) + _patch(None, after)
    # A mode that nobody recorded is no change of mode.
    if before.mode != _LINK and old_state.mode is None:
        before = _Side(before.path, before.data, after.mode)
    elif before.mode != _LINK and new_state.mode is None:
        after = _Side(after.path, after.data, before.mode)
    return _patch(before, after)


def _mode(state: FileState) -> str:
    if state.state is State.LINK:
        return _LINK
    return "100755" if state.mode is not None and state.mode & 0o111 else "100644"


def _patch(old: _Side | None, new: _Side | None) -> bytes:
    before, after = old or new, new or old
    if before is None or after is None or old == new:
        return b""
    head = [b"diff --git " + _quoted(b"a/" + before.path) + b" " + _quoted(b"b/" + after.path)]
    if old is None:
        head.append(f"new file mode {after.mode}".encode())
    elif new is None:
        head.append(f"deleted file mode {before.mode}".encode())
    elif old.mode != new.mode:
        head += [f"old mode {old.mode}".encode(), f"new mode {new.mode}".encode()]
    if before.path != after.path:
        if before.data == after.data:
            head.append(b"similarity index 100%")
        head += [b"rename from " + _quoted(before.path), b"rename to " + _quoted(after.path)]
    first, second = old.data if old else b"", new.data if new else b""
    binary = b"\0" in first or b"\0" in second
    if before.path == after.path and b" " in before.path and (first == second or binary):
        # No other line has the name, and git can only guess where it ends if there are blanks in it.
        head[0] = b"diff --git " + _in_quotes(b"a/" + before.path) + b" " + _in_quotes(b"b/" + after.path)
    if first == second and old is not None and new is not None:
        return b"\n".join(head) + b"\n"
    stays = f" {old.mode}" if old and new and old.mode == new.mode else ""
    head.append(f"index {_object(old)}..{_object(new)}{stays}".encode())
    if first == second:  # an empty file comes or goes
        return b"\n".join(head) + b"\n"
    if binary:
        head += [b"GIT binary patch", _literal(second), _literal(first)]
        return b"\n".join(head) + b"\n"
    head.append(b"--- " + (_named(b"a/" + old.path) if old else b"/dev/null"))
    head.append(b"+++ " + (_named(b"b/" + new.path) if new else b"/dev/null"))
    return b"\n".join(head) + b"\n" + _hunks(first, second)


def _hunks(old: bytes, new: bytes) -> bytes:
    """The hunks as the engine prints them, without its file header."""
    data = pygit2.Patch.create_from(old, new, flag=_HOW, context_lines=3, interhunk_lines=0).data
    start = data.index(b"\n@@ ") + 1
    return data[start:]


def _object(side: _Side | None) -> str:
    """The name git gives to this content."""
    if side is None:
        return _NO_FILE
    return hashlib.sha1(b"blob %d\0" % len(side.data) + side.data, usedforsecurity=False).hexdigest()


def _literal(data: bytes) -> bytes:
    """The whole content: deflated, in base 85, 52 bytes a line, each with its length before it; a blank line ends it."""
    packed = zlib.compress(data)
    lines = [b"literal %d" % len(data)]
    for start in range(0, len(packed), 52):
        part = packed[start : start + 52]
        length = len(part)
        sign = ord("A") + length - 1 if length <= 26 else ord("a") + length - 27
        lines.append(bytes((sign,)) + b85encode(part, pad=True))
    return b"\n".join([*lines, b""])


def _quoted(name: bytes) -> bytes:
    """A name as git writes it: in quotes with escapes if it has anything but plain characters."""
    if all(32 <= byte < 127 and byte not in (34, 92) for byte in name):
        return name
    return _in_quotes(name)


def _in_quotes(name: bytes) -> bytes:
    return b'"' + b"".join(_escaped(byte) for byte in name) + b'"'


def _escaped(byte: int) -> bytes:
    if byte in _ESCAPES:
        return _ESCAPES[byte]
    return bytes((byte,)) if 32 <= byte < 127 else b"\\%03o" % byte


def _named(name: bytes) -> bytes:
    """After ``---`` and ``+++`` a tab ends a name with blanks."""
    quoted = _quoted(name)
    return quoted + b"\t" if b" " in quoted and quoted == name else quoted
