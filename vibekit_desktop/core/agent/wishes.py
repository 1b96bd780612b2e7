"""What an agent wants to do, in our words: the operation, the places, the command, and why it is asked. Values; any thread."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from vibekit_desktop.core.agent.ansi import marked
from vibekit_desktop.core.agent.places import Place
from vibekit_desktop.core.agent.policy import Refused, Verdict
from vibekit_desktop.core.agent.rules import Wanted, folder_of
from vibekit_desktop.core.types.agents import Operation, Why
from vibekit_desktop.core.types.chats import DiffFragment
from vibekit_desktop.core.types.checkpoints import ALL_KEPT, FileState, Protection, State
from vibekit_desktop.core.types.ids import WorkspacePath

_SHOWN_CHARS = 200
WRITES = (Operation.EDIT, Operation.CREATE, Operation.DELETE, Operation.MOVE)
_VERBS = {
    Operation.READ: "read",
    Operation.EDIT: "edit",
    Operation.CREATE: "create",
    Operation.DELETE: "delete",
    Operation.MOVE: "move",
    Operation.RUN: "run",
    Operation.FETCH: "fetch something from the network",
    Operation.OTHER: "use a tool of its own",
}
_REFUSED = {
    Refused.OUTSIDE: "it is outside of the workspace",
    Refused.START_FILE: "programs read it when they start, and it is outside of the workspace",
    Refused.AUTOSTART: "it is started with the computer",
    Refused.HOME_FILE: "it is a settings file in the home folder",
    Refused.KEYS: "it holds keys or passwords",
    Refused.OWN_DATA: "it is our own data",
    Refused.REPOSITORY: "it belongs to the version control itself",
    Refused.STAGE: "the name is one of ours",
    Refused.DEVICE: "it is a device, or belongs to the system's own files",
    Refused.SYSTEM: "it belongs to the system, outside of the workspace",
    Refused.WORKSPACE: "it is the workspace folder itself",
    Refused.NO_PATH: "it is no path that can be used here",
    Refused.LINK: "a link leads elsewhere",
    Refused.NOT_REGULAR: "it is no regular file",
    Refused.RESERVED: "the name cannot be used on every system",
    Refused.CANNOT_LOOK: "it cannot be looked at",
    Refused.GONE: "the workspace folder is gone",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """One thing that an agent wants. ``states``: what was at the places when it was looked at. ``exact``: the command is what
    will run, and not the agent's title for it. ``title`` and ``diffs`` are the agent's words."""

    operation: Operation
    tool_call_id: str = ""
    places: tuple[Place, ...] = ()
    states: Mapping[WorkspacePath, FileState] = field(default_factory=dict)
    command: str = ""
    folder: Place | None = None
    exact: bool = True
    title: str = ""
    diffs: tuple[DiffFragment, ...] = ()
    why: frozenset[Why] = frozenset()
    protection: Protection = ALL_KEPT
    """What it may change for good, where it may change anything."""

    @property
    def is_anywhere(self) -> bool:
        """Whether nobody knows what in the workspace it will change."""
        return self.operation is Operation.RUN or (self.operation in WRITES and not self.inside)

    @property
    def inside(self) -> tuple[WorkspacePath, ...]:
        """The files behind the paths, inside of the workspace."""
        return tuple(dict.fromkeys(place.real for place in self.places if place.real is not None))

    @property
    def refused(self) -> Place | None:
        """The first place that is refused."""
        found = (self.folder,) if self.folder is not None else ()
        return next((place for place in (*found, *self.places) if place.refused is not None), None)

    @property
    def reasons(self) -> tuple[Why, ...]:
        """Why it is asked: by itself, and by its places."""
        places = (*self.places, *((self.folder,) if self.folder is not None else ()))
        return tuple(why for why in Why if why in self.why or any(place.why is why for place in places))

    @property
    def is_new(self) -> bool:
        """Whether nothing is at any of its places."""
        return bool(self.states) and all(state.state is State.ABSENT for state in self.states.values())

    @property
    def kind(self) -> Operation:
        """The operation, as it is named to people."""
        return Operation.CREATE if self.operation is Operation.EDIT and self.is_new else self.operation

    @property
    def folder_shown(self) -> str:
        """Where a command runs, empty for the workspace; or the folder that edits are in."""
        if self.operation is Operation.RUN:
            return "" if self.folder is None else self.folder.path or (self.folder.absolute if self.folder.why else "")
        return folder_of(self.inside) if self.operation in WRITES else ""

    def wanted(self) -> Wanted:
        """What rules are asked about."""
        return Wanted(
            operation=self.kind,
            paths=self.inside,
            command=self.command,
            folder=self.folder_shown if self.operation is Operation.RUN else "",
            exact=self.exact,
            why=frozenset(self.reasons),
            always=self.operation in WRITES
            and any(place.verdict is Verdict.ASK and place.why is None for place in self.places),
        )

    def with_why(self, *more: Why) -> "Wish":
        """The same, asked for more reasons."""
        return replace(self, why=self.why | frozenset(more))

    @property
    def subject(self) -> str:
        """The command, or the first path as it is shown; empty if neither is known."""
        if self.operation is Operation.RUN:
            return self.command
        return self.places[0].shown if self.places else ""

    @property
    def shown_paths(self) -> tuple[str, ...]:
        """Every path, and where a link leads what is behind it."""
        found = dict.fromkeys(place.shown for place in self.places)
        return tuple(found | dict.fromkeys(place.real for place in self.places if place.real is not None))

    @property
    def own_words(self) -> str:
        """What the agent calls it, where ours say nothing of what it is about."""
        unnamed = self.operation in (Operation.FETCH, Operation.OTHER) or not (self.command or self.places)
        return self.title if unnamed else ""

    def words(self) -> str:
        """What it is, in one line of ours."""
        verb = _VERBS[self.kind]
        if self.operation is Operation.RUN:
            where = f" in {_short(self.folder_shown)}" if self.folder_shown else ""
            return f"{verb} {_short(self.command)}{where}" if self.command else f"{verb} a command"
        if self.operation in (Operation.FETCH, Operation.OTHER) or not self.places:
            return verb if self.operation in (Operation.FETCH, Operation.OTHER) else f"{verb} files that it does not name"
        first, *more = dict.fromkeys(place.shown for place in self.places)
        if self.operation is Operation.MOVE and len(more) == 1:
            return f"{verb} {_short(first)} to {_short(more[0])}"
        return f"{verb} {_short(first)}{f' and {len(more)} more' if more else ''}"

    def refusal(self, place: Place) -> str:
        """What it is and why that is refused, in one line of ours."""
        other = "" if place.shown == self.subject else f" ({_short(place.shown)})"
        return f"{self.words()}: {_REFUSED[place.refused or Refused.CANNOT_LOOK]}{other}"


def refused_because(place: Place) -> str:
    """A sentence for the agent."""
    return f"Refused: {_REFUSED[place.refused or Refused.CANNOT_LOOK]}."


def _short(text: str) -> str:
    text = marked(text.encode("utf-8", "replace").decode("utf-8"))
    return text if len(text) <= _SHOWN_CHARS else text[: _SHOWN_CHARS - 1] + "…"
