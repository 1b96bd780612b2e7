"""Texts of others as pieces of an HTML page: everything is escaped first, then a little of Markdown gets its look.

Of Markdown: paragraphs, fenced and inline code, headings, lists, bold, rules, and tables as they were typed. Links, images and
HTML stay the text that they are. No text becomes an attribute. All takes time in proportion to the text. Pure; any thread.
"""

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vibekit_desktop.core.chat.prose import Fence, fence_of, indent_of, spans
from vibekit_desktop.core.types.chats import DiffFragment
from vibekit_desktop.core.types.hidden import HIDDEN, PERHAPS, mark

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(\S.*)")
_ITEM = re.compile(r"([ \t]*)([-*+]|[0-9]{1,9}[.)])[ \t]+(\S.*)")
_RULE = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}")
_DEEPEST = 12
"""Lists in lists in lists: more than this is no list any more."""
_CONTEXT = 3


@dataclass(frozen=True, slots=True)
class _Item:
    """One item of a list, as it is being read: how far it stands in, its sign or number, and its lines."""

    indent: int
    sign: str
    lines: list[str]


def shown(text: str) -> str:
    """A text, escaped, with a mark in place of every hidden character; line ends and tabs stay."""
    escaped = html.escape(text.replace("\r\n", "\n"))
    if PERHAPS.search(escaped) is None:
        return escaped
    return HIDDEN.sub(lambda found: "\n" if found[0] == "\n" else f'<span class="hidden">{mark(found)}</span>', escaped)


def block(text: str, kind: str = "") -> str:
    """Text that keeps every blank and line end. ``kind`` is a class of our style sheet."""
    attribute = f' class="{kind}"' if kind else ""
    return f"<pre{attribute}>\n{shown(text)}\n</pre>"  # the first line end is no part of it


def plain(text: str) -> str:
    """What a person wrote: paragraphs with their line ends as they are, and fenced code."""
    return "\n".join(_blocks(text, rich=False))


def rich(text: str) -> str:
    """What an agent wrote, in Markdown."""
    return "\n".join(_blocks(text, rich=True))


def _blocks(text: str, *, rich: bool) -> Iterator[str]:
    """Fenced code, and what is between."""
    prose: list[str] = []
    code: list[str] = []
    fence: Fence | None = None
    between = _rich if rich else _paragraphs
    for line in text.replace("\r\n", "\n").split("\n"):
        if fence is not None:
            if not fence.is_closed_by(line):
                code.append(_moved_out(line, fence.indent))
                continue
            yield block("\n".join(code), "code")
            fence, code = None, []
        elif (fence := fence_of(line)) is None:
            prose.append(line)
            continue
        else:
            yield from between(prose)
            prose = []
    yield from between(prose)
    if fence is not None:
        yield block("\n".join(code), "code")


def _moved_out(line: str, indent: int) -> str:
    blank = min(indent, len(line) - len(line.lstrip(" ")))
    return line[blank:]


def _paragraphs(lines: Sequence[str]) -> Iterator[str]:
    part: list[str] = []
    for line in (*lines, ""):
        if line.strip():
            part.append(line)
        elif part:
            yield f"<p>{shown(chr(10).join(part))}</p>"
            part = []


def _rich(lines: Sequence[str]) -> Iterator[str]:
    part: list[str] = []
    items: list[_Item] = []
    empty = False
    for line in lines:
        if not line.strip():
            yield from _paragraph(part)
            part, empty = [], True
            continue
        heading = _HEADING.fullmatch(line)
        rule = _RULE.fullmatch(line)
        item = None if heading or rule else _ITEM.fullmatch(line)
        goes_on = bool(items) and not item and (not empty or indent_of(line) > items[-1].indent) and not heading and not rule
        empty = False
        if item is not None:
            yield from _paragraph(part)
            part = []
            items.append(_Item(indent_of(line), item[2], [item[3]]))
        elif goes_on:
            items[-1].lines.append(line.strip())
        else:
            yield from _list(items)
            items = []
            if heading is None and rule is None:
                part.append(line)
                continue
            yield from _paragraph(part)
            part = []
            if heading is not None:
                level = min(len(heading[1]) + 2, 6)
                yield f"<h{level}>{_inline(heading[2].rstrip('# '))}</h{level}>"
            else:
                yield "<hr>"
    yield from _paragraph(part)
    yield from _list(items)


