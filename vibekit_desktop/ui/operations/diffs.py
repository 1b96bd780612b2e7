"""Ask the core for diffs on behalf of a pane: one current request at a time, words and colours as they are needed.

A newer request supersedes the older one by token; what comes late is dropped. Walking through a list is debounced by 80 ms.
UI thread only.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence

from PySide6.QtCore import QObject, QTimer, Signal

from vibekit_desktop.core.api import Diffs
from vibekit_desktop.core.types.diffs import BinaryPair, DiffDocument, DiffRequest, FileDiff, StyleRuns, WordSpans
from vibekit_desktop.core.types.errors import CoreError
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath
from vibekit_desktop.ui.bridge import Bridge
from vibekit_desktop.ui.error_text import sentence
from vibekit_desktop.ui.models.diff_runs import Runs
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.diff_pane import DiffPane
from vibekit_desktop.ui.views.image_pair import decode

Words = Callable[[FileDiff, int, int], Awaitable[Mapping[int, WordSpans]]]
Highlight = Callable[[str, Sequence[str]], Awaitable[StyleRuns | None]]
Labels = tuple[tuple[str, str], tuple[str, str]]
HighlightPart = Callable[[str, Sequence[str], int, int], Awaitable[StyleRuns | None]]

_OLD, _NEW = 0, 1
_AHEAD = 60
"""Lines above and below those in sight that are coloured with them."""

_WHOLE_AT_ONCE = 400
"""A file with no more lines has all its colours as soon as those in sight."""

_MANY_ROWS = 20_000
"""From here on a thread looks for what changed where: the window would feel it."""

_AT_ONCE = 8 << 20
"""Images up to this size together are shown without being asked for."""


class DiffDresser(QObject):
    """Gives a pane the words and colours of what it shows. Invariant: nothing of a former diff reaches the present one.

    ``part`` colours what is in sight while the whole is still on its way.
    """

    def __init__(
        self, bridge: Bridge, pane: DiffPane, words: Words, highlight: Highlight, part: HighlightPart | None = None
    ) -> None:
        super().__init__(pane)
        self._bridge = bridge
        self._pane = pane
        self._words = words
        self._highlight = highlight
        self._part = part
        self._begun: set[tuple[int, int]] = set()
        self._plain = [False, False]
        self._tasks: set[asyncio.Task[None]] = set()
        pane.words_wanted.connect(self._want_words)
        pane.view.lines_seen.connect(self._want_colours)

    def dress(self, diff: FileDiff) -> None:
        """Ask for the colours of a diff that the pane has begun to show."""
        self.stop()
        if isinstance(diff.result, DiffDocument):
            self._spawn(self._colour(diff, diff.result), "colour a diff")

    def _spawn(self, job: Coroutine[object, object, None], name: str) -> None:
        task = self._bridge.spawn(self, job, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def stop(self) -> None:
        """Wait for no colours any more: those of a file that nobody looks at hold up the others."""
        for task in tuple(self._tasks):
            task.cancel()
        self._tasks.clear()
        self._begun.clear()
        self._plain = [False, False]

    async def _colour(self, diff: FileDiff, document: DiffDocument) -> None:
        # The new side first: it is what people read.
        sides = ((_NEW, document.new.lines), (_OLD, document.old.lines))
        for side, lines in sides:
            seen = self._pane.view.lines_in_sight(side) if len(lines) > _WHOLE_AT_ONCE else None
            if seen is not None:
                await self._colour_part(diff, side, lines, *self._take(side, lines, *seen))
        for side, lines in sides:
            styles = await self._highlight(diff.request.path, lines) if lines else None
            if self._pane.diff is not diff:
                return
            self._plain[side] = styles is None
            if side == _NEW:
                self._pane.view.set_styles(new=styles)
            else:
                self._pane.view.set_styles(old=styles)

    def _take(self, side: int, lines: Sequence[str], first: int, last: int) -> tuple[int, int]:
        """The blocks around some lines, from now on begun: their first and last line."""
        blocks = range(first // _AHEAD, last // _AHEAD + 1)
        self._begun.update((side, block) for block in blocks)
        return blocks[0] * _AHEAD, min(len(lines), (blocks[-1] + 1) * _AHEAD) - 1

    def _want_colours(self, side: int, first: int, last: int) -> None:
        diff = self._pane.diff
        if self._plain[side] or diff is None or not isinstance(diff.result, DiffDocument):
            return
        lines = (diff.result.old if side == _OLD else diff.result.new).lines
        if len(lines) <= _WHOLE_AT_ONCE or {(side, first // _AHEAD), (side, last // _AHEAD)} <= self._begun:
            return
        job = self._colour_part(diff, side, lines, *self._take(side, lines, first, last))
        self._spawn(job, "colour lines in sight")

    async def _colour_part(self, diff: FileDiff, side: int, lines: Sequence[str], first: int, last: int) -> None:
        if self._part is None:
            return
        styles = await self._part(diff.request.path, lines, first, last)
        if self._pane.diff is diff and styles is not None:
            self._pane.view.add_styles(side, first, last, styles)

    def _want_words(self, first: int, last: int) -> None:
        diff = self._pane.diff
        if diff is not None:
            self._bridge.spawn(self, self._ask_words(diff, first, last), name="words of a diff")

    async def _ask_words(self, diff: FileDiff, first: int, last: int) -> None:
        words = await self._words(diff, first, last)
        if self._pane.diff is diff and words:
            self._pane.view.set_words(words)


class DiffPresenter(QObject):
    """The current request of one pane. ``shown(diff)``: a `FileDiff` has been given to the pane."""

    shown = Signal(object)

    def __init__(self, hub: ThemeHub, bridge: Bridge, diffs: Diffs, pane: DiffPane) -> None:
        super().__init__(pane)
        self._bridge = bridge
        self._diffs = diffs
        self._pane = pane
        self._dresser = DiffDresser(bridge, pane, diffs.words, diffs.highlight, diffs.highlight_part)
        self._token = 0
        self._request: DiffRequest | None = None
        self._labels: Labels = (("", ""), ("", ""))
        self._keep_place = False
        self._loaded: set[tuple[ChatId, WorkspacePath]] = set()
        """Files over the limits that somebody wanted to see all the same: they stay, also when the disk changes."""
        self._task: asyncio.Task[None] | None = None
        self._debounce = QTimer(self)
        self._debounce.setSingleShot(True)
        self._debounce.setInterval(hub.theme.tokens.motion("preview-debounce"))
        self._debounce.timeout.connect(self._start)
        self._slow = QTimer(self)
        self._slow.setSingleShot(True)
        self._slow.setInterval(hub.theme.tokens.motion("loading-delay"))
        self._slow.timeout.connect(pane.show_loading)
        pane.load_anyway.connect(self._load_anyway)
        pane.retry.connect(self._start)
        pane.images_wanted.connect(self._want_images)
        pane.unfolded.connect(self._dress)

    @property
    def request(self) -> DiffRequest | None:
        """What was asked for last."""
        return self._request

    def ask(self, request: DiffRequest, labels: Labels, *, at_once: bool = False) -> None:
        """Show another file or other sides. ``labels``: names and times of the two sides."""
        keep = self._request is not None and self._request.path == request.path
        self._request = request
        self._labels = labels
        self._keep_place = keep
        self._token += 1
        self._drop_task()
        if at_once:
            self._start()
        else:
            self._debounce.start()

    def stop(self) -> None:
        """Forget the request and what it may still answer."""
        self._request = None
        self._token += 1
        self._debounce.stop()
        self._slow.stop()
        self._drop_task()
        self._dresser.stop()
        self._pane.clear()

    def _drop_task(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None

    def _load_anyway(self) -> None:
        if self._request is not None:
            self._loaded.add((self._request.chat, self._request.path))
            self._start()

    def _start(self) -> None:
        self._debounce.stop()
        if self._request is None:
            return
        self._token += 1
        self._drop_task()
        if not (self._keep_place and self._pane.diff is not None):
            self._slow.start()  # the same file again: what is shown stays until the new state is there
        unlimited = (self._request.chat, self._request.path) in self._loaded
        job = self._compute(self._request, self._token, unlimited=unlimited)
        self._task = self._bridge.spawn(self, job, name="compute a diff")

    async def _compute(self, request: DiffRequest, token: int, *, unlimited: bool) -> None:
        try:
            diff = await self._diffs.file(request, unlimited=unlimited)
        except CoreError as error:
            if token == self._token:
                self._slow.stop()
                self._pane.show_error(sentence(error))
            return
        if token != self._token:
            return
        runs = None
        if isinstance(diff.result, DiffDocument) and len(diff.result.rows) > _MANY_ROWS:
            runs = await asyncio.to_thread(Runs, diff.result)
            if token != self._token:
                return
        self._slow.stop()
        self._pane.show_diff(diff, self._labels, keep_place=self._keep_place, runs=runs)
        self._dress()
        self.shown.emit(diff)

    def _dress(self) -> None:
        """Give what the pane shows what belongs to it."""
        diff = self._pane.diff
        if diff is None or self._pane.folded:
            return
        self._dresser.dress(diff)
        result = diff.result
        if isinstance(result, DiffDocument) and "mixed" in (result.old.line_ending, result.new.line_ending):
            self._bridge.spawn(self, self._line_ends(diff, result), name="line ends of a diff")
        if isinstance(result, BinaryPair) and (result.old_image or result.new_image) and _size(result) <= _AT_ONCE:
            self._want_images()

    def _want_images(self) -> None:
        diff = self._pane.diff
        if diff is not None:
            self._bridge.spawn(self, self._show_images(diff), name="images of a diff")

    async def _show_images(self, diff: FileDiff) -> None:
        try:
            sides = await self._diffs.sides(diff.request)
        except CoreError:
            return  # the sizes that are shown already are all there is to tell
        old, new = [await asyncio.to_thread(decode, data) for data in sides]
        if self._pane.diff is diff:
            self._pane.show_images(old, new)

    async def _line_ends(self, diff: FileDiff, document: DiffDocument) -> None:
        try:
            sides = await self._diffs.sides(diff.request)
        except CoreError:
            return  # copied lines then end in LF
        for side, (data, text) in enumerate(zip(sides, (document.old, document.new), strict=True)):
            if data is not None and text.line_ending == "mixed":
                crlf = await asyncio.to_thread(lines_in_crlf, data, text.encoding)
                if self._pane.diff is diff:
                    self._pane.view.set_line_ends(side, crlf)


def _size(pair: BinaryPair) -> int:
    return (pair.old_size or 0) + (pair.new_size or 0)


def lines_in_crlf(data: bytes, encoding: str) -> frozenset[int]:
    """Which lines (from 1) end in CRLF. ``encoding`` is a `DiffSide`'s."""
    wide = encoding.startswith(("UTF-16", "UTF-32"))
    # Only the ends count: a wide text is read as one, any other has the same bytes for them.
    text = data.decode(encoding.removesuffix("?").lower().replace(" ", "-"), "replace") if wide else data.decode("latin-1")
    return frozenset(number for number, line in enumerate(text.split("\n")[:-1], 1) if line.endswith("\r"))
