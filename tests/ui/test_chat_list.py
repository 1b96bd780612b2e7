"""The chat list: groups, branches, smallest signals, times."""

import unicodedata
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, Qt
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from tests.ui import samples
from vibekit_desktop.core.types.chats import ChatStatus
from vibekit_desktop.core.types.ids import ChatId
from vibekit_desktop.ui.models import chat_rows
from vibekit_desktop.ui.models.chat_list import ChatListModel, ChatRow, GroupRow, Role
from vibekit_desktop.ui.models.chat_rows import plain
from vibekit_desktop.ui.models.list_changes import apply_changes


@pytest.fixture
def model(qtbot: QtBot) -> ChatListModel:
    return ChatListModel(lambda: samples.NOW)


class Signals(QObject):
    """Writes down what a model announces."""

    def __init__(self, model: ChatListModel) -> None:
        super().__init__(model)
        self.seen: list[str] = []
        model.rowsInserted.connect(lambda _p, first, last: self.seen.append(f"insert {first}-{last}"))
        model.rowsRemoved.connect(lambda _p, first, last: self.seen.append(f"remove {first}-{last}"))
        model.rowsMoved.connect(lambda _p, first, _l, _q, to: self.seen.append(f"move {first}-{to}"))
        model.dataChanged.connect(lambda first, last: self.seen.append(f"change {first.row()}-{last.row()}"))
        model.modelReset.connect(lambda: self.seen.append("reset"))


def titles(model: ChatListModel) -> list[str]:
    return [str(model.data(model.index(row))) for row in range(model.rowCount())]


def test_chats_stand_in_groups_with_branches_under_their_parent(model: ChatListModel) -> None:
    model.load(samples.headers())
    assert titles(model) == [
        "Today",
        "Speed up cold start",
        "Keep empty rows in export",
        "Write rows eagerly instead",
        "Move settings to TOML",
        "Yesterday",
        "Docs: tidy the export guide",
        "Why does the watcher miss renames?",
        "Earlier this week",
        "Replace the retry loop",
        "Port the importer to asyncio",
        "Older",
        "First pass at the plot module",
    ]
    assert model.data(model.index(3), Role.DEPTH) == 1


def test_the_model_keeps_qts_rules(model: ChatListModel, qtmodeltester: ModelTester) -> None:
    model.load(samples.headers())
    qtmodeltester.check(model)
    model.put(replace(samples.headers()[6], updated_at=samples.NOW))
    model.drop(samples.headers()[2].id)
    model.flush()
    qtmodeltester.check(model)


def test_a_chat_that_got_a_new_answer_only_moves(model: ChatListModel) -> None:
    model.load(samples.headers())
    signals = Signals(model)
    chat = samples.headers()[3]
    model.put(replace(chat, updated_at=samples.NOW))
    model.flush()
    assert signals.seen == ["move 4-1", "change 1-1"]


def test_a_change_in_place_is_one_change(model: ChatListModel) -> None:
    model.load(samples.headers())
    signals = Signals(model)
    model.put(replace(samples.headers()[4], lines_added=58))
    model.flush()
    assert signals.seen == ["change 6-6"]


def test_a_new_group_comes_with_its_first_chat(model: ChatListModel) -> None:
    model.load([samples.headers()[8]])
    signals = Signals(model)
    model.put(samples.headers()[4])
    model.flush()
    assert signals.seen == ["insert 0-1"]
    assert titles(model)[:2] == ["Yesterday", "Docs: tidy the export guide"]


def test_many_news_are_gathered_and_a_second_load_is_no_reset(qtbot: QtBot, model: ChatListModel) -> None:
    model.load(samples.headers()[:1])
    signals = Signals(model)
    with qtbot.waitSignal(model.rowsInserted):
        for header in samples.headers():
            model.put(header)
    model.load(samples.headers())
    model.flush()
    assert "reset" not in signals.seen


def test_a_deleted_chat_takes_an_empty_group_with_it(model: ChatListModel) -> None:
    model.load(samples.headers())
    signals = Signals(model)
    model.drop(samples.headers()[8].id)
    model.flush()
    assert signals.seen == ["remove 11-12"]


def test_the_filter_shows_what_has_every_word_in_its_title(model: ChatListModel) -> None:
    model.load(samples.headers())
    model.set_filter("EXPORT keep")
    assert titles(model) == ["1 chat matches", "Keep empty rows in export"]
    model.set_filter("export")
    assert titles(model)[0] == "2 chats match"
    model.set_filter("nothing like it")
    assert titles(model) == []
    model.set_filter("")
    assert len(titles(model)) == 13


def test_a_workspace_narrows_the_list_and_the_count(qtbot: QtBot, model: ChatListModel) -> None:
    model.load(samples.headers())
    with qtbot.waitSignal(model.counted) as told:
        model.set_workspace("/home/ada/code/lantern")
    assert told.args == [2]
    assert titles(model) == ["Today", "Speed up cold start", "Yesterday", "Why does the watcher miss renames?"]


