"""Give every action of the table its purpose in one window.

Text fields keep their own keys: an action whose keys a text field knows (undo, redo) does nothing while one has the focus.
While a dialog asks something, no key does anything behind it, except to leave. UI thread only.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit, QTextEdit, QWidget

from vibekit_desktop.ui.actions import Actions, keys_text
from vibekit_desktop.ui.chat_desk import CHAT_ACTIONS
from vibekit_desktop.ui.dialogs.overlay import Overlay
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.chat_page import ChatPage
from vibekit_desktop.ui.views.inspector import Inspector
from vibekit_desktop.ui.views.main_window import MainWindow
from vibekit_desktop.ui.views.sidebar import Sidebar

_ZOOM_STEP = 0.1
CHAT_ONLY = ("find", "find-next", "find-previous", "previous-turn", "next-turn")
"""A review has actions of its own with these keys: there they are off."""
LOOKS = ("system", "light", "dark")


class Doer(Protocol):
    """What the keys ask for; the conductor."""

    sidebar: Sidebar
    page: ChatPage
    inspector: Inspector

    def rescan(self) -> None: ...
    def open_review(self) -> None: ...
    def restore(self) -> None: ...
    def branch(self) -> None: ...
    def act_on_chat(self, name: str) -> None: ...
    def undo(self) -> None: ...
    def redo(self) -> None: ...
    def new_chat(self) -> None: ...
    def stop(self) -> None: ...
    def show_shortcuts(self) -> None: ...
    def choose_theme(self, mode: str) -> None: ...


def _writing() -> bool:
    return isinstance(QApplication.focusWidget(), QLineEdit | QTextEdit | QPlainTextEdit)


class Keys(QObject):
    """The actions of one window, bound. Invariant: no action is bound that does nothing."""

    def __init__(
        self, doer: Doer, hub: ThemeHub, window: MainWindow, *, more_panes: Sequence[Callable[[], QWidget]] = ()
    ) -> None:
        """``more_panes``: what F6 goes to beside the parts of the doer, where it is shown."""
        super().__init__(window)
        self._hub = hub
        self._window = window
        self._panes: tuple[Callable[[], QWidget], ...] = (
            lambda: doer.sidebar.list,
            lambda: doer.page.transcript,
            doer.inspector.shown_list,
            lambda: doer.page.composer.field,
            *more_panes,
        )
        self.actions = Actions(window)
        give = self.give
        give("new-chat", doer.new_chat)
        give("search", doer.sidebar.focus_search)
        doer.sidebar.search.set_shortcut(self.actions["search"].shortcut())
        give("import", doer.sidebar.open_import_menu)
        give("open-folder", doer.sidebar.choose_folder)
        give("workspaces", doer.sidebar.open_workspace_menu)
        give("rescan", doer.rescan)
        give("archived", doer.sidebar.toggle_archived)
        for name in CHAT_ACTIONS:
            give(name, partial(doer.act_on_chat, name))
        give("next-chat", lambda: doer.sidebar.list.step(1))
        give("previous-chat", lambda: doer.sidebar.list.step(-1))
        give("toggle-sidebar", window.toggle_sidebar)
        give("toggle-inspector", window.toggle_inspector)
        give("focus-list", lambda: self._show_list(doer.sidebar))
        give("focus-transcript", doer.page.transcript.setFocus)
        give("focus-inspector", lambda: self._show_tab(doer.inspector, doer.inspector.tab()))
        give("focus-composer", doer.page.composer.focus)
        for tab, name in enumerate(("timeline", "files", "conflicts")):
            give(name, partial(self._show_tab, doer.inspector, tab))
        transcript = doer.page.transcript
        give("previous-turn", lambda: transcript.step_turn(-1))
        give("next-turn", lambda: transcript.step_turn(1))
        give("find", transcript.open_find)
        give("find-next", lambda: transcript.find_next(1))
        give("find-previous", lambda: transcript.find_next(-1))
        give("next-pane", lambda: self._step_pane(1))
        give("previous-pane", lambda: self._step_pane(-1))
        composer, permission = doer.page.composer, doer.page.permission
        give("stop", doer.stop)
        give("attach", lambda: composer.attach() if composer.isVisible() else None)
        give("mode", lambda: composer.mode.open_menu() if composer.mode.isVisible() else None)
        give("model", lambda: composer.model.open_menu() if composer.model.isVisible() else None)
        give("allow-once", lambda: permission.allow_once() if permission.isVisible() else None)
        give("deny", lambda: permission.deny() if permission.isVisible() else None)
        permission.set_keys(*(keys_text(self.actions[name].shortcut()) for name in ("allow-once", "deny")))
        give("review", doer.open_review)
        give("restore", doer.restore)
        give("branch", doer.branch)
        give("undo", lambda: None if _writing() else doer.undo())
        give("redo", lambda: None if _writing() else doer.redo())
        give("bigger", lambda: self._set_zoom(hub.zoom + _ZOOM_STEP))
        give("smaller", lambda: self._set_zoom(hub.zoom - _ZOOM_STEP))
        give("normal", lambda: self._set_zoom(1.0))
        for look in LOOKS:
            give(f"theme-{look}", partial(doer.choose_theme, look))
            self.actions[f"theme-{look}"].setCheckable(True)
        give("menu-bar", lambda: window.menu.set_always(not window.menu.always))
        self.actions["menu-bar"].setCheckable(True)
        window.menu.always_changed.connect(self._show_choices)
        hub.mode_changed.connect(self._show_choices)
        window.page_changed.connect(self._page_changed)
        give("shortcuts", doer.show_shortcuts)
        give("full-screen", lambda: _toggle_full_screen(window))
        give("close-window", lambda: _close(window))
        give("quit", lambda: _close(window), always=True)
        self._show_choices()

    def give(self, name: str, does: Callable[[], object], *, always: bool = False) -> None:
        """Say what an action does. While a dialog asks something it does nothing, unless ``always``."""

        def act() -> None:
            if always or not _asking(self._window):
                does()

        self.actions.give(name, act)

    def _page_changed(self, page: str) -> None:
        """A review has these keys for itself."""
        for name in CHAT_ONLY:
            if self.actions[name].isVisible():
                self.actions.enable(name, page == "transcript")

    def _show_choices(self) -> None:
        """What is chosen among looks, and whether the menu bar stays, has its mark in the menu."""
        for look in LOOKS:
            self.actions[f"theme-{look}"].setChecked(self._hub.mode == look)
        self.actions["menu-bar"].setChecked(self._window.menu.always)

    def hold_back(self, held: bool) -> None:
        """Whether nothing may be taken back now, because a turn runs."""
        for name in ("restore", "undo", "redo"):
            self.actions.enable(name, not held)

    def _show_tab(self, inspector: Inspector, tab: int) -> None:
        if not self._window.panes.inspector_open:
            self._window.toggle_inspector()
        inspector.show_tab(tab)
        inspector.shown_list().setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _show_list(self, sidebar: Sidebar) -> None:
        if self._window.panes.sidebar.isHidden():
            self._window.toggle_sidebar()
        sidebar.focus_list()

    def _step_pane(self, step: int) -> None:
        focus = QApplication.focusWidget()
        panes = [pane() for pane in self._panes]
        shown = [pane for pane in panes if pane.isVisible()]
        if not shown:
            return
        here = next((place for place, pane in enumerate(shown) if focus is not None and _within(focus, pane)), -1)
        shown[(here + step) % len(shown) if here >= 0 else 0].setFocus()

    def _set_zoom(self, zoom: float) -> None:
        self._hub.set_zoom(round(zoom, 1))


def _asking(window: QWidget) -> bool:
    return any(overlay.isVisible() for overlay in window.findChildren(Overlay))


def _within(widget: QWidget, pane: QWidget) -> bool:
    return widget is pane or pane.isAncestorOf(widget)


def _close(window: QWidget) -> None:
    window.window().close()


def _toggle_full_screen(window: QWidget) -> None:
    top = window.window()
    top.showNormal() if top.isFullScreen() else top.showFullScreen()
