"""The planner alone, over histories and disks that are only values (S12a); what is in the store before a plan is written."""

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.checkpoint.test_shapes import BESIDE, SHAPES, with_beside
from tests.core.checkpoint.trees import EMPTY, Folder, Link, command_turn
from tests.core.checkpoint.world import ALL_MINE, A, B, World, replaced
from vibekit_desktop.core.checkpoint import log
from vibekit_desktop.core.checkpoint import plan as planning
from vibekit_desktop.core.checkpoint.blobs import hash_of
from vibekit_desktop.core.checkpoint.decide import DiskFact, depth
from vibekit_desktop.core.checkpoint.history import FOLDER, History, View, agree
from vibekit_desktop.core.checkpoint.log import Line, LogContents
from vibekit_desktop.core.checkpoint.plan import PlanRequest
from vibekit_desktop.core.checkpoint.points import Marks
from vibekit_desktop.core.disk import faults
from vibekit_desktop.core.disk.workspace import parents_of
from vibekit_desktop.core.types.chats import TranscriptShape
from vibekit_desktop.core.types.checkpoints import (
    ABSENT,
    KEEP_MINE,
    Action,
    Author,
    FileState,
    How,
    Mine,
    PlannedFile,
    RestoreKind,
    RestorePlan,
    Scope,
    State,
    parse_point,
)
from vibekit_desktop.core.types.ids import BlobHash, ChatId, WorkspacePath

Thing = bytes | Link | Folder
PATHS = ("a", "b", "d", "d/x", "d/y", "d/s", "d/s/z", "e", "e/x")


def state_of(thing: Thing | None) -> FileState:
    match thing:
        case None:
            return ABSENT
        case Folder():
            return FOLDER
        case Link(text):
            return FileState(State.LINK, hash_of(text.encode()))
        case bytes():
            return FileState(State.PRESENT, hash_of(thing), 0o644)


@dataclass
class Tree:
    """A workspace as a value: files and links by path, and every folder."""

    things: dict[str, Thing] = field(default_factory=dict)

    def get(self, path: str) -> Thing | None:
        return self.things.get(path)

    def with_thing(self, path: str, thing: Thing | None) -> "Tree":
        """As one who does not care does it: what is there or in the way goes, folders above come."""
        new = {one: kept for one, kept in self.things.items() if one != path and not one.startswith(f"{path}/")}
        if thing is not None:
            for above in parents_of(WorkspacePath(path)):
                new[above] = EMPTY
            new[path] = thing
        return Tree(new)

    def fact(self, path: WorkspacePath) -> DiskFact:
        for above in parents_of(path):
            standing = self.get(above)
            if standing is None:
                return DiskFact(state=ABSENT)
            if not isinstance(standing, Folder):
                behind = FileState(State.UNKNOWN, reason="link-on-the-way") if isinstance(standing, Link) else ABSENT
                return DiskFact(state=behind, blocked_by=above)
        thing = self.get(path)
        if not isinstance(thing, Folder):
            return DiskFact(state=state_of(thing))
        below = sorted(one for one in self.things if one.startswith(f"{path}/"))
        leaves = [WorkspacePath(one) for one in below if not any(other.startswith(f"{one}/") for other in below)]
        return DiskFact(state=FOLDER, inside=tuple(leaves))

    # What a plan does; everything that a disk would refuse is an error here.

    def delete(self, path: str) -> None:
        assert not any(one.startswith(f"{path}/") for one in self.things), f"{path} is not empty"
        del self.things[path]

    def put(self, path: str, thing: Thing) -> None:
        for above in parents_of(WorkspacePath(path)):
            assert isinstance(self.things.setdefault(above, EMPTY), Folder), f"{above} is no folder"
        assert not isinstance(self.things.get(path), Folder), f"{path} is a folder"
        self.things[path] = thing


