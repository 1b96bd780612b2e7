"""How the window stood is written by a thread, in order, and before the program ends."""

import asyncio
import threading
from collections.abc import Mapping
from pathlib import Path

import pytest

from vibekit_desktop.app import kept


def test_the_window_does_not_wait_for_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[tuple[str, int]] = []
    may_write = threading.Event()

    def write(folder: Path, known: Mapping[str, Mapping[str, str]]) -> bool:
        assert may_write.wait(20)
        written.append((known["one"]["zoom"], threading.get_ident()))
        return True

    monkeypatch.setattr(kept, "write", write)

    async def story() -> None:
        keeper = kept.Keeper(tmp_path, asyncio.get_running_loop())
        known = {"one": {"zoom": "100"}}
        keeper.keep(known)
        await asyncio.sleep(0)
        for zoom in ("110", "120", "130"):
            known["one"]["zoom"] = zoom
            keeper.keep(known)
        known["one"]["zoom"] = "not kept yet"
        assert written == []
        may_write.set()
        await keeper.written()

    asyncio.run(story())
    assert [zoom for zoom, _ in written] == ["100", "130"], "what is older than the last wish is not written"
    assert threading.get_ident() not in {thread for _, thread in written}


def test_what_is_kept_last_is_there_when_the_program_ends(tmp_path: Path) -> None:
    async def story() -> None:
        keeper = kept.Keeper(tmp_path, asyncio.get_running_loop())
        await keeper.written()
        for number in range(20):
            keeper.keep({"one": {"zoom": str(number)}})
            await asyncio.sleep(0)
        await keeper.written()

    asyncio.run(story())
    assert kept.read(tmp_path) == {"one": {"zoom": "19"}}


def test_without_a_loop_it_is_written_at_once(tmp_path: Path) -> None:
    loop = asyncio.new_event_loop()
    kept.Keeper(tmp_path, loop).keep({"one": {"zoom": "90"}})
    loop.close()
    assert kept.read(tmp_path) == {"one": {"zoom": "90"}}
