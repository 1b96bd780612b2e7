"""Conflicts as a person reads them: cards newest first, and which rows of files carry the glyph.

Pure but for the list model at the end; every text goes through `ui.text`. UI thread only.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from vibekit_desktop.core.types.checkpoints import FileChange, Now, PlacedConflict, Point
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath
from vibekit_desktop.ui import when
from vibekit_desktop.ui.models.list_changes import apply_changes
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.visible import one_line
from vibekit_desktop.ui.wording import file_name, shown_path

CARD_ROLE = int(Qt.ItemDataRole.UserRole) + 1
"""The `ConflictCard` itself, for the delegate."""
_NAME_CHARACTERS = 60
_NO_PATHS: frozenset[WorkspacePath] = frozenset()


class CardButton(StrEnum):
    """What can be pressed in a card, in the order of Left and Right."""

    COMPARE = "compare"
    KEEP = "keep"
    BRING_BACK = "bring-back"
    REOPEN = "reopen"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictCard:
    """One conflict with its words. ``old`` and ``new``: the points that Compare compares; ``back_to``: the one that Bring back
    goes to."""

    placed: PlacedConflict
    title: str
    text: str
    moment: str
    old: Point | None
    new: Point | None
    back_to: Point | None
    back_words: str

    @property
    def path(self) -> WorkspacePath:
        """The file."""
        return self.placed.conflict.path

    @property
    def settled(self) -> bool:
        """Whether a person said that it stays as it is."""
        return self.placed.settled

    @property
    def buttons(self) -> tuple[CardButton, ...]:
        """What can be pressed."""
        if self.settled:
            return (CardButton.COMPARE, CardButton.REOPEN)
        return (CardButton.COMPARE, CardButton.KEEP, CardButton.BRING_BACK)

    @property
    def key(self) -> tuple[str, str, str, str, str, int]:
        """The same while the conflict is the same one."""
        one = self.placed.conflict
        return one.path, one.other_chat, one.expected_sha, one.actual_sha, one.tag, one.ts

    def words(self, button: CardButton) -> str:
        """What stands on a button."""
        match button:
            case CardButton.COMPARE:
                return tr("Compare")
            case CardButton.KEEP:
                return tr("Keep this")
            case CardButton.BRING_BACK:
                return self.back_words
            case CardButton.REOPEN:
                return tr("Open again")

    def why_off(self, button: CardButton) -> str:
        """Why a button can't be pressed, or empty."""
        if button is CardButton.COMPARE and (self.old is None or self.new is None):
            return tr("No copy of both contents was kept.")
        if button is CardButton.BRING_BACK and self.back_to is None:
            return tr("No copy of it was kept.")
        return ""

    def button_name(self, button: CardButton) -> str:
        """The whole phrase of a button, with its object."""
        path = shown_path(self.path)
        match button:
            case CardButton.COMPARE:
                return tr("Compare both versions of {path}", path=path)
            case CardButton.KEEP if self.placed.theirs == Now():
                return tr("Keep {path} as it is on disk", path=path)
            case CardButton.KEEP:
                return tr("Keep my version of {path}", path=path)
            case CardButton.BRING_BACK if self.placed.theirs == Now():
                return tr("Bring back this chat's version of {path}", path=path)
            case CardButton.BRING_BACK:
                return tr("Bring back the other version of {path}", path=path)
            case CardButton.REOPEN:
                return tr("Open the conflict about {path} again", path=path)


def matters(placed: PlacedConflict) -> bool:
    """Whether two worked on one file: another chat did, or a turn wrote over what somebody had made of it. What anybody else
    did, and nothing wrote over, is a change like others: the timeline has it."""
    return bool(placed.conflict.other_chat or placed.turn)


def who_words(placed: PlacedConflict, names: Mapping[ChatId, str]) -> str:
    """Who it was, at the beginning of a sentence."""
    other = placed.conflict.other_chat
    if not other:
        return tr("Somebody, perhaps you,")
    name = names.get(ChatId(other), "")
    return tr("“{name}”", name=one_line(name, _NAME_CHARACTERS)) if name else tr("Another chat")


def title_of(placed: PlacedConflict) -> str:
    """ "Two chats changed export.md"."""
    name = file_name(shown_path(placed.conflict.path))
    if placed.conflict.other_chat:
        return tr("Two chats changed {file}", file=name)
    return tr("{file} was changed outside this chat", file=name)


def sentence_of(placed: PlacedConflict, names: Mapping[ChatId, str]) -> str:
    """Who wrote it when, and what became of that. Nobody knows the moment, only between which turns it was."""
    who, turn = who_words(placed, names), placed.turn
    deleted = not placed.conflict.actual_sha
    if placed.before:
        since = tr("after turn {turn}", turn=placed.before)
    elif turn:
        since = tr("before turn {turn}", turn=turn)
    else:  # what the chat did before was no turn's: an undo or a restore
        since = tr("after it was put back here") if placed.ours is not None else ""
    if deleted:
        first = tr("{who} deleted it {since}.", who=who, since=since) if since else tr("{who} deleted it.", who=who)
    else:
        first = tr("{who} wrote it {since}.", who=who, since=since) if since else tr("{who} wrote it.", who=who)
    if turn:
        second = tr("Turn {turn} wrote over that.", turn=turn)
    elif placed.theirs == Now():
        second = tr("That is what is on disk.")
    else:
        second = tr("It was changed again since.")
    return f"{first} {second}"


