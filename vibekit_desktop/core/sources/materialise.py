"""Turn a foreign session into a chat, an event log and blobs, and keep it up to date when its source grows.

Blobs first, then the log, then the branches, then the chat file; each of them durable before the next. Running it again finds
what is there and adds what is missing, so a crash between any two needs no repair:

| crash after | what is left | the next run |
| --- | --- | --- |
| some blobs | content that no log names | puts them again (the same files) |
| log | lines without a chat file, shown by nothing | appends nothing, writes the rest |
| branches | the chat as it was before | writes the chat |

What the log says already is never written a second time and never changed. The caller holds the vault's lock. Blocking.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import msgspec

from vibekit_desktop.core.chat.codec import is_newer
from vibekit_desktop.core.chat.hooked import merged
from vibekit_desktop.core.chat.store import ChatStore
from vibekit_desktop.core.chat.transcripts import branch_name
from vibekit_desktop.core.checkpoint import log
from vibekit_desktop.core.checkpoint.blobs import hash_of
from vibekit_desktop.core.checkpoint.log import CoverageLine, Line, SkippedPath
from vibekit_desktop.core.checkpoint.vault import VaultStore
from vibekit_desktop.core.sources.base import Content, FileTouched, ForeignBranch, ForeignSession, TurnBegan, TurnEnded
from vibekit_desktop.core.types.chats import Chat
from vibekit_desktop.core.types.checkpoints import Author, How, State
from vibekit_desktop.core.types.errors import ChatDamaged, LogDamaged, NewerFormat
from vibekit_desktop.core.types.ids import UNKNOWN_HASH, ChatId, imported_chat_id
from vibekit_desktop.core.types.sources import FailedImport, ImportedChat

SETTLED_MS = 12 * 60 * 60 * 1000
"""A session that nobody touched for so long is not running, whatever its last line looks like."""
_KINDS = frozenset({"import_start", "turn_start", "turn_end", "snapshot", "observed", "note"})


class ImportKind(StrEnum):
    """What an import came to."""

    IMPORTED = "imported"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOutcome:
    """What one session came to. ``imported`` unless it failed, ``failed`` only then (nothing was changed)."""

    kind: ImportKind
    chat_id: ChatId
    imported: ImportedChat | None = None
    failed: FailedImport | None = None


@dataclass(frozen=True, slots=True)
class _NewLine:
    """A line to be, and the contents that must be in the store before it."""

    line: Line
    contents: tuple[bytes, ...] = ()
    sure: bool = True
    """Not so for the end of a turn that may still be running."""


def branch_id(source: str, session: str, key: str) -> ChatId:
    """The id of a conversation that was left; the same on every import."""
    return imported_chat_id(source, f"{session}#{key}")


def materialise(
    session: ForeignSession,
    *,
    vault: VaultStore,
    chats: ChatStore,
    workspace_root: str,
    detached: bool,
    clock: Callable[[], int],
) -> ImportOutcome:
    """Write a session into a vault, or add to it what is new. ``detached``: it was recorded in another folder than
    ``workspace_root``, so its lines are not part of the vault's history. A chat that was cut here stays as it is."""
    chat = imported_chat_id(session.source, session.session)
    try:
        old, raw = chats.load(chat) if chats.where(chat) else (None, None)
        old = chats.whole(old) if old is not None else None
        if vault.damage(chat):
            raise LogDamaged(chat, vault.damage(chat))
        if raw is not None and is_newer(raw):
            raise NewerFormat(chat)
    except (ChatDamaged, LogDamaged) as error:
        return _failed(session, chat, "what is in the vault of it is damaged", error.code)
    except NewerFormat as error:
        return _failed(session, chat, "a newer version wrote the chat", error.code)
    if old is not None and (old.cut or not chats.exists(chat)):  # archived: it is brought back first, or stays as it is
        return _done(session, chat, ImportKind.UNCHANGED, ())
    written = [line for line in vault.lines(chat) if not line.seq and line.type in _KINDS]
    hooked = old is not None and bool(old.hooked_from)
    # What hooks told of the disk, they saw; the history would only tell it again.
    fresh = [] if hooked else _missing(session, written, vault=vault, detached=detached, clock=clock)
    if fresh is None:
        return _failed(session, chat, "the history no longer holds what was imported from it", "source.rewritten")
    for content in dict.fromkeys(content for item in fresh for content in item.contents):
        vault.blobs.put(content)
    vault.append(chat, [item.line for item in fresh], number=False)
    new = _chat(session, chat, old, workspace_root, detached=detached)
    branches = tuple(branch_id(session.source, session.session, branch.key) for branch in session.branches)
    for branch, identity in zip(session.branches, branches, strict=True):
        if not hooked and _wanted(branch, old):
            _keep_branch(session, branch, identity, new, vault=vault, chats=chats)
    if new != old:
        chats.save(new, raw)
    if old is None:
        return _done(session, chat, ImportKind.IMPORTED, branches)
    changed = bool(fresh) or new.messages != old.messages or new.name != old.name
    return _done(session, chat, ImportKind.UPDATED if changed else ImportKind.UNCHANGED, branches)


