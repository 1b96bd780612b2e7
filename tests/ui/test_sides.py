"""The points that a review can stand between."""

from dataclasses import replace

from tests.ui import samples
from vibekit_desktop.core.types.checkpoints import AfterTurn, AtEntry, BeforeTurn, Now, Start
from vibekit_desktop.ui.models.sides import new_points, old_points, side_label


def test_every_turn_has_two_points_and_the_start_is_one() -> None:
    timeline = samples.timeline()
    assert old_points(timeline, Start())[:3] == [Start(), BeforeTurn(1), AfterTurn(1)]
    assert new_points(timeline, Now())[-1] == AfterTurn(5)
    assert old_points(None, Start()) == [Start()]


def test_the_chosen_point_is_always_there() -> None:
    timeline = samples.timeline()
    assert old_points(timeline, AtEntry(7))[-1] == AtEntry(7)
    assert new_points(timeline, AtEntry(7))[-1] == AtEntry(7)
    assert Now() not in new_points(timeline, Now())


def test_a_side_says_its_moment_where_it_is_known() -> None:
    timeline = samples.timeline()
    assert side_label(timeline, BeforeTurn(3), samples.NOW) == ("Before turn 3", "13:31")
    assert side_label(timeline, AfterTurn(3), samples.NOW) == ("After turn 3", "13:33")
    assert side_label(timeline, AfterTurn(3), samples.at(20, 9, 0)) == ("After turn 3", "16 Sep, 13:33")
    assert side_label(timeline, Now(), samples.NOW) == ("On disk", "")
    unknown = replace(timeline, entries=tuple(replace(entry, at=0) for entry in timeline.entries))
    assert side_label(unknown, BeforeTurn(3), samples.NOW) == ("Before turn 3", "")
