"""The host of an agent that is only looked at: no turn runs, so it is given nothing and may do nothing."""

from collections.abc import Sequence

from vibekit_desktop.core.agent.link import Ask, Denied, LinkEvent, TerminalExit, TerminalOutput


def _denied() -> Denied:
    return Denied("no-turn", "No turn is running, so nothing is allowed.")


class Nobody:
    """Implements `core.agent.link.Host`: forgets what is said, denies what is asked."""

    def event(self, event: LinkEvent) -> None:
        """Forgotten."""

    async def ask(self, ask: Ask) -> str | None:
        """Nobody answers."""
        return None

    async def read(self, path: str, line: int | None, limit: int | None) -> str:
        """Denied."""
        raise _denied()

    async def write(self, path: str, text: str) -> None:
        """Denied."""
        raise _denied()

    async def create_terminal(
        self, command: str, args: Sequence[str], folder: str | None, env: Sequence[tuple[str, str]], limit_bytes: int | None
    ) -> str:
        """Denied."""
        raise _denied()

    async def terminal_output(self, terminal: str) -> TerminalOutput:
        """Denied."""
        raise _denied()

    async def wait_for_exit(self, terminal: str) -> TerminalExit:
        """Denied."""
        raise _denied()

    async def kill_terminal(self, terminal: str) -> None:
        """Denied."""
        raise _denied()

    async def release_terminal(self, terminal: str) -> None:
        """Denied."""
        raise _denied()
