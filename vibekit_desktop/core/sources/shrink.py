"""Make a chat smaller when its file would be larger than a chat file may be.

What tools printed goes first; what people and the agent said stays. Pure."""

import msgspec

from vibekit_desktop.core.types.chats import Chat, DiffFragment, ToolCall

LEVELS = 4
_OUTPUT = (0, 4096, 512, 0)
_FRAGMENT = (0, 4096, 512, 0)
_NOTE = "[cut: the whole chat was too large]"


def smaller(chat: Chat, level: int) -> Chat:
    """The chat with less of its tool calls' texts; level 0 is the chat itself."""
    if not level:
        return chat
    messages = tuple(
        msgspec.structs.replace(message, tool_calls=tuple(_call(call, level) for call in message.tool_calls))
        if message.tool_calls
        else message
        for message in chat.messages or ()
    )
    return msgspec.structs.replace(chat, messages=messages)


def _call(call: ToolCall, level: int) -> ToolCall:
    diffs = tuple(
        DiffFragment(
            path=fragment.path,
            old_text=_cut(fragment.old_text, _FRAGMENT[level]),
            new_text=_cut(fragment.new_text, _FRAGMENT[level]),
        )
        for fragment in call.diffs
    )
    return msgspec.structs.replace(
        call,
        output=_cut(call.output, _OUTPUT[level]),
        input=call.input if level == 1 else msgspec.Raw(b""),
        diffs=diffs if level < LEVELS - 1 else (),
    )


def _cut(words: str, limit: int) -> str:
    return words if len(words) <= limit else f"{words[:limit]}\n{_NOTE}"
