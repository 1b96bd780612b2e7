"""What the banner under the header says: one fact about the chat at a time, the worst first. Pure; UI thread only."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from vibekit_desktop.core.api import StoreSize
from vibekit_desktop.core.types.agents import LivePhase, LiveState
from vibekit_desktop.core.types.chats import ChatStatus, ChatView
from vibekit_desktop.core.types.checkpoints import BeforeTurn, EntryKind, RestoreKind, Timeline, parse_point
from vibekit_desktop.core.types.errors import CoreError
from vibekit_desktop.ui.error_text import sentence
from vibekit_desktop.ui.models.damage_words import damage_told
from vibekit_desktop.ui.models.untold import files_of, untold, untold_text
from vibekit_desktop.ui.text import tr, tr_n
from vibekit_desktop.ui.visible import one_line
from vibekit_desktop.ui.wording import workspace_name

FULL = 0.98
"""So full a store is worth a banner; before that the meter's colour says it."""
_PROBLEM_CHARS = 300
_NOT_WRONG = (LivePhase.UNAVAILABLE, LivePhase.STARTING)
"""The foot says who is missing; and while an agent is started again, what was wrong before is over."""


class Fact(NamedTuple):
    """What a banner says; ``action`` is the button's words, ``does`` what it asks for."""

    text: str = ""
    tone: str = "info"
    icon: str = "info"
    action: str = ""
    does: str = ""


NOTHING = Fact()


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What the banner depends on. ``amount``: how full the store is, in words; ``noted``: the entries of the timeline that a
    note in the message field tells the agent of; ``deletes``: the program that deletes the chat, and after how many days."""

    view: ChatView | None = None
    live: LiveState | None = None
    timeline: Timeline | None = None
    store: StoreSize | None = None
    amount: str = ""
    noted: frozenset[int] = frozenset()
    deletes: tuple[str, int] = ("", 0)


def worst(known: Known) -> Fact:
    """The one fact to be told now."""
    return next(_facts(known), NOTHING)


def _facts(known: Known) -> Iterator[Fact]:
    view, timeline = known.view, known.timeline
    if view is None:
        return
    if view.damage is not None:
        yield Fact(damage_told(view.damage), "error", "damaged", tr("Details"), "damage")
    elif view.header.status is ChatStatus.DAMAGED:
        yield Fact(one_line(view.header.problem) or tr("Parts of this chat can't be read."), "error", "damaged")
    if not view.workspace_found:
        name = workspace_name(view.vault_workspace) or tr("The workspace")
        text = tr("{name} was not found where it was. The chat can be read; nothing can be restored.", name=name)
        yield Fact(text, "warning", "warning", tr("Locate…"), "locate")
    if timeline is not None and timeline.unfinished:
        text = tr("A restore of this chat began and did not end. Some of its files may be put back and others not.")
        action = tr("Leave the files as they are") if timeline.to_answer else ""
        yield Fact(text, "warning", "warning", action, "leave")
    yield from _of_agent(known.live)
    if known.store is not None and known.store.used_bytes >= FULL * known.store.budget_bytes:
        yield Fact(tr("The store is at {amount}.", amount=known.amount), "warning", "store", tr("Manage…"), "storage")
    if view.header.archived:
        yield Fact(tr("This chat is archived."), "info", "archive", tr("Bring back"), "unarchive")
    elif timeline is not None:
        yield from _apart(view, timeline)
        yield from _untold(known, timeline)
    if known.deletes[0]:
        kept = tr("This one is kept here.")
        yield Fact(f"{deletes_text(*known.deletes)}. {kept}", "info", "archive", tr("Learn more"), "keeping")


def deletes_text(program: str, days: int) -> str:
    """That a program deletes its chats by itself; no full stop."""
    one, many = "{program} deletes its chats after {n} day", "{program} deletes its chats after {n} days"
    return tr_n(one, many, days, program=program)


def _untold(known: Known, timeline: Timeline) -> Iterator[Fact]:
    """A person put files back, and the agent that is asked next takes them for as it left them."""
    entries = untold(timeline)
    live = known.live
    if live is None or live.phase is LivePhase.UNAVAILABLE or known.noted.issuperset(entry.entry for entry in entries):
        return
    yield Fact(untold_text(files_of(entries)), "info", "info", tr("Add a note to the next message"), "note")


def _of_agent(state: LiveState | None) -> Iterator[Fact]:
    """What is wrong with the agent, and what can be done about it."""
    if state is None or state.phase in _NOT_WRONG or not (state.problem or state.error):
        return
    error = sentence(state.error) if state.error is not None else None
    text = one_line(error.title if error is not None else state.problem, _PROBLEM_CHARS)
    if state.sign_in:
        yield Fact(text, "warning", "key", tr("Sign in…"), "sign-in")
    else:
        idle = state.phase in (LivePhase.OFF, LivePhase.IDLE)
        yield Fact(text, "error", "agent", tr("Restart") if idle else "", "restart")


def files_turn(timeline: Timeline) -> int | None:
    """The turn after which the files are, if the newest thing that happened put them all back; None if they are as the chat
    left them."""
    for entry in reversed(timeline.entries):
        if entry.kind is EntryKind.TURN:
            return None
        if entry.kind is EntryKind.RESTORE and entry.restore_kind is RestoreKind.RESTORE and not entry.undone:
            try:
                point = parse_point(entry.point)
            except CoreError:
                return None
            return point.turn - 1 if isinstance(point, BeforeTurn) else None
    return None


def _apart(view: ChatView, timeline: Timeline) -> Iterator[Fact]:
    """The files are at an earlier turn than the chat."""
    files = files_turn(timeline)
    said = view.turns[-1].turn if view.turns else 0
    if files is None or files >= said:
        return
    if files > 0:
        text = tr("The chat is at turn {chat}, the files are at turn {files}.", chat=said, files=files)
    else:
        text = tr("The chat is at turn {chat}, the files are as they were before turn 1.", chat=said)
    yield Fact(text, "info", "info", tr("Match chat"), "match")
