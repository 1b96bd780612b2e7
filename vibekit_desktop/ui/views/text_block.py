"""Lay out untrusted prose: Markdown without HTML, in a document that can load nothing.

The document never reads a file and never asks the network: images become words, and every resource request is answered with a
blank (returning nothing would let Qt open the path itself). Links are only reported. UI thread only.
"""

import copy
import re
from collections.abc import Sequence, Set
from typing import NamedTuple, Self

from PySide6.QtCore import QPointF, QRectF, QUrl
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QFont,
    QImage,
    QPainter,
    QPalette,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextOption,
    QTextTable,
)

from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.theme.palette import Theme
from vibekit_desktop.ui.theme.style import all_rounded, rounded
from vibekit_desktop.ui.views.block_view import Hit
from vibekit_desktop.ui.views.text_dress import (
    GAP,
    blocks_of,
    dress_bullet,
    dress_table,
    drop_empty_cell_starts,
    fragments_of,
    is_code,
    set_font,
)
from vibekit_desktop.ui.views.text_places import Ground, TextPlaces, line_boxes, x_of
from vibekit_desktop.ui.visible import visible_name

_FEATURES = QTextDocument.MarkdownFeature.MarkdownDialectGitHub | QTextDocument.MarkdownFeature.MarkdownNoHTML
_PAD = 4
_RULE = QTextFormat.Property.UserProperty.value + 1
_LINE = re.compile(r"(?::\d+(?:[-:]\d+)?|#L\d+(?:-L?\d+)?)$")
_IMAGE = re.compile(r"!\[([^\]\n]*)\](\([^)\n]*\)|\[[^\]\n]*\])?")


def file_in(text: str, files: Set[str]) -> str:
    """The path that a text names, with or without a line number, if it is one of ``files``; else empty."""
    path = _LINE.sub("", text.strip()).replace("\\", "/").removeprefix("./")
    return path if path in files else ""


class DeadDocument(QTextDocument):
    """A document for untrusted text: a blank picture for every picture, an empty string for everything else."""

    def loadResource(self, kind: int, name: QUrl | str) -> object:
        if kind == QTextDocument.ResourceType.ImageResource.value:
            blank = QImage(1, 1, QImage.Format.Format_ARGB32)
            blank.fill(0)
            return blank
        return ""


def without_images(text: str) -> str:
    """Markdown with its pictures as words; what stands in code spans is left alone."""
    parts = re.split(r"(`+[^`]*`+)", text)
    for i in range(0, len(parts), 2):
        parts[i] = _IMAGE.sub(lambda found: tr("(picture: {name})", name=found[1] or tr("no name")).replace("[", "("), parts[i])
    return "".join(parts)


class _Marked(NamedTuple):
    """A paragraph with something beside its letters that has to be placed anew at every width. Ranges are counted from where
    the paragraph begins."""

    block: QTextBlock
    quote: int
    rule: bool
    code: bool
    spans: list[tuple[int, int]]
    files: list[tuple[tuple[int, int], str]]
    """Code spans and links that name a file that can be opened, and its path."""
    anchors: list[tuple[tuple[int, int], str]]
    """Other links, and where they lead."""