def card_of(placed: PlacedConflict, names: Mapping[ChatId, str], now_ms: int) -> ConflictCard:
    """The card of one conflict; ``names``: how other chats are called."""
    theirs_stands = placed.theirs == Now()
    back_to = placed.ours if theirs_stands else placed.theirs
    old, new = (placed.ours, placed.theirs) if theirs_stands else (placed.theirs, placed.ours)
    return ConflictCard(
        placed=placed,
        title=title_of(placed),
        text=sentence_of(placed, names),
        moment=when.stamp(placed.conflict.ts, now_ms),
        old=old,
        new=new,
        back_to=None if isinstance(back_to, Now) else back_to,
        back_words=tr("Bring back this chat's") if theirs_stands else tr("Bring back theirs"),
    )


def open_conflicts(placed: Iterable[PlacedConflict]) -> int:
    """How many nobody settled."""
    return sum(1 for one in placed if not one.settled)


class ConflictMarks:
    """Which changes carry the glyph. Invariant: only of conflicts that nobody settled."""

    def __init__(self, placed: Iterable[PlacedConflict] = ()) -> None:
        found = [one for one in placed if not one.settled]
        turns: dict[int, set[WorkspacePath]] = {}
        for one in found:
            if one.turn:
                turns.setdefault(one.turn, set()).add(one.conflict.path)
        self._turns = {turn: frozenset(paths) for turn, paths in turns.items()}
        self._contents = {(one.conflict.path, one.conflict.actual_sha) for one in found if not one.turn}
        self._paths = {one.conflict.path for one in found}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ConflictMarks) and (self._turns, self._contents) == (other._turns, other._contents)

    def __hash__(self) -> int:
        return hash((frozenset(self._turns.items()), frozenset(self._contents)))

    def of_turn(self, turn: int, path: WorkspacePath) -> bool:
        """Whether a turn wrote over what somebody else left in a file."""
        return path in self.paths_of(turn)

    def paths_of(self, turn: int) -> frozenset[WorkspacePath]:
        """The files in which a turn wrote over what somebody else left."""
        return self._turns.get(turn, _NO_PATHS)

    def of_others(self, change: FileChange) -> bool:
        """Whether a change outside of the turns is one that nobody looked at."""
        return (change.path, change.after.sha or "") in self._contents

    def of_path(self, path: WorkspacePath) -> bool:
        """Whether there is one about a file."""
        return path in self._paths


class ConflictModel(QAbstractListModel):
    """The cards, newest first. Invariant: settled ones are among them only while they are wanted."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._all: tuple[ConflictCard, ...] = ()
        self._cards: list[ConflictCard] = []
        self._with_settled = False
        self._held = ""

    @property
    def cards(self) -> Sequence[ConflictCard]:
        """Those in the list."""
        return tuple(self._cards)

    @property
    def all_cards(self) -> tuple[ConflictCard, ...]:
        """All conflicts, shown or not, oldest first."""
        return tuple(reversed(self._all))

    @property
    def settled(self) -> int:
        """How many were settled, shown or not."""
        return sum(1 for card in self._all if card.settled)

    @property
    def with_settled(self) -> bool:
        """Whether settled ones are shown."""
        return self._with_settled

    def set_cards(self, cards: Iterable[ConflictCard]) -> None:
        """Show other conflicts, given oldest first."""
        newest: dict[tuple[str, str, str, str, str, int], ConflictCard] = {}
        for card in cards:
            newest[card.key] = card
        self._all = tuple(reversed(newest.values()))
        self._update()

    def show_settled(self, shown: bool) -> None:
        """Show those that were settled, or hide them."""
        self._with_settled = shown
        self._update()

    @property
    def held(self) -> str:
        """Why nothing can be brought back at the moment, or empty. The cards are the same ones; views ask `why_off`."""
        return self._held

    def set_held(self, why: str) -> None:
        """Let Bring back wait; empty frees it. Whoever shows the cards paints them again."""
        self._held = why

    def why_off(self, row: ConflictCard, button: CardButton) -> str:
        """Why a button can't be pressed, or empty."""
        return row.why_off(button) or (self._held if button is CardButton.BRING_BACK else "")

    def row_at(self, row: int) -> ConflictCard | None:
        """The card in a row, or None outside."""
        return self._cards[row] if 0 <= row < len(self._cards) else None

    def buttons_of(self, row: ConflictCard) -> tuple[CardButton, ...]:
        """What can be pressed in a row, in the order of Left and Right."""
        return row.buttons

    def button_name(self, row: ConflictCard, button: CardButton) -> str:
        """The whole phrase of a button."""
        return row.button_name(button)

    def _update(self) -> None:
        wanted = [card for card in self._all if self._with_settled or not card.settled]
        apply_changes(self, self._cards, wanted, lambda card: card.key)

    # Qt's names below.

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._cards)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        card = self.row_at(index.row()) if index.isValid() else None
        if card is None:
            return None
        if role == CARD_ROLE:
            return card
        if role == Qt.ItemDataRole.DisplayRole:
            return card.title
        if role == Qt.ItemDataRole.AccessibleTextRole:
            settled = tr("settled") if card.settled else ""
            return ", ".join(part for part in (card.title, settled, card.text, card.moment) if part)
        if role == Qt.ItemDataRole.AccessibleDescriptionRole:
            return "; ".join(card.button_name(button) for button in card.buttons)
        return None