def _paragraph(lines: Sequence[str]) -> Iterator[str]:
    if not lines:
        return
    if all(line.lstrip().startswith("|") for line in lines):
        yield block("\n".join(lines), "table")
    else:
        yield f"<p>{chr(10).join(map(_inline, lines))}</p>"


def _list(items: Sequence[_Item]) -> Iterator[str]:
    """Items by how far they stand in; one that stands further in than the one before it is in a list of its own."""
    open_lists: list[tuple[int, str]] = []
    out: list[str] = []
    for item in items:
        kind, indent, sign = "ul" if item.sign in "-*+" else "ol", item.indent, item.sign
        while len(open_lists) > 1 and indent < open_lists[-1][0]:
            out.append(f"</li></{open_lists.pop()[1]}>")
        if not open_lists or (indent > open_lists[-1][0] + 1 and len(open_lists) < _DEEPEST):
            out.append(_opened(kind, sign))
            open_lists.append((indent, kind))
        elif kind != open_lists[-1][1]:
            out.append(f"</li></{open_lists.pop()[1]}>{_opened(kind, sign)}")
            open_lists.append((indent, kind))
        else:
            out.append("</li>")
        out.append(f"<li>{chr(10).join(map(_inline, item.lines))}")
    out += [f"</li></{kind}>" for _, kind in reversed(open_lists)]
    if out:
        yield "".join(out)


def _opened(kind: str, sign: str) -> str:
    first = int(sign[:-1]) if kind == "ol" else 1
    return f'<ol start="{first}">' if first != 1 else f"<{kind}>"


def _inline(line: str) -> str:
    """One line with its code and its bold words."""
    return "".join(
        f"<code>{shown(_inside(piece, ticks))}</code>" if ticks else _bold(shown(piece)) for ticks, piece in spans(line)
    )


def _inside(piece: str, ticks: int) -> str:
    text = piece[ticks:-ticks]
    return text[1:-1] if text.strip() and text.startswith(" ") and text.endswith(" ") else text


def _bold(escaped: str) -> str:
    """Text between two pairs of stars, if it touches both. What is given is escaped already, and stars are no part of that."""
    parts = escaped.split("**")
    out = [parts[0]]
    at = 1
    while at < len(parts):
        word = parts[at]
        if at + 1 < len(parts) and word and not word[0].isspace() and not word[-1].isspace():
            out.append(f"<strong>{word}</strong>{parts[at + 1]}")
            at += 2
        else:
            out.append(f"**{word}")
            at += 1
    return "".join(out)


def fragment(diff: DiffFragment) -> str:
    """A change as the agent told it: the lines that both texts begin and end with once, the others as removed and added."""
    old, new = _lines(diff.old_text), _lines(diff.new_text)
    most = min(len(old), len(new))
    head = next((at for at in range(most) if old[at] != new[at]), most)
    tail = next((at for at in range(most - head) if old[-1 - at] != new[-1 - at]), most - head)
    rows = _same(old[:head], first=True)
    rows += [f'<span class="removed">-{shown(line)}</span>' for line in old[head : len(old) - tail]]
    rows += [f'<span class="added">+{shown(line)}</span>' for line in new[head : len(new) - tail]]
    rows += _same(old[len(old) - tail :], first=False)
    return f'<pre class="diff">\n{chr(10).join(rows)}\n</pre>'


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").removesuffix("\n").split("\n") if text else []


def _same(lines: Sequence[str], *, first: bool) -> list[str]:
    """Some of the lines that did not change, next to those that did."""
    left_out = len(lines) - _CONTEXT
    if left_out <= 1:
        return [f" {shown(line)}" for line in lines]
    note = f'<span class="left-out">  \u22ef {left_out} lines</span>'
    kept = [f" {shown(line)}" for line in (lines[-_CONTEXT:] if first else lines[:_CONTEXT])]
    return [note, *kept] if first else [*kept, note]
