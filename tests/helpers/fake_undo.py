"""Undo of a change, for the fake core: it says what the test gave it, with the decisions taken out of what is open."""

from dataclasses import dataclass, field, replace

from tests.helpers.fake_live import Answers
from vibekit_desktop.core.types.checkpoints import Mine, Now, RestoreKind, RestorePlan, Scope
from vibekit_desktop.core.types.ids import WorkspacePath
from vibekit_desktop.core.types.reviews import Decisions, InversePlan, InverseRequest, OverlapAt


@dataclass
class FakeUndo(Answers):
    overlaps: tuple[OverlapAt, ...] = ()
    plans: list[RestorePlan] = field(default_factory=list)
    """What everything decided comes to, in order; the last one stays. None at all: a plan with nothing to do."""
    later_kept: tuple[WorkspacePath, ...] = ()
    goes_too: tuple[WorkspacePath, ...] = ()
    """Of a change up to the disk."""

    async def plan(self, request: InverseRequest, decisions: Decisions = ()) -> InversePlan:
        self.note("plan", request, decisions)
        decided = {(path, number) for path, number, _ in decisions}
        left_open = tuple(one for one in self.overlaps if (one.path, one.number) not in decided)
        plan = self.plans.pop(0) if len(self.plans) > 1 else self.plans[0] if self.plans else _nothing(request)
        return InversePlan(
            request=request,
            decisions=decisions,
            overlaps=self.overlaps,
            open=left_open,
            later_kept=self.later_kept,
            plan=None if left_open else replace(plan, upto=request.new),
            goes_too=self.goes_too if request.new == Now() else (),
        )


def _nothing(request: InverseRequest) -> RestorePlan:
    return RestorePlan(
        chat=request.chat,
        kind=RestoreKind.UNDO_HUNK if request.hunks else RestoreKind.UNDO_TURN,
        point=request.old,
        upto=request.new,
        scope=Scope.FILES,
        mine=Mine(),
        paths=request.paths,
        files=(),
        digest="0" * 64,
        log_lines=0,
        keep_messages=0,
        total_messages=0,
    )
