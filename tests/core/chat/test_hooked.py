"""The transcript of a chat whose turns hooks tell, and what becomes of it when its source tells its messages."""

from hypothesis import given
from hypothesis import strategies as st

from vibekit_desktop.core.chat.hooked import (
    NAME_BYTES,
    UNNAMED,
    answered,
    begun,
    merged,
    name_of,
    stamped,
    storable,
    told_already,
)
from vibekit_desktop.core.types.chats import Chat, ChatPart, Message


def user(identity: str, text: str, turn: int = 0, **keys: str) -> Message:
    return Message(id=identity, role="user", content=text, turn=turn, **keys)


def said(identity: str, text: str) -> Message:
    return Message(id=identity, role="assistant", content=text)


def shown(messages: tuple[Message, ...]) -> list[tuple[str, str, int]]:
    return [(message.id, message.content, message.turn) for message in messages]


def test_equal_prompts_in_order_are_one_with_the_words_of_the_source_and_the_turn_of_the_hook() -> None:
    present = (user("h1", "go", 1, checkpoint_tag="1"), said("h2", "done"), user("h3", "go", 3), said("h4", "done again"))
    source = (user("s1", "go", 1), said("s2", "Done."), user("s3", "go ", 2), said("s4", "Done again."))
    found = merged(source, present, 1)
    assert shown(found) == [("h1", "go", 1), ("s2", "Done.", 0), ("h3", "go ", 3), ("s4", "Done again.", 0)]
    assert found[0].checkpoint_tag == "1"
    assert merged(source, found, 1) == found, "again changes nothing"


def test_what_only_one_of_them_knows_stays_in_its_place() -> None:
    present = (user("h1", "a", 1), said("h2", "A"), user("h3", "b", 2), said("h4", "B"))
    source = (user("s1", "a", 1), said("s2", "AA"), user("s3", "x", 2), said("s4", "X"))
    found = shown(merged(source, present, 1))
    assert found == [("h1", "a", 1), ("s2", "AA", 0), ("h3", "b", 2), ("h4", "B", 0), ("s3", "x", 0), ("s4", "X", 0)]


def test_an_answer_of_the_hook_stays_until_the_source_has_one() -> None:
    present = (user("h1", "a", 1), said("h2", "A"))
    found = merged((user("s1", "a", 1),), present, 1)
    assert shown(found) == [("h1", "a", 1), ("h2", "A", 0)]
    assert shown(merged((user("s1", "a", 1), said("s2", "whole")), found, 1)) == [("h1", "a", 1), ("s2", "whole", 0)]


def test_before_the_first_turn_of_a_hook_the_source_tells_everything() -> None:
    old = (user("s1", "a", 1), said("s2", "half"))
    present = (*old, user("h1", "b", 2))
    source = (user("s1", "a", 1), said("s2", "whole"), user("s3", "b", 2), said("s4", "B"))
    assert shown(merged(source, present, 2)) == [("s1", "a", 1), ("s2", "whole", 0), ("h1", "b", 2), ("s4", "B", 0)]


def test_a_source_that_went_back_to_an_earlier_prompt_takes_no_message_away() -> None:
    present = (user("s1", "a", 1), said("s2", "A"), user("s3", "b", 2), said("s4", "B"), user("h1", "c", 3), said("h2", "C"))
    source = (user("s1", "a", 1), said("s2", "A"), user("s9", "d", 4), said("s10", "D"))
    found = merged(source, present, 3)
    assert {message.id for message in found} >= {message.id for message in (*present, *source)}


