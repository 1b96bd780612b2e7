"""What is known of the tool calls of a turn, put together by their ids from all that an agent ever said of them.

Agents say little at a time, and differ: some name the path in the call, some in the request for permission, some only in their
raw input; one sends nothing with the request, some send no call before it, one sends a call twice. So everything that was seen
once counts: every path stays, the newest word on anything else holds. Pure but for its table; any thread.
"""

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import msgspec

from vibekit_desktop.core.agent.link import ToolChanged
from vibekit_desktop.core.agent.name_tables import words
from vibekit_desktop.core.types.agents import Operation
from vibekit_desktop.core.types.chats import DiffFragment

MOST_CALLS = 10_000
"""More in one turn are an agent gone wild; the oldest are forgotten."""
MOST_PATHS = 2_000
INPUT_BYTES = 16 << 20
_DEPTH = 4

_PATH_KEYS = words(
    """
    path file_path filepath abs_path abspath absolute_path absolutepath filename file_name file target_file targetfile
    notebook_path notebookpath relative_path relativepath relative_workspace_path uri file_uri paths files file_paths filepaths
    old_path oldpath new_path newpath source destination src dst dest source_path sourcepath destination_path destinationpath
    from to move_path movepath target target_path targetpath directory_path dir_path
    """
)
_LOOSE_KEYS = words("source src dst dest destination from to target files uri file")
"""Words that stand for other things as well: then only what may be a path is taken for one."""
_OLD_KEYS = ("old_path", "oldpath", "source", "src", "source_path", "sourcepath", "from")
_NEW_KEYS = (
    "new_path",
    "newpath",
    "destination",
    "dst",
    "dest",
    "destination_path",
    "destinationpath",
    "to",
    "move_path",
    "movepath",
)
_COMMAND_KEYS = ("command", "cmd", "script", "shell_command", "shellcommand", "command_line", "commandline")
_FOLDER_KEYS = (
    "cwd",
    "workdir",
    "working_directory",
    "workingdirectory",
    "working_dir",
    "workingdir",
    "directory",
    "dir_path",
    "dir",
)
_WRITE_KEYS = words(
    """
    content contents new_string newstring new_str newstr new_text newtext new_source newsource file_text filetext old_string
    oldstring old_str oldstr edits edit changes patch patch_text patchtext insert_line insert_text replacements
    """
)
_PATCH_KEYS = ("patch", "patch_text", "patchtext", "input", "diff")
_PATCH_LINE = re.compile(r"^\*\*\* (?:(Add|Update|Delete) File|Move to): (.+?)\s*$", re.MULTILINE)
_EDITOR = frozenset(
    {"view", "create", "str_replace", "insert", "undo_edit", "read", "write", "edit", "delete", "move", "rename"}
)
_KINDS = {
    "read": Operation.READ,
    "search": Operation.READ,
    "edit": Operation.EDIT,
    "delete": Operation.DELETE,
    "move": Operation.MOVE,
    "execute": Operation.RUN,
    "fetch": Operation.FETCH,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call, as far as it is known. ``paths``: every one that was ever named, as texts, in the order they came. ``command``:
    from the input, so what will run; ``folder``: where, if it was said. ``moved``: from where to where."""

    id: str
    title: str = ""
    kind: str = ""
    status: str = ""
    paths: tuple[str, ...] = ()
    command: str = ""
    folder: str = ""
    moved: tuple[str, str] | None = None
    diffs: tuple[DiffFragment, ...] = ()
    writes: bool = False
    """Its input holds something to be written."""
    terminals: tuple[str, ...] = ()

    @property
    def ended(self) -> bool:
        """Whether the agent said that it is over."""
        return self.status in ("completed", "failed")

    @property
    def operation(self) -> Operation:
        """What it is about to do: what its parts show counts more than what it is called."""
        named = _KINDS.get(self.kind, Operation.OTHER)
        if named in (Operation.EDIT, Operation.DELETE, Operation.MOVE, Operation.RUN):
            return named
        if self.diffs:
            return Operation.EDIT
        if self.command or (self.terminals and not self.kind):
            return Operation.RUN  # one agent calls commands that read by what they read
        if named is Operation.OTHER and self.paths and (self.writes or not self.kind):
            return Operation.EDIT
        return named


@dataclass(frozen=True, slots=True)
class _Input:
    """What a raw input tells."""

    paths: tuple[str, ...] = ()
    command: str = ""
    folder: str = ""
    moved: tuple[str, str] | None = None
    writes: bool = False


class Calls:
    """The calls of one turn."""

    def __init__(self) -> None:
        self._calls: dict[str, Call] = {}

    def saw(self, change: ToolChanged) -> Call:
        """Put what an agent says now to what it said before; the call as it is known now."""
        known = self._calls.pop(change.id, None) or Call(id=change.id)
        told = _input(change.input) if change.input else _Input()
        paths = dict.fromkeys(known.paths)
        for diff in change.diffs or ():
            paths[diff.path] = None
        for location in change.locations or ():
            paths[location.path] = None
        for path in told.paths:
            paths[path] = None
        paths.pop("", None)
        call = replace(
            known,
            title=known.title if change.title is None else change.title,
            kind=known.kind if change.kind is None else change.kind,
            status=known.status if change.status is None else change.status,
            paths=tuple(paths)[:MOST_PATHS],
            command=told.command or known.command,
            folder=told.folder or known.folder,
            moved=told.moved or known.moved,
            diffs=change.diffs or known.diffs,
            writes=known.writes or told.writes,
            terminals=known.terminals
            if change.terminals is None
            else tuple(dict.fromkeys((*known.terminals, *change.terminals))),
        )
        # The newest is the last one. What it would have changed nobody asks about any more, and it may be long.
        self._calls[change.id] = replace(call, diffs=(), writes=call.writes or bool(call.diffs)) if call.ended else call
        if len(self._calls) > MOST_CALLS:
            del self._calls[next(iter(self._calls))]
        return call

    def running(self) -> Iterator[Call]:
        """The calls that are not over, the one that was heard of last first."""
        return (call for call in reversed(list(self._calls.values())) if not call.ended)


def _input(raw: bytes) -> _Input:
    """What an input tells; one that is too large, too deep or no JSON tells nothing."""
    if len(raw) > INPUT_BYTES:
        return _Input()
    found = _decoded(raw)
    if not isinstance(found, dict):
        return _Input()
    pairs = {str(key).casefold(): value for key, value in found.items()}
    command = _command(pairs)
    paths = tuple(dict.fromkeys(_paths(pairs, _DEPTH)))[:MOST_PATHS]
    old, new = _first(pairs, _OLD_KEYS), _first(pairs, _NEW_KEYS)
    patched = any(isinstance(pairs.get(key), str) and _PATCH_LINE.search(str(pairs[key])) for key in _PATCH_KEYS)
    return _Input(
        paths=paths,
        command=command,
        folder=_first(pairs, _FOLDER_KEYS),
        moved=(old, new) if old and new else None,
        writes=patched or any(key in _WRITE_KEYS and value not in (None, "", [], {}) for key, value in pairs.items()),
    )


def _decoded(raw: bytes) -> object:
    try:
        return msgspec.json.decode(raw)
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        pass
    try:
        return json.loads(raw)  # half characters in one value do not hide the others
    except (ValueError, RecursionError):
        return None


def _command(pairs: Mapping[str, object]) -> str:
    for key in _COMMAND_KEYS:
        value = pairs.get(key)
        if isinstance(value, str) and value.strip():
            is_editor = value in _EDITOR and any(one in pairs for one in ("path", "file_path", "filepath"))
            return "" if is_editor else _with_arguments(value, pairs.get("args", pairs.get("arguments")))
        if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
            return shlex.join([str(word) for word in value])
    return ""


def _with_arguments(command: str, more: object) -> str:
    if isinstance(more, list) and more and all(isinstance(word, str) for word in more):
        return shlex.join([command, *(str(word) for word in more)])
    return command


def _first(pairs: Mapping[str, object], keys: tuple[str, ...]) -> str:
    for key in keys:
        value = pairs.get(key)
        if isinstance(value, str) and value:
            return value
    return ""


def _paths(pairs: Mapping[str, object], depth: int) -> Iterator[str]:
    for key, value in pairs.items():
        if key in _PATH_KEYS:
            yield from (text for text in _texts(value, depth) if key not in _LOOSE_KEYS or _may_be_path(text))
        elif key in (*_PATCH_KEYS, *_COMMAND_KEYS) and isinstance(value, str) and "*** " in value:
            yield from (match[2] for match in _PATCH_LINE.finditer(value))
        elif key == "changes" and isinstance(value, dict):  # by path
            yield from (path for path in value if isinstance(path, str))
            yield from _below(value.values(), depth)
        elif key in ("edits", "edit", "changes", "operations", "arguments", "args", "params", "input"):
            yield from _below(value if isinstance(value, list) else [value], depth)


def _may_be_path(text: str) -> bool:
    return "\n" not in text and ("://" not in text or text.casefold().startswith("file:"))


def _texts(value: object, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            if isinstance(one, str):
                yield one
            else:
                yield from _below([one], depth)
    elif isinstance(value, dict):
        yield from _below([value], depth)


def _below(values: object, depth: int) -> Iterator[str]:
    if depth <= 0 or not hasattr(values, "__iter__"):
        return
    for value in values:
        if isinstance(value, dict):
            yield from _paths({str(key).casefold(): one for key, one in value.items()}, depth - 1)
