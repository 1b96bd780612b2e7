"""What a turn of our own window adds to a chat, and when the agent's session still knows what the chat says."""

import msgspec

from vibekit_desktop.core.chat import prompted
from vibekit_desktop.core.types.chats import Chat, Message


def said(identity: str, role: str = "user", text: str = "words") -> Message:
    return Message(id=identity, role=role, content=text)


def after_one_turn() -> Chat:
    chat = prompted.begun(Chat(id="c"), 1, said("p1", text="Fix it\nnow"), session="s1", answer="a1")
    return prompted.ended(chat, said("a1", "assistant"), (), heard=True)


def test_a_turn_begins_with_its_prompt_its_session_and_a_name() -> None:
    chat = prompted.begun(Chat(id="c"), 4, said("p1", text="Fix it\nnow"), session="s1", answer="a1")
    assert chat.name == "Fix it"
    assert [(one.id, one.turn) for one in chat.messages or ()] == [("p1", 4)]
    assert (chat.acp_session_id, chat.prior_acp_session_ids) == ("s1", ())
    assert not prompted.in_step(chat)  # its answer is not there


def test_after_its_answer_the_session_is_in_step() -> None:
    chat = after_one_turn()
    assert prompted.in_step(chat)
    assert prompted.last_said(chat) == "a1"


def test_an_answer_that_a_crash_left_keeps_the_session_in_step() -> None:
    chat = prompted.begun(Chat(id="c"), 1, said("p1"), session="s1", answer="a1")
    event = Message(id="e", role="event", event_kind="interrupted")
    recovered = msgspec.structs.replace(chat, messages=(*(chat.messages or ()), said("a1", "assistant"), event))
    assert prompted.in_step(recovered)


def test_a_cut_or_a_word_of_somebody_else_puts_the_session_out_of_step() -> None:
    chat = after_one_turn()
    messages = chat.messages or ()
    assert not prompted.in_step(msgspec.structs.replace(chat, messages=messages[:1]))
    assert not prompted.in_step(msgspec.structs.replace(chat, messages=(*messages, said("p2"))))
    assert prompted.in_step(msgspec.structs.replace(chat, messages=messages))  # the cut was taken back


def test_a_turn_that_was_not_heard_is_not_in_step_and_says_why() -> None:
    chat = prompted.begun(after_one_turn(), 2, said("p2"), session="s1", answer="a2")
    note = Message(id="e", role="event", event_kind="interrupted", content="It died.")
    chat = prompted.ended(chat, None, (note,), heard=False)
    assert not prompted.in_step(chat)
    assert [one.id for one in chat.messages or ()] == ["p1", "a1", "p2", "e"]


def test_an_answer_is_stored_once() -> None:
    chat = after_one_turn()
    again = prompted.ended(chat, said("a1", "assistant"), (), heard=True)
    assert again.messages == chat.messages


def test_the_former_session_is_kept_when_another_one_goes_on() -> None:
    chat = prompted.begun(after_one_turn(), 2, said("p2"), session="s2", answer="a2")
    assert (chat.acp_session_id, chat.prior_acp_session_ids) == ("s2", ("s1",))


def test_a_chat_that_followed_a_source_does_so_no_longer() -> None:
    chat = prompted.begun(Chat(id="c", source="claude-code"), 1, said("p"), session="s", answer="a")
    assert chat.cut


def test_a_session_taken_up_brings_its_words_and_is_in_step() -> None:
    chat = prompted.continued(Chat(id="c"), (said("p", text="Old question"), said("a", "assistant")), session="s")
    assert chat.name == "Old question"
    assert prompted.in_step(chat)
