"""Cut a transcript and bring it back, so that no message is ever lost: the whole of it is a branch first.

The checkpoint kernel calls these inside a restore and again after a crash, so each may run any number of times.

| crash after | what is left | who goes on |
| --- | --- | --- |
| keep_as_branch | two whole transcripts | the kernel: cut |
| cut | the short one and the branch | nobody needs to |
| bring_back saved | the whole one, and the branch too | the kernel: bring_back removes it |

The caller holds the vault's lock. Blocking.
"""

import logging
from collections.abc import Callable, Iterator, Mapping

import msgspec

from vibekit_desktop.core.chat.merging import is_merged
from vibekit_desktop.core.chat.parts import Prompt
from vibekit_desktop.core.chat.store import ChatStore
from vibekit_desktop.core.types.chats import Chat, Role, TranscriptShape
from vibekit_desktop.core.types.errors import ChatDamaged, ChatNotFound
from vibekit_desktop.core.types.ids import ChatId

_NAME_BYTES = 512
_log = logging.getLogger(__name__)


class StoredTranscripts:
    """The transcripts of one vault, as the kernel may see them."""

    def __init__(self, store: ChatStore, *, clock: Callable[[], int]) -> None:
        self._store = store
        self._clock = clock

    def shape(self, chat: ChatId) -> TranscriptShape:
        """Length and prompts of a transcript; nothing at all if there is no chat file. The prompts in a part that is missing or
        damaged are not told. Of a chat that is damaged itself what can be read is told but for the places: nobody can cut it,
        and its files have a history all the same."""
        try:
            return self.shape_of(self._store.load(chat)[0])
        except ChatNotFound:
            return TranscriptShape(messages=0, prompt_index={}, prompts={})
        except ChatDamaged:
            told = self.shape_of(self._store.load_damaged(chat)[0])
            return TranscriptShape(messages=max(1, told.messages), prompt_index={}, prompts=told.prompts)

    def shape_of(self, found: Chat, *, newest: bool = False) -> TranscriptShape:
        """The same of a chat as it was read. ``newest``: only what the messages in the chat file need, so that opening a chat
        costs the same however long it is; where prompts do not say their turn, all are needed for that."""
        places: dict[int, int] = {}
        prompts: dict[int, str] = {}
        unmarked: dict[int, str] = {}
        for index, turn, text in self._newest(found) if newest else self._prompts(found):
            if not turn:
                unmarked[index] = text
            elif turn not in places:
                places[turn] = index
                prompts[turn] = text
        return TranscriptShape(messages=self._store.count(found), prompt_index=places, prompts=prompts, unmarked=unmarked)

    def _newest(self, chat: Chat) -> Iterator[Prompt]:
        """The prompts in the chat file, and the last one before them."""
        own = [*self._of_file(chat)]
        if not all(turn for _, turn, _ in own) or any(part.prompts != part.turns for part in chat.parts):
            yield from self._prompts(chat)
            return
        first = chat.first_index
        for part in reversed(chat.parts):
            first -= part.messages
            if part.prompts:
                try:
                    index, turn, text = self._store.parts.prompts(ChatId(chat.id), part)[-1]
                    yield first + index, turn, text
                except ChatDamaged as error:
                    _log.info("the prompts of chat %s are not all known: %s", chat.id, error.reason)
                break
        yield from own

    def _prompts(self, chat: Chat) -> Iterator[Prompt]:
        first = 0
        for part in chat.parts:
            try:
                for index, turn, text in self._store.parts.prompts(ChatId(chat.id), part):
                    yield first + index, turn, text
            except ChatDamaged as error:
                _log.info("the prompts of chat %s are not all known: %s", chat.id, error.reason)
            first += part.messages
        yield from self._of_file(chat)

    def _of_file(self, chat: Chat) -> Iterator[Prompt]:
        for index, message in enumerate(chat.messages or (), chat.first_index):
            if message.role == Role.USER and not is_merged(message):
                yield index, message.turn, message.content

    def keep_as_branch(self, chat: ChatId, branch: ChatId, *, keep: int, first_turn: int) -> None:
        """A chat of its own that holds the whole present transcript. A branch that is there already stays as it is."""
        self._copy(chat, branch, keep=None, first_turn=first_turn)

    def branch(self, chat: ChatId, branch: ChatId, *, keep: int, first_turn: int) -> None:
        """A chat of its own that holds the first ``keep`` messages. A branch that is there already stays as it is."""
        self._copy(chat, branch, keep=keep, first_turn=first_turn)

    def _copy(self, chat: ChatId, branch: ChatId, *, keep: int | None, first_turn: int) -> None:
        if self._store.where(branch):
            return
        whole, raw = self._store.load(chat)
        kept = whole if keep is None else self._store.shortened(whole, keep)
        now = self._clock()
        copy = msgspec.structs.replace(
            kept,
            id=branch,
            name=branch_name(whole.name),
            acp_session_id="",
            prior_acp_session_ids=(),
            parent_chat_id=chat,
            rewind_from_turn=first_turn,
            parts=self._store.parts.adopt(chat, kept.parts, branch),
            created_at=now,
            updated_at=now,
            archived_at=0,
            summary="",
            pinned_at=0,
            source="",
            source_session="",
            source_path="",
            source_stamp="",
            cut=False,
            hooked_from=0,
            removed_turns=(),
        )
        self._store.save(copy, {"messages": self._objects(whole, raw, kept)})

    def _objects(self, whole: Chat, raw: Mapping[str, object], kept: Chat) -> list[object]:
        """The messages of ``kept`` as they are written in ``whole``: its last ones may come out of the part where it ends."""
        listed = raw.get("messages")
        found: list[object] = [*listed] if isinstance(listed, list) else []
        for part in whole.parts[len(kept.parts) : len(kept.parts) + 1]:
            found = [*self._store.parts.objects(ChatId(whole.id), part), *found]
        return found

    def cut(self, chat: ChatId, *, keep: int, branch: ChatId, first_turn: int, last_turn: int) -> None:
        """Keep the first ``keep`` messages and remember where the others are. Refused if the branch is not there."""
        if not self._store.where(branch):
            raise ChatNotFound(branch)

        def shorten(whole: Chat, _: bool) -> Chat | None:
            if any(name == branch for _, _, name in whole.removed_turns):
                return None
            self._store.load(branch)  # nothing goes that could not be read there
            return msgspec.structs.replace(
                self._store.shortened(whole, keep),
                cut=True,
                removed_turns=(*whole.removed_turns, (first_turn, last_turn, branch)),
            )

        self._store.mutate(chat, shorten, anywhere=True)

    def bring_back(self, chat: ChatId, branch: ChatId) -> None:
        """The branch's messages are the chat's again; the branch goes if nobody changed it since it was made."""
        present, raw = self._store.load(chat)
        waiting = any(name == branch for _, _, name in present.removed_turns)
        if not self._store.where(branch):
            if waiting:
                raise ChatNotFound(branch)
            return
        kept, kept_raw = self._store.load(branch)
        if waiting:
            own = {part.sha: part for part in present.parts}
            lacking = [part for part in kept.parts if part.sha not in own]
            own |= {part.sha: part for part in self._store.parts.adopt(branch, lacking, chat)}
            whole = msgspec.structs.replace(
                present,
                parts=tuple(own[part.sha] for part in kept.parts),
                messages=kept.messages,
                cut=len(present.removed_turns) > 1,
                removed_turns=tuple(entry for entry in present.removed_turns if entry[2] != branch),
                updated_at=max(self._clock(), present.updated_at),
            )
            home = self._store.places.home(chat) or self._store.folder
            present = self._store.put(home / f"{chat}.json", whole, {**raw, "messages": kept_raw.get("messages")})
        # One that was made a chat of its own, or that others branched from, is more than what was put aside.
        needed = kept.parent_chat_id != chat or bool(self._store.children(branch))
        if not needed and kept.updated_at == kept.created_at and _same(kept, present):
            self._store.reviews.carry(branch, chat, told=True)
            self._store.delete(branch)


def _same(one: Chat, other: Chat) -> bool:
    """Whether two chats have the same messages."""
    shas = [[part.sha for part in chat.parts] for chat in (one, other)]
    return one.messages == other.messages and shas[0] == shas[1]


def branch_name(name: str) -> str:
    """The name of a branch of a chat called ``name``, within the limit of chat.md 1.4."""
    return ("Branch: " + name).encode()[:_NAME_BYTES].decode("utf-8", "ignore")
