"""What can still be read of a chat whose file is damaged: its row in the list, its transcript, and which messages are lost.

Only looks; a file that is damaged is never opened or written by what is found here. Pure; any thread. Nothing here raises.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from vibekit_desktop.core.chat import codec
from vibekit_desktop.core.types.chats import Chat, Damage, LostMessage, Message, Role, WhyLost
from vibekit_desktop.core.types.errors import InvalidId
from vibekit_desktop.core.types.ids import ChatId, parse_message_id

LOST = "unreadable"
"""The kind of the event that stands where a message can't be read, so that every other one keeps its place."""
_NAME_CHARS = 512
_LOOKED_AT = 1 << 16
"""Of a file that is no JSON: its name stands near its beginning, as we and the original write it."""
_KEY = re.compile(rb'^  "(name|agent)": ("(?:[^"\\\n]|\\.){0,4096}")', re.MULTILINE)
_LINE = re.compile(rb'^  "(\w{1,64})": (.*?),?$', re.MULTILINE)
_LIST, _EMPTY = b'\n  "messages": [\n', b'\n  "messages": []'
_NO_LIST = -1


@dataclass(frozen=True, slots=True)
class Salvaged:
    """Empty and 0 for what is lost. ``messages``: how many there are, if that is known; ``unreadable``: how many of them are
    no messages that could be shown."""

    name: str = ""
    agent: str = ""
    updated_at: int = 0
    messages: int = 0
    unreadable: int = 0


@dataclass(frozen=True, slots=True)
class _Wreck:
    """The keys that can be read, and each message: as it is written, or why not even that. ``ended``: no message may follow."""

    keys: Mapping[str, object]
    items: Sequence[object]
    ended: bool


def salvage(data: bytes) -> Salvaged:
    """What the row of a chat can say whose file can't be opened."""
    wreck = _look(data)
    read = [_message(item) for item in wreck.items] if wreck.ended else []
    name, agent, updated = (wreck.keys.get(key) for key in ("name", "agent", "updated_at"))
    return Salvaged(
        name=_words(name),
        agent=_words(agent),
        updated_at=updated if isinstance(updated, int) and not isinstance(updated, bool) and 0 < updated < 1 << 53 else 0,
        messages=len(read),
        unreadable=sum(1 for one in read if not isinstance(one, Message)),
    )


def transcript(data: bytes, chat: ChatId, problem: str, file: str) -> tuple[Chat, Damage]:
    """The chat as far as its file can be read, never to be written: an event of the kind `LOST` stands for every message that
    can't. ``problem``: why the file was refused; ``file``: where it is."""
    wreck = _look(data)
    found = _chat(wreck.keys, chat)
    messages: list[Message] = []
    lost: list[LostMessage] = []
    for index, item in enumerate(wreck.items, found.first_index):
        read = _message(item)
        if isinstance(read, Message):
            messages.append(read)
        else:
            lost.append(LostMessage(number=index + 1, why=read[0], key=read[1]))
            messages.append(Message(id=f"{LOST}-{index + 1}", role=Role.EVENT.value, event_kind=LOST))
    total = found.first_index + len(messages)
    damage = Damage(file=file, problem=problem, messages=total, lost=tuple(lost), ended=wreck.ended)
    return msgspec.structs.replace(found, messages=tuple(messages)), damage


# -- the file ----------------------------------------------------------------------------------------------------


def _look(data: bytes) -> _Wreck:
    try:
        found = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, ValueError, RecursionError):
        return _by_lines(data)
    if not isinstance(found, dict):
        return _Wreck({}, (), ended=True)
    listed = found.get("messages")
    keys = {key: value for key, value in found.items() if isinstance(key, str) and key != "messages"}
    return _Wreck(keys, listed if isinstance(listed, list) else (), ended=True)


def _by_lines(data: bytes) -> _Wreck:
    """Of a file that is no JSON: by the lines that we and the original begin and end a message with. A line break inside a text
    is written as two signs, so none of them can be within one."""
    at = data.find(_LIST)
    if at == _NO_LIST:
        empty = data.find(_EMPTY)
        told = _values(_KEY.findall(data[:_LOOKED_AT]))
        rest = data if empty != _NO_LIST else b""
        return _Wreck({**_keys_by_line(rest), **told}, (), ended=empty != _NO_LIST)
    lines = data[at + len(_LIST) :].split(b"\n")
    items: list[object] = []
    open_lines: list[bytes] = []
    ended, used = False, len(lines)
    for number, line in enumerate(lines):
        if line.startswith((b"  ]", b'  "')):  # the list is over; or its end is what is damaged, and a key of the chat follows
            ended, used = True, number + line.startswith(b"  ]")
            break
        if line.startswith(b"    {") and open_lines:
            items.append(_value(b"\n".join(open_lines)))
            open_lines = []
        open_lines.append(line)
        if line in (b"    }", b"    },"):
            items.append(_value(b"\n".join(open_lines).rstrip(b",")))
            open_lines = []
    if any(line.strip() for line in open_lines):
        items.append(WhyLost.NOT_JSON)
    return _Wreck({**_keys(b"{" + b"\n".join(lines[used:])), **_keys(data[:at].rstrip(b",") + b"}")}, items, ended)


def _keys(data: bytes) -> Mapping[str, object]:
    """The keys of a piece that should be an object, the whole of it or what of it is on one line."""
    try:
        return msgspec.json.decode(data, type=dict[str, object])
    except (msgspec.MsgspecError, UnicodeDecodeError, ValueError, RecursionError):
        return _keys_by_line(data)


def _keys_by_line(data: bytes) -> Mapping[str, object]:
    return _values(_LINE.findall(data))


def _values(found: Sequence[tuple[bytes, bytes]]) -> dict[str, object]:
    """Keys with what their values say; those that say nothing are left out."""
    told = {key.decode("ascii", "replace"): _value(value) for key, value in reversed(found)}
    return {key: value for key, value in told.items() if value is not WhyLost.NOT_JSON}


def _value(raw: bytes) -> object:
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, ValueError, RecursionError):
        return WhyLost.NOT_JSON


# -- the values --------------------------------------------------------------------------------------------------


def _words(value: object) -> str:
    return value.encode("utf-8", "replace").decode("utf-8").strip()[:_NAME_CHARS] if isinstance(value, str) else ""


def _chat(keys: Mapping[str, object], chat: ChatId) -> Chat:
    """The keys of a chat that have a value of their kind; the others at their default."""
    good: dict[str, object] = {}
    for key, value in keys.items():
        try:
            codec.check_ids(msgspec.convert({key: value, "id": chat}, Chat))
        except (msgspec.MsgspecError, codec.Unreadable, ValueError, RecursionError):
            continue
        good[key] = value
    return msgspec.convert({**good, "id": chat, "messages": []}, Chat)


def _message(item: object) -> Message | tuple[WhyLost, str]:
    """A message, or why it is none and which of its keys is to blame."""
    if isinstance(item, WhyLost):
        return item, ""
    if not isinstance(item, dict):
        return WhyLost.NO_OBJECT, ""
    found = _converted(item)
    if found is None:
        return WhyLost.WRONG_TYPE, next((str(key) for key in item if _converted({key: item[key]}) is None), "")
    try:
        parse_message_id(found.id)
    except InvalidId:
        return WhyLost.NO_ID, "id"
    return found


def _converted(item: Mapping[object, object]) -> Message | None:
    for plain in (item, codec.without_nulls(item)):
        try:
            return msgspec.json.decode(msgspec.json.encode(plain), type=Message)
        except (msgspec.MsgspecError, ValueError, RecursionError, TypeError):
            continue
    return None
