"""Ids that cannot be mixed up, and the parsers that are the only way to make them.

Promise: a value of one of these types is valid; nothing inside checks it again. Never does I/O. Any thread.
"""

import re
import time
import uuid
from typing import NewType

from vibekit_desktop.core.types.errors import InvalidId, PathEscape

ChatId = NewType("ChatId", str)
"""1 to 128 of ``A-Z a-z 0-9 - _`` (chat.md 1.2)."""

MessageId = NewType("MessageId", str)
"""1 to 128 of ``A-Z a-z 0-9 _ . - :`` (chat.md 1.2)."""

BlobHash = NewType("BlobHash", str)
"""64 lower-case hex digits: the SHA-256 of the raw bytes."""

WorkspacePath = NewType("WorkspacePath", str)
"""A normalised path relative to a workspace, ``/`` between the parts, never empty, never leaving it.

Bytes that are not UTF-8 are held as surrogate escapes, so ``os.fsencode`` gives the exact name back.
"""

Tag = NewType("Tag", str)
"""The id of one announced capture: ``N`` or ``N.K`` (checkpoint.md 1.4)."""

VaultId = NewType("VaultId", str)
"""A UUID; or ``@`` and the folder for a vault that is open for one run only."""

_CHAT = re.compile(r"[A-Za-z0-9_-]{1,128}")
_MESSAGE = re.compile(r"[A-Za-z0-9_.:-]{1,128}")
_HASH = re.compile(r"[0-9a-f]{64}")
_TAG = re.compile(r"[0-9]+(\.[0-9]+)?")

UNKNOWN_HASH = BlobHash("0" * 64)
"""Written where a content existed whose hash nobody knows (docs/storage-format.md 2)."""

_CHAT_NAMESPACE = uuid.UUID("6f1d3a52-0f6f-5c1e-9d0c-6a5d7b0c9e41")


def parse_chat_id(text: str) -> ChatId:
    """Raise `InvalidId` unless ``text`` is a chat id."""
    if not _CHAT.fullmatch(text):
        raise InvalidId("chat id", len(text))
    return ChatId(text)


CHAT_LINK = "vibekit-desktop://chat/"


def chat_link(chat: ChatId) -> str:
    """The address of a chat, as it stands in notes and in other programs; `Chats.resolve` takes it back."""
    return f"{CHAT_LINK}{chat}"


def parse_message_id(text: str) -> MessageId:
    """Raise `InvalidId` unless ``text`` is a message id."""
    if not _MESSAGE.fullmatch(text):
        raise InvalidId("message id", len(text))
    return MessageId(text)


def parse_blob_hash(text: str) -> BlobHash:
    """Raise `InvalidId` unless ``text`` is 64 lower-case hex digits."""
    if not _HASH.fullmatch(text):
        raise InvalidId("blob hash", len(text))
    return BlobHash(text)


def parse_tag(text: str) -> Tag:
    """Raise `InvalidId` unless ``text`` is a tag; the text is kept as it is (``007`` stays ``007``)."""
    if not text.isascii() or not _TAG.fullmatch(text):
        raise InvalidId("tag", len(text))
    return Tag(text)


def tag_order(tag: Tag) -> tuple[int, int]:
    """The place of a tag among others: by turn, then by capture, as numbers (checkpoint.md 1.4). Never fails: what is no number
    there, or more than 63 bits hold, counts as 0."""
    turn, _, tool = tag.partition(".")
    return _number(turn), _number(tool)


def _number(text: str) -> int:
    digits = text.removeprefix("+")
    if not digits.isascii() or not digits.isdecimal():
        return 0
    value = int(digits) if len(digits) < _LONGEST_NUMBER else 0
    return value if value < 1 << 63 else 0


_LONGEST_NUMBER = 1000
"""Python refuses to read much longer ones."""


def parse_workspace_path(text: str) -> WorkspacePath:
    """Normalise a relative path with ``/``; raise `PathEscape` if it is absolute, empty, or leaves the workspace.

    Purely lexical (checkpoint.md 2.12): links are the business of `core.disk.workspace`, which follows none.
    """
    if not text or "\0" in text or text.startswith("/"):
        raise PathEscape(text)
    parts: list[str] = []
    for part in text.split("/"):
        if part in ("", "."):
            continue
        if part == "..":
            if not parts:
                raise PathEscape(text)
            parts.pop()
            continue
        parts.append(part)
    if not parts:
        raise PathEscape(text)
    return WorkspacePath("/".join(parts))


def imported_chat_id(source: str, session: str) -> ChatId:
    """The id of an imported session, known before it is materialised (docs/storage-format.md 6)."""
    return ChatId(str(uuid.uuid5(_CHAT_NAMESPACE, f"{source}:{session}")))


def new_chat_id(now_ms: int | None = None) -> ChatId:
    """A UUID version 7 (chat.md 1.2)."""
    stamp = int(time.time() * 1000) if now_ms is None else now_ms
    value = uuid.uuid4().int
    value &= ~(((1 << 48) - 1) << 80) & ((1 << 128) - 1)
    value |= (stamp & ((1 << 48) - 1)) << 80
    value &= ~(0xF << 76)
    value |= 0x7 << 76
    return ChatId(str(uuid.UUID(int=value)))
