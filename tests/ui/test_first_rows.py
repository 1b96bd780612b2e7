"""The list is there at once, as it was known last; what was looked at since comes in without a flicker."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from PySide6.QtCore import QAbstractItemModel
from pytestqt.qtbot import QtBot

from tests.helpers.fake_core import FakeCore
from tests.ui import samples
from tests.ui.spin import bury, own_loop, run
from vibekit_desktop.core.types.chats import ChatHeader
from vibekit_desktop.core.types.errors import CannotRead
from vibekit_desktop.ui.conductor import Conductor
from vibekit_desktop.ui.models.chat_list import ChatListModel, Role
from vibekit_desktop.ui.operations.history import FIRST_ROWS
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.main_window import MainWindow


def names(model: QAbstractItemModel) -> list[str]:
    rows = (model.index(row, 0) for row in range(model.rowCount()))
    return [str(model.data(row)) for row in rows if model.data(row, Role.CHAT)]


def resets(model: QAbstractItemModel) -> list[str]:
    seen: list[str] = []
    model.modelReset.connect(lambda: seen.append("reset"))
    return seen


def test_what_was_known_last_is_shown_and_the_list_brings_only_the_differences() -> None:
    model = ChatListModel(lambda: samples.NOW)
    seen, counts = resets(model), list[int]()
    model.counted.connect(counts.append)
    now = samples.headers()
    known = [replace(now[0], name="as it was"), *now[1:3], replace(now[1], id="gone", name="gone", updated_at=1)]
    model.load_first(known)
    assert "as it was" in names(model)
    assert "gone" in names(model)
    assert counts == [], "how many there are is not known yet"
    model.load(now)
    whole = ChatListModel(lambda: samples.NOW)
    whole.load(now)
    assert names(model) == names(whole)
    assert seen == ["reset"]
    assert counts == [len(now)]


def test_where_nothing_is_known_the_list_is_awaited() -> None:
    model = ChatListModel(lambda: samples.NOW)
    model.load_first([])
    assert not model.is_loaded, "no chats is another matter"
    model.load(samples.headers())
    model.load_first(samples.headers()[:1])
    assert len(names(model)) > 1, "what comes too late is no news"


class Knowing:
    """The window over a core that knows something, and is slow to look."""

    def __init__(self, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, known: Sequence[ChatHeader] | None) -> None:
        self.fake = FakeCore()
        self.fake.chats.headers = samples.headers()
        self.fake.chats.views = {samples.MAIN: samples.chat_view(())}
        self.fake.checkpoints.timelines = {samples.MAIN: samples.timeline()}
        self.before: list[str] = []
        self.chosen: list[object] = []
        look = self.fake.chats.list

        async def first_rows(limit: int) -> Sequence[ChatHeader]:
            assert limit == FIRST_ROWS
            if known is None:
                raise CannotRead("library.json", "damaged")
            return known

        async def listed(
            *, archived: bool = False, workspace: str | None = None, limit: int | None = None
        ) -> Sequence[ChatHeader]:
            if not archived:
                self.before = names(self.conductor.chats)
                self.conductor.sidebar.show_chat(samples.MAIN)
            return await look(archived=archived, workspace=workspace, limit=limit)

        monkeypatch.setattr(self.fake.chats, "first_rows", first_rows)
        monkeypatch.setattr(self.fake.chats, "list", listed)
        hub = ThemeHub("light", still=True)
        self.window = MainWindow(hub)
        qtbot.addWidget(self.window)
        self.conductor = Conductor(self.fake.core, hub, self.window)
        self.resets = resets(self.conductor.chats)

    def start(self) -> None:
        async def story() -> None:
            await self.conductor.start(open_chat=samples.MAIN, view=None, recover=None)
            await self.conductor.settled()

        run(story())

    def close(self) -> None:
        self.conductor.close()
        bury(self.window)


@pytest.fixture(params=[None, [], samples.headers()[:2]], ids=["an error", "nothing", "two rows"])
def knowing(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[tuple[Knowing, Sequence[ChatHeader] | None]]:
    with own_loop():
        made = Knowing(qtbot, monkeypatch, request.param)
        yield made, request.param
        made.close()


def test_a_window_that_starts_shows_them_and_keeps_what_was_chosen(
    knowing: tuple[Knowing, Sequence[ChatHeader] | None],
) -> None:
    made, known = knowing
    made.start()
    assert len(made.before) == len(known or ())
    assert made.resets == ["reset"]
    assert len(names(made.conductor.chats)) == len([one for one in samples.headers() if not one.archived])
    current = made.conductor.sidebar.list.currentIndex()
    assert current.data(Role.CHAT) == samples.MAIN
