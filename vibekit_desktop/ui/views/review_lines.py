"""What the review does with the lines of the painted diff: which are chosen, bring some into sight, mark those with comments.

The only place where the review knows how the diff view is asked for it. UI thread only.
"""

from collections.abc import Callable, Sequence

from vibekit_desktop.core.types.diffs import DiffDocument
from vibekit_desktop.core.types.reviews import PlacedComment, Side
from vibekit_desktop.ui.models.diff_options import DiffOptions
from vibekit_desktop.ui.models.diff_runs import NEW, OLD
from vibekit_desktop.ui.models.review_options import ReviewOptions
from vibekit_desktop.ui.views.diff_dress import CommentMark
from vibekit_desktop.ui.views.diff_pane import DiffPane

Lines = tuple[Side, int, int]
_SIDES = {OLD: Side.OLD, NEW: Side.NEW}
_NUMBERS = {Side.OLD: OLD, Side.NEW: NEW}


def apply(pane: DiffPane, options: ReviewOptions) -> None:
    """Show diffs as a person likes them."""
    pane.set_unified(options.unified)
    pane.set_options(
        DiffOptions(
            wrap=options.wrap,
            invisibles=options.invisibles,
            tab_columns=options.tab_width,
            context=options.context,
            stronger=options.stronger,
        )
    )


def on_comment_wanted(pane: DiffPane, does: Callable[[Side, int, int], None]) -> None:
    """Call ``does`` when somebody wants to say something about lines in the diff itself."""
    pane.view.comment_requested.connect(lambda side, first, last: does(_SIDES[side], first, last))


def show_comments(pane: DiffPane, places: Sequence[PlacedComment]) -> None:
    """Mark the lines that have comments."""
    ids: dict[tuple[int, int, int], list[str]] = {}
    for place in places:
        if place.first_line is not None and place.last_line is not None:
            key = (_NUMBERS[place.comment.side], place.first_line, place.last_line)
            ids.setdefault(key, []).append(place.comment.id)
    pane.view.set_comments([CommentMark(side, first, last, tuple(which)) for (side, first, last), which in ids.items()])


def lines_here(pane: DiffPane) -> Lines | None:
    """The chosen lines or the current one; without either, those of the current hunk on the side that has some."""
    view, diff = pane.view, pane.diff
    if diff is None or not isinstance(diff.result, DiffDocument):
        return None
    chosen = view.chosen_lines()
    if chosen is not None:
        return _SIDES[chosen[0]], chosen[1], chosen[2]
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
    """Bring lines into sight, out of their fold if they are in one, and choose them."""
    if pane.folded:
        pane.open_folded()
    if pane.diff is not None and isinstance(pane.diff.result, DiffDocument):
        pane.view.go_to_line(_NUMBERS[side], first)
        pane.view.choose_lines(_NUMBERS[side], first, last)
