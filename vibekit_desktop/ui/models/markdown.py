"""Cut a Markdown answer into prose and code blocks, so that each can be laid out alone. Pure; any thread."""

import re
from dataclasses import dataclass
from functools import lru_cache

from vibekit_desktop.ui.long_text import cut_lines
from vibekit_desktop.ui.visible import has_hidden, visible

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*(.*)")
_CHUNK = 1_500
_PLAIN_CHUNK = 800
_SAFE_START = re.compile(r"[^\s\-*+>|0-9<\[]")
_ITEM_CHUNK = 1_200
_ITEM_START = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]")
_HARD_CHUNK = 6_000
_HARD_START = re.compile(r"[^\s|]")
_TABLE_CHUNK = 1_200
_TABLE = re.compile(r" {0,3}\|.*")
_UNDER_HEAD = re.compile(r" {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")
_ONLY_MARKS = re.compile(r"[ \t]{0,3}(?:[-=*_+#>~`|]{1,2}|-{3,}|={3,}|#{3,6}|\d{1,4}[.)])[ \t]*")


@dataclass(frozen=True, slots=True)
class Prose:
    """Markdown without top-level code fences."""

    text: str


@dataclass(frozen=True, slots=True)
class Code:
    """One fenced block: the first word after the fence, and the lines as they are. ``closed``: its end was written."""

    language: str
    text: str
    closed: bool = True


Piece = Prose | Code


def pieces(text: str) -> tuple[Piece, ...]:
    """The parts of an answer in order; empty prose is left out."""
    found: list[Piece] = []
    prose: list[str] = []
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        opened = _FENCE.fullmatch(lines[at])
        if opened is None or (opened[1][0] == "`" and "`" in opened[2]):
            prose.append(lines[at])
            at += 1
            continue
        end = _closing(lines, at + 1, opened[1])
        _add_prose(found, prose)
        prose = []
        words = opened[2].split()
        found.append(Code(visible(words[0])[:40] if words else "", "\n".join(lines[at + 1 : end]), end < len(lines)))
        at = end + 1
    _add_prose(found, prose)
    return tuple(found)


def plain_pieces(text: str) -> tuple[Prose, ...]:
    """The parts of a text that is shown as it is: some lines each, so that one that grows is laid out anew at its end only."""
    found: list[Prose] = []
    start = 0
    while (end := text.find("\n", start + _PLAIN_CHUNK)) >= 0:
        found.append(Prose(_shown(text[start:end])))
        start = end + 1
    return (*found, Prose(_shown(text[start:])))


def _closing(lines: list[str], start: int, fence: str) -> int:
    """The line that closes a fence; the end of the text closes it too."""
    for at in range(start, len(lines)):
        line = lines[at].strip()
        if len(line) >= len(fence) and not line.strip(fence[0]) and not lines[at].startswith("    "):
            return at
    return len(lines)


def _add_prose(found: list[Piece], lines: list[str]) -> None:
    """Long prose is split where a plain paragraph begins after an empty line, so that no piece is slow to lay out; very long
    prose wherever a line may begin something new, and a long table between two rows, its head above both parts."""
    part: list[str] = []
    size = 0
    head: list[str] = []
    for i, line in enumerate(lines):
        if not _TABLE.fullmatch(line):
            head = []
        elif not head and i + 1 < len(lines) and _UNDER_HEAD.fullmatch(lines[i + 1]):
            head = [line, lines[i + 1]]
        elif size > _TABLE_CHUNK and head and line != head[1]:
            _put(found, part)
            part, size = [*head], len(head[0]) + len(head[1])
        plain = size > _CHUNK and i and not lines[i - 1].strip() and _SAFE_START.match(line)
        item = size > _ITEM_CHUNK and _ITEM_START.match(line)
        if plain or item or (size > _HARD_CHUNK and _HARD_START.match(line)):
            _put(found, part)
            part, size = [], 0
        part.append(line)
        size += len(line) + 1
    _put(found, part)


def _put(found: list[Piece], part: list[str]) -> None:
    text = "\n".join(part).strip("\n")
    if text.strip():
        found.append(Prose(_shown(text)))


@lru_cache(maxsize=256)
def _shown(text: str) -> str:
    """A text as it is painted; kept for a while, because the parts of an answer that grows are asked for again and again."""
    cut = cut_lines(text)
    return visible(cut) if has_hidden(cut.replace("\n", " ")) else cut


def arrived(text: str) -> str:
    """A text that is still coming, without a last line that is nothing but marks so far: a lone ``-`` under a paragraph would
    make a heading of it until the next letter comes, a lone backtick would be seen and vanish."""
    head, line_end, last = text.rpartition("\n")
    return head + line_end if _ONLY_MARKS.fullmatch(last) else text


_FILE_NAMES = {
    "bash": "x.sh", "shell": "x.sh", "sh": "x.sh", "zsh": "x.sh", "console": "x.sh", "c": "x.c", "c++": "x.cpp", "cpp": "x.cpp",
    "csharp": "x.cs", "cs": "x.cs", "css": "x.css", "diff": "x.diff", "patch": "x.diff", "docker": "Dockerfile",
    "dockerfile": "Dockerfile", "go": "x.go", "golang": "x.go", "html": "x.html", "ini": "x.ini", "java": "x.java",
    "javascript": "x.js", "js": "x.js", "jsx": "x.jsx", "json": "x.json", "jsonc": "x.json", "kotlin": "x.kt", "lua": "x.lua",
    "make": "Makefile", "makefile": "Makefile", "markdown": "x.md", "md": "x.md", "php": "x.php", "powershell": "x.ps1",
    "py": "x.py", "python": "x.py", "python3": "x.py", "r": "x.r", "rb": "x.rb", "ruby": "x.rb", "rs": "x.rs", "rust": "x.rs",
    "scala": "x.scala", "scss": "x.scss", "sql": "x.sql", "svg": "x.svg", "swift": "x.swift", "toml": "x.toml", "ts": "x.ts",
    "tsx": "x.tsx", "typescript": "x.ts", "vue": "x.vue", "xml": "x.xml", "yaml": "x.yaml", "yml": "x.yaml",
}  # fmt: skip


def file_name(language: str) -> str:
    """A file name that the highlighter knows the language by; empty for an unknown language."""
    return _FILE_NAMES.get(language.casefold(), "")
