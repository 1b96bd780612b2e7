"""What is painted from the tokens: colours, fonts and sizes of the theme in use.

`Theme` is one look (light or dark, at one text zoom) and never changes; `ThemeHub` holds the present one and says when
another takes its place. UI thread only. Imports QtGui only, so that the first window needs nothing else.
"""

from functools import cache

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontMetricsF, QGuiApplication, QPalette, QStaticText, QTransform

from vibekit_desktop.ui.theme.contrast import SystemColours, colours_of, contrast_color
from vibekit_desktop.ui.theme.tokens import Tokens, TypeToken, load_tokens


@cache
def _installed() -> frozenset[str]:
    return frozenset(QFontDatabase.families())


@cache
def _families(wanted: tuple[str, ...], mono: bool) -> tuple[str, ...]:
    # Qt searches aliases for every family that is not there, which costs tens of milliseconds on some systems.
    found = [name for name in wanted if name in _installed()]
    system = QFontDatabase.SystemFont.FixedFont if mono else QFontDatabase.SystemFont.GeneralFont
    return (*found, QFontDatabase.systemFont(system).family())


_AS_HIGH_AS_TEXT = frozenset(
    (
        "header", "control", "control-large", "chip", "fold-bar", "file-head", "pane-head", "diff-note", "chat-foot",
        "composer-min", "composer-bar", "permission-head", "queue-row", "restore-file-bar", "restore-scope-bar", "dialog-foot",
        "source", "drop-zone",
    )
)  # fmt: skip
_ICONS = frozenset(("icon", "icon-large"))
_AROUND_ICONS = frozenset(("icon-button", "icon-button-large"))
_ICON_MOST = 1.375
_ICON_ROOM = 4
_REMEMBERED, _LONG = 4_000, 500
"""So many texts of a style are remembered, and none that is longer."""
"""Icons grow with the text up to this: a larger one would touch the text beside it in rows whose widths stay."""
ZOOM_LEAST, ZOOM_MOST = 0.8, 2.0


class Measures(QFontMetricsF):
    """Measures of a font that remembers: to measure a text costs as much as to paint it, and a row asks for the same ones at
    every repaint."""

    def __init__(self, font: QFont) -> None:
        super().__init__(font)
        self._widths: dict[str, float] = {}
        self._elided: dict[tuple[str, Qt.TextElideMode, float], str] = {}

    def horizontalAdvance(self, text: str, /, length: int = -1) -> float:  # type: ignore[override]  # nobody asks for an option
        """How wide a text is; of the first ``length`` characters if given."""
        if length >= 0 or len(text) > _LONG:
            return super().horizontalAdvance(text, length)
        width = self._widths.get(text)
        if width is None:
            if len(self._widths) >= _REMEMBERED:
                self._widths.clear()
            width = self._widths[text] = super().horizontalAdvance(text)
        return width

    def elidedText(self, text: str, mode: Qt.TextElideMode, width: float, /, flags: int | None = 0) -> str:
        """The text as it fits into a width."""
        if flags or len(text) > _LONG:
            return super().elidedText(text, mode, width, flags)
        key = (text, mode, width)
        shown = self._elided.get(key)
        if shown is None:
            if len(self._elided) >= _REMEMBERED:
                self._elided.clear()
            shown = self._elided[key] = super().elidedText(text, mode, width)
        return shown