@dataclass
class Past:
    """A history and its disk. ``before``: the tree at the start of each turn of chat A."""

    tree: Tree = field(default_factory=Tree)
    lines: dict[ChatId, list[Line]] = field(default_factory=lambda: {A: [], B: []})
    before: dict[int, Tree] = field(default_factory=dict)
    seq: int = 0
    last: Tree = field(default_factory=Tree)
    contents: dict[str, Thing] = field(default_factory=dict)

    def write(self, chat: ChatId, line: Line) -> None:
        self.seq += 1
        self.lines[chat].append(replaced(line, seq=self.seq, ts=self.seq))

    def look(self, chat: ChatId, author: Author, how: How, turn: int) -> None:
        """One line for each file and each folder that is not what it was."""
        old, new = self.last, self.tree
        for path in sorted({*old.things, *new.things}):
            was, now = old.get(path), new.get(path)
            name = WorkspacePath(path)
            for thing in (was, now):
                self.contents[state_of(thing).sha or ""] = thing if thing is not None else EMPTY
            states = [ABSENT if isinstance(thing, Folder) else state_of(thing) for thing in (was, now)]
            if states[0] != states[1]:
                self.write(chat, log.observed(name, *states, author=author, how=how, turn=turn))
            if isinstance(was, Folder) is not isinstance(now, Folder):
                there = "folder" if isinstance(now, Folder) else "absent"
                self.write(chat, Line(type="dir", path=path, state=there, author=author.value, how=how.value, turn=turn))
        self.last = Tree(dict(new.things))

    def turn(self, chat: ChatId, author: Author, changes: Iterable[tuple[str, Thing | None]]) -> None:
        number = 1 + sum(line.type == "turn_start" for line in self.lines[chat])
        self.look(chat, Author.UNKNOWN, How.GAP, number - 1)
        if chat == A:
            self.before[number] = Tree(dict(self.tree.things))
        self.write(chat, Line(type="turn_start", turn=number))
        for path, thing in changes:
            self.tree = self.tree.with_thing(path, thing)
        self.look(chat, author, How.SCAN, number)
        self.write(chat, Line(type="turn_end", turn=number))

    def view(self) -> tuple[View, Marks]:
        logs = {chat: LogContents(tuple(lines), tuple(range(1, len(lines) + 1))) for chat, lines in self.lines.items() if lines}
        view = History(logs).view(A)
        return view, Marks(view)

    def plan(self, request: PlanRequest, *, unsound: frozenset[BlobHash] = frozenset(), log_lines: int = 7) -> RestorePlan:
        view, marks = self.view()
        targets = planning.targets(view, marks, request)
        return planning.make(
            view,
            marks,
            request,
            disk={target.path: self.tree.fact(target.path) for target in targets},
            unsound=unsound,
            shape=TranscriptShape(messages=0, prompt_index={}, prompts={}),
            branch=None,
            log_lines=log_lines,
        )

    def carry_out(self, plan: RestorePlan) -> None:
        """In the order of a restore, with its lines and its tidying."""
        view, marks = self.view()
        position = marks.position(plan.point)
        entry = marks.last_entry + 1
        self.look(A, Author.UNKNOWN, How.GAP, marks.last_turn)
        gone = [file for file in plan.acts if file.wanted.state is State.ABSENT and file.current.state is not State.FOLDER]
        folders = [file for file in plan.acts if file.current.state is State.FOLDER]
        rest = [file for file in plan.acts if file not in gone and file not in folders]
        for file in sorted(gone, key=lambda one: -depth(one.path)):
            self.tree.delete(file.path)
        for file in sorted(folders, key=lambda one: -depth(one.path)):
            self._clear(file.path)
            if file.wanted.has_content:
                self.tree.put(file.path, self.contents[file.wanted.sha or ""])
        for file in sorted(rest, key=lambda one: depth(one.path)):
            self._come(file)
        left = {file.path for file in plan.files if file.action is Action.LEAVE and file.reason != "same"}
        for folder in sorted({above for file in plan.acts for above in parents_of(file.path)} - left, reverse=True):
            made = view.folder_at(folder, position) == ABSENT and folder in view.folders
            own = made and (view.folders[folder][-1].own or view.folders[folder][-1].author is Author.RESTORE)
            empty = not any(one.startswith(f"{folder}/") for one in self.tree.things)
            if own and empty and view.folders[folder][-1].after == FOLDER and self.tree.get(folder) == EMPTY:
                self.tree.delete(folder)
        body = log.PlanBody(kind=plan.kind.value, point="start", scope="files")
        self.write(A, Line(type="restore_plan", entry=entry, plan=body))
        self.look(A, Author.RESTORE, How.RESTORE, marks.last_turn)

    def _clear(self, path: str) -> None:
        for one in sorted((one for one in self.tree.things if one == path or one.startswith(f"{path}/")), reverse=True):
            assert isinstance(self.tree.get(one), Folder), f"{one} is in {path}"
            self.tree.delete(one)

    def _come(self, file: PlannedFile) -> None:
        if file.wanted.state is State.FOLDER:
            if file.current.has_content:
                self.tree.delete(file.path)
            self.tree.put(file.path, EMPTY)
        else:
            self.tree.put(file.path, self.contents[file.wanted.sha or ""])


