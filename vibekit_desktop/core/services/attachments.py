"""What goes with a prompt beside its words: files by their path, images by their bytes. Blocking; reads only."""

import os
from collections.abc import Sequence
from pathlib import Path

from vibekit_desktop.core.agent import secret_names
from vibekit_desktop.core.agent.link import FilePart, Greeting, ImagePart, PromptPart, TextPart
from vibekit_desktop.core.chat.hooked import storable
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.types.agent_errors import AttachmentRefused, EmptyPrompt
from vibekit_desktop.core.types.agents import Attachment, Prompt
from vibekit_desktop.core.types.chats import Attached
from vibekit_desktop.core.types.errors import CannotRead

IMAGE_BYTES = 10 << 20
TEXT_BYTES = 256 << 10
"""A larger file goes by its path alone: the agent reads it itself."""
_IMAGES = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif", b"RIFF": "image/webp"}
_ENDINGS = (".png", ".jpg", ".jpeg", ".gif", ".webp")


def parts_of(fs: Fs, prompt: Prompt, greeting: Greeting, *, history: str = "") -> list[PromptPart]:
    """The parts of a prompt as this agent takes them. `AttachmentRefused`, `EmptyPrompt`."""
    if not prompt.text.strip() and not prompt.attachments:
        raise EmptyPrompt
    parts: list[PromptPart] = [TextPart(history)] if history else []
    if prompt.text.strip():
        parts.append(TextPart(prompt.text))
    parts += [_part(fs, one, greeting) for one in prompt.attachments]
    return parts


def stored(attachments: Sequence[Attachment]) -> tuple[Attached, ...]:
    """What the chat keeps of them: never their content. A name that is no UTF-8 is kept as what can be read of it."""
    return tuple(
        Attached(name=storable(one.name), path=storable(one.path), media_type=storable(one.media_type)) for one in attachments
    )


def _part(fs: Fs, one: Attachment, greeting: Greeting) -> PromptPart:
    if one.data:
        return _image(one.name, one.data, greeting)
    if not _is_path(one.path):
        raise AttachmentRefused(one.path, "missing")
    path = Path(one.path)
    if secret_names.is_secret(path.parts, writing=False):
        raise AttachmentRefused(one.path, "secret")
    found = fs.stat(path)
    if found is None:
        raise AttachmentRefused(one.path, "missing")
    if not fs.is_file(path):
        raise AttachmentRefused(one.path, "not-regular")
    if one.path.lower().endswith(_ENDINGS):
        return _image(one.path, _read(fs, path, IMAGE_BYTES), greeting)
    text: str | None = None
    if greeting.takes_files and found.st_size <= TEXT_BYTES:
        try:
            text = _read(fs, path, TEXT_BYTES).decode("utf-8")
        except UnicodeDecodeError:
            text = None  # not a text: by its path
    return FilePart(path=one.path, text=text)


def _is_path(text: str) -> bool:
    """Whether there can be a file of this name: one with half characters or a NUL there is not."""
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def _read(fs: Fs, path: Path, most: int) -> bytes:
    try:
        return fs.read_bytes(path, limit=most)
    except FileNotFoundError as error:
        raise AttachmentRefused(str(path), "missing") from error
    except CannotRead as error:
        raise AttachmentRefused(str(path), "too-large" if "large" in error.reason else error.reason) from error


def _image(name: str, data: bytes, greeting: Greeting) -> ImagePart:
    if not greeting.takes_images:
        raise AttachmentRefused(name, "no-images")
    if len(data) > IMAGE_BYTES:
        raise AttachmentRefused(name, "too-large")
    media_type = next((kind for mark, kind in _IMAGES.items() if data.startswith(mark)), "")
    if not media_type:
        raise AttachmentRefused(name, "not-regular")
    return ImagePart(media_type, data)
