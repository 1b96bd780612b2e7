"""A home folder with several histories, made up from scratch, for the pictures of the window.

The main session works on a small exporter for an hour of today; the others fill the list. A file is edited by hand after the
last turn, so that the restore preview has something of the person's to keep.
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.helpers.claude_sessions import SessionBuilder

_MAIN = "7a1c52f0-90f4-4f2e-8a59-0c5d1f3e2b01"
MAIN_CHAT = f"claude-code:{_MAIN}"
"""How the command line names the main session's chat."""

_WRITER = '''"""Write tables as CSV files.

A row is a list of values or None.
"""

import csv
import io
from collections.abc import Iterable
from pathlib import Path

from export.rows import Row, Table, is_empty

DIALECT = "excel"


class CsvWriter:
    """Writes one table to one file."""

    def __init__(self, path: Path, *, dialect: str = DIALECT) -> None:
        self._path = path
        self._file = path.open("w")
        self._out = csv.writer(self._file, dialect=dialect)

    def header(self, names: Iterable[str]) -> None:
        """Write the names of the columns."""
        self._out.writerow(list(names))

    def write(self, table: Table) -> int:
        """Write all rows; return how many."""
        rows = list(table.rows())
        rows = [row for row in rows if not is_empty(row)]
        self._out.writerows(rows)
        return len(rows)

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> "CsvWriter":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def to_text(table: Table) -> str:
    """The table as CSV, for the clipboard."""
    text = io.StringIO()
    csv.writer(text, dialect=DIALECT).writerows(table.rows())
    return text.getvalue()
'''

_ROWS = '''"""Rows and tables."""

from collections.abc import Iterator
from dataclasses import dataclass, field

Row = list[str | None]


def is_empty(row: Row) -> bool:
    return not any(row)


@dataclass
class Table:
    """Rows in the order they came."""

    values: list[Row] = field(default_factory=list)

    def rows(self) -> Iterator[Row]:
        return iter(self.values)
'''

_GUIDE = """# Export

Write a table with `CsvWriter`:

    with CsvWriter(path) as out:
        out.write(table)

## Empty rows

Rows without values are dropped.
"""

_TEST = """from pathlib import Path

from export.csv_writer import CsvWriter
from export.rows import Table


def test_an_empty_row_stays_a_line(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    with CsvWriter(path) as out:
        count = out.write(Table([["a"], [None], ["b"]]))
    assert count == 3
    assert path.read_text().splitlines() == ["a", "", "b"]
"""

_CHANGE = """Rows without values are kept as empty lines, and rows are written one at a time.

Programs that counted on them being dropped can filter with `is_empty`.
"""


def _main_session(workspace: str, start: datetime) -> SessionBuilder:
    made = SessionBuilder(cwd=workspace, session=_MAIN, now=start, version="2.1.270")
    made.files = {
        made.at("export/csv_writer.py"): _WRITER,
        made.at("export/rows.py"): _ROWS,
        made.at("guide/export.md"): _GUIDE,
        made.at("export/legacy_rows.py"): "".join(f"# kept for 1.x, part {number}\n" for number in range(1, 25)),
    }
    made.raw(type="custom-title", customTitle="Keep empty rows in export", sessionId=made.session)
    _ask(made)
    _test_first(made)
    _make_it_pass(made)
    _write_lazily(made)
    _bring_the_guide_up_to_date(made)
    return made


def _ask(made: SessionBuilder) -> None:
    made.prompt("Where does the export lose rows? Read only, please.")
    made.read("export/csv_writer.py")
    made.read("export/rows.py")
    made.read("guide/export.md")
    made.end_turn(
        "In `CsvWriter.write`: every row that `is_empty` says yes to is dropped before `writerows` sees it.\n\n"
        "- `to_text` keeps them, so the clipboard and the file differ.\n- The guide calls the dropping intended."
    )


def _test_first(made: SessionBuilder) -> None:
    made.now += timedelta(minutes=7)
    made.prompt("Add a failing test for a table with an empty row.")
    made.write("tests/test_csv_writer.py", _TEST)
    made.bash("pytest -q tests", "F\n1 failed in 0.04s", failed=True)
    made.end_turn("The test fails as it should: 2 lines are written where 3 are wanted.")


