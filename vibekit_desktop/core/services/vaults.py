"""One opened vault: its stores, its lock, and the kernel over its workspace as it is now.

Blocking; used in threads, one operation at a time per vault (`serial.Serial`).
"""

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from vibekit_desktop.core.chat import leftovers, partial
from vibekit_desktop.core.chat.archive import Archive
from vibekit_desktop.core.chat.drafts import Drafts
from vibekit_desktop.core.chat.store import ChatStore
from vibekit_desktop.core.chat.transcripts import StoredTranscripts
from vibekit_desktop.core.checkpoint.kernel import CheckpointKernel
from vibekit_desktop.core.checkpoint.known import Known
from vibekit_desktop.core.checkpoint.vault import VaultStore
from vibekit_desktop.core.disk import folders
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.disk.locks import TurnLock, VaultLock
from vibekit_desktop.core.disk.workspace import Workspace
from vibekit_desktop.core.types.errors import CoreError, InvalidId, RestoreUnfinished, WorkspaceMissing
from vibekit_desktop.core.types.ids import ChatId, VaultId, parse_chat_id
from vibekit_desktop.core.types.settings import Limits

_log = logging.getLogger(__name__)


class WatchedLock(VaultLock):
    """A vault's lock that tells somebody what this process does under it: just after it was taken, and just before it is given
    back. So a watcher can tell our own changes from those of others, who make theirs while we do not hold it."""

    around: Callable[[bool], None] | None = None
    """Called with True when the lock was taken, with False before it goes; in the thread that holds it."""
    used = False
    """Whether this process ever changed the vault."""

    @contextmanager
    def hold(self, timeout_s: float = 5.0) -> Iterator[None]:
        with super().hold(timeout_s):
            self.used = True
            tell = self.around
            if tell is None:
                yield
                return
            tell(True)
            try:
                yield
            finally:
                tell(False)


