"""What taking back a change means for each path, while what came after the change stays (docs/storage-format.md 4). Pure.

Three states decide: ``old`` and ``new``, at the points before and after the change, and ``now``, on disk. What nobody touched
since goes back; what is no longer as the change left it is merged line by line where it is text, and else asked about. A side
that is not known is never guessed: the path is left, with the reason.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from vibekit_desktop.core.checkpoint.blobs import hash_of
from vibekit_desktop.core.checkpoint.change import Changed
from vibekit_desktop.core.checkpoint.history import agree
from vibekit_desktop.core.types.checkpoints import ABSENT, FileState, Given, LeaveReason, State
from vibekit_desktop.core.types.errors import Malformed
from vibekit_desktop.core.types.reviews import Decision, Overlap, OverlapAt


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """The lines of a file, merged: its overlaps, and what comes of it once the overlaps of some numbers are undone."""

    overlaps: tuple[OverlapAt, ...]
    result: Callable[[frozenset[int]], bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What taking back means for one path. ``given`` is empty while something is open. ``keeps``: later work stays in it."""

    given: tuple[Given, ...] = ()
    overlaps: tuple[OverlapAt, ...] = ()
    open: tuple[OverlapAt, ...] = ()
    keeps: bool = False


def needs_lines(one: Changed) -> bool:
    """Whether the lines of the three contents have to be merged."""
    states = (one.before, one.new, one.now)
    if one.folder or any(state.state is not State.PRESENT for state in states):
        return False
    return len({state.sha for state in states}) == len(states)


def outcome(one: Changed, decisions: Mapping[int, Decision], lines: Lines | None) -> Outcome:
    """What comes of one path. ``lines``: where `needs_lines`, and the contents are text. Every number of ``decisions`` must be
    that of an overlap, else `Malformed`."""
    found = _Path(one, decisions, lines).outcome()
    wrong = decisions.keys() - {overlap.number for overlap in found.overlaps}
    if wrong:
        raise Malformed("overlap", f"{one.path} {min(wrong)}")
    return found


def left(one: Changed, reason: LeaveReason) -> Outcome:
    """A path that cannot be taken back."""
    return Outcome(given=tuple(_given(part, part.old, leave=reason.value) for part in _names(one)))


def joined(outcomes: Iterable[Outcome]) -> tuple[Given, ...]:
    """What was given of all paths. A folder is not put in the place of a file that stays."""
    found = [one for each in outcomes for one in each.given]
    stays = {one.path for one in found if one.leave and not one.folder}
    return tuple(one for one in found if not (one.folder and one.path in stays))


