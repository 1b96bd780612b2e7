"""What the core really tells of a turn, in the order it tells it, leads to the transcript as it is read afterwards."""

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from tests.conftest import Clock
from tests.core.services.live_town import LiveTown, Step
from tests.ui.test_streaming import Mirror, blocks, untimed
from vibekit_desktop.app.wiring import Wired
from vibekit_desktop.core.types.agents import Headless
from vibekit_desktop.core.types.chats import ChatView
from vibekit_desktop.core.types.checkpoints import Timeline
from vibekit_desktop.core.types.events import AnswerStreamed, LiveChanged, MessageAppended
from vibekit_desktop.ui.models.blocks import FooterBlock, WorkingBlock
from vibekit_desktop.ui.models.transcript import TranscriptModel
from vibekit_desktop.ui.models.transcript_rows import Kind

WHOLE: list[Step] = [
    {"think": "let me see"},
    {"plan": [["write it", "in_progress"]]},
    {"say": "I will.\n\n```python\nprint(1)\n"},
    {"write": "a.txt", "text": "agent\n", "ask": True, "via": "disk"},
    {"say": "Done."},
]
CRASH: list[Step] = [{"say": "Half of"}, {"crash": 3}]


@pytest.fixture
def town(tmp_path: Path, home: Path, clock: Clock) -> LiveTown:
    return LiveTown(tmp_path, home, clock)


@pytest.mark.parametrize(
    ("turns", "allow"), [([WHOLE], Headless.ALL), ([WHOLE, WHOLE], Headless.NONE), ([CRASH], Headless.ALL)]
)
def test_the_events_of_a_turn_make_the_rows_that_its_chat_has_afterwards(
    qtbot: QtBot, town: LiveTown, turns: list[list[Step]], allow: Headless
) -> None:
    (town.work / "a.txt").write_text("mine\n")
    choice = town.agent(*turns)
    read: list[ChatView] = []
    timelines: list[Timeline] = []

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, choice)
        read.append(await wired.core.chats.open(chat))
        for number, _ in enumerate(turns):
            await town.say(wired, chat, f"prompt {number}", allow)
        read.append(await wired.core.chats.open(chat))
        timelines.append(await wired.core.checkpoints.timeline(chat))
        town.events.append(LiveChanged(await wired.core.live.look(chat)))

    town.run(work)
    model = TranscriptModel(town.clock)
    model.set_view(read[0])
    mirror = Mirror(model)
    worked = 0
    for event in town.events:
        match event:
            case LiveChanged(state):
                model.set_live(state)
            case AnswerStreamed(chat, turn, message):
                model.stream(chat, turn, message)
            case MessageAppended(chat, message):
                model.append(chat, message)
            case _:
                continue
        mirror.check()
        worked += sum(isinstance(block, WorkingBlock) for block in blocks(model))
        assert [model.kind(row) for row in range(model.rowCount())].count(Kind.WORKING) <= 1
    assert worked
    assert any(isinstance(event, AnswerStreamed) for event in town.events)
    model.set_timeline(timelines[0])
    mirror.check()
    whole = TranscriptModel(town.clock)
    whole.set_view(read[1])
    whole.set_timeline(timelines[0])
    assert [model.key(row) for row in range(model.rowCount())] == [whole.key(row) for row in range(whole.rowCount())]
    assert list(map(untimed, blocks(model))) == list(map(untimed, blocks(whole)))
    assert any(isinstance(block, FooterBlock) for block in blocks(model))
