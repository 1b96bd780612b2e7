"""Go on from a ``restore_plan`` line to its end; safe to begin again at any time.

The same steps serve a restore that has just written its plan and one that a crash interrupted. What is on disk decides, path
by path (reliability.md 3.1): wanted already, as expected, or neither. What is neither is somebody's: its bytes are stored, it
stays.

| crash after | what is left | what beginning again does |
| --- | --- | --- |
| some renames | each path whole, old or new | the rest |
| transcript put aside, or cut | both transcripts, or the short one and the branch | the same steps, harmless twice |
| some closing lines | lines without the close | writes what is missing |
| the close | the list of stages, and no stage | `stages.sweep` |

Blocking; under the vault's lock.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress

from vibekit_desktop.core.checkpoint import log, look, ownership, stages
from vibekit_desktop.core.checkpoint.blobs import is_sound
from vibekit_desktop.core.checkpoint.ground import Ground
from vibekit_desktop.core.checkpoint.history import agree
from vibekit_desktop.core.checkpoint.log import LeftLine, Line, PlanBody, PlanFile
from vibekit_desktop.core.disk import faults
from vibekit_desktop.core.disk.workspace import parents_of
from vibekit_desktop.core.types.checkpoints import (
    Action,
    Author,
    FileState,
    How,
    LeaveReason,
    LeftFile,
    RestoreKind,
    RestoreReport,
    State,
)
from vibekit_desktop.core.types.errors import CannotWrite, EnvironmentFault, PathEscape, RestoreUnfinished
from vibekit_desktop.core.types.ids import BlobHash, ChatId, WorkspacePath, parse_chat_id

Progress = Callable[[int, int], None]


def folder_line(path: WorkspacePath, state: str, *, entry: int, turn: int) -> Line:
    """A ``dir`` line of a restore."""
    text, exact = log.path_keys(path)
    return Line(
        type="dir",
        path=text,
        path_b64=exact,
        state=state,
        author=Author.RESTORE.value,
        how=How.RESTORE.value,
        entry=entry,
        turn=turn,
    )


def expected_of(file: PlanFile) -> FileState:
    """What the plan expects on disk."""
    return log.state_of(file.expected_state, file.expected_sha, file.expected_mode)


def wanted_of(file: PlanFile) -> FileState:
    """What the plan wants there."""
    return log.state_of(file.wanted_state, file.wanted_sha, file.wanted_mode)


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
        self._files = [file for file in self._body.files if file.action != Action.LEAVE]
        self._progress = progress
        self._new: list[Line] = []
        self._left: dict[WorkspacePath, LeaveReason] = {}
        self._restored: list[WorkspacePath] = []
        self._leaves_the_chat = False
        self._dropped = True
        """Whether every stage that is not in its place is gone; else the list of stages stays, for the next change."""

    def run(self, *, next_prompt: str = "") -> RestoreReport:
        """Do what is still to be done and close the plan. `RestoreUnfinished` if a content that is needed is damaged: then
        nothing more was changed and the plan stays open."""
        written = [line for line in self._ground.vault.lines(self._chat) if line.entry == self._entry]
        done = {log.path_of(line) for line in written if log.observes(line)}
        conflicts = {log.path_of(line) for line in written if line.type == "restore_conflict"}
        open_files = [file for file in self._files if log.path_of(file) not in done]
        self._require_contents(open_files)
        self._restored = sorted(done)
        for count, file in enumerate(open_files, 1):
            self._take(file, conflicts)
            if self._progress is not None:
                self._progress(count, len(open_files))
        for parent_of in sorted({path.rpartition("/")[0]: path for path in self._restored}.values()):
            self._ground.folder().sync_parent(parent_of)
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

    def _require_contents(self, files: Sequence[PlanFile]) -> None:
        for file in files:
            path, wanted = log.path_of(file), wanted_of(file)
            if wanted.sha is None or agree(self._ground.folder().look_stage(path, file.stage), wanted):
                continue
            disk = self._ground.folder().look(path)
            needed = file.action != Action.MODE and agree(disk, expected_of(file)) and not agree(disk, wanted)
            if needed and not is_sound(self._ground.vault.blobs, wanted.sha):
                raise RestoreUnfinished(self._chat, "damaged")

    def _take(self, file: PlanFile, conflicts: set[WorkspacePath]) -> None:
        """One path, by the table."""
        path, expected, wanted = log.path_of(file), expected_of(file), wanted_of(file)
        workspace = self._ground.folder()
        faults.point("restore.path")
        disk = workspace.look(path)
        reason: LeaveReason | None = None
        if not agree(disk, wanted):
            if agree(disk, expected):
                reason = self._change(file, path, wanted)
            else:
                reason = self._keep_theirs(path, disk, already=path in conflicts)
        if file.stage:
            self._drop(path, file.stage)
        if reason is not None:
            self._left[path] = reason
            return
        self._restored.append(path)
        owner, other = ownership.owner_keys(file.owner)
        self._new.append(
            log.observed(
                path,
                expected,
                wanted,
                author=Author.RESTORE,
                how=How.RESTORE,
                turn=self._turn,
                entry=self._entry,
                owner=owner,
                other_chat=other,
            )
        )

    def _change(self, file: PlanFile, path: WorkspacePath, wanted: FileState) -> LeaveReason | None:
        workspace = self._ground.folder()
        try:
            if wanted.state is State.ABSENT:
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
            return LeaveReason.CANNOT_WRITE
        return None

    def _stage_again(self, file: PlanFile, path: WorkspacePath, wanted: FileState, sha: BlobHash) -> None:
        for folder in parents_of(path):
            if self._ground.folder().look(folder).state is State.ABSENT and self._ground.folder().make_folder(folder):
                self._new.append(folder_line(folder, "folder", entry=self._entry, turn=self._turn))
        self._ground.folder().drop_stage(path, file.stage)
        stages.stage_one(self._ground, path, file.stage, wanted.state, sha, wanted.mode)

    def _keep_theirs(self, path: WorkspacePath, disk: FileState, *, already: bool) -> LeaveReason:
        """Neither expected nor wanted: somebody changed it. Never replaced; what they wrote is stored as well."""
        if disk.state is State.UNKNOWN:
            return LeaveReason(disk.reason) if disk.reason in set(LeaveReason) else LeaveReason.CANNOT_READ
        stored = disk
        if disk.has_content:
            try:
                stored = look.store_content(self._ground, path, disk)
            except EnvironmentFault:
                stored = FileState(State.NOT_CAPTURED, disk.sha, disk.mode, LeaveReason.CANNOT_STORE.value)
        if not already:
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

    def _tidy_folders(self) -> None:
        """Remove folders that this restore emptied, if a line says that a restore or the agent made them."""
        made = self._made_folders()
        paths = [log.path_of(file) for file in self._files]
        for folder in sorted({folder for path in paths for folder in parents_of(path)}, reverse=True):
            if made.get(folder) != "folder":
                continue
            gone = self._ground.folder().look(folder).state is State.ABSENT
            if gone or self._ground.folder().remove_empty_folder(folder):
                self._new.append(folder_line(folder, "absent", entry=self._entry, turn=self._turn))

    def _made_folders(self) -> dict[WorkspacePath, str]:
        found = [line for contents in self._ground.vault.all_logs().values() for line in contents.lines if line.type == "dir"]
        found.sort(key=lambda line: line.seq)
        return {log.path_of(line): line.state for line in [*found, *(line for line in self._new if line.type == "dir")]}

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
        for path, reason in self._left.items():
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
        wanted = {log.path_of(file): wanted_of(file) for file in self._files}
        verified = all(agree(self._ground.folder().look(path), wanted[path]) for path in self._restored)
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
