"""What can go wrong with an agent, and whose fault it is. The branches and the rules are those of `core.types.errors`."""

from collections.abc import Sequence

from vibekit_desktop.core.types.errors import EnvironmentFault, Malformed, Refusal


class UnknownAgent(Malformed):
    """There is no agent of this name in the list, nor among the user's own. ``problem``: a sentence of what is wrong with the
    user's own list, if that may be why. Exit status 2."""

    code = "agent.unknown"

    def __init__(self, name: str, known: Sequence[str], problem: str = "") -> None:
        super().__init__("agent", name)
        self.problem = problem
        self.name = name
        self.known = tuple(known)


class AgentNeeded(Malformed):
    """Nobody said which agent is to answer, and the chat has none. Exit status 2."""

    code = "agent.needed"

    def __init__(self, chat: str) -> None:
        super().__init__("agent", "")
        self.chat = chat


class AgentMissing(EnvironmentFault):
    """The agent is not installed here; ``install`` is the command that would."""

    code = "agent.missing"

    def __init__(self, name: str, install: str) -> None:
        super().__init__(name)
        self.name = name
        self.install = install


class AgentNotSignedIn(EnvironmentFault):
    """The agent wants somebody to sign in first; ``ways`` are the names of its own ways, ``said`` its own words."""

    code = "agent.not-signed-in"

    def __init__(self, name: str, ways: Sequence[str], said: str) -> None:
        super().__init__(name)
        self.name = name
        self.ways = tuple(ways)
        self.said = said


class AgentFailed(EnvironmentFault):
    """The agent could not do what it was asked, or is gone. ``step``: ``start``, ``handshake``, ``session``, ``prompt``,
    ``option``, ``sign-in``; ``reason``: ``exit``, ``silent``, ``flood``, ``said``, ``protocol``, ``closed``, ``stopped`` (by a
    person, while it started), ``not-acp``, ``version`` (it speaks another one) or the system's word for it; ``said``: the
    agent's own words, if it had any; ``status``: its exit status, negative for a signal."""

    code = "agent.failed"
    retryable = True

    def __init__(self, name: str, step: str, reason: str, *, said: str = "", status: int | None = None) -> None:
        super().__init__(name, step, reason)
        self.name = name
        self.step = step
        self.reason = reason
        self.said = said
        self.status = status


class NotOffered(Refusal):
    """The agent does not offer this: an option, a value of one, an image, a session to continue."""

    code = "agent.not-offered"

    def __init__(self, name: str, what: str) -> None:
        super().__init__(name, what)
        self.name = name
        self.what = what


class AttachmentRefused(Refusal):
    """A file cannot go with a prompt. ``reason``: ``missing``, ``too-large``, ``not-regular``, ``secret``, ``no-images``."""

    code = "agent.attachment"

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason


class EmptyPrompt(Malformed):
    """There is nothing to send. Exit status 2."""

    code = "agent.empty-prompt"

    def __init__(self) -> None:
        super().__init__("prompt", "")
