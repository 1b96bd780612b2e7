"""The modes and models that a chat's agent offered last, kept in the chat, so that they have names before it runs.

The original keeps them in the same keys (chat.md 1.4 and 1.9), so what it wrote counts here, and what we write counts there.
Pure; any thread. Nothing here raises, whatever the keys hold.
"""

from collections.abc import Iterable, Iterator

import msgspec

from vibekit_desktop.core.agent.acp_json import entries, words
from vibekit_desktop.core.chat.hooked import storable
from vibekit_desktop.core.types.agents import AgentOption, Choice, OptionKind
from vibekit_desktop.core.types.chats import Chat

_MOST = 200
_NAME_CHARS, _DESCRIPTION_CHARS = 200, 500
KINDS = (OptionKind.MODE, OptionKind.MODEL)
"""What a chat keeps a choice of."""


def kept_options(chat: Chat) -> tuple[AgentOption, ...]:
    """What can be chosen as far as it is known without the agent; the ids are the words of the kinds."""
    return tuple(
        AgentOption(id=kind.value, name=name, kind=kind, value=value, choices=choices)
        for kind, name, value, listed in (
            (OptionKind.MODE, "Mode", chat.current_mode_id, chat.available_modes),
            (OptionKind.MODEL, "Model", chat.model, chat.available_models),
        )
        if value and (choices := tuple(_choices(listed)))
    )


def _choices(listed: object) -> Iterator[Choice]:
    for entry in list(entries({"all": listed}, "all"))[:_MOST]:
        if identity := words(entry, "id"):
            yield Choice(identity, words(entry, "name") or identity, words(entry, "description"))


def with_offers(chat: Chat, options: Iterable[AgentOption]) -> Chat:
    """The chat with what its agent offers now, and what of it is chosen."""
    by_kind = {option.kind: option for option in reversed(tuple(options)) if option.kind in KINDS}
    mode, model = (by_kind.get(kind) for kind in KINDS)
    return msgspec.structs.replace(
        chat,
        current_mode_id=chat.current_mode_id if mode is None else mode.value,
        model=chat.model if model is None else model.value,
        available_modes=_listed(mode),
        available_models=_listed(model),
    )


def _listed(option: AgentOption | None) -> list[dict[str, str]] | None:
    """Every choice as the original stores it; None for none."""
    if option is None or not option.choices:
        return None
    found: list[dict[str, str]] = []
    for one in option.choices[:_MOST]:
        entry = {"id": storable(one.id), "name": storable(one.name)[:_NAME_CHARS]}
        if one.description:
            entry["description"] = storable(one.description)[:_DESCRIPTION_CHARS]
        found.append(entry)
    return found


def named(options: Iterable[AgentOption], identity: str) -> AgentOption | None:
    """The option of an id, or of the kind that it is a word of: before an agent runs nobody knows its ids."""
    listed = tuple(options)
    found = next((one for one in listed if one.id == identity), None)
    return found or next((one for one in listed if one.kind in KINDS and one.kind.value == identity), None)


def offers(option: AgentOption, value: str) -> bool:
    """Whether a value can be chosen."""
    return value in ({choice.id for choice in option.choices} or {"true", "false"})
