"""A core that answers with given values: the faces are tested against it.

Every answer is a public attribute, to be set by the test; every call is written down in `calls`. Events are delivered by a real
bus through `publish`. An attribute ``raises`` maps a method's name to an error that its next call raises.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.helpers.fake_live import Answers, FakeAgents, FakeLive
from tests.helpers.fake_reviews import FakeReviews
from tests.helpers.fake_undo import FakeUndo
from vibekit_desktop.core.api import Check, Core, StoreSize
from vibekit_desktop.core.bus import Bus
from vibekit_desktop.core.types.chats import (
    WHOLE,
    ChatHeader,
    ChatView,
    Export,
    ExportFormat,
    Message,
    TurnSpan,
    Withheld,
)
from vibekit_desktop.core.types.checkpoints import (
    ABSENT,
    UNKNOWN,
    CaptureReport,
    CheckoutReport,
    Conflict,
    Coverage,
    Mine,
    Now,
    PinnedPoint,
    PlacedConflict,
    Point,
    RestoreKind,
    RestorePlan,
    RestoreReport,
    Scope,
    Timeline,
    TurnReport,
)
from vibekit_desktop.core.types.diffs import EXACT, BinaryPair, Compare, DiffRequest, FileDiff, StyleRuns, WordSpans
from vibekit_desktop.core.types.errors import ChatDamaged, ChatNotFound, NotABranch, NothingToEnd, NothingToTakeBack
from vibekit_desktop.core.types.events import Event
from vibekit_desktop.core.types.folders import FolderWeight
from vibekit_desktop.core.types.ids import ChatId, MessageId, Tag, WorkspacePath, new_chat_id, parse_workspace_path
from vibekit_desktop.core.types.moves import Likeness
from vibekit_desktop.core.types.removals import DeleteReport, PurgeReport
from vibekit_desktop.core.types.reviews import ReviewFormat
from vibekit_desktop.core.types.settings import KINDS, Setting, SettingKind, Value, kind_of
from vibekit_desktop.core.types.sources import ImportReport, SourceSummary
from vibekit_desktop.core.types.verified import VerifyReport


def empty_plan(chat: ChatId, point: Point, scope: Scope = Scope.BOTH, kind: RestoreKind = RestoreKind.RESTORE) -> RestorePlan:
    """A plan with nothing to do."""
    return RestorePlan(
        chat=chat,
        kind=kind,
        point=point,
        scope=scope,
        mine=Mine(),
        paths=(),
        files=(),
        digest="0" * 64,
        log_lines=0,
        keep_messages=0,
        total_messages=0,
    )


@dataclass
class FakeChats(Answers):
    headers: list[ChatHeader] = field(default_factory=list)
    views: dict[ChatId, ChatView] = field(default_factory=dict)
    older: dict[ChatId, Sequence[Message]] = field(default_factory=dict)
    """The messages before those of the view, from the first on."""
    drafts: dict[ChatId, str] = field(default_factory=dict)
    purged: PurgeReport = field(default_factory=PurgeReport)
    seen_counts: dict[ChatId, int] = field(default_factory=dict)

    async def list(
        self, *, archived: bool = False, workspace: str | None = None, limit: int | None = None
    ) -> Sequence[ChatHeader]:
        self.note("list", archived, workspace, limit)
        found = [header for header in self.headers if header.archived == archived]
        if workspace is not None:
            found = [header for header in found if header.workspace == workspace]
        found.sort(key=lambda header: header.updated_at, reverse=True)
        return found[:limit] if limit is not None else found

    async def resolve(self, text: str) -> ChatId:
        self.note("resolve", text)
        for header in self.headers:
            if header.id.startswith(text):
                return header.id
        raise ChatNotFound(text)

    async def open(self, chat: ChatId) -> ChatView:
        self.note("open", chat)
        if chat not in self.views:
            raise ChatNotFound(chat)
        if self.views[chat].damage is not None:
            raise ChatDamaged(chat, "damaged")
        return self.views[chat]

    async def open_damaged(self, chat: ChatId) -> ChatView:
        self.note("open_damaged", chat)
        return self.views[chat]

    async def first_rows(self, limit: int) -> Sequence[ChatHeader]:
        self.note("first_rows", limit)
        return [header for header in self.headers if not header.archived][:limit]

    async def earlier(self, chat: ChatId, before: int, limit: int) -> Sequence[Message]:
        self.note("earlier", chat, before, limit)
        return self.older.get(chat, ())[max(0, before - limit) : before]

    async def turns(self, chat: ChatId) -> Sequence[TurnSpan]:
        self.note("turns", chat)
        return self.views[chat].turns

    async def hold_open(self, chat: ChatId | None) -> None:
        self.note("hold_open", chat)

    async def branch(self, chat: ChatId, turn: int, *, message: MessageId | None = None, files_before: bool = False) -> ChatId:
        self.note("branch", chat, turn, message, files_before)
        return new_chat_id()

    async def children(self, chat: ChatId) -> Sequence[ChatId]:
        self.note("children", chat)
        return [header.id for header in self.headers if header.parent_chat_id == chat]

    def _parent(self, chat: ChatId) -> ChatId:
        for header in self.headers:
            if header.id == chat and header.parent_chat_id:
                return header.parent_chat_id
        raise NotABranch(chat)

    async def promote(self, chat: ChatId) -> ChatId:
        self.note("promote", chat)
        return self._parent(chat)

    async def discard(self, chat: ChatId) -> ChatId:
        self.note("discard", chat)
        return self._parent(chat)

    async def merge(self, chat: ChatId) -> ChatId:
        self.note("merge", chat)
        return self._parent(chat)

    async def rename(self, chat: ChatId, name: str) -> None:
        self.note("rename", chat, name)

    async def pin(self, chat: ChatId, pinned: bool) -> None:
        self.note("pin", chat, pinned)

    async def archive(self, chat: ChatId) -> None:
        self.note("archive", chat)

    async def unarchive(self, chat: ChatId) -> None:
        self.note("unarchive", chat)

    async def delete(self, chat: ChatId, *, keep_branches: bool = False) -> DeleteReport:
        self.note("delete", chat, keep_branches)
        return DeleteReport(deleted=(chat,))

    async def purge(self, older_than_days: int, *, only_look: bool = False) -> PurgeReport:
        self.note("purge", older_than_days, only_look)
        return self.purged

    async def draft(self, chat: ChatId) -> str:
        self.note("draft", chat)
        return self.drafts.get(chat, "")

    async def set_draft(self, chat: ChatId, text: str) -> None:
        self.note("set_draft", chat, text)
        self.drafts[chat] = text

    async def seen(self) -> Mapping[ChatId, int]:
        self.note("seen")
        return dict(self.seen_counts)

    async def note_seen(self, chat: ChatId, messages: int) -> None:
        self.note("note_seen", chat, messages)
        self.seen_counts[chat] = messages


@dataclass
class FakeCheckpoints(Answers):
    timelines: dict[ChatId, Timeline] = field(default_factory=dict)
    marks: dict[ChatId, int] = field(default_factory=dict)
    plans: list[RestorePlan] = field(default_factory=list)
    """Answers of the plan methods, in order; the last one stays. None at all: a plan with nothing to do."""
    reports: list[RestoreReport] = field(default_factory=list)
    contents: dict[WorkspacePath, bytes] = field(default_factory=dict)
    found_conflicts: list[Conflict] = field(default_factory=list)
    placed: list[PlacedConflict] = field(default_factory=list)
    pinned: list[PinnedPoint] = field(default_factory=list)
    writers: list[ChatId] = field(default_factory=list)

    def _plan(self, otherwise: RestorePlan) -> RestorePlan:
        if len(self.plans) > 1:
            return self.plans.pop(0)
        return self.plans[0] if self.plans else otherwise

    async def timeline(self, chat: ChatId, *, counted: bool = True) -> Timeline:
        self.note("timeline", chat)
        return self.timelines.get(chat, Timeline(chat=chat, entries=(), workspace_found=True))

    async def count_on(self, chat: ChatId) -> bool:
        return False

    async def disk_mark(self, chat: ChatId) -> int:
        return self.marks.get(chat, 1)

    async def plan_restore(
        self, chat: ChatId, point: Point, *, paths: Sequence[WorkspacePath], scope: Scope, mine: Mine
    ) -> RestorePlan:
        self.note("plan_restore", chat, point, tuple(paths), scope, mine)
        return self._plan(empty_plan(chat, point, scope))

    async def plan_undo_file(self, chat: ChatId, point: Point, path: WorkspacePath, *, mine: Mine) -> RestorePlan:
        self.note("plan_undo_file", chat, point, path, mine)
        return self._plan(empty_plan(chat, point, Scope.FILES, RestoreKind.UNDO_FILE))

    async def plan_undo(self, chat: ChatId, *, mine: Mine) -> RestorePlan:
        self.note("plan_undo", chat, mine)
        if not self.plans:
            raise NothingToTakeBack("undo")
        return self._plan(self.plans[0])

    async def plan_redo(self, chat: ChatId, *, mine: Mine) -> RestorePlan:
        self.note("plan_redo", chat, mine)
        if not self.plans:
            raise NothingToTakeBack("redo")
        return self._plan(self.plans[0])

    async def carry_out(self, plan: RestorePlan, *, initiator: str = "") -> RestoreReport:
        self.note("carry_out", plan, initiator)
        if self.reports:
            return self.reports.pop(0)
        restored = tuple(file.path for file in plan.acts)
        return RestoreReport(chat=plan.chat, kind=plan.kind, entry=1, restored=restored, left=(), failed=(), verified=True)

    async def recover(self, chat: ChatId) -> Sequence[RestoreReport]:
        self.note("recover", chat)
        return ()

    async def leave_unfinished(self, chat: ChatId) -> int:
        self.note("leave_unfinished", chat)
        timeline = self.timelines.get(chat)
        if timeline is None or not timeline.to_answer:
            raise NothingToEnd(chat)
        self.timelines[chat] = replace(timeline, unfinished=False, to_answer=False)
        return 1

    async def content(self, chat: ChatId, point: Point, path: WorkspacePath) -> bytes:
        self.note("content", chat, point, path)
        return self.contents[path]

    async def checkout(self, chat: ChatId, point: Point, folder: Path) -> CheckoutReport:
        self.note("checkout", chat, point, folder)
        return CheckoutReport(tuple(self.contents), ())

    async def touched(self, chat: ChatId) -> Sequence[WorkspacePath]:
        self.note("touched", chat)
        return sorted(self.contents)

    async def conflicts(self, chat: ChatId) -> Sequence[Conflict]:
        self.note("conflicts", chat)
        return self.found_conflicts

    async def placed_conflicts(self, chat: ChatId) -> Sequence[PlacedConflict]:
        self.note("placed_conflicts", chat)
        return self.placed

    async def settle(self, chat: ChatId, conflict: Conflict, *, settled: bool = True) -> None:
        self.note("settle", chat, conflict, settled)
        self.placed = [replace(one, settled=settled) if one.conflict == conflict else one for one in self.placed]

    async def changed_by(self, chat: ChatId, path: WorkspacePath) -> Sequence[ChatId]:
        self.note("changed_by", chat, path)
        return self.writers

    async def pins(self, chat: ChatId) -> Sequence[PinnedPoint]:
        self.note("pins", chat)
        return self.pinned

    async def pin(self, chat: ChatId, point: Point, name: str) -> None:
        self.note("pin", chat, point, name)
        self.pinned = [*(one for one in self.pinned if one.point != point), PinnedPoint(point, name, 0)]

    async def unpin(self, chat: ChatId, point: Point) -> None:
        self.note("unpin", chat, point)
        self.pinned = [one for one in self.pinned if one.point != point]


@dataclass
class FakeTurns(Answers):
    turn: int = 1

    async def record(
        self, chat_text: str, path_text: str, *, content: bytes | None, deleted: bool, mode: int | None
    ) -> CaptureReport:
        self.note("record", chat_text, path_text, content, deleted, mode)
        return CaptureReport(
            chat=ChatId(chat_text),
            path=parse_workspace_path(path_text),
            tag=Tag(str(self.turn)),
            before=ABSENT,
            after=UNKNOWN,
            coverage=Coverage(complete=True),
        )

    async def begin(self, chat_text: str, *, workspace: Path | None, agent: str | None, prompt: str | None) -> TurnReport:
        self.note("begin", chat_text, workspace, agent, prompt)
        return TurnReport(chat=ChatId(chat_text), turn=self.turn)

    async def command_begin(self, chat_text: str) -> TurnReport:
        self.note("command_begin", chat_text)
        return TurnReport(chat=ChatId(chat_text), turn=self.turn)

    async def command_end(self, chat_text: str) -> TurnReport:
        self.note("command_end", chat_text)
        return TurnReport(chat=ChatId(chat_text), turn=self.turn)

    async def end(self, chat_text: str, *, answer: str | None) -> TurnReport:
        self.note("end", chat_text, answer)
        return TurnReport(chat=ChatId(chat_text), turn=self.turn)


@dataclass
class FakeWatch(Answers):
    running: bool = False

    def start(self) -> None:
        self.note("start")
        self.running = True

    async def stop(self) -> None:
        self.note("stop")
        self.running = False


@dataclass
class FakeDiffs(Answers):
    by_path: dict[WorkspacePath, FileDiff] = field(default_factory=dict)
    """The answer for a path, whatever the points; the request in it is replaced by the one asked."""
    unlimited: dict[WorkspacePath, FileDiff] = field(default_factory=dict)
    """The same for what is over the limits and asked for all the same."""
    word_spans: dict[int, WordSpans] = field(default_factory=dict)
    styles: dict[str, StyleRuns] = field(default_factory=dict)
    """Colours by file name, as `highlight` is asked."""
    patch_text: bytes = b""
    bytes_of: dict[WorkspacePath, tuple[bytes | None, bytes | None]] = field(default_factory=dict)
    """Both sides of a path, as `sides` is asked."""

    def _diff(self, request: DiffRequest) -> FileDiff:
        given = self.by_path.get(request.path)
        if given is None:
            return FileDiff(request=request, before=UNKNOWN, after=UNKNOWN, result=BinaryPair(None, None))
        return replace(given, request=request)

    async def file(self, request: DiffRequest, *, unlimited: bool = False) -> FileDiff:
        self.note("file", request, unlimited)
        if unlimited and request.path in self.unlimited:
            return replace(self.unlimited[request.path], request=request)
        return self._diff(request)

    async def files(
        self, chat: ChatId, old: Point, new: Point, paths: Sequence[WorkspacePath], *, compare: Compare = EXACT
    ) -> Sequence[FileDiff]:
        self.note("files", chat, old, new, tuple(paths), compare)
        wanted = [path for path in self.by_path if not paths or path in paths]
        return [self._diff(DiffRequest(chat, path, old, new, compare)) for path in wanted]

    async def patch(
        self, chat: ChatId, old: Point, new: Point, paths: Sequence[WorkspacePath], *, compare: Compare = EXACT
    ) -> bytes:
        self.note("patch", chat, old, new, tuple(paths), compare)
        return self.patch_text

    async def planned(self, plan: RestorePlan, path: WorkspacePath) -> FileDiff:
        self.note("planned", plan, path)
        return self._diff(DiffRequest(plan.chat, path, Now(), plan.point))

    async def words(self, diff: FileDiff, first_row: int, last_row: int) -> Mapping[int, WordSpans]:
        self.note("words", diff.request.path, first_row, last_row)
        return {row: spans for row, spans in self.word_spans.items() if first_row <= row <= last_row}

    async def highlight(self, path: str, lines: Sequence[str]) -> StyleRuns | None:
        self.note("highlight", path, tuple(lines))
        return self.styles.get(path)

    async def highlight_part(self, path: str, lines: Sequence[str], first: int, last: int) -> StyleRuns | None:
        self.note("highlight_part", path, first, last)
        return None

    async def sides(self, request: DiffRequest) -> tuple[bytes | None, bytes | None]:
        self.note("sides", request)
        return self.bytes_of.get(request.path, (None, None))


@dataclass
class FakeHistories(Answers):
    found: list[SourceSummary] = field(default_factory=list)
    report: ImportReport = field(default_factory=ImportReport)

    async def sources(self) -> Sequence[SourceSummary]:
        self.note("sources")
        return self.found

    async def import_path(self, path: Path, *, workspace: Path | None, agent: str | None) -> ImportReport:
        self.note("import_path", path, workspace, agent)
        return self.report

    async def keep_all(self, source: str, told: Callable[[int, int], None]) -> ImportReport:
        self.note("keep_all", source)
        told(0, 1)
        return self.report


@dataclass
class FakeSettings(Answers):
    values: dict[str, Value] = field(default_factory=dict)
    """What differs from the defaults."""

    def _setting(self, kind: SettingKind) -> Setting:
        value = self.values.get(kind.key, kind.default)
        return Setting(key=kind.key, value=value, default=kind.default, text=kind.text)

    async def all(self) -> Sequence[Setting]:
        self.note("all")
        return [self._setting(kind) for kind in KINDS.values()]

    async def get(self, key: str) -> Setting:
        self.note("get", key)
        return self._setting(kind_of(key))

    async def set(self, key: str, text: str) -> Setting:
        self.note("set", key, text)
        self.values[key] = kind_of(key).parse(text)
        return self._setting(kind_of(key))


@dataclass
class FakeRetention(Answers):
    running: bool = False

    def start(self) -> None:
        self.note("start")
        self.running = True

    async def stop(self) -> None:
        self.note("stop")
        self.running = False


@dataclass
class FakeLibrary(Answers):
    folders: list[str] = field(default_factory=list)
    verified: VerifyReport = field(default_factory=lambda: VerifyReport(problems=(), chats=0, events=0, blobs=0, size_bytes=0))
    checks: list[Check] = field(default_factory=list)
    weights: dict[str, FolderWeight] = field(default_factory=dict)
    likeness: Likeness = field(
        default_factory=lambda: Likeness(folder="/moved/tidepool", same=True, alike=0, changed=(), missing=())
    )
    stored: StoreSize = field(default_factory=lambda: StoreSize(used_bytes=0, budget_bytes=5 << 30))

    async def workspaces(self) -> Sequence[str]:
        self.note("workspaces")
        return self.folders

    async def open_folder(self, folder: Path) -> str:
        self.note("open_folder", folder)
        if str(folder) not in self.folders:
            self.folders.insert(0, str(folder))
        return str(folder)

    async def weigh_folder(self, folder: Path) -> FolderWeight | None:
        self.note("weigh_folder", folder)
        return self.weights.get(str(folder))

    async def look_at_move(self, workspace: str, folder: Path) -> Likeness:
        self.note("look_at_move", workspace, folder)
        return self.likeness

    async def move_workspace(self, workspace: str, folder: Path) -> str:
        self.note("move_workspace", workspace, folder)
        return str(folder)

    def workspace_path(self, workspace: str, text: str) -> WorkspacePath:
        self.note("workspace_path", workspace, text)
        return parse_workspace_path(text.removeprefix(f"{workspace}/"))

    async def rebuild_caches(self) -> None:
        self.note("rebuild_caches")

    async def store_size(self) -> StoreSize:
        self.note("store_size")
        return self.stored

    async def verify(self, chat: ChatId | None) -> VerifyReport:
        self.note("verify", chat)
        return self.verified

    async def doctor(self) -> Sequence[Check]:
        self.note("doctor")
        return self.checks


@dataclass
class FakeExports(Answers):
    made: Export = field(default_factory=lambda: Export(name="chat.md", data=b"# Untitled chat\n", media_type="text/markdown"))

    async def export(self, chat: ChatId, kind: ExportFormat, *, withheld: Withheld = WHOLE) -> Export:
        self.note("export", chat, kind, withheld)
        return self.made

    async def review(
        self,
        chat: ChatId,
        old: Point,
        new: Point,
        paths: Sequence[WorkspacePath],
        kind: ReviewFormat,
        *,
        compare: Compare = EXACT,
    ) -> Export:
        self.note("review", chat, old, new, tuple(paths), kind, compare)
        return self.made

    async def save(self, export: Export, place: Path) -> Path:
        self.note("save", export, place)
        return place


class FakeCore:
    """The parts, to be filled by the test, and ``core``, the bundle that the faces are given."""

    def __init__(self) -> None:
        self.bus = Bus()
        self.chats = FakeChats()
        self.checkpoints = FakeCheckpoints()
        self.undo = FakeUndo()
        self.turns = FakeTurns()
        self.watch = FakeWatch()
        self.diffs = FakeDiffs()
        self.reviews = FakeReviews(publish=self.bus.publish)
        self.exports = FakeExports()
        self.histories = FakeHistories()
        self.library = FakeLibrary()
        self.settings = FakeSettings()
        self.retention = FakeRetention()
        self.agents = FakeAgents()
        self.live = FakeLive()
        self.core = Core(
            events=self.bus,
            chats=self.chats,
            checkpoints=self.checkpoints,
            undo=self.undo,
            turns=self.turns,
            watch=self.watch,
            diffs=self.diffs,
            reviews=self.reviews,
            exports=self.exports,
            histories=self.histories,
            library=self.library,
            settings=self.settings,
            retention=self.retention,
            agents=self.agents,
            live=self.live,
            version="0.0.0",
        )

    def publish(self, event: Event) -> None:
        """Deliver one event at once."""
        self.bus.publish(event)
