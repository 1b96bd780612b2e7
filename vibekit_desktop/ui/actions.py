"""Every action once: its id, its text, its keys on each platform. UI thread only.

The window makes `QAction`s from this table and says what each does and when it is enabled; menus, tool tips and the list of
shortcuts read the same table.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject, QOperatingSystemVersion, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

from vibekit_desktop.ui.text import tr

_SIGNS = {"Shift": "⇧", "Backspace": "⌫", "Return": "Enter", "Del": "Delete"}


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """One action. ``keys`` and ``mac`` are key sequences in Qt's portable text (on macOS Ctrl is the Command key), the first
    one is shown."""

    id: str
    text: str
    keys: tuple[str, ...] = ()
    mac: tuple[str, ...] | None = None


def table() -> tuple[ActionSpec, ...]:
    """All actions that exist, in the order of the menus."""
    return (
        ActionSpec("new-chat", tr("New chat"), ("Ctrl+N",)),
        ActionSpec("search", tr("Filter chats"), ("Ctrl+K",)),
        ActionSpec("import", tr("Import…"), ("Ctrl+Shift+I",)),
        ActionSpec("open-folder", tr("Open folder…"), ("Ctrl+O",)),
        ActionSpec("workspaces", tr("Workspaces"), ("Ctrl+Shift+O",)),
        ActionSpec("rescan", tr("Rescan histories"), ("F5",), ("Ctrl+R",)),
        ActionSpec("archived", tr("Chats or archived chats"), ("Ctrl+Shift+H",), ("Ctrl+Alt+A",)),
        ActionSpec("rename", tr("Rename the chat"), ("F2",)),
        ActionSpec("pin", tr("Pin or unpin the chat"), ("Ctrl+Shift+P",)),
        ActionSpec("archive", tr("Archive the chat")),
        ActionSpec("export", tr("Export the chat…"), ("Ctrl+Shift+S",)),
        ActionSpec("delete", tr("Delete the chat for good…")),
        ActionSpec("next-chat", tr("Next chat"), ("Ctrl+Tab",), ("Ctrl+Alt+Right",)),
        ActionSpec("previous-chat", tr("Previous chat"), ("Ctrl+Shift+Tab",), ("Ctrl+Alt+Left",)),
        ActionSpec("toggle-sidebar", tr("Show or hide the chat list"), ("F9",), ("Meta+Ctrl+S",)),
        ActionSpec("toggle-inspector", tr("Show or hide the inspector"), ("Shift+F9",), ("Ctrl+Alt+I",)),
        ActionSpec("focus-list", tr("Go to the chat list"), ("Ctrl+1",)),
        ActionSpec("focus-transcript", tr("Go to the transcript"), ("Ctrl+2",)),
        ActionSpec("focus-inspector", tr("Go to the inspector"), ("Ctrl+3",)),
        ActionSpec("focus-composer", tr("Go to the composer"), ("Ctrl+L",)),
        ActionSpec("timeline", tr("Timeline"), ("Alt+1",), ("Ctrl+Alt+1",)),
        ActionSpec("files", tr("Files"), ("Alt+2",), ("Ctrl+Alt+2",)),
        ActionSpec("conflicts", tr("Conflicts"), ("Alt+3",), ("Ctrl+Alt+3",)),
        ActionSpec("next-pane", tr("Next pane"), ("F6",)),
        ActionSpec("previous-pane", tr("Previous pane"), ("Shift+F6",)),
        ActionSpec("previous-turn", tr("Previous turn"), ("Alt+Up",)),
        ActionSpec("next-turn", tr("Next turn"), ("Alt+Down",)),
        ActionSpec("find", tr("Find in the chat"), ("Ctrl+F",)),
        ActionSpec("find-next", tr("Next place in the chat"), ("F3",), ("Ctrl+G",)),
        ActionSpec("find-previous", tr("Previous place in the chat"), ("Shift+F3",), ("Ctrl+Shift+G",)),
        ActionSpec("stop", tr("Stop the turn"), ("Ctrl+Shift+X",), ("Ctrl+.",)),
        ActionSpec("attach", tr("Attach files…"), ("Ctrl+Shift+A",)),
        ActionSpec("mode", tr("Choose the mode"), ("Ctrl+Shift+M",)),
        ActionSpec("model", tr("Choose the model"), ("Ctrl+Shift+L",)),
        ActionSpec("allow-once", tr("Allow once"), ("Ctrl+Shift+Y",)),
        ActionSpec("deny", tr("Deny"), ("Ctrl+Shift+N",)),
        ActionSpec("review", tr("Review changes"), ("Ctrl+Shift+D",)),
        ActionSpec("restore", tr("Restore to before the turn…"), ("Ctrl+Shift+R",)),
        ActionSpec("branch", tr("Branch from before the turn…"), ("Ctrl+Shift+B",)),
        ActionSpec("undo", tr("Undo the last restore"), ("Ctrl+Z",)),
        ActionSpec("redo", tr("Redo the last undo"), ("Ctrl+Shift+Z", "Ctrl+Y"), ("Ctrl+Shift+Z",)),
        ActionSpec("bigger", tr("Bigger text"), ("Ctrl++", "Ctrl+=")),
        ActionSpec("smaller", tr("Smaller text"), ("Ctrl+-",)),
        ActionSpec("normal", tr("Normal text"), ("Ctrl+0",)),
        ActionSpec("theme-system", tr("As the system")),
        ActionSpec("theme-light", tr("Light")),
        ActionSpec("theme-dark", tr("Dark")),
        ActionSpec("menu-bar", tr("Always show the menu bar")),
        ActionSpec("shortcuts", tr("Keyboard shortcuts"), ("F1", "Ctrl+/"), ("Ctrl+/",)),
        ActionSpec("full-screen", tr("Full screen"), ("F11",), ("Meta+Ctrl+F",)),
        ActionSpec("close-window", tr("Close window"), ("Ctrl+W",)),
        ActionSpec("quit", tr("Quit"), ("Ctrl+Q",)),
    )


@dataclass(frozen=True, slots=True)
class MenuSpec:
    """One menu of the menu bar: its title with its mnemonic, and ids of actions in groups with lines between them."""

    title: str
    groups: tuple[tuple[str, ...], ...]


def menus() -> tuple[MenuSpec, ...]:
    """The menu bar. Every action of the table is in it once."""
    return (
        MenuSpec(
            tr("&File"),
            (("new-chat", "open-folder", "workspaces"), ("import", "export", "rescan"), ("close-window", "quit")),
        ),
        MenuSpec(tr("&Edit"), (("undo", "redo"), ("find", "find-next", "find-previous"), ("search",))),
        MenuSpec(
            tr("&View"),
            (
                ("toggle-sidebar", "toggle-inspector", "archived"),
                ("timeline", "files", "conflicts"),
                ("bigger", "smaller", "normal"),
                ("theme-system", "theme-light", "theme-dark"),
                ("menu-bar", "full-screen"),
            ),
        ),
        MenuSpec(
            tr("&Go"),
            (
                ("next-chat", "previous-chat"),
                ("next-turn", "previous-turn"),
                ("next-pane", "previous-pane"),
                ("focus-list", "focus-transcript", "focus-inspector", "focus-composer"),
            ),
        ),
        MenuSpec(
            tr("&Chat"),
            (
                ("rename", "pin", "archive", "delete"),
                ("review", "restore", "branch"),
                ("allow-once", "deny", "stop"),
                ("attach", "mode", "model"),
            ),
        ),
        MenuSpec(tr("&Help"), (("shortcuts",),)),
    )


def review_table() -> tuple[ActionSpec, ...]:
    """The actions of a review, in the same way. Single letters do nothing while somebody writes."""
    return (
        ActionSpec("next-hunk", tr("Next hunk"), ("F7", "Alt+Down")),
        ActionSpec("previous-hunk", tr("Previous hunk"), ("Shift+F7", "Alt+Up")),
        ActionSpec("next-file", tr("Next file"), ("Ctrl+PgDown",), ("Ctrl+Alt+Down",)),
        ActionSpec("previous-file", tr("Previous file"), ("Ctrl+PgUp",), ("Ctrl+Alt+Up",)),
        ActionSpec("reviewed", tr("Reviewed"), ("V",)),
        ActionSpec("whitespace", tr("Ignore whitespace"), ("W",)),
        ActionSpec("layout", tr("Side by side or unified"), ("S",)),
        ActionSpec("comment", tr("Comment on the lines"), ("C",)),
        ActionSpec("comments", tr("Show or hide the comments"), ("Shift+C",)),
        ActionSpec("undo-here", tr("Undo the file or hunk"), ("Ctrl+Backspace",)),
        ActionSpec("undo-file", tr("Undo the file"), ("Ctrl+Shift+Backspace",)),
        ActionSpec("editor", tr("Open in editor"), ("Ctrl+Shift+E",)),
        ActionSpec("copy-path", tr("Copy path"), ("Ctrl+Shift+C",)),
        ActionSpec("find", tr("Find in the diff"), ("Ctrl+F",)),
        ActionSpec("find-next", tr("Next place"), ("F3",), ("Ctrl+G",)),
        ActionSpec("find-previous", tr("Previous place"), ("Shift+F3",), ("Ctrl+Shift+G",)),
        ActionSpec("back", tr("Back"), ("Esc",)),
    )


def on_mac() -> bool:
    """Whether the keys of macOS are used."""
    return QOperatingSystemVersion.currentType() == QOperatingSystemVersion.OSType.MacOS


def sequences(spec: ActionSpec, *, mac: bool) -> list[QKeySequence]:
    """The keys of an action on a platform."""
    keys = spec.mac if mac and spec.mac is not None else spec.keys
    return [QKeySequence(text, QKeySequence.SequenceFormat.PortableText) for text in keys]


def keys_text(keys: QKeySequence, *, mac: bool | None = None) -> str:
    """Keys as they are written everywhere, in menus, on buttons, in tips: "Ctrl ⇧ Y"; on macOS by its own signs."""
    if on_mac() if mac is None else mac:
        return keys.toString(QKeySequence.SequenceFormat.NativeText)
    text = keys.toString(QKeySequence.SequenceFormat.PortableText)
    parts = re.split(r"(?<=[^+])\+", text)  # the last key may be the plus itself
    return " ".join(_SIGNS.get(part, part) for part in parts)


class Actions(QObject):
    """The actions of one window. Invariant: an action that nobody gave a purpose is disabled and invisible."""

    def __init__(self, window: QWidget, *, mac: bool | None = None) -> None:
        super().__init__(window)
        self._window = window
        self._actions: dict[str, QAction] = {}
        for spec in table():
            action = QAction(spec.text, self)
            action.setObjectName(spec.id)
            action.setShortcuts(sequences(spec, mac=on_mac() if mac is None else mac))
            action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
            action.setEnabled(False)
            action.setVisible(False)
            self._actions[spec.id] = action

    def __getitem__(self, name: str) -> QAction:
        return self._actions[name]

    def names(self) -> tuple[str, ...]:
        """Every id, in the order of the menus."""
        return tuple(self._actions)

    def give(self, name: str, does: Callable[[], None]) -> QAction:
        """Say what an action does; from then on it is enabled and its keys work in the window."""
        action = self._actions[name]
        action.triggered.connect(lambda _checked=False: does())
        action.setEnabled(True)
        action.setVisible(True)
        self._window.addAction(action)
        return action

    def enable(self, name: str, enabled: bool) -> None:
        """Whether an action can be done now."""
        self._actions[name].setEnabled(enabled)
