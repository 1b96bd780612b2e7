"""Start the program: arguments, the window or one verb, the event loop, the exit code.

With a verb Qt is never imported. Without one the window is shown before asyncio and the core are (docs/adr/0003).
"""

import sys
from types import SimpleNamespace

from vibekit_desktop import __version__
from vibekit_desktop.app.chosen import PLAIN_WINDOW, home_of, vault_of

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing, argparse and pathlib cost milliseconds that a person would wait for
    from argparse import Namespace
    from collections.abc import Awaitable, Callable, Sequence

    from vibekit_desktop.app.chosen import Options
    from vibekit_desktop.core.api import Core


def main(arguments: "Sequence[str] | None" = None) -> int:
    """Run the program to its end; returns the exit status of command-line.md."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    options: Options = SimpleNamespace(**PLAIN_WINDOW)
    if words:
        from vibekit_desktop.cli.main import print_usage_error
        from vibekit_desktop.cli.options import UsageError, parse_options
        from vibekit_desktop.cli.streams import prepare

        prepare(as_json="--json" in words)
        try:
            parsed = parse_options(words, version=__version__)
        except UsageError as error:
            return print_usage_error(str(error), as_json="--json" in words)
        except SystemExit as ended:  # --help and --version have printed what was asked
            return int(ended.code or 0)
        if parsed.verb is not None:
            return _run_verb(parsed)
        options = parsed
    from vibekit_desktop.app.window import run_window

    return run_window(options)


def _run_verb(options: "Namespace") -> int:
    from vibekit_desktop.app import crash
    from vibekit_desktop.app.dirs import find_dirs
    from vibekit_desktop.app.wiring import build
    from vibekit_desktop.cli.main import run_verb

    dirs = find_dirs(options.data_dir)
    if options.verbose:
        crash.start_logging(dirs.logs, verbose=True)

    def make() -> "tuple[Core, Callable[[], Awaitable[None]]]":
        home, config_dir = home_of(options)
        wired = build(dirs, home=home, config_dir=config_dir, vault=vault_of(options))
        return wired.core, wired.close

    try:
        return run_verb(options, make)
    except Exception as error:  # a fault of ours: one sentence, the place in the log, and the promised exit status
        crash.start_logging(dirs.logs, verbose=False)
        crash.report(error, f"the verb {options.verb}")
        if options.verbose:
            raise
        return 3
