"""The file of the design pictures before and after its third turn."""

_TOP_OLD = '''"""Write tables as CSV files.

A row is a list of values or None.
"""
import csv
import io
from collections.abc import Iterable
from pathlib import Path
'''
_TOP_NEW = '''"""Write tables as CSV files.

A row is a list of values; an empty row stays a line.
"""
import csv
from collections.abc import Iterable, Iterator
from pathlib import Path
'''
_CLASS = "\n".join(
    [
        "",
        "from .rows import EMPTY_ROW, Row, Table",
        "",
        "",
        "class CsvWriter:",
        '    """Writes one table after the other."""',
        "",
        "    def __init__(self, file, *, dialect: str) -> None:",
        "        self._file = file",
        "        self._out = csv.writer(file, dialect)",
        *[f"        self._option_{n} = {n}" for n in range(13)],
        "",
    ]
)
_WRITE_OLD = '''
    def write(self, table: Table) -> int:
        """Write all rows; return how many."""
        rows = list(table.rows())
        rows = [r for r in rows if any(r)]
        self._out.writerows(rows)
        return len(rows)

'''
_WRITE_NEW = '''
    def write(self, table: Table) -> int:
        """Write all rows; return how many."""
        written = 0
        for row in self._rows(table):
            self._out.writerow(row)
            written += 1
        return written

    def _rows(self, table: Table) -> Iterator[Row]:
        """Yield rows as they are read; keep empty ones."""
        for row in table.rows():
            yield row if any(row) else EMPTY_ROW

'''
_REST = (
    """    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Self:
"""
    + "\n".join(
        ["        return self", "", *[f"    def helper_{n}(self) -> int:\n        return {n}  # kept\n" for n in range(40)]]
    )
    + '''
def _dialect_of(path):
    return "excel"


def open_writer(path: Path, *, dialect: str) -> CsvWriter:
    """Open a writer for a new file."""
    dialect = dialect or _dialect_of(path)
'''
)
_END_OLD = """    file = open(path, "w")
    # old names, kept for 1.x
    legacy_rows.register(file)
    return CsvWriter(file, dialect=dialect)"""
_END_NEW = """    file = path.open("w", newline="", encoding="utf-8")
    return CsvWriter(file, dialect=dialect)
"""

OLD_TEXT = _TOP_OLD + _CLASS + _WRITE_OLD + _REST + _END_OLD
NEW_TEXT = _TOP_NEW + _CLASS + _WRITE_NEW + _REST + _END_NEW
OLD_BYTES = OLD_TEXT.replace("\n", "\r\n").encode()
NEW_BYTES = NEW_TEXT.encode()
