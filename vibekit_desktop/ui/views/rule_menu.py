"""What a chat's agent may do without a question, as a menu in which each of it can be taken back.

A command is what an agent wrote: plain, on one line, cut, and behind words of ours. UI thread only.
"""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from vibekit_desktop.core.types.agents import Rule, RuleKind
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.tool_tip import plain_tip
from vibekit_desktop.ui.visible import one_line, visible_name

_COMMAND_CHARS = 48
_FOLDER_CHARS = 60


def rule_words(rule: Rule) -> str:
    """What a rule allows."""
    match rule.kind:
        case RuleKind.COMMAND:
            return tr("Run “{command}”", command=one_line(rule.subject, _COMMAND_CHARS))
        case RuleKind.FOLDER:
            folder = one_line(visible_name(rule.subject), _FOLDER_CHARS)
            return tr("Edits in {folder}", folder=folder) if folder not in ("", ".") else tr("Edits in the top folder")
        case RuleKind.EDITS:
            return tr("All edits in the workspace")
        case RuleKind.READS:
            return tr("All reads in the workspace")


def fill_rules(menu: QMenu, rules: Sequence[Rule], forgotten: Callable[[Rule], None]) -> None:
    """Put the rules into a menu of their own, newest first, all checked; unchecking one asks again from then on."""
    if not rules:
        return
    if not menu.isEmpty():
        menu.addSeparator()
    below = menu.addMenu(tr("Allowed in this chat without asking"))
    below.setToolTipsVisible(True)
    for rule in reversed(rules):
        action = QAction(rule_words(rule).replace("&", "&&"), below)
        action.setCheckable(True)
        action.setChecked(True)
        if rule.kind is RuleKind.COMMAND:
            action.setToolTip(plain_tip(rule.subject))
        action.triggered.connect(partial(_forget, forgotten, rule))
        below.addAction(action)
    below.addSeparator()
    hint = below.addAction(tr("Uncheck one to be asked again"))
    hint.setEnabled(False)


def _forget(forgotten: Callable[[Rule], None], rule: Rule, _checked: bool = False) -> None:
    forgotten(rule)
