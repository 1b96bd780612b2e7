"""Everything that comes from outside is hostile in one chat, in every place of the window at once: nothing of it is loaded,
runs, changes the clipboard, opens an address, or is taken for a control of ours."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QAction, QContextMenuEvent, QHelpEvent, QPainter, QTextLayout
from PySide6.QtGui import Qt as GuiQt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractScrollArea,
    QApplication,
    QLabel,
    QMenu,
    QMessageBox,
    QTextBrowser,
    QTextEdit,
    QToolTip,
    QWidget,
)

from tests.app.test_live_stories import begin, phase
from tests.app.window import Window
from tests.helpers.bait import Bait, baited
from vibekit_desktop.core.types.agents import LivePhase
from vibekit_desktop.ui.visible import has_hidden

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who opens a file")

TAG = re.compile(r"<[^>]*>")
OURS = {"<qt>", "</qt>", "<br>"}
SPOOFED = "a\nAllow once\n\u202eeno wollA"


@pytest.fixture
def bait(qapp: QApplication, tmp_path: Path) -> Iterator[Bait]:
    with baited(tmp_path / "bait") as laid:
        yield laid


@pytest.fixture
def painted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every text that is painted from now on, letter by letter as Qt gets it."""
    seen: list[str] = []

    def note(owner: type, name: str) -> None:
        original = getattr(owner, name)

        def noting(self: object, *args: object) -> object:
            seen.extend(one for one in args if isinstance(one, str))
            return original(self, *args)

        monkeypatch.setattr(owner, name, noting)

    note(QPainter, "drawText")
    note(QTextLayout, "setText")
    return seen


def faults_of(texts: dict[str, str], where: str) -> list[str]:
    """What is wrong with texts that Qt shows by itself, by what they are."""
    found = []
    for what, text in texts.items():
        if has_hidden(text.replace("\n", "")):
            found.append(f"{where}: {what} hides something: {text!r}")
        if what in ("tool tip", "status tip", "what is this") and GuiQt.mightBeRichText(text) and set(TAG.findall(text)) - OURS:
            found.append(f"{where}: {what} is read as markup: {text!r}")
    return found


def faults_of_widget(widget: QWidget) -> list[str]:
    """What is wrong with a widget."""
    where = type(widget).__name__
    texts = {"tool tip": widget.toolTip(), "status tip": widget.statusTip(), "what is this": widget.whatsThis()}
    texts |= {"title": widget.windowTitle(), "name": widget.accessibleName(), "description": widget.accessibleDescription()}
    found = []
    if isinstance(widget, QLabel):
        texts["text"] = widget.text()
        markup = GuiQt.mightBeRichText(widget.text()) and set(TAG.findall(widget.text())) - OURS
        if widget.textFormat() is not Qt.TextFormat.PlainText and markup:
            found.append(f"a label reads markup: {widget.text()!r}")
    if isinstance(widget, QMessageBox) and widget.textFormat() is not Qt.TextFormat.PlainText:
        found.append(f"a message reads markup: {widget.text()!r}")
    if isinstance(widget, QTextEdit) and (isinstance(widget, QTextBrowser) or widget.acceptRichText()):
        found.append(f"{where} takes rich text")
    if isinstance(widget, QAbstractButton):
        texts["text"] = widget.text()
    if isinstance(widget, QMenu):
        texts["menu"] = widget.title()
    for action in widget.actions():
        found += faults_of_action(action)
    if isinstance(widget, QAbstractItemView) and widget.model() is not None:
        model = widget.model()
        roles = {"tool tip": Qt.ItemDataRole.ToolTipRole, "row": Qt.ItemDataRole.DisplayRole}
        roles["name"] = Qt.ItemDataRole.AccessibleTextRole
        for row in range(model.rowCount()):
            data = {what: model.index(row, 0).data(role) for what, role in roles.items()}
            found += faults_of({what: text for what, text in data.items() if isinstance(text, str)}, f"{where}, row {row}")
    return found + faults_of(texts, where)


def faults_of_action(action: QAction) -> list[str]:
    return faults_of({"text": action.text(), "tool tip": action.toolTip(), "status tip": action.statusTip()}, "an action")


