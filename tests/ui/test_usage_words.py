"""How much of its context an agent has used: said where it says it, never guessed."""

import pytest

from vibekit_desktop.core.types.agents import LivePhase, LiveState, Usage
from vibekit_desktop.core.types.ids import ChatId
from vibekit_desktop.ui.models.usage_words import in_full, in_short


@pytest.mark.parametrize(
    ("usage", "words"),
    [
        (Usage(), ""),
        (Usage(used=50), ""),
        (Usage(used=84_000, size=200_000), "42 % of the context used"),
        (Usage(used=900, size=200), "100 % of the context used"),
        (Usage(used=-1, size=200), ""),
    ],
)
def test_in_short(usage: Usage, words: str) -> None:
    assert in_short(usage) == words


def test_in_full() -> None:
    usage = Usage(used=84_000, size=200_000, cost=0.125, currency="USD")
    state = LiveState(chat=ChatId("c"), phase=LivePhase.IDLE, agent="Claude Agent", version="0.49.0", usage=usage)
    assert in_full(state) == "Claude Agent 0.49.0\nContext: 84,000 of 200,000 tokens\nCost so far: 0.12 USD"
