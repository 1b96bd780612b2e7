"""Cut a transcript and bring it back, so that no message is ever lost: the whole of it is a branch first.

The checkpoint kernel calls these inside a restore and again after a crash, so each may run any number of times.

| crash after | what is left | who goes on |
| --- | --- | --- |
| keep_as_branch | two whole transcripts | the kernel: cut |
| cut | the short one and the branch | nobody needs to |
| bring_back saved | the whole one, and the branch too | the kernel: bring_back removes it |

The caller holds the vault's lock. Blocking.
"""

from collections.abc import Callable

import msgspec

from vibekit_desktop.core.chat.store import ChatStore
from vibekit_desktop.core.types.chats import Chat, TranscriptShape
from vibekit_desktop.core.types.errors import ChatNotFound
from vibekit_desktop.core.types.ids import ChatId

_NAME_BYTES = 512


class StoredTranscripts:
    """The transcripts of one vault, as the kernel may see them."""

    def __init__(self, store: ChatStore, *, clock: Callable[[], int]) -> None:
        self._store = store
        self._clock = clock

    def shape(self, chat: ChatId) -> TranscriptShape:
        """Length and prompts of a transcript; nothing at all if there is no chat file."""
        try:
            found, _ = self._store.load(chat)
        except ChatNotFound:
            return TranscriptShape(messages=0, prompt_index={}, prompts={})
        messages = found.messages or ()
        places: dict[int, int] = {}
        prompts: dict[int, str] = {}
        unmarked: dict[int, str] = {}
        for index, message in enumerate(messages):
            if message.role == "user" and message.turn and message.turn not in places:
                places[message.turn] = index
                prompts[message.turn] = message.content
            elif message.role == "user" and not message.turn:
                unmarked[index] = message.content
        return TranscriptShape(messages=len(messages), prompt_index=places, prompts=prompts, unmarked=unmarked)

    def keep_as_branch(self, chat: ChatId, branch: ChatId, *, keep: int, first_turn: int) -> None:
        """A chat of its own that holds the whole present transcript. A branch that is there already stays as it is."""
        self._copy(chat, branch, keep=None, first_turn=first_turn)

    def branch(self, chat: ChatId, branch: ChatId, *, keep: int, first_turn: int) -> None:
        """A chat of its own that holds the first ``keep`` messages. A branch that is there already stays as it is."""
        self._copy(chat, branch, keep=keep, first_turn=first_turn)

    def _copy(self, chat: ChatId, branch: ChatId, *, keep: int | None, first_turn: int) -> None:
        if self._store.exists(branch):
            return
        whole, raw = self._store.load(chat)
        now = self._clock()
        copy = msgspec.structs.replace(
            whole,
            id=branch,
            name=branch_name(whole.name),
            acp_session_id="",
            parent_chat_id=chat,
            rewind_from_turn=first_turn,
            messages=None if whole.messages is None else whole.messages[:keep],
            created_at=now,
            updated_at=now,
            archived_at=0,
            source="",
            source_session="",
            source_path="",
            source_stamp="",
            cut=False,
            hooked_from=0,
            removed_turns=(),
        )
        self._store.save(copy, {"messages": raw.get("messages")})

    def cut(self, chat: ChatId, *, keep: int, branch: ChatId, first_turn: int, last_turn: int) -> None:
        """Keep the first ``keep`` messages and remember where the others are. Refused if the branch is not there."""
        if not self._store.exists(branch):
            raise ChatNotFound(branch)

        def shorten(whole: Chat) -> Chat | None:
            if any(name == branch for _, _, name in whole.removed_turns):
                return None
            return msgspec.structs.replace(
                whole,
                messages=None if whole.messages is None else whole.messages[:keep],
                cut=True,
                removed_turns=(*whole.removed_turns, (first_turn, last_turn, branch)),
            )

        self._store.mutate(chat, shorten)

    def bring_back(self, chat: ChatId, branch: ChatId) -> None:
        """The branch's messages are the chat's again; the branch goes if nobody changed it since it was made."""
        present, _ = self._store.load(chat)
        waiting = any(name == branch for _, _, name in present.removed_turns)
        if not self._store.exists(branch):
            if waiting:
                raise ChatNotFound(branch)
            return
        kept, _ = self._store.load(branch)

        def whole_again(short: Chat) -> Chat | None:
            if not waiting:
                return None
            left = tuple(entry for entry in short.removed_turns if entry[2] != branch)
            return msgspec.structs.replace(short, messages=kept.messages, cut=bool(left), removed_turns=left)

        now = self._store.mutate(chat, whole_again)
        if kept.updated_at == kept.created_at and kept.messages == now.messages:
            self._store.delete(branch)


def branch_name(name: str) -> str:
    """The name of a branch of a chat called ``name``, within the limit of chat.md 1.4."""
    return ("Branch: " + name).encode()[:_NAME_BYTES].decode("utf-8", "ignore")
