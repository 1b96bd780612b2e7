"""What one row of the transcript is, as a value. Frozen; made by `models.transcript`, painted by the views."""

from dataclasses import dataclass, field

from vibekit_desktop.core.types.chats import DiffFragment
from vibekit_desktop.core.types.ids import ChatId
from vibekit_desktop.ui.models.conflicts import ConflictCard

FOLD_FROM = 6
"""From this many files on a list of them is folded to "7 files"."""


@dataclass(frozen=True, slots=True)
class CheckpointBlock:
    """The line before a turn. ``changed`` False = the turn changed no file, None = not known yet; ``can_restore`` False = the
    workspace is not there, or ``held`` says why it has to wait. A branch can begin here at any time."""

    turn: int
    changed: bool | None
    can_restore: bool = True
    held: str = ""


def conflict_key(card: ConflictCard) -> str:
    """What names a conflict among what is opened and pressed."""
    return "conflict:" + ":".join(str(part) for part in card.key)


@dataclass(frozen=True, slots=True)
class UserBlock:
    """A message by the person; ``text`` as recorded. ``attachments``: names of what went with it, whether each is an image."""

    text: str
    time: str
    attachments: tuple[tuple[str, bool], ...] = ()


@dataclass(frozen=True, slots=True)
class ThinkingBlock:
    """A piece of thinking, folded at first. ``running``: it is still coming; ``took_ms`` 0 = not known."""

    text: str
    running: bool = False
    took_ms: int = 0


@dataclass(frozen=True, slots=True)
class AnswerBlock:
    """A piece of an answer: Markdown, or a slice of one too long for that (``plain``). ``growing``: more of it comes."""

    text: str
    plain: bool = False
    growing: bool = False


@dataclass(frozen=True, slots=True)
class CardFile:
    """A file that a command changed. ``missing``: that no copy of a side was kept, in words; ``lost``: of the one before it."""

    path: str
    letter: str
    added: int | None
    removed: int | None
    undone: bool = False
    conflict: ConflictCard | None = None
    can_redo: bool = False
    missing: str = ""
    lost: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a plan. ``state``: ``done``, ``active`` or ``open``."""

    text: str
    state: str


@dataclass(frozen=True, slots=True)
class Card:
    """One tool call. ``path`` is workspace-relative and set only where Diff and Undo have something to show; ``state`` is
    ``done``, ``failed``, ``active``, ``denied`` or ``stopped``. ``sure``: the files were certainly changed by this command.
    ``held``: why Undo has to wait; ``began_at``: since when an active one runs, 0 = not known; ``can_stop``: by itself;
    ``waits``: it is to be allowed first; ``can_redo``: what was undone can be done again."""

    key: str
    icon: str
    verb: str
    target: str
    mono: bool
    state: str
    status: str
    turn: int
    path: str = ""
    undone: bool = False
    can_undo: bool = True
    can_redo: bool = False
    added: int | None = None
    removed: int | None = None
    fragments: tuple[DiffFragment, ...] = ()
    first_line: int = 0
    output: str = ""
    lines: tuple[str, ...] = ()
    """Plain lines under an opened card: the files of a group of reads."""
    files: tuple[CardFile, ...] = ()
    """What a command changed; of very many the first, and those with a conflict. Three numbers say what all of them are."""
    file_count: int = 0
    files_added: int = 0
    files_removed: int = 0
    sure: bool = True
    held: str = ""
    began_at: int = 0
    can_stop: bool = False
    waits: bool = False
    steps: tuple[Step, ...] = ()
    """The steps of a plan."""
    conflict: ConflictCard | None = None
    """Who else changed the file."""
    missing: str = ""
    lost: bool = False
    """As in `CardFile`."""

    @property
    def opens(self) -> bool:
        """Whether there is anything to show under it."""
        return bool(self.fragments or self.output.strip() or self.lines or self.steps)

    @property
    def opens_itself(self) -> bool:
        """Whether it is open until somebody closes it: what a running command writes is seen, and a plan."""
        return bool(self.steps) or (self.began_at > 0 and bool(self.output.strip()))


@dataclass(frozen=True, slots=True)
class CardsBlock:
    """Consecutive tool calls in one box."""

    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class FooterBlock:
    """The end of a turn. ``files`` None = not known yet; ``answer`` is what Copy copies; ``conflicts``: who else changed
    what it changed."""

    turn: int
    files: int | None
    added: int
    removed: int
    duration_ms: int
    answer: str = field(repr=False, default="")
    conflicts: tuple[ConflictCard, ...] = ()


@dataclass(frozen=True, slots=True)
class EventBlock:
    """A note of the program between messages; ``detail`` opens under it."""

    icon: str
    text: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class BranchBlock:
    """Turns that a restore moved to a branch."""

    first_turn: int
    last_turn: int
    chat: ChatId


@dataclass(frozen=True, slots=True)
class EarlierBlock:
    """How many messages are before the first that is loaded."""

    messages: int


@dataclass(frozen=True, slots=True)
class WorkingBlock:
    """The end of a turn that runs: since when, what it changed so far, at which step of its plan it is. ``stopping``: somebody
    asked it to end; ``starting``: the name of an agent that is only being started; ``waiting``: for an answer of the person."""

    turn: int
    began_at: int
    files: int = 0
    added: int = 0
    removed: int = 0
    step: str = ""
    stopping: bool = False
    starting: str = ""
    waiting: bool = False


Block = (
    CheckpointBlock
    | UserBlock
    | ThinkingBlock
    | AnswerBlock
    | CardsBlock
    | FooterBlock
    | EventBlock
    | BranchBlock
    | EarlierBlock
    | WorkingBlock
)
