"""Finish what a crash interrupted. Safe to run twice, and to be interrupted itself.

Only a plan of this vault's own (by its token) is carried on; one that came with a copied or planted log, and a restore that the
original began, are reported and left to the user. Blocking; `recover` and `leave` want the
vault's lock.
"""

from collections.abc import Callable

from vibekit_desktop.core.checkpoint import stages
from vibekit_desktop.core.checkpoint.finish import Finish
from vibekit_desktop.core.checkpoint.ground import Ground
from vibekit_desktop.core.checkpoint.log import NO_FILE, LeftLine, Line, path_of
from vibekit_desktop.core.checkpoint.points import original_restore, unfinished_plans
from vibekit_desktop.core.checkpoint.stages import Progress
from vibekit_desktop.core.types.checkpoints import RestorePlan, RestoreReport
from vibekit_desktop.core.types.errors import EnvironmentFault, LogDamaged, RestoreUnfinished
from vibekit_desktop.core.types.ids import ChatId

# Why a restore is open.
INTERRUPTED = "interrupted"
OTHER_VAULT = "other-vault"
LOG_DAMAGED = "log-damaged"
ORIGINAL = "original"
TO_ANSWER = frozenset({OTHER_VAULT, ORIGINAL})
"""Never carried on by ourselves: they stay until somebody says that the files stay as they are (`leave`)."""


def open_plans(ground: Ground) -> list[tuple[ChatId, Line, str]]:
    """Every plan that nothing closes, with the reason why it is open."""
    token = ground.vault.token
    found: list[tuple[ChatId, Line, str]] = []
    for chat in ground.vault.chats_with_logs():
        for line in unfinished_plans(ground.vault.lines(chat)):
            ours = line.plan is not None and line.plan.token != "" and line.plan.token == token
            reason = INTERRUPTED if ours else OTHER_VAULT
            found.append((chat, line, LOG_DAMAGED if ours and ground.vault.damage(chat) else reason))
    return found


def unfinished(ground: Ground) -> list[tuple[ChatId, str]]:
    """The chats with a restore that did not end, and why."""
    found = [(chat, reason) for chat, _, reason in open_plans(ground)]
    logs = [(chat, ground.vault.lines(chat)) for chat in ground.vault.chats_with_logs()]
    return found + [(chat, ORIGINAL) for chat, lines in logs if original_restore(lines) is not None]


def recover(
    ground: Ground, needed: ChatId | None = None, progress: Callable[[ChatId], Progress] | None = None
) -> list[RestoreReport]:
    """Finish every interrupted restore of ours, and clear away what one left that never got as far as its plan. ``progress``
    gives who is told of the restore of a chat."""
    reports: list[RestoreReport] = []
    kept = False  # whether something may still need the list of stages
    for chat, line, reason in open_plans(ground):
        if reason != INTERRUPTED or (ground.workspace is None and line.plan is not None and line.plan.files):
            kept = True
            continue
        try:
            reports.append(Finish(ground, chat, line, None if progress is None else progress(chat)).run())
        except EnvironmentFault as error:
            # It stays open and is reported; the others go on.
            if chat == needed and not isinstance(error, RestoreUnfinished):
                raise
            kept = True
    if not kept and ground.workspace is not None:
        stages.sweep(ground)
    return reports


def leave(ground: Ground, chat: ChatId) -> int:
    """The answer "leave the files as they are" to every restore of a chat that we never carry on by ourselves; how many there
    were.

    A restore that the original began is closed with its own word for it, so that it does not carry it on either."""
    damaged = ground.vault.damage(chat)
    if damaged:
        raise LogDamaged(chat, damaged)
    closing: list[Line] = []
    for of, line, reason in open_plans(ground):
        if of == chat and reason == OTHER_VAULT and line.plan is not None:
            left = tuple(
                LeftLine(path=one.path, path_b64=one.path_b64, reason=OTHER_VAULT, failed=True) for one in line.plan.files
            )
            closing.append(
                Line(
                    type="restore_partial",
                    entry=line.entry,
                    turn=line.turn,
                    message_count=line.message_count,
                    left=left,
                    reason=NO_FILE,
                )
            )
    started = original_restore(ground.vault.lines(chat))
    if started is not None:
        closing.append(Line(type="restore_committed", tag=started.tag, message_count=started.message_count))
    ground.vault.append(chat, closing)
    return len(closing)


def overlaps(line: Line, plan: RestorePlan) -> bool:
    """Whether an open plan concerns a path that another plan would change."""
    open_paths = {path_of(file) for file in line.plan.files} if line.plan is not None else set()
    return any(file.path in open_paths for file in plan.acts)
