"""A long text is divided into rows: nothing is lost, nothing that belongs together is torn, and what was divided stays so."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vibekit_desktop.ui.long_text import MAX_LINE, MAX_RICH
from vibekit_desktop.ui.models import text_parts
from vibekit_desktop.ui.models.text_parts import PART, count, part, sizes

PIECES = st.sampled_from(
    [
        "words that go on for a while\n",
        "\n",
        "\n\n",
        "- a point\n",
        "1. first\n",
        "| a | b |\n|---|---|\n",
        "> said\n",
        "```python\n",
        "```\n",
        "~~~\n",
        "````\n",
        "    indented\n",
        "# head\n",
        "x" * 700 + "\n",
        "long words " * 90 + "\n\n",
    ]
)
TEXTS = st.lists(PIECES, max_size=120).map(lambda pieces: "".join(pieces * 3))


def whole(text: str) -> str:
    return "".join(part(text, number) for number in range(count(text)))


@given(TEXTS)
def test_nothing_is_lost_but_blank_lines_between_parts(text: str) -> None:
    assert whole(text).replace("\n", "") == text.replace("\n", "")
    assert part(text, count(text)) == ""
    assert len(sizes(text)) == count(text)


@given(TEXTS, st.integers(0, 400))
def test_what_was_divided_stays_so_while_the_text_grows(text: str, grown: int) -> None:
    text = text[:MAX_RICH]
    short = text[: max(0, len(text) - grown)]
    for number in range(count(short) - 1):
        assert part(short, number) == part(text, number)


def test_a_code_block_is_never_torn() -> None:
    code = "```python\n" + "level = 1\n\n" * 2000 + "```\n"
    text = "Before.\n\n" * 800 + code + "\nAfter.\n\n" * 800
    assert sum(code.strip() in part(text, number) for number in range(count(text))) == 1


def test_a_fence_is_closed_by_one_that_is_as_long_only() -> None:
    inside = "```` \n```\nlevel\n```\n\n" + "words\n\n" * 2000 + "````\n\nAfter\n\n"
    text = inside + "words\n\n" * 2000
    assert part(text, 0) == inside[: inside.index("After")].strip("\n")
    assert count(text) == 1 + count("words\n\n" * 2000)


@pytest.mark.parametrize("line", ["- a point\n\n", "7. a point\n\n", "> said\n\n", "| a |\n\n", "  goes on\n\n"])
def test_what_may_go_on_over_a_blank_line_stays_together(line: str) -> None:
    assert count(line * 3000 if len(line) * 3000 <= MAX_RICH else line * (MAX_RICH // len(line))) == 1


def test_a_text_too_long_for_markdown_is_divided_at_line_ends() -> None:
    text = "some words that go on\n" * 4000
    assert not text_parts.is_rich(text)
    assert all(part(text, number).endswith("go on") for number in range(count(text)))
    assert count("x" * (MAX_RICH + 1)) == -(-(MAX_RICH + 1) // text_parts.SLICE)


@pytest.mark.parametrize("line", ["word " * 5_000, "x" * 25_000, "x" * 9_000 + " " + "word " * 20_000])
def test_of_a_line_of_any_length_all_is_in_parts_that_can_be_laid_out(line: str) -> None:
    text = f"Before.\n\n{line}\n\nAfter."
    assert not text_parts.is_rich(text)
    shown = [part(text, number) for number in range(count(text))]
    assert "".join(shown).replace("\n", "") == text.replace("\n", "")
    assert all(len(one) <= MAX_LINE for one in shown)
    assert all(one.endswith(" ") for one in shown[:-1]) or "x" * 25_000 in line


def test_a_long_line_of_code_is_no_reason_to_show_its_text_plain() -> None:
    code = "```json\n" + "x" * 20_000 + "\n```\n"
    assert text_parts.is_rich(f"Words.\n\n{code}\nMore.")
    assert not text_parts.is_rich(f"{code}\n{'y' * 20_000}")


def test_a_short_text_is_one_part() -> None:
    assert (count("words\n\n" * 10), count("x" * PART), count("")) == (1, 1, 1)
