"""Qt objects that only a cycle holds die where they live."""

import gc
import threading
import weakref
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QApplication

from vibekit_desktop.app.garbage import CROWD, Collector


class Cycle(QObject):
    """Held by nothing but itself."""

    def __init__(self, died: list[int]) -> None:
        super().__init__()
        self.me = self
        weakref.finalize(self, lambda: died.append(threading.get_ident()))


@pytest.fixture
def collector(qapp: QApplication) -> Iterator[Collector]:
    made = Collector()
    made.start()
    yield made
    made.stop()


def allocate() -> None:
    """What a thread of ours does when it reads a chat."""
    kept = [[number] for number in range(300_000)]
    assert kept


def test_a_thread_that_allocates_collects_nothing(collector: Collector) -> None:
    died: list[int] = []
    Cycle(died)
    thread = threading.Thread(target=allocate)
    thread.start()
    thread.join()
    assert died == []
    gc.collect()
    assert died == [threading.get_ident()]


def test_a_tick_collects_what_is_due(collector: Collector) -> None:
    died: list[int] = []
    Cycle(died)
    kept = [[number] for number in range(5_000)]
    collector.tick()
    assert died == [threading.get_ident()]
    assert kept


def test_a_tick_without_new_objects_does_nothing(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    collector.tick()
    calls: list[int] = []
    monkeypatch.setattr(gc, "collect", calls.append)
    collector.tick()
    assert calls == []


def looked_at() -> int:
    """How many objects the next collection of everything would look at."""
    return len(gc.get_objects())


def test_a_crowd_of_new_objects_is_not_looked_at(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    monkeypatch.setattr(gc, "collect", calls.append)
    kept = [[number] for number in range(2 * CROWD)]
    collector.tick()
    assert calls == []
    assert looked_at() < CROWD < len(kept)


def test_what_other_threads_were_at_work_on_is_set_aside_though_as_much_died_as_was_born(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    collector.tick()
    calls: list[int] = []
    monkeypatch.setattr(gc, "collect", calls.append)
    thread = threading.Thread(target=lambda: [allocate() for _ in range(6)])
    thread.start()
    thread.join()
    kept = [[number] for number in range(2_000)]
    collector.tick()
    assert calls == []
    assert looked_at() < 2_000 <= len(kept)
    kept += [[number] for number in range(2_000)]
    collector.tick()
    assert calls, "nobody else works any more"


def test_however_much_there_is_one_tick_looks_at_little(collector: Collector) -> None:
    kept: list[list[int]] = []
    for _ in range(60):
        kept += [[number] for number in range(CROWD // 4)]
        assert looked_at() < 3 * CROWD
        collector.tick()


def test_what_was_set_aside_is_looked_at_when_nobody_is_at_the_window(collector: Collector) -> None:
    died: list[int] = []
    Cycle(died)
    kept = [[number] for number in range(2 * CROWD)]
    collector.tick()
    collector.tick()
    assert died == []
    collector.state_changed(Qt.ApplicationState.ApplicationActive)
    assert not collector._left.isActive()
    collector.state_changed(Qt.ApplicationState.ApplicationInactive)
    assert collector._left.isActive()
    collector.state_changed(Qt.ApplicationState.ApplicationActive)
    assert not collector._left.isActive(), "somebody came back"
    collector.look_at_all()
    assert died == [threading.get_ident()]
    collector.state_changed(Qt.ApplicationState.ApplicationInactive)
    assert not collector._left.isActive(), "nothing was set aside since"
    assert kept


def test_afterwards_it_is_as_it_was(qapp: QApplication) -> None:
    before = gc.isenabled()
    made = Collector()
    made.start()
    assert not gc.isenabled()
    made.stop()
    assert gc.isenabled() is before
