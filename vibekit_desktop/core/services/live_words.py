"""What stands in a transcript where a live turn did not end by itself: one plain sentence, stored as it is. Pure."""

from vibekit_desktop.core.types.agent_errors import AgentFailed, AgentNotSignedIn
from vibekit_desktop.core.types.errors import CoreError

_SAID_CHARS = 500


def _said(text: str) -> str:
    words = " ".join(text.split())[:_SAID_CHARS]
    return f" It said: {words}" if words else ""


def what_happened(name: str, error: CoreError) -> str:
    """What an error of an agent's means for the chat it answered in."""
    match error:
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
        case _:
            return f"The turn could not be carried on ({error.code})."
