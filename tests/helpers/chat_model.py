"""What chats are after any operation on them, in plain data: the reference for tests of the whole store.

Made from the description of the operations alone; it knows no files, logs or parts. A message is known by its ``key``: what was
said, which tests make unique, and for a copy that a merge made, the branch it came from.
"""

from dataclasses import dataclass, field, replace

NAMELESS = "New chat"
NAME_BYTES = 512
LATE_MS = 10 * 60 * 1000
Key = tuple[str, ...]


@dataclass(frozen=True)
class Said:
    """One message."""

    key: Key
    role: str
    text: str
    turn: int = 0
    tag: str = ""


@dataclass
class Talk:
    """One chat."""

    name: str = ""
    said: list[Said] = field(default_factory=list)
    parent: str = ""
    rewind: int = 0
    updated: int = 0
    archived: int = 0
    pinned: bool = False
    draft: str = ""
    summary: str = ""
    kept: list[str] = field(default_factory=list)
    """The chats that hold what restores cut away, oldest cut first."""


@dataclass
class Chats:
    """All chats of one vault. Each method is one operation; it says in plain words why it is refused, or nothing."""

    talks: dict[str, Talk] = field(default_factory=dict)
    gone: dict[str, int] = field(default_factory=dict)
    """When which chat was deleted."""

    def listed(self, *, archived: bool = False) -> list[str]:
        found = [chat for chat, talk in self.talks.items() if bool(talk.archived) is archived]
        return sorted(found, key=lambda chat: (-self.talks[chat].updated, chat))

    def children(self, chat: str) -> list[str]:
        return [one for one, talk in self.talks.items() if talk.parent == chat]

    def late(self, chat: str, now: int) -> bool:
        """Whether the chat went so lately that it cannot be made again."""
        return chat not in self.talks and chat in self.gone and now - self.gone[chat] <= LATE_MS

    # -- what is said ------------------------------------------------------------------------------------------------

    def begin(self, chat: str, prompt: str, turn: int, now: int) -> None:
        talk = self.talks.setdefault(chat, Talk())
        talk.archived = 0
        talk.said.append(Said((prompt,), "user", prompt, turn))
        if talk.name in ("", NAMELESS):
            talk.name = prompt.split("\n")[0][:NAME_BYTES].strip()
        talk.updated = now

    def say(self, chat: str, role: str, text: str, now: int, turn: int = 0) -> None:
        talk = self.talks[chat]
        talk.said.append(Said((text,), role, text, turn))
        talk.updated = now

    def change(self, chat: str, index: int, text: str, now: int) -> None:
        talk = self.talks[chat]
        talk.said[index] = replace(talk.said[index], text=text)
        talk.updated = now

    def tag(self, chat: str, tag: str, now: int) -> None:
        """A capture: the first of a turn is stamped on the turn's prompt."""
        talk = self.talks[chat]
        talk.archived = 0
        for index, one in enumerate(talk.said):
            if one.role == "user" and "." not in tag and one.turn == int(tag) and one.key[0] != "merged":
                if not one.tag:
                    talk.said[index] = replace(one, tag=tag)
                    talk.updated = now
                return

    # -- branches ----------------------------------------------------------------------------------------------------

    def branch(self, chat: str, new: str, keep: int, turn: int, now: int) -> None:
        talk = self.talks[chat]
        self.talks[new] = Talk(f"Branch: {talk.name}"[:NAME_BYTES], talk.said[:keep], parent=chat, rewind=turn, updated=now)

    def cut(self, chat: str, new: str, keep: int, turn: int, now: int) -> None:
        """A restore of the conversation: what is cut away is in a branch that has the whole of it."""
        self.branch(chat, new, len(self.talks[chat].said), turn, now)
        talk = self.talks[chat]
        talk.said, talk.updated = talk.said[:keep], now
        talk.kept.append(new)

    def uncut(self, chat: str, now: int) -> None:
        """The undo of the newest cut: its branch goes unless somebody changed it or branched from it."""
        talk = self.talks[chat]
        branch = talk.kept.pop()
        kept = self.talks[branch]
        untouched = kept.parent == chat and not self.children(branch) and not self.changed_since(branch)
        talk.said, talk.updated = list(kept.said), now
        if untouched:
            self._remove(branch, now)

    made: dict[str, int] = field(default_factory=dict)

    def changed_since(self, branch: str) -> bool:
        """Whether a chat has news since it was made."""
        return self.talks[branch].updated != self.made.get(branch, self.talks[branch].updated)

    def promote(self, chat: str, now: int) -> None:
        talk = self.talks[chat]
        parent = talk.parent
        for sibling in self.children(parent):
            if sibling != chat:
                self._hand_over(sibling, chat, talk.rewind)
        talk.parent, talk.rewind = "", 0
        if parent in self.talks and not self.talks[parent].archived:
            self.archive(parent, now)

    def fresh(self, chat: str) -> tuple[bool, list[Said]]:
        """Whether a branch says anything of its own, and the messages that a merge would copy."""
        branch, parent = self.talks[chat], self.talks[self.talks[chat].parent]
        shared = 0
        while shared < min(len(branch.said), len(parent.said)) and branch.said[shared].key == parent.said[shared].key:
            shared += 1
        known = {one.key for one in parent.said}
        own = branch.said[shared:]
        return bool(own), [one for one in own if ("merged", chat, *one.key) not in known]

    def merge(self, chat: str, now: int) -> None:
        branch = self.talks[chat]
        parent = self.talks[branch.parent]
        _, fresh = self.fresh(chat)
        if fresh:
            parent.said += [replace(one, key=("merged", chat, *one.key), turn=0, tag="") for one in fresh]
            row = f"{branch.name} ({chat})"
            parent.said.append(Said(("merged", chat, "merged", chat, *fresh[-1].key), "event", row))
            parent.updated = now
        if not branch.archived:
            self.archive(chat, now)

    def _hand_over(self, child: str, parent: str, turn: int) -> None:
        talk = self.talks[child]
        talk.parent = parent
        talk.rewind = min([one for one in (talk.rewind, turn) if one], default=0) if parent else 0

    # -- coming and going --------------------------------------------------------------------------------------------

    def archive(self, chat: str, now: int) -> None:
        if not self.talks[chat].archived:
            self.talks[chat].archived = now

    def delete(self, chat: str, now: int, *, keep_branches: bool) -> None:
        if not keep_branches:
            for child in self.children(chat):
                if child in self.talks:
                    self.delete(child, now, keep_branches=False)
        talk = self.talks[chat]
        parent = talk.parent if talk.parent in self.talks else ""
        for child in self.children(chat):
            self._hand_over(child, parent, talk.rewind)
        self._remove(chat, now)

    def _remove(self, chat: str, now: int) -> None:
        del self.talks[chat]
        self.gone[chat] = now
        for talk in self.talks.values():
            talk.kept = [one for one in talk.kept if one != chat]

    def purge(self, limit: int, now: int) -> None:
        for chat in [chat for chat, talk in self.talks.items() if talk.archived and talk.archived < limit]:
            self.delete(chat, now, keep_branches=True)
