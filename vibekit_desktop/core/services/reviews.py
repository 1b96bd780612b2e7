"""Marks and comments of a review, kept with the chat. Implements `core.api.Reviews`.

Every change is made under the vault's lock and told by `ReviewChanged` once it is durable; reading only waits for its turn in
the vault. Comparing texts to find the lines of a comment again is done off the loop, with nothing held.
"""

import asyncio
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import msgspec

from vibekit_desktop.core.bus import Bus
from vibekit_desktop.core.chat import review_words
from vibekit_desktop.core.chat.review_codec import KeptComment, KeptMark, Review
from vibekit_desktop.core.checkpoint.kernel import CheckpointKernel
from vibekit_desktop.core.diff.anchor import Anchor, find_block, lines_of
from vibekit_desktop.core.services.contents import Missing, content_of
from vibekit_desktop.core.services.history import HistoryService
from vibekit_desktop.core.services.serial import Serial, durably
from vibekit_desktop.core.services.vaults import OpenVault
from vibekit_desktop.core.types.checkpoints import FileState, Now, Point, State, point_text
from vibekit_desktop.core.types.errors import CommentNotFound, CommentRefused, InvalidText, NotKnownThere
from vibekit_desktop.core.types.events import ReviewChanged
from vibekit_desktop.core.types.ids import BlobHash, ChatId, WorkspacePath
from vibekit_desktop.core.types.reviews import Comment, PlacedComment, ReviewedFile, Side

