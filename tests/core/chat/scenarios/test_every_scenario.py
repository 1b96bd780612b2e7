"""Each of the 117 scenarios is shown by a test here, by one elsewhere, or has a reason not to be."""

import re
from pathlib import Path

from tests.core.chat.scenarios.elsewhere import NO_MEANING, SHOWN

ROOT = Path(__file__).resolve().parents[4]
_NAME = re.compile(r"^def test_([0-9]+(?:_(?:and_)?[0-9]+)*)_", re.MULTILINE)


def shown_here() -> set[int]:
    text = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    return {int(number) for name in _NAME.findall(text) for number in re.findall("[0-9]+", name)}


def test_no_scenario_is_left_out() -> None:
    assert shown_here() | SHOWN.keys() | NO_MEANING.keys() == set(range(1, 118))


def test_what_is_said_to_be_shown_elsewhere_is() -> None:
    texts = {file: (ROOT / file).read_text() for file, _ in SHOWN.values()}
    assert [name for file, name in SHOWN.values() if f"def {name}(" not in texts[file]] == []


def test_what_has_no_meaning_here_is_shown_nowhere() -> None:
    assert NO_MEANING.keys().isdisjoint(shown_here() | SHOWN.keys())
