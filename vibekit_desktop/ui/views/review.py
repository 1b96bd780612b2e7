"""Review changes: the files that differ between two points of a chat, and the diff of the chosen one.

Asks for diffs and emits every other intent; its parts are in `review_frame`. How one goes on from the last hunk of a file, and
what stays where it is when the disk changes, is here. UI thread only.
"""

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from vibekit_desktop.core.api import Diffs
from vibekit_desktop.core.types.checkpoints import Point, Start, Timeline
from vibekit_desktop.core.types.diffs import EXACT, FileDiff, TooLarge
from vibekit_desktop.core.types.events import WorkspaceRestored
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath
from vibekit_desktop.core.types.reviews import Comment, ReviewedFile
from vibekit_desktop.ui import when
from vibekit_desktop.ui.bridge import Bridge
from vibekit_desktop.ui.error_text import ErrorText
from vibekit_desktop.ui.models.files import Mark
from vibekit_desktop.ui.models.review_marks import can_mark, mark_of, marked_entries, neighbour
from vibekit_desktop.ui.models.review_options import ReviewOptions
from vibekit_desktop.ui.models.sides import side_label
from vibekit_desktop.ui.operations.diffs import DiffPresenter, Labels
from vibekit_desktop.ui.operations.review_files import ReviewFiles, Wanted
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views import review_lines
from vibekit_desktop.ui.views.review_bar import NOW
from vibekit_desktop.ui.views.review_frame import ReviewFrame
from vibekit_desktop.ui.views.review_keys import bind_keys
from vibekit_desktop.ui.views.review_menus import undo_all_words
from vibekit_desktop.ui.wording import file_name, shown_path


