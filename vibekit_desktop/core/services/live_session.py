"""Open a session with an agent for a chat: the one it had if that still knows all that was said, else another one that is told.

| the chat | what is tried, in order |
| --- | --- |
| its session is in step | resume, load; then as below |
| a branch with all of a parent that is in step | fork the parent's session; then as below |
| anything else | a new session; with its next prompt it is told the history |
"""

import logging
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from vibekit_desktop.core.agent.answer import AnswerBuilder
from vibekit_desktop.core.agent.launch import Launchable
from vibekit_desktop.core.agent.link import Greeting, Link, LinkEvent, Session, UserTextArrived
from vibekit_desktop.core.chat import prompted
from vibekit_desktop.core.chat.history import history_text
from vibekit_desktop.core.chat.hooked import storable
from vibekit_desktop.core.types.agent_errors import AgentFailed, NotOffered
from vibekit_desktop.core.types.agents import AgentOption, OptionKind
from vibekit_desktop.core.types.chats import Chat, Message, Role

_log = logging.getLogger(__name__)

HISTORY_CHARS = 120_000
"""So much of what was said is told to a new session, the newest."""
_BEFORE = (
    "This conversation goes on from an earlier one. What was said in it so far:\n\n<conversation>\n{history}</conversation>\n\n"
    "Files may have changed since; read them again before you change them. Now it goes on:\n\n"
)
_LEFT_OUT = "[earlier messages are left out]\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A session that a chat can go on in. ``history``: what its first prompt has to begin with."""

    session: Session
    history: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """What a chat was before its agent is started: the chat, and its parent if it is a branch."""

    chat: Chat
    parent: Chat | None = None
    parent_says_more: bool = True
    """Whether the parent holds messages that the branch does not."""


async def open_session(link: Link, greeting: Greeting, past: Past, launchable: Launchable, folder: str) -> Opened:
    """Open the session that fits; `AgentFailed` or `AgentNotSignedIn` if none can be opened at all."""
    known = _known_session(past.chat, launchable)
    if known:
        session = await _go_on(link, greeting, known, folder)
        if session is not None:
            return Opened(session=session)
    if past.parent is not None and not past.parent_says_more and prompted.in_step(past.parent) and greeting.can_fork:
        try:
            return Opened(session=await link.fork_session(past.parent.acp_session_id, folder))
        except (NotOffered, AgentFailed) as error:
            _forgive(error)
    return Opened(session=await link.new_session(folder), history=told(past.chat))


def _known_session(chat: Chat, launchable: Launchable) -> str:
    """The session that knows this chat, or nothing."""
    if prompted.in_step(chat):
        return chat.acp_session_id
    of_source = chat.source and chat.source == launchable.info.source
    untouched = not (chat.acp_session_id or chat.cut or chat.detached or chat.parent_chat_id)
    return chat.source_session if of_source and untouched else ""


async def _go_on(link: Link, greeting: Greeting, session: str, folder: str) -> Session | None:
    """Go on with a session; None if the agent does not know it any more, or can't."""
    steps = [link.resume_session] if greeting.can_resume else []
    if greeting.can_load:
        steps.append(link.load_session)
    for step in steps:
        try:
            found = await step(session, folder)
        except (NotOffered, AgentFailed) as error:
            _forgive(error)
            continue
        return replace(found, replayed=())  # the transcript has it
    return None


def _forgive(error: NotOffered | AgentFailed) -> None:
    """An agent that only said no is asked otherwise; one that is gone is not."""
    if isinstance(error, AgentFailed) and error.reason != "said":
        raise error
    _log.info("a session was not taken up again: %s", error.code)


def told(chat: Chat) -> str:
    """What a new session has to be told before its first prompt; empty if nothing was said."""
    text = history_text(chat.messages or ())
    if not text.strip():
        return ""
    if len(text) > HISTORY_CHARS or chat.parts:
        text = _LEFT_OUT + text[-HISTORY_CHARS:]
    return _BEFORE.format(history=text)


def transcript_of(told_again: Sequence[LinkEvent], *, workspace: str, clock: Callable[[], int]) -> tuple[Message, ...]:
    """What an agent tells of a session of its own, as messages. No checkpoint belongs to any of them: nobody looked then."""
    found: list[Message] = []
    asked: list[str] = []
    answer: AnswerBuilder | None = None

    def close() -> None:
        nonlocal answer
        if answer is not None and answer.says_something:
            found.append(answer.ended(took_ms=0))
        answer = None

    def ask() -> None:
        text = storable("".join(asked)).strip()
        asked.clear()
        if text:
            found.append(Message(id=str(uuid.uuid4()), role=Role.USER.value, ts=clock(), content=text))

    of = ""
    for event in told_again:
        if isinstance(event, UserTextArrived):
            close()
            if event.message != of:  # two prompts of which nothing was said in between
                ask()
            of = event.message
            asked.append(event.text)
            continue
        ask()
        if answer is None:
            answer = AnswerBuilder(str(uuid.uuid4()), turn=0, workspace=workspace, clock=clock)
        answer.add(event)
    ask()
    close()
    return tuple(found)


def wanted_options(
    options: tuple[AgentOption, ...], chat: Chat, ask_mode: str, *, fresh: bool
) -> list[tuple[AgentOption, str]]:
    """What is to be chosen in a session that was just opened: what was chosen in the chat before; in a ``fresh`` one at least
    the mode in which the agent asks before it edits."""
    found: list[tuple[AgentOption, str]] = []
    for option in options:
        offered = {choice.id for choice in option.choices}
        match option.kind:
            case OptionKind.MODE:
                wanted = chat.current_mode_id if chat.current_mode_id in offered else ask_mode if fresh else ""
            case OptionKind.MODEL:
                wanted = chat.model
            case _:
                wanted = ""
        if wanted in offered and wanted != option.value:
            found.append((option, wanted))
    return found
