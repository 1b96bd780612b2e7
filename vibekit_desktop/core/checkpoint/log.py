"""The per-chat event log: which lines exist and what each means.

Keys and their meaning: checkpoint.md 1.2 and storage.md 3. A missing key reads as its default here. Pure; any thread.
"""

import msgspec


class PlanFile(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One path of a ``restore_plan`` line: what was expected on disk, what was wanted, and the name of its stage."""

    path: str
    path_b64: str = ""
    action: str
    expected_state: str
    expected_sha: str = ""
    expected_mode: int = -1
    wanted_state: str
    wanted_sha: str = ""
    wanted_mode: int = -1
    stage: str = ""
    owner: str = ""


class PlanBody(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a ``restore_plan`` line confirms; enough to finish it after a crash (storage.md 5)."""

    kind: str
    """``restore``, ``undo-file``, ``undo`` or ``redo``."""
    point: str
    scope: str
    takes_back: int = 0
    branch: str = ""
    """Id of the branch that keeps the removed turns; empty when nothing is cut."""
    keep: int = -1
    """Length of the transcript after the cut; -1 when nothing is cut."""
    cut_first: int = 0
    cut_last: int = 0
    back_from: str = ""
    """With an undo of a cut: the branch whose turns come back."""
    files: tuple[PlanFile, ...] = ()
    token: str = ""
    """The vault's token: a plan with another one is never carried on (storage.md 1)."""
    digest: str = ""


class LeftLine(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One path that a restore left, on ``restore_done`` and ``restore_partial`` lines."""

    path: str
    reason: str
    failed: bool = False


class SkippedPath(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing a turn may have changed that is not in the store (``coverage`` of ``turn_end``)."""

    path: str
    reason: str
    size: int = -1


class CoverageLine(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Coverage of a turn, on its ``turn_end``."""

    complete: bool = False
    skipped: tuple[SkippedPath, ...] = ()


class Line(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of any kind. -1 stands for "not recorded" in modes; 0 in ``seq`` means the line has none."""

    type: str
    tag: str = ""
    path: str = ""
    path_b64: str = ""
    """Base64 of the exact name, only where it is not UTF-8."""
    before_sha: str = ""
    after_sha: str = ""
    other_chat: str = ""
    expected_sha: str = ""
    ts: int = 0
    turn: int = 0
    tool: int = 0
    message_count: int = 0
    v: int = 0
    """Schema version; 1 on everything we write, 0 = a legacy line."""
    seq: int = 0
    author: str = ""
    how: str = ""
    tool_call_id: str = ""
    before_state: str = ""
    after_state: str = ""
    before_reason: str = ""
    after_reason: str = ""
    before_mode: int = -1
    after_mode: int = -1
    renamed_from: str = ""
    entry: int = 0
    owner: str = ""
    late: bool = False
    message_id: str = ""
    """On ``turn_start``: the user message that began the turn."""
    duration_ms: int = 0
    """On ``turn_end``, where known."""
    coverage: CoverageLine | None = None
    state: str = ""
    """On ``dir``: ``folder`` or ``absent``."""
    reason: str = ""
    """On ``note`` and ``restore_conflict``."""
    size: int = -1
    """On ``note``, where known."""
    plan: PlanBody | None = None
    left: tuple[LeftLine, ...] = ()
    parent: str = ""
    """On ``branch_start``: the parent chat."""
    cut_seq: int = 0
    """On ``branch_start``: the largest ``seq`` of the parent's that belongs to the branch; 0 if those lines have none."""
    cut_lines: int = -1
    """On ``branch_start``: how many lines of the parent's log belong to the branch."""
    source: str = ""
    """On ``import_start``: the source's name."""
    session: str = ""
    recorded: str = ""
    """On ``import_start``: the folder the session was recorded in."""
    detached: bool = False
    """On ``import_start``: recorded in another folder than this workspace, so not part of the vault's history."""
    import_seq: int = 0
    """On ``import_start``: the vault's largest ``seq`` when the import began."""
    imported_at: int = 0
    """On ``import_start``: the time of the import; ``ts`` is the time of the session's first record."""
