"""How large a folder is that somebody wants to work in. Frozen; any thread."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderWeight:
    """What the checks of a folder would go through. ``files``: those that no ignore rule leaves out, counted up to ``limit``;
    at the limit the folder is too large to be checked as a whole (docs/storage-format.md 5). ``check_s``: about how many
    seconds the first check takes on this disk, as a few files of it say."""

    files: int
    limit: int
    check_s: float

    @property
    def is_too_large(self) -> bool:
        """Whether only what is announced is recorded in it."""
        return self.files >= self.limit