things = st.sampled_from([None, b"", b"1", b"2", EMPTY, Link("a"), Link("nowhere")])
changes = st.lists(st.tuples(st.sampled_from(PATHS), things), min_size=1, max_size=4)
own_turns = st.tuples(st.just("turn"), st.just(A), st.sampled_from([Author.AGENT, Author.COMMAND]), changes)
steps = st.one_of(
    own_turns,
    own_turns,
    st.tuples(st.just("turn"), st.just(A), st.just(Author.UNKNOWN), changes),
    st.tuples(st.just("turn"), st.just(B), st.just(Author.AGENT), changes),
    st.tuples(st.just("user"), changes),
)


def past_of(history: Iterable[tuple[object, ...]]) -> Past:
    past = Past()
    for step in history:
        match step:
            case ("turn", chat, author, made):
                past.turn(chat, author, made)  # type: ignore[arg-type]  # drawn as these
            case ("user", made):
                for path, thing in made:  # type: ignore[attr-defined]  # drawn as a list
                    past.tree = past.tree.with_thing(path, thing)
    return past


@st.composite
def pasts(draw: st.DrawFn, each: st.SearchStrategy[tuple[object, ...]] = steps) -> Past:
    """A history with at least one turn of chat A."""
    return past_of([draw(own_turns), *draw(st.lists(each, max_size=4))])


mines = st.one_of(
    st.just(KEEP_MINE),
    st.just(ALL_MINE),
    st.frozensets(st.sampled_from(PATHS), min_size=1, max_size=2).map(
        lambda paths: Mine(restore=frozenset(map(WorkspacePath, paths)))
    ),
)
some_paths = st.lists(st.sampled_from(PATHS), max_size=3, unique=True).map(lambda paths: tuple(map(WorkspacePath, paths)))


def request(past: Past, which: int, mine: Mine = KEEP_MINE, paths: tuple[WorkspacePath, ...] = ()) -> PlanRequest:
    turn = sorted(past.before)[which % len(past.before)]
    return PlanRequest(RestoreKind.RESTORE, parse_point(f"before:{turn}"), Scope.FILES, mine, paths)


@given(pasts(), st.integers(0, 9), mines, some_paths)
def test_a_plan_does_only_what_is_needed_and_can_be_done(
    past: Past, which: int, mine: Mine, paths: tuple[WorkspacePath, ...]
) -> None:
    """No action where the disk agrees; every step finds what it expects; nothing outside the targets changes."""
    plan = past.plan(request(past, which, mine, paths))
    assert [file.path for file in plan.files] == sorted({file.path for file in plan.files})
    for file in plan.files:
        assert (file.action is Action.LEAVE) is bool(file.reason)
        if file.action is not Action.LEAVE:
            assert not agree(file.current, file.wanted)
        if file.reason == "same":
            assert file.changed_by is None
    old = Tree(dict(past.tree.things))
    touched = {file.path for file in plan.acts}
    past.carry_out(plan)
    for path in {*old.things, *past.tree.things} - touched:
        was, now = old.get(path), past.tree.get(path)
        assert was == now or isinstance(was or now, Folder), path
    for file in plan.acts:
        assert agree(state_of(past.tree.get(file.path)), file.wanted) or (
            file.wanted == ABSENT and past.tree.get(file.path) == EMPTY
        )


@given(pasts(), st.integers(0, 9), mines)
def test_a_plan_that_was_carried_out_leaves_nothing_to_do(past: Past, which: int, mine: Mine) -> None:
    asked = request(past, which, mine)
    past.carry_out(past.plan(asked))
    assert past.plan(asked).acts == ()


