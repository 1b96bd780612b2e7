"""What the window says of an agent's question: who wants what, why it is asked, what can be taken back, what the buttons mean.

Our words only. A name that comes from an agent stands among them if it is a plain word; everything else that an agent wrote is
told in frames of its own (`subject_lines`, `agents_words`), so that it cannot pass for ours. Pure; any thread.
"""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from vibekit_desktop.core.types.agents import Answer, Hold, Operation, Question, Why
from vibekit_desktop.core.types.checkpoints import Skipped
from vibekit_desktop.ui.text import tr, tr_n
from vibekit_desktop.ui.visible import one_line, visible_name
from vibekit_desktop.ui.when import duration
from vibekit_desktop.ui.wording import ELLIPSIS, file_name, size_text

_PLAIN = re.compile(r"[\w.@+-]{1,48}")
_HOST = re.compile(r"[a-z0-9.-]{1,80}(:\d{1,5})?")
_AGENT_CHARS = 40
_FOLDER_CHARS = 60
_TITLE_CHARS = 200
_TELLING = 2
"""So many words beside the subject say nothing: a verb, and what kind of thing it is."""


@dataclass(frozen=True, slots=True)
class AnswerButton:
    """One way to answer: its words for a button or a menu, and the whole phrase for assistive technology."""

    answer: Answer
    text: str
    name: str


def agent_name(question: Question) -> str:
    """Who asks."""
    return one_line(question.agent, _AGENT_CHARS) or tr("The agent")


def headline(question: Question) -> str:
    """Who wants what, as a sentence without an end: "Claude Code wants to run a command"."""
    agent = agent_name(question)
    name = _name(question)
    if question.hold is not Hold.NONE and question.operation is Operation.RUN:
        return tr("{agent} wants to run a command, and not all of it could be undone", agent=agent)
    if question.hold is not Hold.NONE:
        return tr("{agent} waits: this change can't be kept so that it could be undone", agent=agent)
    outside = Why.OUTSIDE in question.why
    match question.operation:
        case Operation.RUN if outside:
            return tr("{agent} wants to run a command outside the workspace", agent=agent)
        case Operation.RUN:
            return tr("{agent} wants to run a command", agent=agent)
        case Operation.READ if outside:
            return tr("{agent} wants to read outside the workspace", agent=agent)
        case Operation.READ:
            return tr("{agent} wants to read {name}", agent=agent, name=name)
        case Operation.EDIT:
            return tr("{agent} wants to edit {name}", agent=agent, name=name)
        case Operation.CREATE:
            return tr("{agent} wants to create {name}", agent=agent, name=name)
        case Operation.DELETE:
            return tr("{agent} wants to delete {name}", agent=agent, name=name)
        case Operation.MOVE:
            return tr("{agent} wants to move {name}", agent=agent, name=name)
        case Operation.FETCH:
            host = _host(question.subject)
            return (
                tr("{agent} wants to fetch from {host}", agent=agent, host=host)
                if host
                else tr("{agent} wants to fetch from the network", agent=agent)
            )
        case Operation.OTHER:
            return tr("{agent} wants to use a tool", agent=agent)


def _name(question: Question) -> str:
    """The file's name if it is a plain word; a name that could be read as a sentence of ours is told in the frame only."""
    if len(question.paths) > 1:
        return tr("{n} files", n=len(question.paths))
    name = file_name(question.subject or next(iter(question.paths), ""))
    return name if _PLAIN.fullmatch(name) else tr("a file")


def _host(address: str) -> str:
    try:
        parts = urlsplit(address.strip())
        host = parts.netloc.rpartition("@")[2].lower()
    except ValueError:
        return ""
    return host if parts.scheme in ("http", "https") and _HOST.fullmatch(host) else ""


