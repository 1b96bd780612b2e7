"""One operation at a time per vault; a cancelled caller waits for its thread before it lets go."""

import asyncio
import threading

import pytest

from vibekit_desktop.core.services.serial import Serial, durably


def test_a_lock_is_not_released_before_the_cancelled_thread_ends() -> None:
    """Cancelled twice while the thread writes: nobody else gets the vault until it is done."""
    serial = Serial()
    order: list[str] = []
    writing, may_end = threading.Event(), threading.Event()

    def write() -> None:
        writing.set()
        assert may_end.wait(10)
        order.append("written")

    async def first() -> None:
        async with serial.hold("vault"):
            await durably(write)
            order.append("went on after a cancellation")

    async def second() -> None:
        async with serial.hold("vault"):
            order.append("second")

    async def run() -> None:
        one = asyncio.create_task(first())
        await asyncio.to_thread(writing.wait, 10)
        two = asyncio.create_task(second())
        for _ in range(2):
            one.cancel()
            for _ in range(20):
                await asyncio.sleep(0)
            assert not one.done()
            assert not two.done()
        may_end.set()
        with pytest.raises(asyncio.CancelledError):
            await one
        await two

    asyncio.run(run())
    assert order == ["written", "second"]


def test_a_failure_in_a_cancelled_thread_is_not_reported_as_lost() -> None:
    may_end = threading.Event()
    lost: list[object] = []

    def fail() -> None:
        assert may_end.wait(10)
        raise OSError("late")

    async def run() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: lost.append(context))
        task = asyncio.create_task(durably(fail))
        await asyncio.sleep(0)
        task.cancel()
        may_end.set()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
    assert lost == []


def test_what_the_thread_returns_or_raises_comes_to_the_caller() -> None:
    def fail() -> None:
        raise KeyError("x")

    async def run() -> int:
        with pytest.raises(KeyError):
            await durably(fail)
        return await durably(lambda: 7)

    assert asyncio.run(run()) == 7


def test_vaults_do_not_wait_for_each_other() -> None:
    serial = Serial()

    async def run() -> None:
        async with serial.hold("one"), asyncio.timeout(5), serial.hold("two"):
            pass

    asyncio.run(run())
