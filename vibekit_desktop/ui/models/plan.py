"""An agent's plan as a card with its steps. A plan is stored as it came, so nothing of it is taken for granted. Pure."""

from collections.abc import Iterator

from vibekit_desktop.ui.models.blocks import Card, Step
from vibekit_desktop.ui.text import tr, tr_n
from vibekit_desktop.ui.visible import one_line

_STATES = {"completed": "done", "in_progress": "active"}


def steps_of(plan: object) -> tuple[Step, ...]:
    """The steps of a stored plan, their words as stored; what is no step is left out."""
    return tuple(_steps(plan))


def _steps(plan: object) -> Iterator[Step]:
    for entry in plan if isinstance(plan, list | tuple) else ():
        content = entry.get("content") if isinstance(entry, dict) else None
        if isinstance(content, str) and content.strip():
            yield Step(content, _STATES.get(str(entry.get("status")), "open"))


def current_step(plan: object) -> str:
    """The step that is being worked on, or empty. Asked for with every few words of an answer."""
    return next((one_line(step.text) for step in _steps(plan) if step.state == "active"), "")


def plan_card(plan: object, key: str, turn: int, *, running: bool) -> Card:
    """The card of a plan, with how far it has come."""
    steps = tuple(Step(one_line(step.text), step.state) for step in _steps(plan))
    done = sum(1 for step in steps if step.state == "done")
    every = done == len(steps)
    return Card(
        key=key,
        icon="plan",
        verb=tr("Planned"),
        target=tr_n("1 step", "{n} steps", len(steps)),
        mono=False,
        state="done" if every else "active" if running else "open",
        status="" if every else tr("{done} of {n} done", done=done, n=len(steps)),
        turn=turn,
        steps=steps,
    )
