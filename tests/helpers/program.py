"""The whole program without its window: the wired core on temporary folders, and the command line in-process."""

import asyncio
import contextlib
import io
import json
import os
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from vibekit_desktop.app import main as program
from vibekit_desktop.app.dirs import Dirs
from vibekit_desktop.app.wiring import build
from vibekit_desktop.core.api import Core

T = TypeVar("T")


def with_core(data: Path, home: Path, work: Callable[[Core], Awaitable[T]]) -> T:
    """Run ``work`` on a core that is built for it and ended after it, as a verb would be."""

    async def run() -> T:
        wired = build(Dirs(data), home=home)
        try:
            return await work(wired.core)
        finally:
            await wired.close()

    return asyncio.run(run())


class Answer:
    """What one call of the command line gave: exit status, standard output and error."""

    def __init__(self, status: int, out: bytes, err: str) -> None:
        self.status = status
        self.out = out
        self.err = err

    @property
    def json(self) -> Any:
        """The one JSON object on standard output."""
        return json.loads(self.out)


class _Bytes(io.TextIOWrapper):
    """Standard output that can be written as text and, through ``buffer``, as bytes."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", write_through=True)


def call(data: Path, home: Path, *words: str, given: bytes | None = None) -> Answer:
    """Call the program with a data folder and a home folder of the test's own. ``given``: what is on standard input; None is
    the null device."""
    out, err = _Bytes(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), _standard_input(given):
        status = program.main(["--data-dir", str(data), "--home", str(home), *words])
    out.flush()
    raw = out.buffer
    assert isinstance(raw, io.BytesIO)
    return Answer(status, raw.getvalue(), err.getvalue())


@contextlib.contextmanager
def _standard_input(given: bytes | None) -> Iterator[None]:
    with open(os.devnull, "rb") if given is None else tempfile.TemporaryFile() as file:
        if given is not None:
            file.write(given)
            file.seek(0)
        before, sys.stdin = sys.stdin, io.TextIOWrapper(file)
        try:
            yield
        finally:
            sys.stdin.detach()
            sys.stdin = before


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder by its relative path."""
    return {os.path.relpath(path, folder).replace(os.sep, "/"): path.read_bytes() for path in _files(folder)}


def _files(folder: Path) -> Iterator[Path]:
    for root, _, names in os.walk(folder):
        for name in names:
            yield Path(root) / name


def samples() -> Path | None:
    """The folder of real histories beside the checkout, if this machine has it."""
    found = Path(__file__).resolve().parents[3] / "shared" / "samples" / "claude-code"
    return found if found.is_dir() else None