@given(pasts(own_turns), st.integers(0, 9))
def test_where_all_is_the_chats_own_the_tree_is_what_it_was(past: Past, which: int) -> None:
    """Files, links and folders, empty ones too: everything is as it was before the turn."""
    asked = request(past, which)
    plan = past.plan(asked)
    assert [file for file in plan.files if file.action is Action.LEAVE and file.reason != "same"] == []
    past.carry_out(plan)
    turn = sorted(past.before)[which % len(past.before)]
    assert past.tree == past.before[turn]


@given(pasts(), st.integers(0, 9), mines, some_paths, st.randoms(use_true_random=False))
def test_equal_inputs_give_an_equal_plan(
    past: Past, which: int, mine: Mine, paths: tuple[WorkspacePath, ...], chance: random.Random
) -> None:
    asked = request(past, which, mine, paths)
    plan = past.plan(asked)
    shuffled = list(past.tree.things.items())
    chance.shuffle(shuffled)
    past.tree = Tree(dict(shuffled))
    past.lines = dict(reversed(past.lines.items()))
    again = past.plan(replace(asked, paths=tuple(reversed(asked.paths))))
    assert replace(again, paths=plan.paths) == plan
    assert again.digest == plan.digest


@given(pasts(), st.integers(0, 9), mines, st.data())
def test_every_changed_input_of_what_was_confirmed_changes_the_digest(
    past: Past, which: int, mine: Mine, data: st.DataObject
) -> None:
    plan = past.plan(request(past, which, mine))
    others = [
        replace(plan, chat=B),
        replace(plan, kind=RestoreKind.UNDO_FILE),
        replace(plan, point=parse_point("after:1")),
        replace(plan, scope=Scope.CHAT),
        replace(plan, mine=Mine(restore=frozenset({WorkspacePath("other")}))),
        replace(plan, mine=Mine(restore_all=not plan.mine.restore_all, restore=plan.mine.restore)),
        replace(plan, paths=(WorkspacePath("other"),)),
        replace(plan, log_lines=plan.log_lines + 1),
        replace(plan, keep_messages=plan.keep_messages + 1),
        replace(plan, total_messages=plan.total_messages + 1),
        replace(plan, cut_turns=(1, 2)),
        replace(plan, brings_back=1),
        replace(plan, takes_back=1),
    ]
    if plan.files:
        at = data.draw(st.integers(0, len(plan.files) - 1))
        file = plan.files[at]
        unlike = FileState(State.PRESENT, hash_of(b"unlike"), 0o600)
        for other in (
            replace(file, path=WorkspacePath("other")),
            replace(file, action=Action.MODE),
            replace(file, current=unlike),
            replace(file, wanted=unlike),
            replace(file, reason="other"),
            replace(file, current=replace(file.current, mode=0o111)) if file.current.has_content else None,
        ):
            if other is not None and other != file:
                others.append(replace(plan, files=(*plan.files[:at], other, *plan.files[at + 1 :])))
        others.append(replace(plan, files=plan.files[:-1]))
    digests = [planning.with_digest(other).digest for other in others]
    assert plan.digest not in digests
    assert len(set(digests)) == len(digests)


@given(pasts(), st.integers(0, 9), mines, some_paths)
def test_nothing_is_deleted_for_want_of_a_record(past: Past, which: int, mine: Mine, paths: tuple[WorkspacePath, ...]) -> None:
    """A deletion needs a line that says: it was not there (oc#3148, W1)."""
    asked = request(past, which, mine, paths)
    plan = past.plan(asked)
    view, marks = past.view()
    position = marks.position(plan.point)
    for file in plan.files:
        if file.action is Action.DELETE or file.wanted.state is State.FOLDER:
            found = view.folders if FOLDER in (file.current, file.wanted) else view.by_path
            assert any(seen.position >= position for seen in found[file.path]) or file.path in paths
    assert plan.deletes == sum(file.action is Action.DELETE for file in plan.files)


@given(pasts(), st.integers(0, 9), mines)
def test_what_is_not_sound_in_the_store_is_never_wanted(past: Past, which: int, mine: Mine) -> None:
    asked = request(past, which, mine)
    wanted = {file.wanted.sha for file in past.plan(asked).files if file.wanted.sha is not None}
    plan = past.plan(asked, unsound=frozenset(wanted))
    assert not [file for file in plan.acts if file.wanted.has_content]
    past.carry_out(plan)


