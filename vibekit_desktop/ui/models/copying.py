"""What is put on the clipboard of rows that were chosen whole: as plain words, and as Markdown. Pure; any thread.

A whole row is copied as it was written; of a part of one the view gives what it shows.
"""

from collections.abc import Callable, Iterator, Sequence

from vibekit_desktop.ui.models.blocks import AnswerBlock, Block, CardsBlock, EventBlock, UserBlock
from vibekit_desktop.ui.models.transcript_rows import Kind

_COPIED = frozenset((Kind.USER, Kind.ANSWER, Kind.CARDS, Kind.PLAN, Kind.EVENT))
_STEP = 200


def is_copied(kind: Kind) -> bool:
    """Whether a row of this kind has something to copy when it is chosen whole."""
    return kind in _COPIED


def plain(block: Block) -> str:
    """A block as plain words; empty if there is nothing to copy."""
    match block:
        case UserBlock(text) | AnswerBlock(text):
            return text
        case CardsBlock(cards):
            return "\n".join(f"{card.verb} {card.target}".rstrip() for card in cards)
        case EventBlock(_, text):
            return text
        case _:
            return ""


def markdown(block: Block) -> str:
    """A block as Markdown: a message of the person quoted, calls as a list."""
    match block:
        case UserBlock(text):
            return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))
        case CardsBlock(cards):
            return "\n".join(f"- {card.verb} {_code(card.target) if card.mono else card.target}".rstrip() for card in cards)
        case EventBlock(_, text):
            return f"*{text}*"
        case _:
            return plain(block)


def _code(text: str) -> str:
    """A text in a code span, whatever backticks are in it."""
    fence = "`"
    while fence in text:
        fence += "`"
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


class Copying:
    """Gathers what was chosen, some rows at a step, so that nothing waits for a long chat.

    ``first`` and ``last``: the rows; ``whole(row)``: None if the row is chosen whole, else what is chosen of it."""

    def __init__(
        self,
        kinds: Sequence[int],
        block: Callable[[int], Block],
        first: int,
        last: int,
        whole: Callable[[int], str | None],
    ) -> None:
        self._kinds = kinds
        self._block = block
        self._first, self._last = first, last
        self._whole = whole
        self._plain: list[str] = []
        self._marked: list[str] = []

    @property
    def text(self) -> str:
        """The plain words."""
        return "\n\n".join(self._plain)

    @property
    def markdown(self) -> str:
        """The same as Markdown."""
        return "\n\n".join(self._marked)

    def gather(self) -> Iterator[None]:
        """Take some more rows with every step."""
        for row in range(self._first, self._last + 1):
            if row >= len(self._kinds):
                return  # rows went meanwhile
            part = self._whole(row)
            if part is not None:
                self._add(part, part)
            elif is_copied(Kind(self._kinds[row])):
                block = self._block(row)
                self._add(plain(block), markdown(block))
            if (row - self._first) % _STEP == _STEP - 1:
                yield

    def _add(self, words: str, marked: str) -> None:
        if words.strip():
            self._plain.append(words)
            self._marked.append(marked)
