"""The file changes of a Claude Code session, in the order in which the disk saw them.

The before and after of each edit come from the record of that edit. Where it holds none, content known from elsewhere counts
only while nothing that may have changed the file is recorded in between; else it is not captured, with the reason. Pure but for
the backups, which the given function reads. Any thread.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from vibekit_desktop.core.sources.base import (
    ABSENT_FILE,
    COMMAND,
    NO_CONTENT,
    NOT_TEXT,
    SUB_AGENT,
    UNKNOWN_TOOL,
    Content,
    FileTouched,
    not_captured,
    present,
)
from vibekit_desktop.core.sources.claude_lines import Head
from vibekit_desktop.core.sources.claude_replay import (
    EDITING,
    Outcome,
    encoded,
    structured,
    target,
    told,
    with_after,
    with_before,
)
from vibekit_desktop.core.sources.claude_tools import HARMLESS, RUNS_COMMANDS, SPAWNS
from vibekit_desktop.core.sources.claude_turns import Conversation, Entry, Kind
from vibekit_desktop.core.sources.reading import mapping, milliseconds, number, plain, sequence, text
from vibekit_desktop.core.sources.recorded_paths import RecordedRoot
from vibekit_desktop.core.types.checkpoints import Author

Backup = Callable[[str], bytes | None]
"""The bytes of a backup file by its name; None if it is gone."""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call as the assistant made it."""

    id: str
    tool: str
    arguments: Mapping[str, object]
    sub: str
    cwd: str


@dataclass(slots=True)
class TurnFacts:
    """What else happened in one turn: what may have changed files without being recorded."""

    doubts: dict[str, None] = field(default_factory=dict)
    last_ts: int = 0
    duration_ms: int = 0
    open_calls: set[str] = field(default_factory=set)


@dataclass(slots=True)
class _Touch:
    step: FileTouched
    outcome: Outcome
    patch: object
    epoch: tuple[int, int]