def _done(session: ForeignSession, chat: ChatId, kind: ImportKind, branches: tuple[ChatId, ...]) -> ImportOutcome:
    imported = ImportedChat(
        chat_id=chat,
        source=session.source,
        path=session.path,
        turns=session.turns,
        files=session.files,
        edits=session.edits,
        skipped=session.skipped,
        branches=branches,
    )
    return ImportOutcome(kind=kind, chat_id=chat, imported=imported)


def _failed(session: ForeignSession, chat: ChatId, reason: str, code: str) -> ImportOutcome:
    return ImportOutcome(kind=ImportKind.FAILED, chat_id=chat, failed=FailedImport(session.path, reason, code))


# -- the log -----------------------------------------------------------------------------------------------------


def _key(line: Line) -> tuple[object, ...]:
    """What makes two lines the same one. Not the contents: what a longer history knows better does not change the log."""
    return line.type, line.turn, line.path, line.path_b64, line.tool_call_id, line.message_id


def _missing(
    session: ForeignSession, written: Sequence[Line], *, vault: VaultStore, detached: bool, clock: Callable[[], int]
) -> list[_NewLine] | None:
    """The lines that are not in the log yet, in order; None if the log has lines that the history does not have."""
    whole = list(_lines(session))
    counted = ("turn_start", "snapshot", "observed", "note")
    there = Counter(_key(line) for line in written if line.type in counted)
    if there - Counter(_key(item.line) for item in whole):
        return None
    ended = {line.turn for line in written if line.type == "turn_end"}
    captures = Counter(line.turn for line in written if line.type == "snapshot")
    fresh: list[_NewLine] = []
    if not any(line.type == "import_start" for line in written):
        fresh.append(_NewLine(_import_start(session, vault, detached=detached, now=clock())))
    grown: set[int] = set()
    settled = clock() - session.updated_at > SETTLED_MS
    for item in whole:
        line = item.line
        if line.type == "turn_end":
            if (line.turn not in ended or line.turn in grown) and (settled or item.sure):
                fresh.append(item)
            continue
        key = _key(line)
        if there[key]:
            there[key] -= 1
            continue
        grown.add(line.turn)
        if line.type == "snapshot":
            tool = captures[line.turn]
            captures[line.turn] += 1
            tag = f"{line.turn}.{tool}" if tool or not line.turn else str(line.turn)
            item = _NewLine(msgspec.structs.replace(line, tag=tag, tool=tool), item.contents)
        fresh.append(item)
    return fresh


def _import_start(session: ForeignSession, vault: VaultStore, *, detached: bool, now: int) -> Line:
    return Line(
        type="import_start",
        ts=session.created_at,
        v=log.SCHEMA,
        source=session.source,
        session=session.session,
        recorded=session.cwd,
        detached=detached,
        import_seq=vault.last_seq(),
        imported_at=now,
    )


def _lines(session: ForeignSession) -> Iterator[_NewLine]:
    """Every line the session makes. The times never go back, and none is 0, which would be read as now."""
    ts = max(1, session.created_at)
    for step in session.steps:
        ts = max(ts, step.ts)
        match step:
            case TurnBegan():
                yield _NewLine(
                    Line(
                        type="turn_start",
                        ts=ts,
                        v=log.SCHEMA,
                        turn=step.turn,
                        message_id=step.message_id,
                        message_count=step.message_count,
                    )
                )
            case FileTouched():
                yield _touched(step, ts)
            case TurnEnded():
                skipped = tuple(SkippedPath(path=path, reason=reason) for path, reason in step.skipped)
                yield _NewLine(
                    Line(
                        type="turn_end",
                        ts=ts,
                        v=log.SCHEMA,
                        turn=step.turn,
                        duration_ms=step.duration_ms,
                        coverage=CoverageLine(complete=step.complete, skipped=skipped),
                    ),
                    sure=step.sure,
                )


