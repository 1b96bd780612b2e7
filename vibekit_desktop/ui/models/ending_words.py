"""What is said of a turn that did not end by itself. Pure; any thread."""

from vibekit_desktop.core.types.agents import StopReason, TurnOutcome
from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.visible import one_line

_SAID_CHARS = 200


def how_it_ended(outcome: TurnOutcome) -> str:
    """A sentence; empty for a turn that ended by itself, or was stopped by the person."""
    turn, said = outcome.turn, one_line(outcome.problem, _SAID_CHARS)
    match outcome.stop_reason:
        case StopReason.END | StopReason.CANCELLED:
            return ""
        case StopReason.MAX_TOKENS:
            return tr("Turn {turn} ended: the answer had become too long for the agent.", turn=turn)
        case StopReason.MAX_REQUESTS:
            return tr("Turn {turn} ended: the agent made as many requests as it may in one turn.", turn=turn)
        case StopReason.REFUSAL:
            return tr("Turn {turn} ended: the agent refused to go on.", turn=turn)
        case StopReason.TIMED_OUT:
            return tr("Turn {turn} was stopped: it took too long.", turn=turn)
        case StopReason.FAILED | StopReason.DIED:
            return said or tr("Turn {turn} ended: the agent could not go on.", turn=turn)
