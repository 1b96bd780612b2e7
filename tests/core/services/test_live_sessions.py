"""Live chats beyond one turn, with processes of a scripted agent: the queue, several at once, sessions, what is offered."""

import asyncio
from pathlib import Path

import pytest

from tests.conftest import Clock
from tests.core.services.live_town import LiveTown, by_path
from vibekit_desktop.app.wiring import Wired
from vibekit_desktop.core.types.agent_errors import AgentNotSignedIn, EmptyPrompt, NotOffered
from vibekit_desktop.core.types.agents import (
    AgentChoice,
    Attachment,
    LivePhase,
    OptionKind,
    Prompt,
)
from vibekit_desktop.core.types.checkpoints import KEEP_MINE, BeforeTurn, Scope
from vibekit_desktop.core.types.errors import Busy
from vibekit_desktop.core.types.ids import ChatId


@pytest.fixture
def town(tmp_path: Path, home: Path, clock: Clock) -> LiveTown:
    return LiveTown(tmp_path, home, clock)


EDIT = {"write": "a.txt", "text": "agent\n", "ask": True, "via": "disk"}


# -- the queue ---------------------------------------------------------------------------------------------------


def test_what_is_said_while_a_turn_runs_waits_and_goes_on_by_itself(town: LiveTown) -> None:
    go = town.folder / "go"
    choice = town.agent([{"wait_for": str(go)}], [{"say": "two"}], [{"say": "three"}])

    async def work(wired: Wired) -> None:
        live = wired.core.live
        chat = await town.new(wired, choice)
        await live.prompt(chat, Prompt(text="one"))
        for text in ("two", "no", "three"):
            await live.prompt(chat, Prompt(text=text))
        state = await live.look(chat)
        assert [one.prompt.text for one in state.queue] == ["two", "no", "three"]
        dropped = await live.unqueue(chat, state.queue[1].id)
        assert dropped == Prompt(text="no")
        assert await live.unqueue(chat, state.queue[1].id) is None
        go.touch()
        await town.until(wired, chat, lambda one: not one.queue and not one.turn and one.phase is LivePhase.IDLE)

    town.run(work)
    assert town.said_to_it() == ["one", "two", "three"]


def test_send_now_stops_what_runs_and_goes_first(town: LiveTown) -> None:
    choice = town.agent([{"say": "x"}, {"sleep": 60}], [{"say": "b"}], [{"say": "a"}])

    async def work(wired: Wired) -> None:
        live = wired.core.live
        chat = await town.new(wired, choice)
        await live.prompt(chat, Prompt(text="long"))
        await town.streamed(wired, chat, lambda message: bool(message.blocks))
        await live.prompt(chat, Prompt(text="a"))
        await live.prompt(chat, Prompt(text="b"))
        await live.send_now(chat, (await live.look(chat)).queue[1].id)
        await town.until(wired, chat, lambda one: not one.queue and not one.turn and one.phase is LivePhase.IDLE)

    town.run(work)
    assert town.said_to_it() == ["long", "b", "a"]


def test_after_a_stop_the_queue_waits_for_the_person(town: LiveTown) -> None:
    choice = town.agent([{"say": "x"}, {"sleep": 60}], [{"say": "c"}], [{"say": "b"}])

    async def work(wired: Wired) -> None:
        live = wired.core.live
        chat = await town.new(wired, choice)
        await live.prompt(chat, Prompt(text="a"))
        await town.streamed(wired, chat, lambda message: bool(message.blocks))
        await live.prompt(chat, Prompt(text="b"))
        await town.ended(wired, chat, lambda: live.stop(chat))
        state = await town.idle(wired, chat)
        assert [one.prompt.text for one in state.queue] == ["b"]
        await live.prompt(chat, Prompt(text="c"))
        await town.until(wired, chat, lambda one: not one.queue and not one.turn and one.phase is LivePhase.IDLE)

    town.run(work)
    assert town.said_to_it() == ["a", "b", "c"]  # what waited comes first


# -- several at once ---------------------------------------------------------------------------------------------