def look(window: Window, painted: list[str]) -> None:
    """Everything that is on the screen now, and every tip under the pointer."""
    window.shell.grab()
    found: list[str] = []
    for widget in QApplication.allWidgets():
        found += faults_of_widget(widget)
    for view in window.main.findChildren(QAbstractScrollArea):
        if view.isVisible():
            found += faults_of_tips(view.viewport())
    found += [f"painted: {text!r}" for text in painted if has_hidden(text.replace("\n", "").replace("\u2028", ""))]
    assert not found, "\n".join(dict.fromkeys(found))


def faults_of_tips(viewport: QWidget) -> list[str]:
    found: dict[str, None] = {}
    for y in range(4, viewport.height(), 14):
        for x in range(8, viewport.width(), 90):
            place = QPoint(x, y)
            QApplication.sendEvent(viewport, QHelpEvent(QEvent.Type.ToolTip, place, viewport.mapToGlobal(place)))
            found |= dict.fromkeys(faults_of({"tool tip": QToolTip.text()}, type(viewport.parentWidget()).__name__))
            QToolTip.showText(QPoint(), "")  # gone at once
    return list(found)


def nothing_happened(bait: Bait) -> None:
    assert bait.opened() == [], "a file that text names was opened"
    assert bait.asked == [], "a server that text names was asked"
    assert bait.doors.opened == [], "an address was opened"
    assert QApplication.clipboard().text() == "mine"


async def test_the_traps_catch_what_they_should(window: Window, bait: Bait) -> None:
    await window.start()
    label = QLabel(bait.texts()[0], window.main)
    label.show()
    window.shell.grab()
    assert "pixel.png" in bait.opened()
    assert faults_of_widget(label)
    label.setText("\u202ea")
    assert faults_of_widget(label)
    label.deleteLater()
    await window.settled()


@pytest.mark.qt_log_ignore("does not support", extend=True)  # menus off screen
async def test_hostile_text_loads_nothing_runs_nothing_and_is_shown_as_text(
    window: Window, tmp_path: Path, bait: Bait, painted: list[str]
) -> None:
    QApplication.clipboard().setText("mine")
    texts = bait.texts()
    everything = "\n\n".join(texts)
    short = f"{texts[0]} \u202eeno\x1b[31m <b>&Undo</b>"
    folder = tmp_path / "<h1>tide&pool\u202e"
    folder.mkdir()
    names = [f"src/{texts[0]}.txt", f"{SPOOFED}.txt", f"{'long' * 60}.md", "<b>&Undo<!--.py", "![x](pixel.png).md"]
    writes: list[dict[str, object]] = [
        {"write": name, "text": everything, "via": "disk", "title": f"{short} {name}", "announce": how}
        for name, how in zip(names, ("before", "after", "before", "never", "after"), strict=True)
    ]
    turn: list[dict[str, object]] = [
        {"title": short},
        {"plan": [[text, "pending"] for text in texts]},
        {"commands": [["go", short, short]]},
        {"think": everything, "whole": True},
        {"say": everything, "whole": True},
        {"say": f"\n\n```{texts[0]}\n{everything}\n```\n\n", "whole": True},
        {"say": f"| {texts[0]} | b |\n|---|---|\n| {texts[9]} | {texts[-1]} |\n\n> {texts[9]}\n", "whole": True},
        {"say": f"\n# {texts[0]}\n\n- [ ] {texts[13]}\n\n[link](file:///etc/passwd) <{bait.address}/auto>\n", "whole": True},
        *writes,
        {"shell": f"printf '%b' '{texts[-2]}' | cat - '{folder}/{names[3]}'".replace("\x1b", "\\033").replace("\x07", "\\007"),
         "via": "terminal", "title": short},
        {"update": {"sessionUpdate": "tool_call", "toolCallId": "other", "title": short, "kind": "fetch", "status": "failed",
                    "content": [{"type": "content", "content": {"type": "text", "text": everything}}]}},
        {"ask": f"Undo\n{everything}", "kind": "execute", "input": {"command": everything}},
        {"write": "after.txt", "text": everything, "ask": True, "title": short},
    ]  # fmt: skip
    await begin(window, tmp_path, folder, turn)
    field = window.conductor.page.composer.field
    field.setPlainText(f"{short}\n{everything}")
    window.key(Qt.Key.Key_Return)
    panel = window.conductor.page.permission
    await window.until(panel.isVisible)
    while panel.isVisible() or phase(window) is LivePhase.RUNNING:
        if panel.question is not None:
            assert panel.first.text() in ("Allow once", "Allow"), "the words of our buttons are ours"
            asked = panel.question.id
            look(window, painted)
            await window.until(lambda: panel.may_answer)
            window.click(panel.first)
            await window.until(lambda asked=asked: panel.question is None or panel.question.id != asked)
        await window.until(lambda: panel.question is not None or phase(window) is not LivePhase.RUNNING)
    await window.until(lambda: phase(window) is LivePhase.IDLE)
    await window.settled()
    window.main.resize(1440, 2400)
    for row in range(window.conductor.page.transcript.count):
        window.conductor.page.transcript.scroll_to_row(row)
        look_at_menu(window, window.conductor.page.transcript.viewport())
        look(window, painted)
    nothing_happened(bait)
    open_everything(window)
    await window.settled()
    look(window, painted)
    await look_at_lists(window, painted)
    await links_ask_first(window, bait)
    await look_at_a_review(window, painted)
    await look_at_dialogs(window, painted)
    await window.settled()
    nothing_happened(bait)


