"""A review as bytes, and back: the stored form of marks and comments (docs/storage-format.md 6).

Whatever is not understood is kept as the bytes it was read as. Pure; any thread.
"""

import base64
import binascii
import os
from collections.abc import Mapping
from typing import Self

import msgspec

from vibekit_desktop.core.types.checkpoints import parse_point, point_text
from vibekit_desktop.core.types.errors import CoreError
from vibekit_desktop.core.types.ids import BlobHash, WorkspacePath, parse_blob_hash, parse_workspace_path
from vibekit_desktop.core.types.reviews import Comment, ReviewedFile, Side

VERSION = 1
Raw = msgspec.Raw
_BAD = (msgspec.MsgspecError, ValueError, RecursionError)


class Unreadable(Exception):
    """The bytes are no review."""


class KeptMark(msgspec.Struct, frozen=True):
    """A mark, and the keys beside it that we do not know."""

    mark: ReviewedFile
    more: Mapping[str, Raw] = {}


class KeptComment(msgspec.Struct, frozen=True):
    """A comment, the lines that stood around its own, nearest last above and nearest first below, and unknown keys."""

    comment: Comment
    above: tuple[str, ...] = ()
    below: tuple[str, ...] = ()
    more: Mapping[str, Raw] = {}

    def now(self, comment: Comment) -> Self:
        """With the comment as it is now."""
        return msgspec.structs.replace(self, comment=comment)


class Review(msgspec.Struct, frozen=True):
    """The review of one chat; ``marks`` and ``comments`` oldest first. ``unread_*`` are single ones that are not understood."""

    marks: tuple[KeptMark, ...] = ()
    comments: tuple[KeptComment, ...] = ()
    version: int = VERSION
    unread_marks: tuple[Raw, ...] = ()
    unread_comments: tuple[Raw, ...] = ()
    more: Mapping[str, Raw] = {}


NOTHING = Review()


class _Version(msgspec.Struct):
    version: int


class _File(msgspec.Struct):
    version: int
    reviewed: list[Raw] = []
    comments: list[Raw] = []


class _Mark(msgspec.Struct):
    path: str
    path_b64: str = ""
    before: str = ""
    after: str = ""
    at: int = 0


class _Comment(msgspec.Struct):
    id: str
    path: str
    side: Side
    first_line: int
    last_line: int
    text: str
    path_b64: str = ""
    quote: str = ""
    point: str = "now"
    sha: str = ""
    at: int = 0
    changed_at: int = 0
    sent_at: int = 0
    above: tuple[str, ...] = ()
    below: tuple[str, ...] = ()


def decode(data: bytes) -> Review:
    """Read a review; raises `Unreadable`. A single mark or comment that is not understood hides no other; of a newer version,
    which may be another altogether, nothing need be understood."""
    version = 0
    try:
        version = msgspec.json.decode(data, type=_Version).version
        file = msgspec.json.decode(data, type=_File)
        more = _unknown(data, _File)
    except _BAD as error:
        if version > VERSION:
            return Review(version=version)
        raise Unreadable(type(error).__name__) from error
    if version < VERSION:
        raise Unreadable("version")
    marks: list[KeptMark] = []
    comments: list[KeptComment] = []
    unread: tuple[list[Raw], list[Raw]] = ([], [])
    for raw in file.reviewed:
        try:
            marks.append(_mark(bytes(raw)))
        except (*_BAD, CoreError):
            unread[0].append(raw)
    for raw in file.comments:
        try:
            comments.append(_comment(bytes(raw)))
        except (*_BAD, CoreError):
            unread[1].append(raw)
    return Review(tuple(marks), tuple(comments), file.version, tuple(unread[0]), tuple(unread[1]), more)


def encode(review: Review) -> bytes:
    """The bytes of a review, indented for people. Texts must have no half characters."""
    marks = [*review.unread_marks, *map(_raw_mark, review.marks)]
    comments = [*review.unread_comments, *map(_raw_comment, review.comments)]
    file: dict[str, object] = {**review.more, "version": review.version, "reviewed": marks, "comments": comments}
    return msgspec.json.format(msgspec.json.encode(file), indent=2) + b"\n"


def _unknown(data: bytes, known: type[msgspec.Struct]) -> dict[str, Raw]:
    found = msgspec.json.decode(data, type=dict[str, Raw])
    return {key: value.copy() for key, value in found.items() if key not in known.__struct_fields__}


def _mark(data: bytes) -> KeptMark:
    one = msgspec.json.decode(data, type=_Mark)
    mark = ReviewedFile(path=_path(one.path, one.path_b64), before=_sha(one.before), after=_sha(one.after), at=one.at)
    return KeptMark(mark, _unknown(data, _Mark))


def _raw_mark(kept: KeptMark) -> dict[str, object]:
    mark = kept.mark
    text, exact = _path_texts(mark.path)
    one = _Mark(path=text, path_b64=exact, before=mark.before or "", after=mark.after or "", at=mark.at)
    return {**_fields(one), **kept.more}


def _comment(data: bytes) -> KeptComment:
    one = msgspec.json.decode(data, type=_Comment)
    if not one.id or not 1 <= one.first_line <= one.last_line:
        raise ValueError("no lines")
    comment = Comment(
        id=one.id,
        path=_path(one.path, one.path_b64),
        side=one.side,
        first_line=one.first_line,
        last_line=one.last_line,
        text=one.text,
        quote=one.quote,
        point=parse_point(one.point),
        sha=_sha(one.sha),
        at=one.at,
        changed_at=one.changed_at,
        sent_at=one.sent_at,
    )
    return KeptComment(comment, one.above, one.below, _unknown(data, _Comment))


def _raw_comment(kept: KeptComment) -> dict[str, object]:
    comment = kept.comment
    text, exact = _path_texts(comment.path)
    one = _Comment(
        id=comment.id,
        path=text,
        path_b64=exact,
        side=comment.side,
        first_line=comment.first_line,
        last_line=comment.last_line,
        text=comment.text,
        quote=comment.quote,
        point=point_text(comment.point),
        sha=comment.sha or "",
        at=comment.at,
        changed_at=comment.changed_at,
        sent_at=comment.sent_at,
        above=kept.above,
        below=kept.below,
    )
    return {**_fields(one), **kept.more}


def _fields(one: msgspec.Struct) -> dict[str, object]:
    """The fields of a stored object, without those that say nothing."""
    needed = len(one.__struct_fields__) - len(one.__struct_defaults__)
    fields = {name: getattr(one, name) for name in one.__struct_fields__}
    return {name: value for at, (name, value) in enumerate(fields.items()) if at < needed or value not in ("", 0, ())}


def _path(text: str, exact: str) -> WorkspacePath:
    """A stored path; one that is not UTF-8 has its exact bytes beside it."""
    if not exact:
        return parse_workspace_path(text)
    try:
        return parse_workspace_path(os.fsdecode(base64.b64decode(exact, validate=True)))
    except binascii.Error as error:
        raise ValueError("path_b64") from error


def _path_texts(path: WorkspacePath) -> tuple[str, str]:
    data = os.fsencode(path)
    text = data.decode("utf-8", "replace")
    return text, "" if text == path else base64.b64encode(data).decode("ascii")


def _sha(text: str) -> BlobHash | None:
    return parse_blob_hash(text) if text else None
