"""What a row of the list can still say of a chat whose file is damaged: its name, its agent, how many messages are unreadable.

Only looks; a file that is damaged is never opened or written by what is found here. Pure; any thread. Nothing here raises.
"""

import re
from dataclasses import dataclass

import msgspec

from vibekit_desktop.core.types.chats import Message
from vibekit_desktop.core.types.errors import InvalidId
from vibekit_desktop.core.types.ids import parse_message_id

_NAME_CHARS = 512
_LOOKED_AT = 1 << 16
"""Of a file that is no JSON: its name stands near its beginning, as we and the original write it."""
_KEY = re.compile(rb'^  "(name|agent)": ("(?:[^"\\\n]|\\.){0,4096}")', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Salvaged:
    """Empty and 0 for what is lost. ``messages``: how many there are, if that is known; ``unreadable``: how many of them are
    no messages that could be shown."""

    name: str = ""
    agent: str = ""
    updated_at: int = 0
    messages: int = 0
    unreadable: int = 0


def salvage(data: bytes) -> Salvaged:
    """What can be read of a chat file that can't be opened."""
    try:
        found = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, ValueError, RecursionError):
        told = {key: _text(value) for key, value in reversed(_KEY.findall(data[:_LOOKED_AT]))}
        return Salvaged(name=_words(told.get(b"name")), agent=_words(told.get(b"agent")))
    if not isinstance(found, dict):
        return Salvaged()
    listed, updated = found.get("messages"), found.get("updated_at")
    messages = listed if isinstance(listed, list) else []
    return Salvaged(
        name=_words(found.get("name")),
        agent=_words(found.get("agent")),
        updated_at=updated if isinstance(updated, int) and not isinstance(updated, bool) and 0 < updated < 1 << 53 else 0,
        messages=len(messages),
        unreadable=sum(1 for one in messages if not _is_message(one)),
    )


def _text(raw: bytes) -> object:
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, ValueError):
        return None


def _words(value: object) -> str:
    return value.encode("utf-8", "replace").decode("utf-8").strip()[:_NAME_CHARS] if isinstance(value, str) else ""


def _is_message(value: object) -> bool:
    try:
        parse_message_id(msgspec.convert(value, Message).id)
    except (msgspec.ValidationError, InvalidId, ValueError, RecursionError):
        return False
    return True
