"""Chat files to values and back, for every version that was ever written.

Reading is strict: what could poison a later save (half characters, NaN, keys given twice, numbers or nesting no machine holds)
is refused as damaged, the file stays. Writing overlays our values on the raw object, so that keys we do not know survive. Pure.
"""

import json
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from vibekit_desktop.core.types.chats import Block, Chat, ChatPart, DiffFragment, Location, Message, Role, ToolCall
from vibekit_desktop.core.types.errors import InvalidId
from vibekit_desktop.core.types.ids import parse_blob_hash, parse_chat_id, parse_message_id

FORMAT_KEY = "desktop_format"
FORMAT = 2
"""A file with a larger number is by a newer version: shown, never written. Files without parts are written as 1: they are as
they were before there were parts."""

_ALWAYS_CHAT: dict[str, object] = {
    "usage": {
        "context_pct": 0,
        "context_size": 0,
        "credits": 0,
        "turn_count": 0,
        "last_turn_ms": 0,
        "has_real_data": False,
    },
    "message_count": 0,
    "created_at": 0,
    "updated_at": 0,
}


CHECKED_BYTES = 1 << 20
"""Up to here every value of a file is looked at before its row is shown; of larger ones only what the row needs."""
WRITTEN = b'{\n  "'
"""How every chat file begins that we or the original wrote."""


class _Shown(Chat, frozen=True, kw_only=True):
    desktop_format: int = 0


class Unreadable(Exception):
    """The file is no chat that may be loaded; the text says why, without content."""


def _names(struct: type[msgspec.Struct]) -> frozenset[str]:
    return frozenset(field.encode_name for field in msgspec.structs.fields(struct))


_CHAT, _MESSAGE, _CALL = _names(Chat), _names(Message), _names(ToolCall)


def decode(data: bytes, chat_id: str) -> tuple[Chat, dict[str, object]]:
    """The chat and the raw object of a file whose stem is ``chat_id``; `Unreadable` if it is damaged."""
    raw, compact = _strict(data)
    try:
        chat = msgspec.json.decode(compact, type=Chat)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        try:
            chat = msgspec.json.decode(msgspec.json.encode(without_nulls(raw)), type=Chat)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise Unreadable("a key has a value of a wrong type") from error
    if chat.id != chat_id:
        raise Unreadable("the id inside is not the file's name")
    check_ids(chat)
    return chat, raw


class Stored(Mapping[str, object]):
    """The object of a chat file as it is stored, decoded when somebody asks for it."""

    def __init__(self, data: bytes, over: Mapping[str, object]) -> None:
        self._data = data
        self._over = over
        self._found: dict[str, object] | None = None

    def _object(self) -> dict[str, object]:
        if self._found is None:
            self._found = {**msgspec.json.decode(self._data, type=dict[str, object]), **self._over}
        return self._found

    def __getitem__(self, key: str) -> object:
        return self._object()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._object())

    def __len__(self) -> int:
        return len(self._object())


def decode_to_show(data: bytes, chat_id: str) -> tuple[Chat, int]:
    """The chat of a file, and the format it says, to be shown and not to be written again: in a large file keys that are given
    twice are not looked for, nor values that we do not know. `Unreadable` if it is damaged."""
    if len(data) > CHECKED_BYTES and data.startswith(WRITTEN):
        try:
            found = msgspec.json.decode(data, type=_Shown)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            found = None  # the slow way says what is wrong, or that nothing is
        if found is not None and found.id == chat_id:
            check_ids(found)
            return found, found.desktop_format
    chat, raw = decode(data, chat_id)
    said = raw.get(FORMAT_KEY)
    return chat, said if isinstance(said, int) else 0


def is_newer(raw: Mapping[str, object]) -> bool:
    """Whether a newer version wrote the chat: it is shown and never changed."""
    found = raw.get(FORMAT_KEY)
    return isinstance(found, int) and found > FORMAT