@given(pasts(), st.integers(0, 9))
def test_what_this_chat_did_not_leave_is_kept_unless_asked_for(past: Past, which: int) -> None:
    plan = past.plan(request(past, which, KEEP_MINE))
    assert all(file.changed_by is None for file in plan.acts)
    asked = past.plan(request(past, which, ALL_MINE))
    assert {file.path for file in plan.acts} <= {file.path for file in asked.acts}
    for file in plan.files:
        assert not file.may_be_yours or file.changed_by == "unknown"


# -- names that are one file, on values --------------------------------------------------------------------------


def alias_plan(*, listed: str | None, wanted: Mapping[str, FileState], links: int = 1) -> dict[str, str]:
    past = Past()
    here = state_of(b"here")
    past.write(A, Line(type="turn_start", turn=1))
    for path, state in wanted.items():
        past.write(A, log.observed(WorkspacePath(path), state, here, author=Author.AGENT, how=How.SCAN, turn=1))
    view, marks = past.view()
    asked = PlanRequest(RestoreKind.RESTORE, parse_point("before:1"), Scope.FILES)
    spelled = None if listed is None else WorkspacePath(listed)
    fact = DiskFact(state=here, links=links, identity=(1, 2), spelled=spelled)
    plan = planning.make(
        view,
        marks,
        asked,
        disk={WorkspacePath(path): fact for path in wanted},
        unsound=(),
        shape=TranscriptShape(messages=0, prompt_index={}, prompts={}),
        branch=None,
        log_lines=1,
    )
    return {file.path: f"{file.action.value}:{file.reason}" for file in plan.files}


def test_two_names_of_one_file_are_told_by_device_and_inode_not_by_text() -> None:
    old = state_of(b"old")
    assert alias_plan(listed=None, wanted={"A": old, "a": ABSENT}) == {"A": "write:", "a": "leave:same-file"}
    assert alias_plan(listed=None, wanted={"one": old, "other": ABSENT}) == {"one": "write:", "other": "leave:same-file"}
    assert alias_plan(listed=None, wanted={"A": old, "a": ABSENT}, links=2) == {"A": "write:", "a": "delete:"}
    assert alias_plan(listed=None, wanted={"A": ABSENT, "a": ABSENT}) == {"A": "delete:", "a": "delete:"}
    assert alias_plan(listed="A", wanted={"A": old, "a": ABSENT}) == {"A": "write:", "a": "leave:same-file"}
    assert alias_plan(listed="a", wanted={"A": old, "a": ABSENT}) == {"A": "create:", "a": "delete:"}
    assert alias_plan(listed="d/a", wanted={"D/a": old, "d/a": ABSENT}) == {"D/a": "write:", "d/a": "leave:same-file"}
    assert alias_plan(listed="a", wanted={"A": old, "a": state_of(b"third")}) == {"A": "leave:same-file", "a": "write:"}
    assert alias_plan(listed="a", wanted={"A": old, "a": old}) == {"A": "leave:same", "a": "write:"}


# -- with a real disk --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("old", "new"), [("file", "other"), ("link", "deep"), ("deep", "file"), ("empty", "folder")])
@pytest.mark.parametrize("undo", [False, True])
def test_every_content_about_to_go_is_in_the_store_before_the_plan_is_written(
    world: World, old: str, new: str, undo: bool
) -> None:
    command_turn(world, with_beside(SHAPES[old]), with_beside(SHAPES[new]))
    for path in BESIDE:
        assert (world.root / path).exists()
    if undo:
        world.restore("before:1")
    plan = world.plan(None, kind=RestoreKind.UNDO) if undo else world.plan("before:1")
    going = [file for file in plan.acts if file.current.has_content]
    for file in going:
        for blob in world.vault_folder.rglob((file.current.sha or "")[2:]):
            blob.unlink()
    checked: list[str] = []

    def check(name: str) -> None:
        if name == "restore.plan":
            for file in going:
                assert file.current.sha is not None
                world.vault.blobs.check(file.current.sha)
                checked.append(file.path)

    with faults.armed(check):
        world.do(plan)
    assert checked == [file.path for file in going]