def open_everything(window: Window) -> None:
    """Every card, thought and fold of the transcript."""
    view = window.conductor.page.transcript
    opened = 0
    for row in range(view.count):
        for hit in reversed(view.lay_out(row).hits):
            if hit.action in ("card", "fold"):
                view.scroll_to_row(row)
                place = hit.box.translated(view.column_left(), view.row_top(row) + view.gap(row)).toAlignedRect()
                if view.viewport().rect().contains(place.center()):
                    window.click(view.viewport(), place)
                    opened += 1
    assert opened > 3


async def look_at_lists(window: Window, painted: list[str]) -> None:
    """The tabs of the inspector, the chat list, with their menus; a toast that names a file."""
    for name in ("files", "conflicts", "timeline"):
        action = window.conductor.keys.actions[name]
        if action.isEnabled():
            action.trigger()
            await window.settled()
            look(window, painted)
    for view in window.main.findChildren(QAbstractItemView):
        if view.isVisible():
            look_at_menu(window, view.viewport())
    window.press_block("undo", path="![x](pixel.png).md")
    await window.until(window.dialogs, "the file goes, so it is asked")
    await window.settled()
    look(window, painted)
    window.press_dialog("Delete file")
    await window.until(lambda: window.toast)
    await window.settled()
    look(window, painted)
    assert window.toast.startswith("![x](pixel.png).md ")


def look_at_menu(window: Window, viewport: QWidget) -> None:
    """What the right button opens, where there is something."""
    for y in range(10, min(viewport.height(), 700), 30):
        place = QPoint(40, y)
        event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, place, viewport.mapToGlobal(place))
        QApplication.sendEvent(viewport, event)
        menu = QApplication.activePopupWidget()
        if isinstance(menu, QMenu):
            found = [fault for action in menu.actions() for fault in faults_of_action(action)]
            menu.close()
            assert not found, "\n".join(found)


async def links_ask_first(window: Window, bait: Bait) -> None:
    """Pressing every link of the answers opens nothing by itself."""
    view = window.conductor.page.transcript
    pressed = 0
    for row in range(view.count):
        for hit in view.lay_out(row).hits:
            if hit.action == "link":
                view.link_requested.emit(hit.text)
                pressed += 1
                await window.until(lambda: len(window.dialogs()) == 1)
                (box,) = window.dialogs()
                for part in (box, *box.findChildren(QWidget)):
                    assert not faults_of_widget(part)
                box.answer(None)
                await window.settled()
    assert pressed, "the answers have links"
    nothing_happened(bait)


async def look_at_a_review(window: Window, painted: list[str]) -> None:
    """The diffs of every file."""
    window.conductor.open_review()
    await window.until(lambda: window.main.page == "review")
    await window.settled()
    for _ in range(6):
        look(window, painted)
        window.key(Qt.Key.Key_PageDown, Qt.KeyboardModifier.ControlModifier)
        await window.settled()
    window.main.show_page("transcript")
    await window.settled()


async def look_at_dialogs(window: Window, painted: list[str]) -> None:
    """What is asked before something is restored or deleted."""
    await window.ask_to_restore(1)
    look(window, painted)
    window.press_dialog("Cancel")
    await window.until(lambda: not window.dialogs())
