"""What is known of the sessions that an agent has open with us: what can be chosen in each, and what is being told again.

Loop thread; never waits.
"""

from dataclasses import dataclass, field, replace

from vibekit_desktop.core.agent.acp_frames import ConfigTold, ModeTold, Told
from vibekit_desktop.core.agent.acp_offers import config_options, mode_option, model_option
from vibekit_desktop.core.agent.link import (
    LinkEvent,
    OptionsChanged,
    TextArrived,
    ThoughtArrived,
    ToolChanged,
    UserTextArrived,
)
from vibekit_desktop.core.types.agents import AgentOption, OptionKind

HELD = 200_000
"""Updates that are kept while a session is being opened; later ones are lost."""
_TALK = TextArrived | ThoughtArrived | UserTextArrived | ToolChanged


@dataclass(slots=True)
class Options:
    """What can be chosen in a session. The one list (``config``) wins over the older lists of modes and models."""

    config: tuple[AgentOption, ...] = ()
    mode: AgentOption | None = None
    model: AgentOption | None = None

    def take(self, answer: object) -> None:
        """What an answer says of them; what it does not say stays."""
        self.config = config_options(answer) or self.config
        self.mode = mode_option(answer) or self.mode
        self.model = model_option(answer) or self.model

    def all(self) -> tuple[AgentOption, ...]:
        """Each kind once, modes first where they are a list of their own."""
        kinds, ids = {option.kind for option in self.config}, {option.id for option in self.config}
        listed = [
            option
            for option in (self.mode, self.model)
            if option is not None and option.kind not in kinds and option.id not in ids
        ]
        return (*listed, *self.config)

    def chosen(self, option: str, value: str) -> None:
        """Something was chosen."""
        self.config = tuple(replace(one, value=value) if one.id == option else one for one in self.config)
        if self.mode is not None and self.mode.id == option:
            self.mode = replace(self.mode, value=value)
        if self.model is not None and self.model.id == option:
            self.model = replace(self.model, value=value)

    def mode_told(self, mode: str) -> None:
        """The mode is another now, whichever list it is in."""
        self.config = tuple(replace(one, value=mode) if one.kind is OptionKind.MODE else one for one in self.config)
        if self.mode is not None:
            self.mode = replace(self.mode, value=mode)


@dataclass(slots=True)
class Sessions:
    """The sessions of one agent. Invariant: what is told of a session while it is being opened reaches nobody before it is."""

    _open: dict[str, Options] = field(default_factory=dict)
    _opening: str | None = None
    """The id of the session that is being opened, empty if the agent chooses it, None if none is."""
    _held: list[Told] = field(default_factory=list)
    _keeps_talk: bool = True

    @property
    def telling_again(self) -> bool:
        """A session that there was before is being opened: nothing that is asked now is done."""
        return bool(self._opening)

    def has(self, session: str) -> bool:
        """Whether something under this id is for us: of an agent with one session also that of its helpers, under any id."""
        return session in self._open or len(self._open) == 1

    def begin(self, session: str, *, keeps_talk: bool) -> None:
        """A session is being opened: by its id, or by one that the agent will choose (empty). ``keeps_talk``: what was said in
        it is wanted; else only how it is."""
        self._opening, self._held, self._keeps_talk = session, [], keeps_talk

    def abandon(self) -> None:
        """It was not opened."""
        self._opening, self._held = None, []

    def opened(self, session: str, answer: object) -> tuple[LinkEvent, ...]:
        """It is open; what was told of it meanwhile, in order, but for its options: what the answer says of them is newer."""
        held, self._held, self._opening = [told.what for told in self._held if told.session == session], [], None
        options = Options()
        for what in held:
            if isinstance(what, ConfigTold):
                options.config = what.options
        options.take(answer)
        self._open[session] = options
        return tuple(what for what in held if not isinstance(what, ConfigTold | ModeTold))

    def options(self, session: str) -> Options | None:
        """What can be chosen in a session that is open."""
        return self._open.get(session)

    def told(self, told: Told) -> LinkEvent | None:
        """What of something said is to be handed on now."""
        options = self._open.get(told.session)
        if self._opening is not None and (self._opening == told.session or options is None):
            if len(self._held) < HELD and (self._keeps_talk or not isinstance(told.what, _TALK)):
                self._held.append(told)
            return None
        match told.what:
            case ModeTold(mode) if options is not None:
                options.mode_told(mode)
                return OptionsChanged(options.all())
            case ConfigTold(config) if options is not None:
                options.config = config
                return OptionsChanged(options.all())
            case ModeTold() | ConfigTold():
                return None
            case event:
                helper = isinstance(event, ToolChanged) and len(self._open) == 1
                return event if options is not None or helper else None
