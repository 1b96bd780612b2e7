"""Where the files of the chats of one vault are.

The archive is only ever a folder below the chats' own (chat.md 2.9): a link in its place is followed if it is relative and
stays there, and refused otherwise, so that nothing outside is moved or removed. Blocking.
"""

import logging
import stat as stat_bits
from pathlib import Path

from vibekit_desktop.core.disk.fs import Fs, cannot_read
from vibekit_desktop.core.types.errors import CannotRead, CannotWrite
from vibekit_desktop.core.types.ids import ChatId, parse_chat_id

ARCHIVE = "archive"
_log = logging.getLogger(__name__)
OUTSIDE = "a link that leads out of the chats' folder"


class Places:
    """The paths of one vault. Invariant: every name that it makes is of a valid chat id."""

    def __init__(self, fs: Fs, vault_folder: Path) -> None:
        self._fs = fs
        self.folder = vault_folder / "chats"
        self.desktop = vault_folder / "desktop"
        self._private = False

    def active(self, chat: ChatId) -> Path:
        """The file of a chat of the list."""
        return self.folder / f"{parse_chat_id(chat)}.json"

    def archive(self) -> Path | None:
        """The folder of archived chats, free of links below the chats' folder; None if there is none. `CannotRead` if what is
        there is no folder of ours."""
        path = self.folder / ARCHIVE
        found = self._fs.stat(path)
        if found is None:
            return None
        if stat_bits.S_ISLNK(found.st_mode):
            return self._linked(path)
        if not stat_bits.S_ISDIR(found.st_mode):
            raise CannotRead(str(path), "not a folder")
        return path

    def _linked(self, path: Path) -> Path | None:
        try:
            text = self._fs.readlink(str(path)).decode("utf-8", "surrogateescape")
        except OSError as error:
            raise cannot_read(path, error) from error
        parts = [part for part in text.split("/") if part not in ("", ".")]
        if text.startswith("/") or ".." in parts or not parts:
            raise CannotRead(str(path), OUTSIDE)
        place = self.folder
        for part in parts:
            place /= part
            found = self._fs.stat(place)
            if found is None:
                return None
            if not stat_bits.S_ISDIR(found.st_mode):
                raise CannotRead(str(path), OUTSIDE)
        return place

    def make_folder(self) -> None:
        """Make the chats' folder, private; it may be a link to another volume (chat.md 1.1). One that is there is made private,
        if that can be done."""
        if not self._fs.is_folder(self.folder):
            self._fs.make_folder(self.folder)
        elif not self._private:
            try:
                self._fs.make_private(self.folder)
            except CannotWrite as error:
                _log.info("the chats' folder was not made private: %s", error.reason)
        self._private = True

    def make_archive(self) -> Path:
        """The archive's folder, made if it is not there."""
        found = self.archive()
        if found is None:
            found = self.folder / ARCHIVE
            self._fs.make_folder(found)
        return found

    def archived(self, chat: ChatId) -> Path | None:
        """Where the file of an archived chat is or would be; None if there is no archive."""
        parse_chat_id(chat)
        folder = self.archive()
        return folder / f"{chat}.json" if folder is not None else None

    def home(self, chat: ChatId) -> Path | None:
        """The folder that has the chat's file, of the list or else of the archive; None if neither has."""
        if self._fs.stat(self.active(chat)) is not None:
            return self.folder
        path = self.archived(chat)
        return path.parent if path is not None and self._fs.stat(path) is not None else None

    def homes(self, chat: ChatId) -> list[Path]:
        """The folders that have a file of the chat's id: it may be that both do."""
        paths = (self.active(chat), self.archived(chat))
        return [path.parent for path in paths if path is not None and self._fs.stat(path) is not None]


def draft_in(folder: Path, chat: ChatId) -> Path:
    """The file of a chat's draft, in the folder that has the chat."""
    return folder / f"{parse_chat_id(chat)}.plan.md"


def partial_in(folder: Path, chat: ChatId) -> Path:
    """The file of a chat's running answer."""
    return folder / f"{parse_chat_id(chat)}.partial"
