"""The agent of one live chat: its process, its session, what it offers. Started when it is needed, ended when it is not.

| phase | process | what comes next |
| --- | --- | --- |
| off, unavailable | none | `start` |
| starting | is being greeted | a session that opens, or an error |
| idle | is there, with a session that knows the chat | prompts; `end`; its own end |

Loop thread.
"""

import asyncio
import logging
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace

import msgspec

from vibekit_desktop.core.agent.gate import Gate
from vibekit_desktop.core.agent.launch import Launchable
from vibekit_desktop.core.agent.link import (
    CommandsChanged,
    Greeting,
    Host,
    Link,
    LinkEvent,
    OptionsChanged,
    Session,
    UsageChanged,
)
from vibekit_desktop.core.agent.questions import Questions
from vibekit_desktop.core.agent.terminals import Terminals
from vibekit_desktop.core.chat import prompted
from vibekit_desktop.core.services import live_words
from vibekit_desktop.core.services.kept_options import KINDS, kept_options, named, offers, with_offers
from vibekit_desktop.core.services.live_means import Means
from vibekit_desktop.core.services.live_opening import Openings, wait_for
from vibekit_desktop.core.services.live_session import Opened, Past, open_session, wanted_options
from vibekit_desktop.core.services.live_sink import LiveSink
from vibekit_desktop.core.services.serial import durably
from vibekit_desktop.core.services.turn_book import load
from vibekit_desktop.core.services.vaults import OpenVault
from vibekit_desktop.core.types.agent_errors import AgentFailed, AgentMissing, AgentNeeded, AgentNotSignedIn, NotOffered
from vibekit_desktop.core.types.agents import (
    NO_USAGE,
    AgentChoice,
    AgentCommand,
    AgentState,
    LivePhase,
    OptionKind,
    Rule,
)
from vibekit_desktop.core.types.chats import Chat, Message
from vibekit_desktop.core.types.errors import CoreError, WorkspaceMissing
from vibekit_desktop.core.types.ids import ChatId

_log = logging.getLogger(__name__)


