"""Qt objects that only a cycle holds die where they live."""

import gc
import threading
import weakref
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication

from vibekit_desktop.app.garbage import Collector


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


def test_afterwards_it_is_as_it_was(qapp: QApplication) -> None:
    before = gc.isenabled()
    made = Collector()
    made.start()
    assert not gc.isenabled()
    made.stop()
    assert gc.isenabled() is before