class OpenVault:
    """A vault's stores together. Invariant: ``workspace_path`` is the folder's text as the library keeps it; the folder itself
    is looked for anew for every kernel, since it may go or come back."""

    def __init__(
        self,
        fs: Fs,
        vault: VaultId,
        folder: Path,
        workspace_path: str,
        *,
        clock: Callable[[], int],
        data_dir: Path,
        home: Path,
        limits: Callable[[], Limits] = Limits,
    ) -> None:
        self.id = vault
        self._limits = limits
        self._home = home
        self._never = (data_dir, folder)
        self.folder = folder
        self.workspace_path = workspace_path
        self.store = VaultStore(fs, folder, clock=clock)
        self.chats = ChatStore(fs, folder, clock=clock)
        self.transcripts = StoredTranscripts(self.chats, clock=clock)
        self.archive = Archive(fs, self.chats, clock=clock)
        self.drafts = Drafts(fs, self.chats)
        self.reviews = self.chats.reviews
        self.notes = self.chats.notes
        self.lock = WatchedLock(fs, folder)
        self._fs = fs
        self._clock = clock
        self._kernel: tuple[tuple[int, int] | None, Limits, CheckpointKernel] | None = None
        self._looked_for_answers = False
        self._news: set[ChatId] = set()

    def now_ms(self) -> int:
        """The moment, by the clock that everything of the vault is written by."""
        return self._clock()

    def workspace(self) -> Workspace | None:
        """The workspace folder, or None while it is not where the library says."""
        if not os.path.isabs(self.workspace_path):
            return None  # recorded on another system, for example `c:\\work`
        try:
            return Workspace.open(self._fs, Path(self.workspace_path), never=self._never)
        except WorkspaceMissing:
            return None

    def was_checked(self) -> bool:
        """Whether the workspace was looked at as a whole before, so that a check reads only what changed."""
        return Known(self._fs, self.store.desktop).saved_ns() > 0

    def kernel(self) -> CheckpointKernel:
        """The checkpoint kernel over the workspace as it is now; the same one, with what it has folded, while the folder and
        the settings are the same."""
        workspace = self.workspace()
        place = workspace.identity if workspace is not None else None
        limits = self._limits()
        if self._kernel is None or self._kernel[:2] != (place, limits):
            kernel = CheckpointKernel(
                self._fs,
                self.store,
                workspace,
                self.transcripts,
                self._clock,
                limits=limits,
                whole=self._may_be_walked(),
            )
            self._kernel = place, limits, kernel
        return self._kernel[2]

    def _may_be_walked(self) -> bool:
        """Not a home folder or a whole disk: a session may have been recorded there, its files are all that is looked at."""
        text = self.workspace_path
        return not folders.same_folder(text, str(self._home)) and not folders.is_disk_root(text)

    def changing_kernel(self, chat: ChatId | None) -> CheckpointKernel:
        """A kernel to change something with: recovery first (docs/storage-format.md 4). The caller holds `lock`.

        Raises `RestoreUnfinished` if a restore of ``chat`` cannot be finished by itself.
        """
        kernel = self.kernel()
        if kernel.needs_recovery():
            kernel.recover(needed=chat)
            for unfinished, reason in kernel.unfinished():
                if chat is None or unfinished == chat:
                    raise RestoreUnfinished(unfinished, reason)
        self._recover_answers(chat)
        self.end_cut_off_turns(kernel)
        return kernel

    # -- what a crash left of turns ------------------------------------------------------------------------------

    def turns_cut_off(self) -> list[tuple[ChatId, int]]:
        """The turns of ours whose process ended without a word. Takes no lock."""
        found: list[tuple[ChatId, int]] = []
        for name in self._fs.list_names(self.store.desktop / "turns"):
            try:
                chat = parse_chat_id(name.removesuffix(".lock"))
                turn = TurnLock(self._fs, self.store.desktop, chat).cut_off() if name.endswith(".lock") else 0
            except (InvalidId, CoreError):
                continue
            if turn:
                found.append((chat, turn))
        return found

    def end_cut_off_turns(self, kernel: CheckpointKernel) -> None:
        """End them, each with a look: what its agent had announced is its own, and what people do from now on is not taken for
        part of it. The caller holds `lock`. What fails, or is cut off in its turn, is tried again before the next change."""
        for chat, turn in self.turns_cut_off():
            try:
                with TurnLock(self._fs, self.store.desktop, chat).hold(turn):
                    # The file names a turn that is about to begin; then the one before it may be the one that is open.
                    opened = kernel.recorder.open_turn(chat)
                    if opened and opened in (turn, turn - 1):
                        kernel.recorder.end_turn(chat)
                        self._news.add(chat)
            except CoreError as error:
                _log.info("turn %s of chat %s stays open: %s", turn, chat, error.code)

    # -- what a crash left of chats ------------------------------------------------------------------------------

    def chats_need_recovery(self) -> bool:
        """Whether a crash left an answer that nobody gives any more, parts that nothing names, or temps. Takes no lock."""
        return bool(partial.interrupted(self.chats)) or leftovers.there_are(self.chats)

    def recover_chats(self) -> None:
        """Put interrupted answers into their chats, and clear away what no chat needs. The caller holds `lock`."""
        self._news.update(partial.recover(self.chats))
        self._looked_for_answers = True
        leftovers.sweep(self.chats)

    def _recover_answers(self, chat: ChatId | None) -> None:
        """Before a change: the first time of every chat, after that of the one that is changed."""
        if not self._looked_for_answers:
            self._news.update(partial.recover(self.chats))
            self._looked_for_answers = True
        elif chat is not None:
            self._news.update(partial.recover(self.chats, [chat]))

    def take_news(self) -> set[ChatId]:
        """The chats that got an interrupted answer since this was last asked; for whoever tells others, while nobody holds
        `lock`."""
        found, self._news = self._news, set()
        return found
