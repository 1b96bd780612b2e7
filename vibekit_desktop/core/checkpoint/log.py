"""The per-chat event log: which lines exist and what each means.

Keys and their meaning: docs/storage-format.md 2. A missing key reads as its default here. Pure; any thread.
"""

import base64
import binascii
import re
import zlib
from dataclasses import dataclass
from typing import Protocol

import msgspec

from vibekit_desktop.core.types.checkpoints import ABSENT, UNKNOWN, Author, FileState, How, State
from vibekit_desktop.core.types.errors import PathEscape
from vibekit_desktop.core.types.ids import UNKNOWN_HASH, BlobHash, WorkspacePath, parse_workspace_path


class PlanFile(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One path of a ``restore_plan`` line: what was expected on disk, what was wanted, and the name of its stage."""

    path: str
    path_b64: str = ""
    action: str
    expected_state: str
    expected_sha: str = ""
    expected_mode: int = -1
    wanted_state: str
    wanted_sha: str = ""
    wanted_mode: int = -1
    stage: str = ""
    owner: str = ""
    """An author, or ``chat:`` and a chat id."""
    reason: str = ""
    """With the action ``leave``: why."""
    failed: bool = False
    """With the action ``leave``: it was asked for and cannot be done."""
    partly: bool = False
    """With an undo of a turn or hunk: somebody decided that a part of the change stays."""


class PlanBody(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a ``restore_plan`` line confirms; enough to finish it after a crash (docs/storage-format.md 4)."""

    kind: str
    """``restore``, ``undo-file``, ``undo-turn``, ``undo-hunk``, ``undo`` or ``redo``."""
    point: str
    upto: str = ""
    """With an undo of a turn or hunk: the point where the change ends that begins at ``point``."""
    hunks: tuple[int, ...] = ()
    hunks_of: int = 0
    """With an undo of hunks: which, and how many there were."""
    scope: str
    takes_back: int = 0
    branch: str = ""
    """Id of the branch that keeps the removed turns; empty when nothing is cut."""
    keep: int = -1
    """Length of the transcript after the cut; -1 when nothing is cut."""
    cut_first: int = 0
    cut_last: int = 0
    back_from: str = ""
    """With an undo of a cut: the branch whose turns come back."""
    files: tuple[PlanFile, ...] = ()
    token: str = ""
    """The vault's token: a plan with another one is never carried on."""
    digest: str = ""


class LeftLine(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One path that a restore left, on ``restore_done`` and ``restore_partial`` lines."""

    path: str
    path_b64: str = ""
    reason: str
    failed: bool = False


class SkippedPath(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing a turn may have changed that is not in the store (``coverage`` of ``turn_end``)."""

    path: str
    reason: str
    size: int = -1


class CoverageLine(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Coverage of a turn, on its ``turn_end``."""

    complete: bool = False
    skipped: tuple[SkippedPath, ...] = ()


class Line(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of any kind. -1 stands for "not recorded" in modes; 0 in ``seq`` means the line has none."""

    type: str
    tag: str = ""
    path: str = ""
    path_b64: str = ""
    """Base64 of the exact name, only where it is not UTF-8."""
    before_sha: str = ""
    after_sha: str = ""
    other_chat: str = ""
    expected_sha: str = ""
    ts: int = 0
    turn: int = 0
    tool: int = 0
    message_count: int = 0
    v: int = 0
    """Schema version; 1 on everything we write, 0 = a legacy line."""
    seq: int = 0
    author: str = ""
    how: str = ""
    tool_call_id: str = ""
    before_state: str = ""
    after_state: str = ""
    before_reason: str = ""
    after_reason: str = ""
    before_mode: int = -1
    after_mode: int = -1
    renamed_from: str = ""
    entry: int = 0
    owner: str = ""
    late: bool = False
    through: bool = False
    """On ``snapshot``: the write goes through us. One that failed has a ``settle`` line."""
    message_id: str = ""
    """On ``turn_start``: the user message that began the turn."""
    duration_ms: int = 0
    """On ``turn_end``, where known."""
    coverage: CoverageLine | None = None
    state: str = ""
    """On ``dir``: ``folder`` or ``absent``."""
    reason: str = ""
    """On ``note`` and ``restore_conflict``; on ``restore_partial`` perhaps `NO_FILE`."""
    size: int = -1
    """On ``note``, where known."""
    plan: PlanBody | None = None
    left: tuple[LeftLine, ...] = ()
    parent: str = ""
    """On ``branch_start``: the parent chat."""
    cut_seq: int = 0
    """On ``branch_start``: the largest ``seq`` of the parent's that belongs to the branch; 0 if those lines have none."""
    cut_lines: int = -1
    """On ``branch_start``: how many lines of the parent's log belong to the branch."""
    source: str = ""
    """On ``import_start``: the source's name."""
    session: str = ""
    recorded: str = ""
    """On ``import_start``: the folder the session was recorded in."""
    detached: bool = False
    """On ``import_start``: recorded in another folder than this workspace, so not part of the vault's history."""
    import_seq: int = 0
    """On ``import_start``: the vault's largest ``seq`` when the import began."""
    imported_at: int = 0
    """On ``import_start``: the time of the import; ``ts`` is the time of the session's first record."""


@dataclass(frozen=True, slots=True)
class LogContents:
    """One log as read. ``numbers`` are the physical line numbers of ``lines``, from 1."""

    lines: tuple[Line, ...] = ()
    numbers: tuple[int, ...] = ()
    damaged: tuple[int, ...] = ()
    """Numbers of the lines that cannot be understood."""
    torn: bool = False
    """There is an unterminated rest; no damage, the next append sets it aside."""


SCHEMA = 1
NO_FILE = "no-file"
"""The reason on a ``restore_partial``: not one file could be restored, so the transcript was left as well."""
WHOLE_LOG = 0
"""The line number that stands for all of them: a log that cannot be read at all."""
_CRC = re.compile(rb',"crc":"([0-9a-f]{8})"\}\Z')
_CRC_KEY = b',"crc":'
_CRC_BYTES = len(b',"crc":"01234567"}')
_HASH = re.compile(r"[0-9a-f]{64}")
_STAGE = re.compile(r"[^/]+\.vibekit-restore-[0-9]+", re.DOTALL)
_OBSERVING = frozenset(("snapshot", "observed"))
_WITH_PATH = _OBSERVING | {"conflict_detected", "dir", "restore_conflict"}


def encode(line: Line) -> bytes:
    """One line without its LF: raw UTF-8, ``crc`` last, over everything before it."""
    body = msgspec.json.encode(line)[:-1]
    return b'%b,"crc":"%08x"}' % (body, zlib.crc32(body))


def decode(data: bytes) -> Line | None:
    """The line, or None if it is damaged: not JSON, a wrong type, a wrong checksum, or a path that leaves the workspace.

    A line without ``crc`` is one of the original's and is accepted. Unknown keys and unknown kinds are no damage.
    """
    checked = _CRC.search(data)
    if checked is None and _CRC_KEY in data[-_CRC_BYTES:]:
        return None  # the checksum itself was hit: who knows what else was
    if checked and zlib.crc32(data[: checked.start()]) != int(checked[1], 16):
        return None
    try:
        line = msgspec.json.decode(data, type=Line)
    except (msgspec.MsgspecError, UnicodeError, RecursionError, ValueError):
        return None
    return line if _is_sound(line) else None


def _is_sound(line: Line) -> bool:
    """Whether every path stays inside, and every hash and stage name is one. What fails here is never acted upon."""
    hashes = [line.before_sha, line.after_sha]
    paths: list[Named] = [line] if line.type in _WITH_PATH else []
    if line.plan is not None:
        paths += line.plan.files
        hashes += (sha for file in line.plan.files for sha in (file.expected_sha, file.wanted_sha))
        if not all(_STAGE.fullmatch(file.stage) for file in line.plan.files if file.stage):
            return False
    try:
        for named in (*paths, *line.left):
            path_of(named)
    except PathEscape:
        return False
    return all(_HASH.fullmatch(sha) for sha in hashes if sha)


class Named(Protocol):
    """Anything of the log that names a path."""

    @property
    def path(self) -> str: ...
    @property
    def path_b64(self) -> str: ...


def path_of(named: Named) -> WorkspacePath:
    """The exact path; `PathEscape` if it is none inside a workspace."""
    if not named.path_b64:
        return parse_workspace_path(named.path)
    try:
        return parse_workspace_path(base64.b64decode(named.path_b64, validate=True).decode("utf-8", "surrogateescape"))
    except (binascii.Error, ValueError) as error:
        raise PathEscape(named.path) from error


def path_keys(path: WorkspacePath) -> tuple[str, str]:
    """``path`` and ``path_b64`` for a path; the second only where the name is not UTF-8, the first then for display."""
    exact = path.encode("utf-8", "surrogateescape")
    text = exact.decode("utf-8", "replace")
    return text, "" if text == path else base64.b64encode(exact).decode("ascii")


def old_name(path: WorkspacePath | None) -> str:
    """``renamed_from`` for a path: nothing where the name is not UTF-8, since the key has no room for its exact bytes."""
    return "" if path is None or path_keys(path)[1] else path


def observes(line: Line) -> bool:
    """Whether the line says what a file was before and after."""
    return line.type in _OBSERVING


def state_before(line: Line) -> FileState:
    """The state just before; where the key is missing, what the original means: no hash is an absent file."""
    if not line.before_state:
        return state_of("present" if line.before_sha else "absent", line.before_sha, line.before_mode, "")
    return state_of(line.before_state, line.before_sha, line.before_mode, line.before_reason)


def state_after(line: Line) -> FileState:
    """The state just after; where the key is missing and there is no hash, the original cannot tell deleted from unknown."""
    if not line.after_state:
        return state_of("present" if line.after_sha else "unknown", line.after_sha, line.after_mode, "")
    return state_of(line.after_state, line.after_sha, line.after_mode, line.after_reason)


def state_of(word: str, sha: str, mode: int, reason: str = "") -> FileState:
    """The state that four stored keys mean."""
    try:
        state = State(word)
    except ValueError:
        return UNKNOWN
    bits = None if mode < 0 else mode & 0o777
    known = BlobHash(sha) if sha and sha != UNKNOWN_HASH else None
    match state:
        case State.ABSENT:
            return ABSENT
        case State.FOLDER:
            return FileState(State.FOLDER)
        case State.PRESENT | State.LINK:
            # A content without a hash cannot be brought back, whatever the word says.
            return UNKNOWN if known is None else FileState(state, known, bits)
        case State.NOT_CAPTURED | State.UNKNOWN:
            return FileState(state, known, bits, reason)


def state_keys(state: FileState) -> tuple[str, str, int, str]:
    """State, sha, mode and reason as a line stores them."""
    sha: str = state.sha or ""
    if not sha and state.state in (State.NOT_CAPTURED, State.UNKNOWN):
        sha = UNKNOWN_HASH
    return state.state.value, sha, -1 if state.mode is None else state.mode, state.reason


def author_of(line: Line) -> Author:
    """Who made the change; the original's lines are the agent's."""
    if not line.author:
        return Author.AGENT if line.type == "snapshot" else Author.UNKNOWN
    try:
        return Author(line.author)
    except ValueError:
        return Author.UNKNOWN


def how_of(line: Line) -> How:
    """How we know; ``import`` counts as announced on ``snapshot`` lines and as scan on the others."""
    if line.type == "snapshot":
        return How.ANNOUNCED
    try:
        how = How(line.how)
    except ValueError:
        return How.SCAN
    return How.SCAN if how is How.IMPORT else how


def observed(
    path: WorkspacePath,
    before: FileState,
    after: FileState,
    *,
    author: Author,
    how: How,
    turn: int = 0,
    entry: int = 0,
    owner: str = "",
    other_chat: str = "",
) -> Line:
    """An ``observed`` line; ``seq`` and ``ts`` are given by the vault."""
    text, exact = path_keys(path)
    before_state, before_sha, before_mode, before_reason = state_keys(before)
    after_state, after_sha, after_mode, after_reason = state_keys(after)
    return Line(
        type="observed",
        path=text,
        path_b64=exact,
        before_sha=before_sha,
        after_sha=after_sha,
        turn=turn,
        author=author.value,
        how=how.value,
        before_state=before_state,
        after_state=after_state,
        before_reason=before_reason,
        after_reason=after_reason,
        before_mode=before_mode,
        after_mode=after_mode,
        entry=entry,
        owner=owner,
        other_chat=other_chat,
    )


def announced(
    path: WorkspacePath,
    before: FileState,
    after: FileState,
    *,
    tag: str,
    tool: int,
    turn: int,
    message_count: int,
    tool_call_id: str = "",
    renamed_from: str = "",
    through: bool = False,
) -> Line:
    """A ``snapshot`` line: the one kind the original acts upon, so only for what the agent or a hook said it writes."""
    line = observed(path, before, after, author=Author.AGENT, how=How.ANNOUNCED, turn=turn)
    return msgspec.structs.replace(
        line,
        type="snapshot",
        tag=tag,
        tool=tool,
        message_count=message_count,
        tool_call_id=tool_call_id,
        renamed_from=renamed_from,
        through=through,
    )


def contents_named(line: Line) -> list[tuple[str, BlobHash]]:
    """Every content that a line says is in the store, with the path it was at."""
    states: list[tuple[str, FileState]] = []
    if observes(line):
        states += [(line.path, state_before(line)), (line.path, state_after(line))]
    elif line.type == "restore_conflict":
        states.append((line.path, state_after(line)))
    for file in line.plan.files if line.plan is not None else ():
        if file.action != "leave":
            states.append((file.path, state_of(file.expected_state, file.expected_sha, -1)))
            states.append((file.path, state_of(file.wanted_state, file.wanted_sha, -1)))
    return [(path, state.sha) for path, state in states if state.has_content and state.sha is not None]
