"""A real agent whose turn does not end by itself: it ends anyway, nothing is left behind, and what it had changed is known."""

import os
import signal
import subprocess
import time

import pytest

from tests.helpers.fake_model import Step
from tests.helpers.lab import SEED, Answer, Lab
from tests.helpers.survivors import with_variable

pytestmark = pytest.mark.timeout(600)

NEVER_S = 3600.0


def begin(lab: Lab) -> "subprocess.Popen[bytes]":
    """Our program in a turn that has edited a file and said a word, and says no more."""
    do, at = lab.kind, lab.at
    lab.play(
        "endless",
        Step("I look.", (do.read(at("old.txt")),)),
        Step("", (do.edit(at("old.txt"), "beta", "BETA"),)),
        Step("I look elsewhere.", (do.read(at("side.txt")),)),
        Step("And now I think.", wait_s=NEVER_S),
    )
    place = ("--workspace", str(lab.workspace), "--agent", lab.kind.id)
    running = lab.start("prompt", "play:endless", *place, "--allow", "all", "--json")
    if not lab.model.wait_until(lambda asked: any(one.play == "endless" and one.step == 3 for one in asked)):
        running.kill()
        raise AssertionError(f"it did not come so far: {lab.finish(running)}")
    return running


def check_history(lab: Lab, chat: str) -> None:
    """The edit of the turn that was cut off is known and can be taken back."""
    assert lab.left_over() == []
    assert lab.files() == {**SEED, "old.txt": b"alpha\nBETA\ngamma\n"}
    entries = lab.look("timeline", chat, "--json").json["entries"]
    rows = [row for entry in entries if entry["kind"] == "turn" for row in entry["files"]]
    assert [(row["path"], row["author"]) for row in rows] == [("old.txt", "agent")]
    assert lab.call("restore", chat, "before:1", "--yes", "--json").status == 0
    assert lab.files() == dict(SEED)


def test_a_turn_ends_when_its_time_is_over(place: Lab) -> None:
    place.play("silent", Step("One moment.", wait_s=NEVER_S))
    began = time.monotonic()
    done = place.prompt("play:silent", "--allow", "all", "--timeout", "12")  # three times what a start takes
    assert time.monotonic() - began < 60
    assert done.json["stop_reason"] in ("cancelled", "timed_out")
    assert place.left_over() == []
    assert place.files() == dict(SEED)
    # The chat is not harmed: the next prompt is answered.
    place.play("again", Step("Here I am."))
    again = place.prompt("play:again", chat=done.json["chat_id"])
    assert (again.json["turn"], again.json["stop_reason"]) == (2, "end_turn")


def test_an_interrupt_ends_the_turn_and_its_agent(place: Lab) -> None:
    running = begin(place)
    running.send_signal(signal.SIGINT)
    place.finish(running)
    check_history(place, _newest(place))


def test_an_agent_that_is_killed_ends_its_turn(place: Lab) -> None:
    running = begin(place)
    for pid in with_variable("HOME", str(place.home)):
        if pid != running.pid:
            os.kill(pid, signal.SIGKILL)
    done: Answer = place.finish(running)
    assert done.json["stop_reason"] == "died"
    check_history(place, done.json["chat_id"])


def test_our_program_killed_leaves_a_history_and_no_agent(place: Lab) -> None:
    """Nobody is there to end the agent: it leaves when its streams end. Nor did anybody look at what it wrote itself: that is
    done before the next change."""
    running = begin(place)
    running.kill()
    place.finish(running)
    check_history(place, _newest(place))


def _newest(lab: Lab) -> str:
    """The chat of ours that was written last."""
    chats = lab.look("list", "--json").json["chats"]
    return next(str(chat["id"]) for chat in chats if chat["source"] is None)