class _Path:
    """One path under way."""

    def __init__(self, one: Changed, decisions: Mapping[int, Decision], lines: Lines | None) -> None:
        self._one = one
        self._decisions = decisions
        self._lines = lines

    def outcome(self) -> Outcome:
        one = self._one
        if one.folder:
            in_the_way = one.now.has_content and one.old.state is State.FOLDER and not one.covered
            return self._whole() if in_the_way else Outcome(given=(_given(one, one.old),))
        reason = _not_known(one)
        if reason is not None:
            return left(one, reason)
        if one.source is None and agree(one.old, one.new):
            return left(one, LeaveReason.SAME)
        now = _as_file(one)
        if now.state is State.UNKNOWN:
            return Outcome(given=tuple(_given(part, part.old) for part in _names(one)))
        if one.source is not None:
            return self._renamed(one.source)
        if State.ABSENT in (one.old.state, one.new.state):
            clean = agree(now, one.old) or agree(now, one.new)
            return Outcome(given=(_given(one, one.old, data=one.theirs),)) if clean else self._whole()
        return self._content(now)

    def _renamed(self, source: Changed) -> Outcome:
        """A file that goes back to its old name with what was done to it later."""
        one = self._one
        now, there = _as_file(one), _as_file(source)
        if now.state is State.ABSENT and agree(there, source.old):
            return Outcome(given=tuple(_given(part, part.old) for part in _names(one)))
        if there.state is not State.ABSENT or not now.has_content:
            return self._whole()
        return self._content(now)

    def _content(self, now: FileState) -> Outcome:
        """A file that was there before the change and after it."""
        one = self._one
        if _same(one.before, one.new):
            return self._with_mode(now, now, one.ours, ())
        if _same(now, one.new):
            return self._with_mode(now, one.before, one.theirs, ())
        if _same(now, one.before):
            return self._with_mode(now, now, None, ())
        lines = self._lines
        if lines is None:
            return self._whole()
        undone = frozenset(overlap.number for overlap in lines.overlaps if self._decisions.get(overlap.number) is Decision.UNDO)
        data = lines.result(undone)
        return self._with_mode(now, FileState(State.PRESENT, hash_of(data), now.mode, size=len(data)), data, lines.overlaps)

    def _with_mode(self, now: FileState, content: FileState, data: bytes | None, overlaps: tuple[OverlapAt, ...]) -> Outcome:
        """A content, and the mode that comes with it: merged like anything else."""
        one = self._one
        mode, then, after = now.mode, one.before.mode, one.new.mode
        if content.state is State.LINK:
            mode = content.mode
        elif None not in (then, after) and then != after and mode != then:
            if mode is None or mode == after or now.state is not State.PRESENT:
                mode = then
            else:
                asked = OverlapAt(
                    path=one.path,
                    number=len(overlaps),
                    kind=Overlap.MODE,
                    first_line=1,
                    last_line=0,
                    changed_by=one.changed_by,
                )
                mode = then if self._decisions.get(asked.number) is Decision.UNDO else mode
                overlaps = (*overlaps, asked)
        left_open = self._open(overlaps)
        if left_open:
            return Outcome(overlaps=overlaps, open=left_open)
        wanted = replace(content, mode=mode)
        partly = any(self._decisions[overlap.number] is Decision.KEEP for overlap in overlaps)
        keeps = partly or (not agree(now, one.new) and not agree(wanted, one.before))
        return Outcome(given=self._placed(wanted, data, partly=partly, keeps=keeps), overlaps=overlaps, keeps=keeps)

    def _placed(self, wanted: FileState, data: bytes | None, *, partly: bool, keeps: bool) -> tuple[Given, ...]:
        one, source = self._one, self._one.source
        owner = one.owner if keeps else ""
        if source is None:
            return (_given(one, wanted, data=data, partly=partly, owner=owner),)
        if data is None and not agree(wanted, source.old) and wanted.sha != one.new.sha:
            # Later bytes of the new name, which nobody has stored yet: they go where the old name is.
            return left(one, LeaveReason.NOT_CAPTURED).given
        old = _given(source, wanted, data=data, partly=partly, owner=owner)
        return old, _given(one, ABSENT, partly=partly)

    def _whole(self) -> Outcome:
        """No lines to merge: somebody has to decide about the whole file."""
        one = self._one
        asked = OverlapAt(path=one.path, number=0, kind=Overlap.FILE, first_line=1, last_line=0, changed_by=one.changed_by)
        match self._decisions.get(0):
            case None:
                return Outcome(overlaps=(asked,), open=(asked,))
            case Decision.UNDO:
                given = tuple(_given(part, part.old, data=part.theirs) for part in _names(one))
                return Outcome(given=given, overlaps=(asked,))
            case Decision.KEEP:
                leave = LeaveReason.CHANGED_SINCE.value
                given = tuple(_given(part, part.old, leave=leave) for part in _names(one))
                return Outcome(given=given, overlaps=(asked,), keeps=True)

    def _open(self, overlaps: Iterable[OverlapAt]) -> tuple[OverlapAt, ...]:
        return tuple(overlap for overlap in overlaps if overlap.number not in self._decisions)


def _names(one: Changed) -> tuple[Changed, ...]:
    """The path, and before it the old one of a file that was renamed."""
    return (one,) if one.source is None else (one.source, one)


def _given(
    one: Changed,
    wanted: FileState,
    *,
    leave: str = "",
    data: bytes | None = None,
    partly: bool = False,
    owner: str = "",
) -> Given:
    return Given(
        path=one.path,
        old=one.old,
        new=one.new,
        now=ABSENT if one.now.reason == LeaveReason.LINK_ON_THE_WAY else one.now,
        wanted=wanted,
        data=data,
        leave=leave,
        owner=owner,
        folder=one.folder,
        partly=partly,
    )


def _as_file(one: Changed) -> FileState:
    """What is on disk as the lines of a file say it: a folder in its place is nothing, and so is what lies behind a link."""
    behind = one.now.reason == LeaveReason.LINK_ON_THE_WAY
    folder = one.now.state is State.FOLDER and State.ABSENT in (one.old.state, one.new.state)
    return ABSENT if behind or folder else one.now


def _not_known(one: Changed) -> LeaveReason | None:
    """Why a path must be left, because what it was is not known well enough."""
    if not one.named:
        return LeaveReason.NOT_THIS_CHAT
    if one.now.state is State.UNKNOWN or agree(one.now, one.before):
        return None
    for state in (one.before, one.new):
        if state.has_content or state.state in (State.ABSENT, State.FOLDER):
            continue
        on_disk = state is one.new and _same(one.now, state)  # the bytes are there, whatever the store has
        if not on_disk and not _same(one.before, one.new):
            return LeaveReason.NOT_CAPTURED if state.state is State.NOT_CAPTURED else LeaveReason.UNKNOWN
    return None


def _same(one: FileState, other: FileState) -> bool:
    """Whether two states are the same content, whatever the mode."""
    return agree(replace(one, mode=None), other)
