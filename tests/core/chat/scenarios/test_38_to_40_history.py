"""Scenarios 38 to 40: a chat as text for a session that begins with it."""

import pytest

from tests.core.chat.world import C1, World, said, user
from vibekit_desktop.core.chat.history import history_text
from vibekit_desktop.core.types.chats import Message, ToolCall
from vibekit_desktop.core.types.errors import ChatNotFound


def test_38_every_role_has_its_form_and_contents_of_tools_are_left_out() -> None:
    call = ToolCall(id="t", title="Edit up.py", kind="edit", status="completed", output="secret output")
    other = ToolCall(id="u", title="Run tests", status="failed")
    messages = (
        user("u", "Retry uploads."),
        Message(id="a", role="assistant", content="Done.", reasoning="Hm.", tool_calls=(call, other)),
        Message(id="e", role="event", event_kind="model_switched", content="model-y"),
        Message(id="x", role="crew", content="unknown"),
        said("b", ""),
    )
    assert history_text(messages) == (
        "User: Retry uploads.\n"
        "Assistant: Done.\n  [tool: Edit up.py status=completed]\n  [tool: Run tests status=failed]\n"
        "[model_switched] model-y\n"
        "Assistant: \n"
    )


def test_39_an_empty_chat_is_an_empty_text(world: World) -> None:
    world.make()
    assert history_text(world.get().messages or ()) == ""


def test_40_a_missing_chat_is_said_to_be_missing(world: World) -> None:
    with pytest.raises(ChatNotFound):
        world.get()


def test_40_the_text_of_a_long_chat_is_of_all_its_messages(small: World) -> None:
    small.make()
    for index in range(20):
        small.chats.append(C1, user(f"u{index}", "x" * 400))
    chat = small.get()
    assert chat.parts
    assert history_text(small.chats.whole(chat).messages or ()).count("User: ") == 20
