"""What deleting and purging chats came to. Frozen values; any thread."""

from dataclasses import dataclass

from vibekit_desktop.core.types.ids import ChatId


@dataclass(frozen=True, slots=True)
class NotRemoved:
    """A chat that is still there. ``reason``: the code of the error, or ``open`` for one that a window shows."""

    chat: ChatId
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteReport:
    """A chat was deleted. ``deleted``: it and the branches that went with it, in the order in which they went."""

    deleted: tuple[ChatId, ...]
    failed_children: tuple[NotRemoved, ...] = ()
    """Branches that could not be deleted; they are chats of their own now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgeReport:
    """Archived chats were removed for good, or would be."""

    removed: tuple[ChatId, ...] = ()
    kept: tuple[NotRemoved, ...] = ()
    """Old enough, but open in a window or at work."""
    failed: tuple[NotRemoved, ...] = ()
