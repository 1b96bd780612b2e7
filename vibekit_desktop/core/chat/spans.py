"""Where each turn stands in a transcript, and tool calls that nobody will answer any more. Pure."""

from collections.abc import Mapping, Sequence

import msgspec

from vibekit_desktop.core.chat.merging import is_merged
from vibekit_desktop.core.types.chats import Message, Role, TurnSpan


def without_open_calls(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages, each tool call that was never answered as failed."""

    def closed(message: Message) -> Message:
        if all(call.status not in ("pending", "in_progress") for call in message.tool_calls):
            return message
        calls = tuple(
            msgspec.structs.replace(call, status="failed") if call.status in ("pending", "in_progress") else call
            for call in message.tool_calls
        )
        return msgspec.structs.replace(message, tool_calls=calls)

    return tuple(map(closed, messages))


def turn_spans(
    messages: Sequence[Message],
    prompt_index: Mapping[int, int],
    *,
    first_index: int = 0,
    earlier_unmarked: Sequence[int] = (),
) -> tuple[TurnSpan, ...]:
    """Where each turn stands in a transcript: from its user message to the message before the next one.

    ``prompt_index``: the message at which a turn begins. Where some messages say their turn, one that does not (a slash
    command of another program) begins none; where none does, each user message counts on from the one before it. What was
    merged from a branch belongs to no turn.

    ``first_index``: so many messages are before ``messages``; of those only the prompts are known, from ``prompt_index`` and
    ``earlier_unmarked`` (the user messages that say no turn), so the spans among them have no tag and no duration.
    """
    numbers = {index: turn for turn, index in prompt_index.items()}
    said = bool(numbers) or any(message.turn for message in messages)
    earlier = {index: turn for index, turn in numbers.items() if index < first_index}
    if not said:
        earlier = {index: turn for turn, index in enumerate(sorted(earlier_unmarked), 1) if index < first_index}
    starts = [(turn, index) for index, turn in sorted(earlier.items())]
    turn = starts[-1][0] if starts else 0
    inside = False
    for index, message in enumerate(messages, first_index):
        if is_merged(message):
            if not inside:
                starts.append((0, index))
            inside = True
            continue
        number = message.turn or numbers.get(index, 0 if said else turn + 1)
        if message.role == Role.USER and number:
            turn = number
            starts.append((turn, index))
            inside = False
    spans: list[TurnSpan] = []
    ends = [first - 1 for _, first in starts[1:]] + [first_index + len(messages) - 1]
    for (number, first), last in zip(starts, ends, strict=False):
        if not number:
            continue
        if last < first_index:
            spans.append(TurnSpan(turn=number, first_message=first, last_message=last))
            continue
        within = messages[max(0, first - first_index) : last + 1 - first_index]
        spans.append(
            TurnSpan(
                turn=number,
                first_message=first,
                last_message=last,
                tag=within[0].checkpoint_tag if within and first >= first_index else "",
                duration_ms=sum(message.turn_elapsed_ms for message in within),
            )
        )
    return tuple(spans)