class ReviewPage(ReviewFrame):
    """Signals beside those of `ReviewFrame`: ``undo_hunk_requested(diff, hunk)``, ``undo_file_requested(diff)``,
    ``undo_all_requested(old, new)``; ``reviewed_toggled(diff, on)``; ``editor_requested(diff)``; ``opened(chat)``: another chat
    or other sides; ``shown(diff)``: a file is shown now.

    Invariant: list, head and pane are about ``chat`` between the two ``sides``; ``diffs`` are what is in the list."""

    undo_hunk_requested = Signal(object, int)
    undo_file_requested = Signal(object)
    undo_all_requested = Signal(object, object)
    reviewed_toggled = Signal(object, bool)
    editor_requested = Signal(object)
    opened = Signal(object)
    shown = Signal(object)

    def __init__(
        self,
        hub: ThemeHub,
        bridge: Bridge,
        diffs: Diffs,
        parent: QWidget | None = None,
        *,
        now_ms: Callable[[], int] = when.local_now_ms,
        own_window: bool = False,
    ) -> None:
        super().__init__(hub, parent, own_window=own_window)
        self._now_ms = now_ms
        self._chat: ChatId | None = None
        self._timeline: Timeline | None = None
        self._old: Point = Start()
        self._new: Point = NOW
        self._wanted: WorkspacePath | None = None
        self._landing = 0
        """1 or -1 while the first or last hunk of a file is on its way, because the one before or after it was left."""
        self._unfolded: set[WorkspacePath] = set()
        """Generated files that somebody wanted to see."""
        self._put_back: frozenset[WorkspacePath] = frozenset()
        """What an undo or a restore changed just now: whoever did it has said so, with the way back beside it."""
        self._held = ""
        self._reviewed: Sequence[ReviewedFile] = ()
        self.presenter = DiffPresenter(hub, bridge, diffs, self.pane)
        self.lister = ReviewFiles(bridge, diffs, self)
        self._connect()
        bind_keys(self, self)
        bridge.subscribe(self, WorkspaceRestored, self._restored)

    def _connect(self) -> None:
        head = self.head
        self.bar.old_picked.connect(lambda point: self._compare(point, self._new))
        self.bar.new_picked.connect(lambda point: self._compare(self._old, point))
        self.bar.more_wanted.connect(self.open_more)
        self.list.chosen.connect(self._choose)
        self.list.mark_pressed.connect(self.toggle_mark)
        self.list.retry.connect(self._load)
        head.reviewed.connect(lambda _: self.toggle_mark())
        head.previous_hunk.connect(self.previous_hunk)
        head.next_hunk.connect(self.next_hunk)
        head.undo_hunk.connect(self.undo_hunk)
        head.undo_file.connect(self.undo_file)
        head.open_file.connect(self.open_in_editor)
        self.presenter.shown.connect(self._shown)
        self.pane.hunk_changed.connect(self._hunk_changed)
        self.pane.unfolded.connect(self._unfold)
        self.pane.view.undo_hunk_requested.connect(lambda _: self.undo_hunk())
        self.lister.listed.connect(self._listed)
        self.lister.failed.connect(self._not_listed)

    # What is compared.

    @property
    def chat(self) -> ChatId | None:
        """Whose changes are shown."""
        return self._chat

    @property
    def sides(self) -> tuple[Point, Point]:
        """Between what is compared."""
        return self._old, self._new

    @property
    def timeline(self) -> Timeline | None:
        """The chat's turns and entries as they were told last."""
        return self._timeline

    @property
    def diff(self) -> FileDiff | None:
        """The file of the head: as it is shown, or as it is in the list while it is on its way."""
        shown, path = self.pane.diff, self.list.current
        if shown is not None and shown.request.path == path and shown.request.chat == self._chat:
            return shown
        return self.diffs.get(path) if path is not None else None

    def open(
        self,
        title: str,
        timeline: Timeline,
        old: Point | None = None,
        new: Point | None = None,
        path: WorkspacePath | None = None,
    ) -> None:
        """Show a chat's changes between two points (default: from its start to the disk), beginning with a file."""
        if timeline.chat != self._chat:
            self._reviewed, self._all_comments = (), ()
            self._unfolded.clear()
            self.comments.editor.close_field()
            self.comments.set_comments(())
        self._chat = timeline.chat
        self._timeline = timeline
        self._wanted = path
        self.bar.set_title(title)
        self._clear()
        self._compare(old or Start(), new or NOW)

    def refresh(self, timeline: Timeline) -> None:
        """The chat's timeline changed; the sides stay, and the line that is looked at."""
        self._timeline = timeline
        self.bar.set_sides(timeline, self._old, self._new)
        self.look_again()

    def look_again(self) -> None:
        """The files may have changed."""
        if self._chat is not None and self.isVisible():
            self.lister.again()

    def _restored(self, event: WorkspaceRestored) -> None:
        self._put_back = self._put_back.union(event.paths)
        self.look_again()

    def close_chat(self) -> None:
        """Forget the chat, for example because another one is shown."""
        self._chat = None
        self.lister.stop()
        self._clear()

    def _clear(self) -> None:
        self._landing = 0
        self.diffs = {}
        self.presenter.stop()
        self.model.set_entries(())
        self.head.clear()

    def _compare(self, old: Point, new: Point) -> None:
        if self._chat is None or self._timeline is None:
            return
        self._old, self._new = old, new
        self.bar.set_sides(self._timeline, old, new)
        self._load()
        self.opened.emit(self._chat)

    def set_options(self, options: ReviewOptions) -> None:
        """How diffs are shown, and what of whitespace counts."""
        former, self._options = self._options, options
        self.bar.set_options(options)
        review_lines.apply(self.pane, options)
        if former.compare != options.compare:
            self._load()

    # The list.

    def _load(self) -> None:
        if self._chat is None:
            return
        if not self.model.entries:
            self.list.show_loading()
        self.lister.ask((self._chat, self._old, self._new, self._options.compare))

    def _not_listed(self, text: ErrorText) -> None:
        self.list.show_error(text)

    def _listed(self, wanted: Wanted, found: Sequence[FileDiff]) -> None:
        if wanted[:3] != (self._chat, self._old, self._new):
            return
        current = self.list.current
        row = self.model.row_of(current)
        former = self.diffs
        self.diffs = {diff.request.path: _fuller(former.get(diff.request.path), diff) for diff in found}
        self._show_entries()
        if self.hasFocus():
            self.files.setFocus(Qt.FocusReason.OtherFocusReason)
        if not found:
            self.presenter.stop()
            self.head.clear()
            self.pane.show_nothing_to_review()
            return
        put_back = self._put_back
        if not self.lister.goes_on:
            self._put_back = frozenset()
        if current is not None and current not in self.diffs and current not in put_back:
            self.told.emit(tr("{file} is the same on both sides now.", file=file_name(shown_path(current))))
        for path in (self._wanted, current):
            if path is not None and self.model.row_of(path) >= 0:
                break
        else:  # the one that stood below it, or the first one
            entry = self.model.entry_at(max(0, min(row, len(self.model.shown) - 1)))
            path = entry.path if entry is not None else None
        self._wanted = None
        if path is None:
            return
        was_current = self.list.current == path
        self.list.select(path)
        if was_current:
            self._choose(path, at_once=True)

    def _show_entries(self) -> None:
        self.model.set_entries(marked_entries(tuple(self.diffs.values()), self._reviewed, self.comment_counts()))
        self.list.show_entries()
        self._show_mark()

    # The chosen file.

    def _choose(self, path: WorkspacePath, *, at_once: bool = False) -> None:
        diff = self.diffs.get(path)
        if self._chat is None or diff is None:
            return
        self._show_head()
        shown = self.pane.diff
        if at_once and shown is not None and _same(shown, diff) and self.presenter.request == shown.request:
            return  # nothing of it changed: it is not laid out anew under the eyes of whoever reads it
        self.presenter.ask(diff.request, self._labels(), at_once=at_once or self._landing != 0)

    def _labels(self) -> Labels:
        now_ms = self._now_ms()
        return side_label(self._timeline, self._old, now_ms), side_label(self._timeline, self._new, now_ms)

    def _show_head(self) -> None:
        entry = self.model.entry_at(self.model.row_of(self.list.current))
        if entry is None:
            return
        missing = self._timeline is not None and not self._timeline.workspace_found
        lost = tr("The workspace was not found where it was.") if missing else ""
        exact = self._options.compare == EXACT
        self.head.set_file(
            entry,
            why_no_undo=lost or self._held,
            why_no_hunk="" if exact else tr("A hunk can be undone while all whitespace changes are shown."),
            why_no_editor=lost,
        )
        self._show_mark()

    def _show_mark(self) -> None:
        diff = self.diffs.get(self.list.current) if self.list.current is not None else None
        if diff is not None:
            self.head.set_mark(mark_of(diff, self._reviewed), possible=can_mark(diff))
        self.list.show_progress()

    def _shown(self, diff: FileDiff) -> None:
        known = self.diffs.get(diff.request.path)
        news = known is None or (known.before, known.after) != (diff.before, diff.after)
        loaded = known is not None and isinstance(known.result, TooLarge) and not isinstance(diff.result, TooLarge)
        if known is not None and (news or loaded):
            self.diffs[diff.request.path] = diff
            self._show_entries()
        entry = self.model.entry_at(self.model.row_of(diff.request.path))
        if entry is not None:
            self.head.set_counts(entry)
        self._show_head()
        landing, self._landing = self._landing, 0
        index, count = self._hunk_now()
        if landing < 0 and count:
            self.pane.view.go_to_hunk(count - 1)
        else:
            self._hunk_changed(index, count)
        self.shown.emit(diff)

    # Walking.

    def _hunk_changed(self, index: int, count: int) -> None:
        before, after = self._neighbour(-1) is not None, self._neighbour(1) is not None
        self.head.set_hunk(index, count, before=before, after=after)

    def _neighbour(self, step: int) -> WorkspacePath | None:
        return neighbour(self.model.shown, self.model.row_of(self.list.current), step, self._unfolded)

    def next_hunk(self) -> None:
        """The hunk below; after the last one of a file the first one of the next file."""
        self._step_hunk(1)

    def previous_hunk(self) -> None:
        """The hunk above; before the first one of a file the last one of the file before."""
        self._step_hunk(-1)

    def _step_hunk(self, step: int) -> None:
        if self._landing:
            return  # the file that this step would begin in is on its way
        view, shown, here = self.pane.view, self.pane.diff, self.list.current
        if here is not None and here in self.diffs and (shown is None or shown.request.path != here):
            self._landing = step  # it was chosen a moment ago: it is not stepped over
            self._choose(here, at_once=True)
            return
        if 0 <= view.hunk + step < self._hunk_now()[1]:
            view.go_to_hunk(view.hunk + step)
            return
        path = self._neighbour(step)
        if path is None:
            self.told.emit(tr("This is the last change.") if step > 0 else tr("This is the first change."))
            return
        self._landing = step
        self.list.select(path)

    def step_file(self, step: int) -> None:
        """The next or the previous file of the list, generated ones too."""
        entry = self.model.entry_at(self.model.row_of(self.list.current) + step)
        if entry is not None:
            self.list.select(entry.path)

    def _unfold(self) -> None:
        """A generated file is wanted: from now on it is one of those that are walked through."""
        if self.pane.diff is not None:
            self._unfolded.add(self.pane.diff.request.path)

    # Doing.

    def toggle_mark(self, path: WorkspacePath | None = None) -> None:
        """Mark a file (default: the current one) as reviewed, or not any more."""
        diff = self.diffs.get(path) if path is not None else self.diff
        if diff is not None and can_mark(diff):
            self.reviewed_toggled.emit(diff, mark_of(diff, self._reviewed) is not Mark.REVIEWED)
        self._show_mark()  # what is stored is shown, not what was pressed

    def undo_hunk(self) -> None:
        """Take the current hunk back."""
        diff, hunk = self.pane.diff, self.pane.view.hunk
        if diff is not None and self.head.can_undo_hunk and diff.request.path == self.list.current:
            self.undo_hunk_requested.emit(diff, hunk)

    def undo_file(self) -> None:
        """Take the changes of the current file back."""
        if self.diff is not None and self.head.can_undo:
            self.undo_file_requested.emit(self.diff)

    def undo_here(self) -> None:
        """What the focus is on: the hunk in the diff, else the file."""
        self.undo_hunk() if self.pane.isAncestorOf(self.focusWidget() or self) else self.undo_file()

    def open_in_editor(self) -> None:
        """Open the current file with the program for it."""
        if self.diff is not None:
            self.editor_requested.emit(self.diff)

    def set_held(self, why: str, *, can_stop: bool = False) -> None:
        """Why nothing can be undone now, empty if it can; and whether what it waits for can be stopped here."""
        self._held = why
        self.held.say(why)
        self.stop.setVisible(can_stop)
        self._show_head()
        self._hunk_changed(*self._hunk_now())

    def _hunk_now(self) -> tuple[int, int]:
        """The current hunk and how many there are, in what is laid out: a folded file has none."""
        document = self.pane.view.document
        count = len(document.hunks) if document is not None and self.pane.diff is not None else 0
        return (self.pane.view.hunk if count else -1), count

    def open_more(self) -> None:
        """Show the menu at the right end of the bar."""
        self.show_more(
            undo_words=undo_all_words(self._old, self._new),
            why_no_undo=self._held,
            undo_all=lambda: self.undo_all_requested.emit(self._old, self._new),
        )

    # Marks and comments, as they are told.

    def set_reviewed(self, reviewed: Sequence[ReviewedFile]) -> None:
        """Which contents somebody has reviewed."""
        if tuple(reviewed) != tuple(self._reviewed):
            self._reviewed = reviewed
            self._show_entries()

    def set_comments(self, comments: Sequence[Comment]) -> None:
        """All comments of the chat."""
        same = tuple(comments) == tuple(self._all_comments)
        self._all_comments = comments
        self.comments.set_comments(comments)
        self.bar.set_comments(len(comments), shown=self.comments.isVisible())
        if not same:
            self._show_entries()

    # Qt's name below.

    def showEvent(self, event: QShowEvent) -> None:
        # The list gets the focus as soon as it is there; until then the page has it, not the first button of the bar.
        (self.files if self.list.is_listed else self).setFocus(Qt.FocusReason.OtherFocusReason)
        super().showEvent(event)


def _fuller(known: FileDiff | None, told: FileDiff) -> FileDiff:
    """The diff that says more: a large file that was loaded stays so in the list until it changes."""
    large = isinstance(told.result, TooLarge)
    return known if large and known is not None and _same(known, told) else told


def _same(shown: FileDiff, now: FileDiff) -> bool:
    """Whether a file is between the same two contents as it is shown."""
    return (shown.request, shown.before, shown.after) == (now.request, now.before, now.after)
