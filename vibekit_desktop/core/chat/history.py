"""A chat as plain text, for an agent that begins a session of its own with it (chat.md 2.12). Pure."""

from collections.abc import Iterable

from vibekit_desktop.core.types.chats import Message, Role


def history_text(messages: Iterable[Message]) -> str:
    """What was said, message by message; of tool calls only which they were. Reasoning and contents are left out."""
    return "".join(_told(message) for message in messages)


def _told(message: Message) -> str:
    match message.role:
        case Role.USER:
            return f"User: {message.content}\n"
        case Role.ASSISTANT:
            calls = "".join(f"\n  [tool: {call.title} status={call.status}]" for call in message.tool_calls)
            return f"Assistant: {message.content}{calls}\n"
        case Role.EVENT:
            return f"[{message.event_kind}] {message.content}\n"
        case _:
            return ""  # a role of another version: nobody knows whose words these are
