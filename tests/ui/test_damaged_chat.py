"""A damaged chat in the window: what can be read stands there, the banner says what can't, and nothing offers to change it."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from tests.ui import samples
from tests.ui.live_stage import Program
from tests.ui.spin import bury, own_loop, run, until
from vibekit_desktop.core.types.chats import ChatStatus, ChatView, Damage, LostMessage, Message, WhyLost
from vibekit_desktop.core.types.events import ChatUpdated
from vibekit_desktop.core.types.ids import ChatId
from vibekit_desktop.ui.dialogs.branch import BranchDialog
from vibekit_desktop.ui.dialogs.damage import DamageDialog
from vibekit_desktop.ui.models.damage_words import SHOWN, damage_lines, damage_told, promises
from vibekit_desktop.ui.views.controls import Button

LOST = (LostMessage(number=2, why=WhyLost.WRONG_TYPE, key="content"), LostMessage(number=3, why=WhyLost.NO_OBJECT))
DAMAGE = Damage(
    file="/data/vaults/v/chats/chat-0009.json", problem="a key has a value of a wrong type", messages=118, lost=LOST
)
WRECK = ChatId("chat-0009")


def view() -> ChatView:
    whole = samples.chat_view()
    header = replace(whole.header, id=WRECK, name="Half of it", status=ChatStatus.DAMAGED, problem=DAMAGE.problem, unreadable=2)
    gone = Message(id="unreadable-2", role="event", event_kind="unreadable")
    return replace(whole, header=header, messages=(*whole.messages, gone), damage=DAMAGE)


@pytest.fixture
def program(qtbot: QtBot) -> Iterator[Program]:
    with own_loop():
        made = Program(qtbot)
        made.fake.chats.headers = [*made.fake.chats.headers, view().header]
        made.fake.chats.views[WRECK] = view()
        made.fake.checkpoints.timelines[WRECK] = replace(samples.timeline(), chat=WRECK)
        run(made.conductor.histories.list_chats())
        made.open(WRECK)
        yield made
        made.conductor.close()
        bury(made.window)


def details(program: Program) -> DamageDialog:
    program.page.banner.findChildren(Button)[0].click()

    async def story() -> None:
        await until(lambda: any(one.isVisible() for one in program.window.findChildren(DamageDialog)))

    run(story())
    return next(one for one in program.window.findChildren(DamageDialog) if one.isVisible())


def test_it_opens_with_what_can_be_read_and_says_how_much_cannot(program: Program) -> None:
    assert program.conductor.open.chat == WRECK
    assert program.page.banner.accessibleName() == "2 of 118 messages can't be read."
    assert program.page.model.rowCount() > 1
    assert any("can't be read" in text for text in texts(program))
    assert not program.page.foot.is_composing


@pytest.mark.parametrize("by_hand", [True, False])
def test_a_file_that_was_put_back_is_read_by_the_key_and_when_its_row_is_whole_again(program: Program, by_hand: bool) -> None:
    whole = replace(samples.chat_view(), header=replace(view().header, status=ChatStatus.PLAIN, problem="", unreadable=0))
    program.fake.chats.views[WRECK] = whole
    program.fake.chats.headers = [one for one in program.fake.chats.headers if one.id != WRECK] + [whole.header]
    if by_hand:
        program.conductor.rescan()
    else:
        program.fake.publish(ChatUpdated(whole.header))

    async def story() -> None:
        await until(program.page.banner.isHidden)

    run(story())
    assert program.conductor.open.view == whole


def texts(program: Program) -> list[str]:
    model = program.page.model
    return [str(model.data(model.index(row, 0), 0)) for row in range(model.rowCount())] + [
        str(model.data(model.index(row, 0), 11)) for row in range(model.rowCount())
    ]


def test_details_say_which_messages_why_where_the_file_is_and_that_it_was_not_changed(program: Program) -> None:
    dialog = details(program)
    told = dialog.details.toPlainText().splitlines()
    assert told == [
        "/data/vaults/v/chats/chat-0009.json",
        "Why the file is refused: a key has a value of a wrong type.",
        "Message 2: its “content” is not what belongs there.",
        "Message 3: what is written there is no message.",
    ]
    assert "was not changed" in dialog.text.text()
    assert dialog.details.isReadOnly()
    dialog.cancel.click()
    program.settle()


def test_what_would_change_it_says_why_it_does_not(program: Program) -> None:
    desk = program.conductor.desk
    for name in ("rename", "pin", "archive", "merge", "promote", "export"):
        desk.act(name, WRECK)
    program.conductor.branch()
    program.settle()
    assert not program.page.header.is_renaming
    assert not [one for one in program.window.findChildren(BranchDialog) if one.isVisible()]
    asked = {name for name, *_ in program.fake.chats.calls}
    assert asked.isdisjoint({"rename", "pin", "archive", "merge", "promote", "branch"})
    assert "Nothing is written to it" in program.conductor.notifier.shown


def test_one_file_that_breaks_off_one_that_is_all_readable_and_one_that_is_not_at_all() -> None:
    assert damage_told(replace(DAMAGE, ended=False)).startswith("The file of this chat breaks off. 116 messages")
    assert "How many messages it had is not known." in promises(replace(DAMAGE, ended=False))
    assert damage_told(replace(DAMAGE, lost=())).endswith("nothing can be added.")
    assert damage_told(replace(DAMAGE, lost=(), messages=0)).endswith("No message can be read.")
    assert damage_told(replace(DAMAGE, messages=2, ended=False)).endswith("No message can be read.")
    assert damage_told(replace(DAMAGE, lost=LOST[:1], messages=1_118)) == "1 of 1,118 messages can't be read."


def test_of_very_many_unreadable_messages_the_first_are_told_and_how_many_more_there_are() -> None:
    many = tuple(LostMessage(number=number, why=WhyLost.NOT_JSON) for number in range(1, SHOWN + 4))
    lines = damage_lines(replace(DAMAGE, lost=many, messages=400))
    assert (len(lines), lines[-1]) == (SHOWN + 2, "3 more")
    other = damage_lines(replace(DAMAGE, lost=(LostMessage(number=1, why=WhyLost.NO_ID, key="id"),)))
    assert other[1:] == ["Message 1: it has no valid id."]
