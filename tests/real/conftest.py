"""Labs for the tests with real agents; without the agents every one of these tests is skipped, with the reason."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.lab import KINDS, Kind, Lab, lab, reason_to_skip


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that wants a lab runs once for each kind of agent."""
    if "kind" in metafunc.fixturenames:
        why = {kind: reason_to_skip(kind) for kind in KINDS}
        marks = {kind: [pytest.mark.skipif(bool(why[kind]), reason=why[kind] or "it is here")] for kind in KINDS}
        metafunc.parametrize("kind", [pytest.param(kind, id=kind.id, marks=marks[kind]) for kind in KINDS])


@pytest.fixture
def place(kind: Kind, tmp_path: Path) -> Iterator[Lab]:
    """A fresh lab."""
    with lab(kind, tmp_path) as made:
        yield made
