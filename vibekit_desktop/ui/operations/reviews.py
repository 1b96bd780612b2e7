"""Marks and comments of a review: read them for a page, keep what a person marks and says there, bring comments to their lines.

One page each. What is read late for another chat is dropped. UI thread only.
"""

from collections.abc import Awaitable, Callable

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from vibekit_desktop.core.api import Reviews
from vibekit_desktop.core.types.diffs import FileDiff
from vibekit_desktop.core.types.errors import CommentNotFound, CoreError
from vibekit_desktop.core.types.events import ReviewChanged
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath
from vibekit_desktop.core.types.reviews import Comment, PlacedComment, Side
from vibekit_desktop.ui.bridge import Bridge
from vibekit_desktop.ui.dialogs.question import Choice, Question
from vibekit_desktop.ui.error_text import sentence
from vibekit_desktop.ui.notify import Notifier
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.comments import Target
from vibekit_desktop.ui.views.review import ReviewPage
from vibekit_desktop.ui.wording import file_name, shown_path

Send = Callable[[ChatId, str], Awaitable[bool]]
"""Give a message to the agent; whether it was taken."""


class ReviewNotes(QObject):
    """Keeps one page's marks and comments. ``send`` gives a message to the agent.

    Invariant: what the page shows of them was read from the core; nothing is shown that is not stored."""

    def __init__(
        self, hub: ThemeHub, bridge: Bridge, reviews: Reviews, notifier: Notifier, page: ReviewPage, window: QWidget, send: Send
    ) -> None:
        super().__init__(page)
        self._hub = hub
        self._bridge = bridge
        self._reviews = reviews
        self._notifier = notifier
        self._page = page
        self._window = window
        self._send = send
        self._reading = 0
        self._placing = 0
        self._go_to: Comment | None = None
        panel = page.comments
        page.opened.connect(self._opened)
        page.shown.connect(self._shown)
        page.reviewed_toggled.connect(self._mark)
        panel.editor.made.connect(self._make)
        panel.editor.changed.connect(self._change)
        panel.delete_requested.connect(self._delete)
        panel.go_requested.connect(self._go)
        panel.send_requested.connect(self._send_all)
        bridge.subscribe(self, ReviewChanged, self._changed)

    # Reading.

    def _opened(self, _chat: ChatId) -> None:
        """Other sides are compared: where the lines of comments are was looked for in the former ones."""
        self._placing += 1
        self._page.comments.model.forget_places()
        self.read()

    def _changed(self, event: ReviewChanged) -> None:
        if event.chat == self._page.chat:
            self.read()

    def read(self) -> None:
        """Read marks and comments anew."""
        if self._page.chat is not None:
            self._reading += 1
            self._bridge.spawn(self, self._read(self._page.chat, self._reading), name="read a review")

    async def _read(self, chat: ChatId, token: int) -> None:
        try:
            reviewed, comments = await self._reviews.reviewed(chat), await self._reviews.comments(chat)
        except CoreError as error:
            self._tell(error)
            return
        if token != self._reading or chat != self._page.chat:
            return
        self._page.set_reviewed(reviewed)
        self._page.set_comments(comments)
        self._place()

    def _shown(self, diff: FileDiff) -> None:
        if self._go_to is not None and not self._is_of(self._go_to, diff):
            self._go_to = None  # somebody went on to another file meanwhile
        self._place()

    def _place(self) -> None:
        diff = self._page.pane.diff
        self._placing += 1
        if diff is None or diff.request.chat != self._page.chat or (diff.request.old, diff.request.new) != self._page.sides:
            return  # what belongs to the page is on its way
        if not any(self._is_of(comment, diff) for comment in self._page.all_comments):
            self._page.set_places(())
            return
        self._bridge.spawn(self, self._ask_places(diff, self._placing), name="find the lines of comments")

    async def _ask_places(self, diff: FileDiff, token: int) -> None:
        request = diff.request
        found: list[PlacedComment] = []
        for side, point, path in (
            (Side.OLD, request.old, request.old_path or request.path),
            (Side.NEW, request.new, request.path),
        ):
            try:
                found += await self._reviews.place(request.chat, path, side, point, old_path=request.old_path)
            except CoreError:
                continue  # a side whose content is not to be had has no lines to stand at
        shown = self._page.pane.diff
        if token != self._placing or shown is None or shown.request != request:
            return
        self._page.set_places(found)
        going, self._go_to = self._go_to, None
        if going is not None:
            self._bring(going, found)

    @staticmethod
    def _is_of(comment: Comment, diff: FileDiff) -> bool:
        return comment.path in (diff.request.path, diff.request.old_path)

    # Marks.

    def _mark(self, diff: FileDiff, on: bool) -> None:
        request = diff.request
        self._do(
            "mark a file",
            lambda: self._reviews.set_reviewed(request.chat, request.path, diff.before.sha, diff.after.sha, on),
        )

    # Comments.

    def _make(self, target: Target, text: str) -> None:
        page = self._page
        chat = page.chat
        if chat is None:
            return
        path, side, first, last = target
        old, new = page.sides

        async def work() -> None:
            made = await self._reviews.comment(chat, path, side, first, last, text, old=old, new=new)
            if page.chat == chat and page.comments.editor.target == target:
                page.comments.editor.close_field()
                page.comments.select(made.id)

        self._do("comment on lines", work)

    def _change(self, comment: Comment, text: str) -> None:
        chat = self._page.chat
        if chat is None:
            return

        async def work() -> None:
            await self._reviews.edit_comment(chat, comment.id, text)
            self._page.comments.editor.close_field()

        self._do("change a comment", work)

    def _delete(self, comment: Comment) -> None:
        chat = self._page.chat
        if chat is None:
            return

        async def work() -> None:
            title = tr("Delete this comment on {file}?", file=file_name(shown_path(comment.path)))
            choices = [Choice("", tr("Cancel")), Choice("go", tr("Delete comment"), "danger")]
            question = Question(self._hub, self._window, title, tr("This can't be undone."), choices, icon="trash")
            if await question.ask():
                try:
                    await self._reviews.delete_comment(chat, comment.id)
                except CommentNotFound:
                    self.read()  # somebody else was quicker: what was wanted is so

        self._do("delete a comment", work)

    def _go(self, comment: Comment) -> None:
        path = self._page.path_of(comment)
        if path is None:
            text = tr("{file} is not among the files of this review.", file=file_name(shown_path(comment.path)))
            self._notifier.toast(text, "info")
            return
        self._go_to = comment
        self._bring_file(path)

    def _bring_file(self, path: WorkspacePath) -> None:
        shown = self._page.pane.diff
        if shown is not None and shown.request.path == path and self._page.list.current == path:
            self._place()
        else:
            self._page.list.select(path)

    def _bring(self, comment: Comment, found: list[PlacedComment]) -> None:
        place = next((one for one in found if one.comment.id == comment.id), None)
        if place is None or place.first_line is None or place.last_line is None:
            self._notifier.toast(tr("The lines of this comment are not in what is shown."), "info")
            return
        self._page.go_to_lines(comment.side, place.first_line, place.last_line)

    def _send_all(self, ids: tuple[str, ...]) -> None:
        chat = self._page.chat
        if chat is None:
            return

        async def work() -> None:
            message = await self._reviews.message(chat, ids)
            if await self._send(chat, message):
                await self._reviews.sent(chat, ids)

        self._do("send comments", work)

    # How.

    def _do(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        async def told() -> None:
            try:
                await work()
            except CoreError as error:
                self._tell(error)

        self._bridge.spawn(self, told(), name=name)

    def _tell(self, error: CoreError) -> None:
        self._notifier.toast(sentence(error).sentence, "error")
