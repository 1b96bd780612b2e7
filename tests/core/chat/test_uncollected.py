"""What a chat is made of is no work for the collector of cycles: there are a hundred thousand, and no cycle among them."""

import gc

import msgspec

from vibekit_desktop.core.types.chats import Attached, Block, ChatPart, DiffFragment, Location, Message, ToolCall


def test_the_collector_never_looks_at_messages_and_what_they_hold() -> None:
    diffs = (DiffFragment(path="a", old_text="b", new_text="c"),)
    call = ToolCall(id="call", locations=(Location(path="a", line=1),), diffs=diffs)
    message = Message(
        id="one",
        tool_calls=(call,),
        blocks=(Block(text="text"),),
        attachments=(Attached(name="a"),),
        plan=[{"content": "a step"}],
    )
    read = msgspec.json.decode(msgspec.json.encode([message]), type=tuple[Message, ...])
    for one in (message, *read):
        held = (one, *one.tool_calls, *one.tool_calls[0].locations, *one.tool_calls[0].diffs, *one.blocks, *one.attachments)
        assert [type(value) for value in held if gc.is_tracked(value)] == []
    assert not gc.is_tracked(ChatPart(n=1, messages=1, size=1, sha="0"))
