"""What a person said of a chat's timeline: pinned points and settled conflicts, in ``desktop/timeline/<chat>.json``.

Replaced whole under the vault's lock and read without it. A file that cannot be read gives nothing, and is kept as
``<chat>.json.unread-...`` before it is replaced; one of a newer version is never changed. What is not understood inside of it
stays. The file goes with its chat; one that a crash left behind is removed by `sweep`. Blocking.
"""

import base64
import binascii
import logging
import os
import secrets
import stat as stat_bits
from collections.abc import Mapping
from pathlib import Path

import msgspec

from vibekit_desktop.core.chat.places import Places
from vibekit_desktop.core.disk import atomic, faults
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.types.checkpoints import Conflict, PinnedPoint, Point, parse_point, point_text
from vibekit_desktop.core.types.errors import CannotRead, ChatNotFound, CoreError, InvalidId, InvalidText, NewerFormat
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath, parse_chat_id, parse_workspace_path

VERSION = 1
MOST_PINS = 500
MOST_SETTLED = 5_000
"""Of one chat; the oldest give way."""
NAME_CHARACTERS = 120
_READ_BYTES = 8 << 20
_FOR_GOOD = ("too large", "not a regular file")
"""Reasons not to be read that no other day takes away."""
_log = logging.getLogger(__name__)
Raw = msgspec.Raw


class _Pin(msgspec.Struct, omit_defaults=True):
    point: str
    name: str
    at: int = 0


class _Settled(msgspec.Struct, omit_defaults=True, frozen=True):
    path: str
    path_b64: str = ""
    other_chat: str = ""
    expected: str = ""
    actual: str = ""


class _File(msgspec.Struct):
    version: int
    pins: list[Raw] = []
    settled: list[Raw] = []


class Notes(msgspec.Struct, frozen=True):
    """The notes of one chat, oldest first; ``unread_*`` are single ones that are not understood."""

    pins: tuple[PinnedPoint, ...] = ()
    settled: tuple[_Settled, ...] = ()
    version: int = VERSION
    unread_pins: tuple[Raw, ...] = ()
    unread_settled: tuple[Raw, ...] = ()
    more: Mapping[str, Raw] = {}

    def is_settled(self, conflict: Conflict) -> bool:
        """Whether a person said that a conflict of these contents stays as it is."""
        return _settled(conflict) in self.settled


NOTHING = Notes()


