"""What stands in a transcript where a live turn did not end by itself: one plain sentence, stored as it is. Pure."""

import uuid

from vibekit_desktop.core.chat.hooked import storable
from vibekit_desktop.core.types.agent_errors import AgentFailed, AgentNotSignedIn
from vibekit_desktop.core.types.agents import StopReason
from vibekit_desktop.core.types.chats import Message, Role
from vibekit_desktop.core.types.errors import CoreError, DiskFull, WorkspaceMissing

CANCELLED = "cancelled"
INTERRUPTED = "interrupted"
_SAID_CHARS = 500


def _said(text: str) -> str:
    words = " ".join(text.split())[:_SAID_CHARS]
    return f" It said: {words}" if words else ""


def stopped_starting(name: str) -> str:
    """What a person has stopped before it was there."""
    return f"The start of {name or 'the agent'} was stopped."


def did_not_stop(name: str) -> str:
    """How a stop went that the agent did not heed."""
    return f"{name} did not stop when asked, and was ended."


def what_happened(name: str, error: CoreError) -> str:
    """What an error of an agent's means for the chat it answered in."""
    match error:
        case AgentFailed(reason="not-acp"):
            return f"{name} does not speak ACP.{_said(error.said)}"
        case AgentFailed(reason="version"):
            return f"{name} speaks another version of ACP than this program."
        case AgentFailed(reason="stopped"):
            return stopped_starting(name)
        case AgentFailed(reason="silent", step="handshake"):
            return f"{name} gives no answer: it may not be an agent that speaks ACP."
        case AgentFailed(reason="exit"):
            how = "" if error.status is None else f" (exit status {error.status})" if error.status >= 0 else " (it was killed)"
            return f"{name} stopped unexpectedly{how}.{_said(error.said)}"
        case AgentFailed(reason="flood"):
            return f"{name} sent more than can be read, and was ended."
        case AgentFailed(reason="protocol"):
            return f"{name} sent what no one can read, and was ended."
        case AgentFailed(reason="silent"):
            return f"{name} gave no answer, and was ended."
        case AgentFailed():
            return f"{name} could not go on.{_said(error.said)}"
        case AgentNotSignedIn():
            return f"{name} wants you to sign in first.{_said(error.said)}"
        case WorkspaceMissing():
            return "The workspace folder is not there any more, so what the turn changed last is not known."
        case DiskFull():
            return "The disk is full, so the end of the turn could not be kept."
        case _:
            return f"The turn could not be carried on ({error.code})."


def notes(name: str, reason: StopReason, error: CoreError | None, *, ts: int, more: str = "") -> tuple[Message, ...]:
    """What the transcript says of an end that was not the agent's own; ``more``: one more sentence, if there is one."""
    match reason:
        case StopReason.CANCELLED:
            kind, text = CANCELLED, more
        case StopReason.TIMED_OUT:
            kind, text = CANCELLED, f"The time that was given for it had passed. {more}".rstrip()
        case StopReason.DIED | StopReason.FAILED:
            kind = INTERRUPTED
            text = what_happened(name, error) if error is not None else f"{name} said nothing any more, and was ended."
        case _:
            return ()
    return (Message(id=str(uuid.uuid4()), role=Role.EVENT.value, ts=ts, event_kind=kind, content=storable(text)),)
