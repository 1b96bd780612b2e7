"""What a turn of a live chat says, and what it works with. Values; any thread."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from vibekit_desktop.core.agent.gate import Gate
from vibekit_desktop.core.agent.link import Link, PromptPart
from vibekit_desktop.core.agent.questions import Questions
from vibekit_desktop.core.agent.terminals import Terminals
from vibekit_desktop.core.bus import Bus
from vibekit_desktop.core.disk.fs import Fs
from vibekit_desktop.core.services.turn_book import TurnBook
from vibekit_desktop.core.services.vaults import OpenVault
from vibekit_desktop.core.types.agents import Headless, Prompt
from vibekit_desktop.core.types.chats import Chat
from vibekit_desktop.core.types.ids import ChatId


@dataclass(frozen=True, slots=True, kw_only=True)
class Saying:
    """What a turn says, and who says it as what. ``amend``: what else of the chat is other from now on."""

    prompt: Prompt
    parts: Sequence[PromptPart]
    session: str
    headless: Headless | None
    amend: Callable[[Chat], Chat]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """The things that a turn of one chat works with."""

    bus: Bus
    book: TurnBook
    fs: Fs
    vault: OpenVault
    chat: ChatId
    agent: str
    link: Link
    gate: Gate
    questions: Questions
    terminals: Terminals
    clock: Callable[[], int]
