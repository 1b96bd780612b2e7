"""Connect the reviews of a window, and those in windows of their own, to what can be done: undo, marks, comments, export.

What a person can do is in `operations.inverse`, `operations.reviews` and `operations.checkpoints`. UI thread only.
"""

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from vibekit_desktop.core.api import Core
from vibekit_desktop.core.types.agents import LivePhase, LiveState, Prompt
from vibekit_desktop.core.types.checkpoints import Now, Point, Timeline
from vibekit_desktop.core.types.diffs import FileDiff
from vibekit_desktop.core.types.errors import CoreError
from vibekit_desktop.core.types.events import ChatDeleted, HistoryGrew, LiveChanged, WorkspaceRestored
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath
from vibekit_desktop.core.types.reviews import ReviewFormat
from vibekit_desktop.ui.bridge import Bridge
from vibekit_desktop.ui.dialogs.save_file import ask_for_place, documents
from vibekit_desktop.ui.error_text import sentence
from vibekit_desktop.ui.live_desk import LiveDesk
from vibekit_desktop.ui.notify import Notifier
from vibekit_desktop.ui.operations.checkpoints import CheckpointOperations
from vibekit_desktop.ui.operations.editor import open_file
from vibekit_desktop.ui.operations.inverse import (
    InverseOperations,
    Wish,
    wish_for_all,
    wish_for_file,
    wish_for_hunk,
    wish_for_turn,
)
from vibekit_desktop.ui.operations.open_chat import OpenChat
from vibekit_desktop.ui.operations.review_settings import ReviewSettings
from vibekit_desktop.ui.operations.reviews import ReviewNotes
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.views.review import ReviewPage
from vibekit_desktop.ui.views.review_window import ReviewWindow
from vibekit_desktop.ui.visible import visible_name
from vibekit_desktop.ui.wording import file_name

_GATHER_MS = 400
"""While a turn runs every capture is news; a review in its own window reads its timeline at most so often."""
_RUNS = (LivePhase.RUNNING, LivePhase.STOPPING)


@dataclass(frozen=True, slots=True, eq=False)
class _Station:
    """One review with all that works for it."""

    page: ReviewPage
    notifier: Notifier
    undo: InverseOperations
    back: CheckpointOperations
    title: str = ""
    workspace: str = ""
    window: ReviewWindow | None = None


