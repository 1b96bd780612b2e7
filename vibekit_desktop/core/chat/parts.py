"""The older messages of long chats: ``desktop/overflow/<chat>-<n>.json``, each written once and never changed.

A part begins with what is needed to find the prompts in it, so that this costs no reading of messages. It is read only if its
bytes are those that the chat file names by hash; a part that is missing or wrong harms no other message.

| crash after | what is left | who cleans |
| --- | --- | --- |
| some parts | the old chat file, parts that nothing names | `ChatStore.drop_unnamed`, at the next change or a sweep |
| the chat file | the new chat, parts that only the old one named | the same |

Written under the vault's lock. Blocking.
"""

import errno
import hashlib
import re
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from vibekit_desktop.core.chat import codec
from vibekit_desktop.core.chat.merging import is_merged
from vibekit_desktop.core.disk import atomic, faults
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.types.chats import ChatPart, Message, Role
from vibekit_desktop.core.types.errors import CannotRead, CannotWrite, ChatDamaged
from vibekit_desktop.core.types.ids import ChatId

LARGEST = 256 << 20
"""Of one part: nothing larger is written or read."""
_REMEMBERED = 64
_NAME = re.compile(r"([A-Za-z0-9_-]{1,128})-([1-9][0-9]{0,8})\.json")

Prompt = tuple[int, int, str]
"""Index within the part, turn (0 = not said), text of a user message."""


class _Head(msgspec.Struct, frozen=True):
    chat: str
    n: int
    prompts: tuple[Prompt, ...]


