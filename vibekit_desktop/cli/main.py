"""The command line: parse, call one service, print.

Never imports Qt. `app.main` decides between this and the window and hands over the core.
"""

import argparse
import asyncio
import json
import signal
import sys
from collections.abc import Awaitable, Callable

from vibekit_desktop.cli.commands import COMMANDS
from vibekit_desktop.cli.sentences import FAILED, REFUSED, USAGE, exit_status, sentence
from vibekit_desktop.cli.streams import CONTENT_BYTES, ContentTooLarge, give_up_output
from vibekit_desktop.core.api import Core
from vibekit_desktop.core.types.errors import BugError, CoreError


def print_error(code: str, text: str, *, as_json: bool) -> None:
    """One line on standard error; with ``--json`` also an object on standard output (command-line.md)."""
    print(f"error: {code}: {text}", file=sys.stderr)
    if as_json:
        print(json.dumps({"error": {"code": code, "message": text}}, ensure_ascii=False))


def print_usage_error(text: str, *, as_json: bool) -> int:
    """Say what is wrong with the call; returns the exit status."""
    print_error("usage", f"{text} (see vibekit-desktop --help)", as_json=as_json)
    return USAGE


def run_verb(options: argparse.Namespace, build: Callable[[], tuple[Core, Callable[[], Awaitable[None]]]]) -> int:
    """Run the verb of ``options`` to its end; returns the exit status. ``build`` is called inside the loop; it makes the core,
    and what ends it."""

    async def run() -> int:
        _end_when_told()
        core, close = build()
        try:
            return await COMMANDS[options.verb](core, options)
        finally:
            await close()

    try:
        status = asyncio.run(run())
        sys.stdout.flush()
        return status
    except BugError as error:
        print_error(error.code, sentence(error), as_json=options.json)
        return FAILED
    except CoreError as error:
        print_error(error.code, sentence(error), as_json=options.json)
        return exit_status(error)
    except ContentTooLarge:
        text = f"more than {CONTENT_BYTES >> 20} MiB on standard input; nothing was done"
        print_error("record.too-large", text, as_json=options.json)
        return REFUSED
    except BrokenPipeError:
        sys.stderr.close()  # the reader has gone; saying so would fail too
        return FAILED
    except OSError as error:
        if error.filename is not None:  # a file, which the core should have told about: a fault of ours
            raise
        give_up_output()
        print_error("output", f"the output could not be written: {error.strerror}", as_json=False)
        return FAILED
    except (KeyboardInterrupt, asyncio.CancelledError):
        print_error("interrupted", "stopped; nothing was lost", as_json=options.json)
        return FAILED


def _end_when_told() -> None:
    """A request to end, or a terminal that is closed, is an interrupt like that of the keyboard: what runs is ended in order,
    an agent with its children. Who was started with one of them ignored (by `nohup`) goes on ignoring it."""
    task = asyncio.current_task()
    if sys.platform == "win32" or task is None:
        return
    loop = asyncio.get_running_loop()
    heeded = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) is not signal.SIG_IGN]

    def end() -> None:
        for number in heeded:
            loop.remove_signal_handler(number)  # a second one ends it at once
        task.cancel()

    for number in heeded:
        loop.add_signal_handler(number, end)
