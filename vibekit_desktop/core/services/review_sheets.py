"""Put a review together to be exported: what differs between two points of a chat, with its marks and comments.

Reads only. What is more than a file may hold is refused before its content is read, so memory is bounded by `MOST_BYTES`, and
what finding renames holds (`core.diff.renames`).
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence

from vibekit_desktop.core.chat import review_html, review_markdown
from vibekit_desktop.core.chat.export_text import file_name
from vibekit_desktop.core.chat.review_sheet import Sheet, SheetFile
from vibekit_desktop.core.diff import intraline
from vibekit_desktop.core.services.diffs import DiffService
from vibekit_desktop.core.services.history import HistoryService
from vibekit_desktop.core.services.reviews import ReviewService
from vibekit_desktop.core.services.serial import Serial, durably
from vibekit_desktop.core.types.chats import Export
from vibekit_desktop.core.types.checkpoints import Point
from vibekit_desktop.core.types.diffs import EXACT, Compare, DiffDocument, FileDiff, WordSpans
from vibekit_desktop.core.types.errors import ChatNotFound
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath
from vibekit_desktop.core.types.reviews import Comment, PlacedComment, ReviewFormat, Side

MOST_BYTES = 256 << 20
"""Of both sides of all files together."""
_MEDIA_TYPES = {
    ReviewFormat.PATCH: "text/x-patch",
    ReviewFormat.HTML: "text/html; charset=utf-8",
    ReviewFormat.MARKDOWN: "text/markdown; charset=utf-8",
}


class ReviewSheets:
    """Exports of reviews, of archived chats too."""

    def __init__(
        self,
        history: HistoryService,
        serial: Serial,
        diffs: DiffService,
        reviews: ReviewService,
        *,
        clock: Callable[[], int],
    ) -> None:
        self._history = history
        self._serial = serial
        self._diffs = diffs
        self._reviews = reviews
        self._clock = clock

    async def export(
        self,
        chat: ChatId,
        old: Point,
        new: Point,
        paths: Sequence[WorkspacePath],
        kind: ReviewFormat,
        *,
        compare: Compare = EXACT,
    ) -> Export:
        """What differs between two points, as one file."""
        name = await self._name(chat)
        if kind is ReviewFormat.PATCH:
            data = await self._diffs.patch(chat, old, new, paths, compare=compare, most=MOST_BYTES)
        else:
            sheet = await self._sheet(chat, name, old, new, paths, compare)
            write = review_html.page if kind is ReviewFormat.HTML else review_markdown.summary
            data = await asyncio.to_thread(lambda: write(sheet).encode())
        return Export(name=file_name(name, chat, f"-review.{kind.value}"), data=data, media_type=_MEDIA_TYPES[kind])

    async def _name(self, chat: ChatId) -> str:
        vault = await self._history.vault_of(chat)

        def look() -> str:
            header = vault.chats.header(chat)
            if header is None:
                raise ChatNotFound(chat)
            return header.name

        async with self._serial.hold(vault.id):
            return await durably(look)

    async def _sheet(
        self, chat: ChatId, name: str, old: Point, new: Point, paths: Sequence[WorkspacePath], compare: Compare
    ) -> Sheet:
        diffs = await self._diffs.files(chat, old, new, paths, compare=compare, most=MOST_BYTES)
        comments = await self._reviews.comments(chat)
        seen = {(mark.path, mark.before, mark.after) for mark in await self._reviews.reviewed(chat)}
        spoken_of = {(one.path, one.side) for one in comments}
        files: list[SheetFile] = []
        shown: set[str] = set()
        for diff in diffs:
            placed = await self._placed(diff, spoken_of)
            shown.update(one.comment.id for one in placed)
            words = await asyncio.to_thread(_words, diff)
            mark = (diff.request.path, diff.before.sha, diff.after.sha)
            files.append(SheetFile(diff=diff, words=words, comments=tuple(placed), reviewed=mark in seen))
        others = [one for one in comments if one.id not in shown and (not paths or one.path in paths)]
        elsewhere = await self._alone(chat, others, new)
        return Sheet(chat=chat, name=name, old=old, new=new, made_at=self._clock(), files=tuple(files), elsewhere=elsewhere)

    async def _placed(self, diff: FileDiff, spoken_of: set[tuple[WorkspacePath, Side]]) -> list[PlacedComment]:
        request = diff.request
        names = {request.path, request.old_path or request.path}
        found: list[PlacedComment] = []
        if any((name, Side.OLD) in spoken_of for name in names):
            found += await self._reviews.place(
                request.chat, request.old_path or request.path, Side.OLD, request.old, old_path=request.path
            )
        if any((name, Side.NEW) in spoken_of for name in names):
            found += await self._reviews.place(request.chat, request.path, Side.NEW, request.new, old_path=request.old_path)
        return found

    async def _alone(self, chat: ChatId, comments: Sequence[Comment], new: Point) -> tuple[PlacedComment, ...]:
        """Comments on files that do not differ: where they are in what the files are then."""
        placed: dict[str, PlacedComment] = {}
        for path in dict.fromkeys(one.path for one in comments if one.side is Side.NEW):
            placed |= {one.comment.id: one for one in await self._reviews.place(chat, path, Side.NEW, new)}
        return tuple(placed.get(one.id) or PlacedComment(one, one.first_line, one.last_line) for one in comments)


def _words(diff: FileDiff) -> Mapping[int, WordSpans]:
    """The changed words of the rows that a page shows."""
    document = diff.result
    if not isinstance(document, DiffDocument) or diff.generated:
        return {}
    found: dict[int, WordSpans] = {}
    left = review_html.LIMITS.rows
    for hunk in document.hunks:
        if left <= 0:
            break
        last = min(hunk.last_change, hunk.first_change + left)
        found |= intraline.words(document, hunk.first_change, last)
        left -= last - hunk.first_change + 1
    return found
