"""What a branch says that its parent does not, as messages for the parent's end. Pure.

A merged message has an id made of the branch's and its own, so that merging again after a crash, or after the branch went on,
adds nothing twice. It belongs to no turn of the parent: its files are the branch's.
"""

import uuid
from collections.abc import Sequence

import msgspec

from vibekit_desktop.core.types.chats import Chat, Message, Role

PREFIX = "merged-"
"""How the ids of merged messages begin."""
KIND = "merged"
_NAMESPACE = uuid.UUID("b7c1f0de-3f4b-5a53-9a57-0d3c1a6e2f80")


def is_merged(message: Message) -> bool:
    """Whether a message came from a branch, and so begins no turn here."""
    return message.id.startswith(PREFIX)


def own_messages(parent: Sequence[Message], branch: Sequence[Message]) -> Sequence[Message]:
    """What comes after the last message that both begin with."""
    shared = 0
    while shared < min(len(parent), len(branch)) and parent[shared].id == branch[shared].id:
        shared += 1
    return branch[shared:]


def to_append(parent: Sequence[Message], own: Sequence[Message], branch: Chat, *, now: int) -> tuple[Message, ...]:
    """The messages that the parent does not have yet, and after them a row that names the branch; empty if it has all."""
    known = {message.id for message in parent}
    fresh = [
        msgspec.structs.replace(message, id=identity, turn=0, checkpoint_tag="")
        for message in own
        if (identity := _id(branch.id, message.id)) not in known
    ]
    if not fresh:
        return ()
    row = Message(
        id=_id(branch.id, fresh[-1].id), role=Role.EVENT.value, event_kind=KIND, ts=now, content=f"{branch.name} ({branch.id})"
    )
    return (*fresh, row)


def _id(branch: str, message: str) -> str:
    return f"{PREFIX}{uuid.uuid5(_NAMESPACE, f'{branch}:{message}')}"
