"""Ask before an address from a chat is opened in the browser: the whole host is shown, nothing else than http(s) opens."""

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QMessageBox, QWidget

from vibekit_desktop.ui.text import tr
from vibekit_desktop.ui.visible import visible

_MOST = 2_000


def web_address(text: str) -> QUrl | None:
    """The address if it is a web address with a host and without a name or password in it; else None."""
    url = QUrl(text.strip(), QUrl.ParsingMode.StrictMode)
    if len(text) > _MOST or not url.isValid() or url.scheme() not in ("http", "https") or not url.host():
        return None
    return None if url.userInfo() else url


def ask_to_open(parent: QWidget, text: str) -> QMessageBox:
    """Show the question (or why there is none); the answer opens the browser. Returns the open dialog."""
    box = QMessageBox(parent)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setTextFormat(Qt.TextFormat.PlainText)
    url = web_address(text)
    if url is None:
        box.setText(tr("This address can't be opened from here."))
        box.setInformativeText(visible(text[:300]))
        box.addButton(QMessageBox.StandardButton.Close)
    else:
        # The host as the browser will look it up: look-alike letters show as xn--.
        host = url.host(QUrl.ComponentFormattingOption.FullyEncoded)
        box.setText(tr("Open {host} in the browser?", host=host))
        box.setInformativeText(visible(url.toString(QUrl.ComponentFormattingOption.FullyEncoded)[:600]))
        cancel = box.addButton(QMessageBox.StandardButton.Cancel)
        opened = box.addButton(tr("Open"), QMessageBox.ButtonRole.AcceptRole)
        opened.clicked.connect(lambda: QDesktopServices.openUrl(url))
        box.setDefaultButton(cancel)
    box.open()
    return box
