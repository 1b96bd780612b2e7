"""A review: what a person has looked at, said and taken back between two points of a chat.

Frozen values; no I/O; any thread.
"""

from dataclasses import dataclass
from enum import StrEnum

from vibekit_desktop.core.types.checkpoints import Point, RestorePlan
from vibekit_desktop.core.types.ids import BlobHash, ChatId, WorkspacePath


class Side(StrEnum):
    """Which side of a diff a line is on."""

    OLD = "old"
    NEW = "new"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewedFile:
    """A person has reviewed what one file was and became. Kept by content: another content on either side is not reviewed.

    The hashes are None where that side is absent or has no content.
    """

    path: WorkspacePath
    before: BlobHash | None
    after: BlobHash | None
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Comment:
    """What a person says about lines ``first_line`` to ``last_line`` (from 1, both included) of one side of a file.

    ``sha`` is the content the lines were counted in, ``quote`` their text then (bounded), ``point`` where that was.
    ``at`` and ``changed_at`` in milliseconds; ``sent_at`` is 0 until the comment was sent to the agent.
    """

    id: str
    path: WorkspacePath
    side: Side
    first_line: int
    last_line: int
    text: str
    quote: str
    point: Point
    sha: BlobHash | None
    at: int
    changed_at: int
    sent_at: int = 0


@dataclass(frozen=True, slots=True)
class PlacedComment:
    """A comment and where its lines are in the content that is shown now; None: those lines are no longer there."""

    comment: Comment
    first_line: int | None
    last_line: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class InverseRequest:
    """Take back what changed between two points of a chat, and keep what came after ``new``.

    One turn is the points before and after it; a file is one path; ``hunks`` are positions in the `DiffDocument.hunks` of the
    diff with these points, this one path and no whitespace ignored. Empty ``paths``: every path that differs.
    """

    chat: ChatId
    old: Point
    new: Point
    paths: tuple[WorkspacePath, ...] = ()
    hunks: tuple[int, ...] = ()


class Overlap(StrEnum):
    """Why a part of an inverse must be decided by a person."""

    LINES = "lines"
    """Lines that were changed again after the point."""
    FILE = "file"
    """No lines to merge: the whole file was changed again (binary, a link, gone, or one that must be deleted)."""
    MODE = "mode"


class Decision(StrEnum):
    """What a person decides for one overlap."""

    KEEP = "keep"
    """What is on disk now stays."""
    UNDO = "undo"
    """As it was at ``InverseRequest.old``; what came later in these lines goes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OverlapAt:
    """One overlap: ``number`` counts from 0 within the file. The lines are text for showing, empty with FILE and MODE.

    ``first_line`` and ``last_line`` (from 1, last before first for none) are lines of the file on disk. ``changed_by``:
    ``user``, ``unknown``, or the chat that changed it later.
    """

    path: WorkspacePath
    number: int
    kind: Overlap
    first_line: int
    last_line: int
    now: tuple[str, ...] = ()
    then: tuple[str, ...] = ()
    """What undoing makes of them."""
    after: tuple[str, ...] = ()
    """What they were at ``InverseRequest.new``."""
    changed_by: str = "unknown"


Decisions = tuple[tuple[WorkspacePath, int, Decision], ...]
"""Path, number of its overlap, and what was decided."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InversePlan:
    """What an undo of a change would do. ``plan`` is None until every overlap is decided; it is carried out like any other.

    ``open`` are the overlaps nobody decided yet, ``overlaps`` all of them. ``later_kept``: paths with work that came after the
    point and stays. ``goes_too``: paths that this chat changed and somebody else after it, whose work is part of the change,
    which reaches up to the disk, and goes as well.
    """

    request: InverseRequest
    decisions: Decisions
    overlaps: tuple[OverlapAt, ...]
    open: tuple[OverlapAt, ...]
    later_kept: tuple[WorkspacePath, ...]
    plan: RestorePlan | None
    goes_too: tuple[WorkspacePath, ...] = ()


class ReviewFormat(StrEnum):
    """What a review can be exported as: a unified diff that ``git apply`` takes, a page to read, or a summary."""

    PATCH = "patch"
    HTML = "html"
    MARKDOWN = "md"
