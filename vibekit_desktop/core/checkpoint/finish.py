"""Go on from a ``restore_plan`` line to its end; safe to begin again at any time.

The same steps serve a restore that has just written its plan and one that a crash interrupted. What is on disk decides, path
by path (docs/storage-format.md 4): wanted already, as expected, or neither. What is neither is somebody's: its bytes are
stored, it stays.

| crash after | what is left | what beginning again does |
| --- | --- | --- |
| some renames | each path whole, old or new; nothing where a folder gives way to a file or the other way round | the rest |
| transcript put aside, or cut | both transcripts, or the short one and the branch | the same steps, harmless twice |
| some closing lines | lines without the close | writes what is missing |
| the close | the list of stages, and no stage | `stages.sweep` |

Blocking; under the vault's lock.
"""

from collections.abc import Sequence
from contextlib import suppress

from vibekit_desktop.core.checkpoint import facts, log, look, ownership, stages, tidy
from vibekit_desktop.core.checkpoint.blobs import is_sound
from vibekit_desktop.core.checkpoint.decide import depth, is_new_folder
from vibekit_desktop.core.checkpoint.ground import Ground
from vibekit_desktop.core.checkpoint.history import agree
from vibekit_desktop.core.checkpoint.log import LeftLine, Line, PlanBody, PlanFile
from vibekit_desktop.core.checkpoint.stages import Progress
from vibekit_desktop.core.disk import faults
from vibekit_desktop.core.disk.workspace import parents_of
from vibekit_desktop.core.types.checkpoints import (
    ABSENT,
    Action,
    Author,
    FileState,
    How,
    LeaveReason,
    LeftFile,
    RestoreKind,
    RestoreReport,
    RestoreStep,
    State,
    parse_point,
)
from vibekit_desktop.core.types.errors import (
    CannotWrite,
    EnvironmentFault,
    Malformed,
    PathEscape,
    PointNotFound,
    RestoreUnfinished,
)
from vibekit_desktop.core.types.ids import BlobHash, ChatId, WorkspacePath, parse_chat_id


def expected_of(file: PlanFile) -> FileState:
    """What the plan expects on disk."""
    return log.state_of(file.expected_state, file.expected_sha, file.expected_mode)


def wanted_of(file: PlanFile) -> FileState:
    """What the plan wants there."""
    return log.state_of(file.wanted_state, file.wanted_sha, file.wanted_mode)


def _is_folder_only(expected: FileState, wanted: FileState) -> bool:
    """Whether a folder comes or goes, and no file in its place."""
    states = (expected.state, wanted.state)
    return State.FOLDER in states and all(state in (State.FOLDER, State.ABSENT) for state in states)


def _is_done(disk: FileState, expected: FileState, wanted: FileState) -> bool:
    """Whether the disk is as wanted. A file that was to go is gone where a folder is now."""
    gone = wanted.state is State.ABSENT and disk.state is State.FOLDER and expected.state is not State.FOLDER
    return gone or agree(disk, wanted)


def _may_change(disk: FileState, expected: FileState, wanted: FileState) -> bool:
    """Whether the disk is as the plan expects, or between a folder and a file in its place, when nothing is there."""
    between = disk.state is State.ABSENT and State.FOLDER in (expected.state, wanted.state)
    return between or agree(disk, expected)


def _step(file: PlanFile) -> tuple[int, int, WorkspacePath]:
    """The order of a plan: files go, from the bottom up; then folders likewise; then the rest comes, from the top down. A path
    that comes where another one went finds it gone."""
    path, expected, wanted = log.path_of(file), expected_of(file), wanted_of(file)
    if expected.state is State.FOLDER:
        return 1, -depth(path), path
    return (0, -depth(path), path) if wanted.state is State.ABSENT else (2, depth(path), path)


