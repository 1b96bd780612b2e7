"""Values as people read them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vibekit_desktop.core.types.checkpoints import AfterTurn, BeforeTurn, LeaveReason, Now, Start
from vibekit_desktop.ui.models.block_words import spoken
from vibekit_desktop.ui.models.blocks import FooterBlock
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.views.row_paint import counts_parts
from vibekit_desktop.ui.wording import (
    fit_path,
    leave_text,
    point_label,
    point_words,
    shown_path,
    size_text,
)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (None, ""),
        (812, "812 bytes"),
        (212_000, "212 KB"),
        (9_200_000, "9.2 MB"),
        (48_000_000, "48 MB"),
        (1_800_000_000, "1.8 GB"),
    ],
)
def test_sizes(size: int | None, text: str) -> None:
    assert size_text(size) == text


def test_points() -> None:
    assert [point_words(point) for point in (BeforeTurn(3), AfterTurn(4), Now())] == ["before turn 3", "after turn 4", "now"]
    assert [point_label(point) for point in (Start(), Now())] == ["Start of chat", "On disk"]


@pytest.mark.parametrize("reason", list(LeaveReason))
def test_every_reason_to_leave_a_file_has_a_sentence(reason: LeaveReason) -> None:
    assert leave_text(reason).endswith(".")
    assert leave_text(reason.value) == leave_text(reason)


def test_a_path_keeps_its_first_folder_and_its_name() -> None:
    assert fit_path("docs/changes/2024/0142-lazy-rows.md", 26, len) == "docs/…/0142-lazy-rows.md"
    assert fit_path("a/b/c/d/e.py", 10, len) == "a/…/d/e.py"
    assert fit_path("docs/0142-lazy-rows.md", 20, len) == "…/0142-lazy-rows.md"


@given(st.text(alphabet="ab/", min_size=1, max_size=40), st.integers(1, 40))
def test_a_cut_path_never_gets_wider_than_its_room(path: str, width: int) -> None:
    assert len(fit_path(path, width, len)) <= max(width, 1)


def test_a_rename_in_the_same_folder_names_the_folder_once() -> None:
    assert shown_path("src/format.py", "src/fmt.py") == "src/fmt.py → format.py"
    assert shown_path("b/x.py", "a/x.py") == "a/x.py → b/x.py"


def test_bytes_that_are_not_text_are_shown_as_their_value() -> None:
    assert shown_path(b"caf\xe9.txt".decode("utf-8", "surrogateescape")) == "caf\u27e8E9\u27e9.txt"


def test_every_number_has_its_thousands_apart() -> None:
    """In sentences, in counts of lines, and in what is heard of them."""
    assert tr("{n} added, {done} of {name}", n=20301, done=1000, name="2026") == "20,301 added, 1,000 of 2026"
    assert [text for text, _ in counts_parts((20301, 1))] == ["+20,301", "−1"]
    assert "+20,301 −1,200" in spoken(FooterBlock(1, 20301, 20301, 1200, 0, ""))
