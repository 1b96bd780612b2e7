"""Make standard output and error fit for whatever terminal there is: its encoding may be poor, and there may be none.

Text for people loses what the terminal cannot show; objects for programs are UTF-8 everywhere (command-line.md).
"""

import io
import sys


def _nowhere() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="replace")


def prepare(*, as_json: bool) -> None:
    """Before anything is printed: no character makes printing fail, and without a stream what is printed is lost."""
    sys.stdout = sys.stdout or _nowhere()  # both are None where a process was started without them
    sys.stderr = sys.stderr or _nowhere()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8" if as_json else None, errors="replace")
    if isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr.reconfigure(errors="backslashreplace")


def give_up_output() -> None:
    """After a failed write: what is still waiting would only fail again when the process ends."""
    sys.stdout = _nowhere()
