"""What we say to an agent, in ACP's words. Pure; any thread, images not the loop's."""

import base64
from collections.abc import Sequence
from pathlib import PurePath

from vibekit_desktop.core.agent.link import FilePart, ImagePart, PromptPart, TextPart

Block = dict[str, object]


def blocks(parts: Sequence[PromptPart], *, takes_files: bool) -> list[Block]:
    """The content of a prompt. A file goes with its content where the agent takes that and we have it, else as a link."""
    return [_block(part, takes_files=takes_files) for part in parts]


def _block(part: PromptPart, *, takes_files: bool) -> Block:
    match part:
        case TextPart():
            return {"type": "text", "text": part.text}
        case ImagePart():
            return {"type": "image", "mimeType": part.media_type, "data": base64.b64encode(part.data).decode("ascii")}
        case FilePart():
            path = PurePath(part.path)
            uri = path.as_uri() if path.is_absolute() else part.path
            if takes_files and part.text is not None:
                return {"type": "resource", "resource": {"uri": uri, "text": part.text}}
            return {"type": "resource_link", "uri": uri, "name": path.name}