def test_a_prompt_that_the_source_told_first_is_taken_over() -> None:
    chat = Chat(id="c", source="x", messages=(user("s1", "a", 1), said("s2", "A"), user("s3", "b", 2)))
    told = told_already(chat, "b")
    assert told is not None
    now = begun(chat, 3, Message(id=told.id, role="user", content="b", turn=3))
    assert shown(now.messages or ()) == [("s1", "a", 1), ("s2", "A", 0), ("s3", "b", 3)]
    assert now.hooked_from == 3
    source = (*(chat.messages or ()), said("s4", "B"))
    assert shown(merged(source, now.messages or (), 3)) == [("s1", "a", 1), ("s2", "A", 0), ("s3", "b", 3), ("s4", "B", 0)]
    assert told_already(chat, "c") is None
    assert told_already(now, "b") is None, "a prompt that has its turn is not the next one too"


def test_a_tag_is_put_on_the_prompt_of_its_turn_once() -> None:
    chat = Chat(id="c", messages=(user("a", "a", 1), said("b", "B"), user("c", "c", 2), said("d", "D")))
    first = stamped(chat, 1, "1")
    assert first is not None
    assert [message.checkpoint_tag for message in first.messages or ()] == ["1", "", "", ""]
    assert stamped(first, 1, "1") is None
    assert stamped(chat, 7, "7") is None, "a turn without a prompt has nothing to bear it"


def test_an_answer_is_stored_once_also_where_the_source_has_told_it() -> None:
    chat = Chat(id="c", messages=(user("a", "a", 1), said("b", "I looked.\n\nIt is done.")))
    assert answered(chat, 1, said("x", "It is\ndone.")) is None
    assert answered(chat, 1, said("x", "Other")) is not None
    assert answered(chat, 2, said("x", "It is done.")) is not None


def test_an_answer_is_stored_once_also_where_its_prompt_is_in_a_part() -> None:
    part = ChatPart(n=1, messages=1, size=1, sha="a" * 64, prompts=1, turns=1)
    chat = Chat(id="c", parts=(part,), messages=(said("b", "It is done."), user("c", "c", 2)))
    assert answered(chat, 1, said("x", "It is done.")) is None
    assert answered(chat, 1, said("x", "Other")) is not None
    assert answered(chat, 2, said("x", "It is done.")) is not None


def test_a_chat_is_named_after_the_first_line_of_its_first_prompt() -> None:
    chat = begun(Chat(id="c", messages=()), 1, None)
    assert chat.name == UNNAMED
    chat = begun(chat, 2, user("a", "\n  Fix it\nnow", 2))
    assert chat.name == "Fix it"
    assert begun(chat, 3, user("b", "more", 3)).name == "Fix it"
    of_the_original = Chat(id="c", name="New conversation", messages=())
    assert begun(of_the_original, 1, user("a", "Fix it", 1)).name == "Fix it"
    assert len(name_of("é" * 1000).encode()) <= NAME_BYTES
    assert name_of(" \n ") == UNNAMED
    assert storable("a\udcffb") == "a\ufffdb"


PROMPTS = st.lists(st.sampled_from("abc"), max_size=5)


@given(PROMPTS, PROMPTS, st.lists(st.booleans(), min_size=10, max_size=10))
def test_merging_loses_no_message_that_only_one_side_knows_and_is_done_once(
    hooks: list[str], told: list[str], answers: list[bool]
) -> None:
    present: list[Message] = []
    for turn, text in enumerate(hooks, 1):
        present += [user(f"h{turn}", text, turn), said(f"ha{turn}", text * 2)]
    source: list[Message] = []
    for turn, text in enumerate(told, 1):
        source.append(user(f"s{turn}", text, turn))
        source += [said(f"sa{turn}", text * 3)] if answers[turn] else []
    found = merged(tuple(source), tuple(present), 1)
    ids = [message.id for message in found]
    assert len(ids) == len(set(ids))
    assert [message.turn for message in found if message.turn] == list(range(1, len(hooks) + 1)), "every turn once, in order"
    assert {message.id for message in source if message.role != "user"} <= set(ids)
    assert [message.content for message in found if message.role == "user" and message.id[0] in "hs"].count("a") >= max(
        hooks.count("a"), told.count("a")
    )
    assert merged(tuple(source), found, 1) == found
