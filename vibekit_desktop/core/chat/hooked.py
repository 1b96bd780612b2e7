"""The transcript of a chat whose turns hooks tell: prompts and answers as they come, and the source's messages among them.

From its first turn by a hook such a chat takes its turns from the hooks and its messages from the source; equal prompts in
order are one (docs/storage-format.md 6). No message is ever dropped for want of a place. Pure; any thread.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import takewhile

import msgspec

from vibekit_desktop.core.types.chats import Block, Chat, Message, Role

UNNAMED = "New chat"
"""What a chat without a name is called."""
_NAMELESS = ("", UNNAMED, "New conversation")
"""The last is what the original calls it (chat.md 1.4)."""
NAME_BYTES = 512
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def storable(text: str) -> str:
    """Text that a chat file can hold: half characters, as a command line may carry them, are replaced."""
    return _SURROGATE.sub("\ufffd", text)


def name_of(prompt: str) -> str:
    """The name of a chat that begins with ``prompt``: its first line, within the limit."""
    first = prompt.strip().split("\n", 1)[0].strip()
    return first.encode()[:NAME_BYTES].decode("utf-8", "ignore").strip() or UNNAMED


def is_unnamed(name: str) -> bool:
    """Whether a name is none: the first prompt gives the chat another one."""
    return name in _NAMELESS


def told_already(chat: Chat, prompt: str) -> Message | None:
    """The prompt, if the source has told it before the hook: the last message, which no hook has given a turn yet."""
    messages = chat.messages or ()
    last = messages[-1] if messages else None
    if last is None or last.role != Role.USER or not chat.source or _key(last.content) != _key(prompt):
        return None
    return None if chat.hooked_from and last.turn else last


def begun(chat: Chat, turn: int, prompt: Message | None) -> Chat:
    """The chat in which a turn began. ``prompt``: its message; one with the id of the last message takes its place."""
    messages = chat.messages or ()
    if prompt is not None:
        kept = messages[:-1] if messages and messages[-1].id == prompt.id else messages
        messages = (*kept, prompt)
    unnamed = prompt is not None and is_unnamed(chat.name)
    return msgspec.structs.replace(
        chat,
        messages=messages,
        name=name_of(prompt.content) if prompt is not None and unnamed else chat.name or UNNAMED,
        hooked_from=(chat.hooked_from or turn) if chat.source else 0,
    )


def answered(chat: Chat, turn: int, answer: Message) -> Chat | None:
    """The chat with the answer of a turn; None if the transcript has it already, from the source or from an earlier call."""
    said = _key(answer.content)
    if any(message.role == Role.ASSISTANT and said in _key(message.content) for message in _of_turn(chat, turn)):
        return None
    return msgspec.structs.replace(chat, messages=(*(chat.messages or ()), answer))


def prompted_at(chat: Chat, turn: int) -> int:
    """When the prompt of a turn was given; 0 if the transcript does not hold it."""
    return next((message.ts for message in chat.messages or () if message.role == Role.USER and message.turn == turn), 0)


def answer_of(identity: str, text: str, *, ts: int, took_ms: int) -> Message:
    """The message of an agent's answer."""
    block = (Block(text=text),) if text else ()
    return Message(id=identity, role=Role.ASSISTANT.value, ts=ts, content=text, blocks=block, turn_elapsed_ms=took_ms)


def stamped(chat: Chat, turn: int, tag: str) -> Chat | None:
    """The chat whose prompt of ``turn`` bears ``tag``; None if it bears one already, or there is no such prompt."""
    messages = list(chat.messages or ())
    for index, message in enumerate(messages):
        if message.role == Role.USER and message.turn == turn:
            if message.checkpoint_tag:
                return None
            messages[index] = msgspec.structs.replace(message, checkpoint_tag=tag)
            return msgspec.structs.replace(chat, messages=tuple(messages))
    return None


def _of_turn(chat: Chat, turn: int) -> Sequence[Message]:
    """The messages after the prompt of a turn; none for a turn without one. The prompt may be the last message of a part: then
    what stands before the file's first prompt is the turn's."""
    messages = chat.messages or ()
    own = [index for index, message in enumerate(messages) if message.role == Role.USER and message.turn == turn]
    if own or not chat.parts:
        return messages[own[-1] + 1 :] if own else ()
    return [*takewhile(lambda message: message.role != Role.USER, messages)]


# -- with the source's messages ----------------------------------------------------------------------------------


@dataclass(slots=True)
class _Group:
    """A prompt and what follows it."""

    prompt: Message
    rest: list[Message] = field(default_factory=list)


def merged(source: Sequence[Message], present: Sequence[Message], hooked_from: int) -> tuple[Message, ...]:
    """The transcript of a chat that hooks drive since turn ``hooked_from``, now that its source tells ``source``.

    Before that turn it is the source's. After it, a prompt of the source and one of the hooks are one where they are equal, in
    order: the source's words and answer, the hook's id, turn and tag. What only one of them knows stays, in its place; a prompt
    that only the source knows has no turn.
    """
    earlier, hooks = _split(present, lambda message: message.turn >= hooked_from)
    taken = {group.prompt.id for group in hooks}
    head, told = _split(source, lambda message: message.turn >= hooked_from or message.id in taken, every_prompt=True)
    found: list[Message] = [*_head(head, earlier)]
    ids = {message.id for message in source}
    left_side, right_side = ([_key(group.prompt.content) for group in groups] for groups in (hooks, told))
    matcher = SequenceMatcher(None, left_side, right_side, autojunk=False)
    for kind, first, last, left, right in matcher.get_opcodes():
        if kind == "equal":
            for hook, group in zip(hooks[first:last], told[left:right], strict=True):
                found += _one(hook, group, ids)
            continue
        for hook in hooks[first:last]:
            found += (hook.prompt, *(message for message in hook.rest if message.id not in ids))
        for group in told[left:right]:
            found += (msgspec.structs.replace(group.prompt, turn=0), *group.rest)
    return _once(found)


def _one(hook: _Group, told: _Group, ids: set[str]) -> list[Message]:
    prompt = msgspec.structs.replace(
        told.prompt, id=hook.prompt.id, turn=hook.prompt.turn, checkpoint_tag=hook.prompt.checkpoint_tag
    )
    if any(message.role != Role.USER for message in told.rest):
        return [prompt, *told.rest]
    return [prompt, *told.rest, *(message for message in hook.rest if message.id not in ids)]


def _head(told: Sequence[Message], present: Sequence[Message]) -> Iterable[Message]:
    """What was before the hooks: the source's, unless it has left some of it (it went back to an earlier prompt)."""
    ids = {message.id for message in told}
    if all(message.id in ids for message in present if message.role == Role.USER):
        return told
    known = {message.id for message in present}
    return [*present, *(message for message in told if message.id not in known)]


def _split(
    messages: Sequence[Message], begins: Callable[[Message], bool], *, every_prompt: bool = False
) -> tuple[list[Message], list[_Group]]:
    """What stands before the first prompt that begins something, and the prompts with what follows each."""
    head: list[Message] = []
    groups: list[_Group] = []
    for message in messages:
        if message.role == Role.USER and (begins(message) or (every_prompt and groups)):
            groups.append(_Group(message))
        elif groups:
            groups[-1].rest.append(message)
        else:
            head.append(message)
    return head, groups


def _once(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Each message where it stands first."""
    found: dict[str, Message] = {}
    for message in messages:
        found.setdefault(message.id, message)
    return tuple(found.values())


def _key(text: str) -> str:
    return " ".join(text.split())
