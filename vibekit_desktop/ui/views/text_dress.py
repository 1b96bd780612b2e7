"""How the parts of a Markdown document are found and dressed: bullets, tables, code. UI thread only."""

from PySide6.QtGui import (
    QColor,
    QFont,
    QTextBlock,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextFrameFormat,
    QTextListFormat,
    QTextTable,
    QTextTableFormat,
)

from vibekit_desktop.ui.theme.palette import Theme

GAP = 10
"""The distance between two paragraphs."""

_BULLETS = (QTextListFormat.Style.ListDisc, QTextListFormat.Style.ListCircle, QTextListFormat.Style.ListSquare)


def dress_bullet(block: QTextBlock) -> None:
    """The bullet of a list says how deep it stands; Markdown's three signs for one say nothing."""
    found = block.textList()
    form = QTextListFormat(found.format()) if found else None
    if form is None or form.style() not in _BULLETS or found.item(0) != block:
        return
    form.setStyle(_BULLETS[min(max(form.indent(), 1), len(_BULLETS)) - 1])
    found.setFormat(form)


def is_code(block: QTextBlock) -> bool:
    """Whether a paragraph is a line of code."""
    form = block.blockFormat()
    return block.isValid() and (
        form.hasProperty(QTextFormat.Property.BlockCodeLanguage) or form.hasProperty(QTextFormat.Property.BlockCodeFence)
    )


def blocks_of(document: QTextDocument) -> list[QTextBlock]:
    """Every paragraph of a document."""
    found: list[QTextBlock] = []
    block = document.begin()
    while block.isValid():
        found.append(block)
        block = block.next()
    return found


def fragments_of(block: QTextBlock) -> list[tuple[int, int, QTextCharFormat]]:
    """The pieces of one look of a paragraph: where each begins, how long it is, how it looks."""
    found: list[tuple[int, int, QTextCharFormat]] = []
    iterator = block.begin()
    while not iterator.atEnd():
        fragment = iterator.fragment()
        if fragment.isValid():
            found.append((fragment.position(), fragment.length(), fragment.charFormat()))
        iterator += 1
    return found


def drop_empty_cell_starts(cursor: QTextCursor, document: QTextDocument) -> None:
    """WORKAROUND(PySide6 6.11): the Markdown reader leaves an empty paragraph in a table's first cell after a quotation."""
    for block in blocks_of(document):
        table = QTextCursor(block).currentTable()
        if table is None or block.text():  # type: ignore[redundant-expr]  # the stubs say that there always is one
            continue
        following = block.next()
        if following.isValid() and table.cellAt(block.position()) == table.cellAt(following.position()):
            cursor.setPosition(block.position())
            cursor.deleteChar()


def set_font(shape: QTextCharFormat, font: QFont) -> None:
    """Give a look a font of one width."""
    shape.setFontFamilies(font.families())
    shape.setProperty(QTextFormat.Property.FontPixelSize, font.pixelSize())
    shape.setFontFixedPitch(True)


def dress_table(theme: Theme, table: QTextTable) -> None:
    """A table with hairlines and a bold head."""
    form = QTextTableFormat(table.format().toTableFormat())
    form.setBorder(1)
    form.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
    form.setBorderBrush(QColor(theme.color("line.hair")))
    form.setBorderCollapse(True)
    form.setCellPadding(5)
    form.setCellSpacing(0)
    above = table.firstCursorPosition().block().previous()
    # A table at the very top has an empty paragraph above it, which is Qt's own.
    form.setTopMargin(GAP if above.text() or above.blockNumber() > 0 else 0)
    form.setBottomMargin(GAP)
    table.setFormat(form)
    bold = QTextCharFormat()
    bold.setFontWeight(theme.font("heading").weight())
    for column in range(table.columns()):
        cell = table.cellAt(0, column)
        cursor = cell.firstCursorPosition()
        cursor.setPosition(cell.lastPosition(), QTextCursor.MoveMode.KeepAnchor)
        cursor.mergeCharFormat(bold)
