"""Which file that is gone became which file that came: by equal content, or by half of it.

Pure; any thread; bounded in pairs and in bytes that are looked at.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

LEAST_ALIKE = 0.5
MOST_PAIRS = 40_000
"""More pairs of files are not compared by what they share; equal content is found among any number."""
LARGEST = 1 << 20
"""Bytes; larger files are paired by equal content only."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file that is gone or came. ``sha`` names its content; ``data`` is None where that is not to be had."""

    path: str
    sha: str
    data: bytes | None


def renamed(gone: Sequence[Candidate], came: Sequence[Candidate], told: Mapping[str, str]) -> dict[str, str]:
    """Old paths by new ones. ``told`` are renames that somebody recorded, by new path: they are believed."""
    left = {one.path: one for one in gone}
    found: dict[str, str] = {}
    for one in came:
        old = told.get(one.path)
        if old in left:
            found[one.path] = left.pop(old).path
    for one in came:
        if one.path not in found and one.data != b"":
            equal = [other for other in left.values() if other.sha == one.sha]
            if equal:
                old = min(equal, key=lambda other: (-_names_share(other.path, one.path), other.path)).path
                found[one.path] = old
                del left[old]
    rest = [one for one in came if one.path not in found]
    for _, new, old in _alike(list(left.values()), rest):
        if new not in found and old in left:
            found[new] = old
            del left[old]
    return found


def _alike(gone: Sequence[Candidate], came: Sequence[Candidate]) -> list[tuple[float, str, str]]:
    """Pairs that share enough, the most alike first."""
    before, after = _comparable(gone), _comparable(came)
    if len(before) * len(after) > MOST_PAIRS:
        return []
    found = []
    for new, (size, lines) in after.items():
        for old, (other_size, other_lines) in before.items():
            most = max(size, other_size)
            if min(size, other_size) < LEAST_ALIKE * most:
                continue
            share = (
                sum(len(line) * min(count, other_lines[line]) for line, count in lines.items() if line in other_lines) / most
            )
            if share >= LEAST_ALIKE:
                found.append((-share, -_names_share(old, new), new, old))
    return [(-share, new, old) for share, _, new, old in sorted(found)]


def _comparable(files: Sequence[Candidate]) -> dict[str, tuple[int, Counter[bytes]]]:
    return {
        one.path: (len(one.data), Counter(one.data.splitlines(keepends=True)))
        for one in files
        if one.data and len(one.data) <= LARGEST
    }


def _names_share(one: str, other: str) -> int:
    """How many parts of two paths are equal, counted from the file's name up."""
    count = 0
    for mine, theirs in zip(reversed(one.split("/")), reversed(other.split("/")), strict=False):
        if mine != theirs:
            break
        count += 1
    return count
