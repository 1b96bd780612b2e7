"""What a row of the chat list is, and how rows come about: groups, branches under their chats, filters. Pure; any thread."""

import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache

from rapidfuzz import process

from vibekit_desktop.core.types.agents import LiveState
from vibekit_desktop.core.types.chats import ChatHeader, ChatStatus
from vibekit_desktop.core.types.ids import ChatId
from vibekit_desktop.ui import when
from vibekit_desktop.ui.models.damage_words import damage_in_row
from vibekit_desktop.ui.models.running import BUSY
from vibekit_desktop.ui.text import tr, tr_n
from vibekit_desktop.ui.visible import one_line
from vibekit_desktop.ui.wording import workspace_name

FILE_SIGN = "file:"
"""A word of the filter that begins so is about the files that a chat touched."""
_COMPARED = 20_000
_MEANT_SCORE = 70
_MEANT_LEAST = 3
"""A shorter word is like too many others."""


@dataclass(frozen=True, slots=True)
class GroupRow:
    """A header over chats. Equal texts are the same row."""

    key: str
    text: str


class Mark(StrEnum):
    """What a chat's agent is doing, as far as the list tells it."""

    NONE = ""
    RUNNING = "running"
    NEEDS_YOU = "needs-you"


def mark_of(state: LiveState) -> Mark:
    """What the list says of a live chat: a question goes before a turn that runs."""
    if state.questions:
        return Mark.NEEDS_YOU
    return Mark.RUNNING if state.turn and state.phase in BUSY else Mark.NONE


@dataclass(frozen=True, slots=True)
class ChatRow:
    """One chat; ``depth`` 1 = a branch under its parent. ``of`` is the parent's title, where the parent is known."""

    key: str
    header: ChatHeader
    depth: int
    mark: Mark = Mark.NONE
    unread: bool = False
    of: str = ""


Row = GroupRow | ChatRow


class Quality(StrEnum):
    """What the filter menu can ask of a chat."""

    NEEDS_YOU = "needs-you"
    RUNNING = "running"
    UNREAD = "unread"
    BRANCH = "branch"
    DAMAGED = "damaged"
    FOUND = "found"


@dataclass(frozen=True, slots=True)
class Filter:
    """What the list shows: chats that fit every part that is set. ``text`` as it was typed."""

    text: str = ""
    agents: frozenset[str] = frozenset()
    qualities: frozenset[Quality] = frozenset()

    @property
    def words(self) -> tuple[str, ...]:
        """What titles, agents and workspaces must contain, each one somewhere."""
        return tuple(word for word in plain(self.text).split() if not word.startswith(FILE_SIGN))

    @property
    def files(self) -> tuple[str, ...]:
        """What the path of a touched file must contain, each one in some path."""
        words = plain(self.text).split()
        return tuple(word.removeprefix(FILE_SIGN) for word in words if word.startswith(FILE_SIGN) and word != FILE_SIGN)

    @property
    def narrows(self) -> bool:
        """Whether a menu of the filter is set."""
        return bool(self.agents or self.qualities)

    @property
    def is_set(self) -> bool:
        """Whether anything is asked of the chats."""
        return bool(self.words or self.files or self.narrows)


def plain(text: str) -> str:
    """A text as it is compared: in no case, without accents."""
    if text.isascii():
        return text.casefold()
    bare = unicodedata.normalize("NFKD", text.casefold())
    accents = [sign for sign in set(bare) if sign > "\x7f" and unicodedata.combining(sign)]
    for accent in accents:
        bare = bare.replace(accent, "")
    return bare


@lru_cache(maxsize=_COMPARED)
def _compared(title: str, agent: str, workspace: str) -> str:
    """What the words of the filter are looked for in. Thousands of chats are compared at every key that is typed."""
    return plain(f"{title}\n{agent}\n{workspace_name(workspace)}")


def title_of(header: ChatHeader) -> str:
    """The title a row shows; a damaged chat without one has its file's name, any other its id."""
    title = one_line(header.name)
    if header.status is ChatStatus.DAMAGED and title in ("", header.id):
        return f"{header.id}.json"
    return title or tr("Chat {id}", id=header.id[:8])


