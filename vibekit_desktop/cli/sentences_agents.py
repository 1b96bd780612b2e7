"""One sentence for a terminal for every error that is about an agent. Pure."""

from vibekit_desktop.core.types import agent_errors as a
from vibekit_desktop.core.types.errors import CoreError

_ATTACHMENT = {
    "missing": "there is no such file",
    "too-large": "it is too large to go with a message",
    "not-regular": "it is not a plain file",
    "secret": "files with keys and passwords are not sent",
    "no-images": "this agent takes no images",
}
_SAID_CHARS = 300


def _said(text: str) -> str:
    words = " ".join(text.split())[:_SAID_CHARS]
    return f"; it said: {words}" if words else ""


def agent_sentence(error: CoreError) -> str | None:
    """The sentence; None for an error that is not about an agent."""
    match error:
        case a.UnknownAgent():
            why = f" ({error.problem})" if error.problem else ""
            return f"there is no agent {error.name!r}{why}; there are {', '.join(error.known)}; --agent-command runs any other"
        case a.AgentNeeded():
            return f"nobody said which agent is to answer in chat {error.chat}; --agent NAME or --agent-command CMD does"
        case a.AgentMissing():
            if "/" in error.name:
                return f"there is no program {error.name!r} that can be run; nothing was sent"
            way = f"; install it with: {error.install}" if error.install else ""
            return f"{error.name} was not found on this computer; nothing was sent{way}"
        case a.AgentNotSignedIn():
            ways = f"; its own ways are: {', '.join(error.ways)}" if error.ways else ""
            return f"{error.name} wants you to sign in first; nothing was sent{ways}{_said(error.said)}"
        case a.AgentFailed():
            return f"{error.name} {_failed(error)}{_said(error.said)}{_sent(error)}"
        case a.NotOffered():
            return f"{error.name} does not offer this: {error.what}; nothing was changed"
        case a.AttachmentRefused():
            return f"{error.path!r} cannot go with the message: {_ATTACHMENT.get(error.reason, error.reason)}; nothing was sent"
        case a.EmptyPrompt():
            return "there is nothing to send"
        case _:
            return None


_WHILE = {
    "start": "while it started",
    "handshake": "while it started",
    "session": "when its session was opened",
    "option": "when it was set",
    "sign-in": "while it signed in",
}
_COULD_NOT = {
    "start": "could not be started",
    "handshake": "could not be started",
    "session": "could not open a session",
    "option": "could not be set so",
    "sign-in": "could not sign in",
}


def _sent(error: a.AgentFailed) -> str:
    return "; nothing was sent" if error.step in ("start", "handshake") else ""


def _failed(error: a.AgentFailed) -> str:
    match error.reason:
        case "not-acp":
            return "does not speak ACP"
        case "version":
            return "speaks another version of ACP than this program"
        case "stopped":
            return "was stopped before it was there"
        case "silent" if error.step in ("start", "handshake"):
            return "gives no answer: it may not be an agent that speaks ACP"
        case "protocol":
            return "sent what no one can read, and was ended"
        case "exit":
            how = "" if error.status is None else f" (exit status {error.status})" if error.status >= 0 else " (killed)"
            return f"stopped unexpectedly{how} {_WHILE.get(error.step, 'during its turn')}"
        case "silent":
            return f"gave no answer {_WHILE.get(error.step, 'in its turn')}, and was ended"
        case "flood":
            return "sent more than can be read and was ended"
        case "said":
            return _COULD_NOT.get(error.step, "could not go on")
        case "closed":
            return "was ended"
        case _:
            return f"could not be started ({error.reason})" if error.step == "start" else f"failed ({error.reason})"
