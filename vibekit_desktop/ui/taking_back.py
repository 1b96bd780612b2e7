"""Restore, undo and redo of the open chat, as its page, its timeline and the keys ask for them; nothing while a turn runs.

What they do is in `operations.checkpoints`. UI thread only.
"""

from collections.abc import Awaitable, Callable, Sequence

from PySide6.QtCore import QObject, Signal

from vibekit_desktop.core.types.checkpoints import BeforeTurn, Point, RestoreReport
from vibekit_desktop.core.types.events import RestoreProgressed, RestoreRecovered, WorkspaceRestored
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath
from vibekit_desktop.ui.bridge import Bridge
from vibekit_desktop.ui.live_desk import LiveDesk
from vibekit_desktop.ui.notify import Notifier
from vibekit_desktop.ui.operations.checkpoints import CheckpointOperations
from vibekit_desktop.ui.operations.open_chat import OpenChat
from vibekit_desktop.ui.operations.outcome import progress_text
from vibekit_desktop.ui.operations.patience import LongWork
from vibekit_desktop.ui.text import tr, tr_n


class TakingBack(QObject):
    """What is taken back in the open chat. ``held_changed(held)``: whether it has to wait; ``open_chat_wanted(chat)``: Show was
    pressed beside news of a restore.

    Invariant: nothing begins while a turn runs in the open chat's workspace."""

    held_changed = Signal(bool)
    open_chat_wanted = Signal(object)

    def __init__(
        self, bridge: Bridge, notifier: Notifier, opened: OpenChat, work: CheckpointOperations, live: LiveDesk
    ) -> None:
        super().__init__(live)
        self._notifier = notifier
        self._open = opened
        self._work = work
        self._live = live
        live.held_changed.connect(lambda: self.held_changed.emit(bool(live.why_held)))
        work.answered.connect(self._answered)
        work.finished.connect(self._finished)
        bridge.subscribe(self, WorkspaceRestored, self._restored)
        bridge.subscribe(self, RestoreRecovered, self._recovered)
        bridge.subscribe(self, RestoreProgressed, self._progressed)
        self._recovering: LongWork | None = None

    def _free(self) -> ChatId | None:
        """The open chat if something in it may be taken back now; else it is said why not."""
        why = self._live.why_held
        if not why:
            return self._open.chat
        self._notifier.toast(why, "info", (tr("Stop"), self._live.stop) if self._live.is_running else None)
        return None

    # What a person asks for.

    def restore_to(self, point: Point) -> None:
        """Restore to a point, after a preview."""
        if (chat := self._free()) is not None:
            self._work.start_restore(chat, point)

    def restore_last(self) -> None:
        """Restore to before the last turn, after a preview."""
        if self._open.last_turn:
            self.restore_to(BeforeTurn(self._open.last_turn))

    def undo_file(self, path: WorkspacePath, point: Point) -> None:
        """Put one file back."""
        if (chat := self._free()) is not None:
            self._work.start_undo_file(chat, path, point)

    def undo(self) -> None:
        """Take back the newest restore or undo of a file."""
        if (chat := self._free()) is not None:
            self._work.start_undo(chat)

    def redo(self) -> None:
        """Take back the newest undo."""
        if (chat := self._free()) is not None:
            self._work.start_redo(chat)

    def leave_unfinished(self) -> None:
        """End a restore that did not end, the files as they are."""
        if self._open.chat is not None:
            self._work.start_leave_unfinished(self._open.chat)

    # At the start.

    async def recover(self, recover: Callable[[], Awaitable[Sequence[RestoreReport]]]) -> None:
        """Finish what a crash interrupted; where that takes long, it is said how far it is."""
        with LongWork(self._notifier, tr("Finishing what was interrupted…")) as self._recovering:
            try:
                await recover()
            finally:
                self._recovering = None

    def _progressed(self, event: RestoreProgressed) -> None:
        if self._recovering is not None:
            done = progress_text(event.step, event.done, event.total)
            self._recovering.say(tr("Finishing a restore that was interrupted. {done}", done=done))

    # What came of it.

    def _finished(self, chat: ChatId, report: RestoreReport) -> None:
        self._live.restored(chat, report.next_prompt)

    def _answered(self, chat: ChatId) -> None:
        # As news of the log, and gathered with those: after an answer that came to nothing, none come by themselves.
        if self._open.view is not None and chat == self._open.chat:
            self._open.history_grew(chat, self._open.view.vault_workspace)

    def _restored(self, event: WorkspaceRestored) -> None:
        view = self._open.view
        if view is not None and (event.chat == view.header.id or event.workspace == view.vault_workspace):
            self._open.refresh()

    def _recovered(self, event: RestoreRecovered) -> None:
        report = event.report
        total = len(report.restored) + len(report.failed)
        text = tr_n(
            "A restore was interrupted. It was completed; {done} of {n} file matches.",
            "A restore was interrupted. It was completed; {done} of {n} files match.",
            total,
            done=len(report.restored),
        )
        kind = "restored" if report.verified and not report.failed else "error"
        self._notifier.toast(text, kind, (tr("Show"), lambda: self.open_chat_wanted.emit(event.chat)), everywhere=True)
