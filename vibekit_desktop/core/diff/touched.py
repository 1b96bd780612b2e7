"""Which of several changes, one after another, changed some lines last. Pure; any thread."""

from collections.abc import Sequence

from vibekit_desktop.core.diff.lines import Change
from vibekit_desktop.core.diff.merge import changes


def last_to_touch(texts: Sequence[bytes], first: int, last: int) -> int | None:
    """The index of the last of ``texts`` in which lines ``first`` to ``last`` of the first one (from 0, the end not included)
    were changed, or, if they never were, something directly above or below them. Line ends do not count."""
    inside = beside = None
    before = _lines(texts[0])
    for index, text in enumerate(texts[1:], 1):
        after = _lines(text)
        found = changes(before, after, end=b"\n")
        near = [one for one in found if one.old_start <= last and one.old_end >= first]
        if near:
            beside = index
        if any(first == last or (one.old_start < last and one.old_end > first) for one in near):
            inside = index
        first, last, before = *_moved(found, first, last), after
    return inside if inside is not None else beside


def _moved(found: Sequence[Change], first: int, last: int) -> tuple[int, int]:
    """Where some lines are after changes, with what became of them."""
    start, end = first, last
    for one in found:
        growth = (one.new_end - one.new_start) - (one.old_end - one.old_start)
        touches = one.old_start <= first <= one.old_end if first == last else one.old_start < last and one.old_end > first
        if touches:
            start = one.new_start if one.old_start < first or first == last else start
            end = one.new_end if one.old_end > last or first == last else end + growth
        elif one.old_end <= first:
            start, end = start + growth, end + growth
    return start, end


def _lines(text: bytes) -> list[bytes]:
    lines = [line.removesuffix(b"\r") for line in text.split(b"\n")]
    return lines if lines[-1] else lines[:-1]
