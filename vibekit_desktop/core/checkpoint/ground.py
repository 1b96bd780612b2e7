"""What a restore works on: one vault, its workspace, its transcripts, the clock. Values and ports only."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from vibekit_desktop.core.checkpoint.known import Known
from vibekit_desktop.core.checkpoint.vault import VaultStore
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.disk.workspace import Workspace
from vibekit_desktop.core.types.chats import TranscriptShape
from vibekit_desktop.core.types.errors import WorkspaceMissing
from vibekit_desktop.core.types.ids import ChatId
from vibekit_desktop.core.types.settings import Limits


class Transcripts(Protocol):
    """The chat files, as far as a restore concerns them. Every change is durable when it returns, and harmless twice."""

    def shape(self, chat: ChatId) -> TranscriptShape:
        """Length and prompts of a transcript; all zero if there is no chat file."""

    def keep_as_branch(self, chat: ChatId, branch: ChatId, *, keep: int, first_turn: int) -> None:
        """Put the whole present transcript aside as the chat ``branch``."""

    def cut(self, chat: ChatId, *, keep: int, branch: ChatId, first_turn: int, last_turn: int) -> None:
        """Leave the first ``keep`` messages; say that the turns from first to last are in ``branch``."""

    def branch(self, chat: ChatId, branch: ChatId, *, keep: int, first_turn: int) -> None:
        """Make the chat ``branch`` of the first ``keep`` messages."""

    def bring_back(self, chat: ChatId, branch: ChatId) -> None:
        """Make the branch's messages the chat's again; the branch goes if it is unchanged since."""


@dataclass(frozen=True, slots=True)
class Ground:
    """The parts, given once. ``limits`` hold for what no restore is about to lose: the largest file that is stored, the largest
    one that git does not have and a look copies, and all of these copies. ``whole``: the workspace may be walked; not so for a
    home folder or a whole disk."""

    fs: Fs
    vault: VaultStore
    workspace: Workspace | None
    transcripts: Transcripts
    clock: Callable[[], int]
    known: Known
    limits: Limits
    whole: bool

    def folder(self) -> Workspace:
        """The workspace; `WorkspaceMissing` if there is none."""
        if self.workspace is None:
            raise WorkspaceMissing("")
        return self.workspace
