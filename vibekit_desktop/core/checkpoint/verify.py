"""Check every log and every stored content; change nothing. Blocking; takes no lock."""

from collections.abc import Sequence

from vibekit_desktop.core.checkpoint.ground import Ground
from vibekit_desktop.core.checkpoint.history import lineage
from vibekit_desktop.core.checkpoint.log import WHOLE_LOG, contents_named
from vibekit_desktop.core.checkpoint.recover import unfinished
from vibekit_desktop.core.types.errors import BlobCorrupt, BlobNotFound, CannotRead
from vibekit_desktop.core.types.ids import BlobHash, ChatId
from vibekit_desktop.core.types.verified import Problem, ProblemFound, VerifyReport


def verify(ground: Ground, chat: ChatId | None) -> VerifyReport:
    """The logs and the contents they name; with ``chat`` only those of that chat and the ones it branched from."""
    vault = ground.vault
    vault.blobs.forget_checks()
    logs = vault.all_logs()
    if chat is not None:
        logs = {segment.chat: logs[segment.chat] for segment in lineage(chat, logs) if segment.chat in logs}
    problems: list[ProblemFound] = []
    named: dict[BlobHash, tuple[str, str]] = {}
    for of, found in logs.items():
        problems += [
            ProblemFound(Problem.LOG_LINE, of, "", f"line {number}" if number != WHOLE_LOG else "the log cannot be read")
            for number in found.damaged
        ]
        if found.torn:
            problems.append(ProblemFound(Problem.LOG_TAIL, of, "", "unterminated last line"))
        for line in found.lines:
            for path, sha in contents_named(line):
                named.setdefault(sha, (of, path))
    problems += _blob_problems(ground, named)
    stored, strays = vault.blobs.listed()
    if vault.token_problem():
        problems.append(ProblemFound(Problem.TOKEN, "", "desktop/token", vault.token_problem()))
    if chat is None:
        for stray in strays:
            problems.append(ProblemFound(Problem.BLOB_STRAY, "", stray.relative_to(vault.folder).as_posix(), "no blob"))
        for sha in sorted(stored.keys() - named.keys()):
            problems += _blob_problems(ground, {sha: ("", "")})
    problems += [ProblemFound(Problem.RESTORE_UNFINISHED, of, "", reason) for of, reason in unfinished(ground) if of in logs]
    counted: Sequence[BlobHash] = sorted(stored if chat is None else stored.keys() & named.keys())
    return VerifyReport(
        problems=tuple(problems),
        chats=len(logs),
        events=sum(len(found.lines) for found in logs.values()),
        blobs=len(counted),
        size_bytes=sum(stored[sha] for sha in counted),
    )


def _blob_problems(ground: Ground, named: dict[BlobHash, tuple[str, str]]) -> list[ProblemFound]:
    problems: list[ProblemFound] = []
    for sha, (of, path) in sorted(named.items()):
        try:
            ground.vault.blobs.check(sha)
        except BlobNotFound:
            problems.append(ProblemFound(Problem.BLOB_MISSING, of, path, sha))
        except (BlobCorrupt, CannotRead):
            problems.append(ProblemFound(Problem.BLOB_CORRUPT, of, path, sha))
    return problems
