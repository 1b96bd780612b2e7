"""The questions that an agent waits for, and their answers: each is answered once, by an answer that it offers, or cancelled.

An answer that comes late, twice, or to a question that nobody asks is nobody's: nothing happens. Loop thread.
"""

import asyncio
from collections.abc import Callable

from vibekit_desktop.core.types.agents import Answer, Question


class Questions:
    """The open questions of one chat, in the order they were asked. ``changed`` is called after each change of them."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._waiting: dict[str, tuple[Question, asyncio.Future[Answer | None]]] = {}

    @property
    def open(self) -> tuple[Question, ...]:
        """What waits to be answered, oldest first."""
        return tuple(question for question, future in self._waiting.values() if not future.done())

    @property
    def count(self) -> int:
        """How many wait."""
        return len(self._waiting)

    async def ask(self, question: Question) -> Answer | None:
        """Wait for the answer; None if the question was cancelled. Cancelling the wait takes the question away."""
        future: asyncio.Future[Answer | None] = asyncio.get_running_loop().create_future()
        self._waiting[question.id] = (question, future)
        self._changed()
        try:
            return await future
        finally:
            # Another question may have the id by now only if ids repeat; then that one stays.
            if self._waiting.get(question.id, (question, None))[1] is future:
                self._waiting.pop(question.id, None)
                self._changed()

    def answer(self, question_id: str, answer: Answer) -> bool:
        """Answer a question. False: nobody asks it any more, or it does not offer this answer; nothing happens then."""
        found = self._waiting.get(question_id)
        if found is None or found[1].done() or answer not in found[0].answers:
            return False
        found[1].set_result(answer)
        return True

    def cancel_all(self) -> None:
        """Nobody waits any more: every open question ends without an answer."""
        for _, future in self._waiting.values():
            if not future.done():
                future.set_result(None)