class Theme:
    """One look. Every method raises `KeyError` for a name that is not in the tokens."""

    def __init__(
        self,
        tokens: Tokens,
        *,
        dark: bool,
        zoom: float = 1.0,
        still: bool = False,
        contrast: SystemColours | None = None,
    ) -> None:
        self.tokens = tokens
        self.dark = dark
        self.contrast = contrast
        """The system's own colours, if it asks for high contrast: then there are no others."""
        self.zoom = zoom
        self.still = still
        """The system asks for reduced motion: every duration is 0."""
        self._colors: dict[str, QColor] = {}
        self._fonts: dict[tuple[str, int], QFont] = {}
        self._metrics: dict[tuple[str, int | None], Measures] = {}
        self._lines: dict[tuple[str, int | None], dict[str, QStaticText]] = {}

    def color(self, name: str) -> QColor:
        """A token's colour. The object is shared: never change it."""
        color = self._colors.get(name)
        if color is None:
            color = self._colors[name] = QColor(self.hex(name))
        return color

    def hex(self, name: str) -> str:
        """A token's colour as ``#RRGGBB``."""
        token = self.tokens.color(name, self.dark)
        return token if self.contrast is None else contrast_color(name, self.contrast)

    def _type(self, name: str) -> TypeToken:
        return self.tokens.type(name)

    def font(self, name: str, *, weight: int | None = None) -> QFont:
        """The font of a text style; the object is shared: copy it before changing it."""
        style = self._type(name)
        key = (name, weight or style.weight)
        font = self._fonts.get(key)
        if font is None:
            font = self._fonts[key] = self._make_font(style, key[1])
        return font

    def _make_font(self, style: TypeToken, weight: int) -> QFont:
        mono = style.font == "mono"
        font = QFont(list(_families(self.tokens.families(style.font), mono)))
        font.setPixelSize(round(style.size * self.zoom))
        font.setWeight(QFont.Weight(weight))
        if mono:
            font.setStyleHint(QFont.StyleHint.Monospace)
            font.setFixedPitch(True)
            font.setFeature(QFont.Tag("calt"), 0)
            font.setFeature(QFont.Tag("liga"), 0)
        else:
            font.setFeature(QFont.Tag("tnum"), 1)
        return font

    def metrics(self, name: str, *, weight: int | None = None) -> Measures:
        """Measures of a text style's font, in another weight if given."""
        metrics = self._metrics.get((name, weight))
        if metrics is None:
            metrics = self._metrics[name, weight] = Measures(self.font(name, weight=weight))
        return metrics

    def line(self, name: str, text: str, *, weight: int | None = None) -> QStaticText:
        """One line of plain text in a style's font, laid out once however often it is painted."""
        lines = self._lines.setdefault((name, weight), {})
        line = lines.get(text)
        if line is None:
            if len(lines) >= _REMEMBERED:
                lines.clear()
            line = lines[text] = QStaticText(text)
            line.setTextFormat(Qt.TextFormat.PlainText)
            line.setPerformanceHint(QStaticText.PerformanceHint.AggressiveCaching)
            line.prepare(QTransform(), self.font(name, weight=weight))
        return line

    def line_height(self, name: str) -> int:
        """The height of one line of a text style."""
        return round(self._type(name).line * self.zoom)

    def size(self, name: str) -> int:
        """A length by name. Whatever a line of text stands in grows with the text zoom, and shrinks no more than its icons and
        buttons allow; icons grow a little less; widths stay."""
        value = self.tokens.size(name)
        if name in _ICONS:
            return self.icon(value)
        if name in _AROUND_ICONS:
            return max(value, self.size("icon") + 2 * _ICON_ROOM)
        if name.startswith("row-"):
            return round(value * self.zoom)
        return round(value * max(1.0, self.zoom)) if name in _AS_HIGH_AS_TEXT else value

    def space(self, name: str) -> int:
        """A distance by name; distances do not grow with the text."""
        return self.tokens.space(name)

    def icon(self, side: int) -> int:
        """How large an icon is that has ``side`` pixels beside text of 100 %."""
        return round(side * min(_ICON_MOST, max(1.0, self.zoom)))

    def radius(self, name: str) -> int:
        """A corner radius by name."""
        return self.tokens.radius(name)

    def motion(self, name: str) -> int:
        """A duration in milliseconds; 0 where the system asks for reduced motion, except how long a toast stays."""
        return 0 if self.still and name != "toast-stay" else self.tokens.motion(name)

    def opacity(self, name: str) -> float:
        """An opacity from 0 to 1."""
        return self.tokens.opacity(name, self.dark)

    def palette(self) -> QPalette:
        """The same colours for what Qt paints by itself."""
        role = QPalette.ColorRole
        palette = QPalette()
        for which, token in (
            (role.Window, "bg.surface"),
            (role.WindowText, "text.primary"),
            (role.Base, "bg.field"),
            (role.AlternateBase, "bg.raised"),
            (role.Text, "text.primary"),
            (role.PlaceholderText, "text.tertiary"),
            (role.Button, "bg.button"),
            (role.ButtonText, "text.primary"),
            (role.BrightText, "text.on-accent"),
            (role.Highlight, "accent.fill"),
            (role.HighlightedText, "text.on-accent"),
            (role.Link, "accent.text"),
            (role.LinkVisited, "accent.text"),
            (role.ToolTipBase, "bg.tooltip"),
            (role.ToolTipText, "text.on-tooltip"),
            (role.Light, "bg.raised"),
            (role.Midlight, "line.hair"),
            (role.Mid, "line.strong"),
            (role.Dark, "line.control"),
            (role.Shadow, "line.control"),
            (role.Accent, "accent.fill"),
        ):
            palette.setColor(which, self.color(token))
        for which in (role.WindowText, role.Text, role.ButtonText):
            palette.setColor(QPalette.ColorGroup.Disabled, which, self.color("text.disabled"))
        return palette