def qualities_of(row: ChatRow) -> frozenset[Quality]:
    """What can be asked of a chat and is true of it."""
    header = row.header
    found = {
        Quality.NEEDS_YOU: row.mark is Mark.NEEDS_YOU,
        Quality.RUNNING: row.mark is not Mark.NONE,
        Quality.UNREAD: row.unread,
        Quality.BRANCH: header.parent_chat_id is not None,
        Quality.DAMAGED: header.status is ChatStatus.DAMAGED,
        Quality.FOUND: header.status is ChatStatus.FOUND,
    }
    return frozenset(quality for quality, is_so in found.items() if is_so)


def from_turn(header: ChatHeader) -> str:
    """Where a branch left its chat, as its row says it; a branch at a message has no turn to name."""
    return tr("From turn {turn}", turn=header.rewind_from_turn) if header.rewind_from_turn > 0 else tr("Branch")


def spoken(row: ChatRow, now_ms: int) -> str:
    """The whole row as one phrase, for assistive technology."""
    header = row.header
    title = title_of(header)
    if header.parent_chat_id is None:
        parts = [tr("Chat: {title}", title=title)]
    else:
        parts = [tr("Branch of {title}", title=row.of) if row.of else tr("Branch: {title}", title=title)]
        if header.rewind_from_turn > 0:
            parts.append(tr("from turn {turn}", turn=header.rewind_from_turn))
        if row.of and row.of != title:
            parts.append(title)
    parts += [one_line(header.agent), workspace_name(header.workspace), when.spoken_age(header.updated_at, now_ms)]
    if header.lines_added:
        parts.append(tr_n("1 line added", "{n} lines added", header.lines_added))
    if header.lines_removed:
        parts.append(tr("{n} deleted", n=header.lines_removed))
    if header.status is ChatStatus.DAMAGED:
        parts.append(tr("damaged: {problem}", problem=damage_in_row(header)))
    parts.append({Mark.NEEDS_YOU: tr("needs you"), Mark.RUNNING: tr("running"), Mark.NONE: ""}[row.mark])
    parts.append(tr("unread") if row.unread else "")
    parts.append(tr("pinned") if header.pinned_at and not header.archived else "")
    return ", ".join(part for part in parts if part)


