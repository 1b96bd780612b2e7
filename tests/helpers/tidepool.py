"""The files of the workspace that the recorded chats work in, as they are before and after each turn."""

ROWS = '''"""Rows and tables."""

from collections.abc import Iterator
from dataclasses import dataclass, field

Row = list[str | None]


def is_empty(row: Row) -> bool:
    return not any(row)


@dataclass
class Table:
    """Rows under names of columns."""

    names: list[str]
    content: list[Row] = field(default_factory=list)

    def rows(self) -> Iterator[Row]:
        yield from self.content
'''

ROWS_4 = ROWS.replace(
    """    def rows(self) -> Iterator[Row]:
        yield from self.content
""",
    '''    def rows(self, *, start: int = 0) -> Iterator[Row]:
        """Rows one at a time; an empty one is a row too."""
        for row in self.content[start:]:
            yield row

    def __len__(self) -> int:
        return len(self.content)
''',
)

ROWS_NOW = ROWS_4.replace(
    """    return not any(row)
""",
    '''    """Whether nothing is in it.

    Text of blanks alone is something: the
    reader keeps it, and so does the writer.
    """
    return not any(cell is not None for cell in row)
''',
)

WRITER = '''"""Write tables as CSV files."""

import csv
from pathlib import Path

from export.legacy_rows import drop_empty
from export.rows import Table

DIALECT = "excel"


class CsvWriter:
    """Writes one table to one file."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("w")
        self._out = csv.writer(self._file, dialect=DIALECT)

    def write(self, table: Table) -> int:
        rows = list(table.rows())
        rows = drop_empty(rows)
        for row in rows:
            self._out.writerow(row)
        return len(rows)

    def close(self) -> None:
        self._file.close()
'''

WRITER_3 = WRITER.replace("rows = drop_empty(rows)", "rows = [row for row in rows if row is not None]")

WRITER_4 = (
    WRITER_3.replace("from export.legacy_rows import drop_empty\n", "")
    .replace(
        """    def write(self, table: Table) -> int:
        rows = list(table.rows())
        rows = [row for row in rows if row is not None]
        for row in rows:
            self._out.writerow(row)
        return len(rows)

    def close(self) -> None:
        self._file.close()
""",
        '''    def __enter__(self) -> "CsvWriter":
        return self

    def __exit__( self, *_: object ) -> None:
        self.close()

    def header(self, names: Iterable[str]) -> None:
        """Write the names of the columns."""
        self._out.writerow(list(names))

    def write(self, row: Row) -> None:
        """Write one row; an empty one stays a line."""
        self._out.writerow([ "" if cell is None else cell for cell in row ])

    def write_all( self, table: Table ) -> int:
        """Write a table, one row in memory at a time."""
        count = 0
        for count, row in enumerate(table.rows(), start = 1):
            self.write(row)
        return count

    def close(self) -> None:
        self._file.close()
''',
    )
    .replace("from pathlib import Path", "from collections.abc import Iterable\nfrom pathlib import Path")
    .replace("import Table", "import Row, Table")
)

INIT = '''"""Tables as files."""

from export.csv_writer import CsvWriter
from export.rows import Row, Table

__all__ = [ "CsvWriter", "Row", "Table" ]
'''

LEGACY = (
    '"""What an earlier version did with rows that have no values."""\n\nfrom export.rows import Row, is_empty\n\n\n'
    "def drop_empty(rows: list[Row]) -> list[Row]:\n    return [row for row in rows if not is_empty(row)]\n"
    + "".join(f"\n\ndef drop_empty_{name}(rows: list[Row]) -> list[Row]:\n    return drop_empty(rows)\n" for name in (
        "excel", "tabs", "unix", "quoted", "plain", "semicolon", "pipe", "space", "fixed", "wide", "narrow",
    ))
)  # fmt: skip

SMALL = {
    f"src/export/{name}.py": f'"""{title}."""\n\nDROP_EMPTY = True\nNAME = "{name}"\n\n\n'
    "def accepts(row: list[object]) -> bool:\n    if DROP_EMPTY and not any(row):\n        return False\n    return True\n"
    for name, title in (
        ("columns", "Which columns are written"),
        ("dialects", "Ways to write a file"),
        ("numbers", "Numbers as text"),
        ("quoting", "When a value is quoted"),
        ("times", "Times as text"),
    )
}

