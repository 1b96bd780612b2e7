"""The part of qasync 0.28 that we use, typed: the loop, on which everything else is asyncio's own interface."""

import asyncio
from types import TracebackType
from typing import Self

from PySide6.QtCore import QCoreApplication

class QEventLoop(asyncio.SelectorEventLoop):
    def __init__(
        self, app: QCoreApplication | None = None, set_running_loop: bool = False, already_running: bool = False
    ) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None, /
    ) -> None: ...
