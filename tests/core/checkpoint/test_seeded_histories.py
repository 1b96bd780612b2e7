"""The same operations as the state machine's, drawn by weight from a seed: one seed is one history, and always the same one.

Hypothesis leaves out some operations of each history to shrink well; here all of them meet. A failing history is made short by
leaving out what is not needed, and printed as calls of `RecordedHistories`.
"""

import os
import random
import traceback
from collections.abc import Callable

import pytest

from tests.core.checkpoint.machine import PATHS
from tests.core.checkpoint.test_state_machine import BareHistories, Histories, RecordedHistories

SEEDS = range(1, 85)
ASKED = int(os.environ.get("VIBEKIT_HISTORIES", "0"))
STEPS = 30
Step = tuple[str, dict[str, object]]
WEIGHTS = {
    "user": 4,
    "begin": 4,
    "end": 2,
    "begin_command": 2,
    "end_command": 2,
    "announce": 5,
    "perform": 4,
    "write": 4,
    "restore": 4,
    "undo_file": 2,
    "take_back": 3,
    "reopen": 1,
    "branch": 1,
    "delete": 1,
    "forget": 1,
    "crash": 6,
    "tear": 1,
}
BARE_WEIGHTS = {"user": 4, "begin": 3, "end": 1, "act": 6, "restore": 4, "undo_file": 2, "take_back": 3, "reopen": 1}
STOPPED = ("restore", "restore", "restore", "undo_file", "take_back", "take_back", "write", "begin")
"""What comes after a ``crash``: operations of many steps."""
POSSIBLE: dict[str, Callable[[RecordedHistories], object]] = {
    "end": lambda machine: machine.both.model.open,
    "begin_command": lambda machine: machine.both.model.open,
    "end_command": lambda machine: machine.both.model.commands,
    "perform": lambda machine: machine.both.waiting,
}

pytestmark = pytest.mark.timeout(0 if ASKED else 120)


def drawn(seed: int, weights: dict[str, int]) -> list[Step]:
    """The history of a seed."""
    chance = random.Random(seed)
    names = chance.choices(list(weights), list(weights.values()), k=STEPS)
    for index, name in enumerate(names[:-1]):
        if name == "crash":
            names[index + 1] = chance.choice(STOPPED)
    return [(name, _values(name, chance)) for name in names]


def _values(name: str, chance: random.Random) -> dict[str, object]:
    values: dict[str, Callable[[], object]] = {
        "chat": lambda: chance.randrange(40),
        "path": lambda: chance.choice(PATHS),
        "data": lambda: chance.choice([b"", b"1", b"2", b"3"] if name == "announce" else [None, b"", b"1", b"2", b"3"]),
        "mode": lambda: chance.choice([None, None, None, 0o755, 0o644]),
        "kind": lambda: chance.choice(
            ["undo", "undo", "redo"] if name == "take_back" else ["write", "write", "write", "delete", "unknown", "mode"]
        ),
        "number": lambda: chance.randrange(40),
        "expects_other": lambda: chance.random() < 0.2,
        "point": lambda: chance.randrange(40),
        "mine": lambda: chance.random() < 0.5,
        "only": lambda: tuple(chance.sample(PATHS, chance.choice([0, 0, 1, 2]))),
        "scope": lambda: chance.choice(["files", "files", "files", "both", "chat"]),
        "turn": lambda: chance.randrange(40),
        "at": lambda: chance.choice([chance.randint(1, 12), chance.randint(8, 48)]),
    }
    keys = {
        "user": "path data mode",
        "announce": "chat path kind data mode",
        "perform": "number",
        "write": "chat path data mode expects_other",
        "act": "chat path data mode",
        "restore": "chat point mine only scope",
        "undo_file": "chat point mine path",
        "take_back": "chat mine kind",
        "branch": "chat turn",
        "reopen": "",
        "forget": "",
        "crash": "at",
    }
    return {key: values[key]() for key in keys.get(name, "chat").split()}


def played(history: list[Step], kind: type[Histories]) -> tuple[int, Exception] | None:
    """The step that failed, and how."""
    machine = kind()
    try:
        for index, (name, values) in enumerate(history):
            if isinstance(machine, RecordedHistories) and name in POSSIBLE and not POSSIBLE[name](machine):
                continue
            try:
                getattr(machine, name)(**values)
                machine.both.check()
            except Exception as error:
                return index, error
    finally:
        machine.teardown()
    return None


def _kind(error: Exception) -> tuple[str, str, int | None]:
    last = traceback.extract_tb(error.__traceback__)[-1]
    return type(error).__name__, last.filename, last.lineno


def shortened(history: list[Step], error: Exception, kind: type[Histories]) -> tuple[list[Step], Exception]:
    """A history that fails in the same place, of which no step can be left out."""
    size = 8
    while size:
        at, shorter = 0, False
        while at < len(history):
            without = history[:at] + history[at + size :]
            failed = played(without, kind)
            if failed is not None and _kind(failed[1]) == _kind(error):
                history, error, shorter = without[: failed[0] + 1], failed[1], True
            else:
                at += size
        size = size if shorter else size // 2
    return history, error


def check(seed: int, kind: type[Histories], weights: dict[str, int]) -> None:
    history = drawn(seed, weights)
    failed = played(history, kind)
    if failed is not None:
        history, error = shortened(history[: failed[0] + 1], failed[1], kind)
        calls = "\n".join(
            f"machine.{name}({', '.join(f'{key}={value!r}' for key, value in keys.items())})" for name, keys in history
        )
        raise AssertionError(f"seed {seed}:\n{calls}\n{error}") from error


GROUPS = [list(SEEDS[start::6]) for start in range(6)] + [[random.SystemRandom().randrange(1 << 40)] for _ in range(ASKED)]


@pytest.mark.parametrize("seeds", GROUPS, ids=lambda seeds: f"from-{seeds[0]}")
def test_the_product_and_the_model_agree_over_the_history_of_a_seed(seeds: list[int]) -> None:
    """Fixed seeds; and as many new ones as ``VIBEKIT_HISTORIES`` says."""
    for seed in seeds:
        check(seed, RecordedHistories, WEIGHTS)


@pytest.mark.parametrize("seeds", GROUPS, ids=lambda seeds: f"from-{seeds[0]}")
def test_they_agree_too_where_nobody_looked(seeds: list[int]) -> None:
    for seed in seeds:
        check(seed, BareHistories, BARE_WEIGHTS)