class Parts:
    """The parts of one vault's chats. Invariant: a part that a chat file names is never written again."""

    def __init__(self, fs: Fs, desktop: Path) -> None:
        self._fs = fs
        self.folder = desktop / "overflow"
        self._prompts: OrderedDict[str, tuple[Prompt, ...]] = OrderedDict()
        self._page: tuple[str, tuple[Message, ...]] | None = None

    def path(self, chat: ChatId, n: int) -> Path:
        """The file of part ``n`` of a chat."""
        return self.folder / f"{chat}-{n}.json"

    # -- writing -------------------------------------------------------------------------------------------------

    def write(self, chat: ChatId, n: int, messages: Sequence[Message], objects: Sequence[object]) -> ChatPart:
        """A new part, durable when this returns. ``objects``: the messages as they are to be written."""
        prompts = [
            (index, message.turn, message.content)
            for index, message in enumerate(messages)
            if message.role == Role.USER and not is_merged(message)
        ]
        head = msgspec.json.encode({"chat": chat, "n": n, "prompts": prompts})[:-1]
        data = b"".join((head, b',"messages":', msgspec.json.encode(objects), b"}"))
        path = self.path(chat, n)
        if len(data) > LARGEST:
            raise CannotWrite(str(path), "larger than a message may be")
        faults.point("chat.part")
        self._fs.make_folder(self.folder)
        atomic.replace(self._fs, path, data)
        return ChatPart(
            n=n,
            messages=len(messages),
            size=len(data),
            sha=hashlib.sha256(data).hexdigest(),
            head=len(head),
            head_sha=hashlib.sha256(head).hexdigest(),
            prompts=len(prompts),
            turns=sum(1 for _, turn, _ in prompts if turn),
        )

    def adopt(self, owner: ChatId, parts: Iterable[ChatPart], chat: ChatId) -> tuple[ChatPart, ...]:
        """The same parts as parts of another chat, durable when this returns: hard links, or copies where there are none. One
        that is missing is missing there too."""
        found: list[ChatPart] = []
        number = self.next_number(chat)
        for part in parts:
            target = self.path(chat, number)
            faults.point("chat.part-link")
            self._link(self.path(owner, part.n), target)
            found.append(msgspec.structs.replace(part, n=number))
            number += 1
        if found:
            faults.point("chat.parts-linked")
            self._fs.sync_folder(self.folder)
        return tuple(found)

    def _link(self, source: Path, target: Path) -> None:
        try:
            self._fs.link(source, target)
        except FileNotFoundError:
            return
        except OSError as error:
            if error.errno == errno.EEXIST:  # nobody names it: the number was free
                raise CannotWrite(str(target), "exists already") from error
            try:
                data = self._fs.read_bytes(source, limit=LARGEST)
            except (FileNotFoundError, CannotRead):
                return  # as good as missing
            atomic.replace(self._fs, target, data)

    def next_number(self, chat: ChatId) -> int:
        """A number that no file of the chat's has, and none after it."""
        return max(self.numbers().get(chat, ()), default=0) + 1

    def numbers(self) -> dict[ChatId, list[int]]:
        """Every chat that has part files, and their numbers."""
        found: dict[ChatId, list[int]] = {}
        for name in self._fs.list_names(self.folder):
            match = _NAME.fullmatch(name)
            if match:
                found.setdefault(ChatId(match[1]), []).append(int(match[2]))
        return found

    def remove(self, chat: ChatId, numbers: Iterable[int]) -> None:
        """Remove part files that nothing names any more. Not synced: one too many harms nobody."""
        for number in sorted(numbers):
            faults.point("chat.part-remove")
            self._fs.remove(self.path(chat, number))

    # -- reading -------------------------------------------------------------------------------------------------

    def _read(self, chat: ChatId, part: ChatPart) -> bytes:
        """The bytes of a part, or `ChatDamaged` that says which it is."""
        try:
            data = self._fs.read_bytes(self.path(chat, part.n), limit=min(part.size, LARGEST))
        except FileNotFoundError as error:
            raise _damaged(chat, part, "missing") from error
        except CannotRead as error:
            raise _damaged(chat, part, f"not to be read ({error.reason})") from error
        if hashlib.sha256(data).hexdigest() != part.sha:
            raise _damaged(chat, part, "not what was written")
        return data

    def messages(self, chat: ChatId, part: ChatPart) -> tuple[Message, ...]:
        """The messages of a part."""
        if self._page is not None and self._page[0] == part.sha:
            return self._page[1]
        found = _counted(chat, part, codec.messages_of(self._read(chat, part)))
        self._page = part.sha, found  # pages are read one after the other
        return found

    def objects(self, chat: ChatId, part: ChatPart) -> list[object]:
        """The messages of a part as they were written, with the keys that we do not know."""
        return codec.objects_of(self._read(chat, part))

    def prompts(self, chat: ChatId, part: ChatPart) -> tuple[Prompt, ...]:
        """The user's messages in a part. Its messages are not read, so they may be damaged."""
        known = self._prompts.get(part.head_sha)
        if known is None:
            head = self._read_head(chat, part)
            try:
                known = msgspec.json.decode(head + b"}", type=_Head).prompts
            except (msgspec.MsgspecError, ValueError, RecursionError) as error:
                raise _damaged(chat, part, "not what was written") from error
            self._prompts[part.head_sha] = known
            if len(self._prompts) > _REMEMBERED:
                self._prompts.popitem(last=False)
        return known

    def _read_head(self, chat: ChatId, part: ChatPart) -> bytes:
        try:
            head = self._fs.read_start(self.path(chat, part.n), min(part.head, LARGEST))
        except FileNotFoundError as error:
            raise _damaged(chat, part, "missing") from error
        except CannotRead as error:
            raise _damaged(chat, part, f"not to be read ({error.reason})") from error
        if hashlib.sha256(head).hexdigest() != part.head_sha:
            raise _damaged(chat, part, "not what was written")
        return head

    def problem(self, chat: ChatId, part: ChatPart) -> str:
        """What is wrong with a part, in words; empty if nothing is."""
        try:
            self._read(chat, part)
        except ChatDamaged as error:
            return error.reason
        return ""


def _counted(chat: ChatId, part: ChatPart, found: tuple[Message, ...] | None) -> tuple[Message, ...]:
    if found is None or len(found) != part.messages:
        raise _damaged(chat, part, "not what was written")
    return found


def _damaged(chat: ChatId, part: ChatPart, what: str) -> ChatDamaged:
    return ChatDamaged(chat, f"part {part.n} of its older messages is {what}")
