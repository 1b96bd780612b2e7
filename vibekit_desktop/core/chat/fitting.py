"""Make a chat fit into its file: what is too much goes, oldest first, into parts.

The parts are durable before the caller writes the file that names them. Blocking.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from vibekit_desktop.core.chat import codec, split
from vibekit_desktop.core.chat.parts import Parts
from vibekit_desktop.core.types.chats import Chat, ChatPart, Message
from vibekit_desktop.core.types.errors import CannotWrite, ChatDamaged, InvalidText
from vibekit_desktop.core.types.ids import ChatId

TOO_LARGE = "larger than a chat file may be"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatLimits:
    """Sizes in bytes. ``read``: no larger chat file is read, as with the original. ``write``: no larger one is written.
    ``split_over``: from a larger one the older messages go into parts. ``split_to``: how much of the messages then stays, and
    how large a part may be.

    A chat is opened by reading its file, so ``split_over`` decides how long that takes, however long the chat is."""

    read: int = 32 << 20
    write: int = 24 << 20
    split_over: int = 4 << 20
    split_to: int = 2 << 20

    def threshold(self, frame: int) -> int:
        """The size of a file that is split. ``frame``: how much of it is no message; there is room for some beside it, so that
        a file with a large frame is not split at every change."""
        return min(self.write, max(self.split_over, frame + 2 * self.split_to))


LIMITS = ChatLimits()
_MANY = 1_000
_Back = list[tuple[ChatPart, list[object]]]


def fitted(parts: Parts, path: Path, chat: Chat, raw: Mapping[str, object], limits: ChatLimits) -> tuple[Chat, bytes]:
    """The chat as it is to be written, and the bytes of its file. ``raw``: the object of the file that is there.

    `InvalidText` if it holds half characters, `CannotWrite` with `TOO_LARGE` if it is too large without its messages.
    """
    try:
        return _fitted(parts, path, chat, raw, limits)
    except UnicodeEncodeError as error:
        raise InvalidText(chat.id) from error


def _much_too_long(objects: list[object], limits: ChatLimits, frame: int) -> bool:
    """Whether many messages are so long that they need not be encoded as a whole to know that they do not fit: while that is
    done nothing else is, in any thread."""
    if len(objects) <= _MANY:
        return False
    most, total = 2 * max(limits.split_over, limits.threshold(frame)), 0
    for item in objects:
        total += codec.size_in_file(item)
        if total > most:
            return True
    return False


def _fitted(parts: Parts, path: Path, chat: Chat, raw: Mapping[str, object], limits: ChatLimits) -> tuple[Chat, bytes]:
    messages = chat.messages or ()
    back = _coming_back(parts, chat, raw)
    listed = raw.get("messages")
    earlier = [item for _, items in back for item in items] + (listed if isinstance(listed, list) else [])
    objects = codec.objects(messages, earlier)
    if not _much_too_long(objects, limits, _frame(chat, raw) if len(objects) > _MANY else 0):
        data = codec.encode_with(chat, raw, None if chat.messages is None else objects)
        if len(data) <= min(limits.split_over, limits.write) or len(data) <= limits.threshold(_frame(chat, raw)):
            return chat, data
    named = [*chat.parts]
    at = 0
    for part, items in back:  # what is the same messages still is the same part still
        end = at + len(items)
        if end > len(objects) or not all(new is old for new, old in zip(objects[at:end], items, strict=True)):
            break
        named.append(part)
        at = end
    rest, objects = messages[at:], objects[at:]
    frame = _frame(msgspec.structs.replace(chat, parts=tuple(named)), raw)
    if frame > limits.write:
        raise CannotWrite(str(path), TOO_LARGE)
    sizes = [codec.size_in_file(item) for item in objects]
    first = 0
    if frame + sum(sizes) > limits.threshold(frame):
        most = limits.write - frame
        first = split.first_kept(rest, sizes, room=min(limits.split_to, most), most=most)
    for start, end in split.groups([codec.size_in_part(item) for item in objects[:first]], limits.split_to):
        named.append(new_part(parts, ChatId(chat.id), rest[start:end], objects[start:end]))
    saved = msgspec.structs.replace(chat, parts=tuple(named), messages=rest[first:])
    data = codec.encode_with(saved, raw, objects[first:])
    if len(data) > limits.write:
        raise CannotWrite(str(path), TOO_LARGE)
    return saved, data


def _frame(chat: Chat, raw: Mapping[str, object]) -> int:
    """How large the file would be without messages."""
    return len(codec.encode_with(msgspec.structs.replace(chat, messages=()), raw, []))


def _coming_back(parts: Parts, chat: Chat, raw: Mapping[str, object]) -> _Back:
    """The parts of the file that is there whose messages are among the chat's ``messages`` now, in order, with those
    messages as they were written: with the keys that we do not know."""
    found: _Back = []
    messages = chat.messages or ()
    kept = {part.sha for part in chat.parts}
    at = 0
    for part in codec.parts_of(raw):
        if part.sha in kept:
            continue
        if at >= len(messages):
            break
        try:
            items = parts.objects(ChatId(chat.id), part)
        except ChatDamaged:
            break  # where its messages come from is the caller's business
        if not items or codec.id_of(items[0]) != messages[at].id:
            break
        found.append((part, items))
        at += len(items)
    return found


def new_part(parts: Parts, chat: ChatId, messages: Sequence[Message], objects: Sequence[object]) -> ChatPart:
    """Write messages as a part of their own."""
    try:
        return parts.write(chat, parts.next_number(chat), messages, objects)
    except UnicodeEncodeError as error:
        raise InvalidText(chat) from error
