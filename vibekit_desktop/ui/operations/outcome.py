"""What is said after a restore, an undo or a redo, made from the plan and the verified report.

Pure; the wording is that of the table of wording.
"""

from collections.abc import Sequence

from vibekit_desktop.core.types.checkpoints import (
    LeaveReason,
    LeftFile,
    RestoreKind,
    RestorePlan,
    RestoreReport,
    RestoreStep,
    Scope,
)
from vibekit_desktop.ui.text import tr, tr_n
from vibekit_desktop.ui.wording import change_words, file_name, leave_text, point_words, shown_path


def done_text(plan: RestorePlan, report: RestoreReport) -> str:
    """Everything was done as planned."""
    done, total = len(report.restored), len(plan.acts)
    point = point_words(plan.point)
    match plan.kind:
        case RestoreKind.UNDO_FILE if report.restored:
            return tr("{file} is as it was {point}", file=file_name(shown_path(report.restored[0])), point=point)
        case RestoreKind.UNDO_TURN | RestoreKind.UNDO_HUNK:
            what = change_words(plan.point, plan.upto)
            if plan.kind is RestoreKind.UNDO_HUNK and report.restored:
                return tr("Undid a part of {what} in {file}", what=what, file=file_name(shown_path(report.restored[0])))
            if len(report.restored) == 1:
                return tr("Undid {what} in {file}", what=what, file=file_name(shown_path(report.restored[0])))
            return tr_n("Undid {what} in {n} file", "Undid {what} in {n} files", done, what=what)
        case RestoreKind.UNDO:
            if not total:
                return tr("Undone: the chat is as it was")
            return tr_n(
                "Undone: {done} of {n} file is as it was", "Undone: {done} of {n} files are as they were", total, done=done
            )
        case RestoreKind.REDO:
            if not total:
                return tr("Redone: the chat is as it was before the undo")
            one = "Redone: {done} of {n} file is as it was before the undo"
            return tr_n(one, "Redone: {done} of {n} files are as they were before the undo", total, done=done)
        case _:
            if plan.scope is Scope.CHAT or not total:
                return tr("Restored the chat to {point}", point=point)
            return tr_n(
                "Restored {done} of {n} file to {point}",
                "Restored {done} of {n} files to {point}",
                total,
                done=done,
                point=point,
            )


def progress_text(step: RestoreStep, done: int, total: int) -> str:
    """How far a restore is. No file is changed before the last step."""
    match step:
        case RestoreStep.KEEP:
            return tr("Saving {done} of {total}…", done=done, total=total)
        case RestoreStep.STAGE:
            return tr("Preparing {done} of {total}…", done=done, total=total)
        case RestoreStep.PLACE:
            return tr("Restoring {done} of {total}…", done=done, total=total)


def partly_text(plan: RestorePlan, report: RestoreReport) -> str:
    """Some files were left although the plan meant to change them, or the result could not be verified."""
    total = len(plan.acts)
    done = tr_n("Restored {done} of {n} file.", "Restored {done} of {n} files.", total, done=len(report.restored))
    if not report.failed:
        return f"{done} {tr('The result could not be verified; look at the files before you go on.')}"
    sentences = [done, failed_text(report.failed[0])]
    if len(report.failed) > 1:
        more = len(report.failed) - 1
        sentences.append(tr_n("{n} more file was left as it was.", "{n} more files were left as they were.", more))
    return " ".join(sentences)


def failed_text(left: LeftFile) -> str:
    """Why one file was left: "export.md was changed at that moment and was left as it is."."""
    name = file_name(shown_path(left.path))
    match left.reason:
        case LeaveReason.CANNOT_WRITE:
            return tr("{file} can't be written: in use by another program, or read-only.", file=name)
        case LeaveReason.CHANGED_JUST_NOW | LeaveReason.CHANGED_SINCE | LeaveReason.CHANGED_LATER:
            return tr("{file} was changed at that moment and was left as it is.", file=name)
        case LeaveReason.DAMAGED:
            return tr("The earlier copy of {file} is damaged.", file=name)
        case _:
            return tr("{file} was left. {reason}", file=name, reason=leave_text(left.reason))


def turns_words(turns: Sequence[int]) -> str:
    """ "turn 3", "turns 3 and 5", "turns 3, 4 and 5"."""
    numbers = [str(turn) for turn in sorted(turns)]
    if len(numbers) == 1:
        return tr("turn {turn}", turn=numbers[0])
    return tr("turns {first} and {last}", first=", ".join(numbers[:-1]), last=numbers[-1])
