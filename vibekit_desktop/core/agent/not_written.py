"""Why something that was allowed was not done after all, in words for people and for the agent. Pure; any thread.

An error of the workspace names a path in it, one of the store a whole path: only the first means that the write itself failed.
"""

import errno
import os

from vibekit_desktop.core.types.errors import CannotWrite, CoreError, DiskFull, WorkspaceMissing

FOLDER_GONE = "the folder is gone"
_WORDS = {
    errno.EROFS: "the folder is read-only",
    errno.EACCES: "the folder does not allow it",
    errno.EPERM: "the folder does not allow it",
    errno.ENAMETOOLONG: "the name is too long",
    errno.ENOTDIR: "a file is where a folder must be",
    errno.ENOENT: "the folder that it was to be in is gone",
    errno.EIO: "the disk does not work",
}
DISK_FULL = "the disk is full"
NO_REASON = "what is there could not be kept first"


def reason(error: CoreError) -> str | None:
    """Why a write was not done; None for an error that does not mean that, but that what is there could not be kept."""
    if isinstance(error, WorkspaceMissing):
        return FOLDER_GONE
    if not isinstance(error, CannotWrite) or os.path.isabs(error.path):
        return None
    if isinstance(error, DiskFull):
        return DISK_FULL
    words = {os.strerror(number): said for number, said in _WORDS.items()}
    return words.get(error.reason, f"the system says: {error.reason}")


def sentence(why: str, *, writes: bool = True) -> str:
    """The same as a sentence."""
    return f"Not {'written' if writes else 'done'}: {why}."