TEXT_BYTES = 64 << 10
QUOTE_LINES = 40
QUOTE_CHARACTERS = 4_000
AROUND = 3
AROUND_CHARACTERS = 300
COMPARED_BYTES = 1 << 20
"""Of two texts together: larger ones are not compared to find a comment again, only its quoted lines are looked for."""
MOST_CONTENTS = 50
"""Contents that the comments of one file were written on, read at once."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Found:
    """What is needed to place comments: the content now, and the contents they were written on."""

    comments: tuple[KeptComment, ...]
    sha: BlobHash | None
    now: bytes | None
    then: Mapping[BlobHash, bytes]


class ReviewService:
    """The reviews of the chats of all vaults, archived ones too."""

    def __init__(self, bus: Bus, history: HistoryService, serial: Serial, *, clock: Callable[[], int]) -> None:
        self._bus = bus
        self._history = history
        self._serial = serial
        self._clock = clock

    async def _reading(self, chat: ChatId, work: Callable[[OpenVault], T]) -> T:
        vault = await self._history.vault_of(chat)
        async with self._serial.hold(vault.id):
            return await durably(lambda: work(vault))

    async def _changing(self, chat: ChatId, change: Callable[[Review], Review]) -> None:
        def locked(vault: OpenVault) -> bool:
            with vault.lock.hold():
                return vault.reviews.change(chat, change)

        if await self._reading(chat, locked):
            self._bus.publish(ReviewChanged(chat))

    # -- marks ---------------------------------------------------------------------------------------------------

    async def reviewed(self, chat: ChatId) -> Sequence[ReviewedFile]:
        """What was reviewed, oldest first."""
        return [kept.mark for kept in (await self._reading(chat, lambda vault: vault.reviews.of(chat))).marks]

    async def set_reviewed(
        self, chat: ChatId, path: WorkspacePath, before: BlobHash | None, after: BlobHash | None, reviewed: bool
    ) -> None:
        """Mark what a file was and became as reviewed, or no longer."""

        def change(review: Review) -> Review:
            same = [kept for kept in review.marks if _is_of(kept.mark, path, before, after)]
            if reviewed == bool(same):
                return review
            marks = tuple(kept for kept in review.marks if kept not in same)
            if reviewed:
                marks = (*marks, KeptMark(ReviewedFile(path=path, before=before, after=after, at=self._clock())))
            return msgspec.structs.replace(review, marks=marks)

        await self._changing(chat, change)

    async def problems(self, chat: ChatId) -> Sequence[str]:
        """The files with marks and comments of the chat that could not be read."""
        return await self._reading(chat, lambda vault: vault.reviews.problems(chat))

    # -- comments ------------------------------------------------------------------------------------------------

    async def comments(self, chat: ChatId) -> Sequence[Comment]:
        """All comments, oldest first."""
        return [kept.comment for kept in (await self._reading(chat, lambda vault: vault.reviews.of(chat))).comments]

    async def comment(
        self,
        chat: ChatId,
        path: WorkspacePath,
        side: Side,
        first_line: int,
        last_line: int,
        text: str,
        *,
        old: Point,
        new: Point,
    ) -> Comment:
        """Keep a comment on lines of one side."""
        words = _checked(chat, text)
        point = old if side is Side.OLD else new
        made: list[KeptComment] = []

        def locked(vault: OpenVault) -> None:
            state, data = _content_at(vault, chat, point, path)
            if not isinstance(data, bytes):
                reason = data.reason if isinstance(data, Missing) else state.state.value
                raise NotKnownThere(path, point_text(point), reason)
            lines = lines_of(data)
            if lines is None or not 1 <= first_line <= last_line <= len(lines):
                raise CommentRefused(chat, "no-lines")
            now = self._clock()
            comment = Comment(
                id=uuid.uuid4().hex,
                path=path,
                side=side,
                first_line=first_line,
                last_line=last_line,
                text=words,
                quote=_quoted(lines[first_line - 1 : last_line]),
                point=point,
                sha=state.sha,
                at=now,
                changed_at=now,
            )
            above = _around(reversed(lines[max(0, first_line - 1 - AROUND) : first_line - 1]))
            kept = KeptComment(comment, tuple(reversed(above)), _around(lines[last_line : last_line + AROUND]))
            with vault.lock.hold():
                vault.reviews.change(chat, lambda review: msgspec.structs.replace(review, comments=(*review.comments, kept)))
            made.append(kept)

        await self._reading(chat, locked)
        self._bus.publish(ReviewChanged(chat))
        return made[0].comment

    async def edit_comment(self, chat: ChatId, comment: str, text: str) -> None:
        """Say something else; what the agent was told before, it has to be told again."""
        words = _checked(chat, text)

        def change(found: Comment) -> Comment:
            return found if found.text == words else replace(found, text=words, changed_at=self._clock(), sent_at=0)

        await self._changing(chat, lambda review: _with(review, chat, comment, change))

    async def delete_comment(self, chat: ChatId, comment: str) -> None:
        """Forget a comment."""
        await self._changing(chat, lambda review: _with(review, chat, comment, lambda _: None))

    async def sent(self, chat: ChatId, comments: Sequence[str]) -> None:
        """The agent was told these; one that was deleted meanwhile is not missed."""
        wanted, now = set(comments), self._clock()

        def change(review: Review) -> Review:
            told = tuple(
                kept.now(replace(kept.comment, sent_at=now)) if kept.comment.id in wanted else kept for kept in review.comments
            )
            return msgspec.structs.replace(review, comments=told)

        await self._changing(chat, change)

    async def message(self, chat: ChatId, comments: Sequence[str]) -> str:
        """These comments as one message for the agent, each with where its lines are now."""
        known = {one.id: one for one in await self.comments(chat)}
        for identity in comments:
            if identity not in known:
                raise CommentNotFound(chat, identity)
        placed: list[PlacedComment] = []
        wanted = [known[identity] for identity in dict.fromkeys(comments)]
        for path in dict.fromkeys(one.path for one in wanted if one.side is Side.NEW):
            now = await self.place(chat, path, Side.NEW, Now())
            placed += [one for one in now if one.comment in wanted]
        placed += [PlacedComment(one, one.first_line, one.last_line) for one in wanted if one.side is Side.OLD]
        return review_words.message(placed)

    # -- where comments are ----------------------------------------------------------------------------------------

    async def place(
        self, chat: ChatId, path: WorkspacePath, side: Side, point: Point, *, old_path: WorkspacePath | None = None
    ) -> Sequence[PlacedComment]:
        """Where the comments on one side of a file are in its content at a point."""
        names = {path} if old_path is None else {path, old_path}

        def read(vault: OpenVault) -> _Found:
            ours = [kept for kept in vault.reviews.of(chat).comments if kept.comment.path in names]
            comments = tuple(kept for kept in ours if kept.comment.side is side)
            if not comments:
                return _Found((), None, None, {})
            state, data = _content_at(vault, chat, point, path)
            now = data if isinstance(data, bytes) else None
            return _Found(comments, state.sha, now, _contents(vault, comments, state.sha, now))

        found = await self._reading(chat, read)
        return await asyncio.to_thread(_placed, found) if found.comments else ()


def _is_of(mark: ReviewedFile, path: WorkspacePath, before: BlobHash | None, after: BlobHash | None) -> bool:
    return (mark.path, mark.before, mark.after) == (path, before, after)


def _checked(chat: ChatId, text: str) -> str:
    words = text.replace("\r\n", "\n").strip()
    try:
        size = len(words.encode())
    except UnicodeEncodeError as error:
        raise InvalidText(chat) from error
    if not words or size > TEXT_BYTES:
        raise CommentRefused(chat, "too-long" if words else "empty")
    return words


def _with(review: Review, chat: ChatId, comment: str, change: Callable[[Comment], Comment | None]) -> Review:
    """The review with one comment changed, or gone."""
    kept = next((one for one in review.comments if one.comment.id == comment), None)
    if kept is None:
        raise CommentNotFound(chat, comment)
    changed = change(kept.comment)
    new = () if changed is None else (kept.now(changed),)
    at = review.comments.index(kept)
    return msgspec.structs.replace(review, comments=(*review.comments[:at], *new, *review.comments[at + 1 :]))


def _quoted(lines: Sequence[str]) -> str:
    return "\n".join(lines[:QUOTE_LINES])[:QUOTE_CHARACTERS]


def _around(lines: Iterable[str]) -> tuple[str, ...]:
    """The nearest lines, up to one that is too long to be kept."""
    found: list[str] = []
    for line in lines:
        if len(line) > AROUND_CHARACTERS:
            break
        found.append(line)
    return tuple(found)


def _content_at(vault: OpenVault, chat: ChatId, point: Point, path: WorkspacePath) -> tuple[FileState, bytes | Missing | None]:
    """State and bytes of a path at a point; those on disk of one look."""
    kernel: CheckpointKernel = vault.kernel()
    if isinstance(point, Now) and vault.workspace() is not None:
        state, data = kernel.disk_content(path)
        return state, data if data is not None else content_of(vault, kernel, path, state)
    state = kernel.state_at(chat, point, path)
    return state, content_of(vault, kernel, path, state)


def _contents(
    vault: OpenVault, comments: Sequence[KeptComment], sha: BlobHash | None, now: bytes | None
) -> Mapping[BlobHash, bytes]:
    """What the comments were written on, where it is still to be had and small enough to be compared."""
    if now is None or len(now) > COMPARED_BYTES:
        return {}
    found: dict[BlobHash, bytes] = {}
    kernel = vault.kernel()
    for kept in reversed(comments):
        wanted = kept.comment.sha
        if wanted is None or wanted == sha or wanted in found or len(found) >= MOST_CONTENTS:
            continue
        data = content_of(vault, kernel, kept.comment.path, FileState(State.PRESENT, wanted))
        if isinstance(data, bytes) and len(data) + len(now) <= COMPARED_BYTES:
            found[wanted] = data
    return found


def _placed(found: _Found) -> list[PlacedComment]:
    now = found.now
    lines = lines_of(now) or ()
    anchors: dict[BlobHash, Anchor] = {}
    placed: list[PlacedComment] = []
    for kept in found.comments:
        one = kept.comment
        place: tuple[int, int] | None = None
        if now is not None and one.sha is not None and one.sha == found.sha:
            place = (one.first_line, one.last_line) if one.last_line <= len(lines) else None
        elif now is not None and one.sha is not None and one.sha in found.then:
            if one.sha not in anchors:
                anchors[one.sha] = Anchor(found.then[one.sha], now)
            place = anchors[one.sha].find(one.first_line, one.last_line)
        elif now is not None:
            place = _by_quote(lines, kept)
        placed.append(PlacedComment(one, *(place or (None, None))))
    return placed


def _by_quote(lines: Sequence[str], kept: KeptComment) -> tuple[int, int] | None:
    """Where the quoted lines are, if what they were counted in is not to be had any more."""
    one = kept.comment
    count = one.last_line - one.first_line + 1
    quote = one.quote.split("\n")
    whole = len(quote) == count and len(one.quote) < QUOTE_CHARACTERS
    if not whole:
        quote = quote[:-1]  # the last of them may have been cut
    place = find_block(lines, quote, near=one.first_line, above=kept.above, below=kept.below if whole else ())
    return None if place is None else (place[0], min(place[0] + count - 1, len(lines)))
