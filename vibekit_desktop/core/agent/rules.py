"""What an answer given once for all allows, which answers make sense for a question, and the rule that an answer makes. Pure.

A rule allows what it names and nothing like it: a command by its whole text in the workspace folder, edits by the folder that
they are in. Files that run later or may hold keys, places outside, deletions and moves are covered by none: each is asked. Any
thread.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from vibekit_desktop.core.types.agents import Answer, Hold, Operation, Rule, RuleKind, Why
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath

_EDITS = (Operation.EDIT, Operation.CREATE)
_NO_MATTER = frozenset({Why.NOT_ANNOUNCED})
"""An agent that does not announce its writes is asked about them one by one; who allowed such writes for good meant these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be allowed: an operation on paths inside of the workspace, or a command in a folder of it (empty: the
    workspace itself). ``exact``: the command is what will run, and not a description of it."""

    operation: Operation
    paths: tuple[WorkspacePath, ...] = ()
    command: str = ""
    folder: str = ""
    exact: bool = True
    why: frozenset[Why] = frozenset()
    always: bool = False
    """It is asked each time, for no reason that is told: the name of a file that may hold a key says enough."""

    @property
    def has_rule(self) -> bool:
        """Whether an answer may be given once for all."""
        return not (self.always or self.why - _NO_MATTER)


def allows(rules: Iterable[Rule], chat: ChatId, wanted: Wanted) -> bool:
    """Whether a rule of the chat answers with yes."""
    if not wanted.has_rule:
        return False
    return any(rule.chat == chat and _covers(rule, wanted) for rule in rules)


def _covers(rule: Rule, wanted: Wanted) -> bool:
    match rule.kind:
        case RuleKind.COMMAND:
            return wanted.operation is Operation.RUN and _has_rule(wanted) and rule.subject == wanted.command
        case RuleKind.FOLDER:
            top = rule.subject.strip("/")
            return (
                wanted.operation in _EDITS
                and bool(top)
                and bool(wanted.paths)
                and all(path.startswith(top + "/") for path in wanted.paths)
            )
        case RuleKind.EDITS:
            return wanted.operation in _EDITS and bool(wanted.paths)
        case RuleKind.READS:
            return wanted.operation is Operation.READ


def _has_rule(wanted: Wanted) -> bool:
    """Whether a command can be allowed for good: known exactly, and in the workspace folder, as a rule names no other."""
    return bool(wanted.command) and wanted.exact and not wanted.folder


def answers(wanted: Wanted, hold: Hold = Hold.NONE) -> tuple[Answer, ...]:
    """The answers that make sense, in the order of the buttons."""
    if hold is not Hold.NONE:
        return (Answer.RETRY, Answer.UNPROTECTED, Answer.DENY)
    if not wanted.has_rule:
        return (Answer.ALLOW_ONCE, Answer.DENY)
    lasting: tuple[Answer, ...] = ()
    if wanted.operation is Operation.RUN and _has_rule(wanted):
        lasting = (Answer.ALLOW_COMMAND,)
    elif wanted.operation in _EDITS and wanted.paths:
        lasting = (Answer.ALLOW_FOLDER, Answer.ALLOW_EDITS) if folder_of(wanted.paths) else (Answer.ALLOW_EDITS,)
    elif wanted.operation is Operation.READ:
        lasting = (Answer.ALLOW_READS,)
    return (Answer.ALLOW_ONCE, *lasting, Answer.DENY)


def folder_of(paths: Sequence[WorkspacePath]) -> str:
    """The innermost folder that holds all paths; empty if that is the workspace."""
    if not paths:
        return ""
    above = [path.split("/")[:-1] for path in paths]
    common = above[0]
    for other in above[1:]:
        same = 0
        while same < min(len(common), len(other)) and common[same] == other[same]:
            same += 1
        common = common[:same]
    return "/".join(common)


def rule_of(answer: Answer, chat: ChatId, wanted: Wanted, now_ms: int) -> Rule | None:
    """The rule that an answer makes; None if it makes none."""
    match answer:
        case Answer.ALLOW_COMMAND:
            return Rule(chat=chat, kind=RuleKind.COMMAND, subject=wanted.command, made_at=now_ms)
        case Answer.ALLOW_FOLDER:
            return Rule(chat=chat, kind=RuleKind.FOLDER, subject=folder_of(wanted.paths), made_at=now_ms)
        case Answer.ALLOW_EDITS:
            return Rule(chat=chat, kind=RuleKind.EDITS, made_at=now_ms)
        case Answer.ALLOW_READS:
            return Rule(chat=chat, kind=RuleKind.READS, made_at=now_ms)
        case Answer.ALLOW_ONCE | Answer.DENY | Answer.RETRY | Answer.UNPROTECTED:
            return None
