"""The transcript of a chat that our own window drives: what a turn adds at its beginning and at its end. Pure; any thread."""

import msgspec

from vibekit_desktop.core.chat.hooked import is_unnamed, name_of
from vibekit_desktop.core.types.chats import Chat, Message, Role


def last_said(chat: Chat) -> str:
    """The id of the last message by the person or the agent; empty before the first. What our own notes say, no agent knows."""
    spoken = (message for message in reversed(chat.messages or ()) if message.role != Role.EVENT)
    return next((message.id for message in spoken), "")


def in_step(chat: Chat) -> bool:
    """Whether the session that the chat names knows all that was said in it, and nothing that was taken back since."""
    return bool(chat.acp_session_id) and chat.session_seen == last_said(chat)


def begun(chat: Chat, turn: int, prompt: Message, *, session: str, answer: str) -> Chat:
    """The chat in which a turn of ours began. ``answer``: the id that the answer will have. A chat that followed another
    program's session does so no longer."""
    former = chat.acp_session_id
    prior = chat.prior_acp_session_ids
    retired = former and former != session and former not in prior
    return msgspec.structs.replace(
        chat,
        messages=(*(chat.messages or ()), msgspec.structs.replace(prompt, turn=turn)),
        name=name_of(prompt.content) if is_unnamed(chat.name) else chat.name,
        acp_session_id=session,
        prior_acp_session_ids=(*prior, former) if retired else prior,
        session_seen=answer,
        cut=chat.cut or bool(chat.source),
    )


def ended(chat: Chat, answer: Message | None, notes: tuple[Message, ...], *, heard: bool) -> Chat:
    """The chat after the turn. ``answer``: None if nothing was said. ``heard``: the session knows all of it; else its next turn
    begins another one."""
    present = chat.messages or ()
    said = () if answer is None or any(message.id == answer.id for message in present) else (answer,)
    after = msgspec.structs.replace(chat, messages=(*present, *said, *notes))
    return msgspec.structs.replace(after, session_seen=last_said(after) if heard else "")


def continued(chat: Chat, told: tuple[Message, ...], *, session: str) -> Chat:
    """A chat that begins with a session of an agent's own: what the agent told of it is its transcript."""
    first = next((message.content for message in told if message.role == Role.USER and message.content.strip()), "")
    filled = msgspec.structs.replace(
        chat,
        messages=told,
        name=name_of(first) if first and is_unnamed(chat.name) else chat.name,
        acp_session_id=session,
    )
    return msgspec.structs.replace(filled, session_seen=last_said(filled))
