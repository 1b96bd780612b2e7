"""Claude Code's histories: where they are, what they are called, and each one read whole.

Versions seen: 1.0.56 to 2.1.239 (session-formats.md 2). Reads the session, its sub-agents' files and its file backups; never
writes. Any thread.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

import msgspec

from vibekit_desktop.core.sources.base import (
    Cancelled,
    ForeignBranch,
    ForeignSession,
    ImportCancelled,
    Progress,
    SessionSummary,
    Step,
    TurnBegan,
    TurnEnded,
)
from vibekit_desktop.core.sources.claude_edits import EditReader, TurnFacts
from vibekit_desktop.core.sources.claude_entries import gather, own_files, sub_agent_files
from vibekit_desktop.core.sources.claude_lines import Record, parse
from vibekit_desktop.core.sources.claude_messages import MessageWriter, clean, settle
from vibekit_desktop.core.sources.claude_turns import KNOWN_TYPES, Conversation, Kind, converse, slots
from vibekit_desktop.core.sources.reading import let_go, mark_of, milliseconds, names_in, read_beginning, read_regular
from vibekit_desktop.core.sources.recorded_paths import RecordedRoot, is_absolute
from vibekit_desktop.core.types.chats import Message
from vibekit_desktop.core.types.errors import CannotRead, UnknownFormat
from vibekit_desktop.core.types.ids import imported_chat_id
from vibekit_desktop.core.types.sources import Cleanup, SkippedLine

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_TITLE_LENGTH = 80
_BACKUP_LIMIT = 64 << 20
_RECOGNISE_BYTES = 1 << 18
_SETTINGS_BYTES = 1 << 20
_CLEANUP_DAYS = 30
"""What holds where its settings say nothing (its documentation, settings)."""


class _Settings(msgspec.Struct, frozen=True):
    """What we want to know of its settings."""

    days: int = msgspec.field(name="cleanupPeriodDays", default=_CLEANUP_DAYS)


@dataclass(frozen=True, slots=True)
class _Facts:
    """What the records say of the session as a whole."""

    session: str
    cwd: str
    titles: tuple[str, ...]
    created_at: int
    updated_at: int


class ClaudeCode:
    """Claude Code as a `Source`."""

    name = "claude-code"
    label = "Claude Code"

    def root(self, home: Path, *, config_dir: Path | None = None) -> Path:
        """The projects folder; ``config_dir`` is what CLAUDE_CONFIG_DIR says, for the user's own home only."""
        return (config_dir or home / ".claude") / "projects"

    def cleanup(self, home: Path, *, config_dir: Path | None = None) -> Cleanup | None:
        """It deletes what was not used for a number of days whenever it starts; settings that can't be read count as none."""
        text = read_beginning(self.root(home, config_dir=config_dir).parent / "settings.json", _SETTINGS_BYTES)
        try:
            days = msgspec.json.decode(text, type=_Settings).days
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            days = _CLEANUP_DAYS
        return Cleanup(days if days > 0 else _CLEANUP_DAYS, "cleanupPeriodDays")

    def find(self, home: Path, *, config_dir: Path | None = None) -> Iterator[Path]:
        """Every session file of every project, in no promised order; sub-agents' files are no sessions."""
        root = self.root(home, config_dir=config_dir)
        for project in names_in(root):
            for name in names_in(root / project):
                if name.endswith(".jsonl") and not name.startswith("agent-") and (root / project / name).is_file():
                    yield root / project / name

    def find_in(self, folder: Path) -> Iterator[Path]:
        """Every session file at any depth. Links to folders are not followed, so there are no circles."""
        for name in names_in(folder):
            path = folder / name
            if path.is_dir():
                if not path.is_symlink() and name not in ("subagents", "tool-results", "memory"):
                    yield from self.find_in(path)
            elif name.endswith((".jsonl", ".json")) and not name.startswith("agent-") and self.recognise(path):
                yield path

    def recognise(self, path: Path) -> bool:
        """Whether the beginning of a file holds a record of ours."""
        beginning = read_beginning(path, _RECOGNISE_BYTES)
        return any(_ours(record) for record in parse(beginning).records)

    def stamp(self, path: Path) -> str:
        """Size and time of the session's file, and of its sub-agents' files."""
        size, changed = mark_of(path)
        others = "".join(f"{file.name}{_mark(file)}" for file in own_files(path))
        return f"{size}:{changed}:{sha256(others.encode()).hexdigest()[:12] if others else '-'}"

    def summarise(self, path: Path) -> SessionSummary:
        """The header from one pass over the undecoded records."""
        stamp = self.stamp(path)
        records = _recognised(path, parse(read_regular(path)).records)
        conversation = converse(gather(records))
        facts = _facts(path, records, conversation)
        return SessionSummary(
            source=self.name,
            label=self.label,
            session=facts.session,
            chat_id=imported_chat_id(self.name, facts.session),
            path=str(path),
            stamp=stamp,
            title=facts.titles[0],
            cwd=facts.cwd,
            model="",
            created_at=facts.created_at,
            updated_at=facts.updated_at,
            message_count=sum(len(slots(conversation, index)) for index in conversation.active),
            turn_count=conversation.turns,
        )

    def read(self, path: Path, *, progress: Progress | None = None, cancelled: Cancelled | None = None) -> ForeignSession:
        """The whole session, with what its sub-agents did and what their backups hold."""
        stamp = self.stamp(path)
        data = read_regular(path)

        def step(done: int) -> None:
            if cancelled is not None and cancelled():
                raise ImportCancelled
            if progress is not None:
                progress(done, len(data))

        step(0)
        lines = parse(data, step=step)
        records = _recognised(path, lines.records)
        strange = [_strange(record) for record in records if record.head.type not in KNOWN_TYPES]
        agents, unread = _agents(path)
        entries = gather(records, agents)
        conversation = converse(entries)
        facts = _facts(path, records, conversation)
        root = RecordedRoot(facts.cwd)
        writer = MessageWriter(conversation, root)
        written = writer.write()
        edits = EditReader(conversation, root, _Backups(path, facts.session))
        edits.walk()
        step(len(data))
        finished = _Finish(conversation, written, edits)
        read = ForeignSession(
            source=self.name,
            label=self.label,
            session=facts.session,
            path=str(path),
            stamp=stamp,
            cwd=facts.cwd,
            title=facts.titles[0],
            titles=facts.titles,
            model=writer.model,
            created_at=facts.created_at,
            updated_at=facts.updated_at,
            messages=settle(finished.along(conversation.active), running=finished.running),
            steps=finished.steps(),
            branches=finished.branches(),
            turns=conversation.turns,
            skipped=tuple(sorted((*unread, *lines.skipped, *strange), key=lambda item: item.line)),
        )
        let_go(records)
        let_go(entries)
        return read