@dataclass(slots=True)
class EditReader:
    """Walks the entries once. After `walk`, ``touches`` and ``facts`` are complete."""

    conversation: Conversation
    root: RecordedRoot
    backup: Backup
    touches: list[FileTouched] = field(default_factory=list)
    facts: dict[int, TurnFacts] = field(default_factory=dict)
    _calls: dict[str, Call] = field(default_factory=dict)
    _done: set[str] = field(default_factory=set)
    _best: dict[str, object] = field(default_factory=dict)
    _known: dict[str, Content | str] = field(default_factory=dict)
    """Content by absolute path; a string is the name of a backup that holds it."""
    _before_command: dict[str, dict[str, Content | str]] = field(default_factory=dict)
    """What was known when a command that has not answered yet was started."""
    _pending: dict[str, Mapping[str, object]] = field(default_factory=dict)
    _seen: dict[str, Mapping[str, object]] = field(default_factory=dict)
    _epoch: int = 0
    _path_epoch: dict[str, int] = field(default_factory=dict)
    _asked_in: dict[str, TurnFacts] = field(default_factory=dict)
    """The turn of each call."""
    _spawned: dict[str, bool] = field(default_factory=dict)
    """Running sub-agents: whether a step of any was seen since the call."""
    _background: bool = False
    _found: list[_Touch] = field(default_factory=list)
    _sightings: dict[int, Content] = field(default_factory=dict)

    def walk(self) -> None:
        """Read every entry in file order."""
        self._choose_results()
        for position, entry in enumerate(self.conversation.entries):
            head = entry.record.head
            turn = self.conversation.turn_at[position]
            facts = self.facts.setdefault(turn, TurnFacts())
            ts = milliseconds(head.timestamp)
            if not entry.sub or head.type in ("assistant", "user"):
                facts.last_ts = max(facts.last_ts, ts)
            if entry.sub:
                self._spawned = dict.fromkeys(self._spawned, True)
            match self.conversation.kinds[position]:
                case Kind.ANSWER:
                    self._answer(entry, facts)
                case Kind.RESULT:
                    self._result(entry, turn, facts, ts)
                case Kind.PROMPT:
                    self._forget()
                    self._load_snapshot(head.uuid or "")
                case Kind.SHELL:
                    facts.doubts[COMMAND] = None
                    self._forget()
                case Kind.COMMAND | Kind.QUEUED | Kind.INTERRUPTED | Kind.SUMMARY | Kind.NOISE:
                    self._forget()
                case Kind.OTHER:
                    self._other(head, facts)
        self._look_back()
        self.touches = [touch.step for touch in self._found]

    # -- records -------------------------------------------------------------------------------------------------

    def _choose_results(self) -> None:
        """One call may be answered twice (progress line and sub-agent's file): the structured answer counts."""
        for entry in self.conversation.entries:
            head = entry.record.head
            if head.type != "user" or bytes(head.tool_use_result)[:1] != b"{":
                continue
            blocks = [mapping(block) for block in sequence(mapping(plain(head.message)).get("content"))]
            ids = [text(block.get("tool_use_id")) for block in blocks if block.get("type") == "tool_result"]
            if len(ids) == 1 and ids[0] not in self._best:
                self._best[ids[0]] = entry.record.damaged, plain(head.tool_use_result)

    def _answer(self, entry: Entry, facts: TurnFacts) -> None:
        head = entry.record.head
        for block in (mapping(item) for item in sequence(mapping(plain(head.message)).get("content"))):
            if block.get("type") != "tool_use":
                continue
            call = Call(text(block.get("id")), text(block.get("name")), mapping(block.get("input")), entry.sub, head.cwd or "")
            if not call.id or call.id in self._calls:
                self._doubt(call, facts)
                continue
            self._calls[call.id] = call
            self._asked_in[call.id] = facts
            facts.open_calls.add(call.id)
            self._doubt(call, facts)

    def _doubt(self, call: Call, facts: TurnFacts) -> None:
        """A call that may change files without saying which: what we knew of them is no longer certain."""
        if call.tool in EDITING or call.tool in HARMLESS:
            return
        if call.tool in RUNS_COMMANDS:
            self._before_command[call.id] = dict(self._known)
        self._forget()
        if call.arguments.get("run_in_background") is True:
            self._background = True
        if call.tool in SPAWNS:
            self._spawned[call.id] = False
        else:
            facts.doubts[COMMAND if call.tool in RUNS_COMMANDS else UNKNOWN_TOOL] = None

    def _result(self, entry: Entry, turn: int, facts: TurnFacts, ts: int) -> None:
        head = entry.record.head
        for block in (mapping(item) for item in sequence(mapping(plain(head.message)).get("content"))):
            call = self._calls.get(text(block.get("tool_use_id")))
            if block.get("type") != "tool_result" or call is None:
                continue
            self._asked_in[call.id].open_calls.discard(call.id)
            if call.id in self._done:
                continue
            self._done.add(call.id)
            damaged, result = entry.record.damaged, plain(head.tool_use_result)
            best = self._best.get(call.id)
            if isinstance(best, tuple) and not isinstance(result, dict):
                damaged, result = best
            if call.tool in EDITING:
                self._edit(call, block, result, turn, ts, damaged=damaged)
            elif call.tool == "Read":
                self._read(call, result)
            elif call.tool in SPAWNS:
                if not self._spawned.pop(call.id, False):
                    facts.doubts[SUB_AGENT] = None
                if mapping(result).get("status") == "async_launched" or mapping(result).get("isAsync") is True:
                    self._background = True
                self._forget()
            elif call.tool not in HARMLESS:
                self._forget()
                self._beside_a_command(call, mapping(result), turn, ts)

    def _other(self, head: Head, facts: TurnFacts) -> None:
        match head.type:
            case "system":
                if head.subtype == "turn_duration":
                    facts.duration_ms += max(0, int(head.duration_ms or 0))
                if not head.subtype or head.subtype in ("stop_hook_summary", "compact_boundary"):
                    # Without a subtype it is a hook's output (1.0.x): formatters run as hooks.
                    self._forget()
            case "progress" if b"hook_progress" in bytes(head.data)[:200]:
                self._forget()
            case "attachment":
                kind = bytes(head.attachment)[:300]
                if b'"hook_' in kind:
                    self._forget()
                elif b'"edited_text_file"' in kind:
                    self._forget_path(self.root.absolute(text(mapping(plain(head.attachment)).get("filename")), head.cwd or ""))
            case "file-history-snapshot":
                self._snapshot(head)
            case "file-history-delta":
                if head.tracking_path:
                    self._tracked(head.tracking_path, mapping(plain(head.backup)))
            case _:
                pass

    # -- edits ---------------------------------------------------------------------------------------------------

    def _edit(self, call: Call, block: Mapping[str, object], result: object, turn: int, ts: int, *, damaged: bool) -> None:
        fields = mapping(result)
        path = self.root.absolute(target(call.tool, call.arguments, fields), call.cwd)
        if _failed(block, result):
            self._forget_path(path)
            return
        patch = fields.get("structuredPatch")
        outcome = (
            structured(call.tool, call.arguments, fields) if fields else told(call.tool, call.arguments, _answer_text(block))
        )
        if damaged:
            outcome = Outcome(outcome.path, not_captured(NOT_TEXT), not_captured(NOT_TEXT))
        elif not outcome.before.known:
            before = self._recall(path)
            if before is not None:
                outcome = with_before(outcome, before, patch)
        inside, reason = self.root.relative(outcome.path, call.cwd)
        step = FileTouched(
            turn=turn,
            ts=ts,
            path=inside,
            recorded=path,
            before=outcome.before,
            after=outcome.after,
            tool_call_id=call.id,
            message_count=0,
            reason=reason,
        )
        self._found.append(_Touch(step, outcome, patch, self._when(path)))
        self._learn(path, outcome.after)

    def _read(self, call: Call, result: object) -> None:
        fields = mapping(result)
        file = mapping(fields.get("file"))
        content = file.get("content")
        if fields.get("type") != "text" or not isinstance(content, str):
            return
        whole = number(file.get("startLine")) in (0, 1) and file.get("numLines") == file.get("totalLines")
        if whole and number(file.get("totalLines")) > 0:
            path = self.root.absolute(text(file.get("filePath")) or text(call.arguments.get("file_path")), call.cwd)
            self._learn(path, encoded(content), sighted=True)

    def _beside_a_command(self, call: Call, result: Mapping[str, object], turn: int, ts: int) -> None:
        """Newer versions list what a shell command changed: hunks only, so the paths are facts and most contents are not."""
        known = self._before_command.pop(call.id, {})
        listed = mapping(result.get("bashEditDiff"))
        for file in (mapping(item) for item in sequence(listed.get("files"))):
            recorded = text(file.get("filePath"))
            if not recorded:
                continue
            inside, reason = self.root.relative(recorded, call.cwd)
            path = self.root.absolute(recorded, call.cwd)
            before = ABSENT_FILE if file.get("created") is True else self._content(known.get(path))
            step = FileTouched(
                turn=turn,
                ts=ts,
                path=inside,
                recorded=path,
                before=before or not_captured(NO_CONTENT),
                after=ABSENT_FILE if file.get("deleted") is True else not_captured(NO_CONTENT),
                tool_call_id=call.id,
                message_count=0,
                announced=False,
                author=Author.COMMAND,
                reason=reason,
            )
            self._found.append(_Touch(step, Outcome(recorded, step.before, step.after), None, self._when(step.recorded)))

    # -- what is known of files right now ------------------------------------------------------------------------

    def _forget(self) -> None:
        self._known.clear()
        self._epoch += 1

    def _forget_path(self, path: str) -> None:
        self._known.pop(path, None)
        self._path_epoch[path] = self._path_epoch.get(path, 0) + 1

    def _when(self, path: str) -> tuple[int, int]:
        return (-1, len(self._found)) if self._background else (self._epoch, self._path_epoch.get(path, 0))

    def _learn(self, path: str, content: Content, *, sighted: bool = False) -> None:
        if self._background:
            return
        if content.known:
            if sighted:
                self._sight(path, content)
            self._known[path] = content
        else:
            self._known.pop(path, None)

    def _sight(self, path: str, content: Content) -> None:
        """A full read shows what the newest edit of the path left, if nothing came between."""
        for index in range(len(self._found) - 1, -1, -1):
            touch = self._found[index]
            if touch.epoch[0] != self._epoch:
                return
            if touch.step.recorded == path:
                if touch.epoch == self._when(path):
                    self._sightings.setdefault(index, content)
                return

    def _recall(self, path: str) -> Content | None:
        return self._content(self._known.get(path))

    def _content(self, found: Content | str | None) -> Content | None:
        if isinstance(found, str):
            data = self.backup(found)
            return present(data) if data is not None else None
        return found

    # -- file-history --------------------------------------------------------------------------------------------

    def _snapshot(self, head: Head) -> None:
        snapshot = mapping(plain(head.snapshot))
        backups = mapping(snapshot.get("trackedFileBackups"))
        message = text(snapshot.get("messageId"))
        if head.is_snapshot_update:
            earlier = self._seen.get(message, {})
            for name, entry in backups.items():
                if name not in earlier and number(mapping(entry).get("version")) == 1:
                    self._tracked(name, mapping(entry))
        else:
            self._pending[message] = backups
        self._seen[message] = backups

    def _load_snapshot(self, message: str) -> None:
        for name, entry in self._pending.pop(message, {}).items():
            self._tracked(name, mapping(entry))

    def _tracked(self, name: str, entry: Mapping[str, object]) -> None:
        """A copy taken of the file as it is now; null: it does not exist."""
        if self._background or "backupFileName" not in entry:
            return
        path = self.root.absolute(name)
        backup = entry["backupFileName"]
        if path not in self._known:
            if backup is None:
                self._known[path] = ABSENT_FILE
            elif isinstance(backup, str):
                self._known[path] = backup

    # -- second pass ---------------------------------------------------------------------------------------------

    def _look_back(self) -> None:
        """Where an edit's result is not recorded, what was seen next is it, if nothing came between."""
        following: dict[str, tuple[tuple[int, int], Content]] = {}
        for index in range(len(self._found) - 1, -1, -1):
            touch = self._found[index]
            path = touch.step.recorded
            later = following.get(path)
            seen = self._sightings.get(index)
            if seen is None and later is not None and later[0] == touch.epoch and later[1].known:
                seen = later[1]
            if seen is not None and touch.outcome.after.reason == NO_CONTENT:
                touch.outcome = with_after(touch.outcome, seen, touch.patch)
                touch.step = replace(touch.step, before=touch.outcome.before, after=touch.outcome.after)
            following[path] = touch.epoch, touch.step.before


def _answer_text(block: Mapping[str, object]) -> str:
    content = block.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(text(mapping(item).get("text")) for item in sequence(content))


def _failed(block: Mapping[str, object], result: object) -> bool:
    """Failed and rejected calls changed nothing: their result is a string, or the answer says so."""
    if block.get("is_error") is True or isinstance(result, str):
        return True
    if isinstance(result, dict):
        return bool(result.get("error"))
    answer = _answer_text(block)
    return answer.startswith(("<tool_use_error>", "Error")) or "doesn't want to proceed" in answer or "was rejected" in answer
