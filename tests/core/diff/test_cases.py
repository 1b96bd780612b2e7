"""Literate diffs: each file of ``cases`` says why it matters, holds two sides, and what comes out.

``--rewrite-cases`` writes what is computed into the files. In a side, ``␍`` stands for a carriage return, ``␠`` for a blank at
a line's end, ``⟨U+202E⟩`` for a character and ``⟨FF⟩`` for a byte, ``⟪text × 1000⟫`` for a text many times, and a last line
``⌁`` says that the line before it has no newline. Options, one a line: ``ignore all``, ``ignore amount``,
``ignore end of line``, ``ignore blank lines``, ``before in utf-16-le``, ``mark before``, ``modes 644 755``, ``name a/b.lock``,
and ``at most 3 lines``; ``after`` works as ``before`` does, and ``both`` for the two.
"""

import codecs
import re
from pathlib import Path

import pytest

from vibekit_desktop.core.diff.document import Limits, build
from vibekit_desktop.core.diff.intraline import words
from vibekit_desktop.core.diff.kinds import generated
from vibekit_desktop.core.types.diffs import (
    BinaryPair,
    Compare,
    DiffDocument,
    DiffResult,
    Identical,
    Ignore,
    RowKind,
    Span,
    TooLarge,
)

CASES = sorted((Path(__file__).parent / "cases").glob("*.md"))
_BLOCK = re.compile(r"^```(before|after|expected|options)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SIGNS = {RowKind.SAME: " ", RowKind.DELETED: "-", RowKind.ADDED: "+", RowKind.CHANGED: "~"}
_IGNORE = {"all": Ignore.ALL, "amount": Ignore.AMOUNT, "end of line": Ignore.END_OF_LINE}
_MARKS = {"utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE, "utf-32-le": codecs.BOM_UTF32_LE}
_SHOWN = 120


def _bytes(block: str | None, options: list[str], side: str) -> bytes | None:
    """A side's bytes; a case without the block has no file on that side."""
    if block is None:
        return None
    text = re.sub("⟪(.*?) × (\\d+)⟫", lambda found: found[1] * int(found[2]), block, flags=re.DOTALL)
    text = text.removesuffix("\n⌁\n") if text.endswith("⌁\n") else text
    text = text.replace("␍\n", "\r\n") if "lone carriage returns" not in options else text.replace("␍\n", "\r")
    text = text.replace("␍", "\r").replace("␠", " ")
    text = re.sub("⟨U\\+([0-9A-F]+)⟩", lambda found: chr(int(found[1], 16)), text)
    text = re.sub("⟨([0-9A-F]{2})⟩", lambda found: chr(0xDC00 + int(found[1], 16)), text)
    codec = next((one.rpartition(" ")[2] for one in options if one.startswith((f"{side} in ", "both in "))), "utf-8")
    mark = _MARKS.get(codec, codecs.BOM_UTF8) if {f"mark {side}", "mark both"} & set(options) else b""
    return mark + text.encode(codec, "surrogateescape")


def _marked(line: str, spans: tuple[Span, ...]) -> str:
    for span in reversed(spans):
        line = f"{line[: span.start]}[{line[span.start : span.end]}]{line[span.end :]}"
    if len(line) > _SHOWN:
        line = f"{line[: _SHOWN // 2]} … {line[-_SHOWN // 2 :]} ({len(line)} characters)"
    line = line.replace("\r", "␍")
    line = re.sub("[\udc80-\udcff]", lambda found: f"⟨{ord(found[0]) - 0xDC00:02X}⟩", line)
    return re.sub("[\x00-\x08\x0b-\x1f\u200b-\u200f\u202a-\u202e\u2066-\u2069\u061c\ufeff]", _code, line)


def _code(found: re.Match[str]) -> str:
    return f"⟨U+{ord(found[0]):04X}⟩"


def _shown(found: DiffResult) -> str:
    """Notes, then every hunk with its numbers, its rows and, for changed rows, both sides with their marks."""
    notes = found.notes if isinstance(found, DiffDocument | Identical | BinaryPair) else ()
    lines = [f"{note.note}: {note.old} -> {note.new}".rstrip(" ->:") for note in notes]
    if isinstance(found, Identical):
        return "\n".join([*lines, f"identical, {found.size} bytes"]) + "\n"
    if isinstance(found, BinaryPair):
        lines.append(f"binary, {found.old_size} -> {found.new_size} bytes")
        lines += ["the old one is a picture"] * found.old_image + ["the new one is a picture"] * found.new_image
    elif isinstance(found, TooLarge):
        lines.append(f"too large, {found.old_size} -> {found.new_size} bytes")
    if not isinstance(found, DiffDocument):
        return "\n".join(lines) + "\n"
    lines.append(f"+{found.lines_added} -{found.lines_removed}")
    lines += [f"moved -{one.old_first},{one.old_last} +{one.new_first},{one.new_last}" for one in found.moves]
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


def _computed(blocks: dict[str, str]) -> str:
    options = blocks.get("options", "").splitlines()
    sides = [_bytes(blocks.get(side), options, side) for side in ("before", "after")]
    ignore = next((how for word, how in _IGNORE.items() if f"ignore {word}" in options), Ignore.NOTHING)
    modes = next(([int(one, 8) for one in line.split()[1:]] for line in options if line.startswith("modes ")), [None, None])
    most = next((int(line.split()[2]) for line in options if line.startswith("at most ")), None)
    found = build(
        *sides,
        old_mode=modes[0],
        new_mode=modes[1],
        how=Compare(ignore, blank_lines="ignore blank lines" in options),
        limits=Limits(lines=most) if most else Limits(),
    )
    name = next((line.removeprefix("name ") for line in options if line.startswith("name ")), "")
    kind = f"kind: {generated(name, *sides) or 'read by people'}\n" if name else ""
    return kind + _shown(found)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_case_comes_out_as_written(path: Path, request: pytest.FixtureRequest) -> None:
    text = path.read_text("utf-8")
    blocks = dict(_BLOCK.findall(text))
    computed = _computed(blocks)
    if request.config.getoption("--rewrite-cases"):
        block = f"```expected\n{computed}```"
        without = re.sub(r"\n*^```expected\n.*?^```\n?", "\n", text, flags=re.MULTILINE | re.DOTALL).rstrip("\n")
        path.write_text(f"{without}\n\n{block}\n", "utf-8")
        return
    assert computed == blocks["expected"]


def test_there_are_cases() -> None:
    assert len(CASES) >= 80
