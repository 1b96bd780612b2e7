"""From a block's value to what paints it; how high it will probably be; how far below the one before it stands."""

from collections.abc import Iterator, Mapping, Sequence, Set
from functools import lru_cache
from types import MappingProxyType
from typing import assert_never

from vibekit_desktop.core.types.diffs import StyleRuns
from vibekit_desktop.ui.models.blocks import (
    AnswerBlock,
    Block,
    BranchBlock,
    CardsBlock,
    CheckpointBlock,
    EarlierBlock,
    EventBlock,
    FooterBlock,
    ThinkingBlock,
    UserBlock,
    WorkingBlock,
)
from vibekit_desktop.ui.models.transcript_rows import Kind
from vibekit_desktop.ui.theme.palette import Theme
from vibekit_desktop.ui.views.answer import AnswerView
from vibekit_desktop.ui.views.asked_once import Places
from vibekit_desktop.ui.views.block_view import BlockView, tall
from vibekit_desktop.ui.views.text_rows import FoldedView, UserView, event_view, thinking_view
from vibekit_desktop.ui.views.tool_cards import CardsView
from vibekit_desktop.ui.views.turn_rows import BranchView, CheckpointView, EarlierView, FooterView
from vibekit_desktop.ui.views.working import WorkingView

_GAP = 10


def make_view(
    theme: Theme,
    block: Block,
    width: int,
    key: str,
    *,
    opened: Set[str],
    styles: Mapping[str, StyleRuns | None],
    shifts: Mapping[str, int],
    closed: Set[str] = frozenset(),
    earlier: BlockView | None = None,
    files: Set[str] = frozenset(),
    places: Mapping[str, Places] = MappingProxyType({}),
) -> BlockView:
    """Lay one block out. ``closed``: keys of cards that open by themselves and were closed; ``earlier``: how the same row was
    laid out before, for what is the same in it; ``files``: paths that can be opened; ``styles`` and ``places``: what is known
    of the colours of code and of where fragments stand."""
    folded = earlier if isinstance(earlier, FoldedView) else None
    match block:
        case CheckpointBlock():
            return CheckpointView(theme, block, width)
        case UserBlock():
            return UserView(theme, block, width, key, opened, earlier if isinstance(earlier, UserView) else None)
        case ThinkingBlock():
            return thinking_view(theme, block, width, key, opened=opened, earlier=folded)
        case AnswerBlock():
            before = earlier if isinstance(earlier, AnswerView) else None
            return AnswerView(
                theme, block, width, key, opened=opened, styles=styles, shifts=shifts, earlier=before, files=files
            )
        case CardsBlock():
            return CardsView(theme, block, width, opened, closed, styles=styles, places=places)
        case FooterBlock():
            return FooterView(theme, block, width)
        case EventBlock():
            return event_view(theme, block, width, key, opened=opened, earlier=folded)
        case BranchBlock():
            return BranchView(theme, block, width)
        case EarlierBlock():
            return EarlierView(theme, block, width)
        case WorkingBlock():
            return WorkingView(theme, block, width)
        case _:
            assert_never(block)


def gap_before(before: int, kind: int) -> int:
    """The distance to the block above; thinking stands closer."""
    if before < 0:
        return 14
    if kind == Kind.CHECKPOINT:
        return _GAP
    if kind in (Kind.THINKING, Kind.WORKING):
        return 6
    if before == Kind.THINKING:
        return 0 if kind == Kind.ANSWER else 6
    return _GAP


@lru_cache(maxsize=8)
def _guesses(
    line: int, row_tool: int, low: int, row: int, per_line: int
) -> tuple[Sequence[Sequence[int]], Sequence[int], Sequence[int]]:
    """By kind how high an empty row is with its gap: at the top, under thinking, under anything else; how much more, and per
    how much weight."""
    base = {int(kind): row for kind in Kind}
    base |= {int(Kind.THINKING): low, int(Kind.EVENT): low, int(Kind.CARDS): 1, int(Kind.PLAN): row_tool + 13}
    base |= {int(Kind.ANSWER): line, int(Kind.USER): line + 22}
    more = {int(Kind.CARDS): row_tool, int(Kind.ANSWER): line, int(Kind.USER): line, int(Kind.PLAN): low}
    per = {int(Kind.ANSWER): per_line, int(Kind.USER): per_line}
    heights = [[gap_before(above, kind) + base[int(kind)] for kind in Kind] for above in (-1, Kind.THINKING, Kind.USER)]
    return heights, [more.get(kind, 0) for kind in Kind], [per.get(kind, 1) for kind in Kind]


def guess_all(theme: Theme, kinds: bytearray, weights: Sequence[int], width: int, before: int = -1) -> list[int]:
    """A guess of every row's height, its gap included, from the length of its text or the number of its calls. ``before``: the
    kind of the row above the first."""
    line, row_tool = theme.line_height("reading"), theme.size("row-tool")
    (first, thought, empty), more, per = _guesses(line, row_tool, tall(theme, 24), tall(theme, 28), max(20, width // 8))
    heights = [
        empty[kind] + more[kind] * (weight // per[kind]) if weight else empty[kind]
        for kind, weight in zip(kinds, weights, strict=True)
    ]
    if heights and before < 0:
        heights[0] += first[kinds[0]] - empty[kinds[0]]
    for row in _under_thinking(kinds, before):
        heights[row] += thought[kinds[row]] - empty[kinds[row]]
    return heights


def _under_thinking(kinds: bytearray, before: int) -> Iterator[int]:
    if kinds and before == Kind.THINKING:
        yield 0
    at = kinds.find(Kind.THINKING)
    while 0 <= at < len(kinds) - 1:
        yield at + 1
        at = kinds.find(Kind.THINKING, at + 1)