class LiveAgent:
    """Invariant: at most one process. With an open session ``upto`` is the last message that it knows, or is going to be told
    with the next prompt. ``changed`` is called after every change, ``make_host`` for what a new process reaches."""

    def __init__(
        self,
        means: Means,
        vault: OpenVault,
        stored: Chat,
        choice: AgentChoice | None,
        *,
        changed: Callable[[], None],
        make_host: Callable[[Gate], Host],
        wrote: Callable[[str], None],
    ) -> None:
        self._means = means
        self._vault = vault
        self._chat = ChatId(stored.id)
        self._changed = changed
        self._make_host = make_host
        self._wrote = wrote
        self.choice = choice
        self.phase = LivePhase.OFF
        self.launchable: Launchable | None = None
        self.link: Link | None = None
        self.greeting = Greeting()
        self.opened: Opened | None = None
        self.options = kept_options(stored)
        """What it offers; while it does not run, what it offered last."""
        self.commands: tuple[AgentCommand, ...] = ()
        self.usage = NO_USAGE
        self.error: CoreError | None = None
        self.step = "start"
        """How far the last start came, in the words of `AgentFailed`."""
        self.note = ""
        """What else is to be said of why it is not there: a sentence."""
        self.questions = Questions(changed)
        self.terminals: Terminals | None = None
        self.gate: Gate | None = None
        self.rules: tuple[Rule, ...] = ()
        self._folder = ""
        self._upto = ""
        self._start_lock = asyncio.Lock()
        self._starting: asyncio.Task[Link] | None = None
        """Whoever needs the agent meanwhile waits for the same start, and for its failure."""
        self._openings = Openings()
        self._watching: asyncio.Task[None] | None = None
        self._leaving: list[Link] = []
        """Those that are being ended. One whose end was cut short stays here for the next."""

    @property
    def name(self) -> str:
        """What people call it."""
        if self.launchable is not None:
            return self.launchable.info.name
        return self.choice.name if self.choice is not None else ""

    def _enter(self, phase: LivePhase) -> None:
        self.phase = phase
        self._changed()

    def event(self, event: LinkEvent) -> None:
        """What it offers changed."""
        match event:
            case OptionsChanged(options):
                self.options = options
            case CommandsChanged(commands):
                self.commands = commands
            case UsageChanged(usage):
                self.usage = usage
            case _:
                return
        self._changed()

    async def know(self) -> None:
        """Find out which agent would answer, without starting it."""
        if self.link is not None or self.choice is None:
            if self.choice is None:
                self.phase = LivePhase.UNAVAILABLE
            return
        try:
            self.launchable = await self._means.agents.launchable(self.choice)
        except CoreError as error:
            self.error, self.phase = error, LivePhase.UNAVAILABLE
            return
        if self.phase is LivePhase.UNAVAILABLE:
            self.error, self.phase = None, LivePhase.OFF

    async def start(self) -> Link:
        """The agent with an open session that knows what the chat says; started now if it is not there. Raises what is
        wrong. Who does not wait any more does not end the start: `stop_starting` and `end` do."""
        starting = self._starting
        if starting is None or starting.done():
            starting = self._starting = self._openings.begin(self._start(), "start an agent")
        return await wait_for(starting, self.name)

    def stop_starting(self) -> bool:
        """End the start that is under way, because a person wants it so; whether there was one."""
        opening = self._openings.cancel()
        if opening:
            self.note = live_words.stopped_starting(self.name)
            self._changed()
        return bool(opening)

    async def _start(self) -> Link:
        async with self._start_lock:
            chat, past = await self._past()
            link, opened = self.link, self.opened
            if link is not None and opened is not None and prompted.last_said(chat) == self._upto:
                return link  # nobody else said anything in it meanwhile, and nothing was taken back
            self._begin()
            try:
                if link is None:
                    link = await self._open_link()
                await self._open_session(link, past)
            except BaseException as error:
                await self._give_up(error)
                raise
            self._enter(LivePhase.IDLE)
            return link

    async def take_up(self, session: str) -> Sequence[LinkEvent]:
        """Start the agent and go on with a session of its own; what it tells of it. `NotOffered` where it can't."""
        taking_up = self._openings.begin(self._take_up(session), "take up a session")
        return (await wait_for(taking_up, self.name)).replayed

    def _begin(self) -> None:
        """What was wrong with an earlier start is over."""
        self.error, self.note = None, ""
        self._enter(LivePhase.STARTING)

    async def _take_up(self, session: str) -> Session:
        async with self._start_lock:
            self._begin()
            try:
                link = self.link or await self._open_link()
                found = await link.load_session(session, self._folder)
            except BaseException as error:
                await self._give_up(error)
                raise
            self.opened, self.options = Opened(session=found), found.options
            self._enter(LivePhase.IDLE)
            return found

    def was_filled(self, told: Sequence[Message]) -> None:
        """The transcript of the session that was taken up is in the chat now."""
        self._upto = prompted.last_said(Chat(id=self._chat, messages=tuple(told)))

    async def heard_all(self) -> None:
        """A turn is over: the open session knows all that the chat says now."""
        chat, _ = await self._past()
        self._upto = prompted.last_said(chat)

    async def _past(self) -> tuple[Chat, Past]:
        def read() -> Past:
            chat = load(self._vault, self._chat)
            if not chat.parent_chat_id or not self._vault.chats.where(ChatId(chat.parent_chat_id)):
                return Past(chat=chat)
            parent, _ = self._vault.chats.load(ChatId(chat.parent_chat_id))
            more = prompted.last_said(parent) != prompted.last_said(chat)
            return Past(chat=chat, parent=parent, parent_says_more=more)

        past = await durably(read)
        return past.chat, past

    async def _open_link(self) -> Link:
        means = self._means
        if self.choice is None:
            raise AgentNeeded(self._chat)
        workspace = await durably(self._vault.workspace)
        if workspace is None:
            raise WorkspaceMissing(self._vault.workspace_path)
        launchable = await means.agents.launchable(self.choice)
        self.launchable = launchable
        self.rules = await durably(lambda: means.rules.of(self._vault, self._chat))
        launch = launchable.launch(str(workspace.root))
        terminals = Terminals(launch.env, self._wrote)
        gate = Gate(
            self._chat,
            launchable.info.name,
            workspace.root,
            LiveSink(means.book, self._vault, self._chat),
            self.questions,
            terminals,
            rules=lambda: self.rules,
            add_rule=self.add_rule,
            home=means.home,
            never=(means.data_dir, self._vault.folder),
            clock=means.clock,
            new_id=lambda: str(uuid.uuid4()),
            asks=self._asks,
        )
        await asyncio.to_thread(means.load)
        link = means.connect(launch, self._make_host(gate))
        self.gate, self.terminals, self.link = gate, terminals, link
        self.opened, self._folder = None, str(workspace.root)
        self.step = "handshake"
        self.greeting = await link.open()
        self.step = "session"
        version = self.greeting.version
        means.agents.learned(
            replace(launchable.info, version=version or launchable.info.version, sign_in=self.greeting.sign_in)
        )
        self._watching = asyncio.create_task(self._watch(link), name="watch an agent's process")
        return link

    def _asks(self) -> bool:
        """Whether the agent is in its ask mode, as far as that is known."""
        launchable = self.launchable
        if launchable is None:
            return False
        mode = next((option.value for option in self.options if option.kind is OptionKind.MODE), "")
        return launchable.asks or bool(launchable.ask_mode and mode == launchable.ask_mode)

    async def _open_session(self, link: Link, past: Past) -> None:
        launchable = self.launchable
        assert launchable is not None
        opened = await open_session(link, self.greeting, past, launchable, self._folder)
        self.opened, self.options, self._upto = opened, opened.session.options, prompted.last_said(past.chat)
        for option, value in wanted_options(self.options, past.chat, launchable.ask_mode, fresh=True):
            try:
                await link.set_option(opened.session.id, option, value)
            except (NotOffered, AgentFailed) as error:
                if isinstance(error, AgentFailed) and error.reason != "said":
                    raise
                _log.info("an option of chat %s was not chosen: %s", self._chat, error.code)
        self._means.agents.learned(
            replace(launchable.info, state=AgentState.READY, version=self.greeting.version, sign_in=self.greeting.sign_in)
        )

    async def _give_up(self, error: BaseException) -> None:
        self._let_go()
        await self._close_all(patience_s=0.5)
        if isinstance(error, CoreError):
            self.error = error
            if isinstance(error, AgentNotSignedIn) and self.launchable is not None:
                info = replace(self.launchable.info, state=AgentState.NOT_SIGNED_IN, sign_in=self.greeting.sign_in)
                self._means.agents.learned(info)
        unavailable = isinstance(error, AgentMissing | AgentNeeded)
        self._enter(LivePhase.UNAVAILABLE if unavailable else LivePhase.OFF)

    async def _watch(self, link: Link) -> None:
        ended = await link.ended()
        if self.link is not link:
            return
        self._let_go()
        self.commands = ()
        if ended.reason != "closed":
            self.error = AgentFailed(self.name, "session", ended.reason, said=ended.said, status=ended.status)
        self._enter(LivePhase.OFF)
        await self._close_all(patience_s=0.5)

    def _is_started(self) -> bool:
        return self.link is not None or self._start_lock.locked()

    async def end(self, *, patience_s: float = 2.0) -> None:
        """End the agent, if it runs or starts, and wait also for one that somebody else is ending; the chat stays."""
        opening = self._openings.cancel()
        if opening:
            await asyncio.wait(opening)
        self._let_go()
        watching, self._watching = self._watching, None
        await self._close_all(patience_s=patience_s)
        if watching is not None:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
        if self._is_started():
            return  # by somebody else meanwhile
        self.gate = self.terminals = None  # with all that commands wrote
        self.commands = ()
        if self.phase is not LivePhase.UNAVAILABLE:
            self._enter(LivePhase.OFF)

    def _let_go(self) -> None:
        link, self.link, self.opened = self.link, None, None
        if link is not None:
            self._leaving.append(link)

    async def _close_all(self, *, patience_s: float) -> None:
        for link in tuple(self._leaving):
            await link.close(patience_s=patience_s)
            if link in self._leaving:
                self._leaving.remove(link)

    # -- what it offers ----------------------------------------------------------------------------------------------

    async def set_option(self, identity: str, value: str) -> None:
        """Choose one of its options; the chat keeps the choice of a mode or a model. While the agent does not run such a choice
        waits in the chat for its start; any other starts it."""
        option = named(self.options, identity)
        waits = not self._is_started() and option is not None and option.kind in KINDS
        link = None if waits else self.link or await self.start()
        option = named(self.options, identity)
        if option is None or not offers(option, value) or (link is not None and self.opened is None):
            raise NotOffered(self.name, f"{identity} = {value}")
        if link is not None and self.opened is not None:
            await link.set_option(self.opened.session.id, option, value)
        chosen = option.id
        self.options = tuple(replace(one, value=value) if one.id == chosen else one for one in self.options)
        self._changed()
        if option.kind in KINDS:
            options = self.options

            def keep(found: Chat, _there: bool) -> Chat:
                return with_offers(found, options) if waits else self.amended(found)

            await self._means.book.changing(self._chat, self._vault, lambda _: self._vault.chats.mutate(self._chat, keep))

    def amended(self, chat: Chat) -> Chat:
        """The chat with the agent that answers in it, its mode and its model."""
        assert self.launchable is not None
        info = self.launchable.info
        command = self.choice.command if self.choice is not None else ()
        offered = with_offers(chat, self.options)
        return msgspec.structs.replace(offered, agent=info.name, agent_id="" if command else info.id, agent_command=command)

    async def add_rule(self, rule: Rule) -> None:
        """From now on this is not asked; once it is stored, not before."""
        await self._means.book.changing(self._chat, self._vault, lambda _: self._means.rules.add(self._vault, rule))
        self.rules = (*self.rules, rule)
        self._changed()

    async def forget_rule(self, rule: Rule) -> None:
        """Ask again from now on."""
        self.rules = tuple(one for one in self.rules if (one.kind, one.subject) != (rule.kind, rule.subject))
        self._changed()
        await self._means.book.changing(self._chat, self._vault, lambda _: self._means.rules.forget(self._vault, rule))
