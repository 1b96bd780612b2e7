"""Which chat last wrote a path, and whether someone else wrote since (docs/storage-format.md 3). Pure; any thread.

An author here is a word: ``agent``, ``command``, ``restore``, ``user``, ``unknown``, or ``chat:`` and the id of another chat,
which `other_chat` takes out again.
"""

from collections.abc import Iterable, Sequence

from vibekit_desktop.core.checkpoint.history import Observation, View, agree
from vibekit_desktop.core.types.checkpoints import Author, FileState, How, State
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath

_LEFT = frozenset((Author.AGENT, Author.COMMAND, Author.RESTORE))
_LEFT_WORDS = frozenset(author.value for author in _LEFT)
_OTHER = f"{Author.CHAT.value}:"


def puts_in_plan(seen: Observation) -> bool:
    """Whether an observation of a chat's own is a reason to restore its path: announced, a command's, a restore's, or found
    inside one of its turns. Changes between turns, and what a person did in our window, are none."""
    if not seen.own or seen.computed:
        return False
    return seen.author in _LEFT or is_of_a_turn(seen)


def is_of_a_turn(seen: Observation) -> bool:
    """Whether nobody knows who made a change, and it was found inside a turn of this chat."""
    found = seen.own and not seen.computed and seen.how is How.SCAN
    return found and seen.author is Author.UNKNOWN and seen.line.turn > 0


def may_tidy(found: Sequence[Observation]) -> bool:
    """Whether a folder may go without a word once it is empty: a restore made it, or this chat. ``found``: its observations."""
    last = found[-1] if found else None
    made = last is not None and last.after.state is State.FOLDER
    return made and last is not None and (last.author is Author.RESTORE or puts_in_plan(last))


def author_word(seen: Observation, chat: ChatId) -> str:
    """Whose content an observation left, as ``chat`` sees it. The owner of an undo's line decides, so that what a person wrote
    stays theirs when it comes back."""
    word = seen.author.value
    if seen.line.owner and not seen.computed:
        word = _with_chat(seen.line.owner, seen.line.other_chat)
    elif seen.author is Author.CHAT:
        word = _with_chat(word, seen.line.other_chat)
    if word == f"{_OTHER}{chat}":
        return Author.AGENT.value
    if word in _LEFT_WORDS and not seen.own:
        return f"{_OTHER}{seen.chat}"
    return word


def _with_chat(word: str, other: str) -> str:
    return f"{_OTHER}{other}" if word == Author.CHAT.value and other else word


def other_chat(word: str) -> ChatId | None:
    """The other chat that an author word names; None if it names none."""
    return ChatId(word.removeprefix(_OTHER)) if word.startswith(_OTHER) else None


def owner_keys(owner: str) -> tuple[str, str]:
    """``owner`` and ``other_chat`` of a line, for an author word."""
    other = other_chat(owner)
    return (owner, "") if other is None else (Author.CHAT.value, other)


def owner_before(found: Sequence[Observation], chat: ChatId, position: int) -> str:
    """Whose content a path held just before a position. ``found``: its observations."""
    earlier = [seen for seen in found if seen.position < position]
    return author_word(earlier[-1], chat) if earlier else Author.UNKNOWN.value


def newest_left(view: View, path: WorkspacePath) -> Observation | None:
    """The newest observation by which some chat left the path: an agent's, a command's or a restore's."""
    return _newest_left(view.by_path.get(path, ()))


def _newest_left(found: Sequence[Observation]) -> Observation | None:
    return next((seen for seen in reversed(found) if seen.author in _LEFT), None)


def changed_since(found: Sequence[Observation], chat: ChatId, disk: FileState) -> str | None:
    """None if the disk holds what this chat left, else who changed it since: ``user``, ``unknown``, or a chat id. ``found``:
    the observations of the path, as a file or as a folder."""
    newest = _newest_left(found)
    if newest is not None and author_word(newest, chat) in _LEFT_WORDS and agree(newest.after, disk):
        return None
    last = found[-1] if found else None
    if last is None or not agree(last.after, disk):
        return Author.UNKNOWN.value
    word = author_word(last, chat)
    return other_chat(word) or (word if word == Author.USER.value else Author.UNKNOWN.value)


def also_by(seen: Iterable[Observation], chat: ChatId) -> tuple[ChatId, ...]:
    """The other chats among the authors of some observations, sorted."""
    others = (other_chat(author_word(one, chat)) for one in seen if not one.computed)
    return tuple(sorted({other for other in others if other is not None}))


def chats_of(view: View, path: WorkspacePath) -> tuple[ChatId, ...]:
    """The chats that changed a path, the newest change first."""
    found: dict[ChatId, None] = {}
    for seen in reversed(view.by_path.get(path, ())):
        word = author_word(seen, view.chat)
        chat = view.chat if word in _LEFT_WORDS and not seen.computed else other_chat(word)
        if chat is not None:
            found.setdefault(chat)
    return tuple(found)


def touched(view: View) -> list[WorkspacePath]:
    """Every path this chat changed, sorted. A gap that a look of this chat found does not make the path its own."""
    return sorted(path for path, found in view.by_path.items() if any(puts_in_plan(seen) for seen in found))


def touched_at(view: View) -> dict[WorkspacePath, int]:
    """Where this chat first changed each path of its own."""
    firsts = ((path, next((seen.position for seen in found if puts_in_plan(seen)), 0)) for path, found in view.by_path.items())
    return {path: first for path, first in firsts if first}


def turns_of(seen: Iterable[Observation]) -> tuple[int, ...]:
    """The turns of this chat that changed something by some observations, sorted. A turn that left its path as it was, since it
    was not allowed to write or put it back itself, is none of them."""
    ends: dict[tuple[int, WorkspacePath, bool], tuple[Observation, Observation]] = {}
    for one in seen:
        if puts_in_plan(one) and one.line.turn and not one.line.entry:
            key = (one.line.turn, one.path, one.folder)
            ends[key] = (ends[key][0] if key in ends else one, one)
    return tuple(sorted({turn for (turn, _, _), (first, last) in ends.items() if not agree(first.before, last.after)}))


def was_here(view: View, path: WorkspacePath) -> bool:
    """Whether a file or folder of this name was seen in the workspace itself: then bringing it back makes no new name. What an
    imported history says may have been on another system."""
    seen = (one for one in view.by_path.get(path, ()) if one.line.how != How.IMPORT)
    folders = (one for one in view.folders.get(path, ()) if one.line.how != How.IMPORT)
    return any(one.before.has_content or one.after.has_content for one in seen) or any(folders)
