"""What is said of a damaged chat: which of its messages can't be read and why, and what was not done to its file.

Pure; UI thread only.
"""

from vibekit_desktop.core.types.chats import ChatHeader, Damage, LostMessage, WhyLost
from vibekit_desktop.ui.text import tr, tr_n
from vibekit_desktop.ui.visible import one_line

SHOWN = 200
"""So many unreadable messages are told one by one."""
_WORD_CHARS = 120


def damage_in_row(header: ChatHeader) -> str:
    """What is wrong with it in the list: "3 messages unreadable", or the reason where it is not that."""
    if header.unreadable:
        return tr_n("1 message unreadable", "{n} messages unreadable", header.unreadable)
    return one_line(header.problem) or tr("unreadable")


def damage_told(damage: Damage) -> str:
    """The one sentence of the banner."""
    lost, total = len(damage.lost), damage.messages
    if not damage.ended:
        one, many = (
            "The file of this chat breaks off. 1 message can be read.",
            "The file of this chat breaks off. {n} messages can be read.",
        )
        return (
            tr_n(one, many, total - lost) if total > lost else tr("The file of this chat breaks off. No message can be read.")
        )
    if lost:
        return tr_n("{n} of {total} messages can't be read.", "{n} of {total} messages can't be read.", lost, total=total)
    if total:
        return tr("The file of this chat is damaged. Every message can be read; nothing can be added.")
    return tr("The file of this chat is damaged. No message can be read.")


def promises(damage: Damage) -> str:
    """What is kept, and what can be done."""
    words = [tr("The file was not changed, and nothing is written to it while it is damaged.")]
    if not damage.ended:
        words.append(tr("How many messages it had is not known."))
    words.append(tr("Files can be put back as far as the history of the chat is whole."))
    words.append(tr("If you have a copy of the file, put it back and press F5."))
    return " ".join(words)


def damage_lines(damage: Damage) -> list[str]:
    """Why the file is refused, and every message that can't be read with its reason."""
    lines = [tr("Why the file is refused: {problem}.", problem=one_line(damage.problem, _WORD_CHARS).rstrip("."))]
    lines += (lost_words(one) for one in damage.lost[:SHOWN])
    more = len(damage.lost) - SHOWN
    if more > 0:
        lines.append(tr_n("1 more", "{n} more", more))
    return lines


def lost_words(lost: LostMessage) -> str:
    """One message that can't be read, and why."""
    number = lost.number
    match lost.why:
        case WhyLost.NOT_JSON:
            return tr("Message {number}: what is written there is cut off or garbled.", number=number)
        case WhyLost.NO_OBJECT:
            return tr("Message {number}: what is written there is no message.", number=number)
        case WhyLost.WRONG_TYPE:
            key = one_line(lost.key, _WORD_CHARS)
            return tr("Message {number}: its “{key}” is not what belongs there.", number=number, key=key)
        case WhyLost.NO_ID:
            return tr("Message {number}: it has no valid id.", number=number)
