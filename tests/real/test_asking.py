"""A real agent that is not allowed to: nothing changes, whatever it tries, and it is told so."""

from collections.abc import Sequence

import pytest

from tests.helpers.fake_model import Step
from tests.helpers.fake_model_wire import Call
from tests.helpers.lab import SEED, Lab

pytestmark = pytest.mark.timeout(600)


def attempts(lab: Lab) -> dict[str, Call]:
    do, at = lab.kind, lab.at
    return {
        "create": do.write(at("new.txt"), "fresh\n"),
        "edit": do.edit(at("old.txt"), "beta", "BETA"),
        "run": do.run("echo x > made.txt; rm doomed.txt"),
        "outside": do.write(str(lab.home / ".profile"), "echo taken\n"),
        "outside-command": do.run(f"echo taken > '{lab.home}/.profile'"),
    }


@pytest.mark.parametrize(
    ("allow", "tried"),
    [("none", ("create", "outside", "outside-command")), ("reads", ("edit", "run"))],
    ids=["none", "reads"],
)
def test_what_is_not_allowed_does_not_happen(place: Lab, allow: str, tried: Sequence[str]) -> None:
    chat: str | None = None
    for number, name in enumerate(tried, 1):
        call = attempts(place)[name]
        place.play(name, Step("I look.", (place.kind.read(place.at("old.txt")),)), Step("I try.", (call,)), Step("I did not."))
        done = place.prompt(f"play:{name}", "--allow", allow, chat=chat)
        chat = done.json["chat_id"]
        assert (name, done.json["turn"], done.json["files"]) == (name, number, [])
        answers = [given["answer"] for given in done.json["permissions"]]
        assert answers or (name == "outside" and not place.kind.asks_outside), name
        assert set(answers) <= {"denied", "refused"}, (name, answers)
        assert place.files() == dict(SEED), name
        assert not (place.home / ".profile").exists(), name
        assert place.model.played(name)[-1].step > 0, f"{name}: it was not tried"
    assert chat is not None
    assert place.left_over() == []
    shown = str(place.look("show", chat, "--json").json["chat"]["messages"])
    assert "I try." in shown


def test_no_answer_reaches_beyond_the_workspace(place: Lab) -> None:
    """All is allowed, and that is all of the workspace: files elsewhere are not written by its tools."""
    place.play("outside", Step("I try.", (attempts(place)["outside"],)), Step("I did not."))
    done = place.prompt("play:outside", "--allow", "all")
    assert not (place.home / ".profile").exists()
    answers = [given["answer"] for given in done.json["permissions"]]
    assert answers[-1:] == ["refused"] * place.kind.asks_outside, done.json["permissions"]
    assert done.json["files"] == []
    assert place.files() == dict(SEED)