class ReviewDesk(QObject):
    """The reviews of one window. ``page`` is the one in it.

    Invariant: nothing is undone in a review while a turn runs in its chat; a window of its own ends with the main one."""

    def __init__(
        self,
        core: Core,
        hub: ThemeHub,
        bridge: Bridge,
        notifier: Notifier,
        window: QWidget,
        opened: OpenChat,
        live: LiveDesk,
        back: CheckpointOperations,
        page: ReviewPage,
    ) -> None:
        super().__init__(window)
        self._core = core
        self._hub = hub
        self._bridge = bridge
        self._window = window
        self._open = opened
        self._live = live
        self.page = page
        self.settings = ReviewSettings(core.settings, bridge, self)
        self.settings.changed.connect(self._liked)
        self._states: dict[ChatId, LiveState] = {}
        self._news = QTimer(self)
        self._news.setSingleShot(True)
        self._news.setInterval(_GATHER_MS)
        self._news.timeout.connect(self._read_timelines)
        undo = InverseOperations(hub, bridge, core, notifier, window)
        self._main = _Station(page, notifier, undo, back)
        self._own: list[_Station] = []
        self._connect(self._main)
        back.turn_only_wanted.connect(lambda chat, path, turn: self._undo(self._main, wish_for_turn(chat, path, turn)))
        live.held_changed.connect(lambda _: self._hold())
        bridge.subscribe(self, LiveChanged, self._live_changed)
        bridge.subscribe(self, HistoryGrew, lambda event: self._grew(event.chat))
        bridge.subscribe(self, WorkspaceRestored, lambda event: self._grew(event.chat))
        bridge.subscribe(self, ChatDeleted, lambda event: self._gone(event.chat))

    # Showing.

    def open(self, old: Point | None, new: Point | None, path: WorkspacePath | None) -> bool:
        """Show the changes of the open chat between two points; whether there is one."""
        if self._open.timeline is None or self._open.view is None:
            return False
        self.page.open(self._open.view.header.name, self._open.timeline, old, new, path)
        self._hold()
        return True

    def timeline_read(self, timeline: Timeline) -> None:
        """The timeline of the open chat was read anew."""
        for station in self._stations():
            if station.page.chat == timeline.chat:
                station.page.refresh(timeline)

    def close(self) -> None:
        """The main window is closing."""
        self._news.stop()
        for station in tuple(self._own):
            if station.window is not None:
                station.window.close()

    def _stations(self) -> tuple[_Station, ...]:
        return (self._main, *self._own)

    def _liked(self) -> None:
        for station in self._stations():
            station.page.set_options(self.settings.options)

    # Putting together.

    def _connect(self, station: _Station) -> None:
        page, notifier = station.page, station.notifier
        window: QWidget = self._window if station is self._main else page
        notes = ReviewNotes(
            self._hub,
            self._bridge,
            self._core.reviews,
            notifier,
            page,
            window,
            lambda chat, text: self._send(station, chat, text),
        )
        notes.setObjectName("notes")
        page.set_options(self.settings.options)
        page.options_chosen.connect(self.settings.choose)
        page.told.connect(lambda text: notifier.toast(text, "info"))
        page.undo_hunk_requested.connect(lambda diff, hunk: self._undo(station, wish_for_hunk(diff, hunk)))
        page.undo_file_requested.connect(lambda diff: self._undo_file(station, diff))
        page.undo_all_requested.connect(lambda old, new: self._undo_all(station, old, new))
        page.editor_requested.connect(lambda diff: self._edit(station, diff))
        page.stop_requested.connect(self._live.stop)
        page.export_requested.connect(lambda kind: self._export(station, ReviewFormat(kind)))
        page.own_window_requested.connect(self.open_own_window)
        station.undo.stale.connect(page.look_again)
        station.undo.back_wanted.connect(station.back.start_undo)
        station.undo.compare_wanted.connect(lambda path, point: self._compare(station, path, point))

    def open_own_window(self) -> None:
        """Show the review of the main window in one of its own."""
        main, view = self.page, self._open.view
        if main.timeline is None or view is None:
            return
        page = ReviewPage(self._hub, self._bridge, self._core.diffs, own_window=True)
        window = ReviewWindow(self._hub, page, view.header.name, self._window)
        notifier = Notifier(page, self._hub)
        undo = InverseOperations(self._hub, self._bridge, self._core, notifier, page)
        back = CheckpointOperations(self._hub, self._bridge, self._core, notifier, page)
        station = _Station(page, notifier, undo, back, view.header.name, view.vault_workspace, window)
        self._own.append(station)
        self._connect(station)
        window.undo_requested.connect(lambda: self._take_back(station, redo=False))
        window.redo_requested.connect(lambda: self._take_back(station, redo=True))
        window.came_back.connect(self._news.start)
        window.closed.connect(lambda: self._closed(station))
        old, new = main.sides
        page.open(view.header.name, main.timeline, old, new, main.list.current)
        window.show()
        self._hold()

    @property
    def own_windows(self) -> tuple[ReviewWindow, ...]:
        """The reviews in windows of their own."""
        return tuple(station.window for station in self._own if station.window is not None)

    def _closed(self, station: _Station) -> None:
        if station in self._own:
            self._own.remove(station)
            station.page.close_chat()

    # News.

    def _live_changed(self, event: LiveChanged) -> None:
        self._states[event.state.chat] = event.state
        self._hold()

    def _grew(self, chat: ChatId) -> None:
        if any(station.page.chat == chat for station in self._own) and not self._news.isActive():
            self._news.start()

    def _gone(self, chat: ChatId) -> None:
        self._states.pop(chat, None)
        for station in tuple(self._own):
            if station.page.chat == chat and station.window is not None:
                station.window.close()

    def _read_timelines(self) -> None:
        """Of the chats in windows of their own that are not the open one; that one is read for everybody."""
        for chat in {station.page.chat for station in self._own}:
            if chat is not None:
                self._bridge.spawn(self, self._read_timeline(chat), name="read a timeline for a review")

    async def _read_timeline(self, chat: ChatId) -> None:
        try:
            timeline = await self._core.checkpoints.timeline(chat)
        except CoreError:
            return  # the list of the review says what is wrong when it is asked for the next time
        for station in self._own:
            if station.page.chat == chat:
                station.page.refresh(timeline)

    def _hold(self) -> None:
        for station in self._stations():
            why = self._why_held(station)
            station.page.set_held(why, can_stop=bool(why) and self._stops(station))

    def _stops(self, station: _Station) -> bool:
        """Whether the turn that holds a review back is the open chat's, which can be stopped from here."""
        return station.page.chat == self._open.chat and self._live.is_running

    def _why_held(self, station: _Station) -> str:
        chat = station.page.chat
        if chat is None or chat == self._open.chat:
            return self._live.why_held
        state = self._states.get(chat)
        if state is None or state.phase not in _RUNS:
            return ""
        return tr("Undo and Restore wait until turn {turn} ends.", turn=state.turn or 1)

    # What a person asks for.

    def _undo(self, station: _Station, wish: Wish) -> None:
        why = self._why_held(station)
        if not why:
            station.undo.start(wish)
            return
        stop = (tr("Stop"), self._live.stop) if self._stops(station) else None
        station.notifier.toast(why, "info", stop)

    def _undo_file(self, station: _Station, diff: FileDiff) -> None:
        timeline = station.page.timeline
        self._undo(station, wish_for_file(diff, timeline.last_turn if timeline is not None else 0))

    def _undo_all(self, station: _Station, old: Point, new: Point) -> None:
        if station.page.chat is not None:
            self._undo(station, wish_for_all(station.page.chat, old, new))

    def _take_back(self, station: _Station, *, redo: bool) -> None:
        chat, why = station.page.chat, self._why_held(station)
        if why:
            station.notifier.toast(why, "info")
        elif chat is not None:
            (station.back.start_redo if redo else station.back.start_undo)(chat)

    def _compare(self, station: _Station, path: WorkspacePath, point: Point) -> None:
        if station.page.timeline is not None:
            station.page.open(station.title or self._title(), station.page.timeline, point, Now(), path)

    def _title(self) -> str:
        return self._open.view.header.name if self._open.view is not None else ""

    def _edit(self, station: _Station, diff: FileDiff) -> None:
        view = self._open.view
        workspace = station.workspace or (view.vault_workspace if view is not None else "")
        if workspace:
            open_file(station.notifier, workspace, diff.request.path, diff.after)

    # Comments.

    async def _send(self, station: _Station, chat: ChatId, text: str) -> bool:
        """Say it to the agent; where none can answer it goes into the message field, and is not sent."""
        prompt = Prompt(text=text)
        state = await self._core.live.look(chat)
        if state.phase is not LivePhase.UNAVAILABLE and not state.problem:
            try:
                await self._core.live.prompt(chat, prompt)
            except CoreError as error:
                why = sentence(error).title
            else:
                agent = state.agent or tr("the agent")
                station.notifier.toast(tr("Sent to {agent}", agent=agent), "done")
                return True
        else:
            why = state.problem or tr("No agent answers in this chat yet.")
        if self._live.write(chat, prompt):
            station.notifier.toast(tr("{why} The comments are in the message field.", why=why), "info")
        else:
            QGuiApplication.clipboard().setText(text)
            station.notifier.toast(tr("{why} The comments were copied.", why=why), "info")
        return False

    # Export.

    def _export(self, station: _Station, kind: ReviewFormat) -> None:
        page = station.page
        if page.chat is None:
            return
        endings = {ReviewFormat.PATCH: "patch", ReviewFormat.HTML: "html", ReviewFormat.MARKDOWN: "md"}
        chat, (old, new) = page.chat, page.sides
        ask_for_place(
            page.window(),
            tr("Export this review"),
            documents(),
            f"review.{endings[kind]}",
            lambda place: self._start_export(station, chat, old, new, kind, place),
        )

    def _start_export(self, station: _Station, chat: ChatId, old: Point, new: Point, kind: ReviewFormat, place: str) -> None:
        paths = tuple(entry.path for entry in station.page.model.shown) if station.page.list.is_filtered else ()
        compare = self.settings.options.compare

        async def work() -> None:
            try:
                made = await self._core.exports.review(chat, old, new, paths, kind, compare=compare)
                saved = await self._core.exports.save(made, Path(place))
            except CoreError as error:
                station.notifier.toast(sentence(error).sentence, "error")
                return
            station.notifier.toast(tr("Saved {file}", file=file_name(visible_name(saved.as_posix()))), "done")

        self._bridge.spawn(self, work(), name="export a review")