def subject_lines(question: Question) -> tuple[str, ...]:
    """What it is about, as it is: the lines of the command, or the paths. An agent's text; never shortened here."""
    if question.operation not in (Operation.RUN, Operation.FETCH, Operation.OTHER) and len(question.paths) > 1:
        return question.paths
    return tuple(question.subject.split("\n")) if question.subject else question.paths


def folder_line(question: Question, shown_folder: str) -> str:
    """Where a command runs; empty for everything else."""
    if question.operation is not Operation.RUN or not shown_folder:
        return ""
    return tr("in {folder}", folder=visible_name(shown_folder))


def agents_words(question: Question) -> str:
    """What the agent calls it, if that says more than the subject does: "Edit setup.cfg" does not."""
    title = one_line(question.title, _TITLE_CHARS)
    rest = title
    for known in sorted({question.subject, file_name(question.subject), *question.paths}, key=len, reverse=True):
        if known:
            rest = rest.replace(one_line(known, _TITLE_CHARS), " ")
    words = re.findall(r"\w+", rest)
    return title if len(words) > _TELLING else ""


def reasons(question: Question) -> tuple[str, ...]:
    """Why it is asked although a rule might have answered, or why an allowed write waits."""
    found = tuple(tr(_WHY[why]) for why in question.why)
    if question.hold is Hold.NONE:
        return found
    unkept = question.protection.unkept
    return (_unkept(question.hold, unkept) if unkept else tr(_HOLDS[question.hold]), *found)


def _unkept(hold: Hold, unkept: tuple[Skipped, ...]) -> str:
    """What the store could not keep a copy of, before something that may change anything."""
    names = _files(unkept)
    why = tr("the disk is full") if hold is Hold.DISK_FULL else tr("it can't be written")
    it = tr_n("What is done to it can't be taken back.", "What is done to them can't be taken back.", len(unkept))
    return tr("The store could not keep a copy of {files}: {why}. {it}", files=names, why=why, it=it)


def _files(found: tuple[Skipped, ...]) -> str:
    """Files by name and size: "rand.bin (3.0 MB)", "rand.bin (3.0 MB) and 4 more files". Only a plain name stands there."""
    first = found[0]
    name = file_name(first.path)
    size = f" ({size_text(first.size)})" if first.size is not None else ""
    text = f"{name if _PLAIN.fullmatch(name) else tr('a file')}{size}"
    more = len(found) - 1
    return text if not more else tr_n("{text} and 1 more file", "{text} and {n} more files", more, text=text)


_WHY = {
    Why.RUNS_LATER: "Other programs run this file later: what is written into it will be carried out then.",
    Why.OUTSIDE: "It is outside of the workspace. Nothing there is recorded, and nothing can be taken back.",
    Why.CHANGED: "The file changed since you were asked. This is asked again for how it is now.",
    Why.OTHER_CONTENT: "What is to be written now is not what was asked for before.",
    Why.NOT_ANNOUNCED: "The agent did not say beforehand that it would do this.",
}

_HOLDS = {
    Hold.DISK_FULL: "The disk is full: there is no room for a copy of what is there now. Make room, then try again.",
    Hold.TOO_LARGE: "What is there now is too large for a copy of it. The limit is in the settings.",
    Hold.CANNOT_STORE: "A copy of what is there now could not be stored.",
}


def reassurance(question: Question) -> str:
    """What can be taken back if it is allowed; empty where there is nothing to say, or where nothing can."""
    if question.hold is not Hold.NONE:
        return ""
    turn = question.turn
    left_out = question.protection.left_out
    if question.operation is Operation.RUN and any(one.path == "." for one in left_out):
        return tr(
            "Checkpoint {turn} is saved. Not every file of this workspace is captured, so not all that this command changes "
            "can be taken back; effects outside it can't.",
            turn=turn,
        )
    if question.operation is Operation.RUN and left_out:
        return tr(
            "Checkpoint {turn} is saved. Files this command changes in the workspace can be taken back, but not {files}: not "
            "captured. Effects outside it can't.",
            turn=turn,
            files=_files(left_out),
        )
    match question.operation:
        case Operation.READ | Operation.FETCH:
            return ""
        case Operation.RUN:
            return tr(
                "Checkpoint {turn} is saved. Files this command changes in the workspace can be taken back; effects outside "
                "it can't.",
                turn=turn,
            )
        case Operation.OTHER:
            return tr(
                "Checkpoint {turn} is saved. Files this changes in the workspace can be taken back; effects outside it can't.",
                turn=turn,
            )
        case Operation.EDIT | Operation.CREATE | Operation.DELETE | Operation.MOVE:
            return tr("Checkpoint {turn} is saved. This change can be taken back.", turn=turn)


