"""Ask the core for diffs on behalf of a pane: one current request at a time, words and colours as they are needed.

A newer request supersedes the older one by token; what comes late is dropped. Walking through a list is debounced by 80 ms.
UI thread only.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

from PySide6.QtCore import QObject, QTimer, Signal

from vibekit_desktop.core.api import Diffs
from vibekit_desktop.core.types.diffs import DiffDocument, DiffRequest, FileDiff, StyleRuns, WordSpans
from vibekit_desktop.core.types.errors import CoreError
from vibekit_desktop.ui.bridge import Bridge
from vibekit_desktop.ui.error_text import sentence
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.diff_pane import DiffPane

Words = Callable[[FileDiff, int, int], Awaitable[Mapping[int, WordSpans]]]
Highlight = Callable[[str, Sequence[str]], Awaitable[StyleRuns | None]]
Labels = tuple[tuple[str, str], tuple[str, str]]


class DiffDresser(QObject):
    """Gives a pane the words and colours of what it shows. Invariant: nothing of a former diff reaches the present one."""

    def __init__(self, bridge: Bridge, pane: DiffPane, words: Words, highlight: Highlight) -> None:
        super().__init__(pane)
        self._bridge = bridge
        self._pane = pane
        self._words = words
        self._highlight = highlight
        pane.words_wanted.connect(self._want_words)

    def dress(self, diff: FileDiff) -> None:
        """Ask for the colours of a diff that the pane has begun to show."""
        if isinstance(diff.result, DiffDocument):
            self._bridge.spawn(self, self._colour(diff, diff.result), name="colour a diff")

    async def _colour(self, diff: FileDiff, document: DiffDocument) -> None:
        path = diff.request.path
        # The new side first: it is what people read.
        new = await self._highlight(path, document.new.lines) if document.new.lines else None
        if self._pane.diff is not diff:
            return
        self._pane.view.set_styles(new=new)
        old = await self._highlight(path, document.old.lines) if document.old.lines else None
        if self._pane.diff is diff:
            self._pane.view.set_styles(old=old)

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
        self._dresser = DiffDresser(bridge, pane, diffs.words, diffs.highlight)
        self._token = 0
        self._request: DiffRequest | None = None
        self._labels: Labels = (("", ""), ("", ""))
        self._keep_place = False
        self._task: asyncio.Task[None] | None = None
        self._debounce = QTimer(self)
        self._debounce.setSingleShot(True)
        self._debounce.setInterval(hub.theme.tokens.motion("preview-debounce"))
        self._debounce.timeout.connect(self._start)
        self._slow = QTimer(self)
        self._slow.setSingleShot(True)
        self._slow.setInterval(hub.theme.tokens.motion("loading-delay"))
        self._slow.timeout.connect(pane.show_loading)
        pane.load_anyway.connect(lambda: self._start(unlimited=True))
        pane.retry.connect(self._start)

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
        self._pane.clear()

    def _drop_task(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None

    def _start(self, *, unlimited: bool = False) -> None:
        self._debounce.stop()
        if self._request is None:
            return
        self._token += 1
        self._drop_task()
        self._slow.start()
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
        self._slow.stop()
        self._pane.show_diff(diff, self._labels, keep_place=self._keep_place)
        self._dresser.dress(diff)
        self.shown.emit(diff)