def _touched(step: FileTouched, ts: int) -> _NewLine:
    if step.path is None:
        size = len(step.after.data) if step.after.data is not None else -1
        return _NewLine(
            Line(
                type="note",
                path=step.recorded,
                reason=step.reason,
                size=size,
                ts=ts,
                v=log.SCHEMA,
                turn=step.turn,
                tool_call_id=step.tool_call_id,
            )
        )
    path, exact = log.path_keys(step.path)
    line = Line(
        type="snapshot" if step.announced else "observed",
        path=path,
        path_b64=exact,
        before_sha=_sha(step.before),
        after_sha=_sha(step.after),
        before_state=step.before.state.value,
        after_state=step.after.state.value,
        before_reason=step.before.reason,
        after_reason=step.after.reason,
        ts=ts,
        v=log.SCHEMA,
        turn=step.turn,
        message_count=step.message_count,
        author=(Author.AGENT if step.announced else step.author).value,
        how=How.IMPORT.value,
        tool_call_id=step.tool_call_id,
    )
    return _NewLine(line, tuple(side.data for side in (step.before, step.after) if side.data is not None))


def _sha(content: Content) -> str:
    if content.data is not None:
        return hash_of(content.data)
    return "" if content.state is State.ABSENT else UNKNOWN_HASH


# -- the chat and its branches -----------------------------------------------------------------------------------


def _chat(session: ForeignSession, chat: ChatId, old: Chat | None, workspace_root: str, *, detached: bool) -> Chat:
    """The chat as the history has it now; what the user changed in ours (its name) stays."""
    renamed = old is not None and old.name not in session.titles
    hooked = old is not None and old.hooked_from
    return msgspec.structs.replace(
        old or Chat(id=chat),
        name=old.name if old is not None and renamed else session.title,
        model=session.model,
        messages=merged(session.messages, old.messages or (), hooked) if old is not None and hooked else session.messages,
        created_at=old.created_at if old is not None else session.created_at,
        updated_at=max(old.updated_at if old is not None else 0, session.updated_at),
        agent=session.label,
        source=session.source,
        source_session=session.session,
        source_path=session.path,
        source_stamp=session.stamp,
        recorded_workspace=session.cwd or workspace_root,
        detached=old.detached if old is not None else detached,
    )


def _wanted(branch: ForeignBranch, old: Chat | None) -> bool:
    """Whether a branch is to be made: on the first import, and later only for what was left since; one that the user deleted
    does not come back."""
    if old is None:
        return True
    held = {message.turn for message in old.messages or () if message.turn}
    return branch.last_turn in held or branch.last_turn > max(held, default=0)


def _keep_branch(
    session: ForeignSession, branch: ForeignBranch, identity: ChatId, parent: Chat, *, vault: VaultStore, chats: ChatStore
) -> None:
    if not vault.lines(identity):
        number = _end_of(vault, ChatId(parent.id), branch.last_turn)
        start = Line(
            type="branch_start",
            parent=parent.id,
            turn=branch.last_turn,
            cut_lines=number,
            ts=max(1, branch.ts),
            v=log.SCHEMA,
        )
        vault.append(identity, [start], number=False)
    if chats.where(identity):
        return
    chats.save(
        Chat(
            id=identity,
            name=branch_name(session.title),
            model=session.model,
            parent_chat_id=parent.id,
            rewind_from_turn=branch.first_turn,
            messages=branch.messages,
            created_at=session.created_at,
            updated_at=branch.ts or session.created_at,
            agent=session.label,
            recorded_workspace=parent.recorded_workspace,
            detached=parent.detached,
        )
    )


def _end_of(vault: VaultStore, chat: ChatId, turn: int) -> int:
    """The number of the last line of a turn in a log."""
    found = vault.contents(chat)
    numbers = [number for number, line in zip(found.numbers, found.lines, strict=True) if line.turn == turn and not line.entry]
    return max(numbers, default=max(found.numbers, default=0))