def check_ids(chat: Chat) -> None:
    """Raise `Unreadable` unless every id that becomes a file's name or an address is of its kind, and every part can be one."""
    try:
        parse_chat_id(chat.id)
        if chat.parent_chat_id:
            parse_chat_id(chat.parent_chat_id)
        for _, _, branch in chat.removed_turns:
            parse_chat_id(branch)
        for message in chat.messages or ():
            parse_message_id(message.id)
        for part in chat.parts:
            parse_blob_hash(part.sha)
            parse_blob_hash(part.head_sha)
    except InvalidId as error:
        raise Unreadable(f"a {error.kind} is not valid") from error
    if len({part.n for part in chat.parts}) != len(chat.parts) or not all(_possible(part) for part in chat.parts):
        raise Unreadable("what it says of its older messages cannot be")


def _possible(part: ChatPart) -> bool:
    counts = 0 <= part.turns <= part.prompts <= part.messages and 0 < part.messages < _MOST
    return counts and 0 < part.n < _MOST and 0 < part.head < part.size < 1 << 48


def encode(chat: Chat, raw: Mapping[str, object] | None = None) -> bytes:
    """The bytes of a chat file: our values over the object that was read, unknown keys kept."""
    found = None if chat.messages is None else objects(chat.messages, (raw or {}).get("messages"))
    return encode_with(chat, raw, found)


def encode_with(chat: Chat, raw: Mapping[str, object] | None, messages: list[object] | None) -> bytes:
    """`encode`, the messages as they are to be written. `UnicodeEncodeError` if a text holds half characters."""
    known = {key: value for key, value in (raw or {}).items() if key not in _CHAT}
    merged = {**_ALWAYS_CHAT, **known, **_plain(chat), FORMAT_KEY: FORMAT if chat.parts else 1, "messages": messages}
    order = ["id", "name", "model", "acp_session_id", "messages", "usage", "created_at", "updated_at", "message_count"]
    ordered = {key: merged[key] for key in order if key in merged} | merged
    ordered.setdefault("name", "")
    return msgspec.json.format(msgspec.json.encode(ordered), indent=2)


class _Messages(msgspec.Struct, frozen=True):
    messages: tuple[Message, ...]


class _Objects(msgspec.Struct, frozen=True):
    messages: list[object]


def messages_of(part: bytes) -> tuple[Message, ...] | None:
    """The messages in the bytes of a part; None if they cannot be read."""
    try:
        return msgspec.json.decode(part, type=_Messages).messages
    except (msgspec.MsgspecError, ValueError, RecursionError):
        pass
    try:
        plain = without_nulls(msgspec.json.decode(part))
        return msgspec.json.decode(msgspec.json.encode(plain), type=_Messages).messages
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


def objects_of(part: bytes) -> list[object]:
    """The messages in the bytes of a part as they were written; none if they cannot be read."""
    try:
        return msgspec.json.decode(part, type=_Objects).messages
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return []


def parts_of(raw: Mapping[str, object]) -> tuple[ChatPart, ...]:
    """The parts that the raw object of a chat names; none that could not be read."""
    try:
        return msgspec.convert(raw.get("parts") or (), type=tuple[ChatPart, ...])
    except msgspec.MsgspecError:
        return ()


def id_of(item: object) -> str:
    """The id of a message as it is written."""
    found = item.get("id") if isinstance(item, dict) else None
    return found if isinstance(found, str) else ""


def size_in_file(item: object) -> int:
    """How many bytes a message takes in a chat file."""
    written = msgspec.json.format(msgspec.json.encode(item), indent=2)
    return len(written) + _DEPTH * (written.count(b"\n") + 1) + len(b",\n")


def size_in_part(item: object) -> int:
    """How many bytes a message takes in a part, its prompt there counted too."""
    said = item.get("content") if isinstance(item, dict) and item.get("role") == Role.USER else None
    return len(msgspec.json.encode(item)) + (len(msgspec.json.encode(said)) if said else 0) + 32


_MOST = 10**9
_DEPTH = 4
"""The indentation of a message in a chat file."""


