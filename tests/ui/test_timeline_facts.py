"""What a timeline says as a whole is gathered once, and away from the window's thread where that takes time."""

import asyncio
import threading
from dataclasses import replace

import pytest

from tests.ui import samples
from tests.ui.live_stage import Program
from tests.ui.spin import run
from tests.ui.test_live_window import program  # noqa: F401  # its fixture
from vibekit_desktop.core.types.checkpoints import AfterTurn, EntryKind, Now, Start, Timeline
from vibekit_desktop.ui.models import timeline_facts
from vibekit_desktop.ui.models.changed_files import changed_files, count_changed
from vibekit_desktop.ui.models.sides import last_end, new_points
from vibekit_desktop.ui.models.timeline_facts import MANY, facts_of


def test_the_same_timeline_is_gone_through_once(monkeypatch: pytest.MonkeyPatch) -> None:
    timeline = samples.timeline()
    facts = facts_of(timeline)
    monkeypatch.setattr(timeline_facts, "_gather", lambda one: pytest.fail(f"again: {one.chat}"))
    assert facts_of(timeline) is facts
    assert len(changed_files(timeline)) == count_changed(timeline) == len(facts.runs)


def test_a_timeline_that_is_equal_but_another_one_is_looked_at_for_itself() -> None:
    timeline = samples.timeline()
    fewer = replace(timeline, entries=timeline.entries[:1])
    assert facts_of(timeline).turns.keys() == {1, 2, 3, 4, 5}
    assert facts_of(fewer).turns.keys() == {1}
    assert facts_of(timeline).turns[5] is next(
        entry for entry in timeline.entries if entry.turn == 5 and entry.kind is EntryKind.TURN
    )
    assert all(
        entry.kind is EntryKind.RESTORE and number == entry.entry for number, entry in facts_of(timeline).restores.items()
    )


def test_the_end_that_was_chosen_stays_while_there_is_such_a_turn() -> None:
    timeline = samples.timeline()
    assert last_end(timeline, AfterTurn(2)) == AfterTurn(2)
    assert last_end(timeline, AfterTurn(77)) == last_end(timeline, Start()) == new_points(timeline, Now())[-1]
    assert last_end(replace(timeline, entries=()), AfterTurn(2)) == Now()


def test_a_long_one_is_gone_through_by_another_thread(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    timeline = samples.timeline()
    (turn, *_) = (entry for entry in timeline.entries if entry.kind is EntryKind.TURN)
    many = tuple(replace(turn, turn=number + 1, files=()) for number in range(MANY))
    program.fake.checkpoints.timelines[timeline.chat] = replace(timeline, entries=(*many, *timeline.entries[-1:]))
    threads: list[int] = []
    gather = timeline_facts._gather

    def watched(one: Timeline) -> timeline_facts.Facts:
        threads.append(threading.get_ident())
        return gather(one)

    monkeypatch.setattr(timeline_facts, "_gather", watched)

    async def story() -> None:
        program.conductor.open.refresh()
        await asyncio.sleep(0.05)
        await program.conductor.settled()

    run(story())
    assert program.conductor.open.timeline is not None
    assert len(program.conductor.open.timeline.entries) > MANY
    assert len(threads) == 1
    assert threads[0] != threading.get_ident()
