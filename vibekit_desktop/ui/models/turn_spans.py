"""Which turn a message belongs to, kept up while messages come at either end of what is loaded. Pure; any thread."""

from collections.abc import Sequence
from dataclasses import replace

import msgspec

from vibekit_desktop.core.types.chats import ChatView, Message, TurnSpan


def span_of(view: ChatView, number: int, message: Message) -> TurnSpan | None:
    """The turn that a message at the end belongs to, with it; None if it belongs to none."""
    if message.role == "user" and message.turn:
        return TurnSpan(turn=message.turn, first_message=number, last_message=number, tag=message.checkpoint_tag)
    last = view.turns[-1] if view.turns else None
    if last is None or last.last_message != number - 1:
        return None
    return msgspec.structs.replace(last, last_message=number, duration_ms=last.duration_ms + message.turn_elapsed_ms)


def with_turns(view: ChatView, earlier: Sequence[TurnSpan]) -> ChatView:
    """The view with turns among its earlier messages, which it need not tell itself."""
    spans = {span.first_message: span for span in earlier if span.first_message < view.first_index}
    spans |= {span.first_message: span for span in view.turns}
    return replace(view, turns=tuple(spans[first] for first in sorted(spans)))
