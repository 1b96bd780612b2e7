"""Tests that are coroutines run in a loop of their own; with the fixture ``either_loop`` once in Qt's too."""

import asyncio
import inspect
from collections.abc import Iterator

import pytest
import qasync
from PySide6.QtWidgets import QApplication

LIMIT_S = 60.0


@pytest.fixture(params=["asyncio", "qasync"])
def either_loop(request: pytest.FixtureRequest) -> Iterator[asyncio.AbstractEventLoop]:
    """A loop of asyncio's, and then the window's."""
    former = asyncio.get_event_loop_policy()
    asyncio.set_event_loop_policy(asyncio.DefaultEventLoopPolicy())
    if request.param == "asyncio":
        loop = asyncio.new_event_loop()
    else:
        application = request.getfixturevalue("qapp")
        assert isinstance(application, QApplication)
        loop = qasync.QEventLoop(application)
    asyncio.set_event_loop(loop)
    yield loop
    loop.close()
    asyncio.set_event_loop_policy(former)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    given = {name: pyfuncitem.funcargs[name] for name in inspect.signature(pyfuncitem.obj).parameters}
    work = asyncio.wait_for(pyfuncitem.obj(**given), LIMIT_S)
    if "either_loop" in pyfuncitem.funcargs:
        pyfuncitem.funcargs["either_loop"].run_until_complete(work)
    else:
        asyncio.run(work)
    return True
