"""Uncaught errors from Python, threads, asyncio and Qt all end here: in the log file, and in one sentence on standard error.

No content of the user's goes into the log: types, codes and places in our own code. Any thread.
"""

import asyncio
import logging
import logging.handlers
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

LOG_BYTES = 1 << 20

_log = logging.getLogger("vibekit_desktop")


class _LogFile(logging.handlers.RotatingFileHandler):
    """A log file that nobody hears of when its disk does not take it: the first failure is said in one line."""

    _said = False

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name is of logging
        """Once; no line of the log is worth more."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            super().handleError(record)  # a mistake of ours
        elif not self._said:
            self._said = True
            _no_log(error)


def _no_log(error: OSError) -> None:
    sys.stderr.write(f"vibekit-desktop: no log file: {error.strerror}\n")


def start_logging(folder: Path, *, verbose: bool) -> None:
    """Log to ``vibekit-desktop.log`` in ``folder``, and with ``verbose`` to standard error.

    A folder that cannot be written is said and is no reason not to start.
    """
    _log.setLevel(logging.DEBUG if verbose else logging.INFO)
    form = logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s")
    if verbose:
        screen = logging.StreamHandler(sys.stderr)
        screen.setFormatter(form)
        _log.addHandler(screen)
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        name = folder / "vibekit-desktop.log"
        file = _LogFile(name, maxBytes=LOG_BYTES, backupCount=2, encoding="utf-8", delay=True)
        file.setFormatter(form)
        _log.addHandler(file)
    except OSError as error:
        _no_log(error)


def _places(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return " < ".join(f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in reversed(frames[-8:]))


def report(error: BaseException, where: str, tell: Callable[[BaseException], None] | None = None) -> None:
    """Log ``error`` and hand it to ``tell`` (the window's error report)."""
    _log.error("uncaught in %s: %s at %s", where, type(error).__name__, _places(error))
    if tell is not None:
        tell(error)
    else:
        sys.stderr.write(f"vibekit-desktop: a fault of the program ({type(error).__name__}); details are in the log\n")


def install(tell: Callable[[BaseException], None] | None = None) -> None:
    """Catch what nobody caught, in the main thread and in others."""

    def main_thread(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
            return
        report(error.with_traceback(trace), "the main thread", tell)

    def other_thread(failed: threading.ExceptHookArgs) -> None:
        if failed.exc_value is not None and not isinstance(failed.exc_value, SystemExit):
            report(failed.exc_value, f"thread {failed.thread.name if failed.thread else '?'}")

    sys.excepthook = main_thread
    threading.excepthook = other_thread


def watch_loop(loop: asyncio.AbstractEventLoop, tell: Callable[[BaseException], None] | None = None) -> None:
    """Catch what a task or a callback of ``loop`` let go."""

    def handler(_loop: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
        error = context.get("exception")
        if isinstance(error, BaseException):
            report(error, "a task", tell)
        else:
            _log.error("event loop: %s", context.get("message"))

    loop.set_exception_handler(handler)