def test_turns_of_several_chats_run_at_once_one_process_each(town: LiveTown) -> None:
    other = town.folder / "other"
    other.mkdir()
    flags = [town.folder / name for name in ("one", "two", "three")]
    scripts = [
        [
            {"touch": str(flag)},
            *({"wait_for": str(one)} for one in flags),
            {"write": f"{flag.name}.txt", "text": "x", "ask": True},
        ]
        for flag in flags
    ]

    async def work(wired: Wired) -> None:
        places = (town.work, town.work, other)
        chats = [
            await town.new(
                wired, AgentChoice(command=town.agent(script, counter=str(town.folder / f"count{number}")).command), place
            )
            for number, (script, place) in enumerate(zip(scripts, places, strict=True))
        ]
        outcomes = await asyncio.gather(*(town.say(wired, chat) for chat in chats))
        assert [set(by_path(one)) for one in outcomes] == [{"one.txt"}, {"two.txt"}, {"three.txt"}]

    town.run(work)
    assert len(town.got("initialize")) == 3


def test_no_restore_while_a_turn_of_its_workspace_runs(town: LiveTown) -> None:
    choice = town.agent([EDIT], [{"say": "x"}, {"sleep": 60}])

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, choice)
        await town.say(wired, chat)
        await wired.core.live.prompt(chat, Prompt(text="go"))
        await town.streamed(wired, chat, lambda message: bool(message.blocks))
        with pytest.raises(Busy, match="turn 2"):
            await town.restore(wired, chat, 1)
        await town.ended(wired, chat, lambda: wired.core.live.stop(chat))
        await town.restore(wired, chat, 1)

    town.run(work)
    assert not (town.work / "a.txt").exists()


# -- sessions ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("can", "method"), [({"load": True}, "session/load"), ({"load": True, "resume": True}, "session/resume")]
)
def test_the_next_program_goes_on_with_the_same_session(town: LiveTown, can: dict[str, object], method: str) -> None:
    choice = town.agent([{"say": "one"}], [{"say": "two"}], replay=[{"user": "x"}, {"say": "y"}], **can)

    async def first(wired: Wired) -> ChatId:
        chat = await town.new(wired, choice)
        await town.say(wired, chat, "one")
        return chat

    chat = town.run(first)
    town.run(lambda wired: town.say(wired, chat, "two"))
    assert len(town.got(method)) == 1
    assert len(town.got("session/new")) == 1
    assert town.said_to_it() == ["one", "two"]
    assert town.words(chat) == ["user: one", "assistant: one", "user: two", "assistant: two"]


def test_after_a_cut_another_session_is_told_what_is_left(town: LiveTown) -> None:
    choice = town.agent([{"say": "first answer"}], [EDIT, {"say": "second answer"}], [{"say": "third"}], load=True)

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, choice)
        await town.say(wired, chat, "first question")
        await town.say(wired, chat, "second question")
        await town.restore(wired, chat, 2)
        await town.say(wired, chat, "third question")
        view = await wired.core.chats.open(chat)
        assert len(view.chat.prior_acp_session_ids) == 1

    town.run(work)
    assert len(town.got("session/new")) == 2
    last = town.said_to_it()[-1]
    assert "first question" in last
    assert "first answer" in last
    assert "second question" not in last
    assert last.endswith("third question")


def test_a_session_that_is_not_known_any_more_is_begun_anew_and_told(town: LiveTown) -> None:
    choice = town.agent([{"say": "one"}], [{"say": "two"}], load=True, knows=[])

    async def first(wired: Wired) -> ChatId:
        chat = await town.new(wired, choice)
        await town.say(wired, chat, "one")
        return chat

    chat = town.run(first)
    town.run(lambda wired: town.say(wired, chat, "two"))
    assert "User: one" in town.said_to_it()[1]


def test_another_agent_is_told_the_history(town: LiveTown) -> None:
    one, two = town.agent([{"say": "from one"}]), town.agent([], [{"say": "from two"}], name="other")

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, one)
        await town.say(wired, chat, "hello")
        await wired.core.live.choose_agent(chat, two)
        await town.say(wired, chat, "and now")
        assert (await wired.core.chats.open(chat)).chat.agent_command == two.command

    town.run(work)
    assert "from one" in town.said_to_it()[1]


