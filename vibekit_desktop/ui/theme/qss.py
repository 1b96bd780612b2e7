"""The style sheet made from the tokens: fields, menus, tool tips, plain buttons, scroll areas.

Everything with a state of its own (scroll bars, check boxes, radios, splitters, focus rings) is painted by `theme.style`.
Pure text; any thread.
"""

from string import Template

from vibekit_desktop.ui.theme.palette import Theme

_SHEET = Template(
    """
QLineEdit, QComboBox, QSpinBox, QPlainTextEdit, QTextEdit {
  background: ${bg_field}; color: ${text_primary}; border: 1px solid ${line_control}; border-radius: ${r_control}px;
  placeholder-text-color: ${text_tertiary}; selection-background-color: ${accent_fill}; selection-color: ${text_on_accent};
}
QLineEdit, QComboBox, QSpinBox { min-height: 30px; padding: 0 7px; }
QLineEdit:focus, QComboBox:focus, QSpinBox:focus, QPlainTextEdit:focus, QTextEdit:focus { border: 2px solid ${line_focus}; }
QLineEdit:focus, QComboBox:focus, QSpinBox:focus { min-height: 28px; padding: 0 6px; }
QLineEdit:disabled, QComboBox:disabled { color: ${text_disabled}; border-color: ${line_strong}; }
QPushButton {
  background: ${bg_button}; color: ${text_primary}; border: 1px solid ${line_strong}; border-radius: ${r_control}px;
  min-height: 26px; padding: 0 10px; font-weight: 500;
}
QPushButton:hover { background: ${bg_button_hover}; }
QPushButton:pressed { background: ${bg_pressed}; }
QPushButton:disabled { color: ${text_disabled}; }
QPushButton:default { background: ${accent_fill}; border-color: ${accent_fill}; color: ${text_on_accent}; }
QPushButton:default:hover { background: ${accent_fill_hover}; border-color: ${accent_fill_hover}; }
QPushButton:default:pressed { background: ${accent_fill_pressed}; border-color: ${accent_fill_pressed}; }
QPushButton:default:disabled { background: ${bg_chip}; border-color: ${bg_chip}; color: ${text_disabled}; }
QMenu {
  background: ${bg_popup}; color: ${text_primary}; border: 1px solid ${line_strong}; border-radius: ${r_card}px; padding: 5px;
}
QMenu::item { min-height: 28px; padding: 0 28px 0 10px; border-radius: ${r_small}px; }
QMenu::item:selected { background: ${bg_selected}; }
QMenu::item:disabled { color: ${text_disabled}; }
QMenu::icon { padding-left: 9px; }
QMenu::separator { height: 1px; background: ${line_hair}; margin: 6px; }
QMenuBar { background: ${bg_surface}; color: ${text_primary}; }
QMenuBar::item { padding: 4px 8px; border-radius: ${r_small}px; }
QMenuBar::item:selected { background: ${bg_hover}; }
QToolTip {
  background: ${bg_tooltip}; color: ${text_on_tooltip}; border: none; border-radius: ${r_small}px; padding: 3px 8px;
}
QMenu::right-arrow { width: 12px; height: 12px; right: 8px; }
QScrollArea, QAbstractScrollArea { border: none; background: transparent; }
QHeaderView { background: ${bg_raised}; }
QHeaderView::section {
  background: ${bg_raised}; color: ${text_secondary}; border: none; border-bottom: 1px solid ${line_hair}; padding: 3px 6px;
}
"""
)


def stylesheet(theme: Theme) -> str:
    """The sheet for one look; set it on the application when the theme changes."""
    values = {name.replace(".", "_").replace("-", "_"): theme.hex(name) for name in theme.tokens.color_names()}
    for radius in ("small", "control", "card"):
        values[f"r_{radius}"] = str(theme.radius(radius))
    return _SHEET.substitute(values)
