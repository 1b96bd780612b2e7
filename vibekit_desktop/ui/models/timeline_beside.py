"""What is shown with a timeline and is not in it: pinned points, conflicts, names of other chats, how it is folded. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from vibekit_desktop.core.types.checkpoints import PinnedPoint
from vibekit_desktop.core.types.ids import ChatId
from vibekit_desktop.ui.models.conflicts import ConflictMarks


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """All of it, for one chat. ``names``: how other chats are called; ``folded``: every turn folds its
    files; ``only_changes``: turns that changed no file are left out."""

    pins: tuple[PinnedPoint, ...] = ()
    conflicts: ConflictMarks = field(default_factory=ConflictMarks)
    names: Mapping[ChatId, str] = field(default_factory=dict)
    folded: bool = False
    only_changes: bool = False


NOTHING_BESIDE = Beside()
