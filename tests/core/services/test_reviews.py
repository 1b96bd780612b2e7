"""What was said of a chat goes along with it, wherever the program dies on the way."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

import pytest

from tests.core.services.town import Town
from vibekit_desktop.app.wiring import Wired
from vibekit_desktop.core.types.checkpoints import Now, Start
from vibekit_desktop.core.types.errors import CoreError
from vibekit_desktop.core.types.events import ReviewChanged
from vibekit_desktop.core.types.ids import ChatId, WorkspacePath
from vibekit_desktop.core.types.reviews import Side

MAIN = ChatId("main-0001")
PATH = WorkspacePath("a.txt")


def say(town: Town, chat: str, text: str) -> None:
    def work(wired: Wired) -> Awaitable[object]:
        return wired.core.reviews.comment(ChatId(chat), PATH, Side.NEW, 1, 1, text, old=Start(), new=Now())

    town.run(work)
    town.clock.advance(10)


def said(town: Town, chat: str) -> list[str]:
    async def work(wired: Wired) -> list[str]:
        try:
            return [one.text for one in await wired.core.reviews.comments(ChatId(chat))]
        except CoreError:
            return []

    return town.run(work)


@pytest.fixture
def family(town: Town) -> ChatId:
    """A chat and its branch, each with a comment of its own and one that both have."""
    town.turn(MAIN, a="one\n")
    town.turn(MAIN, a="two\n")
    say(town, MAIN, "both")
    branch = town.branch(MAIN, 2)
    town.turn(branch, a="three\n")
    say(town, MAIN, "main")
    say(town, branch, "branch")
    return branch


@pytest.mark.parametrize(
    ("what", "after"),
    [("promote", {MAIN: ["both", "main"], "branch": ["both", "main", "branch"]}),
     ("merge", {MAIN: ["both", "main", "branch"], "branch": ["both", "branch"]}),
     ("discard", {MAIN: ["both", "main"], "branch": []})],
)  # fmt: skip
def test_what_branches_do_to_comments_is_done_after_any_crash(
    town: Town, family: ChatId, what: str, after: dict[str, list[str]]
) -> None:
    work: Callable[[Wired], Awaitable[object]] = lambda wired: getattr(wired.core.chats, what)(family)  # noqa: E731
    kept = town.copy()
    crashes = 0
    for number in range(1, 80):
        town.put_back(kept)
        if not town.dies_at(number, work):
            break
        crashes += 1
        assert set(said(town, MAIN)) >= {"both", "main"}
        with contextlib.suppress(CoreError):  # where it was done before the program died
            town.run(work)
        assert {MAIN: said(town, MAIN), "branch": said(town, family)} == after
    assert crashes > 5
    assert {MAIN: said(town, MAIN), "branch": said(town, family)} == after


def test_a_chat_that_gets_comments_is_told(town: Town, family: ChatId) -> None:
    town.run(lambda wired: wired.core.chats.merge(family))
    assert [event for event in town.events if isinstance(event, ReviewChanged)] == [ReviewChanged(MAIN)]


def test_a_review_of_a_deleted_chat_does_not_outlive_a_crash(town: Town, family: ChatId) -> None:
    kept = town.copy()
    for number in range(1, 80):
        town.put_back(kept)
        if not town.dies_at(number, lambda wired: wired.core.chats.delete(MAIN)):
            break
        town.run(lambda wired: wired.recover())
        reviews = town.vault / "desktop" / "reviews"
        there = {path.name.partition(".")[0] for path in reviews.iterdir()}
        assert all(town.file(chat).exists() for chat in there), "no review without its chat, once a window started"


def test_changes_of_one_review_at_once_are_all_kept(town: Town) -> None:
    town.turn(MAIN, a="one\n")

    async def work(wired: Wired) -> None:
        reviews = wired.core.reviews
        made = [reviews.comment(MAIN, PATH, Side.NEW, 1, 1, f"c{n}", old=Start(), new=Now()) for n in range(20)]
        marks = [reviews.set_reviewed(MAIN, WorkspacePath(f"f{n}"), None, None, True) for n in range(20)]
        await asyncio.gather(*made, *marks)
        assert len(await reviews.comments(MAIN)) == len(await reviews.reviewed(MAIN)) == 20

    town.run(work)
