"""How much of its context an agent has used, in words. Pure; UI thread for the translation."""

from vibekit_desktop.core.types.agents import LiveState, Usage
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.visible import one_line


def in_short(usage: Usage) -> str:
    """For a line that has little room; empty where the agent does not say."""
    if usage.size <= 0 or usage.used < 0:
        return ""
    return tr("{share} % of the context used", share=min(100, round(100 * usage.used / usage.size)))


def in_full(state: LiveState) -> str:
    """The agent's name, version, context and cost, a line each."""
    usage = state.usage
    lines = [f"{one_line(state.agent, 48)} {one_line(state.version, 24)}".strip()]
    if usage.size > 0:
        lines.append(tr("Context: {used} of {size} tokens", used=max(0, usage.used), size=usage.size))
    if usage.cost > 0:
        lines.append(tr("Cost so far: {cost} {currency}", cost=f"{usage.cost:.2f}", currency=one_line(usage.currency, 8)))
    return "\n".join(line for line in lines if line)
