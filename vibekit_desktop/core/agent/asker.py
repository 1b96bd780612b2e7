"""Who answers what an agent wants: the rules, the answer given beforehand, or the person.

What a question says is put together here from what we know; an agent's own words go only where they are shown as such. Loop
thread.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from vibekit_desktop.core.agent import rules
from vibekit_desktop.core.agent.questions import Questions
from vibekit_desktop.core.agent.wishes import Wish
from vibekit_desktop.core.types.agents import Answer, Headless, Hold, Operation, Question, Rule
from vibekit_desktop.core.types.errors import CoreError
from vibekit_desktop.core.types.ids import ChatId

_log = logging.getLogger(__name__)

MOST_OPEN = 100
"""An agent that asks more than that at once is not asking anybody."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer. None: the turn was stopped. ``waited``: a person was asked, so time has passed."""

    answer: Answer | None
    waited: bool = False

    @property
    def allows(self) -> bool:
        """Whether it is a yes."""
        return self.answer not in (None, Answer.DENY)


class Asker:
    """Gets answers for one chat."""

    def __init__(
        self,
        chat: ChatId,
        agent: str,
        questions: Questions,
        *,
        rules_now: Callable[[], Sequence[Rule]],
        add_rule: Callable[[Rule], Awaitable[None]],
        clock: Callable[[], int],
        new_id: Callable[[], str],
    ) -> None:
        self._chat = chat
        self._agent = agent
        self._questions = questions
        self._rules = rules_now
        self._add_rule = add_rule
        self._clock = clock
        self._new_id = new_id
        self._waiting: dict[str, rules.Wanted] = {}

    def at_once(self, wish: Wish, headless: Headless | None) -> Reply | None:
        """The answer for which nobody has to be asked, if there is one."""
        if headless is not None:
            return Reply(_beforehand(headless, wish))
        if rules.allows(self._rules(), self._chat, wish.wanted()):
            return Reply(Answer.ALLOW_ONCE)
        return Reply(Answer.DENY) if self._questions.count >= MOST_OPEN else None

    async def ask(self, wish: Wish, turn: int, headless: Headless | None) -> Reply:
        """May the agent do this?"""
        known = self.at_once(wish, headless)
        if known is not None:
            return known
        wanted = wish.wanted()
        reply = await self._person(wish, wanted, turn, Hold.NONE)
        rule = None if reply.answer is None else rules.rule_of(reply.answer, self._chat, wanted, self._clock())
        if rule is not None:
            await self._make(rule)
        return reply

    async def held(self, wish: Wish, hold: Hold, turn: int, headless: Headless | None) -> Reply:
        """What goes can't be kept: what now? Without a person nothing is let through that can't be undone."""
        if headless is not None:
            return Reply(Answer.DENY)
        return await self._person(wish, wish.wanted(), turn, hold)

    async def _person(self, wish: Wish, wanted: rules.Wanted, turn: int, hold: Hold) -> Reply:
        if self._questions.count >= MOST_OPEN:
            return Reply(Answer.DENY)
        question = Question(
            id=self._new_id(),
            chat=self._chat,
            turn=turn,
            agent=self._agent,
            operation=wish.kind,
            subject=wish.subject,
            asked_at=self._clock(),
            title=wish.title,
            folder=wish.folder_shown,
            paths=wish.shown_paths,
            diffs=wish.diffs,
            why=wish.reasons,
            hold=hold,
            answers=rules.answers(wanted, hold),
            tool_call_id=wish.tool_call_id,
            protection=wish.protection,
        )
        if hold is Hold.NONE:
            self._waiting[question.id] = wanted
        try:
            return Reply(await self._questions.ask(question), waited=True)
        finally:
            self._waiting.pop(question.id, None)

    async def _make(self, rule: Rule) -> None:
        try:
            await self._add_rule(rule)
        except CoreError as error:
            _log.info("an answer holds only once, as its rule could not be stored: %s", error.code)
            return
        for question, wanted in list(self._waiting.items()):
            if rules.allows([rule], self._chat, wanted):
                self._questions.answer(question, Answer.ALLOW_ONCE)


def _beforehand(headless: Headless, wish: Wish) -> Answer:
    match headless:
        case Headless.ALL:
            return Answer.ALLOW_ONCE
        case Headless.READS:
            inside = wish.operation is Operation.READ and not wish.reasons
            return Answer.ALLOW_ONCE if inside else Answer.DENY
        case Headless.NONE:
            return Answer.DENY