def objects(messages: Iterable[Message], raw: object) -> list[object]:
    """Messages as they are written: each over the raw one of its id, which is handed back itself where nothing changed."""
    earlier: dict[str, dict[str, object]] = {}
    for item in raw if isinstance(raw, list) else ():
        if isinstance(item, dict) and isinstance(item.get("id"), str):
            earlier.setdefault(item["id"], item)
    return [_overlaid(message, earlier.get(message.id)) for message in messages]


def _overlaid(message: Message, raw: dict[str, object] | None) -> object:
    if raw is None:
        return _message(message)
    try:
        if msgspec.json.decode(msgspec.json.encode(raw), type=Message) == message:
            return raw
    except msgspec.MsgspecError:
        pass
    calls: dict[object, dict[str, object]] = {}
    listed = raw.get("tool_calls")
    for item in listed if isinstance(listed, list) else ():
        if isinstance(item, dict):
            calls[item.get("id")] = {key: value for key, value in item.items() if key not in _CALL}
    fresh = _message(message)
    made = fresh.get("tool_calls")
    if isinstance(made, list):
        fresh["tool_calls"] = [{**calls.get(call["id"], {}), **call} for call in made]
    return {**{key: value for key, value in raw.items() if key not in _MESSAGE}, **fresh}


def _message(message: Message) -> dict[str, object]:
    """A message with the keys that are written also when they are empty (chat.md 1.6 to 1.8)."""
    made = {"id": message.id, "role": message.role, "ts": message.ts} | _plain(message)
    if message.tool_calls:
        made["tool_calls"] = [_call(call) for call in message.tool_calls]
    if message.blocks:
        made["blocks"] = [_block(block) for block in message.blocks]
    return made


def _block(block: Block) -> dict[str, object]:
    return {"type": block.type} | _plain(block)


def _call(call: ToolCall) -> dict[str, object]:
    made: dict[str, object] = {"id": call.id, "title": call.title, "kind": call.kind, "status": call.status, "ts": call.ts}
    made |= _plain(msgspec.structs.replace(call, input=msgspec.Raw(b"null")))
    made.pop("input", None)
    if bytes(call.input):
        made["input"] = call.input
    if call.locations:
        made["locations"] = [_location(location) for location in call.locations]
    if call.diffs:
        made["diffs"] = [_fragment(fragment) for fragment in call.diffs]
    return made


def _location(location: Location) -> dict[str, object]:
    return {"path": location.path} | _plain(location)


def _fragment(fragment: DiffFragment) -> dict[str, object]:
    return {"path": fragment.path, "new_text": fragment.new_text} | _plain(fragment)


def _plain(value: msgspec.Struct) -> dict[str, object]:
    """The keys of a struct that are not at their default; the parts that need more are put in by the callers."""
    found: dict[str, object] = {}
    for field in msgspec.structs.fields(type(value)):
        item: object = getattr(value, field.name)
        if item != field.default and field.encode_name not in ("messages", "tool_calls", "blocks", "locations", "diffs"):
            found[field.encode_name] = item
    return found


def _strict(data: bytes) -> tuple[dict[str, object], bytes]:
    """The raw object and its compact writing, or `Unreadable`."""
    try:
        raw: object = msgspec.json.decode(data)
    except RecursionError as error:
        raise Unreadable("nested too deeply") from error
    except (msgspec.MsgspecError, ValueError) as error:
        raise Unreadable("not JSON that can be written again") from error
    if not isinstance(raw, dict):
        raise Unreadable("not an object")
    # A file of ours that equals its own writing has no key twice; only others need the slow look.
    compact = msgspec.json.encode(raw)
    if msgspec.json.format(compact, indent=2) != data:
        try:
            json.loads(data, object_pairs_hook=_once)
        except RecursionError as error:
            raise Unreadable("nested too deeply") from error
        except ValueError as error:
            raise Unreadable(str(error) if isinstance(error, _Twice) else "not JSON") from error
    return raw, compact


class _Twice(ValueError):
    pass


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Twice("a key is given twice")
    return found


def without_nulls(value: object) -> object:
    """The original writes null for some lists without members."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value