def tool_tip(header: ChatHeader, *, title_is_cut: bool = False) -> str:
    """When it was changed last in full, where it works, and what is special about it; the whole title where it was cut."""
    lines = [title_of(header)] if title_is_cut else []
    lines += [when.full_date(header.updated_at), header.workspace]
    if header.archived and header.archived_at:
        lines.append(tr("Archived {date}", date=when.full_date(header.archived_at)))
    if header.archived and header.summary:
        lines.append(one_line(header.summary))
    if header.status is ChatStatus.FOUND:
        lines.append(tr("Found on this computer. It is read where it is and never changed."))
    if header.status is ChatStatus.DAMAGED:
        lines.append(one_line(header.problem))
    return "\n".join(line for line in lines if line)


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known beside the headers: ``touched`` are the paths of chats whose files were looked up."""

    marks: Mapping[ChatId, Mark] = field(default_factory=dict)
    unread: frozenset[ChatId] = frozenset()
    touched: Mapping[ChatId, Sequence[str]] = field(default_factory=dict)


class RowMaker:
    """Makes rows of headers. ``known`` are the headers of all chats, for the titles of parents that are out of sight."""

    def __init__(self, known: Callable[[ChatId], ChatHeader | None], facts: Facts) -> None:
        self._known = known
        self._facts = facts

    def row(self, header: ChatHeader, depth: int = 0) -> ChatRow:
        """The row of one chat."""
        parent = self._known(header.parent_chat_id) if header.parent_chat_id is not None else None
        return ChatRow(
            f"chat:{header.id}",
            header,
            depth,
            self._facts.marks.get(header.id, Mark.NONE),
            header.id in self._facts.unread,
            title_of(parent) if parent is not None else "",
        )

    def matching(self, headers: Sequence[ChatHeader], wanted: Filter) -> list[Row]:
        """The chats that fit, in their order, under a header that counts them; nothing if none does."""
        found = self._fitting(headers, wanted)
        if not found:
            return []
        return [GroupRow("group:matches", tr_n("1 chat matches", "{n} chats match", len(found))), *found]

    def count(self, headers: Iterable[ChatHeader], wanted: Filter) -> int:
        """How many of these chats fit."""
        return len(self._fitting(headers, wanted))

    def _fitting(self, headers: Iterable[ChatHeader], wanted: Filter) -> list[ChatRow]:
        words, files = wanted.words, wanted.files
        return [row for header in headers if self._fits(row := self.row(header), wanted, words, files)]

    def _fits(self, row: ChatRow, wanted: Filter, words: Sequence[str], files: Sequence[str]) -> bool:
        header = row.header
        if wanted.agents and header.agent not in wanted.agents:
            return False
        if wanted.qualities and not wanted.qualities & qualities_of(row):
            return False
        if words:
            text = _compared(title_of(header), header.agent, header.workspace)
            if not all(word in text for word in words):
                return False
        if files:
            paths = self._facts.touched.get(header.id, ())
            return all(any(word in plain(path) for path in paths) for word in files)
        return True

    def grouped(self, shown: Sequence[ChatHeader], now_ms: int, *, pins: bool = True) -> list[Row]:
        """The chats under their days, the pinned ones above them, branches under their chats. ``shown``: newest first."""
        present = {header.id for header in shown}
        branches: dict[ChatId, list[ChatHeader]] = {}
        tops: list[ChatHeader] = []
        pinned: list[ChatHeader] = []
        for header in shown:
            parent = header.parent_chat_id
            if pins and header.pinned_at:
                pinned.append(header)
            elif parent is not None and parent in present and parent != header.id and self._has_top(header, present, pins=pins):
                branches.setdefault(parent, []).append(header)
            else:
                tops.append(header)
        rows: list[Row] = []
        if pinned:
            rows.append(GroupRow("group:pinned", tr("Pinned")))
            for header in pinned:
                self._with_branches(rows, header, branches)
        last: when.Group | None = None
        bounds = when.bounds(now_ms)
        for top in tops:
            group = bounds.group_at(top.updated_at)
            if group is not last:
                rows.append(GroupRow(f"group:{int(group)}", when.group_name(group)))
                last = group
            self._with_branches(rows, top, branches)
        return rows

    def _has_top(self, header: ChatHeader, present: set[ChatId], *, pins: bool) -> bool:
        """Whether the chain of parents ends at a chat that stands alone; a circle in damaged data does not."""
        seen = {header.id}
        parent = header.parent_chat_id
        while parent is not None and parent in present:
            if parent in seen:
                return False
            seen.add(parent)
            above = self._known(parent)
            if above is None or (pins and above.pinned_at):
                return True
            parent = above.parent_chat_id
        return True

    def _with_branches(self, rows: list[Row], top: ChatHeader, branches: Mapping[ChatId, Sequence[ChatHeader]]) -> None:
        rows.append(self.row(top))
        waiting = list(reversed(branches.get(top.id, ())))
        while waiting:
            branch = waiting.pop()
            rows.append(self.row(branch, 1))
            waiting.extend(reversed(branches.get(branch.id, ())))


def meant(text: str, titles: Iterable[str]) -> str:
    """The word of a title that one of the words typed may have been meant to be; empty if nothing is like any."""
    known = {plain(word): word for title in titles for word in title.split() if len(word) >= _MEANT_LEAST}
    for word in plain(text).split():
        if len(word) < _MEANT_LEAST or any(word in one for one in known):
            continue
        found = process.extractOne(word, known.keys(), score_cutoff=_MEANT_SCORE)
        if found is not None:
            return known[found[0]].strip(".,:;!?()[]\"'“”")
    return ""