class TextLayout:
    """A piece of prose at one width. ``plain`` shows the text as it is; ``files``: paths that can be opened where they stand in
    a code span or behind a link. Invariant: the document does not change, but for its width by `at_width`."""

    def __init__(
        self,
        theme: Theme,
        text: str,
        width: int,
        *,
        plain: bool = False,
        style: str = "reading",
        token: str = "",
        files: Set[str] = frozenset(),
    ) -> None:
        self._theme = theme
        self._color = theme.color(token or "text.primary")
        self._style = style
        self._plain = plain
        self._files = files
        self._marked: list[_Marked] = []
        document = DeadDocument()
        self._document = document
        document.setUndoRedoEnabled(False)
        document.setDocumentMargin(0)
        document.setIndentWidth(22)
        document.setDefaultFont(theme.font(style))
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        document.setDefaultTextOption(option)
        self._lift = (theme.line_height(style) - theme.metrics(style).height()) / 2
        if plain:
            document.setPlainText(text)
            self._dress_plain()
        else:
            document.setMarkdown(without_images(text), _FEATURES)
            self._dress()
        self._set_width(width)

    def at_width(self, width: int) -> Self:
        """The same at another width, at a fraction of the cost: it takes the document over, so that this one must not be used
        any more."""
        other = copy.copy(self)
        other._set_width(width)
        return other

    def _set_width(self, width: int) -> None:
        self._spans: list[QRectF] = []
        self._boxes: list[QRectF] = []
        self._bars: list[QRectF] = []
        self._links: list[Hit] | None = [] if self._plain else None
        self._places: TextPlaces | None = None
        self._document.setTextWidth(width)
        if not self._plain:
            self._find_spans()
        self.height = max(1, round(self._document.size().height()))

    @property
    def text(self) -> str:
        """What is shown, as characters that can be chosen."""
        return self._chars.text

    def index_at(self, place: QPointF) -> int:
        """The border between two characters that is nearest to a place."""
        return self._chars.index_at(place + QPointF(0, self._lift))

    def box_of(self, index: int) -> QRectF:
        """Where the character of an index begins."""
        return self._chars.box_of(index).translated(0, -self._lift)

    def word_at(self, index: int) -> tuple[int, int]:
        """Where the word at an index begins and ends."""
        return self._chars.word_at(index)

    @property
    def _chars(self) -> TextPlaces:
        if self._places is None:
            self._places = TextPlaces(self._document)
        return self._places

    def links(self, origin: QPointF) -> list[Hit]:
        """The links as hits of the actions ``link`` and ``file``; one per line that a link covers."""
        if self._links is None:
            self._links = self._find_links()
        return [Hit(hit.box.translated(origin), hit.action, hit.name, hit.text, hit.number) for hit in self._links]

    def _find_links(self) -> list[Hit]:
        hits: list[Hit] = []
        for marked in self._marked:
            for (_, path), boxes in zip(
                marked.files, self._boxes_of(marked.block, [at for at, _ in marked.files]), strict=True
            ):
                name = tr("Open the file {path}", path=visible_name(path))
                hits += [Hit(box, "file", name, path) for box in boxes]
            for (_, address), boxes in zip(
                marked.anchors, self._boxes_of(marked.block, [at for at, _ in marked.anchors]), strict=True
            ):
                name = tr("Open {address}", address=address[:200])
                hits += [Hit(box, "link", name, address) for box in boxes]
        return hits

    def end(self) -> QPointF:
        """Where the last line of the text ends: its x, and the middle of the line."""
        block = self._document.lastBlock()
        while block.isValid() and not block.text().strip() and block.previous().isValid():
            block = block.previous()
        layout = block.layout()
        origin = self._document.documentLayout().blockBoundingRect(block).topLeft()
        if not layout.lineCount():
            return QPointF(origin.x(), origin.y() + self._theme.line_height(self._style) / 2)
        line = layout.lineAt(layout.lineCount() - 1)
        x = x_of(line, line.textStart() + line.textLength())
        return QPointF(origin.x() + x, origin.y() + line.y() + line.height() / 2 - self._lift)

    def paint(self, painter: QPainter, origin: QPointF, clip: QRectF | None = None, grounds: Sequence[Ground] = ()) -> None:
        """Paint at ``origin``; ``clip`` is the visible part in the document's own coordinates."""
        theme = self._theme
        painter.save()
        painter.translate(origin)
        for box in self._boxes:
            rounded(painter, box, theme.radius("card"), fill=theme.color("bg.raised"), line=theme.color("line.hair"))
        for box in self._bars:
            painter.fillRect(box, theme.color("line.strong"))
        seen = self._spans if clip is None else [one for one in self._spans if one.intersects(clip)]
        all_rounded(painter, seen, theme.radius("mark"), theme.color("bg.chip"))
        painter.translate(0, -self._lift)
        by_qt = bool(grounds) and self._chars.from_right
        if grounds and not by_qt:
            top, bottom = (clip.top(), clip.bottom() + 2 * self._lift) if clip is not None else (0.0, float(self.height))
            for ground in grounds:
                for box in self._chars.boxes(ground, top, bottom):
                    painter.fillRect(box, theme.color(ground.fill))
        context = QAbstractTextDocumentLayout.PaintContext()
        palette = QPalette()
        palette.setColor(QPalette.ColorRole.Text, self._color)
        context.palette = palette
        if clip is not None:
            context.clip = clip.adjusted(0, -40, 0, 40)
        if by_qt:
            context.selections = self._chars.selections(grounds, [theme.color(one.fill) for one in grounds])
        self._document.documentLayout().draw(painter, context)
        painter.restore()

    # How the document is dressed

    def _dress_plain(self) -> None:
        """Every line is as high as the others, and there is nothing else."""
        form = QTextBlockFormat()
        form.setLineHeight(self._theme.line_height(self._style), QTextBlockFormat.LineHeightTypes.FixedHeight.value)
        cursor = QTextCursor(self._document)
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.setBlockFormat(form)

    def _dress(self) -> None:
        theme = self._theme
        document = self._document
        cursor = QTextCursor(document)
        cursor.beginEditBlock()
        tables = [frame for frame in document.rootFrame().childFrames() if isinstance(frame, QTextTable)]
        if tables:
            drop_empty_cell_starts(cursor, document)
        last, forms = document.lastBlock(), _Forms(theme)
        for block in blocks_of(document):
            in_table = bool(tables) and QTextCursor(block).currentTable() is not None
            self._dress_block(cursor, block, is_last=block == last, in_table=in_table)
            self._dress_fragments(cursor, block, forms)
        for table in tables:
            dress_table(theme, table)
        cursor.endEditBlock()

    def _dress_block(self, cursor: QTextCursor, block: QTextBlock, *, is_last: bool, in_table: bool) -> None:
        theme = self._theme
        form = QTextBlockFormat(block.blockFormat())
        code = form.hasProperty(QTextFormat.Property.BlockCodeLanguage) or form.hasProperty(QTextFormat.Property.BlockCodeFence)
        line = theme.line_height("code" if code else self._style)
        if not in_table and not block.text():
            line = 1  # Qt puts an empty paragraph before and after every table.
        form.setLineHeight(line, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
        form.setTopMargin(0)
        in_list = block.textList() is not None and block.next().textList() is not None
        tight = in_list or (code and is_code(block.next()))
        form.setBottomMargin(0 if is_last or in_table else 4 if in_list else 0 if tight else GAP)
        quote = form.intProperty(QTextFormat.Property.BlockQuoteLevel)
        if form.hasProperty(QTextFormat.Property.BlockTrailingHorizontalRulerWidth):
            # Painted as a hairline by us: Qt would draw it in the text's colour.
            form.clearProperty(QTextFormat.Property.BlockTrailingHorizontalRulerWidth)
            form.setProperty(_RULE, True)
            form.setLineHeight(1, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
            form.setTopMargin(6)
            form.setBottomMargin(0 if is_last else GAP + 6)
        if quote:
            form.setLeftMargin(14 * quote)
            form.setRightMargin(0)
        cursor.setPosition(block.position())
        cursor.setBlockFormat(form)
        dress_bullet(block)
        if form.headingLevel():
            cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
            shape = QTextCharFormat()
            shape.setFont(theme.font("heading"), QTextCharFormat.FontPropertiesInheritanceBehavior.FontPropertiesAll)
            shape.setProperty(QTextFormat.Property.FontSizeAdjustment, 0)
            cursor.mergeCharFormat(shape)

    def _dress_fragments(self, cursor: QTextCursor, block: QTextBlock, forms: "_Forms") -> None:
        whole_code, begin = is_code(block), block.position()
        form = block.blockFormat()
        quote, rule = form.intProperty(QTextFormat.Property.BlockQuoteLevel), form.hasProperty(_RULE)
        marked = _Marked(block, quote, rule, whole_code, [], [], [])
        found = fragments_of(block)
        if any(shape.isImageFormat() for _, _, shape in found):
            self._name_images(cursor, found)
            found = fragments_of(block)
        for start, length, shape in found:
            fixed, anchor = shape.fontFixedPitch(), shape.isAnchor()
            if not (fixed or anchor):
                continue
            at = (start - begin, start - begin + length)
            cursor.setPosition(start)
            cursor.setPosition(start + length, QTextCursor.MoveMode.KeepAnchor)
            address = shape.anchorHref() if anchor else ""
            path = ""
            if self._files and not whole_code:
                path = file_in(address if anchor else cursor.selectedText(), self._files)
            if path:
                marked.files.append((at, path))
            elif address:
                marked.anchors.append((at, address))
            font = ("code" if whole_code else "code-inline") if fixed else ""
            cursor.mergeCharFormat(forms.of(font, accent=bool(path) or anchor, plain=anchor))
            if fixed and not whole_code:
                self._pad(cursor, block, start, length, forms.space)
                if marked.spans and marked.spans[-1][1] == at[0]:
                    at = (marked.spans.pop()[0], at[1])
                marked.spans.append(at)
        if quote or rule or whole_code or marked.spans or marked.files or marked.anchors:
            self._marked.append(marked)

    @staticmethod
    def _name_images(cursor: QTextCursor, fragments: Sequence[tuple[int, int, QTextCharFormat]]) -> None:
        """Words where pictures would be; from the last one on, so that the places of the others stay right. One whose name has
        several lines comes as several that touch."""
        named = -1
        for start, length, shape in reversed(fragments):
            if shape.isImageFormat():
                cursor.setPosition(start)
                cursor.setPosition(start + length, QTextCursor.MoveMode.KeepAnchor)
                cursor.insertText("" if start + length == named else tr("(picture)"), QTextCharFormat())
                named = start

    @staticmethod
    def _pad(cursor: QTextCursor, block: QTextBlock, start: int, length: int, space: QTextCharFormat) -> None:
        """Room for the box of a code span: spacing after the character before it, and after its last one."""
        ends = [start + length - 1] if start == block.position() else [start - 1, start + length - 1]
        for at in ends:
            cursor.setPosition(at)
            cursor.setPosition(at + 1, QTextCursor.MoveMode.KeepAnchor)
            cursor.mergeCharFormat(space)

    # Where things stand

    def _find_spans(self) -> None:
        code_from: QRectF | None = None
        layout = self._document.documentLayout()
        for block, quote, rule, code, spans, _, _ in self._marked:
            if rule:
                box = layout.blockBoundingRect(block)
                self._bars.append(QRectF(0, round(box.center().y()), self._document.textWidth(), 1))
            if quote:
                box = layout.blockBoundingRect(block)
                more = block.next().blockFormat().intProperty(QTextFormat.Property.BlockQuoteLevel) >= quote
                height = box.height() + (block.blockFormat().bottomMargin() if more else 0)
                self._bars += [QRectF(14 * level, box.y(), 2, height) for level in range(quote)]
            if code:
                box = layout.blockBoundingRect(block)
                code_from = box if code_from is None else code_from.united(box)
                if not is_code(block.next()):
                    self._boxes.append(code_from.adjusted(-8, -4, 0, 4))
                    code_from = None
                continue
            for boxes in self._boxes_of(block, spans):
                for box in boxes:
                    middle = box.center().y()
                    self._spans.append(QRectF(box.x() - _PAD + 1, middle - 11, box.width() + _PAD - 1, 20))

    def _boxes_of(self, block: QTextBlock, ranges: Sequence[tuple[int, int]]) -> list[list[QRectF]]:
        """Where each of some ranges of a block stands, one box per line."""
        if not ranges:
            return []
        origin = self._document.documentLayout().blockBoundingRect(block).topLeft()
        return list(line_boxes(block, origin, ranges))


class _Forms:
    """The looks that pieces of one document get, each made once."""

    def __init__(self, theme: Theme) -> None:
        self._theme = theme
        self._known: dict[tuple[str, bool, bool], QTextCharFormat] = {}
        self.space = QTextCharFormat()
        """Room after a character."""
        self.space.setFontLetterSpacingType(QFont.SpacingType.AbsoluteSpacing)
        self.space.setFontLetterSpacing(_PAD - 1)

    def of(self, font: str, *, accent: bool, plain: bool) -> QTextCharFormat:
        """The named font, the colour of what can be opened, no line under it; what is empty or off stays as it is."""
        known = self._known.get((font, accent, plain))
        if known is None:
            known = self._known[font, accent, plain] = QTextCharFormat()
            if font:
                set_font(known, self._theme.font(font))
            if accent:
                known.setForeground(self._theme.color("accent.text"))
            if plain:
                known.setFontUnderline(False)
        return known
