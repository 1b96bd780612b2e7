"""How many files of a chat are not as they were at its start: what there is to review. Pure."""

from vibekit_desktop.core.types.checkpoints import Timeline
from vibekit_desktop.ui.models.timeline_facts import facts_of


def differing_files(timeline: Timeline) -> int:
    """The files that a turn, a restore or an undo of the chat changed and that differ now from what they were before all of it.
    A file that was put back is not one of them."""
    return facts_of(timeline).differing