def answer_button(question: Question, answer: Answer) -> AnswerButton:
    """The words of one way to answer."""
    what = headline(question)
    match answer:
        case Answer.ALLOW_ONCE:
            return AnswerButton(answer, tr("Allow once"), tr("Allow once: {what}", what=what))
        case Answer.ALLOW_COMMAND:
            return _in_this_chat(answer, tr("This command, exactly"))
        case Answer.ALLOW_FOLDER:
            return _in_this_chat(answer, _edits_in(question.folder.rstrip("/")))
        case Answer.ALLOW_EDITS:
            return _in_this_chat(answer, tr("All edits in the workspace"))
        case Answer.ALLOW_READS:
            return _in_this_chat(answer, tr("All reads in the workspace"))
        case Answer.DENY:
            return AnswerButton(answer, tr("Deny"), tr("Deny: {what}", what=what))
        case Answer.RETRY:
            return AnswerButton(answer, tr("Try again"), tr("Try again to keep a copy: {what}", what=what))
        case Answer.UNPROTECTED:
            if question.operation is Operation.RUN:
                return AnswerButton(answer, tr("Run without a copy…"), tr("Run without a copy: {what}", what=what))
            return AnswerButton(answer, tr("Write without a copy…"), tr("Write without a copy: {what}", what=what))


def _in_this_chat(answer: Answer, text: str) -> AnswerButton:
    return AnswerButton(answer, text, tr("Allow in this chat: {what}", what=text))


def _edits_in(folder: str) -> str:
    if folder in ("", "."):
        return tr("Edits in the top folder of the workspace")
    name = folder if len(folder) <= _FOLDER_CHARS and all(_PLAIN.fullmatch(part) for part in folder.split("/")) else ""
    return tr("Edits in {folder}", folder=name) if name else tr("Edits in the folder of this file")


CHAT_WIDE = (Answer.ALLOW_COMMAND, Answer.ALLOW_FOLDER, Answer.ALLOW_EDITS, Answer.ALLOW_READS)
"""The answers that make a rule: they are in the menu *Allow in this chat*."""


def without_copy(question: Question) -> tuple[str, str, str]:
    """The title, the sentence and the button of the last question before something that cannot be undone."""
    if question.operation is Operation.RUN:
        unkept = question.protection.unkept
        text = tr(
            "What this command does to {files} can't be taken back.",
            files=_files(unkept) if unkept else tr("the files of the workspace"),
        )
        return tr("Run without a copy?"), text, tr("Run without a copy")
    text = tr("What is in {name} now will be gone: it can't be brought back from here.", name=_name(question))
    return tr("Write without a copy?"), text, tr("Write without a copy")


def waiting(asked_at: int, now_ms: int) -> str:
    """For how long it has been waiting: "waiting 12 s"; empty in the first second."""
    seconds = max(0, now_ms - asked_at) // 1000
    return tr("waiting {time}", time=duration(seconds * 1000)) if seconds else ""


def one_of(count: int) -> str:
    """ "1 of 3", or nothing if it is the only one."""
    return tr("1 of {n}", n=count) if count > 1 else ""


def cut_note(more: int) -> str:
    """What stands in the place of text that is not shown."""
    return tr("{dots} {n} more characters are not shown here.", dots=ELLIPSIS, n=more)