class Finish:
    """One plan on its way to its end. Invariant: a path is renamed or removed only while it is what the plan expects."""

    def __init__(self, ground: Ground, chat: ChatId, planned: Line, progress: Progress | None = None) -> None:
        if planned.plan is None:
            raise RestoreUnfinished(chat, "no-plan")
        self._ground = ground
        self._chat = chat
        self._entry = planned.entry
        self._turn = planned.turn
        self._body: PlanBody = planned.plan
        self._files = sorted((file for file in self._body.files if file.action != Action.LEAVE), key=_step)
        self._links = {log.path_of(file) for file in self._files if wanted_of(file).state is State.LINK}
        self._paths = [log.path_of(file) for file in self._files]
        self._alike = facts.alike(log.path_of(file) for file in self._body.files)
        self._progress = progress
        self._new: list[Line] = []
        written = [line for line in ground.vault.lines(chat) if line.entry == planned.entry]
        self._folders = tidy.Folders(ground, written, self._new, entry=planned.entry, turn=planned.turn)
        self._observed = {log.path_of(line) for line in written if log.observes(line)}
        self._conflicts = {log.path_of(line) for line in written if line.type == "restore_conflict"}
        self._left: dict[WorkspacePath, LeaveReason] = {}
        self._restored: list[WorkspacePath] = []
        self._leaves_the_chat = False
        self._dropped = True
        """Whether every stage that is not in its place is gone; else the list of stages stays, for the next change."""

    def run(self, *, next_prompt: str = "") -> RestoreReport:
        """Do what is still to be done and close the plan. `RestoreUnfinished` if a content that is needed is damaged: then
        nothing more was changed and the plan stays open."""
        open_files = [file for file in self._files if not self._is_written(file)]
        self._require_contents(open_files)
        self._restored = [log.path_of(file) for file in self._files if self._is_written(file)]
        for count, file in enumerate(open_files, 1):
            self._take(file)
            if self._progress is not None:
                self._progress(RestoreStep.PLACE, count, len(open_files))
        for parent_of in sorted({path.rpartition("/")[0]: path for path in self._restored}.values()):
            self._ground.folder().sync_parent(parent_of)
        self._say_new_folders()
        self._tidy_folders()
        self._leaves_the_chat = self._no_file_was_restored()
        if not self._leaves_the_chat:
            self._transcript()
        closing = self._closing()
        faults.point("restore.close")
        self._ground.vault.append(self._chat, [*self._new, closing])
        faults.point("restore.closed")
        if self._dropped:
            with suppress(CannotWrite):  # the restore is done and closed; the next change would clear the list away
                stages.forget(self._ground)
        return self._report(closing, next_prompt)

    # -- the paths -----------------------------------------------------------------------------------------------

    def _is_written(self, file: PlanFile) -> bool:
        """Whether an earlier run did a path and said so in every line that is due."""
        path, expected, wanted = log.path_of(file), expected_of(file), wanted_of(file)
        if not _is_folder_only(expected, wanted) and path not in self._observed:
            return False
        turns = State.FOLDER in (expected.state, wanted.state)
        return not turns or self._folders.said(path) == (State.FOLDER if wanted.state is State.FOLDER else State.ABSENT)

    def _look(self, path: WorkspacePath) -> FileState:
        """What is at a path of the plan. Below a link that the plan puts there is nothing of this workspace."""
        disk = facts.look(self._ground.folder(), path, self._alike)
        behind = disk.reason == LeaveReason.LINK_ON_THE_WAY and not self._links.isdisjoint(parents_of(path))
        return ABSENT if behind else disk

    def _require_contents(self, files: Sequence[PlanFile]) -> None:
        for file in files:
            path, expected, wanted = log.path_of(file), expected_of(file), wanted_of(file)
            if wanted.sha is None or file.action == Action.MODE:
                continue
            if agree(self._ground.folder().look_stage(path, file.stage), wanted):
                continue
            disk = self._look(path)
            behind = expected.state is State.ABSENT and disk.reason == LeaveReason.LINK_ON_THE_WAY
            needed = behind or (_may_change(disk, expected, wanted) and not _is_done(disk, expected, wanted))
            if needed and not is_sound(self._ground.vault.blobs, wanted.sha):
                raise RestoreUnfinished(self._chat, "damaged")

    def _take(self, file: PlanFile) -> None:
        """One path, by the table."""
        path, expected, wanted = log.path_of(file), expected_of(file), wanted_of(file)
        faults.point("restore.path")
        disk = self._look(path)
        reason: LeaveReason | None = None
        if not _is_done(disk, expected, wanted):
            if _may_change(disk, expected, wanted):
                reason = self._change(file, path, disk, wanted)
            else:
                reason = self._keep_theirs(path, disk)
        if file.stage:
            self._drop(path, file.stage)
        if reason is not None:
            self._left[path] = reason
            return
        self._restored.append(path)
        self._say(file, path, expected, wanted)

    def _say(self, file: PlanFile, path: WorkspacePath, expected: FileState, wanted: FileState) -> None:
        """The lines of one restored path."""
        if expected.state is State.FOLDER:
            self._folders.say(path, State.ABSENT, owner=file.owner)
        if not _is_folder_only(expected, wanted) and path not in self._observed:
            owner, other = ownership.owner_keys(file.owner)
            self._new.append(
                log.observed(
                    path,
                    ABSENT if expected.state is State.FOLDER else expected,
                    ABSENT if wanted.state is State.FOLDER else wanted,
                    author=Author.RESTORE,
                    how=How.RESTORE,
                    turn=self._turn,
                    entry=self._entry,
                    owner=owner,
                    other_chat=other,
                )
            )
            self._observed.add(path)
        if wanted.state is State.FOLDER:
            self._folders.say(path, State.FOLDER, owner=file.owner)

    def _change(self, file: PlanFile, path: WorkspacePath, disk: FileState, wanted: FileState) -> LeaveReason | None:
        workspace = self._ground.folder()
        try:
            if disk.state is State.FOLDER:
                reason = self._folders.clear(path, self._paths, owner=file.owner)
                if reason is not None:
                    return reason
            if wanted.state is State.FOLDER:
                self._make(file, path, disk)
            elif wanted.state is State.ABSENT:
                if disk.state is not State.FOLDER:
                    workspace.unlink(path)
            elif wanted.sha is None:
                return LeaveReason.UNKNOWN
            elif file.action == Action.MODE and wanted.mode is not None:
                workspace.set_mode(path, wanted.mode)
            else:
                if not agree(workspace.look_stage(path, file.stage), wanted):
                    self._stage_again(file, path, wanted, wanted.sha)
                workspace.put_in_place(path, file.stage)
        except PathEscape:
            return LeaveReason.LINK_ON_THE_WAY
        except CannotWrite:
            above = (workspace.look(folder).state for folder in parents_of(path))
            on_the_way = any(state not in (State.FOLDER, State.ABSENT) for state in above)
            return LeaveReason.FILE_ON_THE_WAY if on_the_way else LeaveReason.CANNOT_WRITE
        return None

    def _make(self, file: PlanFile, path: WorkspacePath, disk: FileState) -> None:
        """A folder, perhaps in the place of a file."""
        workspace = self._ground.folder()
        if disk.has_content:
            workspace.unlink(path)
            # Said at once: if the folder cannot be made, the file is gone all the same, and undo brings it back.
            self._say(file, path, disk, ABSENT)
        self._folders.make(parents_of(path))
        self._folders.make([path], owner=file.owner)

    def _stage_again(self, file: PlanFile, path: WorkspacePath, wanted: FileState, sha: BlobHash) -> None:
        self._folders.make(parents_of(path))
        self._ground.folder().drop_stage(path, file.stage)
        stages.stage_one(self._ground, path, file.stage, wanted.state, sha, wanted.mode)

    def _keep_theirs(self, path: WorkspacePath, disk: FileState) -> LeaveReason:
        """Neither expected nor wanted: somebody changed it. Never replaced; what they wrote is stored as well."""
        if disk.state is State.UNKNOWN:
            return LeaveReason(disk.reason) if disk.reason in set(LeaveReason) else LeaveReason.CANNOT_READ
        stored = disk
        if disk.has_content:
            try:
                stored = look.store_content(self._ground, path, disk)
            except EnvironmentFault:
                stored = FileState(State.NOT_CAPTURED, disk.sha, disk.mode, LeaveReason.CANNOT_STORE.value)
        if path not in self._conflicts:
            text, exact = log.path_keys(path)
            state, sha, mode, _ = log.state_keys(stored)
            self._new.append(
                Line(
                    type="restore_conflict",
                    path=text,
                    path_b64=exact,
                    after_state=state,
                    after_sha=sha,
                    after_mode=mode,
                    entry=self._entry,
                    turn=self._turn,
                    reason=LeaveReason.CHANGED_JUST_NOW.value,
                )
            )
        return LeaveReason.CHANGED_JUST_NOW

    def _drop(self, path: WorkspacePath, stage: str) -> None:
        try:
            self._ground.folder().drop_stage(path, stage)
        except CannotWrite:
            # The path itself is as the report says.
            self._dropped = False

    def _say_new_folders(self) -> None:
        """The folders that came below those of the plan's own making; a run before this one may have made them."""
        new = {log.path_of(file) for file in self._files if is_new_folder(expected_of(file), wanted_of(file))}
        above = {folder for path in self._restored for folder in parents_of(path)}
        for folder in sorted(above):
            mine = folder in new or not new.isdisjoint(parents_of(folder))
            if mine and self._ground.folder().look(folder).state is State.FOLDER:
                self._folders.say(folder, State.FOLDER)

    def _tidy_folders(self) -> None:
        view, marks = self._ground.vault.memory.view(self._chat)
        try:
            position = marks.position(parse_point(self._body.point))
        except (Malformed, PointNotFound):
            return  # nobody knows which folders were there
        left = (one for one in self._body.files if one.action == Action.LEAVE and one.reason != LeaveReason.SAME)
        self._folders.tidy(view, position, self._paths, {log.path_of(file) for file in left} | self._left.keys())

    def _no_file_was_restored(self) -> bool:
        """Files and chat go back together or not at all: whether there were files to restore and not one could be. Not so once
        the branch is there: then a run before this one went further."""
        if not self._files or self._restored:
            return False
        branch = self._body.branch
        return not (branch and self._ground.transcripts.shape(parse_chat_id(branch)).messages)

    # -- the transcript ------------------------------------------------------------------------------------------

    def _transcript(self) -> None:
        body = self._body
        if body.branch:
            branch = parse_chat_id(body.branch)
            faults.point("transcript.keep")
            self._ground.transcripts.keep_as_branch(self._chat, branch, keep=body.keep, first_turn=body.cut_first)
            if not self._ground.vault.lines(branch):
                self._ground.vault.append(branch, [self._branch_start()])
            faults.point("transcript.cut")
            self._ground.transcripts.cut(
                self._chat, keep=body.keep, branch=branch, first_turn=body.cut_first, last_turn=body.cut_last
            )
        if body.back_from:
            branch = parse_chat_id(body.back_from)
            faults.point("transcript.back")
            self._ground.transcripts.bring_back(self._chat, branch)
            self._drop_branch_log(branch)

    def _branch_start(self) -> Line:
        """The branch shares every line of this log before the plan and the folders that were made for it."""
        contents = self._ground.vault.contents(self._chat)
        at = next(
            index for index, line in enumerate(contents.lines) if line.type == "restore_plan" and line.entry == self._entry
        )
        while at and contents.lines[at - 1].type == "dir" and contents.lines[at - 1].entry == self._entry:
            at -= 1
        seq = max((line.seq for line in contents.lines[:at]), default=0)
        number = contents.numbers[at - 1] if at else 0
        return Line(type="branch_start", parent=self._chat, turn=self._body.cut_last, cut_seq=seq, cut_lines=number)

    def _drop_branch_log(self, branch: ChatId) -> None:
        """A branch whose turns came back, and which nobody went on from, leaves no log."""
        if self._ground.transcripts.shape(branch).messages:
            return
        logs = self._ground.vault.all_logs()
        if any(line.parent == branch for found in logs.values() for line in found.lines[:1]):
            return
        found = logs.get(branch)
        if found is not None and not found.damaged and all(line.type == "branch_start" for line in found.lines):
            self._ground.vault.remove_log(branch)

    # -- the end -------------------------------------------------------------------------------------------------

    def _closing(self) -> Line:
        left = [
            LeftLine(path=file.path, path_b64=file.path_b64, reason=file.reason, failed=file.failed)
            for file in self._body.files
            if file.action == Action.LEAVE
        ]
        for path, reason in sorted(self._left.items()):
            text, exact = log.path_keys(path)
            left.append(LeftLine(path=text, path_b64=exact, reason=reason.value, failed=True))
        partial = any(one.failed for one in left)
        cut = self._body.branch and not self._leaves_the_chat
        keep = self._body.keep if cut else self._ground.transcripts.shape(self._chat).messages
        return Line(
            type="restore_partial" if partial else "restore_done",
            entry=self._entry,
            turn=self._turn,
            message_count=keep,
            left=tuple(left),
            reason=log.NO_FILE if self._leaves_the_chat else "",
        )

    def _report(self, closing: Line, next_prompt: str) -> RestoreReport:
        done = {log.path_of(file): file for file in self._files}
        verified = all(_is_done(self._look(path), expected_of(done[path]), wanted_of(done[path])) for path in self._restored)
        left = [(LeftFile(log.path_of(one), one.reason), one.failed) for one in closing.left]
        return RestoreReport(
            chat=self._chat,
            kind=RestoreKind(self._body.kind),
            entry=self._entry,
            restored=tuple(sorted(self._restored)),
            left=tuple(one for one, _ in left),
            failed=tuple(one for one, failed in left if failed),
            verified=verified,
            branch_chat_id=parse_chat_id(self._body.branch) if self._body.branch and not self._leaves_the_chat else None,
            next_prompt="" if self._leaves_the_chat else next_prompt,
        )