class TimelineNotes:
    """The notes of one vault's chats. Invariant: they are only ever made for a chat that is there, archived or not."""

    def __init__(self, fs: Fs, places: Places) -> None:
        self._fs = fs
        self._places = places
        self.folder = places.desktop / "timeline"

    def _path(self, chat: ChatId) -> Path:
        return self.folder / f"{parse_chat_id(chat)}.json"

    def of(self, chat: ChatId) -> Notes:
        """The notes of a chat, empty if there are none or if they cannot be read."""
        return self._read(chat)[0]

    def pin(self, chat: ChatId, point: Point, name: str, at: int) -> bool:
        """Give a point a name, or another one; whether that changed anything. Raises `InvalidText` for an empty name or
        one with half characters, `ChatNotFound`, `NewerFormat`."""
        words = " ".join(name.split())[:NAME_CHARACTERS]
        try:
            words.encode()
        except UnicodeEncodeError as error:
            raise InvalidText(chat) from error
        if not words:
            raise InvalidText(chat)
        notes, damaged = self._read(chat)
        former = next((pin for pin in notes.pins if pin.point == point), None)
        if former is not None and former.name == words:
            return False
        others = tuple(pin for pin in notes.pins if pin.point != point)
        new = PinnedPoint(point, words, former.at if former is not None else at)
        return self._save(chat, msgspec.structs.replace(notes, pins=(*others, new)[-MOST_PINS:]), damaged=damaged)

    def unpin(self, chat: ChatId, point: Point) -> bool:
        """Forget the name of a point; whether it had one."""
        notes, damaged = self._read(chat)
        pins = tuple(pin for pin in notes.pins if pin.point != point)
        if len(pins) == len(notes.pins):
            return False
        return self._save(chat, msgspec.structs.replace(notes, pins=pins), damaged=damaged)

    def settle(self, chat: ChatId, conflict: Conflict, *, settled: bool) -> bool:
        """A conflict of these contents stays as it is, or is to be told again; whether that is news."""
        notes, damaged = self._read(chat)
        one = _settled(conflict)
        if settled == (one in notes.settled):
            return False
        kept = tuple(other for other in notes.settled if other != one)
        kept = (*kept, one)[-MOST_SETTLED:] if settled else kept
        return self._save(chat, msgspec.structs.replace(notes, settled=kept), damaged=damaged)

    def carry(self, source: ChatId, target: ChatId) -> None:
        """A chat that came from another one begins with its notes. Whatever is wrong is only logged, since it is no reason to
        fail for what they go with."""
        try:
            given, (notes, damaged) = self.of(source), self._read(target)
            if not given.pins and not given.settled:
                return
            points = {pin.point for pin in notes.pins}
            pins = (*(pin for pin in given.pins if pin.point not in points), *notes.pins)
            settled = tuple(dict.fromkeys((*given.settled, *notes.settled)))
            self._save(target, msgspec.structs.replace(notes, pins=pins, settled=settled), damaged=damaged)
        except CoreError as error:
            _log.warning("the notes of chat %s did not go along to chat %s: %s", source, target, error.code)

    def delete(self, chat: ChatId) -> None:
        """Remove the notes of a chat, also what could not be read of them; none is fine."""
        own = f"{parse_chat_id(chat)}.json"
        for name in self._names():
            if name == own or name.startswith(f"{own}.unread-"):
                atomic.remove(self._fs, self.folder / name)

    def orphans(self) -> list[ChatId]:
        """The chats that have notes and are not there."""
        found: list[ChatId] = []
        for name in self._names():
            try:
                chat = parse_chat_id(name.partition(".")[0])
                if ".json" in name and chat not in found and not self._places.homes(chat):
                    found.append(chat)
            except (InvalidId, CannotRead):
                continue
        return found

    def sweep(self) -> None:
        """Remove the notes of chats that are not there. Under the vault's lock."""
        for chat in self.orphans():
            self.delete(chat)

    def _names(self) -> list[str]:
        """The names in the folder; none where something else stands in its place: what that leads to is not ours."""
        return self._fs.list_names(self.folder) if self._is_folder() else []

    def _is_folder(self) -> bool:
        found = self._fs.stat(self.folder)
        return found is not None and stat_bits.S_ISDIR(found.st_mode)

    def _read(self, chat: ChatId) -> tuple[Notes, bool]:
        """The notes, and whether what is there is damaged. `CannotRead` for what may be readable another time."""
        path = self._path(chat)
        if not self._is_folder():
            return NOTHING, False
        try:
            return _decode(self._fs.read_bytes(path, limit=_READ_BYTES)), False
        except FileNotFoundError:
            return NOTHING, False
        except CannotRead as error:
            if error.reason not in _FOR_GOOD:
                raise
            why = error.reason
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            why = type(error).__name__
        _log.warning("the notes of chat %s cannot be read: %s", chat, why)
        return NOTHING, True

    def _save(self, chat: ChatId, notes: Notes, *, damaged: bool) -> bool:
        if self._places.home(chat) is None:
            raise ChatNotFound(chat)
        if notes.version > VERSION:
            raise NewerFormat(str(self._path(chat)))
        self._fs.make_folder(self.folder)
        if damaged:
            self._fs.rename(self._path(chat), self.folder / f"{chat}.json.unread-{secrets.token_hex(6)}")
        faults.point("timeline.save")
        atomic.replace(self._fs, self._path(chat), _encode(notes))
        return True


def _settled(conflict: Conflict) -> _Settled:
    data = os.fsencode(conflict.path)
    text = data.decode("utf-8", "replace")
    exact = "" if text == conflict.path else base64.b64encode(data).decode("ascii")
    return _Settled(text, exact, conflict.other_chat, conflict.expected_sha, conflict.actual_sha)


def _path_of(one: _Settled) -> WorkspacePath:
    if not one.path_b64:
        return parse_workspace_path(one.path)
    return parse_workspace_path(os.fsdecode(base64.b64decode(one.path_b64, validate=True)))


def _decode(data: bytes) -> Notes:
    """Read notes. A single one that is not understood hides no other; of a newer version nothing need be understood."""
    version = msgspec.json.decode(data, type=_VersionOnly).version
    if version > VERSION:
        return Notes(version=version)
    file = msgspec.json.decode(data, type=_File)
    more = msgspec.json.decode(data, type=dict[str, Raw])
    pins: list[PinnedPoint] = []
    settled: list[_Settled] = []
    unread: tuple[list[Raw], list[Raw]] = ([], [])
    for raw in file.pins:
        try:
            pin = msgspec.json.decode(bytes(raw), type=_Pin)
            pins.append(PinnedPoint(parse_point(pin.point), pin.name, pin.at))
        except (msgspec.MsgspecError, CoreError):
            unread[0].append(raw.copy())
    for raw in file.settled:
        try:
            one = msgspec.json.decode(bytes(raw), type=_Settled)
            _path_of(one)
            settled.append(one)
        except (msgspec.MsgspecError, CoreError, binascii.Error):
            unread[1].append(raw.copy())
    kept = {key: value.copy() for key, value in more.items() if key not in _File.__struct_fields__}
    return Notes(tuple(pins), tuple(settled), version, tuple(unread[0]), tuple(unread[1]), kept)


class _VersionOnly(msgspec.Struct):
    version: int


def _encode(notes: Notes) -> bytes:
    file = {
        **notes.more,
        "version": VERSION,
        "pins": [*notes.unread_pins, *(_Pin(point_text(pin.point), pin.name, pin.at) for pin in notes.pins)],
        "settled": [*notes.unread_settled, *notes.settled],
    }
    return msgspec.json.format(msgspec.json.encode(file), indent=2) + b"\n"
