"""What happens to a chat together with its branches: delete, promote, discard, merge.

Blocking; the caller holds the vault's lock. Branches refer to their parent by id, so every order here is such that a crash
between any two steps leaves no chat that names one which is not there:

| operation | steps, each durable; the one in capitals decides | a crash before the last one leaves |
| --- | --- | --- |
| delete a chat | its source's row hidden; nobody names it any longer for turns it keeps; log retired; CHAT FILE GONE, then
its draft and parts; logs that nobody needs dropped | the chat, to be deleted again |
| delete a family | each branch, deepest first, as above; one that stays gets another parent; the chat | fewer branches |
| promote | siblings get the branch as parent; it gets the parent's open comments; IT HAS NONE; the parent is archived | more
branches, or both in the list |
| merge | THE PARENT HAS THE MESSAGES, and gets the comments; the branch is archived | both in the list; merging again adds
nothing twice |
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec

from vibekit_desktop.core.chat import merging
from vibekit_desktop.core.disk import faults
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.disk.locks import TurnLock
from vibekit_desktop.core.services.shelf import Shelf
from vibekit_desktop.core.services.vaults import OpenVault
from vibekit_desktop.core.types.chats import Chat, Message
from vibekit_desktop.core.types.errors import Busy, ChatNotFound, CoreError, InvalidId, NotABranch, NothingToMerge
from vibekit_desktop.core.types.ids import ChatId, parse_chat_id
from vibekit_desktop.core.types.removals import NotRemoved

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Outcome:
    """What was done, for those who tell it."""

    deleted: list[ChatId] = field(default_factory=list)
    updated: list[ChatId] = field(default_factory=list)
    archived: list[ChatId] = field(default_factory=list)
    reviewed: list[ChatId] = field(default_factory=list)
    """These got marks or comments of another chat."""
    appended: list[Message] = field(default_factory=list)
    """To the chat that ``parent`` is."""
    failed: list[NotRemoved] = field(default_factory=list)
    parent: ChatId | None = None


class Families:
    """The operations, over one vault at a time."""

    def __init__(self, fs: Fs, shelf: Shelf, *, clock: Callable[[], int]) -> None:
        self._fs = fs
        self._shelf = shelf
        self._clock = clock

    def running(self, vault: OpenVault, chat: ChatId) -> str:
        """The turn that a process of ours runs in the chat, as text; empty if none does."""
        return TurnLock(self._fs, vault.store.desktop, chat).running()

    def refuse_running(self, vault: OpenVault, chat: ChatId) -> None:
        """`Busy` while a turn of the chat runs."""
        turn = self.running(vault, chat)
        if turn:
            raise Busy(f"turn {turn} of chat {chat}")

    # -- delete ------------------------------------------------------------------------------------------------------

    def delete(self, vault: OpenVault, chat: ChatId, *, keep_branches: bool) -> Outcome:
        """Delete a chat and its branches, or only the chat."""
        if not vault.chats.where(chat):
            raise ChatNotFound(chat)
        self.refuse_running(vault, chat)
        outcome = Outcome(parent=parent_of(vault, chat))
        self._take_back_logs(vault)
        if not keep_branches:
            for child in vault.chats.children(chat):
                self._delete_below(vault, child, outcome, {chat})
        self._give_away_children(vault, chat, outcome)
        self._remove(vault, chat)
        outcome.deleted.append(chat)
        vault.kernel().retire(chat)
        gone = set(outcome.deleted)
        outcome.updated = [one for one in dict.fromkeys(outcome.updated) if one not in gone]
        return outcome

    def _delete_below(self, vault: OpenVault, chat: ChatId, outcome: Outcome, above: set[ChatId]) -> None:
        """A branch and its branches; one that cannot be deleted is named and hides no other. ``above``: where a file that names
        its own branch as its parent would lead round and round."""
        if chat in above:
            return
        for child in vault.chats.children(chat):
            self._delete_below(vault, child, outcome, {*above, chat})
        try:
            self.refuse_running(vault, chat)
            self._give_away_children(vault, chat, outcome)
            self._remove(vault, chat)
        except CoreError as error:
            _log.info("branch %s was not deleted: %s", chat, error.code)
            outcome.failed.append(NotRemoved(chat, error.code))
        else:
            outcome.deleted.append(chat)

    def _remove(self, vault: OpenVault, chat: ChatId) -> None:
        """One chat, for good. The chat file is the commit point."""
        if _came_from_a_source(vault, chat):
            faults.point("family.hide")
            self._shelf.hide([chat])
        self._forget_kept_turns(vault, chat)
        faults.point("family.retire")
        vault.store.retire(chat)
        faults.point("family.remove")
        try:
            vault.chats.delete(chat)
        except CoreError:
            vault.store.take_back_up(chat)
            raise

    def _take_back_logs(self, vault: OpenVault) -> None:
        """A crash left a chat whose log is retired: it is there after all, so its log must not be dropped."""
        for chat in vault.store.retired_chats():
            if vault.chats.where(chat):
                vault.store.take_back_up(chat)

    def _forget_kept_turns(self, vault: OpenVault, chat: ChatId) -> None:
        """No chat says any longer that turns which were cut away from it are in this one."""

        def forget(found: Chat) -> Chat | None:
            left = tuple(entry for entry in found.removed_turns if entry[2] != chat)
            return None if left == found.removed_turns else msgspec.structs.replace(found, removed_turns=left)

        rows = (*vault.chats.list(), *vault.chats.list(archived=True))
        for keeper in [row.id for row in rows if chat in row.keeps_in]:
            faults.point("family.forget")
            try:
                amend(vault, keeper, forget)
            except CoreError as error:
                _log.info("chat %s still names its branch %s: %s", keeper, chat, error.code)  # damaged: shown as what it is

    def _give_away_children(self, vault: OpenVault, chat: ChatId, outcome: Outcome) -> None:
        """The branches that stay become those of the chat's parent, or chats of their own."""
        children = vault.chats.children(chat)
        if not children:
            return
        parent = parent_of(vault, chat)
        if parent is not None and not vault.chats.where(parent):
            parent = None
        header = vault.chats.header(chat)
        turn = header.rewind_from_turn if header is not None else 0
        for child in children:
            try:
                self._hand_over(vault, child, parent, turn)
                outcome.updated.append(child)
            except CoreError as error:
                _log.info("branch %s still names chat %s: %s", child, chat, error.code)

    def _hand_over(self, vault: OpenVault, child: ChatId, parent: ChatId | None, turn: int) -> None:
        """Give a branch another parent, with which it shares what came before ``turn`` at most."""

        def move(found: Chat) -> Chat:
            shared = [one for one in (found.rewind_from_turn, turn) if one]
            from_turn = min(shared, default=0) if parent is not None else 0
            return msgspec.structs.replace(found, parent_chat_id=parent or "", rewind_from_turn=from_turn)

        faults.point("family.hand-over")
        amend(vault, child, move)

    # -- branches ----------------------------------------------------------------------------------------------------

    def promote(self, vault: OpenVault, chat: ChatId) -> Outcome:
        """A branch takes its parent's place."""
        parent = _parent_or_refuse(vault, chat)
        there = bool(vault.chats.where(parent))
        if there:
            self.refuse_running(vault, parent)
        outcome = Outcome(parent=parent)
        own = vault.chats.header(chat)
        turn = own.rewind_from_turn if own is not None else 0
        for sibling in vault.chats.children(parent):
            if sibling != chat:
                self._hand_over(vault, sibling, chat, turn)
                outcome.updated.append(sibling)

        def free(found: Chat) -> Chat:
            return msgspec.structs.replace(found, parent_chat_id="", rewind_from_turn=0)

        if there and vault.reviews.carry(parent, chat, told=False):
            outcome.reviewed.append(chat)
        faults.point("family.promote")
        amend(vault, chat, free)
        outcome.updated.append(chat)
        if there and vault.chats.where(parent) == "active":
            faults.point("family.archive")
            vault.archive.archive(parent)
            outcome.archived.append(parent)
        return outcome

    def discard(self, vault: OpenVault, chat: ChatId) -> Outcome:
        """Delete a branch; what branched from it stays."""
        parent = _parent_or_refuse(vault, chat)
        outcome = self.delete(vault, chat, keep_branches=True)
        outcome.parent = parent
        if vault.chats.where(parent):
            outcome.updated.append(parent)
        return outcome

    def merge(self, vault: OpenVault, chat: ChatId) -> Outcome:
        """What only the branch says goes to its parent's end."""
        parent = _parent_or_refuse(vault, chat)
        for one in (parent, chat):
            if not vault.chats.where(one):
                raise ChatNotFound(one)
            self.refuse_running(vault, one)
        branch, base = (vault.chats.whole(vault.chats.load(one)[0]) for one in (chat, parent))
        own = merging.own_messages(base.messages or (), branch.messages or ())
        if not own:
            raise NothingToMerge(chat)
        fresh = merging.to_append(base.messages or (), own, branch, now=self._clock())
        outcome = Outcome(parent=parent, appended=list(fresh))
        if fresh:

            def add(found: Chat, _exists: bool) -> Chat:
                # From now on it is more than its source knows, so it follows it no longer.
                messages = (*(found.messages or ()), *fresh)
                return msgspec.structs.replace(found, messages=messages, cut=found.cut or bool(found.source))

            faults.point("family.merge")
            vault.chats.mutate(parent, add, anywhere=True)
            outcome.updated.append(parent)
        if vault.reviews.carry(chat, parent, told=True):
            outcome.reviewed.append(parent)
        if vault.chats.where(chat) == "active":
            faults.point("family.archive")
            vault.archive.archive(chat)
            outcome.archived.append(chat)
        return outcome


def amend(vault: OpenVault, chat: ChatId, change: Callable[[Chat], Chat | None]) -> bool:
    """Change a chat where it is, in the list or in the archive, its date as it was; whether anything was written. It is no news
    of the conversation."""
    return vault.chats.mutate(chat, lambda found, _exists: change(found), keep_date=True, anywhere=True).written


def parent_of(vault: OpenVault, chat: ChatId) -> ChatId | None:
    """The chat that a chat names as its parent, there or not."""
    header = vault.chats.header(chat)
    return header.parent_chat_id if header is not None else None


def _parent_or_refuse(vault: OpenVault, chat: ChatId) -> ChatId:
    loaded = vault.chats.load(chat)[0]  # a damaged chat is told before anything is done
    try:
        return parse_chat_id(loaded.parent_chat_id)
    except InvalidId as error:
        raise NotABranch(chat) from error


def _came_from_a_source(vault: OpenVault, chat: ChatId) -> bool:
    """Also where the file is too damaged to say so: hiding a row that there is not does no harm."""
    header = vault.chats.header(chat)
    return header is not None and bool(header.source or header.problem)