def _mark(file: Path) -> tuple[int, int]:
    try:
        return mark_of(file)
    except CannotRead:
        return 0, 0


def _agents(path: Path) -> tuple[list[tuple[Path, bytes]], list[SkippedLine]]:
    """The sub-agents' files with their bytes; one that cannot be read is said (line 0) and hides nothing else."""
    found: list[tuple[Path, bytes]] = []
    unread: list[SkippedLine] = []
    for file in sub_agent_files(path):
        try:
            found.append((file, read_regular(file)))
        except CannotRead:
            unread.append(SkippedLine(0, "a sub-agent's file cannot be read"))
    return found, unread


def _ours(record: Record) -> bool:
    head = record.head
    if head.type in ("user", "assistant"):
        return bool(bytes(head.message)) and bool(head.session_id or head.uuid)
    return head.type in KNOWN_TYPES and bool(head.session_id or head.uuid or head.leaf_uuid or bytes(head.snapshot))


def _recognised(path: Path, records: list[Record]) -> list[Record]:
    if not any(_ours(record) for record in records):
        raise UnknownFormat(str(path), "no record of a Claude Code session in it")
    if not any(record.head.type in ("user", "assistant") and bytes(record.head.message) for record in records):
        raise UnknownFormat(str(path), "no conversation in it")
    return records


