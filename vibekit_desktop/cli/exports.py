"""The verb `export`: a chat, or its changes, as one file."""

import argparse
import base64
import sys

from vibekit_desktop.cli import printing
from vibekit_desktop.cli.objects import Json, shown
from vibekit_desktop.cli.options import folder_of
from vibekit_desktop.cli.sentences import DONE
from vibekit_desktop.core.api import Core
from vibekit_desktop.core.types.chats import Export, ExportFormat


async def export(core: Core, options: argparse.Namespace) -> int:
    """The exact bytes on standard output, or in the file of ``--out``."""
    chat = await core.chats.resolve(options.chat)
    kind = ExportFormat(options.format)
    made = await core.exports.export(chat, kind)
    if options.out not in (None, "-"):
        file = await core.exports.save(made, folder_of(options.out))
        if options.json:
            written = {"name": made.name, "format": kind.value, "bytes": len(made.data), "path": shown(str(file))}
            printing.print_json(written)
        else:
            printing.say(f"wrote {printing.visible(str(file))} ({printing.many(len(made.data), 'byte')})")
    elif options.json:
        printing.print_json(_object(made, kind))
    else:
        sys.stdout.buffer.write(made.data)
        sys.stdout.buffer.flush()
    return DONE


def _object(made: Export, kind: ExportFormat) -> dict[str, Json]:
    return {"name": made.name, "format": kind.value, "bytes": len(made.data), **exact(made.data, "content")}


def exact(data: bytes, key: str) -> dict[str, Json]:
    """A file as text; a patch may hold bytes that are no text, then they are beside it."""
    text = data.decode("utf-8", "replace")
    found: dict[str, Json] = {key: text}
    if text.encode() != data:
        found[f"{key}_b64"] = base64.b64encode(data).decode("ascii")
    return found
