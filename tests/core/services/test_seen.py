"""What a person has seen of the chats, and what the stored contents take: small things that rows and meters stand on."""

import json
import os
from collections.abc import Iterator

from tests.core.services.town import Town
from vibekit_desktop.app.wiring import Wired
from vibekit_desktop.core.api import StoreSize
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.services import seen as seen_module
from vibekit_desktop.core.services.seen import Seen
from vibekit_desktop.core.services.store_size import StoreSizes
from vibekit_desktop.core.types.ids import ChatId, chat_link

ONE, TWO = ChatId("chat-one"), ChatId("chat-two")


def test_what_was_seen_is_known_at_the_next_start(town: Town) -> None:
    assert town.run(lambda wired: wired.core.chats.seen()) == {}
    town.run(lambda wired: wired.core.chats.note_seen(ONE, 4))
    town.run(lambda wired: wired.core.chats.note_seen(TWO, 2))
    town.run(lambda wired: wired.core.chats.note_seen(ONE, 6))
    assert town.run(lambda wired: wired.core.chats.seen()) == {ONE: 6, TWO: 2}


def test_noting_the_same_again_writes_nothing(town: Town) -> None:
    town.run(lambda wired: wired.core.chats.note_seen(ONE, 4))
    path = town.data / "seen.json"
    before = path.stat().st_ino
    town.run(lambda wired: wired.core.chats.note_seen(ONE, 4))
    assert path.stat().st_ino == before


def test_two_windows_note_without_losing_each_others_notes(town: Town) -> None:
    first, second = Seen(Fs(), town.data), Seen(Fs(), town.data)
    first.note(ONE, 1)
    second.note(TWO, 2)
    first.note(ONE, 3)
    assert second.all() == {ONE: 3, TWO: 2}


def test_a_damaged_file_counts_as_empty_and_a_newer_one_is_left_alone(town: Town) -> None:
    path = town.data / "seen.json"
    path.parent.mkdir()
    path.write_bytes(b'{"version":1,"seen":{"a":')
    seen = Seen(Fs(), town.data)
    assert seen.all() == {}
    path.write_text(json.dumps({"version": 2, "seen": {ONE: 1}, "more": True}))
    seen.note(TWO, 5)
    assert json.loads(path.read_text()) == {"version": 2, "seen": {ONE: 1}, "more": True}


def test_of_too_many_chats_those_noted_first_are_forgotten(town: Town) -> None:
    town.data.mkdir()
    many = {f"chat-{number}": 1 for number in range(seen_module.MOST)}
    (town.data / "seen.json").write_text(json.dumps({"version": 1, "seen": many}))
    seen = Seen(Fs(), town.data)
    seen.note(ONE, 1)
    known = seen.all()
    assert len(known) == seen_module.MOST
    assert ONE in known
    assert ChatId("chat-0") not in known


def test_the_store_is_as_large_as_its_blobs_and_has_the_budget_of_the_setting(town: Town) -> None:
    town.turn(ONE, "x", a="one")
    town.turn(ONE, "y", a="another")

    async def both(wired: Wired) -> tuple[StoreSize, int]:
        return await wired.core.library.store_size(), (await wired.core.library.verify(None)).size_bytes

    size, verified = town.run(both)
    assert size.used_bytes == verified > 0
    assert size.budget_bytes == 5 << 30


def test_without_a_vault_the_store_is_empty_and_looking_makes_nothing(town: Town) -> None:
    assert town.run(lambda wired: wired.core.library.store_size()).used_bytes == 0
    assert not town.data.exists()


def test_only_folders_that_changed_are_counted_again(town: Town) -> None:
    vault = town.folder / "vault"
    for place, name, text in (("snapshots", "ab/1", "12"), ("desktop", "ab/1", "12"), ("desktop", "cd/2", "3456")):
        path = vault / place / "blobs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    class Counting(Fs):
        looked: list[str]

        def scan(self, folder: int) -> Iterator[tuple[str, os.stat_result]]:
            self.looked.append("scan")
            return super().scan(folder)

    fs = Counting()
    fs.looked = []
    sizes = StoreSizes(fs)
    assert sizes.bytes_of([vault]) == 6, "one content in two places counts once"
    assert len(fs.looked) == 3
    assert sizes.bytes_of([vault]) == 6
    assert len(fs.looked) == 3
    (vault / "desktop" / "blobs" / "cd" / "3").write_text("7")
    assert sizes.bytes_of([vault]) == 7
    assert len(fs.looked) == 4
    (vault / "desktop" / "blobs" / "cd" / "2").unlink()
    assert sizes.bytes_of([vault]) == 3


def test_a_chats_link_leads_back_to_it(town: Town) -> None:
    town.turn(ONE, "x")
    assert town.run(lambda wired: wired.core.chats.resolve(chat_link(ONE))) == ONE
    assert town.run(lambda wired: wired.core.chats.resolve(f"{chat_link(ONE)}/")) == ONE