def _strange(record: Record) -> SkippedLine:
    kind = record.head.type
    word = kind if re.fullmatch(r"[A-Za-z0-9_-]{1,40}", kind) else "?"
    return SkippedLine(record.line, f"unknown record type {word}")


def _facts(path: Path, records: list[Record], conversation: Conversation) -> _Facts:
    sessions = [record.head.session_id for record in records if record.head.session_id]
    stem = path.name.removesuffix(".jsonl").removesuffix(".json")
    session = stem if _UUID.fullmatch(stem) or stem in sessions or not sessions else sessions[0]
    times = [ts for ts in (milliseconds(record.head.timestamp) for record in records) if ts]
    if not times:
        times = [mark_of(path)[1] // 1_000_000]
    folders = (record.head.cwd or record.head.project or "" for record in records)
    cwd = next((folder for folder in folders if is_absolute(folder)), "")
    return _Facts(session, cwd, _titles(records, conversation), min(times), max(times))


def _titles(records: list[Record], conversation: Conversation) -> tuple[str, ...]:
    """Every title there ever was, the one that counts first: the user's, the program's, a summary's, the first prompt."""
    uuids = {record.head.uuid for record in records}
    custom: list[str] = []
    made: list[str] = []
    told: list[str] = []
    for record in records:
        head = record.head
        match head.type:
            case "custom-title" if head.custom_title:
                custom.append(head.custom_title)
            case "ai-title" if head.ai_title:
                made.append(head.ai_title)
            case "summary" if head.summary and head.leaf_uuid in uuids and "usage limit reached" not in head.summary:
                told.append(head.summary)
            case _:
                pass
    typed: list[str] = []
    for kind in ((Kind.PROMPT,), (Kind.COMMAND, Kind.QUEUED, Kind.SHELL)):
        typed += [conversation.texts.get(at, "") for at, found in enumerate(conversation.kinds) if found in kind][:1]
    found = (_title(words) for words in (*reversed(custom), *reversed(made), *reversed(told), *typed))
    return tuple(dict.fromkeys(title for title in found if title)) or ("Untitled session",)


def _title(words: str) -> str:
    line = next((line.strip() for line in clean(words).splitlines() if line.strip()), "")
    return line if len(line) <= _TITLE_LENGTH else line[: _TITLE_LENGTH - 1].rstrip() + "…"


class _Backups:
    """The raw copies Claude Code made of files before it changed them, by name; None where they are gone."""

    def __init__(self, path: Path, session: str) -> None:
        base = path.parents[2] if len(path.parents) > 2 and path.parents[1].name == "projects" else None
        self._folder = base / "file-history" / session if base is not None else None

    def __call__(self, name: str) -> bytes | None:
        if self._folder is None or "/" in name or "\\" in name or name in ("", ".", "..") or "\0" in name:
            return None
        try:
            return read_regular(self._folder / name, limit=_BACKUP_LIMIT)
        except CannotRead:
            return None


class _Finish:
    """Put messages and edits together: transcripts along a path, and the steps in the order of the log."""

    def __init__(self, conversation: Conversation, written: list[list[Message]], edits: EditReader) -> None:
        self._conversation = conversation
        self._edits = edits
        tagged = {touch.turn for touch in edits.touches if touch.announced and touch.path is not None}
        self._written = [self._dress(index, messages, tagged) for index, messages in enumerate(written)]
        self._count = [0] * len(written)
        self._end: dict[int, int] = {}
        for index, segment in enumerate(conversation.segments):
            above = self._ends(segment.parent) if segment.parent >= 0 else 0
            self._count[index] = above + 1 if segment.turn else 0
        self.running = not self._closed()

    def _ends(self, segment: int) -> int:
        """Length of the transcript at the end of a segment. Each is walked over once: a history has thousands in a row."""
        walked: list[int] = []
        while segment >= 0 and segment not in self._end:
            walked.append(segment)
            segment = self._conversation.segments[segment].parent
        total = self._end.get(segment, 0)
        for one in reversed(walked):
            total += len(self._written[one])
            self._end[one] = total
        return total

    def _facts(self, turn: int) -> TurnFacts:
        return self._edits.facts.get(turn) or TurnFacts()

    def _began(self, turn: int) -> int:
        messages = self._written[turn]
        return messages[0].ts if messages else 0

    def _duration(self, turn: int) -> int:
        facts = self._facts(turn)
        began = self._began(turn)
        return facts.duration_ms or (max(0, facts.last_ts - began) if began and facts.last_ts else 0)

    def _dress(self, index: int, messages: list[Message], tagged: set[int]) -> list[Message]:
        if not index or not messages:
            return messages
        dressed = list(messages)
        if index in tagged:
            dressed[0] = msgspec.structs.replace(dressed[0], checkpoint_tag=str(index))
        if dressed[-1].role == "assistant":
            facts = self._facts(index)
            elapsed = facts.duration_ms or max(0, facts.last_ts - dressed[0].ts if facts.last_ts and dressed[0].ts else 0)
            dressed[-1] = msgspec.structs.replace(dressed[-1], turn_elapsed_ms=elapsed)
        return dressed

    def _closed(self) -> bool:
        """Whether the newest turn looks ended: nothing is waited for, and the last word is the agent's text or a stop."""
        turn = self._conversation.turns
        if self._facts(turn).open_calls:
            return False
        last = self._conversation.active[-1]
        messages = self._written[last]
        if not messages or messages[-1].role == "user":
            return False
        blocks = messages[-1].blocks
        return messages[-1].role == "event" or bool(blocks and blocks[-1].type == "text")

    def along(self, path: list[int]) -> tuple[Message, ...]:
        """The transcript of a path."""
        return tuple(message for segment in path for message in self._written[segment])

    def branches(self) -> tuple[ForeignBranch, ...]:
        """The conversations that were left, each with the whole way to its end."""
        active = set(self._conversation.active)
        found: list[ForeignBranch] = []
        for path in self._conversation.left:
            own = [segment for segment in path if segment not in active]
            if not own or not self._written[own[0]]:
                continue
            messages = settle(self.along(path), running=False)
            newest = max((message.ts for message in messages), default=0)
            key = self._written[own[-1]][0].id if self._written[own[-1]] else str(own[-1])
            found.append(ForeignBranch(key=key, messages=messages, first_turn=own[0], last_turn=own[-1], ts=newest))
        return tuple(found)

    def steps(self) -> tuple[Step, ...]:
        """What goes into the log, in order."""
        steps: list[Step] = []
        touches = iter(self._edits.touches)
        touch = next(touches, None)
        for turn in range(len(self._conversation.segments)):
            if turn:
                prompt = self._written[turn][0]
                steps.append(TurnBegan(turn=turn, ts=prompt.ts, message_id=prompt.id, message_count=self._count[turn]))
            uncaught: dict[tuple[str, str], None] = {}
            while touch is not None and touch.turn == turn:
                steps.append(replace(touch, message_count=self._count[turn]))
                if touch.path is not None:
                    for side in (touch.before, touch.after):
                        if not side.known:
                            uncaught[str(touch.path), side.reason] = None
                touch = next(touches, None)
            if turn:
                facts = self._facts(turn)
                skipped = (*uncaught, *(("", doubt) for doubt in facts.doubts))
                steps.append(
                    TurnEnded(
                        turn=turn,
                        ts=max(facts.last_ts, self._began(turn)),
                        duration_ms=self._duration(turn),
                        complete=not skipped,
                        skipped=skipped,
                        sure=not (self.running and turn == self._conversation.turns),
                    )
                )
        return tuple(steps)