def test_a_session_of_the_agents_own_becomes_a_chat(town: LiveTown) -> None:
    replay = [{"user": "old question"}, {"say": "old answer"}, {"write": "a.txt", "text": "x", "via": "client", "ask": True}]
    choice = town.agent([{"say": "new"}], load=True, list=True, sessions=[{"sessionId": "s-9", "title": "Old"}], replay=replay)

    async def work(wired: Wired) -> None:
        chat = await wired.core.live.continue_session(town.work, choice, "s-9")
        assert await wired.core.live.continue_session(town.work, choice, "s-9") == chat
        view = await wired.core.chats.open(chat)
        assert [message.content.strip() for message in view.messages] == ["old question", "old answer"]
        await town.say(wired, chat, "go on")
        assert not await wired.core.checkpoints.touched(chat)

    town.run(work)
    assert not (town.work / "a.txt").exists()  # nothing is done while a session is told again
    assert town.said_to_it() == ["go on"]


def test_an_agent_that_wants_a_sign_in_is_told_and_nothing_is_stored(town: LiveTown) -> None:
    choice = town.agent([], auth_required=True, auth_methods=[{"id": "login", "name": "Log in"}])

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, choice)
        with pytest.raises(AgentNotSignedIn) as raised:
            await wired.core.live.prompt(chat, Prompt(text="go"))
        assert raised.value.ways == ("Log in",)
        state = await wired.core.live.look(chat)
        assert [way.id for way in state.sign_in] == ["login"]
        assert state.problem
        assert not (await wired.core.chats.open(chat)).messages
        assert await wired.core.live.discard_empty(chat)

    town.run(work)
    assert town.rows() == []


def test_a_chat_that_nobody_said_anything_in_is_taken_again(town: LiveTown) -> None:
    choice = town.agent([{"say": "x"}])

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, choice)
        assert await town.new(wired, choice) == chat
        await town.say(wired, chat)
        assert await town.new(wired, choice) != chat
        assert not await wired.core.live.discard_empty(chat)

    town.run(work)


# -- what an agent offers ----------------------------------------------------------------------------------------

MODES = {"currentModeId": "free", "availableModes": [{"id": "free", "name": "Free"}, {"id": "strict", "name": "Strict"}]}


def test_modes_and_commands_are_offered_chosen_and_kept(town: LiveTown) -> None:
    choice = town.agent([{"commands": [["init", "Begin", "what"]]}, {"usage": {"used": 5, "size": 10}}], [], modes=MODES)

    async def first(wired: Wired) -> ChatId:
        chat = await town.new(wired, choice)
        await wired.core.live.start(chat)
        state = await wired.core.live.set_option(chat, _mode(await wired.core.live.look(chat)), "strict")
        assert [(one.kind, one.value) for one in state.options] == [(OptionKind.MODE, "strict")]
        await town.say(wired, chat)
        state = await wired.core.live.look(chat)
        assert [one.name for one in state.commands] == ["init"]
        assert (state.usage.used, state.usage.size) == (5, 10)
        return chat

    chat = town.run(first)
    town.run(lambda wired: wired.core.live.start(chat))
    assert [one["modeId"] for one in town.got("session/set_mode")] == ["strict", "strict"]


def test_what_was_offered_is_known_before_the_agent_runs_and_a_choice_made_then_waits_for_it(town: LiveTown) -> None:
    models = {"currentModelId": "s-1", "availableModels": [{"modelId": "s-1", "name": "Small"}, {"modelId": "l-1"}]}
    choice = town.agent([], [], modes=MODES, models=models)

    async def first(wired: Wired) -> ChatId:
        chat = await town.new(wired, choice)
        await town.say(wired, chat)
        return chat

    chat = town.run(first)

    async def second(wired: Wired) -> None:
        state = await wired.core.live.look(chat)
        assert state.phase is LivePhase.OFF
        assert [(one.kind, one.value, one.name) for one in state.options] == [
            (OptionKind.MODE, "free", "Mode"),
            (OptionKind.MODEL, "s-1", "Model"),
        ]
        assert [(one.id, one.name) for one in state.options[1].choices] == [("s-1", "Small"), ("l-1", "l-1")]
        mode, model = state.options
        with pytest.raises(NotOffered):
            await wired.core.live.set_option(chat, model.id, "another")
        for option, value in ((mode, "strict"), (model, "l-1")):
            state = await wired.core.live.set_option(chat, option.id, value)
        assert state.phase is LivePhase.OFF
        assert [one.value for one in state.options] == ["strict", "l-1"]
        assert not town.got("session/set_mode")

    town.run(second)

    async def third(wired: Wired) -> None:
        assert [one.value for one in (await wired.core.live.look(chat)).options] == ["strict", "l-1"]
        state = await wired.core.live.start(chat)
        assert [one.value for one in state.options] == ["strict", "l-1"]
        assert [one["modeId"] for one in town.got("session/set_mode")] == ["strict"]

    town.run(third)


