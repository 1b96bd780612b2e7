"""What is known of a folder in which a workspace may be now that was not found where it was. Frozen; any thread."""

from dataclasses import dataclass

from vibekit_desktop.core.types.ids import WorkspacePath


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """How much a folder is like a workspace was when its chats last saw it. ``same``: it is the very folder, under another
    name. Of the files whose last content is known, newest first and not all if there are very many: ``alike`` are as they were,
    ``changed`` are there with another content, ``missing`` are not there."""

    folder: str
    same: bool
    alike: int
    changed: tuple[WorkspacePath, ...]
    missing: tuple[WorkspacePath, ...]

    @property
    def is_sure(self) -> bool:
        """Whether nobody need be asked."""
        return self.same or (self.alike > 0 and not self.changed and not self.missing)

    @property
    def can_be(self) -> bool:
        """Whether it can be the workspace at all: not where files are known and none of them is there."""
        return self.same or not self.missing or bool(self.alike or self.changed)
