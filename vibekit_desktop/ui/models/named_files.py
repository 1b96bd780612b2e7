"""Find the files of a workspace that the calls of a chat were about: where an answer names them they can be opened. Pure."""

from collections.abc import Iterator, Sequence

from vibekit_desktop.core.types.chats import Message
from vibekit_desktop.ui.models.cards import relative

AT_A_TIME = 200
"""So many paths are looked at in a step."""


def named_files(messages: Sequence[Message], root: str, found: set[str]) -> Iterator[None]:
    """Add them to ``found``, as paths in the workspace of the path ``root``; some with every step."""
    looked = 0
    for message in messages:
        looked += 1
        for call in message.tool_calls:
            for named in (call.locations, call.diffs):
                for place in named:
                    path = relative(place.path, root)
                    if path and not path.startswith("/") and ":" not in path and ".." not in path.split("/"):
                        found.add(path)
                    looked += 1
                    if looked >= AT_A_TIME:
                        looked = 0
                        yield
