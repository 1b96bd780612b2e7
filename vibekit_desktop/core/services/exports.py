"""Export a chat, or its changes, as one file. Implements `core.api.Exports`.

Nothing of a workspace is changed; what is made is a new file at the place that a person named, never over anything.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

import msgspec

from vibekit_desktop.core.chat import export_html, export_markdown
from vibekit_desktop.core.chat.export_text import file_name
from vibekit_desktop.core.chat.spans import turn_spans, without_open_calls
from vibekit_desktop.core.chat.withholding import masked, withhold, withhold_messages
from vibekit_desktop.core.disk import new_file
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.services.chat_reading import ANSWERED_MS
from vibekit_desktop.core.services.diffs import DiffService
from vibekit_desktop.core.services.history import HistoryService
from vibekit_desktop.core.services.review_sheets import ReviewSheets
from vibekit_desktop.core.services.serial import Serial, durably
from vibekit_desktop.core.services.vaults import OpenVault
from vibekit_desktop.core.types.chats import WHOLE, Chat, Export, ExportFormat, Message, TurnSpan, Withheld
from vibekit_desktop.core.types.checkpoints import Now, Point, Start
from vibekit_desktop.core.types.diffs import EXACT, Compare
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath
from vibekit_desktop.core.types.reviews import ReviewFormat

_MEDIA_TYPES = {
    ExportFormat.MARKDOWN: "text/markdown; charset=utf-8",
    ExportFormat.JSON: "application/json",
    ExportFormat.HTML: "text/html; charset=utf-8",
    ExportFormat.PATCH: "text/x-patch",
}


@dataclass(frozen=True, slots=True)
class _Whole:
    """A chat with all its messages, those of its parts included, and the object that ``show --json`` prints."""

    chat: Chat
    messages: tuple[Message, ...]
    turns: tuple[TurnSpan, ...]
    raw: dict[str, object]


class ExportService:
    """Exports of the chats of all vaults, archived ones too."""

    def __init__(
        self,
        fs: Fs,
        history: HistoryService,
        serial: Serial,
        diffs: DiffService,
        sheets: ReviewSheets,
        *,
        clock: Callable[[], int],
    ) -> None:
        self._fs = fs
        self._history = history
        self._serial = serial
        self._diffs = diffs
        self._sheets = sheets
        self._clock = clock

    async def export(self, chat: ChatId, kind: ExportFormat, *, withheld: Withheld = WHOLE) -> Export:
        """The chat as it is now, whole; as a patch, its changes from its start to the disk. `ChatNotFound`, `ChatDamaged`."""
        vault = await self._history.vault_of(chat)
        await self._history.bring_up_to_date(chat, vault)
        async with self._serial.hold(vault.id):
            whole = await durably(lambda: self._read(vault, chat))
        if kind is ExportFormat.PATCH:
            data = await self._diffs.patch(chat, Start(), Now(), ())
        else:
            whole = await durably(lambda: _without(whole, withheld))
            data = await durably(lambda: _transcript(whole, kind))
        name = file_name(whole.chat.name, whole.chat.id, f".{kind.value}")
        return Export(name=name, data=data, media_type=_MEDIA_TYPES[kind])

    def _read(self, vault: OpenVault, chat: ChatId) -> _Whole:
        loaded, raw = vault.chats.load(chat)
        messages = vault.chats.whole(loaded).messages or ()
        turns = turn_spans(messages, vault.kernel().shape(chat).prompt_index)
        if loaded.parts:
            newest = raw.get("messages")
            objects = [one for part in loaded.parts for one in vault.chats.parts.objects(chat, part)]
            raw = {**raw, "messages": objects + (newest if isinstance(newest, list) else [])}
            del raw["parts"]  # their messages are among the messages
        if self._clock() - loaded.updated_at > ANSWERED_MS:
            messages = without_open_calls(messages)
        return _Whole(loaded, messages, turns, {**raw, "message_count": len(messages)})

    async def review(
        self,
        chat: ChatId,
        old: Point,
        new: Point,
        paths: Sequence[WorkspacePath],
        kind: ReviewFormat,
        *,
        compare: Compare = EXACT,
    ) -> Export:
        """What differs between two points, with what was reviewed and said of it."""
        return await self._sheets.export(chat, old, new, paths, kind, compare=compare)

    async def save(self, export: Export, place: Path) -> Path:
        """Write it to a new file, or under its own name into a folder that is there; returns the file, durable by then.
        `FileThere` if something is in its place, `CannotWrite` or `DiskFull` if it cannot be made."""

        def work() -> Path:
            file = place / export.name if self._fs.is_folder(place) else place
            new_file.create(self._fs, file, export.data)
            return file

        return await durably(work)


def _without(whole: _Whole, withheld: Withheld) -> _Whole:
    """The chat without what is not to be told."""
    if withheld == WHOLE:
        return whole
    chat = msgspec.structs.replace(whole.chat, name=masked(whole.chat.name)) if withheld.secrets else whole.chat
    raw = {key: withhold(value, withheld) for key, value in whole.raw.items()}
    return _Whole(chat, withhold_messages(whole.messages, withheld), whole.turns, raw)


def _transcript(whole: _Whole, kind: ExportFormat) -> bytes:
    match kind:
        case ExportFormat.MARKDOWN:
            return export_markdown.document(whole.chat, whole.messages).encode()
        case ExportFormat.HTML:
            return export_html.page(whole.chat, whole.messages, whole.turns).encode()
        case ExportFormat.JSON:
            return msgspec.json.encode(whole.raw)
        case ExportFormat.PATCH:
            raise AssertionError(kind)  # made of the files, not of the transcript
        case _:
            assert_never(kind)
