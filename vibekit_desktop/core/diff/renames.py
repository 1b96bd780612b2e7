"""Which file that is gone became which file that came: by equal content, or by half of it.

Pure but for what the caller's ``read`` does; any thread; bounded in pairs and in bytes that are held.
"""

import io
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

LEAST_ALIKE = 0.5
MOST_STEPS = 2_000_000
"""Equal lines of two files that are counted; equal content is found among any number of files."""
LARGEST = 1 << 20
"""Bytes; larger files are paired by equal content only."""
MOST_HELD = 64 << 20
"""Bytes of files that are gone whose lines are held at a time; those after them are paired by equal content only."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file that is gone or came. ``sha`` names its content; ``size`` is None where that is not to be had. ``read`` gets it,
    None if it fails: only asked for a file that no record and no equal content gave a partner."""

    path: str
    sha: str
    size: int | None
    read: Callable[[], bytes | None]


def renamed(gone: Sequence[Candidate], came: Sequence[Candidate], told: Mapping[str, str]) -> dict[str, str]:
    """Old paths by new ones. ``told`` are renames that somebody recorded, by new path: they are believed."""
    left = {one.path: one for one in gone}
    found: dict[str, str] = {}
    for one in came:
        old = told.get(one.path)
        if old in left:
            found[one.path] = left.pop(old).path
    for one in came:
        if one.path not in found and one.size != 0:
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
    sizes = {one.path: one.size or 0 for one in (*gone, *came)}
    places: dict[bytes, list[tuple[str, int]]] = {}
    held = 0
    for one in gone if came else ():
        lines = _lines(one)
        held += sum(map(len, lines))
        if held > MOST_HELD:
            break
        for line, count in lines.items():
            places.setdefault(line, []).append((one.path, count))
    found = []
    steps = 0
    for one in came if places else ():
        shared: Counter[str] = Counter()
        for line, count in _lines(one).items():
            for old, others in places.get(line, ()):
                shared[old] += len(line) * min(count, others)
            steps += len(places.get(line, ()))
        found += [
            (-share / max(sizes[one.path], sizes[old]), -_names_share(old, one.path), one.path, old)
            for old, share in shared.items()
            if share >= LEAST_ALIKE * max(sizes[one.path], sizes[old])
        ]
        if steps > MOST_STEPS:
            break
    return [(-share, new, old) for share, _, new, old in sorted(found)]


def _lines(file: Candidate) -> Counter[bytes]:
    """The lines of a file and how often each is in it; none of one that is not looked into."""
    if not file.size or file.size > LARGEST:
        return Counter()
    return Counter(io.BytesIO(file.read() or b""))


def _names_share(one: str, other: str) -> int:
    """How many parts of two paths are equal, counted from the file's name up."""
    count = 0
    for mine, theirs in zip(reversed(one.split("/")), reversed(other.split("/")), strict=False):
        if mine != theirs:
            break
        count += 1
    return count
