"""The review of a chat in memory, for the fake core: it keeps what the faces give it, and tells as the real one does."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from tests.helpers.fake_live import Answers
from vibekit_desktop.core.types.checkpoints import Point
from vibekit_desktop.core.types.errors import CommentNotFound
from vibekit_desktop.core.types.events import Event, ReviewChanged
from vibekit_desktop.core.types.ids import BlobHash, ChatId, WorkspacePath
from vibekit_desktop.core.types.reviews import Comment, PlacedComment, ReviewedFile, Side


def _nobody(_event: Event) -> None:
    """Nobody listens."""


@dataclass
class FakeReviews(Answers):
    marks: dict[ChatId, list[ReviewedFile]] = field(default_factory=dict)
    said: dict[ChatId, list[Comment]] = field(default_factory=dict)
    places: dict[str, tuple[int, int] | None] = field(default_factory=dict)
    """Where a comment is now, by its id; one that is not named is where it was written."""
    damaged: list[str] = field(default_factory=list)
    publish: Callable[[Event], None] = _nobody

    async def reviewed(self, chat: ChatId) -> Sequence[ReviewedFile]:
        self.note("reviewed", chat)
        return tuple(self.marks.get(chat, ()))

    async def set_reviewed(
        self, chat: ChatId, path: WorkspacePath, before: BlobHash | None, after: BlobHash | None, reviewed: bool
    ) -> None:
        self.note("set_reviewed", chat, path, before, after, reviewed)
        kept = [one for one in self.marks.get(chat, ()) if (one.path, one.before, one.after) != (path, before, after)]
        if reviewed:
            kept.append(ReviewedFile(path=path, before=before, after=after, at=len(self.calls)))
        self.marks[chat] = kept
        self.publish(ReviewChanged(chat))

    async def comments(self, chat: ChatId) -> Sequence[Comment]:
        self.note("comments", chat)
        return tuple(self.said.get(chat, ()))

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
        self.note("comment", chat, path, side, first_line, last_line, text, old, new)
        made = Comment(
            id=f"c{len(self.calls)}",
            path=path,
            side=side,
            first_line=first_line,
            last_line=last_line,
            text=text,
            quote="",
            point=old if side is Side.OLD else new,
            sha=None,
            at=len(self.calls),
            changed_at=len(self.calls),
        )
        self.said.setdefault(chat, []).append(made)
        self.publish(ReviewChanged(chat))
        return made

    def _change(self, chat: ChatId, comment: str, change: Callable[[Comment], Comment | None]) -> None:
        there = self.said.get(chat, [])
        if not any(one.id == comment for one in there):
            raise CommentNotFound(chat, comment)
        changed = [change(one) if one.id == comment else one for one in there]
        self.said[chat] = [one for one in changed if one is not None]
        self.publish(ReviewChanged(chat))

    async def edit_comment(self, chat: ChatId, comment: str, text: str) -> None:
        self.note("edit_comment", chat, comment, text)
        self._change(chat, comment, lambda one: replace(one, text=text, sent_at=0))

    async def delete_comment(self, chat: ChatId, comment: str) -> None:
        self.note("delete_comment", chat, comment)
        self._change(chat, comment, lambda _: None)

    async def place(
        self, chat: ChatId, path: WorkspacePath, side: Side, point: Point, *, old_path: WorkspacePath | None = None
    ) -> Sequence[PlacedComment]:
        self.note("place", chat, path, side, point, old_path)
        ours = [one for one in self.said.get(chat, ()) if one.side is side and one.path in (path, old_path)]
        found = [(one, self.places.get(one.id, (one.first_line, one.last_line))) for one in ours]
        return tuple(PlacedComment(one, *(place or (None, None))) for one, place in found)

    async def message(self, chat: ChatId, comments: Sequence[str]) -> str:
        self.note("message", chat, tuple(comments))
        return "\n\n".join(f"{one.path}: {one.text}" for one in self.said.get(chat, ()) if one.id in comments)

    async def sent(self, chat: ChatId, comments: Sequence[str]) -> None:
        self.note("sent", chat, tuple(comments))
        now = len(self.calls)
        self.said[chat] = [replace(one, sent_at=now) if one.id in comments else one for one in self.said.get(chat, ())]
        self.publish(ReviewChanged(chat))

    async def problems(self, chat: ChatId) -> Sequence[str]:
        self.note("problems", chat)
        return tuple(self.damaged)