def test_another_agent_of_a_chat_offers_nothing_of_the_former_one_before_it_runs(town: LiveTown) -> None:
    choice = town.agent([], modes=MODES)
    other = town.agent([])

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, choice)
        await town.say(wired, chat)
        state = await wired.core.live.choose_agent(chat, other)
        assert state.options == ()

    town.run(work)


def _mode(state: object) -> str:
    options = getattr(state, "options")  # noqa: B009
    return str(next(one.id for one in options if one.kind is OptionKind.MODE))


def test_files_go_with_a_prompt_by_their_path_and_images_where_they_are_taken(town: LiveTown) -> None:
    (town.work / "notes.txt").write_text("hello")
    image = b"\x89PNG\r\n\x1a\n" + b"0" * 20
    choice = town.agent([], images=True)

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, choice)
        attachments = (
            Attachment(name="notes.txt", path=str(town.work / "notes.txt")),
            Attachment(name="shot.png", media_type="image/png", data=image),
        )
        await town.ended(wired, chat, lambda: wired.core.live.prompt(chat, Prompt(text="see", attachments=attachments)))
        (prompt, *_rest) = (await wired.core.chats.open(chat)).messages
        assert [one.name for one in prompt.attachments] == ["notes.txt", "shot.png"]
        with pytest.raises(EmptyPrompt):
            await wired.core.live.prompt(chat, Prompt(text="  "))

    town.run(work)
    parts = town.got("session/prompt")[0]["prompt"]
    assert isinstance(parts, list)
    assert [part["type"] for part in parts] == ["text", "resource_link", "image"]
    assert parts[1]["uri"].endswith("/notes.txt")


# -- after a crash of ours ---------------------------------------------------------------------------------------


def test_a_turn_that_a_crash_cut_off_is_ended_at_the_next_start(town: LiveTown) -> None:
    choice = town.agent([EDIT])

    async def work(wired: Wired) -> ChatId:
        chat = await town.new(wired, choice)
        await town.say(wired, chat)
        return chat

    chat = town.run(work)
    town.run(lambda wired: wired.core.turns.begin(chat, workspace=town.work, agent=None, prompt="cut off"))
    (lock,) = (town.data / "vaults").glob("*/desktop/turns/*.lock")
    assert lock.read_text() == ""
    lock.write_text("2\n")
    (town.work / "late.txt").write_text("after the crash")

    async def notes(wired: Wired) -> tuple[str, ...]:
        point = BeforeTurn(1)
        return (await wired.core.checkpoints.plan_restore(chat, point, paths=(), scope=Scope.FILES, mine=KEEP_MINE)).notes

    async def start(wired: Wired) -> None:
        assert await notes(wired) == ("turn-cut-off",)
        await wired.recover()
        assert await notes(wired) == ()
        await wired.recover()
        with pytest.raises(Exception, match="turn"):
            await wired.core.turns.end(chat, answer=None)

    town.run(start)
    assert lock.read_text() == ""


def test_hooks_of_an_agent_that_we_drive_write_nothing_twice(town: LiveTown) -> None:
    go = town.folder / "go"
    choice = town.agent([{"say": "x"}, {"wait_for": str(go)}, EDIT])

    async def work(wired: Wired) -> None:
        chat = await town.new(wired, choice)
        begun = asyncio.create_task(town.say(wired, chat))
        await town.streamed(wired, chat, lambda message: bool(message.blocks))
        session = (await wired.core.chats.open(chat)).chat.acp_session_id
        name = f"claude-code:{session}"
        for edge in (
            wired.core.turns.begin(name, workspace=town.work, agent="Claude Code", prompt="go"),
            wired.core.turns.command_begin(name),
            wired.core.turns.command_end(name),
            wired.core.turns.end(name, answer="x"),
        ):
            report = await edge
            assert (report.chat, report.turn) == (chat, 1)
        go.touch()
        outcome = await begun
        assert set(by_path(outcome)) == {"a.txt"}
        view = await wired.core.chats.open(chat)
        assert [message.role for message in view.messages] == ["user", "assistant"]
        assert await wired.core.chats.resolve(name) == chat

    town.run(work)
