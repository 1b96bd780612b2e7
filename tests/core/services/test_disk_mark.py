"""Whether what the timeline says of the disk may be old, without reading a file."""

import os
import shutil

from tests.core.services.town import Town
from vibekit_desktop.core.types.ids import ChatId

CHAT = ChatId("one")


def mark(town: Town) -> int:
    return town.run(lambda wired: wired.core.checkpoints.disk_mark(CHAT))


def test_the_mark_is_another_after_every_kind_of_change_and_else_the_same(town: Town) -> None:
    town.turn(CHAT, a="one", b="one")
    first = mark(town)
    assert first != 0
    assert mark(town) == first
    (town.work / "never-touched.txt").write_text("x")
    assert mark(town) == first, "only the paths of the chat count"
    seen = {first}

    def changed() -> bool:
        now = mark(town)
        new = now not in seen
        seen.add(now)
        return new

    a = town.work / "a.txt"
    a.write_text("two")
    os.utime(a, ns=(1, 1))
    assert changed()
    a.chmod(0o700)
    assert changed()
    a.unlink()
    assert changed()
    a.symlink_to("b.txt")
    assert changed()
    a.unlink()
    a.mkdir()
    assert changed()
    at = mark(town)
    (a / "in-it").write_text("x")
    assert mark(town) == at, "what comes and goes in a folder is another path"


def test_a_folder_that_is_gone_and_one_that_is_back_are_other_marks(town: Town) -> None:
    town.turn(CHAT, a="one")
    first = mark(town)
    away = town.folder / "away"
    town.work.rename(away)
    assert mark(town) == 0
    away.rename(town.work)
    assert mark(town) == first
    shutil.rmtree(town.work)
    assert mark(town) == 0
