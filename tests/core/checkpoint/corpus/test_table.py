"""The table at the top of the corpus names tests that exist."""

import ast
from functools import cache
from pathlib import Path

from tests.core.checkpoint import corpus

ROWS = [line.split() for line in (corpus.__doc__ or "").splitlines() if "::" in line]
NAMED = sorted({word for row in ROWS for word in row if "::" in word})
TESTS = Path(__file__).parents[3]


@cache
def _names(module: str) -> tuple[str, ...]:
    """The tests in the files of that name."""
    found = [ast.parse(path.read_text("utf-8")) for path in TESTS.rglob(f"{module}.py")]
    return tuple(node.name for tree in found for node in tree.body if isinstance(node, ast.FunctionDef))


def test_what_the_table_names_is_there() -> None:
    missing = [
        f"{module}::{name}"
        for module, name in (named.split("::") for named in NAMED)
        if not any(one.startswith(name) for one in _names(module))
    ]
    assert missing == []


def test_the_numbers_of_the_table_go_up() -> None:
    numbers = [int(row[0]) for row in ROWS if row[0].isdecimal() and "::" in row[1]]
    assert numbers == sorted(set(numbers))
    assert len(numbers) > 50
