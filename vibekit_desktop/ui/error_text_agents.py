"""The words of errors that are about an agent: title and detail. What an agent said itself is quoted. UI thread only."""

from collections.abc import Callable, Mapping

from vibekit_desktop.core.types import agent_errors, errors
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.visible import one_line

Words = tuple[str, str]
_SAID_CHARS = 200


def _said(text: str) -> str:
    return tr("It said: “{text}”", text=one_line(text, _SAID_CHARS)) if text.strip() else ""


def _joined(*sentences: str) -> str:
    return " ".join(one for one in sentences if one)


def _unknown(error: agent_errors.UnknownAgent) -> Words:
    return tr("There is no agent “{name}”.", name=error.name), tr(
        "Nothing was changed. Choose one of the list, or give a command."
    )


def _needed(_error: agent_errors.AgentNeeded) -> Words:
    return tr("This chat has no agent yet."), tr("Nothing was sent. Choose the agent that is to answer.")


def _missing(error: agent_errors.AgentMissing) -> Words:
    way = tr("Install it with: {command}", command=error.install) if error.install else ""
    return tr("{name} was not found on this computer.", name=error.name), _joined(tr("Nothing was sent."), way)


def _not_signed_in(error: agent_errors.AgentNotSignedIn) -> Words:
    return tr("{name} wants you to sign in first.", name=error.name), _joined(tr("Nothing was sent."), _said(error.said))


def _failed(error: agent_errors.AgentFailed) -> Words:
    match error.reason:
        case "exit":
            title = tr("{name} stopped unexpectedly.", name=error.name)
        case "silent" if error.step == "handshake":
            title = tr("{name} gives no answer. It may not be an agent that speaks ACP.", name=error.name)
        case "silent":
            title = tr("{name} gives no answer.", name=error.name)
        case "not-acp":
            title = tr("{name} does not speak ACP, the protocol of agents.", name=error.name)
        case "version":
            title = tr("{name} speaks another version of ACP than we do.", name=error.name)
        case "stopped":
            title = tr("The start of {name} was stopped.", name=error.name)
        case "flood":
            title = tr("{name} sent more than can be read, and was ended.", name=error.name)
        case "said":
            title = tr("{name} could not do this.", name=error.name)
        case "closed":
            title = tr("{name} was ended.", name=error.name)
        case _:
            title = tr("{name} could not be used.", name=error.name)
    match error.step:
        case "start" | "handshake":
            what = tr("Nothing was sent.")
        case "option" | "sign-in":
            what = tr("Nothing was changed.")
        case _:  # of a session also: one that was open may have ended in the middle of a turn
            what = tr("What it had changed until then is in the timeline.")
    return title, _joined(what, _said(error.said))


def _not_offered(error: agent_errors.NotOffered) -> Words:
    what = one_line(error.what, _SAID_CHARS)
    return tr("{name} does not offer this: {what}.", name=error.name, what=what), tr("Nothing was changed.")


_ATTACHMENT = {
    "missing": "There is no such file.",
    "too-large": "It is too large to go with a message.",
    "not-regular": "It is not a plain file.",
    "secret": "Files with keys and passwords are not sent.",
    "no-images": "This agent takes no images.",
}


def _attachment(error: agent_errors.AttachmentRefused) -> Words:
    why = tr(_ATTACHMENT.get(error.reason, error.reason))
    return tr("{path} can't go with the message.", path=error.path), _joined(why, tr("Nothing was sent."))


def _empty(_error: agent_errors.EmptyPrompt) -> Words:
    return tr("There is nothing to send."), tr("Write something first.")


WORDS: Mapping[type[errors.CoreError], Callable[..., Words]] = {
    agent_errors.UnknownAgent: _unknown,
    agent_errors.AgentNeeded: _needed,
    agent_errors.AgentMissing: _missing,
    agent_errors.AgentNotSignedIn: _not_signed_in,
    agent_errors.AgentFailed: _failed,
    agent_errors.NotOffered: _not_offered,
    agent_errors.AttachmentRefused: _attachment,
    agent_errors.EmptyPrompt: _empty,
}
"""By class: title and detail."""
