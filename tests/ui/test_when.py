"""Moments and durations as people read them."""

import pytest

from tests.ui import samples
from vibekit_desktop.ui import when


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (samples.NOW - 5_000, "now"),
        (samples.NOW - 12 * 60_000, "12 min"),
        (samples.at(16, 9, 30), "09:30"),
        (samples.at(15, 17, 20), "17:20"),
        (samples.at(14, 8, 0), "Mon"),
        (samples.at(12, 8, 0, 8), "12 Aug"),
        (samples.at(12, 8, 0, 8) - 366 * 86_400_000, "Aug 2025"),
    ],
)
def test_times_are_short(moment: int, text: str) -> None:
    assert when.short_time(moment, samples.NOW) == text


@pytest.mark.parametrize(
    ("ms", "text"),
    [(0, ""), (800, "0.8 s"), (5_000, "5 s"), (9_990, "10 s"), (48_000, "48 s"), (72_000, "1 m 12 s"), (7_500_000, "2 h 05 m")],
)
def test_durations_are_short(ms: int, text: str) -> None:
    assert when.duration(ms) == text


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (0, ""),
        (samples.at(16, 9, 30), "09:30"),
        (samples.at(15, 17, 20), "15 Sep, 17:20"),
        (samples.at(12, 8, 0, 8) - 366 * 86_400_000, "11 Aug 2025, 08:00"),
    ],
)
def test_a_moment_names_its_day_unless_it_is_today(moment: int, text: str) -> None:
    assert when.stamp(moment, samples.NOW) == text


@pytest.mark.parametrize(
    ("days", "text"), [(0, "today"), (1, "yesterday"), (9, "9 days ago"), (20, "2 weeks ago"), (100, "3 months ago")]
)
def test_an_age_is_said_in_words(days: int, text: str) -> None:
    assert when.age_in_days(samples.NOW - days * 86_400_000, samples.NOW) == text


def test_assistive_technology_hears_a_whole_phrase() -> None:
    assert when.spoken_age(samples.NOW - 60_000, samples.NOW) == "1 minute ago"
    assert when.spoken_age(samples.NOW - 120_000, samples.NOW) == "2 minutes ago"
