"""What a person has looked at in a chat's changes and said of them: ``desktop/reviews/<chat>.json``, replaced whole.

Read without a lock, changed under the vault's lock. A file that cannot be read gives nothing; before it is replaced it is kept
as ``<chat>.json.unread-...``. One of a newer version is read as far as it is understood and never changed. What is not
understood inside of a file (keys, single marks and comments) stays in it. The file goes with its chat; a crash between the two
leaves a review of no chat, which `sweep` removes. Blocking.
"""

import logging
import secrets
import stat as stat_bits
from collections.abc import Callable
from pathlib import Path

import msgspec

from vibekit_desktop.core.chat.places import Places
from vibekit_desktop.core.chat.review_codec import NOTHING, VERSION, KeptComment, Review, Unreadable, decode, encode
from vibekit_desktop.core.disk import atomic, faults
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.types.errors import CannotRead, ChatNotFound, CommentRefused, CoreError, InvalidId, NewerFormat
from vibekit_desktop.core.types.ids import ChatId, parse_chat_id

MOST_COMMENTS = 2_000
MOST_MARKS = 20_000
"""Of one chat; the oldest give way."""
MOST_BYTES = 12 << 20
_READ_BYTES = 16 << 20
_FOR_GOOD = ("too large", "not a regular file")
"""Reasons not to be read that no other day takes away."""
_log = logging.getLogger(__name__)


class Reviews:
    """The reviews of one vault's chats. Invariant: a review is only ever made for a chat that is there, archived or not."""

    def __init__(self, fs: Fs, places: Places) -> None:
        self._fs = fs
        self._places = places
        self.folder = places.desktop / "reviews"

    def _path(self, chat: ChatId) -> Path:
        return self.folder / f"{parse_chat_id(chat)}.json"

    def of(self, chat: ChatId) -> Review:
        """The review of a chat, empty if there is none or if it cannot be read."""
        return self._read(chat)[0]

    def problems(self, chat: ChatId) -> tuple[str, ...]:
        """The files of a chat's review that could not be read, where they are now: what was in them is not shown."""
        found = [str(self._path(chat))] if self._read(chat)[1] else []
        return (*found, *(str(self.folder / name) for name in self._aside(chat)))

    def change(self, chat: ChatId, change: Callable[[Review], Review]) -> bool:
        """Change the review of a chat; whether there was anything to write. `ChatNotFound`; `NewerFormat`; `CommentRefused` for
        more than a review holds; what ``change`` raises. Nothing is changed then."""
        if self._places.home(chat) is None:
            raise ChatNotFound(chat)
        old, damaged = self._read(chat)
        if old.version > VERSION:
            raise NewerFormat(str(self._path(chat)))
        new = change(old)
        if new == old:
            return False
        data = _fitting(chat, new)
        self._fs.make_folder(self.folder)
        if damaged:
            faults.point("review.aside")
            self._fs.rename(self._path(chat), self.folder / f"{chat}.json.unread-{secrets.token_hex(6)}")
        faults.point("review.save")
        atomic.replace(self._fs, self._path(chat), data)
        return True

    def carry(self, source: ChatId, target: ChatId, *, told: bool) -> bool:
        """Give a chat the marks of another one and its comments, those that the agent was told only with ``told``; what both
        have is as it was changed last. Nothing of the source changes. Whether the target did; whatever is wrong is only logged,
        since it is no reason to fail for what it goes with."""
        try:
            given = self.of(source)
            return self.change(target, lambda review: joined(review, given, told=told))
        except CoreError as error:
            _log.warning("the review of chat %s did not go along to chat %s: %s", source, target, error.code)
            return False

    def delete(self, chat: ChatId) -> None:
        """Remove the review of a chat, also what could not be read of it; none is fine."""
        for name in (f"{parse_chat_id(chat)}.json", *self._aside(chat)) if self._is_folder() else ():
            atomic.remove(self._fs, self.folder / name)

    def _aside(self, chat: ChatId) -> list[str]:
        return [name for name in self._names() if name.startswith(f"{chat}.json.unread-")]

    def _names(self) -> list[str]:
        """The names in the folder; none where something else stands in its place: what that leads to is not ours."""
        return self._fs.list_names(self.folder) if self._is_folder() else []

    def _is_folder(self) -> bool:
        found = self._fs.stat(self.folder)
        return found is not None and stat_bits.S_ISDIR(found.st_mode)

    def _read(self, chat: ChatId) -> tuple[Review, bool]:
        """The review, and whether what is there is damaged. `CannotRead` for what may be readable another time."""
        path = self._path(chat)
        if not self._is_folder():
            if self._fs.stat(self.folder) is not None:
                raise CannotRead(str(self.folder), "not a folder")
            return NOTHING, False
        try:
            return decode(self._fs.read_bytes(path, limit=_READ_BYTES)), False
        except FileNotFoundError:
            return NOTHING, False
        except CannotRead as error:
            if error.reason not in _FOR_GOOD:
                raise
            why = error.reason
        except Unreadable as error:
            why = str(error)
        _log.warning("the review of chat %s cannot be read: %s", chat, why)
        return NOTHING, True

    # -- what crashes leave --------------------------------------------------------------------------------------

    def orphans(self) -> list[ChatId]:
        """The chats that have a review and are not there."""
        found: list[ChatId] = []
        for name in self._names():
            try:
                chat = parse_chat_id(name.partition(".")[0])
                if ".json" in name and chat not in found and not self._places.homes(chat):
                    found.append(chat)
            except (InvalidId, CannotRead):
                continue
        return found

    def sweep(self) -> None:
        """Remove the reviews of chats that are not there. Under the vault's lock."""
        for chat in self.orphans():
            self.delete(chat)


def joined(review: Review, given: Review, *, told: bool) -> Review:
    """A review with the marks and comments of another one, by time."""
    marks = {(kept.mark.path, kept.mark.before, kept.mark.after): kept for kept in (*given.marks, *review.marks)}
    comments = {kept.comment.id: kept for kept in review.comments}
    for kept in given.comments:
        own = comments.get(kept.comment.id)
        if (own is None and (told or not kept.comment.sent_at)) or (own is not None and _changed(kept) > _changed(own)):
            comments[kept.comment.id] = kept
    return msgspec.structs.replace(
        review,
        marks=tuple(sorted(marks.values(), key=lambda kept: kept.mark.at)),
        comments=tuple(sorted(comments.values(), key=lambda kept: kept.comment.at)),
    )


def _changed(kept: KeptComment) -> tuple[int, int]:
    return kept.comment.changed_at, kept.comment.sent_at


def _fitting(chat: ChatId, review: Review) -> bytes:
    """The bytes of a review that is not too large: of the marks the oldest go, a comment never does."""
    if len(review.comments) > MOST_COMMENTS:
        raise CommentRefused(chat, "too-many")
    marks = review.marks[-MOST_MARKS:]
    while len(data := encode(msgspec.structs.replace(review, marks=marks))) > MOST_BYTES:
        if not marks:
            raise CommentRefused(chat, "too-many")
        marks = marks[len(marks) // 2 + 1 :]
    return data