def _make_it_pass(made: SessionBuilder) -> None:
    made.now += timedelta(minutes=11)
    made.prompt("Now make it pass. Keep the public names.")
    made.think("Dropping happens in one list comprehension. legacy_rows is imported by nobody any more.")
    made.say("The filter is the only cause. I'll take it out and remove the module that nothing imports.")
    made.edit("export/csv_writer.py", "        rows = [row for row in rows if not is_empty(row)]\n", "")
    made.edit("export/csv_writer.py", "from export.rows import Row, Table, is_empty", "from export.rows import Row, Table")
    made.edit(
        "export/csv_writer.py", "A row is a list of values or None.", "A row is a list of values; an empty row stays a line."
    )
    del made.files[made.at("export/legacy_rows.py")]
    diff = {"files": [{"filePath": made.at("export/legacy_rows.py"), "hunks": [], "deleted": True}], "changedFiles": []}
    made.bash("git rm -q export/legacy_rows.py", "", bashEditDiff=diff)
    made.bash("pytest -q tests", ".\n1 passed in 0.03s")
    made.end_turn("All tests pass. The public names of `csv_writer` are unchanged.")


def _write_lazily(made: SessionBuilder) -> None:
    made.now += timedelta(minutes=16)
    made.prompt("Write the rows lazily.")
    made.edit(
        "export/csv_writer.py",
        "        rows = list(table.rows())\n        self._out.writerows(rows)\n        return len(rows)\n",
        "        written = 0\n        for row in self._rows(table):\n            self._out.writerow(row)\n"
        "            written += 1\n        return written\n\n"
        "    def _rows(self, table: Table) -> Iterator[Row]:\n"
        '        """Yield rows as they are read; keep empty ones."""\n'
        "        for row in table.rows():\n            yield row if any(row) else EMPTY_ROW\n",
    )
    made.edit("export/csv_writer.py", "import Iterable\n", "import Iterable, Iterator\n")
    made.edit("export/csv_writer.py", "import Row, Table\n", "import EMPTY_ROW, Row, Table\n")
    made.edit(
        "export/csv_writer.py",
        '        self._file = path.open("w")\n',
        '        self._file = path.open("w", newline="", encoding="utf-8")\n',
    )
    made.edit("export/rows.py", "Row = list[str | None]\n", "Row = list[str | None]\nEMPTY_ROW: Row = []\n")
    made.end_turn("Rows go to the file one at a time; an empty one is written as an empty line.")


def _bring_the_guide_up_to_date(made: SessionBuilder) -> None:
    made.now += timedelta(minutes=15)
    made.prompt("Bring the export guide up to date. Say that rows are now written lazily.")
    made.think("The guide quotes the loop; it should show the one that readers copy.")
    made.say("I'll quote the final code.")
    made.read("guide/export.md")
    made.edit(
        "guide/export.md",
        "Rows without values are dropped.\n",
        "Rows without values are kept as empty lines.\nRows are written lazily, one at a time.\n",
    )
    made.write("guide/changes/0142-lazy-rows.md", _CHANGE)
    made.end_turn(
        "The guide now shows the loop that readers should copy:\n\n```python\nwith CsvWriter(path) as out:\n"
        "    for row in table.rows():      # one row in memory\n        out.write_row(row)        # empty: a line\n```\n"
    )


def _small(workspace: str, number: int, at: datetime, title: str, path: str, before: str, after: str) -> SessionBuilder:
    made = SessionBuilder(cwd=workspace, session=f"7a1c52f0-90f4-4f2e-8a59-0c5d1f3e2b{number:02d}", now=at, version="2.1.270")
    if before:
        made.files[made.at(path)] = before
    made.prompt(title)
    made.write(path, after)
    made.end_turn("Done.")
    return made


def write_demo_home(home: Path, now: datetime | None = None) -> Path:
    """Make the home folder and its workspaces; returns the main session's workspace."""
    now = now or datetime.now(UTC)
    code = home / "code"
    main = _main_session(str(code / "tidepool"), now - timedelta(minutes=75))
    lines = "".join(f"line {number}\n" for number in range(1, 60))
    others = [
        _small(str(code / "lantern"), 2, now - timedelta(minutes=19), "Speed up cold start", "start.py", lines, lines[80:]),
        _small(str(code / "orchard"), 3, now - timedelta(hours=26), "Move settings to TOML", "settings.toml", "", lines[:300]),
        _small(str(code / "tidepool"), 4, now - timedelta(hours=29), "Docs: tidy the guide", "guide/style.md", "", lines),
        _small(str(code / "lantern"), 5, now - timedelta(days=3), "Replace the retry loop", "net/retry.py", lines, lines[:200]),
        _small(str(code / "orchard"), 6, now - timedelta(days=40), "First pass at the plot module", "plot.py", "", lines * 3),
    ]
    for made in (*others, main):
        for path, content in made.files.items():
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).write_text(content, encoding="utf-8", newline="\n")
        made.install(home)
    guide = code / "tidepool" / "guide" / "export.md"
    guide.write_text(guide.read_text("utf-8") + "\nFilter with `is_empty` to drop them.\n", "utf-8", newline="\n")
    return code / "tidepool"
