"""What the rows of a transcript say: the program's notes as blocks, every block in words for assistive technology. Pure."""

from vibekit_desktop.core.types.chats import Message
from vibekit_desktop.ui import when
from vibekit_desktop.ui.models.blocks import (
    AnswerBlock,
    Block,
    BranchBlock,
    Card,
    CardsBlock,
    CheckpointBlock,
    EarlierBlock,
    EventBlock,
    FooterBlock,
    ThinkingBlock,
    UserBlock,
    WorkingBlock,
)
from vibekit_desktop.ui.text import tr, tr_n
from vibekit_desktop.ui.visible import one_line
from vibekit_desktop.ui.wording import number_text

_NOTICED_MS = 500


def thought_words(block: ThinkingBlock) -> str:
    """ "Thinking...", "Thought for 6 s", or "Thought"."""
    if block.running:
        return tr("Thinking…")
    if block.took_ms < _NOTICED_MS:
        return tr("Thought")
    return tr("Thought for {time}", time=when.duration(block.took_ms))


def working_words(block: WorkingBlock) -> tuple[str, str, str]:
    """What a running turn does, what it changed so far, at which step it is."""
    if block.stopping:
        first = tr("Stopping")
    elif block.waiting:
        first = tr("Waiting for you")
    else:
        first = tr("Starting {agent}", agent=block.starting) if block.starting else tr("Working")
    files = tr_n("1 file changed so far", "{n} files changed so far", block.files) if block.files else ""
    return first, files, block.step


def card_words(card: Card) -> str:
    """A tool call in words, with its state where it is not simply done."""
    parts = [f"{card.verb} {card.target}".strip()]
    if card.status and card.state != "done":
        parts.append(card.status)
    if card.missing:
        parts.append(card.missing)
    states = {"done": tr("done"), "active": tr("in progress"), "open": tr("not begun")}
    parts += (f"{step.text}: {states[step.state]}" for step in card.steps[:20])
    return ", ".join(parts)


def event_block(message: Message) -> EventBlock:
    """A message of the program's own, as a note."""
    match message.event_kind:
        case "interrupted":
            return EventBlock("stop", tr("Interrupted"), message.content)
        case "cancelled":
            return EventBlock("stop", tr("Stopped"), message.content)
        case "compacted":
            return EventBlock("archive", tr("Earlier messages were summed up for the agent"), message.content)
        case "compaction_failed":
            return EventBlock("warning", tr("The agent could not sum up earlier messages"), message.content)
        case "model_switched":
            return EventBlock("model", tr("Model changed to {model}", model=one_line(message.content, 80)))
        case "unreadable":  # `core.chat.salvage` puts it in the place of a message of a damaged chat
            return EventBlock("damaged", tr("A message that can't be read"))
        case "merged":
            return EventBlock("branch", tr("Merged from the branch {name}", name=one_line(message.content, 120)))
        case "infra_safety_blocked":
            return EventBlock("warning", tr("The agent's provider stopped this answer"), message.content)
        case _:
            text = " ".join(message.content.split())
            return EventBlock("info", one_line(text, 120) or tr("Note"), message.content if len(text) > 120 else "")


def spoken(block: Block) -> str:
    """A block in words, for assistive technology."""
    match block:
        case CheckpointBlock(turn, changed):
            if changed is False:
                return tr("Before turn {turn}, no files changed", turn=turn)
            return tr("Checkpoint {turn}, before this turn", turn=turn)
        case UserBlock(text, time, attachments):
            names = ", ".join(name for name, _ in attachments)
            said = tr("You, {time}: {text}", time=time, text=text[:2000])
            return tr("{message}, with {names}", message=said, names=names) if names else said
        case ThinkingBlock():
            return thought_words(block)
        case AnswerBlock(text):
            return text[:4000]
        case CardsBlock(shown):
            return "; ".join(card_words(card) for card in shown[:20])
        case WorkingBlock():
            return ", ".join(part for part in working_words(block) if part)
        case FooterBlock(turn, files, added, removed, took):
            parts = [tr("End of turn {turn}", turn=turn)]
            if files is not None:
                parts.append(tr_n("{n} file changed", "{n} files changed", files) if files else tr("no files changed"))
            if files:
                parts += (f"+{number_text(added)} \u2212{number_text(removed)}", when.duration(took))
            return ", ".join(part for part in parts if part)
        case EventBlock(_, text):
            return text
        case EarlierBlock(count):
            return tr_n("{n} earlier message", "{n} earlier messages", count)
        case BranchBlock(first, last, _):
            return tr("Turns {first} to {last} moved to a branch", first=first, last=last)
