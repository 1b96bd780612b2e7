"""Which messages of a chat that became too large go into parts. Pure: sizes in, places out."""

from collections.abc import Iterator, Sequence

from vibekit_desktop.core.types.chats import Message, Role


def first_kept(messages: Sequence[Message], sizes: Sequence[int], *, room: int, most: int) -> int:
    """The index of the first message that stays in the chat file.

    The newest that fit into ``room`` stay, from a prompt on if there is one among them; the very last one also if it fits only
    into ``most``. What is larger than that goes into a part as well.
    """
    taken, first = 0, len(sizes)
    while first and taken + sizes[first - 1] <= room:
        first -= 1
        taken += sizes[first]
    if first == len(sizes) and sizes and sizes[-1] <= most:
        return first - 1
    prompts = (index for index in range(first, len(messages)) if messages[index].role == Role.USER)
    return next(prompts, first)


def groups(sizes: Sequence[int], limit: int) -> Iterator[tuple[int, int]]:
    """Neighbours together up to ``limit``, as (first, last exclusive); what is larger by itself stands alone."""
    first, taken = 0, 0
    for index, size in enumerate(sizes):
        if index > first and taken + size > limit:
            yield first, index
            first, taken = index, 0
        taken += size
    if first < len(sizes):
        yield first, len(sizes)