GUIDE = (
    "# The export guide\n\n"
    + "".join(
        f"## {title}\n\n{text}\n\n"
        for title, text in (
            ("What is written", "A table becomes one file. Its columns keep their order."),
            ("Names of columns", "They are the first line, unless you leave them out."),
            ("Numbers", "They are written as they are shown."),
            ("Times", "They are written in UTC, with seconds."),
            ("Quotes", "A value with a comma is quoted."),
            ("Line ends", "They are those of the dialect."),
            ("Encodings", "Files are UTF-8, without a mark."),
            ("Errors", "A row that cannot be written stops the export."),
            ("Large tables", "They take as much memory as they have rows."),
        )
    )
    + "## Empty rows\n\nRows without values are dropped.\n\n## Questions\n\nAsk in the tracker.\n"
)

GUIDE_3 = GUIDE.replace("Rows without values are dropped.", "Rows without values stay.")

GUIDE_OTHER = GUIDE.replace("Ask in the tracker.", "Ask in the tracker, with a table that shows it.").replace(
    "# The export guide\n", "# Export\n\nHow a table becomes a file.\n"
)
"""As the other chat leaves it."""

GUIDE_5 = GUIDE_OTHER.replace(
    "Rows without values are dropped.",
    "Rows without values are kept as empty lines.\nRows are written lazily, one at a time.\n\nA reader can rely on that:\n\n"
    "- a row is a line, whatever is in it;\n- line numbers are row numbers;\n- the last line ends like every other.\n\n"
    "A program that reads rows can copy this loop:\n\n    with CsvWriter(path) as out:\n        for row in table.rows():\n"
    "            out.write(row)\n\nIt holds one row in memory, however long the table is.\nTo drop rows without values, filter "
    "them before they are written.\nThe flag `--drop-empty` is gone.",
).replace("They take as much memory as they have rows.", "They take as much memory as one row.")

GUIDE_NOW = GUIDE_5.replace("Ask in the tracker, with", "Ask in the tracker or the forum, with").replace(
    "Files are UTF-8, without a mark.", "Files are UTF-8, never with a mark."
)

NOTE = "# Rows are written lazily\n\nA table of any length takes the memory of one row.\nEmpty rows stay lines.\n- #142\n"

TEST = (
    '"""What the writer does with rows."""\n\nfrom pathlib import Path\n\nfrom export import CsvWriter, Table\n'
    "from table_helpers import lines_of\n\n\n"
    + "\n\n".join(
        f'def test_{name}(tmp_path: Path) -> None:\n    table = Table(["a", "b"], {rows})\n'
        f'    with CsvWriter(tmp_path / "t.csv") as out:\n        out.write_all(table)\n'
        f'    assert lines_of(tmp_path / "t.csv") == {len(rows)}\n'
        for name, rows in (
            ("an_empty_row_stays_a_line", [["1", "2"], [None, None], ["3", "4"]]),
            ("a_trailing_empty_row_stays_too", [["1", "2"], [None, None]]),
            ("only_empty_rows", [[None, None], [None, None]]),
            ("no_rows", []),
        )
    )
)

HELPERS = '"""Help for tests of tables."""\n\nfrom pathlib import Path\n\n\n'
HELPERS += "def lines_of(path: Path) -> int:\n    return len(path.read_text().splitlines())\n"

LOADER = (
    'import { fetchChunk } from "./chunks";\n\nexport async function load(name: string) {\n  const parts = [];\n'
    "  for (let i = 0; i < 11; i++) {\n    parts.push(await fetchChunk(name, i));\n  }\n  return join(parts);\n}\n\n"
    "function join(parts: Uint8Array[]) {\n  return parts.reduce((a, b) => concat(a, b));\n}\n"
)

LOADER_6 = (
    'import { fetchChunk, fetchManifest } from "./chunks";\n\n/** The manifest comes first: it names what there is. */\n'
    "export async function load(name: string) {\n  const manifest = await fetchManifest(name);\n"
    "  const missing = manifest.chunks.filter((chunk) => !chunk.cached);\n  if (missing.length > 1) {\n"
    "    report(name, missing);\n  }\n  const parts = await Promise.all(\n"
    "    manifest.chunks.map((chunk) => fetchChunk(name, chunk.id)),\n  );\n  return join(parts);\n}\n\n"
    "function join(parts: Uint8Array[]) {\n  return parts.reduce((a, b) => concat(a, b));\n}\n"
)

MANIFEST = """{
  "name": "plot",
  "version": 3,
  "chunks": [
    { "id": 0, "cached": true },
    { "id": 1, "cached": true }
  ],
  "styles": "plot.css",
  "entry": "loader.ts"
}
"""

FIRST = {
    "src/export/__init__.py": INIT,
    "src/export/rows.py": ROWS,
    "src/export/csv_writer.py": WRITER,
    "src/export/legacy_rows.py": LEGACY,
    **SMALL,
    "docs/export.md": GUIDE,
    "tests/table_helpers.py": HELPERS,
    "web/plot/loader.ts": LOADER,
    "setup.cfg": "[metadata]\nname = tidepool\n",
}
