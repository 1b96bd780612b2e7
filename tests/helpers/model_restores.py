"""The rules of docs/storage-format.md 4 and of branches over the same plain data: plans, entries, undo and redo.

No product code.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace

from tests.helpers.model import ABSENT, EVERYBODY, UNKNOWN, Line, Model, Planned, St, known, same

NEW_MODE = 0o644
"""The mode of a file that is made where none was recorded."""


@dataclass(frozen=True)
class Step:
    """One path of a plan. ``changed_by``: empty, ``user``, ``unknown``, or ``chat:`` and a chat. ``owner``: as on lines."""

    path: str
    action: str
    wanted: St
    expected: St
    reason: str = ""
    changed_by: str = ""
    owner: str = ""


@dataclass
class Plan:
    """What a restore would do. ``keep``: how many messages stay, -1 for all; ``back_from``: the branch that comes back."""

    chat: str
    kind: str
    point: str
    steps: dict[str, Step] = field(default_factory=dict)
    takes_back: int = 0
    keep: int = -1
    back_from: str = ""

    @property
    def acts(self) -> dict[str, Step]:
        return {path: step for path, step in self.steps.items() if step.action != "leave"}

    @property
    def works(self) -> bool:
        return bool(self.acts or self.keep >= 0 or self.back_from)


@dataclass
class Standing:
    """Entries that can be undone, and undos that can be redone, oldest first."""

    in_force: list[int] = field(default_factory=list)
    redoable: list[int] = field(default_factory=list)


class Vault(Model):
    """A model that can restore. ``looks``: its turns begin and end with looks, so the points between them are exact."""

    looks = True

    # -- entries -------------------------------------------------------------------------------------------------

    def entry(self, chat: str, number: int) -> Line:
        return next(line for line in self.own_lines(chat) if line.kind == "restore_plan" and line.entry == number)

    def entry_lines(self, chat: str, number: int) -> list[Line]:
        return [line for line in self.own_lines(chat) if line.observes and line.entry == number]

    def standing(self, chat: str) -> Standing:
        found = Standing()
        for line in self.lines:
            if line.chat != chat:
                continue
            if line.kind == "turn_start":
                found.redoable.clear()
            if line.kind != "restore_plan" or line.plan is None:
                continue
            if line.plan.kind == "undo":
                found.in_force.remove(line.plan.takes_back)
                found.redoable.append(line.entry)
            elif line.plan.kind == "redo":
                found.redoable.remove(line.plan.takes_back)
                undone = self.entry(chat, line.plan.takes_back).plan
                assert undone is not None
                found.in_force.append(undone.takes_back)
            else:
                found.redoable.clear()
                found.in_force.append(line.entry)
        return found

    # -- plans ---------------------------------------------------------------------------------------------------

    def plan_restore(
        self,
        chat: str,
        point: str,
        *,
        kind: str = "restore",
        scope: str = "files",
        mine: bool = False,
        paths: Collection[str] = (),
    ) -> Plan:
        view = self.view(chat)
        position = self.points(chat)[point]
        covered = set(paths) or {line.path for line in view[position:] if self.in_plan(line)}
        plan = Plan(chat, kind, point)
        if scope != "chat":
            for path in sorted(covered):
                who = self.changed_by(chat, path)
                # What only a look saw is not brought back: it is a cache.
                wanted = self.content(chat, point, path) if path in self.named() else UNKNOWN
                plan.steps[path] = self._step(path, wanted, who, "changed-since", mine=mine)
        if scope != "files":
            plan.keep = self._keep(chat, point)
        return plan

    def plan_take_back(self, chat: str, kind: str, *, mine: bool = False) -> Plan | None:
        """An undo or a redo; None if there is nothing to take back."""
        standing = self.standing(chat)
        numbers = sorted(standing.in_force) if kind == "undo" else standing.redoable
        if not numbers:
            return None
        number = numbers[-1]
        entry = self.entry(chat, number)
        plan = Plan(chat, kind, f"entry:{number}", takes_back=number)
        view = self.view(chat)
        begins = self.points(chat)[f"entry:{number}"]
        for line in self.entry_lines(chat, number):
            left = same(self.at_disk(line.path), line.after)
            who = "" if left else self.changed_by(chat, line.path) or "unknown"
            earlier = [one for one in view[:begins] if one.observes and one.path == line.path]
            owner = self.word(earlier[-1], chat) if earlier else "unknown"
            step = self._step(line.path, line.before, who, "changed-later", mine=mine)
            plan.steps[line.path] = replace(step, owner="unknown" if earlier and earlier[-1].computed else owner)
        self._plan_transcript(plan, entry)
        return plan

    def _step(self, path: str, wanted: St, who: str, reason: str, *, mine: bool) -> Step:
        disk = self.at_disk(path)
        if same(disk, wanted):
            return Step(path, "leave", wanted, disk, "same")
        if not known(wanted):
            return Step(path, "leave", wanted, disk, "unknown" if path in self.named() else "not-this-chat", who)
        if who and not mine:
            return Step(path, "leave", wanted, disk, reason, who)
        if wanted == ABSENT:
            action = "delete"
        elif disk == ABSENT:
            action = "create"
        else:
            action = "mode" if disk.data == wanted.data else "write"
        return Step(path, action, wanted, disk, "", who)

    # -- the transcript ------------------------------------------------------------------------------------------

    def _keep(self, chat: str, point: str) -> int:
        """Where the transcript is cut; -1 if it is not."""
        messages = self.transcripts.get(chat, [])
        turns = [turn for turn in messages if turn]
        after: int | None = None
        if point == "start":
            wanted = turns[:1]
        elif point.startswith("before:"):
            wanted = [turn for turn in turns if turn == int(point[7:])]
        elif point.startswith("after:"):
            after = int(point[6:])
            wanted = [turn for turn in turns if turn > after]
        elif point.startswith("entry:"):
            view, position = self.view(chat), self.points(chat)[point]
            begun = [line.turn for line in view[:position] if line.own and line.kind == "turn_start"]
            wanted = [turn for turn in turns if turn > max(begun, default=0)]
        else:
            wanted = [turn for turn in turns if turn == int(point.split(".")[0])]
        return messages.index(min(wanted)) if wanted else -1

    def _plan_transcript(self, plan: Plan, entry: Line) -> None:
        chat, was = plan.chat, entry.plan
        assert was is not None
        messages = self.transcripts.get(chat, [])
        if plan.kind == "redo":
            first = self.entry(chat, was.takes_back).plan
            if was.back_from and first is not None and 0 <= first.keep < len(messages):
                plan.keep = first.keep
        else:
            branch = self._aside(chat, entry)
            followed = any(line.own and line.kind == "turn_start" and line.seq > entry.seq for line in self.view(chat))
            aside = self.transcripts.get(branch, [])
            went_on = max(aside, default=0) > was.last
            if len(messages) == was.keep and not followed and not went_on and len(aside) > len(messages):
                plan.back_from = branch

    def _aside(self, chat: str, entry: Line) -> str:
        """The branch that keeps what an entry cut; after a redo, what that cut again."""
        branch = ""
        for line in self.lines:
            if line.chat == chat and line.plan is not None:
                undone = self.entry(chat, line.plan.takes_back).plan if line.plan.kind == "redo" else None
                if line == entry or (undone is not None and undone.takes_back == entry.entry):
                    branch = line.plan.branch
        return branch

    # -- carrying out --------------------------------------------------------------------------------------------

    def carry_out(self, plan: Plan, branch: str = "") -> int:
        """Do it; the number of the entry, 0 if there was nothing to do. ``branch``: the id for what is cut."""
        if not plan.works:
            return 0
        chat = plan.chat
        self.look(chat, self.named() if self.seen is None else None, ending=EVERYBODY)
        # From here on a crash changes nothing: the plan is carried out to its end.
        hook, self.on_step = self.on_step, None
        number, turn = self.last_entry(chat) + 1, self.last_turn(chat)
        cut_last = max(self.transcripts.get(chat, []), default=0)
        body = Planned(plan.kind, plan.takes_back, branch if plan.keep >= 0 else "", plan.keep, plan.back_from, cut_last)
        cut = self.count
        exact = [f"entry:{number}"] if self.looks else []
        self.add(Line(chat, "restore_plan", turn, entry=number, plan=body), *exact)
        for path, step in plan.acts.items():
            self.put(path, step.wanted._replace(mode=self._mode(step)) if step.wanted != ABSENT else ABSENT)
        if body.branch:
            self._cut(chat, body, cut)
        if body.back_from:
            self.transcripts[chat] = self.transcripts.pop(body.back_from)
            if not any(line.chat == body.back_from and line.kind != "branch_start" for line in self.lines):
                self.drop(body.back_from)
        for path, step in plan.acts.items():
            line = Line(chat, "observed", turn, path, step.expected, self.at_disk(path), "restore", "restore", entry=number)
            self.add(replace(line, owner=step.owner))
        self.add(Line(chat, "restore_done", turn, entry=number))
        self.on_step = hook
        return number

    @staticmethod
    def _mode(step: Step) -> int | None:
        if step.wanted.mode is not None:
            return step.wanted.mode
        return NEW_MODE if step.expected.mode is None else step.expected.mode

    def _cut(self, chat: str, body: Planned, cut: int) -> None:
        self.transcripts[body.branch] = list(self.transcripts[chat])
        del self.transcripts[chat][body.keep :]
        self.began[body.branch] = self.began[chat]
        self.add(Line(body.branch, "branch_start", parent=chat, cut=cut))

    # -- chats ---------------------------------------------------------------------------------------------------

    def begin_branch(self, chat: str, turn: int, branch: str) -> None:
        """A new chat that shares everything before a turn."""
        start = next(line for line in self.own_lines(chat) if line.kind == "turn_start" and line.turn == turn)
        messages = self.transcripts[chat]
        self.transcripts[branch] = messages[: messages.index(turn)]
        self.began[branch] = self.began[chat]
        self.add(Line(branch, "branch_start", parent=start.chat, cut=start.seq - 1))

    def retire(self, chat: str) -> None:
        """A chat is deleted; its lines stay as long as a chat is there that began before the last of them."""
        self.close(chat)
        self.transcripts.pop(chat, None)
        self.retired.add(chat)
        there = {line.chat for line in self.lines} - self.retired
        while going := [gone for gone in sorted(self.retired) if self._may_go(gone, there)]:
            self._remember(going[0])
            self.drop(going[0])
            self.retired.discard(going[0])

    def _may_go(self, gone: str, there: Collection[str]) -> bool:
        """Whether nobody needs a log, and what other logs say of its paths is newer."""
        last = max((line.seq for line in self.lines if line.chat == gone), default=0)
        newest = {path: self.last_line(path) for path in self.named()}
        mine = {path for path, line in newest.items() if line is not None and line.chat == gone}
        older = any(line.path in mine and line.observes and line.chat != gone for line in self.lines)
        return not older and not any(self.began[other] < last for other in there)

    def _remember(self, gone: str) -> None:
        """What only a log that goes says of a path becomes what the last look saw there."""
        others = {line.path for line in self.lines if line.observes and line.chat != gone}
        for path in self.named() - others:
            if self.seen is not None:
                self.seen[path] = self.last_known(path)
            for states in self.truth.values() if self.seen is None else ():
                states.pop(path, None)

    # -- what must hold ------------------------------------------------------------------------------------------

    def lost(self) -> list[tuple[str, St]]:
        """Every content that a restore or undo replaced and that no point of any chat brings back: there must be none."""
        found: list[tuple[str, St]] = []
        for line in self.lines:
            if line.author == "restore" and line.observes and line.before.kind == "file":
                kept = self.content(line.chat, f"entry:{line.entry}", line.path)
                if not same(kept, line.before):
                    found.append((line.path, line.before))
        return found

    def wrong(self, chats: Iterable[str]) -> list[tuple[str, str, str, St, St]]:
        """Every content at an exact point that is not what was on disk there: chat, point, path, said, true."""
        found: list[tuple[str, str, str, St, St]] = []
        loose = {line.path for line in self.lines if line.after.kind == "file" and line.after.mode is None}
        for chat in chats:
            for point in self.points(chat):
                truth = self.truth.get((chat, point))
                for path in sorted(truth or ()):
                    said, true = self.content(chat, point, path), (truth or {}).get(path, UNKNOWN)
                    if path in loose:  # an announced write that said no mode: nothing tells of a change of the mode alone
                        true = true._replace(mode=None)
                    if known(true) and not same(said, true):
                        found.append((chat, point, path, said, true))
        return found
