"""Render the window to a picture and end: ``--offscreen-shot``.

The picture is taken when nothing is loading any more. UI thread.
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from vibekit_desktop.core.types.errors import CoreError
from vibekit_desktop.ui.conductor import Conductor
from vibekit_desktop.ui.views.shell import Shell

if TYPE_CHECKING:
    from vibekit_desktop.app.chosen import Options


async def take(shell: Shell, conductor: Conductor, options: "Options") -> int:
    """Open what was asked for, save the picture; returns the exit status."""
    shell.activateWindow()
    try:
        await conductor.start(open_chat=options.open_chat, view=options.view, recover=None)
        await conductor.settled()
    except CoreError as error:
        from vibekit_desktop.cli.main import print_error
        from vibekit_desktop.cli.sentences import exit_status, sentence

        print_error(error.code, sentence(error), as_json=options.json)
        return exit_status(error)
    file = Path(options.offscreen_shot)
    if not shell.grab().save(str(file), "PNG"):
        sys.stderr.write(f"error: disk.cannot-write: the picture could not be saved as {file.name}\n")
        return 3
    return 0
