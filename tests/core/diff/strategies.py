"""Texts that look like edited files, for property tests of diffs."""

from hypothesis import strategies as st

LINES = st.sampled_from(
    [
        "",
        "}",
        "    }",
        "def load(path):",
        "    return path",
        "x = 1",
        "x = 2",
        "# Heading",
        "\ttabs\there",
        "naïve café",
        "日本語",
        " ",
        "a\rb",
    ]
)
FREE = st.text(st.characters(exclude_characters="\n\r\0\ufeff", exclude_categories=["Cs"]), max_size=12)
LINE = st.one_of(LINES, FREE)


@st.composite
def edited(draw: st.DrawFn) -> tuple[list[str], list[str]]:
    """A list of lines, and the same after a few edits."""
    old = draw(st.lists(LINE, max_size=25))
    new = list(old)
    for _ in range(draw(st.integers(0, 5))):
        at = draw(st.integers(0, len(new)))
        gone = draw(st.integers(0, 3))
        new[at : at + gone] = draw(st.lists(LINE, max_size=3))
    return old, new


@st.composite
def content(draw: st.DrawFn, lines: list[str]) -> bytes | None:
    """The lines as a file: any line end, with or without the last one, in any encoding that we read; or no file."""
    if not lines and draw(st.booleans()):
        return None
    end = draw(st.sampled_from(["\n", "\n", "\r\n"]))
    text = end.join(lines) + draw(st.sampled_from(["", end])) if lines else ""
    return text.encode(draw(st.sampled_from(["utf-8", "utf-8", "utf-8-sig", "utf-16"])))


@st.composite
def sides(draw: st.DrawFn) -> tuple[bytes | None, bytes | None]:
    """Two contents of one file."""
    old, new = draw(edited())
    return draw(content(old)), draw(content(new))
