"""Say that a program deletes its chats by itself, and that those opened here are kept; keep all of them if that is wanted.

UI thread only.
"""

import asyncio

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from vibekit_desktop.core.api import Core
from vibekit_desktop.core.types.errors import CoreError
from vibekit_desktop.core.types.sources import ImportReport, SourceSummary
from vibekit_desktop.ui.bridge import Bridge
from vibekit_desktop.ui.dialogs.question import Choice, Question
from vibekit_desktop.ui.error_text import sentence
from vibekit_desktop.ui.models.banners import deletes_text
from vibekit_desktop.ui.notify import Notifier
from vibekit_desktop.ui.operations.open_chat import OpenChat
from vibekit_desktop.ui.operations.patience import LongWork
from vibekit_desktop.ui.text import tr, tr_n
from vibekit_desktop.ui.theme.palette import ThemeHub
from vibekit_desktop.ui.told import Told
from vibekit_desktop.ui.visible import one_line

MOST_DAYS = 400
"""Who has set a longer time knows of it."""
_NAME_CHARS = 40


class KeepOperations(QObject):
    """``cleanup_known(program, days)``: the program whose chat is open deletes it so many days after it was used last; an empty
    name: it does not, or that was told.

    Invariant: a program is told of until a person has asked for more, and then never again.
    """

    cleanup_known = Signal(str, int)

    def __init__(
        self, core: Core, hub: ThemeHub, bridge: Bridge, notifier: Notifier, window: QWidget, opened: OpenChat, told: Told
    ) -> None:
        super().__init__(window)
        self._core = core
        self._hub = hub
        self._bridge = bridge
        self._notifier = notifier
        self._window = window
        self._open = opened
        self._told = told
        self._sources: dict[str, SourceSummary] = {}
        self._asking = False
        for shown in (opened.opened, opened.read_again):
            shown.connect(lambda _view: self._look())
        told.changed.connect(self._tell)

    # Whether there is something to be told.

    @property
    def _source(self) -> str:
        """The program that the open chat comes from; empty for one of ours."""
        return self._open.view.header.source if self._open.view is not None else ""

    def _look(self) -> None:
        name = self._source
        self._tell()  # what was said of the chat before is not said of this one
        if not name or name in self._told.words or name in self._sources:
            return

        async def work() -> None:
            try:
                found = await self._core.histories.sources()
            except CoreError:
                return  # whoever lists the chats says what is wrong
            self._sources.update((one.name, one) for one in found)
            self._tell()

        self._bridge.spawn(self, work(), name="see which chats are deleted")

    def _tell(self) -> None:
        found = self._sources.get(self._source)
        cleanup = found.cleanup if found is not None and found.name not in self._told.words else None
        if found is None or cleanup is None or cleanup.days > MOST_DAYS:
            self.cleanup_known.emit("", 0)
        else:
            self.cleanup_known.emit(one_line(found.label, _NAME_CHARS), cleanup.days)

    # More about it.

    def explain(self) -> None:
        """Say what is deleted and what is kept, and offer to keep all."""
        found = self._sources.get(self._source)
        if found is not None and found.cleanup is not None and not self._asking:
            self._asking = True
            self._bridge.spawn(self, self._explain(found), name="explain what is kept")

    async def _explain(self, found: SourceSummary) -> None:
        choices = [Choice("", tr("Close")), Choice("keep", tr("Keep all of them"), "primary")]
        try:
            title, text = explanation(found)
            answer = await Question(self._hub, self._window, title, text, choices, icon="archive").ask()
        finally:
            self._asking = False
        self._told.add(found.name)
        if answer == "keep":
            await self._keep(found)

    async def _keep(self, found: SourceSummary) -> None:
        label = one_line(found.label, _NAME_CHARS)

        def told(done: int, total: int) -> None:
            waiting.say(tr("Keeping the chats of {program}: {done} of {total}…", program=label, done=done, total=total))

        async def work() -> tuple[str, str]:
            try:
                return outcome(await self._core.histories.keep_all(found.name, told))
            except CoreError as error:
                return sentence(error).sentence, "error"

        def stop() -> None:
            task.cancel()

        task = self._bridge.spawn(self, work(), name="keep all chats of a program")
        waiting = LongWork(self._notifier, tr("Keeping the chats of {program}…", program=label), stop)
        try:
            with waiting:
                text, kind = await task
        except asyncio.CancelledError:
            own = asyncio.current_task()
            if own is None or own.cancelling():
                raise
            text, kind = tr("Stopped. What was read until now is kept here."), "info"
        self._notifier.toast(text, kind, everywhere=True)


def explanation(found: SourceSummary) -> tuple[str, str]:
    """What a program deletes and what is kept here: a title, and a text."""
    label = one_line(found.label, _NAME_CHARS)
    days, setting = (found.cleanup.days, found.cleanup.setting) if found.cleanup is not None else (0, "")
    deletes = tr_n(
        "When {program} starts, it deletes the chats that nobody used for {n} day ({setting} in its settings).",
        "When {program} starts, it deletes the chats that nobody used for {n} days ({setting} in its settings).",
        days,
        program=label,
        setting=setting,
    )
    kept = tr(
        "A chat that was opened here is kept here, with what is recorded of its turns. One that is only in the list is read "
        "where it is, and goes when {program} deletes it.",
        program=label,
    )
    return deletes_text(label, days), f"{deletes}\n{kept}"


def outcome(report: ImportReport) -> tuple[str, str]:
    """What keeping all of them did, in words, and what kind of news that is."""
    kept = len(report.imported) + len(report.updated) + len(report.unchanged)
    text = tr_n("{n} chat is kept here.", "{n} chats are kept here.", kept)
    if not report.failed:
        return text, "done"
    unread = tr("{n} could not be read: {why}", n=len(report.failed), why=report.failed[0].reason)
    return f"{text} {unread}", "error"