def test_a_branch_whose_parent_is_not_there_stands_alone(model: ChatListModel) -> None:
    model.load([samples.headers()[1]])
    assert model.data(model.index(1), Role.DEPTH) == 0


def test_a_circle_of_branches_hides_nobody(model: ChatListModel) -> None:
    one, two = samples.headers()[0], samples.headers()[1]
    model.load([replace(one, parent_chat_id=two.id), replace(two, parent_chat_id=one.id)])
    assert model.rowCount() == 3


def test_the_clock_moves_chats_into_yesterday(qtbot: QtBot) -> None:
    now = [samples.NOW]
    model = ChatListModel(lambda: now[0])
    model.load(samples.headers()[:1])
    now[0] = samples.at(17, 9, 0)
    model.clock_moved()
    assert titles(model)[0] == "Yesterday"


def test_a_row_says_everything_to_a_screen_reader(model: ChatListModel) -> None:
    model.load(samples.headers())
    text = model.data(model.index(2), Qt.ItemDataRole.AccessibleTextRole)
    assert text == ("Chat: Keep empty rows in export, Claude Code, tidepool, 2 minutes ago, 71 lines added, 90 deleted")
    damaged = model.data(model.index(10), Qt.ItemDataRole.AccessibleTextRole)
    assert "damaged: 3 messages unreadable" in str(damaged)


def test_group_headers_cannot_be_chosen(model: ChatListModel) -> None:
    model.load(samples.headers())
    assert not model.flags(model.index(0)) & Qt.ItemFlag.ItemIsSelectable
    assert isinstance(model.data(model.index(0), Role.KIND), GroupRow)
    assert isinstance(model.data(model.index(1), Role.KIND), ChatRow)


def test_a_found_chat_says_where_it_is(model: ChatListModel) -> None:
    model.load([replace(samples.headers()[0], status=ChatStatus.FOUND)])
    assert "never changed" in str(model.data(model.index(1), Qt.ItemDataRole.ToolTipRole))


def test_a_title_hides_nothing(model: ChatListModel) -> None:
    model.load([replace(samples.headers()[0], name="Fix\u202e the\nrest")])
    assert titles(model)[1] == "Fix\u27e8U+202E\u27e9 the rest"


class _Rows(QAbstractListModel):
    def __init__(self, rows: list[tuple[str, int]]) -> None:
        super().__init__()
        self.rows = rows
        self.mirror = list(rows)
        self.rowsInserted.connect(self._inserted)
        self.rowsRemoved.connect(self._removed)
        self.rowsMoved.connect(self._moved)
        self.dataChanged.connect(self._changed)

    def rowCount(self, parent: QModelIndex = QModelIndex()) -> int:  # noqa: B008
        return len(self.rows)

    def data(self, index: QModelIndex, role: int = 0) -> object:
        return self.rows[index.row()]

    def _inserted(self, _parent: QModelIndex, first: int, last: int) -> None:
        self.mirror[first:first] = self.rows[first : last + 1]

    def _removed(self, _parent: QModelIndex, first: int, last: int) -> None:
        del self.mirror[first : last + 1]

    def _moved(self, _p: QModelIndex, first: int, last: int, _q: QModelIndex, to: int) -> None:
        part = self.mirror[first : last + 1]
        del self.mirror[first : last + 1]
        at = to if to < first else to - len(part)
        self.mirror[at:at] = part

    def _changed(self, first: QModelIndex, last: QModelIndex) -> None:
        self.mirror[first.row() : last.row() + 1] = self.rows[first.row() : last.row() + 1]


_LISTS = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.integers(0, 1)), unique_by=lambda row: row[0])


@given(_LISTS, _LISTS)
def test_the_signals_alone_lead_from_any_list_to_any_other(old: list[tuple[str, int]], new: list[tuple[str, int]]) -> None:
    model = _Rows(list(old))
    apply_changes(model, model.rows, new, lambda row: row[0])
    assert model.rows == new
    assert model.mirror == new


def test_typing_into_the_filter_prepares_each_title_once(model: ChatListModel, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def counted(text: str) -> str:
        seen.append(text)
        return plain(text)

    monkeypatch.setattr(chat_rows, "plain", counted)
    header = samples.headers()[0]
    model.load(replace(header, id=ChatId(f"{n:08}"), name=f"Größe … {n}", parent_chat_id=None) for n in range(500))
    for text in ("g", "gr", "gro", "grosse 7"):
        model.set_filter(text)
        assert model.rowCount() > 1
    assert sum("\n" in text for text in seen) == 500
    assert len(seen) < 520, "the words of the filter are not taken apart for every chat"


@pytest.mark.parametrize("text", ["plain", "", "Größe ÉCOLE", "e\u0301a\u0300\u0316", "ﬁle… ½", "Ω ΑΣ", "\x7f\x80"])
def test_a_text_is_compared_without_case_and_accents(text: str) -> None:
    bare = unicodedata.normalize("NFKD", text.casefold())
    assert plain(text) == "".join(sign for sign in bare if not unicodedata.combining(sign))
