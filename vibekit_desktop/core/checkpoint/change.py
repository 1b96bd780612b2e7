"""What changed between two points of a chat, path by path, to be taken back; and what came after it. Pure."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from vibekit_desktop.core.checkpoint import ownership
from vibekit_desktop.core.checkpoint.history import Observation, View, agree, since
from vibekit_desktop.core.checkpoint.points import Marks
from vibekit_desktop.core.types.checkpoints import FileState, Now, Point, State, point_text
from vibekit_desktop.core.types.errors import Malformed
from vibekit_desktop.core.types.ids import WorkspacePath


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """One path that a change touched: before it, after it, and on disk.

    ``source``: the file under the name it had before, where the change renamed it. ``theirs`` are the bytes of ``old``,
    ``ours`` those on disk, where they are needed and no store has them. ``later``: what came after the change, as author and
    state, oldest first; an author is one of `OverlapAt.changed_by`. ``owner``: whose work is in it now, an author word, empty
    for this chat's. ``named``: some line of the history names it. ``own``: this chat itself changed it then. ``covered``, of a
    folder: the change put a file in its place, or took one away there.
    """

    path: WorkspacePath
    old: FileState
    new: FileState
    now: FileState
    source: "Changed | None" = None
    theirs: bytes | None = None
    ours: bytes | None = None
    later: tuple[tuple[str, FileState], ...] = ()
    folder: bool = False
    named: bool = True
    own: bool = False
    covered: bool = False
    owner: str = ""

    @property
    def before(self) -> FileState:
        """What the content was before the change, under whatever name."""
        return self.old if self.source is None else self.source.old

    @property
    def changed_by(self) -> str:
        """Who changed it last after the change."""
        return self.later[-1][0] if self.later else "unknown"

    @property
    def went(self) -> bool:
        """Whether the change took a file away, perhaps to another name."""
        return self.old.state is State.PRESENT and self.new.state is State.ABSENT and not self.folder

    @property
    def came(self) -> bool:
        """Whether the change brought a file, perhaps from another name."""
        return self.old.state is State.ABSENT and self.new.state is State.PRESENT and not self.folder


class Change:
    """What changed between two points, and what is on disk now. Looks at the disk once for each path."""

    def __init__(self, view: View, marks: Marks, old: Point, new: Point, look: Callable[[WorkspacePath], FileState]) -> None:
        """`Malformed` if the first point is the disk, or not the earlier one. ``look``: what is on disk."""
        if isinstance(old, Now):
            raise Malformed("point", point_text(old))
        self._view = view
        self._first, self._last = marks.position(old), marks.position(new)
        self._to_disk = isinstance(new, Now)
        self._look = look
        if self._first > self._last:
            raise Malformed("points, the first is not the earlier one", f"{point_text(old)} {point_text(new)}")

    def all(self) -> list[Changed]:
        """Every file of this chat's that is another thing after the change than before, and every folder that came or went with
        it."""
        files = [self.file(path) for path in ownership.touched(self._view)]
        found = [one for one in files if not agree(one.old, one.new)]
        paths = {one.path for one in found}
        return [*found, *(replace(one, covered=one.path in paths) for one in self._folders())]

    def file(self, path: WorkspacePath) -> Changed:
        """One path as a file, whether the change touched it or not."""
        seen, now = self._view.by_path.get(path, []), self._look(path)
        new = now if self._to_disk else self._view.content_at(path, self._last)
        who = ownership.changed_since(seen, self._view.chat, now)
        return Changed(
            path=path,
            old=self._view.content_at(path, self._first),
            new=new,
            now=now,
            later=tuple(self._later(since(seen, self._last), new, now)),
            named=path in self._view.by_path,
            own=self._is_own(seen),
            owner=_author_word(who),
        )

    def _folders(self) -> Iterator[Changed]:
        for path, seen in self._view.folders.items():
            old, new = (self._view.folder_at(path, position) for position in (self._first, self._last))
            if self._is_own(seen) and old.state is not new.state:
                yield Changed(path=path, old=old, new=new, now=self._look(path), folder=True, own=True)

    def _is_own(self, seen: Sequence[Observation]) -> bool:
        return any(ownership.puts_in_plan(one) for one in seen if self._first <= one.position < self._last)

    def _later(self, seen: Iterable[Observation], new: FileState, now: FileState) -> Iterator[tuple[str, FileState]]:
        """Who changed a path after the change, and what it was then; at last what is on disk, if nobody recorded it yet."""
        last = new
        for one in seen:
            if not agree(one.before, one.after):
                yield self._author(one), one.after
                last = one.after
        if not agree(last, now):
            yield "unknown", now

    def _author(self, seen: Observation) -> str:
        word = ownership.author_word(seen, self._view.chat)
        other = ownership.other_chat(word)
        if other is not None:
            return other
        return word if word in ("user", "unknown") else self._view.chat


def _author_word(who: str | None) -> str:
    if who is None:
        return ""
    return who if who in ("user", "unknown") else f"chat:{who}"


def renamed(found: Sequence[Changed], pairs: Mapping[str, str]) -> list[Changed]:
    """The same, sorted, with those files as one that only changed their name. ``pairs``: old names by new ones."""
    files = {one.path: one for one in found if not one.folder}
    sources = {new: files[WorkspacePath(old)] for new, old in pairs.items()}
    gone = {one.path for one in sources.values()}
    whole = [one for one in found if one.folder or one.path not in gone]
    joined = [one if one.folder else replace(one, source=sources.get(one.path)) for one in whole]
    return sorted(joined, key=lambda one: (one.path, one.folder))
