"""Named crash points. Silent unless a test arms them.

Every durable step of the disk and the checkpoint kernel passes one just before it happens, so a test can stop the program
between any two steps and look at what is left. Armed and passed on the same thread; never armed outside tests.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

_armed: list[Callable[[str], None]] = []
"""At most one test's hook. A list, so that arming is one append and no name is rebound."""


def point(name: str) -> None:
    """Say that the step ``name`` comes next; an armed test may raise from here."""
    for hook in _armed:
        hook(name)


@contextmanager
def armed(hook: Callable[[str], None]) -> Iterator[None]:
    """Call ``hook`` with the name of every point passed inside the block."""
    _armed.append(hook)
    try:
        yield
    finally:
        _armed.remove(hook)