class ThemeHub(QObject):
    """The theme in use. ``changed`` has no argument: read ``theme`` again and repaint. ``mode_changed``: another mode was asked
    for, which need not look otherwise.

    Invariant: ``theme`` is what ``mode`` (``system``, ``light`` or ``dark``) and what the system asks for mean at this moment.
    A system that asks for high contrast decides its colours whatever the mode is.
    """

    changed = Signal()
    mode_changed = Signal()

    def __init__(self, mode: str = "system", *, zoom: float = 1.0, still: bool = False, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._mode = mode
        self._zoom = min(ZOOM_MOST, max(ZOOM_LEAST, zoom))
        self._still = still
        # The system's own palette tells it too, and asking for the colour scheme would cost 16 ms before the first window.
        self._system = colours_of(QGuiApplication.palette())
        self._system_dark = self._system.dark
        self._contrast = False
        self.theme = self._make()
        hints = QGuiApplication.styleHints()
        hints.colorSchemeChanged.connect(self._system_changed)

    @property
    def mode(self) -> str:
        """What was asked for: ``system``, ``light`` or ``dark``."""
        return self._mode

    @property
    def zoom(self) -> float:
        """The text zoom."""
        return self._zoom

    def set_mode(self, mode: str) -> None:
        """Use another look from now on."""
        if mode != self._mode:
            self._mode = mode
            self.mode_changed.emit()
        self._replace()

    def set_zoom(self, zoom: float) -> None:
        """Text zoom, kept between 0.8 and 2."""
        self._zoom = min(ZOOM_MOST, max(ZOOM_LEAST, zoom))
        self._replace()

    def set_still(self, still: bool) -> None:
        """Whether the system asks for reduced motion."""
        self._still = still
        self._replace()

    def set_contrast(self, asked: bool, colours: SystemColours | None = None) -> None:
        """Whether the system asks for high contrast; ``colours``: its own, if they are other ones than at the start."""
        self._contrast = asked
        self._system = colours or self._system
        self._replace()

    def _make(self) -> Theme:
        contrast = self._system if self._contrast else None
        dark = self._system_dark if self._mode == "system" else self._mode == "dark"
        if contrast is not None:
            dark = contrast.dark
        return Theme(load_tokens(), dark=dark, zoom=self._zoom, still=self._still, contrast=contrast)

    def _replace(self) -> None:
        new, old = self._make(), self.theme
        if (new.dark, new.zoom, new.still, new.contrast) != (old.dark, old.zoom, old.still, old.contrast):
            self.theme = new
            self.changed.emit()

    def _system_changed(self) -> None:
        # By now our own palette is set on the application, so it says nothing about the system any more.
        self._system_dark = QGuiApplication.styleHints().colorScheme().name == "Dark"
        self._replace()


class LateHub(ThemeHub):
    """The theme of another hub, for a pane that need not change in the same frame as the rest: the window would paint all of
    its texts in a new font at once, and that takes longer than a frame. Until then the pane is whole, as it was.

    Invariant: ``theme`` is the other hub's, or the one that it had ``delay_ms`` ago.
    """

    def __init__(self, hub: ThemeHub, delay_ms: int, parent: QObject) -> None:
        super().__init__(hub.mode, zoom=hub.zoom, parent=parent)
        self._hub = hub
        self.theme = hub.theme
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(delay_ms)
        self._timer.timeout.connect(self.catch_up)
        hub.changed.connect(self._timer.start)

    @property
    def mode(self) -> str:
        """What was asked of the other hub."""
        return self._hub.mode

    @property
    def zoom(self) -> float:
        """The other hub's text zoom."""
        return self._hub.zoom

    @property
    def behind(self) -> bool:
        """Whether it still has a former theme."""
        return self.theme is not self._hub.theme

    def catch_up(self) -> None:
        """Have the other hub's theme from now on."""
        if self.behind:
            self.theme = self._hub.theme
            self.changed.emit()

    def _replace(self) -> None:
        """What the system or a person asks for is asked of the other hub."""
