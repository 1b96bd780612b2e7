"""The menus about chats: what can be done with one, and which of them the list shows.

Each makes a fresh menu from values and calls back with what was chosen. UI thread only.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QIcon, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from vibekit_desktop.core.types.chats import ChatHeader, ChatStatus
from vibekit_desktop.ui.models.chat_rows import Filter, Quality
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme import icons
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.tool_tip import plain_tip
from vibekit_desktop.ui.views.key_menu import KeyMenu
from vibekit_desktop.ui.visible import one_line

Act = Callable[[str], None]
"""Called with the id of what was chosen."""
_AGENT_CHARS = 48


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatFacts:
    """What the menu of a chat depends on. ``running``: the turn that runs in it, or 0; ``in_list``: it is the menu of a row,
    which can open the chat too; ``parent_known``: of a branch, its chat is there."""

    header: ChatHeader
    running: int = 0
    in_list: bool = True
    is_open: bool = False
    parent_known: bool = False


def chat_menu(parent: QWidget, hub: ThemeHub, facts: ChatFacts, act: Act, keys: Callable[[str], QKeySequence]) -> QMenu:
    """What can be done with one chat; ``keys`` says which keys do the same."""
    menu = KeyMenu(parent)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    menu.setToolTipsVisible(True)
    header = facts.header
    damaged = header.status is ChatStatus.DAMAGED
    waits = tr("Wait until turn {turn} ends, or stop it", turn=facts.running) if facts.running else ""
    broken = tr("What this chat's file holds can't be read.") if damaged else ""

    def add(name: str, text: str, icon: str = "", *, why_not: str = "") -> None:
        action = menu.addAction(text, partial(act, name))
        if icon:
            action.setIcon(_icon(parent, hub, icon))
        action.setShortcut(keys(name))
        action.setShortcutVisibleInContextMenu(True)
        action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)  # it is shown here; it works by the window's own action
        action.setEnabled(not why_not)
        action.setToolTip(plain_tip(why_not))
        action.setObjectName(name)

    if facts.in_list and not facts.is_open:
        add("open", tr("Open"), "chat")
    if header.archived:
        add("unarchive", tr("Bring back from the archive"), "unarchive")
    else:
        add("rename", tr("Rename"), "edit", why_not=broken)
        add("pin", tr("Unpin") if header.pinned_at else tr("Pin"), "pin", why_not=broken)
        add("archive", tr("Archive"), "archive", why_not=waits or broken)
    if header.parent_chat_id is not None and facts.parent_known and not header.archived:
        menu.addSeparator()
        add("merge", tr("Add its messages to its chat…"), "branch", why_not=waits or broken)
        add("promote", tr("Let it take its chat's place…"), "arrow-up", why_not=waits or broken)
        add("discard", tr("Discard the branch…"), "close", why_not=waits)
    menu.addSeparator()
    add("export", tr("Export…"), "export", why_not=broken)
    add("open-workspace", tr("Open folder"), "folder-open", why_not="" if header.workspace else tr("Its folder is not known."))
    add("copy-link", tr("Copy chat link"), "copy")
    if header.source:
        add("rescan", tr("Rescan"), "refresh")
    menu.addSeparator()
    add("delete", tr("Delete chat…"), "trash", why_not=waits)
    return menu


def filter_menu(parent: QWidget, now: Filter, agents: Sequence[str], choose: Callable[[Filter], None], files: Act) -> QMenu:
    """Which chats the list shows. ``files`` is called with nothing: the person wants those that touched a file."""
    menu = QMenu(parent)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    menu.setAccessibleName(tr("Filter"))
    for quality, words in quality_words():
        wanted = now.qualities ^ {quality}
        _tick(menu, words, quality in now.qualities, partial(choose, replace(now, qualities=frozenset(wanted))))
    menu.addSeparator()
    for agent in agents:
        wanted_agents = frozenset(now.agents ^ {agent})
        words = one_line(agent, _AGENT_CHARS).replace("&", "&&")
        _tick(menu, words, agent in now.agents, partial(choose, replace(now, agents=wanted_agents)))
    if agents:
        menu.addSeparator()
    menu.addAction(tr("File touched…"), partial(files, ""))
    clear = menu.addAction(tr("Show all chats"), partial(choose, replace(now, agents=frozenset(), qualities=frozenset())))
    clear.setEnabled(now.narrows)
    return menu


def quality_words() -> tuple[tuple[Quality, str], ...]:
    """What the filter can ask of a chat, in the order of the menu."""
    return (
        (Quality.NEEDS_YOU, tr("Needs you")),
        (Quality.RUNNING, tr("Running")),
        (Quality.UNREAD, tr("Unread")),
        (Quality.BRANCH, tr("Branches")),
        (Quality.DAMAGED, tr("Damaged")),
        (Quality.FOUND, tr("Not opened yet")),
    )


def _tick(menu: QMenu, words: str, ticked: bool, does: Callable[[], None]) -> None:
    action = menu.addAction(words, does)
    action.setCheckable(True)
    action.setChecked(ticked)


def _icon(widget: QWidget, hub: ThemeHub, name: str) -> QIcon:
    theme, ratio = hub.theme, widget.devicePixelRatioF()
    icon = QIcon(icons.pixmap(theme, name, "text.secondary", 16, ratio))
    icon.addPixmap(icons.pixmap(theme, name, "text.disabled", 16, ratio), QIcon.Mode.Disabled)
    return icon
