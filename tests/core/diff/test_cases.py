"""Literate diffs: each file of ``cases`` says why it matters, holds two sides, and what comes out.

``--rewrite-cases`` writes what is computed into the files. In a side, ``␍`` stands for a carriage return, ``␠`` for a blank at
a line's end, and a last line ``⌁`` says that the line before it has no newline.
"""

import re
from pathlib import Path

import pytest

from vibekit_desktop.core.diff.document import build
from vibekit_desktop.core.diff.intraline import words
from vibekit_desktop.core.types.diffs import Compare, DiffDocument, DiffResult, Ignore, RowKind, Span

CASES = sorted((Path(__file__).parent / "cases").glob("*.md"))
_BLOCK = re.compile(r"^```(before|after|expected|options)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SIGNS = {RowKind.SAME: " ", RowKind.DELETED: "-", RowKind.ADDED: "+", RowKind.CHANGED: "~"}


def _bytes(block: str | None) -> bytes | None:
    """A side's bytes; a case without the block has no file on that side."""
    if block is None:
        return None
    text = block.replace("␍", "\r").replace("␠", " ")
    return text.removesuffix("\n⌁\n").encode() if text.endswith("⌁\n") else text.encode()


def _marked(line: str, spans: tuple[Span, ...]) -> str:
    for span in reversed(spans):
        line = f"{line[: span.start]}[{line[span.start : span.end]}]{line[span.end :]}"
    return line.replace("\r", "␍")


def _shown(found: DiffResult) -> str:
    """Notes, then every hunk with its numbers, its rows and, for changed rows, both sides with their marks."""
    if not isinstance(found, DiffDocument):
        return f"{found}\n"
    lines = [f"{note.note}: {note.old} -> {note.new}".rstrip(" ->:") for note in found.notes]
    lines.append(f"+{found.lines_added} -{found.lines_removed}")
    for hunk in found.hunks:
        numbers = f"@@ -{hunk.old_start},{hunk.old_lines} +{hunk.new_start},{hunk.new_lines} @@ {hunk.heading}"
        lines.append(numbers.rstrip())
        marks = words(found, hunk.first_row, hunk.last_row)
        for number, row in enumerate(found.rows[hunk.first_row : hunk.last_row + 1], hunk.first_row):
            spans = marks.get(number)
            old = found.old.lines[row.old_line - 1] if row.old_line else ""
            new = found.new.lines[row.new_line - 1] if row.new_line else ""
            if row.kind is RowKind.CHANGED:
                lines.append("~-" + _marked(old, spans.old if spans else ()))
                lines.append("~+" + _marked(new, spans.new if spans else ()))
            else:
                lines.append(_SIGNS[row.kind] + " " + _marked(new or old, ()))
    return "\n".join(line.rstrip() for line in lines) + "\n"


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_case_comes_out_as_written(path: Path, request: pytest.FixtureRequest) -> None:
    text = path.read_text("utf-8")
    blocks = dict(_BLOCK.findall(text))
    found = build(
        _bytes(blocks.get("before")),
        _bytes(blocks.get("after")),
        how=Compare(Ignore.ALL if "ignore whitespace" in blocks.get("options", "") else Ignore.NOTHING),
    )
    computed = _shown(found)
    if request.config.getoption("--rewrite-cases"):
        block = f"```expected\n{computed}```"
        without = re.sub(r"\n*^```expected\n.*?^```\n?", "\n", text, flags=re.MULTILINE | re.DOTALL).rstrip("\n")
        path.write_text(f"{without}\n\n{block}\n", "utf-8")
        return
    assert computed == blocks["expected"]


def test_there_are_cases() -> None:
    assert len(CASES) >= 15
