"""What an agent is to us, whatever protocol it speaks: what it says, what it asks, what we may tell it.

The one model between an adapter (`acp_link` for ACP 1) and the services; a later protocol is a second adapter. Texts are the
agent's own words. No I/O; any thread, the protocols on the loop thread.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from vibekit_desktop.core.types.agents import AgentCommand, AgentOption, AgentSession, PlanStep, SignIn, StopReason, Usage
from vibekit_desktop.core.types.chats import DiffFragment, Location

# -- what an agent says ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TextArrived:
    """More of the answer. ``message``: the agent's own id of the message it is of, where it tells one."""

    text: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class ThoughtArrived:
    """More of what the agent thinks; ``message`` as with `TextArrived`."""

    text: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class UserTextArrived:
    """What the user said, when a session is told again; ``message`` as with `TextArrived`."""

    text: str
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolChanged:
    """A call of a tool began, or something of it is known or other now. None = as it was.

    ``output`` is all of the text so far, not more of it. ``input`` is JSON as it came. ``terminals``: terminals of ours that it
    shows."""

    id: str
    title: str | None = None
    kind: str | None = None
    status: str | None = None
    """``pending``, ``in_progress``, ``completed`` or ``failed``."""
    output: str | None = None
    diffs: tuple[DiffFragment, ...] | None = None
    locations: tuple[Location, ...] | None = None
    input: bytes | None = None
    terminals: tuple[str, ...] | None = None
    exit_code: int | None = None
    """How the command ended, as the agent tells it."""


@dataclass(frozen=True, slots=True)
class PlanChanged:
    """The agent's plan, the whole of it."""

    steps: tuple[PlanStep, ...]


@dataclass(frozen=True, slots=True)
class CommandsChanged:
    """The agent's own commands."""

    commands: tuple[AgentCommand, ...]


@dataclass(frozen=True, slots=True)
class OptionsChanged:
    """What can be chosen, and what is; all of it."""

    options: tuple[AgentOption, ...]


@dataclass(frozen=True, slots=True)
class UsageChanged:
    """How much of the context is used."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class SessionNamed:
    """What the agent calls the session."""

    title: str


LinkEvent = (
    TextArrived
    | ThoughtArrived
    | UserTextArrived
    | ToolChanged
    | PlanChanged
    | CommandsChanged
    | OptionsChanged
    | UsageChanged
    | SessionNamed
)


# -- what an agent asks ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AskOption:
    """An answer an agent takes. ``kind``: ``allow_once``, ``allow_always``, ``reject_once``, ``reject_always`` or other."""

    id: str
    name: str
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """An agent waits to be allowed something. ``tool`` is what this request says of the call; it may say less than was said
    before of the same call."""

    tool: ToolChanged
    options: tuple[AskOption, ...]


class Denied(Exception):
    """A request of an agent's that is not done. ``code`` is stable; ``text`` is a sentence for the agent, without content of
    files."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(code)
        self.code = code
        self.text = text


@dataclass(frozen=True, slots=True)
class TerminalExit:
    """How a command ended: one of both is known, the other None."""

    code: int | None
    signal: str | None


@dataclass(frozen=True, slots=True)
class TerminalOutput:
    """What a command wrote so far. ``truncated``: its beginning was dropped. ``exit``: None while it runs."""

    text: str
    truncated: bool
    exit: TerminalExit | None


class Host(Protocol):
    """What an agent's requests reach. Every request may raise `Denied`; none is done while the session is being told again."""

    def event(self, event: LinkEvent) -> None:
        """Something that the agent said, in order. Returns at once."""

    async def ask(self, ask: Ask) -> str | None:
        """The id of one of the options; None: the turn was stopped."""

    async def read(self, path: str, line: int | None, limit: int | None) -> str:
        """The text of a file, from ``line`` (1 is the first) on, ``limit`` lines of it."""

    async def write(self, path: str, text: str) -> None:
        """Make a file hold ``text``."""

    async def create_terminal(
        self, command: str, args: Sequence[str], folder: str | None, env: Sequence[tuple[str, str]], limit_bytes: int | None
    ) -> str:
        """Run a command in a terminal of ours; the terminal's id."""

    async def terminal_output(self, terminal: str) -> TerminalOutput:
        """What it wrote so far."""

    async def wait_for_exit(self, terminal: str) -> TerminalExit:
        """Wait until it ended."""

    async def kill_terminal(self, terminal: str) -> None:
        """End the command; what it wrote stays."""

    async def release_terminal(self, terminal: str) -> None:
        """End the command if it runs; the terminal is not asked for any more."""


# -- what we may tell an agent -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Greeting:
    """What an agent says of itself when it was started."""

    name: str = ""
    title: str = ""
    version: str = ""
    can_load: bool = False
    can_resume: bool = False
    can_list: bool = False
    can_fork: bool = False
    can_close: bool = False
    takes_images: bool = False
    takes_files: bool = False
    """Files with their content inside of a prompt; their paths can always be given."""
    sign_in: tuple[SignIn, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A session that is open. ``replayed``: what the agent told of it while it was loaded, in order."""

    id: str
    options: tuple[AgentOption, ...] = ()
    replayed: tuple[LinkEvent, ...] = ()


@dataclass(frozen=True, slots=True)
class TextPart:
    """Words of a prompt."""

    text: str


@dataclass(frozen=True, slots=True)
class FilePart:
    """A file of a prompt, by its path; ``text`` is its content where the agent takes that."""

    path: str
    text: str | None = None


@dataclass(frozen=True, slots=True)
class ImagePart:
    """An image of a prompt."""

    media_type: str
    data: bytes


PromptPart = TextPart | FilePart | ImagePart


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How an agent's process ended. ``reason``: ``exit`` (by itself), ``closed`` (by us), ``flood``, ``protocol`` or ``start``.
    ``status``: its exit status, negative for a signal, None if it is not known. ``said``: the last lines it wrote as errors."""

    reason: str
    status: int | None = None
    said: str = ""


class Link(Protocol):
    """One running agent. Every request raises `AgentFailed` or `AgentNotSignedIn` and always ends: an agent that is gone fails
    all of them. Loop thread."""

    async def open(self) -> Greeting:
        """Start the process and greet it."""

    async def new_session(self, folder: str) -> Session:
        """Begin a session."""

    async def load_session(self, session: str, folder: str) -> Session:
        """Go on with a session; the agent tells it again first. `NotOffered` where it can't."""

    async def resume_session(self, session: str, folder: str) -> Session:
        """Go on with a session that is not told again. `NotOffered` where it can't."""

    async def fork_session(self, session: str, folder: str) -> Session:
        """A new session that knows what another one knows. `NotOffered` where it can't."""

    async def list_sessions(self, folder: str) -> Sequence[AgentSession]:
        """The sessions of a folder. `NotOffered` where it can't."""

    async def prompt(self, session: str, parts: Sequence[PromptPart]) -> StopReason:
        """Say something and wait for the end of the turn; everything it said in it was given to `Host.event` before."""

    async def cancel(self, session: str) -> None:
        """Ask it to stop the turn; the prompt ends by itself then, or it does not."""

    async def set_option(self, session: str, option: AgentOption, value: str) -> None:
        """Choose something; an `OptionsChanged` follows."""

    async def sign_in(self, way: SignIn) -> None:
        """Let it sign its user in."""

    async def ended(self) -> Ended:
        """Wait until the process is gone. Cancelling the wait harms nothing."""

    async def close(self, *, patience_s: float = 2.0) -> Ended:
        """End the process and everything it started, kindly first; twice is harmless."""
