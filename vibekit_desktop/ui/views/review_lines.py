"""What the review does with the lines of the painted diff: which are chosen, bring some into sight, mark those with comments.

The only place where the review knows how the diff view is asked for it. UI thread only.
"""

from collections.abc import Callable, Sequence

from vibekit_desktop.core.types.diffs import DiffDocument
from vibekit_desktop.core.types.reviews import PlacedComment, Side
from vibekit_desktop.ui.models.review_options import ReviewOptions
from vibekit_desktop.ui.views.diff_paint import NEW, OLD
from vibekit_desktop.ui.views.diff_pane import DiffPane

Lines = tuple[Side, int, int]


def apply(pane: DiffPane, options: ReviewOptions) -> None:
    """Show diffs as a person likes them."""
    pane.set_unified(options.unified)


def on_comment_wanted(pane: DiffPane, does: Callable[[Side, int, int], None]) -> None:
    """Call ``does`` when somebody wants to say something about lines in the diff itself."""


def close_find(pane: DiffPane) -> bool:
    """Close the field to find something in; whether it was open."""
    return False


def show_comments(pane: DiffPane, places: Sequence[PlacedComment]) -> None:
    """Mark the lines that have comments."""


def lines_here(pane: DiffPane) -> Lines | None:
    """The chosen lines; without any, those of the current hunk on the side that has some."""
    view, diff = pane.view, pane.diff
    if diff is None or not isinstance(diff.result, DiffDocument) or view.rows is None:
        return None
    chosen = view._painter.chosen
    if chosen is not None:
        side, first, last = chosen
        found = [number for index in range(first, last + 1) if (number := view.rows.sides(index)[side]) is not None]
        if found:
            return (Side.OLD if side == OLD else Side.NEW), min(found), max(found)
    if not 0 <= view.hunk < len(diff.result.hunks):
        return None
    hunk = diff.result.hunks[view.hunk]
    rows = diff.result.rows[hunk.first_change : hunk.last_change + 1]
    new = [row.new_line for row in rows if row.new_line is not None]
    if new:
        return Side.NEW, min(new), max(new)
    old = [row.old_line for row in rows if row.old_line is not None]
    return (Side.OLD, min(old), max(old)) if old else None


def go_to(pane: DiffPane, side: Side, first: int, last: int) -> None:
    """Bring lines into sight, out of their fold if they are in one."""
    view, diff = pane.view, pane.diff
    if diff is None or not isinstance(diff.result, DiffDocument) or view.rows is None:
        return
    which = OLD if side is Side.OLD else NEW
    for number, row in enumerate(diff.result.rows):
        if (row.old_line if which == OLD else row.new_line) == first:
            view.rows.reveal(number)
            view._scroll_to_row(number, -view.viewport().height() // 3)
            return
